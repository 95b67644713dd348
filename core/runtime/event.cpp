#include "core/runtime/event.h"

#include <chrono>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/runtime/submit.h"

namespace aee {

struct Event::Stamp {
  std::atomic<int> references{2};  // the event's and the launch's
  std::int64_t nanoseconds = 0;    // written before the launch is complete

  // The block of the launch that stamps.
  struct Block {
    Launch launch;
    Stamp* stamp;
  };
  /// The stamp is made in discard, which comes also where run does not: after a fault, on a device that runs nothing.
  static void discard(Launch& launch) noexcept {
    Stamp* stamp = *static_cast<Stamp**>(launch.payload());
    stamp->nanoseconds = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    drop(stamp);
  }
};

void Event::drop(Stamp* stamp) noexcept {
  if (stamp == nullptr || stamp->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::unique_ptr<Stamp> last(stamp);
}

Event::Event(Event&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      point_(std::exchange(other.point_, {})),
      stamp_(std::exchange(other.stamp_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this == &other) return *this;
  drop(stamp_);
  device_ = std::exchange(other.device_, nullptr);
  point_ = std::exchange(other.point_, {});
  stamp_ = std::exchange(other.stamp_, nullptr);
  return *this;
}

Event::~Event() { drop(stamp_); }

void Event::record(Device& device, QueueId queue, EventTiming timing) {
  Timepoint point = timepoint(queue, device.submitted(queue));
  std::unique_ptr<Stamp> stamp;
  if (timing == EventTiming::kOn) {
    stamp = std::make_unique<Stamp>();
    Stamp::Block block{{}, stamp.get()};
    block.launch.discard = &Stamp::discard;
    block.launch.size = sizeof block;
    block.launch.op_count = 0;
    block.launch.flags = kLaunchIgnoreFailed;
    point = submit_when_room(device, queue, block.launch);
  }
  drop(std::exchange(stamp_, stamp.release()));
  device_ = &device;
  point_ = point;
}

bool Event::query() const noexcept {
  return point_.none() || device_->completed(static_cast<QueueId>(point_.queue)) >= point_.sequence;
}

void Event::synchronize() const {
  if (!point_.none()) device_->wait(point_, WaitMode::kHelp);
}

std::int64_t Event::nanoseconds() const {
  if (stamp_ == nullptr) fail_user("elapsed_time: expected an event recorded with timing, got one without");
  if (!query()) fail_user("elapsed_time: expected a completed event, got a pending one; call synchronize() first");
  return stamp_->nanoseconds;
}

double Event::elapsed_ms(const Event& end) const {
  return static_cast<double>(end.nanoseconds() - nanoseconds()) * 1e-6;
}

}  // namespace aee
