#include "core/runtime/hostility.h"

#include <gtest/gtest.h>

#include "core/base/config.h"

namespace aee {
namespace {

Config hostile(std::uint64_t seed) {
  Config config;
  config.emulator_seed = seed;
  config.emulator_delay_us = 10;
  config.emulator_launch_failures = 0.25;
  config.emulator_refusals = 0.5;
  config.emulator_allocation_failures = 0.1;
  return config;
}

TEST(Hostility, NeedsASeed) {
  const Hostility hostility(hostile(0));
  EXPECT_FALSE(hostility.enabled());
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(hostility.fails(0, i) || hostility.refuses(0, i) || hostility.allocation_fails(i));
    EXPECT_EQ(hostility.delay(0, i).count(), 0);
  }
}

TEST(Hostility, MeetsItsProbabilities) {
  const Hostility hostility(hostile(1));
  int failures = 0, refusals = 0, allocations = 0;
  double delay = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    failures += hostility.fails(2, i) ? 1 : 0;
    refusals += hostility.refuses(2, i) ? 1 : 0;
    allocations += hostility.allocation_fails(i) ? 1 : 0;
    ASSERT_LT(hostility.delay(2, i).count(), 10000);
    delay += static_cast<double>(hostility.delay(2, i).count());
  }
  EXPECT_NEAR(failures, 2500, 200);
  EXPECT_NEAR(refusals, 5000, 200);
  EXPECT_NEAR(allocations, 1000, 150);
  EXPECT_NEAR(delay / 10000, 5000, 150);
}

TEST(Hostility, DependsOnSeedAndQueueAndNothingElse) {
  const Hostility one(hostile(1)), same(hostile(1)), other(hostile(2));
  int by_seed = 0, by_queue = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.fails(0, i), same.fails(0, i));
    by_seed += one.fails(0, i) != other.fails(0, i) ? 1 : 0;
    by_queue += one.fails(0, i) != one.fails(1, i) ? 1 : 0;
  }
  EXPECT_GT(by_seed, 100);
  EXPECT_GT(by_queue, 100);
}

}  // namespace
}  // namespace aee
