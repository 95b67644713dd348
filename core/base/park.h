// Waiting: park and unpark a thread on a 32-bit word, SpinBudget for the spinning before that, and Parker, which makes
// "look for work, then sleep" free of lost wake-ups and costs the giver of work one load while nobody sleeps.
//
// Parking may end without a reason: whoever parks checks its condition again in a loop. Any thread; no allocation.
// A wake is a system call (about 5 us for the waker, 9 us for the woken), hence the spinning.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/base/spin_lock.h"

namespace aee {

inline constexpr std::chrono::nanoseconds kNoTimeout = std::chrono::nanoseconds::max();

/// Sleeps while the word has the expected value, until unparked, the timeout or for no reason.
void park(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::chrono::nanoseconds timeout = kNoTimeout) noexcept;
/// Wakes every thread parked on the word; change the word before.
void unpark_all(const std::atomic<std::uint32_t>& word) noexcept;

/// How long a loop may spin before it parks. The clock is read at the first pause and then every 32nd.
class SpinBudget {
 public:
  explicit SpinBudget(std::chrono::nanoseconds budget) noexcept : budget_(budget) {}
  /// Pauses for a moment; false once the budget is used up.
  [[nodiscard]] bool spin() noexcept {
    cpu_relax();
    return ++rounds_ % 32 != 1 || in_time();
  }
  /// Makes the whole budget available again.
  void refill() noexcept { rounds_ = 0; }

 private:
  [[nodiscard]] bool in_time() noexcept;

  std::chrono::nanoseconds budget_;
  std::uint32_t rounds_ = 0;
  std::chrono::steady_clock::time_point start_{};
};

/// Where one thread sleeps when it has nothing to do. The sleeper: prepare(); if there is something to do after all
/// cancel(), else sleep(). Any other thread: give it something to do by a sequentially consistent write, then notify().
class Parker {
 public:
  void prepare() noexcept { state_.store(kParked, std::memory_order_seq_cst); }
  void cancel() noexcept { state_.store(kAwake, std::memory_order_relaxed); }
  void sleep() noexcept {
    while (state_.load(std::memory_order_acquire) == kParked) park(state_, kParked);
  }
  /// One load unless the thread is parked; of several threads that notify at once, one makes the system call.
  void notify() noexcept {
    if (state_.load(std::memory_order_seq_cst) == kParked) [[unlikely]]
      wake();
  }

 private:
  static constexpr std::uint32_t kAwake = 0, kParked = 1;
  void wake() noexcept;

  std::atomic<std::uint32_t> state_{kAwake};
};

}  // namespace aee
