// Emulator: the default device, this machine's CPU behind the manners of an accelerator.
//
// Asynchronous, a thread a queue (emulator_queue.h), memory out of the host's reach (handles fault; the bytes come from
// an Arena), and hostile on demand (hostility.h). Owned by the engine. Destruction finishes what was accepted; in a
// forked child, where the threads do not exist, it leaks instead.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "core/runtime/arena.h"
#include "core/runtime/device.h"
#include "core/runtime/emulator_queue.h"

namespace aee {

/// Memory that one emulated device may use: what the configuration says, or three quarters of the host's.
[[nodiscard]] std::uint64_t emulated_memory_bytes(const Config& config);

class Emulator final : public Device {
 public:
  Emulator(const Config& config, Metrics& metrics, const ThreadHooks& hooks);
  ~Emulator() override;

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] void* allocate(std::size_t bytes) override;
  void free(void* memory) noexcept override { arena_.free(memory); }
  [[nodiscard]] bool owns(const void* memory) const noexcept override { return arena_.owns(memory); }
  void trim() noexcept override { arena_.trim(); }
  void memory_reserved(std::uint64_t* now, std::uint64_t* peak) const noexcept override;

  QueueId open_queue() override;
  [[nodiscard]] Submitted submit(QueueId queue, const Launch& launch, Timepoint* point) override;
  [[nodiscard]] std::uint64_t completed(QueueId queue) const noexcept override;
  [[nodiscard]] std::uint64_t submitted(QueueId queue) const noexcept override;
  void wait(Timepoint point, WaitMode mode) override;
  [[nodiscard]] FailurePtr take_failure(QueueId queue) override;

 private:
  void wait_unreached(Timepoint point, WaitMode mode);
  [[nodiscard]] bool help(Timepoint point, RunScope& scope);

  Capabilities capabilities_;
  EmulatorShared shared_;
  Arena arena_;
  std::atomic<std::uint64_t> allocations_{0};  // numbers them for injected failures
  std::mutex opening_;                         // guards the making of queues
  std::array<std::unique_ptr<EmulatorQueue>, kMaxQueues> queues_;
};

}  // namespace aee
