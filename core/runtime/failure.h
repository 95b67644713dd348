// Failure: why a launch did not give its results. It is made once, where the launch failed, and carried by every
// buffer that depends on it. Shared and immutable but for `delivered`, which is set when it is raised in the thread
// that recorded the launch: another thread that is told does not know for it. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace aee {

struct Failure {
  std::exception_ptr cause;             ///< what the launch threw, ready to rethrow
  std::string where;                    ///< op and, where known, the Python source line; empty if unknown
  std::uint32_t thread = 0;             ///< number of the thread that recorded the launch; 0: any
  mutable std::atomic<bool> delivered;  ///< raised in that thread

  /// To be called by a thread before it raises it: false if who must know knows already.
  [[nodiscard]] bool tell(std::uint32_t thread_number) const noexcept {
    if (thread == 0 || thread == thread_number) return !delivered.exchange(true, std::memory_order_acq_rel);
    return !delivered.load(std::memory_order_acquire);
  }
};
using FailurePtr = std::shared_ptr<const Failure>;

}  // namespace aee
