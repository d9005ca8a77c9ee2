#include <gtest/gtest.h>

#include "caisson/shell/analysis_text.h"

namespace caisson::shell {
namespace {

TEST(Words, LoseTheirQuotes) {
  for (const Case& it :
       {Case{"ls -l", "[ls][-l];"}, Case{"to''uch \"a b\" 'c  d'e", "[touch][a b][c  de];"},
        Case{"t\\ouch a\\ b \\;", "[touch][a b][;];"}, Case{"r\\m \"\\$x \\` \\\" \\\\ \\n\"", "[rm][$x ` \" \\ \\n];"},
        Case{"a '' \"\"", "[a][][];"}, Case{"a 'x\ny' \"x\ny\"", "[a][x\ny][x\ny];"},
        Case{"a\xC2\xA0"
             "b \xEF\xBC\x9B c",
             "[a\xC2\xA0"
             "b][\xEF\xBC\x9B][c];"},
        Case{"ls a#b # c; d", "[ls][a#b];"}, Case{"echo $ a$ $. \"$\"", "[echo][$][a$][$.][$];"},
        Case{"a ! b", "[a][!][b];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Words, DecodeEscapes) {
  for (const Case& it : {Case{"$'\\x72m' $'\\162m' $'a\\tb\\'c\\\\'", "[rm][rm][a\tb'c\\];"},
                         Case{"a $'\\u0041\\U00000042'", "[a][AB];"}, Case{"a $'\\u00e9'", "[a]{};"},
                         Case{"a b$'\\xff'", "[a]{};"}, Case{"a $'\\x7f' $'\\1'", "[a]{}{};"},
                         Case{"a $'\\xc3\\xa9'", "[a][\xC3\xA9];"}, Case{"a \"$'b'\"", "[a][$'b'];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Words, AreUnknownWhereTheyExpand) {
  for (const Case& it :
       {Case{"{touch,MARK}", "{};"}, Case{"a b{1..3}c x{y {} {z}", "[a]{b}[x{y][{}][{z}];"},
        Case{"a \\{b,c} {b\\,c} '{b,c}'", "[a][{b,c}][{b,c}][{b,c}];"}, Case{"/usr/bin/to?ch *.c", "{/usr/bin/to}{};"},
        Case{"[ a = b ] x[ [ab] a[\"]\"", "[[][a][=][b][]][x[]{}{a};"},
        Case{"a ~ ~/b c=~ d:~ e~ '~'", "[a]{}{}{c=}{d:}[e~][~];"}, Case{"touch${IFS}MARK", "{touch};"},
        Case{"a --b=$c \"$d\" $1 $@ $? $$", "[a]{--b=}{}{}{}{}{};"}, Case{"a {$b,c}", "[a]{};"},
        Case{"a b$((1))", "[a]{b};"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Words, HoldCommands) {
  for (const Case& it :
       {Case{"a $(b c) d", "[a]{}[d];[b][c];"}, Case{"a \"x$(b \"$(c)\")\"", "[a]{x};[b]{};[c];"},
        Case{"a `b \\`c\\`` \"`d 'e'`\"", "[a]{}{};[b]{};[c];[d][e];"}, Case{"a `b \\$c '\\\\'`", "[a]{};[b]{}[\\];"},
        Case{"a <(b) >(c) x<(d)", "[a]{}{}{x};[b];[c];[d];"}, Case{"a $(< b)", "[a]{};<[b];"},
        Case{"a $() ``", "[a]{}{};"}, Case{"a $(b # )\n) c", "[a]{}[c];[b];"}, Case{"$(a)", "{};[a];"},
        Case{"a $(case b in c) d;; esac)", "[a]{};[d];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Words, HoldParameters) {
  for (const Case& it : {Case{"a ${x} ${x:-$(b)} \"${x-$(c)}\"", "[a]{}{}{};[b];[c];"},
                         Case{"${x:=b c}", "{};x=[b c];"}, Case{"a ${x=$(b)}", "[a]{};x={};[b];"},
                         Case{"a ${#x} ${#} ${x#a*} ${x%%'}'} ${x//\"a b\"/$(c)}", "[a]{}{}{}{}{};[c];"},
                         Case{"a ${x:1} ${x: -1:2} ${x[0]} ${x[@]} ${#x[*]} ${x^^} ${x,}", "[a]{}{}{}{}{}{}{};"},
                         Case{"a ${x/$'\\n'/b}", "[a]{};"}, Case{"a \"${x:-b\\}c}\"", "[a]{};"},
                         Case{"a ${*} ${@:1:2} ${?} ${10}", "[a]{}{}{}{};"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Words, AreJoinedOverLines) {
  for (const Case& it : {Case{"ls \\\n -l a\\\nb \"c\\\nd\"", "[ls][-l][ab][cd];"}, Case{"a |\\\nb", "[a];[b];"},
                         Case{"a 'b\\\nc'", "[a][b\\\nc];"}, Case{"a # b \\\nc", "[a];[c];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

}  // namespace
}  // namespace caisson::shell
