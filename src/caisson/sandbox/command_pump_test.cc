#include "caisson/sandbox/command_pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <string>
#include <thread>

namespace caisson::sandbox {
namespace {

// For what has to come: reached only by a test that fails.
Deadline Patience() { return Deadline::In(std::chrono::seconds(20)); }

struct Pipe {
  os::Fd reader;
  os::Fd writer;
};

Pipe MakePipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

std::string EndMessage(int exit_code, int signal = 0) {
  proto::End end;
  end.set_ended(true);
  end.set_exit_code(exit_code);
  end.set_signal(signal);
  return end.SerializeAsString();
}

// What does not block is all there is now.
std::string ReadNow(const os::Fd& reader) {
  fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  std::string data(1U << 17U, '\0');
  const ssize_t n = read(reader.get(), data.data(), data.size());
  return n < 0 ? "(nothing yet)" : data.substr(0, static_cast<std::size_t>(n));
}

// The command's and the host's sides of a pump, played by the test.
class CommandPumpTest : public testing::Test {
 protected:
  void SetUp() override { signal(SIGPIPE, SIG_IGN); }

  OutputStream Out(int host_fd = -1, Bytes kept = MiB(4)) {
    return {std::move(out_.reader), host_fd, OutputCapture(kept, Spool::kDiscard, -1)};
  }
  OutputStream Err(int host_fd = -1) {
    return {std::move(err_.reader), host_fd, OutputCapture(MiB(4), Spool::kDiscard, -1)};
  }
  InputStream NoInput() { return {std::move(in_.writer), -1, false}; }
  CommandPump MakePump(InputStream input, OutputStream out, int interrupt_fd = -1) {
    return {end_.reader, std::move(input), std::move(out), Err(), interrupt_fd};
  }
  // With a ready interrupt every Run moves what is ready once and returns.
  static os::Fd MakeInterrupt() { return os::Fd(eventfd(1, EFD_CLOEXEC)); }
  static void RunOnce(CommandPump& pump) {
    EXPECT_TRUE(std::holds_alternative<CommandPump::Interrupted>(pump.Run(Patience())));
  }
  void End(int exit_code = 0) {
    EXPECT_TRUE(os::WriteAll(end_.writer.get(), EndMessage(exit_code)));
    end_.writer.Reset();
  }
  static void ExpectEnded(const CommandPump::Event& event, int exit_code = 0) {
    const auto* ended = std::get_if<CommandPump::Ended>(&event);
    ASSERT_NE(ended, nullptr) << "event " << event.index();
    EXPECT_EQ(ended->end.exit_code(), exit_code);
  }

  Pipe in_ = MakePipe();
  Pipe out_ = MakePipe();
  Pipe err_ = MakePipe();
  Pipe end_ = MakePipe();
};

TEST_F(CommandPumpTest, TakesOutputAndEnd) {
  ASSERT_TRUE(os::WriteAll(out_.writer.get(), "output"));
  ASSERT_TRUE(os::WriteAll(err_.writer.get(), "error"));
  End(3);
  CommandPump pump = MakePump(NoInput(), Out());
  ExpectEnded(pump.Run(Patience()), 3);
  pump.Finish();
  EXPECT_EQ(pump.TakeOut().kept, "output");
  EXPECT_EQ(pump.TakeErr().kept, "error");
}

TEST_F(CommandPumpTest, TakesWhatIsInAFullPipeAndNothingLater) {
  const int size = fcntl(out_.writer.get(), F_SETPIPE_SZ, 1 << 20);
  ASSERT_GT(size, 0);
  ASSERT_TRUE(os::WriteAll(out_.writer.get(), std::string(static_cast<std::size_t>(size), 'x')));
  End();
  CommandPump pump = MakePump(NoInput(), Out());
  ExpectEnded(pump.Run(Patience()));
  pump.Finish();  // though a process that the command left behind still holds the other end
  EXPECT_FALSE(os::WriteAll(out_.writer.get(), "later"));
  EXPECT_EQ(pump.TakeOut().total_bytes, static_cast<std::uint64_t>(size));
}

TEST_F(CommandPumpTest, TakesWhatAChildPassesOnAfterTheEnd) {
  End();
  CommandPump pump = MakePump(NoInput(), Out());
  ExpectEnded(pump.Run(Patience()));
  std::thread child([this] {
    EXPECT_TRUE(os::WriteAll(out_.writer.get(), "late"));
    out_.writer.Reset();
  });
  pump.Finish();
  child.join();
  EXPECT_EQ(pump.TakeOut().kept, "late");
}

TEST_F(CommandPumpTest, WaitsForTheEndAndNotForTheOutputToClose) {
  out_.writer.Reset();
  err_.writer.Reset();
  in_.reader.Reset();
  const os::Fd interrupt = MakeInterrupt();
  CommandPump pump = MakePump(NoInput(), Out(), interrupt.get());
  for (int i = 0; i < 3; ++i) RunOnce(pump);
  End();
  ExpectEnded(pump.Run(Patience()));
  pump.Finish();
  EXPECT_EQ(pump.TakeOut().total_bytes, 0U);
}

TEST_F(CommandPumpTest, IsLostWithoutAnEndMessage) {
  for (const std::string& message :
       {std::string(), std::string("\xff\xff\xff"), proto::End().SerializeAsString(), std::string("\x10\x01", 2),
        EndMessage(1) + std::string(1000, '\0'), EndMessage(256), EndMessage(-1), EndMessage(0, 65),
        EndMessage(0, INT_MAX), EndMessage(0, -1)}) {
    end_ = MakePipe();
    out_ = MakePipe();
    err_ = MakePipe();
    ASSERT_TRUE(os::WriteAll(end_.writer.get(), message));
    end_.writer.Reset();
    CommandPump pump = MakePump(NoInput(), Out());
    EXPECT_TRUE(std::holds_alternative<CommandPump::Lost>(pump.Run(Patience()))) << message.size();
  }
}

TEST_F(CommandPumpTest, ExpiresThoughTheCommandAlwaysHasSomethingToSay) {
  // The buffer outlives the thread, which ends when the pump closes its end of the pipe.
  const std::string chunk(1U << 16U, 'x');
  std::thread flood([&] {
    while (os::WriteAll(out_.writer.get(), chunk)) {
    }
  });
  {
    const auto start = std::chrono::steady_clock::now();
    CommandPump pump = MakePump(NoInput(), Out(-1, KiB(1)));
    EXPECT_TRUE(std::holds_alternative<CommandPump::Expired>(pump.Run(Deadline::In(std::chrono::milliseconds(50)))));
    pump.Finish();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    const CapturedOutput output = pump.TakeOut();
    EXPECT_EQ(output.kept.size(), 1024U);
    EXPECT_GT(output.total_bytes, output.kept.size());
  }
  flood.join();
}

TEST_F(CommandPumpTest, ExpiresWhileItWaitsForAHostThatDoesNotRead) {
  const Pipe host = MakePipe();
  std::thread flood([&] {
    const std::string chunk(1U << 16U, 'x');
    while (os::WriteAll(out_.writer.get(), chunk)) {
    }
  });
  {
    const os::Fd interrupt = MakeInterrupt();
    CommandPump pump = MakePump(NoInput(), Out(host.writer.get()), interrupt.get());
    RunOnce(pump);
    std::uint64_t taken = 1U << 16U;  // what one read takes
    for (int i = 0; i < 100; ++i) RunOnce(pump);
    EXPECT_TRUE(std::holds_alternative<CommandPump::Expired>(pump.Run(Deadline::In(std::chrono::milliseconds(0)))));
    // The pump holds back: the host's full pipe, one chunk beyond it, and what Finish finds in the command's.
    taken += static_cast<std::uint64_t>(fcntl(host.writer.get(), F_GETPIPE_SZ)) + (3U << 20U);
    pump.Finish();  // interrupted: the host never reads
    EXPECT_LE(pump.TakeOut().total_bytes, taken);
  }
  flood.join();
}

TEST_F(CommandPumpTest, GivesASlowHostEverything) {
  std::string content;
  for (int i = 0; content.size() < (1U << 20U); ++i) content += std::to_string(i) + "\n";
  Pipe host = MakePipe();
  ASSERT_GT(fcntl(host.writer.get(), F_SETPIPE_SZ, 4096), 0);
  std::string seen;
  std::thread host_reader([&] {
    char buffer[100];
    for (ssize_t n = 0; (n = read(host.reader.get(), buffer, sizeof buffer)) > 0;) {
      seen.append(buffer, static_cast<std::size_t>(n));
    }
  });
  std::thread command([&] {
    EXPECT_TRUE(os::WriteAll(out_.writer.get(), content));
    out_.writer.Reset();
    End();
  });
  CommandPump pump = MakePump(NoInput(), Out(host.writer.get()));
  ExpectEnded(pump.Run(Patience()));
  pump.Finish();
  host.writer.Reset();
  command.join();
  host_reader.join();
  EXPECT_TRUE(seen == content) << seen.size();
  EXPECT_TRUE(pump.TakeOut().kept == content);
}

TEST_F(CommandPumpTest, TellsTheCommandThatTheHostsReaderIsGone) {
  Pipe host = MakePipe();
  host.reader.Reset();
  ASSERT_TRUE(os::WriteAll(out_.writer.get(), "x"));
  const os::Fd interrupt = MakeInterrupt();
  CommandPump pump = MakePump(NoInput(), Out(host.writer.get()), interrupt.get());
  RunOnce(pump);
  RunOnce(pump);
  EXPECT_FALSE(os::WriteAll(out_.writer.get(), "y"));
  End();
  ExpectEnded(pump.Run(Patience()));
  pump.Finish();
}

TEST_F(CommandPumpTest, StopsHandingOutWhenItIsInterrupted) {
  const Pipe host = MakePipe();
  ASSERT_GT(fcntl(host.writer.get(), F_SETPIPE_SZ, 4096), 0);
  ASSERT_TRUE(os::WriteAll(out_.writer.get(), std::string(60'000, 'x')));
  End();
  const os::Fd interrupt = MakeInterrupt();
  CommandPump pump = MakePump(NoInput(), Out(host.writer.get()), interrupt.get());
  ExpectEnded(pump.Run(Patience()));
  pump.Finish();
  EXPECT_EQ(pump.TakeOut().total_bytes, 60'000U);
}

TEST_F(CommandPumpTest, GivesAnUnconnectedInputItsEndAtOnce) {
  const InputStream input = NoInput();
  EXPECT_EQ(ReadNow(in_.reader), "");
}

TEST_F(CommandPumpTest, DeliversContentAndClosesTheInput) {
  const std::string content(1U << 20U, 'c');
  std::string seen;
  std::thread command([&] {
    seen = os::ReadAll(in_.reader.get(), 2U << 20U).value_or("unreadable");
    End();
  });
  CommandPump pump = MakePump(InputStream(std::move(in_.writer), content), Out());
  ExpectEnded(pump.Run(Patience()));
  command.join();
  EXPECT_TRUE(seen == content) << seen.size();
}

TEST_F(CommandPumpTest, ClosesTheInputAfterEmptyContent) {
  const InputStream input(std::move(in_.writer), std::string());
  EXPECT_EQ(ReadNow(in_.reader), "");
}

TEST_F(CommandPumpTest, PassesTheHostsInputOnUntilItEnds) {
  Pipe host = MakePipe();
  const os::Fd interrupt = MakeInterrupt();
  CommandPump pump = MakePump(InputStream(std::move(in_.writer), host.reader.get(), false), Out(), interrupt.get());
  RunOnce(pump);
  EXPECT_EQ(ReadNow(in_.reader), "(nothing yet)");
  ASSERT_TRUE(os::WriteAll(host.writer.get(), "line\n"));
  RunOnce(pump);
  RunOnce(pump);
  EXPECT_EQ(ReadNow(in_.reader), "line\n");
  host.writer.Reset();
  RunOnce(pump);
  EXPECT_EQ(ReadNow(in_.reader), "");
  End();
  ExpectEnded(pump.Run(Patience()));
}

TEST_F(CommandPumpTest, AnInputIsIdleWhenItHasBeenSilentForAWhile) {
  const Pipe host = MakePipe();
  const os::Fd interrupt = MakeInterrupt();
  CommandPump pump = MakePump({std::move(in_.writer), host.reader.get(), false}, Out(), interrupt.get());
  const Deadline::Clock::time_point before = Deadline::Clock::now();
  const Deadline::Clock::time_point later = before + std::chrono::hours(1);
  EXPECT_GE(pump.IdleInput(before), 0) << "nothing has ever come";
  ASSERT_TRUE(os::WriteAll(host.writer.get(), "input"));
  EXPECT_EQ(pump.IdleInput(later), -1) << "something is on its way";
  for (int i = 0; i < 3; ++i) RunOnce(pump);
  EXPECT_EQ(ReadNow(in_.reader), "input");
  EXPECT_EQ(pump.IdleInput(before), -1) << "what writes without a pause may be slow";
  EXPECT_EQ(pump.IdleInput(before + std::chrono::milliseconds(200)), -1);
  EXPECT_GE(pump.IdleInput(later), 0);
}

TEST_F(CommandPumpTest, TellsATerminalOnceThatTheInputEnded) {
  Pipe host = MakePipe();
  host.writer.Reset();
  const os::Fd interrupt = MakeInterrupt();
  CommandPump pump = MakePump(InputStream(std::move(in_.writer), host.reader.get(), true), Out(), interrupt.get());
  for (int i = 0; i < 4; ++i) RunOnce(pump);
  EXPECT_EQ(ReadNow(in_.reader), "\x04");
  EXPECT_EQ(ReadNow(in_.reader), "(nothing yet)");
}

TEST_F(CommandPumpTest, GoesOnWhenTheCommandDoesNotReadItsInput) {
  in_.reader.Reset();
  CommandPump pump = MakePump(InputStream(std::move(in_.writer), std::string(1U << 20U, 'c')), Out());
  ASSERT_TRUE(os::WriteAll(out_.writer.get(), "output"));
  std::thread command([&] { End(1); });
  ExpectEnded(pump.Run(Patience()), 1);
  command.join();
  pump.Finish();
  EXPECT_EQ(pump.TakeOut().kept, "output");
}

// The end pipe comes from inside too: one that is written and stays open must not hold up the deadline.
TEST_F(CommandPumpTest, ExpiresWhileTheEndPipeIsWrittenAndStaysOpen) {
  ASSERT_TRUE(os::WriteAll(end_.writer.get(), EndMessage(1).substr(0, 1)));
  CommandPump pump = MakePump(NoInput(), Out());
  const CommandPump::Event event = pump.Run(Deadline::In(std::chrono::milliseconds(50)));
  EXPECT_FALSE(std::holds_alternative<CommandPump::Ended>(event));
}

}  // namespace
}  // namespace caisson::sandbox
