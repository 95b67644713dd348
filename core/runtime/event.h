// Event: a mark in the order of one queue, which hosts and other queues can wait for.
//
// Without timing it is the timepoint of the queue's last launch and costs nothing. With timing a tiny launch stamps the
// clock when its turn comes; the stamp is shared with that launch, so an event may be destroyed or recorded again at
// any time. One thread at a time; the device must outlive it.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/runtime/device.h"

namespace aee {

enum class EventTiming : std::uint8_t { kOff, kOn };

class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// Marks the place after everything that the queue has accepted so far. Waits only if the queue is full.
  void record(Device& device, QueueId queue, EventTiming timing);
  [[nodiscard]] bool recorded() const noexcept { return device_ != nullptr; }
  /// Whether the place is reached; true if never recorded.
  [[nodiscard]] bool query() const noexcept;
  /// Returns when the place is reached.
  void synchronize() const;
  /// What a launch of another queue adds to its waits; none if never recorded.
  [[nodiscard]] Timepoint point() const noexcept { return point_; }
  /// Milliseconds from this event to `end`. Both must be recorded with timing and reached; throws Error otherwise.
  [[nodiscard]] double elapsed_ms(const Event& end) const;

 private:
  struct Stamp;
  static void drop(Stamp* stamp) noexcept;
  [[nodiscard]] std::int64_t nanoseconds() const;

  Device* device_ = nullptr;
  Timepoint point_{};
  Stamp* stamp_ = nullptr;  // counted: shared with the launch
};

}  // namespace aee
