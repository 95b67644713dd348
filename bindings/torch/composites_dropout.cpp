#include "bindings/torch/composites.h"

#include <ATen/Functions.h>

namespace aee {
namespace {

using at::Tensor;

Tensor dropout(const Tensor& input, double p, bool train) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || input.sym_numel() == 0) return input;
  if (p == 1) return input.mul(at::zeros({}, input.options()));
  Tensor noise = at::empty_like(input);
  noise.bernoulli_(1 - p).div_(1 - p);
  return input.mul(noise);
}

}  // namespace

void install_dropout(torch::Library& library) { library.impl("dropout", &dropout); }

}  // namespace aee
