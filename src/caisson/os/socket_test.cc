#include "caisson/os/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace caisson::os {
namespace {

using Pair = std::pair<Fd, Fd>;

// For what has to come: reached only by a test that fails.
Deadline Patience() { return Deadline::In(std::chrono::seconds(10)); }
// For what must not come: everything sent is already in the socket.
Deadline Now() { return Deadline::In(std::chrono::milliseconds(0)); }

Pair MakePair(SocketKind kind) {
  Result<Pair> pair = SocketPair(kind);
  EXPECT_TRUE(pair);
  return pair ? *std::move(pair) : Pair();
}

Fd MakeFile(std::string_view content) {
  Fd file(memfd_create("socket_test", MFD_CLOEXEC));
  EXPECT_TRUE(WriteAll(file.get(), content));
  return file;
}

std::string ContentOf(const Fd& file) {
  lseek(file.get(), 0, SEEK_SET);
  return ReadAll(file.get(), 1000).value_or("unreadable");
}

std::string Header(std::size_t length) {
  std::string header;
  for (unsigned i = 0; i < 4; ++i) header += static_cast<char>((length >> (8 * i)) & 0xffU);
  return header;
}

Code CodeOf(const Result<Message>& message) {
  EXPECT_FALSE(message);
  return message ? Code::kConflict : message.error().code();
}

TEST(SocketPair, IsConnectedAndCloseOnExec) {
  for (const SocketKind kind : {SocketKind::kStream, SocketKind::kPacket}) {
    const Pair pair = MakePair(kind);
    EXPECT_EQ(fcntl(pair.first.get(), F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(fcntl(pair.second.get(), F_GETFD), FD_CLOEXEC);
    ASSERT_TRUE(SendWithFds(pair.first.get(), "hello", {}));
    const Result<Message> got = ReceivePacket(pair.second.get(), 100, Patience());
    ASSERT_TRUE(got);
    EXPECT_EQ(got->data, "hello");
    EXPECT_TRUE(got->fds.empty());
  }
}

TEST(ReceivePacket, TakesDescriptorsInOrderAndCloseOnExec) {
  const Pair pair = MakePair(SocketKind::kPacket);
  const Fd first = MakeFile("first");
  const Fd second = MakeFile("second");
  const std::array<int, 2> fds = {first.get(), second.get()};
  ASSERT_TRUE(SendWithFds(pair.first.get(), "two", fds));
  const Result<Message> got = ReceivePacket(pair.second.get(), 3, Patience());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->data, "two");
  ASSERT_EQ(got->fds.size(), 2U);
  EXPECT_EQ(ContentOf(got->fds[0]), "first");
  EXPECT_EQ(ContentOf(got->fds[1]), "second");
  for (const Fd& fd : got->fds) EXPECT_EQ(fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
}

TEST(ReceivePacket, RefusesAPacketLargerThanTheLimitAndKeepsNoDescriptor) {
  const Pair pair = MakePair(SocketKind::kPacket);
  Pair watched = MakePair(SocketKind::kStream);
  const std::array<int, 1> fds = {watched.first.get()};
  ASSERT_TRUE(SendWithFds(pair.first.get(), "four", fds));
  watched.first.Reset();
  EXPECT_EQ(CodeOf(ReceivePacket(pair.second.get(), 3, Patience())), Code::kInternal);
  // The last copy of the other end is closed: its peer sees the end.
  EXPECT_EQ(CodeOf(ReceivePacket(watched.second.get(), 1, Patience())), Code::kUnavailable);
}

TEST(ReceivePacket, RefusesMoreDescriptorsThanTheLimit) {
  const Pair pair = MakePair(SocketKind::kPacket);
  const Fd file = MakeFile("");
  const std::vector<int> fds(kMaxMessageFds + 1, file.get());
  EXPECT_FALSE(SendWithFds(pair.first.get(), "x", fds));

  // A peer that does not ask this library.
  std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
  char byte = 'x';
  iovec vec{&byte, 1};
  msghdr header{};
  header.msg_iov = &vec;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::copy(fds.begin(), fds.end(), reinterpret_cast<int*>(CMSG_DATA(part)));
  ASSERT_EQ(sendmsg(pair.first.get(), &header, 0), 1);
  EXPECT_EQ(CodeOf(ReceivePacket(pair.second.get(), 100, Patience())), Code::kInternal);
}

TEST(ReceivePacket, TakesAsManyDescriptorsAsTheLimit) {
  const Pair pair = MakePair(SocketKind::kPacket);
  const Fd file = MakeFile("");
  const std::vector<int> fds(kMaxMessageFds, file.get());
  ASSERT_TRUE(SendWithFds(pair.first.get(), "x", fds));
  const Result<Message> got = ReceivePacket(pair.second.get(), 100, Patience());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->fds.size(), kMaxMessageFds);
}

TEST(ReceivePacket, SaysWhenThePeerIsGone) {
  Pair pair = MakePair(SocketKind::kPacket);
  ASSERT_TRUE(SendWithFds(pair.first.get(), "last", {}));
  pair.first.Reset();
  EXPECT_EQ(ReceivePacket(pair.second.get(), 100, Patience())->data, "last");
  EXPECT_EQ(CodeOf(ReceivePacket(pair.second.get(), 100, Patience())), Code::kUnavailable);
}

TEST(ReceivePacket, TakesWhatAPeerSentThatWentWithoutHavingReadAll) {
  Pair pair = MakePair(SocketKind::kPacket);
  ASSERT_TRUE(SendWithFds(pair.first.get(), "unread", {}));
  ASSERT_TRUE(SendWithFds(pair.second.get(), "one", {}));
  ASSERT_TRUE(SendWithFds(pair.second.get(), "two", {}));
  pair.second.Reset();
  for (const char* expected : {"one", "two"}) {
    const Result<Message> got = ReceivePacket(pair.first.get(), 100, Patience());
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_EQ(got->data, expected);
  }
  EXPECT_EQ(CodeOf(ReceivePacket(pair.first.get(), 100, Patience())), Code::kUnavailable);
}

TEST(ReceivePacket, EndsAtTheDeadline) {
  const Pair pair = MakePair(SocketKind::kPacket);
  EXPECT_EQ(CodeOf(ReceivePacket(pair.second.get(), 100, Now())), Code::kDeadlineExceeded);
}

TEST(SendWithFds, SaysWhenThePeerIsGoneAndRaisesNoSignal) {
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  for (const SocketKind kind : {SocketKind::kStream, SocketKind::kPacket}) {
    Pair pair = MakePair(kind);
    pair.second.Reset();
    const Status sent = SendWithFds(pair.first.get(), "x", {});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code(), Code::kUnavailable);
  }
}

TEST(TrySendPacket, DoesNotWaitForRoom) {
  Pair pair = MakePair(SocketKind::kPacket);
  const Fd file = MakeFile("");
  const std::vector<int> fds = {file.get()};
  std::size_t sent = 0;
  while (true) {
    const Result<bool> is_sent = TrySendPacket(pair.first.get(), "packet", fds);
    ASSERT_TRUE(is_sent) << is_sent.error().message();
    if (!*is_sent) break;
    ++sent;
  }
  for (std::size_t i = 0; i < sent; ++i) {
    const Result<Message> got = ReceivePacket(pair.second.get(), 100, Patience());
    ASSERT_TRUE(got);
    EXPECT_EQ(got->fds.size(), 1U);
  }
  const Result<bool> again = TrySendPacket(pair.first.get(), "packet", {});
  EXPECT_TRUE(again && *again);
  pair.second.Reset();
  const Result<bool> gone = TrySendPacket(pair.first.get(), "packet", {});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), Code::kUnavailable);
}

TEST(ReceiveFrame, TakesFramesOneByOneWithTheirDescriptors) {
  const Pair pair = MakePair(SocketKind::kStream);
  const Fd file = MakeFile("inside");
  const std::array<int, 1> fds = {file.get()};
  ASSERT_TRUE(SendFrame(pair.first.get(), "first"));
  ASSERT_TRUE(SendFrame(pair.first.get(), "", fds));
  ASSERT_TRUE(SendFrame(pair.first.get(), std::string("a\0b", 3)));

  const Result<Message> first = ReceiveFrame(pair.second.get(), Patience());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->data, "first");
  EXPECT_TRUE(first->fds.empty());
  const Result<Message> second = ReceiveFrame(pair.second.get(), Patience());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->data, "");
  ASSERT_EQ(second->fds.size(), 1U);
  EXPECT_EQ(ContentOf(second->fds[0]), "inside");
  EXPECT_EQ(fcntl(second->fds[0].get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(ReceiveFrame(pair.second.get(), Patience())->data, std::string("a\0b", 3));
  EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Now())), Code::kDeadlineExceeded);
}

TEST(ReceiveFrame, TakesTheLargestFrameFromASenderThatWaitsForRoom) {
  const Pair pair = MakePair(SocketKind::kStream);
  const std::string payload(kMaxFrame, 'p');
  std::thread sender([&] { EXPECT_TRUE(SendFrame(pair.first.get(), payload)); });
  const Result<Message> got = ReceiveFrame(pair.second.get(), Patience());
  sender.join();
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->data == payload);
}

TEST(SendFrame, RefusesMoreThanAFrameHolds) {
  const Pair pair = MakePair(SocketKind::kStream);
  const Status sent = SendFrame(pair.first.get(), std::string(kMaxFrame + 1, 'p'));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Now())), Code::kDeadlineExceeded) << "something was sent";
}

TEST(ReceiveFrame, RefusesALengthOverTheLimitWithoutWaitingForIt) {
  for (const std::size_t length : {kMaxFrame + 1, std::size_t{0x7fffffff}, std::size_t{0xffffffff}}) {
    const Pair pair = MakePair(SocketKind::kStream);
    ASSERT_TRUE(SendWithFds(pair.first.get(), Header(length) + "x", {}));
    EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Patience())), Code::kInternal);
  }
}

TEST(ReceiveFrame, SaysThatThePeerIsGoneInTheMiddleOfAFrame) {
  for (const std::string& part : {std::string(), Header(10).substr(0, 2), Header(10), Header(10) + "123456789"}) {
    Pair pair = MakePair(SocketKind::kStream);
    if (!part.empty()) {
      ASSERT_TRUE(SendWithFds(pair.first.get(), part, {}));
    }
    pair.first.Reset();
    EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Patience())), Code::kUnavailable);
  }
}

TEST(ReceiveFrame, EndsAtTheDeadlineInTheMiddleOfAFrame) {
  for (const std::string& part : {Header(10).substr(0, 2), Header(10), Header(10) + "123456789"}) {
    const Pair pair = MakePair(SocketKind::kStream);
    ASSERT_TRUE(SendWithFds(pair.first.get(), part, {}));
    EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Now())), Code::kDeadlineExceeded);
  }
}

TEST(ReceiveFrame, LeavesWhatFollowsTheFrame) {
  const Pair pair = MakePair(SocketKind::kStream);
  ASSERT_TRUE(SendWithFds(pair.first.get(), Header(2) + "ab" + Header(1) + "c" + Header(5) + "de", {}));
  EXPECT_EQ(ReceiveFrame(pair.second.get(), Patience())->data, "ab");
  EXPECT_EQ(ReceiveFrame(pair.second.get(), Patience())->data, "c");
  EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Now())), Code::kDeadlineExceeded);
}

TEST(ReceiveFrame, KeepsNoDescriptorOfARefusedFrame) {
  const Pair pair = MakePair(SocketKind::kStream);
  Pair watched = MakePair(SocketKind::kStream);
  const std::array<int, 1> fds = {watched.first.get()};
  ASSERT_TRUE(SendWithFds(pair.first.get(), Header(kMaxFrame + 1), fds));
  watched.first.Reset();
  EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Patience())), Code::kInternal);
  EXPECT_EQ(CodeOf(ReceivePacket(watched.second.get(), 1, Patience())), Code::kUnavailable);
}

// A peer that attaches descriptors to every byte must not fill this process's table.
TEST(ReceiveFrame, RefusesMoreDescriptorsThanOneMessageHolds) {
  const Pair pair = MakePair(SocketKind::kStream);
  const Fd file = MakeFile("");
  const std::vector<int> fds(kMaxMessageFds, file.get());
  const std::string frame = Header(2) + "ab";
  ASSERT_TRUE(SendWithFds(pair.first.get(), frame.substr(0, 5), fds));
  ASSERT_TRUE(SendWithFds(pair.first.get(), frame.substr(5), fds));
  EXPECT_EQ(CodeOf(ReceiveFrame(pair.second.get(), Patience())), Code::kInternal);
}

}  // namespace
}  // namespace caisson::os
