#include <gtest/gtest.h>

#include "caisson/shell/analysis_text.h"

namespace caisson::shell {
namespace {

TEST(HereDocuments, AreDataWhenQuoted) {
  for (const Case& it : {Case{"cat <<'E'\n$(a) `b` \"\nE\nc", "[cat];[c];"}, Case{"cat <<\\E\n$(a)\nE", "[cat];"},
                         Case{"cat <<\"E\" | b\n${\n\nE\n", "[cat];[b];"},
                         Case{"cat <<-'E'\n\t$(a\n\tE\nb", "[cat];[b];"}, Case{"cat <<'E'\na\\\nE\nb", "[cat];[b];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(HereDocuments, HoldCommandsWhenNot) {
  for (const Case& it :
       {Case{"cat <<E\n$(a) '`b`' \"${c:-$(d)}\" \\$(e)\nE\nf", "[cat];[a];[b];[d];[f];"},
        Case{"cat <<E; x\n$(a\nb)\nE", "[cat];[x];[a];[b];"},
        Case{"cat <<E <<'F' <<-G\n$(a)\nE\n$(b)\nF\n\t$(c)\n\tG\nd", "[cat];[a];[c];[d];"},
        Case{"cat <<E\na\\\nE\n$(b)\nE\n", "[cat];[b];"}, Case{"cat <<E\n\\\\\nE\nb", "[cat];[b];"},
        Case{"cat <<E\n$(cat <<F\n$(a)\nF\n)\nE\nb", "[cat];[cat];[a];[b];"},
        Case{"(cat <<E)\n$(a)\nE\nb", "[cat];[a];[b];"}, Case{"f() { cat <<E; }\n$(a)\nE\nb", "[cat];[a];[b];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(HereDocuments, BeginAtTheNextNewlineThatBashTakes) {
  EXPECT_EQ(Told("git commit -m \"$(cat <<'E'\nit's $(a)\nE\n)\" && b"), "[git][commit][-m]{};[cat];[b];");
  for (const std::string_view text :
       {"cat <<E", "cat <<E\n", "cat <<E\na", "cat <<E\n E\n", "cat <<E 'a\n'\nE\n", "cat <<E $(a\n)\nE\n",
        "cat <<E \"\n\"\nE\n", "cat <<E x=(\n)\nE\n", "cat <<E \\\na\nE\n", "cat <<E `a\n`\nE\n", "cat <<E\na\nE F\nE",
        "echo $(cat <<E)\na\nE\n", "echo `cat <<E`\na\nE\n", "cat <<E\n\\"}) {
    EXPECT_TRUE(Analyze(text).unknown) << text;
  }
}

TEST(HereDocuments, InSubstitutionsAreTheSimplestOnly) {
  for (const std::string_view text :
       {"a $(cat <<E; b\nE\n)", "a $(if b <<E\nE\nthen c; fi)", "a $(b <<E\nE\nc)", "a $(b <<E | c\nE\n)",
        "a <(b <<E <<F\nE\nF\n)", "a $( { b; } <<E\nE\n)", "a $(b <<E &\nE\n)"}) {
    EXPECT_TRUE(Analyze(text).unknown) << text;
  }
}

TEST(HereDocuments, HaveADelimiterOfOneReading) {
  for (const std::string_view text :
       {"a <<$x\n$x\n", "a <<`b`\n`b`\n", "a <<''\n\n", "a <<'E F'\nE F\n", "a <<E*\nE*\n", "a <<$'E'\nE\n",
        "a <<E\\\nF\nEF\n", "a << \nE\n", "a <<(b)\n", "a <<E(b)\nE\n"}) {
    EXPECT_TRUE(Analyze(text).unknown) << text;
  }
}

}  // namespace
}  // namespace caisson::shell
