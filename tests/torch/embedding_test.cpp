#include <adaptive_eager/adaptive_eager.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include <ATen/ATen.h>

#include "tests/torch/refusal.h"

namespace aee {
namespace {

/// Two devices, op by op, for all tests of this program.
class Options : public testing::Environment {
  void SetUp() override {
    set_option("TORCH_NEURON_DEVICE_COUNT", "2");
    set_option("TORCH_NEURON_ADAPTIVE_EAGER", "0");
  }
};
const auto* const added = testing::AddGlobalTestEnvironment(new Options);

std::uint64_t counter(const std::string& name) { return metrics().at(name); }

/// A few ops; the second call finds their layouts known, so it records them all.
at::Tensor some_ops(const at::Tensor& x) { return (x * 2 + 1).tanh(); }

at::Tensor warm_input() {
  const at::Tensor x = at::ones({8}, device(0));
  for (int i = 0; i < 3; ++i) some_ops(x);
  synchronize();
  return x;
}

TEST(Embedding, NeedsNoPython) { EXPECT_EQ(::dlsym(RTLD_DEFAULT, "Py_IsInitialized"), nullptr); }

TEST(Devices, HaveIndexAndName) {
  EXPECT_EQ(device_count(), 2);
  EXPECT_EQ(device(1), at::Device("neuron:1"));
  EXPECT_EQ(device(), at::Device("neuron:0"));
  EXPECT_EQ(at::ones({2}, device(1)).device().str(), "neuron:1");
}

TEST(Devices, TheCurrentOneBelongsToTheThread) {
  set_current_device(1);
  EXPECT_EQ(device().index(), 1);
  std::thread([] { EXPECT_EQ(device().index(), 0); }).join();
  set_current_device(0);
}

TEST(Devices, AnIndexWithoutADeviceIsRefused) {
  for (const int index : {2, 7, -2, 256}) {
    const std::string expected = "neuron: expected a device index from 0 to 1, got " + std::to_string(index);
    EXPECT_EQ(refusal([&] { static_cast<void>(device(index)); }), expected);
    EXPECT_EQ(refusal([&] { set_current_device(index); }), expected);
    EXPECT_EQ(refusal([&] { synchronize(index); }), expected);
    EXPECT_EQ(refusal([&] { set_memory_limit(1, index); }), expected);
    EXPECT_EQ(refusal([&] { static_cast<void>(new_stream(index)); }), expected);
    EXPECT_EQ(refusal([&] { static_cast<void>(current_stream(index)); }), expected);
    EXPECT_EQ(refusal([&] { static_cast<void>(default_stream(index)); }), expected);
    EXPECT_EQ(refusal([&] { manual_seed(1, index); }), expected);
  }
  EXPECT_EQ(refusal([] { static_cast<void>(at::ones({2}, at::Device("neuron:5"))); }),
            "neuron: expected a device index from 0 to 1, got 5");
}

TEST(Devices, AMemoryLimitIsKept) {
  set_memory_limit(std::uint64_t{1} << 20, 1);
  EXPECT_THROW(static_cast<void>(at::empty({1 << 20}, device(1))), c10::OutOfMemoryError);
  EXPECT_EQ(at::ones({16}, device(1)).sum().item<float>(), 16);
}

TEST(AdaptiveEagerGuard, NestsAndRestores) {
  EXPECT_FALSE(is_adaptive());
  {
    const AdaptiveEagerGuard on;
    EXPECT_TRUE(is_adaptive());
    {
      const AdaptiveEagerGuard off(false);
      EXPECT_FALSE(is_adaptive());
    }
    EXPECT_TRUE(is_adaptive());
    std::thread([] { EXPECT_FALSE(is_adaptive()); }).join();
  }
  EXPECT_FALSE(is_adaptive());
}

TEST(AdaptiveEagerGuard, RestoresWhenAnExceptionPasses) {
  EXPECT_EQ(refusal([] {
              const AdaptiveEagerGuard on;
              set_current_device(9);
            }),
            "neuron: expected a device index from 0 to 1, got 9");
  EXPECT_FALSE(is_adaptive());
}

TEST(AdaptiveEagerGuard, ItsEndLaunchesWhatIsHeldBack) {
  const at::Tensor x = warm_input();
  const std::uint64_t before = counter("cut_mark_step");
  {
    const AdaptiveEagerGuard on;
    some_ops(x);
    EXPECT_EQ(counter("cut_mark_step"), before);
  }
  EXPECT_EQ(counter("cut_mark_step"), before + 1);
}

TEST(MarkStep, LaunchesWhatIsPendingAndDoesNotWait) {
  const at::Tensor x = warm_input();
  const AdaptiveEagerGuard on;
  reset_metrics();
  const at::Tensor y = some_ops(some_ops(some_ops(x)));  // more than led to a wait before
  mark_step();
  EXPECT_EQ(counter("ops_recorded"), 9U);
  EXPECT_GE(counter("segments_launched"), 1U);
  EXPECT_EQ(counter("cut_mark_step"), 1U);
  EXPECT_EQ(counter("syncs"), 0U);
  mark_step();  // nothing is left
  EXPECT_EQ(counter("cut_mark_step"), 1U);
  EXPECT_TRUE(at::equal(y.cpu(), some_ops(some_ops(some_ops(x.cpu())))));
}

TEST(Metrics, CountAndStartAgainAtZero) {
  const at::Tensor x = warm_input();
  reset_metrics();
  EXPECT_EQ(counter("ops_recorded"), 0U);
  some_ops(x);
  synchronize();
  EXPECT_EQ(counter("ops_recorded"), 3U);
  EXPECT_EQ(counter("ops_executed"), 3U);
  EXPECT_EQ(counter("cut_op_by_op"), 3U);
}

TEST(Explain, TellsModeCountersAndPlaces) {
  const at::Tensor x = warm_input();
  const AdaptiveEagerGuard on;
  some_ops(x);
  mark_step();
  const std::string text = explain();
  for (const char* part : {"adaptive mode of this thread: on", "ops_recorded", "places where segments ended", "tanh"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
  }
}

TEST(Streams, AGuardMakesStreamAndDeviceCurrent) {
  const c10::Stream side = new_stream(1);
  EXPECT_NE(side, new_stream(1));
  EXPECT_EQ(current_stream(1), default_stream(1));
  {
    const StreamGuard guard(side);
    EXPECT_EQ(device().index(), 1);
    EXPECT_EQ(current_stream(), side);
    std::thread([] { EXPECT_EQ(current_stream(1), default_stream(1)); }).join();
  }
  EXPECT_EQ(device().index(), 0);
  EXPECT_EQ(current_stream(1), default_stream(1));
}

TEST(Streams, SettingOneLeavesTheDeviceAlone) {
  const c10::Stream side = new_stream(1);
  set_current_stream(side);
  EXPECT_EQ(current_stream(1), side);
  EXPECT_EQ(device().index(), 0);
  set_current_stream(default_stream(1));
}

TEST(Streams, ForeignAndUnknownOnesAreRefused) {
  const c10::Stream cpu(c10::Stream::DEFAULT, c10::Device(c10::DeviceType::CPU));
  EXPECT_EQ(refusal([&] { set_current_stream(cpu); }), "neuron: expected a stream of neuron, got one of cpu");
  const c10::Stream unknown(c10::Stream::UNSAFE, device(0), 1'000'000);
  EXPECT_NE(refusal([&] { set_current_stream(unknown); }).find("1000000"), std::string::npos);
  EXPECT_EQ(current_stream(0), default_stream(0));
}

TEST(Events, OrderStreamsAndMeasureTime) {
  const at::Tensor x = at::ones({64, 64}, device(0));
  c10::Event begin = new_timed_event(), end = new_timed_event(), done = new_event();
  const c10::Stream side = new_stream();
  at::Tensor y;
  {
    const StreamGuard guard(side);
    begin.record(side);
    y = x.mm(x);
    end.record(side);
    done.record(side);
  }
  done.block(current_stream());
  EXPECT_EQ((y + 1).sum().item<float>(), 64 * 64 * 65);
  end.synchronize();
  EXPECT_TRUE(end.query());
  EXPECT_GE(begin.elapsedTime(end), 0);
}

TEST(RandomNumbers, AreTheCpusForOneSeed) {
  at::manual_seed(3);
  const at::Tensor expected = at::rand({16});
  EXPECT_TRUE(at::equal(at::rand({16}, device(1)).cpu(), expected));
  manual_seed(3, 1);
  EXPECT_TRUE(at::equal(at::rand({16}, device(1)).cpu(), expected));
  EXPECT_EQ(default_generator(1).current_seed(), 3U);
}

TEST(Failures, AreThrownByTheNextWait) {
  const at::Tensor x = at::ones({3}, device(0));
  const at::Tensor good = at::tensor({2}, at::kLong).to(device(0)), bad = at::tensor({7}, at::kLong).to(device(0));
  for (int i = 0; i < 3; ++i) x.index_select(0, good);
  synchronize();
  const std::string text = refusal([&] {
    x.index_select(0, bad);
    synchronize();
  });
  EXPECT_NE(text.find("index out of range"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::index_select"), std::string::npos) << text;
  synchronize();  // told once
  EXPECT_EQ((x + 1).sum().item<float>(), 6);
}

TEST(Processes, AForkedChildIsRefused) {
  static_cast<void>(warm_input());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = refusal([] { synchronize(); }).starts_with("Cannot re-initialize neuron in forked subprocess");
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ProcessesDeathTest, ExitWithWorkUnderWayIsClean) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static at::Tensor kept = warm_input();  // outlives main
        const AdaptiveEagerGuard on;
        for (int i = 0; i < 1000; ++i) kept = some_ops(kept);
        std::exit(0);  // without a wait, and the guard does not end
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace aee
