#include "core/runtime/device.h"

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/runtime/emulator.h"
#include "core/runtime/null.h"

namespace aee {

std::unique_ptr<Device> make_device(const Config& config, Metrics& metrics, const ThreadHooks& hooks) {
  switch (config.device) {
    case DeviceKind::kEmulator:
      return std::make_unique<Emulator>(config, metrics, hooks);
    case DeviceKind::kNull:
      return std::make_unique<NullDevice>(config, metrics, hooks);
    case DeviceKind::kNrt:
      break;
  }
  fail(ErrorKind::kUnsupported, "no device of kind '", name_of(config.device),
       "' in this build: the AWS Neuron runtime is not supported yet; set TORCH_NEURON_DEVICE to emulator or null");
}

}  // namespace aee
