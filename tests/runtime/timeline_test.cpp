#include "core/runtime/timeline.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace aee {
namespace {

void wait(Timeline& timeline, std::uint64_t sequence) {
  while (!timeline.reached(sequence)) {
    const std::uint32_t ticket = timeline.arm(sequence);
    if (!timeline.reached(sequence)) timeline.sleep(ticket);
  }
}

TEST(Timeline, StartsWithNothingPending) {
  const Timeline timeline;
  EXPECT_FALSE(timeline.pending());
  EXPECT_TRUE(timeline.reached(0));
  EXPECT_FALSE(timeline.reached(1));
}

TEST(Timeline, IsPendingBetweenPublishAndComplete) {
  Timeline timeline;
  timeline.publish(1);
  EXPECT_TRUE(timeline.pending());
  timeline.complete(1);
  EXPECT_FALSE(timeline.pending());
  EXPECT_TRUE(timeline.reached(1));
}

TEST(Timeline, WakesEverySleeperWhateverItWaitsFor) {
  Timeline timeline;
  {
    std::vector<std::jthread> sleepers;
    for (std::uint64_t t = 1; t <= 4; ++t) {
      sleepers.emplace_back([&timeline, t] {
        for (std::uint64_t sequence = t; sequence <= 2000; sequence += t) wait(timeline, sequence);
      });
    }
    for (std::uint64_t sequence = 1; sequence <= 2000; ++sequence) {
      timeline.publish(sequence);
      timeline.complete(sequence);
    }
  }
  EXPECT_EQ(timeline.completed(), 2000U);
}

TEST(Timeline, ASleepThatWasOvertakenEndsAtOnce) {
  Timeline timeline;
  const std::uint32_t ticket = timeline.arm(1);
  timeline.publish(1);
  timeline.complete(1);
  timeline.sleep(ticket);
}

}  // namespace
}  // namespace aee
