#include "bindings/torch/host_allocator.h"

#include <map>
#include <mutex>

#include <c10/core/impl/alloc_cpu.h>

namespace aee {
namespace {

struct Pinned {
  std::mutex mutex;  // guards all below
  std::map<const char*, std::size_t> blocks;
  at::HostStats stats;
};

Pinned& pinned() {
  static auto* const state = new Pinned;
  return *state;
}

void free_block(void* block) {
  {
    const std::lock_guard guard(pinned().mutex);
    const auto found = pinned().blocks.find(static_cast<const char*>(block));
    pinned().stats.allocated_bytes.decrease(found->second);
    pinned().stats.allocations.decrease(1);
    pinned().blocks.erase(found);
  }
  c10::free_cpu(block);
}

class PinnedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &c10::detail::deleteNothing, c10::DeviceType::CPU};
    void* block = c10::alloc_cpu(bytes);
    const std::lock_guard guard(pinned().mutex);
    pinned().blocks.emplace(static_cast<const char*>(block), bytes);
    pinned().stats.allocated_bytes.increase(bytes);
    pinned().stats.allocations.increase(1);
    ++pinned().stats.num_host_alloc;
    return {block, block, &free_block, c10::DeviceType::CPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t count) const override { default_copy_data(to, from, count); }
  bool record_event(void*, void*, c10::Stream) override { return true; }  // copies have read it when they return
  void empty_cache() override {}
  at::HostStats get_stats() override {
    const std::lock_guard guard(pinned().mutex);
    return pinned().stats;
  }
  void reset_accumulated_stats() override {
    const std::lock_guard guard(pinned().mutex);
    pinned().stats.allocations.reset_accumulated();
    pinned().stats.allocated_bytes.reset_accumulated();
  }
  void reset_peak_stats() override {
    const std::lock_guard guard(pinned().mutex);
    pinned().stats.allocations.reset_peak();
    pinned().stats.allocated_bytes.reset_peak();
  }
};

PinnedAllocator allocator;
at::HostAllocatorRegistry<at::kPrivateUse1> registered(&allocator);

}  // namespace

at::HostAllocator& host_allocator() { return allocator; }

bool is_pinned(const void* address) {
  const std::lock_guard guard(pinned().mutex);
  const auto* byte = static_cast<const char*>(address);
  auto after = pinned().blocks.upper_bound(byte);
  if (after == pinned().blocks.begin()) return false;
  --after;
  return byte < after->first + after->second;
}

}  // namespace aee
