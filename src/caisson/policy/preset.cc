#include "caisson/policy/preset.h"

namespace caisson::policy {
namespace {

constexpr std::string_view kOpen = R"(# Everything inside the sandbox is allowed: isolation and limits alone bind.
version = 1
default = "allow"
)";

constexpr std::string_view kAsks = R"(version = 1
default = "ask"
)";

constexpr std::string_view kDenies = R"(version = 1
default = "deny"
)";

constexpr std::string_view kSystem = R"(
[[rule]]
name = "system"
effect = "allow"
actions = ["file.read"]
paths = [
  "/usr/**", "/bin/**", "/sbin/**", "/lib/**", "/lib32/**", "/lib64/**", "/libx32/**", "/opt/**", "/etc/**",
  "/proc/**", "/sys/**", "/dev/**", "/run/**", "/var/**", "/srv/**",
]
reason = "the image's own files may be read; that lets none of them run"
)";

constexpr std::string_view kWorkspace = R"(
[[rule]]
name = "workspace"
effect = "allow"
actions = ["file.read", "file.write", "file.delete"]
paths = ["/home/agent/**", "/tmp/**", "/var/tmp/**", "/dev/shm/**"]
)";

constexpr std::string_view kToolchain = R"(
[[rule]]
name = "toolchain"
effect = "allow"
commands = ["ls", "cat", "grep", "python3", "pip", "git", "make"]
match = ["git status", "python3 test.py | grep ok"]
not_match = ["ls; rm -rf x", "ls > /etc/x"]
)";

constexpr std::string_view kReading = R"(
[[rule]]
name = "reading"
effect = "allow"
commands = [
  "echo", "printf", "test", "[", "expr", "seq", "sleep", "true", "false", "pwd", "head", "tail", "wc", "diff", "cmp",
  "comm", "uniq", "cut", "tr", "tac", "rev", "nl", "fold", "paste", "join", "column", "od", "hexdump", "strings",
  "stat", "file", "tree", "du", "df", "basename", "dirname", "realpath", "readlink", "date", "which", "id", "whoami",
  "uname", "nproc", "ps", "egrep", "fgrep", "rg", "sed", "awk", "mawk", "gawk", "xargs", "timeout", "jq", "cksum", "md5sum", "sha1sum", "sha256sum", "sha512sum",
]
match = ["echo x | head -n 1"]

[[rule]]
name = "sort"
effect = "allow"
commands = ["sort"]
forbid_flags = ["--compress-program"]
match = ["sort -u names.txt"]
not_match = ["sort --compress-program=./p big", "sort --comp ./p big"]
reason = "without starting a program"

[[rule]]
name = "find"
effect = "allow"
commands = ["find"]
forbid_flags = ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]
match = ["find . -name '*.py' -newer setup.py"]
not_match = ["find . -delete", "find . -exec ls {} +", "find $x"]
reason = "without starting, deleting or writing"
)";

constexpr std::string_view kMaking = R"(
[[rule]]
name = "making"
effect = "allow"
commands = ["mkdir", "touch", "cp", "mv", "ln", "tee"]
match = ["mkdir -p src/app"]
not_match = ["rm -rf src"]
reason = "they only make and move files, where files may be written"

[[rule]]
name = "compilers"
effect = "allow"
commands = [
  "gcc", "g++", "cc", "c++", "cpp", "clang", "clang++", "ld", "as", "ar", "ranlib", "nm", "objdump", "readelf", "size",
  "strip", "gcov", "cmake", "ctest", "ninja", "meson", "pkg-config", "python", "pip3", "pytest", "coverage", "mypy",
  "ruff", "node", "npm", "npx", "tsc", "cargo", "rustc", "rustdoc", "rustfmt", "go", "gofmt", "javac", "java", "jar",
  "mvn", "gradle", "ruby", "bundle", "rake", "rspec", "perl", "prove",
]
match = ["gcc -o a a.c && ctest"]

[[rule]]
name = "built"
effect = "allow"
commands = ["./**"]
match = ["./a.out", "build/tests/all --quick"]
not_match = ["../../../usr/bin/rm x"]
reason = "an agent must run what it builds; with it a program can be copied and run under another name"
)";

constexpr std::string_view kReadOnlyFiles = R"(
[[rule]]
name = "workspace"
effect = "allow"
actions = ["file.read"]
paths = ["/home/agent/**"]

[[rule]]
name = "scratch"
effect = "allow"
actions = ["file.read", "file.write", "file.delete"]
paths = ["/tmp/**", "/var/tmp/**", "/dev/shm/**"]
reason = "for what programs keep while they run"

[[rule]]
name = "looking"
effect = "allow"
commands = ["ls", "cat", "grep"]
match = ["ls -la | grep x > /tmp/found"]
not_match = ["ls > found", "python3 -c 1"]
)";

}  // namespace

const std::vector<std::string_view>& PresetFileNames() {
  static const std::vector<std::string_view> names = {"open", "standard", "minimal", "read_only", "strict"};
  return names;
}

std::optional<std::string> PresetFile(std::string_view name) {
  std::vector<std::string_view> parts;
  if (name == "open") {
    parts = {kOpen};
  } else if (name == "standard") {
    parts = {kAsks, kSystem, kWorkspace, kToolchain, kReading, kMaking};
  } else if (name == "minimal") {
    parts = {kAsks, kSystem, kWorkspace, kToolchain};
  } else if (name == "read_only") {
    parts = {kAsks, kSystem, kReadOnlyFiles, kReading};
  } else if (name == "strict") {
    parts = {kDenies, kSystem, kWorkspace, kToolchain};
  } else {
    return std::nullopt;
  }
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace caisson::policy
