#include "bindings/torch/boxed.h"

#include <mutex>
#include <unordered_map>

#include "bindings/torch/emit.h"
#include "bindings/torch/inline_call.h"

namespace aee {
namespace {

void encode_stack(RecordFrame& frame, const torch::jit::Stack& stack, std::size_t base) {
  for (std::size_t i = base; i < stack.size(); ++i) {
    const c10::IValue& value = stack[i];
    if (frame.op.generator[frame.argument]) {
      encode_generator(frame, value.isNone() ? std::nullopt : std::optional<at::Generator>(value.toGenerator()));
    } else {
      encode_value(frame, value);
    }
    ++frame.argument;
  }
}

void push_results(const LayoutEntry& layouts, Emission& emission, torch::jit::Stack& results) {
  std::size_t index = 0;
  for (const std::int32_t count : layouts.returns) {
    if (count < 0) {
      results.emplace_back(emission.result(index++));
      continue;
    }
    c10::List<at::Tensor> list;
    for (std::int32_t i = 0; i < count; ++i) list.push_back(emission.result(index++));
    results.emplace_back(std::move(list));
  }
}

class BoxedKernel final : public c10::OperatorKernel {
 public:
  explicit BoxedKernel(const AtenOp& op) : op_(op) {}
  void operator()(const c10::OperatorHandle& /*handle*/, c10::DispatchKeySet /*keys*/, torch::jit::Stack* stack) {
    record_boxed(op_, stack);
  }

 private:
  const AtenOp& op_;
};

// Composite operators that run as a whole on CPU tensors, because their kernel looks at the device or at which of its
// arguments are one object.
bool runs_whole(const std::string& name) {
  static const char* const kNames[] = {"aten::convolution_overrideable",
                                       "aten::convolution_backward_overrideable",
                                       "aten::_convolution",
                                       "aten::mkldnn_convolution",
                                       "aten::conj_physical_",
                                       "aten::ldexp.Tensor",
                                       "aten::ldexp_",
                                       "aten::ldexp.out",
                                       "aten::mode.values",
                                       "aten::addr_",
                                       "aten::max_pool1d"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

void record_boxed(const AtenOp& op, torch::jit::Stack* stack) {
  RecordFrame frame(op);
  const std::size_t base = stack->size() - op.written.size();
  encode_stack(frame, *stack, base);
  LayoutEntry* layouts = find_layouts(frame, [&] {
    frame.restart();
    encode_stack(frame, *stack, base);
  });
  if (layouts == nullptr) {
    call_inline(frame, *stack);
    return;
  }
  Emission emission(frame, *layouts);
  torch::jit::Stack results;
  push_results(*layouts, emission, results);
  torch::jit::drop(*stack, op.written.size());
  for (c10::IValue& value : results) stack->push_back(std::move(value));
}

void install_boxed(torch::Library& library) {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.getNamespace() != "aten") continue;
    const auto handle = dispatcher.findOp(name);
    if (!handle.has_value() || handle->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) continue;
    const std::string text = c10::toString(name);
    if (!handle->hasKernelForDispatchKey(c10::DispatchKey::CPU) && !runs_whole(text)) continue;
    const AtenOp& op = register_aten_op(*handle, nullptr);
    library.impl(text.c_str() + sizeof("aten::") - 1,
                 torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BoxedKernel>(op)));
  }
}

void record_unknown(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  static std::mutex mutex;  // guards known
  static auto* const known = new std::unordered_map<c10::OperatorName, const AtenOp*>;
  const AtenOp* op = nullptr;
  {
    const std::lock_guard guard(mutex);
    const AtenOp*& place = (*known)[handle.operator_name()];
    if (place == nullptr) place = &register_aten_op(handle, nullptr);
    op = place;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(handle.hasKernelForDispatchKey(c10::DispatchKey::CPU), "Could not run '", op->name,
                              "' with arguments from the 'neuron' backend: the CPU has no kernel for it either");
  record_boxed(*op, stack);
}

}  // namespace aee
