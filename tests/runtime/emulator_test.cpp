// What only the emulator has: helping threads, parallel launches, hooks, costs, faults, forks.
#include "core/runtime/emulator.h"

#include <unistd.h>

#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/runtime/event.h"
#include "tests/runtime/device_fixture.h"

namespace aee::testing {
namespace {

Config small_config() { return DeviceCase{}.config(); }

struct EmulatorTest : ::testing::Test {
  /// Waits for everything that the queue has accepted.
  static void drain(Device& device, QueueId queue) {
    device.wait(timepoint(queue, device.submitted(queue)), WaitMode::kHelp);
  }

  Metrics metrics;
  BufferPool pool{0, std::uint64_t{1} << 30, std::uint64_t{1} << 30};
};

TEST_F(EmulatorTest, AWaitingThreadRunsLaunchesItself) {
  Emulator device(small_config(), metrics, {});
  const QueueId queue = device.open_queue();
  std::set<std::thread::id> threads;
  const auto note = [&threads] { threads.insert(std::this_thread::get_id()); };
  // The device thread may be faster any number of times, but not for ever.
  while (metrics.helped_launches.value() == 0) {
    TestLaunch(note).submit(device, queue);
    drain(device, queue);
  }
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

TEST_F(EmulatorTest, AnIdleWaitNeverRunsALaunch) {
  Emulator device(small_config(), metrics, {});
  const QueueId queue = device.open_queue();
  std::set<std::thread::id> threads;
  for (int i = 0; i < 200; ++i) {
    device.wait(TestLaunch([&] { threads.insert(std::this_thread::get_id()); }).submit(device, queue), WaitMode::kIdle);
  }
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
  EXPECT_EQ(metrics.helped_launches.value(), 0U);
}

TEST_F(EmulatorTest, ParallelLaunchesRunOnTheDeviceThreadOnly) {
  Emulator device(small_config(), metrics, {});
  const QueueId queue = device.open_queue();
  std::set<std::thread::id> threads;
  for (int i = 0; i < 200; ++i) {
    TestLaunch([&] { threads.insert(std::this_thread::get_id()); }, kLaunchParallel).submit(device, queue);
    drain(device, queue);
  }
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_EQ(metrics.helped_launches.value(), 0U);
}

TEST_F(EmulatorTest, AHelperFollowsTheWaitsIntoOtherQueues) {
  Emulator device(small_config(), metrics, {});
  const QueueId first = device.open_queue(), second = device.open_queue();
  std::uint64_t total = 0;
  for (int i = 0; i < 500; ++i) {
    const Timepoint a = TestLaunch([&total] { ++total; }).submit(device, first);
    const Timepoint b = TestLaunch([&total] { ++total; }).after(a).submit(device, second);
    const Timepoint c = TestLaunch([&total] { ++total; }).after(b).submit(device, first);
    device.wait(c, WaitMode::kHelp);
    ASSERT_EQ(total, 3U * static_cast<std::uint64_t>(i + 1));
  }
}

TEST_F(EmulatorTest, TwoHelpersOfQueuesThatWaitForEachOtherGetOn) {
  Emulator device(small_config(), metrics, {});
  const QueueId queues[2] = {device.open_queue(), device.open_queue()};
  std::vector<int> order;
  Timepoint last;
  constexpr int kLaunches = 1000;
  for (int i = 0; i < kLaunches; ++i) {
    last = TestLaunch([&order, i] { order.push_back(i); }).after(last).submit(device, queues[i % 2]);
  }
  std::thread other([&] { drain(device, queues[0]); });
  drain(device, queues[1]);
  other.join();
  EXPECT_EQ(order.size(), std::size_t{kLaunches});
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

std::atomic<int> enters, leaves, blocks, unblocks;
const ThreadHooks kCountingHooks{
    .enter = []() noexcept -> void* { return ++enters, &enters; },
    .leave = [](void* token) noexcept { leaves += token == &enters ? 1 : 1000; },
    .block = []() noexcept -> void* { return ++blocks, &blocks; },
    .unblock = [](void* token) noexcept { unblocks += token == &blocks ? 1 : 1000; },
};

TEST_F(EmulatorTest, HooksComeInPairsAndOnlyAroundRealWaits) {
  enters = leaves = blocks = unblocks = 0;
  {
    Emulator device(small_config(), metrics, kCountingHooks);
    const QueueId queue = device.open_queue();
    const Timepoint point = TestLaunch().submit(device, queue);
    device.wait(point, WaitMode::kIdle);
    const int before = blocks;
    device.wait(point, WaitMode::kHelp);  // reached: no wait
    EXPECT_EQ(blocks, before);
    while (metrics.helped_launches.value() == 0) device.wait(TestLaunch().submit(device, queue), WaitMode::kHelp);
    EXPECT_EQ(blocks, unblocks);
    EXPECT_GE(blocks, 1);
    EXPECT_EQ(leaves, 1);  // the helper's; the device thread is still inside
  }
  EXPECT_EQ(enters, 2);
  EXPECT_EQ(leaves, 2);
}

TEST_F(EmulatorTest, LaunchCostTakesDeviceTime) {
  Config config = small_config();
  config.launch_cost_us = 20;
  Emulator device(config, metrics, {});
  const QueueId queue = device.open_queue();
  Event begin, end;
  begin.record(device, queue, EventTiming::kOn);
  for (int i = 0; i < 50; ++i) TestLaunch().submit(device, queue);
  end.record(device, queue, EventTiming::kOn);
  end.synchronize();
  EXPECT_GE(begin.elapsed_ms(end), 51 * 0.020);  // a lower bound by construction: the clock itself is the cost
  EXPECT_EQ(device.capabilities().launch_cost_us, 20);
}

/// Which of a hundred launches fail.
std::vector<bool> failures_of(std::uint64_t seed, Metrics& metrics, BufferPool& pool) {
  Config config = small_config();
  config.emulator_seed = seed;
  config.emulator_delay_us = 0;
  config.emulator_launch_failures = 0.3;
  Emulator device(config, metrics, {});
  const QueueId queue = device.open_queue();
  std::vector<bool> failed;
  for (int i = 0; i < 100; ++i) {
    const BufferRef buffer = pool.acquire(8);
    device.wait(TestLaunch().writes(buffer).submit(device, queue), WaitMode::kHelp);
    failed.push_back(buffer->failed());
  }
  return failed;
}

TEST_F(EmulatorTest, InjectedFailuresFollowFromTheSeed) {
  const auto failed = failures_of(5, metrics, pool);
  EXPECT_EQ(failed, failures_of(5, metrics, pool));
  EXPECT_NE(failed, failures_of(6, metrics, pool));
  const auto count = std::count(failed.begin(), failed.end(), true);
  EXPECT_GT(count, 10);
  EXPECT_LT(count, 60);
}

TEST_F(EmulatorTest, InjectedAllocationFailuresAreOutOfMemory) {
  Config config = small_config();
  config.emulator_seed = 1;
  config.emulator_allocation_failures = 1;
  Emulator device(config, metrics, {});
  try {
    static_cast<void>(device.allocate(64));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  }
}

TEST_F(EmulatorTest, MemoryIsWhatTheConfigurationSays) {
  Config config = small_config();
  config.memory_bytes = 12345;
  EXPECT_EQ(emulated_memory_bytes(config), 12345U);
  config.memory_bytes = 0;
  EXPECT_GT(emulated_memory_bytes(config), std::uint64_t{1} << 20);
}

TEST_F(EmulatorTest, AForkedChildLeavesThreadsAndLocksAlone) {
  GTEST_FLAG_SET(death_test_style, "fast");  // the child continues here, as a child of a user's process does
  auto device = std::make_unique<Emulator>(small_config(), metrics, ThreadHooks{});
  const QueueId queue = device->open_queue();
  BufferRef buffer = pool.acquire(8);
  device->wait(TestLaunch().writes(buffer).submit(*device, queue), WaitMode::kHelp);
  EXPECT_EXIT(
      {
        buffer.reset();
        device.reset();
        ::_exit(forked_child() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_FALSE(forked_child());
  device->wait(TestLaunch().writes(buffer).submit(*device, queue), WaitMode::kHelp);  // the parent goes on
}

TEST(MakeDevice, SaysWhatItHasInsteadOfNrt) {
  Config config = small_config();
  config.device = DeviceKind::kNrt;
  Metrics metrics;
  try {
    static_cast<void>(make_device(config, metrics, {}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("'nrt'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace aee::testing
