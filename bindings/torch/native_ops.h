// Operators that are metadata or memory, not computation: they have kernels of their own and never reach the recorder.
// Called by PyTorch's dispatcher on any thread.
#pragma once

#include <torch/library.h>

namespace aee {

/// Factories, views, storage operators and transfers.
void install_native(torch::Library& library);

}  // namespace aee
