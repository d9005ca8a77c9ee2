#include "caisson/service/spool_trim.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "caisson/sandbox/command_output.h"
#include "caisson/sandbox/spool_fixture.h"
#include "caisson/state/data_folder.h"

namespace caisson::service {
namespace {

constexpr std::uint64_t kBytes = 4096;

class SpoolTrimTest : public testing::Test {
 protected:
  void SetUp() override {
    database_ = folder_.Open();
    ASSERT_NE(database_, nullptr);
    sandbox_ = state::AddSandbox(*database_);
  }
  // One that has ended, with as much output as it takes.
  void Add(const std::string& id, state::UnixMs ended_at) {
    ASSERT_TRUE(database_->InsertCommand(state::SomeCommand(*sandbox_, id), "running"));
    MakeFiles(id);
    const std::uint64_t bytes = sandbox::CommandOutput::DiskBytes(spools_.fd(), id);
    ASSERT_EQ(bytes, 2 * kBytes);
    ASSERT_TRUE(database_->EndCommand({.id = id, .at = ended_at, .spool_bytes = bytes}, state::SomeEvent()));
  }
  void MakeFiles(const std::string& id) {
    for (const char* stream : {".out", ".err"}) std::ofstream(spools_.Path(id + stream)) << std::string(kBytes, 'x');
  }
  bool Has(const std::string& id) {
    const bool out = std::filesystem::exists(spools_.Path(id + ".out"));
    EXPECT_EQ(out, std::filesystem::exists(spools_.Path(id + ".err")));
    return out;
  }

  state::DataFolder folder_;
  sandbox::SpoolFolder spools_;
  std::unique_ptr<state::Database> database_;
  std::optional<SandboxId> sandbox_;
};

TEST_F(SpoolTrimTest, WhatEndedFirstGoesFirst) {
  Add("cm_late", 30);
  Add("cm_early", 10);
  Add("cm_middle", 20);
  ASSERT_TRUE(database_->InsertCommand(state::SomeCommand(*sandbox_, "cm_runs"), "running"));
  MakeFiles("cm_runs");
  SpoolTrim trim(spools_.fd(), *database_);
  EXPECT_EQ(trim.Trim({6 * kBytes}), SpoolTrim::Done::kYes);
  EXPECT_TRUE(Has("cm_early"));
  EXPECT_EQ(trim.Trim({5 * kBytes}), SpoolTrim::Done::kYes);
  EXPECT_FALSE(Has("cm_early"));
  EXPECT_TRUE(Has("cm_middle"));
  EXPECT_EQ(*database_->SpoolBytes(), 4 * kBytes);
  EXPECT_EQ(trim.Trim({0}), SpoolTrim::Done::kYes);
  EXPECT_FALSE(Has("cm_middle") || Has("cm_late"));
  EXPECT_TRUE(Has("cm_runs"));
  EXPECT_TRUE(database_->GetCommand("cm_early")) << "its record stays";
}

TEST_F(SpoolTrimTest, OutputOfForgottenCommandsGoes) {
  Add("cm_a", 10);
  MakeFiles("cm_gone");
  std::ofstream(spools_.Path("other")) << "x";
  SpoolTrim trim(spools_.fd(), *database_);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(trim.Trim(GiB(1)), SpoolTrim::Done::kYes);
    EXPECT_FALSE(Has("cm_gone"));
    EXPECT_TRUE(Has("cm_a"));
    EXPECT_TRUE(std::filesystem::exists(spools_.Path("other")));
    MakeFiles("cm_gone");
  }
}

TEST_F(SpoolTrimTest, OneRoundDoesABoundedPart) {
  constexpr std::uint32_t kCommands = SpoolTrim::kMostRemoved + 10;
  for (std::uint32_t i = 0; i < kCommands; ++i) {
    const std::string id = "cm_" + std::to_string(i);
    ASSERT_TRUE(database_->InsertCommand(state::SomeCommand(*sandbox_, id), "running"));
    ASSERT_TRUE(database_->EndCommand({.id = id, .at = 5, .spool_bytes = 1}, state::SomeEvent()));
  }
  constexpr std::uint32_t kForgotten = SpoolTrim::kMostFiles;
  for (std::uint32_t i = 0; i < kForgotten; ++i) std::ofstream(spools_.Path("cm_f" + std::to_string(i) + ".out")) << "";
  const auto files = [&] {
    const std::filesystem::directory_iterator all(spools_.Path("."));
    return static_cast<std::uint32_t>(std::distance(begin(all), end(all)));
  };
  ASSERT_EQ(files(), kForgotten);
  SpoolTrim trim(spools_.fd(), *database_);
  EXPECT_EQ(trim.Trim({0}), SpoolTrim::Done::kNo);
  EXPECT_EQ(*database_->SpoolBytes(), 10U);
  EXPECT_GT(files(), 0U);
  EXPECT_EQ(trim.Trim({0}), SpoolTrim::Done::kYes);
  EXPECT_EQ(*database_->SpoolBytes(), 0U);
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace caisson::service
