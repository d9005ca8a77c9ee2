#include <gtest/gtest.h>

#include "policy/policy_test.h"

// Ordinary work goes on under the presets, each command as an agent gives it.

namespace caisson::support {
namespace {

class OrdinaryWork : public PolicyTest {
 protected:
  bool HostHas(const std::string& test) { return ExitCode(Operate(test)) == 0; }
};

TEST_F(OrdinaryWork, MakeUnderMinimal) {
  UsePreset("minimal");
  ExpectRuns(
      "python3 - <<'EOF'\nopen('Makefile', 'w').write('all: out.txt\\n\\tcat out.txt\\nout.txt:\\n\\tls > "
      "$@\\n\\tgrep -c Makefile $@\\n')\nEOF");
  ExpectRuns("make");
  ExpectRuns("make -B -j2 | grep Makefile");
  ASSERT_EQ(ExitCode(Operate("mkdir sub && printf 'all:\\n\\tls\\n' > sub/Makefile")), 0);
  ExpectRuns("cd sub && make");
}

TEST_F(OrdinaryWork, GitUnderMinimal) {
  UsePreset("minimal");
  ExpectRuns("git init -q . && git config user.name n && git config user.email n@x");
  ExpectRuns("python3 -c 'print(1)' > a.txt && git add a.txt");
  ExpectRuns("git commit -q -m 'first; second'");
  ExpectRuns("git log --oneline | cat");
  ExpectRuns("git mv a.txt b.txt && git commit -q -m moved && git status --short && git diff HEAD~1 --stat");
  ExpectRuns("git switch -q -c side && git gc -q && git stash list");
}

TEST_F(OrdinaryWork, PythonUnderMinimal) {
  UsePreset("minimal");
  ExpectRuns(
      "cat > test_it.py <<'EOF'\nimport unittest\nclass T(unittest.TestCase):\n    def test(self):\n        "
      "self.assertEqual(1, 1)\nEOF");
  ExpectRuns("python3 -m unittest");
  ExpectRuns("python3 -c 'import multiprocessing as m; p = m.Pool(2); print(p.map(abs, [-1, -2]))'");
}

TEST_F(OrdinaryWork, AVirtualEnvironmentUnderMinimal) {
  UsePreset("minimal");
  if (!HostHas("python3 -m venv /tmp/probe")) GTEST_SKIP() << "this host has no python3-venv";
  ExpectRuns("python3 -m venv v && v/bin/python -c 'print(1)'");
  ExpectRuns("v/bin/python -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)'");
}

TEST_F(OrdinaryWork, PipUnderMinimal) {
  UsePreset("minimal");
  if (!HostHas("pip --version")) GTEST_SKIP() << "this host has no pip";
  ExpectRuns(
      "python3 - <<'EOF'\nimport zipfile\nwith zipfile.ZipFile('one-1.0-py3-none-any.whl', 'w') as z:\n"
      "    z.writestr('one.py', 'VALUE = 1\\n')\n"
      "    z.writestr('one-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: one\\nVersion: 1.0\\n')\n"
      "    z.writestr('one-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: "
      "py3-none-any\\n')\n"
      "    z.writestr('one-1.0.dist-info/RECORD', 'one.py,,\\none-1.0.dist-info/METADATA,,\\n"
      "one-1.0.dist-info/WHEEL,,\\none-1.0.dist-info/RECORD,,\\n')\nEOF");
  ExpectRuns("pip install --no-index --target lib ./one-1.0-py3-none-any.whl");
  const Answer answer = Ask("python3 -c 'import one; print(one.VALUE)'", {{"PYTHONPATH", "lib"}});
  EXPECT_EQ(answer.exit_code(), 0) << answer.text();
}

TEST_F(OrdinaryWork, ReadingUnderStandard) {
  UsePreset("standard");
  ASSERT_EQ(ExitCode(Operate("seq 100 > numbers && mkdir -p deep/x")), 0);
  ExpectRuns("find . -name x");
  ExpectRuns("head -n 3 numbers && wc -l numbers | cat && echo done");
  ExpectRuns("sort -rn numbers | head -n 1 && tail -n 1 numbers && diff numbers numbers");
}

TEST_F(OrdinaryWork, CUnderStandard) {
  UsePreset("standard");
  ExpectRuns("cat > add.c <<'EOF'\nint add(int a, int b) { return a + b; }\nEOF");
  ExpectRuns(
      "cat > test.c <<'EOF'\n#include <stdio.h>\nint add(int, int);\nint main(void) { printf(\"%d\\n\", add(1, 2)); "
      "return add(1, 2) != 3; }\nEOF");
  ExpectRuns("gcc -O2 -g -o test add.c test.c && ./test");
  ExpectRuns("printf 'test2: add.c test.c\\n\\tcc -o $@ $^\\ncheck: test2\\n\\t./test2\\n' > Makefile && make check");
}

TEST_F(OrdinaryWork, CMakeUnderStandard) {
  UsePreset("standard");
  ExpectRuns(
      "cat > CMakeLists.txt <<'EOF'\ncmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nadd_executable(t "
      "t.cc)\nenable_testing()\nadd_test(NAME t COMMAND t)\nEOF");
  ExpectRuns("cat > t.cc <<'EOF'\n#include <iostream>\nint main() { std::cout << \"ok\\n\"; }\nEOF");
  ExpectRuns("cmake -S . -B build && cmake --build build && ctest --test-dir build");
}

}  // namespace
}  // namespace caisson::support
