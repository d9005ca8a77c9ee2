#include <gtest/gtest.h>

#include <fcntl.h>

#include <filesystem>

#include "policy/policy_test.h"
#include "support/image_folder.h"
#include "support/temp_folder.h"

// Policies in an image that is a folder: what it can run is found in the sandbox itself.

namespace caisson::support {
namespace {

class PolicyInAnImage : public SandboxTest {
 protected:
  // An image with these programs of the host and what they need.
  void UseImage(const std::vector<std::string>& programs) {
    for (const std::string& program : programs) AddProgram(image_.path(), program);
    auto policy = policy::Policy::Preset("minimal");
    ASSERT_TRUE(policy);
    sandbox::SandboxSpec spec;
    spec.image = os::Fd(open(image_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    spec.execution = guard::ExecutionFor(*policy);
    Replace(std::move(spec));
    auto gate = guard::Gate::Make(*std::move(policy), ledger_, programs_);
    ASSERT_TRUE(gate) << gate.error().message();
    gate_ = *std::move(gate);
  }
  Result<guard::Gate::Admission> Ask(const std::string& text) {
    policy::CommandCall call;
    call.text = text;
    return gate_->Admit(call, {}, box(), {});
  }
  int ExitOf(const std::string& text) {
    auto admission = Ask(text);
    if (!admission || !admission->spec) return -1;
    return ExitCode(RunIn(box(), *admission->spec));
  }

  TempFolder image_;
  guard::MemoryLedger ledger_;
  guard::OwnPrograms programs_;
  std::unique_ptr<guard::Gate> gate_;
};

TEST_F(PolicyInAnImage, OnlyWhatIsNamedRuns) {
  UseImage({"/bin/bash", "/bin/ls", "/bin/cat", "/bin/touch", "/bin/cp", "/bin/chmod"});
  EXPECT_EQ(ExitOf("ls / > list && cat list"), 0);
  // By the loader and by a copy: as the operator put it there.
  ASSERT_EQ(ExitCode(RunIn(box(), Script("cp /bin/touch ./cat && chmod 755 ./cat"))), 0);
  EXPECT_EQ(ExitCode(RunIn(box(), Program({"./cat", "made"}))), -1);  // noexec binds the operator too
  auto refused = Ask("touch made");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->decision.effect, policy::Effect::kAsk);
}

TEST_F(PolicyInAnImage, NoBashNoShellText) {
  UseImage({"/bin/ls"});
  const auto admission = Ask("ls");
  ASSERT_FALSE(admission);
  EXPECT_EQ(admission.error().code(), Code::kUnsupported);
  policy::CommandCall call;
  call.argv = {"ls", "/"};
  const auto listed = gate_->Admit(call, {}, box(), {});
  ASSERT_TRUE(listed) << listed.error().message();
  ASSERT_TRUE(listed->spec);
  EXPECT_EQ(ExitCode(RunIn(box(), *listed->spec)), 0);
}

TEST_F(PolicyInAnImage, ManyProgramsInOneFileAreRefused) {
  if (!std::filesystem::exists("/bin/busybox")) GTEST_SKIP() << "this host has no busybox";
  UseImage({"/bin/bash", "/bin/busybox"});
  std::filesystem::create_symlink("busybox", image_ / "bin/ls");
  std::filesystem::create_symlink("busybox", image_ / "bin/rm");
  const auto admission = Ask("ls");
  ASSERT_FALSE(admission);
  EXPECT_EQ(admission.error().code(), Code::kUnsupported);
  EXPECT_NE(admission.error().message().find("busybox"), std::string::npos) << admission.error().message();
}

}  // namespace
}  // namespace caisson::support
