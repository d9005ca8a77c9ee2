#!/usr/bin/env python3
"""Shows that each lint finds what it must and leaves good code alone, on small trees made for it."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "vm"))
sys.path.insert(2, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "vm" / "guest"))
import judge
import lint_child
import lint_layers
import lint_plan
import lint_protections
import lint_size
import lint_static
import plan
import run_job
import test_summary



class Static(unittest.TestCase):
    def test_finds_what_a_program_needs(self):
        line = " 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]\n"
        self.assertEqual(lint_static.needed(line + line), ["libm.so.6", "libm.so.6"])
        self.assertEqual(lint_static.needed(" 0x000000006ffffffb (FLAGS_1)            Flags: PIE\n"), [])


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_lint(self, lint, *arguments):
        """Returns (exit status, what it printed)."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = lint.main(list(arguments))
        return status, output.getvalue()


class Layers(Tree):
    def setUp(self):
        super().setUp()
        self.write("src/caisson/high/CMakeLists.txt", "caisson_module(NAME high LAYER 2\n  DEPS low  # why\n TEST_DEPS aid)")

    def lint(self):
        return self.run_lint(lint_layers, "--root", str(self.root))

    def test_accepts_declared_includes(self):
        self.write("src/caisson/high/a.cc", '#include "caisson/high/a.h"\n#include "caisson/low/b.h"\n#include <boost/json.hpp>\n')
        self.write("src/caisson/high/a_test.cc", '#include "caisson/aid/c.h"\n')
        self.assertEqual(self.lint()[0], 0)

    def test_refuses_an_undeclared_include(self):
        self.write("src/caisson/high/a.cc", '#include <vector>\n#include "caisson/aid/c.h"\n')
        status, text = self.lint()
        self.assertEqual(status, 1)
        self.assertIn("src/caisson/high/a.cc:2", text)

    def test_refuses_a_heavy_header_and_a_bare_include(self):
        self.write("src/caisson/high/a.h", '#include <CLI/CLI.hpp>\n#include "b.h"\n#include <sqlite3.h>\n')
        self.assertIn("3 findings", self.lint()[1])

    def test_private_headers_may_be_heavy_and_stay_inside(self):
        self.write("src/caisson/low/CMakeLists.txt", "caisson_module(NAME low LAYER 1\n HEADERS a.h PRIVATE_HEADERS p.h\n TESTS t)")
        self.write("src/caisson/low/p.h", "#include <boost/asio.hpp>\n")
        self.write("src/caisson/low/a.cc", '#include "caisson/low/p.h"\n')
        self.assertEqual(self.lint()[0], 0)
        self.write("src/caisson/high/a.cc", '#include "caisson/low/p.h"\n')
        self.assertIn("caisson/low/p.h is private to its module", self.lint()[1])

    def test_refuses_sources_that_are_not_built(self):
        self.write("src/caisson/lost/a.cc", "")
        self.assertEqual(self.lint()[0], 1)


class Child(Tree):
    def lint(self, text, other=""):
        for name, body in (("run_child", text), ("other", other)):
            source = self.write(f"src/caisson/os/{name}.cc", body)
            folder = self.root / "build/src/caisson/os/CMakeFiles/caisson_os.dir"
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["c++", "-std=c++20", "-O2", "-c", source, "-o", folder / f"{name}.cc.o"], check=True)
        return self.run_lint(lint_child, "--root", str(self.root), "--build", str(self.root / "build"))

    def test_accepts_plain_system_calls(self):
        self.assertEqual(self.lint("#include <unistd.h>\nnamespace caisson { int Run() { return ::close(3); } }\n")[0], 0)

    def test_refuses_allocation(self):
        status, text = self.lint("namespace caisson { int* Run() { return new int(3); } }\n")
        self.assertEqual(status, 1)
        self.assertIn("operator new", text)

    def test_refuses_printing_throwing_and_locking(self):
        status, text = self.lint(
            '#include <unistd.h>\nextern "C" int printf(const char*, ...);\nextern "C" int pthread_mutex_lock(void*);\n'
            'void Run(int n) { pthread_mutex_lock(nullptr); printf("%d", n); if (n) throw n; }\n')
        self.assertEqual(status, 1)
        for symbol in ("printf", "pthread_mutex_lock", "__cxa_throw"):
            self.assertIn(f"refers to {symbol}", text)

    def test_refuses_a_call_into_code_that_is_not_checked(self):
        status, text = self.lint("namespace caisson { void Other(); void Run() { Other(); } }\n",
                                 "namespace caisson { void Other() {} }\n")
        self.assertEqual(status, 1)
        self.assertIn("caisson::Other()", text)

    def test_refuses_a_header_that_is_not_on_the_list(self):
        status, text = self.lint("#include <string>\nnamespace caisson { void Run() {} }\n")
        self.assertEqual(status, 1)
        self.assertIn("<string>", text)

    def test_refuses_a_source_without_object(self):
        self.write("src/caisson/os/new_child.cc", "")
        self.assertEqual(self.run_lint(lint_child, "--root", str(self.root), "--build", str(self.root))[0], 1)


class Size(Tree):
    def lint(self):
        return self.run_lint(lint_size, "--root", str(self.root))

    def test_accepts_many_short_functions(self):
        self.write("src/a.cc", "namespace a {\n" + "struct B {\n  int C() const {\n    return 1;\n  }\n};\n" * 80 + "}\n")
        self.assertEqual(self.lint(), (0, "lint_size: 0 findings\n"))

    def test_refuses_a_long_function(self):
        body = "  f('}', \"{\");\n" * 121
        self.write("src/a.cc", "namespace a {\nB::B(int c) : c_{c}, d_(c) {\n" + body + "}\n}\n")
        status, text = self.lint()
        self.assertEqual(status, 1)
        self.assertIn("src/a.cc:2: B::B has 123 lines", text)

    def test_notices_a_function_that_grows(self):
        self.write("src/a.cc", "int F() {\n" + "  f();\n" * 70 + "}\n")
        status, text = self.lint()
        self.assertEqual(status, 0)
        self.assertIn("notice: src/a.cc:1: F has 72 lines", text)

    def test_refuses_a_long_file(self):
        self.write("src/a.h", "// x\n" * 801)
        self.assertEqual(self.lint()[0], 1)


class Protections(Tree):
    def setUp(self):
        super().setUp()
        self.write("tests/weakened/protections.txt", "# list\nmasks | os/a.cc | escape.agent | masks\n")
        self.write("src/caisson/os/a.cc", 'if (Weakened("masks")) return 0;\n')
        self.write("tests/escape/expectations.txt", "kcore succeeded ENODATA ENODATA\n")
        self.write("tests/integration/posture_test.cc", "TEST_P(Posture, Masks) {}\n")
        self.write("bin/caisson", "a program")
        self.document("escape.agent: kcore")

    def document(self, test, name="masks"):
        self.write("docs/protections.md", f"| Protection | x |\n| `{name}` | masks | `os/a.cc` | {test} | it says a \\| b |\n")

    def lint(self):
        return self.run_lint(lint_protections, "--root", str(self.root), "--programs", str(self.root / "bin"))

    def test_accepts_what_is_in_step(self):
        self.assertEqual(self.lint()[0], 0, self.lint()[1])
        self.document("integration.posture: Users/Posture.Masks/0")
        self.assertEqual(self.lint()[0], 0, self.lint()[1])

    def test_refuses_a_point_that_is_not_listed(self):
        self.write("src/caisson/os/b.cc", 'x = Protected("masks", 1) | Weakened("masks", "other");\n')
        self.assertIn("2 findings", self.lint()[1])
        self.assertIn("src/caisson/os/b.cc: other is not listed", self.lint()[1])

    def test_refuses_a_protection_without_its_point(self):
        self.write("src/caisson/os/a.cc", "")
        self.assertIn("masks has no point in os/a.cc", self.lint()[1])

    def test_refuses_a_row_that_is_missing_or_too_many(self):
        self.document("escape.agent", name="other")
        status, text = self.lint()
        self.assertEqual(status, 1)
        self.assertIn("masks is not in it", text)
        self.assertIn("other is no protection", text)

    def test_refuses_a_test_that_is_not_there(self):
        for test in ("escape.agent: absent", "escape.nobody", "integration.posture: Posture.Absent",
                     "integration.absent: Posture.Masks", ""):
            self.document(test)
            self.assertIn("there is no test", self.lint()[1], test)

    def test_finds_the_mark_that_the_compiler_leaves(self):
        header = pathlib.Path(__file__).resolve().parent.parent / "src"
        self.write("main.cc", '#include "caisson/base/weakened.h"\n'
                              'int main() { return caisson::Weakened("masks") ? 1 : 0; }\n')
        compiler = ["c++", "-std=c++20", "-O2", "-ffunction-sections", "-fdata-sections", f"-I{header}", "main.cc", "-s",
                    "-Wl,--gc-sections", "-o", "bin/caisson"]
        subprocess.run(compiler, cwd=self.root, check=True)
        self.assertEqual(self.lint()[0], 0, self.lint()[1])
        self.assertEqual(subprocess.run([self.root / "bin/caisson"], check=False).returncode, 0)
        subprocess.run([*compiler, '-DCAISSON_WEAKEN="masks"'], cwd=self.root, check=True)
        self.assertEqual(subprocess.run([self.root / "bin/caisson"], check=False).returncode, 1)
        self.assertIn("a protection is left out of this program", self.lint()[1])


class Summary(Tree):
    XML = """<testsuite>
      <testcase name="os.fd" status="run"><system-out>[  SKIPPED ] Fd.Root (0 ms)\n</system-out></testcase>
      <testcase name="escape.all" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
    </testsuite>"""

    def lint(self, *arguments):
        return self.run_lint(test_summary, str(self.write("results.xml", self.XML)), *arguments)

    def test_counts_and_closes(self):
        status, text = self.lint()
        self.assertEqual(status, 0)
        self.assertTrue(text.endswith("\n1 passed, 0 failed, 1 skipped\n"), text)

    def test_a_skip_that_must_run_fails(self):
        self.assertEqual(self.lint("--must-run", "^os,^escape[.]")[0], 1)
        self.assertIn("must run, but skipped: escape.all", self.lint("--must-run", "^escape[.]")[1])
        self.assertIn("must run, but skipped: os.fd: Fd.Root", self.lint("--must-run", "^os")[1])

    def test_a_suite_that_is_not_there_fails(self):
        self.assertEqual(self.lint("--must-run", "^integration")[0], 1)
        self.assertEqual(self.lint("--must-run", "^integration", "--selection")[0], 0)

    def test_no_results_fail(self):
        self.assertEqual(self.run_lint(test_summary, str(self.root / "absent.xml"))[0], 1)


class MachinePlan(unittest.TestCase):
    SKIPS = {kernel: set() for kernel in plan.KERNELS}

    def problems(self, tests, planned, left_out, skips=SKIPS):
        return lint_plan.problems(tests, [plan.Step(name) for name in planned], left_out, skips)

    def test_accepts_what_is_planned_or_left_out(self):
        self.assertEqual(self.problems(["os.a", "base.b"], ["os.a"], {"base[.].*": "pure"}), [])

    def test_finds_what_is_neither(self):
        self.assertIn("os.b is neither planned", self.problems(["os.a", "os.b"], ["os.a"], {})[0])

    def test_finds_what_is_both(self):
        self.assertIn("os.a is planned and left out", self.problems(["os.a"], ["os.a"], {"os[.].*": "slow"})[0])

    def test_finds_what_is_no_test(self):
        self.assertIn("os.b, which is no test", self.problems(["os.a"], ["os.a", "os.b"], {})[0])
        self.assertIn("nothing is left out", self.problems(["os.a"], ["os.a"], {"cli[.].*": "pure"})[0])

    def test_finds_a_step_that_is_there_twice(self):
        self.assertIn("planned twice", self.problems(["os.a"], ["os.a", "os.a"], {})[0])


    def test_finds_what_changes_its_host_or_is_not_there(self):
        clock, other = (plan.Step(f"integration.node_{name}", only_here=True) for name in ("clock", "no_such"))
        self.assertEqual(lint_plan.problems([], [clock], {}, self.SKIPS), [])
        self.assertIn("changes its host", lint_plan.problems([clock.test], [clock], {}, self.SKIPS)[0])
        self.assertIn("which is no test", lint_plan.problems([], [other], {}, self.SKIPS)[0])


class MachineCases(Tree):
    def test_reads_what_unittest_writes(self):
        script = self.write("some_test.py", "import unittest\n\nclass Some(unittest.TestCase):\n"
                            "    def test_a(self):\n        pass\n\n    def test_b(self):\n        self.fail('why')\n\n"
                            "    def test_c(self):\n        self.skipTest('too old')\n\nunittest.main()\n")
        output = subprocess.run([sys.executable, "-B", script, "-v"], capture_output=True, text=True, check=False).stderr
        passed, failed, skipped = run_job.read_lines_of_unittest(output)
        self.assertEqual(passed, {"name": "Some.test_a", "result": "passed", "text": ""})
        self.assertEqual((failed["name"], failed["result"]), ("Some.test_b", "failed"))
        self.assertIn("AssertionError: why", failed["text"])
        self.assertEqual(skipped, {"name": "Some.test_c", "result": "skipped", "text": "too old"})


class MachineJudge(unittest.TestCase):
    STEP = plan.Step("os.a")
    KERNEL = plan.KERNELS[0]

    def problems(self, *cases, status=0, step=STEP):
        names = ("name", "result", "text")
        report = {"status": status, "output": "its output", "cases": [dict(zip(names, case)) for case in cases]}
        return judge.problems_of_cases(self.KERNEL, step, report)

    def test_accepts_what_passed_and_what_may_skip(self):
        may_skip = min(plan.SKIPS[self.KERNEL])
        self.assertEqual(self.problems(("A.B", "passed", ""), (may_skip, "skipped", "too old")), [])

    def test_finds_what_failed_was_skipped_or_ran_against_the_plan(self):
        self.assertIn("failed: A.B: why", self.problems(("A.B", "failed", "why"), status=1)[0])
        self.assertIn("skipped against the plan: A.B: why", self.problems(("A.B", "skipped", "why"), status=77)[0])
        self.assertIn("ran, although", self.problems((min(plan.SKIPS[self.KERNEL]), "passed", ""))[0])

    def test_finds_what_ended_early(self):
        self.assertIn("killed after", self.problems(status=None)[0])
        self.assertIn("ended with -11", self.problems(("A.B", "passed", ""), status=-11)[0])
        self.assertIn("no case ran", self.problems()[0])
        self.assertEqual(self.problems(step=plan.Step("escape.a")), [])

    def test_finds_a_primitive_that_is_not_as_planned(self):
        found = {name: text.partition(": ") for name, text in plan.PRIMITIVES[self.KERNEL].items()}
        found["clone3"] = ("ok", ": ", "works")

        def problems(**changed):
            items = [{"name": name, "status": status, "found": text}
                     for name, (status, _, text) in {**found, **changed}.items()]
            return judge.problems_of_primitives(self.KERNEL, json.dumps({"primitives": items}))

        self.assertEqual(problems(), [])
        self.assertIn("missing primitive: clone3", problems(clone3=("missing", ": ", "no"))[0])
        self.assertIn("landlock is", problems(landlock=("ok", ": ", "ABI 99"))[0])
        self.assertIn("no report", judge.problems_of_primitives(self.KERNEL, "")[0])


if __name__ == "__main__":
    unittest.main()
