#include "core/base/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aee {
namespace {

TEST(Fork, OnlyTheChildIsAForkedChild) {
  watch_forks();
  EXPECT_FALSE(forked_child());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(forked_child() ? 7 : 8);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_FALSE(forked_child());
}

}  // namespace
}  // namespace aee
