#include "core/base/metrics.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace aee {
namespace {

TEST(Counter, IsExactUnderManyThreads) {
  Counter counter;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&counter] {
        for (int i = 0; i < 10000; ++i) counter.add();
      });
    }
  }
  EXPECT_EQ(counter.value(), 80000U);
}

TEST(Metrics, SnapshotFollowsTheTables) {
  Metrics metrics;
  metrics.ops_recorded.add(3);
  metrics.cut(CutReason::kShutdown);
  const auto rows = metrics.snapshot();
  EXPECT_EQ(rows.front(), std::make_pair(std::string_view("ops_recorded"), std::uint64_t{3}));
  EXPECT_EQ(rows.back(), std::make_pair(std::string_view("cut_shutdown"), std::uint64_t{1}));
}

TEST(Metrics, ResetClearsEveryRow) {
  Metrics metrics;
  metrics.syncs.add();
  metrics.cut(CutReason::kBudget);
  metrics.reset();
  for (const auto& [name, value] : metrics.snapshot()) EXPECT_EQ(value, 0U) << name;
}

TEST(Metrics, TableExplainsEveryRowOnce) {
  const auto rows = Metrics().snapshot();
  const auto table = metrics_table();
  ASSERT_EQ(rows.size(), table.size());
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].first, table[i].first);
    EXPECT_FALSE(table[i].second.empty()) << table[i].first;
    EXPECT_TRUE(names.insert(table[i].first).second) << table[i].first;
  }
}

TEST(CutReason, RowsFollowTheEnumeration) {
  EXPECT_EQ(info(CutReason::kOpByOp).counter, "cut_op_by_op");
  EXPECT_EQ(info(CutReason::kShutdown).counter, "cut_shutdown");
  EXPECT_EQ(kCutReasonCount, std::size(kCutReasons));
}

}  // namespace
}  // namespace aee
