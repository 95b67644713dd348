// Hostility: the delays, faults and refusals with which the emulator stands in for a real device in tests.
//
// Every decision is a function of the seed, the queue and a number (of the launch, attempt or allocation), never of
// time: a run can be repeated. Seed 0 turns everything off. Immutable; any thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/runtime/timepoint.h"

namespace aee {

struct Config;

class Hostility {
 public:
  explicit Hostility(const Config& config);

  [[nodiscard]] bool enabled() const noexcept { return seed_ != 0; }
  /// How long the launch is held back before it runs.
  [[nodiscard]] std::chrono::nanoseconds delay(QueueId queue, std::uint64_t sequence) const noexcept;
  /// Whether the launch fails.
  [[nodiscard]] bool fails(QueueId queue, std::uint64_t sequence) const noexcept;
  /// Whether the queue refuses the attempt to submit.
  [[nodiscard]] bool refuses(QueueId queue, std::uint64_t attempt) const noexcept;
  /// Whether the allocation fails.
  [[nodiscard]] bool allocation_fails(std::uint64_t allocation) const noexcept;

 private:
  enum class Purpose : std::uint8_t { kDelay, kFailure, kRefusal, kAllocation };
  [[nodiscard]] double draw(Purpose purpose, QueueId queue, std::uint64_t number) const noexcept;  // in [0, 1)

  std::uint64_t seed_;
  double delay_us_, launch_failures_, refusals_, allocation_failures_;
};

}  // namespace aee
