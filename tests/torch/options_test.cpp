#include <adaptive_eager/adaptive_eager.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <ATen/ops/ones.h>

#include "tests/torch/refusal.h"

namespace aee {
namespace {

Option option(const std::string& variable) {
  for (const Option& row : options()) {
    if (row.variable == variable) return row;
  }
  return {};
}

// In this order: the tests before the last one must not start the device.

TEST(Options, ShowValueDefaultAndMeaning) {
  const Option row = option("TORCH_NEURON_DEVICE");
  EXPECT_EQ(row.type, "device_kind");
  EXPECT_EQ(row.value, "emulator");
  EXPECT_EQ(row.default_value, "emulator");
  EXPECT_FALSE(row.meaning.empty());
}

TEST(Options, AWrongEnvironmentIsToldByEveryFirstUse) {
  ::setenv("TORCH_NEURON_DEVICE_COUNT", "x", /*overwrite=*/1);
  const std::string expected = "TORCH_NEURON_DEVICE_COUNT: expected an integer of at least 0, got 'x'";
  EXPECT_EQ(device_count(), 0);
  EXPECT_EQ(refusal([] { static_cast<void>(options()); }), expected);
  EXPECT_EQ(refusal([] { static_cast<void>(device(0)); }), expected);
  EXPECT_EQ(refusal([] { static_cast<void>(metrics()); }), expected);
  EXPECT_EQ(refusal([] { set_option("TORCH_NEURON_VERIFY", "1"); }), expected);
  ::unsetenv("TORCH_NEURON_DEVICE_COUNT");
  EXPECT_EQ(device_count(), 1);
}

TEST(Options, AWrongSettingSaysWhyAndChangesNothing) {
  EXPECT_EQ(refusal([] { set_option("TORCH_NEURON_DEVICE", "cuda"); }),
            "TORCH_NEURON_DEVICE: expected emulator, null or nrt, got 'cuda'");
  EXPECT_EQ(option("TORCH_NEURON_DEVICE").value, "emulator");
  const std::string unknown = refusal([] { set_option("TORCH_NEURON_DEVICES", "2"); });
  EXPECT_NE(unknown.find("TORCH_NEURON_DEVICE_COUNT"), std::string::npos) << unknown;
}

TEST(Options, SettingsHoldFromTheStartAndNotLater) {
  ::setenv("TORCH_NEURON_DEVICE_COUNT", "2", /*overwrite=*/1);
  EXPECT_EQ(device_count(), 2);
  set_option("TORCH_NEURON_DEVICE_COUNT", "3");  // overrides the environment
  set_option("TORCH_NEURON_ADAPTIVE_EAGER", "1");
  EXPECT_EQ(device_count(), 3);

  const at::Tensor ones = at::ones({2}, device(2));
  EXPECT_TRUE(is_adaptive());
  EXPECT_EQ(option("TORCH_NEURON_DEVICE_COUNT").value, "3");
  EXPECT_EQ(refusal([] { set_option("TORCH_NEURON_DEVICE_COUNT", "1"); }),
            "neuron: TORCH_NEURON_DEVICE_COUNT was to be set, but the device has started; set options before its first "
            "use");
  EXPECT_EQ(device_count(), 3);
}

}  // namespace
}  // namespace aee
