// The recorder's lock excludes, and who waits for it does not keep the language's lock.
#include "core/engine/recorder_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace aee {
namespace {

std::mutex language_lock;  // as the GIL: held by whoever runs the user's code
void* give_back() noexcept {
  language_lock.unlock();
  return nullptr;
}
void take_again(void*) noexcept { language_lock.lock(); }

TEST(RecorderLock, Excludes) {
  const ThreadHooks hooks;
  RecorderLock lock(hooks);
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10'000; ++j) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 40'000);
}

TEST(RecorderLock, AWaiterGivesTheLanguageLockBack) {
  // Given an owner that will need the language's lock before it lets go, as one that waits for the device does
  const ThreadHooks hooks{.block = &give_back, .unblock = &take_again};
  RecorderLock lock(hooks);
  lock.lock();
  std::atomic<bool> waits{false};
  std::thread other([&] {
    const std::lock_guard user(language_lock);
    waits = true;
    const std::lock_guard guard(lock);
  });
  while (!waits) std::this_thread::yield();
  // Then the owner gets it, although the other thread, which held it, still waits.
  language_lock.lock();
  language_lock.unlock();
  lock.unlock();
  other.join();
}

}  // namespace
}  // namespace aee
