// this_thread_number: a small number for each thread of the process, from 1 in order of first use; never used again.
// Nobody owns it; any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace aee {

/// The calling thread's number.
[[nodiscard]] inline std::uint32_t this_thread_number() noexcept {
  static std::atomic<std::uint32_t> last{0};
  thread_local const std::uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace aee
