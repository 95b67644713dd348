#include "bindings/torch/source_line.h"

#include <atomic>

namespace aee {
namespace {

std::atomic<CurrentSource> source_hook{nullptr};

}  // namespace

void set_source_hook(CurrentSource hook) noexcept { source_hook.store(hook, std::memory_order_release); }

std::uint64_t current_source() noexcept {
  const CurrentSource hook = source_hook.load(std::memory_order_acquire);
  return hook == nullptr ? 0 : hook();
}

}  // namespace aee
