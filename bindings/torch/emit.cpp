#include "bindings/torch/emit.h"

#include "bindings/torch/layouts.h"
#include "bindings/torch/resize.h"
#include "bindings/torch/source_line.h"
#include "core/engine/segment_recorder.h"
#include "lowering/aten/step_run.h"

namespace aee {
namespace {

StepPayload payload_of(const RecordFrame& frame, const LayoutEntry& layouts) {
  StepPayload payload{};
  payload.op = &frame.op;
  payload.layout = &layouts;
  payload.state = frame.state;
  payload.source = frame.op.has(kMayFail | kDraws) ? current_source() : 0;
  payload.slot_count = static_cast<std::uint32_t>(frame.step.slots().size());
  payload.param_count = static_cast<std::uint32_t>(frame.step.params().size());
  return payload;
}

}  // namespace

namespace detail {

LayoutEntry* lookup(RecordFrame& frame) {
  if (!frame.recordable || frame.is_dynamic()) return nullptr;
  LayoutEntry* layouts =
      frame.step.expecting() ? frame.expected : frame.thread.memo.find(frame.step.key(), frame.step.hash());
  if (layouts == nullptr) {
    engine().metrics().layout_misses.add();
    return nullptr;
  }
  if (verifies_now(frame.thread)) [[unlikely]]
    return nullptr;
  return layouts;
}

void apply_relayouts(RecordFrame& frame, const LayoutEntry& layouts) {
  for (const Relayout& relayout : layouts.relayouts) {
    at::TensorImpl* tensor = frame.tensors[relayout.argument];
    const ResultSpec& layout = relayout.layout;
    if (tensor->storage().nbytes() < layout.bytes) resize_storage(tensor->storage(), layout.bytes, Content::kDrop);
    tensor->set_sizes_and_strides(layout.sizes, layout.strides, layout.offset);
  }
}

LayoutEntry* remember_settled(RecordFrame& frame, const LayoutEntry& layouts) {
  LayoutEntry entry;
  entry.results = layouts.results;
  entry.returns = layouts.returns;
  entry.fresh = layouts.fresh;
  entry.shares = layouts.shares;
  return &remember_layouts(frame, std::move(entry));
}

}  // namespace detail

Emission::Emission(RecordFrame& frame, LayoutEntry& layouts) : frame_(frame), layouts_(layouts) {
  Engine& the_engine = engine();
  const int device = frame.device_or_current();
  DeviceContext& context = the_engine.device(device);
  c10::SmallVector<Buffer*, 4> fresh;
  translate_errors([&] {
    for (const ResultSpec& spec : layouts.results) {
      if (spec.kind != ResultSpec::Kind::kFresh) continue;
      storages_.push_back(make_storage(context.acquire(spec.bytes, Birth::kByLaunch)));
      fresh.push_back(static_cast<Buffer*>(storages_.back().data_ptr().get_context()));
    }
    const StepPayload payload = payload_of(frame, layouts);
    const std::uint32_t flags = frame.state.threads > 1 ? std::uint32_t{kLaunchParallel} : 0;
    const StepCode code{&run_step, &describe_step, flags, &payload, sizeof(payload)};
    const std::span<Buffer* const> results(fresh.data(), fresh.size());
    ThreadContext& thread = frame.thread;
    if (is_adaptive(thread)) {
      SegmentRecorder& recorder = segment_recorder(thread, device);
      recorder.record(frame.step, layouts, results, code, frame.op.has(kLibrary));
      thread.traced_hits.count();
      if (frame.started != decltype(frame.started){}) [[unlikely]] {
        const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - frame.started;
        recorder.add_recording(static_cast<std::uint64_t>(time.count()));
      }
    } else {
      thread.launcher.launch(context, thread.queue[static_cast<std::size_t>(device)], frame.step, results, code);
      thread.hits.count();
    }
  });
  frame.thread.launched[static_cast<std::size_t>(device)] = true;
}

at::Tensor Emission::result(std::size_t index) {
  const ResultSpec& spec = layouts_.results[index];
  const auto dtype = static_cast<at::ScalarType>(spec.dtype);
  c10::Storage storage;
  switch (spec.kind) {
    case ResultSpec::Kind::kUndefined:
      return at::Tensor();
    case ResultSpec::Kind::kArgument:
      return at::Tensor(
          c10::intrusive_ptr<at::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(frame_.tensors[spec.index]));
    case ResultSpec::Kind::kAlias:
      storage = frame_.tensors[spec.index]->storage();
      break;
    case ResultSpec::Kind::kShared:
    case ResultSpec::Kind::kFresh: {
      std::size_t fresh = 0;
      const std::size_t of = spec.kind == ResultSpec::Kind::kFresh ? index : spec.index;
      for (std::size_t i = 0; i < of; ++i) fresh += layouts_.results[i].kind == ResultSpec::Kind::kFresh ? 1 : 0;
      // Handing it over saves two atomic operations; only a result that shares memory needs it again.
      storage = layouts_.shares ? storages_[fresh] : std::move(storages_[fresh]);
      break;
    }
  }
  at::Tensor tensor = spec.contiguous ? make_tensor(std::move(storage), dtype, spec.sizes, {}, spec.offset)
                                      : make_tensor(std::move(storage), dtype, spec.sizes, spec.strides, spec.offset);
  if ((spec.flags & kConjugate) != 0) tensor._set_conj(true);
  if ((spec.flags & kNegative) != 0) tensor._set_neg(true);
  if ((spec.flags & kWrappedNumber) != 0) tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace aee
