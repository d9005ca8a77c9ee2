#include "caisson/policy/builtin.h"

#include <gtest/gtest.h>

#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

TEST(Builtins, JudgesBuiltinsByWhatTheyCanDo) {
  constexpr Row kRows[] = {
      {"cd x; pwd; true; false; :; exit 3", "allow"},
      {"cd \"$x\" && ls", "allow"},
      {"set -euo pipefail; ls", "allow"},
      {"set -k; ls", "deny"},
      {"set -o posix", "deny"},
      {"set -H", "deny"},
      {"set -- a $b", "allow"},
      {"set $x", "deny"},
      {"shopt -s nullglob; ls", "allow"},
      {"shopt -s expand_aliases", "deny"},
      {"alias x=y", "deny"},
      {". ./x", "deny"},
      {"source ./x", "deny"},
      {"let x=1", "deny"},
      {"enable -f ./x.so x", "deny"},
      {"hash -p /usr/bin/rm ls", "deny"},
      {"hash -r", "allow"},
      {"bind -x '\"a\": rm'", "deny"},
      {"complete -C rm x", "deny"},
      {"jobs -x rm x", "deny"},
      {"jobs -l; wait", "allow"},
      {"wait -p 'a[$(rm x)]' -n", "deny"},
      {"fc -s", "deny"},
      {"history -w x", "deny"},
      {"export A=b B; readonly C=d", "allow"},
      {"export A=\"$x\"", "allow"},
      {"export PATH=.:$PATH", "deny"},
      {"export $x", "deny"},
      {"export -f f", "deny"},
      {"export 'a[$(rm x)]=1'", "deny"},
      {"declare -a x; declare -r y=1; typeset -x Z=1", "allow"},
      {"declare -i x='a[$(rm x)]'", "deny"},
      {"declare -n x=y", "deny"},
      {"f() { local x=1; ls; }; f", "allow"},
      {"read -r a b", "allow"},
      {"read -r 'a[$(rm x)]'", "deny"},
      {"read -p 'a b' -t 1 x", "allow"},
      {"read RANDOM", "deny"},
      {"read PATH", "deny"},
      {"read $x", "deny"},
      {"read -a 'a[$(rm x)]'", "deny"},
      {"read -a list", "allow"},
      {"mapfile -t lines < x", "allow"},
      {"mapfile -C rm -c 1 lines", "deny"},
      {"getopts ab: name", "allow"},
      {"getopts ab: 'a[$(rm x)]'", "deny"},
      {"unset x", "allow"},
      {"unset PATH", "deny"},
      {"unset 'a[$(rm x)]'", "deny"},
      {"echo x", "allow"},
      {"printf '%s\\n' \"$x\"", "allow"},
      {"printf -v x '%s' y", "allow"},
      {"printf -v 'a[$(rm x)]' y", "deny"},
      {"printf -v PATH .", "deny"},
      {"printf \"$x\" 'a[$(rm x)]'", "deny"},
      {"kill -9 1", "allow"},
      {"umask 077; ulimit -n 10", "allow"},
      {"test -f x && [ -d y ] && [ ! -e z ]", "allow"},
      {"[ \"$x\" = y ] && [ -z \"$x\" ] && [ -f \"$x/y\" ]", "allow"},
      {"[ $? -eq 0 ]; [ $# -gt 1 ]; [ 1 -lt 2 ]", "allow"},
      {"[ \"$x\" -eq 1 ]", "deny"},
      {"[ 'a[$(rm x)]' -eq 1 ]", "deny"},
      {"[ $x = y ]", "deny"},
      {"[ -v 'a[$(rm x)]' ]", "deny"},
      {"test -R x", "deny"},
      {"[ \"$x\" \"$y\" ]", "deny"},
      {"[ x -o -v 'a[$(rm x)]' ]", "deny"},
      {"test \"$@\"", "deny"},
  };
  CheckRows(PolicyOf(kList), kRows);
}

TEST(Builtins, TakesABuiltinThatCanDoAnythingOnlyByName) {
  const Policy all_but_rm =
      PolicyOf("version = 1\ndefault = \"allow\"\n[[rule]]\neffect = \"deny\"\ncommands = [\"rm\"]\n");
  EXPECT_EQ(EffectOf(all_but_rm, "echo x; frobnicate"), "allow");
  EXPECT_EQ(EffectOf(all_but_rm, "shopt -s expand_aliases"), "deny");
  EXPECT_EQ(DecideText(all_but_rm, "source x").rule, "unknown_shell");
  const Policy named = PolicyOf("version = 1\n[[rule]]\neffect = \"allow\"\ncommands = [\"source\", \"printf\"]\n");
  EXPECT_EQ(EffectOf(named, "source x"), "allow");
  EXPECT_EQ(EffectOf(named, ". x"), "deny");
  EXPECT_EQ(EffectOf(named, "printf -v 'a[$(ls)]' x"), "deny");
}

TEST(Builtins, RefusesVariablesThatStartOrLoad) {
  constexpr Row kRows[] = {
      {"A=b ls", "allow"},
      {"PYTHONPATH=src python3 x.py", "allow"},
      {"LC_ALL=C ls", "allow"},
      {"LANG=de_DE.UTF-8 ls", "allow"},
      {"LC_ALL=zh_CN.GBK ls", "deny"},
      {"PATH=x ls", "deny"},
      {"PATH=x", "deny"},
      {"PATH+=:x", "deny"},
      {"BASH_CMDS[ls]=/bin/rm; ls", "deny"},
      {"BASH_ALIASES[ls]=rm; ls", "deny"},
      {"RANDOM=5", "allow"},
      {"RANDOM='a[$(rm x)]'", "deny"},
      {"SECONDS=$x", "deny"},
      {"OPTIND='a[$(rm x)]'", "deny"},
      {"IFS=, ls", "deny"},
      {"while IFS= read -r line; do echo \"$line\"; done", "allow"},
      {"IFS=/; read x", "deny"},
      {"for PATH in a b; do ls; done", "deny"},
      {"GIT_PAGER=x git log", "deny"},
      {"GIT_AUTHOR_NAME=x git commit", "allow"},
      {"npm_config_script_shell=x ls", "deny"},
      {"npm_config_cache=x ls", "allow"},
      {"GLIBC_TUNABLES=x ls", "deny"},
  };
  CheckRows(PolicyOf(kList), kRows);
  CommandCall call;
  call.text = "ls";
  call.env = {{"A", "b"}};
  EXPECT_EQ(DecideCommand(PolicyOf(kList), call, {}).effect, Effect::kAllow);
  for (const char* name : {"LD_PRELOAD", "BASH_FUNC_ls%%", "", "a b", "1x", "x=y", "ENV"}) {
    call.env = {{name, "b"}};
    const Decision decision = DecideCommand(PolicyOf(kList), call, {});
    EXPECT_EQ(decision.effect, Effect::kDeny) << name;
    EXPECT_EQ(decision.rule, "environment") << name;
    EXPECT_EQ(DecideCommand(PresetOf("open"), call, {}).effect, Effect::kAllow) << name;
    EXPECT_EQ(DecideCommand(PresetOf("standard"), call, {}).effect, Effect::kDeny) << name;
  }
}

}  // namespace
}  // namespace caisson::policy
