#include "caisson/base/signal_name.h"

#include <gtest/gtest.h>

#include <csignal>

namespace caisson {
namespace {

TEST(SignalName, NamesEverySignal) {
  EXPECT_EQ(SignalName(SIGKILL), "SIGKILL");
  EXPECT_EQ(SignalName(SIGRTMIN + 3), "SIGRTMIN+3");
  EXPECT_EQ(SignalName(SIGRTMIN), "SIGRTMIN");
  EXPECT_EQ(SignalName(999), "signal 999");
}

TEST(SignalName, IsReadBack) {
  EXPECT_EQ(ParseSignal("SIGTERM"), SIGTERM);
  EXPECT_EQ(ParseSignal("SIGRTMIN+3"), SIGRTMIN + 3);
  for (const char* name : {"", "SIG", "TERM", "sigterm", "SIGNOPE", "signal 99", "SIG9", "9", "SIGTERM "}) {
    EXPECT_EQ(ParseSignal(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace caisson
