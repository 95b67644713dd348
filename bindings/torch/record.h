// RecordFrame: one call of an operator on its way to the recorder. encode() takes its arguments one by one, in schema
// order, and writes them to the thread's StepWriter; overloads are for the C++ types of at::_ops and for IValues.
//
// A call that cannot be recorded (an argument without an encoding, a host tensor among the operands that the op
// accepts there) is marked and runs at the call instead. Wrong devices raise here, with eager's text.
// Lives on the stack of the calling thread.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>

#include "bindings/torch/default_engine.h"
#include "lowering/aten/aten_op.h"
#include "lowering/aten/handle.h"
#include "lowering/aten/state.h"

namespace aee {

struct RecordFrame {
  explicit RecordFrame(const AtenOp& aten_op)
      : thread(thread_context()),
        step(thread.step),
        op(aten_op),
        state(capture_thread_state()),
        expected(thread.memo.expected()) {
    if (--thread.until_timed == 0) [[unlikely]]
      begin_timing();
    step.begin(op, global_state_word(state),
               expected != nullptr ? std::span<const std::uint64_t>(expected->key) : std::span<const std::uint64_t>());
  }

  ThreadContext& thread;
  StepWriter& step;
  const AtenOp& op;
  ThreadState state;
  LayoutEntry* expected;                            ///< the memo's guess
  int device = -1;                                  ///< index; -1 until an argument tells
  std::chrono::steady_clock::time_point started{};  ///< of an op that is timed, else the epoch
  bool recordable = true;
  bool list_of_masks = false;
  std::uint32_t argument = 0;                    ///< number of the schema argument being encoded
  c10::SmallVector<at::TensorImpl*, 8> tensors;  ///< device tensors, in order; the caller keeps them alive

  /// Makes this op one that is timed, as every 61st.
  [[gnu::noinline]] void begin_timing() {
    constexpr std::uint32_t kTimedEvery = 61;  // a prime: no loop of fewer ops hides one of them
    thread.until_timed = kTimedEvery;
    started = std::chrono::steady_clock::now();
  }
  /// Forgets the arguments encoded so far; the key is written now, whatever was expected.
  void restart() {
    step.begin(op, global_state_word(state));
    argument = 0;
    tensors.clear();
  }
  /// Whether layouts of results depend on values: it must run at the call.
  [[nodiscard]] bool is_dynamic() const noexcept {
    return op.has(kDynamic | kInline) || (list_of_masks && op.has(kDynamicForMasks));
  }
  [[nodiscard]] int device_or_current() const noexcept { return device >= 0 ? device : thread.device; }
};

void encode_tensor(RecordFrame& frame, const at::Tensor& tensor);
void encode_scalar(RecordFrame& frame, const at::Scalar& scalar);
void encode_generator(RecordFrame& frame, const std::optional<at::Generator>& generator);
void encode_device(RecordFrame& frame, at::Device device);
/// An argument of the boxed recorder.
void encode_value(RecordFrame& frame, const c10::IValue& value);

inline void encode(RecordFrame& frame, const at::Tensor& tensor) { encode_tensor(frame, tensor); }
inline void encode(RecordFrame& frame, const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value() && tensor->defined()) {
    encode_tensor(frame, *tensor);
  } else {
    frame.step.none();
  }
}
inline void encode(RecordFrame& frame, const at::Scalar& scalar) { encode_scalar(frame, scalar); }
inline void encode(RecordFrame& frame, std::int64_t value) { frame.step.integer(value); }
inline void encode(RecordFrame& frame, const c10::SymInt& value) {
  frame.step.integer(value.guard_int(__FILE__, __LINE__));
}
inline void encode(RecordFrame& frame, bool value) { frame.step.boolean(value); }
inline void encode(RecordFrame& frame, double value) { frame.step.real(value); }
inline void encode(RecordFrame& frame, at::ScalarType value) { frame.step.integer(static_cast<std::int64_t>(value)); }
inline void encode(RecordFrame& frame, std::string_view value) { frame.step.string(value); }
inline void encode(RecordFrame& frame, at::IntArrayRef values) { frame.step.integers({values.data(), values.size()}); }
inline void encode(RecordFrame& frame, c10::SymIntArrayRef values) { encode(frame, C10_AS_INTARRAYREF_SLOW(values)); }
inline void encode(RecordFrame& frame, at::TensorList tensors) {
  frame.step.list(Tag::kTensorList, tensors.size());
  for (const at::Tensor& tensor : tensors) encode_tensor(frame, tensor);
}
inline void encode(RecordFrame& frame, const at::ITensorListRef& tensors) {
  frame.step.list(Tag::kTensorList, tensors.size());
  for (const at::Tensor& tensor : tensors) encode_tensor(frame, tensor);
}
inline void encode(RecordFrame& frame, const c10::List<std::optional<at::Tensor>>& tensors) {
  frame.step.list(Tag::kTensorList, tensors.size());
  for (const std::optional<at::Tensor> tensor : tensors) encode(frame, tensor);
}
template <std::size_t N>
void encode(RecordFrame& frame, const std::array<bool, N>& values) {
  frame.step.list(Tag::kBoolList, N);
  for (const bool value : values) frame.step.boolean(value);
}
inline void encode(RecordFrame& frame, const std::optional<at::Generator>& generator) {
  encode_generator(frame, generator);
}
template <class T>
void encode(RecordFrame& frame, const std::optional<T>& value) {
  if (value.has_value()) {
    encode(frame, *value);
  } else {
    frame.step.none();
  }
}
inline void encode(RecordFrame& frame, at::OptionalIntArrayRef values) {
  if (values.has_value()) {
    encode(frame, *values);
  } else {
    frame.step.none();
  }
}
inline void encode(RecordFrame& frame, at::OptionalSymIntArrayRef values) {
  if (values.has_value()) {
    encode(frame, *values);
  } else {
    frame.step.none();
  }
}

/// The next schema argument.
template <class T>
void encode_argument(RecordFrame& frame, const T& value) {
  encode(frame, value);
  ++frame.argument;
}

}  // namespace aee
