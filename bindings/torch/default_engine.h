// The one engine behind the device `neuron`, and what each thread knows of it: current device, current streams, and
// the recorder's scratch. The engine is made at first use from the environment and never destroyed: tensors may
// outlive every static object. shutdown() finishes its work at exit.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <c10/core/Stream.h>

#include "cache/layout_memo.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/engine/step_launch.h"
#include "ir/step.h"

namespace aee {

class SegmentRecorder;

inline constexpr int kMaxDevices = 16;

/// What one thread keeps.
struct ThreadContext {
  ThreadContext();
  ~ThreadContext();
  ThreadContext(const ThreadContext&) = delete;
  ThreadContext& operator=(const ThreadContext&) = delete;

  int device = 0;                                   ///< current device
  std::array<c10::StreamId, kMaxDevices> stream{};  ///< current stream of each device
  std::array<QueueId, kMaxDevices> queue{};         ///< its queue
  StepWriter step;
  LayoutMemo memo;
  StepLauncher launcher;
  HitCounter hits;            ///< steps launched one by one
  HitCounter traced_hits;     ///< steps recorded into segments
  bool watched = false;       ///< the engine reads them
  signed char adaptive = -1;  ///< adaptive mode on this thread: 0 off, 1 on, -1 as the environment says
  /// Recorders of this thread, made when first used, by device and queue.
  std::array<std::array<SegmentRecorder*, StreamTable::kQueues>, kMaxDevices> recorders{};
  std::uint64_t verify_count = 0;
  std::uint32_t until_timed = 1;             ///< ops until one is timed for explain()
  std::array<bool, kMaxDevices> launched{};  ///< launches of this thread may refer to its memo
};

/// The engine; makes it if need be. Throws c10::Error (RuntimeError) in a forked child or for a wrong environment.
[[nodiscard]] Engine& engine();
/// The engine if it has been made, else null; never throws.
[[nodiscard]] Engine* engine_if_made() noexcept;
/// The configuration of the engine or, before it is made, of the one to come. Throws c10::Error for a wrong
/// environment.
[[nodiscard]] Config configuration();
/// Overrides a variable of the environment for the engine to come. Throws c10::Error if there is one already.
void configure(std::string_view variable, std::string_view text);
/// This thread's context. Turns off autograd's own threads for this thread, once: backward then runs where it is
/// called.
[[nodiscard]] ThreadContext& thread_context();
/// Whether steps of the thread gather in segments.
[[nodiscard]] inline bool is_adaptive(const ThreadContext& thread) {
  return thread.adaptive >= 0 ? thread.adaptive == 1 : engine().config().adaptive_eager;
}
/// Whether the thread's next step runs at the call, to check what is remembered.
[[nodiscard]] inline bool verifies_now(ThreadContext& thread) {
  const std::uint64_t every = engine().config().verify;
  return every != 0 && ++thread.verify_count % every == 0;
}
/// The thread's recorder for its current stream of a device.
[[nodiscard]] SegmentRecorder& segment_recorder(ThreadContext& thread, int device);
/// A sync point for a host read of a buffer. This thread's recorder hears of the wait even if it holds nothing back.
void synchronize_buffer(DeviceContext& context, Buffer& buffer);
/// Launches what the thread holds back, on all devices and streams.
void cut_thread(ThreadContext& thread, CutReason reason);

/// Hooks of the language binding, to be set before the engine is made.
void set_wait_hooks(void* (*block)() noexcept, void (*unblock)(void*) noexcept) noexcept;
/// Forgets a thread's remembered layouts after waiting for the launches that refer to them.
void forget_layouts(ThreadContext& thread);
/// Finishes all work; later work runs as before. Raises nothing.
void finish_work() noexcept;

/// Runs `body` and translates errors of the engine to PyTorch's exception types.
template <class Body>
decltype(auto) translate_errors(Body&& body);

[[noreturn]] void throw_translated(const Error& error);

template <class Body>
decltype(auto) translate_errors(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw_translated(error);
  }
}

}  // namespace aee
