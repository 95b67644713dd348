#include "cache/prepared_slot.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace aee {
namespace {

using Turn = PreparedSlot::Turn;

/// Counts those that live.
struct Kept final : Prepared {
  explicit Kept(int& the_alive) : alive(++the_alive) {}
  ~Kept() override { --alive; }
  int& alive;
};

/// The two runs before a slot may be filled.
void expect_first_runs(PreparedSlot& slot) {
  std::unique_ptr<Prepared> taken;
  EXPECT_EQ(slot.take(&taken), Turn::kFirst);
  EXPECT_EQ(slot.take(&taken), Turn::kPrepare);
  EXPECT_EQ(taken, nullptr);
}

TEST(PreparedSlot, PreparesAtTheSecondRunAndThenIsReady) {
  int alive = 0;
  {
    PreparedSlot slot;
    std::unique_ptr<Prepared> taken;
    expect_first_runs(slot);
    slot.put(std::make_unique<Kept>(alive));
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(slot.take(&taken), Turn::kReady);
      ASSERT_NE(taken, nullptr);
      slot.put(std::move(taken));
    }
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0) << "the slot owns what it keeps";
}

TEST(PreparedSlot, IsGivenUpWhenNothingIsPutBack) {
  int alive = 0;
  PreparedSlot slot;
  std::unique_ptr<Prepared> taken;
  expect_first_runs(slot);
  EXPECT_EQ(slot.take(&taken), Turn::kNone) << "somebody prepares";
  slot.put(std::make_unique<Kept>(alive));
  EXPECT_EQ(slot.take(&taken), Turn::kReady);
  taken.reset();
  EXPECT_EQ(alive, 0);
  for (int run = 0; run < 3; ++run) EXPECT_EQ(slot.take(&taken), Turn::kNone);
}

TEST(PreparedSlot, IsTakenByOneThreadAtATime) {
  int alive = 0, inside = 0;  // inside: a race, if two threads had it
  constexpr int kRuns = 2000;
  PreparedSlot slot;
  const auto run = [&] {
    std::unique_ptr<Prepared> taken;
    for (int i = 0; i < kRuns; ++i) {
      const Turn turn = slot.take(&taken);
      if (turn != Turn::kPrepare && turn != Turn::kReady) continue;
      EXPECT_EQ(inside++, 0);
      --inside;
      slot.put(turn == Turn::kPrepare ? std::make_unique<Kept>(alive) : std::move(taken));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) threads.emplace_back(run);
  }
  EXPECT_EQ(alive, 1);
}

}  // namespace
}  // namespace aee
