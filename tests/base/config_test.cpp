#include "core/base/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/base/error.h"

namespace aee {
namespace {

/// Sets one variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, /*overwrite=*/1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// The text of the error that the environment gives.
std::string refusal() {
  try {
    static_cast<void>(Config::from_environment());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return error.what();
  }
  return "no error";
}

TEST(Config, HasTheDefaultsOfTheTable) {
  const Config config = Config::from_environment();
  EXPECT_FALSE(config.adaptive_eager);
  EXPECT_EQ(config.device, DeviceKind::kEmulator);
  EXPECT_EQ(config.max_segment_ops, 256U);
  EXPECT_EQ(config.cache_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(config.cache_dir, "");
  EXPECT_EQ(config.log, LogLevel::kWarning);
}

TEST(Config, ReadsEveryType) {
  const Variable flag("TORCH_NEURON_ADAPTIVE_EAGER", "1");
  const Variable choice("TORCH_NEURON_DEVICE", "null");
  const Variable count("TORCH_NEURON_VERIFY", "7");
  const Variable real("TORCH_NEURON_LAUNCH_COST_US", "2.5");
  const Variable text("TORCH_NEURON_CACHE_DIR", "a folder");
  const Variable level("TORCH_NEURON_LOG", "debug");
  const Config config = Config::from_environment();
  EXPECT_TRUE(config.adaptive_eager);
  EXPECT_EQ(config.device, DeviceKind::kNull);
  EXPECT_EQ(config.verify, 7U);
  EXPECT_EQ(config.launch_cost_us, 2.5);
  EXPECT_EQ(config.cache_dir, "a folder");
  EXPECT_EQ(config.log, LogLevel::kDebug);
}

TEST(Config, AnEmptyVariableIsUnset) {
  const Variable count("TORCH_NEURON_MAX_SEGMENT_OPS", "");
  EXPECT_EQ(Config::from_environment().max_segment_ops, 256U);
}

TEST(Config, AWrongChoiceNamesVariableValueAndChoices) {
  const Variable choice("TORCH_NEURON_DEVICE", "foo");
  EXPECT_EQ(refusal(), "TORCH_NEURON_DEVICE: expected emulator, null or nrt, got 'foo'");
}

TEST(Config, AWrongFlagSaysZeroOrOne) {
  const Variable flag("TORCH_NEURON_ADAPTIVE_EAGER", "yes");
  EXPECT_EQ(refusal(), "TORCH_NEURON_ADAPTIVE_EAGER: expected 0 or 1, got 'yes'");
}

class WrongNumber : public testing::TestWithParam<const char*> {};

TEST_P(WrongNumber, IsRefusedAsACount) {
  const Variable count("TORCH_NEURON_CACHE_BYTES", GetParam());
  EXPECT_EQ(refusal(), concat("TORCH_NEURON_CACHE_BYTES: expected an integer of at least 0, got '", GetParam(), "'"));
}

TEST_P(WrongNumber, IsRefusedAsAProbability) {
  const Variable real("TORCH_NEURON_EMULATOR_REFUSALS", GetParam());
  EXPECT_NE(refusal().find("TORCH_NEURON_EMULATOR_REFUSALS: expected a number"), std::string::npos) << refusal();
}

INSTANTIATE_TEST_SUITE_P(Texts, WrongNumber, testing::Values("-1", "x", "2x", " 3", "99999999999999999999999999x"));

TEST(Config, ValuesOutOfRangeAreRefused) {
  {
    const Variable count("TORCH_NEURON_DEVICE_COUNT", "17");
    EXPECT_EQ(refusal(), "TORCH_NEURON_DEVICE_COUNT: expected a number from 1 to 16, got '17'");
  }
  const Variable real("TORCH_NEURON_EMULATOR_LAUNCH_FAILURES", "1.5");
  EXPECT_EQ(refusal(), "TORCH_NEURON_EMULATOR_LAUNCH_FAILURES: expected a number from 0 to 1, got '1.5'");
}

TEST(Config, SetSpellsValuesAsTheEnvironmentDoes) {
  Config config;
  config.set("TORCH_NEURON_DEVICE", "null");
  config.set("TORCH_NEURON_MAX_SEGMENT_OPS", "64");
  EXPECT_EQ(config.device, DeviceKind::kNull);
  EXPECT_EQ(config.max_segment_ops, 64U);
}

TEST(Config, AWrongSetSaysWhyAndChangesNothing) {
  Config config;
  const auto refusal_of = [&](const char* variable, const char* text) -> std::string {
    try {
      config.set(variable, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(refusal_of("TORCH_NEURON_DEVICE_COUNT", "17"),
            "TORCH_NEURON_DEVICE_COUNT: expected a number from 1 to 16, got '17'");
  EXPECT_EQ(config.device_count, 1U);
  const std::string unknown = refusal_of("TORCH_NEURON_DEVCE", "null");
  EXPECT_NE(unknown.find("TORCH_NEURON_DEVICE_COUNT"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("got 'TORCH_NEURON_DEVCE'"), std::string::npos) << unknown;
}

TEST(ConfigTable, ShowsTheValuesOfAConfig) {
  Config config;
  config.set("TORCH_NEURON_LAUNCH_COST_US", "2.5");
  for (const ConfigRow& row : config_table(config)) {
    EXPECT_EQ(row.text, row.variable == "TORCH_NEURON_LAUNCH_COST_US" ? "2.5" : row.default_text) << row.variable;
  }
}

TEST(ConfigTable, NamesEveryVariableOnce) {
  std::set<std::string_view> variables;
  for (const ConfigRow& row : config_table()) {
    EXPECT_TRUE(variables.insert(row.variable).second) << row.variable;
    EXPECT_TRUE(row.variable.starts_with("TORCH_NEURON_")) << row.variable;
    EXPECT_FALSE(row.doc.empty()) << row.variable;
  }
  EXPECT_GE(variables.size(), 17U);
}

TEST(ConfigTable, ShowsDefaultsAsTheEnvironmentSpellsThem) {
  for (const ConfigRow& row : config_table()) {
    if (row.variable == "TORCH_NEURON_DEVICE") {
      EXPECT_EQ(row.default_text, "emulator");
    }
    if (row.variable == "TORCH_NEURON_CACHE_BYTES") {
      EXPECT_EQ(row.default_text, "1073741824");
    }
  }
}

}  // namespace
}  // namespace aee
