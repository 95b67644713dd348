// Errors of the engine: three verbs and no error codes.
//
// fail_user() is for a bad call: it throws aee::Error. AEE_CHECK is for our own faults, always on. AEE_DCHECK is
// for debug builds. Messages start in lower case, name the op, say what was expected and what came, and the cure.
// Layers that meet a foreign error type (PyTorch, libnrt, errno) translate it at their border, in one function.
// Thread rule: everything here may be used from any thread.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace aee {

/// What went wrong, for the layer that translates to the user's exception types.
enum class ErrorKind : unsigned char { kUser, kOutOfMemory, kLaunch, kUnsupported };

/// A failure that the user can cause or must know of.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::kUser)
      : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// A broken invariant of ours; carries file and line.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The parts, streamed one after the other.
template <class... Parts>
[[nodiscard]] std::string concat(const Parts&... parts) {
  std::ostringstream out;
  ((out << parts), ...);
  return out.str();
}

/// Throws Error of kind kUser with the concatenated parts as message.
template <class... Parts>
[[noreturn]] void fail_user(const Parts&... parts) {
  throw Error(concat(parts...));
}

/// Throws Error of the given kind.
template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(concat(parts...), kind);
}

namespace detail {
[[noreturn]] void fail_check(const char* file, int line, const char* condition, const std::string& message);
}  // namespace detail

}  // namespace aee

#define AEE_CHECK(condition, ...)                                                            \
  do {                                                                                       \
    if (!(condition)) [[unlikely]]                                                           \
      ::aee::detail::fail_check(__FILE__, __LINE__, #condition, ::aee::concat(__VA_ARGS__)); \
  } while (false)

#ifdef NDEBUG
#define AEE_DCHECK(condition, ...) static_cast<void>(0)
#else
#define AEE_DCHECK(condition, ...) AEE_CHECK(condition, __VA_ARGS__)
#endif
