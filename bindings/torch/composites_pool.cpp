#include "bindings/torch/composites.h"

#include <ATen/Functions.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/max_pool1d_native.h>

namespace aee {
namespace {

// Without gradients the CPU has a kernel that makes no indices, and takes fewer types; no operator stands for it, so
// the boxed recorder runs the whole composite (boxed.cpp). ATen's composite, called on a tensor that is not the CPU's,
// is the other half of the CPU's choice.
at::Tensor max_pool1d(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
                      at::IntArrayRef dilation, bool ceil_mode) {
  const bool needs_indices = (self.requires_grad() && at::GradMode::is_enabled()) ||
                             self._fw_grad(/*level=*/0).defined() || at::isTensorSubclassLike(self);
  if (needs_indices) return at::native::max_pool1d(self, kernel, stride, padding, dilation, ceil_mode);
  const at::AutoDispatchBelowADInplaceOrView below;
  return at::max_pool1d(self, kernel, stride, padding, dilation, ceil_mode);
}

}  // namespace

void install_pool(torch::Library& library) { library.impl("max_pool1d", &max_pool1d); }

}  // namespace aee
