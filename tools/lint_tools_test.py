#!/usr/bin/env python3
"""lint_tools.py finds each kind of mistake, put into the real description of a tool."""

import copy
import json
import sys
import unittest

sys.dont_write_bytecode = True

import lint_tools

CONTRACT = lint_tools.openapi_check.Contract()
TOOL = json.loads((lint_tools.ROOT / "api" / "tools" / "run_command.json").read_text(encoding="utf-8"))


class Findings(unittest.TestCase):
    def after(self, change, name="run_command"):
        tool = copy.deepcopy(TOOL)
        change(tool)
        return "\n".join(lint_tools.findings_of(name, tool, CONTRACT))

    def test_the_tool_is_clean(self):
        self.assertEqual(self.after(lambda tool: None), "")

    def test_words_may_differ(self):
        self.assertEqual(self.after(lambda tool: tool["inputSchema"]["properties"]["cwd"].update(description="x")), "")

    def test_each_mistake(self):
        cases = (
            ("other fields", lambda tool: tool.update(more=1)),
            ("calls itself", lambda tool: tool.update(name="run")),
            ("annotations", lambda tool: tool["annotations"].pop("readOnlyHint")),
            ("no DANGER", lambda tool: tool.update(description="Runs a program.")),
            ("no schema", lambda tool: tool["inputSchema"].update(type="thing")),
            ("another input", lambda tool: tool["inputSchema"]["properties"]["timeout"].update(maximum=1)),
            ("another input", lambda tool: tool["inputSchema"]["properties"].pop("stdin")),
            ("another input", lambda tool: tool["inputSchema"].update(additionalProperties=True)),
        )
        for part, change in cases:
            with self.subTest(part):
                self.assertIn(part, self.after(change))
        self.assertIn("no such tool", self.after(lambda tool: tool.update(name="fly"), "fly"))


if __name__ == "__main__":
    unittest.main()
