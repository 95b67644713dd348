// The device guard: current device, streams and events, as PyTorch's generic code asks for them.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "bindings/torch/default_engine.h"
#include "bindings/torch/streams.h"
#include "bindings/torch/warnings.h"
#include "core/runtime/event.h"

namespace aee {
namespace {

constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;

struct TimedEvent {
  Event event;
  c10::DeviceIndex device = 0;
  bool timing = false;
};

struct NeuronGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kDevice; }

  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device old = getDevice();
    setDevice(device);
    return old;
  }
  c10::Device getDevice() const override { return {kDevice, static_cast<c10::DeviceIndex>(thread_context().device)}; }
  void setDevice(c10::Device device) const override { set_current_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { thread_context().device = device.index(); }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  c10::Stream getStream(c10::Device device) const override { return current_stream(index_of(device)); }
  c10::Stream getDefaultStream(c10::Device device) const override { return default_stream(index_of(device)); }
  c10::Stream getNewStream(c10::Device device, int /*priority*/) const override { return new_stream(index_of(device)); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool /*high_priority*/) const override {
    return getNewStream(device, 0);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream old = current_stream(stream.device_index());
    set_current_stream(stream);
    return old;
  }
  bool queryStream(const c10::Stream& stream) const override {
    DeviceContext& context = engine().device(stream.device_index());
    const QueueId queue = translate_errors([&] { return context.queue(stream.id()); });
    context.cut_queue(queue, CutReason::kSynchronize, /*waiting=*/true);
    return context.device().completed(queue) >= context.device().submitted(queue);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    DeviceContext& context = engine().device(stream.device_index());
    translate_errors([&] { context.synchronize_queue(context.queue(stream.id())); });
    emit_warnings();
  }
  void synchronizeDevice(c10::DeviceIndex device) const override { synchronize(device); }
  c10::DeviceCapability getDeviceCapability(c10::Device) const override { return {}; }
  bool isStreamCapturing(const c10::Stream&) const override { return false; }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag flag) const override {
    if (*event == nullptr) *event = new TimedEvent;
    auto& timed = *static_cast<TimedEvent*>(*event);
    DeviceContext& context = engine().device(stream.device_index());
    timed.device = stream.device_index();
    timed.timing = flag == c10::EventFlag::BACKEND_DEFAULT;
    translate_errors([&] {
      const QueueId queue = context.queue(stream.id());
      context.cut_queue(queue, CutReason::kEvent, /*waiting=*/false);
      timed.event.record(context.device(), queue, timed.timing ? EventTiming::kOn : EventTiming::kOff);
    });
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr) return;
    const auto& timed = *static_cast<TimedEvent*>(event);
    wait_on_stream(timed.device, timed.event.point(), stream);
  }
  bool queryEvent(void* event) const override {
    return event == nullptr || static_cast<TimedEvent*>(event)->event.query();
  }
  void synchronizeEvent(void* event) const override {
    if (event == nullptr) return;
    const auto& timed = *static_cast<TimedEvent*>(event);
    engine().metrics().syncs.add();
    timed.event.synchronize();
    emit_warnings();
  }
  double elapsedTime(void* start, void* end, c10::DeviceIndex) const override {
    TORCH_CHECK(start != nullptr && end != nullptr, "Both events must be recorded before calculating elapsed time.");
    return translate_errors(
        [&] { return static_cast<TimedEvent*>(start)->event.elapsed_ms(static_cast<TimedEvent*>(end)->event); });
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<TimedEvent*>(event); }

 private:
  static int index_of(c10::Device device) { return device.has_index() ? device.index() : kCurrentDevice; }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, NeuronGuard)

}  // namespace
}  // namespace aee
