#include "core/runtime/stream.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/metrics.h"

namespace aee {
namespace {

struct StreamTest : testing::Test {
  static Config config() {
    Config config;
    config.device = DeviceKind::kNull;
    return config;
  }
  Metrics metrics;
  std::unique_ptr<Device> device = make_device(config(), metrics, {});
  StreamTable streams{*device};
};

TEST_F(StreamTest, TheDefaultStreamHasTheFirstQueue) { EXPECT_EQ(streams.queue(kDefaultStream), 0); }

TEST_F(StreamTest, QueuesAreOpenedWhenFirstUsed) {
  const StreamId stream = streams.new_stream();
  EXPECT_EQ(device->open_queue(), 0);  // the table has opened none
  EXPECT_EQ(streams.queue(stream), 1);
  EXPECT_EQ(streams.queue(stream), 1);
  EXPECT_EQ(streams.queue(kDefaultStream), 2);
}

TEST_F(StreamTest, ManyStreamsShareFewQueuesEvenly) {
  std::vector<int> uses(StreamTable::kQueues);
  for (int i = 0; i < 40; ++i) ++uses.at(streams.queue(streams.new_stream()));
  EXPECT_EQ(uses, std::vector<int>(StreamTable::kQueues, 10));
}

TEST_F(StreamTest, AStreamThatWasNotMadeIsRefused) {
  EXPECT_TRUE(streams.knows(kDefaultStream));
  EXPECT_FALSE(streams.knows(1));
  EXPECT_THROW(static_cast<void>(streams.queue(1)), Error);
  EXPECT_THROW(static_cast<void>(streams.queue(-1)), Error);
  EXPECT_EQ(streams.new_stream(), 1);
  EXPECT_TRUE(streams.knows(1));
}

TEST_F(StreamTest, ThreadsOpenAQueueOnce) {
  std::vector<QueueId> found(8);
  {
    std::vector<std::jthread> threads;
    for (QueueId& queue : found) threads.emplace_back([this, &queue] { queue = streams.queue(kDefaultStream); });
  }
  EXPECT_EQ(found, std::vector<QueueId>(8, 0));
  EXPECT_EQ(device->open_queue(), 1);
}

}  // namespace
}  // namespace aee
