#include "lowering/aten/result_memory.h"

#include <ATen/EmptyTensor.h>

#include "lowering/aten/cpu_scope.h"
#include "lowering/aten/mirror.h"

namespace aee {
namespace {

/// Gives a mirror the layout of a result that lies in its memory.
void lay_out(at::TensorImpl& mirror, const ResultSpec& spec) {
  const auto dtype = c10::scalarTypeToTypeMeta(static_cast<at::ScalarType>(spec.dtype));
  mirror.unsafe_storage().unsafeGetStorageImpl()->set_nbytes(spec.bytes);
  if (mirror.dtype() != dtype) mirror.set_storage_and_dtype(mirror.unsafe_storage(), dtype);
  const bool same = mirror.storage_offset() == spec.offset && mirror.sizes() == at::IntArrayRef(spec.sizes) &&
                    mirror.strides() == at::IntArrayRef(spec.strides);
  if (!same) mirror.set_sizes_and_strides(spec.sizes, spec.strides, spec.offset);
}

/// The buffer's own memory if a result can have it, by its mirror; else null.
at::TensorImpl* memory_left(Buffer& buffer, const ResultSpec& spec) noexcept {
  if (spec.bytes == 0 || buffer.backing().capacity < spec.bytes) return nullptr;
  return reusable_mirror(buffer);
}

}  // namespace

void* make_result(Buffer& buffer, const ResultSpec& spec) {
  if (at::TensorImpl* mirror = memory_left(buffer, spec)) {
    lay_out(*mirror, spec);
  } else {
    const auto dtype = static_cast<at::ScalarType>(spec.dtype);
    adopt(buffer, at::detail::empty_strided_cpu(spec.sizes, spec.strides, dtype));
  }
  return mirror_storage(buffer).mutable_data();
}

ResultMemory::ResultMemory(const LayoutEntry& layout, std::span<Buffer* const> fresh) {
  std::size_t next = 0;
  for (const ResultSpec& spec : layout.results) {
    if (spec.kind != ResultSpec::Kind::kFresh) continue;
    Buffer& buffer = *fresh[next++];
    if (at::TensorImpl* mirror = memory_left(buffer, spec)) {
      offers_.add(spec.bytes, *mirror->unsafe_storage().unsafeGetStorageImpl());
    }
  }
}

void ResultMemory::adopt(Buffer& buffer, const ResultSpec& spec, at::Tensor result) {
  c10::StorageImpl& storage = *result.storage().unsafeGetStorageImpl();
  at::TensorImpl* mirror = emptied_mirror(buffer);
  const bool alone = result.use_count() == 1 && result.storage().use_count() == 1;
  if (mirror == nullptr || !alone || !is_scope_memory(storage)) {
    aee::adopt(buffer, std::move(result));
    return;
  }
  // The header stays and the memory comes back, or another block of that size.
  mirror->unsafe_storage().unsafeGetStorageImpl()->set_data_ptr_noswap(storage.set_data_ptr({}));
  buffer.backing().capacity = spec.bytes;
  lay_out(*mirror, spec);
}

}  // namespace aee
