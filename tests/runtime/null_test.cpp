#include "core/runtime/null.h"

#include "tests/runtime/device_fixture.h"

namespace aee::testing {
namespace {

struct NullDeviceTest : ::testing::Test {
  Metrics metrics;
  NullDevice device{Config{}, metrics, {}};
  QueueId queue = device.open_queue();
};

TEST_F(NullDeviceTest, IsDoneAtOnceAndRunsNothing) {
  int runs = 0;
  const auto token = std::make_shared<int>(0);
  const Timepoint point = TestLaunch([&runs, token] { ++runs; }).submit(device, queue);
  EXPECT_EQ(device.completed(queue), point.sequence);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(metrics.ops_executed.value(), 1U);
}

TEST_F(NullDeviceTest, MemoryIsZero) {
  auto* bytes = static_cast<unsigned char*>(device.allocate(1000));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(bytes[i], 0);
  device.free(bytes);
}

TEST_F(NullDeviceTest, CountsTheMemoryThatIsOut) {
  void* memory = device.allocate(1000);
  std::uint64_t now = 0, peak = 0;
  device.memory_reserved(&now, &peak);
  EXPECT_EQ(now, 1000U);
  device.free(memory);
  device.memory_reserved(&now, &peak);
  EXPECT_EQ(now, 0U);
  EXPECT_EQ(peak, 1000U);
}

}  // namespace
}  // namespace aee::testing
