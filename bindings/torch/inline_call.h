// Inline calls: an operator that runs at the call, on CPU tensors over device memory: first sightings, operators whose
// results depend on values, arguments that cannot be recorded. Exact by construction: it is the CPU's own call, with
// its errors and warnings raised on the spot.
#pragma once

#include <ATen/core/stack.h>

#include "bindings/torch/record.h"

namespace aee {

/// Runs the frame's operator on the arguments at the end of `stack` and replaces them by its results. Waits for the
/// work that the operands need, no more. If the step was recordable, what the op did is remembered. `told`: what its
/// shape function says that it gives, empty if there is none.
void call_inline(RecordFrame& frame, torch::jit::Stack& stack, const std::vector<ResultSpec>& told = {});

/// Runs `body` where kernels may run for a device: on this thread, or on the device's thread if the OpenMP pool may be
/// used. Exceptions come back; warnings go to the caller.
void run_for_device(DeviceContext& context, QueueId queue, const ThreadState& state, void (*body)(void*), void* data);

template <class Body>
void run_for_device(DeviceContext& context, QueueId queue, const ThreadState& state, Body&& body) {
  run_for_device(
      context, queue, state, [](void* data) { (*static_cast<std::remove_reference_t<Body>*>(data))(); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace aee
