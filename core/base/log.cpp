#include "core/base/log.h"

#include <unistd.h>

namespace aee::detail {

void write_log(LogLevel level, std::string_view text) noexcept {
  try {
    const std::string line = concat("adaptive_eager ", name_of(level), ": ", text, "\n");
    // A lost log line is no reason to fail, so the result is only looked at to say that it is not needed.
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
  } catch (...) {  // no memory for the line
  }
}

}  // namespace aee::detail
