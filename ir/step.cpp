#include "ir/step.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace aee {

void WordArray::grow(std::size_t least) {
  const std::size_t capacity = std::max<std::size_t>({64, 2 * capacity_, least});
  auto data = std::make_unique_for_overwrite<std::uint64_t[]>(capacity);
  if (size_ != 0) std::memcpy(data.get(), data_.get(), size_ * sizeof(std::uint64_t));
  data_ = std::move(data);
  capacity_ = capacity;
}

void StepWriter::begin(const Op& op, std::uint64_t state, std::span<const std::uint64_t> expected) {
  op_ = &op;
  params_.clear();
  key_.clear();
  relations_.clear();
  slot_count_ = 0;
  operands_ = 0;
  hash_ = 0;
  expecting_ = expected.size() >= StepReader::kOpWords && expected[0] == op.id && expected[1] == state;
  expected_ = expecting_ ? expected.data() + StepReader::kOpWords : nullptr;
  expected_end_ = expecting_ ? expected.data() + expected.size() : nullptr;
  if (expecting_) return;
  key_word(op.id);
  key_word(state);
}

void StepWriter::finish() {
  for (const std::uint64_t word : relations_.view()) key_word(word);
}

void StepWriter::grow_slots() {
  const std::size_t capacity = std::max<std::size_t>(16, 2 * slot_capacity_);
  auto slots = std::make_unique_for_overwrite<Slot[]>(capacity);
  auto offsets = std::make_unique_for_overwrite<std::int64_t[]>(capacity);
  std::copy_n(slots_.get(), slot_count_, slots.get());
  std::copy_n(first_offsets_.get(), slot_count_, offsets.get());
  slots_ = std::move(slots);
  first_offsets_ = std::move(offsets);
  slot_capacity_ = capacity;
}

std::uint32_t StepWriter::slot_of(Buffer* buffer, std::int64_t offset, bool* shared) {
  for (std::size_t i = 0; i < slot_count_; ++i) {
    if (slots_[i].buffer == buffer) {
      *shared = true;
      return static_cast<std::uint32_t>(i);
    }
  }
  *shared = false;
  if (slot_count_ == slot_capacity_) [[unlikely]]
    grow_slots();
  slots_[slot_count_] = {buffer, false};
  first_offsets_[slot_count_] = offset;
  return static_cast<std::uint32_t>(slot_count_++);
}

void StepWriter::tensor(Buffer* buffer, const Placement& placement) {
  bool shared = false;
  const std::uint32_t slot = slot_of(buffer, placement.offset, &shared);
  const bool written = (placement.flags & kWritten) != 0;
  put(Head{Tag::kTensor, placement.dtype, placement.rank, placement.flags, slot});
  params_.push(static_cast<std::uint64_t>(placement.offset));
  for (std::size_t i = 0; i < placement.rank; ++i) key_word(static_cast<std::uint64_t>(placement.sizes[i]));
  for (std::size_t i = 0; i < placement.rank; ++i) key_word(static_cast<std::uint64_t>(placement.strides[i]));
  if (shared && (written || slots_[slot].written)) {
    relations_.push(std::uint64_t{operands_} << 8);
    relations_.push(static_cast<std::uint64_t>(placement.offset - first_offsets_[slot]));
  }
  slots_[slot].written |= written;
  ++operands_;
}

void StepWriter::host_scalar(std::uint8_t dtype, std::uint8_t flags, const std::uint64_t (&bytes)[2],
                             std::uint64_t scalar_class) {
  put(Head{Tag::kHostScalar, dtype, 0, flags, 0});
  params_.push(bytes[0]);
  params_.push(bytes[1]);
  key_word(scalar_class);
}

void StepWriter::real(double value) { value_argument(Tag::kDouble, std::bit_cast<std::uint64_t>(value)); }

void StepWriter::scalar(Tag tag, std::uint64_t first, std::uint64_t second, std::uint64_t scalar_class) {
  put(Head{tag});
  if (!op_->has(kScalarsAreData)) {
    key_word(first);
    key_word(second);
    return;
  }
  key_word(scalar_class);
  params_.push(first);
  if (tag == Tag::kScalarComplex) params_.push(second);
}

void StepWriter::integers(std::span<const std::int64_t> values) {
  put(Head{Tag::kIntList, 0, 0, 0, static_cast<std::uint32_t>(values.size())});
  for (const std::int64_t value : values) key_word(static_cast<std::uint64_t>(value));
}

void StepWriter::reals(std::span<const double> values) {
  put(Head{Tag::kDoubleList, 0, 0, 0, static_cast<std::uint32_t>(values.size())});
  for (const double value : values) key_word(std::bit_cast<std::uint64_t>(value));
}

void StepWriter::string(std::string_view text) {
  put(Head{Tag::kString, 0, 0, 0, static_cast<std::uint32_t>(text.size())});
  const std::size_t count = (text.size() + 7) / 8;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + 8 * i, std::min<std::size_t>(8, text.size() - 8 * i));
    key_word(word);
  }
}

void StepWriter::generator(Buffer* state) {
  bool shared = false;
  const std::uint32_t slot = slot_of(state, 0, &shared);
  slots_[slot].written = true;
  put(Head{Tag::kGenerator, 0, 0, 0, slot});
}

std::uint64_t integer_class(std::int64_t value) noexcept {
  if (value == 0) return 1;
  const std::uint64_t sign = value < 0 ? 0x100 : 0;
  const auto fits = [value](std::int64_t low, std::int64_t high) { return low <= value && value <= high; };
  if (fits(1, 1)) return 2;
  if (fits(-128, 127)) return sign | 3;
  if (fits(0, 255)) return 4;
  if (fits(-32768, 32767)) return sign | 5;
  if (fits(0, 65535)) return 6;
  if (fits(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())) return sign | 7;
  if (fits(0, std::numeric_limits<std::uint32_t>::max())) return 8;
  return sign | 9;
}

std::uint64_t real_class(double value) noexcept {
  constexpr std::uint64_t kReal = 0x10000;
  if (std::isnan(value)) return kReal | 0x1000;
  const std::uint64_t sign = std::signbit(value) ? 0x200 : 0;
  const double size = std::abs(value);
  if (size == 0) return kReal | 1;  // both zeros: the sign is data
  if (std::isinf(value)) return kReal | sign | 0x2000;
  if (size == std::floor(size) && size < 9.2e18) {
    return kReal | sign | 0x4000 | integer_class(static_cast<std::int64_t>(value));
  }
  if (size < 1) return kReal | sign | 2;
  if (size <= 65504) return kReal | sign | 3;
  if (size <= std::numeric_limits<float>::max()) return kReal | sign | 4;
  return kReal | sign | 5;
}

}  // namespace aee
