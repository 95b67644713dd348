#include "bindings/torch/composites_host.h"

#include <ATen/Functions.h>
#include <ATen/NestedTensorImpl.h>

namespace aee {
namespace {

using at::Tensor;
using c10::IValue;

Tensor to_host(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return tensor;
  if (!tensor.is_nested()) return tensor.to(at::kCPU);
  const at::native::NestedTensorImpl* impl = at::native::get_nested_tensor_impl(tensor);
  return at::_nested_view_from_buffer(impl->get_buffer().to(at::kCPU), impl->get_nested_sizes(),
                                      impl->get_nested_strides(), impl->get_storage_offsets());
}

IValue to_host(const IValue& value) {
  if (value.isTensor()) return to_host(value.toTensor());
  if (!value.isTensorList()) return value;
  c10::List<Tensor> list;
  for (const Tensor& tensor : value.toTensorVector()) list.push_back(to_host(tensor));
  return list;
}

Tensor to_device(const Tensor& tensor, at::Device device) {
  if (!tensor.defined()) return tensor;
  if (!tensor.is_nested()) return tensor.to(device);
  const at::native::NestedTensorImpl* impl = at::native::get_nested_tensor_impl(tensor);
  return at::detail::make_tensor<at::native::NestedTensorImpl>(impl->get_buffer().to(device), impl->get_nested_sizes(),
                                                               impl->get_nested_strides(), impl->get_storage_offsets());
}

}  // namespace

void run_on_host(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowAutograd below;
  const std::size_t base = stack->size() - handle.schema().arguments().size();
  const at::Device device = (*stack)[base].toTensor().device();
  for (std::size_t i = base; i < stack->size(); ++i) (*stack)[i] = to_host((*stack)[i]);
  handle.callBoxed(stack);
  for (std::size_t i = base; i < stack->size(); ++i) {
    if ((*stack)[i].isTensor()) (*stack)[i] = to_device((*stack)[i].toTensor(), device);
  }
}

}  // namespace aee
