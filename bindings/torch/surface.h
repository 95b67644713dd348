// What users steer and see: counters, the adaptive switch, explicit cuts, devices. Exported from the library and shared
// by the Python module and the C++ API. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <c10/util/Exception.h>

#include "core/base/export.h"
#include "core/engine/site_report.h"

namespace aee {

/// The counters by name, in table order, with derived ones.
[[nodiscard]] AEE_API std::vector<std::pair<std::string_view, std::uint64_t>> metrics();
AEE_API void reset_metrics();

/// Turns adaptive mode on or off for the calling thread; returns what it was.
AEE_API bool set_adaptive(bool enabled);
[[nodiscard]] AEE_API bool is_adaptive();
/// Ends the current segment: its work is launched. Does not wait.
AEE_API void mark_step();

/// Reports of the places where segments ended, on all devices, most launched first.
[[nodiscard]] AEE_API std::vector<SiteReport> explain();

/// Number of devices; 0 if there is none. Makes no engine, never throws.
[[nodiscard]] AEE_API int count_devices() noexcept;
/// Current device of the calling thread.
[[nodiscard]] AEE_API int current_device_index();
/// Throws for an index without a device.
AEE_API void set_device_index(int index);
/// A sync point for one device (-1: the current one): raises what failed, emits warnings.
AEE_API void synchronize(int device);
/// Waits for all devices; raises nothing. Later work runs as before.
AEE_API void finish() noexcept;
/// Limits the memory of a device, in bytes.
AEE_API void set_memory_limit(std::uint64_t bytes, int device);
/// The default generator of a device.
[[nodiscard]] AEE_API const at::Generator& default_device_generator(int device);
/// Whether this process was forked from one that used the device.
[[nodiscard]] AEE_API bool is_bad_fork() noexcept;

/// A row of the environment table.
struct ConfigText {
  std::string variable, type, default_text, doc;
};
[[nodiscard]] AEE_API std::vector<ConfigText> config_text();

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
