#include <gtest/gtest.h>

#include <cerrno>

#include "caisson/hint/ended_command.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

using sandbox::Exited;
using sandbox::FailedToStart;

TEST(PermissionDenied, NamesThePath) {
  for (const char* err :
       {"cat: /etc/shadow: Permission denied\n", "PermissionError: [Errno 13] Permission denied: '/etc/shadow'\n",
        "sh: 1: cannot create /etc/shadow: Permission denied\nlater\n"}) {
    const std::string said = Said(PermissionDenied, ThatFailed(err));
    EXPECT_TRUE(Names(said, "`/etc/shadow`") && Names(said, "--user root")) << err << said;
  }
  EXPECT_TRUE(Names(Said(PermissionDenied, ThatFailed("Permission denied\n")), "/home/agent/workspace"));
}

TEST(PermissionDenied, OffersRootOnlyToThoseWhoAreNot) {
  EndedCommand ended = ThatFailed("cat: /x: Permission denied\n");
  ended.command.user = sandbox::User::kRoot;
  const std::string said = Said(PermissionDenied, ended);
  EXPECT_TRUE(Names(said, "`/x`") && !Names(said, "--user")) << said;
  const std::string mounts = Said(PermissionDenied, ThatFailed("mount: /mnt: Operation not permitted.\n", 32));
  EXPECT_TRUE(Names(mounts, "`/mnt`") && !Names(mounts, "--user")) << mounts;
}

TEST(PermissionDenied, UnderAPolicyNamesIt) {
  EndedCommand ended = ThatFailed("cat: /usr/bin/touch: Permission denied\n");
  ended.result.decision =
      sandbox::DecisionNote{.effect = "allow", .rule = "toolchain", .source = "preset minimal", .reason = {}};
  std::string said = Said(PermissionDenied, ended);
  EXPECT_TRUE(Names(said, "the policy names") && !Names(said, "--user root")) << said;
  EndedCommand refused = ThatFailed("bash: line 1: ./tool: Permission denied\n", 126);
  refused.result.decision = ended.result.decision;
  said = Said(PermissionDenied, refused);
  EXPECT_TRUE(Names(said, "`./tool`") && Names(said, "the policy names") && !Names(said, "chmod")) << said;
  refused.result.decision->rule = "default";
  EXPECT_TRUE(Names(Said(PermissionDenied, refused), "chmod"));
}

TEST(PermissionDenied, KnowsWhatIsNotExecutable) {
  EndedCommand ended(FailedToStart{FailedToStart::Reason::kNotExecutable, EACCES, "exec"}, "");
  ended.command.argv = {"./tool"};
  EXPECT_TRUE(Names(Said(PermissionDenied, ended), "`./tool` is not executable. Make it executable with `chmod +x`"));
  EXPECT_TRUE(Names(Said(PermissionDenied, ThatFailed("bash: line 1: ./tool: Permission denied\n", 126)),
                    "`./tool` is not executable"));
  ended.result.outcome = FailedToStart{FailedToStart::Reason::kNotExecutable, ENOEXEC, "exec"};
  EXPECT_EQ(Said(PermissionDenied, ended), "") << "a file of another kind";
}

TEST(PermissionDenied, IsSilentWithoutEvidence) {
  const std::string err = "cat: /etc/shadow: Permission denied\n";
  EXPECT_EQ(Said(PermissionDenied, {Exited{0}, err}), "");
  EXPECT_EQ(Said(PermissionDenied, {Exited{1}, "", err}), "") << "cat of a log";
  EXPECT_EQ(Said(PermissionDenied, ThatFailed("", 126)), "");
  EXPECT_EQ(Said(PermissionDenied, ThatFailed("git@host: Permission denied (publickey).\n")), "");
}

TEST(ReadOnlyPath, NamesThePathAndAWritableOne) {
  for (const char* err :
       {"touch: cannot touch '/usr/x': Read-only file system\n",
        "OSError: [Errno 30] Read-only file system: '/usr/x'\n", "sh: 1: cannot create /usr/x: Read-only file system\n",
        "Error: EROFS: read-only file system, open '/usr/x'\n"}) {
    const std::string said = Said(ReadOnlyPath, ThatFailed(err));
    EXPECT_TRUE(Names(said, "`/usr/x`") && Names(said, "Write below /home/agent/workspace or /tmp")) << err << said;
  }
}

TEST(ReadOnlyPath, KnowsAWorkspaceThatIsReadOnly) {
  for (const char* err : {"touch: cannot touch 'x': Read-only file system\n",
                          "touch: cannot touch '/home/agent/workspace/x': Read-only file system\n"}) {
    const std::string said = Said(ReadOnlyPath, ThatFailed(err));
    EXPECT_TRUE(Names(said, "`:ro`") && !Names(said, "below /home/agent/workspace")) << said;
  }
}

TEST(ReadOnlyPath, IsSilentWithoutEvidence) {
  const std::string err = "touch: cannot touch '/usr/x': Read-only file system\n";
  EXPECT_EQ(Said(ReadOnlyPath, {Exited{0}, err}), "");
  EXPECT_EQ(Said(ReadOnlyPath, {Exited{1}, "", err}), "");
  EXPECT_EQ(Said(ReadOnlyPath, ThatFailed("the disk is read-only\n")), "");
}

}  // namespace
}  // namespace caisson::hint
