#include "caisson/rest/slice_sender.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <string>

#include "caisson/os/socket.h"

namespace caisson::rest {
namespace {

class SliceSenderTest : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);  // as the daemon does
    auto ends = os::SocketPair(os::SocketKind::kStream);
    ASSERT_TRUE(ends);
    client_ = std::move(ends->first);
    server_ = std::move(ends->second);
    ASSERT_EQ(fcntl(server_.get(), F_SETFL, O_NONBLOCK), 0);
    file_.Reset(memfd_create("slice", MFD_CLOEXEC));
  }
  void Fill(const std::string& content) const { ASSERT_TRUE(os::WriteAll(file_.get(), content)); }
  SliceSender Start(std::uint64_t offset, std::uint64_t length) const {
    return *SliceSender::Start(server_.get(), {.file = file_.get(), .offset = offset, .length = length}, "<", ">");
  }
  std::string Receive(std::size_t most) const {
    std::string bytes(most, '\0');
    const ssize_t n = recv(client_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return bytes;
  }

  os::Fd client_;
  os::Fd server_;
  os::Fd file_;
};

TEST_F(SliceSenderTest, SendsThePartBetweenItsTexts) {
  Fill("0123456789");
  auto sender = Start(2, 5);
  EXPECT_EQ(*sender.Send(), SliceSender::Progress::kDone);
  EXPECT_EQ(Receive(100), "<23456>");
}

TEST_F(SliceSenderTest, GoesOnWhereTheSocketWasFull) {
  std::string content;
  while (content.size() < 4'000'000) content += std::to_string(content.size()) + "\n";
  Fill(content);
  auto sender = Start(0, content.size());
  std::string got;
  int full = 0;
  auto progress = sender.Send();
  while (progress && *progress == SliceSender::Progress::kSocketFull) {
    ++full;
    got += Receive(100'000);
    progress = sender.Send();
  }
  ASSERT_TRUE(progress);
  server_.Reset();
  for (std::string more = Receive(1'000'000); !more.empty(); more = Receive(1'000'000)) got += more;
  EXPECT_GT(full, 5);
  EXPECT_EQ(got.size(), content.size() + 2);
  EXPECT_EQ(got, "<" + content + ">");
}

TEST_F(SliceSenderTest, SaysThatTheClientIsGone) {
  Fill(std::string(1'000'000, 'x'));
  auto sender = Start(0, 1'000'000);
  EXPECT_EQ(*sender.Send(), SliceSender::Progress::kSocketFull);
  client_.Reset();
  EXPECT_FALSE(sender.Send());
}

TEST_F(SliceSenderTest, SaysThatTheFileIsShorter) {
  Fill("short");
  EXPECT_FALSE(Start(0, 6).Send());
}

TEST_F(SliceSenderTest, OutlivesTheSocketItWasGiven) {
  Fill("0123456789");
  auto sender = Start(0, 10);
  server_.Reset();
  EXPECT_EQ(*sender.Send(), SliceSender::Progress::kDone);
  EXPECT_EQ(Receive(100), "<0123456789>");
}

}  // namespace
}  // namespace caisson::rest
