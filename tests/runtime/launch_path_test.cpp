// The launch path allocates nothing in steady state: acquire, submit, run, wait, release, counted by operator new.
#include <gtest/gtest.h>

#include "core/base/config.h"
#include "core/base/metrics.h"
#include "core/runtime/submit.h"
#include "tests/allocation_count.h"

namespace aee {
namespace {

struct Block {
  Launch launch;
  Buffer* buffers[3];
  char payload[120];
};

class LaunchPath : public ::testing::TestWithParam<DeviceKind> {
 protected:
  /// A step of a program: makes a result, reads two operands, and gives up the result of a step before.
  void step(BufferRef& result, const BufferRef& x, const BufferRef& y) {
    result = pool_.acquire(4096);
    Block block{};
    block.launch.run = [](Launch& launch) {
      Buffer* written = launch.buffers()[0];
      auto& device = **static_cast<Device**>(launch.payload());
      written->backing() = {device.allocate(written->bytes()), nullptr};
      device.free(written->backing().object);
    };
    block.launch.size = sizeof block;
    block.launch.buffer_count = 3;
    block.launch.written_count = 1;
    Buffer* buffers[] = {result.get(), x.get(), y.get()};
    for (int i = 0; i < 3; ++i) {
      buffers[i]->retain();
      block.buffers[i] = buffers[i];
    }
    *reinterpret_cast<Device**>(block.payload) = device_.get();
    last_ = submit_when_room(*device_, queue_, block.launch);
  }

  void steps(int count) {
    const BufferRef x = pool_.acquire(4096), y = pool_.acquire(4096);
    BufferRef results[8];
    for (int i = 0; i < count; ++i) {
      step(results[i % 8], x, y);
      if (i % 10 == 0) device_->wait(last_, WaitMode::kHelp);
    }
    device_->wait(last_, WaitMode::kHelp);
  }

  static Config config() {
    Config config;
    config.device = GetParam();
    return config;
  }

  Metrics metrics_;
  BufferPool pool_{0, std::uint64_t{1} << 30, std::uint64_t{1} << 30};
  std::unique_ptr<Device> device_ = make_device(config(), metrics_, {});
  QueueId queue_ = device_->open_queue();
  Timepoint last_;
};

TEST_P(LaunchPath, AllocatesNothingInSteadyState) {
  steps(1000);
  const std::uint64_t before = testing::allocation_count;
  steps(20000);
  // The null device takes memory from calloc, which is not counted here.
  EXPECT_EQ(testing::allocation_count - before, 0U);
}

INSTANTIATE_TEST_SUITE_P(Devices, LaunchPath, ::testing::Values(DeviceKind::kEmulator, DeviceKind::kNull),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace aee
