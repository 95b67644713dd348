#include "core/runtime/submit.h"

namespace aee {

Timepoint submit_when_room(Device& device, QueueId queue, const Launch& launch, Counter* full_waits) {
  Timepoint point;
  while (device.submit(queue, launch, &point) == Submitted::kFull) {
    if (full_waits != nullptr) full_waits->add();
    // A quarter of the backlog, so that a producer that is faster than the device does not wait once a launch.
    const std::uint64_t done = device.completed(queue), accepted = device.submitted(queue);
    if (accepted > done) device.wait(timepoint(queue, done + 1 + (accepted - done) / 4), WaitMode::kHelp);
  }
  return point;
}

}  // namespace aee
