# The Python package, twice: target python_package makes it a folder of the build tree, component "python" a wheel.
#
# Build tree: build/<preset>/python holds adaptive_eager/ (links to the sources beside the built libraries) and a
# dist-info with the entry points of pyproject.toml. That folder on sys.path is enough for `import torch` to find the
# device; no pip. Expects package_files, a list of the .py files relative to the package.
set(source_dir "${CMAKE_CURRENT_SOURCE_DIR}/adaptive_eager")
set(dist_info_dir "${AEE_PACKAGE_DIR}-${PROJECT_VERSION}.dist-info")

file(WRITE "${dist_info_dir}/METADATA" "Metadata-Version: 2.1\nName: adaptive_eager\nVersion: ${PROJECT_VERSION}\n")
file(WRITE "${dist_info_dir}/entry_points.txt" "[torch.backends]\nadaptive_eager = adaptive_eager:_autoload\n"
     "[torch_dynamo_backends]\nneuron = adaptive_eager.dynamo:neuron\n")

foreach(file IN LISTS package_files)
  get_filename_component(folder "${AEE_PACKAGE_DIR}/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK "${source_dir}/${file}" "${AEE_PACKAGE_DIR}/${file}" SYMBOLIC)
endforeach()
add_custom_target(python_package ALL DEPENDS _C adaptive_eager)

# In a wheel the .py files are packed by the build backend.
install(TARGETS _C adaptive_eager LIBRARY DESTINATION adaptive_eager COMPONENT python EXCLUDE_FROM_ALL)
