#pragma once

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
#include "caisson/sandbox/spooled_command.h"

// For the tests of SpooledCommand: a command without a guest, whose ends the test holds.
namespace caisson::sandbox {

using plan::Verb;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

inline constexpr minutes kPatience{1};
inline constexpr std::uint32_t kSlot = 7;
inline constexpr std::uint32_t kLivingSlot = 8;

inline os::Fd MakeFile(std::string_view text = {}) {
  os::Fd file(memfd_create("file", MFD_CLOEXEC));
  EXPECT_TRUE(os::WriteAll(file.get(), text));
  return file;
}

inline std::pair<os::Fd, os::Fd> MakePipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

inline bool IsEmpty(const os::Fd& file) {
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
    if (stage_) parked.staged_stream = 1;
    command_.emplace(SpooledCommand::Begin{.state = std::move(state),
                                           .output = *output,
                                           .parked = parked,
                                           .stage = std::move(stage_),
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
  std::optional<OutputStage> stage_;  // of another engine's
  SpooledCommand::AfterFirst after_first_ = SpooledCommand::AfterFirst::kStaysOpen;
  std::optional<SpooledCommand> command_;
};

}  // namespace caisson::sandbox
