#include <gtest/gtest.h>

#include <string>

#include "caisson/shell/analysis_text.h"

namespace caisson::shell {
namespace {

using std::string_view_literals::operator""sv;

void ExpectUnknown(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_TRUE(Analyze(text).unknown) << text;
}

TEST(Refusals, OfBytes) {
  ExpectUnknown({"ls\0touch"sv, "ls\rtouch M", "a \x01", "a '\x1B[2J'", "a \x7F", "a \xFF", "a \xC3", "a '\xC0\xAF'"});
  EXPECT_EQ(Analyze("ls\r").unknown->offset, 2U);
}

TEST(Refusals, OfTextThatIsNotWhole) {
  ExpectUnknown({"a 'b",
                 "a \"b",
                 "a $'b",
                 "a `b",
                 "a $(b",
                 "a ${b",
                 "a $((1)",
                 "a \\",
                 "a &&",
                 "a |",
                 "a ||\n",
                 "!",
                 "&& ls",
                 "ls ;; rm",
                 "; ;",
                 "a; ; b",
                 "a & ; b",
                 ";",
                 "if a; then b",
                 "if a; fi",
                 "while a; done",
                 "for x in a; b",
                 "(a",
                 "{ a",
                 "{ a }",
                 "a)",
                 "a }; }",
                 "()",
                 "{ }",
                 "( )",
                 "case a in b",
                 "case a in b c;; esac",
                 "case a in b|) c;; esac",
                 "fi",
                 "then a",
                 "do a; done",
                 "esac",
                 "in",
                 "[[ a",
                 "[[ ]]",
                 "[[ a b ]]",
                 "a >",
                 "a > ;",
                 "a <&b",
                 "f() a",
                 "f()",
                 "function",
                 "a (b)",
                 "a b(c)",
                 "(a) b",
                 "{ a; } b",
                 "x=(a",
                 "x=(a;b)",
                 "if a; then b; fi fi",
                 "(a) >b }",
                 "time",
                 "time; a",
                 "a | time b"});
}

TEST(Refusals, OfWhatEvaluatesItsValue) {
  ExpectUnknown({"echo $(( a[$(b)0] ))",
                 "echo $((x))",
                 "((x++))",
                 "echo $(($x))",
                 "echo $[1]",
                 "for ((i=0;i<3;i++)); do a; done",
                 "echo ${x@P}",
                 "echo \"${x@Q}\"",
                 "echo ${!x}",
                 "echo ${!x@}",
                 "echo ${a[$(b)]}",
                 "echo ${a[x]}",
                 "echo ${x:y}",
                 "echo ${x:1:$(a)}",
                 "a[$(b)]=c",
                 "a[x]=c",
                 "a=([$(b)]=c)",
                 "a=([x]=c)",
                 "[[ -v x ]]",
                 "[[ -R x ]]",
                 "[[ $x -eq 1 ]]",
                 "[[ 1 -lt x ]]",
                 "[[ $x =~ (a|b) ]]",
                 "[[ a =~ b||c ]]",
                 "RANDOM='a[$(b)]'",
                 "SRANDOM=x a",
                 "OPTIND+=$x",
                 "HISTCMD=(1)",
                 "for RANDOM in 'a[$(b)]'; do c; done",
                 "echo ${OPTIND:=x}"});
}

TEST(Refusals, OfWhatChangesTheReading) {
  ExpectUnknown({"POSIXLY_CORRECT=1", "LC_ALL=ja_JP.SJIS", "LANG=x; a", "BASH_COMPAT=3.1",
                 "for LC_CTYPE in x; do a; done", "echo ${LANG:=x}"});
}

TEST(Refusals, OfTwoReadings) {
  ExpectUnknown({"a +(b)",
                 "a @(b|c)",
                 "a !(b)",
                 "a ?(b)",
                 "a *(b)",
                 "!(a)",
                 "echo $\"a\"",
                 "coproc a",
                 "coproc { a; }",
                 "a {x}>b",
                 "a {x}<&-",
                 "a >/dev/tcp/h/80",
                 "exec 3<>/dev/udp/h/53",
                 "a >/dev/tcp/$h/80",
                 "a </dev/$x",
                 "((a) )",
                 "echo $((a) | b)",
                 "echo ${x:-`a`}",
                 "echo \"${x:-'a'}\"",
                 "echo \"${x#\"a\"}\"",
                 "echo ${x:-{a}}",
                 "echo ${x:-(a)}",
                 "echo `a \\\n`",
                 "echo \"`a \\\"b\\\"`\"",
                 "a 12345>b",
                 "a > 2>&1",
                 "a <<< 3<&-",
                 ">&-a b",
                 "3<&-[0]",
                 "a >& -x",
                 ">&-\\\na",
                 "a | ! b",
                 "! ! a",
                 "if() { a; }",
                 "a;; b",
                 "time -x a",
                 "x=1 if",
                 ">a if",
                 "$'\\0'",
                 "a $'\\x00b'",
                 "a $'\\x'",
                 "a $'\\q'",
                 "a $'\\cA'"});
}

// Bash joins lines before it looks for operators and keywords.
TEST(Refusals, OfLinesThatAreJoinedInsideTokens) {
  ExpectUnknown({"echo $\\\n(a)", "a &\\\n& b", "a >\\\n>b", "a <\\\n(b)", "a <<\\\n-E\nE\n", "i\\\nf a; then b; fi",
                 "x\\\n=b c", "a 2\\\n>b", "echo ${x\\\n}", "a ;\\\n; b", "(\\\n(1))"});
}

TEST(Refusals, OfWhatBashPrintsWrongInSubstitutions) {
  ExpectUnknown({"a $(x=(\\;))", "a <(x=(b); c)", "a $(time b)", "a \"$( (time b) )\""});
}

TEST(Refusals, AreBounded) {
  const auto repeated = [](std::string_view part, std::size_t count) {
    std::string text;
    for (std::size_t at = 0; at < count; ++at) text += part;
    return text;
  };
  EXPECT_FALSE(Analyze(repeated("a;", kMostCommands)).unknown);
  const Analysis many = Analyze(repeated("a;", kMostCommands + 1));
  EXPECT_TRUE(many.unknown);
  EXPECT_EQ(many.commands.size(), kMostCommands);
  EXPECT_FALSE(Analyze(std::string(kMostText, 'a')).unknown);
  EXPECT_TRUE(Analyze(std::string(kMostText + 1, 'a')).unknown);
  const Analysis deep = Analyze(repeated("(", kMostDepth) + "a" + repeated(")", kMostDepth));
  EXPECT_TRUE(deep.unknown) << "(( is arithmetic";
  EXPECT_EQ(Analyze(repeated("( ", kMostDepth) + "a" + repeated(")", kMostDepth)).depth, kMostDepth);
  for (const std::string_view part :
       {"( ", "{ ", "$(", "\"$(", "${x:-", "if ", "f() { ", "[[ ( ", "<(", "x=(", "case a in b) "}) {
    const Analysis found = Analyze(repeated(part, 100'000));
    EXPECT_TRUE(found.unknown) << part;
    EXPECT_LE(found.depth, kMostDepth) << part;
  }
}

TEST(Refusals, KeepWhatWasFoundBefore) {
  EXPECT_EQ(Told("rm -rf x >y; a b$[1]"), "[rm][-rf][x]>[y];[a];unknown: arithmetic in $[ ]");
}

}  // namespace
}  // namespace caisson::shell
