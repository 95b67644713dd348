// LayoutMemo: what an op gave for a step key, so that the next step with that key need not ask.
//
// An entry holds the layouts, aliases and undefined results that the op returned when it ran with the same structure,
// layouts and attributes, or that PyTorch's shape function told. Entries that differ only in sizes and strides share a
// Structure. The key is compared in full, never only by hash. A memo belongs to one recorder: no lock,
// and no other thread decides what is remembered. Its size is bounded in bytes: a full memo forgets everything at
// once, which the owner must only let happen when no launch refers to an entry (see clear()).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/prepared_slot.h"

namespace aee {

/// One tensor that an op returns, or an operand whose layout it changed.
struct ResultSpec {
  enum class Kind : std::uint8_t {
    kFresh,      ///< new memory: a new buffer
    kShared,     ///< memory of an earlier fresh result of the same step: `index` tells which
    kArgument,   ///< the tensor argument number `index` itself
    kAlias,      ///< a new tensor on the storage of tensor argument `index`
    kUndefined,  ///< no tensor
  };
  Kind kind = Kind::kUndefined;
  std::uint8_t dtype = 0;
  std::uint8_t flags = 0;   ///< TensorFlags: conjugate, negative
  bool contiguous = false;  ///< strides are those of a contiguous tensor
  std::uint32_t index = 0;
  std::int64_t offset = 0;  ///< elements
  std::uint64_t bytes = 0;  ///< of the storage, for kFresh
  std::vector<std::int64_t> sizes, strides;
};

/// What an op does to the layout of an operand that it writes (an `out=` that it resizes).
struct Relayout {
  std::uint32_t argument = 0;  ///< number of the tensor argument
  ResultSpec layout;           ///< kFresh: the new layout and the least size of its storage
};

/// What steps share that differ only in sizes and strides of their operands.
struct Structure {
  std::vector<std::uint64_t> key;  ///< see append_structure
  std::uint64_t hash = 0;          ///< of `key`
  std::uint64_t id = 0;            ///< equal ids in one process: equal keys
  bool inferable = false;          ///< PyTorch's shape function told what the first of them gave
};

struct LayoutEntry {
  std::vector<std::uint64_t> key;
  std::uint64_t hash = 0;             ///< of `key`
  Structure* structure = nullptr;     ///< of this memo
  LayoutEntry* next = nullptr;        ///< the entry that was used after this one, the last time
  std::vector<ResultSpec> results;    ///< flat, in schema order
  std::vector<std::int32_t> returns;  ///< for each return: -1 a tensor, n a list of n tensors
  std::vector<Relayout> relayouts;
  std::uint32_t fresh = 0;  ///< number of kFresh results
  bool shares = false;      ///< some result is kShared
  mutable PreparedSlot prepared;
};

class LayoutMemo {
 public:
  /// `budget`: most bytes that entries may take.
  explicit LayoutMemo(std::size_t budget) : budget_(budget) {}

  /// The entry with exactly this key, or null. Stays valid until clear().
  [[nodiscard]] LayoutEntry* find(std::span<const std::uint64_t> key, std::uint64_t hash) const noexcept;
  /// The entry that is probably used next, or null.
  [[nodiscard]] LayoutEntry* expected() const noexcept { return last_ != nullptr ? last_->next : nullptr; }
  /// The entry is used now.
  void follow(LayoutEntry& entry) noexcept {
    // Devices read entries: a store that changes nothing would take the line from them.
    if (last_ != nullptr && last_->next != &entry) last_->next = &entry;
    last_ = &entry;
  }
  /// The structure with this key; made if it is new. Stays valid until clear().
  [[nodiscard]] Structure& structure(std::span<const std::uint64_t> key, std::uint64_t hash);
  /// Whether the budget is used up: the owner must clear() before the next insert.
  [[nodiscard]] bool full() const noexcept { return bytes_ >= budget_; }
  /// Adds an entry; its key must not be there yet.
  LayoutEntry& insert(std::unique_ptr<LayoutEntry> entry, std::uint64_t hash);
  /// Forgets everything; no launch in flight may refer to an entry.
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Cell {
    std::uint64_t hash = 0;
    LayoutEntry* entry = nullptr;
  };
  void place(Cell cell) noexcept;
  void rehash();

  std::size_t budget_;
  std::size_t bytes_ = 0;
  LayoutEntry* last_ = nullptr;  ///< used last
  std::vector<std::unique_ptr<LayoutEntry>> entries_;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<Structure>> structures_;  // by hash
  std::vector<Cell> cells_;  // open addressing, a power of two, at most half full
};

}  // namespace aee
