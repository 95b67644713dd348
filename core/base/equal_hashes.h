// Equal hashes: a build with AEE_EQUAL_HASHES gives all keys of its tables one hash, which proves that nothing is ever
// found by its hash alone. Any thread.
#pragma once

#include <cstdint>

namespace aee {

/// The hash that a table uses for a key with this hash.
[[nodiscard]] constexpr std::uint64_t table_hash(std::uint64_t hash) noexcept {
#ifdef AEE_EQUAL_HASHES
  hash = 0;
#endif
  return hash;
}

}  // namespace aee
