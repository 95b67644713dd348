#include "bindings/torch/resize.h"

#include <algorithm>

#include "bindings/torch/copy.h"
#include "bindings/torch/default_engine.h"
#include "lowering/aten/handle.h"

namespace aee {

void resize_storage(const c10::Storage& storage, std::size_t bytes, Content content) {
  c10::StorageImpl& impl = *storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl.resizable(), "Trying to resize storage that is not resizable");
  const StoragePlace place = place_of(impl);
  BufferRef fresh = translate_errors([&] { return engine().device(place.buffer->device()).acquire(bytes); });
  if (content == Content::kKeep)
    copy_bytes(*fresh.get(), *place.buffer, place.byte_offset, std::min(bytes, impl.nbytes()));
  replace_buffer(impl, std::move(fresh));
}

void replace_buffer(c10::StorageImpl& storage, BufferRef buffer) {
  storage.set_nbytes(buffer->bytes());
  storage.set_data_ptr_noswap(make_data_ptr(std::move(buffer)));
}

}  // namespace aee
