#include "bindings/torch/inline_call.h"

#include <algorithm>
#include <exception>

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/ScopeExit.h>

#include "bindings/torch/generator.h"
#include "bindings/torch/layouts.h"
#include "bindings/torch/resize.h"
#include "core/base/log.h"
#include "lowering/aten/cpu_scope.h"
#include "lowering/aten/mirror.h"
#include "lowering/aten/step_run.h"

namespace aee {
namespace {

using c10::IValue;

// One device tensor among the arguments and its CPU twin.
struct Twin {
  at::TensorImpl* device;  // alive: the stack holds it
  at::Tensor cpu;
  bool written;
};

at::Tensor tensor_of(at::TensorImpl* impl) {
  return at::Tensor(c10::intrusive_ptr<at::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(impl));
}

class InlineCall {
 public:
  InlineCall(RecordFrame& frame, torch::jit::Stack& stack, const std::vector<ResultSpec>& told)
      : frame_(frame), stack_(stack), arguments_(frame.op.handle.schema().arguments().size()), told_(told) {}

  void run();

 private:
  void call_kernel(torch::jit::Stack& cpu_stack, int device);
  IValue to_cpu(const IValue& value, bool written);
  at::Tensor twin_of(const at::Tensor& tensor, bool written);
  IValue to_device(const IValue& value);
  at::Tensor adopt_result(const at::Tensor& result);
  void settle_written(const Twin& twin);
  void replace_layout(const Twin& twin);
  bool find_argument(const Twin& twin, std::uint32_t* index) const;
  void remember();

  RecordFrame& frame_;
  torch::jit::Stack& stack_;
  std::size_t arguments_;
  std::vector<Twin> twins_;
  std::vector<std::pair<c10::StorageImpl*, c10::Storage>> adopted_;  // CPU storage of a result -> its device storage
  std::vector<c10::StorageImpl*> fresh_;                             // CPU storages of fresh results, by result
  const std::vector<ResultSpec>& told_;                              // by PyTorch's shape function
  LayoutEntry entry_;
  bool memorable_ = true;
};

at::Tensor InlineCall::twin_of(const at::Tensor& tensor, bool written) {
  for (Twin& twin : twins_) {
    if (twin.device == tensor.unsafeGetTensorImpl()) {
      twin.written |= written;
      return twin.cpu;
    }
  }
  at::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const StoragePlace place = place_of(*impl->unsafe_storage().unsafeGetStorageImpl());
  DeviceContext& context = engine().device(place.buffer->device());
  context.wait_for(*place.buffer, CutReason::kFirstSighting);
  context.check(*place.buffer);
  std::uint8_t flags = 0;
  if (impl->is_conj()) flags |= kConjugate;
  if (impl->is_neg()) flags |= kNegative;
  if (impl->is_wrapped_number()) flags |= kWrappedNumber;
  if (frame_.op.has(kNeedsGrad) && impl->requires_grad()) flags |= kRequiresGrad;
  const std::int64_t shift =
      place.byte_offset == 0 ? 0 : place.byte_offset / static_cast<std::int64_t>(impl->itemsize());
  at::Tensor cpu = make_cpu_view(mirror_storage(*place.buffer), tensor.scalar_type(), tensor.sizes(), tensor.strides(),
                                 tensor.storage_offset() + shift, flags);
  twins_.push_back({impl, cpu, written});
  return cpu;
}

IValue InlineCall::to_cpu(const IValue& value, bool written) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined() || !tensor.is_privateuseone()) return value;
    return twin_of(tensor, written);
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(to_cpu(tensor, written).toTensor());
    return list;
  }
  if (value.isList()) {
    const c10::ArrayRef<IValue> values = value.toListRef();
    const bool tensors = std::any_of(values.begin(), values.end(), [](const IValue& one) { return one.isTensor(); });
    if (!tensors) return value;
    c10::List<std::optional<at::Tensor>> list;
    for (const IValue& one : values) {
      list.push_back(one.isNone() ? std::optional<at::Tensor>()
                                  : std::optional<at::Tensor>(to_cpu(one, written).toTensor()));
    }
    return list;
  }
  if (value.isDevice()) return value.toDevice().is_privateuseone() ? IValue(at::Device(at::kCPU)) : value;
  return value;
}

void InlineCall::run() {
  const std::size_t base = stack_.size() - arguments_;
  const int device = frame_.device_or_current();
  DeviceContext& context = engine().device(device);
  torch::jit::Stack cpu_stack;
  cpu_stack.reserve(arguments_);
  for (std::size_t i = 0; i < arguments_; ++i) {
    const IValue& value = stack_[base + i];
    if (frame_.op.generator[i]) {
      const auto chosen = value.isNone() ? std::nullopt : std::optional<at::Generator>(value.toGenerator());
      cpu_stack.emplace_back(inner_generator(*generator_state(chosen, device)));
    } else {
      cpu_stack.push_back(to_cpu(value, frame_.op.written[i]));
    }
  }
  const QueueId queue = frame_.thread.queue[static_cast<std::size_t>(device)];
  // A kernel that raises may have resized an `out` before.
  const auto settle_all = [this] {
    for (const Twin& twin : twins_) {
      if (twin.written) settle_written(twin);
    }
  };
  try {
    run_for_device(context, queue, frame_.state, [&] { call_kernel(cpu_stack, device); });
  } catch (...) {
    try {
      settle_all();
    } catch (const c10::Error&) {  // the first error is the one to tell
    }
    throw;
  }
  settle_all();
  torch::jit::Stack results;
  for (const IValue& value : cpu_stack) results.push_back(to_device(value));
  remember();
  torch::jit::drop(stack_, arguments_);
  for (IValue& value : results) stack_.push_back(std::move(value));
}

void InlineCall::call_kernel(torch::jit::Stack& cpu_stack, int device) {
  if (!frame_.op.draws_implicitly) {
    frame_.op.handle.redispatchBoxed(kCpuKeys, &cpu_stack);
    return;
  }
  // The kernel draws from the CPU's default generator: lend it the state of the device's.
  at::Generator own = inner_generator(*generator_state(std::nullopt, device));
  at::Generator lent = at::detail::getDefaultCPUGenerator();
  const at::Tensor before = lent.get_state();
  lent.set_state(own.get_state());
  const auto give_back = c10::make_scope_exit([&] {
    own.set_state(lent.get_state());
    lent.set_state(before);
  });
  frame_.op.handle.redispatchBoxed(kCpuKeys, &cpu_stack);
}

// A kernel may have resized, moved or flagged what it wrote.
void InlineCall::settle_written(const Twin& twin) {
  const at::Tensor tensor = tensor_of(twin.device);
  Buffer* buffer = buffer_of(*tensor.unsafeGetTensorImpl());
  const c10::Storage& cpu_storage = twin.cpu.storage();
  const bool moved = buffer->backing().object == nullptr ||
                     cpu_storage.unsafeGetStorageImpl() != mirror_storage(*buffer).unsafeGetStorageImpl();
  const bool resized = cpu_storage.nbytes() != buffer->bytes();
  const bool laid_out = twin.cpu.sizes() != tensor.sizes() || twin.cpu.strides() != tensor.strides() ||
                        twin.cpu.storage_offset() != tensor.storage_offset();
  if (moved || resized) {
    BufferRef fresh = translate_errors([&] { return engine().device(buffer->device()).acquire(cpu_storage.nbytes()); });
    adopt(*fresh.get(), make_cpu_view(cpu_storage, twin.cpu.scalar_type(), twin.cpu.sizes(), twin.cpu.strides(),
                                      twin.cpu.storage_offset(), 0));
    replace_buffer(*tensor.storage().unsafeGetStorageImpl(), std::move(fresh));
  }
  if (laid_out) replace_layout(twin);
  if (twin.cpu.is_conj() != tensor.is_conj()) tensor._set_conj(twin.cpu.is_conj()), memorable_ = false;
  if (twin.cpu.is_neg() != tensor.is_neg()) tensor._set_neg(twin.cpu.is_neg()), memorable_ = false;
  if ((moved || resized) && !laid_out) memorable_ = false;
}

void InlineCall::replace_layout(const Twin& twin) {
  const at::Tensor tensor = tensor_of(twin.device);
  // Only the resize of an empty tensor is silent; the others warn each time and so must run each time.
  if (tensor.numel() != 0) memorable_ = false;
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(twin.cpu.sizes(), twin.cpu.strides(), twin.cpu.storage_offset());
  Relayout relayout;
  memorable_ &= find_argument(twin, &relayout.argument);
  relayout.layout = spec_of(twin.cpu);
  relayout.layout.bytes = twin.cpu.storage().nbytes();
  entry_.relayouts.push_back(std::move(relayout));
}

// The number of a twin among the recorded tensor arguments.
bool InlineCall::find_argument(const Twin& twin, std::uint32_t* index) const {
  const auto found = std::find(frame_.tensors.begin(), frame_.tensors.end(), twin.device);
  *index = static_cast<std::uint32_t>(found - frame_.tensors.begin());
  return found != frame_.tensors.end();
}

at::Tensor InlineCall::adopt_result(const at::Tensor& result) {
  if (!result.defined()) {
    entry_.results.emplace_back();
    return result;
  }
  for (const Twin& twin : twins_) {
    if (!twin.cpu.is_same(result)) continue;
    ResultSpec spec;
    spec.kind = ResultSpec::Kind::kArgument;
    memorable_ &= find_argument(twin, &spec.index);
    entry_.results.push_back(spec);
    return tensor_of(twin.device);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == at::kStrided && !result.is_quantized() && result.is_cpu(),
                              frame_.op.name, ": the device neuron has no tensors of this kind (", result.layout(),
                              result.is_quantized() ? ", quantized" : "", "); run the op on the CPU");
  ResultSpec spec = spec_of(result);
  c10::StorageImpl* cpu_storage = result.storage().unsafeGetStorageImpl();
  c10::Storage storage;
  for (const Twin& twin : twins_) {
    if (twin.cpu.storage().unsafeGetStorageImpl() != cpu_storage) continue;
    spec.kind = ResultSpec::Kind::kAlias;
    memorable_ &= find_argument(twin, &spec.index);
    storage = twin.device->storage();
    break;
  }
  for (std::size_t i = 0; i < adopted_.size() && !storage; ++i) {
    if (adopted_[i].first != cpu_storage) continue;
    spec.kind = ResultSpec::Kind::kShared;
    entry_.shares = true;
    for (std::size_t j = 0; j < fresh_.size(); ++j) {
      if (fresh_[j] == cpu_storage) spec.index = static_cast<std::uint32_t>(j);
    }
    storage = adopted_[i].second;
  }
  if (!storage) {
    spec.bytes = result.storage().nbytes();
    DeviceContext& context = engine().device(frame_.device_or_current());
    BufferRef buffer = translate_errors([&] { return context.acquire(spec.bytes); });
    adopt(*buffer.get(), make_cpu_view(result.storage(), result.scalar_type(), result.sizes(), result.strides(),
                                       result.storage_offset(), 0));
    storage = make_storage(std::move(buffer));
    adopted_.emplace_back(cpu_storage, storage);
    fresh_.resize(entry_.results.size(), nullptr);
    fresh_.push_back(cpu_storage);
    ++entry_.fresh;
  }
  at::Tensor tensor = make_tensor(std::move(storage), result.scalar_type(), result.sizes(),
                                  spec.contiguous ? at::IntArrayRef() : result.strides(), result.storage_offset());
  if (result.is_conj()) tensor._set_conj(true);
  if (result.is_neg()) tensor._set_neg(true);
  if ((spec.flags & kWrappedNumber) != 0) tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  entry_.results.push_back(std::move(spec));
  return tensor;
}

IValue InlineCall::to_device(const IValue& value) {
  if (value.isTensor()) {
    entry_.returns.push_back(-1);
    return adopt_result(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    entry_.returns.push_back(static_cast<std::int32_t>(value.toTensorVector().size()));
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(adopt_result(tensor));
    return list;
  }
  memorable_ = false;
  return value;
}

void InlineCall::remember() {
  LayoutMemo& memo = frame_.thread.memo;
  if (!memorable_ || !frame_.recordable || frame_.is_dynamic()) return;
  if (const LayoutEntry* known = memo.find(frame_.step.key(), frame_.step.hash())) {
    // Verify mode: what was remembered must be what happened.
    engine().metrics().verified_layouts.add();
    TORCH_INTERNAL_ASSERT(same_layouts(known->results, entry_.results), frame_.op.name,
                          ": remembered result layouts differ from what the op returned");
    TORCH_INTERNAL_ASSERT(told_.empty() || !known->structure->inferable || same_layouts(told_, entry_.results),
                          frame_.op.name, ": result layouts differ from what PyTorch's shape function tells");
    return;
  }
  LayoutEntry& added = remember_layouts(frame_, std::move(entry_));
  const auto is_argument = [](const ResultSpec& spec) { return spec.kind == ResultSpec::Kind::kArgument; };
  const bool only_writes = std::ranges::all_of(added.results, is_argument);
  added.structure->inferable = added.relayouts.empty() && (only_writes || same_layouts(told_, added.results));
  memo.follow(added);
}

struct Detour {
  void (*body)(void*);
  void* data;
  const ThreadState* state;
  std::exception_ptr error;
};

void run_detour(Launch& launch) {
  Detour& detour = **static_cast<Detour**>(launch.payload());
  apply_thread_state(*detour.state);
  try {
    detour.body(detour.data);
  } catch (...) {
    detour.error = std::current_exception();
  }
}

}  // namespace

void call_inline(RecordFrame& frame, torch::jit::Stack& stack, const std::vector<ResultSpec>& told) {
  AEE_LOG(kDebug, frame.op.name,
          " runs at the call: ", frame.is_dynamic() ? "its results depend on values" : "first sight");
  Metrics& metrics = engine().metrics();
  if (frame.is_dynamic()) {
    metrics.cut(CutReason::kDynamicShape);
  } else if (!frame.recordable || frame.thread.memo.find(frame.step.key(), frame.step.hash()) == nullptr) {
    metrics.cut(CutReason::kFirstSighting);
  }
  metrics.ops_recorded.add();
  metrics.ops_inline.add();
  InlineCall(frame, stack, told).run();
  metrics.ops_executed.add();
}

// Note [Where inline work runs]
// With one compute thread it runs here: no hand-over. With more, the device thread owns the one OpenMP pool, so it runs
// there, and this thread only waits.
void run_for_device(DeviceContext& context, QueueId queue, const ThreadState& state, void (*body)(void*), void* data) {
  if (state.threads <= 1) {
    const CpuScope scope(Warnings::kPass);
    if (state.grad_mode != 0) c10::GradMode::set_enabled(true);
    body(data);
    return;
  }
  Detour detour{body, data, &state, nullptr};
  struct {
    Launch launch;
    Detour* detour;
  } block{};
  block.launch.run = &run_detour;
  block.launch.size = sizeof(block);
  block.launch.flags = kLaunchParallel;
  block.launch.op_count = 0;
  block.detour = &detour;
  const Timepoint point = context.submit(queue, block.launch);
  context.device().wait(point, WaitMode::kIdle);
  if (detour.error) std::rethrow_exception(detour.error);
}

}  // namespace aee
