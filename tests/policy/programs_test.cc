#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "policy/policy_test.h"

// Every ELF program of the image is tried, by execve and through the loader: those that are named run, and no other.

namespace caisson::support {
namespace {

// Reads ELF by itself: what is tried does not rest on what Caisson takes for a program.
constexpr const char* kTryAll = R"py(
import os, struct, subprocess, sys

LOADER = "/lib64/ld-linux-x86-64.so.2"

def is_program(path):
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:4] != b"\x7fELF":
                return False
            wide = head[4] == 2
            kind = struct.unpack_from("<H", head, 16)[0]
            if kind == 2:
                return True
            if kind != 3:
                return False
            offset = struct.unpack_from("<Q", head, 32)[0] if wide else struct.unpack_from("<I", head, 28)[0]
            size, count = struct.unpack_from("<HH", head, 54 if wide else 42)
            file.seek(offset)
            table = file.read(size * count)
            for i in range(count):
                entry = table[i * size:(i + 1) * size]
                if struct.unpack_from("<I", entry, 0)[0] == 3:
                    return not (".so" in os.path.basename(path))
            return False
    except PermissionError:
        return True
    except OSError:
        return False

ran = []
for root, _, names in os.walk("/usr"):
    for name in names:
        path = os.path.join(root, name)
        if os.path.islink(path) or not os.path.isfile(path) or not is_program(path):
            continue
        for how, argv in (("execve", [path]), ("loader", [LOADER, path])):
            try:
                ended = subprocess.run(argv + ["--version"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, timeout=10)
            except PermissionError:
                continue
            except OSError as error:
                if error.errno in (8, 2):  # of another architecture, or its loader is missing
                    continue
                raise
            except subprocess.TimeoutExpired:
                ran.append((how, path))
                continue
            refused = ended.returncode in (126, 127) and b"denied" in ended.stderr.lower()
            static = b"not a dynamic executable" in ended.stderr or b"cannot load file" in ended.stderr
            if not refused and not static:
                ran.append((how, path))
print(len(ran))
for how, path in ran:
    print(how, path)
)py";

TEST_F(PolicyTest, OnlyTheProgramsThatAreNamedRun) {
  UsePreset("minimal");
  ASSERT_EQ(ExitCode(Operate("cat > try_all.py <<'EOF'\n" + std::string(kTryAll) + "EOF")), 0);
  const Answer answer = Ask("python3 try_all.py");
  ASSERT_EQ(answer.exit_code(), 0) << answer.text();

  const sandbox::CommandResult named = Operate(
      "for name in ls cat grep python3 git make bash sh; do realpath \"$(command -v $name)\"; done; "
      "realpath /lib64/ld-linux-x86-64.so.2");
  std::set<std::string> expected;
  std::istringstream names(named.out.kept);
  for (std::string path; std::getline(names, path);) expected.insert(path);

  std::istringstream lines(answer.result->out.kept);
  std::size_t count = 0;
  lines >> count;
  EXPECT_GT(count, 10U);
  std::string how;
  std::string path;
  while (lines >> how >> path) {
    EXPECT_TRUE(expected.contains(path) || path.starts_with("/usr/lib/git-core/")) << how << " " << path;
  }
}

TEST_F(PolicyTest, AProgramThatIsNotNamedCannotBeRead) {
  UsePreset("minimal");
  const Answer answer = Ask("cat /usr/bin/touch");
  EXPECT_EQ(answer.exit_code(), 1) << answer.text();
  ExpectRuns("ls -l /usr/bin/touch");
  ExpectRuns("cat /usr/bin/ls > copy");
}

}  // namespace
}  // namespace caisson::support
