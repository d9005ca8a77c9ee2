#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <tuple>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/storage_drivers.h"
#include "support/temp_folder.h"

// `caisson run --json` says exactly which files a command changed, whatever the writable layer lies on.

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWorkspace = "/home/agent/workspace/";

// A shell script, run in a fresh copy of the folder of WorkspaceFolder, and what it changes: "KIND TYPE PATH", the path
// below the workspace unless it is absolute.
struct ChangeCase {
  const char* name;
  const char* script;
  Texts expected = {};
  Texts options = {};
  const char* outcome = "exited";
};

void PrintTo(const ChangeCase& one, std::ostream* out) { *out << one.name; }

TempFolder WorkspaceFolder() {
  TempFolder folder;
  WriteFile(folder / "readme", "read me\n");
  WriteFile(folder / "data", "one\ntwo\nthree\n");
  WriteFile(folder / "tool", "#!/bin/sh\necho tool\n", 0755);
  fs::create_symlink("readme", folder / "link");
  fs::create_directories(folder / "docs/old/deep");
  fs::create_directory(folder / "empty");
  WriteFile(folder / "docs/guide", "guide\n");
  WriteFile(folder / "docs/old/notes", "notes\n");
  WriteFile(folder / "docs/old/deep/three", "3\n");
  return folder;
}

// One line for each entry of files_changed, in its order. A path that is not text is "base64:" and what is printed.
Texts ChangesOf(const StepResult& result) {
  Texts lines;
  const auto* list = result.whole.if_contains("files_changed");
  if (list == nullptr || !list->is_array()) return {"no files_changed"};
  for (const boost::json::value& entry : list->get_array()) {
    const auto& object = entry.as_object();
    std::string path(object.at("path").as_string());
    if (object.contains("encoding")) path = std::string(object.at("encoding").as_string()) + ":" + path;
    if (path.starts_with(kWorkspace)) path.erase(0, kWorkspace.size());
    lines.push_back(std::string(object.at("change").as_string()) + " " + std::string(object.at("type").as_string()) +
                    " " + path);
  }
  return lines;
}

std::string Joined(Texts lines) {
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool IsTruncated(const StepResult& result) { return result.whole.at("files_changed_truncated").as_bool(); }

const ChangeCase kMakingCases[] = {
    {"Nothing", "cat readme; ls -lR / > /dev/null 2>&1 || true; find . | wc -l"},
    {"OfTheManual",
     "touch a; mkdir d; mv a d/; chmod 600 d/a; ln d/a d/b; rm -f /tmp/none",
     {"created directory d", "created file d/a", "created file d/b"}},
    {"Create", "echo x > new", {"created file new"}},
    {"CreateEmpty", ": > new", {"created file new"}},
    {"CreateInAFolder", "echo x > docs/old/new", {"created file docs/old/new"}},
    {"CreateAndDelete", "echo x > new; rm new; mkdir d; touch d/e; rm -r d"},
    {"MakeFolders", "mkdir -p a/b/c", {"created directory a", "created directory a/b", "created directory a/b/c"}},
    {"MakeALink", "ln -s readme shortcut", {"created symlink shortcut"}},
    {"MakeALinkToNowhere", "ln -s /no/such/place shortcut", {"created symlink shortcut"}},
    {"MakeASecondName", "ln readme second", {"created file second"}},
    {"MakeASecondNameAndWrite", "ln readme second; echo x >> second", {"created file second", "modified file readme"}},
    {"MakeAndUnmakeASecondName", "ln readme second; rm second"},
    {"MakeAPipe", "mkfifo pipe", {"created other pipe"}},
    {"MakeASocket",
     "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'",
     {"created other socket"}},
    {"NameWithANewline", "touch \"$(printf 'a\\nb')\"", {"created file a\nb"}},
    {"NameWithQuotes",
     R"(touch "a\"b" "c'd" 'e\f' ' g ' -- -h)",
     {"created file a\"b", "created file c'd", "created file e\\f", "created file  g ", "created file -h"}},
    // base64 of /home/agent/workspace/a, 0xff, b
    {"NameThatIsNoText", "touch \"$(printf 'a\\377b')\"", {"created file base64:L2hvbWUvYWdlbnQvd29ya3NwYWNlL2H/Yg=="}},
    {"NameOfFurtherLetters", "touch 'grün 木 🌲'", {"created file grün 木 🌲"}},
    {"NamesLikeWhatOverlayfsWrites",
     "touch .wh.readme .wh..wh..opq",
     {"created file .wh.readme", "created file .wh..wh..opq"}},
    {"UnlinkedOpenFile", "exec 3> gone; rm gone; echo x >&3; exec 3>&-"},
    {"FileOfTmp", "echo x > /tmp/x; mkdir /tmp/d", {"created file /tmp/x", "created directory /tmp/d"}},
    {"FileOfHome",
     "mkdir ~/.config; echo x > ~/.config/x",
     {"created directory /home/agent/.config", "created file /home/agent/.config/x"}},
    {"FileOfSharedMemory", "echo x > /dev/shm/x"},
};

const ChangeCase kChangingCases[] = {
    {"Append", "echo four >> data", {"modified file data"}},
    {"Overwrite", "echo x > data", {"modified file data"}},
    {"Truncate", ": > data", {"modified file data"}},
    {"TruncateAnEmptyFile", ": > new; : > new", {"created file new"}},
    {"OpenForWritingOnly", ": >> data"},
    {"SedInPlace", "sed -i s/two/2/ data", {"modified file data"}},
    {"SameContentAgain", "cp data /tmp/x; cat /tmp/x > data; rm /tmp/x", {"metadata file data"}},
    {"SameContentInANewFile", "cp data x; mv x data", {"metadata file data"}},
    {"SameSizeAndTime",
     "touch -r readme /tmp/x; echo READ ME > readme; touch -r /tmp/x readme; rm /tmp/x",
     {"modified file readme"}},
    {"SameContentAndTime", "cp -p data x; cat x > data; touch -r x data; rm x"},
    {"ThereAndBack", "cp -p data x; echo y > data; cp -p x data; rm x"},
    {"Touch", "touch data", {"metadata file data"}},
    {"TouchAFolder", "touch docs"},
    {"Chmod", "chmod 600 readme", {"metadata file readme"}},
    {"ChmodToTheSame", "chmod 644 readme"},
    {"ChmodAFolder", "chmod 700 docs", {"metadata directory docs"}},
    {"ChmodThenWrite", "chmod 600 readme; echo x >> readme", {"modified file readme"}},
    {"WriteThroughALink", "echo x >> link", {"modified file readme"}},
    {"RetargetALink", "ln -sfn data link", {"modified symlink link"}},
    {"MakeALinkAnew", "ln -sfn readme link", {"metadata symlink link"}},
    {"WriteThroughAMapping",
     "python3 -c 'import mmap\nwith open(\"data\", \"r+b\") as f, mmap.mmap(f.fileno(), 0) as m: m[0:3] = b\"ONE\"'",
     {"modified file data"}},
    {"WriteThroughAMappingOfANewFile",
     "python3 -c 'import mmap\nwith open(\"new\", \"w+b\") as f:\n  f.truncate(9000)\n  with mmap.mmap(f.fileno(), 0) "
     "as "
     "m: m[0:3] = b\"ONE\"'",
     {"created file new"}},
    {"AttributeOfTheUser",
     "python3 -c 'import os; os.setxattr(\"readme\", \"user.colour\", b\"red\")'",
     {"metadata file readme"}},
    {"FileOfTheImageAsRoot",
     "echo x >> /etc/hostname; echo x > /etc/new; chmod 600 /etc/passwd; rm /etc/group",
     {"modified file /etc/hostname", "created file /etc/new", "metadata file /etc/passwd", "deleted file /etc/group"},
     {"--user", "root"}},
    {"ChownAsRoot",
     "touch /root/x; chown 1000:1000 /etc/passwd /root/x 2> /dev/null && exit 1; chown 0:0 /etc/group",
     {"created file /root/x"},
     {"--user", "root"}},
};

const ChangeCase kMovingCases[] = {
    {"Delete", "rm readme", {"deleted file readme"}},
    {"DeleteALink", "rm link", {"deleted symlink link"}},
    {"DeleteAnEmptyFolder", "rmdir empty", {"deleted directory empty"}},
    {"DeleteAndMakeAgain", "rm data; echo x > data", {"modified file data"}},
    {"WriteThenDelete", "echo x >> data; rm data", {"deleted file data"}},
    {"RenameAFile", "mv readme README", {"deleted file readme", "created file README"}},
    {"RenameAFileAndBack", "mv readme x; mv x readme"},
    {"RenameOverAnother", "mv readme data", {"deleted file readme", "modified file data"}},
    {"SwapTwoFiles", "mv readme x; mv data readme; mv x data", {"modified file readme", "modified file data"}},
    {"RenameAFolder",
     "mv docs papers",
     {"deleted directory docs", "deleted file docs/guide", "deleted directory docs/old", "deleted file docs/old/notes",
      "deleted directory docs/old/deep", "deleted file docs/old/deep/three", "created directory papers",
      "created file papers/guide", "created directory papers/old", "created file papers/old/notes",
      "created directory papers/old/deep", "created file papers/old/deep/three"}},
    {"RenameAFolderAndBack", "mv docs papers; mv papers docs"},
    {"RenameAFolderAndBackWithAChange",
     "mv docs papers; echo x >> papers/guide; rm papers/old/notes; mv papers docs",
     {"modified file docs/guide", "deleted file docs/old/notes"}},
    {"RenameTwoFoldersOfOneAnother",
     "mv docs/old/deep deep; mv docs empty",
     {"deleted directory docs", "deleted file docs/guide", "deleted directory docs/old", "deleted file docs/old/notes",
      "deleted directory docs/old/deep", "deleted file docs/old/deep/three", "created directory empty/docs",
      "created file empty/docs/guide", "created directory empty/docs/old", "created file empty/docs/old/notes",
      "created directory deep", "created file deep/three"}},
    {"ReplaceAFolderByAFile",
     "rm -r docs/old; echo x > docs/old",
     {"modified file docs/old", "deleted file docs/old/notes", "deleted directory docs/old/deep",
      "deleted file docs/old/deep/three"}},
    {"ReplaceAFileByAFolder",
     "rm readme; mkdir readme; touch readme/in",
     {"modified directory readme", "created file readme/in"}},
    {"ReplaceALinkByAFile", "rm link; echo x > link", {"modified file link"}},
    {"ReplaceAFileByALink", "ln -sf data readme", {"modified symlink readme"}},
    {"ReplaceAFileByAPipe", "rm readme; mkfifo readme", {"modified other readme"}},
    {"RemoveAFolderAndMakeItAgain",
     "rm -r docs; mkdir docs; echo x > docs/new",
     {"deleted file docs/guide", "deleted directory docs/old", "deleted file docs/old/notes",
      "deleted directory docs/old/deep", "deleted file docs/old/deep/three", "created file docs/new"}},
    {"RemoveAFolderAndMakeSomeOfItAgain",
     "cp -a docs /tmp/docs; rm -r docs; cp -a /tmp/docs docs; rm docs/guide; rm -r /tmp/docs",
     {"deleted file docs/guide"}},
};

const ChangeCase kEndingCases[] = {
    {"TimedOut",
     "echo x > before; sleep 1000; echo y > after",
     {"created file before"},
     {"--timeout", "2s"},
     "timed_out"},
    {"OutOfMemory",
     "echo x > before; exec python3 -c 'bytearray(256 << 20)'",
     {"created file before"},
     {"--memory", "64MiB"},
     "out_of_memory"},
    {"KilledByASignal", "echo x > before; kill -KILL $$", {"created file before"}, {}, "signaled"},
    {"KilledByAFileTooLarge", "exec truncate -s 1T sparse", {"created file sparse"}, {}, "signaled"},
    {"LeftAProcessBehind", "echo x > before; sleep 1000 > /dev/null 2>&1 &", {"created file before"}},
};

// With a workspace folder of its own.
class ChangesRun : public IntegrationTest {
 protected:
  void SetUpOn(plan::Storage storage) {
    IntegrationTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = WhyMissing(storage); !why.empty()) GTEST_SKIP() << why;
    folder_.emplace(WorkspaceFolder());
  }

  StepResult Run(const StorageDriver& driver, const std::string& mode, const Texts& more, const Texts& command) const {
    Texts options = {"--storage", driver.name, "--workspace", folder_->path() + mode};
    options.insert(options.end(), more.begin(), more.end());
    return RunJson(options, command);
  }

 private:
  std::optional<TempFolder> folder_;
};

class ChangesOfScripts : public ChangesRun, public testing::WithParamInterface<std::tuple<StorageDriver, ChangeCase>> {
 protected:
  void SetUp() override { SetUpOn(std::get<0>(GetParam()).storage); }
};

class ChangesOnEachDriver : public ChangesRun, public testing::WithParamInterface<StorageDriver> {
 protected:
  void SetUp() override { SetUpOn(GetParam().storage); }
  StepResult Run(const std::string& mode, const Texts& more, const std::string& script) const {
    return ChangesRun::Run(GetParam(), mode, more, {"sh", "-ec", script});
  }
};

std::string DriverName(const testing::TestParamInfo<StorageDriver>& info) { return info.param.name; }

std::string CaseName(const testing::TestParamInfo<ChangesOfScripts::ParamType>& info) {
  return std::get<1>(info.param).name + ("_" + std::string(std::get<0>(info.param).name));
}

TEST_P(ChangesOfScripts, AreToldExactly) {
  const auto& [driver, one] = GetParam();
  const StepResult result = Run(driver, ":copy", one.options, {"sh", "-ec", one.script});
  EXPECT_EQ(result.outcome, one.outcome) << result.err << result.stderr_text;
  if (result.outcome == "exited") {
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(Joined(ChangesOf(result)), Joined(one.expected));
  EXPECT_FALSE(IsTruncated(result));
}

INSTANTIATE_TEST_SUITE_P(Making, ChangesOfScripts,
                         testing::Combine(testing::ValuesIn(kStorageDrivers), testing::ValuesIn(kMakingCases)),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Changing, ChangesOfScripts,
                         testing::Combine(testing::ValuesIn(kStorageDrivers), testing::ValuesIn(kChangingCases)),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Moving, ChangesOfScripts,
                         testing::Combine(testing::ValuesIn(kStorageDrivers), testing::ValuesIn(kMovingCases)),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Ending, ChangesOfScripts,
                         testing::Combine(testing::ValuesIn(kStorageDrivers), testing::ValuesIn(kEndingCases)),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(Drivers, ChangesOnEachDriver, testing::ValuesIn(kStorageDrivers), DriverName);

TEST_P(ChangesOnEachDriver, OfAProgramThatDoesNotExistAreNone) {
  const StepResult result = ChangesRun::Run(GetParam(), ":copy", {}, {"/no/such/program"});
  EXPECT_EQ(result.outcome, "failed_to_start");
  EXPECT_EQ(Joined(ChangesOf(result)), "");
}

TEST_P(ChangesOnEachDriver, AreCutAfterAThousandAndSaySo) {
  const StepResult exact = Run(":copy", {}, "mkdir d; seq -f d/%g 999 | xargs touch");
  EXPECT_EQ(ChangesOf(exact).size(), 1000U);
  EXPECT_FALSE(IsTruncated(exact));
  const StepResult more = Run(":copy", {}, "mkdir d; seq -f d/%g 1000 | xargs touch");
  EXPECT_EQ(ChangesOf(more).size(), 1000U);
  EXPECT_TRUE(IsTruncated(more));
}

TEST_P(ChangesOnEachDriver, HaveTheSizesOfFilesThatExist) {
  const StepResult result = Run(":copy", {}, "truncate -s 5G sparse; truncate -s 5G data; rm readme; mkdir d");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::string sizes;
  for (const boost::json::value& entry : result.whole.at("files_changed").as_array()) {
    sizes += boost::json::serialize(entry.at("path")) + boost::json::serialize(entry.at("size_bytes")) + " ";
  }
  const std::string folder = "\"/home/agent/workspace/";
  EXPECT_EQ(sizes, folder + "d\"null " + folder + "data\"5368709120 " + folder + "readme\"null " + folder +
                       "sparse\"5368709120 ");
}

TEST_P(ChangesOnEachDriver, OfVeryDeepFoldersAreToldToTheLast) {
  const StepResult result =
      Run(":copy", {}, "p=0; for i in $(seq 1 200); do p=$p/$i; done; mkdir -p $p; echo x > $p/file");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Texts changes = ChangesOf(result);
  ASSERT_EQ(changes.size(), 202U);
  EXPECT_TRUE(changes.back().starts_with("created file 0/1/2/")) << changes.back();
  EXPECT_TRUE(changes.back().ends_with("/200/file")) << changes.back();
}

TEST_P(ChangesOnEachDriver, OfAReadOnlyWorkspaceAreNone) {
  const StepResult result = Run(":ro", {}, "! { echo x > new || rm readme; }; echo x > /tmp/x");
  EXPECT_EQ(Joined(ChangesOf(result)), "created file /tmp/x\n");
}

TEST_P(ChangesOnEachDriver, OfAReadWriteWorkspaceAreNotTold) {
  const StepResult result = Run(":rw", {"--quiet"}, "echo x > new; rm readme; echo x > /tmp/x");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Joined(ChangesOf(result)), "created file /tmp/x\n");
}

TEST_P(ChangesOnEachDriver, WithoutAWorkspaceAreThoseOfTheImage) {
  const StepResult result = RunScriptJson({"--storage", GetParam().name}, "echo x > new; rm ~/.profile || true");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ChangesOf(result).back(), "created file new");
}

}  // namespace
}  // namespace caisson::support
