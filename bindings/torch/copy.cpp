#include "bindings/torch/copy.h"

#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "bindings/torch/inline_call.h"
#include "bindings/torch/typed.h"
#include "bindings/torch/warnings.h"
#include "lowering/aten/mirror.h"

namespace aee {
namespace {

using CopyOp = Typed<at::_ops::copy_>;

std::uint8_t flags_of(const at::Tensor& tensor) {
  return static_cast<std::uint8_t>((tensor.is_conj() ? kConjugate : 0) | (tensor.is_neg() ? kNegative : 0));
}

void record_copy(const at::Tensor& destination, const at::Tensor& source) {
  at::Tensor written = destination;
  CopyOp::record(written, source, /*non_blocking=*/false);
}

// Runs the CPU's copy at once; both sides must be idle or of the host.
void copy_now(DeviceContext& context, const at::Tensor& destination, const at::Tensor& source) {
  const ThreadState state = capture_thread_state();
  run_for_device(context, thread_context().queue[static_cast<std::size_t>(context.index())], state,
                 [&] { at::_ops::copy_::redispatch(kCpuKeys, const_cast<at::Tensor&>(destination), source, false); });
}

void host_to_device(const at::Tensor& source, const at::Tensor& destination) {
  DeviceContext& context = engine().device(destination.device().index());
  context.metrics().host_to_device_bytes.add(source.nbytes());
  Buffer& buffer = *buffer_of(*destination.unsafeGetTensorImpl());
  if (context.idle(buffer) && !buffer.failed()) {
    at::Tensor view = host_view(destination);
    copy_now(context, view, source);
    // Nobody uses the buffer: from now on its mirror lies like this tensor, which its operands will mostly be.
    if (view.nbytes() == buffer.bytes() && !view.is_conj() && !view.is_neg()) adopt(buffer, std::move(view));
    return;
  }
  const at::Tensor staged = at::empty_like(source, destination.options().dtype(source.scalar_type()));
  // Deterministic mode fills new memory: that must not come after the copy.
  context.wait_for(*buffer_of(*staged.unsafeGetTensorImpl()));
  copy_now(context, host_view(staged), source);
  record_copy(destination, staged);
}

void device_to_host(const at::Tensor& source, const at::Tensor& destination) {
  DeviceContext& context = engine().device(source.device().index());
  translate_errors([&] { synchronize_buffer(context, *buffer_of(*source.unsafeGetTensorImpl())); });
  emit_warnings();
  context.metrics().device_to_host_bytes.add(source.nbytes());
  copy_now(context, destination, host_view(source));
}

void device_to_device(const at::Tensor& source, const at::Tensor& destination) {
  Engine& the_engine = engine();
  DeviceContext& from = the_engine.device(source.device().index());
  DeviceContext& to = the_engine.device(destination.device().index());
  Buffer& read = *buffer_of(*source.unsafeGetTensorImpl());
  Buffer& written = *buffer_of(*destination.unsafeGetTensorImpl());
  from.wait_for(read);
  from.check(read);
  to.wait_for(written);
  written.clear_failure();
  copy_now(to, host_view(destination), host_view(source));
}

}  // namespace

at::Tensor host_view(const at::Tensor& tensor) {
  const StoragePlace place = place_of(*tensor.storage().unsafeGetStorageImpl());
  const std::int64_t shift =
      place.byte_offset == 0 ? 0 : place.byte_offset / static_cast<std::int64_t>(tensor.element_size());
  return make_cpu_view(mirror_storage(*place.buffer), tensor.scalar_type(), tensor.sizes(), tensor.strides(),
                       tensor.storage_offset() + shift, flags_of(tensor));
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& destination, bool /*non_blocking*/) {
  if (source.is_same(destination)) return destination;
  if (destination.numel() == 0 && source.numel() == 0) {
    // Nothing to copy, but shapes that do not fit must raise, with eager's text.
    at::empty(destination.sizes(), at::kByte).copy_(at::empty(source.sizes(), at::kByte));
    return destination;
  }
  if (!source.is_privateuseone()) {
    TORCH_CHECK(source.is_cpu(), "neuron: cannot copy from a tensor on ", source.device());
    host_to_device(source, destination);
  } else if (!destination.is_privateuseone()) {
    TORCH_CHECK(destination.is_cpu(), "neuron: cannot copy to a tensor on ", destination.device());
    device_to_host(source, destination);
  } else if (source.device() == destination.device()) {
    record_copy(destination, source);
  } else {
    device_to_device(source, destination);
  }
  return destination;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& destination) {
  if (destination.sizes() != source.sizes()) const_cast<at::Tensor&>(destination).resize_(source.sizes());
  return copy_from(source, destination, false);
}

at::Scalar local_scalar(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.numel() == 1, "a Tensor with ", tensor.numel(), " elements cannot be converted to Scalar");
  DeviceContext& context = engine().device(tensor.device().index());
  Buffer& buffer = *buffer_of(*tensor.unsafeGetTensorImpl());
  translate_errors([&] { synchronize_buffer(context, buffer); });
  emit_warnings();
  context.metrics().device_to_host_bytes.add(tensor.element_size());
  return at::native::_local_scalar_dense_cpu(host_view(tensor));
}

void copy_bytes(Buffer& destination, Buffer& source, std::int64_t source_offset, std::size_t bytes) {
  if (bytes == 0) return;
  const auto count = static_cast<std::int64_t>(bytes);
  const at::Tensor to = make_tensor(make_storage(BufferRef::share(&destination)), at::kByte, {count}, {}, 0);
  const at::Tensor from = make_tensor(make_storage(BufferRef::share(&source)), at::kByte, {count}, {}, source_offset);
  record_copy(to, from);
}

}  // namespace aee
