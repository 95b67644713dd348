// What follows a recorded call: on remembered layouts, the results are made and the step is launched; else the op runs
// at the call (inline_call.h) and what it did is remembered.
#pragma once

#include <ATen/core/stack.h>

#include "bindings/torch/record.h"

namespace aee {

/// The remembered layouts for the frame's step, if it may run later; null: it must run at the call. Applies what the op
/// does to the layout of operands, so the step may be encoded anew: `again` must do that.
template <class Encode>
[[nodiscard]] LayoutEntry* find_layouts(RecordFrame& frame, Encode&& again);

/// Result tensors of a step by its layouts, and the launch of the step. Throws OutOfMemoryError before anything is
/// launched.
class Emission {
 public:
  /// Makes buffers and launches.
  Emission(RecordFrame& frame, LayoutEntry& layouts);
  /// Result number `index`, in schema order.
  [[nodiscard]] at::Tensor result(std::size_t index);

 private:
  RecordFrame& frame_;
  LayoutEntry& layouts_;
  c10::SmallVector<c10::Storage, 4> storages_;  // of the fresh results
};

namespace detail {
[[nodiscard]] LayoutEntry* lookup(RecordFrame& frame);
void apply_relayouts(RecordFrame& frame, const LayoutEntry& layouts);
[[nodiscard]] LayoutEntry* remember_settled(RecordFrame& frame, const LayoutEntry& layouts);
}  // namespace detail

template <class Encode>
LayoutEntry* find_layouts(RecordFrame& frame, Encode&& again) {
  const auto encode_again = [&] {
    again();
    frame.step.finish();
  };
  frame.step.finish();
  if (frame.step.expecting() && !frame.step.matched()) encode_again();
  LayoutEntry* layouts = detail::lookup(frame);
  if (layouts == nullptr && frame.step.expecting()) encode_again();  // what runs at the call is remembered by its key
  if (layouts != nullptr && !layouts->relayouts.empty()) [[unlikely]] {
    detail::apply_relayouts(frame, *layouts);
    // With the operands laid out as the op wants them the step has another key, and the same results.
    encode_again();
    LayoutEntry* settled = detail::lookup(frame);
    layouts = settled != nullptr ? settled : detail::remember_settled(frame, *layouts);
  }
  if (layouts != nullptr) frame.thread.memo.follow(*layouts);
  return layouts;
}

}  // namespace aee
