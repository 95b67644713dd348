// Warnings that kernels raised on device threads, given to Python at a sync point. They name the user's line that
// waits, as eager's name the user's line that calls; not a line of the package, nor of PyTorch's Python code.
// Called through the hooks of bindings/torch/surface.h on the thread that waits, with or without the GIL.
#pragma once

#include <vector>

#include <c10/util/Exception.h>

namespace aee {

/// Emits warnings in order. Throws python_error at the first that the user made an error; the rest is dropped.
void emit_python_warnings(const std::vector<c10::Warning>& warnings);

}  // namespace aee
