#include "core/base/park.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace aee {
namespace {

void futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) noexcept {
  static_assert(sizeof(word) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
  // Every outcome (woken, changed, interrupted, timed out) means the same to the caller: look again.
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

void park(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds timeout) noexcept {
  if (timeout == kNoTimeout) return futex(word, FUTEX_WAIT, expected, nullptr);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec relative{static_cast<std::time_t>(seconds.count()), static_cast<long>((timeout - seconds).count())};
  futex(word, FUTEX_WAIT, expected, &relative);
}

void unpark_all(const std::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

bool SpinBudget::in_time() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (rounds_ == 1) start_ = now;
  return now - start_ < budget_;
}

void Parker::wake() noexcept {
  if (state_.exchange(kAwake, std::memory_order_seq_cst) == kParked) unpark_all(state_);
}

}  // namespace aee
