#include "bindings/torch/streams.h"

#include "bindings/torch/default_engine.h"
#include "bindings/torch/warnings.h"

namespace aee {

c10::DeviceIndex device_count() noexcept {
  if (const Engine* made = engine_if_made()) return static_cast<c10::DeviceIndex>(made->device_count());
  try {
    const std::uint64_t count = Config::from_environment().device_count;
    return static_cast<c10::DeviceIndex>(std::min<std::uint64_t>(count, kMaxDevices));
  } catch (...) {
    return 0;
  }
}

void set_current_device(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < device_count(), "neuron: expected a device index from 0 to ", device_count() - 1,
              ", got ", static_cast<int>(device));
  thread_context().device = device;
}

c10::Stream stream_of(int device, c10::StreamId id) {
  const c10::Device where(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
  return c10::Stream(c10::Stream::UNSAFE, where, id);
}

c10::Stream current_stream(int device) {
  TORCH_CHECK(device >= 0 && device < kMaxDevices, "neuron: no device with index ", device);
  return stream_of(device, thread_context().stream[static_cast<std::size_t>(device)]);
}

void set_current_stream(const c10::Stream& stream) {
  ThreadContext& thread = thread_context();
  const auto device = static_cast<std::size_t>(stream.device_index());
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

void synchronize_device(c10::DeviceIndex device) {
  Engine* made = engine_if_made();
  if (made == nullptr) return;
  const int index = device >= 0 ? device : thread_context().device;
  TORCH_CHECK(index < made->device_count(), "neuron: no device with index ", index);
  translate_errors([&] { made->device(index).synchronize(); });
  emit_warnings();
}

}  // namespace aee
