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

/// The slots of one size. Buffers live in chunks that double, so that addresses are stable, the directory is small,
/// and memory that no buffer has used yet is not touched.
struct SizeClass {
  Buffer* free = nullptr;  // free slots, linked; guarded by the pool's lock
  std::uint64_t slots = 0;
  std::atomic<std::uint64_t> made{0};  // written under the lock; resolve() reads it without
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

/// The numbers behind MemoryStats, in units of 64 bytes.
struct Account {
  std::uint64_t limit = 0, used = 0, used_peak = 0, buffers = 0, buffers_peak = 0;
  std::uint64_t acquired_total = 0, freed_total = 0, buffers_total = 0;
  std::uint64_t out_of_memory = 0, limit_bytes = 0;

  [[nodiscard]] bool has_room(std::uint64_t units) const noexcept { return used + units <= limit; }
  void charge(std::uint64_t units) noexcept {
    used += units;
    used_peak = std::max(used_peak, used);
    acquired_total += units;
  }
  void credit(std::uint64_t units) noexcept {
    used -= units;
    freed_total += units;
  }
};

constexpr std::align_val_t kBufferAlignment{alignof(Buffer)};

}  // namespace

struct BufferPool::Impl {
  BufferPool* owner = nullptr;
  int device = 0;
  std::byte* base = nullptr;
  std::uint64_t space = 0;   // bytes reserved, a power of two
  int class_space_bits = 0;  // each class has 2^this bytes of it
  SpinLock failure_lock;     // guards Buffer::failure_ of all buffers

  // One lock for accounts and free lists: both change together, and an uncontended atomic operation is a third of what
  // acquire() costs.
  alignas(64) SpinLock lock;  // guards `account` and the classes
  Account account;
  std::array<SizeClass, kClassCount> classes;

  void reserve(std::uint64_t wanted);
  Buffer* take(std::size_t smallest_class);
  Buffer* make_slot(std::size_t index);
  [[noreturn]] void refuse(std::size_t bytes, const char* why);

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

/// A free slot of the class, or of a larger one where it has none left; null if there is none. `lock` is held.
Buffer* BufferPool::Impl::take(std::size_t smallest_class) {
  for (std::size_t index = smallest_class; index < kClassCount; ++index) {
    Buffer* buffer = classes[index].free;
    if (buffer != nullptr) [[likely]] {
      classes[index].free = buffer->next_free_;
      return buffer;
    }
    buffer = make_slot(index);
    if (buffer != nullptr) return buffer;
  }
  return nullptr;
}

Buffer* BufferPool::Impl::make_slot(std::size_t index) {
  SizeClass& size_class = classes[index];
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
  buffer->pool_ = owner;
  buffer->handle_ =
      base + (std::uint64_t{index} << class_space_bits) + (slot << (kSmallestClassBits + static_cast<int>(index)));
  size_class.made.store(slot + 1, std::memory_order_release);
  return buffer;
}

void BufferPool::Impl::refuse(std::size_t bytes, const char* why) {
  std::uint64_t limit = 0;
  {
    const std::lock_guard guard(lock);
    ++account.out_of_memory;
    limit = account.limit_bytes;
  }
  fail(ErrorKind::kOutOfMemory, "neuron:", device, " out of memory: cannot allocate ", bytes, " bytes, ", why,
       " (capacity ", limit, " bytes)");
}

/// Everything that recycle() does after the content is gone, or left to the next life.
void BufferPool::Impl::give_back(Buffer& buffer) noexcept {
  Impl& pool = *buffer.pool_->impl_;
  SizeClass& size_class = pool.classes[buffer.size_class_];
  const std::uint64_t units = units_of(buffer.bytes_);
  const std::lock_guard guard(pool.lock);
  pool.account.credit(units);
  --pool.account.buffers;
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

void Buffer::drop_content() noexcept {
  if (failed()) clear_failure();
  const Backing backing = std::exchange(backing_, Backing{});
  if (backing.release != nullptr) backing.release(backing.object);
}

void Buffer::recycle() noexcept {
  if (forked_child()) return;                              // a lock may be held by a thread that does not exist here
  if (small()) return BufferPool::Impl::give_back(*this);  // Note [Lives of a small buffer]

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
    buffer->drop_content();
    BufferPool::Impl::give_back(*buffer);
    buffer = list;
    if (list != nullptr) list = list->next_free_;
  }
  waiting = nullptr;
}

BufferPool::BufferPool(int device, std::uint64_t address_space, std::uint64_t limit) : impl_(std::make_unique<Impl>()) {
  watch_forks();
  impl_->owner = this;
  impl_->device = device;
  impl_->reserve(address_space);
  set_limit(limit);
}

BufferPool::~BufferPool() {
  for (SizeClass& size_class : impl_->classes) {
    const std::uint64_t made = size_class.made.load(std::memory_order_acquire);
    for (std::uint64_t slot = 0; slot < made; ++slot) {
      size_class.at(slot)->drop_content();
      size_class.at(slot)->~Buffer();
    }
    for (auto& chunk : size_class.chunks) ::operator delete(chunk.load(std::memory_order_relaxed), kBufferAlignment);
  }
  ::munmap(impl_->base, impl_->space);
}

BufferRef BufferPool::acquire(std::size_t bytes, Birth birth) {
  const std::uint64_t units = units_of(bytes);
  Buffer* buffer = nullptr;
  bool fits = true, can_fit = true;
  {
    const std::lock_guard guard(impl_->lock);
    Account& account = impl_->account;
    can_fit = units <= account.limit;
    fits = account.has_room(units);
    if (fits) buffer = impl_->take(class_for(bytes));
    if (buffer != nullptr) {
      account.charge(units);
      account.buffers_peak = std::max(account.buffers_peak, ++account.buffers);
      ++account.buffers_total;
    }
  }
  if (buffer == nullptr) [[unlikely]] {
    if (!can_fit) impl_->refuse(bytes, "more than the device has");
    if (!fits) return {};
    impl_->refuse(bytes, "no device addresses of that size are left");
  }
  if (birth == Birth::kClean && buffer->small()) buffer->drop_content();
  buffer->bytes_ = bytes;
  buffer->last_use_.store(Timepoint{}, std::memory_order_relaxed);
  buffer->pending_writer.store(0, std::memory_order_relaxed);
  buffer->pending_reader.store(0, std::memory_order_relaxed);
  buffer->references_.store(1, std::memory_order_release);
  return BufferRef::adopt(buffer);
}

void BufferPool::trim() noexcept {
  for (std::size_t index = 0; index <= Buffer::kLastSmallClass; ++index) {
    Buffer* kept = nullptr;
    {
      const std::lock_guard guard(impl_->lock);
      kept = std::exchange(impl_->classes[index].free, nullptr);
    }
    // Nobody else sees the list meanwhile; releasing memory may take locks of its own.
    for (Buffer* buffer = kept; buffer != nullptr; buffer = buffer->next_free_) buffer->drop_content();
    while (kept != nullptr) {
      Buffer* buffer = std::exchange(kept, kept->next_free_);
      const std::lock_guard guard(impl_->lock);
      buffer->next_free_ = std::exchange(impl_->classes[index].free, buffer);
    }
  }
}

bool BufferPool::resize(Buffer& buffer, std::size_t bytes) {
  if (class_for(bytes) > buffer.size_class_) return false;
  const std::uint64_t before = units_of(buffer.bytes_), after = units_of(bytes);
  const std::lock_guard guard(impl_->lock);
  if (after > before && !impl_->account.has_room(after - before)) return false;
  if (after > before) impl_->account.charge(after - before);
  if (after < before) impl_->account.credit(before - after);
  buffer.bytes_ = bytes;
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
  const std::lock_guard guard(impl_->lock);
  const Account& account = impl_->account;
  return {.allocated = account.used * kUnit,
          .allocated_peak = account.used_peak * kUnit,
          .allocated_total = account.acquired_total * kUnit,
          .freed_total = account.freed_total * kUnit,
          .buffers = account.buffers,
          .buffers_peak = account.buffers_peak,
          .buffers_total = account.buffers_total,
          .limit = account.limit_bytes,
          .out_of_memory = account.out_of_memory};
}

void BufferPool::reset_peak() noexcept {
  const std::lock_guard guard(impl_->lock);
  impl_->account.used_peak = impl_->account.used;
  impl_->account.buffers_peak = impl_->account.buffers;
}

void BufferPool::reset_accumulated() noexcept {
  const std::lock_guard guard(impl_->lock);
  Account& account = impl_->account;
  account.acquired_total = account.freed_total = account.buffers_total = account.out_of_memory = 0;
}

void BufferPool::set_limit(std::uint64_t bytes) noexcept {
  const std::lock_guard guard(impl_->lock);
  impl_->account.limit_bytes = bytes;
  impl_->account.limit = bytes / kUnit;
}

void BufferPool::count_out_of_memory() noexcept {
  const std::lock_guard guard(impl_->lock);
  ++impl_->account.out_of_memory;
}

}  // namespace aee
