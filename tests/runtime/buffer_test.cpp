#include "core/runtime/buffer.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace aee {
namespace {

constexpr std::uint64_t kSpace = std::uint64_t{1} << 30;
constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;

std::uintptr_t address(const BufferRef& buffer) { return reinterpret_cast<std::uintptr_t>(buffer->handle()); }

TEST(BufferPool, HandlesAreDistinctAndSpacedByTheSize) {
  BufferPool pool(0, kSpace, kLimit);
  std::vector<BufferRef> buffers;
  for (std::size_t i = 0; i < 2000; ++i) buffers.push_back(pool.acquire(i * 7));
  std::set<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  for (const BufferRef& buffer : buffers) ranges.emplace(address(buffer), address(buffer) + buffer->bytes() + 1);
  std::uintptr_t end = 0;
  for (const auto& [first, last] : ranges) {
    EXPECT_GE(first, end);
    end = last;
  }
  EXPECT_EQ(ranges.size(), buffers.size());
}

constexpr std::size_t kLarge = 20'000;  // not small: recycled with its memory

TEST(BufferPool, AFreshBufferHasNoPast) {
  BufferPool pool(3, kSpace, kLimit);
  BufferRef buffer = pool.acquire(100);
  const void* handle = buffer->handle();
  buffer->set_last_use(timepoint(1, 5));
  buffer->set_failure(std::make_shared<Failure>());
  buffer->backing() = {&pool, nullptr};
  buffer.reset();
  buffer = pool.acquire(90);
  EXPECT_EQ(buffer->handle(), handle);  // the slot is the same, which the test needs to mean anything
  EXPECT_EQ(buffer->bytes(), 90U);
  EXPECT_EQ(buffer->device(), 3);
  EXPECT_TRUE(buffer->last_use().none());
  EXPECT_FALSE(buffer->failed());
  EXPECT_EQ(buffer->backing().object, nullptr);
}

TEST(BufferPool, ResolvesEveryAddressInsideABufferAndItsEnd) {
  BufferPool pool(0, kSpace, kLimit);
  for (const std::size_t bytes : {0UL, 1UL, 511UL, 512UL, 513UL, 1024UL, 100'000UL, 1UL << 20}) {
    const BufferRef buffer = pool.acquire(bytes), neighbour = pool.acquire(bytes);
    for (const std::size_t offset : {std::size_t{0}, bytes / 2, bytes}) {
      std::size_t found = 1;
      const auto* pointer = static_cast<const char*>(buffer->handle()) + offset;
      EXPECT_EQ(pool.resolve(pointer, &found), buffer.get()) << bytes << " " << offset;
      EXPECT_EQ(found, offset);
    }
  }
}

TEST(BufferPool, DoesNotResolveTheDeadAndTheForeign) {
  BufferPool pool(0, kSpace, kLimit);
  BufferRef buffer = pool.acquire(64);
  const auto* handle = static_cast<const char*>(buffer->handle());
  std::size_t offset = 0;
  EXPECT_EQ(pool.resolve(handle + 512, &offset), nullptr);  // a slot that was never used
  EXPECT_EQ(pool.resolve(&pool, &offset), nullptr);
  EXPECT_EQ(pool.resolve(nullptr, &offset), nullptr);
  EXPECT_TRUE(pool.owns(handle));
  EXPECT_FALSE(pool.owns(&pool));
  buffer.reset();
  EXPECT_EQ(pool.resolve(handle, &offset), nullptr);
}

TEST(BufferPoolDeathTest, HostAccessToAHandleFaults) {
  BufferPool pool(0, kSpace, kLimit);
  const BufferRef buffer = pool.acquire(64);
  EXPECT_DEATH(*static_cast<volatile char*>(buffer->handle()) = 1, "");
  EXPECT_DEATH(static_cast<void>(*static_cast<volatile char*>(buffer->handle())), "");
}

TEST(BufferPool, AccountsInUnitsOf64Bytes) {
  BufferPool pool(0, kSpace, kLimit);
  BufferRef a = pool.acquire(1), b = pool.acquire(64), c = pool.acquire(0);
  EXPECT_EQ(pool.stats().allocated, 128U);
  EXPECT_EQ(pool.stats().buffers, 3U);
  a.reset();
  b.reset();
  const MemoryStats stats = pool.stats();
  EXPECT_EQ(stats.allocated, 0U);
  EXPECT_EQ(stats.allocated_peak, 128U);
  EXPECT_EQ(stats.allocated_total, 128U);
  EXPECT_EQ(stats.freed_total, 128U);
  EXPECT_EQ(stats.buffers, 1U);
  EXPECT_EQ(stats.buffers_peak, 3U);
  EXPECT_EQ(stats.buffers_total, 3U);
  EXPECT_EQ(stats.limit, kLimit);
}

TEST(BufferPool, PeaksAndTotalsCanBeReset) {
  BufferPool pool(0, kSpace, kLimit);
  const BufferRef kept = pool.acquire(64);
  pool.acquire(6400).reset();
  pool.count_out_of_memory();
  pool.reset_peak();
  EXPECT_EQ(pool.stats().allocated_peak, 64U);
  EXPECT_EQ(pool.stats().buffers_peak, 1U);
  pool.reset_accumulated();
  EXPECT_EQ(pool.stats().allocated_total, 0U);
  EXPECT_EQ(pool.stats().buffers_total, 0U);
  EXPECT_EQ(pool.stats().out_of_memory, 0U);
  EXPECT_EQ(pool.stats().allocated, 64U);
}

TEST(BufferPool, GivesNothingWhileTheLimitIsReached) {
  BufferPool pool(0, kSpace, 1024);
  BufferRef most = pool.acquire(1000);
  EXPECT_FALSE(pool.acquire(64));
  EXPECT_TRUE(pool.acquire(0));  // costs nothing
  EXPECT_EQ(pool.stats().allocated, 1024U);
  most.reset();
  EXPECT_TRUE(pool.acquire(64));
}

TEST(BufferPool, ThrowsForWhatCanNeverFit) {
  BufferPool pool(0, kSpace, 1024);
  for (const std::size_t bytes : {std::size_t{1025}, std::size_t{1} << 40, SIZE_MAX}) {
    try {
      static_cast<void>(pool.acquire(bytes));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    }
  }
  EXPECT_EQ(pool.stats().out_of_memory, 3U);
  EXPECT_EQ(pool.stats().allocated, 0U);
  pool.set_limit(2048);
  EXPECT_TRUE(pool.acquire(1025));
}

TEST(BufferPool, BorrowsFromLargerClassesUntilNoAddressIsLeft) {
  BufferPool pool(0, kSpace, std::uint64_t{1} << 40);
  std::vector<BufferRef> buffers;
  constexpr std::size_t kBytes = 9 << 20;  // two slots in its own class, one in the next
  EXPECT_THROW(for (;;) buffers.push_back(pool.acquire(kBytes)), Error);
  EXPECT_EQ(buffers.size(), 3U);
  EXPECT_EQ(pool.stats().buffers, 3U);
  std::size_t offset = 0;
  for (const BufferRef& buffer : buffers) EXPECT_EQ(pool.resolve(buffer->handle(), &offset), buffer.get());
}

TEST(BufferPool, ResizesInPlaceWhereThereIsRoom) {
  BufferPool pool(0, kSpace, 4096);
  const BufferRef buffer = pool.acquire(600);
  const void* handle = buffer->handle();
  EXPECT_TRUE(pool.resize(*buffer.get(), 1000));
  EXPECT_EQ(buffer->bytes(), 1000U);
  EXPECT_EQ(buffer->handle(), handle);
  EXPECT_EQ(pool.stats().allocated, 1024U);
  EXPECT_FALSE(pool.resize(*buffer.get(), 1024));  // the byte past the end would be another's
  EXPECT_TRUE(pool.resize(*buffer.get(), 10));
  EXPECT_EQ(pool.stats().allocated, 64U);
  const BufferRef rest = pool.acquire(4000);
  EXPECT_FALSE(pool.resize(*buffer.get(), 1000));  // the limit
  EXPECT_EQ(buffer->bytes(), 10U);
}

TEST(Buffer, TheLastReferenceDropsTheBackingOnce) {
  BufferPool pool(0, kSpace, kLimit);
  int dropped = 0;
  BufferRef buffer = pool.acquire(kLarge);
  buffer->backing() = {&dropped, [](void* count) noexcept { ++*static_cast<int*>(count); }};
  BufferRef other = buffer;
  buffer.reset();
  EXPECT_EQ(dropped, 0);
  EXPECT_EQ(pool.stats().buffers, 1U);
  other.reset();
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(pool.stats().buffers, 0U);
}

TEST(Buffer, ASmallOneKeepsItsMemoryForTheLaunchThatMakesTheNext) {
  BufferPool pool(0, kSpace, kLimit);
  int dropped = 0;
  BufferRef buffer = pool.acquire(8);
  Buffer* const slot = buffer.get();
  buffer->backing() = {&dropped, [](void* count) noexcept { ++*static_cast<int*>(count); }};
  buffer->set_failure(std::make_shared<Failure>());
  buffer.reset();
  buffer = pool.acquire(90, Birth::kByLaunch);
  ASSERT_EQ(buffer.get(), slot);
  buffer->begin_life();
  EXPECT_FALSE(buffer->failed());
  EXPECT_EQ(buffer->backing().object, &dropped);
  // A life that begins without a launch begins without memory, and a trim takes what nobody uses.
  buffer.reset();
  buffer = pool.acquire(8);
  EXPECT_EQ(dropped, 1);
  buffer->backing() = {&dropped, [](void* count) noexcept { ++*static_cast<int*>(count); }};
  buffer.reset();
  pool.trim();
  EXPECT_EQ(dropped, 2);
  EXPECT_EQ(pool.acquire(8).get(), slot);
}

TEST(Buffer, ChainsOfBackingsDoNotRecurse) {
  // Given a chain in which the backing of each buffer holds the next one
  BufferPool pool(0, std::uint64_t{1} << 40, std::uint64_t{1} << 40);
  BufferRef chain;
  for (int i = 0; i < 80'000; ++i) {
    BufferRef buffer = pool.acquire(kLarge);
    buffer->backing() = {chain.detach(),
                         [](void* next) noexcept { BufferRef::adopt(static_cast<Buffer*>(next)).reset(); }};
    chain = std::move(buffer);
  }
  // When the first goes, then all go, on a stack of one frame.
  chain.reset();
  EXPECT_EQ(pool.stats().buffers, 0U);
}

TEST(Buffer, KeepsTheFirstFailureUntilDelivered) {
  BufferPool pool(0, kSpace, kLimit);
  const BufferRef buffer = pool.acquire(8);
  const auto first = std::make_shared<Failure>(), second = std::make_shared<Failure>();
  buffer->set_failure(first);
  buffer->set_failure(second);
  EXPECT_EQ(buffer->failure(), first);
  first->delivered = true;
  buffer->set_failure(second);
  EXPECT_EQ(buffer->failure(), second);
  buffer->clear_failure();
  EXPECT_FALSE(buffer->failed());
  EXPECT_EQ(buffer->failure(), nullptr);
}

TEST(BufferPool, ServesManyThreads) {
  BufferPool pool(0, kSpace, kLimit);
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&pool, t] {
        std::mt19937 random(t);
        std::vector<BufferRef> mine(16);
        for (int i = 0; i < 5000; ++i) {
          BufferRef& buffer = mine[random() % mine.size()];
          buffer = pool.acquire(random() % 3000);
          std::size_t offset = 1;
          ASSERT_EQ(pool.resolve(buffer->handle(), &offset), buffer.get());
        }
      });
    }
  }
  const MemoryStats stats = pool.stats();
  EXPECT_EQ(stats.buffers, 0U);
  EXPECT_EQ(stats.allocated, 0U);
  EXPECT_EQ(stats.buffers_total, 20000U);
  EXPECT_EQ(stats.allocated_total, stats.freed_total);
}

}  // namespace
}  // namespace aee
