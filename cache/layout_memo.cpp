#include "cache/layout_memo.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/equal_hashes.h"

namespace aee {
namespace {

std::atomic<std::uint64_t> next_id{1};

// The upper half takes part in the choice of the cell.
std::uint64_t effective(std::uint64_t hash) noexcept {
  hash = table_hash(hash);
  return hash ^ hash >> 32;
}

constexpr std::size_t kPreparedBytes = 2048;  // an iterator of ATen with the tensors that stand for its operands

std::size_t bytes_of(const LayoutEntry& entry) noexcept {
  std::size_t bytes = sizeof(LayoutEntry) + kPreparedBytes + entry.key.size() * sizeof(std::uint64_t) + 64;
  const auto add = [&bytes](const ResultSpec& spec) {
    bytes += sizeof(ResultSpec) + (spec.sizes.size() + spec.strides.size()) * sizeof(std::int64_t);
  };
  for (const ResultSpec& spec : entry.results) add(spec);
  for (const Relayout& relayout : entry.relayouts) add(relayout.layout);
  return bytes;
}

}  // namespace

LayoutEntry* LayoutMemo::find(std::span<const std::uint64_t> key, std::uint64_t hash) const noexcept {
  if (cells_.empty()) return nullptr;
  hash = effective(hash);
  const std::size_t mask = cells_.size() - 1;
  for (std::size_t at = hash & mask; cells_[at].entry != nullptr; at = (at + 1) & mask) {
    const Cell& cell = cells_[at];
    if (cell.hash == hash && cell.entry->key.size() == key.size() &&
        std::memcmp(cell.entry->key.data(), key.data(), key.size_bytes()) == 0) {
      return cell.entry;
    }
  }
  return nullptr;
}

LayoutEntry& LayoutMemo::insert(std::unique_ptr<LayoutEntry> entry, std::uint64_t hash) {
  if (cells_.size() < 2 * (entries_.size() + 1)) rehash();
  bytes_ += bytes_of(*entry);
  LayoutEntry& added = *entry;
  added.hash = hash;
  entries_.push_back(std::move(entry));
  place({effective(hash), &added});
  return added;
}

Structure& LayoutMemo::structure(std::span<const std::uint64_t> key, std::uint64_t hash) {
  const auto [first, last] = structures_.equal_range(table_hash(hash));
  for (auto known = first; known != last; ++known) {
    if (std::ranges::equal(known->second->key, key)) return *known->second;
  }
  auto made = std::make_unique<Structure>();
  made->key.assign(key.begin(), key.end());
  made->hash = hash;
  made->id = next_id.fetch_add(1, std::memory_order_relaxed);
  bytes_ += sizeof(Structure) + key.size_bytes() + 64;
  return *structures_.emplace(table_hash(hash), std::move(made))->second;
}

void LayoutMemo::place(Cell cell) noexcept {
  const std::size_t mask = cells_.size() - 1;
  std::size_t at = cell.hash & mask;
  while (cells_[at].entry != nullptr) at = (at + 1) & mask;
  cells_[at] = cell;
}

void LayoutMemo::rehash() {
  std::vector<Cell> old(cells_.empty() ? 256 : 2 * cells_.size());
  old.swap(cells_);
  for (const Cell& cell : old) {
    if (cell.entry != nullptr) place(cell);
  }
}

void LayoutMemo::clear() noexcept {
  last_ = nullptr;
  entries_.clear();
  structures_.clear();
  cells_.clear();
  bytes_ = 0;
}

}  // namespace aee
