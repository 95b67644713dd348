// Device tensors: plain TensorImpls whose storage names a Buffer. The storage's DataPtr points to the buffer's opaque
// handle and its context is the Buffer, so that the identity travels with the DataPtr wherever PyTorch moves it.
// Any thread.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/runtime/buffer.h"
#include "ir/step.h"

namespace aee {

/// Deleter of every device DataPtr: ends the observation of a Buffer. Never calls into Python, never waits.
void release_observed(void* buffer) noexcept;

/// A DataPtr that observes the buffer.
[[nodiscard]] at::DataPtr make_data_ptr(BufferRef buffer);

/// A buffer, and where in it a storage starts (bytes; not 0 only for pointers that came back without their context).
struct StoragePlace {
  Buffer* buffer;
  std::int64_t byte_offset;
};
/// The buffer behind a device storage. Throws if its pointer is not one of ours or no longer alive.
[[nodiscard]] StoragePlace place_of(c10::StorageImpl& storage);

/// The buffer of a device tensor.
[[nodiscard]] inline Buffer* buffer_of(const at::TensorImpl& tensor) {
  return place_of(*tensor.unsafe_storage().unsafeGetStorageImpl()).buffer;
}

/// Finds the living buffer that holds a handle; set by the owner of the pools.
using ResolveHandle = Buffer* (*)(const void* handle, std::size_t* byte_offset);
void set_handle_resolver(ResolveHandle resolver) noexcept;

/// A storage over a new buffer.
[[nodiscard]] c10::Storage make_storage(BufferRef buffer);

/// A device tensor on a storage. Strides empty: contiguous.
[[nodiscard]] at::Tensor make_tensor(c10::Storage storage, at::ScalarType dtype, at::IntArrayRef sizes,
                                     at::IntArrayRef strides, std::int64_t offset);

}  // namespace aee
