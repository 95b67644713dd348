// What is remembered of a step's results, and where it comes from: what the op returned, or PyTorch's shape function.
//
// Note [Inferred layouts]
// The CPU's kernel of a structured op makes its results by the very function that PyTorch runs for meta tensors
// (at::meta; not the dispatcher's Meta kernels, which Python replaces). So a step that was seen with other sizes need
// not run at the call: the function tells what it gives. The first of a structure still runs there, which finds out
// whether the CPU accepts its dtypes and whether the function told the truth; a shape that does not fit runs there too
// and raises eager's error, and so does every op that values can make raise. An op that only writes an operand gives no
// layouts; it cannot be refused for sizes that its shape function accepts, or that are all one, if what it writes is
// contiguous and shares no memory with the other operands.
#pragma once

#include <tuple>
#include <vector>

#include "bindings/torch/record.h"
#include "lowering/aten/cpu_scope.h"

namespace aee {

/// How a tensor lies that an op returned: as kFresh, without bytes.
[[nodiscard]] ResultSpec spec_of(const at::Tensor& result);
[[nodiscard]] bool same_layouts(const std::vector<ResultSpec>& one, const std::vector<ResultSpec>& other) noexcept;

/// Remembers what the frame's step gives; it must not be known yet. May wait for launches.
LayoutEntry& remember_layouts(RecordFrame& frame, LayoutEntry entry);

/// A tensor without data that lies like a device tensor; a host tensor itself. Throws where a shape function would tell
/// nothing true.
[[nodiscard]] at::Tensor meta_twin(const at::Tensor& tensor);
[[nodiscard]] ResultSpec spec_of_meta(const at::Tensor& result);

/// An argument for a shape function; holds what it refers to.
template <class T>
struct MetaTwin {
  const T& value;
  explicit MetaTwin(const T& argument) : value(argument) {}
  const T& get() const { return value; }
};
template <>
struct MetaTwin<at::Tensor> {
  at::Tensor twin;
  explicit MetaTwin(const at::Tensor& tensor) : twin(meta_twin(tensor)) {}
  at::Tensor& get() { return twin; }
};
template <>
struct MetaTwin<std::optional<at::Tensor>> {
  std::optional<at::Tensor> twin;
  explicit MetaTwin(const std::optional<at::Tensor>& tensor) {
    if (tensor) twin = meta_twin(*tensor);
  }
  const std::optional<at::Tensor>& get() const { return twin; }
};
template <>
struct MetaTwin<at::ITensorListRef> {
  std::vector<at::Tensor> twins;
  explicit MetaTwin(const at::ITensorListRef& tensors) {
    for (const at::Tensor& tensor : tensors) twins.push_back(meta_twin(tensor));
  }
  at::ITensorListRef get() const { return at::ITensorListRef(at::TensorList(twins)); }
};

/// What a shape function says of the results of the frame's step; `call` runs it. Empty if it raises: the CPU's kernel
/// will say it better.
template <class Call>
[[nodiscard]] std::vector<ResultSpec> told_layouts(const RecordFrame& frame, Call&& call) {
  std::vector<ResultSpec> told;
  if (!frame.recordable) return told;
  const CpuScope scope(Warnings::kPass);
  try {
    const auto add = [&told](const auto&... results) { (told.push_back(spec_of_meta(results)), ...); };
    if constexpr (std::is_same_v<decltype(call()), at::Tensor>) {
      add(call());
    } else {
      std::apply(add, call());
    }
  } catch (const c10::Error&) {
    told.clear();
  }
  return told;
}

/// The layouts of a step that is new by its sizes alone; null: it must run at the call. `told` by its shape function.
[[nodiscard]] LayoutEntry* infer_layouts(RecordFrame& frame, const std::vector<ResultSpec>& told);

/// The same for an op that returns the operand `written` and makes no results. `fits`: its shape function accepts the
/// operands.
[[nodiscard]] LayoutEntry* infer_in_place(RecordFrame& frame, const at::Tensor& written, bool fits);

}  // namespace aee
