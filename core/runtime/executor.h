// Executor: what happens to one launch when its turn has come, the same on every device that runs in this process.
//
// Skip it if what it depends on has failed, else run it and turn an exception into a Failure on what it writes; then
// discard the payload and release the buffers. Called by the consumer of a queue, one launch at a time a queue.
#pragma once

#include <cstdint>

#include "core/base/metrics.h"
#include "core/runtime/failure.h"
#include "core/runtime/launch.h"

namespace aee {

/// What execute() does with a launch that nothing forbids.
enum class Execution : std::uint8_t {
  kRun,      ///< runs it
  kPretend,  ///< treats it as a success without running it
  kFail,     ///< treats it as a launch that threw
};

/// Runs or skips the launch, marks its buffers and counts. The failure if this launch failed itself, else null.
[[nodiscard]] FailurePtr execute(Launch& launch, Execution execution, Metrics& metrics) noexcept;

/// Discards the payload and releases the buffers. To be called before the completion becomes visible, so that nothing
/// seems to be in use after a wait.
void finish(Launch& launch) noexcept;

}  // namespace aee
