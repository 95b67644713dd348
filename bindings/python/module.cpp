// adaptive_eager._C: the few functions that the Python package needs beyond PyTorch's generic accelerator interface.
#include <Python.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Generator.h>

#include "bindings/python/python_warnings.h"
#include "bindings/python/source_line.h"
#include "bindings/torch/surface.h"

namespace py = pybind11;

namespace aee {
namespace {

// A thread that waits for the device must not keep the GIL: the work it waits for may need another Python thread.
void* release_gil() noexcept {
  if (!Py_IsInitialized() || PyGILState_Check() == 0) return nullptr;
  return PyEval_SaveThread();
}
void retake_gil(void* state) noexcept {
  if (state != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(state));
}

std::vector<std::string> package_folders() {
  std::vector<std::string> folders;
  const py::dict modules = py::module_::import("sys").attr("modules");
  for (const char* name : {"torch", "adaptive_eager"}) {
    if (!modules.contains(name)) continue;
    for (const py::handle path : modules[name].attr("__path__")) folders.push_back(py::cast<std::string>(path) + "/");
  }
  return folders;
}

py::dict metrics_dict() {
  py::dict result;
  for (const auto& [name, value] : metric_rows()) result[py::str(name.data(), name.size())] = value;
  return result;
}

py::dict explain_dict() {
  py::list sites;
  for (const SiteReport& site : site_reports()) {
    py::dict row;
    row["launches"] = site.launches;
    row["hits"] = site.hits;
    row["ops"] = site.ops;
    row["live_outs"] = site.live_outs;
    row["bytes"] = site.bytes;
    row["recording_us"] = site.recording_us;
    row["device_us"] = site.device_us;
    row["tier"] = site.tier;
    row["cut"] = site.cut;
    row["first"] = site.first;
    row["last"] = site.last;
    row["difference"] = site.difference;
    sites.append(row);
  }
  py::dict report;
  report["adaptive"] = is_adaptive();
  report["counters"] = metrics_dict();
  report["sites"] = sites;
  return report;
}

py::object default_generator_object(int device) {
  return py::reinterpret_steal<py::object>(THPGenerator_Wrap(default_generator(device)));
}

py::list config_rows() {
  py::list rows;
  for (const Option& row : options()) {
    rows.append(py::make_tuple(row.variable, row.type, row.default_value, row.meaning, row.value));
  }
  return rows;
}

}  // namespace
}  // namespace aee

PYBIND11_MODULE(_C, module) {
  using namespace aee;
  const py::call_guard<py::gil_scoped_release> no_gil;
  set_language_hooks({&release_gil, &retake_gil, &current_python_line, &describe_python_line, &emit_python_warnings});
  set_foreign_folders(package_folders());
  module.def("is_available", [] { return device_count() > 0; });
  module.def("device_count", &device_count);
  module.def("current_device", [] { return int{device().index()}; });
  module.def("set_device", &set_current_device);
  module.def("synchronize", &synchronize, no_gil);
  module.def("metrics", &metrics_dict);
  module.def("explain", &explain_dict);
  module.def("dump_trace", &dump_trace);
  module.def("reset_metrics", &reset_metrics);
  module.def("set_adaptive", &set_adaptive);
  module.def("is_adaptive", &is_adaptive);
  module.def("mark_step", &mark_step, no_gil);
  module.def("default_generator", &default_generator_object);
  module.def("shutdown", &finish, no_gil);
  module.def("is_bad_fork", &is_bad_fork);
  module.def("config", &config_rows);
  module.def("set_limit", &set_memory_limit);
}
