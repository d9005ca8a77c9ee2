#include "caisson/policy/program.h"

#include <gtest/gtest.h>

#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

TEST(Programs, FollowsPathsToThePrograms) {
  const Situation tree = InTree({
      {"/usr/bin/python3", "/usr/bin/python3.11"},
      {"/usr/bin/git", "/usr/bin/git"},
      {"/usr/bin/ls", "/usr/bin/ls"},
      {"/home/agent/workspace/v/bin/python", "/usr/bin/python3.11"},
      {"/home/agent/workspace/v/bin/python3.11", "/usr/bin/python3.11"},
      {"/home/agent/workspace/w/bin/python", "/usr/bin/touch"},
      {"/home/agent/workspace/git", "/usr/bin/git"},
      {"/home/agent/workspace/git-push", "/usr/bin/git"},
      {"/home/agent/workspace/mine", "/home/agent/workspace/mine"},
      {"/home/agent/workspace/out", "/usr/bin/rm"},
      {"/home/agent/workspace/sub/v/bin/python", "/usr/bin/python3.11"},
      {"/home/agent/workspace/bin/python", "/home/agent/workspace/evil"},
  });
  constexpr Row kStrict[] = {
      {"v/bin/python -c 1", "allow"},
      {"./v/bin/python3.11 -c 1", "allow"},
      {"/home/agent/workspace/v/bin/python x", "allow"},
      {"w/bin/python x", "deny"},
      {"bin/python x", "deny"},
      {"./git status", "allow"},
      {"./git-push", "deny"},
      {"./mine", "deny"},
      {"/usr/bin/git status", "allow"},
      {"/usr/bin/../bin/touch x", "deny"},
      {"/opt/x", "deny"},
      {"python3.11 x", "allow"},
      {"/usr/bin/python3.11 x", "allow"},
      {"python3 -m venv n && n/bin/python -c 1", "allow"},
      {"n/bin/pythonx", "deny"},
      {"n/python", "deny"},
      {"cd sub && v/bin/python x", "allow"},
      {"cd w && bin/python x", "deny"},
      {"cd $x && v/bin/python x", "deny"},
      {"/tmp/bin/python x", "deny"},
  };
  CheckRows(PresetOf("strict"), kStrict, tree);
  constexpr Row kStandard[] = {
      {"./mine", "allow"},
      {"./not_yet_built", "allow"},
      {"./out", "ask"},
      {"cd sub && ./test", "allow"},
      {"cd / && ./x", "ask"},
      {"cd .. && ./x", "ask"},
      {"/home/agent/workspace/../x", "ask"},
      {"./git-push", "ask"},
  };
  CheckRows(PresetOf("standard"), kStandard, tree);
  const Policy denies = PolicyOf(
      "version = 1\ndefault = \"allow\"\n[[rule]]\neffect = \"deny\"\ncommands = [\"rm\", \"git push\", "
      "\"/opt/x/y\"]\n");
  constexpr Row kDenies[] = {
      {"./out x", "deny"},    {"./rm", "deny"},     {"/usr/bin/../bin/rm", "deny"}, {"/proc/self/root/bin/rm", "deny"},
      {"./git push", "deny"}, {"/opt/x/y", "deny"}, {"/opt/x/../x/y", "deny"},      {"y", "allow"},
      {"./mine", "allow"},
  };
  CheckRows(denies, kDenies, tree);
  const Policy by_path =
      PolicyOf("version = 1\n[[rule]]\neffect = \"allow\"\ncommands = [\"/usr/bin/git\", \"/opt/x/y\"]\n");
  constexpr Row kByPath[] = {
      {"git status", "allow"}, {"/usr/bin/git x", "allow"},    {"/opt/x/y", "allow"},
      {"y", "deny"},           {"/usr/local/bin/git", "deny"},
  };
  CheckRows(by_path, kByPath);
  CheckRows(by_path, kByPath, InTree({{"/opt/x/y", "/opt/x-2/y"}, {"/usr/bin/git", "/usr/bin/git"}}));
}

}  // namespace
}  // namespace caisson::policy
