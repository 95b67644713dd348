#include "cache/trace_trie.h"

#include <gtest/gtest.h>

#include <map>

namespace aee {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30;

/// A key with storage of its own.
struct Key {
  std::vector<std::uint64_t> step;
  std::vector<std::uint32_t> slots;
  std::uint64_t hash = 1;  // equal for many: what is found is found by comparing
  [[nodiscard]] TraceKey view() const { return {step, hash, slots}; }
};

constexpr std::uint64_t kFewHashes = 3;
Key key(std::uint64_t word, std::uint64_t hashes = kFewHashes) {
  return {{word, 7, word * word}, {0, 1}, word % hashes};
}

/// A path of `words` below the root, as if launched.
TraceNode& launch(TraceTrie& trie, const std::vector<std::uint64_t>& words, std::uint64_t hashes = kFewHashes) {
  TraceNode* node = &trie.root();
  for (const std::uint64_t word : words) {
    const Key step = key(word, hashes);
    TraceNode* child = trie.find(*node, step.view());
    node = child != nullptr ? child : &trie.insert(*node, step.view(), 0);
  }
  trie.touch(*node);
  return *node;
}

bool knows(TraceTrie& trie, const std::vector<std::uint64_t>& words) {
  TraceNode* node = &trie.root();
  for (const std::uint64_t word : words) {
    node = trie.find(*node, key(word).view());
    if (node == nullptr) return false;
  }
  return true;
}

TEST(TraceTrie, ComparesKeysInFullThoughTheirHashesAreEqual) {
  TraceTrie trie(kPlenty);
  const Key keys[] = {{{1, 2, 3}, {0, 1}},    {{1, 2, 4}, {0, 1}},    {{1, 2}, {0, 1}},
                      {{1, 2, 3, 0}, {0, 1}}, {{1, 2, 3}, {0, 0}},    {{1, 2, 3}, {0}},
                      {{1, 2, 3}, {}},        {{1, 2, 3}, {0, 1, 0}}, {{1, 2, 3, 256}, {}}};
  std::vector<TraceNode*> nodes;
  for (const Key& key : keys) {
    EXPECT_EQ(trie.find(trie.root(), key.view()), nullptr);
    nodes.push_back(&trie.insert(trie.root(), key.view(), 1));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(trie.find(trie.root(), keys[i].view()), nodes[i]) << i;
    EXPECT_EQ(trie.root().recent, nodes[i]) << "the child found last is tried first";
    EXPECT_TRUE(nodes[i]->same_step(keys[i].step, keys[i].hash));
  }
}

TEST(TraceTrie, FindsEachOfManyChildren) {
  TraceTrie trie(kPlenty);
  std::map<std::uint64_t, TraceNode*> nodes;
  for (std::uint64_t word = 0; word < 500; ++word) {
    nodes[word] = &trie.insert(trie.root(), key(word).view(), 0);
    for (const std::uint64_t other : {std::uint64_t{0}, word / 2, word}) {
      EXPECT_EQ(trie.find(trie.root(), key(other).view()), nodes[other]);
    }
    EXPECT_EQ(trie.find(trie.root(), key(word + 1).view()), nullptr);
  }
  EXPECT_EQ(trie.root().child_count, 500U);
  EXPECT_EQ(nodes[499]->depth, 1U);
}

TEST(TraceTrie, ForgetsTheLeastRecentlyLaunchedBranchAndTellsIt) {
  TraceTrie trie(kPlenty);
  launch(trie, {1, 2, 3});
  const std::size_t branch = trie.bytes();
  std::vector<std::uint64_t> forgotten;
  TraceTrie small(3 * branch);
  small.on_forget(&forgotten, [](void* list, TraceNode& node) noexcept {
    static_cast<std::vector<std::uint64_t>*>(list)->push_back(node.step()[0]);
  });
  launch(small, {1, 2, 3});
  launch(small, {4, 5, 6});
  launch(small, {1, 2, 7});
  launch(small, {1, 2, 3});  // younger than 4, 5, 6 now
  const NodeRef gone = small.ref(launch(small, {4, 5, 6}));
  launch(small, {1, 2, 3});
  launch(small, {8, 9, 10});
  EXPECT_TRUE(knows(small, {1, 2, 3}));
  launch(small, {11, 12, 13});
  EXPECT_FALSE(knows(small, {1, 2, 7}));
  EXPECT_TRUE(knows(small, {1, 2, 3}));
  EXPECT_EQ(gone.get(), nullptr);
  EXPECT_EQ(forgotten, (std::vector<std::uint64_t>{7, 6, 5, 4}));
  EXPECT_LE(small.bytes(), small.budget());
}

TEST(TraceTrie, ForgetsAnOldEndWithItsLastChild) {
  TraceTrie trie(kPlenty);
  launch(trie, {1, 2, 3});
  TraceTrie small(trie.bytes());
  launch(small, {1});
  launch(small, {1, 2, 3});
  launch(small, {4, 5, 6});  // 1 is the oldest but has children: all of 3, 2, 1 go, from the leaf
  EXPECT_TRUE(knows(small, {4, 5, 6}));
  EXPECT_EQ(small.size(), 3U);
}

TEST(TraceTrie, KeepsPinnedNodesAndWhatIsAboveThem) {
  TraceTrie trie(1);  // everything is too much
  TraceNode& end = launch(trie, {1, 2, 3});
  trie.pin(end);
  launch(trie, {4, 5});
  EXPECT_TRUE(knows(trie, {1, 2, 3}));
  launch(trie, {6, 7});
  EXPECT_FALSE(knows(trie, {4, 5}));
  trie.unpin(end);
  launch(trie, {8, 9});
  EXPECT_FALSE(knows(trie, {1}));
  EXPECT_EQ(trie.size(), 2U) << "only the path being made";
}

TEST(TraceTrie, ForgetsAPinnedEndLaterIfItLostItsChildrenMeanwhile) {
  TraceTrie trie(1);
  TraceNode& end = launch(trie, {1});
  trie.pin(end);
  launch(trie, {1, 2});
  launch(trie, {3});  // forgets 2; 1 is pinned
  ASSERT_TRUE(knows(trie, {1}));
  trie.unpin(end);
  launch(trie, {4});
  EXPECT_FALSE(knows(trie, {1}));
  EXPECT_EQ(trie.size(), 1U);
}

TEST(TraceTrie, CountsWhatOwnersKeep) {
  TraceTrie trie(100000);
  trie.charge(launch(trie, {1}), 90000);
  launch(trie, {2});
  EXPECT_TRUE(knows(trie, {1}));
  trie.charge(launch(trie, {2}), 50000);
  launch(trie, {3});
  EXPECT_FALSE(knows(trie, {1}));
  EXPECT_TRUE(knows(trie, {2}));
  trie.charge(launch(trie, {2}), 10);
  EXPECT_LT(trie.bytes(), 2000U);
}

TEST(TraceTrie, TellsTheOwnerOfEveryNodeInTheEnd) {
  std::size_t told = 0;
  {
    TraceTrie trie(kPlenty);
    trie.on_forget(&told, [](void* count, TraceNode&) noexcept { ++*static_cast<std::size_t*>(count); });
    for (std::uint64_t i = 0; i < 1000; ++i) launch(trie, {i % 10, i, i + 1});
  }
  EXPECT_EQ(told, 10U + 1000U + 1000U);
}

TEST(TraceTrie, NamesTheChildThatSharesMostWithAKey) {
  TraceTrie trie(kPlenty);
  EXPECT_EQ(trie.nearest(trie.root(), key(1).view()), nullptr);
  trie.insert(trie.root(), Key{{1, 5, 5}, {0}}.view(), 0);
  TraceNode& near = trie.insert(trie.root(), Key{{1, 2, 5}, {0}}.view(), 0);
  trie.insert(trie.root(), Key{{2, 2, 3}, {0}}.view(), 0);
  EXPECT_EQ(trie.nearest(trie.root(), Key{{1, 2, 3}, {0}}.view()), &near);
  TraceNode& nearer = trie.insert(trie.root(), Key{{1, 2, 3}, {0, 1}}.view(), 0);
  EXPECT_EQ(trie.nearest(trie.root(), Key{{1, 2, 3}, {0, 0}}.view()), &nearer);
}

TEST(TraceTrie, StaysInsideItsBudgetWithAMillionDistinctTraces) {
#ifdef AEE_EQUAL_HASHES
  constexpr std::uint64_t kTraces = 10000, kStarts = 200;  // every child is compared with every other one
#else
  constexpr std::uint64_t kTraces = 1000000, kStarts = 20000;
#endif
  TraceTrie trie(std::size_t{4} << 20);
  for (std::uint64_t i = 0; i < kTraces; ++i) {
    launch(trie, {i % kStarts, i, i + 1, i % 7}, ~std::uint64_t{0});
    ASSERT_LE(trie.bytes(), trie.budget());
  }
  EXPECT_GT(trie.forgotten(), kTraces);
}

}  // namespace
}  // namespace aee
