#include "core/runtime/stream.h"

#include "core/base/error.h"

namespace aee {

void StreamTable::refuse(StreamId stream) const {
  fail_user("stream: expected an id below ", next_.load(std::memory_order_relaxed), ", got ", stream);
}

QueueId StreamTable::open_queue(std::size_t place) {
  const std::lock_guard guard(opening_);
  int open = queues_[place].load(std::memory_order_relaxed);
  if (open < 0) {
    open = device_.open_queue();
    queues_[place].store(open, std::memory_order_release);
  }
  return static_cast<QueueId>(open);
}

}  // namespace aee
