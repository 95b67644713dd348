// Random numbers: for one seed the device draws the numbers of the CPU, in program order. torch::manual_seed seeds the
// CPU's generator and those of all devices. Any thread. The functions start the device; for an index without a device
// they throw c10::Error.
#pragma once

#include <cstdint>

#include <ATen/core/Generator.h>
#include <adaptive_eager/device.h>
#include <adaptive_eager/export.h>

namespace aee {

/// Seeds the default generator of one device. Waits for the draws recorded before.
AEE_API void manual_seed(std::uint64_t seed, int device = kCurrentDevice);
/// The default generator of a device; lives as long as the process. Seeding or reading it waits for the draws recorded
/// before. Hold its mutex() while several threads use it.
[[nodiscard]] AEE_API const at::Generator& default_generator(int device = kCurrentDevice);

}  // namespace aee
