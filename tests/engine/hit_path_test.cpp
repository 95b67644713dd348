// The hit path of the tracer allocates nothing in steady state, counted by operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "core/engine/segment_tracer.h"
#include "tests/engine/step_streams.h"

namespace {
std::uint64_t allocations = 0;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

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
  const std::uint64_t before = allocations;
  for (int i = 0; i < 10; ++i) lap();
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(misses, 0U);
}

}  // namespace
}  // namespace aee
