// Hooks: what PyTorch's generic accelerator code asks of the device.
#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "bindings/torch/default_engine.h"
#include "bindings/torch/generator.h"
#include "bindings/torch/host_allocator.h"
#include "bindings/torch/resize.h"
#include "bindings/torch/streams.h"
#include "lowering/aten/handle.h"

namespace aee {
namespace {

struct NeuronHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  void init() const override { static_cast<void>(engine()); }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return engine_if_made() != nullptr; }
  c10::DeviceIndex deviceCount() const override { return device_count(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { set_current_device(device); }
  c10::DeviceIndex getCurrentDevice() const override { return static_cast<c10::DeviceIndex>(thread_context().device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceIndex old = getCurrentDevice();
    set_current_device(device);
    return old;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? getCurrentDevice() : exchangeDevice(device);
  }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &host_allocator(); }
  at::Device getDeviceFromPtr(void* data) const override {
    Engine& the_engine = engine();
    for (int index = 0; index < the_engine.device_count(); ++index) {
      if (the_engine.device(index).pool().owns(data)) {
        return {at::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(index)};
      }
    }
    TORCH_CHECK(false, "neuron: ", data, " is not an address of the device");
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device < 0 ? thread_context().device : device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return new_generator(device < 0 ? thread_context().device : device);
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    resize_storage(storage, bytes, Content::kKeep);
  }
};

const bool registered = [] {
  c10::register_privateuse1_backend("neuron");
  at::RegisterPrivateUse1HooksInterface(new NeuronHooks);
  return true;
}();

}  // namespace
}  // namespace aee
