#include "caisson/sandbox/spooled_command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <future>
#include <vector>

#include "caisson/backend/launcher_link.h"
#include "caisson/os/socket.h"
#include "caisson/sandbox/command_state.h"
#include "caisson/sandbox/spool_fixture.h"

namespace caisson::sandbox {
namespace {

using plan::Verb;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr minutes kPatience{1};
constexpr std::uint32_t kSlot = 7;
constexpr std::uint32_t kLivingSlot = 8;

os::Fd MakeFile(std::string_view text = {}) {
  os::Fd file(memfd_create("file", MFD_CLOEXEC));
  EXPECT_TRUE(os::WriteAll(file.get(), text));
  return file;
}

std::pair<os::Fd, os::Fd> MakePipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

bool IsEmpty(const os::Fd& file) {
  struct stat info{};
  EXPECT_EQ(fstat(file.get(), &info), 0);
  return info.st_size == 0;
}

// In place of a launcher: remembers what it is told, and gives a sandbox that has nothing.
class Launcher {
 public:
  struct Told {
    plan::LaunchRequest request;
    std::vector<os::Fd> fds;
  };

  explicit Launcher(os::Fd connection)
      : connection_(std::move(connection)), kill_(MakeFile()), thread_([this] { Run(); }) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() { thread_.join(); }  // once its engine has gone

  // The last thing it was told with this verb, once it was told so `count` times.
  const Told& Await(Verb verb, std::size_t count = 1) {
    std::unique_lock lock(mutex_);
    const auto all = [&] {
      std::vector<const Told*> found;
      for (const Told& told : told_) {
        if (told.request.verb == verb) found.push_back(&told);
      }
      return found;
    };
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return all().size() >= count; }));
    return *all().at(count - 1);
  }
  std::size_t Count(Verb verb) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(told_, [&](const Told& told) { return told.request.verb == verb; }));
  }
  // The guest of kLivingSlot is dead from now on.
  void EndGuest() {
    const std::lock_guard lock(mutex_);
    guest_.second.Reset();
  }
  // Written to when the whole sandbox is killed.
  const os::Fd& kill() const { return kill_; }

 private:
  void Run() {
    while (auto message = os::ReceivePacket(connection_.get(), sizeof(plan::LaunchRequest), Deadline::In(kPatience))) {
      Told told{.request = {}, .fds = std::move(message->fds)};
      std::memcpy(&told.request, message->data.data(), sizeof told.request);
      plan::LaunchReply reply;
      reply.number = told.request.number;
      reply.waits_for_input = 1;
      const std::string_view bytes(reinterpret_cast<const char*>(&reply), sizeof reply);
      if (told.request.verb == Verb::kExamineLeaf) (void)os::SendWithFds(connection_.get(), bytes, {});
      if (told.request.verb == Verb::kAdopt) {
        os::Fd ended = MakePipe().first;  // as a guest that is dead at once
        if (told.request.slot == kLivingSlot) ended = *guest_.first.Duplicate();
        (void)os::SendWithFds(connection_.get(), bytes, std::vector<int>{ended.get(), kill_.get()});
      }
      const std::lock_guard lock(mutex_);
      told_.push_back(std::move(told));
      changed_.notify_all();
    }
  }

  os::Fd connection_;
  os::Fd kill_;
  std::pair<os::Fd, os::Fd> guest_ = MakePipe();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Told> told_;
  std::thread thread_;
};

class SpooledCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    auto ends = os::SocketPair(os::SocketKind::kPacket);
    ASSERT_TRUE(ends);
    launcher_.emplace(std::move(ends->second));
    link_ = backend::LauncherLink::Adopt(std::move(ends->first), os::PidFd(), plan::Expect::kEngines);
    auto taken = backend::Instance::TakeOver(*link_, kSlot);
    ASSERT_TRUE(taken);
    instance_ = std::move(taken->instance);
    MakePipes();
  }
  void MakePipes() {
    std::tie(in_, input_) = MakePipe();
    std::tie(out_read_, out_) = MakePipe();
    std::tie(err_read_, err_) = MakePipe();
    std::tie(end_read_, end_) = MakePipe();
  }
  // As the command reads it: so many bytes, or all until the end.
  std::string ReadInput(std::size_t most) const {
    std::string got;
    std::array<char, 4096> bytes{};
    while (got.size() < most) {
      const ssize_t n = read(in_.get(), bytes.data(), bytes.size());
      if (n <= 0) break;
      got.append(bytes.data(), static_cast<std::size_t>(n));
    }
    return got;
  }
  void TearDown() override {
    command_.reset();
    instance_.reset();
    link_.reset();
    launcher_.reset();
  }

  enum class Sandbox { kRuns, kIsFrozen };
  void Begin(nanoseconds left = minutes(60), Sandbox sandbox = Sandbox::kRuns) {
    auto output = CommandOutput::Create(folder_.fd(), "cm_a");
    ASSERT_TRUE(output);
    output_ = *output;
    auto state = std::make_unique<Command::State>();
    state->instance = instance_.get();
    state->start = Clock::now();
    state->kept_output = MiB(1);
    state->started.command = 1;
    state->started.end = std::move(end_read_);
    for (os::Fd* fd : {&input_, &out_read_, &err_read_}) state->started.stdio.push_back(std::move(*fd));
    std::vector<os::Fd> files;
    leaf_kill_ = MakeFile();
    files.push_back(*leaf_kill_.Duplicate());
    for (const char* text : {"populated 0\n", "usage_usec 7\n", "1\n", "oom_kill 0\n", "max 0\n", "max 0\n"}) {
      files.push_back(MakeFile(text));
    }
    state->started.leaf.emplace(1, std::move(files), std::vector<os::Fd>());
    plan::ParkedCommand parked;
    std::strcpy(parked.id, "cm_a");
    parked.command = 1;
    parked.start_ns = nanoseconds(state->start.time_since_epoch()).count();
    parked.deadline_ns = nanoseconds((state->start + left).time_since_epoch()).count();
    command_.emplace(SpooledCommand::Begin{.state = std::move(state),
                                           .output = *output,
                                           .parked = parked,
                                           .is_frozen = sandbox == Sandbox::kIsFrozen,
                                           .first_input = first_input_,
                                           .after_first_input = after_first_,
                                           .on_end = [this](Result<CommandResult> result) {
                                             had_ended_ = output_->Follow(~0ULL, ~0ULL)->Finished();
                                             result_.set_value(std::move(result));
                                             return recorded_;
                                           }});
  }
  // The guest's last word.
  void SayEnd(int exit_code, int signal = 0) {
    proto::End end;
    end.set_ended(true);
    end.set_exit_code(exit_code);
    end.set_signal(signal);
    ASSERT_TRUE(os::WriteAll(end_.get(), end.SerializeAsString()));
    end_.Reset();
  }
  Result<CommandResult> Ended() {
    auto future = result_.get_future();
    if (future.wait_for(kPatience) == std::future_status::ready) return future.get();
    return Fail(Error(Code::kDeadlineExceeded, "it does not end"));
  }
  // Of command and sandbox; the launcher has then heard all that came before.
  void LetGo() {
    command_.reset();
    instance_.reset();
    launcher_->Await(Verb::kDestroy);
  }
  void AwaitTotal(OutputStreamKind stream, std::uint64_t total) {
    while (output_->total(stream) < total) std::this_thread::yield();
  }

  SpoolFolder folder_;
  std::optional<Launcher> launcher_;
  std::unique_ptr<backend::LauncherLink> link_;
  std::unique_ptr<backend::Instance> instance_;
  os::Fd in_;  // the command's side of each
  os::Fd out_;
  os::Fd err_;
  os::Fd end_;
  os::Fd input_;  // the engine's, until it begins
  os::Fd out_read_;
  os::Fd err_read_;
  os::Fd end_read_;
  os::Fd leaf_kill_;
  std::shared_ptr<CommandOutput> output_;
  std::promise<Result<CommandResult>> result_;
  bool had_ended_ = true;
  Recorded recorded_ = Recorded::kYes;
  std::string first_input_;
  SpooledCommand::AfterFirst after_first_ = SpooledCommand::AfterFirst::kStaysOpen;
  std::optional<SpooledCommand> command_;
};

TEST_F(SpooledCommandTest, EndsWithItsOutput) {
  Begin();
  ASSERT_TRUE(os::WriteAll(out_.get(), "out"));
  ASSERT_TRUE(os::WriteAll(err_.get(), "error"));
  SayEnd(3);
  const auto result = Ended();
  ASSERT_TRUE(result);
  ASSERT_TRUE(std::holds_alternative<Exited>(result->outcome));
  EXPECT_EQ(std::get<Exited>(result->outcome).code, 3);
  EXPECT_EQ(result->out.kept, "out");
  EXPECT_EQ(result->err.kept, "error");
  EXPECT_EQ(result->cpu, std::chrono::microseconds(7));
  EXPECT_EQ(launcher_->Await(Verb::kPark).fds.size(), plan::kMostParkedFds);
  EXPECT_EQ(launcher_->Await(Verb::kUnpark).request.leaf, 1U);
  EXPECT_FALSE(had_ended_) << "its readers hear of it after whoever writes it down";
  command_.reset();
  EXPECT_TRUE(output_->Follow(3, 5)->Finished());
  EXPECT_TRUE(IsEmpty(leaf_kill_));
}

TEST_F(SpooledCommandTest, WhoseEndIsNotRecordedIsLeftToTheNextEngine) {
  recorded_ = Recorded::kNo;
  Begin();
  SayEnd(3);
  ASSERT_TRUE(Ended());
  command_.reset();
  instance_.reset();
  link_.reset();
  EXPECT_EQ(launcher_->Count(Verb::kUnpark), 0U);
  EXPECT_FALSE(output_->Follow(0, 0)->Finished()) << "nobody is told of an end that is not recorded";
}

TEST_F(SpooledCommandTest, WithoutAWordOfItsEndItsSandboxHasEnded) {
  Begin();
  end_.Reset();
  const auto result = Ended();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kUnavailable);
}

TEST_F(SpooledCommandTest, IsCancelled) {
  Begin();
  command_->Cancel();
  EXPECT_FALSE(IsEmpty(leaf_kill_));
  EXPECT_EQ(launcher_->Await(Verb::kPark, 2).request.parked.decided, 2U) << "the next engine decides the same";
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<Cancelled>(result->outcome));
  EXPECT_TRUE(IsEmpty(launcher_->kill()));
}

TEST_F(SpooledCommandTest, TimesOut) {
  Begin(nanoseconds(1));
  EXPECT_EQ(launcher_->Await(Verb::kPark, 2).request.parked.decided, 1U);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome));
}

TEST_F(SpooledCommandTest, TimesOutWhileItWaitsForInput) {
  Begin(nanoseconds(1));
  launcher_->Await(Verb::kExamineLeaf);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->waits_for_input);
}

TEST_F(SpooledCommandTest, AnInputThatWasJustGivenIsNotWaitedFor) {
  Begin(-minutes(1), Sandbox::kIsFrozen);
  const auto given = Clock::now();
  ASSERT_TRUE(command_->WriteInput("x"));
  command_->Resume();
  EXPECT_EQ(launcher_->Await(Verb::kPark, 3).request.parked.decided, 1U);
  if (Clock::now() - given > std::chrono::milliseconds(200)) GTEST_SKIP() << "this machine is too slow to tell";
  EXPECT_EQ(launcher_->Count(Verb::kExamineLeaf), 0U);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->waits_for_input);
}

TEST_F(SpooledCommandTest, AGuestThatDoesNotReportAKillEndsTheSandbox) {
  Begin(nanoseconds(1));
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome));
  EXPECT_FALSE(IsEmpty(launcher_->kill()));
}

TEST_F(SpooledCommandTest, ParksAllThatIsOpenAlsoAfterTheEndOfAStream) {
  Begin();
  ASSERT_TRUE(os::WriteAll(out_.get(), "x"));
  out_.Reset();
  // Twice, so that the end of the other stream was seen in between.
  for (const std::uint64_t total : {1U, 2U}) {
    ASSERT_TRUE(os::WriteAll(err_.get(), "y"));
    AwaitTotal(OutputStreamKind::kStderr, total);
  }
  ASSERT_TRUE(command_->CloseInput());
  EXPECT_EQ(launcher_->Await(Verb::kPark, 2).fds.size(), plan::kLeastParkedFds);
  SayEnd(0);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.kept, "x");
  EXPECT_EQ(result->err.kept, "yy");
}

TEST_F(SpooledCommandTest, ItsTimeStandsStill) {
  Begin();
  command_->Pause();
  const plan::ParkedCommand paused = launcher_->Await(Verb::kPark, 2).request.parked;
  EXPECT_EQ(paused.stands_still, 1U);
  EXPECT_GT(nanoseconds(paused.deadline_ns), minutes(58));
  EXPECT_LE(nanoseconds(paused.deadline_ns), minutes(60));
  command_->Pause();
  command_->Resume();
  const plan::ParkedCommand resumed = launcher_->Await(Verb::kPark, 3).request.parked;
  EXPECT_EQ(resumed.stands_still, 0U);
  EXPECT_GT(Clock::time_point(nanoseconds(resumed.deadline_ns)), Clock::now() + minutes(50));
  command_->Resume();
  SayEnd(0);
  EXPECT_TRUE(Ended());
  EXPECT_EQ(launcher_->Count(Verb::kPark), 3U) << "what changes nothing tells nothing";
}

TEST_F(SpooledCommandTest, TimesOutOnlyWhenItsSandboxGoesOn) {
  Begin(-minutes(1), Sandbox::kIsFrozen);
  ASSERT_TRUE(os::WriteAll(out_.get(), "x"));
  AwaitTotal(OutputStreamKind::kStdout, 1);
  EXPECT_EQ(launcher_->Await(Verb::kPark).request.parked.stands_still, 1U);
  EXPECT_TRUE(IsEmpty(leaf_kill_));
  command_->Resume();
  EXPECT_EQ(launcher_->Await(Verb::kPark, 3).request.parked.decided, 1U);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome));
}

// A frozen guest cannot report the end, and that is no reason to end the sandbox.
TEST_F(SpooledCommandTest, IsCancelledInAFrozenSandbox) {
  Begin(minutes(60), Sandbox::kIsFrozen);
  command_->Cancel();
  EXPECT_FALSE(IsEmpty(leaf_kill_));
  auto future = result_.get_future();
  constexpr std::chrono::milliseconds kMoreThanAKillMayTake{1500};
  EXPECT_EQ(future.wait_for(kMoreThanAKillMayTake), std::future_status::timeout);
  EXPECT_TRUE(IsEmpty(launcher_->kill()));
  command_->Resume();
  SayEnd(0, SIGKILL);
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  const auto result = future.get();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<Cancelled>(result->outcome));
}

TEST_F(SpooledCommandTest, TakesInputUntilThatIsClosed) {
  Begin();
  const auto taken = command_->WriteInput("hello");
  ASSERT_TRUE(taken);
  EXPECT_EQ(*taken, 5U);
  std::array<char, 10> bytes{};
  ASSERT_EQ(read(in_.get(), bytes.data(), bytes.size()), 5);
  EXPECT_EQ(std::string_view(bytes.data(), 5), "hello");
  const auto part = command_->WriteInput(std::string(std::size_t{4} << 20U, 'x'));
  ASSERT_TRUE(part);
  EXPECT_GT(*part, 0U);
  EXPECT_LT(*part, std::size_t{4} << 20U);
  ASSERT_TRUE(command_->CloseInput());
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
  EXPECT_EQ(command_->CloseInput().error().code(), Code::kConflict);
}

TEST_F(SpooledCommandTest, KnowsThatNobodyReadsItsInput) {
  Begin();
  in_.Reset();
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
}

TEST_F(SpooledCommandTest, NothingCanBeDoneToWhatHasEnded) {
  Begin();
  SayEnd(0);
  ASSERT_TRUE(Ended());
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
  EXPECT_EQ(command_->CloseInput().error().code(), Code::kConflict);
  EXPECT_EQ(command_->Signal(SIGTERM).error().code(), Code::kConflict);
  command_->Cancel();
  command_->Pause();
  command_->Resume();
  EXPECT_TRUE(IsEmpty(leaf_kill_));
  LetGo();
  EXPECT_EQ(launcher_->Count(Verb::kPark), 1U);
}

// Nobody reads while it is begun: what finds no room in the pipe must not be waited for.
TEST_F(SpooledCommandTest, ItsFirstInputIsWrittenAsItIsRead) {
  first_input_ = PatternAt(0, 1U << 20U);
  Begin();
  EXPECT_EQ(*command_->WriteInput("later"), 0U) << "the first comes first";
  EXPECT_TRUE(command_->CloseInput());
  EXPECT_TRUE(ReadInput(first_input_.size()) == first_input_);
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
  SayEnd(0);
  EXPECT_TRUE(Ended());
}

TEST_F(SpooledCommandTest, ItsInputEndsAfterTheFirst) {
  first_input_ = PatternAt(0, 1U << 20U);
  after_first_ = SpooledCommand::AfterFirst::kCloses;
  Begin();
  EXPECT_EQ(launcher_->Await(Verb::kPark).fds.size(), plan::kMostParkedFds - 1) << "the next engine has no more of it";
  EXPECT_TRUE(ReadInput(2 * first_input_.size()) == first_input_);
  SayEnd(0);
  EXPECT_TRUE(Ended());
}

TEST_F(SpooledCommandTest, TheEndOfItsSandboxIsTriedAgainUntilNothingIsLeft) {
  auto taken = backend::Instance::TakeOver(*link_, kLivingSlot);
  ASSERT_TRUE(taken);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Status failed = taken->instance->Destroy();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), Code::kDeadlineExceeded);
  }
  EXPECT_EQ(launcher_->Count(Verb::kDestroy), 0U);
  launcher_->EndGuest();
  EXPECT_TRUE(taken->instance->Destroy());
  EXPECT_TRUE(taken->instance->Destroy());
  taken->instance.reset();
  instance_.reset();
  link_.reset();
  launcher_->Await(Verb::kDestroy, 2);
  EXPECT_EQ(launcher_->Count(Verb::kDestroy), 2U) << "one for each sandbox";
}

TEST_F(SpooledCommandTest, IsLeftToTheNextEngine) {
  Begin();
  LetGo();
  EXPECT_EQ(launcher_->Count(Verb::kPark), 1U);
  EXPECT_EQ(launcher_->Count(Verb::kUnpark), 0U);
  EXPECT_TRUE(IsEmpty(leaf_kill_));
  EXPECT_EQ(result_.get_future().wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  // What it still writes waits in the parked pipes.
  ASSERT_TRUE(os::WriteAll(out_.get(), "later"));
  const Launcher::Told& told = launcher_->Await(Verb::kPark);
  std::array<char, 10> bytes{};
  EXPECT_EQ(read(told.fds[1].get(), bytes.data(), bytes.size()), 5);
}

}  // namespace
}  // namespace caisson::sandbox
