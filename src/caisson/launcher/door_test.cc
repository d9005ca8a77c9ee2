#include "caisson/launcher/door.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "caisson/os/socket.h"

namespace caisson::launcher {
namespace {

constexpr std::chrono::minutes kPatience{1};

std::size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

os::Fd OpenFolder() { return os::Fd(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

class DoorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root is heard at the door";
    os::Fd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    // The kernel finds a name in the abstract namespace. unix(7): autobind.
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(sa_family_t)), 0);
    ASSERT_EQ(listen(listener.get(), 128), 0);
    address_size_ = sizeof address_;
    ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address_), &address_size_), 0);
    door_.emplace(std::move(listener));
  }

  os::Fd Connect() const {
    os::Fd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(connection.get(), reinterpret_cast<const sockaddr*>(&address_), address_size_), 0);
    return connection;
  }
  // Serves until there is nothing left to do; the newest engine.
  std::optional<os::Fd> Serve() {
    std::optional<os::Fd> engine;
    while (true) {
      std::vector<pollfd> entries;
      door_->AppendTo(entries);
      if (poll(entries.data(), entries.size(), 0) <= 0) return engine;
      if (auto next = door_->Serve(entries)) engine = std::move(next);
    }
  }
  std::size_t Visitors() const {
    std::vector<pollfd> entries;
    door_->AppendTo(entries);
    return entries.size() - 1;
  }
  static void Say(const os::Fd& connection, const plan::DoorRequest& request, const std::vector<int>& fds = {}) {
    ASSERT_TRUE(os::SendWithFds(connection.get(), {reinterpret_cast<const char*>(&request), sizeof request}, fds));
  }
  static plan::DoorReply Reply(const os::Fd& connection) {
    const auto message = os::ReceivePacket(connection.get(), sizeof(plan::DoorReply), Deadline::In(kPatience));
    plan::DoorReply reply{.version = 0};
    EXPECT_TRUE(message && message->data.size() == sizeof reply && message->fds.empty());
    if (message) std::memcpy(&reply, message->data.data(), std::min(sizeof reply, message->data.size()));
    return reply;
  }
  static bool WasShown(const os::Fd& connection) {
    const auto message = os::ReceivePacket(connection.get(), 100, Deadline::In(kPatience));
    return !message && message.error().code() == Code::kUnavailable;
  }
  // A folder left behind an open connection.
  plan::Ticket Leave(const os::Fd& connection) {
    const os::Fd folder = OpenFolder();
    Say(connection, {.hello = plan::Hello::kDeposit}, {folder.get()});
    EXPECT_FALSE(Serve());
    const plan::DoorReply reply = Reply(connection);
    EXPECT_EQ(reply.error, 0);
    return reply.ticket;
  }

  sockaddr_un address_{};
  socklen_t address_size_ = 0;
  std::optional<Door> door_;
};

TEST_F(DoorTest, LetsAnEngineIn) {
  const os::Fd visitor = Connect();
  EXPECT_FALSE(Serve()) << "it has said nothing";
  EXPECT_EQ(Visitors(), 1U);
  Say(visitor, {.hello = plan::Hello::kEngine});
  const auto engine = Serve();
  ASSERT_TRUE(engine && engine->valid());
  EXPECT_EQ(Reply(visitor).error, 0);
  EXPECT_EQ(Visitors(), 0U) << "it is no visitor any more";
  ASSERT_TRUE(os::SendWithFds(engine->get(), "hello", {}));
  const auto message = os::ReceivePacket(visitor.get(), 100, Deadline::In(kPatience));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->data, "hello");
}

TEST_F(DoorTest, TheNewestEngineIsTheOne) {
  const os::Fd first = Connect();
  const os::Fd second = Connect();
  Say(first, {.hello = plan::Hello::kEngine});
  Say(second, {.hello = plan::Hello::kEngine});
  const auto engine = Serve();
  ASSERT_TRUE(engine);
  EXPECT_EQ(Reply(first).error, 0);
  EXPECT_EQ(Reply(second).error, 0);
  EXPECT_TRUE(WasShown(first)) << "its connection has closed";
  ASSERT_TRUE(os::SendWithFds(engine->get(), "x", {}));
  EXPECT_TRUE(os::ReceivePacket(second.get(), 100, Deadline::In(kPatience)));
}

TEST_F(DoorTest, KeepsAFolderForOneTaker) {
  const os::Fd visitor = Connect();
  const plan::Ticket ticket = Leave(visitor);
  EXPECT_EQ(Visitors(), 1U);
  plan::Ticket other = ticket;
  other.bytes[15] ^= 1;
  EXPECT_FALSE(door_->Take(other));
  EXPECT_FALSE(door_->Take({}));
  const auto deposit = door_->Take(ticket);
  ASSERT_TRUE(deposit && deposit->folder.valid());
  EXPECT_EQ(os::PathOf(deposit->folder), "/");
  EXPECT_EQ(fcntl(deposit->folder.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(deposit->kept.valid());
  EXPECT_FALSE(door_->Take(ticket)) << "once";
}

TEST_F(DoorTest, AFolderGoesWithWhoLeftIt) {
  os::Fd visitor = Connect();
  const plan::Ticket ticket = Leave(visitor);
  visitor.Reset();
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Visitors(), 0U);
  EXPECT_FALSE(door_->Take(ticket));
}

TEST_F(DoorTest, ASecondFolderReplacesTheFirst) {
  const os::Fd visitor = Connect();
  const plan::Ticket first = Leave(visitor);
  const plan::Ticket second = Leave(visitor);
  EXPECT_FALSE(first == second);
  EXPECT_FALSE(door_->Take(first));
  EXPECT_TRUE(door_->Take(second));
}

TEST_F(DoorTest, TicketsAreNotGuessed) {
  std::vector<os::Fd> visitors;
  std::set<std::string> tickets;
  for (int i = 0; i < 20; ++i) {
    visitors.push_back(Connect());
    EXPECT_FALSE(Serve());
    const plan::Ticket ticket = Leave(visitors.back());
    tickets.emplace(reinterpret_cast<const char*>(ticket.bytes), sizeof ticket.bytes);
  }
  EXPECT_EQ(tickets.size(), 20U);
}

TEST_F(DoorTest, KeepsWhatComesBesideAFolder) {
  const os::Fd beside(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const os::Fd folder = OpenFolder();
  const os::Fd visitor = Connect();
  Say(visitor, {.hello = plan::Hello::kDeposit}, {folder.get(), beside.get()});
  EXPECT_FALSE(Serve());
  const auto deposit = door_->Take(Reply(visitor).ticket);
  ASSERT_TRUE(deposit);
  EXPECT_EQ(os::PathOf(deposit->folder), "/");
  EXPECT_EQ(os::PathOf(deposit->kept), os::PathOf(beside));
}

TEST_F(DoorTest, TakesNothingButAFolderAndOneBeside) {
  const os::Fd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const os::Fd folder = OpenFolder();
  for (const std::vector<int>& fds :
       {std::vector<int>{}, {file.get()}, {folder.get(), folder.get(), folder.get()}, {file.get(), folder.get()}}) {
    const os::Fd visitor = Connect();
    Say(visitor, {.hello = plan::Hello::kDeposit}, fds);
    EXPECT_FALSE(Serve());
    const plan::DoorReply reply = Reply(visitor);
    EXPECT_EQ(reply.error, EINVAL) << fds.size();
    EXPECT_EQ(reply.ticket, plan::Ticket());
    EXPECT_TRUE(WasShown(visitor));
  }
  EXPECT_EQ(Visitors(), 0U);
}

TEST_F(DoorTest, ShowsOutWhoSpeaksOtherwise) {
  const os::Fd newer = Connect();
  Say(newer, {.version = 2});
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Reply(newer).error, EPROTO);
  EXPECT_TRUE(WasShown(newer));
  const os::Fd odd = Connect();
  Say(odd, {.hello = static_cast<plan::Hello>(7)});
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Reply(odd).error, EINVAL);
  EXPECT_TRUE(WasShown(odd));
  for (const std::string& packet :
       {std::string("x"), std::string(sizeof(plan::DoorRequest) + 1, '\1'), std::string(60'000, 'x')}) {
    const os::Fd visitor = Connect();
    ASSERT_TRUE(os::SendWithFds(visitor.get(), packet, {}));
    EXPECT_FALSE(Serve());
    EXPECT_TRUE(WasShown(visitor)) << packet.size();
  }
  EXPECT_EQ(Visitors(), 0U);
}

TEST_F(DoorTest, ASilentVisitorDelaysNobody) {
  const os::Fd silent = Connect();
  EXPECT_FALSE(Serve());
  const os::Fd visitor = Connect();
  Say(visitor, {.hello = plan::Hello::kEngine});
  EXPECT_TRUE(Serve());
  EXPECT_EQ(Visitors(), 1U);
}

TEST_F(DoorTest, HasRoomForSomeVisitorsOnly) {
  constexpr std::size_t kMost = 64;
  std::vector<os::Fd> visitors;
  for (std::size_t i = 0; i < kMost; ++i) visitors.push_back(Connect());
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Visitors(), kMost);
  const os::Fd late = Connect();
  EXPECT_FALSE(Serve());
  EXPECT_TRUE(WasShown(late));
  visitors.pop_back();
  EXPECT_FALSE(Serve());
  const os::Fd next = Connect();
  Say(next, {.hello = plan::Hello::kEngine});
  EXPECT_TRUE(Serve()) << "there is room again";
}

TEST_F(DoorTest, OnlyRootIsHeard) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
    const os::Fd visitor = Connect();
    const plan::DoorRequest request{.hello = plan::Hello::kEngine};
    (void)os::SendWithFds(visitor.get(), {reinterpret_cast<const char*>(&request), sizeof request}, {});
    _exit(WasShown(visitor) ? 0 : 1);
  }
  int status = -1;
  while (waitpid(child, &status, WNOHANG) == 0) {
    std::vector<pollfd> entries;
    door_->AppendTo(entries);
    (void)poll(entries.data(), entries.size(), 10);
    EXPECT_FALSE(door_->Serve(entries));
    EXPECT_EQ(Visitors(), 0U);
  }
  EXPECT_EQ(status, 0);
}

TEST_F(DoorTest, KeepsNoDescriptorOfWhoHasGone) {
  const std::size_t before = OpenDescriptors();
  for (int i = 0; i < 10; ++i) {
    const os::Fd folder = OpenFolder();
    const os::Fd deposit = Connect();
    Say(deposit, {.hello = plan::Hello::kDeposit}, {folder.get()});
    const os::Fd engine = Connect();
    Say(engine, {.hello = plan::Hello::kEngine}, {folder.get(), folder.get()});
    const os::Fd odd = Connect();
    ASSERT_TRUE(os::SendWithFds(odd.get(), "odd", std::vector<int>{folder.get(), folder.get()}));
    EXPECT_TRUE(Serve());
  }
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Visitors(), 0U);
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace caisson::launcher
