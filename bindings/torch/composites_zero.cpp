#include "bindings/torch/composites.h"

#include <ATen/Operators.h>
#include <ATen/ops/_efficientzerotensor.h>

#include "bindings/torch/typed.h"

namespace aee {
namespace {

using at::Tensor;

// Forward-mode differentiation stands in tensors without memory for tangents that are zero. PyTorch answers for them
// before a kernel is asked, but for these two operators, whose kernels look themselves.
template <class Op>
Tensor product(const Tensor& self, const Tensor& other) {
  if (self._is_zerotensor() || other._is_zerotensor()) [[unlikely]] {
    return at::_efficientzerotensor(at::IntArrayRef(), self.options());
  }
  return Typed<Op>::record(self, other);
}

}  // namespace

void install_zero_products(torch::Library& library) {
  Typed<at::_ops::dot>::prepare();
  Typed<at::_ops::vdot>::prepare();
  library.impl("dot", &product<at::_ops::dot>);
  library.impl("vdot", &product<at::_ops::vdot>);
}

}  // namespace aee
