# How folders declare what they build. Sources are listed, never globbed.
#
#   aee_add_library(aee_ir SOURCES printer.cpp verifier.cpp LIBS aee_base [PRIVATE_LIBS ...] [TORCH])
#     A static library, or an interface library while it has no sources. TORCH adds PyTorch's headers and libraries;
#     without it -Wconversion is on.
#   aee_add_test(arena_test arena_test.cpp LIBS aee_runtime [TORCH] [ONE_PROCESS])
#     A GoogleTest program; every TEST is a test of ctest. ONE_PROCESS runs the program as one test (PyTorch takes about
#     a second to load).
#   aee_add_bench(launch_bench launch_bench.cpp LIBS aee_engine [TORCH])
#     A Google Benchmark program.

# Adds a folder if somebody has begun it.
function(aee_add_folder folder)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory("${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/${folder}")
  endif()
endfunction()

# What library, test and bench have in common.
function(aee_configure_target target torch)
  target_link_libraries(${target} PRIVATE aee_flags)
  if(torch)
    target_link_libraries(${target} PUBLIC TorchLibs::torch)
    aee_use_torch_headers(${target})
  else()
    target_compile_options(${target} PRIVATE -Wconversion)
  endif()
endfunction()

# One precompiled header for every target that includes PyTorch.
function(aee_use_torch_headers target)
  if(NOT TARGET aee_torch_headers)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/torch_headers.cpp" CONTENT "")
    add_library(aee_torch_headers OBJECT "${PROJECT_BINARY_DIR}/torch_headers.cpp")
    target_link_libraries(aee_torch_headers PRIVATE aee_flags TorchLibs::torch)
    target_precompile_headers(aee_torch_headers PRIVATE <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h>
                              <torch/library.h>)
  endif()
  # A precompiled header serves one code model: programs take -fPIC where CMake would give them -fPIE.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM aee_torch_headers)
endfunction()

function(aee_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;LIBS;PRIVATE_LIBS")
  if(NOT arg_SOURCES)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE aee_flags ${arg_LIBS})
    return()
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LIBS} PRIVATE ${arg_PRIVATE_LIBS})
  aee_configure_target(${name} ${arg_TORCH})
endfunction()

function(aee_add_program name torch)
  add_executable(${name} ${ARGN})
  aee_configure_target(${name} ${torch})
endfunction()

function(aee_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;ONE_PROCESS" "" "LIBS")
  find_package(GTest REQUIRED)
  aee_add_program(${name} "${arg_TORCH}" ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest_main)
  if(arg_ONE_PROCESS)
    add_test(NAME ${name} COMMAND ${name})
  else()
    include(GoogleTest)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
endfunction()

function(aee_add_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "LIBS")
  find_package(benchmark REQUIRED)
  aee_add_program(${name} "${arg_TORCH}" ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} benchmark::benchmark_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench/bin")
endfunction()
