#include "caisson/sandbox/command_output.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "caisson/sandbox/spool_fixture.h"

namespace caisson::sandbox {
namespace {

constexpr auto kOut = OutputStreamKind::kStdout;
constexpr auto kErr = OutputStreamKind::kStderr;

class CommandOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = CommandOutput::Create(folder_.fd(), "cm_a");
    ASSERT_TRUE(made);
    output_ = *std::move(made);
  }
  // Passes bytes of the pattern through a stream's pipe, also where MustWait is true.
  void Feed(OutputStreamKind stream, std::uint64_t bytes) {
    PatternPipe& pipe = stream == kOut ? out_ : err_;
    const std::uint64_t until = pipe.written() + bytes;
    while (pipe.written() < until) {
      pipe.Write(std::min<std::uint64_t>(until - pipe.written(), SpoolFile::kPiece));
      while (output_->total(stream) < pipe.written())
        ASSERT_EQ(output_->Take(stream, pipe.out()), SpoolFile::Moved::kSome);
    }
  }
  // Until a reader holds the command up.
  void FeedUntilFull() {
    while (!output_->MustWait(kOut) && out_.written() < 3 * SpoolFile::kWindow) Feed(kOut, SpoolFile::kPiece);
  }
  bool IsAwake() const {
    pollfd entry{output_->wake_fd(), POLLIN, 0};
    if (poll(&entry, 1, 0) != 1) return false;
    std::uint64_t count = 0;
    EXPECT_EQ(read(output_->wake_fd(), &count, sizeof count), 8);
    return true;
  }

  SpoolFolder folder_;
  PatternPipe out_;
  PatternPipe err_;
  std::shared_ptr<CommandOutput> output_;
};

// What a reader has got of each stream.
struct Got {
  std::map<OutputStreamKind, std::uint64_t> next;
  std::uint64_t dropped = 0;

  // Everything there is now. Every byte must be the pattern's, every chunk begin where the one before ended.
  void TakeAll(OutputReader& reader, std::size_t limit = MiB(1).value) {
    while (true) {
      auto chunk = reader.Next(limit);
      ASSERT_TRUE(chunk);
      if (!*chunk) return;
      std::uint64_t& at = next[(*chunk)->stream];
      ASSERT_EQ((*chunk)->offset, at);
      ASSERT_LE((*chunk)->bytes.size(), limit);
      ASSERT_NE((*chunk)->bytes.empty(), (*chunk)->dropped == 0);
      ASSERT_TRUE((*chunk)->bytes == PatternAt(at, (*chunk)->bytes.size())) << "other bytes from " << at;
      at += (*chunk)->bytes.size() + (*chunk)->dropped;
      dropped += (*chunk)->dropped;
    }
  }
};

TEST_F(CommandOutputTest, IsReadInOrderByStream) {
  const auto reader = output_->Follow(0, 0);
  EXPECT_FALSE(*reader->Next(100));
  Feed(kOut, 250);
  Feed(kErr, 30);
  Got got;
  got.TakeAll(*reader, 100);
  EXPECT_EQ(got.next[kOut], 250U);
  EXPECT_EQ(got.next[kErr], 30U);
  Feed(kErr, 30);
  got.TakeAll(*reader, 7);
  EXPECT_EQ(got.next[kErr], 60U);
  EXPECT_EQ(got.dropped, 0U);
  EXPECT_EQ(output_->total(kOut), 250U);
  EXPECT_EQ(output_->total(kErr), 60U);
}

TEST_F(CommandOutputTest, IsReadFromAnyOffset) {
  Feed(kOut, 1000);
  Feed(kErr, 1000);
  for (const std::uint64_t from : {0U, 1U, 999U, 1000U}) {
    const auto reader = output_->Follow(from, 1000 - from);
    Got got;
    got.next = {{kOut, from}, {kErr, 1000 - from}};
    got.TakeAll(*reader, 300);
    EXPECT_EQ(got.next[kOut], 1000U);
    EXPECT_EQ(got.next[kErr], 1000U);
  }
  // Bytes that are still to come.
  const auto ahead = output_->Follow(1500, 5000);
  EXPECT_FALSE(*ahead->Next(10));
  Feed(kOut, 1000);
  Got got;
  got.next = {{kOut, 1500}};
  got.TakeAll(*ahead);
  EXPECT_EQ(got.next[kOut], 2000U);
  output_->Finish();
  EXPECT_TRUE(ahead->Finished()) << "what never came";
}

TEST_F(CommandOutputTest, ReadersDoNotDisturbOneAnother) {
  const auto first = output_->Follow(0, 0);
  Feed(kOut, 100);
  const auto second = output_->Follow(0, 0);
  Got a;
  Got b;
  a.TakeAll(*first);
  Feed(kOut, 100);
  b.TakeAll(*second, 9);
  a.TakeAll(*first);
  EXPECT_EQ(a.next[kOut], 200U);
  EXPECT_EQ(b.next[kOut], 200U);
}

TEST_F(CommandOutputTest, FinishedWhenItEndedAndAllWasRead) {
  Feed(kErr, 10);
  const auto reader = output_->Follow(0, 0);
  EXPECT_FALSE(reader->Finished());
  output_->Finish();
  EXPECT_FALSE(reader->Finished()) << "with bytes left";
  Got().TakeAll(*reader);
  EXPECT_TRUE(reader->Finished());
  EXPECT_TRUE(output_->Follow(0, 10)->Finished());
  EXPECT_FALSE(output_->Follow(0, 9)->Finished());
}

TEST_F(CommandOutputTest, IsFoundAgain) {
  Feed(kOut, 70'000);
  Feed(kErr, 3);
  const auto running = CommandOutput::Open(folder_.fd(), "cm_a", CommandOutput::Command::kRunning);
  ASSERT_TRUE(running);
  const auto ended = CommandOutput::Open(folder_.fd(), "cm_a", CommandOutput::Command::kEnded);
  ASSERT_TRUE(ended);
  for (const auto& output : {*running, *ended}) {
    const auto reader = output->Follow(0, 0);
    Got got;
    got.TakeAll(*reader);
    EXPECT_EQ(got.next[kOut], 70'000U);
    EXPECT_EQ(got.next[kErr], 3U);
    EXPECT_EQ(reader->Finished(), output == *ended);
  }
  CommandOutput::Remove(folder_.fd(), "cm_a");
  const auto none = CommandOutput::Open(folder_.fd(), "cm_a", CommandOutput::Command::kEnded);
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)->total(kOut), 0U);
  EXPECT_TRUE((*none)->Follow(0, 0)->Finished());
}

TEST_F(CommandOutputTest, AStreamWithoutAByteHasNoFile) {
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("cm_a.out")));
  Feed(kErr, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("cm_a.out")));
  EXPECT_TRUE(std::filesystem::exists(folder_.Path("cm_a.err")));
  const auto running = CommandOutput::Open(folder_.fd(), "cm_a", CommandOutput::Command::kRunning);
  ASSERT_TRUE(running) << "the next engine makes it when it is needed";
  EXPECT_EQ((*running)->total(kOut), 0U);
}

TEST_F(CommandOutputTest, ACommandWithoutReadersNeverWaits) {
  FeedUntilFull();
  EXPECT_FALSE(output_->MustWait(kOut));
  EXPECT_GE(output_->total(kOut), 3 * SpoolFile::kWindow);
  // Who comes late learns what is gone.
  const auto late = output_->Follow(0, 0);
  Got got;
  got.TakeAll(*late);
  EXPECT_EQ(got.next[kOut], output_->total(kOut));
  EXPECT_GT(got.dropped, SpoolFile::kWindow);
  EXPECT_LE(got.dropped, output_->total(kOut) - SpoolFile::kHead - SpoolFile::kWindow / 2);
  // From the middle of what is gone.
  const std::uint64_t from = 2 * SpoolFile::kHead;
  const auto middle = output_->Follow(from, 0);
  const auto chunk = middle->Next(10);
  ASSERT_TRUE(chunk && *chunk);
  EXPECT_EQ((*chunk)->offset, from);
  EXPECT_EQ((*chunk)->dropped, got.dropped - SpoolFile::kHead);
}

TEST_F(CommandOutputTest, WaitsForASlowReaderUntilItCatchesUp) {
  const auto reader = output_->Follow(0, 0);
  FeedUntilFull();
  ASSERT_TRUE(output_->MustWait(kOut));
  EXPECT_FALSE(output_->MustWait(kErr)) << "the other stream has room";
  EXPECT_LE(output_->total(kOut), SpoolFile::kHead + SpoolFile::kWindow);
  (void)IsAwake();
  Got got;
  std::uint64_t chunks = 0;
  while (output_->MustWait(kOut)) {
    const auto chunk = reader->Next(MiB(1).value);
    ASSERT_TRUE(chunk && *chunk);
    got.next[kOut] += (*chunk)->bytes.size();
    ++chunks;
  }
  EXPECT_GT(chunks, 8U) << "it lagged far behind";
  EXPECT_TRUE(IsAwake()) << "the mover is told";
  Feed(kOut, SpoolFile::kPiece);
  got.TakeAll(*reader);
  EXPECT_EQ(got.next[kOut], output_->total(kOut));
  EXPECT_EQ(got.dropped, 0U);
}

TEST_F(CommandOutputTest, DoesNotWaitForAReaderThatIsGone) {
  auto slow = output_->Follow(0, 0);
  const auto quick = output_->Follow(SpoolFile::kWindow * 3, 0);
  FeedUntilFull();
  ASSERT_TRUE(output_->MustWait(kOut));
  (void)IsAwake();
  slow.reset();
  EXPECT_FALSE(output_->MustWait(kOut));
  EXPECT_TRUE(IsAwake());
}

// Whoever takes in spite of MustWait, as at a command's end, takes nothing away from the reader.
TEST_F(CommandOutputTest, DropsNothingThatAReaderHasStillToSee) {
  const auto reader = output_->Follow(0, 0);
  FeedUntilFull();
  ASSERT_TRUE(output_->MustWait(kOut));
  Feed(kOut, 3 * SpoolFile::kPiece);
  output_->Finish();
  Got got;
  got.TakeAll(*reader);
  EXPECT_EQ(got.next[kOut], out_.written());
  EXPECT_EQ(got.dropped, 0U);
  EXPECT_TRUE(reader->Finished());
}

TEST_F(CommandOutputTest, AwaitCallsOnceForWhatComes) {
  const auto reader = output_->Follow(0, 0);
  int calls = 0;
  reader->Await([&] { ++calls; });
  EXPECT_EQ(calls, 0);
  Feed(kErr, 1);
  EXPECT_EQ(calls, 1);
  Feed(kErr, 1);
  EXPECT_EQ(calls, 1);
  reader->Await([&] { ++calls; });
  EXPECT_EQ(calls, 2) << "for what is there it is called at once";
  Got().TakeAll(*reader);
  reader->Await([&] { ++calls; });
  EXPECT_EQ(calls, 2);
  output_->Finish();
  EXPECT_EQ(calls, 3);
  reader->Await([&] { ++calls; });
  EXPECT_EQ(calls, 4) << "it is finished";
}

TEST_F(CommandOutputTest, ASecondAwaitReplacesTheFirstAndCancelEndsIt) {
  const auto reader = output_->Follow(0, 0);
  int first = 0;
  int second = 0;
  reader->Await([&] { ++first; });
  reader->Await([&] { ++second; });
  Feed(kOut, 1);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  Got().TakeAll(*reader);
  reader->Await([&] { ++first; });
  reader->Cancel();
  Feed(kOut, 1);
  output_->Finish();
  EXPECT_EQ(first, 0);
}

TEST_F(CommandOutputTest, AReaderThatIsGoneIsNotCalled) {
  auto reader = output_->Follow(0, 0);
  int calls = 0;
  reader->Await([&] { ++calls; });
  reader.reset();
  Feed(kOut, 1);
  EXPECT_EQ(calls, 0);
}

TEST_F(CommandOutputTest, CapturesTheFirstBytesAndTheLast) {
  Feed(kOut, 100);
  const CapturedOutput all = output_->Capture(kOut, Bytes{100});
  EXPECT_EQ(all.kept, PatternAt(0, 100));
  EXPECT_EQ(all.tail, "");
  EXPECT_FALSE(all.truncated);
  EXPECT_EQ(all.total_bytes, 100U);
  const CapturedOutput part = output_->Capture(kOut, Bytes{99});
  EXPECT_EQ(part.kept, PatternAt(0, 99));
  EXPECT_EQ(part.tail, PatternAt(99, 1));
  EXPECT_TRUE(part.truncated);
  EXPECT_EQ(output_->Capture(kOut, Bytes{0}).tail, PatternAt(0, 100));
  const CapturedOutput none = output_->Capture(kErr, Bytes{0});
  EXPECT_EQ(none.kept, "");
  EXPECT_FALSE(none.truncated);

  Feed(kOut, MiB(2).value);
  const std::uint64_t end = out_.written();
  const CapturedOutput large = output_->Capture(kOut, MiB(1));
  EXPECT_TRUE(large.kept == PatternAt(0, MiB(1).value));
  EXPECT_TRUE(large.tail == PatternAt(end - kTailLimit.value, kTailLimit.value));
  EXPECT_EQ(large.total_bytes, end);
  const CapturedOutput little = output_->Capture(kOut, Bytes{10});
  EXPECT_TRUE(little.tail == PatternAt(end - kTailLimit.value, kTailLimit.value));
}

TEST_F(CommandOutputTest, CapturesNothingThatWasDropped) {
  FeedUntilFull();
  const std::uint64_t end = out_.written();
  const CapturedOutput captured = output_->Capture(kOut, MiB(200));
  EXPECT_TRUE(captured.kept == PatternAt(0, SpoolFile::kHead)) << captured.kept.size();
  EXPECT_TRUE(captured.tail == PatternAt(end - kTailLimit.value, kTailLimit.value));
  EXPECT_TRUE(captured.truncated);
  EXPECT_EQ(captured.total_bytes, end);
}

// One thread moves, two read as they are called, one looks, all at the same time.
TEST_F(CommandOutputTest, HasOneWriterAndManyReaders) {
  constexpr std::uint64_t kAll = MiB(12).value;
  const auto read_all = [&] {
    const auto reader = output_->Follow(0, 0);
    Got got;
    while (!reader->Finished()) {
      std::atomic<bool> is_ready = false;
      reader->Await([&] {
        is_ready = true;
        is_ready.notify_all();
      });
      is_ready.wait(false);
      reader->Cancel();
      got.TakeAll(*reader, KiB(100).value);
    }
    EXPECT_EQ(got.next[kOut], kAll);
    EXPECT_EQ(got.next[kErr], kAll / 2);
    EXPECT_EQ(got.dropped, 0U);
  };
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  threads.emplace_back(read_all);
  threads.emplace_back(read_all);
  threads.emplace_back([&] {
    while (!is_over) {
      const CapturedOutput captured = output_->Capture(kOut, KiB(1));
      EXPECT_EQ(captured.kept, PatternAt(0, captured.kept.size()));
      EXPECT_FALSE(output_->MustWait(kErr));
      const auto passing = output_->Follow(output_->total(kOut), 0);
      passing->Await([] {});
    }
  });
  while (out_.written() < kAll) {
    Feed(kOut, KiB(256).value);
    Feed(kErr, KiB(128).value);
  }
  output_->Finish();
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

// What a reader gives, one line a chunk: "o:" or "e:" and its bytes.
std::string Chunks(OutputReader& reader, std::size_t limit) {
  std::string text;
  while (true) {
    auto chunk = reader.Next(limit);
    if (!chunk || !*chunk) return text;
    text += ((*chunk)->stream == kOut ? "o:" : "e:") + (*chunk)->bytes + "\n";
  }
}

// Both streams, as a command writes them.
struct OrderedOutput {
  void Write(OutputStreamKind stream, std::string_view text) const {
    const PatternPipe& pipe = stream == kOut ? out : err;
    ASSERT_TRUE(os::WriteAll(pipe.in().get(), text));
    ASSERT_EQ((*output)->Take(stream, pipe.out()), SpoolFile::Moved::kSome);
  }
  SpoolFolder folder;
  Result<std::shared_ptr<CommandOutput>> output = CommandOutput::Create(folder.fd(), "cm_a");
  PatternPipe out;
  PatternPipe err;
};

TEST(OutputOrder, IsThatInWhichItWasTaken) {
  const OrderedOutput ordered;
  const auto& output = ordered.output;
  ASSERT_TRUE(output);
  const auto write = [&](OutputStreamKind stream, std::string_view text) { ordered.Write(stream, text); };
  write(kErr, "first");
  write(kOut, "second");
  write(kOut, "+");
  write(kErr, "third");
  const auto reader = (*output)->Follow(0, 0);
  EXPECT_EQ(Chunks(*reader, 100), "e:first\no:second+\ne:third\n");
  write(kOut, "fourth");
  EXPECT_EQ(Chunks(*reader, 100), "o:fourth\n");
  EXPECT_EQ(Chunks(*(*output)->Follow(6, 0), 100), "e:first\no:+\ne:third\no:fourth\n");
  EXPECT_EQ(Chunks(*(*output)->Follow(6, 100), 100), "o:+fourth\n") << "nothing of the other comes between";
}

TEST(OutputOrder, IsByTurnsWhereNobodyKnowsIt) {
  const SpoolFolder folder;
  for (const char* stream : {".out", ".err"}) {
    const os::Fd file(open(folder.Path(std::string("cm_a") + stream).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(os::WriteAll(file.get(), stream[1] == 'o' ? "123456" : "abc"));
  }
  const auto output = CommandOutput::Open(folder.fd(), "cm_a", CommandOutput::Command::kEnded);
  ASSERT_TRUE(output);
  EXPECT_EQ(Chunks(*(*output)->Follow(0, 0), 2), "o:12\ne:ab\no:34\ne:c\no:56\n");
}

TEST(OutputOrder, OfAReaderThatLagsFarBehindIsByTurns) {
  const OrderedOutput ordered;
  const auto& output = ordered.output;
  ASSERT_TRUE(output);
  constexpr int kRounds = 2000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = PatternAt(8 * static_cast<std::uint64_t>(i), 8);
    ordered.Write(kOut, bytes);
    ordered.Write(kErr, bytes);
  }
  const auto reader = (*output)->Follow(0, 0);
  std::array<std::uint64_t, 2> seen{};
  while (true) {
    const auto chunk = reader->Next(8);
    ASSERT_TRUE(chunk);
    if (!*chunk) break;
    const auto stream = static_cast<std::size_t>((*chunk)->stream);
    EXPECT_EQ((*chunk)->offset, seen.at(stream));
    EXPECT_EQ((*chunk)->bytes, PatternAt(seen.at(stream), 8));
    seen.at(stream) += 8;
    ASSERT_LE(std::max(seen[0], seen[1]) - std::min(seen[0], seen[1]), 8U) << "one starves the other";
  }
  EXPECT_EQ(seen[0], 8U * kRounds);
  EXPECT_EQ(seen[1], 8U * kRounds);
}

}  // namespace
}  // namespace caisson::sandbox
