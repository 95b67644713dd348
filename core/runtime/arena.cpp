#include "core/runtime/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/spin_lock.h"

namespace aee {
namespace {

// Note [Arena layout]
// One range of addresses is reserved and grows by pages of 2 MiB, which the kernel backs with huge pages (a fault of
// 4 KiB costs 15 us on virtual machines). A run of pages becomes a slab, which is cut into blocks of one size class.
// A table with an entry per page tells the class of any block, so blocks carry no header. Free blocks are linked
// through their first bytes; blocks never used are not touched. Only trim() takes slabs apart.
constexpr int kPageBits = 21;
constexpr std::size_t kPage = std::size_t{1} << kPageBits;
constexpr std::uint64_t kMostSpace = std::uint64_t{1} << 40;
constexpr std::uint64_t kLeastSpace = std::uint64_t{1} << 30;
constexpr std::size_t kGrain = 64;
constexpr int kGrainBits = 6;
constexpr std::size_t kClassCount = 4 * (40 - kGrainBits);
constexpr std::uint16_t kSlabStart = 0x8000;  // flag in the page table, beside the class

/// Sizes 64, 128, 192, 256, then four to a doubling.
std::size_t class_of(std::size_t bytes) noexcept {
  const std::size_t grains = bytes <= kGrain ? 1 : (bytes - 1) / kGrain + 1;
  if (grains <= 4) return grains - 1;
  const int shift = static_cast<int>(std::bit_width(grains - 1)) - 3;
  return static_cast<std::size_t>(4 * shift) + ((grains - 1) >> shift);
}
std::size_t size_of_class(std::size_t index) noexcept {
  if (index < 4) return (index + 1) * kGrain;
  const std::size_t shift = index / 4 - 1;
  return ((index % 4 + 5) << shift) * kGrain;
}

/// Pages of a slab: the fewest that leave at most an eighth unused.
std::size_t slab_pages(std::size_t block) noexcept {
  for (std::size_t pages = (block + kPage - 1) / kPage;; ++pages) {
    if ((pages * kPage) % block <= pages * kPage / 8) return pages;
  }
}

struct FreeBlock {
  FreeBlock* next;
};

struct alignas(64) SizeClass {
  mutable SpinLock lock;  // guards the rest
  FreeBlock* free = nullptr;
  std::byte* fresh = nullptr;  // the part of the newest slab that was never handed out
  std::byte* fresh_end = nullptr;
  std::uint64_t blocks_out = 0;

  void push(void* block) noexcept { free = ::new (block) FreeBlock{free}; }
  /// Turns the fresh part into free blocks.
  void spill_fresh(std::size_t block) noexcept {
    for (; fresh != fresh_end; fresh += block) push(fresh);
  }
};

}  // namespace

struct Arena::Impl {
  std::byte* base = nullptr;
  std::size_t page_count = 0;
  std::uint64_t most_bytes = 0;
  std::unique_ptr<std::uint16_t[]> class_of_page;  // with kSlabStart; written before blocks of the page are handed out
  std::array<SizeClass, kClassCount> classes;

  std::mutex pages_lock;        // guards what follows; taken before a class's lock, never the other way round
  std::size_t pages_begun = 0;  // pages below this have been opened
  std::map<std::size_t, std::size_t> free_runs;  // first page -> pages; neighbours are merged
  std::atomic<std::uint64_t> reserved{0}, reserved_peak{0};

  void reserve();
  void* allocate_from_slab(std::size_t index);
  std::size_t take_pages(std::size_t count);
  void put_pages(std::size_t first, std::size_t count) noexcept;
  void trim_class(std::size_t index);
  [[nodiscard]] bool starts_slab(const std::byte* block) const noexcept {
    const std::size_t page = page_of(block);
    return block == base + (page << kPageBits) && (class_of_page[page] & kSlabStart) != 0;
  }
  [[nodiscard]] std::size_t page_of(const void* block) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(block) - base) >> kPageBits;
  }
};

void Arena::Impl::reserve() {
  for (std::uint64_t space = kMostSpace; space >= kLeastSpace; space /= 2) {
    // One page more, to align the first.
    void* range = ::mmap(nullptr, space + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(range);
    const std::uintptr_t aligned = (address + kPage - 1) & ~(kPage - 1);
    if (aligned != address) ::munmap(range, aligned - address);
    ::munmap(reinterpret_cast<void*>(aligned + space), kPage - (aligned - address));
    base = reinterpret_cast<std::byte*>(aligned);
    page_count = space >> kPageBits;
    class_of_page = std::make_unique_for_overwrite<std::uint16_t[]>(page_count);
    return;
  }
  fail(ErrorKind::kOutOfMemory, "cannot reserve ", kLeastSpace, " bytes of addresses for device memory");
}

/// Pages in a row, usable; or page_count if there are none.
std::size_t Arena::Impl::take_pages(std::size_t count) {
  std::size_t first = page_count;
  const std::uint64_t now = reserved.load(std::memory_order_relaxed) + (count << kPageBits);
  if (now > most_bytes) return page_count;
  for (auto run = free_runs.begin(); run != free_runs.end(); ++run) {
    if (run->second < count) continue;
    first = run->first;
    const std::size_t rest = run->second - count;
    free_runs.erase(run);
    if (rest != 0) free_runs.emplace(first + count, rest);
    break;
  }
  if (first == page_count) {
    if (count > page_count - pages_begun) return page_count;
    std::byte* memory = base + (pages_begun << kPageBits);
    if (::mprotect(memory, count << kPageBits, PROT_READ | PROT_WRITE) != 0) return page_count;
    ::madvise(memory, count << kPageBits, MADV_HUGEPAGE);  // a kernel without huge pages is only slower
    first = std::exchange(pages_begun, pages_begun + count);
  }
  reserved.store(now, std::memory_order_relaxed);
  if (now > reserved_peak.load(std::memory_order_relaxed)) reserved_peak.store(now, std::memory_order_relaxed);
  return first;
}

/// Returns pages to the system; their addresses stay ours.
void Arena::Impl::put_pages(std::size_t first, std::size_t count) noexcept {
  ::madvise(base + (first << kPageBits), count << kPageBits, MADV_DONTNEED);
  reserved.store(reserved.load(std::memory_order_relaxed) - (count << kPageBits), std::memory_order_relaxed);
  const auto after = free_runs.lower_bound(first);
  if (after != free_runs.end() && after->first == first + count) {
    count += after->second;
    free_runs.erase(after);
  }
  const auto next = free_runs.lower_bound(first);
  if (next != free_runs.begin() && std::prev(next)->first + std::prev(next)->second == first) {
    std::prev(next)->second += count;
    return;
  }
  try {
    free_runs.emplace(first, count);
  } catch (const std::bad_alloc&) {  // the addresses are lost, the memory is not
  }
}

/// The slow path of allocate(): a new slab for the class. Null if there is no memory.
void* Arena::Impl::allocate_from_slab(std::size_t index) {
  const std::size_t block = size_of_class(index), pages = slab_pages(block);
  const std::lock_guard pages_guard(pages_lock);
  const std::size_t first = take_pages(pages);
  if (first == page_count) return nullptr;
  std::fill_n(&class_of_page[first], pages, static_cast<std::uint16_t>(index));
  class_of_page[first] |= kSlabStart;
  std::byte* memory = base + (first << kPageBits);
  SizeClass& size_class = classes[index];
  const std::lock_guard guard(size_class.lock);
  size_class.spill_fresh(block);  // another thread may have made a slab meanwhile
  size_class.fresh = memory + block;
  size_class.fresh_end = memory + (pages << kPageBits) / block * block;
  ++size_class.blocks_out;
  return memory;
}

/// Returns the slabs of a class that have no block out. `pages_lock` is held.
void Arena::Impl::trim_class(std::size_t index) {
  const std::size_t block = size_of_class(index), pages = slab_pages(block);
  const std::size_t blocks = (pages << kPageBits) / block;
  SizeClass& size_class = classes[index];
  const std::lock_guard guard(size_class.lock);
  size_class.spill_fresh(block);
  std::vector<std::byte*> free_blocks;
  for (FreeBlock* free = size_class.free; free != nullptr; free = free->next) {
    free_blocks.push_back(reinterpret_cast<std::byte*>(free));
  }
  std::sort(free_blocks.begin(), free_blocks.end());

  // A slab is free if its first block is, and the one so many places behind is its last.
  size_class.free = nullptr;
  for (std::size_t i = 0; i < free_blocks.size();) {
    std::byte* first = free_blocks[i];
    const std::size_t last = i + blocks - 1;
    if (starts_slab(first) && last < free_blocks.size() && free_blocks[last] == first + (blocks - 1) * block) {
      put_pages(page_of(first), pages);
      i = last + 1;
      continue;
    }
    size_class.push(first);
    ++i;
  }
}

Arena::Arena(std::uint64_t most_bytes) : impl_(std::make_unique<Impl>()) {
  impl_->most_bytes = most_bytes;
  impl_->reserve();
}

Arena::~Arena() { ::munmap(impl_->base, impl_->page_count << kPageBits); }

void* Arena::allocate(std::size_t bytes) {
  const std::size_t index = class_of(bytes);
  if (index < kClassCount) [[likely]] {
    SizeClass& size_class = impl_->classes[index];
    {
      const std::lock_guard guard(size_class.lock);
      FreeBlock* free = size_class.free;
      if (free != nullptr) [[likely]] {
        size_class.free = free->next;
        ++size_class.blocks_out;
        return free;
      }
      if (size_class.fresh != size_class.fresh_end) {
        ++size_class.blocks_out;
        return std::exchange(size_class.fresh, size_class.fresh + size_of_class(index));
      }
    }
    for (const bool last_try : {false, true}) {
      if (void* block = impl_->allocate_from_slab(index)) return block;
      if (!last_try) trim();
    }
  }
  fail(ErrorKind::kOutOfMemory, "out of device memory: tried to allocate ", bytes, " bytes, ",
       impl_->reserved.load(std::memory_order_relaxed), " of ", impl_->most_bytes, " bytes are held");
}

void Arena::free(void* block) noexcept {
  if (block == nullptr) return;
  const std::size_t index = impl_->class_of_page[impl_->page_of(block)] & ~kSlabStart;
  SizeClass& size_class = impl_->classes[index];
  const std::lock_guard guard(size_class.lock);
  size_class.push(block);
  --size_class.blocks_out;
}

bool Arena::owns(const void* address) const noexcept {
  const auto* byte = static_cast<const std::byte*>(address);
  return byte >= impl_->base && byte < impl_->base + (impl_->page_count << kPageBits);
}

void Arena::trim() noexcept {
  const std::lock_guard guard(impl_->pages_lock);
  for (std::size_t index = 0; index < kClassCount; ++index) {
    try {
      impl_->trim_class(index);
    } catch (const std::bad_alloc&) {  // no memory to sort the blocks of this class; the next may be smaller
    }
  }
}

ArenaStats Arena::stats() const noexcept {
  ArenaStats stats;
  stats.reserved = impl_->reserved.load(std::memory_order_relaxed);
  stats.reserved_peak = impl_->reserved_peak.load(std::memory_order_relaxed);
  for (std::size_t index = 0; index < kClassCount; ++index) {
    const SizeClass& size_class = impl_->classes[index];
    const std::lock_guard guard(size_class.lock);
    stats.in_use += size_class.blocks_out * size_of_class(index);
  }
  return stats;
}

}  // namespace aee
