#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "support/caisson_run.h"
#include "support/integration_test.h"

// Standard input, output and error of `caisson run`.

namespace caisson::support {
namespace {

using std::chrono::seconds;

class RunStreams : public IntegrationTest {};

// Bytes of every value, without a pattern that compresses to a short period.
std::string Noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

TEST_F(RunStreams, InputPasses) {
  ProgramSpec spec = RunSpec({}, {"sh", "-c", "read a; echo got $a; cat"});
  spec.input_text = "first\nsecond\n";
  EXPECT_EQ(RunProgram(spec).out, "got first\nsecond\n");
}

TEST_F(RunStreams, TenMegabytesPassUnchangedBothWays) {
  ProgramSpec spec = RunSpec({}, {"cat"});
  spec.input_text = Noise(10U << 20U);
  const Ended ended = RunProgram(spec);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out.size(), spec.input_text.size());
  EXPECT_TRUE(ended.out == spec.input_text) << "the bytes differ";
}

TEST_F(RunStreams, InputIsReadWhenItComes) {
  ProgramSpec spec = RunSpec({}, {"sh", "-c", "echo ready; read a; echo got $a; cat > /dev/null; echo end"});
  spec.input = Input::kPipe;
  HostProgram program(spec);
  ASSERT_TRUE(program.AwaitOutput("ready"));
  program.Write("now\n");
  ASSERT_TRUE(program.AwaitOutput("got now"));
  program.CloseInput();
  const Ended ended = program.Wait(seconds(20));
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.out.find("end"), std::string::npos);
}

TEST_F(RunStreams, InputThatNobodyReadsHoldsNothing) {
  ProgramSpec spec = RunSpec({}, {"true"});
  spec.input = Input::kPipe;  // stays open
  EXPECT_EQ(RunProgram(spec, seconds(20)).status, 0);
  ProgramSpec large = RunSpec({}, {"sh", "-c", "exec <&-; echo done"});
  large.input_text = Noise(4U << 20U);
  const Ended ended = RunProgram(large, seconds(20));
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "done\n");
}

TEST_F(RunStreams, AClosedInputReadsAsItsEnd) {
  ProgramSpec spec = RunSpec({}, {"sh", "-c", "wc -c; ls /proc/self/fd | wc -l"});
  spec.input = Input::kClosed;
  const Ended ended = RunProgram(spec);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "0\n4\n");  // the fourth is the listing's own
}

TEST_F(RunStreams, AReaderThatGoesEndsTheWriter) {
  const std::string marker = UniqueMarker();
  const Ended ended = RunProgram(
      {.argv = {"bash", "-c", "\"$0\" run -- bash -c 'exec -a $1 yes' x $1 | head -n 1; echo ${PIPESTATUS[0]}",
                CaissonPath(), marker}},
      seconds(20));
  EXPECT_EQ(ended.out, "y\n141\n");  // SIGPIPE, as without a sandbox
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunStreams, ASlowReaderLosesNothing) {
  const Ended ended = RunProgram(
      {.argv = {"bash", "-c", "\"$0\" run -- head -c 3000000 /dev/zero | (sleep 0.5; wc -c)", CaissonPath()}});
  EXPECT_EQ(ended.out, "3000000\n");
}

TEST_F(RunStreams, ACommandWithoutStreamsLivesUntilItsTimeout) {
  const std::string marker = UniqueMarker();
  const Ended ended =
      RunCommand({"--timeout", "700ms"}, {"bash", "-c", "exec <&- >&- 2>&-; exec -a \"$0\" sleep 1000", marker});
  EXPECT_EQ(ended.status, 124);
  EXPECT_GE(ended.duration.count(), 700);
  EXPECT_LT(ended.duration, seconds(5));
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunStreams, ABackgroundChildDoesNotHoldTheResult) {
  const std::string marker = UniqueMarker();
  for (const Texts& options : {Texts{"--timeout", "60s"}, Texts{"--timeout", "60s", "--json"}}) {
    const Ended ended = RunCommand(options, {"bash", "-c", "(exec -a \"$0\" sleep 1000) & echo done; exit 4", marker});
    EXPECT_EQ(ended.status, 4);
    EXPECT_LT(ended.duration, seconds(5));
    EXPECT_NE(ended.out.find("done"), std::string::npos);
    EXPECT_EQ(CountProcessesNaming(marker), 0);
  }
}

TEST_F(RunStreams, OutputAndErrorStayApart) {
  const Ended ended = RunScript({}, "echo out; echo err >&2");
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_EQ(ended.err, "err\n");
}

TEST_F(RunStreams, BytesThatAreNotUtf8AreBase64) {
  const StepResult result = RunScriptJson({}, R"(printf 'a\377\376b\000c'; printf 'fine' >&2)");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.encoding, "base64");
  EXPECT_EQ(result.whole.at("stdout"), "Yf/+YgBj");
  EXPECT_EQ(result.err, "fine");
  EXPECT_EQ(result.out_bytes, 6U);
}

TEST_F(RunStreams, NulAndControlBytesAreKept) {
  const std::string bytes("a\0b\x01\x1b[31m\x7f\r\n\t\xc3\xa9", 15);
  const std::string script = R"(printf 'a\000b\001\033[31m\177\r\n\t\303\251')";
  const StepResult result = RunScriptJson({}, script);
  EXPECT_EQ(result.encoding, "utf-8");
  EXPECT_EQ(result.out, bytes);
  EXPECT_EQ(RunScript({}, script).out, bytes);
}

TEST_F(RunStreams, ACutInsideACharacterIsNotBase64) {
  // Two bytes a character, shifted by one, so that the limit of 1 MiB falls inside one.
  const StepResult result = RunJson({}, {"python3", "-c", "print('x' + '\\u00e9' * 1000000, end='')"});
  EXPECT_EQ(result.encoding, "utf-8");
  EXPECT_EQ(result.out_bytes, 2000001U);
  EXPECT_EQ(result.out.size(), (1U << 20U) - 1);
}

TEST_F(RunStreams, ManyStreamsOfOneCommandMixWithoutLoss) {
  const StepResult result = RunScriptJson(
      {}, "for i in 1 2 3 4; do (head -c 100000 /dev/zero | tr '\\0' $i) & done; wait; head -c 50000 /dev/zero >&2");
  EXPECT_EQ(result.out_bytes, 400000U);
  EXPECT_EQ(result.err_bytes, 50000U);
  for (const char digit : {'1', '2', '3', '4'}) {
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), digit), 100000);
  }
}

TEST_F(RunStreams, AFullDiskForTheAnswerIsReported) {
  const Ended ended = RunProgram({.argv = {"sh", "-c", "\"$0\" run --json -- echo hi > /dev/full", CaissonPath()}});
  EXPECT_EQ(ended.status, 125);
  EXPECT_NE(ended.err.find("caisson: "), std::string::npos);
}

}  // namespace
}  // namespace caisson::support
