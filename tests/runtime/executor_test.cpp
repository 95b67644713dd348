#include "core/runtime/executor.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace aee {
namespace {

struct ExecutorTest : testing::Test {
  struct Block {
    Launch launch;
    Buffer* buffers[2];
  };

  /// A launch that writes `a` and reads `b`.
  Block block(Launch::Run run, std::uint32_t flags = 0) {
    Block block{};
    block.launch.run = run;
    block.launch.size = sizeof block;
    block.launch.buffer_count = 2;
    block.launch.written_count = 1;
    block.launch.op_count = 3;
    block.launch.flags = flags;
    block.buffers[0] = a.get();
    block.buffers[1] = b.get();
    return block;
  }
  static void nothing(Launch&) {}
  static void broken(Launch&) { fail_user("broken"); }

  Metrics metrics;
  BufferPool pool{0, std::uint64_t{1} << 30, std::uint64_t{1} << 30};
  BufferRef a = pool.acquire(8), b = pool.acquire(8);
};

TEST_F(ExecutorTest, CountsTheOpsOfEveryLaunch) {
  Block good = block(&nothing), bad = block(&broken);
  EXPECT_EQ(execute(good.launch, Execution::kRun, metrics), nullptr);
  EXPECT_NE(execute(bad.launch, Execution::kRun, metrics), nullptr);
  EXPECT_EQ(execute(good.launch, Execution::kRun, metrics), nullptr);  // skipped
  EXPECT_EQ(metrics.ops_executed.value(), 9U);
  EXPECT_EQ(metrics.launch_failures.value(), 1U);
  EXPECT_EQ(metrics.launches_skipped.value(), 1U);
}

TEST_F(ExecutorTest, PretendsWithoutRunning) {
  Block bad = block(&broken);
  EXPECT_EQ(execute(bad.launch, Execution::kPretend, metrics), nullptr);
  EXPECT_FALSE(a->failed());
}

TEST_F(ExecutorTest, FailsOnDemand) {
  Block good = block(&nothing);
  const FailurePtr failure = execute(good.launch, Execution::kFail, metrics);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(a->failure(), failure);
  try {
    std::rethrow_exception(failure->cause);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kLaunch);
    EXPECT_STREQ(error.what(), "emulated launch failure");
  }
}

TEST_F(ExecutorTest, AFailureOfWhatIsOnlyReadBlocksToo) {
  const auto failure = std::make_shared<Failure>();
  b->set_failure(failure);
  Block launch = block(&broken);
  EXPECT_EQ(execute(launch.launch, Execution::kRun, metrics), nullptr);
  EXPECT_EQ(a->failure(), failure);
}

TEST_F(ExecutorTest, AThrowingDescriptionIsLeftOut) {
  Block bad = block(&broken);
  bad.launch.describe = [](const Launch&) -> std::string { throw std::runtime_error("worse"); };
  const FailurePtr failure = execute(bad.launch, Execution::kRun, metrics);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->where, "");
}

TEST_F(ExecutorTest, FinishDiscardsAndReleases) {
  Block launch = block(&nothing);
  launch.launch.discard = [](Launch& self) noexcept { self.op_count = 99; };
  a->retain();
  b->retain();
  finish(launch.launch);
  EXPECT_EQ(launch.launch.op_count, 99);
  a.reset();
  b.reset();
  EXPECT_EQ(pool.stats().buffers, 0U);
}

}  // namespace
}  // namespace aee
