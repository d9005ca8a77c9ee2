#include "bench/engine_variants.h"

#include <variant>

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Status RunTrue(sandbox::Sandbox& sandbox, sandbox::ReportChanges report) {
  sandbox::CommandSpec spec;
  spec.argv = {"/bin/true"};
  spec.report_changes = report;
  CAISSON_TRY(auto command, sandbox.Start(spec));
  CAISSON_TRY(const auto result, command.Wait());
  const auto* exited = std::get_if<sandbox::Exited>(&result.outcome);
  if (exited != nullptr && exited->code == 0) return {};
  return Fail(Error(Code::kInternal, "/bin/true did not succeed in the sandbox")
                  .Because("outcome " + std::string(sandbox::OutcomeName(result.outcome)) + ", status " +
                           std::to_string(sandbox::ExitStatus(result.outcome))));
}

Result<std::unique_ptr<sandbox::Sandboxes>> StartEngine(const std::string& program_directory) {
  sandbox::EngineOptions options;
  options.program_directory = program_directory;
  options.expect = plan::Expect::kManySandboxes;
  return sandbox::Sandboxes::Start(options);
}

Result<std::chrono::nanoseconds> EngineColdVariant::RunOnce() {
  const auto start = Clock::now();
  sandbox::SandboxSpec spec;
  spec.storage = case_.storage;
  CAISSON_TRY(auto sandbox, engine_.Create(std::move(spec)));
  CAISSON_CHECK_OK(RunTrue(*sandbox, case_.report));
  CAISSON_CHECK_OK(sandbox->Destroy());
  sandbox.reset();
  return Clock::now() - start;
}

Result<std::unique_ptr<Variant>> ExecRunningVariant::Make(sandbox::Sandboxes& engine, EngineCase engine_case) {
  sandbox::SandboxSpec spec;
  spec.storage = engine_case.storage;
  CAISSON_TRY(auto sandbox, engine.Create(std::move(spec)));
  return std::make_unique<ExecRunningVariant>(std::move(sandbox), engine_case);
}

Result<std::chrono::nanoseconds> ExecRunningVariant::RunOnce() {
  const auto start = Clock::now();
  CAISSON_CHECK_OK(RunTrue(*sandbox_, case_.report));
  return Clock::now() - start;
}

}  // namespace caisson::bench
