#include "support/integration_test.h"

#include <unistd.h>

#include <memory>

#include "support/caisson_run.h"
#include "support/canaries.h"

namespace caisson::support {
namespace {

// The canaries of this program: there before its first test and until after its last.
class CanaryEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    if (geteuid() != 0 || CaissonPath().empty()) return;
    AdoptOrphans();
    before_ = ReadHostState();
    canaries_ = std::make_unique<Canaries>();
  }
  void TearDown() override {
    if (canaries_ == nullptr) return;
    canaries_.reset();
    for (const std::string& left : AwaitNothingNew(before_)) ADD_FAILURE() << "left behind by the canaries: " << left;
  }
  Canaries* canaries() { return canaries_.get(); }

 private:
  HostState before_;
  std::unique_ptr<Canaries> canaries_;
};

// GoogleTest owns it.
CanaryEnvironment* const kEnvironment = [] {
  auto* const made = new CanaryEnvironment;
  testing::AddGlobalTestEnvironment(made);
  return made;
}();

}  // namespace

void IntegrationTest::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make sandboxes";
  if (CaissonPath().empty()) GTEST_SKIP() << "needs CAISSON_BIN, the path of the program caisson";
  AdoptOrphans();
  before_ = ReadHostState();
}

void IntegrationTest::TearDown() {
  if (IsSkipped()) return;
  ExpectCanariesUntouched();
  for (const std::string& left : AwaitNothingNew(before_)) ADD_FAILURE() << "left behind: " << left;
}

void IntegrationTest::ExpectCanariesUntouched() {
  if (kEnvironment->canaries() == nullptr) return;
  for (const std::string& touched : kEnvironment->canaries()->TakeTouched()) ADD_FAILURE() << "canaries: " << touched;
}

}  // namespace caisson::support
