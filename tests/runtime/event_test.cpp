#include "core/runtime/event.h"

#include "core/base/error.h"
#include "tests/runtime/device_fixture.h"

namespace aee::testing {
namespace {

class EventTest : public DeviceTest {};

INSTANTIATE_TEST_SUITE_P(Devices, EventTest, every_device(), DeviceCase::name);

TEST_P(EventTest, ThatWasNeverRecordedIsReached) {
  const Event event;
  EXPECT_FALSE(event.recorded());
  EXPECT_TRUE(event.query());
  EXPECT_TRUE(event.point().none());
  event.synchronize();
}

TEST_P(EventTest, WithoutTimingCostsNoLaunch) {
  const Timepoint last = TestLaunch().submit(*device_, first_);
  Event event;
  event.record(*device_, first_, EventTiming::kOff);
  EXPECT_EQ(event.point(), last);
  event.synchronize();
  EXPECT_TRUE(event.query());
  EXPECT_EQ(device_->submitted(first_), 1U);
}

TEST_P(EventTest, IsReachedAfterWhatCameBefore) {
  int runs = 0;
  for (int i = 0; i < 20; ++i) TestLaunch([&runs] { ++runs; }).submit(*device_, first_);
  Event event;
  event.record(*device_, first_, EventTiming::kOn);
  event.synchronize();
  EXPECT_TRUE(event.query());
  AEE_SKIP_IF_NOTHING_RUNS();
  EXPECT_EQ(runs, 20);
}

TEST_P(EventTest, IsNotReachedWhileWorkBeforeItRuns) {
  AEE_SKIP_IF_NOTHING_RUNS();
  std::atomic<bool> open{false};
  TestLaunch([&open] {
    while (!open.load()) std::this_thread::yield();
  }).submit(*device_, first_);
  Event event;
  event.record(*device_, first_, EventTiming::kOn);
  EXPECT_FALSE(event.query());
  EXPECT_THROW(static_cast<void>(event.elapsed_ms(event)), Error);
  open = true;
  event.synchronize();
  EXPECT_EQ(event.elapsed_ms(event), 0);
}

TEST_P(EventTest, TimeNeverRunsBackwards) {
  Event begin, end;
  begin.record(*device_, first_, EventTiming::kOn);
  TestLaunch().submit(*device_, first_);
  end.record(*device_, first_, EventTiming::kOn);
  end.synchronize();
  EXPECT_GE(begin.elapsed_ms(end), 0);
  EXPECT_LE(end.elapsed_ms(begin), 0);
}

TEST_P(EventTest, WithoutTimingHasNoElapsedTime) {
  Event event;
  event.record(*device_, first_, EventTiming::kOff);
  EXPECT_THROW(static_cast<void>(event.elapsed_ms(event)), Error);
}

TEST_P(EventTest, MayDieOrBeRecordedAgainBeforeItIsReached) {
  for (int i = 0; i < 50; ++i) {
    Event event;
    event.record(*device_, first_, EventTiming::kOn);
    event.record(*device_, second_, EventTiming::kOn);
  }
  wait_all();
}

TEST_P(EventTest, CanBeMoved) {
  Event event;
  event.record(*device_, first_, EventTiming::kOn);
  const Timepoint point = event.point();
  Event other(std::move(event));
  event = std::move(other);
  event.synchronize();
  EXPECT_EQ(event.point(), point);
  EXPECT_EQ(event.elapsed_ms(event), 0);
}

TEST_P(EventTest, SurvivesFailuresBeforeIt) {
  const BufferRef buffer = make_buffer();
  TestLaunch([] { fail_user("bad"); }).writes(buffer).submit(*device_, first_);
  Event event;
  event.record(*device_, first_, EventTiming::kOn);
  event.synchronize();
  EXPECT_EQ(event.elapsed_ms(event), 0);
}

}  // namespace
}  // namespace aee::testing
