#include "bindings/torch/default_engine.h"

#include <atomic>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <c10/core/AutogradState.h>
#include <c10/util/Exception.h>

#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/engine/segment_recorder.h"
#include "lowering/aten/cpu_scope.h"
#include "lowering/aten/handle.h"
#include "lowering/aten/state.h"

namespace aee {
namespace {

std::atomic<Engine*> the_engine{nullptr};
std::mutex making;  // guards the making of the engine
ThreadHooks hooks;  // guarded by `making`
constexpr std::size_t kMemoBytes = std::size_t{32} << 20;

void* enter_scope() noexcept;
void leave_scope(void* scope) noexcept;

Buffer* resolve_handle(const void* handle, std::size_t* byte_offset) {
  Engine* engine = engine_if_made();
  for (int index = 0; engine != nullptr && index < engine->device_count(); ++index) {
    BufferPool& pool = engine->device(index).pool();
    if (pool.owns(handle)) return pool.resolve(handle, byte_offset);
  }
  return nullptr;
}

void* enter_scope() noexcept { return new CpuScope(Warnings::kCollect); }

void leave_scope(void* scope) noexcept { delete static_cast<CpuScope*>(scope); }

// What programs set themselves. Guarded by `making`.
std::vector<std::pair<std::string, std::string>>& overrides() {
  static auto* const list = new std::vector<std::pair<std::string, std::string>>;
  return *list;
}

Config config_to_come() {
  Config config = Config::from_environment();
  for (const auto& [variable, text] : overrides()) config.set(variable, text);
  return config;
}

Engine& make_engine() {
  const std::lock_guard guard(making);
  if (Engine* made = the_engine.load(std::memory_order_acquire)) return *made;
  return translate_errors([]() -> Engine& {
    watch_forks();
    set_handle_resolver(&resolve_handle);
    hooks.enter = &enter_scope;
    hooks.leave = &leave_scope;
    detect_cpu();
    auto* made = new Engine(config_to_come(), hooks);
    set_log_level(made->config().log);
    // Emulated devices of one process share the memory of the first: they are one machine.
    install_scope_allocator(made->device(0).device());
    the_engine.store(made, std::memory_order_release);
    AEE_LOG(kInfo, "device neuron is ready: ", made->device_count(), " x ",
            made->device(0).device().capabilities().name, ", ",
            made->config().adaptive_eager ? "adaptive" : "op by op");
    return *made;
  });
}

}  // namespace

namespace {

// Waits for what a thread launched, at its end. It must not help: kernels use thread-local objects, and those of this
// thread may be gone already.
void await_launches(const ThreadContext& thread, Engine& made) {
  for (int index = 0; index < made.device_count(); ++index) {
    if (!thread.launched[static_cast<std::size_t>(index)]) continue;
    DeviceContext& context = made.device(index);
    const auto queues = static_cast<StreamId>(StreamTable::kQueues);
    for (StreamId stream = 0; stream < queues && context.streams().knows(stream); ++stream) {
      const QueueId queue = context.queue(stream);
      const std::uint64_t last = context.device().submitted(queue);
      if (last != 0) context.device().wait(timepoint(queue, last), WaitMode::kIdle);
    }
  }
}

}  // namespace

ThreadContext::ThreadContext() : memo(kMemoBytes) {
  // Backward then runs on the thread that calls it, with its streams, state and order, as it does for CPU tensors.
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

ThreadContext::~ThreadContext() {
  if (forked_child()) return;
  Engine* made = engine_if_made();
  for (int device = 0; made != nullptr && device < made->device_count(); ++device) {
    for (SegmentRecorder* recorder : recorders[static_cast<std::size_t>(device)]) {
      if (recorder != nullptr) made->device(device).give_back(recorder);
    }
  }
  if (made != nullptr) await_launches(*this, *made);
  if (watched) made->forget({hits, traced_hits});
}

Engine& engine() {
  TORCH_CHECK(!forked_child(),
              "Cannot re-initialize neuron in forked subprocess. To use neuron with multiprocessing, you must use the "
              "'spawn' start method");
  if (Engine* made = the_engine.load(std::memory_order_acquire)) [[likely]]
    return *made;
  return make_engine();
}

Config configuration() {
  if (const Engine* made = engine_if_made()) return made->config();
  const std::lock_guard guard(making);
  return translate_errors(&config_to_come);
}

void configure(std::string_view variable, std::string_view text) {
  const std::lock_guard guard(making);
  TORCH_CHECK(engine_if_made() == nullptr, "neuron: ", variable,
              " was to be set, but the device has started; set options before its first use");
  translate_errors([&] {
    Config config = config_to_come();
    config.set(variable, text);
  });
  overrides().emplace_back(variable, text);
}

Engine* engine_if_made() noexcept { return the_engine.load(std::memory_order_acquire); }

ThreadContext& thread_context() {
  // Not initial-exec: all our thread-locals would have to fit into what little room dlopen has for such libraries.
  static thread_local ThreadContext* current = nullptr;
  if (current != nullptr) [[likely]]
    return *current;
  static thread_local ThreadContext context;
  current = &context;
  if (Engine* made = engine_if_made()) {
    made->watch({context.hits, context.traced_hits});
    context.watched = true;
  } else {
    current = nullptr;  // look again once there is an engine to be watched by
  }
  return context;
}

SegmentRecorder& segment_recorder(ThreadContext& thread, int device) {
  const auto at = static_cast<std::size_t>(device);
  const QueueId queue = thread.queue[at];
  SegmentRecorder*& recorder = thread.recorders[at][queue];
  if (recorder == nullptr) recorder = engine().device(device).take_recorder(queue);
  return *recorder;
}

void synchronize_buffer(DeviceContext& context, Buffer& buffer) {
  context.synchronize_buffer(buffer);
  const Timepoint last = buffer.last_use();
  if (last.none()) return;
  SegmentRecorder* recorder = thread_context().recorders[static_cast<std::size_t>(context.index())][last.queue];
  if (recorder != nullptr && recorder->empty()) recorder->cut(CutReason::kHostRead, /*waiting=*/true);
}

void cut_thread(ThreadContext& thread, CutReason reason) {
  for (auto& of_device : thread.recorders) {
    for (SegmentRecorder* recorder : of_device) {
      if (recorder != nullptr) recorder->cut(reason, /*waiting=*/false);
    }
  }
}

void set_wait_hooks(void* (*block)() noexcept, void (*unblock)(void*) noexcept) noexcept {
  const std::lock_guard guard(making);
  hooks.block = block;
  hooks.unblock = unblock;
}

void forget_layouts(ThreadContext& thread) {
  if (Engine* made = engine_if_made()) {
    for (int index = 0; index < made->device_count(); ++index) {
      if (std::exchange(thread.launched[static_cast<std::size_t>(index)], false)) made->device(index).drain();
    }
  }
  thread.memo.clear();
}

void finish_work() noexcept {
  Engine* made = engine_if_made();
  if (made == nullptr || forked_child()) return;
  try {
    made->drain();
  } catch (...) {  // nobody is left to tell
  }
}

void throw_translated(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kOutOfMemory:
      TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
    case ErrorKind::kUnsupported:
      TORCH_CHECK_NOT_IMPLEMENTED(false, error.what());
    default:
      TORCH_CHECK(false, error.what());
  }
}

}  // namespace aee
