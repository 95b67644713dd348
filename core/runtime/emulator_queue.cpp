#include "core/runtime/emulator_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/runtime/executor.h"

namespace aee {
namespace {

constexpr std::uint64_t kMostLaunches = 4096;
constexpr std::uint64_t kRetireBatch = 16;
constexpr std::size_t kMostFailures = 64;  // kept for take_failure; buffers carry theirs in any case
constexpr std::chrono::microseconds kIdleSpin{100};

// Note [Out of the helper's way]
// A host thread that waits after each small launch runs it itself in some 100 ns, if the queue's thread keeps its hands
// off the cache lines. So the thread looks at an idle queue less often while helpers run it, and lets a launch that is
// alone lie for a moment, in case a helper comes.
constexpr int kPausesAlone = 2;
constexpr int kPausesHelped = 40;
constexpr int kPausesBeforeLoneLaunch = 8;
constexpr int kLooksBeforeAwaited = 30;

constexpr std::chrono::microseconds kBlockedSpin{20};

void relax(int pauses) noexcept {
  for (int i = 0; i < pauses; ++i) cpu_relax();
}

/// Takes device time: what the emulated device would be busy with.
void spend(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) cpu_relax();
}

/// Holds a launch back without keeping others from the core.
void hold_back(std::chrono::nanoseconds time) {
  if (time.count() == 0) return;
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace

EmulatorShared::EmulatorShared(const Config& config, Metrics& the_metrics, const ThreadHooks& the_hooks)
    : metrics(the_metrics),
      hooks(the_hooks),
      hostility(config),
      launch_cost(static_cast<std::int64_t>(config.launch_cost_us * 1e3)),
      one_core(std::thread::hardware_concurrency() == 1) {}

EmulatorQueue& EmulatorShared::queue(std::uint64_t id) const {
  EmulatorQueue* found = id < kMaxQueues ? queues[id].load(std::memory_order_acquire) : nullptr;
  AEE_CHECK(found != nullptr, "queue ", id, " is not open");
  return *found;
}

EmulatorQueue::EmulatorQueue(QueueId id, EmulatorShared& shared) : shared_(shared), id_(id) {
  failures_.reserve(kMostFailures);
  thread_ = std::thread([this] { serve(); });
}

EmulatorQueue::~EmulatorQueue() {
  join();
  retire_complete();
}

void EmulatorQueue::wake() {
  work_.notify();
  timeline_.wake_sleepers();
}

void EmulatorQueue::join() {
  if (thread_.joinable()) thread_.join();
}

Submitted EmulatorQueue::submit(const Launch& launch, KeepWaits waits, Timepoint* point) {
  AEE_DCHECK(launch.size % 8 == 0 && launch.written_count <= launch.buffer_count, "broken launch of size ",
             launch.size);
  for (const Timepoint& wait : launch.waits()) static_cast<void>(shared_.queue(wait.queue));  // open, or throw here
  {
    const std::lock_guard guard(producer_);
    if (shared_.hostility.enabled() && shared_.hostility.refuses(id_, attempts_++)) return Submitted::kFull;
    if (submitted_ - retired_ >= retire_at_ || ring_.leaves_hot_bytes(launch)) retire_locked();
    if (submitted_ - retired_ >= kMostLaunches) return Submitted::kFull;
    if (!ring_.push(launch, waits)) {
      retire_locked();
      if (!ring_.push(launch, waits)) return Submitted::kFull;
    }
    *point = timepoint(id_, ++submitted_);
    mark_accepted(launch, *point);
    if ((launch.flags & kLaunchAwaited) != 0 && timeline_.completed() + 1 == submitted_) {
      awaited_.store(submitted_, std::memory_order_relaxed);
    }
    timeline_.publish(submitted_);
  }
  work_.notify();
  return Submitted::kAccepted;
}

void EmulatorQueue::retire_locked() noexcept {
  const std::uint64_t done = timeline_.completed();
  for (; retired_ < done; ++retired_) {
    retire(ring_.oldest());
    ring_.pop();
  }
  retire_at_ = submitted_ - retired_ + kRetireBatch;
}

void EmulatorQueue::retire_complete() noexcept {
  const std::lock_guard guard(producer_);
  retire_locked();
}

FailurePtr EmulatorQueue::take_failure() {
  if (!has_failures_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard guard(failures_lock_);
  FailurePtr taken;
  while (taken == nullptr && !failures_.empty()) {
    taken = std::move(failures_.front());
    failures_.erase(failures_.begin());
    if (taken->delivered.load(std::memory_order_acquire)) taken = nullptr;  // raised by a read of a failed buffer
  }
  has_failures_.store(!failures_.empty(), std::memory_order_release);
  return taken;
}

EmulatorQueue::Help EmulatorQueue::help(std::uint64_t sequence, RunScope& scope, Timepoint* blocked_on) {
  const Consumed consumed = consume(Consumer::kHelper, sequence, scope);
  if (consumed.launches != 0) {
    shared_.metrics.helped_launches.add(consumed.launches);
    return Help::kRan;
  }
  if (consumed.stop != Stop::kBlocked) return Help::kNothing;
  *blocked_on = consumed.blocked_on;
  return Help::kBlocked;
}

/// The queue's thread.
void EmulatorQueue::serve() {
  RunScope scope(shared_.hooks);
  scope.enter();
  do {
    const Consumed consumed = consume(Consumer::kDevice, std::numeric_limits<std::uint64_t>::max(), scope);
    if (consumed.stop == Stop::kBlocked) await(consumed.blocked_on);
  } while (await_work());
}

/// Returns true when there may be something to run, false when the device stops and the queue is empty.
bool EmulatorQueue::await_work() {
  SpinBudget budget(kIdleSpin);
  std::uint64_t done = timeline_.completed();
  int pauses = kPausesAlone;
  for (;;) {
    if (runnable() && !left_to_helper(done)) return true;
    if (const std::uint64_t now = timeline_.completed(); now != done) {
      done = now;
      pauses = kPausesHelped;
    }
    if (shared_.stopping.load(std::memory_order_seq_cst)) {
      if (!timeline_.pending()) return false;
      std::this_thread::yield();  // a helper is about to leave
      continue;
    }
    if (shared_.may_spin() && budget.spin()) {
      relax(pauses);
      continue;
    }
    work_.prepare();
    if (runnable() || shared_.stopping.load(std::memory_order_seq_cst)) {
      work_.cancel();
      continue;
    }
    work_.sleep();
    budget.refill();
  }
}

/// Note [Out of the helper's way]. Whether a helper has taken the launch after `done` within a moment.
bool EmulatorQueue::left_to_helper(std::uint64_t done) const noexcept {
  if (timeline_.submitted() > done + 1) return timeline_.completed() != done;
  const bool awaited = awaited_.load(std::memory_order_relaxed) == done + 1;
  for (int looks = awaited ? kLooksBeforeAwaited : 1; looks > 0; --looks) {
    relax(kPausesBeforeLoneLaunch);
    if (timeline_.completed() != done || consuming_.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

/// Blocks the queue's thread until another queue has come so far (or never will).
void EmulatorQueue::await(Timepoint point) {
  Timeline& other = shared_.queue(point.queue).timeline();
  SpinBudget budget(kBlockedSpin);
  while (!other.reached(point.sequence) && !hopeless(point)) {
    if (shared_.may_spin() && budget.spin()) continue;
    const std::uint32_t ticket = other.arm(point.sequence);
    if (!other.reached(point.sequence) && !hopeless(point)) other.sleep(ticket);
  }
}

bool EmulatorQueue::runnable() const noexcept {
  // In this order: a helper clears consuming_ before it looks for work that it leaves behind.
  return timeline_.pending() && !consuming_.load(std::memory_order_seq_cst);
}

EmulatorQueue::Consumed EmulatorQueue::consume(Consumer who, std::uint64_t until, RunScope& scope) {
  if (!timeline_.pending()) return {Stop::kEmpty, 0, {}};
  if (consuming_.load(std::memory_order_relaxed) || consuming_.exchange(true, std::memory_order_acquire)) {
    return {Stop::kBusy, 0, {}};
  }
  const Consumed consumed = consume_locked(who, until, scope);
  consuming_.store(false, std::memory_order_seq_cst);
  // The thread may have parked because a helper was at work.
  if (who == Consumer::kHelper && timeline_.pending()) work_.notify();
  return consumed;
}

EmulatorQueue::Consumed EmulatorQueue::consume_locked(Consumer who, std::uint64_t until, RunScope& scope) {
  std::uint64_t done = timeline_.completed();
  for (std::uint64_t launches = 0;; ++launches) {
    if (done >= until) return {Stop::kDone, launches, {}};
    if (done == timeline_.submitted()) return {Stop::kEmpty, launches, {}};
    Launch& head = ring_.front();
    if (who == Consumer::kHelper && (head.flags & kLaunchParallel) != 0) return {Stop::kDeviceOnly, launches, {}};
    if (const Timepoint* wait = unreached_wait(head)) return {Stop::kBlocked, launches, *wait};
    scope.enter();
    run_head(head, ++done);
  }
}

const Timepoint* EmulatorQueue::unreached_wait(const Launch& launch) const {
  for (const Timepoint& wait : launch.waits()) {
    if (wait.none() || shared_.queue(wait.queue).timeline().reached(wait.sequence) || hopeless(wait)) continue;
    return &wait;
  }
  return nullptr;
}

/// Whether the launch of that timepoint can never come, because the device stops.
bool EmulatorQueue::hopeless(Timepoint point) const {
  return shared_.stopping.load(std::memory_order_seq_cst) &&
         shared_.queue(point.queue).timeline().submitted() < point.sequence;
}

void EmulatorQueue::run_head(Launch& launch, std::uint64_t sequence) {
  Execution execution = Execution::kRun;
  if (shared_.hostility.enabled()) {
    hold_back(shared_.hostility.delay(id_, sequence));
    if (shared_.hostility.fails(id_, sequence)) execution = Execution::kFail;
  }
  if (shared_.launch_cost.count() != 0) spend(shared_.launch_cost);

  const bool parallel = (launch.flags & kLaunchParallel) != 0;
  if (parallel) shared_.parallel_running.fetch_add(1, std::memory_order_relaxed);
  std::vector<FailurePtr> failed = execute(launch, execution, shared_.metrics);
  if (parallel) shared_.parallel_running.fetch_sub(1, std::memory_order_relaxed);

  if (!failed.empty()) {
    const std::lock_guard guard(failures_lock_);
    for (FailurePtr& failure : failed) {
      if (failures_.size() < kMostFailures) failures_.push_back(std::move(failure));
    }
    has_failures_.store(true, std::memory_order_release);
  }
  finish(launch);
  ring_.advance();
  timeline_.complete(sequence);
}

}  // namespace aee
