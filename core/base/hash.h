// Hash: the one door to xxhash.
//
// hash64 is for tables of this process: short keys are mixed inline, longer ones go to XXH3, and its values may differ
// between builds. hash128 is XXH3-128 and the same everywhere, fit for names of files. A hash locates, it never
// decides: whoever looks up compares the whole key. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace aee {

struct Hash128 {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

namespace detail {
[[nodiscard]] std::uint64_t hash64_long(const void* bytes, std::size_t size, std::uint64_t seed) noexcept;

/// Both halves of the product, folded: every bit of the result depends on every bit of the factors.
[[nodiscard]] inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
}  // namespace detail

/// Hash for tables in memory; keys up to 16 bytes cost a few cycles.
[[nodiscard]] inline std::uint64_t hash64(const void* bytes, std::size_t size, std::uint64_t seed = 0) noexcept {
  if (size > 16) return detail::hash64_long(bytes, size, seed);
  const auto* first = static_cast<const unsigned char*>(bytes);
  std::uint64_t low = 0, high = 0;
  if (size >= 8) {  // the two words may overlap; the size keeps keys of different lengths apart
    std::memcpy(&low, first, 8);
    std::memcpy(&high, first + size - 8, 8);
  } else if (size >= 4) {
    std::uint32_t head = 0, tail = 0;
    std::memcpy(&head, first, 4);
    std::memcpy(&tail, first + size - 4, 4);
    low = head;
    high = tail;
  } else if (size > 0) {
    low = static_cast<std::uint64_t>(first[0]) | static_cast<std::uint64_t>(first[size / 2]) << 8;
    high = first[size - 1];
  }
  const std::uint64_t mixed = detail::fold_product(low ^ 0xA0761D6478BD642Fu ^ seed, high ^ 0xE7037ED1A0B428DBu);
  return detail::fold_product(mixed ^ 0x8EBC6AF09C88C6E3u, size ^ 0x589965CC75374CC3u);
}
[[nodiscard]] inline std::uint64_t hash64(std::span<const std::byte> key, std::uint64_t seed = 0) noexcept {
  return hash64(key.data(), key.size(), seed);
}

/// XXH3-128: stable between builds and machines.
[[nodiscard]] Hash128 hash128(const void* bytes, std::size_t size) noexcept;
[[nodiscard]] inline Hash128 hash128(std::span<const std::byte> key) noexcept {
  return hash128(key.data(), key.size());
}

}  // namespace aee
