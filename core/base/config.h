// Config: what the environment says, read once into a value and passed on.
//
// Fields, variables, types, defaults and documentation come from config.inc. A variable that is unset or empty keeps
// its default; a wrong value throws Error that names the variable, what came and the right values.
// Threads: from_environment() must not run while another thread changes the environment; a Config is a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aee {

/// Kind of device behind the name `neuron`.
enum class DeviceKind : std::uint8_t { kEmulator, kNull, kNrt };
/// How much goes to stderr; each level includes the ones before it.
enum class LogLevel : std::uint8_t { kOff, kError, kWarning, kInfo, kDebug };

/// Names of the choices, as the environment spells them.
[[nodiscard]] std::string_view name_of(DeviceKind kind) noexcept;
[[nodiscard]] std::string_view name_of(LogLevel level) noexcept;

namespace detail {
// The C++ types behind the type names of config.inc.
using config_flag = bool;
using config_count = std::uint64_t;
using config_real = double;
using config_text = std::string;
using config_device_kind = DeviceKind;
using config_log_level = LogLevel;
}  // namespace detail

/// One field per row of config.inc.
struct Config {
#define AEE_CONFIG(field, variable, type, value, doc) detail::config_##type field = value;
#include "core/base/config.inc"

  /// Reads the environment. Throws Error for a wrong value.
  [[nodiscard]] static Config from_environment();
  /// Sets the field of a variable to a value, spelled as in the environment. Throws Error for an unknown variable or a
  /// wrong value; then nothing changes.
  void set(std::string_view variable, std::string_view text);
};

/// One row of the documentation.
struct ConfigRow {
  std::string_view variable;
  std::string_view type;
  std::string default_text;
  std::string_view doc;
  std::string text;  ///< the value in the Config that the table is made of
};
/// The environment table, in the order of config.inc.
[[nodiscard]] std::vector<ConfigRow> config_table(const Config& config = {});

}  // namespace aee
