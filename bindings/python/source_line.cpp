// Note [Reading a frame without the GIL]
// Bindings release the GIL before an operator reaches us. The thread's own frame cannot change while the thread is in
// C, so its code pointer and instruction may be read. A code object met for the first time is kept alive for good,
// under the GIL; its id is then found in a thread-local cache. The line is computed when a failure is told, from the
// immutable line table.
#define Py_BUILD_CORE 1
#include <Python.h>
#undef HAVE_STD_ATOMIC
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "bindings/python/source_line.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace aee {
namespace {

struct KnownCode {
  PyCodeObject* code;
  std::string file;
  std::string function;
  bool foreign;  // PyTorch's own code: the user's line is further up
};

constexpr std::size_t kMostCodes = 1u << 16;
constexpr int kMostFrames = 24;

std::mutex codes_mutex;  // guards both; never held while the GIL is taken
std::vector<KnownCode>& codes() {
  static auto* const list = new std::vector<KnownCode>(1);  // id 0 is unknown
  return *list;
}
std::unordered_map<PyCodeObject*, std::uint32_t>& code_ids() {
  static auto* const map = new std::unordered_map<PyCodeObject*, std::uint32_t>;
  return *map;
}

std::vector<std::string>& foreign_folders() {
  static auto* const folders = new std::vector<std::string>;
  return *folders;
}

std::string text_of(PyObject* text) {
  const char* utf8 = PyUnicode_AsUTF8(text);
  if (utf8 != nullptr) return utf8;
  PyErr_Clear();
  return "?";
}

std::uint32_t intern(PyCodeObject* code) {
  {
    const std::lock_guard guard(codes_mutex);
    const auto found = code_ids().find(code);
    if (found != code_ids().end()) return found->second;
    if (codes().size() >= kMostCodes) return 0;
  }
  const PyGILState_STATE gil = PyGILState_Ensure();
  Py_INCREF(code);
  KnownCode known{code, text_of(code->co_filename), text_of(code->co_name), false};
  PyGILState_Release(gil);
  known.foreign = is_foreign_file(known.file);
  const std::lock_guard guard(codes_mutex);
  codes().push_back(std::move(known));
  const auto id = static_cast<std::uint32_t>(codes().size() - 1);
  code_ids().emplace(code, id);
  return id;
}

struct CachedId {
  PyCodeObject* code = nullptr;
  std::uint32_t id = 0;
  bool foreign = false;
};

CachedId id_of(PyCodeObject* code) {
  thread_local std::array<CachedId, 64> cache;
  CachedId& cached = cache[(reinterpret_cast<std::uintptr_t>(code) >> 5) % cache.size()];
  if (cached.code == code) return cached;
  cached = {code, intern(code), false};
  const std::lock_guard guard(codes_mutex);
  cached.foreign = codes()[cached.id].foreign;
  return cached;
}

#if PY_VERSION_HEX < 0x030D0000
PyCodeObject* code_of(const _PyInterpreterFrame* frame) { return frame->f_code; }
_PyInterpreterFrame* top_frame(PyThreadState* state) { return state->cframe->current_frame; }
#else
PyCodeObject* code_of(const _PyInterpreterFrame* frame) {
  PyObject* executable = frame->f_executable;
  return executable != nullptr && PyCode_Check(executable) ? reinterpret_cast<PyCodeObject*>(executable) : nullptr;
}
_PyInterpreterFrame* top_frame(PyThreadState* state) { return state->current_frame; }
#endif

bool is_shim(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030C0000
  return frame->owner == FRAME_OWNED_BY_CSTACK;
#else
  static_cast<void>(frame);
  return false;
#endif
}

}  // namespace

void set_foreign_folders(std::vector<std::string> folders) { foreign_folders() = std::move(folders); }

bool is_foreign_file(std::string_view file) {
  const auto holds = [file](const std::string& folder) { return file.starts_with(folder); };
  return std::any_of(foreign_folders().begin(), foreign_folders().end(), holds);
}

std::uint64_t current_python_line() noexcept {
  PyThreadState* state = PyGILState_GetThisThreadState();
  if (state == nullptr) return 0;
  std::uint64_t innermost = 0;
  int depth = 0;
  for (_PyInterpreterFrame* frame = top_frame(state); frame != nullptr && depth < kMostFrames;
       frame = frame->previous, ++depth) {
    PyCodeObject* code = is_shim(frame) ? nullptr : code_of(frame);
    if (code == nullptr) continue;
    const CachedId known = id_of(code);
    if (known.id == 0) return innermost;
    const auto instruction = static_cast<std::uint64_t>(_PyInterpreterFrame_LASTI(frame)) * sizeof(_Py_CODEUNIT);
    const std::uint64_t source = std::uint64_t{known.id} << 32 | (instruction & 0xffffffffu);
    if (!known.foreign) return source;
    if (innermost == 0) innermost = source;
  }
  return innermost;
}

std::string describe_python_line(std::uint64_t source) {
  const std::lock_guard guard(codes_mutex);
  const auto id = static_cast<std::size_t>(source >> 32);
  if (id == 0 || id >= codes().size()) return {};
  const KnownCode& known = codes()[id];
  const int line = PyCode_Addr2Line(known.code, static_cast<int>(source & 0xffffffffu));
  return known.file + ":" + std::to_string(line) + " in " + known.function;
}

}  // namespace aee
