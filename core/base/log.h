// Log: leveled lines on stderr, for what a user may want to know and no test depends on.
//
// AEE_LOG(kInfo, "loaded ", n, " kernels") evaluates its parts only if the level is enabled. A line is written by one
// system call, so lines of several threads do not mix. The level belongs to the process (stderr does too): it is set
// once, from Config, by whoever makes the first engine. Any thread.
#pragma once

#include <atomic>
#include <string_view>

#include "core/base/config.h"
#include "core/base/error.h"

namespace aee {

namespace detail {
inline constinit std::atomic<LogLevel> log_level{LogLevel::kWarning};
void write_log(LogLevel level, std::string_view text) noexcept;
}  // namespace detail

/// Lines above this level are dropped.
inline void set_log_level(LogLevel level) noexcept { detail::log_level.store(level, std::memory_order_relaxed); }
/// Whether a line of this level would be written.
[[nodiscard]] inline bool log_enabled(LogLevel level) noexcept {
  return level <= detail::log_level.load(std::memory_order_relaxed);
}

}  // namespace aee

#define AEE_LOG(level, ...)                                                         \
  do {                                                                              \
    if (::aee::log_enabled(::aee::LogLevel::level)) [[unlikely]]                    \
      ::aee::detail::write_log(::aee::LogLevel::level, ::aee::concat(__VA_ARGS__)); \
  } while (false)
