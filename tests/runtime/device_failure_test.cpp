// What every device that runs launches promises about failures: they spread to what depends on them and nowhere else,
// are raised once, and then the work goes on.
#include "core/base/error.h"
#include "tests/runtime/device_fixture.h"

namespace aee::testing {
namespace {

class DeviceFailure : public DeviceTest {
 protected:
  void SetUp() override { AEE_SKIP_IF_NOTHING_RUNS(); }

  /// Adds to the buffer.
  void add(const BufferRef& to, const BufferRef& from, std::int64_t n, std::uint16_t flags = 0) {
    TestLaunch launch([a = to.get(), b = from.get(), n] { TestBacking::value(*a) = TestBacking::value(*b) + n; },
                      flags);
    if (to.get() != from.get()) launch.reads(from);
    launch.writes(to).submit(*device_, first_);
  }
  void fail_to_write(const BufferRef& buffer) {
    TestLaunch([] { fail_user("index out of range"); }).writes(buffer).submit(*device_, first_);
  }
  static std::string text(const FailurePtr& failure) {
    try {
      std::rethrow_exception(failure->cause);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  BufferRef a_ = make_buffer(), b_ = make_buffer(), c_ = make_buffer();
};

INSTANTIATE_TEST_SUITE_P(Devices, DeviceFailure, every_device(), DeviceCase::name);

TEST_P(DeviceFailure, IsMarkedOnWhatTheLaunchWrites) {
  TestLaunch([] { fail_user("index out of range"); }).writes(a_).reads(b_).submit(*device_, first_);
  wait_all();
  ASSERT_TRUE(a_->failed());
  EXPECT_FALSE(b_->failed());
  EXPECT_EQ(text(a_->failure()), "index out of range");
  EXPECT_EQ(a_->failure()->where, "test op at line 1");
  EXPECT_EQ(metrics_.launch_failures.value(), 1U);
}

TEST_P(DeviceFailure, SpreadsToDependantsOnly) {
  fail_to_write(a_);
  add(b_, a_, 1);
  add(c_, c_, 1);
  BufferRef d = make_buffer();
  TestLaunch launch;
  launch.reads(b_).writes(d).after(timepoint(first_, device_->submitted(first_))).submit(*device_, second_);
  wait_all();
  EXPECT_EQ(b_->failure(), a_->failure());
  EXPECT_EQ(d->failure(), a_->failure());
  EXPECT_FALSE(c_->failed());
  EXPECT_EQ(value(c_), 1);
  EXPECT_EQ(metrics_.launches_skipped.value(), 2U);
}

TEST_P(DeviceFailure, IsTakenOnceFromItsQueue) {
  fail_to_write(a_);
  add(b_, a_, 1);
  wait_all();
  const FailurePtr taken = device_->take_failure(first_);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken, a_->failure());
  EXPECT_EQ(device_->take_failure(first_), nullptr);
  EXPECT_EQ(device_->take_failure(second_), nullptr);
}

TEST_P(DeviceFailure, IsNotTakenIfItWasDeliveredByAnotherWay) {
  fail_to_write(a_);
  fail_to_write(b_);
  wait_all();
  a_->failure()->delivered = true;
  EXPECT_EQ(device_->take_failure(first_), b_->failure());
}

TEST_P(DeviceFailure, HealsOnceDeliveredIfThereIsMemory) {
  add(a_, a_, 5);
  fail_to_write(a_);
  add(b_, a_, 1);
  wait_all();
  EXPECT_TRUE(b_->failed());
  a_->failure()->delivered = true;
  add(c_, a_, 1);
  wait_all();
  EXPECT_FALSE(a_->failed());
  EXPECT_EQ(value(c_), 6);
  EXPECT_TRUE(b_->failed());  // it never had memory
}

TEST_P(DeviceFailure, StaysWhereThereIsNoMemoryToGoOnWith) {
  fail_to_write(a_);
  wait_all();
  a_->failure()->delivered = true;
  add(b_, a_, 1);
  wait_all();
  EXPECT_EQ(b_->failure(), a_->failure());
}

TEST_P(DeviceFailure, EndsWhenTheBufferIsOverwritten) {
  fail_to_write(a_);
  add(a_, c_, 3, kLaunchIgnoreFailed | kLaunchOverwrites);
  add(b_, a_, 1);
  wait_all();
  EXPECT_FALSE(a_->failed());
  EXPECT_EQ(value(b_), 4);
}

TEST_P(DeviceFailure, DoesNotStopALaunchThatIgnoresIt) {
  fail_to_write(a_);
  int runs = 0;
  TestLaunch([&runs] { ++runs; }, kLaunchIgnoreFailed).writes(a_).submit(*device_, first_);
  wait_all();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(a_->failed());  // it was not overwritten as a whole
}

TEST_P(DeviceFailure, TheFirstOneStaysUntilDelivered) {
  fail_to_write(a_);
  wait_all();
  const FailurePtr first = a_->failure();
  TestLaunch([] { fail_user("second"); }, kLaunchIgnoreFailed).writes(a_).submit(*device_, first_);
  wait_all();
  EXPECT_EQ(a_->failure(), first);
  first->delivered = true;
  TestLaunch([] { fail_user("third"); }, kLaunchIgnoreFailed).writes(a_).submit(*device_, first_);
  wait_all();
  EXPECT_EQ(text(a_->failure()), "third");
}

TEST_P(DeviceFailure, DoesNotOutliveTheBuffer) {
  fail_to_write(a_);
  wait_all();
  a_.reset();
  for (int i = 0; i < 10; ++i) {
    a_ = make_buffer();
    EXPECT_FALSE(a_->failed());
    EXPECT_EQ(a_->failure(), nullptr);
  }
}

TEST_P(DeviceFailure, LeavesTheQueueWorking) {
  for (int i = 0; i < 200; ++i) {
    fail_to_write(a_);
    add(c_, c_, 1);
  }
  wait_all();
  EXPECT_EQ(value(c_), 200);
  while (device_->take_failure(first_) != nullptr) {
  }
}

}  // namespace
}  // namespace aee::testing
