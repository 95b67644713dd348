// StepRun: one step while it runs on CPU tensors. Reads the recorded arguments, hands them to a kernel of ATen, and
// takes its results. Lives on the stack of the thread that runs the launch.
//
// Typed ops decode into C++ arguments (decode.h) and boxed ones into an IValue stack; both fill `results`.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "cache/layout_memo.h"
#include "core/runtime/launch.h"
#include "ir/step.h"
#include "lowering/aten/aten_op.h"
#include "lowering/aten/state.h"

namespace aee {

/// What a launch of one step carries, followed by Buffer* slots[slot_count] and the step's params.
struct StepPayload {
  const AtenOp* op;
  const LayoutEntry* layout;  ///< key and predicted results; owned by the recorder's memo, which outlives the launch
  ThreadState state;
  std::uint64_t source;  ///< id of the Python source line, 0 if unknown
  std::uint32_t slot_count;
  std::uint32_t param_count;

  [[nodiscard]] Buffer** slots() noexcept { return reinterpret_cast<Buffer**>(this + 1); }
  [[nodiscard]] const std::uint64_t* params() noexcept {
    return reinterpret_cast<const std::uint64_t*>(slots() + slot_count);
  }
};

struct StepRun {
  const AtenOp& op;
  std::span<const std::uint64_t> key;
  StepReader reader;
  Buffer* const* slots;
  c10::SmallVector<at::Tensor, 4> results;  ///< tensors returned, flat; in-place ops leave it empty

  /// The operand whose head was just read. `head`: a kTensor.
  [[nodiscard]] Placement placement(const Head& head) noexcept {
    const auto offset = static_cast<std::int64_t>(reader.param());
    const auto* sizes = reinterpret_cast<const std::int64_t*>(reader.skip(2 * std::size_t{head.rank}));
    return {head.dtype, head.flags, head.rank, offset, sizes, sizes + head.rank};
  }
};

/// Launch::run of a step: runs it and gives its results to the launch's first `layout->fresh` buffers.
void run_step(Launch& launch);
/// Launch::describe of a step: the op's name and, where known, the source line.
[[nodiscard]] std::string describe_step(const Launch& launch);

/// Invoke of every op without a typed kernel: decodes to a stack and calls the operator's CPU kernel.
void invoke_boxed(StepRun& run);

/// Text of a source line id; set by the layer that records them. May be null.
using DescribeSource = std::string (*)(std::uint64_t source);
void set_source_describer(DescribeSource describe) noexcept;
[[nodiscard]] std::string source_text(std::uint64_t source);

/// The keys by which steps call the CPU's kernels.
inline constexpr c10::DispatchKeySet kCpuKeys{c10::DispatchKey::CPU};

}  // namespace aee
