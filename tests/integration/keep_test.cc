#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/storage_drivers.h"
#include "support/temp_folder.h"

// What becomes of a sandbox that is kept: its changes, shown and as a patch, until it is deleted.

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

Ended Caisson(Texts arguments) {
  arguments.insert(arguments.begin(), CaissonPath());
  return RunProgram({.argv = std::move(arguments)});
}

class Keep : public IntegrationTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    IntegrationTest::SetUp();
    if (IsSkipped()) return;
    if (GetParam() == std::string_view("btrfs")) {
      if (const std::string why = WhyMissing(plan::Storage::kBtrfs); !why.empty()) GTEST_SKIP() << why;
    }
    WriteFile(workspace_ / "kept", "one\ntwo\nthree\n");
    WriteFile(workspace_ / "gone", "gone\n");
    fs::create_directory(workspace_ / "folder");
    WriteFile(workspace_ / "folder/deep", "deep\n");
    fs::create_symlink("kept", workspace_ / "link");
  }

  // The id of a new kept sandbox in which `script` ran.
  std::string KeepAfter(const std::string& script) {
    const StepResult result =
        RunScriptJson({"--keep", "--storage", GetParam(), "--workspace", workspace_.path()}, script);
    EXPECT_EQ(result.status, 0) << result.stderr_text << result.err;
    return std::string(result.whole.at("sandbox").as_string());
  }

  TempFolder workspace_;
};

constexpr const char* kScript =
    "sed -i s/two/2/ kept; rm gone; mv folder moved; echo new > new; printf 'no newline' > end; echo x > /tmp/t";

TEST_P(Keep, ShowsWhatChanged) {
  const std::string id = KeepAfter(kScript);
  const Ended diff = Caisson({"diff", id.substr(0, 10)});
  EXPECT_EQ(diff.status, 0) << diff.err;
  EXPECT_EQ(diff.out,
            "created   /home/agent/workspace/end\ndeleted   /home/agent/workspace/folder/\n"
            "deleted   /home/agent/workspace/folder/deep\ndeleted   /home/agent/workspace/gone\n"
            "modified  /home/agent/workspace/kept\ncreated   /home/agent/workspace/moved/\n"
            "created   /home/agent/workspace/moved/deep\ncreated   /home/agent/workspace/new\ncreated   /tmp/t\n");
  const auto json = boost::json::parse(Caisson({"diff", "--json", "--patch", id}).out).as_object();
  EXPECT_EQ(json.at("sandbox").as_string(), id);
  EXPECT_EQ(json.at("files_changed").as_array().size(), 9U);
  EXPECT_EQ(json.at("files_changed_truncated").as_bool(), false);
  EXPECT_NE(json.at("patch").as_string().find("-two\n+2\n"), std::string_view::npos);
  EXPECT_EQ(Caisson({"delete", id}).out, "deleted " + id + "\n");
}

TEST_P(Keep, ThePatchMakesTheSameChangesInACopy) {
  const std::string id = KeepAfter(kScript);
  const Ended patch = Caisson({"diff", "--patch", id});
  EXPECT_EQ(patch.status, 0) << patch.err;
  const Ended applied = RunProgram({.argv = {"patch", "-p4", "--silent", "--remove-empty-files"},
                                    .directory = workspace_.path(),
                                    .input_text = patch.out.substr(0, patch.out.find("diff --git a/tmp"))});
  EXPECT_EQ(applied.status, 0) << applied.out << applied.err;
  EXPECT_EQ(ReadFile(workspace_ / "kept"), "one\n2\nthree\n");
  EXPECT_EQ(ReadFile(workspace_ / "end"), "no newline");
  EXPECT_EQ(ReadFile(workspace_ / "moved/deep"), "deep\n");
  EXPECT_FALSE(fs::exists(workspace_ / "gone"));
  EXPECT_EQ(Caisson({"delete", id}).status, 0);
}

TEST_P(Keep, GitTakesThePatchOfLinksAndModesToo) {
  WriteFile(workspace_ / "script", "echo\n");
  WriteFile(workspace_ / "odd name\n", "odd\n");
  const std::string id =
      KeepAfter("chmod +x script; ln -sf gone link; ln -s new made; mv folder moved; echo >> 'odd name\n'");
  const Ended patch = Caisson({"diff", "--patch", id});
  const Ended applied =
      RunProgram({.argv = {"git", "apply", "-p4", "-"}, .directory = workspace_.path(), .input_text = patch.out});
  EXPECT_EQ(applied.status, 0) << applied.err << patch.out;
  EXPECT_EQ(fs::read_symlink(workspace_ / "link"), "gone");
  EXPECT_EQ(fs::read_symlink(workspace_ / "made"), "new");
  EXPECT_EQ(ReadFile(workspace_ / "moved/deep"), "deep\n");
  EXPECT_NE(fs::status(workspace_ / "script").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(Caisson({"delete", id}).status, 0);
}

TEST_P(Keep, TheFolderMayChangeAfterwards) {
  const std::string id = KeepAfter("sed -i s/two/2/ kept; readlink link");
  WriteFile(workspace_ / "kept", "another text\n");
  fs::remove(workspace_ / "gone");
  EXPECT_EQ(Caisson({"diff", id}).out, "modified  /home/agent/workspace/kept\n");
  EXPECT_NE(Caisson({"diff", "--patch", id}).out.find("-two\n+2\n"), std::string::npos);
  const std::string copy = "/var/lib/caisson/copies/" + id;
  EXPECT_EQ(ReadFile(copy + "/workspace/kept"), "one\ntwo\nthree\n");
  EXPECT_EQ(Caisson({"delete", id}).status, 0);
  EXPECT_FALSE(fs::exists(copy));
}

TEST_P(Keep, IsNobodysLeftOver) {
  const std::string id = KeepAfter("echo x > new");
  EXPECT_EQ(Caisson({"prune"}).out.find(id), std::string::npos);
  EXPECT_EQ(RunCommand({"--storage", GetParam()}, {"true"}).status, 0);  // whose keeper collects left-overs
  const Ended df = Caisson({"df", "--json"});
  EXPECT_NE(df.out.find("\"name\":\"" + id + "\",\"state\":\"kept\""), std::string::npos) << df.out;
  EXPECT_EQ(Caisson({"diff", id}).status, 0);
  EXPECT_EQ(Caisson({"delete", id}).status, 0);
  const Ended again = Caisson({"delete", id});
  EXPECT_EQ(again.status, 3);
  EXPECT_NE(again.err.find("there is no kept sandbox " + id), std::string::npos) << again.err;
}

TEST_P(Keep, TwoAreToldApartByTheirIds) {
  const std::string first = KeepAfter("echo 1 > new");
  const std::string second = KeepAfter("echo 2 > new");
  const Ended both = Caisson({"diff", "sb_"});
  EXPECT_EQ(both.status, 3);
  EXPECT_NE(both.err.find("several kept sandboxes begin with sb_"), std::string::npos) << both.err;
  EXPECT_NE(Caisson({"diff", "--patch", second}).out.find("+2\n"), std::string::npos);
  EXPECT_EQ(Caisson({"delete", first, second}).status, 0);
}

INSTANTIATE_TEST_SUITE_P(OnDisk, Keep, testing::Values("btrfs", "directory"),
                         [](const auto& tested) { return std::string(tested.param); });

class KeepBadInput : public IntegrationTest {};

TEST_F(KeepBadInput, IsRefusedBeforeAnythingRuns) {
  const Ended memory = RunCommand({"--keep", "--storage", "tmpfs"}, {"true"});
  EXPECT_EQ(memory.status, 125);
  EXPECT_NE(memory.err.find("--keep cannot keep what lies in memory"), std::string::npos) << memory.err;
  for (const char* command : {"diff", "delete"}) {
    const Ended none = Caisson({command});
    EXPECT_EQ(none.status, 2);
    EXPECT_NE(none.err.find("needs the id of a sandbox"), std::string::npos) << none.err;
    const Ended odd = Caisson({command, "../../etc"});
    EXPECT_EQ(odd.status, 3);
    EXPECT_NE(odd.err.find("there is no kept sandbox ../../etc"), std::string::npos) << odd.err;
  }
  EXPECT_EQ(Caisson({"diff", "a", "b"}).status, 2);
}

}  // namespace
}  // namespace caisson::support
