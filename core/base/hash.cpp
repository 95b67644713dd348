#include "core/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace aee {

std::uint64_t detail::hash64_long(const void* bytes, std::size_t size, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

Hash128 hash128(const void* bytes, std::size_t size) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return {hash.low64, hash.high64};
}

}  // namespace aee
