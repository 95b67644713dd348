// The cut policy in the long run: the very SegmentTracer, driven by synthetic streams, without clocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/engine/cut_simulator.h"

namespace aee::test {
namespace {

constexpr std::size_t kPreamble = 37;  // ops of loop() before its first lap, and around the layers of layered()

/// A launch of `ops` ops takes the host `host_us` an op and a bit, and then the device; the host waits at the end.
struct Pipeline {
  static constexpr double kHostLaunchUs = 0.3;
  CutCosts costs;
  double host = 0, device = 0;
  void launch(std::size_t ops) {
    const auto count = static_cast<double>(ops);
    host += count * costs.host_us + kHostLaunchUs;
    device = std::max(device, host) + costs.launch_us + count * costs.device_us;
  }
  [[nodiscard]] double done() const { return std::max(host, device); }
};

/// The time from one wait to the next with segments of `budget` ops.
double time_with(std::size_t budget, std::size_t ops, const CutCosts& costs) {
  Pipeline pipeline{costs};
  for (std::size_t at = 0; at < ops; at += budget) pipeline.launch(std::min(budget, ops - at));
  return pipeline.done();
}

/// The time of the best fixed budget: all those that make another number of segments.
double best_time(std::size_t ops, const CutCosts& costs) {
  double best = time_with(ops, ops, costs);
  for (std::size_t segments = 2; segments <= ops; segments += 1 + segments / 16) {
    best = std::min(best, time_with((ops + segments - 1) / segments, ops, costs));
  }
  return best;
}

/// Simulated times from wait to wait.
std::vector<double> times(const CutSimulator& simulator, const CutCosts& costs) {
  std::vector<double> times;
  auto segment = simulator.segments().begin();
  for (const std::size_t wait : simulator.waits()) {
    Pipeline pipeline{costs};
    for (; segment != simulator.segments().end() && segment->first < wait; ++segment) pipeline.launch(segment->ops);
    times.push_back(pipeline.done());
  }
  return times;
}

void expect_hits_after_two_laps(std::size_t ops, std::uint32_t max_ops, std::uint64_t seed) {
  const std::size_t settled = kPreamble + std::max<std::size_t>(2 * ops, 3 * max_ops);
  // Values that die because the stream ends are not part of the loop.
  const std::size_t counted = settled + 2 * ops + 4 * max_ops;
  CutSimulator simulator(max_ops);
  simulator.run(loop(ops, (counted + 2 * max_ops) / ops + 3, 0, seed));
  std::size_t hits = 0;
  for (const CutSimulator::Segment& segment : simulator.segments()) {
    if (segment.first < settled || segment.first + segment.ops > counted) continue;
    EXPECT_TRUE(segment.hit) << "loop of " << ops << ", budget " << max_ops << ", seed " << seed << ": miss at op "
                             << segment.first << " of " << settled;
    ++hits;
  }
  EXPECT_GT(hits, 0U);
}

// About one random loop in 500 settles up to a quarter later than this; none of these does.
class StraightLoop : public testing::TestWithParam<std::uint32_t> {};

TEST_P(StraightLoop, HasOnlyHitsAfterTwoLapsOrThreeBudgets) {
  std::vector<std::size_t> loops;
  for (std::size_t ops = 3; ops <= 40; ++ops) loops.push_back(ops);
  for (std::size_t ops = 41; ops <= 300; ops += 13) loops.push_back(ops);
  for (std::size_t ops = 300; ops <= 2000; ops += 100) loops.push_back(ops);
  for (const std::size_t ops : {std::size_t{64}, std::size_t{128}, std::size_t{255}, std::size_t{256}, std::size_t{257},
                                std::size_t{512}, std::size_t{997}, std::size_t{1024}}) {
    loops.push_back(ops);
  }
  for (const std::size_t ops : loops) {
    for (const std::uint64_t seed : {1, 2, 3}) expect_hits_after_two_laps(ops, GetParam(), seed);
  }
}
INSTANTIATE_TEST_SUITE_P(Budgets, StraightLoop, testing::Values(7, 64, 256, 1024));

/// A deep model is a straight loop too, but one that repeats itself within a lap. Not every one settles that early.
TEST(CutPolicy, FindsTheLayersOfADeepModel) {
  int runs = 0, late = 0;
  for (const std::uint32_t max_ops : {64U, 256U, 1024U}) {
    for (const std::size_t layers : {2, 4, 6, 12, 24, 48}) {
      for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
        const std::size_t lap = kPreamble + 22 * layers, settled = std::max<std::size_t>(2 * lap, 3 * max_ops);
        CutSimulator simulator(max_ops);
        simulator.run(layered(layers, 22, (settled + 4 * max_ops) / lap + 25, seed));
        const double hits = simulator.hit_ratio(settled, simulator.ops() - 2 * lap - 2 * max_ops);
        EXPECT_GE(hits, 0.95) << layers << " layers, budget " << max_ops << ", seed " << seed;
        ++runs;
        late += hits < 1 ? 1 : 0;
      }
    }
  }
  EXPECT_LE(late, runs * 5 / 100) << "of " << runs;
}

/// Hits in the second half of a stream, without its end.
double settled_hits(const Stream& stream, std::uint32_t max_ops) {
  CutSimulator simulator(max_ops);
  simulator.run(stream);
  return simulator.hit_ratio(simulator.ops() / 2, simulator.ops() - 2 * max_ops);
}

TEST(CutPolicy, HitsNestedLoops) {
  for (const std::uint32_t max_ops : {64U, 256U}) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      EXPECT_EQ(settled_hits(nested(9, 20, 31, 60, Trips::kFixed, seed), max_ops), 1) << max_ops << " " << seed;
      for (const Stream& stream :
           {nested(9, 20, 31, 150, Trips::kVarying, seed), nested(40, 10, 100, 100, Trips::kVarying, seed),
            nested(3, 50, 10, 150, Trips::kVarying, seed)}) {
        EXPECT_GE(settled_hits(stream, max_ops), 0.8) << max_ops << " " << seed;
      }
    }
  }
}

TEST(CutPolicy, HitsAlternatingBranches) {
  for (const std::uint32_t max_ops : {64U, 256U, 512U}) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      for (const std::size_t ops : {std::size_t{17}, std::size_t{60}, std::size_t{300}}) {
        EXPECT_GE(settled_hits(alternating(ops, 12000 / ops, seed), max_ops), 0.9) << max_ops << " " << ops;
      }
    }
  }
}

TEST(CutPolicy, HitsStochasticDepth) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    for (const std::uint32_t max_ops : {64U, 256U}) {
      EXPECT_GE(settled_hits(stochastic_depth(12, 40, .1, 150, 0, seed), max_ops), 0.85) << max_ops << " " << seed;
      EXPECT_GE(settled_hits(stochastic_depth(12, 40, .1, 150, 8, seed), max_ops), 0.85) << max_ops << " " << seed;
    }
  }
}

class WaitsEvery : public testing::TestWithParam<double> {};

TEST_P(WaitsEvery, IsNearlyAsFastAsTheBestFixedBudget) {
  constexpr std::size_t kLaps = 24;
  for (const double host_us : {0.1, 0.6}) {
    for (const double device_us : {0.05, 0.3, 1.0, 10.0}) {
      const CutCosts costs{.host_us = host_us, .device_us = device_us, .launch_us = GetParam()};
      for (std::size_t ops = 1; ops <= 1000; ops += ops < 32 ? 1 : 33) {
        CutSimulator simulator(1024, costs);
        simulator.run(waits_every(ops, kLaps));
        const double best = best_time(ops, costs);
        double sum = 0;
        std::size_t lap = 0;
        for (const double time : times(simulator, costs)) {
          sum += time;
          EXPECT_TRUE(lap++ == 0 || time <= 1.2 * best)
              << "every " << ops << " ops, lap " << lap << ": " << time / best;
        }
        EXPECT_EQ(lap, kLaps);
        EXPECT_LE(sum, 1.2 * best * kLaps) << "every " << ops << " ops, laps of learning included";
        EXPECT_EQ(simulator.hit_ratio(2 * ops, (kLaps - 2) * ops), 1) << "every " << ops << " ops";
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(LaunchCosts, WaitsEvery, testing::Values(0.3, 12, 60, 100));

TEST(CutPolicy, GoesOnAsBeforeWhereAPlannedWaitDoesNotCome) {
  const CutCosts costs{.launch_us = 100};
  CutSimulator simulator(256, costs);
  Stream stream = waits_every(100, 10), more = loop(100, 60);
  stream.insert(stream.end(), more.begin() + kPreamble, more.end());
  simulator.run(stream);
  EXPECT_EQ(simulator.hit_ratio(1000 + 1000, simulator.ops() - 1000), 1);
  for (const CutSimulator::Segment& segment : simulator.segments()) EXPECT_LE(segment.ops, 256U);
}

TEST(CutPolicy, KeepsGrowingBudgetsWhereWaitsComeAtOdds) {
  StreamMaker maker(1);
  const StreamMaker::Body body = maker.body(300);
  for (std::size_t i = 0; i < 100; ++i) {
    maker.lap();
    StreamMaker::Body part(body.begin(), body.begin() + 20 + static_cast<std::ptrdiff_t>(maker.below(280)));
    maker.emit(part);
    maker.wait();
  }
  CutSimulator simulator(256, {.launch_us = 100});
  simulator.run(maker.take());
  EXPECT_GE(simulator.hit_ratio(simulator.ops() / 2), 0.6) << "all but the last segment before a wait";
}

TEST(CutPolicy, CutsTheSameProgramTheSameWay) {
  const Stream stream = stochastic_depth(12, 40, .2, 40, 8);
  CutSimulator first(256);
  first.run(stream);
  for (std::uint64_t run = 1; run <= 20; ++run) {
    CutSimulator simulator(256, {}, std::size_t{1} << 30, run << 40 | run * 64);  // buffers elsewhere
    simulator.run(stream);
    ASSERT_EQ(simulator.segments(), first.segments());
  }
}

TEST(CutPolicy, HitsFortyShapesInRotationFromTheThirdLapOn) {
  for (const bool waits : {true, false}) {
    CutSimulator simulator(256);
    simulator.run(rotating_shapes(60, 400, 40, waits));
    const std::vector<std::size_t>& laps = simulator.laps();
    EXPECT_EQ(simulator.hit_ratio(laps[2], laps.back()), 1) << waits;
  }
}

TEST(CutPolicy, HitsAGrowingShapeThatIsNotInTheKey) {
  CutSimulator simulator(256);
  simulator.run(waits_every(120, 60));
  EXPECT_EQ(simulator.hit_ratio(simulator.laps()[2], simulator.laps()[58]), 1);
}

TEST(CutPolicy, CutsEachOfTwoThreadsAsIfItWereAlone) {
  const Stream streams[] = {loop(100, 80, 0, 2), stochastic_depth(12, 20, .1, 60, 4)};
  CutSimulator alone[] = {CutSimulator(256), CutSimulator(256)};
  for (int i = 0; i < 2; ++i) alone[i].run(streams[i]);

  CutSimulator together[] = {CutSimulator(256), CutSimulator(256)};
  std::thread other([&] { together[1].run(streams[1]); });
  together[0].run(streams[0]);
  other.join();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(together[i].segments(), alone[i].segments());
  EXPECT_EQ(alone[0].hit_ratio(1000, 7000), 1);
}

}  // namespace
}  // namespace aee::test
