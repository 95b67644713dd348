#include "cache/layout_memo.h"

#include <gtest/gtest.h>

namespace aee {
namespace {

using Words = std::vector<std::uint64_t>;

LayoutEntry& add(LayoutMemo& memo, const Words& key, std::uint64_t hash) {
  auto entry = std::make_unique<LayoutEntry>();
  entry->key = key;
  return memo.insert(std::move(entry), hash);
}

TEST(LayoutMemo, FindsOnlyWhatWasInserted) {
  LayoutMemo memo(std::size_t{1} << 20);
  EXPECT_EQ(memo.find(Words{1}, 5), nullptr);
  std::vector<LayoutEntry*> entries;
  for (std::uint64_t i = 0; i < 2000; ++i) entries.push_back(&add(memo, {i, i + 1}, i * 77));
  for (std::uint64_t i = 0; i < 2000; ++i) EXPECT_EQ(memo.find(Words{i, i + 1}, i * 77), entries[i]);
  EXPECT_EQ(memo.find(Words{2000, 2001}, 2000 * 77), nullptr);
  EXPECT_EQ(memo.size(), 2000U);
}

TEST(LayoutMemo, ComparesKeysInFullThoughTheirHashesAreEqual) {
  LayoutMemo memo(std::size_t{1} << 20);
  const Words keys[] = {{0}, {0, 0}, {1}, {1, 0}, {0, 1}, {1, 2, 3}, {1, 2, 4}};
  std::vector<LayoutEntry*> entries;
  for (const Words& key : keys) {
    EXPECT_EQ(memo.find(key, 9), nullptr);
    entries.push_back(&add(memo, key, 9));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_EQ(memo.find(keys[i], 9), entries[i]) << i;
}

TEST(LayoutMemo, IsFullWhenItsEntriesTakeTheBudget) {
  LayoutMemo memo(30000);
  std::uint64_t count = 0;
  while (!memo.full()) {
    const std::size_t before = memo.bytes();
    add(memo, Words(20, count), count);
    ++count;
    EXPECT_GE(memo.bytes() - before, 20 * sizeof(std::uint64_t) + sizeof(LayoutEntry));
  }
  EXPECT_GT(count, 5U);
  EXPECT_LT(count, 50U);
}

TEST(LayoutMemo, CountsTheLayoutsOfAnEntry) {
  LayoutMemo memo(std::size_t{1} << 20);
  const std::size_t plain = (add(memo, {1}, 1), memo.bytes());
  auto entry = std::make_unique<LayoutEntry>();
  entry->key = {2};
  entry->results.resize(3);
  for (ResultSpec& result : entry->results) result.sizes = result.strides = {2, 3, 4};
  memo.insert(std::move(entry), 2);
  EXPECT_GE(memo.bytes() - plain, plain + 3 * (sizeof(ResultSpec) + 6 * sizeof(std::int64_t)));
}

TEST(LayoutMemo, ForgetsEverythingAtOnceAndGoesOn) {
  LayoutMemo memo(1000);
  while (!memo.full()) add(memo, {memo.size()}, memo.size());
  memo.clear();
  EXPECT_EQ(memo.size(), 0U);
  EXPECT_EQ(memo.bytes(), 0U);
  EXPECT_FALSE(memo.full());
  EXPECT_EQ(memo.find(Words{0}, 0), nullptr);
  LayoutEntry& again = add(memo, {0}, 0);
  EXPECT_EQ(memo.find(Words{0}, 0), &again);
}

TEST(LayoutMemo, KeepsEntriesWhereTheyAreWhileItGrows) {
  LayoutMemo memo(std::size_t{1} << 20);
  LayoutEntry& first = add(memo, {0}, 0);
  first.fresh = 3;
  for (std::uint64_t i = 1; i < 3000; ++i) add(memo, {i}, i);
  EXPECT_EQ(memo.find(Words{0}, 0), &first);
  EXPECT_EQ(first.fresh, 3U);
}

TEST(LayoutMemo, HasOneStructureForEachKey) {
  LayoutMemo memo(std::size_t{1} << 20);
  Structure& first = memo.structure(Words{1, 2}, 9);
  Structure& other = memo.structure(Words{1, 3}, 9);  // equal hashes
  EXPECT_NE(&first, &other);
  EXPECT_NE(first.id, other.id);
  EXPECT_FALSE(first.inferable);
  first.inferable = true;
  EXPECT_EQ(&memo.structure(Words{1, 2}, 9), &first);
  EXPECT_EQ(first.key, (Words{1, 2}));
  const std::uint64_t id = first.id;
  EXPECT_GT(memo.bytes(), 2 * sizeof(Structure));
  memo.clear();
  EXPECT_EQ(memo.bytes(), 0U);
  Structure& again = memo.structure(Words{1, 2}, 9);
  EXPECT_FALSE(again.inferable);
  EXPECT_NE(again.id, id);
}

}  // namespace
}  // namespace aee
