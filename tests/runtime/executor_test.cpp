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
  Block block(Launch::Run run, std::uint16_t flags = 0) {
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
  /// The failure that the launch made, or null.
  FailurePtr execute_one(Launch& launch, Execution execution) {
    const std::vector<FailurePtr> failures = execute(launch, execution, metrics);
    EXPECT_LE(failures.size(), 1U);
    return failures.empty() ? nullptr : failures.front();
  }
  static void nothing(Launch&) {}
  static void broken(Launch&) { fail_user("broken"); }

  Metrics metrics;
  BufferPool pool{0, std::uint64_t{1} << 30, std::uint64_t{1} << 30};
  BufferRef a = pool.acquire(8), b = pool.acquire(8);
};

TEST_F(ExecutorTest, CountsTheOpsOfEveryLaunch) {
  Block good = block(&nothing), bad = block(&broken);
  EXPECT_EQ(execute_one(good.launch, Execution::kRun), nullptr);
  EXPECT_NE(execute_one(bad.launch, Execution::kRun), nullptr);
  EXPECT_EQ(execute_one(good.launch, Execution::kRun), nullptr);  // skipped
  EXPECT_EQ(metrics.ops_executed.value(), 9U);
  EXPECT_EQ(metrics.launch_failures.value(), 1U);
  EXPECT_EQ(metrics.launches_skipped.value(), 1U);
}

TEST_F(ExecutorTest, PretendsWithoutRunning) {
  Block bad = block(&broken);
  EXPECT_EQ(execute_one(bad.launch, Execution::kPretend), nullptr);
  EXPECT_FALSE(a->failed());
}

TEST_F(ExecutorTest, FailsOnDemand) {
  Block good = block(&nothing);
  const FailurePtr failure = execute_one(good.launch, Execution::kFail);
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
  EXPECT_EQ(execute_one(launch.launch, Execution::kRun), nullptr);
  EXPECT_EQ(a->failure(), failure);
}

TEST_F(ExecutorTest, AThrowingDescriptionIsLeftOut) {
  Block bad = block(&broken);
  bad.launch.describe = [](const Launch&) -> std::string { throw std::runtime_error("worse"); };
  const FailurePtr failure = execute_one(bad.launch, Execution::kRun);
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
  EXPECT_EQ(pool.stats().buffers, 2U);  // small: they wait for a host thread
  retire(launch.launch);
  EXPECT_EQ(pool.stats().buffers, 0U);
}

TEST_F(ExecutorTest, TheLaunchesOfASegmentFailOneByOne) {
  // Given a segment in which a fails, c is made from a, and d from nothing
  BufferRef c = pool.acquire(8), d = pool.acquire(8), e = pool.acquire(8);
  struct {
    Launch segment;
    Block inner[3];
  } unit{{}, {block(&broken), block(&nothing), block(&nothing)}};
  unit.segment.size = sizeof unit;
  unit.segment.flags = kLaunchSegment;
  unit.inner[1].buffers[0] = c.get();
  unit.inner[1].buffers[1] = a.get();
  unit.inner[2].buffers[0] = d.get();
  unit.inner[2].buffers[1] = e.get();
  for (const Block& inner : unit.inner) {
    for (Buffer* buffer : inner.buffers) buffer->retain();
  }
  // When it is accepted and executed
  mark_accepted(unit.segment, timepoint(0, 1));
  EXPECT_EQ(e->last_use(), timepoint(0, 1));
  const FailurePtr failure = execute_one(unit.segment, Execution::kRun);
  // Then only a and what depends on it have failed, and all references are gone.
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(a->failure(), failure);
  EXPECT_EQ(c->failure(), failure);
  EXPECT_FALSE(d->failed());
  for (BufferRef* buffer : {&a, &b, &c, &d, &e}) buffer->reset();
  retire(unit.segment);
  EXPECT_EQ(pool.stats().buffers, 0U);
}

}  // namespace
}  // namespace aee
