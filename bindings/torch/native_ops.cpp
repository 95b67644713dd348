#include "bindings/torch/native_ops.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/fill.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>

#include "bindings/torch/copy.h"
#include "bindings/torch/default_engine.h"
#include "bindings/torch/resize.h"
#include "lowering/aten/handle.h"

namespace aee {
namespace {

using at::Tensor;

int device_index(std::optional<at::Device> device) {
  const int index = device.has_value() && device->has_index() ? device->index() : thread_context().device;
  const int count = engine().device_count();
  TORCH_CHECK(index >= 0 && index < count, "neuron: expected a device index from 0 to ", count - 1, ", got ", index);
  return index;
}

Tensor make_empty(std::optional<at::Device> device, at::ScalarType dtype, at::IntArrayRef sizes,
                  at::IntArrayRef strides, std::size_t bytes) {
  DeviceContext& context = engine().device(device_index(device));
  BufferRef buffer = translate_errors([&] { return context.acquire(bytes); });
  Tensor tensor = make_tensor(make_storage(std::move(buffer)), dtype, sizes, strides, 0);
  at::Context& switches = at::globalContext();
  if (switches.deterministicAlgorithms() && switches.deterministicFillUninitializedMemory()) [[unlikely]] {
    at::native::fill_empty_deterministic_(tensor);
  }
  return tensor;
}

void check_layout(std::optional<at::Layout> layout, std::optional<bool> pinned) {
  TORCH_CHECK_NOT_IMPLEMENTED(at::layout_or_default(layout) == at::kStrided, "neuron: expected a strided layout, got ",
                              at::layout_or_default(layout), "; the device has dense tensors only");
  TORCH_CHECK(!at::pinned_memory_or_default(pinned), "Only dense CPU tensors can be pinned");
}

Tensor empty_memory_format(c10::SymIntArrayRef sym_size, std::optional<at::ScalarType> dtype,
                           std::optional<at::Layout> layout, std::optional<at::Device> device,
                           std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  check_layout(layout, pinned);
  const at::IntArrayRef size = C10_AS_INTARRAYREF_SLOW(sym_size);
  at::detail::check_size_nonnegative(size);
  const at::ScalarType type = at::dtype_or_default(dtype);
  const std::size_t bytes = at::detail::computeStorageNbytesContiguous(size, c10::elementSize(type));
  Tensor tensor = make_empty(device, type, size, {}, bytes);
  if (format.has_value() && *format != at::MemoryFormat::Contiguous) {
    tensor.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  }
  return tensor;
}

Tensor empty_strided(c10::SymIntArrayRef sym_size, c10::SymIntArrayRef sym_stride, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pinned) {
  check_layout(layout, pinned);
  const at::IntArrayRef size = C10_AS_INTARRAYREF_SLOW(sym_size);
  const at::IntArrayRef stride = C10_AS_INTARRAYREF_SLOW(sym_stride);
  at::detail::check_size_nonnegative(size);
  TORCH_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: ", size.size(), " and ",
              stride.size());
  const at::ScalarType type = at::dtype_or_default(dtype);
  const std::size_t bytes = at::detail::computeStorageNbytes(size, stride, c10::elementSize(type));
  return make_empty(device, type, size, stride, bytes);
}

// ZeroTensor: a tensor without memory that stands for zeros.
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/ZeroTensorFallback.cpp
struct NoMemory final : c10::Allocator {
  explicit NoMemory(at::Device device) : device_(device) {}
  c10::DataPtr allocate(std::size_t) override {
    return {nullptr, nullptr, [](void*) {}, device_};
  }
  void copy_data(void*, const void*, std::size_t) const override {}
  at::Device device_;
};

Tensor efficient_zero_tensor(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                             std::optional<at::Layout> layout, std::optional<at::Device> device,
                             std::optional<bool> pinned) {
  check_layout(layout, pinned);
  NoMemory allocator(at::Device(at::DeviceType::PrivateUse1, static_cast<at::DeviceIndex>(device_index(device))));
  constexpr c10::DispatchKeySet kKeys({c10::DispatchKey::PrivateUse1, c10::DispatchKey::ZeroTensor});
  return at::detail::empty_generic_symint(size, &allocator, kKeys, at::dtype_or_default(dtype), std::nullopt);
}

// Views: ATen's own metadata kernels.

Tensor as_strided(const Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                  std::optional<c10::SymInt> offset) {
  return at::native::as_strided_tensorimpl(
      self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
      offset.has_value() ? std::optional<std::int64_t>(offset->guard_int(__FILE__, __LINE__)) : std::nullopt);
}
Tensor view(const Tensor& self, c10::SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}
Tensor reshape_alias(const Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}

// Storage

const Tensor& resize(const Tensor& self, c10::SymIntArrayRef sym_size, std::optional<at::MemoryFormat> format) {
  at::TensorImpl* impl = self.unsafeGetTensorImpl();
  const at::IntArrayRef size = C10_AS_INTARRAYREF_SLOW(sym_size);
  const std::size_t before = impl->unsafe_storage().nbytes();
  if (impl->sizes() != size) {
    impl->generic_set_sizes_contiguous(size);
    const std::size_t bytes =
        at::detail::computeStorageNbytesContiguous(size, impl->itemsize(), impl->storage_offset());
    if (self.numel() > 0 && bytes > before) resize_storage(impl->unsafe_storage(), bytes, Content::kKeep);
  }
  if (format.has_value()) {
    TORCH_CHECK(*format != at::MemoryFormat::Preserve, "Unsupported memory format", *format);
    impl->empty_tensor_restride(*format);
  }
  at::Context& switches = at::globalContext();
  if (switches.deterministicAlgorithms() && switches.deterministicFillUninitializedMemory()) {
    at::native::fill_resize_deterministic_(self, static_cast<std::int64_t>(before));
  }
  return self;
}

Tensor& set_storage(Tensor& self, at::Storage source, c10::SymInt sym_offset, c10::SymIntArrayRef sym_size,
                    c10::SymIntArrayRef sym_stride) {
  const std::int64_t offset = sym_offset.guard_int(__FILE__, __LINE__);
  const at::IntArrayRef size = C10_AS_INTARRAYREF_SLOW(sym_size);
  const at::IntArrayRef stride = C10_AS_INTARRAYREF_SLOW(sym_stride);
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  at::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  const bool strided = stride.data() != nullptr;
  if (impl->sizes() == size && (!strided || impl->strides() == stride)) return self;
  const std::size_t bytes = strided ? at::detail::computeStorageNbytes(size, stride, impl->itemsize(), offset)
                                    : at::detail::computeStorageNbytesContiguous(size, impl->itemsize(), offset);
  if (strided) {
    impl->set_sizes_and_strides(size, stride);
  } else {
    impl->generic_set_sizes_contiguous(size);
  }
  if (self.numel() > 0 && bytes > impl->unsafe_storage().nbytes()) {
    resize_storage(impl->unsafe_storage(), bytes, Content::kKeep);
  }
  return self;
}

Tensor& set_whole_storage(Tensor& self, at::Storage source) {
  const auto count = static_cast<std::int64_t>(source.nbytes() / self.dtype().itemsize());
  return set_storage(self, std::move(source), 0, {c10::SymInt(count)}, {});
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  if (self.is_same(source)) return self;
  return set_storage(self, source.storage(), source.sym_storage_offset(), source.sym_sizes(), source.sym_strides());
}

Tensor& set_nothing(Tensor& self) {
  DeviceContext& context = engine().device(self.device().index());
  at::Storage empty = make_storage(translate_errors([&] { return context.acquire(0); }));
  return set_storage(self, std::move(empty), 0, {c10::SymInt(0)}, {});
}

// A plain copy of the whole storage: what a lazy clone is once somebody writes.
Tensor lazy_clone(const Tensor& self) {
  const StoragePlace place = place_of(*self.storage().unsafeGetStorageImpl());
  const std::size_t bytes = self.storage().nbytes();
  BufferRef buffer = translate_errors([&] { return engine().device(place.buffer->device()).acquire(bytes); });
  copy_bytes(*buffer.get(), *place.buffer, place.byte_offset, bytes);
  return make_tensor(make_storage(std::move(buffer)), self.scalar_type(), self.sizes(), self.strides(),
                     self.storage_offset());
}

// Buffers are counted by the launches that use them: nothing to do.
void record_stream(Tensor& /*self*/, at::Stream /*stream*/) {}

bool has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  constexpr c10::DispatchKeySet kDense({c10::DispatchKey::Dense});
  const auto dense = [&](const Tensor& tensor) { return tensor.key_set().has_any(kDense); };
  return dense(self) && dense(from);
}

}  // namespace

void install_native(torch::Library& library) {
  library.impl("empty.memory_format", &empty_memory_format);
  library.impl("empty_strided", &empty_strided);
  library.impl("_efficientzerotensor", &efficient_zero_tensor);
  library.impl("as_strided", &as_strided);
  library.impl("view", &view);
  library.impl("_reshape_alias", &reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("view_as_real", &at::native::view_as_real);
  library.impl("view_as_complex", &at::native::view_as_complex);
  library.impl("is_set_to", &at::native::is_set_to);
  library.impl("resize_", &resize);
  library.impl("set_", &set_nothing);
  library.impl("set_.source_Tensor", &set_tensor);
  library.impl("set_.source_Storage", &set_whole_storage);
  library.impl("set_.source_Storage_storage_offset", &set_storage);
  library.impl("_lazy_clone", &lazy_clone);
  library.impl("record_stream", &record_stream);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &local_scalar);
  library.impl("_has_compatible_shallow_copy_type", &has_compatible_shallow_copy_type);
}

}  // namespace aee
