// StandIn: a CPU tensor that stands for one operand of a prepared kernel: laid out as the step's key says, at offset 0
// on a storage of its own, and moved from memory to memory. It owns no memory of the device.
// One thread at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include "lowering/aten/step_run.h"

namespace aee {

class StandIn {
 public:
  /// Reads the next argument, a tensor, and moves there. False if it is of a kind that cannot be stood in for.
  bool read(StepRun& run);
  /// Makes the tensor, at `data`.
  void make(at::ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides, void* data, std::uint8_t flags);
  void move_to(void* data) noexcept {
    storage_->set_data_ptr_noswap(at::DataPtr(data, at::Device(at::kCPU)));
    data_ = data;
  }
  [[nodiscard]] bool made() const noexcept { return tensor_.defined(); }
  [[nodiscard]] const at::Tensor& tensor() const noexcept { return tensor_; }
  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  bool read_operand(StepRun& run, const Head& head);
  void read_number(StepRun& run, const Head& head);

  at::Tensor tensor_;
  c10::StorageImpl* storage_ = nullptr;  // tensor_'s
  void* data_ = nullptr;
  std::int64_t item_bytes_ = 0;            // of an operand
  alignas(16) std::byte number_[16] = {};  // what a host scalar is copied to
};

}  // namespace aee
