// Mirrors: CPU tensors over device memory, by which ATen's CPU kernels run a step.
//
// A buffer's Backing is one CPU tensor (its mirror) that owns the memory; the first result adopted, or a flat byte
// tensor for memory that nobody has written. An operand that lies exactly like the mirror uses it as it is; any other
// gets a header of its own on the mirror's storage. So operands that share a buffer share a storage, as in eager.
// Threads: the queue that runs a launch, or a host thread that has waited for the buffer's last use.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/runtime/buffer.h"
#include "ir/step.h"

namespace aee {

/// The mirror of a buffer; makes memory (not cleared) if there is none yet.
[[nodiscard]] at::TensorImpl& mirror_of(Buffer& buffer);

/// The CPU storage over a buffer's memory.
[[nodiscard]] inline const c10::Storage& mirror_storage(Buffer& buffer) { return mirror_of(buffer).unsafe_storage(); }

/// A new CPU tensor header on a storage. `flags`: conjugate, negative, wrapped number.
[[nodiscard]] at::Tensor make_cpu_view(const c10::Storage& storage, at::ScalarType dtype, at::IntArrayRef sizes,
                                       at::IntArrayRef strides, std::int64_t offset, std::uint8_t flags);

/// Gives the memory of a CPU tensor to a buffer that has none or whose content is replaced.
void adopt(Buffer& buffer, at::Tensor tensor);

/// The mirror of a buffer if its memory can serve another result: a device block that nobody else refers to. Else null.
[[nodiscard]] at::TensorImpl* reusable_mirror(Buffer& buffer) noexcept;
/// The mirror of a buffer if its memory was taken by whoever it was offered to, else null.
[[nodiscard]] at::TensorImpl* emptied_mirror(Buffer& buffer) noexcept;

/// A CPU tensor for an operand: borrowed from the mirror if it lies like it, else a header of its own.
class OperandTensor {
 public:
  OperandTensor() = default;
  OperandTensor(Buffer& buffer, const Placement& placement);
  /// An owned tensor.
  explicit OperandTensor(at::Tensor tensor) : tensor_(std::move(tensor)) {}
  OperandTensor(OperandTensor&& other) noexcept : tensor_(std::move(other.tensor_)), borrowed_(other.borrowed_) {
    other.borrowed_ = false;
  }
  OperandTensor(const OperandTensor&) = delete;
  OperandTensor& operator=(const OperandTensor&) = delete;
  OperandTensor& operator=(OperandTensor&&) = delete;
  ~OperandTensor() {
    if (borrowed_) static_cast<void>(tensor_.unsafeReleaseTensorImpl());
  }
  [[nodiscard]] at::Tensor& get() noexcept { return tensor_; }

 private:
  at::Tensor tensor_;
  bool borrowed_ = false;
};

/// A 0-dim CPU tensor with the given raw bytes, from a thread-local cache of headers.
[[nodiscard]] at::Tensor make_host_scalar(at::ScalarType dtype, bool wrapped, const std::uint64_t* bytes);

}  // namespace aee
