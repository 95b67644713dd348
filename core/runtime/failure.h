// Failure: why a launch did not give its results. It is made once, where the launch failed, and carried by every
// buffer that depends on it. Shared and immutable but for `delivered`, which the first sync point that raises it
// sets. Any thread.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>

namespace aee {

struct Failure {
  std::exception_ptr cause;             ///< what the launch threw, ready to rethrow
  std::string where;                    ///< op and, where known, the Python source line; empty if unknown
  mutable std::atomic<bool> delivered;  ///< raised at a sync point
};
using FailurePtr = std::shared_ptr<const Failure>;

}  // namespace aee
