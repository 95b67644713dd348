// Timepoint: a place in the order of one queue. Sequence numbers of a queue start at 1 and grow by one a launch;
// a timepoint is reached when the queue has completed that launch. Waiting for a timepoint whose launch is not yet
// submitted is legal. A value type: 8 bytes, free of ownership, usable from any thread.
#pragma once

#include <cstdint>

namespace aee {

/// Number of a queue in its Runtime, in order of creation.
using QueueId = std::uint16_t;

struct Timepoint {
  std::uint64_t sequence : 48 = 0;  ///< 0: no work; reached from the start
  std::uint64_t queue : 16 = 0;

  [[nodiscard]] bool none() const noexcept { return sequence == 0; }
  friend bool operator==(Timepoint a, Timepoint b) noexcept { return a.sequence == b.sequence && a.queue == b.queue; }
};
static_assert(sizeof(Timepoint) == 8);

/// The place of the launch with that number. 48 bits last for nine years at a launch a microsecond.
[[nodiscard]] constexpr Timepoint timepoint(QueueId queue, std::uint64_t sequence) noexcept {
  return {.sequence = sequence & 0xFFFF'FFFF'FFFFu, .queue = queue};
}

}  // namespace aee
