#include "caisson/sandbox/last_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "caisson/os/fd.h"

namespace caisson::sandbox {
namespace {

using std::chrono::milliseconds;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    reading = os::Fd(ends[0]);
    writing = os::Fd(ends[1]);
  }
  os::Fd reading;
  os::Fd writing;
};

milliseconds TimeOf(const auto& work) {
  const auto start = Deadline::Clock::now();
  work();
  return std::chrono::duration_cast<milliseconds>(Deadline::Clock::now() - start);
}

TEST(LastOutput, WaitsForNothingWhenBothHaveEnded) {
  EXPECT_LT(TimeOf([] { EXPECT_FALSE(LastOutput().Await({-1, -1})); }), LastOutput::kQuiet);
}

TEST(LastOutput, SeesWhatComesAndTheEnd) {
  Pipe pipe;
  std::thread late([&] { EXPECT_EQ(write(pipe.writing.get(), "x", 1), 1); });
  EXPECT_TRUE(LastOutput().Await({-1, pipe.reading.get()}));
  late.join();
  char byte = 0;
  EXPECT_EQ(read(pipe.reading.get(), &byte, 1), 1);
  pipe.writing.Reset();
  EXPECT_TRUE(LastOutput().Await({pipe.reading.get(), -1}));
}

TEST(LastOutput, GivesUpWhenItIsQuiet) {
  const Pipe pipe;
  const milliseconds took = TimeOf([&] { EXPECT_FALSE(LastOutput().Await({pipe.reading.get(), -1})); });
  EXPECT_GE(took, LastOutput::kQuiet);
}

TEST(LastOutput, GivesUpOnAWriterThatNeverEnds) {
  const Pipe pipe;
  ASSERT_EQ(write(pipe.writing.get(), "x", 1), 1);
  const milliseconds took = TimeOf([&] {
    for (const LastOutput last; last.Await({pipe.reading.get(), -1});) std::this_thread::yield();
  });
  EXPECT_GE(took, LastOutput::kWhole);
}

}  // namespace
}  // namespace caisson::sandbox
