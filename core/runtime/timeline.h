// Timeline: the progress of one queue, two numbers that only grow, and the threads that sleep until one of them does.
//
// A launch is published by the producers (one at a time, in order) and completed by the consumer (one at a time, in
// order). Writes that come before complete() are visible to whoever has seen reached(). Used by every device that runs
// in this process. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace aee {

class Timeline {
 public:
  [[nodiscard]] std::uint64_t submitted() const noexcept { return submitted_.load(std::memory_order_seq_cst); }
  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_.load(std::memory_order_seq_cst); }
  [[nodiscard]] bool reached(std::uint64_t sequence) const noexcept { return completed() >= sequence; }
  /// Whether something is submitted and not yet complete.
  [[nodiscard]] bool pending() const noexcept { return completed() != submitted(); }

  /// Makes the launch visible to the consumer. Producer only.
  void publish(std::uint64_t sequence) noexcept { submitted_.store(sequence, std::memory_order_seq_cst); }
  /// Makes the launch complete and wakes who waits for it. Consumer only.
  void complete(std::uint64_t sequence) noexcept {
    completed_.store(sequence, std::memory_order_seq_cst);
    if (wake_at_.load(std::memory_order_seq_cst) <= sequence) [[unlikely]]
      wake_sleepers();
  }

  /// Sleeping is two steps, between which the caller checks its condition again: arm() asks to be woken at `sequence`,
  /// sleep() sleeps unless that has happened since. May return early.
  [[nodiscard]] std::uint32_t arm(std::uint64_t sequence) noexcept;
  void sleep(std::uint32_t ticket) noexcept;
  /// Wakes every sleeper, whatever it waits for.
  void wake_sleepers() noexcept;

 private:
  static constexpr std::uint64_t kNobody = std::numeric_limits<std::uint64_t>::max();

  alignas(64) std::atomic<std::uint64_t> submitted_{0};
  alignas(64) std::atomic<std::uint64_t> completed_{0};
  alignas(64) std::atomic<std::uint64_t> wake_at_{kNobody};  ///< the lowest number that a sleeper waits for
  std::atomic<std::uint32_t> epoch_{0};                      ///< grows with every wake
};

}  // namespace aee
