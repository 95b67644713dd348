#include "core/base/fork.h"

#include <pthread.h>

#include "core/base/error.h"

namespace aee {

void watch_forks() {
  static const int status =
      ::pthread_atfork(nullptr, nullptr, [] { detail::is_forked_child.store(true, std::memory_order_relaxed); });
  AEE_CHECK(status == 0, "pthread_atfork gave ", status);
}

}  // namespace aee
