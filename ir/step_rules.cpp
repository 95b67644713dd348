#include "ir/step_rules.h"

#include <algorithm>

#include "ir/step_view.h"

namespace aee {
namespace {

template <class Holds>
bool all(const StepView& view, Holds holds) {
  return std::all_of(view.arguments.begin(), view.arguments.end(), holds);
}

bool numbers_slots_by_first_touch(const StepFacts& step, const StepView& view) {
  std::size_t seen = 0;
  const bool in_order = all(view, [&seen](const StepArgument& argument) {
    if (!names_slot(argument)) return true;
    if (argument.head.count > seen) return false;
    seen += argument.head.count == seen ? 1 : 0;
    return true;
  });
  return in_order && seen == step.slots.size();
}

bool marks_written_slots(const StepFacts& step, const StepView& view) {
  for (std::size_t slot = 0; slot < step.slots.size(); ++slot) {
    const bool written = !all(view, [slot](const StepArgument& argument) {
      return !names_slot(argument) || argument.head.count != slot || !writes_slot(argument);
    });
    if (written != step.slots[slot].written) return false;
  }
  return true;
}

bool has_sizes(const StepArgument& argument) {
  if (argument.head.tag != Tag::kTensor) return true;
  const auto sizes = argument.words.first(argument.head.rank);
  return std::all_of(sizes.begin(), sizes.end(), [](auto size) { return static_cast<std::int64_t>(size) >= 0; });
}

struct Rule {
  const char* text;
  bool (*holds)(const StepFacts& step, const StepView& view);
};
constexpr Rule kRules[] = {
    {"a key begins with its op", [](const StepFacts& step, const StepView& view) { return view.op_id == step.op.id; }},
    {"params are as many as the arguments need",
     [](const StepFacts& step, const StepView& view) { return view.params == step.params; }},
    {"slots are numbered by first touch, and each is touched", numbers_slots_by_first_touch},
    {"a slot is written if an operand on it is", marks_written_slots},
    {"a slot has a buffer",
     [](const StepFacts& step, const StepView&) {
       return std::all_of(step.slots.begin(), step.slots.end(),
                          [](const Slot& slot) { return slot.buffer != nullptr; });
     }},
    {"sizes are not negative", [](const StepFacts&, const StepView& view) { return all(view, has_sizes); }},
    {"only tensors have a rank",
     [](const StepFacts&, const StepView& view) {
       return all(view, [](const StepArgument& one) { return one.head.tag == Tag::kTensor || one.head.rank == 0; });
     }},
    {"relations are between operands",
     [](const StepFacts&, const StepView& view) {
       const auto operands = std::count_if(view.arguments.begin(), view.arguments.end(),
                                           [](const StepArgument& one) { return one.head.tag == Tag::kTensor; });
       return std::all_of(view.relations.begin(), view.relations.end(),
                          [operands](const StepRelation& one) { return one.operand < operands; });
     }},
};

}  // namespace

const char* broken_rule(const StepFacts& step) {
  const std::optional<StepView> view = view_step(step.op, step.key);
  if (!view) return "a key can be taken apart";
  for (const Rule& rule : kRules) {
    if (!rule.holds(step, *view)) return rule.text;
  }
  return nullptr;
}

}  // namespace aee
