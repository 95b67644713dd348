// nn.TransformerEncoder in inference, with a padding mask: on the CPU it packs the batch into a nested tensor, runs the
// layers on that and pads the result, which gives other numbers than layers that see the padding. This file carries
// such tensors between those three operators; for everything else nested tensors are refused (composites_refusals.cpp).
//
// The operators run at the call, on copies in host memory.
#include "bindings/torch/composites.h"

#include <ATen/Functions.h>
#include <ATen/NestedTensorImpl.h>

namespace aee {
namespace {

using at::Tensor;

Tensor to_host(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return tensor;
  if (!tensor.is_nested()) return tensor.to(at::kCPU);
  const at::native::NestedTensorImpl* impl = at::native::get_nested_tensor_impl(tensor);
  return at::_nested_view_from_buffer(impl->get_buffer().to(at::kCPU), impl->get_nested_sizes(),
                                      impl->get_nested_strides(), impl->get_storage_offsets());
}

Tensor to_device(const Tensor& tensor, at::Device device) {
  if (!tensor.defined()) return tensor;
  if (!tensor.is_nested()) return tensor.to(device);
  const at::native::NestedTensorImpl* impl = at::native::get_nested_tensor_impl(tensor);
  return at::detail::make_tensor<at::native::NestedTensorImpl>(impl->get_buffer().to(device), impl->get_nested_sizes(),
                                                               impl->get_nested_strides(), impl->get_storage_offsets());
}

// The first argument of each operator here is a tensor of the device.
void run_on_host(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowAutograd below;
  const std::size_t base = stack->size() - handle.schema().arguments().size();
  const at::Device device = (*stack)[base].toTensor().device();
  for (std::size_t i = base; i < stack->size(); ++i) {
    if ((*stack)[i].isTensor()) (*stack)[i] = to_host((*stack)[i].toTensor());
  }
  handle.callBoxed(stack);
  for (std::size_t i = base; i < stack->size(); ++i) {
    if ((*stack)[i].isTensor()) (*stack)[i] = to_device((*stack)[i].toTensor(), device);
  }
}

}  // namespace

void install_nested_encoder_input(torch::Library& library) {
  library.impl("_nested_tensor_from_mask", torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

void install_nested_encoder(torch::Library& library) {
  library.impl("_transformer_encoder_layer_fwd", torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
  library.impl("to_padded_tensor", torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

}  // namespace aee
