// Printing steps: one line of text a step, or a graph of a segment for Graphviz. For reports, tests and tools; not on
// the hit path. Values in, text out: nothing is kept. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/step.h"

namespace aee {

/// A step inside a segment.
struct PrintedStep {
  const Op* op;
  std::vector<std::uint64_t> key;
  std::vector<std::uint32_t>
      slots;  ///< numbers in the segment: of the step's slots in their order, then of its results
};

/// "%2 = aten::add.Tensor(%0 f32[4, 4], %1 f32[4, 4], int class 0x2)"; written operands have a "!".
[[nodiscard]] std::string print_step(const PrintedStep& step);
/// A digraph in Graphviz' language: a box a step, an edge from the last step that wrote a slot to each that uses it.
[[nodiscard]] std::string print_graph(std::span<const PrintedStep> steps);

}  // namespace aee
