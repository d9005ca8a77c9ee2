#pragma once

#include <memory>
#include <string>
#include <vector>

#include "caisson/sandbox/sandboxes.h"
#include "support/integration_test.h"

namespace caisson::support {

// A test of the library: one engine for all tests of a program, one sandbox for each test. When the engine ends,
// nothing of it may be left on the host.
class SandboxTest : public IntegrationTest {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  static sandbox::Sandboxes& sandboxes() { return *sandboxes_; }
  sandbox::Sandbox& box() { return *sandbox_; }
  // A sandbox with other limits instead of the one the test got.
  void Replace(sandbox::SandboxSpec spec);

 private:
  static std::unique_ptr<sandbox::Sandboxes> sandboxes_;
  static HostState before_suite_;
  std::unique_ptr<sandbox::Sandbox> sandbox_;
};

sandbox::CommandSpec Script(const std::string& text);
sandbox::CommandSpec Program(std::vector<std::string> argv);
// Starts it and waits; an error of either is a failure of the test and gives an empty result.
sandbox::CommandResult RunIn(sandbox::Sandbox& sandbox, const sandbox::CommandSpec& spec);
// -1 unless the command exited.
int ExitCode(const sandbox::CommandResult& result);

}  // namespace caisson::support
