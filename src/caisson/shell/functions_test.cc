#include <gtest/gtest.h>

#include "caisson/shell/analysis_text.h"

namespace caisson::shell {
namespace {

bool CallsFunction(std::string_view text) {
  for (const SimpleCommand& command : Analyze(text).commands) {
    if (command.calls_function) return true;
  }
  return false;
}

TEST(Functions, HaveBodiesThatAreFound) {
  for (const Case& it :
       {Case{"ls(){ touch M; }; ls", "[touch][M];![ls];"}, Case{"f () ( a ) >b\nf x", "[a];>[b];![f][x];"},
        Case{"function f { a; }; function g() { b; }\nf | (g)", "[a];[b];![f];[g];"},
        Case{"f()\n\nif a; then b; fi\nf", "[a];[b];![f];"}, Case{"a.b-c() { d; }; a.b-c", "[d];[a.b-c];"},
        Case{"f() { a; }; \"f\" 2>b; x=$(f)", "[a];![f]>[b];x={};![f];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Functions, AreCalledOnlyWhereTheyAreCertain) {
  for (const std::string_view text :
       {"f; f() { a; }", "f() { f; }", "g() { f; }\nf() { a; }\ng() { b; }", "(f() { a; }); f", "f() { a; } & f",
        "f() { a; } | b; f", "a && f() { b; }; f", "if a; then f() { b; }; fi; f", "{ f() { a; }; }; f",
        "x=$(f() { a; }); f", "a; f() { b; }\nf", "echo ${x:?}; f() { b; }\nf", "! f() { a; }; f", "time f() { a; }\nf",
        "cat <<E; f() { a; }\n$(f)\nE\n", "cd() { a; }; cd", "time() { a; }\n", "f() { a; }; exec f",
        "f() { a; }; ./f"}) {
    EXPECT_FALSE(CallsFunction(text)) << text;
  }
  EXPECT_TRUE(CallsFunction("a\nf() { b; }; f"));
  EXPECT_TRUE(CallsFunction("f() { a; }\nwhile f; do b; done"));
}

TEST(Functions, AreNotSureBesideWhatCouldReplaceThem) {
  for (const std::string_view other : {"unset -f f",
                                       "unset f",
                                       "eval x",
                                       ". ./x",
                                       "source x",
                                       "builtin unset f",
                                       "command unset f",
                                       "trap x EXIT",
                                       "alias f=x",
                                       "shopt -s expand_aliases",
                                       "set -o posix",
                                       "set $x",
                                       "export POSIXLY_CORRECT=1",
                                       "local $x",
                                       "$x",
                                       "mapfile -C x a",
                                       "enable -f x f",
                                       "printf -v x y",
                                       "printf $x",
                                       "read $x",
                                       "declare -A BASH_ALIASES"}) {
    EXPECT_FALSE(CallsFunction("f() { a; }\nf\n" + std::string(other))) << other;
  }
  for (const std::string_view other :
       {"cd $x", "echo $x", "set -e", "export A=$x", "local a=$1 b", "printf '%s' \"$x\"", "read -r line", "test -f $x",
        "exit 1", "git $x", "x=$y"}) {
    EXPECT_TRUE(CallsFunction("f() { a; }\nf\n" + std::string(other))) << other;
  }
}

}  // namespace
}  // namespace caisson::shell
