// Decode: from the words of a step to the C++ arguments of an ATen operator. One holder a C++ type: it reads its
// argument when it is made and gives it by get(). Holders live while the kernel runs.
#pragma once

#include <bit>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymIntArrayRef.h>

#include "lowering/aten/mirror.h"
#include "lowering/aten/step_run.h"

namespace aee {

/// A 0-dim host tensor that was passed by value.
[[nodiscard]] at::Tensor decode_host_scalar(StepRun& run, const Head& head);

/// A tensor argument: operand, host scalar or undefined.
[[nodiscard]] inline OperandTensor decode_tensor(StepRun& run) {
  const Head head = run.reader.head();
  switch (head.tag) {
    case Tag::kTensor: {
      const Placement placement = run.placement(head);
      return OperandTensor(*run.slots[head.count], placement);
    }
    case Tag::kHostScalar:
      return OperandTensor(decode_host_scalar(run, head));
    default:
      return OperandTensor();
  }
}

[[nodiscard]] at::Scalar decode_scalar(StepRun& run, const Head& head);
[[nodiscard]] at::Generator decode_generator(StepRun& run, const Head& head);
[[nodiscard]] std::vector<at::Tensor> decode_tensors(StepRun& run);
[[nodiscard]] c10::List<std::optional<at::Tensor>> decode_optional_tensors(StepRun& run);

template <class T>
struct Decode;

template <>
struct Decode<at::Tensor> {
  OperandTensor held;
  explicit Decode(StepRun& run) : held(decode_tensor(run)) {}
  at::Tensor& get() { return held.get(); }
};
template <>
struct Decode<std::optional<at::Tensor>> {
  std::optional<at::Tensor> held;
  explicit Decode(StepRun& run) {
    OperandTensor operand = decode_tensor(run);
    if (operand.get().defined()) held = operand.get();
  }
  std::optional<at::Tensor>& get() { return held; }
};
template <>
struct Decode<at::TensorList> {
  std::vector<at::Tensor> held;
  explicit Decode(StepRun& run) : held(decode_tensors(run)) {}
  at::TensorList get() { return held; }
};
template <>
struct Decode<at::ITensorListRef> {
  std::vector<at::Tensor> held;
  explicit Decode(StepRun& run) : held(decode_tensors(run)) {}
  at::ITensorListRef get() { return at::ITensorListRef(at::TensorList(held)); }
};
template <>
struct Decode<c10::List<std::optional<at::Tensor>>> {
  c10::List<std::optional<at::Tensor>> held;
  explicit Decode(StepRun& run) : held(decode_optional_tensors(run)) {}
  c10::List<std::optional<at::Tensor>>& get() { return held; }
};
template <>
struct Decode<at::Scalar> {
  at::Scalar held;
  explicit Decode(StepRun& run) : held(decode_scalar(run, run.reader.head())) {}
  at::Scalar& get() { return held; }
};
template <>
struct Decode<std::int64_t> {
  std::int64_t held;
  explicit Decode(StepRun& run) : held((run.reader.skip(1), static_cast<std::int64_t>(run.reader.word()))) {}
  std::int64_t get() { return held; }
};
template <>
struct Decode<c10::SymInt> : Decode<std::int64_t> {
  using Decode<std::int64_t>::Decode;
  c10::SymInt get() { return c10::SymInt(held); }
};
template <>
struct Decode<at::ScalarType> : Decode<std::int64_t> {
  using Decode<std::int64_t>::Decode;
  at::ScalarType get() { return static_cast<at::ScalarType>(held); }
};
template <>
struct Decode<bool> : Decode<std::int64_t> {
  using Decode<std::int64_t>::Decode;
  bool get() { return held != 0; }
};
template <>
struct Decode<double> {
  double held;
  explicit Decode(StepRun& run) : held((run.reader.skip(1), std::bit_cast<double>(run.reader.word()))) {}
  double get() { return held; }
};
template <>
struct Decode<std::string_view> {
  std::string_view held;
  explicit Decode(StepRun& run) {
    const Head head = run.reader.head();
    held = {reinterpret_cast<const char*>(run.reader.skip((head.count + 7) / 8)), head.count};
  }
  std::string_view get() { return held; }
};
template <>
struct Decode<at::IntArrayRef> {
  at::IntArrayRef held;
  explicit Decode(StepRun& run) {
    const Head head = run.reader.head();
    held = {reinterpret_cast<const std::int64_t*>(run.reader.skip(head.count)), head.count};
  }
  at::IntArrayRef get() { return held; }
};
template <>
struct Decode<c10::SymIntArrayRef> : Decode<at::IntArrayRef> {
  using Decode<at::IntArrayRef>::Decode;
  c10::SymIntArrayRef get() { return c10::fromIntArrayRefSlow(held); }
};
template <std::size_t N>
struct Decode<std::array<bool, N>> {
  std::array<bool, N> held;
  explicit Decode(StepRun& run) {
    run.reader.skip(1);
    for (bool& bit : held) bit = Decode<bool>(run).get();
  }
  std::array<bool, N> get() { return held; }
};
template <>
struct Decode<std::optional<at::Generator>> {
  std::optional<at::Generator> held;
  explicit Decode(StepRun& run) {
    const Head head = run.reader.head();
    if (head.tag == Tag::kGenerator) held = decode_generator(run, head);
  }
  std::optional<at::Generator>& get() { return held; }
};
/// Any other optional: absent if its head is kNone.
template <class T>
struct Decode<std::optional<T>> {
  std::optional<Decode<T>> held;
  std::optional<T> value;
  explicit Decode(StepRun& run) {
    if (run.reader.peek().tag == Tag::kNone) {
      run.reader.skip(1);
      return;
    }
    held.emplace(run);
    value = held->get();
  }
  std::optional<T>& get() { return value; }
};
template <>
struct Decode<at::OptionalIntArrayRef> : Decode<std::optional<at::IntArrayRef>> {
  using Decode<std::optional<at::IntArrayRef>>::Decode;
  at::OptionalIntArrayRef get() { return value; }
};
template <>
struct Decode<at::OptionalSymIntArrayRef> : Decode<std::optional<at::IntArrayRef>> {
  using Decode<std::optional<at::IntArrayRef>>::Decode;
  at::OptionalSymIntArrayRef get() {
    return value ? at::OptionalSymIntArrayRef(c10::fromIntArrayRefSlow(*value)) : at::OptionalSymIntArrayRef();
  }
};

}  // namespace aee
