#include "lowering/aten/mirror.h"

#include <array>
#include <cstring>

#include <ATen/EmptyTensor.h>

#include "core/base/spin_lock.h"
#include "lowering/aten/cpu_scope.h"

namespace aee {
namespace {

void release_mirror(void* object) noexcept { c10::raw::intrusive_ptr::decref(static_cast<at::TensorImpl*>(object)); }

at::Tensor view_of(const c10::Storage& storage, const Placement& placement, std::uint8_t flags) {
  return make_cpu_view(storage, static_cast<at::ScalarType>(placement.dtype), {placement.sizes, placement.rank},
                       {placement.strides, placement.rank}, placement.offset, flags);
}

void set_backing(Buffer& buffer, at::Tensor tensor) noexcept {
  Backing& backing = buffer.backing();
  const Backing old = backing;
  const c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  constexpr std::size_t kGrain = 64;  // of the device's blocks
  const std::size_t capacity = is_scope_memory(storage) ? (storage.nbytes() + kGrain - 1) / kGrain * kGrain : 0;
  backing = {tensor.unsafeReleaseTensorImpl(), &release_mirror, capacity};
  if (old.object != nullptr) old.release(old.object);
}

// Two readers of memory that nobody wrote may both be the first. The mirror lies as its first operand does (null: flat
// bytes), so that operands which keep lying so need no header of their own.
at::TensorImpl& make_memory(Buffer& buffer, const Placement* placement) {
  static SpinLock lock;
  const std::lock_guard guard(lock);
  if (buffer.backing().object != nullptr) return *static_cast<at::TensorImpl*>(buffer.backing().object);
  const CpuScope scope(Warnings::kPass);  // device memory, whoever asks first
  at::Tensor memory = at::detail::empty_cpu({static_cast<std::int64_t>(buffer.bytes())}, at::kByte);
  if (placement != nullptr) memory = view_of(memory.storage(), *placement, /*flags=*/0);
  set_backing(buffer, std::move(memory));
  return *static_cast<at::TensorImpl*>(buffer.backing().object);
}

bool lies_like(const at::TensorImpl& mirror, const Placement& placement) noexcept {
  constexpr std::uint8_t kBits = kConjugate | kNegative | kWrappedNumber | kRequiresGrad;
  if ((placement.flags & kBits) != 0 || mirror.storage_offset() != placement.offset) return false;
  if (c10::typeMetaToScalarType(mirror.dtype()) != static_cast<at::ScalarType>(placement.dtype)) return false;
  const at::IntArrayRef sizes = mirror.sizes();
  if (sizes.size() != placement.rank) return false;
  const std::size_t bytes = placement.rank * sizeof(std::int64_t);
  return std::memcmp(sizes.data(), placement.sizes, bytes) == 0 &&
         std::memcmp(mirror.strides().data(), placement.strides, bytes) == 0;
}

}  // namespace

at::TensorImpl& mirror_of(Buffer& buffer) {
  void* object = buffer.backing().object;
  if (object == nullptr) [[unlikely]]
    return make_memory(buffer, nullptr);
  return *static_cast<at::TensorImpl*>(object);
}

at::Tensor make_cpu_view(const c10::Storage& storage, at::ScalarType dtype, at::IntArrayRef sizes,
                         at::IntArrayRef strides, std::int64_t offset, std::uint8_t flags) {
  constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::CPU);
  auto impl = c10::make_intrusive<at::TensorImpl>(c10::Storage(storage), kKeys, c10::scalarTypeToTypeMeta(dtype));
  impl->set_sizes_and_strides(sizes, strides, offset);
  if ((flags & kWrappedNumber) != 0) impl->set_wrapped_number(true);
  at::Tensor tensor(std::move(impl));
  if ((flags & kConjugate) != 0) tensor._set_conj(true);
  if ((flags & kNegative) != 0) tensor._set_neg(true);
  if ((flags & kRequiresGrad) != 0) tensor.unsafeGetTensorImpl()->set_requires_grad(true);
  return tensor;
}

void adopt(Buffer& buffer, at::Tensor tensor) {
  // Marks of the tensor are not the memory's.
  if (tensor.is_conj() || tensor.is_neg() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    tensor = make_cpu_view(tensor.storage(), tensor.scalar_type(), tensor.sizes(), tensor.strides(),
                           tensor.storage_offset(), /*flags=*/0);
  }
  set_backing(buffer, std::move(tensor));
}

at::TensorImpl* emptied_mirror(Buffer& buffer) noexcept {
  const Backing& backing = buffer.backing();
  if (backing.object == nullptr || backing.release != &release_mirror || backing.capacity == 0) return nullptr;
  auto* mirror = static_cast<at::TensorImpl*>(backing.object);
  return mirror->unsafe_storage().data() == nullptr ? mirror : nullptr;
}

at::TensorImpl* reusable_mirror(Buffer& buffer) noexcept {
  const Backing& backing = buffer.backing();
  if (backing.object == nullptr || backing.release != &release_mirror) return nullptr;
  auto* mirror = static_cast<at::TensorImpl*>(backing.object);
  const c10::Storage& storage = mirror->unsafe_storage();
  const bool alone = c10::raw::intrusive_ptr::use_count(mirror) == 1 && storage.use_count() == 1;
  return alone && is_scope_memory(*storage.unsafeGetStorageImpl()) ? mirror : nullptr;
}

OperandTensor::OperandTensor(Buffer& buffer, const Placement& placement) {
  void* object = buffer.backing().object;
  at::TensorImpl& mirror = object != nullptr ? *static_cast<at::TensorImpl*>(object) : make_memory(buffer, &placement);
  // Two operands that borrow are one tensor; without elements that would not be the same as two that share a buffer.
  if (lies_like(mirror, placement) && mirror.numel() != 0) {
    tensor_ = at::Tensor(c10::intrusive_ptr<at::TensorImpl, c10::UndefinedTensorImpl>::reclaim(&mirror));
    borrowed_ = true;
    return;
  }
  tensor_ = view_of(mirror.unsafe_storage(), placement, placement.flags);
}

at::Tensor make_host_scalar(at::ScalarType dtype, bool wrapped, const std::uint64_t* bytes) {
  constexpr std::size_t kHeaders = 16;
  thread_local std::array<at::Tensor, kHeaders> headers;
  thread_local std::size_t next = 0;
  at::Tensor& cached = headers[next++ % kHeaders];
  const bool reusable =
      cached.defined() && cached.use_count() == 1 && cached.storage().use_count() == 1 && cached.scalar_type() == dtype;
  if (!reusable) cached = at::detail::empty_cpu({}, dtype);
  std::memcpy(cached.mutable_data_ptr(), bytes, cached.element_size());
  cached.unsafeGetTensorImpl()->set_wrapped_number(wrapped);
  return cached;
}

}  // namespace aee
