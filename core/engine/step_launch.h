// From a recorded step to a launch: which buffers it names, what it waits for, and the block that the queue copies.
//
//   payload:  | header (opaque) | Buffer* slots[] | the step's words |
//
// A StepLauncher belongs to one recorder thread and reuses its memory.
#pragma once

#include <span>

#include "core/engine/device_context.h"
#include "ir/step.h"

namespace aee {

/// How a step runs, for the layer that knows.
struct StepCode {
  Launch::Run run;
  Launch::Describe describe;
  std::uint32_t flags;          ///< LaunchFlags
  const void* header;           ///< copied in front of the slots
  std::size_t header_bytes;     ///< a multiple of 8
};

class StepLauncher {
 public:
  /// Launches a step. `fresh`: the buffers of its new results, in order; they come first among the launch's buffers.
  /// Waits for launches on other queues that use the same buffers are added. On an exception nothing was launched.
  Timepoint launch(DeviceContext& context, QueueId queue, const StepWriter& step, std::span<Buffer* const> fresh,
                   const StepCode& code);

 private:
  WordArray block_;
};

}  // namespace aee
