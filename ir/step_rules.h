// The grammar of a step, one rule a line; see step_rules.cpp. Run in debug builds for every recorded step, and in
// tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/step.h"

namespace aee {

/// What is checked: a step as it is recorded.
struct StepFacts {
  const Op& op;
  std::span<const std::uint64_t> key;
  std::size_t params;  ///< number of words
  std::span<const Slot> slots;
};

/// The first rule that the step breaks, as a sentence; null if it keeps them all.
[[nodiscard]] const char* broken_rule(const StepFacts& step);

}  // namespace aee
