#include "caisson/policy/wrapper.h"

#include <gtest/gtest.h>

#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

TEST(Wrappers, LooksThroughWhatStartsOtherCommands) {
  constexpr Row kRows[] = {
      {"env ls", "allow"},
      {"env A=b -u X ls", "deny"},  // -u is a command after a variable
      {"env -u X A=b ls", "allow"},
      {"env rm x", "deny"},
      {"env git push", "ask"},
      {"env PATH=. ls", "deny"},
      {"env -S 'ls'", "deny"},
      {"env --split-string=ls", "deny"},
      {"env", "allow"},
      {"env A=b", "allow"},
      {"env - ls", "allow"},
      {"env cd x", "deny"},
      {"timeout 5 ls", "allow"},
      {"timeout -k 1 --signal=KILL 5 ls", "allow"},
      {"timeout 5 rm x", "deny"},
      {"timeout $t rm x", "deny"},
      {"timeout --unknown 5 ls", "deny"},
      {"nice -n 5 ls", "allow"},
      {"nice -5 ls", "allow"},
      {"nice -n5 git push", "ask"},
      {"nice", "allow"},
      {"stdbuf -oL ls", "allow"},
      {"setsid -w rm x", "deny"},
      {"ls | xargs cat", "allow"},
      {"ls | xargs", "allow"},
      {"ls | xargs -n 1 -P2 rm", "deny"},
      {"ls | xargs -I{} cat {}", "allow"},
      {"ls | xargs -I{} {} x", "deny"},
      {"ls | xargs -I% sh -c 'cat %'", "deny"},
      {"ls | xargs sh -c 'cat \"$@\"'", "allow"},
      {"ls | xargs git", "ask"},
      {"find . -name x -exec cat {} ';'", "allow"},
      {"find . -exec rm {} +", "deny"},
      {"find . $x rm {} +", "deny"},
      {"find src/$x *.c -name y", "allow"},
      {"find . -exec cat {} ';' -exec rm {} ';'", "deny"},
      {"find . -exec {} ';'", "deny"},
      {"find . -execdir ./x ';'", "deny"},
      {"sh -c 'ls; cat x'", "allow"},
      {"bash -ec 'ls && rm x'", "deny"},
      {"sh -c \"$x\"", "deny"},
      {"sh -c \"ls \\$'a\\'; rm x #'\"", "deny"},
      {"sh -c '((rm x))'", "deny"},
      {"sh -c 'ls $((1+1))'", "allow"},
      {"bash -o pipefail -c 'ls | cat'", "allow"},
      {"bash -ic ls", "deny"},
      {"bash --rcfile x -c ls", "deny"},
      {"bash script.sh", "allow"},
      {"bash", "allow"},
      {"dash -c ls", "deny"},
      {"sudo ls", "allow"},
      {"sudo -u root A=b ls", "allow"},
      {"sudo LD_PRELOAD=x ls", "deny"},
      {"sudo -i", "deny"},
      {"watch ls", "allow"},
      {"watch 'ls; rm x'", "deny"},
      {"watch -x rm y", "deny"},
      {"flock f ls", "allow"},
      {"flock f -c 'rm x'", "deny"},
      {"busybox cat x", "allow"},
      {"busybox rm x", "deny"},
      {"busybox sh -c 'rm x'", "deny"},
      {"chroot / ls", "deny"},
      {"time ls", "allow"},
      {"command ls", "allow"},
      {"command -v rm", "allow"},
      {"command rm x", "deny"},
      {"command -p rm x", "deny"},
      {"builtin echo x", "allow"},
      {"exec ls", "allow"},
      {"exec rm x", "deny"},
      {"exec -a git-push git", "deny"},
      {"exec 3>&1", "allow"},
      {"eval 'ls; cat x'", "allow"},
      {"eval ls '; rm x'", "deny"},
      {"eval \"$x\"", "deny"},
      {"trap 'cat x' EXIT", "allow"},
      {"trap 'rm x' EXIT", "deny"},
      {"trap - EXIT; trap '' INT; trap", "allow"},
      {"sh -c 'sh -c \"sh -c ls\"'", "allow"},
      {"env env env env env env env env env env ls", "deny"},  // too deep
  };
  CheckRows(PolicyOf(kList), kRows);
}

}  // namespace
}  // namespace caisson::policy
