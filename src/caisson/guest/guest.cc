#include "caisson/guest/guest.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>

#include "caisson/guest/command_start.h"
#include "caisson/guest/image_setup.h"
#include "caisson/guest/lockdown.h"
#include "caisson/os/poll.h"
#include "caisson/os/socket.h"
#include "caisson/proto/guest.pb.h"

namespace caisson::guest {
namespace {

constexpr std::uint32_t kProtocolVersion = 1;
// A guest reads only whole frames that the engine has already sent.
constexpr std::chrono::seconds kFramePatience{10};
// Reaped in one go, so that a command that makes orphans cannot keep the guest from its requests.
constexpr int kReapsInARow = 64;

struct Running {
  std::uint64_t command = 0;
  os::Fd end;
};

class Guest {
 public:
  explicit Guest(os::Fd connection) { (IsDoor(connection) ? door_ : control_) = std::move(connection); }

  int Run() {
    prctl(PR_SET_NAME, "caisson-guest", 0, 0, 0);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    const os::Fd children(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!children.valid() || (door_.valid() && !Admit()) || !Configure()) return 1;
    while (true) {
      std::array<pollfd, 3> entries{
          {{control_.get(), POLLIN, 0}, {children.get(), POLLIN, 0}, {door_.get(), POLLIN, 0}}};
      // With more to reap than one go took, only look.
      if (!os::Poll(entries, more_to_reap_ ? 0 : -1)) return 1;
      if (entries[1].revents != 0 || more_to_reap_) Reap(children);
      if (entries[0].revents != 0 && !Serve()) {
        control_.Reset();  // of an engine that is gone
        if (!door_.valid()) return 0;
      } else if (entries[2].revents != 0 && !Admit()) {
        return 0;
      }
    }
  }

 private:
  static bool IsDoor(const os::Fd& connection) {
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(connection.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
  }

  // Takes the control stream that came through the door. False when nothing comes through it any more.
  bool Admit() {
    auto message = os::ReceivePacket(door_.get(), 1, Deadline::In(kFramePatience));
    if (!message || message->fds.size() != 1) return false;
    control_ = std::move(message->fds[0]);
    return true;
  }

  bool Configure() {
    auto frame = os::ReceiveFrame(control_.get(), Deadline::In(kFramePatience));
    proto::Request request;
    if (!frame || !request.ParseFromString(frame->data) || !request.has_configure()) return false;
    const proto::Configure& configure = request.configure();
    if (configure.version() != kProtocolVersion) return Answer("version", EPROTO);
    if (configure.prepare_image()) {
      if (const Status status = PrepareImage(); !status) return Answer(status.error());
    }
    auto landlock = os::LandlockRules::Make();
    if (!landlock) return Answer(landlock.error());
    if (const Status status = AllowFiles(*landlock); !status) return Answer(status.error());
    if (const Status status = LockDown(configure.guest_filter()); !status) return Answer(status.error());
    confinement_.emplace(
        Confinement{*std::move(landlock), {}, configure.command_filter(), configure.file_size_limit()});
    return Answer("", 0);
  }

  // Everything the image's permissions allow, less what no command needs: making device nodes is granted nowhere,
  // device controls only below /dev.
  static Status AllowFiles(os::LandlockRules& rules);

  bool Answer(const Error& error) {
    return Answer(error.message(), error.errno_value() == 0 ? EIO : error.errno_value());
  }
  bool Answer(const std::string& step, int error) {
    proto::Reply reply;
    reply.set_step(step);
    reply.set_error(error);
    return os::SendFrame(control_.get(), reply.SerializeAsString()) && error == 0;
  }

  // One request. False at the end of the stream.
  bool Serve() {
    auto frame = os::ReceiveFrame(control_.get(), Deadline::In(kFramePatience));
    proto::Request request;
    if (!frame || !request.ParseFromString(frame->data)) return false;
    if (request.has_start()) return Start(request.start(), frame->fds);
    if (request.has_signal()) return Signal(request.signal());
    if (request.has_take_over()) return TakeOver(request.take_over());
    if (request.has_make_plan()) return MakePlan(request.make_plan());
    return false;
  }

  bool TakeOver(const proto::TakeOver& request) {
    if (request.version() != kProtocolVersion) return Answer("version", EPROTO);
    proto::Reply reply;
    for (const auto& [pid, running] : running_) reply.add_running(running.command);
    return os::SendFrame(control_.get(), reply.SerializeAsString()).has_value();
  }

  bool MakePlan(const proto::MakePlan& request) {
    proto::Reply reply;
    if (const Result<std::uint64_t> made = confinement_->plans.Make(request); made) {
      reply.set_plan(*made);
    } else {
      reply.set_step(made.error().message());
      reply.set_error(made.error().errno_value() == 0 ? EIO : made.error().errno_value());
    }
    return os::SendFrame(control_.get(), reply.SerializeAsString()).has_value();
  }

  bool Start(const proto::StartCommand& request, const std::vector<os::Fd>& leaf) {
    proto::Reply reply;
    std::vector<int> fds;
    std::array<int, 2> end{};
    if (pipe2(end.data(), O_CLOEXEC) != 0) {
      reply.set_error(errno);
      reply.set_step("pipe");
      return os::SendFrame(control_.get(), reply.SerializeAsString()).has_value();
    }
    const os::Fd engine_end(end[0]);
    os::Fd own_end(end[1]);
    auto started = StartCommand(request, leaf, *confinement_);
    if (!started) {
      reply.set_error(started.error().error);
      reply.set_step(started.error().step);
    } else {
      reply.set_command(next_command_);
      fds.push_back(engine_end.get());
      for (const os::Fd& fd : started->host_ends) fds.push_back(fd.get());
      running_.emplace(started->pid, Running{next_command_++, std::move(own_end)});
    }
    return os::SendFrame(control_.get(), reply.SerializeAsString(), fds).has_value();
  }

  bool Signal(const proto::SignalCommand& request) {
    proto::Reply reply;
    reply.set_error(ESRCH);
    for (const auto& [pid, running] : running_) {
      if (running.command != request.command()) continue;
      reply.set_error(kill(-pid, request.signal()) == 0 ? 0 : errno);
    }
    return os::SendFrame(control_.get(), reply.SerializeAsString()).has_value();
  }

  void Reap(const os::Fd& children) {
    std::array<signalfd_siginfo, 16> drained{};
    while (read(children.get(), drained.data(), sizeof drained) > 0) {
    }
    more_to_reap_ = true;
    for (int i = 0; i < kReapsInARow; ++i) {
      int status = 0;
      pid_t pid = 0;
      do {
        pid = waitpid(-1, &status, WNOHANG);
      } while (pid < 0 && errno == EINTR);
      if (pid <= 0) {
        more_to_reap_ = false;
        return;
      }
      const auto found = running_.find(pid);
      if (found == running_.end()) continue;  // an orphan
      ReportEnd(found->second.end, status);
      running_.erase(found);
    }
  }

  static void ReportEnd(const os::Fd& end, int status) {
    proto::End message;
    message.set_ended(true);
    if (WIFSIGNALED(status)) {
      message.set_signal(WTERMSIG(status));
    } else {
      message.set_exit_code(WEXITSTATUS(status));
    }
    // A pipe: the engine may be gone, and SIGPIPE is blocked like every signal.
    const std::string payload = message.SerializeAsString();
    (void)os::WriteAll(end.get(), payload);
  }

  os::Fd door_;     // invalid: there is one control stream
  os::Fd control_;  // invalid between two engines
  std::optional<Confinement> confinement_;
  std::map<pid_t, Running> running_;
  std::uint64_t next_command_ = 1;
  bool more_to_reap_ = false;
};

Status Guest::AllowFiles(os::LandlockRules& rules) {
  constexpr std::uint64_t kMakeChar = 1U << 6U;    // LANDLOCK_ACCESS_FS_MAKE_CHAR
  constexpr std::uint64_t kMakeBlock = 1U << 11U;  // LANDLOCK_ACCESS_FS_MAKE_BLOCK
  constexpr std::uint64_t kIoctlDev = 1U << 15U;   // LANDLOCK_ACCESS_FS_IOCTL_DEV
  const std::uint64_t everywhere = rules.handled() & ~(kMakeChar | kMakeBlock | kIoctlDev);
  CAISSON_CHECK_OK(rules.Allow("/", everywhere));
  return rules.Allow("/dev", everywhere | (rules.handled() & kIoctlDev));
}

}  // namespace

int RunGuest(os::Fd connection) { return Guest(std::move(connection)).Run(); }

}  // namespace caisson::guest
