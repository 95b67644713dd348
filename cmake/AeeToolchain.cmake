# Language level, launcher and the one target that carries the flags of all our code: aee_flags.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# ccache: hits across clones and build folders, also beside a precompiled header.
find_program(AEE_CCACHE ccache)
if(AEE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" "${AEE_CCACHE}")
endif()

find_package(Threads REQUIRED)

# Contraction off: the engine promises eager's bits. The macro prefix map keeps build paths out of messages.
add_library(aee_flags INTERFACE)
target_include_directories(aee_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_features(aee_flags INTERFACE cxx_std_20)
target_compile_options(aee_flags INTERFACE -Wall -Wextra -ffp-contract=off "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/="
                       $<$<BOOL:${AEE_WERROR}>:-Werror>)
target_link_libraries(aee_flags INTERFACE Threads::Threads)
if(AEE_SANITIZE)
  # Instrumented code hides from GCC what is initialised: PyTorch's headers raise false alarms.
  target_compile_options(aee_flags INTERFACE -fsanitize=${AEE_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_link_options(aee_flags INTERFACE -fsanitize=${AEE_SANITIZE})
  # GCC 12's thread sanitizer cannot place its shadow where kernels of today randomise addresses that much.
  execute_process(COMMAND setarch --addr-no-randomize true RESULT_VARIABLE failed ERROR_QUIET)
  if(failed EQUAL 0)
    set(CMAKE_CROSSCOMPILING_EMULATOR setarch --addr-no-randomize)
  endif()
endif()
