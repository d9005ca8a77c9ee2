#include "caisson/guest/as_user.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace caisson::guest {
namespace {

bool IsProtected() {
  int signal = 0;
  return prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0) == 0 && signal == SIGKILL && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
}

// The ids that files are made with: those of a change that does not happen.
bool MakesFilesAs(std::uint32_t id) {
  constexpr std::uint32_t kNobodys = ~0U;
  return static_cast<std::uint32_t>(setfsuid(kNobodys)) == id && static_cast<std::uint32_t>(setfsgid(kNobodys)) == id;
}

// 0, or which step was wrong.
int Steps() {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  {
    const AsUser user(1000);
    if (!MakesFilesAs(1000)) return 1;
    if (!IsProtected()) return 2;
  }
  if (!MakesFilesAs(kGuestId)) return 3;
  return IsProtected() ? 0 : 4;
}

TEST(AsUserTest, ChangesTheOwnerOfFilesAndNoProtection) {
  if (geteuid() != 0) GTEST_SKIP() << "changing ids needs root";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(Steps());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the number of the step";
}

}  // namespace
}  // namespace caisson::guest
