#include "bindings/torch/layouts.h"

#include <algorithm>

#include <ATen/EmptyTensor.h>

#include "ir/step_view.h"

namespace aee {
namespace {

/// The structure of the frame's step, whose key is written.
Structure& structure_of(RecordFrame& frame) {
  const std::span<const std::uint64_t> key = frame.step.key();
  const auto view = view_step(frame.op, key);
  TORCH_INTERNAL_ASSERT(view.has_value(), frame.op.name, ": broken key");
  std::vector<std::uint64_t> words;
  append_structure(*view, key, words);
  return frame.thread.memo.structure(words, key_hash(words));
}

}  // namespace

ResultSpec spec_of(const at::Tensor& result) {
  ResultSpec spec;
  spec.kind = ResultSpec::Kind::kFresh;
  spec.dtype = static_cast<std::uint8_t>(result.scalar_type());
  spec.flags = static_cast<std::uint8_t>((result.is_conj() ? kConjugate : 0) | (result.is_neg() ? kNegative : 0) |
                                         (result.unsafeGetTensorImpl()->is_wrapped_number() ? kWrappedNumber : 0));
  spec.sizes.assign(result.sizes().begin(), result.sizes().end());
  spec.strides.assign(result.strides().begin(), result.strides().end());
  spec.offset = result.storage_offset();
  std::vector<std::int64_t> plain(spec.sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = plain.size(); i-- > 0;) {
    plain[i] = step;
    step *= std::max<std::int64_t>(spec.sizes[i], 1);
  }
  spec.contiguous = plain == spec.strides;
  return spec;
}

bool same_layouts(const std::vector<ResultSpec>& one, const std::vector<ResultSpec>& other) noexcept {
  return std::ranges::equal(one, other, [](const ResultSpec& a, const ResultSpec& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides &&
           a.offset == b.offset && a.index == b.index && a.bytes == b.bytes && a.flags == b.flags;
  });
}

LayoutEntry& remember_layouts(RecordFrame& frame, LayoutEntry entry) {
  LayoutMemo& memo = frame.thread.memo;
  if (memo.full()) forget_layouts(frame.thread);
  entry.key.assign(frame.step.key().begin(), frame.step.key().end());
  entry.structure = &structure_of(frame);
  return memo.insert(std::make_unique<LayoutEntry>(std::move(entry)), frame.step.hash());
}

at::Tensor meta_twin(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return tensor;  // a number that travels by value stays
  TORCH_CHECK(!tensor.is_conj() && !tensor.is_neg(), "shape functions know nothing of conjugates and negatives");
  at::Tensor twin = at::detail::empty_strided_meta(tensor.sizes(), tensor.strides(), tensor.scalar_type());
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) twin.unsafeGetTensorImpl()->set_wrapped_number(true);
  return twin;
}

ResultSpec spec_of_meta(const at::Tensor& result) {
  ResultSpec spec = spec_of(result);
  spec.bytes = result.storage().nbytes();
  return spec;
}

namespace {

/// Remembers `results` for the frame's step if its structure allows that; null: it must run at the call.
LayoutEntry* infer(RecordFrame& frame, const std::vector<ResultSpec>& results) {
  LayoutMemo& memo = frame.thread.memo;
  if (memo.find(frame.step.key(), frame.step.hash()) != nullptr) return nullptr;  // to be verified
  if (!structure_of(frame).inferable || verifies_now(frame.thread)) return nullptr;
  LayoutEntry entry;
  entry.results = results;
  entry.returns.assign(results.size(), -1);
  for (const ResultSpec& spec : results) entry.fresh += spec.kind == ResultSpec::Kind::kFresh ? 1 : 0;
  engine().metrics().layouts_inferred.add();
  LayoutEntry& inferred = remember_layouts(frame, std::move(entry));
  memo.follow(inferred);
  return &inferred;
}

bool is_apart(const RecordFrame& frame, const at::TensorImpl& written) {
  return std::ranges::all_of(frame.tensors, [&written](const at::TensorImpl* other) {
    return other == &written || !written.unsafe_storage().is_alias_of(other->unsafe_storage());
  });
}

bool has_one_size(const RecordFrame& frame) {
  const at::IntArrayRef sizes = frame.tensors.front()->sizes();
  return std::ranges::all_of(frame.tensors, [sizes](const at::TensorImpl* one) { return one->sizes() == sizes; });
}

}  // namespace

LayoutEntry* infer_layouts(RecordFrame& frame, const std::vector<ResultSpec>& told) {
  if (told.empty() || frame.is_dynamic()) return nullptr;
  return infer(frame, told);
}

LayoutEntry* infer_in_place(RecordFrame& frame, const at::Tensor& written, bool fits) {
  if (!frame.recordable || frame.is_dynamic()) return nullptr;
  const at::TensorImpl* impl = written.unsafeGetTensorImpl();
  const auto found = std::ranges::find(frame.tensors, impl);
  if (found == frame.tensors.end() || !impl->is_contiguous() || !is_apart(frame, *impl)) return nullptr;
  if (!fits && !has_one_size(frame)) return nullptr;
  ResultSpec spec;
  spec.kind = ResultSpec::Kind::kArgument;
  spec.index = static_cast<std::uint32_t>(found - frame.tensors.begin());
  return infer(frame, {spec});
}

}  // namespace aee
