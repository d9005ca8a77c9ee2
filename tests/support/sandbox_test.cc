#include "support/sandbox_test.h"

#include <unistd.h>

#include "support/caisson_run.h"
#include "support/secret.h"

namespace caisson::support {

std::unique_ptr<sandbox::Sandboxes> SandboxTest::sandboxes_;
HostState SandboxTest::before_suite_;

void SandboxTest::SetUpTestSuite() {
  if (geteuid() != 0 || CaissonPath().empty()) return;
  AdoptOrphans();
  before_suite_ = ReadHostState();
  sandbox::EngineOptions options;
  options.program_directory = ProgramFolder();
  auto started = sandbox::Sandboxes::Start(options);
  ASSERT_TRUE(started) << started.error().message() << ": " << started.error().cause();
  sandboxes_ = *std::move(started);
}

void SandboxTest::TearDownTestSuite() {
  if (sandboxes_ == nullptr) return;
  sandboxes_.reset();
  for (const std::string& left : AwaitNothingNew(before_suite_)) ADD_FAILURE() << "left behind: " << left;
}

void SandboxTest::SetUp() {
  IntegrationTest::SetUp();
  if (IsSkipped()) return;
  ASSERT_NE(sandboxes_, nullptr);
  Replace({});
}

void SandboxTest::TearDown() {
  sandbox_.reset();
  ExpectCanariesUntouched();
  // The engine keeps the next sandbox's cgroups ready, so what is left behind shows only when it ends.
}

void SandboxTest::Replace(sandbox::SandboxSpec spec) {
  sandbox_.reset();
  auto created = sandboxes_->Create(std::move(spec));
  ASSERT_TRUE(created) << created.error().message() << ": " << created.error().cause();
  sandbox_ = *std::move(created);
}

sandbox::CommandSpec Script(const std::string& text) { return Program({"bash", "-c", text}); }

sandbox::CommandSpec Program(std::vector<std::string> argv) {
  sandbox::CommandSpec spec;
  spec.argv = std::move(argv);
  return spec;
}

sandbox::CommandResult RunIn(sandbox::Sandbox& sandbox, const sandbox::CommandSpec& spec) {
  auto command = sandbox.Start(spec);
  if (!command) {
    ADD_FAILURE() << command.error().message() << ": " << command.error().cause();
    return {};
  }
  auto result = command->Wait();
  if (!result) {
    ADD_FAILURE() << result.error().message() << ": " << result.error().cause();
    return {};
  }
  for (const sandbox::CapturedOutput* output : {&result->out, &result->err}) {
    LookForSecrets(output->kept);
    LookForSecrets(output->tail);
  }
  return *std::move(result);
}

int ExitCode(const sandbox::CommandResult& result) {
  const auto* exited = std::get_if<sandbox::Exited>(&result.outcome);
  return exited == nullptr ? -1 : exited->code;
}

}  // namespace caisson::support
