// Attention: ATen's scaled_dot_product_attention asks a table by device for its choice, and for every device but CUDA
// "flash" means the kernel that the CPU uses. With the CPU's own chooser in the table the whole operator takes the
// CPU's path: forward, backward, in functorch's transforms and on fake tensors. The chooser reads sizes, strides,
// dtypes, requires_grad and global switches, never values.
#include "bindings/torch/composites.h"

#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_fused_sdp_choice_native.h>

// The macro names a type of this namespace.
namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &_fused_sdp_choice_cpp)

}  // namespace at::native

namespace aee {

void install_attention(torch::Library& library) {
  library.impl("_fused_sdp_choice", &at::native::_fused_sdp_choice_cpp);
}

}  // namespace aee
