// Steps taken apart, checked and printed.
#include "ir/step_view.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/step_print.h"
#include "ir/step_rules.h"

namespace aee {
namespace {

constexpr std::uint8_t kFloat = 6;

class StepViewTest : public testing::Test {
 protected:
  /// x.add_(y, alpha) on rows of one buffer.
  void write_add(const Op& op) {
    const std::int64_t sizes[] = {2, 3}, strides[] = {3, 1}, turned[] = {1, 2};
    writer_.begin(op, 7);
    writer_.tensor(&a_, {kFloat, kWritten, 2, 0, sizes, strides});
    writer_.tensor(&b_, {kFloat, 0, 2, 4, sizes, turned});
    writer_.tensor(&a_, {kFloat, 0, 2, 6, sizes, strides});
    writer_.scalar(Tag::kScalarInt, 5, 0, integer_class(5));
    writer_.finish();
  }
  [[nodiscard]] StepFacts facts(const Op& op) const {
    return {op, writer_.key(), writer_.params().size(), writer_.slots()};
  }

  const Op add_{"aten::add_.Tensor", 3, kScalarsAreData};
  StepWriter writer_;
  Buffer a_, b_;
};

TEST_F(StepViewTest, HasArgumentsParamsAndRelations) {
  write_add(add_);
  const std::optional<StepView> view = view_step(add_, writer_.key());
  ASSERT_TRUE(view);
  EXPECT_EQ(view->op_id, 3U);
  EXPECT_EQ(view->state, 7U);
  ASSERT_EQ(view->arguments.size(), 4U);
  EXPECT_EQ(view->arguments[1].words[3], 2U);
  EXPECT_EQ(view->params, 4U);
  ASSERT_EQ(view->relations.size(), 1U);
  EXPECT_EQ(view->relations[0].operand, 2U);
  EXPECT_EQ(view->relations[0].distance, 6);
}

TEST_F(StepViewTest, StructureLacksSizesAndStridesOnly) {
  const auto structure = [this](const Op& op, std::int64_t rows, std::uint8_t dtype, std::int64_t distance) {
    const std::int64_t sizes[] = {rows, 3}, strides[] = {3, 1};
    writer_.begin(op, 7);
    writer_.tensor(&a_, {dtype, kWritten, 2, 0, sizes, strides});
    writer_.tensor(&a_, {dtype, 0, 2, distance, sizes, strides});
    writer_.scalar(Tag::kScalarInt, 5, 0, integer_class(5));
    writer_.finish();
    std::vector<std::uint64_t> words;
    append_structure(*view_step(op, writer_.key()), writer_.key(), words);
    return words;
  };
  const Op by_value{"aten::add_.Tensor", 3, kPlain};
  EXPECT_EQ(structure(add_, 2, kFloat, 6), structure(add_, 5, kFloat, 6));
  EXPECT_NE(structure(add_, 2, kFloat, 6), structure(add_, 2, kFloat + 1, 6));
  EXPECT_NE(structure(add_, 2, kFloat, 6), structure(add_, 2, kFloat, 7));
  EXPECT_NE(structure(add_, 2, kFloat, 6), structure(by_value, 2, kFloat, 6));
}

TEST_F(StepViewTest, IsRefusedForWhatIsNoKey) {
  write_add(add_);
  const std::vector<std::uint64_t> key(writer_.key().begin(), writer_.key().end());
  for (std::size_t size = 0; size < key.size(); ++size) {
    const auto view = view_step(add_, std::span(key).first(size));
    EXPECT_TRUE(!view || view->arguments.size() < 4 || view->relations.empty()) << size;
  }
  std::vector<std::uint64_t> broken = key;
  broken[2] |= 0x80;  // a tag that does not exist
  EXPECT_FALSE(view_step(add_, broken));
}

TEST_F(StepViewTest, KeepsTheRules) {
  write_add(add_);
  EXPECT_EQ(broken_rule(facts(add_)), nullptr);
}

TEST_F(StepViewTest, ABrokenRuleIsNamed) {
  write_add(add_);
  const StepFacts whole = facts(add_);
  EXPECT_STREQ(broken_rule({add_, whole.key, 3, whole.slots}), "params are as many as the arguments need");
  const Op other{"aten::mul", 4, kScalarsAreData};
  EXPECT_STREQ(broken_rule(facts(other)), "a key begins with its op");
  std::vector<Slot> slots(whole.slots.begin(), whole.slots.end());
  slots[1].written = true;
  EXPECT_STREQ(broken_rule({add_, whole.key, whole.params, slots}), "a slot is written if an operand on it is");
  slots.push_back({&b_, false});
  EXPECT_STREQ(broken_rule({add_, whole.key, whole.params, slots}),
               "slots are numbered by first touch, and each is touched");
  std::vector<std::uint64_t> key(whole.key.begin(), whole.key.end());
  key[3] = static_cast<std::uint64_t>(-2);
  EXPECT_STREQ(broken_rule({add_, key, whole.params, whole.slots}), "sizes are not negative");
}

TEST_F(StepViewTest, IsPrintedAsALine) {
  write_add(add_);
  const PrintedStep step{&add_, {writer_.key().begin(), writer_.key().end()}, {4, 9}};
  EXPECT_EQ(print_step(step), "aten::add_.Tensor(%4! f32[2, 3], %9 f32[2, 3]/[1, 2], %4 f32[2, 3], scalar 0x3)");
}

TEST_F(StepViewTest, IsPrintedAsAGraphOfWritersAndReaders) {
  const Op relu{"aten::relu", 5, kPlain};
  const std::int64_t size = 4, stride = 1;
  writer_.begin(relu, 0);
  writer_.tensor(&a_, {kFloat, 0, 1, 0, &size, &stride});
  writer_.finish();
  const std::vector<std::uint64_t> key(writer_.key().begin(), writer_.key().end());
  const std::vector<PrintedStep> steps = {{&relu, key, {0, 1}}, {&relu, key, {1, 2}}, {&relu, key, {0, 3}}};
  const std::string graph = print_graph(steps);
  EXPECT_NE(graph.find("s0 [label=\"%1 = aten::relu(%0 f32[4])\"]"), std::string::npos) << graph;
  EXPECT_NE(graph.find("s0 -> s1 [label=\"%1\"]"), std::string::npos) << graph;
  EXPECT_EQ(graph.find("-> s2"), std::string::npos) << graph;
}

}  // namespace
}  // namespace aee
