// HitCounter: how many steps one recorder thread launched from remembered layouts. The hit path bumps five metrics for
// every step, always together; a plain store of one number replaces five atomic additions. The Engine collects them.
#pragma once

#include <atomic>
#include <cstdint>

namespace aee {

class HitCounter {
 public:
  /// Counts one step. Only the owning thread.
  void count() noexcept { hits_.store(hits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// What was counted since the last call. One caller at a time, any thread.
  [[nodiscard]] std::uint64_t collect() noexcept {
    const std::uint64_t now = hits_.load(std::memory_order_relaxed);
    const std::uint64_t fresh = now - collected_;
    collected_ = now;
    return fresh;
  }

 private:
  std::atomic<std::uint64_t> hits_{0};
  std::uint64_t collected_ = 0;
};

}  // namespace aee
