// NullDevice: accepts launches, runs nothing and is done at once: what remains is the engine's own overhead.
//
// Order, marks, counters and ownership are those of a real device, values are not: device memory is zero. No threads.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "core/base/spin_lock.h"
#include "core/runtime/arena.h"
#include "core/runtime/device.h"
#include "core/runtime/timeline.h"

namespace aee {

class NullDevice final : public Device {
 public:
  NullDevice(const Config& config, Metrics& metrics, const ThreadHooks& hooks);

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] void* allocate(std::size_t bytes) override;
  void free(void* memory) noexcept override { arena_.free(memory); }
  [[nodiscard]] bool owns(const void* memory) const noexcept override { return arena_.owns(memory); }
  void trim() noexcept override { arena_.trim(); }
  void memory_reserved(std::uint64_t* now, std::uint64_t* peak) const noexcept override;

  QueueId open_queue() override;
  [[nodiscard]] Submitted submit(QueueId queue, const Launch& launch, Timepoint* point) override;
  [[nodiscard]] std::uint64_t completed(QueueId queue) const noexcept override;
  [[nodiscard]] std::uint64_t submitted(QueueId queue) const noexcept override { return completed(queue); }
  void wait(Timepoint point, WaitMode mode) override;
  [[nodiscard]] FailurePtr take_failure(QueueId) override { return nullptr; }

 private:
  struct Queue {
    Timeline timeline;
    SpinLock lock;  // guards sequence and the order of completions
    std::uint64_t sequence = 0;
  };
  [[nodiscard]] Queue& queue(std::uint64_t id) const;

  Capabilities capabilities_;
  Metrics& metrics_;
  const ThreadHooks hooks_;
  Arena arena_;
  std::mutex opening_;  // guards the making of queues
  std::atomic<std::size_t> opened_{0};
  std::array<std::unique_ptr<Queue>, kMaxQueues> queues_;
};

}  // namespace aee
