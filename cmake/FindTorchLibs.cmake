# PyTorch's headers and the two libraries that we link, found through the Python that has it installed.
#
# Not find_package(Torch): for PyTorch's default wheel that demands a CUDA toolkit, and we need libtorch_cpu only.
# Defines TorchLibs::torch (headers, torch_cpu, c10), TorchLibs::python (torch_python and Python's headers),
# TorchLibs_VERSION and Torch_LIBRARY_DIR. Python is never asked to import torch, only where it lies.
if(NOT Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)

execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "import importlib.metadata as m, importlib.util as u
print(u.find_spec('torch').submodule_search_locations[0], m.version('torch'), sep=';', end='')"
  OUTPUT_VARIABLE found RESULT_VARIABLE failed ERROR_QUIET)
if(NOT failed)
  list(GET found 0 Torch_ROOT_DIR)
  list(GET found 1 TorchLibs_VERSION)
endif()
set(Torch_LIBRARY_DIR "${Torch_ROOT_DIR}/lib")
set(Torch_INCLUDE_DIRS "${Torch_ROOT_DIR}/include" "${Torch_ROOT_DIR}/include/torch/csrc/api/include")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchLibs REQUIRED_VARS Torch_ROOT_DIR VERSION_VAR TorchLibs_VERSION
  REASON_FAILURE_MESSAGE "${Python_EXECUTABLE} has no torch: run ./dev build, or set Python_EXECUTABLE")

foreach(library IN ITEMS c10 torch_cpu torch_python)
  if(TorchLibs_FOUND AND NOT TARGET TorchLibs::${library})
    add_library(TorchLibs::${library} SHARED IMPORTED)
    set_target_properties(TorchLibs::${library} PROPERTIES IMPORTED_LOCATION "${Torch_LIBRARY_DIR}/lib${library}.so"
                          INTERFACE_INCLUDE_DIRECTORIES "${Torch_INCLUDE_DIRS}")
  endif()
endforeach()
if(TorchLibs_FOUND AND NOT TARGET TorchLibs::torch)
  # A wheel with CUDA refers to libraries of other packages, which PyTorch loads itself.
  add_library(TorchLibs::torch INTERFACE IMPORTED)
  set_target_properties(TorchLibs::torch PROPERTIES INTERFACE_LINK_LIBRARIES "TorchLibs::torch_cpu;TorchLibs::c10"
                        INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined")
  add_library(TorchLibs::python INTERFACE IMPORTED)
  set_target_properties(TorchLibs::python PROPERTIES
                        INTERFACE_LINK_LIBRARIES "TorchLibs::torch;TorchLibs::torch_python;Python::Module")
endif()
