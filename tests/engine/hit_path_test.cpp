// The hit path of the tracer allocates nothing in steady state, counted by operator new.
#include <gtest/gtest.h>

#include "core/engine/segment_tracer.h"
#include "tests/allocation_count.h"
#include "tests/engine/step_streams.h"

namespace aee {
namespace {

TEST(HitPath, AllocatesNothingAndMissesNothing) {
  const test::Stream stream = test::alternating(60, 120);
  SegmentTracer tracer({.max_ops = 64});
  std::size_t misses = 0;
  const auto launch = [&misses](const SegmentCut& cut) { misses += cut.hit ? 0 : 1; };
  const auto lap = [&] {
    for (const test::StreamEvent& event : stream) {
      if (event.kind != test::StreamEvent::Kind::kOp) continue;
      const std::uint64_t key[] = {event.signature, event.inputs.size()};
      const std::uint64_t operands[] = {event.inputs[0], event.output};
      tracer.add({key, event.signature, operands, event.cut_class}, launch);
    }
    tracer.cut(CutReason::kSynchronize, /*waiting=*/true, launch);
  };
  for (int i = 0; i < 6; ++i) lap();
  misses = 0;
  const std::uint64_t before = testing::allocation_count;
  for (int i = 0; i < 10; ++i) lap();
  EXPECT_EQ(testing::allocation_count - before, 0U);
  EXPECT_EQ(misses, 0U);
}

}  // namespace
}  // namespace aee
