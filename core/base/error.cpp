#include "core/base/error.h"

namespace aee::detail {

void fail_check(const char* file, int line, const char* condition, const std::string& message) {
  throw InternalError(
      concat("internal error at ", file, ":", line, ": expected ", condition, message.empty() ? "" : ": ", message));
}

}  // namespace aee::detail
