#include "core/base/config.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/error.h"

namespace aee {
namespace {

constexpr std::string_view kDeviceKinds[] = {"emulator", "null", "nrt"};
constexpr std::string_view kLogLevels[] = {"off", "error", "warning", "info", "debug"};

[[noreturn]] void refuse(std::string_view variable, std::string_view expected, std::string_view text) {
  fail_user(variable, ": expected ", expected, ", got '", text, "'");
}

/// "a, b or c"
template <std::size_t N>
std::string join(const std::string_view (&names)[N]) {
  std::string text(names[0]);
  for (std::size_t i = 1; i < N; ++i) text += concat(i + 1 == N ? " or " : ", ", names[i]);
  return text;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <class Choice, std::size_t N>
void parse_choice(std::string_view variable, std::string_view text, const std::string_view (&names)[N], Choice& out) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) {
      out = static_cast<Choice>(i);
      return;
    }
  }
  refuse(variable, join(names), text);
}

// One overload a type of config.inc.
void parse(std::string_view variable, std::string_view text, bool& out) {
  if (text != "0" && text != "1") refuse(variable, "0 or 1", text);
  out = text == "1";
}
void parse(std::string_view variable, std::string_view text, std::uint64_t& out) {
  const auto number = whole_number<std::uint64_t>(text);
  if (!number) refuse(variable, "an integer of at least 0", text);
  out = *number;
}
void parse(std::string_view variable, std::string_view text, double& out) {
  const auto number = whole_number<double>(text);
  if (!number || !std::isfinite(*number) || *number < 0) refuse(variable, "a number of at least 0", text);
  out = *number;
}
void parse(std::string_view, std::string_view text, std::string& out) { out = text; }
void parse(std::string_view variable, std::string_view text, DeviceKind& out) {
  parse_choice(variable, text, kDeviceKinds, out);
}
void parse(std::string_view variable, std::string_view text, LogLevel& out) {
  parse_choice(variable, text, kLogLevels, out);
}

std::string show(bool value) { return value ? "1" : "0"; }
std::string show(std::uint64_t value) { return concat(value); }
std::string show(double value) { return concat(value); }
std::string show(const std::string& value) { return value; }
std::string show(DeviceKind value) { return std::string(name_of(value)); }
std::string show(LogLevel value) { return std::string(name_of(value)); }

/// Bounds that the type alone does not give.
void check_range(std::string_view variable, std::string_view text, double value, double least, double most) {
  if (value < least || value > most) refuse(variable, concat("a number from ", least, " to ", most), text);
}

void check_ranges(const Config& config) {
  const auto check = [](const char* variable, double value, double least, double most) {
    check_range(variable, concat(value), value, least, most);
  };
  check("TORCH_NEURON_DEVICE_COUNT", static_cast<double>(config.device_count), 1, 16);
  check("TORCH_NEURON_MAX_SEGMENT_OPS", static_cast<double>(config.max_segment_ops), 1, 65535);
  check("TORCH_NEURON_EMULATOR_LAUNCH_FAILURES", config.emulator_launch_failures, 0, 1);
  check("TORCH_NEURON_EMULATOR_ALLOCATION_FAILURES", config.emulator_allocation_failures, 0, 1);
  check("TORCH_NEURON_EMULATOR_REFUSALS", config.emulator_refusals, 0, 1);
}

[[noreturn]] void refuse_variable(std::string_view variable) {
  std::string known;
  for (const ConfigRow& row : config_table()) known += concat(known.empty() ? "" : ", ", row.variable);
  fail_user("expected the name of an option (", known, "), got '", variable, "'");
}

}  // namespace

std::string_view name_of(DeviceKind kind) noexcept { return kDeviceKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(LogLevel level) noexcept { return kLogLevels[static_cast<std::size_t>(level)]; }

Config Config::from_environment() {
  Config config;
  const auto read = [](const char* variable, auto& field) {
    const char* text = std::getenv(variable);
    if (text != nullptr && *text != '\0') parse(variable, text, field);
  };
#define AEE_CONFIG(field, variable, type, value, doc) read(variable, config.field);
#include "core/base/config.inc"
  check_ranges(config);
  return config;
}

void Config::set(std::string_view variable, std::string_view text) {
  Config changed = *this;
  bool known = false;
  const auto assign = [&](std::string_view name, auto& field) {
    if (name != variable) return;
    known = true;
    parse(name, text, field);
  };
#define AEE_CONFIG(field, name, type, value, doc) assign(name, changed.field);
#include "core/base/config.inc"
  if (!known) refuse_variable(variable);
  check_ranges(changed);
  *this = std::move(changed);
}

std::vector<ConfigRow> config_table(const Config& config) {
  const Config defaults;
  return {
#define AEE_CONFIG(field, variable, type, value, doc) \
  ConfigRow{variable, #type, show(defaults.field), doc, show(config.field)},
#include "core/base/config.inc"
  };
}

}  // namespace aee
