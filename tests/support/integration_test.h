#pragma once

#include <gtest/gtest.h>

#include "support/host_state.h"

namespace caisson::support {

// A test of the real programs: skips without root or without CAISSON_BIN, and fails when it leaves anything of Caisson
// behind on the host, or when the canaries (support/canaries.h), which all tests of a program share, were touched.
class IntegrationTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const HostState& before() const { return before_; }
  static void ExpectCanariesUntouched();

 private:
  HostState before_;
};

}  // namespace caisson::support
