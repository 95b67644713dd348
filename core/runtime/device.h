// Device: the seam between the runtime and a kind of accelerator. The only virtual interface of the engine.
//
// Shaped after the Neuron runtime: queues are in order, a full queue refuses without side effects, the status of a
// launch is written before its completion is visible, and a device need not be able to wait across queues
// (`Capabilities::device_waits`): then Queue::submit waits on the host. Implementations: emulator, null.
// Threads: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/runtime/launch.h"
#include "core/runtime/timepoint.h"

namespace aee {

struct Config;
class Metrics;

/// What a device can do; constant for its life.
struct Capabilities {
  std::string_view name;
  bool device_waits = true;     ///< waits across queues itself
  bool runs_host_items = true;  ///< executes launches by running Launch::run on this machine
  bool runs_nothing = false;    ///< completes launches without running them (null)
  bool static_shapes = false;   ///< needs a program for every shape
  double launch_cost_us = 0;    ///< typical cost of one launch in microseconds
  std::uint64_t memory_bytes = 0;
};

/// Whether a queue took a launch.
enum class Submitted : std::uint8_t { kAccepted, kFull };
/// How a host thread waits.
enum class WaitMode : std::uint8_t {
  kHelp,  ///< may run the head of the queue itself
  kIdle,  ///< only waits
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;  ///< Finishes what was accepted, then stops its threads.

  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;
  /// Raw device memory, 64-byte aligned; throws Error(kOutOfMemory).
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* memory) noexcept = 0;
  /// Whether an address lies in memory that allocate() gives.
  [[nodiscard]] virtual bool owns(const void* memory) const noexcept = 0;
  /// Gives cached memory back.
  virtual void trim() noexcept = 0;
  /// Bytes got from the system, now and at most.
  virtual void memory_reserved(std::uint64_t* now, std::uint64_t* peak) const noexcept = 0;

  /// Makes the next queue; ids count from 0. At most kMaxQueues.
  virtual QueueId open_queue() = 0;
  /// Copies the block into the queue and takes over its buffer references, or refuses and changes nothing.
  /// On acceptance `*point` is the launch's timepoint and every named buffer's last_use has been set to it.
  [[nodiscard]] virtual Submitted submit(QueueId queue, const Launch& launch, Timepoint* point) = 0;
  /// Sequence number of the last launch that is complete, all earlier ones included.
  [[nodiscard]] virtual std::uint64_t completed(QueueId queue) const noexcept = 0;
  /// Sequence number of the last launch that was accepted.
  [[nodiscard]] virtual std::uint64_t submitted(QueueId queue) const noexcept = 0;
  /// Returns when the timepoint is reached and the launches up to it hold no buffer any more. Never throws for a failed
  /// launch: see take_failure.
  virtual void wait(Timepoint point, WaitMode mode) = 0;
  /// The first failure of the queue that nobody took yet, or null; the caller now owns its delivery.
  [[nodiscard]] virtual FailurePtr take_failure(QueueId queue) = 0;
};

inline constexpr std::size_t kMaxQueues = 32;

/// What surrounds the running of launches on a thread, given by the layer that knows what launches do. enter() is
/// called when a thread starts to run launches (once for a device thread), leave() when it stops, with the pointer
/// that enter() gave. Both noexcept. While a thread blocks in a wait, block() is called before and unblock() after
/// (release and retake of the GIL); they get the pointer that block() gave. Any member may be null.
struct ThreadHooks {
  void* (*enter)() noexcept = nullptr;
  void (*leave)(void* token) noexcept = nullptr;
  void* (*block)() noexcept = nullptr;
  void (*unblock)(void* token) noexcept = nullptr;
};

/// Makes the device that the configuration names. Throws Error(kUnsupported) if this machine has none of that kind.
[[nodiscard]] std::unique_ptr<Device> make_device(const Config& config, Metrics& metrics, const ThreadHooks& hooks);

}  // namespace aee
