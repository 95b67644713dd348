#include "core/runtime/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/spin_lock.h"

namespace aee {
namespace {

constexpr int kSmallestClassBits = 9;  // 512 bytes
constexpr std::size_t kClassCount = 32;
constexpr std::uint64_t kLeastAddressSpace = std::uint64_t{1} << 30;
constexpr std::size_t kFirstChunk = 64;
constexpr std::size_t kChunkCount = 34;
constexpr std::size_t kUnit = 64;  // bytes; the grain of the accounting

/// Class whose slots hold `bytes` bytes and one more: the address just past a full buffer is still its own, so that an
/// empty view at its end resolves to it.
std::size_t class_for(std::size_t bytes) noexcept {
  const auto bits = static_cast<int>(std::bit_width(bytes));
  return bits <= kSmallestClassBits ? 0 : static_cast<std::size_t>(bits - kSmallestClassBits);
}

std::uint64_t units_of(std::size_t bytes) noexcept { return bytes / kUnit + (bytes % kUnit != 0 ? 1 : 0); }

/// What living buffers use, packed so that one atomic operation accounts for both: count << 40 | units of 64 bytes.
struct Usage {
  static constexpr int kUnitBits = 40;
  static constexpr std::uint64_t kUnitMask = (std::uint64_t{1} << kUnitBits) - 1;
  static constexpr std::uint64_t kOneBuffer = std::uint64_t{1} << kUnitBits;
  static constexpr std::uint64_t kMostBuffers = (std::uint64_t{1} << (64 - kUnitBits)) - 2;

  static std::uint64_t units(std::uint64_t packed) noexcept { return packed & kUnitMask; }
  static std::uint64_t buffers(std::uint64_t packed) noexcept { return packed >> kUnitBits; }
};

void raise_to(std::atomic<std::uint64_t>& peak, std::uint64_t value) noexcept {
  std::uint64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

/// The slots of one size. Buffers live in chunks that double, so that addresses are stable, the directory is small,
/// and memory that no buffer has used yet is not touched.
struct alignas(64) SizeClass {
  SpinLock lock;  // guards all that follows but for `made` and `chunks`, which resolve() reads
  Buffer* free = nullptr;
  std::uint64_t acquired_total = 0, units_acquired_total = 0, units_freed_total = 0;
  std::uint64_t slots = 0;
  std::atomic<std::uint64_t> made{0};
  std::array<std::atomic<Buffer*>, kChunkCount> chunks{};

  static std::size_t chunk_of(std::uint64_t slot) noexcept {
    return static_cast<std::size_t>(std::bit_width(slot / kFirstChunk));
  }
  static std::uint64_t first_of(std::size_t chunk) noexcept {
    return chunk == 0 ? 0 : std::uint64_t{kFirstChunk} << (chunk - 1);
  }
  [[nodiscard]] Buffer* at(std::uint64_t slot) const noexcept {
    const std::size_t chunk = chunk_of(slot);
    return chunks[chunk].load(std::memory_order_acquire) + (slot - first_of(chunk));
  }
};

constexpr std::align_val_t kBufferAlignment{alignof(Buffer)};

}  // namespace

struct BufferPool::Impl {
  int device = 0;
  std::byte* base = nullptr;
  std::uint64_t space = 0;   // bytes reserved, a power of two
  int class_space_bits = 0;  // each class has 2^this bytes of it
  SpinLock failure_lock;     // guards Buffer::failure_ of all buffers
  alignas(64) std::atomic<std::uint64_t> usage{0};
  std::atomic<std::uint64_t> limit{0};
  std::atomic<std::uint64_t> units_peak{0}, buffers_peak{0}, out_of_memory{0};
  std::array<SizeClass, kClassCount> classes;

  void reserve(std::uint64_t wanted);
  [[nodiscard]] std::uint64_t most_units() const noexcept {
    return std::min(limit.load(std::memory_order_relaxed) / kUnit, Usage::kUnitMask);
  }
  [[nodiscard]] bool charge(std::uint64_t more_units, std::uint64_t more_buffers) noexcept;
  Buffer* take(SizeClass& size_class, std::size_t index, std::uint64_t units);
  Buffer* make_slot(SizeClass& size_class, std::size_t index);
  [[noreturn]] void refuse(std::size_t bytes, const char* why);

  static void drop_backing(Buffer& buffer) noexcept;
  static void give_back(Buffer& buffer) noexcept;
};

void BufferPool::Impl::reserve(std::uint64_t wanted) {
  for (space = std::bit_floor(std::max(wanted, kLeastAddressSpace)); space >= kLeastAddressSpace; space /= 2) {
    void* range = ::mmap(nullptr, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    base = static_cast<std::byte*>(range);
    class_space_bits = std::countr_zero(space / kClassCount);
    for (std::size_t i = 0; i < kClassCount; ++i) {
      const int slot_bits = kSmallestClassBits + static_cast<int>(i);
      if (slot_bits <= class_space_bits) classes[i].slots = std::uint64_t{1} << (class_space_bits - slot_bits);
    }
    return;
  }
  fail(ErrorKind::kOutOfMemory, "cannot reserve ", kLeastAddressSpace, " bytes of addresses for device memory");
}

/// Accounts for a growth if the limit allows it. Relaxed: the numbers order nothing.
bool BufferPool::Impl::charge(std::uint64_t more_units, std::uint64_t more_buffers) noexcept {
  const std::uint64_t most = most_units();
  std::uint64_t seen = usage.load(std::memory_order_relaxed), next = 0;
  do {
    if (Usage::units(seen) + more_units > most || Usage::buffers(seen) > Usage::kMostBuffers) return false;
    next = seen + more_units + more_buffers * Usage::kOneBuffer;
  } while (!usage.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  raise_to(units_peak, Usage::units(next));
  raise_to(buffers_peak, Usage::buffers(next));
  return true;
}

/// A slot of the class, from the free list or a new one; null if all are taken.
Buffer* BufferPool::Impl::take(SizeClass& size_class, std::size_t index, std::uint64_t units) {
  const std::lock_guard guard(size_class.lock);
  Buffer* buffer = size_class.free;
  if (buffer != nullptr) [[likely]] {
    size_class.free = buffer->next_free_;
  } else {
    buffer = make_slot(size_class, index);
    if (buffer == nullptr) return nullptr;
  }
  ++size_class.acquired_total;
  size_class.units_acquired_total += units;
  return buffer;
}

Buffer* BufferPool::Impl::make_slot(SizeClass& size_class, std::size_t index) {
  const std::uint64_t slot = size_class.made.load(std::memory_order_relaxed);
  if (slot == size_class.slots) return nullptr;
  const std::size_t chunk = SizeClass::chunk_of(slot);
  if (slot == SizeClass::first_of(chunk)) {
    const std::uint64_t length = chunk == 0 ? kFirstChunk : slot;  // as many as all chunks before
    void* memory = ::operator new(length * sizeof(Buffer), kBufferAlignment);
    size_class.chunks[chunk].store(static_cast<Buffer*>(memory), std::memory_order_release);
  }
  Buffer* buffer = ::new (static_cast<void*>(size_class.at(slot))) Buffer();
  buffer->size_class_ = static_cast<std::uint8_t>(index);
  buffer->device_ = static_cast<std::int16_t>(device);
  buffer->handle_ =
      base + (std::uint64_t{index} << class_space_bits) + (slot << (kSmallestClassBits + static_cast<int>(index)));
  size_class.made.store(slot + 1, std::memory_order_release);
  return buffer;
}

void BufferPool::Impl::refuse(std::size_t bytes, const char* why) {
  out_of_memory.fetch_add(1, std::memory_order_relaxed);
  fail(ErrorKind::kOutOfMemory, "neuron:", device, " out of memory: cannot allocate ", bytes, " bytes, ", why,
       " (capacity ", limit.load(std::memory_order_relaxed), " bytes)");
}

void BufferPool::Impl::drop_backing(Buffer& buffer) noexcept {
  const Backing backing = std::exchange(buffer.backing_, Backing{});
  if (backing.release != nullptr) backing.release(backing.object);
}

/// Everything that recycle() does after the backing is gone.
void BufferPool::Impl::give_back(Buffer& buffer) noexcept {
  if (buffer.failed_.load(std::memory_order_relaxed)) buffer.clear_failure();
  Impl& pool = *buffer.pool_->impl_;
  const std::uint64_t units = units_of(buffer.bytes_);
  pool.usage.fetch_sub(units + Usage::kOneBuffer, std::memory_order_relaxed);
  SizeClass& size_class = pool.classes[buffer.size_class_];
  const std::lock_guard guard(size_class.lock);
  size_class.units_freed_total += units;
  buffer.next_free_ = size_class.free;
  size_class.free = &buffer;
}

FailurePtr Buffer::failure() const {
  const std::lock_guard guard(pool_->impl_->failure_lock);
  return failure_;
}

void Buffer::set_failure(FailurePtr failure) {
  const std::lock_guard guard(pool_->impl_->failure_lock);
  const bool keep = failure_ != nullptr && !failure_->delivered.load(std::memory_order_acquire);
  if (!keep) failure_.swap(failure);  // the old one dies with the argument, after the lock is released
  failed_.store(failure_ != nullptr, std::memory_order_release);
}

void Buffer::clear_failure() noexcept {
  FailurePtr old;  // dies after the lock is released
  const std::lock_guard guard(pool_->impl_->failure_lock);
  old.swap(failure_);
  failed_.store(false, std::memory_order_release);
}

void Buffer::recycle() noexcept {
  if (forked_child()) return;  // a lock may be held by a thread that does not exist here
  if (backing_.release == nullptr) {
    backing_ = {};
    return BufferPool::Impl::give_back(*this);
  }

  // Releasing a backing may release other buffers. Those queue up here instead of recursing: the outermost call on
  // this thread works them off.
  constinit static thread_local Buffer** waiting = nullptr;
  if (waiting != nullptr) {
    next_free_ = std::exchange(*waiting, this);
    return;
  }
  Buffer* list = nullptr;
  waiting = &list;
  Buffer* buffer = this;
  while (buffer != nullptr) {
    BufferPool::Impl::drop_backing(*buffer);
    BufferPool::Impl::give_back(*buffer);
    buffer = list;
    if (list != nullptr) list = list->next_free_;
  }
  waiting = nullptr;
}

BufferPool::BufferPool(int device, std::uint64_t address_space, std::uint64_t limit) : impl_(std::make_unique<Impl>()) {
  watch_forks();
  impl_->device = device;
  impl_->reserve(address_space);
  set_limit(limit);
}

BufferPool::~BufferPool() {
  for (SizeClass& size_class : impl_->classes) {
    const std::uint64_t made = size_class.made.load(std::memory_order_acquire);
    for (std::uint64_t slot = 0; slot < made; ++slot) size_class.at(slot)->~Buffer();
    for (auto& chunk : size_class.chunks) ::operator delete(chunk.load(std::memory_order_relaxed), kBufferAlignment);
  }
  ::munmap(impl_->base, impl_->space);
}

BufferRef BufferPool::acquire(std::size_t bytes) {
  const std::uint64_t units = units_of(bytes);
  if (!impl_->charge(units, 1)) [[unlikely]] {
    if (units > impl_->most_units()) impl_->refuse(bytes, "more than the device has");
    return {};
  }
  // A class without slots left borrows from larger ones.
  for (std::size_t index = class_for(bytes); index < kClassCount; ++index) {
    Buffer* buffer = nullptr;
    try {
      buffer = impl_->take(impl_->classes[index], index, units);
    } catch (...) {
      impl_->usage.fetch_sub(units + Usage::kOneBuffer, std::memory_order_relaxed);
      throw;
    }
    if (buffer == nullptr) continue;
    buffer->pool_ = this;
    buffer->bytes_ = bytes;
    buffer->last_use_.store(Timepoint{}, std::memory_order_relaxed);
    buffer->references_.store(1, std::memory_order_release);
    return BufferRef::adopt(buffer);
  }
  impl_->usage.fetch_sub(units + Usage::kOneBuffer, std::memory_order_relaxed);
  impl_->refuse(bytes, "no device addresses of that size are left");
}

bool BufferPool::resize(Buffer& buffer, std::size_t bytes) {
  if (class_for(bytes) > buffer.size_class_) return false;
  const std::uint64_t before = units_of(buffer.bytes_), after = units_of(bytes);
  if (after > before && !impl_->charge(after - before, 0)) return false;
  if (after < before) impl_->usage.fetch_sub(before - after, std::memory_order_relaxed);
  buffer.bytes_ = bytes;
  SizeClass& size_class = impl_->classes[buffer.size_class_];
  const std::lock_guard guard(size_class.lock);
  if (after > before) size_class.units_acquired_total += after - before;
  if (after < before) size_class.units_freed_total += before - after;
  return true;
}

Buffer* BufferPool::resolve(const void* address, std::size_t* offset) const noexcept {
  if (!owns(address)) return nullptr;
  const auto position = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - impl_->base);
  const auto index = static_cast<std::size_t>(position >> impl_->class_space_bits);
  const SizeClass& size_class = impl_->classes[index];
  const std::uint64_t within = position & ((std::uint64_t{1} << impl_->class_space_bits) - 1);
  const std::uint64_t slot = within >> (kSmallestClassBits + static_cast<int>(index));
  if (slot >= size_class.made.load(std::memory_order_acquire)) return nullptr;
  Buffer* buffer = size_class.at(slot);
  if (buffer->references_.load(std::memory_order_acquire) == 0) return nullptr;
  *offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(address) - static_cast<const std::byte*>(buffer->handle_));
  return buffer;
}

bool BufferPool::owns(const void* address) const noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(impl_->base);
  return reinterpret_cast<std::uintptr_t>(address) - first < impl_->space;
}

MemoryStats BufferPool::stats() const noexcept {
  const std::uint64_t usage = impl_->usage.load(std::memory_order_relaxed);
  MemoryStats stats;
  stats.allocated = Usage::units(usage) * kUnit;
  stats.buffers = Usage::buffers(usage);
  stats.allocated_peak = impl_->units_peak.load(std::memory_order_relaxed) * kUnit;
  stats.buffers_peak = impl_->buffers_peak.load(std::memory_order_relaxed);
  stats.limit = impl_->limit.load(std::memory_order_relaxed);
  stats.out_of_memory = impl_->out_of_memory.load(std::memory_order_relaxed);
  for (SizeClass& size_class : impl_->classes) {
    const std::lock_guard guard(size_class.lock);
    stats.allocated_total += size_class.units_acquired_total * kUnit;
    stats.freed_total += size_class.units_freed_total * kUnit;
    stats.buffers_total += size_class.acquired_total;
  }
  return stats;
}

void BufferPool::reset_peak() noexcept {
  const std::uint64_t usage = impl_->usage.load(std::memory_order_relaxed);
  impl_->units_peak.store(Usage::units(usage), std::memory_order_relaxed);
  impl_->buffers_peak.store(Usage::buffers(usage), std::memory_order_relaxed);
}

void BufferPool::reset_accumulated() noexcept {
  for (SizeClass& size_class : impl_->classes) {
    const std::lock_guard guard(size_class.lock);
    size_class.acquired_total = size_class.units_acquired_total = size_class.units_freed_total = 0;
  }
  impl_->out_of_memory.store(0, std::memory_order_relaxed);
}

void BufferPool::set_limit(std::uint64_t bytes) noexcept { impl_->limit.store(bytes, std::memory_order_relaxed); }

void BufferPool::count_out_of_memory() noexcept { impl_->out_of_memory.fetch_add(1, std::memory_order_relaxed); }

}  // namespace aee
