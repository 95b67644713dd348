// run_on_host: the last resort of the composites. It runs an operator at the call, on copies of its operands in host
// memory, and copies the results to the device: for what the recorder cannot carry (nested tensors, kernels that read
// the caller's autocast state). Waits for the operands; not differentiable; keeps nothing.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace aee {

/// A boxed kernel. The operator's first argument is a tensor of the device; it writes none of its arguments.
void run_on_host(const c10::OperatorHandle& handle, torch::jit::Stack* stack);

}  // namespace aee
