// Registration with PyTorch's dispatcher, in one place.
#include <torch/library.h>

#include "bindings/torch/boxed.h"
#include "bindings/torch/composites.h"
#include "bindings/torch/native_ops.h"
#include "bindings/torch/typed.h"

namespace aee {
namespace {

void refuse(const c10::OperatorHandle& handle, c10::DispatchKeySet keys, torch::jit::Stack* /*stack*/) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Could not run '", handle.operator_name(), "' with ", keys.highestPriorityTypeId(),
                              " tensors: the device neuron has dense tensors only; use .to_dense() or the CPU");
}

void install_composites(torch::Library& library) {
  install_dropout(library);
  install_lstm(library);
  install_recurrent(library);
  install_value_checks(library);
  install_refusals(library);
}

}  // namespace
}  // namespace aee

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  aee::install_composites(library);
  aee::install_group_norm(library);
  aee::install_pool(library);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  aee::install_composites(library);
  aee::install_attention(library);
  aee::install_histc(library);
  aee::install_zero_products(library);
  aee::install_nested_encoder_input(library);
  aee::install_native(library);
  aee::install_typed(library);
  aee::install_boxed(library);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&aee::record_unknown>());
}

// Copies of conjugate and negative views must reach the device with their bits, else they copy themselves forever.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
  library.impl("_has_compatible_shallow_copy_type", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
  library.impl("_has_compatible_shallow_copy_type", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&aee::refuse>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&aee::refuse>());
}
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&aee::refuse>());
}
TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&aee::refuse>());
}
TORCH_LIBRARY_IMPL(aten, NestedTensorPrivateUse1, library) { aee::install_nested_encoder(library); }
TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, library) { aee::install_sparse_refusals(library); }
