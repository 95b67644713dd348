#include "core/runtime/timeline.h"

#include "core/base/park.h"

namespace aee {

// No wake is lost: the sleeper lowers wake_at_ and then reads completed_, the consumer writes completed_ and then
// reads wake_at_, all sequentially consistent, so one of them sees the other. Whoever was woken for another's sake
// arms again.
std::uint32_t Timeline::arm(std::uint64_t sequence) noexcept {
  const std::uint32_t ticket = epoch_.load(std::memory_order_seq_cst);
  std::uint64_t lowest = wake_at_.load(std::memory_order_seq_cst);
  while (sequence < lowest && !wake_at_.compare_exchange_weak(lowest, sequence, std::memory_order_seq_cst)) {
  }
  return ticket;
}

void Timeline::sleep(std::uint32_t ticket) noexcept { park(epoch_, ticket); }

void Timeline::wake_sleepers() noexcept {
  wake_at_.store(kNobody, std::memory_order_seq_cst);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  unpark_all(epoch_);
}

}  // namespace aee
