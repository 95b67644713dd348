#include "core/base/log.h"

#include <gtest/gtest.h>

namespace aee {
namespace {

/// Puts the level back at the end of a test.
class LevelScope {
 public:
  explicit LevelScope(LogLevel level) { set_log_level(level); }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  ~LevelScope() { set_log_level(LogLevel::kWarning); }
};

TEST(Log, WritesEnabledLevelsWithTheirName) {
  const LevelScope scope(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  AEE_LOG(kInfo, "loaded ", 3, " kernels");
  AEE_LOG(kError, "bad entry");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "adaptive_eager info: loaded 3 kernels\nadaptive_eager error: bad entry\n");
}

TEST(Log, DoesNotEvaluateWhatIsNotEnabled) {
  const LevelScope scope(LogLevel::kOff);
  int evaluated = 0;
  AEE_LOG(kError, ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(Log, WarningsAreOnByDefaultAndInformationIsNot) {
  EXPECT_TRUE(log_enabled(LogLevel::kWarning));
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
}

}  // namespace
}  // namespace aee
