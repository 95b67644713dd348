#include "core/base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>
#include <string_view>

namespace aee {
namespace {

std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0) { return hash64(text.data(), text.size(), seed); }

TEST(Hash64, DiffersForEveryPrefixOfAText) {
  const std::string text = "the quick brown fox jumps over the lazy dog, and so on and so forth";
  std::set<std::uint64_t> hashes;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_TRUE(hashes.insert(hash_of(std::string_view(text).substr(0, size))).second) << size;
  }
}

TEST(Hash64, DistinguishesLengthsOfZeroes) {
  const char zeroes[40] = {};
  std::set<std::uint64_t> hashes;
  for (std::size_t size = 0; size <= sizeof zeroes; ++size) hashes.insert(hash64(zeroes, size));
  EXPECT_EQ(hashes.size(), sizeof zeroes + 1);
}

TEST(Hash64, DependsOnEveryByteAndOnTheSeed) {
  for (const std::size_t size : {1U, 3U, 4U, 7U, 8U, 12U, 16U, 17U, 100U}) {
    const std::string text(size, 'a');
    EXPECT_NE(hash_of(text), hash_of(text, 1)) << size;
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = 'b';
      EXPECT_NE(hash_of(text), hash_of(other)) << size << " " << i;
    }
  }
}

TEST(Hash64, SpreadsSmallNumbersOverAllBits) {
  int changed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t next = i + 1;
    changed += std::popcount(hash64(&i, sizeof i) ^ hash64(&next, sizeof next));
  }
  EXPECT_NEAR(changed, 32 * 1000, 1000);
}

TEST(Hash128, IsXxh3SoThatNamesOfFilesStayTheSame) {
  const Hash128 empty = hash128(nullptr, 0);
  EXPECT_EQ(empty.high, 0x99AA06D3014798D8U);
  EXPECT_EQ(empty.low, 0x6001C324468D497FU);
  EXPECT_NE(hash128("a", 1), empty);
}

}  // namespace
}  // namespace aee
