#include "support/integration_test.h"

#include <unistd.h>

#include "support/caisson_run.h"

namespace caisson::support {

void IntegrationTest::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make sandboxes";
  if (CaissonPath().empty()) GTEST_SKIP() << "needs CAISSON_BIN, the path of the program caisson";
  AdoptOrphans();
  before_ = ReadHostState();
}

void IntegrationTest::TearDown() {
  if (IsSkipped()) return;
  for (const std::string& left : AwaitNothingNew(before_)) ADD_FAILURE() << "left behind: " << left;
}

}  // namespace caisson::support
