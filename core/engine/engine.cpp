#include "core/engine/engine.h"

#include <utility>

#include "core/base/error.h"

namespace aee {

Engine::Engine(Config config, const ThreadHooks& hooks) : config_(std::move(config)) {
  constexpr std::uint64_t kMostDevices = 16;
  if (config_.device_count < 1 || config_.device_count > kMostDevices) {
    fail_user("TORCH_NEURON_DEVICE_COUNT: expected 1 to ", kMostDevices, ", got ", config_.device_count);
  }
  for (std::uint64_t index = 0; index < config_.device_count; ++index) {
    devices_.push_back(std::make_unique<DeviceContext>(static_cast<int>(index), config_, metrics_, hooks));
  }
}

void Engine::watch(HitCounter& counter) {
  const std::lock_guard guard(counters_mutex_);
  counters_.push_back(&counter);
}

void Engine::forget(HitCounter& counter) {
  collect_hits();
  const std::lock_guard guard(counters_mutex_);
  std::erase(counters_, &counter);
}

void Engine::collect_hits() {
  const std::lock_guard guard(counters_mutex_);
  for (HitCounter* counter : counters_) {
    const std::uint64_t hits = counter->collect();
    metrics_.ops_recorded.add(hits);
    metrics_.layout_hits.add(hits);
    metrics_.segments_launched.add(hits);
    metrics_.segment_hits.add(hits);
    metrics_.cuts[static_cast<std::size_t>(CutReason::kOpByOp)].add(hits);
  }
}

void Engine::synchronize() {
  drain();
  for (const auto& device : devices_) device->synchronize();
}

void Engine::drain() {
  for (const auto& device : devices_) device->drain();
}

}  // namespace aee
