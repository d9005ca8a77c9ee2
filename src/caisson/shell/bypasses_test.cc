#include <gtest/gtest.h>

#include "caisson/shell/analysis_text.h"

namespace caisson::shell {
namespace {

// Ways to start touch past a judge who reads the text in another way than bash: what it starts is seen, or that it
// cannot be told.
TEST(Bypasses, ShowWhatTheyStart) {
  for (const Case& it :
       {Case{"ls; touch MARK", "[ls];[touch][MARK];"},
        Case{"ls && touch MARK", "[ls];[touch][MARK];"},
        Case{"ls | sh -c 'touch MARK'", "[ls];[sh][-c][touch MARK];"},
        Case{"ls & touch MARK", "[ls];[touch][MARK];"},
        Case{"ls\ntouch MARK", "[ls];[touch][MARK];"},
        Case{"ls nosuchfile || touch MARK", "[ls][nosuchfile];[touch][MARK];"},
        Case{"ls $(touch MARK)", "[ls]{};[touch][MARK];"},
        Case{"ls `touch MARK`", "[ls]{};[touch][MARK];"},
        Case{"ls <(touch MARK)", "[ls]{};[touch][MARK];"},
        Case{"cat ${x:-$(touch MARK)}", "[cat]{};[touch][MARK];"},
        Case{"echo $(( a[$(touch MARK)0] ))", "[echo];unknown: arithmetic with more than numbers"},
        Case{"test -v 'a[$(touch MARK)]'", "[test][-v][a[$(touch MARK)]];"},
        Case{"x='$(touch MARK)'; echo \"${x@P}\"",
             "x=[$(touch MARK)];[echo];unknown: a parameter expansion of an unknown kind"},
        Case{"cat <<EOF\n$(touch MARK)\nEOF", "[cat];[touch][MARK];"},
        Case{"ls \"$(touch MARK)\"", "[ls]{};[touch][MARK];"},
        Case{"echo x > MARK", "[echo][x]>[MARK];"},
        Case{"echo x >| MARK", "[echo][x]>[MARK];"},
        Case{"ls > /etc/caisson-MARK", "[ls]>[/etc/caisson-MARK];"},
        Case{"cat /etc/hostname >> /usr/local/bin/caisson-MARK", "[cat][/etc/hostname]>[/usr/local/bin/caisson-MARK];"},
        Case{"touch${IFS}MARK", "{touch};"},
        Case{"{touch,MARK}", "{};"},
        Case{"to''uch MARK", "[touch][MARK];"},
        Case{"t\\ouch MARK", "[touch][MARK];"},
        Case{"$'\\x74ouch' MARK", "[touch][MARK];"},
        Case{"/usr/bin/to?ch MARK", "{/usr/bin/to}[MARK];"},
        Case{"a=touch; $a MARK", "a=[touch];{}[MARK];"},
        Case{"ls; r\\m -rf MARKDIR", "[ls];[rm][-rf][MARKDIR];"},
        Case{"ls; $'\\x72m' -rf MARKDIR", "[ls];[rm][-rf][MARKDIR];"},
        Case{"ls; \"${V:-rm}\" -rf MARKDIR", "[ls];{}[-rf][MARKDIR];"},
        Case{"ls(){ touch MARK; }; ls", "[touch][MARK];![ls];"},
        Case{"shopt -s expand_aliases\nalias ls='touch MARK'\nls",
             "[shopt][-s][expand_aliases];[alias][ls=touch MARK];[ls];"},
        Case{"trap 'touch MARK' EXIT", "[trap][touch MARK][EXIT];"},
        Case{"command_not_found_handle(){ touch MARK; }; nosuchcommand", "[touch][MARK];[nosuchcommand];"},
        Case{"eval 'touch MARK'", "[eval][touch MARK];"},
        Case{". /dev/stdin <<< 'touch MARK'", "[.][/dev/stdin];"},
        Case{"PATH=./bin:$PATH ls", "PATH={./bin:}[ls];"},
        Case{"BASH_ENV=./f bash -c :", "BASH_ENV=[./f][bash][-c][:];"},
        Case{"ENV=./f sh -i </dev/null", "ENV=[./f][sh][-i]<[/dev/null];"},
        Case{"PROMPT_COMMAND='touch MARK' bash -i </dev/null", "PROMPT_COMMAND=[touch MARK][bash][-i]<[/dev/null];"},
        Case{"env -S 'touch MARK'", "[env][-S][touch MARK];"},
        Case{"env touch MARK", "[env][touch][MARK];"},
        Case{"nice touch MARK", "[nice][touch][MARK];"},
        Case{"timeout 5 touch MARK", "[timeout][5][touch][MARK];"},
        Case{"nohup touch MARK", "[nohup][touch][MARK];"},
        Case{"setsid -w touch MARK", "[setsid][-w][touch][MARK];"},
        Case{"stdbuf -o0 touch MARK", "[stdbuf][-o0][touch][MARK];"},
        Case{"echo MARK | xargs touch", "[echo][MARK];[xargs][touch];"},
        Case{"command touch MARK", "[command][touch][MARK];"},
        Case{"exec touch MARK", "[exec][touch][MARK];"},
        Case{"time touch MARK", "[touch][MARK];"},
        Case{"ls\rtouch MARK", "unknown: a control character"},
        Case{"ls; touch MARK", "[ls];[ touch][MARK];"},
        Case{"ｌｓ MARK", "[ｌｓ][MARK];"}}) {
    EXPECT_EQ(Told(it.text), it.told) << it.text;
  }
}

TEST(Bypasses, LookLikeTextThatIsHarmless) {
  for (const char* text : {"ls ； touch MARK",
                           "grep \"rm -rf\" file",
                           "grep -rn 'dd if=' .",
                           "grep -E 'rm|dd|mkfs' file",
                           "grep 'a;b' file",
                           "grep \"a && b\" file",
                           "grep 'x > y' file",
                           "grep '`' file",
                           "grep '$(touch x)' file",
                           "grep -F 'curl | sh' file",
                           "grep -e '; rm -rf /' file",
                           "git commit -q --allow-empty -m \"dd and mkfs\"",
                           "git commit -q --allow-empty -m 'remove rm -rf from the script; run make'",
                           "git log --oneline --grep='rm -rf'",
                           "git log --format='%h > %s | %an'",
                           "git --no-pager diff --stat",
                           "git add -A",
                           "git rm --cached file",
                           "cat rm.txt",
                           "cat ./dd/mkfs.txt",
                           "cat -- '-rf'",
                           "ls 'my file; rm -rf x'",
                           "ls add.txt mkfs.log",
                           "ls -la | grep rm",
                           "ls && cat file",
                           "ls nosuchfile || cat file",
                           "ls; cat file",
                           "cat <<'EOF'\nrm -rf / is only text here\nEOF",
                           "cat <<'EOF'\n$(touch MARK) and `touch MARK` stay text\nEOF",
                           "grep x <<< 'dd if=/dev/zero'",
                           "python3 -c 'print(\"rm -rf /\")'",
                           "python3 -c 'print(1 > 0 and 2 | 1)'",
                           "python3 -c 'import re; print(re.sub(\"dd\", \"mkfs\", \"add\"))'",
                           "pip list --format=json",
                           "make -n rm-build",
                           "make CFLAGS='-DRM=1' all",
                           "cat 'back`tick'",
                           "ls \"it's; fine\"",
                           "cat file # rm -rf /",
                           "python3 - <<'EOF'\nfor word in ('rm', 'dd', 'mkfs'):\n    print(word)\nEOF"}) {
    EXPECT_FALSE(Analyze(text).unknown) << text;
  }
}

}  // namespace
}  // namespace caisson::shell
