"""Random shell texts: from a grammar that knows most of bash, then changed here and there.

Every command has a name of its own (k1, k2, ... succeed, n1, n2, ... fail), so that what starts can be told from what
stands in data. Nothing in a text names a program that exists.
"""

import random
import re

SPECIAL = list("'\"`\\$(){}[]<>;&|!#~*?=\n\t ,:.-@%/^0") + ["$(", "${", "))", "((", "\\\n", "<<E", "\nE\n", ";;", "&&", "'$(k99)'"]
# What shfmt and bash are known to read in different ways is only for bash.
MORE = SPECIAL + ["=(", "[0]", "[", "]", "+=", "{a,", "..}", "function ", "() ", "case x in ", "esac", "; do ", "done", "if ", "then ",
                  "fi", "time ", "! ", "[[ ", " ]]", "<(", ">(", "&>", ">&", "<&", "<<-'E'", "<<<", "$'", "\\'", "k94", "\nk93\n",
                  "`k92`", "\"$(k91)\"", "${x:-", "${x#", "${#", "\"${x:=", "}\"", "]=", "$[", "$((", "coproc ", "select y in "]


class Texts:
    """`comments`: whether a # may stand where it could begin one."""

    def __init__(self, seed, comments=True):
        self.random = random.Random(seed)
        self.comments = comments
        self.special = MORE if comments else SPECIAL
        self.count = 0
        self.documents = []

    def text(self):
        """One text."""
        self.count = 0
        self.documents = []
        text = self.list(self.random.choice((1, 1, 2, 2, 3)), top=True) + self.bodies()
        for _ in range(self.random.choice((0, 0, 1, 2, 3, 5))):
            text = self.changed(text)
        return text if self.comments else re.sub(r"(?<!\$\{)(?<!\$\{[xyz])#", "h", text)

    def changed(self, text):
        at = self.random.randrange(len(text) + 1)
        kind = self.random.randrange(4)
        if kind == 0:
            return text[:at] + text[at + 1 :]
        if kind == 1:
            return text[:at] + self.random.choice(self.special) + text[at:]
        if kind == 2:
            return text[:at] + self.random.choice(self.special) + text[at + 1 :]
        end = min(len(text), at + self.random.randrange(1, 8))
        other = self.random.randrange(len(text) + 1)
        return text[:other] + text[at:end] + text[other:]

    def one_of(self, *choices):
        choice = self.random.choice(choices)
        return choice() if callable(choice) else choice

    def name(self, letter=None):
        self.count += 1
        return (letter or self.random.choice("kkkn")) + str(self.count)

    def bodies(self):
        """The here-documents that wait for a newline."""
        documents, self.documents = self.documents, []
        return "".join("\n" + body for body in documents) + ("\n" if documents else "")

    def newline(self):
        return self.bodies() or "\n"

    def list(self, depth, top=False):
        parts = []
        for _ in range(self.random.choice((1, 1, 2, 3))):
            parts.append(self.statement(depth))
            parts.append(self.one_of("; ", ";", self.newline, " & ", self.newline, " # k98 'x\n" if not self.documents else ";"))
        if not top and parts[-1].strip() == "":
            parts[-1] = parts[-1] or "\n"
        return "".join(parts)

    def closed(self, depth):
        """A list that a keyword may follow."""
        text = self.list(depth)
        return text if text.rstrip(" ").endswith((";", "\n", "&")) else text + ";"

    def statement(self, depth):
        parts = [self.pipeline(depth)]
        while self.random.random() < 0.25:
            parts.append(self.one_of(" && ", "||", " &&\n" if not self.documents else "&&") + self.pipeline(depth))
        return "".join(parts)

    def pipeline(self, depth):
        prefix = self.one_of("", "", "", "", "", "! ", "time ", "time -p ! ")
        parts = [self.command(depth)]
        while self.random.random() < 0.2:
            parts.append(self.one_of(" | ", "|", "|& ") + self.command(depth))
        return prefix + "".join(parts)

    def command(self, depth):
        if depth <= 0 or self.random.random() < 0.65:
            return self.simple(depth)
        d = depth - 1
        inner = self.one_of(
            lambda: "( " + self.list(d) + self.bodies() + ")",
            lambda: "{ " + self.closed(d) + " }",
            lambda: f"if {self.closed(d)} then {self.closed(d)} else {self.closed(d)} fi",
            lambda: f"if {self.closed(d)} then {self.closed(d)} elif {self.closed(d)} then {self.closed(d)} fi",
            lambda: f"while {self.name('n')}; do {self.closed(d)} done",
            lambda: f"until {self.name('k')}; do {self.closed(d)} done",
            lambda: f"for x in {self.word(d)} {self.word(d)}; do {self.closed(d)} done",
            lambda: f"for y do {self.closed(d)} done",
            lambda: f"case {self.word(d)} in {self.word(d)}|b) {self.closed(d)};; (*) {self.closed(d)} ;; esac",
            lambda: f"case a in a) {self.closed(d)} ;& {self.word(d)} ) {self.closed(d)} ;;& *) esac",
            lambda: f"f{self.random.randrange(3)}() {{ {self.closed(d)} }}",
            lambda: f"function g {{ {self.closed(d)} }}",
            lambda: f"[[ {self.word(d)} == {self.word(d)} && ! -f {self.word(d)} || ( -n {self.word(d)} ) ]]",
            lambda: f"[[ {self.word(d)} =~ {self.word(d)} ]]",
            lambda: f"(( {self.arithmetic()} ))",
        )
        return inner + self.one_of("", "", "", lambda: " " + self.redirection(d))

    def simple(self, depth):
        parts = []
        if self.random.random() < 0.2:
            parts.append(self.one_of("a", "b_1") + self.one_of("=", "+=") + self.one_of("", lambda: self.word(depth)))
        if self.random.random() < 0.05:
            parts.append(f"c=({self.word(depth)} [2]={self.word(depth)})")
        if self.random.random() < 0.1:
            parts.append(self.redirection(depth))
        if not parts or self.random.random() < 0.8:
            parts.append(self.one_of(self.name, self.name, self.name, lambda: self.spelled(self.name()), "f0", "f1", "g", "echo", ":"))
            for _ in range(self.random.randrange(3)):
                parts.append(self.word(depth))
        if self.random.random() < 0.2:
            parts.append(self.redirection(depth))
        return self.one_of(" ", " ", "  ", " \\\n" if not self.documents else " ").join(parts)

    def spelled(self, name):
        """The same name in other quotes."""
        first, rest = name[0], name[1:]
        return self.one_of(f"'{first}'{rest}", f'"{name}"', f"\\{name}", f"$'\\x{ord(first):x}'{rest}", f"{first}''{rest}", f"{first}\"{rest}\"")

    def redirection(self, depth):
        if depth > 0 and self.random.random() < 0.3:
            return self.document(depth - 1)
        return self.one_of("2>&1", ">&2", "</dev/null", "3<&-", f">o{self.count}", ">>o", "&>o", ">|o", "<>o", lambda: "<<< " + self.word(depth - 1), lambda: "< " + self.word(depth - 1))

    def document(self, depth):
        quoted = self.random.random() < 0.5
        strips = self.random.random() < 0.3
        lines = []
        for _ in range(self.random.randrange(3)):
            if quoted:
                lines.append(self.one_of("$(k97)", "`k96`", "it's", '"', "${x", "\\", "E E", ")"))
            else:
                before, self.documents = self.documents, []
                lines.append(self.one_of("plain 'x", '"', lambda: self.substitution(depth), lambda: "$(" + self.name() + ")", "\\$(k95)", "$x", "\\`", "a\\\nb"))
                self.documents = before
        self.documents.append("\n".join([("\t" if strips else "") + line for line in lines] + [("\t" if strips else "") + "E"]))
        return ("<<-" if strips else "<<") + (self.one_of("'E'", '"E"', "\\E") if quoted else "E")

    def arithmetic(self):
        return self.one_of("1", "2+3", "(1<2)*3", "0x1f", "1?2:3", "x", "~1")

    def word(self, depth):
        return "".join(self.part(depth) for _ in range(self.random.choice((1, 1, 1, 2, 3))))

    def part(self, depth):
        plain = ("w", "-l", "a.b", "'s q'", '"d q"', "\\;", "x=y", "$x", "${x}", "*", "{a,b}", "{}", "$'\\t'", "''", "#", "~", "@", "$?", "$#", "%")
        if depth <= 0 or self.random.random() < 0.7:
            return self.one_of(*plain)
        return self.substitution(depth - 1)

    def substitution(self, depth):
        before, self.documents = self.documents, []
        made = self.one_of(
            lambda: f"$({self.list(depth)}{self.bodies()})",
            lambda: f'"$({self.list(depth)}{self.bodies()})"',
            lambda: '"' + self.one_of("a ", "it's ", "$x", "\\\"") + self.substitution(depth - 1) + '"' if depth > 0 else "$x",
            lambda: f"`{self.name()} w`",
            lambda: f'"`{self.name()} \'w\'`"',
            lambda: f"`{self.name()} \\`{self.name()}\\``",
            lambda: f"<({self.name()})",
            lambda: f"${{z:-{self.word(depth)}}}",
            lambda: f'"${{z:+$({self.name()})}}"',
            lambda: f"${{z:=w$({self.name()})}}",
            lambda: f"${{x#{self.word(depth)}}}",
            lambda: f"${{x//a/{self.word(depth)}}}",
            lambda: f"$(({self.arithmetic()}))",
            "${#x}",
            "${x:1:2}",
            "${c[1]}",
            "$(< /dev/null)",
        )
        self.documents = before
        return made
