// MemoryOffers: blocks of device memory that the next allocations of just their size get, on this thread and inside a
// CpuScope. See Note [Offered memory] in cpu_scope.cpp. Thread-local; they nest.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <c10/core/StorageImpl.h>

namespace aee {

class MemoryOffers {
 public:
  struct Offer {
    std::size_t bytes;
    c10::StorageImpl* storage;  ///< whose block it is; left without one when the offer is taken
    void* block;                ///< its address, also when it is taken
  };

  MemoryOffers() noexcept;
  ~MemoryOffers();
  MemoryOffers(const MemoryOffers&) = delete;
  MemoryOffers& operator=(const MemoryOffers&) = delete;

  /// Offers the block of a storage, which outlives this; without effect when there are many.
  void add(std::size_t bytes, c10::StorageImpl& storage) noexcept {
    if (count_ < offers_.size()) offers_[count_++] = {bytes, &storage, storage.mutable_data()};
  }
  [[nodiscard]] std::span<const Offer> view() const noexcept { return {offers_.data(), count_}; }

 private:
  MemoryOffers* outer_;
  std::array<Offer, 4> offers_;
  std::size_t count_ = 0;
};

}  // namespace aee
