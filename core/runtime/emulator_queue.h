// EmulatorQueue: one in-order queue of the emulator: a ring of launches, a timeline and a thread that runs them.
//
// Producers copy launches in under a spin lock. Whoever holds the consumer flag runs the head: the queue's own thread,
// or a host thread that waits and helps. The flag is never held while waiting for another queue, so threads that hold
// flags always make progress and no two of them can wait for each other. The thread spins for a while when it has
// nothing to do, then parks; a submit wakes it with a system call only then.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/metrics.h"
#include "core/base/park.h"
#include "core/base/spin_lock.h"
#include "core/runtime/device.h"
#include "core/runtime/hostility.h"
#include "core/runtime/launch_ring.h"
#include "core/runtime/thread_scopes.h"
#include "core/runtime/timeline.h"

namespace aee {

class EmulatorQueue;

/// What the queues of one emulator share.
struct EmulatorShared {
  EmulatorShared(const Config& config, Metrics& metrics, const ThreadHooks& hooks);

  Metrics& metrics;
  const ThreadHooks hooks;
  const Hostility hostility;
  const std::chrono::nanoseconds launch_cost;
  const bool one_core;  ///< spinning would only keep others from the core
  std::atomic<bool> stopping{false};
  std::atomic<int> parallel_running{0};  ///< launches with kLaunchParallel that run now: nobody spins meanwhile
  std::array<std::atomic<EmulatorQueue*>, kMaxQueues> queues{};

  /// The queue of that number; it must be open.
  [[nodiscard]] EmulatorQueue& queue(std::uint64_t id) const;
  /// Whether a spinning loop may go on.
  [[nodiscard]] bool may_spin() const noexcept {
    return !one_core && parallel_running.load(std::memory_order_relaxed) == 0;
  }
};

class EmulatorQueue {
 public:
  /// Starts the thread.
  EmulatorQueue(QueueId id, EmulatorShared& shared);
  EmulatorQueue(const EmulatorQueue&) = delete;
  EmulatorQueue& operator=(const EmulatorQueue&) = delete;
  ~EmulatorQueue();

  [[nodiscard]] Submitted submit(const Launch& launch, KeepWaits waits, Timepoint* point);
  [[nodiscard]] FailurePtr take_failure();
  [[nodiscard]] Timeline& timeline() noexcept { return timeline_; }

  /// Whether help() got somewhere.
  enum class Help : std::uint8_t { kRan, kBlocked, kNothing };
  /// Runs heads of the queue until `sequence` is complete, as far as they are ready and free to run anywhere. With
  /// kBlocked, `*blocked_on` is what the head waits for.
  Help help(std::uint64_t sequence, RunScope& scope, Timepoint* blocked_on);

  /// Gives back what complete launches still hold. Host threads; also done by submit() from time to time.
  void retire_complete() noexcept;

  /// Makes the thread look at `shared.stopping`; join() returns when the queue is empty and the thread has ended.
  void wake();
  void join();

 private:
  enum class Consumer : std::uint8_t { kDevice, kHelper };
  enum class Stop : std::uint8_t { kDone, kEmpty, kBusy, kBlocked, kDeviceOnly };
  struct Consumed {
    Stop stop = Stop::kEmpty;
    std::uint64_t launches = 0;
    Timepoint blocked_on{};
  };

  void retire_locked() noexcept;
  void serve();
  [[nodiscard]] bool await_work();
  void await(Timepoint point);
  Consumed consume(Consumer who, std::uint64_t until, RunScope& scope);
  Consumed consume_locked(Consumer who, std::uint64_t until, RunScope& scope);
  void run_head(Launch& launch, std::uint64_t sequence);
  [[nodiscard]] const Timepoint* unreached_wait(const Launch& launch) const;
  [[nodiscard]] bool hopeless(Timepoint point) const;
  [[nodiscard]] bool runnable() const noexcept;
  [[nodiscard]] bool left_to_helper(std::uint64_t done) const noexcept;

  EmulatorShared& shared_;
  const QueueId id_;
  Timeline timeline_;
  LaunchRing ring_;

  alignas(64) SpinLock producer_;  // guards the next four and the producer's side of ring_ and timeline_
  std::uint64_t submitted_ = 0;
  std::uint64_t retired_ = 0;     // launches whose buffers are released
  std::uint64_t retire_at_ = 16;  // so many launches that are not retired make submit() look for complete ones
  std::uint64_t attempts_ = 0;
  std::atomic<std::uint64_t> awaited_{0};  // the last launch that a host thread was about to wait for; a hint

  alignas(64) std::atomic<bool> consuming_{false};  // guards the consumer's side of ring_ and timeline_
  alignas(64) Parker work_;                         // where the thread parks when it has nothing to run

  std::mutex failures_lock_;  // guards failures_
  std::vector<FailurePtr> failures_;
  std::atomic<bool> has_failures_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace aee
