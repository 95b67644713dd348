// refusal(): the text of the error that a call throws, for tests of the public C++ interface. Any thread; nothing is
// kept.
#pragma once

#include <string>

#include <c10/util/Exception.h>

namespace aee {

/// The message without the stack; "no error" if the call returns. Another kind of error passes through.
template <class Call>
[[nodiscard]] std::string refusal(Call&& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

}  // namespace aee
