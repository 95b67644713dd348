#include "core/runtime/launch_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <vector>

namespace aee {
namespace {

/// A block of the given size whose content follows from `mark`.
std::vector<std::uint64_t> make_block(std::size_t words, std::uint64_t mark) {
  std::vector<std::uint64_t> block(sizeof(Launch) / 8 + words, mark);
  Launch launch;
  launch.size = static_cast<std::uint32_t>(block.size() * 8);
  std::memcpy(block.data(), &launch, sizeof launch);
  return block;
}
const Launch& launch_of(const std::vector<std::uint64_t>& block) {
  return *reinterpret_cast<const Launch*>(block.data());
}

TEST(LaunchRing, GivesBackWhatItGotInOrder) {
  LaunchRing ring;
  std::mt19937 random(1);
  std::deque<std::vector<std::uint64_t>> inside;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    // Small blocks, sometimes ones near the limit between ring and heap; phases of filling and of draining.
    const std::size_t words = random() % 100 == 0 ? 30000 + random() % 5000 : random() % 200;
    if (random() % 10 < (i / 2000 % 2 == 0 ? 7U : 3U)) {
      auto block = make_block(words, i);
      if (ring.push(launch_of(block), KeepWaits::kYes)) {
        inside.push_back(std::move(block));
      } else {
        ++refused;
      }
    } else if (!inside.empty()) {
      ASSERT_EQ(std::memcmp(&ring.front(), inside.front().data(), inside.front().size() * 8), 0);
      ring.advance(), ring.pop();
      inside.pop_front();
    }
  }
  EXPECT_GT(refused, 0U);  // the ring was full at times
  for (; !inside.empty(); inside.pop_front()) ring.advance(), ring.pop();
}

TEST(LaunchRing, RefusesWhenFullAndTakesMoreAfterAPop) {
  LaunchRing ring;
  const auto block = make_block(LaunchRing::kMostInline / 8 - 100, 1);
  int accepted = 0;
  while (ring.push(launch_of(block), KeepWaits::kYes)) ++accepted;
  EXPECT_EQ(accepted, 4);
  EXPECT_FALSE(ring.push(launch_of(block), KeepWaits::kYes));
  for (int i = 0; i < accepted; ++i) ring.advance(), ring.pop();
  EXPECT_TRUE(ring.push(launch_of(block), KeepWaits::kYes));
}

TEST(LaunchRing, AnEmptyRingTakesEveryBlock) {
  LaunchRing ring;
  for (std::size_t words = 0; words < LaunchRing::kMostInline / 8 + 100; words += 37) {
    ASSERT_TRUE(ring.push(launch_of(make_block(words, words)), KeepWaits::kYes)) << words;
    ring.advance(), ring.pop();
  }
}

TEST(LaunchRing, BoundsWhatItKeepsOnTheHeap) {
  LaunchRing ring;
  const auto block = make_block((LaunchRing::kMostHeapBytes / 2 + 1024) / 8, 1);
  EXPECT_TRUE(ring.push(launch_of(block), KeepWaits::kYes));
  EXPECT_FALSE(ring.push(launch_of(block), KeepWaits::kYes));
  ring.advance(), ring.pop();
  EXPECT_TRUE(ring.push(launch_of(block), KeepWaits::kYes));
  ring.advance(), ring.pop();
}

TEST(LaunchRing, CanLeaveOutTheWaits) {
  struct {
    Launch launch;
    Timepoint waits[2] = {timepoint(1, 2), timepoint(3, 4)};
    Buffer* buffer;
    std::uint64_t payload = 42;
  } block{};
  BufferPool pool(0, std::uint64_t{1} << 30, std::uint64_t{1} << 30);
  const BufferRef buffer = pool.acquire(8);
  block.buffer = buffer.get();
  block.launch.size = sizeof block;
  block.launch.wait_count = 2;
  block.launch.buffer_count = 1;
  LaunchRing ring;
  ASSERT_TRUE(ring.push(block.launch, KeepWaits::kNo));
  Launch& copy = ring.front();
  EXPECT_TRUE(copy.waits().empty());
  ASSERT_EQ(copy.buffers().size(), 1U);
  EXPECT_EQ(copy.buffers()[0], buffer.get());
  EXPECT_EQ(*static_cast<std::uint64_t*>(copy.payload()), 42U);
  EXPECT_EQ(copy.size, sizeof block - 16);
}

}  // namespace
}  // namespace aee
