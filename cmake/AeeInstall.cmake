# `cmake --install`: the shared library, its public headers and the CMake package AdaptiveEager for C++ programs.
# (The wheel is component "python", see AeePythonPackage.cmake.)
if(NOT TARGET adaptive_eager)
  return()  # not there yet
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" AEE_TORCH_SERIES "${TorchLibs_VERSION}")
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/AdaptiveEager")

install(TARGETS adaptive_eager EXPORT AdaptiveEagerTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cpp)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/bindings/torch/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT cpp FILES_MATCHING PATTERN "*.h")
install(EXPORT AdaptiveEagerTargets NAMESPACE AdaptiveEager:: DESTINATION "${config_dir}" COMPONENT cpp)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/AdaptiveEagerConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/AdaptiveEagerConfig.cmake" INSTALL_DESTINATION "${config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/AdaptiveEagerConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/AdaptiveEagerConfig.cmake" "${PROJECT_BINARY_DIR}/AdaptiveEagerConfigVersion.cmake"
        DESTINATION "${config_dir}" COMPONENT cpp)
