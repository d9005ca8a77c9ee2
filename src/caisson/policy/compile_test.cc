#include "caisson/policy/compile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "caisson/document/moment.h"
#include "caisson/policy/policy_fixture.h"
#include "caisson/policy/program_index_fixture.h"

namespace caisson::policy {
namespace {

using plan::FileGrant;
using plan::kCreateFile;
using plan::kExecuteFile;
using plan::kReadFile;
using plan::kReadFolder;
using plan::kRemoveFile;
using plan::kWriteFile;

constexpr plan::FileRights kWhole = kReadFile | kReadFolder | kWriteFile | kCreateFile | kRemoveFile;

std::string Denying(const std::string& rules) { return "version = 1\ndefault = 'deny'\n" + rules; }
std::string Allowing(const std::string& rules) { return "version = 1\ndefault = 'allow'\n" + rules; }
std::string RuleOf(const std::string& name, const std::string& content) {
  return "[[rule]]\nname = '" + name + "'\n" + content + "\n";
}

// The workspace and ls.
std::string Work() {
  return RuleOf("files",
                "effect = 'allow'\nactions = ['file.read', 'file.write', 'file.delete']\npaths = ['/home/agent/**']") +
         RuleOf("programs", "effect = 'allow'\ncommands = ['ls']");
}

Situation At(const char* moment) {
  Situation situation;
  situation.now = document::ParseMoment(moment).value();
  return situation;
}

std::vector<FileGrant> GrantsOf(const Policy& policy, const Situation& situation = {},
                                const std::vector<const Rule*>& used = {}, const ImageIndex& image = SmallImage()) {
  const auto plan = Compile(policy, image.index(), situation, used);
  if (!plan || !*plan) {
    ADD_FAILURE() << (plan ? "there is no plan" : plan.error().message());
    return {};
  }
  return (*plan)->grants;
}

// The error with which a policy is refused, as "message: remediation"; "" when it is not.
std::string Refusal(const std::string& text, const KernelFeatures& features = {}) {
  const Status status = CheckEnforceable(PolicyOf(text), features);
  if (status) return {};
  EXPECT_EQ(status.error().code(), Code::kUnsupported);
  EXPECT_FALSE(status.error().remediation().empty()) << status.error().message();
  return status.error().message();
}

bool Says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(CompileTest, OfAPolicyThatAllowsEverythingThereIsNoPlan) {
  const auto plan = Compile(PresetOf("open"), SmallImage().index(), {}, {});
  ASSERT_TRUE(plan);
  EXPECT_FALSE(*plan);
}

TEST(CompileTest, GrantsTheFilesAndProgramsThatAreNamed) {
  const std::vector<FileGrant> grants = GrantsOf(PolicyOf(Denying(Work())));
  EXPECT_EQ(RightsAt(grants, "/home/agent/x"), kWhole);
  EXPECT_EQ(RightsAt(grants, "/usr/bin/ls") & (kExecuteFile | kReadFile), kExecuteFile | kReadFile);
  EXPECT_EQ(RightsAt(grants, "/usr/bin/bash") & kExecuteFile, kExecuteFile);
  EXPECT_EQ(RightsAt(grants, "/usr/lib/ld.so") & kExecuteFile, kExecuteFile);
  EXPECT_EQ(RightsAt(grants, "/usr/bin/rm"), kReadFolder) << "neither executed nor read, which a loader would do";
  EXPECT_EQ(RightsAt(grants, "/usr/lib/libc.so.6"), kReadFile | kReadFolder);
  EXPECT_EQ(RightsAt(grants, "/etc/passwd"), kReadFile | kReadFolder);
  EXPECT_EQ(RightsAt(grants, "/tmp/x"), kReadFolder);
  EXPECT_EQ(RightsAt(grants, "/root/x"), kReadFolder);
  EXPECT_EQ(RightsAt(grants, "/dev/null"), kReadFile | kReadFolder | kWriteFile | plan::kDeviceControl);
  EXPECT_EQ(RightsAt(grants, "/dev/shm/x") & (kCreateFile | kRemoveFile), kCreateFile | kRemoveFile);
  EXPECT_TRUE(std::none_of(grants.begin(), grants.end(), [](const FileGrant& grant) {
    return grant.reach == FileGrant::Reach::kBelow && (grant.rights & kExecuteFile) != 0;
  }));
}

TEST(CompileTest, AnExactPathReachesItselfAlone) {
  const Policy policy =
      PolicyOf(Denying(RuleOf("one",
                              "effect = 'allow'\nactions = ['file.read', 'file.write']\n"
                              "paths = ['/srv/file']") +
                       RuleOf("gone", "effect = 'allow'\nactions = ['file.delete']\npaths = ['/srv/other']") +
                       RuleOf("rm", "effect = 'allow'\nactions = ['file.read']\npaths = ['/usr/bin/rm']")));
  const std::vector<FileGrant> grants = GrantsOf(policy);
  const FileGrant expected{.path = "/srv/file", .rights = kReadFile | kWriteFile, .reach = FileGrant::Reach::kItself};
  EXPECT_NE(std::find(grants.begin(), grants.end(), expected), grants.end());
  const auto is_at = [](const char* path) { return [path](const FileGrant& grant) { return grant.path == path; }; };
  EXPECT_TRUE(std::none_of(grants.begin(), grants.end(), is_at("/srv/other"))) << "removing is a right of folders";
  EXPECT_TRUE(std::none_of(grants.begin(), grants.end(), is_at("/usr/bin/rm")))
      << "a program is not read unless it may run";
}

TEST(CompileTest, AGlobReachesTheFolderBeforeIt) {
  const auto grants_of = [](const char* glob) {
    return GrantsOf(PolicyOf(Denying(RuleOf("glob", std::string("effect = 'allow'\nenforcement = 'tool'\n"
                                                                "actions = ['file.read']\npaths = ['") +
                                                        glob + "']"))),
                    {}, {}, SmallImage().Data("/root"));
  };
  EXPECT_EQ(RightsAt(grants_of("/srv/a/*.txt"), "/srv/a/x") & kReadFile, kReadFile);
  EXPECT_EQ(RightsAt(grants_of("/srv/a/*.txt"), "/srv/b") & kReadFile, 0U);
  EXPECT_EQ(RightsAt(grants_of("/srv/a?/x"), "/srv/b") & kReadFile, kReadFile);
  EXPECT_EQ(RightsAt(grants_of("/s*"), "/root/x") & kReadFile, kReadFile);
}

TEST(CompileTest, ReadingEverythingGoesAroundPrograms) {
  const Policy policy = PolicyOf(Denying(RuleOf("all", "effect = 'allow'\nactions = ['file.read']\npaths = ['/**']")));
  const std::vector<FileGrant> grants = GrantsOf(policy, {}, {}, SmallImage().Data("/home"));
  EXPECT_EQ(RightsAt(grants, "/usr/bin/rm") & kReadFile, 0U);
  EXPECT_EQ(RightsAt(grants, "/home/x") & kReadFile, kReadFile);
}

TEST(CompileTest, ProgramsThatMayNotBeReadAreNoneThatMayRun) {
  const auto refusal = [](const char* runs, const char* unread, const char* rest = "") {
    return Refusal(Denying(RuleOf("run", std::string("effect = 'allow'\n") + runs) +
                           RuleOf("secret", std::string("effect = 'deny'\nactions = ['file.read']\npaths = ['") +
                                                unread + "']\n" + rest)));
  };
  constexpr const char* kHelpers = "commands = ['git']\nhelpers = ['/srv/x/**']";
  constexpr const char* kProgram = "commands = ['/srv/x/bin/tool run']";
  for (const char* unread : {"/srv/x/**", "/srv/x/lib/**", "/srv/x/key"}) {
    EXPECT_NE(refusal(kHelpers, unread).find("'secret'"), std::string::npos) << unread;
  }
  EXPECT_NE(refusal(kHelpers, "/srv/**").find("'run'"), std::string::npos);
  EXPECT_NE(refusal(kProgram, "/srv/x/**").find("'run'"), std::string::npos);
  EXPECT_EQ(refusal(kProgram, "/srv/x/lib/**"), "");
  EXPECT_EQ(refusal(kHelpers, "/srv/y/**"), "");
  EXPECT_EQ(refusal(kHelpers, "/srv/x/**", "enforcement = 'tool'"), "");
  EXPECT_EQ(refusal("commands = ['git']", "/srv/x/**"), "");
}

TEST(CompileTest, RulesHoldWhenTheirTimeIs) {
  const Policy policy =
      PolicyOf(Denying(RuleOf("day",
                              "effect = 'allow'\nactions = ['file.write']\npaths = ['/srv/**']\n"
                              "when = { hours = '09:00-18:00', timezone = 'UTC' }") +
                       RuleOf("end", "effect = 'allow'\ncommands = ['git']\nexpires_at = 2026-03-01T00:00:00Z")));
  const auto rights = [&](const char* moment, const char* path) {
    return RightsAt(GrantsOf(policy, At(moment)), path);
  };
  EXPECT_EQ(rights("2026-02-28T12:00:00Z", "/srv/x") & kWriteFile, kWriteFile);
  EXPECT_EQ(rights("2026-02-28T18:00:00Z", "/srv/x") & kWriteFile, 0U);
  EXPECT_EQ(rights("2026-02-28T23:59:59Z", "/usr/bin/git") & kExecuteFile, kExecuteFile);
  EXPECT_EQ(rights("2026-02-28T23:59:59Z", "/usr/lib/git-core/git-remote") & kExecuteFile, kExecuteFile);
  EXPECT_EQ(rights("2026-03-01T00:00:00Z", "/usr/bin/git") & kExecuteFile, 0U);
  EXPECT_EQ(rights("2026-03-01T00:00:00Z", "/usr/lib/git-core/git-remote") & kExecuteFile, 0U);
}

TEST(CompileTest, WhatIsUsedUpIsGrantedToTheCallThatUsesIt) {
  const Policy policy = PolicyOf(Denying(RuleOf("twice", "effect = 'allow'\ncommands = ['git']\nmax_uses = 2")));
  EXPECT_EQ(RightsAt(GrantsOf(policy), "/usr/bin/git") & kExecuteFile, 0U) << "although there are uses left";
  EXPECT_EQ(RightsAt(GrantsOf(policy, {}, {&policy.rules().front()}), "/usr/bin/git") & kExecuteFile, kExecuteFile);
}

TEST(CompileTest, ProgramsThatAreStoppedAreGrantedToWhatStopsWithThem) {
  const Policy policy = PolicyOf(Denying(
      RuleOf("day",
             "effect = 'allow'\nactions = ['process.exec', 'file.write']\ncommands = ['git']\npaths = ['/srv/**']\n"
             "expires_at = 2030-01-01T00:00:00Z\non_end = 'stop'")));
  const Rule* day = &policy.rules().front();
  EXPECT_EQ(RightsAt(GrantsOf(policy), "/usr/bin/git") & kExecuteFile, 0U) << "other commands go on";
  EXPECT_EQ(RightsAt(GrantsOf(policy), "/srv/x") & kWriteFile, kWriteFile) << "files are every command's";
  EXPECT_EQ(RightsAt(GrantsOf(policy, {}, {day}), "/usr/bin/git") & kExecuteFile, kExecuteFile);
}

TEST(CompileTest, ARefusalOfAWholeTreeTakesItAway) {
  for (const char* effect : {"deny", "ask"}) {
    const std::string refusal = RuleOf(
        "no", std::string("effect = '") + effect + "'\nactions = ['file.write', 'file.delete']\npaths = ['/home/**']");
    ASSERT_EQ(Refusal(Denying(Work() + refusal)), "");
    const std::vector<FileGrant> grants = GrantsOf(PolicyOf(Denying(Work() + refusal)));
    EXPECT_EQ(RightsAt(grants, "/home/agent/x"), kReadFile | kReadFolder) << effect;
  }
}

TEST(CompileTest, ARefusalOfEverythingBindsUnderADefaultThatAllows) {
  const std::string text =
      Allowing(RuleOf("no", "effect = 'deny'\nactions = ['file.write', 'file.delete']\npaths = ['/**']"));
  ASSERT_EQ(Refusal(text), "");
  const std::vector<FileGrant> grants = GrantsOf(PolicyOf(text));
  for (const char* path : {"/home/agent/x", "/tmp/x", "/dev/shm/x", "/dev/null", "/proc/self/comm"}) {
    EXPECT_EQ(RightsAt(grants, path) & (kWriteFile | kCreateFile | kRemoveFile), 0U) << path;
  }
  EXPECT_EQ(RightsAt(grants, "/usr/bin/rm") & (kExecuteFile | kReadFile), kExecuteFile | kReadFile);
}

TEST(CompileTest, ARefusalTakesAwayWhatEveryCommandHas) {
  const std::string text =
      Denying(Work() + RuleOf("etc", "effect = 'deny'\nactions = ['file.read']\npaths = ['/etc/**']") +
              RuleOf("shm", "effect = 'deny'\nactions = ['file.write', 'file.delete']\npaths = ['/dev/**']"));
  ASSERT_EQ(Refusal(text), "");
  const std::vector<FileGrant> grants = GrantsOf(PolicyOf(text));
  EXPECT_EQ(RightsAt(grants, "/etc/passwd") & kReadFile, 0U);
  EXPECT_EQ(RightsAt(grants, "/dev/null"), kReadFile | kReadFolder);
  EXPECT_EQ(RightsAt(grants, "/dev/shm/x") & (kCreateFile | kRemoveFile), 0U);
}

// As in decisions: what is to be asked for is not opened because it may not be asked for now.
TEST(CompileTest, ARuleThatAsksRefusesOutOfItsTimeToo) {
  const std::string when = "\nwhen = { hours = '09:00-18:00', timezone = 'UTC' }";
  const auto policy = [&](const char* effect) {
    const std::string head = std::string("effect = '") + effect + "'\n";
    return PolicyOf(Denying(Work() +
                            RuleOf("no files", head + "actions = ['file.delete']\npaths = ['/home/**']" + when) +
                            RuleOf("no ls", head + "commands = ['ls']" + when)));
  };
  for (const char* moment : {"2026-02-28T12:00:00Z", "2026-02-28T20:00:00Z"}) {
    const std::vector<FileGrant> grants = GrantsOf(policy("ask"), At(moment));
    EXPECT_EQ(RightsAt(grants, "/home/agent/x") & kRemoveFile, 0U) << moment;
    EXPECT_EQ(RightsAt(grants, "/usr/bin/ls") & kExecuteFile, 0U) << moment;
  }
  EXPECT_EQ(RightsAt(GrantsOf(policy("deny"), At("2026-02-28T12:00:00Z")), "/home/agent/x") & kRemoveFile, 0U);
  EXPECT_EQ(RightsAt(GrantsOf(policy("deny"), At("2026-02-28T20:00:00Z")), "/home/agent/x") & kRemoveFile, kRemoveFile);
  EXPECT_EQ(RightsAt(GrantsOf(policy("deny"), At("2026-02-28T12:00:00Z")), "/usr/bin/ls") & kExecuteFile, 0U);
  EXPECT_EQ(RightsAt(GrantsOf(policy("deny"), At("2026-02-28T20:00:00Z")), "/usr/bin/ls") & kExecuteFile, kExecuteFile);
}

TEST(CompileTest, ADeniedCommandIsNoHelper) {
  const auto executable = [](const std::string& refusal) {
    const Policy policy = PolicyOf(
        Denying(RuleOf("ls", "effect = 'allow'\ncommands = ['ls', 'git']\nhelpers = ['rm']") + RuleOf("no", refusal)));
    return RightsAt(GrantsOf(policy), "/usr/bin/rm") & kExecuteFile;
  };
  EXPECT_EQ(executable("effect = 'deny'\ncommands = ['rm']"), 0U);
  EXPECT_EQ(executable("effect = 'ask'\ncommands = ['rm']"), 0U);
  EXPECT_EQ(executable("effect = 'deny'\ncommands = ['/usr/bin/rm']"), 0U);
  EXPECT_EQ(executable("effect = 'deny'\ncommands = ['rm -r']"), kExecuteFile) << "what it is told is not seen";
  EXPECT_EQ(executable("effect = 'deny'\ncommands = ['rm']\nrequire_flags = ['-r']"), kExecuteFile);
  EXPECT_EQ(executable("effect = 'deny'\ncommands = ['rm']\nenforcement = 'tool'"), kExecuteFile);
}

TEST(CompileTest, ProgramsOfTheWorkspace) {
  const std::vector<FileGrant> grants =
      GrantsOf(PolicyOf(Denying(Work() + RuleOf("built", "effect = 'allow'\ncommands = ['./**']"))));
  EXPECT_EQ(RightsAt(grants, "/home/agent/workspace/a.out") & kExecuteFile, kExecuteFile);
  EXPECT_EQ(RightsAt(grants, "/home/agent/a.out") & kExecuteFile, 0U);
  EXPECT_EQ(RightsAt(grants, "/usr/bin/rm") & (kExecuteFile | kReadFile), 0U) << "nor may it be copied there";
}

TEST(CompileTest, RefusesAnImageOfOneFileUnlessAllItsNamesAreAllowed) {
  ImageIndex image;
  image.Program("/bin/busybox").Link("/bin/sh", "/bin/busybox").Link("/bin/ls", "/bin/busybox");
  const auto compiled = [&](const char* commands) {
    return Compile(PolicyOf(Denying(RuleOf("x", std::string("effect = 'allow'\ncommands = ") + commands))),
                   image.index(), {}, {});
  };
  const auto refused = compiled("['ls']");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnsupported);
  EXPECT_TRUE(Says(refused.error().message(), "/bin/busybox")) << refused.error().message();
  EXPECT_TRUE(compiled("['ls', 'sh', 'busybox']"));
}

TEST(CompileTest, ADefaultThatAllowsGrantsEverything) {
  const std::string text = Allowing(RuleOf("git", "effect = 'deny'\nenforcement = 'tool'\ncommands = ['git push']"));
  const std::vector<FileGrant> grants = GrantsOf(PolicyOf(text));
  EXPECT_EQ(RightsAt(grants, "/usr/bin/rm"), kWhole | kExecuteFile);
  EXPECT_EQ(RightsAt(grants, "/srv/x"), kWhole | kExecuteFile);
}

TEST(CompileTest, IsBounded) {
  ImageIndex image = SmallImage();
  os::ProgramIndex many = image.index();
  std::string rules = Work();
  for (std::size_t i = 0; i <= plan::kMostGrants; ++i) many.split["/usr/share/doc"].push_back("d" + std::to_string(i));
  const auto plan = Compile(PolicyOf(Denying(rules)), many, {}, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code(), Code::kResourceExhausted);
  many.split["/usr/share/doc"].resize(plan::kMostGrants / 2);
  EXPECT_TRUE(Compile(PolicyOf(Denying(rules)), many, {}, {}));
  for (std::string& child : many.split["/usr/share/doc"]) child += std::string(200, 'x');
  EXPECT_FALSE(Compile(PolicyOf(Denying(rules)), many, {}, {})) << "their bytes are bounded too";
}

TEST(CompileTest, EveryPresetBindsAndGrantsNoUnnamedProgram) {
  for (const std::string_view name : Policy::PresetNames()) {
    EXPECT_TRUE(CheckEnforceable(PresetOf(name), {})) << name;
    if (name == "open") continue;
    const std::vector<FileGrant> grants = GrantsOf(PresetOf(name));
    EXPECT_EQ(RightsAt(grants, "/usr/bin/rm") & (kExecuteFile | kReadFile), 0U) << name;
    EXPECT_EQ(RightsAt(grants, "/usr/bin/ls") & kExecuteFile, kExecuteFile) << name;
    EXPECT_EQ(RightsAt(grants, "/usr/lib/x") & kWriteFile, 0U) << name;
  }
}

TEST(ExecutionOfTest, TellsWhichProgramsMayRunAtAll) {
  EXPECT_EQ(ExecutionOf(PresetOf("open")), Execution::kAnything);
  EXPECT_EQ(ExecutionOf(PresetOf("standard")), Execution::kWorkspaceToo);
  EXPECT_EQ(ExecutionOf(PresetOf("minimal")), Execution::kNamed);
  EXPECT_EQ(ExecutionOf(PolicyOf(Denying(""))), Execution::kNamed);
  EXPECT_EQ(ExecutionOf(PolicyOf(Denying(RuleOf("x", "effect = 'deny'\ncommands = ['./**']")))), Execution::kNamed);
  EXPECT_EQ(ExecutionOf(PolicyOf(Allowing(RuleOf("x", "effect = 'deny'\ncommands = ['rm']")))), Execution::kAnything);
}

TEST(CheckEnforceableTest, RefusesWhatLiesInsideWhatIsAllowed) {
  for (const char* effect : {"deny", "ask"}) {
    const auto refusal = [&](const char* action, const char* path) {
      return Refusal(Denying(Work() + RuleOf("inner", std::string("effect = '") + effect + "'\nactions = ['" + action +
                                                          "']\npaths = ['" + path + "']")));
    };
    EXPECT_TRUE(Says(refusal("file.read", "/home/agent/private/**"), "'inner'"));
    EXPECT_TRUE(Says(refusal("file.read", "/home/agent/private/**"), "policy.toml:")) << "where it stands";
    EXPECT_TRUE(Says(refusal("file.write", "/home/agent/.git/config"), "/home/agent, which the rule 'files'"));
    EXPECT_TRUE(Says(refusal("file.delete", "/home/agent/x"), "file.delete of /home/agent/x"));
    EXPECT_TRUE(Says(refusal("file.read", "/usr/share/secret"), "/usr, which what every program needs"));
    EXPECT_TRUE(Says(refusal("file.read", "/etc/shadow"), "/etc"));
    EXPECT_TRUE(Says(refusal("file.write", "/dev/shm/**"), "/dev"));
    EXPECT_TRUE(Says(refusal("file.delete", "/dev/shm/x"), "/dev/shm"));
    EXPECT_EQ(refusal("file.read", "/srv/**"), "");
    EXPECT_EQ(refusal("file.write", "/usr/**"), "");
    EXPECT_EQ(refusal("file.write", "/home/agent/**"), "") << "the same tree is taken away";
  }
}

TEST(CheckEnforceableTest, RefusesToHideWhatEveryProgramReads) {
  for (const char* path : {"/usr/**", "/lib64/**", "/**"}) {
    const std::string refusal = Refusal(Denying(
        Work() + RuleOf("hide", std::string("effect = 'deny'\nactions = ['file.read']\npaths = ['") + path + "']")));
    EXPECT_TRUE(Says(refusal, "'hide'")) << path << refusal;
    EXPECT_TRUE(Says(refusal, "every program needs")) << refusal;
  }
  EXPECT_TRUE(
      Says(Refusal(Allowing(RuleOf("hide", "effect = 'deny'\nactions = ['file.read']\npaths = ['/**']"))), "'hide'"));
}

TEST(CheckEnforceableTest, UnderADefaultThatAllowsNothingLessThanAllIsRefused) {
  EXPECT_TRUE(Says(Refusal(Allowing(RuleOf("x", "effect = 'deny'\nactions = ['file.write']\npaths = ['/etc/**']"))),
                   "/, which the default allows"));
  EXPECT_TRUE(Says(Refusal(Allowing(RuleOf("x", "effect = 'deny'\ncommands = ['rm']"))), "'x'"));
  EXPECT_TRUE(Says(Refusal(Allowing(RuleOf("x", "effect = 'ask'\ncommands = ['rm']"))), "under another name"));
  EXPECT_EQ(Refusal(Allowing(RuleOf("x", "effect = 'deny'\nenforcement = 'tool'\ncommands = ['rm']"))), "");
}

TEST(CheckEnforceableTest, WhatTheToolHoldsIsNoMatterOfTheKernel) {
  EXPECT_EQ(Refusal(Denying(Work() + RuleOf("inner",
                                            "effect = 'deny'\nenforcement = 'tool'\nactions = ['file.read']\n"
                                            "paths = ['/home/agent/*.key', '/usr/**']"))),
            "");
}

TEST(CheckEnforceableTest, RefusesConditionsOnProgramsOfTheWorkspace) {
  const std::string built = "effect = 'allow'\ncommands = ['./**']\n";
  EXPECT_EQ(Refusal(Denying(RuleOf("built", built))), "");
  for (const char* condition :
       {"max_uses = 1", "expires_at = 2030-01-01T00:00:00Z", "not_before = 2020-01-01T00:00:00Z",
        "when = { hours = '09:00-18:00', timezone = 'UTC' }"}) {
    EXPECT_TRUE(Says(Refusal(Denying(RuleOf("built", built + condition))), "'built'")) << condition;
    EXPECT_EQ(Refusal(Denying(RuleOf("built", built + "enforcement = 'tool'\n" + condition))), "") << condition;
    EXPECT_EQ(Refusal(Denying(RuleOf("ls", std::string("effect = 'allow'\ncommands = ['ls']\n") + condition))), "");
  }
}

TEST(CheckEnforceableTest, RefusesToDenySomeOfTheWorkspacesPrograms) {
  const std::string built = RuleOf("built", "effect = 'allow'\ncommands = ['./**']");
  const auto refusal = [&](const char* command) {
    return Refusal(Denying(built + RuleOf("no", std::string("effect = 'deny'\ncommands = ['") + command + "']")));
  };
  EXPECT_TRUE(Says(refusal("./**"), "'no'"));
  EXPECT_TRUE(Says(refusal("/home/agent/workspace/a.out"), "'no'"));
  EXPECT_EQ(refusal("rm"), "");
  EXPECT_EQ(Refusal(Denying(RuleOf("no", "effect = 'deny'\ncommands = ['./**']"))), "");
}

TEST(CheckEnforceableTest, RefusesWritingWhereProgramsAre) {
  const auto refusal = [](const std::string& action, const char* path, const char* more = "") {
    return Refusal(
        Denying(RuleOf("write", "effect = 'allow'\nactions = ['" + action + "']\npaths = ['" + path + "']\n" + more)));
  };
  for (const char* path : {"/usr/**", "/usr/local/**", "/usr/bin/x", "/opt/**", "/bin/**", "/**"}) {
    EXPECT_TRUE(Says(refusal("file.write", path), "'write'")) << path;
    EXPECT_TRUE(Says(refusal("file.delete", path), "'write'")) << path;
    EXPECT_EQ(refusal("file.read", path), "") << path;
  }
  EXPECT_TRUE(Says(refusal("file.write", "/usr/*/x", "enforcement = 'tool'"), "'write'"))
      << "the kernel would let all of /usr be written";
  EXPECT_EQ(refusal("file.write", "/usrlocal/**"), "");
  EXPECT_EQ(Refusal(Allowing(RuleOf("write", "effect = 'allow'\nactions = ['file.write']\npaths = ['/usr/**']"))), "")
      << "every program may run";
}

TEST(CheckEnforceableTest, WhereTruncationIsNotControlledWhatMayBeReadMustBeWritable) {
  constexpr KernelFeatures kOld{.controls_truncation = false};
  const auto refusal = [&](const char* path, const std::string& more = {}) {
    const std::string text = Denying(
        RuleOf("look", std::string("effect = 'allow'\nactions = ['file.read']\npaths = ['") + path + "']") + more);
    EXPECT_EQ(Refusal(text), "") << "a newer kernel holds it";
    return Refusal(text, kOld);
  };
  for (const char* path : {"/home/agent/**", "/home/agent/x", "/home/**", "/tmp/**", "/var/**", "/**"}) {
    EXPECT_TRUE(Says(refusal(path), "'look'")) << path;
    EXPECT_TRUE(Says(refusal(path), "6.2")) << path;
  }
  for (const char* path : {"/etc/**", "/usr/**", "/srv/x", "/home/other/**"}) EXPECT_EQ(refusal(path), "") << path;
  const auto writing = [](const char* path, const char* more = "") {
    return RuleOf("write",
                  std::string("effect = 'allow'\nactions = ['file.write']\npaths = ['") + path + "']\n" + more);
  };
  EXPECT_EQ(refusal("/tmp/**", writing("/tmp/**")), "");
  EXPECT_EQ(refusal("/tmp/a/**", writing("/tmp/**")), "");
  EXPECT_TRUE(Says(refusal("/tmp/**", writing("/tmp/a/**")), "'look'"));
  EXPECT_TRUE(Says(refusal("/tmp/**", writing("/tmp/**", "max_uses = 1")), "'look'")) << "not always";
  EXPECT_EQ(Refusal(Allowing(RuleOf("look", "effect = 'allow'\nactions = ['file.read']\npaths = ['/tmp/**']")), kOld),
            "");
  EXPECT_TRUE(Says(Refusal(PresetOf("read_only").text(), kOld), "/home/agent"));
  for (const char* name : {"standard", "minimal", "strict"})
    EXPECT_EQ(Refusal(PresetOf(name).text(), kOld), "") << name;
  EXPECT_EQ(refusal("/var/**", writing("/var/tmp/**")), "") << "the rest is not the agent's own";
  const std::string no = RuleOf("no", "effect = 'deny'\nactions = ['file.write']\npaths = ['/tmp/**']");
  EXPECT_TRUE(Says(refusal("/tmp/a/**", writing("/tmp/a/**") + no), "'look'")) << "what allows it is taken away";
}

TEST(DescribeEnforcementTest, SaysWhatBindsWhere) {
  const auto says = [](const Policy& policy, const char* part) {
    const std::vector<std::string> lines = DescribeEnforcement(policy);
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return Says(line, part); });
  };
  EXPECT_EQ(DescribeEnforcement(PresetOf("open")).size(), 1U);
  EXPECT_TRUE(says(PresetOf("open"), "nothing is refused"));
  EXPECT_TRUE(says(PresetOf("minimal"), "only the programs that are named"));
  EXPECT_TRUE(says(PresetOf("standard"), "whatever lies in the workspace"));
  EXPECT_TRUE(says(PresetOf("standard"), "the rule 'find'")) << "its flags bind at the tool";
  EXPECT_FALSE(says(PresetOf("standard"), "the rule 'toolchain'"));
  const Policy policy = PolicyOf(Denying(
      Work() + RuleOf("push", "effect = 'deny'\ncommands = ['git push']") +
      RuleOf("keys", "effect = 'deny'\nenforcement = 'tool'\nactions = ['file.read']\npaths = ['/home/agent/*.key']") +
      RuleOf("log", "effect = 'allow'\nactions = ['file.write']\npaths = ['/srv/log/**']")));
  EXPECT_TRUE(says(policy, "'push' (policy.toml:"));
  EXPECT_TRUE(says(policy, "in what it says of arguments"));
  EXPECT_TRUE(says(policy, "'keys' (policy.toml:"));
  EXPECT_TRUE(says(policy, "binds at the tool only, as it says"));
  EXPECT_TRUE(says(policy, "the rule 'log' (policy.toml:"));
  EXPECT_TRUE(says(policy, "can still be emptied"));
  EXPECT_FALSE(says(policy, "the rule 'files'"));
  EXPECT_TRUE(says(PolicyOf(Allowing(RuleOf("x", "effect = 'deny'\nenforcement = 'tool'\ncommands = ['rm']"))),
                   "every program may run"));
}

}  // namespace
}  // namespace caisson::policy
