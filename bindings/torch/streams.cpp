#include "bindings/torch/streams.h"

#include "bindings/torch/default_engine.h"
#include "bindings/torch/warnings.h"

namespace aee {

int device_count() noexcept {
  if (const Engine* made = engine_if_made()) return made->device_count();
  try {
    return static_cast<int>(std::min<std::uint64_t>(configuration().device_count, kMaxDevices));
  } catch (...) {
    return 0;
  }
}

int checked_device(int index) {
  const int count = device_count();
  if (count == 0) static_cast<void>(engine());  // says what is wrong with the environment
  const int chosen = index == kCurrentDevice ? thread_context().device : index;
  TORCH_CHECK(chosen >= 0 && chosen < count, "neuron: expected a device index from 0 to ", count - 1, ", got ", chosen);
  return chosen;
}

c10::Device device(int index) {
  return {c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(checked_device(index))};
}

void set_current_device(int index) { thread_context().device = checked_device(index); }

c10::Stream stream_of(int device, c10::StreamId id) {
  const c10::Device where(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
  return c10::Stream(c10::Stream::UNSAFE, where, id);
}

c10::Stream new_stream(int device) {
  const int index = checked_device(device);
  return stream_of(index, engine().device(index).streams().new_stream());
}

c10::Stream current_stream(int device) {
  const int index = checked_device(device);
  return stream_of(index, thread_context().stream[static_cast<std::size_t>(index)]);
}

c10::Stream default_stream(int device) { return stream_of(checked_device(device), kDefaultStream); }

void set_current_stream(const c10::Stream& stream) {
  TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1, "neuron: expected a stream of neuron, got one of ",
              stream.device());
  ThreadContext& thread = thread_context();
  const auto device = static_cast<std::size_t>(checked_device(stream.device_index()));
  if (thread.stream[device] == stream.id()) return;
  thread.queue[device] = translate_errors([&] { return engine().device(stream.device_index()).queue(stream.id()); });
  thread.stream[device] = stream.id();
}

namespace {

void do_nothing(Launch& /*launch*/) {}

}  // namespace

void wait_on_stream(int device, Timepoint point, const c10::Stream& stream) {
  Engine& the_engine = engine();
  DeviceContext& from = the_engine.device(device);
  if (from.reached(point)) return;
  if (device != stream.device_index()) {
    from.device().wait(point, WaitMode::kHelp);
    return;
  }
  const QueueId queue = translate_errors([&] { return from.queue(stream.id()); });
  if (queue == point.queue) return;
  from.cut_queue(queue, CutReason::kEvent, /*waiting=*/false);  // what was recorded before need not wait
  struct {
    Launch launch;
    Timepoint wait;
  } block{};
  block.launch.run = &do_nothing;
  block.launch.size = sizeof(block);
  block.launch.wait_count = 1;
  block.launch.op_count = 0;
  block.wait = point;
  translate_errors([&] { from.submit(queue, block.launch); });
}

void synchronize(int index) {
  const int chosen = checked_device(index);
  if (engine_if_made() == nullptr) return;
  translate_errors([&] { engine().device(chosen).synchronize(); });
  emit_warnings();
}

}  // namespace aee
