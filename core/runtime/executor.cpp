#include "core/runtime/executor.h"

#include <chrono>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"

namespace aee {
namespace {

/// The failure that keeps the launch from running, or null. A failure that was raised at a sync point counts no longer
/// if there is memory to go on with: the buffer is healed and its old content counts.
FailurePtr blocking_failure(Launch& launch) {
  for (Buffer* buffer : launch.buffers()) {
    if (!buffer->failed()) [[likely]]
      continue;
    FailurePtr failure = buffer->failure();
    if (failure == nullptr) continue;
    if (!failure->delivered.load(std::memory_order_acquire) || buffer->backing().object == nullptr) return failure;
    buffer->clear_failure();
  }
  return nullptr;
}

void mark_written(Launch& launch, const FailurePtr& failure) {
  for (Buffer* buffer : launch.buffers().first(launch.fresh_count)) buffer->drop_content();
  for (Buffer* buffer : launch.buffers().first(launch.written_count)) buffer->set_failure(failure);
}

/// Called in a catch block.
FailurePtr make_failure(const Launch& launch) {
  auto failure = std::make_shared<Failure>();
  failure->cause = std::current_exception();
  failure->thread = launch.thread;
  try {
    if (launch.describe != nullptr) failure->where = launch.describe(launch);
  } catch (...) {  // a failure without a place is better than none
  }
  AEE_LOG(kInfo, "a launch failed: ", failure->where.empty() ? "unknown op" : failure->where);
  return failure;
}

void run(Launch& launch, Execution execution) {
  if (execution == Execution::kFail) fail(ErrorKind::kLaunch, "emulated launch failure");
  if (execution == Execution::kRun && launch.run != nullptr) launch.run(launch);
}

/// Runs or skips one launch that is no segment. Its failure if it failed itself, else null.
FailurePtr execute_one(Launch& launch, Execution execution, Metrics& metrics) noexcept {
  metrics.ops_executed.add(launch.op_count);
  for (Buffer* buffer : launch.buffers().first(launch.fresh_count)) buffer->begin_life();
  if ((launch.flags & kLaunchIgnoreFailed) == 0) {
    if (const FailurePtr blocking = blocking_failure(launch)) {
      metrics.launches_skipped.add();
      mark_written(launch, blocking);
      return nullptr;
    }
  }
  try {
    run(launch, execution);
  } catch (...) {
    metrics.launch_failures.add();
    FailurePtr failure = make_failure(launch);
    mark_written(launch, failure);
    return failure;
  }
  if ((launch.flags & kLaunchOverwrites) != 0) {
    for (Buffer* buffer : launch.buffers().first(launch.written_count)) {
      if (buffer->failed()) buffer->clear_failure();
    }
  }
  return nullptr;
}

}  // namespace

std::vector<FailurePtr> execute(Launch& launch, Execution execution, Metrics& metrics) noexcept {
  if (LaunchClock* clock = std::exchange(launch.clock, nullptr)) [[unlikely]] {
    const auto start = std::chrono::steady_clock::now();
    std::vector<FailurePtr> failures = execute(launch, execution, metrics);
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    clock->add(static_cast<std::uint64_t>(time.count()));
    return failures;
  }
  std::vector<FailurePtr> failures;
  const auto run_one = [&](Launch& one) {
    if (FailurePtr failure = execute_one(one, execution, metrics)) failures.push_back(std::move(failure));
  };
  if ((launch.flags & kLaunchSegment) == 0) {
    run_one(launch);
    return failures;
  }
  // Each launch lets go of its buffers when it is done: what dies inside a segment takes no memory to its end.
  for_each_inner(launch, [&](Launch& inner) {
    if (execution == Execution::kFail && !failures.empty()) {
      mark_written(inner, failures.front());  // the unit failed as one
    } else {
      run_one(inner);
    }
    finish(inner);
  });
  return failures;
}

void finish(Launch& launch) noexcept {
  if (launch.discard != nullptr) launch.discard(launch);
  if ((launch.flags & kLaunchOnlySmall) != 0) return;
  for (Buffer* buffer : launch.buffers()) {
    if (!buffer->small()) buffer->release();
  }
}

void retire(const Launch& launch) noexcept {
  for (Buffer* buffer : launch.buffers()) {
    if (buffer->small()) buffer->release();
  }
  if ((launch.flags & kLaunchSegment) != 0) for_each_inner(launch, [](const Launch& inner) { retire(inner); });
}

}  // namespace aee
