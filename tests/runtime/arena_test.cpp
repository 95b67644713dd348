#include "core/runtime/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace aee {
namespace {

TEST(Arena, BlocksAreAlignedDistinctAndWritable) {
  Arena arena;
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t bytes = 0; bytes < 9'000'000; bytes += 1 + bytes / 3) {
    auto* block = static_cast<unsigned char*>(arena.allocate(bytes));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U) << bytes;
    std::memset(block, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, bytes] = blocks[i];
    if (bytes != 0) {
      EXPECT_EQ(block[0], i % 256);
      EXPECT_EQ(block[bytes - 1], i % 256);
    }
    arena.free(block);
  }
  EXPECT_EQ(arena.stats().in_use, 0U);
}

TEST(Arena, BlocksOfEveryClassLieBesideEachOther) {
  Arena arena;
  for (std::size_t bytes = 1; bytes < 3'000'000; bytes += 1 + bytes / 7) {
    std::vector<unsigned char*> blocks;
    for (int i = 0; i < 5; ++i) {
      blocks.push_back(static_cast<unsigned char*>(arena.allocate(bytes)));
      blocks.back()[0] = blocks.back()[bytes - 1] = static_cast<unsigned char>(i);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      ASSERT_EQ(blocks[i][0], i) << bytes;
      ASSERT_EQ(blocks[i][bytes - 1], i) << bytes;
      arena.free(blocks[i]);
    }
  }
}

TEST(Arena, ReusesAFreedBlockAtOnce) {
  Arena arena;
  for (const std::size_t bytes : {0UL, 100UL, 70'000UL, 5'000'000UL}) {
    void* block = arena.allocate(bytes);
    arena.free(block);
    EXPECT_EQ(arena.allocate(bytes), block) << bytes;
  }
}

TEST(Arena, WastesAtMostAQuarter) {
  Arena arena;
  for (std::size_t bytes = 257; bytes < 100'000'000; bytes = bytes * 5 / 4) {
    void* block = arena.allocate(bytes);
    EXPECT_GE(arena.stats().in_use, bytes);
    EXPECT_LE(arena.stats().in_use, bytes + bytes / 4 + 64) << bytes;
    arena.free(block);
  }
}

TEST(Arena, KeepsWhatIsFreedUntilTrimmed) {
  Arena arena;
  void* block = arena.allocate(50'000'000);
  const std::uint64_t reserved = arena.stats().reserved;
  EXPECT_GE(reserved, 50'000'000U);
  arena.free(block);
  EXPECT_EQ(arena.stats().reserved, reserved);
  arena.trim();
  EXPECT_EQ(arena.stats().reserved, 0U);
  EXPECT_EQ(arena.stats().reserved_peak, reserved);
}

TEST(Arena, TrimLeavesSlabsWithBlocksOut) {
  Arena arena;
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 1000; ++i) {
    blocks.push_back(static_cast<unsigned char*>(arena.allocate(10'000)));
    blocks.back()[0] = static_cast<unsigned char>(i);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i != 500) arena.free(blocks[i]);
  }
  arena.trim();
  EXPECT_EQ(arena.stats().reserved, 2U << 20);  // the slab of block 500
  EXPECT_EQ(blocks[500][0], 500 % 256);
  arena.free(blocks[500]);
  arena.trim();
  EXPECT_EQ(arena.stats().reserved, 0U);
}

TEST(Arena, TrimmedAddressesServeOtherSizes) {
  Arena arena;
  void* small = arena.allocate(100);
  arena.free(small);
  arena.trim();
  auto* large = static_cast<unsigned char*>(arena.allocate(1'000'000));
  EXPECT_EQ(large, small);
  large[999'999] = 1;
  arena.free(large);
}

TEST(Arena, OwnsItsBlocksAndNothingElse) {
  Arena arena, other;
  const int local = 0;
  auto* block = static_cast<std::byte*>(arena.allocate(100));
  EXPECT_TRUE(arena.owns(block));
  EXPECT_TRUE(arena.owns(block + 99));
  EXPECT_FALSE(other.owns(block));
  EXPECT_FALSE(arena.owns(&local));
  EXPECT_FALSE(arena.owns(nullptr));
}

TEST(Arena, RefusesWhatNoSystemHas) {
  Arena arena;
  for (const std::size_t bytes : {std::size_t{1} << 50, SIZE_MAX}) {
    try {
      static_cast<void>(arena.allocate(bytes));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    }
  }
  arena.free(arena.allocate(100));  // and goes on
}

TEST(Arena, HoldsNoMoreThanItsShare) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  Arena arena(16 * kMiB);
  void* first = arena.allocate(8 * kMiB);
  EXPECT_THROW(static_cast<void>(arena.allocate(10 * kMiB)), Error);
  EXPECT_EQ(arena.stats().reserved, 8 * kMiB);
  arena.free(first);
  arena.free(arena.allocate(10 * kMiB));  // what was free but held is given back for it
  EXPECT_EQ(arena.stats().reserved, 10 * kMiB);
}

TEST(Arena, ServesManyThreads) {
  Arena arena;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&arena, t] {
        std::mt19937 random(t);
        std::vector<std::pair<unsigned char*, unsigned char>> blocks;
        for (int i = 0; i < 3000; ++i) {
          const auto mark = static_cast<unsigned char>(random());
          auto* block = static_cast<unsigned char*>(arena.allocate(1 + random() % 5000));
          *block = mark;
          blocks.emplace_back(block, mark);
          if (blocks.size() < 20) continue;
          const std::size_t victim = random() % blocks.size();
          ASSERT_EQ(*blocks[victim].first, blocks[victim].second);
          arena.free(blocks[victim].first);
          blocks[victim] = blocks.back();
          blocks.pop_back();
          if (i % 500 == 0) arena.trim();
        }
        for (const auto& [block, mark] : blocks) arena.free(block);
      });
    }
  }
  EXPECT_EQ(arena.stats().in_use, 0U);
}

}  // namespace
}  // namespace aee
