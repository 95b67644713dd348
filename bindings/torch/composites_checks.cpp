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
// quantile is rare and heavy: it waits, as on the CPU. one_hot is not: its checks are recorded as steps of their own,
// nobody waits, and the error has the CPU's text at the next sync point. What follows must not fail a second time, for
// a reason that the CPU would not name: it gets clamped classes.

bool has_values(const Tensor& tensor) {
  return tensor.is_privateuseone() && !tensor.key_set().has(c10::DispatchKey::Python) && tensor.numel() != 0;
}

void expect_fractions(const Tensor& self, const Tensor& q) {
  // What is wrong otherwise raises in ATen's own checks, which come first on the CPU.
  if (!has_values(self) || !has_values(q) || q.scalar_type() != self.scalar_type() || q.dim() > 1) return;
  TORCH_CHECK(q.detach().ge(0).logical_and_(q.detach().le(1)).all().item<bool>(),
              "quantile() q values must be in the range [0, 1]");
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
  if (!has_values(self) || self.scalar_type() != at::kLong) return at::native::one_hot(self, num_classes);
  const Tensor least = self.min();
  if (num_classes < -1 || num_classes == 0) {
    // No class is smaller: this raises one of the two, at the call, where ATen's own check would raise a third.
    TORCH_CHECK(least.item<std::int64_t>() >= 0, kNegative);
    TORCH_CHECK(false, kTooLarge);
  }
  at::_assert_async(least.ge(0), kNegative);
  if (num_classes == -1) return at::native::one_hot(self.clamp_min(0), num_classes);
  at::_assert_async(self.max().lt(num_classes).logical_or_(least.lt(0)), kTooLarge);
  return at::native::one_hot(self.clamp(0, num_classes - 1), num_classes);
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
