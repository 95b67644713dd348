#include "core/runtime/hostility.h"

#include "core/base/config.h"
#include "core/base/hash.h"

namespace aee {

Hostility::Hostility(const Config& config)
    : seed_(config.emulator_seed),
      delay_us_(config.emulator_delay_us),
      launch_failures_(config.emulator_launch_failures),
      refusals_(config.emulator_refusals),
      allocation_failures_(config.emulator_allocation_failures) {}

std::chrono::nanoseconds Hostility::delay(QueueId queue, std::uint64_t sequence) const noexcept {
  if (!enabled() || delay_us_ == 0) return {};
  return std::chrono::nanoseconds(static_cast<std::int64_t>(draw(Purpose::kDelay, queue, sequence) * delay_us_ * 1e3));
}

bool Hostility::fails(QueueId queue, std::uint64_t sequence) const noexcept {
  return enabled() && draw(Purpose::kFailure, queue, sequence) < launch_failures_;
}

bool Hostility::refuses(QueueId queue, std::uint64_t attempt) const noexcept {
  return enabled() && draw(Purpose::kRefusal, queue, attempt) < refusals_;
}

bool Hostility::allocation_fails(std::uint64_t allocation) const noexcept {
  return enabled() && draw(Purpose::kAllocation, 0, allocation) < allocation_failures_;
}

double Hostility::draw(Purpose purpose, QueueId queue, std::uint64_t number) const noexcept {
  const std::uint64_t key[2] = {number, static_cast<std::uint64_t>(queue) << 8 | static_cast<std::uint64_t>(purpose)};
  return static_cast<double>(hash64(key, sizeof key, seed_) >> 11) * 0x1p-53;
}

}  // namespace aee
