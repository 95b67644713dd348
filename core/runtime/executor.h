// Executor: what happens to one launch when its turn has come, the same on every device that runs in this process.
//
// Skip it if what it depends on has failed, else run it and turn an exception into a Failure on what it writes; then
// discard the payload and release the buffers. Called by the consumer of a queue, one launch at a time a queue; only
// retire() belongs to the producers: see Note [Lives of a small buffer].
#pragma once

#include <cstdint>
#include <vector>

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

/// Runs or skips the launch (of a segment: each launch in it), marks its buffers and counts. The failures that arose
/// here, oldest first; empty, without an allocation, if all went well.
[[nodiscard]] std::vector<FailurePtr> execute(Launch& launch, Execution execution, Metrics& metrics) noexcept;

/// Discards the payload and releases the buffers that are not small, so that their memory is free at once. To be called
/// before the completion becomes visible.
void finish(Launch& launch) noexcept;
/// Releases the small buffers, of a segment: of each launch in it. Once, by a host thread, after the completion.
void retire(const Launch& launch) noexcept;

}  // namespace aee
