#include "caisson/daemon/supervisor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>

namespace caisson::daemon {
namespace {

// In a child of which nothing but fd 0 to 4 is open, 3 and 4 being pipes: what a service manager starts.
void AsService(const std::string& pid, const std::string& count, const std::function<void()>& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    // Out of the way first, in case they are 3 and 4 the other way round.
    const int out = fcntl(ends[0], F_DUPFD, 100);
    const int in = fcntl(ends[1], F_DUPFD, 100);
    EXPECT_EQ(dup2(out, 3), 3);
    EXPECT_EQ(dup2(in, 4), 4);
    EXPECT_EQ(close_range(5, ~0U, 0), 0);
    setenv("LISTEN_PID", pid.empty() ? std::to_string(getpid()).c_str() : pid.c_str(), 1);
    setenv("LISTEN_FDS", count.c_str(), 1);
    setenv("LISTEN_FDNAMES", "a:b", 1);
    body();
    for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) EXPECT_EQ(getenv(name), nullptr) << name;
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "see above";
}

TEST(TakeListeners, TakesThoseThatWereMadeForIt) {
  AsService("", "2", [] {
    const std::vector<os::Fd> listeners = TakeListeners();
    ASSERT_EQ(listeners.size(), 2U);
    EXPECT_EQ(listeners[0].get(), 3);
    EXPECT_EQ(listeners[1].get(), 4);
    for (const os::Fd& listener : listeners) EXPECT_EQ(fcntl(listener.get(), F_GETFD), FD_CLOEXEC);
    EXPECT_TRUE(TakeListeners().empty()) << "once";
  });
  AsService("", "1", [] { EXPECT_EQ(TakeListeners().size(), 1U); });
}

TEST(TakeListeners, LeavesThoseOfAnotherProcess) {
  for (const char* pid : {"1", "0", "-1", " ", "x"}) {
    AsService(pid, "2", [&] {
      EXPECT_TRUE(TakeListeners().empty()) << pid;
      EXPECT_EQ(fcntl(3, F_GETFD), 0) << "it is nobody's";
    });
  }
  // That of the parent, as after a fork of it.
  AsService(std::to_string(getpid()), "2", [] { EXPECT_TRUE(TakeListeners().empty()); });
}

TEST(TakeListeners, BelievesNoOddCount) {
  for (const char* count : {"", "0", "-1", "17", "99999999999999999999", "2x", "x"}) {
    AsService("", count, [&] { EXPECT_TRUE(TakeListeners().empty()) << count; });
  }
}

TEST(TakeListeners, PassesOverWhatIsNotOpen) {
  AsService("", "5", [] { EXPECT_EQ(TakeListeners().size(), 2U); });
}

TEST(TakeListeners, HasNoneWithoutAManager) {
  unsetenv("LISTEN_PID");
  unsetenv("LISTEN_FDS");
  EXPECT_TRUE(TakeListeners().empty());
}

TEST(TakeNotifySocket, TakesItAway) {
  setenv("NOTIFY_SOCKET", "/run/x", 1);
  EXPECT_EQ(TakeNotifySocket(), "/run/x");
  EXPECT_EQ(getenv("NOTIFY_SOCKET"), nullptr);
  EXPECT_EQ(TakeNotifySocket(), "");
}

// A manager that hears at `name`; '@' stands for the zero byte. Empty: the kernel finds a name.
class Manager {
 public:
  explicit Manager(const std::string& name) : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  std::string Name() const {
    sockaddr_un address{};
    socklen_t size = sizeof address;
    EXPECT_EQ(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    std::string name(address.sun_path, size - offsetof(sockaddr_un, sun_path));
    if (!name.empty() && name.front() == '\0') name.front() = '@';
    return name;
  }
  std::string Heard() const {
    std::array<char, 100> text;
    const ssize_t n = recv(socket_.get(), text.data(), text.size(), 0);
    return n < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(n));
  }

 private:
  os::Fd socket_;
};

TEST(Notify, ReachesAnAbstractName) {
  const Manager manager("");
  ASSERT_EQ(manager.Name().front(), '@');
  Notify(manager.Name(), "READY=1");
  EXPECT_EQ(manager.Heard(), "READY=1");
  EXPECT_EQ(manager.Heard(), "nothing");
}

TEST(Notify, ReachesAPath) {
  std::string folder = testing::TempDir() + "notify.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    const Manager manager(folder + "/n");
    Notify(folder + "/n", "STOPPING=1");
    EXPECT_EQ(manager.Heard(), "STOPPING=1");
  }
  std::filesystem::remove_all(folder);
}

TEST(Notify, IsNoErrorWhereNobodyHears) {
  Notify("", "READY=1");
  Notify("/nowhere/at/all", "READY=1");
  Notify("@caisson-nobody-listens-here", "READY=1");
  Notify("/" + std::string(200, 'x'), "READY=1");
}

}  // namespace
}  // namespace caisson::daemon
