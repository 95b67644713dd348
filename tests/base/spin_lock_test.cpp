#include "core/base/spin_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

namespace aee {
namespace {

TEST(SpinLock, ExcludesOtherThreads) {
  SpinLock lock;
  int guarded = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          const std::lock_guard guard(lock);
          ++guarded;
        }
      });
    }
  }
  EXPECT_EQ(guarded, 20000);
}

TEST(SpinLock, TryLockFailsWhileLocked) {
  SpinLock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

}  // namespace
}  // namespace aee
