#include "lowering/aten/handle.h"

#include <atomic>

#include <c10/core/Allocator.h>

namespace aee {
namespace {

std::atomic<ResolveHandle> resolver{nullptr};

}  // namespace

void release_observed(void* buffer) noexcept { static_cast<Buffer*>(buffer)->release(); }

at::DataPtr make_data_ptr(BufferRef buffer) {
  Buffer* raw = buffer.detach();
  return at::DataPtr(raw->handle(), raw, &release_observed,
                     at::Device(at::DeviceType::PrivateUse1, static_cast<at::DeviceIndex>(raw->device())));
}

StoragePlace place_of(c10::StorageImpl& storage) {
  const at::DataPtr& pointer = storage._mutable_data_ptr_no_checks();
  if (pointer.get_deleter() == &release_observed) [[likely]] {
    return {static_cast<Buffer*>(pointer.get_context()), 0};
  }
  std::size_t offset = 0;
  const ResolveHandle resolve = resolver.load(std::memory_order_acquire);
  Buffer* buffer = resolve != nullptr && pointer.get() != nullptr ? resolve(pointer.get(), &offset) : nullptr;
  TORCH_CHECK(buffer != nullptr, "neuron: expected a tensor over memory of the device, got foreign data pointer ",
              pointer.get(), "; copy the data with .to('neuron') instead of wrapping its address");
  return {buffer, static_cast<std::int64_t>(offset)};
}

void set_handle_resolver(ResolveHandle resolve) noexcept { resolver.store(resolve, std::memory_order_release); }

c10::Storage make_storage(BufferRef buffer) {
  const std::size_t bytes = buffer->bytes();
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                            make_data_ptr(std::move(buffer)),
                                                            c10::GetAllocator(at::DeviceType::PrivateUse1),
                                                            /*resizable=*/true));
}

at::Tensor make_tensor(c10::Storage storage, at::ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides,
                       std::int64_t offset) {
  constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);
  auto impl = c10::make_intrusive<at::TensorImpl>(std::move(storage), kKeys, c10::scalarTypeToTypeMeta(dtype));
  if (strides.empty()) {
    if (sizes.size() != 1 || sizes[0] != 0) impl->set_sizes_contiguous(sizes);
    if (offset != 0) impl->set_storage_offset(offset);
  } else {
    impl->set_sizes_and_strides(sizes, strides, offset);
  }
  return at::Tensor(std::move(impl));
}

}  // namespace aee
