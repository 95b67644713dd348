// DeviceTest: a device of each kind with two queues and a buffer pool: the matrix over which the conformance suite
// runs. Sanitizers cannot reserve much address space, so the pool asks for little.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/base/config.h"
#include "core/base/metrics.h"
#include "tests/runtime/test_launch.h"

namespace aee::testing {

/// One column of the matrix.
struct DeviceCase {
  DeviceKind kind = DeviceKind::kEmulator;
  bool device_waits = true;
  std::uint64_t seed = 0;  ///< above 0: random delays and refusals

  [[nodiscard]] Config config() const {
    Config config;
    config.device = kind;
    config.device_waits = device_waits;
    config.emulator_seed = seed;
    config.emulator_delay_us = 20;
    config.emulator_refusals = 0.1;
    config.address_space_bytes = std::uint64_t{1} << 30;
    return config;
  }
  static std::string name(const ::testing::TestParamInfo<DeviceCase>& info) {
    return std::string(name_of(info.param.kind)) + (info.param.device_waits ? "" : "_host_waits") + "_seed" +
           std::to_string(info.param.seed);
  }
};

class DeviceTest : public ::testing::TestWithParam<DeviceCase> {
 protected:
  DeviceTest() : DeviceTest(ThreadHooks{}) {}
  explicit DeviceTest(const ThreadHooks& hooks)
      : device_(make_device(GetParam().config(), metrics_, hooks)),
        first_(device_->open_queue()),
        second_(device_->open_queue()) {}

  [[nodiscard]] BufferRef make_buffer(std::size_t bytes = 8) { return pool_.acquire(bytes); }
  [[nodiscard]] static std::int64_t& value(const BufferRef& buffer) { return TestBacking::value(*buffer.get()); }
  [[nodiscard]] bool runs_nothing() const { return device_->capabilities().runs_nothing; }
  void wait(Timepoint point) { device_->wait(point, WaitMode::kHelp); }
  /// Waits for everything that both queues have accepted.
  void wait_all() {
    for (const QueueId queue : {first_, second_}) wait(timepoint(queue, device_->submitted(queue)));
  }

  Metrics metrics_;
  BufferPool pool_{0, std::uint64_t{1} << 30, std::uint64_t{1} << 30};
  std::unique_ptr<Device> device_;
  QueueId first_, second_;
};

#define AEE_SKIP_IF_NOTHING_RUNS()                                                               \
  if (runs_nothing())                                                                            \
  GTEST_SKIP() << "the null device runs nothing, so there are no values, failures or queues to " \
                  "see"

inline auto every_device() {
  std::vector<DeviceCase> cases;
  for (const bool device_waits : {true, false}) {
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) cases.push_back({DeviceKind::kEmulator, device_waits, seed});
    cases.push_back({DeviceKind::kNull, device_waits, 0});
  }
  return ::testing::ValuesIn(cases);
}

}  // namespace aee::testing
