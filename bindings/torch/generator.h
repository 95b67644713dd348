// The device's random generators: each wraps a CPU generator, so that the same seed gives the CPU's numbers.
//
// The state is a Buffer whose backing is the CPU generator: every draw names it as written, so draws keep program order
// across streams, and whoever reads or seeds it waits for the draws before. The default ones are in the public header
// random.h. Any thread.
#pragma once

#include <optional>

#include <ATen/core/Generator.h>
#include <adaptive_eager/random.h>

#include "core/runtime/buffer.h"

namespace aee {

/// A new generator for a device.
[[nodiscard]] at::Generator new_generator(int device);
/// The state that a draw writes: of the given generator, or of the device's default one. Throws if the generator
/// belongs to another device.
[[nodiscard]] Buffer* generator_state(const std::optional<at::Generator>& generator, int device);
/// The wrapped CPU generator of a state, once nothing uses it.
[[nodiscard]] at::Generator inner_generator(Buffer& state);

}  // namespace aee
