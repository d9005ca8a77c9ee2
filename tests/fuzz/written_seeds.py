"""Seeds of what people write: shell text, policies, configuration documents, templates."""

from seed_parts import text


def shell_text():
    yield "lists", 'ls; cat a && b || c & d | e |& f\n! g\ntime -p h'
    yield "words", 'a\'b\'"c $d ${e}"\\f$\'\\x41\\n\' *.c {x,y} ~ [ab] {} $1 $@'
    yield "parameters", 'echo ${x:-$(a)} ${x:=w} ${x#*/} ${#x} ${x//a/"b c"} ${x:1:2} ${a[0]} "${a[@]}" ${x^^}'
    yield "substitutions", 'echo $(a $(b) `c \\`d\\``) <(e) >(f) "$(g "h")" $(< file)'
    yield "arithmetic", 'echo $((1+2*(3))); ((0x1f > 2)); for ((;;)); do a; done'
    yield "redirections", 'a <b >c >>d >|e <>f &>g &>>h 2>&1 3<&- >&i 2>j <<<"k"'
    yield "documents", "cat <<E <<-'F'; ls\n$(a) ${b} \\$c\nE\n\tx $(y)\n\tF\nz"
    yield "compounds", 'if a; then b; elif c; then d; else e; fi; while f; do g; done; until h; do i; done; (j); { k; }'
    yield "loops", 'for x in a "$b" *; do c; done; for y; do d; done; select z in 1 2; do e; done'
    yield "case", 'case $x in a|b) c ;; (*.d) e ;& f) ;;& esac'
    yield "functions", 'f() { a; }\nfunction g { b; }\nf x; g; h() ( c ) >d'
    yield "conditional", '[[ -f $x && ( a == b* || ! -z "$y" ) ]] && [[ 1 -lt 2 ]]; [[ $x =~ ab+ ]] '
    yield "assignments", 'a=1 b=$c d+=e f[0]=g h=(i "$j" [3]=k\n$(l)) ; m=n cmd o=p'
    yield "continued", 'ls \\\n -l a\\\nb "c\\\nd" # comment\nx'
    yield "refused", '${!a} ${a@P} $((b)) a[$(c)]=1 coproc x {fd}>y'
    yield "nested", '$($(`$(<(a))`))'


def policy_file():
    def case(file, command, json=False, folder="home/agent/workspace"):
        return bytes([json]) + text(file) + text(folder) + command.encode()

    rule = 'version = 1\ndefault = "ask"\n[[rule]]\nname = "a"\neffect = "allow"\n'
    yield "commands", case(
        rule + 'commands = ["ls", "git push", "./**", "/usr/bin/make"]\nmatch = ["ls"]\nnot_match = ["rm"]\n',
        "cd x && ./y | git -C z push > /tmp/out; /usr/bin/make $q")
    yield "flags", case(
        rule + 'commands = ["find", "cp"]\nforbid_flags = ["-exec", "-f", "--force"]\nrequire_flags = ["-r"]\n',
        "find . -exec cp -rf {} y ';'; cp --forc $x")
    yield "paths", case(
        rule + 'actions = ["file.read", "file.write"]\npaths = ["/a/**", "/b", "/**/*.c"]\nenforcement = "tool"\n',
        "> /a/../b; cat < /a/x.c")
    yield "conditions", case(
        rule + 'commands = ["x"]\nwhen = { days = "mon-wed,fri", hours = "22:00-06:00", timezone = "Europe/Berlin" }\n'
               "max_uses = 2\nnot_before = 1960-01-01T00:00:00Z\nexpires_at = 2027-01-01T00:00:00Z\n",
        "x; x; x")
    yield "others", case(
        rule + 'actions = ["network.connect", "secret.use", "process.signal"]\nhosts = ["*.example.org:*"]\n'
               'secrets = ["TOKEN"]\nhelpers = []\n',
        "exec 3<> /dev/tcp/a.example.org/443")
    yield "wrappers", case(
        rule + 'commands = ["env", "xargs", "timeout", "sh", "bash", "sudo", "watch", "flock", "nice", "busybox"]\n',
        "env -u A B=c timeout -k1 5 nice -3 ls | xargs -I% sh -c 'ls %'; bash -ec 'watch -x flock f -c \"busybox ls\"'")
    yield "builtins", case(
        'version = 1\ndefault = "allow"\n[[rule]]\neffect = "deny"\ncommands = ["rm"]\n',
        "f() { local x=1; printf -v y z; [ -f \"$x\" ]; eval 'ls; rm'; }; trap 'f' EXIT; read -a l; export A=\"$b\"")
    yield "json", case(
        '{"version":1,"rule":[{"effect":"deny","commands":["rm"]},{"effect":"ask","commands":["git push"]}]}',
        "git push; rm x", json=True)
    yield "mistake", case('version = 1\n[[rule]]\nefect = "alow"\n', "ls")


def document():
    toml, json = "\0", "\1"
    yield "toml", toml + ('a = 1\n"b c" = -2.5e3\nd.e.f = [true, {g = 1, h.i = []}]\n[t.u]\nv = 2027-01-01T00:00:00.5+01:00\n'
                          "[[w]]\nx = 0x1F\n[[w.y]]\n[[w]]\n")
    yield "toml_strings", toml + "a = \"\\u00e9\\n\"\nb = 'c:\\d'\ne = \"\"\"\nf\\\n  g\"\"\"\"\"\nh = '''i'''''\n"
    yield "toml_numbers", toml + "a = [0o7, 0b1, 1_000, inf, -nan, 1.e5, 9223372036854775807, 1979-05-27, 07:32:00]\n"
    yield "toml_deep", toml + "a" + ".a" * 31 + " = " + "[" * 8 + "]" * 8 + "\n[b" + ".b" * 40 + "]\n"
    yield "toml_twice", toml + "a = 1\n[a.b]\n[c]\n[c]\nd = {}\n[d.e]\n"
    yield "json", json + '{"a": [1, -2.5e3, true, "x\\u00e9\\n"], "b": {"a": {}},\r\n "c": "2027-01-01T00:00:00Z"}'
    yield "json_twice", json + '{"a":1,"a":2,"b":null}'
    yield "json_large", json + '{"a":18446744073709551616,"b":1e400}'
    yield "json_deep", json + "{\"a\":" + "[" * 40 + "]" * 40 + "}"


def tool_call():
    yield "command", 'run_command\n{"command": "ls | wc", "env": {"A": "1"}, "cwd": "/tmp", "stdin": "x", "timeout": 1.5, "background": true}'
    yield "argv", 'run_command\n{"argv": ["ls", "-l", ""]}'
    yield "read", 'read_file\n{"path": "src/../a.txt", "offset": 2, "limit": 10}'
    yield "write", 'write_file\n{"path": "/a", "content": "/wA=", "encoding": "base64", "if_exists": "append", "expected_sha256": "' + "a" * 64 + '"}'
    yield "edit", 'edit_file\n{"path": "a", "old_text": "x", "new_text": "", "count": 2}'
    yield "list", 'list_directory\n{"depth": 3, "limit": 10}'
    yield "search", 'search_files\n{"pattern": "a|b", "glob": "*.py", "limit": 5, "ignore_case": true}'
    yield "nothing", "get_environment\n{}"
    yield "unknown", 'read_fil\n{"path": 7}'


def template():
    yield "whole", """version = 1
image = "host"
tier = "auto"
user = "agent"
workspace = "/home/agent/workspace"
profile = "personal"
policy = "policy.toml"
toolset = "coding"
on_end = "delete"
idle_timeout = "15m"
max_lifetime = "24h"
audit = "on"
[packages]
apt = ["git"]
pip = ["pytest==8.3.3"]
[limits]
cpus = 2.0
memory = "2GiB"
disk = 5000000000
inodes = 0
timeout = "250ms"
pids = 256
output = "1MiB"
[budget]
wall_time = "10m"
commands = 100
output = "64MiB"
files_written = 10000
[monitor]
interval = "5s"
warn_percent = 80
stop_percent = 95
[checkpoint]
before = "change"
keep = 20
[env]
A = "1"
[secrets]
TOKEN = { env = "TOKEN" }
[[tool]]
name = "run_tests"
description = "Runs the tests."
argv = ["python3", "-m", "unittest", "{module}"]
effect = "execute"
parameters = { module = { type = "string", pattern = "^[a-z_.]+$" } }
"""
    yield "mistakes", "tier = 'docker'\n[limits]\nmemroy = '2GiB'\ncpus = nan\n[packages]\non_end = 'keep'\n"
    yield "preset", "version = 1\npolicy = 'standrad'\nprofile = 'team'\nimage = 'debian:12'\n"
