// SegmentCut: a segment that is due, as the tracer tells it to the owner of the steps. Plain values,
// owned by nobody; `end` is valid until the tracer is used again.
#pragma once

#include <cstdint>

#include "cache/trace_node.h"
#include "core/base/cut_reason.h"

namespace aee {

/// Where a segment left the known traces.
struct TraceDifference {
  enum class Kind : std::uint8_t {
    kNone,     ///< nowhere: it was launched before
    kEnd,      ///< every step is known, but no segment ended here
    kBeyond,   ///< every known trace ends before `step`
    kWord,     ///< word `index` of the key of `step` differs from the nearest known one
    kOperand,  ///< operand `index` of `step` is another buffer
  };
  Kind kind = Kind::kNone;
  std::uint32_t step = 0;              ///< number in the segment
  std::uint32_t index = 0;             ///< of the first difference; the shorter length where one key begins the other
  std::uint64_t known = 0, found = 0;  ///< what stands there, 0 beyond the end of a key
};

/// A segment that is due: the oldest `ops` pending steps.
struct SegmentCut {
  std::uint32_t ops;
  CutReason reason;
  bool hit;        ///< a segment of the same steps was launched before
  TraceNode* end;  ///< its last step; valid until the next add() or cut(), or while pinned
  TraceDifference difference;
};

}  // namespace aee
