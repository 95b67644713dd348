#include "bindings/torch/composites.h"

#include <ATen/Functions.h>
#include <ATen/Operators.h>

#include "bindings/torch/typed.h"

namespace aee {
namespace {

using at::Tensor;
using Recorded = Typed<at::_ops::histc>;

bool is_counting(const Tensor& self) { return at::isIntegralType(self.scalar_type(), /*includeBool=*/false); }

// The CPU has no integer histogram, but programs written for accelerators use one (it counts the tokens of experts) and
// convert to float on the CPU only. Doubles hold every bin border that integers can ask for.
Tensor histc(const Tensor& self, std::int64_t bins, const at::Scalar& min, const at::Scalar& max) {
  if (!is_counting(self)) return Recorded::record(self, bins, min, max);
  return at::histc(self.to(at::kDouble), bins, min, max).to(self.scalar_type());
}

}  // namespace

void install_histc(torch::Library& library) {
  Recorded::prepare();
  library.impl("histc", &histc);
}

}  // namespace aee
