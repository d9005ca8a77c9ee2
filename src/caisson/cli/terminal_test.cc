#include "caisson/cli/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "caisson/os/fd.h"

namespace caisson::cli {
namespace {

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!master_.valid() || grantpt(master_.get()) != 0 || unlockpt(master_.get()) != 0) {
      GTEST_SKIP() << "no pseudo terminals here";
    }
    terminal_ = os::Fd(open(ptsname(master_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(terminal_.valid());
  }

  tcflag_t LocalModes() const {
    termios modes{};
    tcgetattr(terminal_.get(), &modes);
    return modes.c_lflag;
  }

  os::Fd master_{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  os::Fd terminal_;
};

TEST_F(TerminalTest, RawModeEndsWithItsOwner) {
  const tcflag_t before = LocalModes();
  ASSERT_NE(before & (ECHO | ICANON | ISIG), 0U);
  {
    Result<RawTerminal> entered = RawTerminal::Enter(terminal_.get());
    ASSERT_TRUE(entered) << entered.error().message();
    const RawTerminal moved = std::move(*entered);
    EXPECT_EQ(LocalModes() & (ECHO | ICANON | ISIG), 0U);
  }
  EXPECT_EQ(LocalModes(), before);
}

TEST_F(TerminalTest, TellsItsSize) {
  winsize size{};
  size.ws_row = 50;
  size.ws_col = 132;
  ASSERT_EQ(ioctl(master_.get(), TIOCSWINSZ, &size), 0);
  EXPECT_EQ(SizeOfTerminal(terminal_.get()).rows, 50);
  EXPECT_EQ(SizeOfTerminal(terminal_.get()).columns, 132);
}

TEST(RawTerminal, RefusesWhatIsNoTerminal) {
  const os::Fd file(open("/dev/null", O_RDWR | O_CLOEXEC));
  const Result<RawTerminal> entered = RawTerminal::Enter(file.get());
  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(SizeOfTerminal(file.get()).rows, 24);
  EXPECT_EQ(SizeOfTerminal(file.get()).columns, 80);
}

}  // namespace
}  // namespace caisson::cli
