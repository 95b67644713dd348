// Pointwise kernels: structured ops of ATen over a TensorIterator, with the iterator built once for a key.
//
// Building the iterator (types, broadcast, strides, overlap, the result's header) costs several times what a small
// kernel does. It depends on nothing that a key leaves open, so it is built by ATen's own shape function over tensors
// that stand for the operands, and each run only moves these to other memory before it calls ATen's own kernel.
#pragma once

#include <span>
#include <string_view>

#include "cache/layout_memo.h"
#include "lowering/aten/aten_op.h"
#include "lowering/aten/step_run.h"

namespace aee {

/// Runs the steps of one key. One thread at a time, in a CpuScope.
class PreparedKernel : public Prepared {
 public:
  enum class Outcome : std::uint8_t {
    kRan,      ///< the step ran and its result is the content of `fresh`
    kRanLast,  ///< likewise, but the kernel changed its iterator: not to be used again
    kUnfit,    ///< nothing was run: the steps of this key must be invoked
  };
  /// `fresh`: buffers of the step's new results. Throws what the kernel throws.
  virtual Outcome run(StepRun& run, const LayoutEntry& layout, std::span<Buffer* const> fresh) = 0;
};

/// What makes the kernel of an operator by its full name, or null if it has none of this kind.
[[nodiscard]] Prepare pointwise_kernel(std::string_view op_name);

}  // namespace aee
