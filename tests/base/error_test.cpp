#include "core/base/error.h"

#include <gtest/gtest.h>

namespace aee {
namespace {

TEST(Error, FailUserThrowsTheConcatenatedParts) {
  try {
    fail_user("add: expected ", 2, " operands, got ", 3);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "add: expected 2 operands, got 3");
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return;
  }
  FAIL();
}

TEST(Error, FailKeepsTheKind) {
  try {
    fail(ErrorKind::kOutOfMemory, "no room");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    return;
  }
  FAIL();
}

TEST(Check, SaysFileConditionAndMessage) {
  try {
    AEE_CHECK(1 + 1 == 3, "sum ", 2);
  } catch (const InternalError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("error_test.cpp:"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("expected 1 + 1 == 3: sum 2")) << text;
    return;
  }
  FAIL();
}

TEST(Check, NeedsNoMessage) { EXPECT_THROW(AEE_CHECK(false), InternalError); }

TEST(Check, EvaluatesItsMessageOnlyOnFailure) {
  int evaluated = 0;
  AEE_CHECK(true, ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

}  // namespace
}  // namespace aee
