// A stream that was written is read back as it was, and replayed it is cut as it was.
#include "core/engine/trace_stream.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include "core/base/error.h"

namespace aee {
namespace {

class TraceStreamTest : public testing::Test {
 protected:
  ~TraceStreamTest() override { std::remove(path_.c_str()); }

  TraceStream written() {
    writer_.close();
    std::ifstream file(path_);
    return read_trace(file);
  }
  static std::string error_of(const std::string& text) {
    std::istringstream in(text);
    try {
      static_cast<void>(read_trace(in));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const std::string path_ = testing::TempDir() + "aee_trace_stream_test.txt";
  TraceWriter writer_{path_};
  const TracerLimits limits_{.max_ops = 9, .costs = {.host_us = 1.5, .device_us = 0.25, .launch_us = 12}};
  const Op add_{"aten::add.Tensor", 3, kScalarsAreData};
  const int one_ = 0, two_ = 0;  // their addresses stand for recorders
};

TEST_F(TraceStreamTest, IsReadAsItWasWritten) {
  const std::uint64_t key[] = {3, 0xabcdef0123456789, 5}, operands[] = {0x7000, 0x8000}, others[] = {0x8000, 0x9000};
  writer_.step(&one_, limits_, add_, {key, 1, operands, 1});
  writer_.step(&two_, {}, add_, {key, 1, others, 0});
  writer_.cut(&one_, limits_, CutReason::kHostRead, /*waiting=*/true);
  const TraceStream stream = written();
  ASSERT_EQ(stream.recorders.size(), 2U);
  EXPECT_EQ(stream.recorders[0].max_ops, 9U);
  EXPECT_EQ(stream.recorders[0].costs.launch_us, 12);
  ASSERT_EQ(stream.events.size(), 3U);
  EXPECT_EQ(stream.events[0].op.name, "aten::add.Tensor");
  EXPECT_EQ(stream.events[0].op.id, 3U);
  EXPECT_TRUE(stream.events[0].op.has(kScalarsAreData));
  EXPECT_EQ(stream.events[0].key, std::vector<std::uint64_t>(std::begin(key), std::end(key)));
  EXPECT_EQ(stream.events[0].operands, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(stream.events[1].operands, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(stream.events[1].recorder, 1U);
  EXPECT_EQ(stream.events[2].reason, "cut_host_read");
  EXPECT_TRUE(stream.events[2].waiting);
}

TEST_F(TraceStreamTest, NamesTheLineThatCannotBeRead) {
  EXPECT_NE(error_of("hello\n").find("first line"), std::string::npos);
  const std::string head = "adaptive-eager-trace 1\nrecorder 0 max_ops 9 host_us 1 device_us 1 launch_us 1\n";
  EXPECT_EQ(error_of(head), "");
  EXPECT_NE(error_of(head + "jump 0\n").find("line 3"), std::string::npos);
  EXPECT_NE(error_of(head + "cut 1 reason cut_memory waiting 0\n").find("told of before"), std::string::npos);
  EXPECT_NE(error_of(head + "step 0 class 0 traits 0 op x key zz operands 1\n").find("line 3"), std::string::npos);
  EXPECT_NE(error_of(head + "step 0 class 0 traits 0 op x key 1\n").find("'operands'"), std::string::npos);
}

TEST_F(TraceStreamTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(TraceWriter("/nonexistent-folder/trace"), Error);
}

}  // namespace
}  // namespace aee
