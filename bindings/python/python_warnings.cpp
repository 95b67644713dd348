#include "bindings/python/python_warnings.h"

#include <Python.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>

#include "bindings/python/source_line.h"
#include "core/base/error.h"

namespace py = pybind11;

namespace aee {
namespace {

// The level of warnings.warn at which the user's frame is: 1 is the innermost. The innermost if there is no other.
Py_ssize_t level_of_user() {
  Py_ssize_t level = 1;
  auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (; frame; ++level) {
    auto* const of = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const auto code = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(of)));
    if (!is_foreign_file(py::cast<std::string>(code.attr("co_filename")))) return level;
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(of)));
  }
  return 1;
}

bool warn(const c10::Warning& warning, Py_ssize_t level) {
  PyObject* const category =
      std::holds_alternative<c10::DeprecationWarning>(warning.type()) ? PyExc_DeprecationWarning : PyExc_UserWarning;
  std::string text = warning.msg();
  const c10::SourceLocation& at = warning.source_location();
  if (at.file != nullptr) text = concat(text, " (Triggered internally at ", at.file, ":", at.line, ".)");
  return PyErr_WarnEx(category, text.c_str(), level) == 0;
}

}  // namespace

void emit_python_warnings(const std::vector<c10::Warning>& warnings) {
  if (!Py_IsInitialized()) return;
  const py::gil_scoped_acquire gil;
  const Py_ssize_t level = level_of_user();
  for (const c10::Warning& warning : warnings) {
    if (warn(warning, level)) continue;
    python_error error;
    error.persist();
    throw error;
  }
}

}  // namespace aee
