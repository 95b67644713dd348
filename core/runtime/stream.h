// StreamTable: which queue of a device a stream's work goes to.
//
// There are any number of streams and a few queues, opened when first used. Streams take the queues in turn; two
// streams on one queue are simply in order. A stream costs a number. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/runtime/device.h"

namespace aee {

/// Number of a stream of one device; 0 is the default stream.
using StreamId = std::int64_t;
inline constexpr StreamId kDefaultStream = 0;

class StreamTable {
 public:
  static constexpr std::size_t kQueues = 4;

  /// The device must outlive the table.
  explicit StreamTable(Device& device) noexcept : device_(device) {}
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;

  [[nodiscard]] StreamId new_stream() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether the stream exists.
  [[nodiscard]] bool knows(StreamId stream) const noexcept {
    return stream >= 0 && stream < next_.load(std::memory_order_relaxed);
  }
  /// The queue of a stream. Throws Error for a stream that does not exist.
  [[nodiscard]] QueueId queue(StreamId stream) {
    if (!knows(stream)) [[unlikely]]
      refuse(stream);
    const std::size_t place = static_cast<std::size_t>(stream) % kQueues;
    const int open = queues_[place].load(std::memory_order_acquire);
    return open >= 0 ? static_cast<QueueId>(open) : open_queue(place);
  }

 private:
  [[noreturn]] void refuse(StreamId stream) const;
  QueueId open_queue(std::size_t place);

  Device& device_;
  std::atomic<StreamId> next_{1};
  std::mutex opening_;  // guards the opening of queues
  std::array<std::atomic<int>, kQueues> queues_{-1, -1, -1, -1};
};

}  // namespace aee
