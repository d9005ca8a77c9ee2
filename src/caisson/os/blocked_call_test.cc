#include "caisson/os/blocked_call.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace caisson::os {
namespace {

BlockedCall Call(long number, std::array<std::uint64_t, 6> arguments) { return {number, arguments}; }

TEST(ParseBlockedCall, ReadsTheNumberAndItsArguments) {
  const auto call = ParseBlockedCall("0 0x3 0x7ffc0 0x20000 0x0 0xffffffffffffffff 0x1 0x7ffd 0x7f00\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, 0);
  EXPECT_EQ(call->arguments, (std::array<std::uint64_t, 6>{3, 0x7ffc0, 0x20000, 0, ~std::uint64_t{0}, 1}));
}

TEST(ParseBlockedCall, SaysNothingOfAThreadThatIsInNone) {
  for (const char* text : {"", "running\n", "-1 0x7ffd 0x7f00\n", "0\n", "0 0x1 0x2\n", "0 1 2 3 4 5 6\n",
                           "0 0x0 0x0 0x0 0x0 0x0 0xg 0x0 0x0\n", "99999999999999999999 0x0 0x0 0x0 0x0 0x0 0x0\n"}) {
    EXPECT_FALSE(ParseBlockedCall(text)) << text;
  }
}

TEST(AwaitedDescriptor, IsThatOfCallsThatRead) {
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_read, {0})), 0);
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_readv, {7})), 7);
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_splice, {5, 0, 1})), 5);
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_sendfile, {1, 6})), 6);
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_pselect6, {1, 0x7f00})), 0);
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_read, {0xffffffff00000000})), 0) << "the kernel looks at the lower half";
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_read, {0xffffffff})), std::nullopt);
}

TEST(AwaitedDescriptor, IsAbsentForAllOthers) {
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_pselect6, {1, 0, 0x7f00})), std::nullopt) << "waits to write";
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_pselect6, {4, 0x7f00})), std::nullopt) << "could be any of four";
  EXPECT_EQ(AwaitedDescriptor(Call(SYS_pselect6, {0, 0, 0})), std::nullopt) << "a sleep";
  for (const long number : {SYS_write, SYS_clock_nanosleep, SYS_wait4, SYS_futex, SYS_ppoll, SYS_epoll_pwait}) {
    EXPECT_EQ(AwaitedDescriptor(Call(number, {0})), std::nullopt) << number;
  }
}

enum class Waits { kToRead, kToSelect, kForTime };

// A child that is blocked so, with the reading end of a pipe on descriptor 0.
class BlockedChild {
 public:
  explicit BlockedChild(Waits waits) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[0], 0);
      char byte = 0;
      fd_set set;
      FD_ZERO(&set);
      FD_SET(0, &set);
      if (waits == Waits::kToRead) (void)!read(0, &byte, 1);
      if (waits == Waits::kToSelect) select(1, &set, nullptr, nullptr, nullptr);
      if (waits == Waits::kForTime) pause();
      _exit(0);
    }
    close(ends[0]);
    write_end_.Reset(ends[1]);
    folder_.Reset(open(("/proc/" + std::to_string(pid_)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  BlockedChild(const BlockedChild&) = delete;
  BlockedChild& operator=(const BlockedChild&) = delete;
  ~BlockedChild() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Until it is in the call that it was made for.
  std::optional<BlockedCall> Await(std::initializer_list<long> numbers) const {
    for (int i = 0; i < 5000; ++i) {
      const auto call = BlockedCallOf(folder_);
      if (call && std::find(numbers.begin(), numbers.end(), call->number) != numbers.end()) return call;
      poll(nullptr, 0, 1);
    }
    return std::nullopt;
  }

 private:
  pid_t pid_ = -1;
  Fd write_end_;
  Fd folder_;
};

TEST(BlockedCallOf, TellsWhatAProcessWaitsIn) {
  const BlockedChild reads(Waits::kToRead);
  const auto read_call = reads.Await({SYS_read});
  if (!read_call && geteuid() != 0) GTEST_SKIP() << "this host lets only root look";
  ASSERT_TRUE(read_call);
  EXPECT_EQ(AwaitedDescriptor(*read_call), 0);

  const BlockedChild selects(Waits::kToSelect);
#ifdef SYS_select
  const auto select_call = selects.Await({SYS_select, SYS_pselect6});
#else
  const auto select_call = selects.Await({SYS_pselect6});
#endif
  ASSERT_TRUE(select_call);
  EXPECT_EQ(AwaitedDescriptor(*select_call), 0);

#ifdef SYS_pause
  const BlockedChild sleeps(Waits::kForTime);
  const auto pause_call = sleeps.Await({SYS_pause});
  ASSERT_TRUE(pause_call);
  EXPECT_EQ(AwaitedDescriptor(*pause_call), std::nullopt);
#endif
}

TEST(BlockedCallOf, IsAbsentForWhatIsNoProcess) { EXPECT_FALSE(BlockedCallOf(Fd(open("/", O_RDONLY | O_CLOEXEC)))); }

}  // namespace
}  // namespace caisson::os
