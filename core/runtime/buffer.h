// Buffer: the identity of one block of device memory, and BufferPool, which hands them out.
//
// A Buffer exists from the moment an op that makes it is recorded; its memory (the Backing) is made by the launch
// that first needs it. Its handle is an address inside a range reserved without access rights: unique among the
// living, stable for life, spaced by the size, so that pointer arithmetic on views works and a host access faults.
//
// Ownership: counted references. The tensor's storage holds one while it lives ("observed"), each launch in flight
// holds one per buffer it names. The last release, on any thread, drops the backing and returns the slot. Releasing
// takes no lock that is held across work and never calls into Python.
//
// Note [Lives of a small buffer]
// Cache lines that both the host and the device write cost more than a small op. So what each of them writes lies on a
// line of its own, references of launches to small buffers are given back by host threads (executor.h: retire), and a
// small buffer keeps its memory when it is recycled: whoever begins its next life reuses or drops it.
//
// Threads: acquire, release, retain and resolve from any thread; backing and failure are ordered by the queue that
// uses the buffer, and by completion for a host thread that has waited.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/runtime/failure.h"
#include "core/runtime/timepoint.h"

namespace aee {

/// Memory behind a buffer, opaque to this layer. `object` null: not made yet.
struct Backing {
  void* object = nullptr;
  void (*release)(void* object) noexcept = nullptr;
  std::size_t capacity = 0;  ///< bytes that the memory has room for, at least; 0: unknown
};

/// Who begins the life of a buffer that is handed out.
enum class Birth : std::uint8_t {
  kClean,     ///< nobody: it has no memory yet
  kByLaunch,  ///< the launch that names it among its fresh buffers: see Buffer::begin_life()
};

/// Identity of a recorder, or 0.
using PendingTag = std::uintptr_t;
/// Tag of a reader among several.
inline constexpr PendingTag kManyReaders = ~PendingTag{0};

class BufferPool;

class alignas(64) Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Size in bytes as asked for; 0 is legal and has a handle of its own.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The opaque device pointer: first byte of the handle range.
  [[nodiscard]] void* handle() const noexcept { return handle_; }
  /// Device index of the pool that owns it.
  [[nodiscard]] int device() const noexcept { return device_; }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) recycle();
  }

  /// How many references there are; other threads may change that at any time.
  [[nodiscard]] std::uint32_t references() const noexcept { return references_.load(std::memory_order_relaxed); }

  /// Whether it keeps its memory when it is recycled. Fixed for a handle, whatever the size within its class.
  [[nodiscard]] bool small() const noexcept { return size_class_ <= kLastSmallClass; }

  /// The memory; set by the launch that makes it. The buffer owns it from then on.
  [[nodiscard]] Backing& backing() noexcept { return backing_; }
  /// Forgets the failure of the last life. The launch that makes the buffer calls it before it runs; what backing()
  /// then holds is left over from the last life, to be reused or replaced.
  void begin_life() noexcept {
    if (failed()) [[unlikely]]
      clear_failure();
  }
  /// Drops memory and failure.
  void drop_content() noexcept;

  /// The last launch that names this buffer (reads or writes it).
  [[nodiscard]] Timepoint last_use() const noexcept { return last_use_.load(std::memory_order_acquire); }
  void set_last_use(Timepoint point) noexcept { last_use_.store(point, std::memory_order_release); }

  /// Who holds launches that write (read) this buffer and are not submitted yet: a tag that is not 0. Tags are set and
  /// compared by recorders (core/engine) and cleared by the queue that accepts those launches; see Launch::tag.
  std::atomic<PendingTag> pending_writer{0};
  std::atomic<PendingTag> pending_reader{0};

  /// Buffers below 16 KiB are small.
  static constexpr std::uint8_t kLastSmallClass = 5;

  /// Whether a launch failed to write it; then failure() tells why.
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  [[nodiscard]] FailurePtr failure() const;
  /// Marks it failed. Keeps an earlier failure that was not delivered.
  void set_failure(FailurePtr failure);
  /// Forgets the failure: its content is whole (again).
  void clear_failure() noexcept;

 private:
  friend class BufferPool;
  void recycle() noexcept;  // last reference gone: drop backing and failure, return to the pool

  // Of the host.
  std::atomic<std::uint32_t> references_{0};
  std::uint8_t size_class_ = 0;
  std::int16_t device_ = 0;
  std::size_t bytes_ = 0;
  void* handle_ = nullptr;
  std::atomic<Timepoint> last_use_{};
  BufferPool* pool_ = nullptr;
  Buffer* next_free_ = nullptr;

  // Of whoever runs launches.
  alignas(64) Backing backing_;
  FailurePtr failure_;  // guarded by a lock of the pool
  std::atomic<bool> failed_{false};
};
static_assert(sizeof(Buffer) == 128);

/// A counted reference to a Buffer.
class BufferRef {
 public:
  BufferRef() = default;
  /// Takes over one reference that the caller owns.
  static BufferRef adopt(Buffer* buffer) noexcept { return BufferRef(buffer); }
  /// Adds a reference.
  static BufferRef share(Buffer* buffer) noexcept {
    if (buffer != nullptr) buffer->retain();
    return BufferRef(buffer);
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(other.detach()) {}
  BufferRef& operator=(BufferRef&& other) noexcept {
    if (this != &other) {
      reset();
      buffer_ = other.detach();
    }
    return *this;
  }
  BufferRef(const BufferRef& other) noexcept : buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->retain();
  }
  BufferRef& operator=(const BufferRef& other) noexcept { return *this = BufferRef(other); }
  ~BufferRef() { reset(); }

  [[nodiscard]] Buffer* get() const noexcept { return buffer_; }
  Buffer* operator->() const noexcept { return buffer_; }
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  /// Gives up the reference without releasing it.
  [[nodiscard]] Buffer* detach() noexcept {
    Buffer* buffer = buffer_;
    buffer_ = nullptr;
    return buffer;
  }
  void reset() noexcept {
    if (buffer_ != nullptr) detach()->release();
  }

 private:
  explicit BufferRef(Buffer* buffer) noexcept : buffer_(buffer) {}
  Buffer* buffer_ = nullptr;
};

/// Memory statistics of one device, in bytes and counts. "Allocated" counts what living buffers asked for, rounded
/// to 64 bytes; it is accounted when the buffer is acquired, not when memory is made.
struct MemoryStats {
  std::uint64_t allocated = 0, allocated_peak = 0, allocated_total = 0, freed_total = 0;
  std::uint64_t buffers = 0, buffers_peak = 0, buffers_total = 0;
  std::uint64_t limit = 0;          ///< capacity of the device
  std::uint64_t out_of_memory = 0;  ///< acquisitions refused for good
};

/// Hands out Buffers of one device: a reserved address range cut into size classes (powers of two from 512 bytes),
/// each with a table of Buffers and a free list. Steady state: no allocation, no system call.
class BufferPool {
 public:
  /// Reserves `address_space` bytes (halved until the system agrees; at least 1 GiB). `limit`: capacity in bytes.
  BufferPool(int device, std::uint64_t address_space, std::uint64_t limit);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A buffer with one reference, or an empty ref if `bytes` does not fit into the limit now.
  /// Throws Error(kOutOfMemory), counted as refused for good, if it can never fit or no handles of that size are left.
  [[nodiscard]] BufferRef acquire(std::size_t bytes, Birth birth = Birth::kClean);
  /// Drops the memory that free small buffers keep.
  void trim() noexcept;
  /// Changes the size in place if the handle's class has room (the backing is untouched) and the limit allows it.
  [[nodiscard]] bool resize(Buffer& buffer, std::size_t bytes);
  /// The living buffer whose handle range holds `address`, and the byte offset; null if there is none.
  [[nodiscard]] Buffer* resolve(const void* address, std::size_t* offset) const noexcept;
  /// Whether `address` lies in the reserved range.
  [[nodiscard]] bool owns(const void* address) const noexcept;

  [[nodiscard]] MemoryStats stats() const noexcept;
  void reset_peak() noexcept;
  void reset_accumulated() noexcept;
  /// Sets the capacity in bytes.
  void set_limit(std::uint64_t bytes) noexcept;
  /// Counts an acquisition refused for good.
  void count_out_of_memory() noexcept;

 private:
  friend class Buffer;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace aee
