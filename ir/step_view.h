// StepView: the key of a step taken apart again, for printing and for checking it. Not on the hit path.
// Plain values that refer to the key's words; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/step.h"

namespace aee {

/// One argument, or an element of a list, in the order of the key.
struct StepArgument {
  Head head;
  std::span<const std::uint64_t> words;  ///< what follows the head: sizes and strides, a class, or values
};

/// How an operand lies to the one that touched its buffer first, where one of them is written.
struct StepRelation {
  std::uint32_t operand;  ///< number among the device tensors
  std::int64_t distance;  ///< elements
};

struct StepView {
  std::uint64_t op_id = 0, state = 0;
  std::vector<StepArgument> arguments;
  std::vector<StepRelation> relations;
  std::size_t params = 0;  ///< words of params that the arguments need
};

/// Whether the argument stands for a buffer: its head counts slots.
[[nodiscard]] inline bool names_slot(const StepArgument& argument) noexcept {
  return argument.head.tag == Tag::kTensor || argument.head.tag == Tag::kGenerator;
}
/// Whether it is written; a draw writes its generator. Of one that names a slot.
[[nodiscard]] inline bool writes_slot(const StepArgument& argument) noexcept {
  return argument.head.tag == Tag::kGenerator || (argument.head.flags & kWritten) != 0;
}
/// How many slots the arguments name.
[[nodiscard]] std::size_t slot_count(const StepView& view) noexcept;

/// Takes the key of a step of `op` apart; empty if it is not one.
[[nodiscard]] std::optional<StepView> view_step(const Op& op, std::span<const std::uint64_t> key);

/// Appends what the step shares with those that differ from it only in sizes and strides of operands: its key without
/// them. `view` is of `key`.
void append_structure(const StepView& view, std::span<const std::uint64_t> key, std::vector<std::uint64_t>& words);

}  // namespace aee
