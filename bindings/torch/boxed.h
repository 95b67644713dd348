// The boxed recorder: every operator that the CPU has and that no typed or native kernel takes. Same recording as the
// typed kernels, with arguments from an IValue stack.
#pragma once

#include <ATen/core/stack.h>
#include <torch/library.h>

#include "lowering/aten/aten_op.h"

namespace aee {

/// Records one call; the arguments at the end of the stack become results.
void record_boxed(const AtenOp& op, torch::jit::Stack* stack);

/// Registers the boxed recorder for every operator of PyTorch with a CPU kernel and no kernel here yet.
void install_boxed(torch::Library& library);

/// The device's fallback: operators that were registered after us, of any namespace.
void record_unknown(const c10::OperatorHandle& handle, torch::jit::Stack* stack);

}  // namespace aee
