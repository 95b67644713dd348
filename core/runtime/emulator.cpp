#include "core/runtime/emulator.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/fork.h"

namespace aee {
namespace {

constexpr std::chrono::microseconds kHostSpin{50};
constexpr int kHelpDepth = 4;  // queues that a helper follows along unreached waits

// What tensors may occupy is counted when ops are recorded (BufferPool). This bounds what kernels take beside them, and
// results whose size only the kernel knows: the system would kill the process. Kernels of all devices may take from one
// arena. Above the devices' memory for what size classes waste, and a slab for each of them.
std::uint64_t arena_bytes(const Config& config) {
  constexpr std::uint64_t kSlabs = std::uint64_t{256} << 20, kMost = std::uint64_t{1} << 50;
  const std::uint64_t memory = std::min(emulated_memory_bytes(config), kMost) * config.device_count;
  return memory + memory / 8 + kSlabs;
}

}  // namespace

std::uint64_t emulated_memory_bytes(const Config& config) {
  if (config.memory_bytes != 0) return config.memory_bytes;
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGE_SIZE);
  AEE_CHECK(pages > 0 && page_bytes > 0);
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 4 * 3;
}

Emulator::Emulator(const Config& config, Metrics& metrics, const ThreadHooks& hooks)
    : shared_(config, metrics, hooks), arena_(arena_bytes(config)) {
  watch_forks();
  capabilities_.name = "emulator";
  capabilities_.device_waits = config.device_waits;
  capabilities_.launch_cost_us = config.launch_cost_us;
  capabilities_.memory_bytes = emulated_memory_bytes(config);
}

Emulator::~Emulator() {
  if (forked_child()) {
    for (auto& queue : queues_) static_cast<void>(queue.release());
    return;
  }
  shared_.stopping.store(true, std::memory_order_seq_cst);
  for (auto& queue : queues_) {
    if (queue != nullptr) queue->wake();
  }
  // All threads end before the first queue goes: they look at each other's timelines.
  for (auto& queue : queues_) {
    if (queue != nullptr) queue->join();
  }
}

void* Emulator::allocate(std::size_t bytes) {
  if (shared_.hostility.enabled() &&
      shared_.hostility.allocation_fails(allocations_.fetch_add(1, std::memory_order_relaxed))) {
    fail(ErrorKind::kOutOfMemory, "emulated allocation failure of ", bytes, " bytes");
  }
  return arena_.allocate(bytes);
}

void Emulator::memory_reserved(std::uint64_t* now, std::uint64_t* peak) const noexcept {
  const ArenaStats stats = arena_.stats();
  *now = stats.reserved;
  *peak = stats.reserved_peak;
}

QueueId Emulator::open_queue() {
  const std::lock_guard guard(opening_);
  for (std::size_t i = 0; i < kMaxQueues; ++i) {
    if (queues_[i] != nullptr) continue;
    const auto id = static_cast<QueueId>(i);
    try {
      queues_[i] = std::make_unique<EmulatorQueue>(id, shared_);
    } catch (const std::system_error& error) {
      fail(ErrorKind::kUnsupported, "cannot start the thread of queue ", id, ": ", error.what());
    }
    shared_.queues[i].store(queues_[i].get(), std::memory_order_release);
    return id;
  }
  fail_user("a device has at most ", kMaxQueues, " queues");
}

Submitted Emulator::submit(QueueId queue, const Launch& launch, Timepoint* point) {
  EmulatorQueue& target = shared_.queue(queue);
  if (launch.wait_count == 0 || capabilities_.device_waits) return target.submit(launch, KeepWaits::kYes, point);
  for (const Timepoint& reached : launch.waits()) wait(reached, WaitMode::kHelp);
  return target.submit(launch, KeepWaits::kNo, point);
}

std::uint64_t Emulator::completed(QueueId queue) const noexcept { return shared_.queue(queue).timeline().completed(); }

std::uint64_t Emulator::submitted(QueueId queue) const noexcept { return shared_.queue(queue).timeline().submitted(); }

FailurePtr Emulator::take_failure(QueueId queue) { return shared_.queue(queue).take_failure(); }

void Emulator::wait(Timepoint point, WaitMode mode) {
  if (point.none()) return;
  EmulatorQueue& queue = shared_.queue(point.queue);
  if (!queue.timeline().reached(point.sequence)) wait_unreached(point, mode);
  queue.retire_complete();
}

void Emulator::wait_unreached(Timepoint point, WaitMode mode) {
  Timeline& timeline = shared_.queue(point.queue).timeline();
  const BlockScope blocked(shared_.hooks);
  RunScope scope(shared_.hooks);
  SpinBudget budget(kHostSpin);
  while (!timeline.reached(point.sequence)) {
    if (mode == WaitMode::kHelp && help(point, scope)) {
      budget.refill();
      continue;
    }
    if (shared_.may_spin() && budget.spin()) continue;
    const std::uint32_t ticket = timeline.arm(point.sequence);
    if (!timeline.reached(point.sequence)) timeline.sleep(ticket);
  }
}

/// Runs what leads to the timepoint; where the head of its queue waits for another queue, what leads to that. True if
/// anything ran.
bool Emulator::help(Timepoint point, RunScope& scope) {
  for (int depth = 0; depth < kHelpDepth; ++depth) {
    Timepoint blocked_on;
    const auto outcome = shared_.queue(point.queue).help(point.sequence, scope, &blocked_on);
    if (outcome != EmulatorQueue::Help::kBlocked) return outcome == EmulatorQueue::Help::kRan;
    point = blocked_on;
  }
  return false;
}

}  // namespace aee
