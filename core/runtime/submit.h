// submit_when_room: submits a launch and, while the queue refuses it, waits (and helps) until it has room.
//
// For callers that have nothing better to do with a full queue. Any thread that may wait.
#pragma once

#include "core/base/metrics.h"
#include "core/runtime/device.h"

namespace aee {

/// The timepoint of the launch. Every wait is counted in `full_waits`, which may be null.
Timepoint submit_when_room(Device& device, QueueId queue, const Launch& launch, Counter* full_waits = nullptr);

}  // namespace aee
