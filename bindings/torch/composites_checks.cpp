#include "bindings/torch/composites.h"

#include <ATen/Functions.h>
#include <ATen/ops/nanquantile_native.h>
#include <ATen/ops/one_hot_native.h>
#include <ATen/ops/quantile_native.h>

namespace aee {
namespace {

using at::Tensor;
using Dim = std::optional<std::int64_t>;

// Note [Checks of values]
// On the CPU these operators look at values and raise; on other devices ATen leaves the check out, so as not to wait.
// Here the check is recorded as a step of its own: nobody waits, and the error has the CPU's text at the next sync
// point.

bool has_values(const Tensor& tensor) {
  return tensor.is_privateuseone() && !tensor.key_set().has(c10::DispatchKey::Python) && tensor.numel() != 0;
}

void expect_fractions(const Tensor& self, const Tensor& q) {
  // What is wrong otherwise raises in ATen's own checks, at the call.
  if (!has_values(self) || !has_values(q) || q.scalar_type() != self.scalar_type()) return;
  const Tensor fits = q.detach().ge(0).logical_and_(q.detach().le(1)).all();
  at::_assert_async(fits, "quantile() q values must be in the range [0, 1]");
}

Tensor quantile(const Tensor& self, const Tensor& q, Dim dim, bool keepdim, c10::string_view interpolation) {
  expect_fractions(self, q);
  return at::native::quantile(self, q, dim, keepdim, interpolation);
}

Tensor& quantile_out(const Tensor& self, const Tensor& q, Dim dim, bool keepdim, c10::string_view interpolation,
                     Tensor& out) {
  expect_fractions(self, q);
  return at::native::quantile_out(self, q, dim, keepdim, interpolation, out);
}

Tensor nanquantile(const Tensor& self, const Tensor& q, Dim dim, bool keepdim, c10::string_view interpolation) {
  expect_fractions(self, q);
  return at::native::nanquantile(self, q, dim, keepdim, interpolation);
}

Tensor& nanquantile_out(const Tensor& self, const Tensor& q, Dim dim, bool keepdim, c10::string_view interpolation,
                        Tensor& out) {
  expect_fractions(self, q);
  return at::native::nanquantile_out(self, q, dim, keepdim, interpolation, out);
}

Tensor one_hot(const Tensor& self, std::int64_t num_classes) {
  constexpr const char* kNegative = "Class values must be non-negative.";
  constexpr const char* kTooLarge = "Class values must be smaller than num_classes.";
  if (has_values(self) && self.scalar_type() == at::kLong) {
    if (num_classes < -1 || num_classes == 0) {
      // No class is smaller: this raises one of the two, at the call, where ATen's own check would raise a third.
      TORCH_CHECK(self.min().item<std::int64_t>() >= 0, kNegative);
      TORCH_CHECK(false, kTooLarge);
    }
    at::_assert_async(self.min().ge(0), kNegative);
    if (num_classes != -1) at::_assert_async(self.max().lt(num_classes), kTooLarge);
  }
  return at::native::one_hot(self, num_classes);
}

}  // namespace

void install_value_checks(torch::Library& library) {
  library.impl("quantile", &quantile);
  library.impl("quantile.out", &quantile_out);
  library.impl("nanquantile", &nanquantile);
  library.impl("nanquantile.out", &nanquantile_out);
  library.impl("one_hot", &one_hot);
}

}  // namespace aee
