#include "lowering/aten/stand_in.h"

#include <cstring>

#include "lowering/aten/decode.h"

namespace aee {

void StandIn::make(at::ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides, void* data,
                   std::uint8_t flags) {
  // The size is never looked at: kernels go by sizes and strides.
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), std::size_t{0},
                                                       at::DataPtr(data, at::Device(at::kCPU)), nullptr,
                                                       /*resizable=*/false);
  storage_ = storage.get();
  data_ = data;
  tensor_ = make_cpu_view(c10::Storage(std::move(storage)), dtype, sizes, strides, /*offset=*/0, flags);
}

bool StandIn::read(StepRun& run) {
  const Head head = run.reader.head();
  if (head.tag == Tag::kTensor) return read_operand(run, head);
  if (head.tag != Tag::kHostScalar) return false;
  read_number(run, head);
  return true;
}

bool StandIn::read_operand(StepRun& run, const Head& head) {
  const Placement placement = run.placement(head);
  if (!made()) item_bytes_ = static_cast<std::int64_t>(c10::elementSize(static_cast<at::ScalarType>(head.dtype)));
  const c10::Storage& memory = mirror_storage(*run.slots[head.count]);
  // Only who writes needs memory of its own (copy on write).
  void* start = (head.flags & kWritten) != 0 ? memory.mutable_data() : const_cast<void*>(memory.data());
  void* data = static_cast<std::byte*>(start) + placement.offset * item_bytes_;
  if (made()) {
    move_to(data);
    return true;
  }
  const at::IntArrayRef sizes(placement.sizes, placement.rank), strides(placement.strides, placement.rank);
  if ((head.flags & (kConjugate | kNegative)) != 0 || c10::multiply_integers(sizes) == 0) return false;
  make(static_cast<at::ScalarType>(head.dtype), sizes, strides, data, head.flags & kWrappedNumber);
  return true;
}

void StandIn::read_number(StepRun& run, const Head& head) {
  const at::Tensor number = decode_host_scalar(run, head);
  std::memcpy(number_, number.const_data_ptr(), number.element_size());
  if (!made()) make(number.scalar_type(), {}, {}, number_, head.flags & kWrappedNumber);
}

}  // namespace aee
