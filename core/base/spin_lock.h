// SpinLock: a one-byte lock for sections of a few instructions; and cpu_relax, the pause of every spinning loop.
//
// Test-and-test-and-set with pauses; a waiter that sees no progress for long yields, because the owner may have lost
// its core. Not recursive, not fair. Never held across a call that leaves this layer. Fits std::lock_guard.
#pragma once

#include <atomic>
#include <thread>

namespace aee {

/// Tells the core that this is a spinning loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() noexcept {
    if (!locked_.exchange(true, std::memory_order_acquire)) [[likely]]
      return;
    lock_slowly();
  }
  [[nodiscard]] bool try_lock() noexcept {
    return !locked_.load(std::memory_order_relaxed) && !locked_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline]] void lock_slowly() noexcept {
    int rounds = 0;
    do {
      while (locked_.load(std::memory_order_relaxed)) {
        cpu_relax();
        if (++rounds % kRoundsBeforeYield == 0) std::this_thread::yield();
      }
    } while (locked_.exchange(true, std::memory_order_acquire));
  }

  static constexpr int kRoundsBeforeYield = 128;
  std::atomic<bool> locked_{false};
};

}  // namespace aee
