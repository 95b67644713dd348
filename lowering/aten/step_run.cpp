#include "lowering/aten/step_run.h"

#include <atomic>

#include "core/base/error.h"
#include "lowering/aten/pointwise.h"
#include "lowering/aten/result_memory.h"

namespace aee {
namespace {

std::atomic<DescribeSource> source_describer{nullptr};

[[noreturn]] void fail_prediction(const AtenOp& op, const char* what) {
  throw InternalError(concat(op.name, ": its ", what, " depends on values that the engine took for irrelevant; ",
                             "please report this op"));
}

// What is learned from one run must hold for the next: a result that lies otherwise would corrupt its readers.
void check_prediction(const AtenOp& op, const at::Tensor& got, const ResultSpec& want) {
  const bool same = got.defined() && got.scalar_type() == static_cast<at::ScalarType>(want.dtype) &&
                    got.sizes() == at::IntArrayRef(want.sizes) && got.strides() == at::IntArrayRef(want.strides) &&
                    got.storage_offset() == want.offset && got.storage().nbytes() == want.bytes;
  if (!same) [[unlikely]]
    fail_prediction(op, "result layout");
}

void adopt_results(StepRun& run, const LayoutEntry& layout, std::span<Buffer* const> buffers, ResultMemory& memory) {
  if (layout.fresh == 0) return;
  if (run.results.size() != layout.results.size()) fail_prediction(run.op, "number of results");
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < layout.results.size(); ++i) {
    const ResultSpec& spec = layout.results[i];
    if (spec.kind != ResultSpec::Kind::kFresh) continue;
    check_prediction(run.op, run.results[i], spec);
    memory.adopt(*buffers[fresh++], spec, std::move(run.results[i]));
  }
}

StepRun begin_run(StepPayload& payload) noexcept {
  const std::span<const std::uint64_t> key = payload.layout->key;
  return {*payload.op, key, StepReader(key, payload.params()), payload.slots(), {}};
}

void invoke(StepPayload& payload, std::span<Buffer* const> buffers) {
  StepRun run = begin_run(payload);
  ResultMemory memory(*payload.layout, buffers);
  payload.op->invoke(run);
  adopt_results(run, *payload.layout, buffers, memory);
}

/// Runs the step by what is prepared for its key, or prepares it. False if it is still to be run.
bool run_prepared(StepPayload& payload, std::span<Buffer* const> buffers) {
  if (payload.op->prepare == nullptr) return false;
  PreparedSlot& slot = payload.layout->prepared;
  std::unique_ptr<Prepared> prepared;
  switch (slot.take(&prepared)) {
    case PreparedSlot::Turn::kFirst:
    case PreparedSlot::Turn::kNone:
      return false;
    case PreparedSlot::Turn::kPrepare:
      prepared = payload.op->prepare();
      break;
    case PreparedSlot::Turn::kReady:
      break;
  }
  StepRun run = begin_run(payload);
  const auto outcome =
      static_cast<PreparedKernel&>(*prepared).run(run, *payload.layout, buffers.first(payload.layout->fresh));
  if (outcome == PreparedKernel::Outcome::kRan) slot.put(std::move(prepared));
  return outcome != PreparedKernel::Outcome::kUnfit;
}

}  // namespace

void run_step(Launch& launch) {
  auto& payload = *static_cast<StepPayload*>(launch.payload());
  apply_thread_state(payload.state);
  try {
    if (!run_prepared(payload, launch.buffers())) invoke(payload, launch.buffers());
  } catch (c10::Error& error) {
    error.add_context("neuron: raised by " + describe_step(launch));
    throw;
  }
}

std::string describe_step(const Launch& launch) {
  const auto& payload = *static_cast<const StepPayload*>(launch.payload());
  const std::string line = source_text(payload.source);
  return line.empty() ? payload.op->name : payload.op->name + " at " + line;
}

void set_source_describer(DescribeSource describe) noexcept {
  source_describer.store(describe, std::memory_order_release);
}

std::string source_text(std::uint64_t source) {
  const DescribeSource describe = source_describer.load(std::memory_order_acquire);
  return source != 0 && describe != nullptr ? describe(source) : std::string();
}

}  // namespace aee
