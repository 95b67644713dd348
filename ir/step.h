// Step: one recorded op, as two streams of 64-bit words.
//
// `key` holds what identifies the step: op, global state, then every argument in schema order with its structure,
// layout and class, but no offsets, addresses or data values. Those are the `params`, in the order in which the key
// needs them. Both together are decodable: what it takes to run the op. Operands are numbered by slot: the place of
// their Buffer in `slots`, in order of first touch.
//
// The first word of an argument is its head:   bits 0-7 Tag | 8-15 dtype | 16-23 rank | 24-31 flags | 32-63 slot or
// count
//   kind         key                                              params
//   kTensor      head, sizes[rank], strides[rank]                 offset (elements)
//   kHostScalar  head, class                                      two words of raw bytes (a 0-dim tensor, by value)
//   kScalar*     head, class            of an op whose scalars    one word (complex: two)
//                head, two words        are data; of any other    none
//   lists        head with count, then the elements, of which tensors and scalars are arguments themselves
//   kString      head with byte count, then the bytes, padded     none
//   at the end: the relations of aliasing operands
// A StepWriter belongs to one recorder and is reused: no allocation in steady state. One thread at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/runtime/buffer.h"
#include "ir/op.h"

namespace aee {

enum class Tag : std::uint8_t {
  kNone = 1,
  kTensor,
  kUndefined,
  kHostScalar,
  kInt,
  kDouble,
  kBool,
  kScalarInt,
  kScalarDouble,
  kScalarBool,
  kScalarComplex,
  kIntList,
  kDoubleList,
  kBoolList,
  kScalarList,
  kTensorList,
  kString,
  kDevice,
  kGenerator,
};

/// Flags of a tensor argument's head.
enum TensorFlag : std::uint8_t {
  kConjugate = 1,
  kNegative = 2,
  kWrappedNumber = 4,
  kWritten = 8,
  kRequiresGrad = 16,
};

/// The head word of an argument, packed and unpacked.
struct Head {
  Tag tag;
  std::uint8_t dtype = 0;
  std::uint8_t rank = 0;
  std::uint8_t flags = 0;
  std::uint32_t count = 0;  ///< slot, list length or byte count

  [[nodiscard]] std::uint64_t pack() const noexcept {
    return static_cast<std::uint64_t>(tag) | std::uint64_t{dtype} << 8 | std::uint64_t{rank} << 16 |
           std::uint64_t{flags} << 24 | std::uint64_t{count} << 32;
  }
  static Head unpack(std::uint64_t word) noexcept {
    return {static_cast<Tag>(word & 0xff), static_cast<std::uint8_t>(word >> 8), static_cast<std::uint8_t>(word >> 16),
            static_cast<std::uint8_t>(word >> 24), static_cast<std::uint32_t>(word >> 32)};
  }
};

/// A growing array of words that keeps its memory.
class WordArray {
 public:
  void clear() noexcept { size_ = 0; }
  void push(std::uint64_t word) {
    if (size_ == capacity_) [[unlikely]]
      grow(size_ + 1);
    data_[size_++] = word;
  }
  /// Room for `count` more words, uninitialised; the caller fills them.
  std::uint64_t* extend(std::size_t count) {
    if (size_ + count > capacity_) [[unlikely]]
      grow(size_ + count);
    std::uint64_t* place = data_.get() + size_;
    size_ += count;
    return place;
  }
  /// Drops the words [from, to); those behind move up.
  void erase(std::size_t from, std::size_t to) noexcept {
    std::memmove(data_.get() + from, data_.get() + to, (size_ - to) * sizeof(std::uint64_t));
    size_ -= to - from;
  }
  [[nodiscard]] std::uint64_t* data() noexcept { return data_.get(); }
  [[nodiscard]] std::span<const std::uint64_t> view() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void grow(std::size_t least);
  std::unique_ptr<std::uint64_t[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

/// A buffer that a step touches, and how.
struct Slot {
  Buffer* buffer;
  bool written;
};

/// Where a view lies in its buffer; sizes and strides in elements.
struct Placement {
  std::uint8_t dtype;
  std::uint8_t flags;  ///< TensorFlags
  std::uint8_t rank;
  std::int64_t offset;
  const std::int64_t* sizes;
  const std::int64_t* strides;
};

/// The hash of a key from that of the words before; 0 before the first. It tells the cut policy what a step looks like,
/// so whoever replays steps must hash alike.
[[nodiscard]] constexpr std::uint64_t extend_key_hash(std::uint64_t hash, std::uint64_t word) noexcept {
  return ((hash << 5 | hash >> 59) ^ word) * 0x9E3779B97F4A7C15u;
}
/// The hash of a whole key.
[[nodiscard]] constexpr std::uint64_t key_hash(std::span<const std::uint64_t> key) noexcept {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key) hash = extend_key_hash(hash, word);
  return hash;
}

class StepWriter {
 public:
  /// Starts a step of `op` under the interned global state `state`; the arguments follow, then finish(). With an
  /// `expected` key of that op and state, the key is only compared with it, not written: see matched().
  void begin(const Op& op, std::uint64_t state, std::span<const std::uint64_t> expected = {});
  void finish();
  /// Whether the key is being compared and not written: key() and hash() are of no use.
  [[nodiscard]] bool expecting() const noexcept { return expecting_; }
  /// After finish(): whether the step has the expected key.
  [[nodiscard]] bool matched() const noexcept { return expected_ != nullptr && expected_ == expected_end_; }

  void none() { put(Head{Tag::kNone}); }
  void undefined() { put(Head{Tag::kUndefined}); }
  void device() { put(Head{Tag::kDevice}); }
  /// A device tensor.
  void tensor(Buffer* buffer, const Placement& placement);
  /// A 0-dim host tensor by value: its raw bytes, at most 16, zero padded. `scalar_class` goes to the key.
  void host_scalar(std::uint8_t dtype, std::uint8_t flags, const std::uint64_t (&bytes)[2], std::uint64_t scalar_class);
  void integer(std::int64_t value) { value_argument(Tag::kInt, static_cast<std::uint64_t>(value)); }
  void real(double value);
  void boolean(bool value) { value_argument(Tag::kBool, value ? 1 : 0); }
  /// A Scalar; `scalar_class` goes to the key instead of the value if the op's scalars are data.
  void scalar(Tag tag, std::uint64_t first, std::uint64_t second, std::uint64_t scalar_class);
  void integers(std::span<const std::int64_t> values);
  void reals(std::span<const double> values);
  /// Starts a list of `count` arguments, which follow. Tag: kTensorList, kScalarList or kBoolList.
  void list(Tag tag, std::size_t count) { put(Head{tag, 0, 0, 0, static_cast<std::uint32_t>(count)}); }
  void string(std::string_view text);
  /// A generator. Its state is a buffer that every draw writes, so draws keep program order on all streams.
  void generator(Buffer* state);

  [[nodiscard]] const Op& op() const noexcept { return *op_; }
  [[nodiscard]] std::span<const std::uint64_t> params() const noexcept { return params_.view(); }
  [[nodiscard]] std::span<const std::uint64_t> key() const noexcept { return key_.view(); }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::span<const Slot> slots() const noexcept { return {slots_.get(), slot_count_}; }

 private:
  void put(Head head) { key_word(head.pack()); }
  void value_argument(Tag tag, std::uint64_t value) {
    put(Head{tag});
    key_word(value);
  }
  void key_word(std::uint64_t word) {
    if (expecting_) [[likely]] {
      if (expected_ != expected_end_ && *expected_ == word) [[likely]] {
        ++expected_;
      } else {
        expected_ = expected_end_ = nullptr;  // no word compares equal any more
      }
      return;
    }
    key_.push(word);
    hash_ = extend_key_hash(hash_, word);
  }
  std::uint32_t slot_of(Buffer* buffer, std::int64_t offset, bool* shared);
  void grow_slots();

  const Op* op_ = nullptr;
  WordArray params_, key_;
  std::uint64_t hash_ = 0;
  bool expecting_ = false;
  const std::uint64_t *expected_ = nullptr, *expected_end_ = nullptr;  // what is left of it; null: it differs
  WordArray relations_;
  std::uint32_t operands_ = 0;  // device tensors so far
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<std::int64_t[]> first_offsets_;  // of the operand that first touched the slot, in elements
  std::size_t slot_count_ = 0, slot_capacity_ = 0;
};

// Note [Relations of aliasing operands]
// A step that writes a buffer which another of its operands shares behaves by how the two lie to each other: equal
// placements are fine, partial overlap raises, disjoint ones are fine. The key then holds the exact distance of their
// offsets, from which, with the layouts, the relation follows; behind the arguments, where no reader of them comes.
// Reads that alias need no relation.
//   relation: | operand << 8, no tag | distance (elements) |
/// Whether a word of a key begins a relation, where the head of an argument would be.
[[nodiscard]] constexpr bool is_relation(std::uint64_t word) noexcept { return (word & 0xff) == 0; }

/// Walks the key and the params of a step, from its first argument.
class StepReader {
 public:
  StepReader(std::span<const std::uint64_t> key, const std::uint64_t* params) noexcept
      : at_(key.data() + kOpWords), params_(params) {}
  [[nodiscard]] Head head() noexcept { return Head::unpack(*at_++); }
  [[nodiscard]] Head peek() const noexcept { return Head::unpack(*at_); }
  /// The next word of the key.
  [[nodiscard]] std::uint64_t word() noexcept { return *at_++; }
  /// The next `count` words of the key as they stand.
  const std::uint64_t* skip(std::size_t count) noexcept { return std::exchange(at_, at_ + count); }
  /// The next `count` params.
  const std::uint64_t* params(std::size_t count) noexcept { return std::exchange(params_, params_ + count); }
  [[nodiscard]] std::uint64_t param() noexcept { return *params_++; }
  [[nodiscard]] const std::uint64_t* position() const noexcept { return at_; }

  static constexpr std::size_t kOpWords = 2;  ///< op and state, in front of the arguments

 private:
  const std::uint64_t* at_;
  const std::uint64_t* params_;
};

/// Class of an integer: what can decide whether an op accepts it, but not the value itself.
[[nodiscard]] std::uint64_t integer_class(std::int64_t value) noexcept;
/// Class of a real number, likewise.
[[nodiscard]] std::uint64_t real_class(double value) noexcept;

}  // namespace aee
