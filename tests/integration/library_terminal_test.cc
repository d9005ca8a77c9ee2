#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "support/sandbox_test.h"

// A command on a terminal.

namespace caisson::support {
namespace {

using sandbox::Attachment;
using sandbox::Command;
using sandbox::CommandResult;
using sandbox::CommandSpec;

struct Pipe {
  os::Fd read;
  os::Fd write;
};

Pipe MakePipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

CommandSpec OnTerminal(const std::string& script) {
  CommandSpec spec = Script(script);
  spec.terminal = sandbox::TerminalSize{.rows = 33, .columns = 111};
  return spec;
}

// Reads until the text has come or the writer is gone.
bool AwaitText(const os::Fd& source, std::string& all, const std::string& text) {
  std::array<char, 4096> buffer;
  while (all.find(text) == std::string::npos) {
    const ssize_t n = read(source.get(), buffer.data(), buffer.size());
    if (n <= 0) return false;
    all.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return true;
}

class LibraryTerminal : public SandboxTest {
 protected:
  // Starts the script on a terminal and waits for it in a thread; `drive` meets it at the other end.
  template <typename Drive>
  CommandResult Talk(const std::string& script, Drive drive) {
    Pipe in = MakePipe();
    Pipe out = MakePipe();
    auto command = box().Start(OnTerminal(script));
    if (!command) {
      ADD_FAILURE() << command.error().message();
      return {};
    }
    CommandResult result;
    std::thread waiter([&] {
      auto waited = command->Wait({.stdin_fd = in.read.get(), .stdout_fd = out.write.get()});
      if (waited) {
        result = *std::move(waited);
      } else {
        ADD_FAILURE() << waited.error().message();
      }
      out.write.Reset();
    });
    drive(*command, in.write, out.read);
    // The command's last words must not wait for a reader.
    std::string rest;
    (void)AwaitText(out.read, rest, std::string("\0never\0", 7));
    waiter.join();
    return result;
  }
};

TEST_F(LibraryTerminal, ThereIsOneOfTheSizeThatWasAskedFor) {
  const CommandResult result =
      RunIn(box(), OnTerminal("tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo all; echo $TERM"));
  EXPECT_EQ(ExitCode(result), 0);
  EXPECT_TRUE(result.out.kept.starts_with("/dev/pts/")) << result.out.kept;
  EXPECT_NE(result.out.kept.find("33 111\r\nall\r\n"), std::string::npos) << result.out.kept;
  EXPECT_EQ(result.err.total_bytes, 0U);
}

TEST_F(LibraryTerminal, AnInterruptCharacterInterrupts) {
  const CommandResult result = Talk("trap 'echo caught; exit 6' INT; echo up; while :; do sleep 0.05; done",
                                    [](Command&, os::Fd& in, os::Fd& out) {
                                      std::string all;
                                      ASSERT_TRUE(AwaitText(out, all, "up"));
                                      ASSERT_EQ(write(in.get(), "\x03", 1), 1);
                                      ASSERT_TRUE(AwaitText(out, all, "caught")) << all;
                                    });
  EXPECT_EQ(ExitCode(result), 6);
}

TEST_F(LibraryTerminal, AResizeReachesTheCommand) {
  const CommandResult result = Talk("trap 'stty size; exit 0' WINCH; echo up; while :; do sleep 0.05; done",
                                    [](Command& command, os::Fd&, os::Fd& out) {
                                      std::string all;
                                      ASSERT_TRUE(AwaitText(out, all, "up"));
                                      ASSERT_TRUE(command.Resize({.rows = 44, .columns = 222}));
                                      ASSERT_TRUE(AwaitText(out, all, "44 222")) << all;
                                    });
  EXPECT_EQ(ExitCode(result), 0);
}

TEST_F(LibraryTerminal, LinesGoBothWaysAndTheEndEndsThem) {
  const CommandResult result =
      Talk("echo up; read a; echo got $a; cat; echo end", [](Command&, os::Fd& in, os::Fd& out) {
        std::string all;
        ASSERT_TRUE(AwaitText(out, all, "up"));
        ASSERT_EQ(write(in.get(), "hello\n", 6), 6);
        ASSERT_TRUE(AwaitText(out, all, "got hello")) << all;
        in.Reset();
        ASSERT_TRUE(AwaitText(out, all, "end")) << all;
      });
  EXPECT_EQ(ExitCode(result), 0);
}

TEST_F(LibraryTerminal, WithoutATerminalThereIsNothingToResize) {
  auto command = box().Start(Script("true"));
  ASSERT_TRUE(command);
  EXPECT_EQ(command->Resize({.rows = 1, .columns = 1}).error().code(), Code::kConflict);
  EXPECT_TRUE(command->Wait());
}

TEST_F(LibraryTerminal, HangingUpEndsAShellsJobs) {
  CommandSpec spec = OnTerminal("sleep 1000 & exec sleep 1000");
  spec.timeout = std::chrono::milliseconds(500);
  EXPECT_TRUE(std::holds_alternative<sandbox::TimedOut>(RunIn(box(), spec).outcome));
  EXPECT_EQ(RunIn(box(), Program({"pgrep", "sleep"})).out.kept, "");
}

TEST_F(LibraryTerminal, AnInterruptFromTheCallerCancels) {
  const os::Fd interrupt(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  auto command = box().Start(OnTerminal("trap '' INT TERM HUP; sleep 1000"));
  ASSERT_TRUE(command);
  Attachment attachment;
  attachment.interrupt_fd = interrupt.get();
  attachment.on_interrupt = [](void* context, Command&) {
    std::uint64_t count = 0;
    EXPECT_EQ(read(*static_cast<const int*>(context), &count, sizeof count), 8);
    return Attachment::Interrupt::kCancel;
  };
  int fd = interrupt.get();
  attachment.context = &fd;
  const auto result = command->Wait(attachment);
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<sandbox::Cancelled>(result->outcome));
}

}  // namespace
}  // namespace caisson::support
