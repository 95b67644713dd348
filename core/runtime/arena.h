// Arena: the device memory of the emulator. Size classes over huge-page-backed slabs; large blocks are mapped and
// cached. Freed blocks are reused at once: whoever frees has finished with them (buffers are counted, and launches in
// flight hold a reference). 64-byte alignment. Any thread; a spin lock held for a few instructions per class.
// Steady state: no system call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace aee {

struct ArenaStats {
  std::uint64_t reserved = 0, reserved_peak = 0;  ///< bytes got from the system
  std::uint64_t in_use = 0;                       ///< bytes of blocks handed out, rounded
};

class Arena {
 public:
  /// Never holds more than `most_bytes` of the system's memory.
  explicit Arena(std::uint64_t most_bytes = ~std::uint64_t{0});
  ~Arena();  ///< Returns everything; blocks still out become invalid.
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// At least `bytes` bytes (0 gives a unique block too), 64-byte aligned, not cleared. Throws Error(kOutOfMemory).
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Returns a block of allocate(); null is ignored.
  void free(void* block) noexcept;
  /// Whether an address lies in memory of this arena.
  [[nodiscard]] bool owns(const void* address) const noexcept;
  /// Gives cached memory back to the system.
  void trim() noexcept;
  [[nodiscard]] ArenaStats stats() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace aee
