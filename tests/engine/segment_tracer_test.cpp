#include "core/engine/segment_tracer.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/engine/cut_simulator.h"

namespace aee {
namespace {

using Kind = TraceDifference::Kind;
using Operands = std::vector<std::uint64_t>;

/// A tracer whose launches are kept.
struct Traced {
  explicit Traced(std::uint32_t max_ops = 256) : tracer({.max_ops = max_ops}) {}

  /// An op with this signature, whose key has a word for each operand too.
  void op(std::uint64_t signature, const Operands& operands, std::uint8_t cut_class = 0) {
    std::vector<std::uint64_t> key{signature, operands.size()};
    for (std::size_t i = 0; i < operands.size(); ++i) key.push_back(i);
    tracer.add({key, signature * 77, operands, cut_class}, [this](const SegmentCut& cut) { cuts.push_back(cut); });
  }
  /// Ends the pending segment; nobody waits for it.
  void end() {
    tracer.cut(CutReason::kMarkStep, /*waiting=*/false, [this](const SegmentCut& cut) { cuts.push_back(cut); });
  }
  /// Ends the pending segment and gives it back.
  SegmentCut wait() {
    tracer.cut(CutReason::kHostRead, /*waiting=*/true, [this](const SegmentCut& cut) { cuts.push_back(cut); });
    return cuts.back();
  }
  [[nodiscard]] std::size_t launched() const {
    std::size_t ops = 0;
    for (const SegmentCut& cut : cuts) ops += cut.ops;
    return ops;
  }

  SegmentTracer tracer;
  std::vector<SegmentCut> cuts;
};

TEST(SegmentTracer, RecognisesASegmentOnOtherBuffers) {
  Traced traced;
  traced.op(1, {10, 11});
  traced.op(2, {11, 10, 12});
  EXPECT_EQ(traced.tracer.pending(), 2U);
  const SegmentCut first = traced.wait();
  EXPECT_FALSE(first.hit);
  EXPECT_EQ(first.ops, 2U);
  EXPECT_EQ(first.reason, CutReason::kHostRead);
  EXPECT_EQ(traced.tracer.pending(), 0U);

  traced.op(1, {7, 5});
  traced.op(2, {5, 7, 6});
  const SegmentCut second = traced.wait();
  EXPECT_TRUE(second.hit);
  EXPECT_EQ(second.end, first.end);
  EXPECT_EQ(second.difference.kind, Kind::kNone);
  EXPECT_EQ(second.end->launches, 2U);
}

TEST(SegmentTracer, TellsWhereASegmentLeftTheKnownTraces) {
  Traced traced;
  traced.op(1, {10, 11});
  traced.op(2, {11, 10, 12});
  EXPECT_EQ(traced.wait().difference.kind, Kind::kBeyond);

  traced.op(1, {10, 11});
  traced.op(2, {11, 13, 12});  // another buffer
  TraceDifference difference = traced.wait().difference;
  EXPECT_EQ(difference.kind, Kind::kOperand);
  EXPECT_EQ(difference.step, 1U);
  EXPECT_EQ(difference.index, 1U);
  EXPECT_EQ(difference.known, 0U);
  EXPECT_EQ(difference.found, 2U);

  traced.op(1, {10, 11});
  traced.op(9, {11, 10, 12});  // another op
  difference = traced.wait().difference;
  EXPECT_EQ(difference.kind, Kind::kWord);
  EXPECT_EQ(difference.step, 1U);
  EXPECT_EQ(difference.index, 0U);
  EXPECT_EQ(difference.known, 2U);
  EXPECT_EQ(difference.found, 9U);

  traced.op(1, {10, 11});
  difference = traced.wait().difference;
  EXPECT_EQ(difference.kind, Kind::kEnd);
  EXPECT_EQ(difference.step, 1U);

  traced.op(1, {10, 11});
  traced.op(2, {11, 10, 12});
  traced.op(3, {12, 13});
  difference = traced.wait().difference;
  EXPECT_EQ(difference.kind, Kind::kBeyond);
  EXPECT_EQ(difference.step, 2U);
}

TEST(SegmentTracer, FollowsTheRestAgainAfterARetroactiveCut) {
  // An op after which a cut is best is the fourth of eight: the others stay pending and begin the next segment.
  Traced traced(8);
  for (std::uint64_t i = 0; i < 8; ++i) traced.op(i, {i, i + 1}, i == 3 ? 1 : 0);
  ASSERT_EQ(traced.cuts.size(), 1U);
  EXPECT_EQ(traced.cuts[0].ops, 4U);
  EXPECT_EQ(traced.cuts[0].reason, CutReason::kBudget);
  EXPECT_EQ(traced.tracer.pending(), 4U);
  EXPECT_EQ(traced.tracer.last()->depth, 4U);
  EXPECT_EQ(traced.tracer.last()->slots()[0], 3U) << "slots begin with the segment";
  traced.end();
  EXPECT_EQ(traced.cuts.back().ops, 4U);

  for (std::uint64_t i = 0; i < 4; ++i) traced.op(i, {i, i + 1}, i == 3 ? 1 : 0);
  ASSERT_EQ(traced.cuts.size(), 3U) << "now the cut is remembered";
  EXPECT_EQ(traced.cuts[2].reason, CutReason::kRemembered);
  EXPECT_TRUE(traced.cuts[2].hit);
}

TEST(SegmentTracer, LaunchesWhatLedToAWaitBeforeTheWait) {
  Traced traced;
  const auto lap = [&traced](std::uint64_t ops) {
    for (std::uint64_t i = 0; i < ops; ++i) traced.op(i, {i, i + 1});
  };
  lap(2);
  EXPECT_EQ(traced.wait().reason, CutReason::kHostRead);
  lap(2);
  ASSERT_EQ(traced.cuts.size(), 2U) << "the host is on its way to wait";
  EXPECT_EQ(traced.cuts.back().reason, CutReason::kPlanned);
  EXPECT_TRUE(traced.cuts.back().hit);
  traced.wait();
  EXPECT_EQ(traced.cuts.size(), 2U);

  lap(3);  // no wait after two ops this time
  EXPECT_EQ(traced.tracer.pending(), 1U);
  EXPECT_EQ(traced.wait().ops, 1U);
  lap(2);
  EXPECT_EQ(traced.tracer.pending(), 2U) << "the plan is off until two waits agree";
  traced.wait();
  lap(2);
  EXPECT_EQ(traced.tracer.pending(), 2U);
  traced.wait();
  lap(2);
  EXPECT_EQ(traced.tracer.pending(), 0U);
}

TEST(SegmentTracer, StaysWholeWhenALaunchThrows) {
  Traced traced(64);
  std::size_t launched = 0, thrown = 0;
  const auto launch = [&](const SegmentCut& cut) {
    launched += cut.ops;
    if (++thrown % 3 != 0) throw std::runtime_error("the launch failed");
  };
  std::size_t added = 0;
  for (const test::StreamEvent& event : test::loop(30, 40)) {
    if (event.kind != test::StreamEvent::Kind::kOp) continue;
    const std::uint64_t key[] = {event.signature}, operands[] = {event.output};
    try {
      ++added;
      traced.tracer.add({key, event.signature, operands, 0}, launch);
    } catch (const std::runtime_error&) {
    }
    ASSERT_EQ(launched + traced.tracer.pending(), added);
  }
  EXPECT_GT(thrown, 10U);
}

TEST(SegmentTracer, NeverExceedsTheBudgetOfOps) {
  for (const std::uint32_t max_ops : {1U, 2U, 7U, 100U}) {
    test::CutSimulator simulator(max_ops);
    simulator.run(test::nested(9, 20, 31, 10, test::Trips::kVarying));
    std::size_t next = 0;
    for (const test::CutSimulator::Segment& segment : simulator.segments()) {
      EXPECT_EQ(segment.first, next) << "segments follow each other without a gap";
      EXPECT_GE(segment.ops, 1U);
      EXPECT_LE(segment.ops, max_ops);
      next += segment.ops;
    }
    EXPECT_EQ(next + simulator.tracer().pending(), simulator.ops());
  }
}

TEST(SegmentTracer, HitsExactlyWhatWasLaunchedBefore) {
  const test::Stream streams[] = {test::loop(45, 60),        test::nested(9, 20, 31, 30, test::Trips::kVarying),
                                  test::alternating(23, 60), test::stochastic_depth(12, 20, .3, 60, 4),
                                  test::waits_every(70, 20), test::rotating_shapes(30, 60, 7, /*waits=*/false),
                                  test::layered(12, 14, 20), test::stochastic_depth(5, 3, .5, 300)};
  for (const test::Stream& stream : streams) {
    test::CutSimulator simulator(128, {.launch_us = 12});
    simulator.run(stream);
    for (const test::CutSimulator::Segment& segment : simulator.segments()) {
      ASSERT_EQ(segment.known, segment.launched) << segment.first << " " << segment.ops;
    }
  }
}

TEST(SegmentTracer, ForgetsUnderPressureButNeverConfuses) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{20000}, std::size_t{200000}}) {
    test::CutSimulator simulator(128, {.launch_us = 12}, bytes);
    simulator.run(test::stochastic_depth(12, 20, .3, 60, 4));
    EXPECT_GT(simulator.tracer().trie().forgotten(), 0U);
    for (const test::CutSimulator::Segment& segment : simulator.segments()) {
      ASSERT_TRUE(segment.launched || !segment.known);
    }
  }
}

TEST(SegmentTracer, StartsSmallAgainAfterAWaitEvenIfNothingIsPending) {
  Traced traced;
  for (std::uint64_t i = 0; i < 300; ++i) traced.op(i % 5, {i});
  while (traced.tracer.pending() != 0) traced.op(8, {8}, 1);
  traced.tracer.cut(CutReason::kSynchronize, /*waiting=*/true, [](const SegmentCut&) { FAIL(); });
  const std::size_t before = traced.cuts.size();
  for (std::uint64_t i = 0; i < 8; ++i) traced.op(100 + i, {i});
  EXPECT_EQ(traced.cuts.size(), before + 1) << "a budget of eight";
}

TEST(SegmentTracer, StaysInsideTheBudgetWithAMillionDistinctTraces) {
#ifdef AEE_EQUAL_HASHES
  constexpr std::uint64_t kTraces = 20000;
#else
  constexpr std::uint64_t kTraces = 1000000;
#endif
  SegmentTracer tracer({.trie_bytes = std::size_t{2} << 20});
  std::size_t misses = 0;
  const auto count = [&](const SegmentCut& cut) { misses += cut.hit ? 0 : 1; };
  for (std::uint64_t i = 0; i < kTraces; ++i) {
    for (const std::uint64_t word : {i % 100, i}) {
      const std::uint64_t key[] = {word}, operands[] = {1, 2};
      tracer.add({key, hash64(key, sizeof key), operands, 0}, count);
    }
    tracer.cut(CutReason::kHostRead, /*waiting=*/true, count);
    ASSERT_LE(tracer.trie().bytes(), tracer.trie().budget());
  }
  EXPECT_EQ(misses, kTraces);
}

}  // namespace
}  // namespace aee
