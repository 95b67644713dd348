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

TEST_F(NullDeviceTest, MemoryIsZeroAlsoWhenUsedAgain) {
  void* first = device.allocate(1000);
  std::memset(first, 0xAB, 1000);
  device.free(first);
  auto* bytes = static_cast<unsigned char*>(device.allocate(1000));
  EXPECT_EQ(bytes, first);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(bytes[i], 0);
  device.free(bytes);
}

}  // namespace
}  // namespace aee::testing
