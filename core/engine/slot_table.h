// SlotTable: numbers the buffers of a segment in order of first touch. One probe for an operand, no allocation while
// the table is large enough, forgotten in constant time. One recorder's.
#pragma once

#include <cstdint>
#include <vector>

namespace aee {

class SlotTable {
 public:
  SlotTable() : cells_(kFirstCells) {}

  /// The number of the buffer with this identity; the next free one if it is new.
  std::uint32_t slot_of(std::uint64_t identity) {
    const std::size_t mask = cells_.size() - 1;
    std::size_t at = place(identity) & mask;
    for (; cells_[at].epoch == epoch_; at = (at + 1) & mask) {
      if (cells_[at].identity == identity) return cells_[at].slot;
    }
    cells_[at] = {identity, epoch_, count_};
    if (2 * ++count_ > cells_.size()) [[unlikely]]
      grow();
    return count_ - 1;
  }
  /// Starts from 0 again.
  void clear() noexcept {
    count_ = 0;
    if (++epoch_ == 0) [[unlikely]]
      wipe();
  }

 private:
  struct Cell {
    std::uint64_t identity = 0;
    std::uint32_t epoch = 0;  ///< the cell is free unless this is the table's
    std::uint32_t slot = 0;
  };
  static std::size_t place(std::uint64_t identity) noexcept { return (identity * 0x9E3779B97F4A7C15u) >> 32; }
  [[gnu::noinline]] void grow() {
    std::vector<Cell> old(2 * cells_.size());
    old.swap(cells_);
    const std::size_t mask = cells_.size() - 1;
    for (const Cell& cell : old) {
      if (cell.epoch != epoch_) continue;
      std::size_t at = place(cell.identity) & mask;
      while (cells_[at].epoch == epoch_) at = (at + 1) & mask;
      cells_[at] = cell;
    }
  }
  void wipe() noexcept {
    for (Cell& cell : cells_) cell.epoch = 0;
    epoch_ = 1;
  }

  static constexpr std::size_t kFirstCells = 256;
  std::vector<Cell> cells_;  // open addressing, a power of two, at most half full
  std::uint32_t epoch_ = 1, count_ = 0;
};

}  // namespace aee
