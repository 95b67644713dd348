// PreparedSlot: where the layer that runs steps keeps what it prepared for a key, from run to run.
//
// Whoever runs a step takes what is kept and puts it back; a run on another queue finds nothing meanwhile, and does
// without. Any thread. A line of memory of its own: recorders read the entry around it while devices write here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace aee {

/// What is kept; its kind is known to the layer that made it.
class Prepared {
 public:
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  virtual ~Prepared() = default;
};

class alignas(64) PreparedSlot {
 public:
  PreparedSlot() = default;
  /// The slot of an entry that nobody has run; no more moves.
  PreparedSlot(PreparedSlot&&) noexcept {}
  PreparedSlot& operator=(PreparedSlot&&) = delete;
  ~PreparedSlot() {
    const std::uintptr_t state = state_.load(std::memory_order_acquire);
    if (state > kTaken) delete reinterpret_cast<Prepared*>(state);
  }

  /// What the slot is for this run.
  enum class Turn : std::uint8_t {
    kFirst,    ///< the key's first run: preparing may not pay
    kPrepare,  ///< it came again: the caller may prepare something and put it
    kReady,    ///< `*prepared` was taken out: to be put back, or never again
    kNone,     ///< in use, or given up: do without
  };
  [[nodiscard]] Turn take(std::unique_ptr<Prepared>* prepared) noexcept {
    std::uintptr_t state = state_.load(std::memory_order_acquire);
    if (state == kTaken || !state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire)) {
      return Turn::kNone;
    }
    if (state == kNew) {
      state_.store(kSeen, std::memory_order_relaxed);
      return Turn::kFirst;
    }
    if (state == kSeen) return Turn::kPrepare;
    prepared->reset(reinterpret_cast<Prepared*>(state));
    return Turn::kReady;
  }
  /// Only after take() gave kPrepare or kReady.
  void put(std::unique_ptr<Prepared> prepared) noexcept {
    state_.store(reinterpret_cast<std::uintptr_t>(prepared.release()), std::memory_order_release);
  }

 private:
  static constexpr std::uintptr_t kNew = 0, kSeen = 1, kTaken = 2;  // anything else is a Prepared*

  std::atomic<std::uintptr_t> state_{kNew};
};

}  // namespace aee
