// Counts heap allocations: for tests and benchmarks that say how many a path makes. It replaces the program's operator
// new, so exactly one source of a program includes it. malloc by itself is not counted. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace aee::testing {

/// Calls of operator new since the start of the program.
inline std::atomic<std::uint64_t> allocation_count{0};

[[nodiscard]] inline void* counted(void* memory) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace aee::testing

// Not inlined: GCC would see that new and free do not match.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return aee::testing::counted(std::malloc(bytes == 0 ? 1 : bytes));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return aee::testing::counted(std::aligned_alloc(step, (bytes / step + 1) * step));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
