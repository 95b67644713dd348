// What every device promises (device.h, launch.h): order, waits, room, ownership, threads. Failures:
// device_failure_test.
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/runtime/event.h"
#include "tests/runtime/device_fixture.h"

namespace aee::testing {
namespace {

class DeviceConformance : public DeviceTest {};

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformance, every_device(), DeviceCase::name);

TEST_P(DeviceConformance, CapabilitiesFollowTheConfiguration) {
  EXPECT_EQ(device_->capabilities().name, name_of(GetParam().kind));
  EXPECT_EQ(device_->capabilities().device_waits, GetParam().device_waits);
  EXPECT_GT(device_->capabilities().memory_bytes, 0U);
}

TEST_P(DeviceConformance, QueuesAreNumberedFromZeroAndLimited) {
  EXPECT_EQ(first_, 0);
  EXPECT_EQ(second_, 1);
  for (std::size_t i = 2; i < kMaxQueues; ++i) EXPECT_EQ(device_->open_queue(), i);
  EXPECT_THROW(device_->open_queue(), Error);
}

TEST_P(DeviceConformance, AQueueRunsItsLaunchesInOrder) {
  AEE_SKIP_IF_NOTHING_RUNS();
  constexpr int kLaunches = 300;
  std::vector<int> order;
  for (int i = 0; i < kLaunches; ++i) TestLaunch([&order, i] { order.push_back(i); }).submit(*device_, first_);
  wait_all();
  std::vector<int> expected(kLaunches);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(DeviceConformance, SequenceNumbersGrowByOne) {
  for (std::uint64_t i = 1; i <= 20; ++i) EXPECT_EQ(TestLaunch().submit(*device_, second_), timepoint(second_, i));
  EXPECT_EQ(device_->submitted(second_), 20U);
  wait_all();
  EXPECT_EQ(device_->completed(second_), 20U);
  EXPECT_EQ(device_->submitted(first_), 0U);
}

TEST_P(DeviceConformance, NoWorkIsReachedFromTheStart) {
  device_->wait(Timepoint{}, WaitMode::kHelp);
  device_->wait(timepoint(first_, 0), WaitMode::kIdle);
}

TEST_P(DeviceConformance, SubmitMarksTheLastUseOfEveryBuffer) {
  const BufferRef read = make_buffer(), written = make_buffer(), other = make_buffer();
  const Timepoint point = TestLaunch().reads(read).writes(written).submit(*device_, first_);
  EXPECT_EQ(read->last_use(), point);
  EXPECT_EQ(written->last_use(), point);
  EXPECT_TRUE(other->last_use().none());
  wait(point);
}

TEST_P(DeviceConformance, AfterAWaitTheQueueHoldsNoBufferAndNoPayload) {
  const auto token = std::make_shared<int>(0);
  std::vector<Timepoint> points;
  for (int i = 0; i < 100; ++i) {
    const BufferRef buffer = make_buffer();
    wait(TestLaunch([token] {}).writes(buffer).submit(*device_, first_));
    EXPECT_EQ(token.use_count(), 1);
  }
  EXPECT_EQ(pool_.stats().buffers, 0U);
}

TEST_P(DeviceConformance, ALaunchKeepsItsBuffersAlive) {
  AEE_SKIP_IF_NOTHING_RUNS();
  std::int64_t seen = 0;
  BufferRef buffer = make_buffer();
  Buffer* raw = buffer.get();
  TestLaunch([raw] { TestBacking::value(*raw) = 5; }).writes(buffer).submit(*device_, first_);
  TestLaunch([raw, &seen] { seen = TestBacking::value(*raw); }).reads(buffer).submit(*device_, first_);
  buffer.reset();
  wait_all();
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(pool_.stats().buffers, 0U);
}

TEST_P(DeviceConformance, WaitsOrderLaunchesOfTwoQueues) {
  // The plain vector is written by both queues: that the order is a real one is for the thread sanitizer to say.
  std::vector<int> order;
  Timepoint last;
  for (int i = 0; i < 100; ++i) {
    last = TestLaunch([&order, i] { order.push_back(i); }).after(last).submit(*device_, i % 2 == 0 ? first_ : second_);
  }
  wait(last);
  AEE_SKIP_IF_NOTHING_RUNS();
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(DeviceConformance, AnEventOrdersTwoQueues) {
  AEE_SKIP_IF_NOTHING_RUNS();
  for (int i = 0; i < 30; ++i) {
    std::int64_t produced = 0, consumed = 0;
    TestLaunch([&produced] { produced = 7; }).submit(*device_, first_);
    Event event;
    event.record(*device_, first_, EventTiming::kOff);
    TestLaunch([&] { consumed = produced; }).after(event.point()).submit(*device_, second_);
    wait_all();
    EXPECT_EQ(consumed, 7);
  }
}

TEST_P(DeviceConformance, WaitingBeforeTheSignalIsLegal) {
  std::vector<int> order;
  const Timepoint later = timepoint(first_, 1);  // not yet submitted
  std::thread early([&] { TestLaunch([&order] { order.push_back(2); }).after(later).submit(*device_, second_); });
  std::thread waiter([&] { device_->wait(timepoint(second_, 1), WaitMode::kHelp); });
  TestLaunch([&order] { order.push_back(1); }).submit(*device_, first_);
  early.join();
  waiter.join();
  wait_all();
  AEE_SKIP_IF_NOTHING_RUNS();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_P(DeviceConformance, AFullQueueRefusesWithoutSideEffects) {
  AEE_SKIP_IF_NOTHING_RUNS();
  std::atomic<bool> open{false};
  const auto hold = [&open] {
    while (!open.load()) std::this_thread::yield();
  };
  const BufferRef buffer = make_buffer();
  TestLaunch(hold).submit(*device_, first_);
  const auto token = std::make_shared<int>(0);
  // A random refusal looks like a full queue, so full is what refuses a hundred times in a row.
  for (int refusals = 0; refusals < 100;) {
    const auto accepted = device_->submitted(first_);
    const auto last_use = buffer->last_use();
    const long tokens = token.use_count();
    TestLaunch launch([token] {});
    if (launch.writes(buffer).try_submit(*device_, first_)) {
      refusals = 0;
      continue;
    }
    ++refusals;
    EXPECT_EQ(device_->submitted(first_), accepted);
    EXPECT_EQ(buffer->last_use(), last_use);
    EXPECT_EQ(token.use_count(), tokens + 1);  // `launch`
  }
  EXPECT_GT(device_->submitted(first_), 1000U);
  open = true;
  wait_all();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(DeviceConformance, BlocksOfAnySizeArrive) {
  int runs = 0;
  const auto token = std::make_shared<int>(0);
  for (const std::size_t bytes : {0UL, 8UL, 4096UL, 250'000UL, 300'000UL, 3'000'000UL}) {
    for (int i = 0; i < 12; ++i) TestLaunch([&runs, token] { ++runs; }).padded(bytes).submit(*device_, first_);
  }
  wait_all();
  EXPECT_EQ(token.use_count(), 1);
  AEE_SKIP_IF_NOTHING_RUNS();
  EXPECT_EQ(runs, 72);
}

TEST_P(DeviceConformance, DestructionFinishesWhatWasAccepted) {
  std::atomic<int> runs{0};
  const auto token = std::make_shared<int>(0);
  Timepoint last;
  for (int i = 0; i < 100; ++i) {
    const BufferRef buffer = make_buffer();
    TestLaunch launch([&runs, token] { ++runs; });
    last = launch.writes(buffer).after(last).submit(*device_, i % 2 == 0 ? first_ : second_);
  }
  device_.reset();
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(pool_.stats().buffers, 0U);
  if (GetParam().kind != DeviceKind::kNull) {
    EXPECT_EQ(runs, 100);
  }
}

TEST_P(DeviceConformance, DestructionDoesNotWaitForASignalThatCannotCome) {
  if (!GetParam().device_waits) GTEST_SKIP() << "where the host waits, submit would not return";
  const auto token = std::make_shared<int>(0);
  TestLaunch([token] {}).after(timepoint(second_, 1)).submit(*device_, first_);
  device_.reset();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(DeviceConformance, ManyThreadsMaySubmitAndWait) {
  constexpr int kThreads = 4, kLaunches = 250;
  std::vector<int> runs(2);  // one number a queue
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const QueueId queue = t % 2 == 0 ? first_ : second_;
        for (int i = 0; i < kLaunches; ++i) {
          const BufferRef buffer = make_buffer();
          const Timepoint point = TestLaunch([&runs, queue] { ++runs[queue]; }).writes(buffer).submit(*device_, queue);
          if (i % 10 == 0) device_->wait(point, i % 20 == 0 ? WaitMode::kHelp : WaitMode::kIdle);
        }
      });
    }
  }
  wait_all();
  EXPECT_EQ(device_->completed(first_) + device_->completed(second_), std::uint64_t{kThreads} * kLaunches);
  EXPECT_EQ(metrics_.ops_executed.value(), std::uint64_t{kThreads} * kLaunches);
  EXPECT_EQ(pool_.stats().buffers, 0U);
  AEE_SKIP_IF_NOTHING_RUNS();
  EXPECT_EQ(runs, (std::vector<int>(2, kThreads / 2 * kLaunches)));
}

TEST_P(DeviceConformance, MemoryIsAlignedAndWritable) {
  for (const std::size_t bytes : {0UL, 1UL, 100UL, 5000UL, 3UL << 20}) {
    void* memory = device_->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
    std::memset(memory, 0xAB, bytes);
    EXPECT_TRUE(device_->owns(memory));
    device_->free(memory);
  }
  EXPECT_FALSE(device_->owns(&metrics_));
  device_->free(nullptr);
  std::uint64_t now = 0, peak = 0;
  device_->memory_reserved(&now, &peak);
  EXPECT_GE(peak, now);
  EXPECT_GE(peak, 3U << 20);
  device_->trim();
}

TEST_P(DeviceConformance, AQueueThatIsNotOpenIsOurFault) {
  EXPECT_THROW(TestLaunch().submit(*device_, 7), InternalError);
  EXPECT_THROW(device_->wait(timepoint(7, 1), WaitMode::kHelp), InternalError);
  if (GetParam().kind == DeviceKind::kEmulator) {
    EXPECT_THROW(TestLaunch().after(timepoint(7, 1)).submit(*device_, first_), InternalError);
  }
}

}  // namespace
}  // namespace aee::testing
