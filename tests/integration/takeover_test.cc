#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <future>
#include <map>
#include <thread>

#include "caisson/sandbox/command_output.h"
#include "caisson/sandbox/sandboxes.h"
#include "caisson/sandbox/spooled_command.h"
#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/sandbox_test.h"

// Sandboxes whose engine dies: the next one takes them over with what runs in them.

namespace caisson::support {
namespace {

using sandbox::CommandResult;
using sandbox::OutputReader;
using sandbox::OutputStreamKind;
using sandbox::Sandbox;
using sandbox::Sandboxes;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<Sandboxes> StartEngine() {
  sandbox::EngineOptions options;
  options.program_directory = ProgramFolder();
  auto started = Sandboxes::StartOrTakeOver(options);
  EXPECT_TRUE(started) << started.error().message() << ": " << started.error().cause();
  return started ? *std::move(started) : nullptr;
}

using Ending = std::promise<Result<CommandResult>>;

sandbox::OnCommandEnd Tell(const std::shared_ptr<Ending>& ending) {
  return [ending](Result<CommandResult> result) {
    ending->set_value(std::move(result));
    return sandbox::Recorded::kYes;
  };
}

// Everything the reader gives until the command has ended; a gap shows as "<gap>".
std::string ReadToEnd(OutputReader& reader) {
  std::string text;
  while (true) {
    std::promise<void> ready;
    reader.Await([&] { ready.set_value(); });
    if (ready.get_future().wait_for(seconds(30)) != std::future_status::ready) {
      reader.Cancel();
      return text + "<nothing for 30 s>";
    }
    while (auto chunk = reader.Next(1U << 20U).value_or(std::nullopt)) {
      text += chunk->dropped != 0 ? "<gap>" : chunk->bytes;
    }
    if (reader.Finished()) return text;
  }
}

class Takeover : public IntegrationTest {
 protected:
  void SetUp() override {
    IntegrationTest::SetUp();
    if (!IsSkipped()) AdoptOrphans();
  }

  // Runs `act` in an engine of its own, which is killed once it says so. What `act` returns comes back.
  template <typename Act>
  static std::string InAnEngineThatIsKilled(Act act) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      auto engine = StartEngine();
      if (engine == nullptr || !engine->GiveUpPrivileges()) _exit(1);
      const std::string said = act(*engine) + "\n";
      (void)!write(ends[1], said.data(), said.size());
      while (true) pause();
    }
    close(ends[1]);
    std::string said;
    for (char byte = 0; read(ends[0], &byte, 1) == 1 && byte != '\n';) said += byte;
    close(ends[0]);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return said;
  }

  static sandbox::CommandSpec Counting(int lines, const char* pause) {
    auto spec = Script("for i in $(seq " + std::to_string(lines) + "); do echo line $i; sleep " + pause +
                       "; done; echo told >&2; exit 7");
    spec.timeout = seconds(60);
    return spec;
  }
};

TEST_F(Takeover, ARunningCommandGoesOnWithoutGapOrRepeat) {
  const std::string id = InAnEngineThatIsKilled([](Sandboxes& engine) -> std::string {
    auto box = engine.Create({});
    if (!box) return "create: " + box.error().message();
    auto ending = std::make_shared<Ending>();
    auto started =
        (*box)->StartSpooled(Counting(60, "0.05"), "cm_takeover", Sandbox::Input::kOnlyFirst, {}, Tell(ending));
    if (!started) return "start: " + started.error().message();
    auto reader = started->command->output()->Follow(0, 0);
    while (!reader->Next(4096).value_or(std::nullopt)) std::this_thread::sleep_for(milliseconds(5));
    const std::string text = (*box)->id().text();
    // As if killed: nothing of it is destroyed.
    (void)box->release();
    (void)started->command.release();
    (void)reader.release();
    return text;
  });
  ASSERT_TRUE(id.starts_with("sb_")) << id;

  auto engine = StartEngine();
  ASSERT_NE(engine, nullptr);
  auto survivors = engine->TakeSurvivors();
  ASSERT_TRUE(survivors) << survivors.error().message();
  ASSERT_EQ(survivors->size(), 1U);
  EXPECT_EQ(survivors->front().id.text(), id);
  ASSERT_TRUE(survivors->front().sandbox);
  Sandbox& box = **survivors->front().sandbox;
  auto ending = std::make_shared<Ending>();
  auto commands = box.TakeCommands(KiB(64), [&](const std::string&) { return Tell(ending); });
  ASSERT_TRUE(commands) << commands.error().message() << commands.error().cause();
  ASSERT_EQ(commands->size(), 1U);
  EXPECT_EQ(commands->front().id, "cm_takeover");

  // Another command works beside it.
  EXPECT_EQ(RunIn(box, Script("echo beside")).out.kept, "beside\n");

  std::string expected;
  for (int i = 1; i <= 60; ++i) expected += "line " + std::to_string(i) + "\n";
  auto reader = commands->front().command->output()->Follow(0, 0);
  EXPECT_EQ(ReadToEnd(*reader), expected + "told\n");
  const auto result = ending->get_future().get();
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(ExitCode(*result), 7);
  EXPECT_EQ(result->out.kept, expected);
  EXPECT_EQ(result->err.kept, "told\n");
  commands->clear();
  sandbox::CommandOutput::Remove(engine->spool_directory(), "cm_takeover");
  EXPECT_TRUE(box.Destroy());
}

TEST_F(Takeover, WhatEndsWhileNobodyIsThereIsFoundByTheNext) {
  const std::string id = InAnEngineThatIsKilled([](Sandboxes& engine) -> std::string {
    auto box = engine.Create({});
    if (!box) return "create: " + box.error().message();
    auto ending = std::make_shared<Ending>();
    std::vector<sandbox::CommandSpec> specs = {Script("sleep 0.3; echo late; exit 3"), Script("sleep 60")};
    specs[1].timeout = milliseconds(400);
    int number = 0;
    for (const auto& spec : specs) {
      auto started = (*box)->StartSpooled(spec, "cm_ended" + std::to_string(number++), Sandbox::Input::kOnlyFirst, {},
                                          Tell(std::make_shared<Ending>()));
      if (!started) return "start: " + started.error().message();
      (void)started->command.release();
    }
    return box->release()->id().text();
  });
  ASSERT_TRUE(id.starts_with("sb_")) << id;
  std::this_thread::sleep_for(milliseconds(700));

  auto engine = StartEngine();
  ASSERT_NE(engine, nullptr);
  auto survivors = engine->TakeSurvivors();
  ASSERT_TRUE(survivors);
  ASSERT_EQ(survivors->size(), 1U);
  ASSERT_TRUE(survivors->front().sandbox);
  Sandbox& box = **survivors->front().sandbox;
  std::map<std::string, std::shared_ptr<Ending>> endings;
  auto commands = box.TakeCommands(
      KiB(64), [&](const std::string& command) { return Tell(endings[command] = std::make_shared<Ending>()); });
  ASSERT_TRUE(commands);
  ASSERT_EQ(commands->size(), 2U);
  const auto first = endings["cm_ended0"]->get_future().get();
  ASSERT_TRUE(first);
  EXPECT_EQ(ExitCode(*first), 3);
  EXPECT_EQ(first->out.kept, "late\n");
  const auto second = endings["cm_ended1"]->get_future().get();
  ASSERT_TRUE(second);
  EXPECT_TRUE(std::holds_alternative<sandbox::TimedOut>(second->outcome));
  commands->clear();
  for (const char* command : {"cm_ended0", "cm_ended1"}) {
    sandbox::CommandOutput::Remove(engine->spool_directory(), command);
  }
  EXPECT_TRUE(box.Destroy());
}

TEST_F(Takeover, AFrozenSandboxStaysFrozenAndItsTimeStandsStill) {
  const std::string id = InAnEngineThatIsKilled([](Sandboxes& engine) -> std::string {
    auto box = engine.Create({});
    if (!box) return "create: " + box.error().message();
    auto spec = Script("sleep 0.5; echo thawed");
    spec.timeout = milliseconds(1500);
    auto started =
        (*box)->StartSpooled(spec, "cm_frozen", Sandbox::Input::kOnlyFirst, {}, Tell(std::make_shared<Ending>()));
    if (!started) return "start: " + started.error().message();
    started->command->Pause();
    if (const Status frozen = (*box)->Freeze(Deadline::In(seconds(5))); !frozen) return frozen.error().message();
    (void)started->command.release();
    return box->release()->id().text();
  });
  ASSERT_TRUE(id.starts_with("sb_")) << id;
  std::this_thread::sleep_for(milliseconds(2000));  // longer than its time-out

  auto engine = StartEngine();
  ASSERT_NE(engine, nullptr);
  auto survivors = engine->TakeSurvivors();
  ASSERT_TRUE(survivors);
  ASSERT_EQ(survivors->size(), 1U);
  Sandbox& box = **survivors->front().sandbox;
  EXPECT_TRUE(box.is_frozen());
  auto ending = std::make_shared<Ending>();
  auto commands = box.TakeCommands(KiB(64), [&](const std::string&) { return Tell(ending); });
  ASSERT_TRUE(commands) << commands.error().message();
  ASSERT_EQ(commands->size(), 1U);
  ASSERT_TRUE(box.Thaw(Deadline::In(seconds(5))));
  commands->front().command->Resume();
  const auto result = ending->get_future().get();
  ASSERT_TRUE(result);
  EXPECT_EQ(ExitCode(*result), 0);
  EXPECT_EQ(result->out.kept, "thawed\n");
  commands->clear();
  sandbox::CommandOutput::Remove(engine->spool_directory(), "cm_frozen");
  EXPECT_TRUE(box.Destroy());
}

TEST_F(Takeover, ALauncherWithoutSandboxesDoesNotOutliveItsEngine) {
  InAnEngineThatIsKilled([](Sandboxes&) -> std::string { return "here"; });
  EXPECT_EQ(AwaitNothingNew(before()), HostState());
}

}  // namespace
}  // namespace caisson::support
