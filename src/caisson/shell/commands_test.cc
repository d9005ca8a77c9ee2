#include <gtest/gtest.h>

#include "caisson/shell/analysis_text.h"

namespace caisson::shell {
namespace {

TEST(Commands, OfLists) {
  for (const Case& it :
       {Case{"", ""}, Case{" \n # a\n", ""}, Case{"a; b && c || d & e | f |& g\nh", "[a];[b];[c];[d];[e];[f];[g];[h];"},
        Case{"a &&\n\n b", "[a];[b];"}, Case{"a;", "[a];"}, Case{"a &\nb", "[a];[b];"},
        Case{"! a | b; time -p c; time ! d", "[a];[b];[c];[d];"}, Case{"a;#b", "[a];"},
        Case{"a time ! if then }", "[a][time][!][if][then][}];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Commands, OfCompounds) {
  for (const Case& it :
       {Case{"(a; b) & { c; }", "[a];[b];[c];"}, Case{"((1+(2<<3))); ( (a))", "[a];"},
        Case{"if a; then b; elif c\nthen d; else e; fi", "[a];[b];[c];[d];[e];"},
        Case{"if (a) then { b; } fi", "[a];[b];"}, Case{"while a; do b; done; until c; do d; done", "[a];[b];[c];[d];"},
        Case{"for ((;;)); do a; done", "[a];"}, Case{"case $x in a|\"b\") c;; (*) d;& e) f;;& g) esac", "[c];[d];[f];"},
        Case{"case a in esac", ""}, Case{"case $(a) in $(b)) c\nesac", "[a];[b];[c];"},
        Case{"{ a; } >b 2>&1 <<<c | d", "[a];>[b];[d];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Commands, TheVariableOfALoopIsAnAssignment) {
  for (const Case& it :
       {Case{"for x in a \"$b\" *; do c; done", "x=[a]x={}x={};[c];"}, Case{"for x; do a; done", "x={};[a];"},
        Case{"for x do a; done", "x={};[a];"}, Case{"for x\nin a\ndo b; done", "x=[a];[b];"},
        Case{"for x in; do a; done", ";[a];"}, Case{"for in in in do; do a; done", "in=[in]in=[do];[a];"},
        Case{"select x in $(a); do b; done", "x={};[a];[b];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Commands, OfConditions) {
  for (const Case& it : {Case{"[[ -f $x && ! ( a == b* || -z \"$(c)\" ) ]]", "[c];"}, Case{"[[ $x ]] && a", "[a];"},
                         Case{"[[ a < b || 1 -lt -2 ]]", ""}, Case{"[[ $x =~ ab+ ]]", ""},
                         Case{"[[ a &&\n b ]]; a", "[a];"}, Case{"[[ a -nt <(b) ]]", "[b];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Commands, HaveAssignments) {
  for (const Case& it :
       {Case{"a=1 b+=2 c d=3", "a=[1]b=[2][c][d=3];"}, Case{"a= b=c", "a=[]b=[c];"}, Case{"a[0]=b$c d", "a={b}[d];"},
        Case{"a=(b \"$(c)\"\n# d\n [3]=e) f", "a={}[f];[c];"}, Case{"a=(); a+=(b)", "a={};a={};"},
        Case{"1a=b -a=b a.b=c", "[1a=b][-a=b][a.b=c];"}, Case{"'a'=b", "[a=b];"}, Case{">x a=b c", "a=[b][c]>[x];"},
        Case{"RANDOM=7; OPTIND=1", "RANDOM=[7];OPTIND=[1];"}, Case{"LC_ALL=C sort", "LC_ALL=[C][sort];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Commands, HaveRedirections) {
  for (const Case& it :
       {Case{"a <b >c >>d >|e <>f &>g &>>h >&i", "[a]<[b]>[c]>[d]>[e]<>[f]>[g]>[h]>[i];"},
        Case{"a 2>&1 >&2 3<&- 4>&5- <&6 >& 7", "[a];"}, Case{"a 2>b 2 >c x2>d", "[a][2][x2]>[b]>[c]>[d];"},
        Case{"a <<<b <<< \"$(c)\"", "[a];[c];"}, Case{"a >$b >&$c <&$d >\"e$f\"", "[a]>{}>{}<{}>{e};"},
        Case{"a < <(b) > >(c)", "[a]<{}>{};[b];[c];"}, Case{">a", ">[a];"}, Case{">a b <c d", "[b][d]>[a]<[c];"},
        Case{"a 2<(b) >&-<(c)", "[a]{2}{};[b];[c];"},
        Case{"a </dev/null 2>/dev/stderr", "[a]<[/dev/null]>[/dev/stderr];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

}  // namespace
}  // namespace caisson::shell
