#include "core/base/park.h"

#include <gtest/gtest.h>

#include <thread>

namespace aee {
namespace {

TEST(Park, ReturnsAtOnceIfTheWordHasChanged) {
  const std::atomic<std::uint32_t> word{1};
  park(word, 0);
}

TEST(Park, EndsWithItsTimeout) {
  const std::atomic<std::uint32_t> word{0};
  park(word, 0, std::chrono::microseconds(10));
}

TEST(Park, IsEndedByUnpark) {
  std::atomic<std::uint32_t> word{0};
  const std::jthread waker([&word] {
    word.store(1);
    unpark_all(word);
  });
  while (word.load() == 0) park(word, 0);
}

TEST(SpinBudget, RunsOutAndCanBeRefilled) {
  SpinBudget budget(std::chrono::microseconds(1));
  while (budget.spin()) {
  }
  budget.refill();
  EXPECT_TRUE(budget.spin());
}

TEST(Parker, LosesNoWakeUp) {
  // Given two threads that hand a number back and forth and sleep whenever it is not their turn
  constexpr int kRounds = 2000;
  std::atomic<int> turn{0};
  Parker parkers[2];
  const auto play = [&](int me) {
    while (turn.load() < kRounds) {
      if (turn.load() % 2 == me) {
        turn.fetch_add(1);
        parkers[1 - me].notify();
        continue;
      }
      parkers[me].prepare();
      if (turn.load() % 2 == me || turn.load() >= kRounds) {
        parkers[me].cancel();
        continue;
      }
      parkers[me].sleep();
    }
  };
  // Then both come to the end.
  std::jthread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kRounds);
}

}  // namespace
}  // namespace aee
