// What the Python module needs beyond the public headers: reports as values, the switches of the process's life, and
// the hooks of a language binding. Exported from the library. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <adaptive_eager/adaptive_eager.h>
#include <c10/util/Exception.h>

#include "core/engine/site_report.h"

namespace aee {

/// The counters by name, in table order, with derived ones.
[[nodiscard]] AEE_API std::vector<std::pair<std::string_view, std::uint64_t>> metric_rows();
/// Reports of the places where segments ended, on all devices, most launched first.
[[nodiscard]] AEE_API std::vector<SiteReport> site_reports();

/// Writes what recorders do from now on to a file for bench/replay; an empty path ends it. See
/// core/engine/trace_stream.h.
AEE_API void dump_trace(const std::string& path);
/// Waits for all devices; raises nothing. Later work runs as before.
AEE_API void finish() noexcept;
/// Whether this process was forked from one that used the device.
[[nodiscard]] AEE_API bool is_bad_fork() noexcept;

/// Hooks of a language binding: around blocking waits, and for source lines. To be set before the device is used.
struct LanguageHooks {
  void* (*block)() noexcept = nullptr;
  void (*unblock)(void*) noexcept = nullptr;
  std::uint64_t (*current_source)() noexcept = nullptr;
  std::string (*describe_source)(std::uint64_t) = nullptr;
  void (*emit_warnings)(const std::vector<c10::Warning>&) = nullptr;  ///< may throw the language's exceptions
};
AEE_API void set_language_hooks(const LanguageHooks& hooks) noexcept;

}  // namespace aee
