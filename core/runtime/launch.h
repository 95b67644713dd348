// Launch: one unit of work for a queue, a trivially copyable block that the queue copies into its ring.
//
//   | Launch | Timepoint waits[wait_count] | Buffer* buffers[buffer_count] | payload ... |
//
// The producer builds the block in its own memory (8-byte aligned) and owns one reference to each named buffer, which
// passes to the queue when the submit is accepted. The first `written_count` buffers are written (they may be read as
// well), the others only read; each buffer appears once. The first `fresh_count` of them are made by it. The queue runs
// the launch after its waits, unless a buffer it names has failed: then it is skipped, and every buffer it would have
// written carries the same failure.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/runtime/buffer.h"
#include "core/runtime/timepoint.h"

namespace aee {

/// Time that launches took on the device. Any thread.
class LaunchClock {
 public:
  void add(std::uint64_t ns) noexcept {
    ns_.fetch_add(ns, std::memory_order_relaxed);
    launches_.fetch_add(1, std::memory_order_relaxed);
  }
  void reset() noexcept {
    ns_.store(0, std::memory_order_relaxed);
    launches_.store(0, std::memory_order_relaxed);
  }
  /// Microseconds a launch; 0 if none was measured.
  [[nodiscard]] double mean_us() const noexcept {
    const std::uint64_t launches = launches_.load(std::memory_order_relaxed);
    if (launches == 0) return 0;
    return static_cast<double>(ns_.load(std::memory_order_relaxed)) / 1e3 / static_cast<double>(launches);
  }

 private:
  std::atomic<std::uint64_t> ns_{0}, launches_{0};
};

struct Launch {
  /// Does the work. Throws to fail the launch. Runs on the device thread or on a waiting host thread that helps.
  using Run = void (*)(Launch& launch);
  /// Releases what the payload owns; called once, after run or instead of it. May be null.
  using Discard = void (*)(Launch& launch) noexcept;
  /// Text for an error message: op and source line. Called only for a failure. May be null.
  using Describe = std::string (*)(const Launch& launch);

  Run run = nullptr;
  Discard discard = nullptr;
  Describe describe = nullptr;
  std::uint32_t size = 0;        ///< bytes of the whole block, a multiple of 8
  std::uint16_t wait_count = 0;  ///< timepoints of other queues to wait for
  std::uint16_t buffer_count = 0;
  std::uint16_t written_count = 0;  ///< the first of the buffers
  std::uint16_t fresh_count = 0;    ///< the first of those: their life begins with this launch
  std::uint16_t op_count = 1;       ///< for the counter ops_executed
  std::uint16_t flags = 0;          ///< LaunchFlags
  std::uint32_t thread = 0;         ///< number of the host thread that recorded it, for its failure; 0: unknown
  LaunchClock* clock = nullptr;     ///< measures it; null: nobody does
  PendingTag tag = 0;               ///< who held it back: cleared from its buffers when the queue accepts it

  [[nodiscard]] std::span<Timepoint> waits() noexcept { return {reinterpret_cast<Timepoint*>(this + 1), wait_count}; }
  [[nodiscard]] std::span<const Timepoint> waits() const noexcept {
    return {reinterpret_cast<const Timepoint*>(this + 1), wait_count};
  }
  [[nodiscard]] std::span<Buffer*> buffers() noexcept {
    return {reinterpret_cast<Buffer**>(waits().data() + wait_count), buffer_count};
  }
  [[nodiscard]] std::span<Buffer* const> buffers() const noexcept {
    return {reinterpret_cast<Buffer* const*>(waits().data() + wait_count), buffer_count};
  }
  [[nodiscard]] void* payload() noexcept { return buffers().data() + buffer_count; }
  [[nodiscard]] const void* payload() const noexcept { return buffers().data() + buffer_count; }
};
static_assert(std::is_trivially_copyable_v<Launch> && sizeof(Launch) % 8 == 0);

enum LaunchFlags : std::uint16_t {
  kLaunchParallel = 1,      ///< may use the OpenMP pool: only the device thread runs it, and nobody spins meanwhile
  kLaunchIgnoreFailed = 2,  ///< runs even if a buffer it names has failed (events, overwriting copies)
  kLaunchOverwrites = 4,    ///< writes the written buffers wholly: on success their failures are cleared
  kLaunchSegment = 8,       ///< the payload is launches, one after the other, that run in order as one unit; it names
                            ///< no buffers itself, and each of them succeeds, fails or is skipped on its own
  kLaunchOnlySmall = 16,    ///< all its buffers are small: finish() need not look at them
  kLaunchAwaited = 32,      ///< a host thread is about to wait for it, and had better run it itself
};

/// Calls visit(inner) for the launches of a segment, in order.
template <class L, class Visit>
void for_each_inner(L& segment, Visit visit) {
  using Bytes = std::conditional_t<std::is_const_v<L>, const std::byte, std::byte>;
  auto* at = static_cast<Bytes*>(segment.payload());
  auto* end = reinterpret_cast<Bytes*>(&segment) + segment.size;
  while (at != end) {
    auto& inner = *reinterpret_cast<L*>(at);
    at += inner.size;  // before the visit: it may consume the launch
    visit(inner);
  }
}

/// What a queue does for the buffers of a launch when it accepts it, before anyone can run it.
inline void mark_accepted(const Launch& launch, Timepoint point) noexcept {
  for (Buffer* buffer : launch.buffers()) {
    buffer->set_last_use(point);
    if (launch.tag == 0) continue;
    if (buffer->pending_writer.load(std::memory_order_relaxed) == launch.tag) {
      buffer->pending_writer.store(0, std::memory_order_release);
    }
    if (buffer->pending_reader.load(std::memory_order_relaxed) == launch.tag) {
      buffer->pending_reader.store(0, std::memory_order_release);
    }
  }
  if ((launch.flags & kLaunchSegment) == 0) return;
  for_each_inner(launch, [point](const Launch& inner) { mark_accepted(inner, point); });
}

}  // namespace aee
