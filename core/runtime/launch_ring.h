// LaunchRing: the bytes of the launches that wait in one queue.
//
//   | header | Launch ... | header | Launch ... |   skip   |      blocks are contiguous; at the end of the ring a skip
//                                                            header sends the reader back to the start
//
// One producer and one consumer at a time, each under a lock of the queue. What orders them is the queue's Timeline:
// the consumer reads a block only after it was published there, and the producer drops it only after it was completed.
// Blocks above a quarter of the ring live on the heap. Steady state: no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/runtime/launch.h"

namespace aee {

/// Whether a block is copied with its waits.
enum class KeepWaits : std::uint8_t { kNo, kYes };

class LaunchRing {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMostInline = kBytes / 4;
  static constexpr std::size_t kHotBytes = std::size_t{1} << 16;
  static constexpr std::size_t kMostHeapBytes = std::size_t{64} << 20;

  LaunchRing();
  ~LaunchRing();
  LaunchRing(const LaunchRing&) = delete;
  LaunchRing& operator=(const LaunchRing&) = delete;

  /// Whether pushing the block is a chance to start again from the front: drop complete blocks first. Producer only.
  [[nodiscard]] bool leaves_hot_bytes(const Launch& launch) const noexcept {
    return (tail_ ^ (tail_ + launch.size + sizeof(Header))) >= kHotBytes;
  }
  /// Copies the block. False if there is no room, and then nothing has changed. Producer only.
  [[nodiscard]] bool push(const Launch& launch, KeepWaits waits);
  /// The oldest block that was not consumed; there must be one. Consumer only.
  [[nodiscard]] Launch& front() noexcept { return block_at(next_); }
  /// Consumes it: the next one is the front. Consumer only.
  void advance() noexcept { next_ += header_at(next_).bytes; }
  /// The oldest block; there must be one, and it was consumed. Producer only.
  [[nodiscard]] Launch& oldest() noexcept { return block_at(head_); }
  /// Drops it. Producer only.
  void pop() noexcept;

 private:
  enum class Kind : std::uint32_t { kInline, kHeap, kSkip };
  struct Header {
    std::uint32_t bytes;  // of header and content
    Kind kind;
  };
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  [[nodiscard]] std::byte* at(std::uint64_t position) const noexcept {
    return reinterpret_cast<std::byte*>(ring_.get()) + static_cast<std::size_t>(position % kBytes);
  }
  [[nodiscard]] Header header_at(std::uint64_t& position) noexcept;
  [[nodiscard]] Launch& block_at(std::uint64_t& position) noexcept;
  void put_header(std::uint64_t position, std::size_t bytes, Kind kind) noexcept;

  std::unique_ptr<Line[]> ring_;
  // Positions count bytes since the beginning; modulo kBytes they are places in the ring.
  alignas(64) std::uint64_t tail_ = 0;  ///< producer's: end of the newest block
  std::uint64_t head_ = 0;              ///< producer's: the oldest block
  std::size_t heap_bytes_ = 0;          ///< producer's
  alignas(64) std::uint64_t next_ = 0;  ///< consumer's
};

}  // namespace aee
