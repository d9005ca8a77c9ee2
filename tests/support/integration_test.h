#pragma once

#include <gtest/gtest.h>

#include "support/host_state.h"

namespace caisson::support {

// A test of the real programs: skips without root or without CAISSON_BIN, and fails when it leaves anything of Caisson
// behind on the host.
class IntegrationTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const HostState& before() const { return before_; }

 private:
  HostState before_;
};

}  // namespace caisson::support
