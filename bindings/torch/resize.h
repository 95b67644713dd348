// Resizing device storages: a new buffer under the same StorageImpl. The storage owns the buffer; the old one lives on
// while launches use it. Any thread that may change the tensor.
#pragma once

#include <cstddef>

#include <c10/core/Storage.h>

#include "core/runtime/buffer.h"

namespace aee {

/// What becomes of the old bytes.
enum class Content : unsigned char { kKeep, kDrop };

/// Makes the storage `bytes` long; its data pointer changes. Keeps the common bytes if asked to.
void resize_storage(const c10::Storage& storage, std::size_t bytes, Content content);

/// Puts another buffer under a storage.
void replace_buffer(c10::StorageImpl& storage, BufferRef buffer);

}  // namespace aee
