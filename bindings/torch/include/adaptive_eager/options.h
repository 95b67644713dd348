// Options: the environment table (docs/environment.md), for programs that set it themselves.
//
// Options are read once, when the device starts. Until then set_option() overrides the environment; afterwards what can
// be changed has functions of its own: AdaptiveEagerGuard and set_memory_limit(). Any thread, but setenv() must not run
// at the same time. The caller owns what is returned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <adaptive_eager/export.h>

namespace aee {

/// A row of the environment table.
struct Option {
  std::string variable;       ///< its name, as in the environment
  std::string type;           ///< flag (0 or 1), count, real, text, or the name of a choice
  std::string value;          ///< the value in force, or, before the start, the one that the device will start with
  std::string default_value;  ///< the value if nobody sets it
  std::string meaning;        ///< one line, with the unit
};

/// All options, in the order of the table. Starts nothing. Throws c10::Error for a wrong value in the environment.
[[nodiscard]] AEE_API std::vector<Option> options();
/// Sets an option for the device to start with, spelled as in the environment. Throws c10::Error for an unknown option,
/// for a wrong value (the text names the right ones), or if the device has started; then nothing changes.
AEE_API void set_option(std::string_view variable, std::string_view value);

}  // namespace aee
