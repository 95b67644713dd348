// Source lines: which Python line recorded a step that may fail when it runs. The language binding installs a hook that
// reads the calling frame; without one every line is unknown (0). Any thread.
#pragma once

#include <cstdint>

namespace aee {

/// Id of the calling source line, 0 if unknown. Must neither take a lock of the language nor allocate in steady state.
using CurrentSource = std::uint64_t (*)() noexcept;
void set_source_hook(CurrentSource hook) noexcept;
[[nodiscard]] std::uint64_t current_source() noexcept;

}  // namespace aee
