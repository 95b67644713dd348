#include "core/runtime/null.h"

#include <cstring>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/metrics.h"
#include "core/base/park.h"
#include "core/runtime/emulator.h"
#include "core/runtime/executor.h"
#include "core/runtime/thread_scopes.h"

namespace aee {
namespace {

constexpr std::chrono::microseconds kHostSpin{50};

/// Treats the launch as run. It may change its block, so it gets a copy, as in a real queue.
void complete_copy(const Launch& launch, Metrics& metrics) {
  constexpr std::size_t kOnStack = 4096;
  alignas(16) std::byte stack[kOnStack];
  std::unique_ptr<std::byte[]> heap;
  std::byte* memory = stack;
  if (launch.size > kOnStack) {
    heap = std::make_unique_for_overwrite<std::byte[]>(launch.size);
    memory = heap.get();
  }
  auto& copy = *static_cast<Launch*>(std::memcpy(memory, &launch, launch.size));
  static_cast<void>(execute(copy, Execution::kPretend, metrics));
  finish(copy);
  retire(copy);
}

}  // namespace

NullDevice::NullDevice(const Config& config, Metrics& metrics, const ThreadHooks& hooks)
    : metrics_(metrics), hooks_(hooks) {
  capabilities_.name = "null";
  capabilities_.device_waits = config.device_waits;
  capabilities_.runs_nothing = true;
  capabilities_.memory_bytes = emulated_memory_bytes(config);
}

void* NullDevice::allocate(std::size_t bytes) {
  void* memory = arena_.allocate(bytes);
  return std::memset(memory, 0, bytes);
}

void NullDevice::memory_reserved(std::uint64_t* now, std::uint64_t* peak) const noexcept {
  const ArenaStats stats = arena_.stats();
  *now = stats.reserved;
  *peak = stats.reserved_peak;
}

NullDevice::Queue& NullDevice::queue(std::uint64_t id) const {
  AEE_CHECK(id < opened_.load(std::memory_order_acquire), "queue ", id, " is not open");
  return *queues_[id];
}

QueueId NullDevice::open_queue() {
  const std::lock_guard guard(opening_);
  const std::size_t id = opened_.load(std::memory_order_relaxed);
  if (id == kMaxQueues) fail_user("a device has at most ", kMaxQueues, " queues");
  queues_[id] = std::make_unique<Queue>();
  opened_.store(id + 1, std::memory_order_release);
  return static_cast<QueueId>(id);
}

Submitted NullDevice::submit(QueueId id, const Launch& launch, Timepoint* point) {
  Queue& target = queue(id);
  if (!capabilities_.device_waits) {
    for (const Timepoint& reached : launch.waits()) wait(reached, WaitMode::kHelp);
  }
  const std::lock_guard guard(target.lock);
  *point = timepoint(id, target.sequence + 1);
  mark_accepted(launch, *point);
  complete_copy(launch, metrics_);
  target.timeline.publish(++target.sequence);
  target.timeline.complete(target.sequence);
  return Submitted::kAccepted;
}

std::uint64_t NullDevice::completed(QueueId id) const noexcept { return queue(id).timeline.completed(); }

void NullDevice::wait(Timepoint point, WaitMode) {
  if (point.none()) return;
  Timeline& timeline = queue(point.queue).timeline;
  if (timeline.reached(point.sequence)) return;
  const BlockScope blocked(hooks_);
  SpinBudget budget(kHostSpin);
  while (!timeline.reached(point.sequence)) {
    if (budget.spin()) continue;
    const std::uint32_t ticket = timeline.arm(point.sequence);
    if (!timeline.reached(point.sequence)) timeline.sleep(ticket);
  }
}

}  // namespace aee
