// The device allocator that PyTorch asks for storages and statistics. Memory itself belongs to buffers.
#include <c10/core/CachingDeviceAllocator.h>

#include <array>
#include <atomic>

#include "bindings/torch/default_engine.h"
#include "lowering/aten/handle.h"

namespace aee {
namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;

void fill(StatArray& stats, std::uint64_t now, std::uint64_t peak, std::uint64_t total, std::uint64_t freed) {
  Stat& stat = stats[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
  stat.current = static_cast<std::int64_t>(now);
  stat.peak = static_cast<std::int64_t>(peak);
  stat.allocated = static_cast<std::int64_t>(total);
  stat.freed = static_cast<std::int64_t>(freed);
}

// Buffers that lived when the totals of a device were last set to zero: those that came before and are freed later
// count as freed.
std::array<std::atomic<std::uint64_t>, kMaxDevices> buffers_at_reset{};

class NeuronAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    DeviceContext& context = engine().device(thread_context().device);
    return make_data_ptr(translate_errors([&] { return context.acquire(bytes); }));
  }
  // The data pointer is a handle and the context is a buffer: there is no raw deleter.
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, std::size_t) const override {
    TORCH_CHECK(false, "neuron: device memory cannot be copied by address; copy tensors instead");
  }
  bool initialized() override { return engine_if_made() != nullptr; }
  void emptyCache(c10::MempoolId_t) override {
    Engine* made = engine_if_made();
    for (int index = 0; made != nullptr && index < made->device_count(); ++index) {
      made->device(index).trim();
    }
  }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}  // launches count the buffers that they use
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    DeviceContext& context = engine().device(device);
    const MemoryStats from = context.memory_stats();
    std::uint64_t reserved = 0, reserved_peak = 0;
    context.device().memory_reserved(&reserved, &reserved_peak);
    c10::CachingDeviceAllocator::DeviceStats stats;
    const std::uint64_t made = from.buffers_total + buffers_at_reset.at(static_cast<std::size_t>(device)).load();
    const std::uint64_t freed = made - std::min(made, from.buffers);
    fill(stats.allocation, from.buffers, from.buffers_peak, from.buffers_total, freed);
    fill(stats.active, from.buffers, from.buffers_peak, from.buffers_total, freed);
    fill(stats.allocated_bytes, from.allocated, from.allocated_peak, from.allocated_total, from.freed_total);
    fill(stats.active_bytes, from.allocated, from.allocated_peak, from.allocated_total, from.freed_total);
    fill(stats.requested_bytes, from.allocated, from.allocated_peak, from.allocated_total, from.freed_total);
    fill(stats.reserved_bytes, std::max(reserved, from.allocated), std::max(reserved_peak, from.allocated_peak),
         reserved_peak, 0);
    stats.num_ooms = static_cast<std::int64_t>(from.out_of_memory);
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    BufferPool& pool = engine().device(device).pool();
    buffers_at_reset.at(static_cast<std::size_t>(device)) = pool.stats().buffers;
    pool.reset_accumulated();
  }
  void resetPeakStats(c10::DeviceIndex device) override { engine().device(device).pool().reset_peak(); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) override {
    // The device's memory, not the limit of this process: a limit makes no device smaller.
    DeviceContext& context = engine().device(device);
    const std::uint64_t total = context.device().capabilities().memory_bytes;
    return {total - std::min(total, context.memory_stats().allocated), total};
  }
};

NeuronAllocator allocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator)

}  // namespace
}  // namespace aee
