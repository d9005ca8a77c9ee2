#!/usr/bin/env python3
"""lint_openapi.py finds each kind of mistake, put into the real document."""

import copy
import sys
import unittest

sys.dont_write_bytecode = True

import lint_openapi

DOCUMENT = lint_openapi.openapi_check.load()


class Findings(unittest.TestCase):
    def after(self, change):
        document = copy.deepcopy(DOCUMENT)
        change(document, document["components"]["schemas"], document["paths"]["/v1/sandboxes"]["post"])
        return "\n".join(lint_openapi.Lint(document).run())

    def test_the_document_is_clean(self):
        self.assertEqual(self.after(lambda document, schemas, create: None), "")

    def test_each_mistake(self):
        reference = {"$ref": "#/components/schemas/Nothing"}
        cases = (
            ("unknown field", lambda d, s, c: c.update(sumary="x")),
            ("has no info", lambda d, s, c: d.pop("info")),
            ("has no operationId", lambda d, s, c: c.pop("operationId")),
            ("occurs twice", lambda d, s, c: c.update(operationId="listSandboxes")),
            ("is not explained", lambda d, s, c: c.update(tags=["other"])),
            ("has no 503", lambda d, s, c: c["responses"].pop("503")),
            ("has no 415", lambda d, s, c: c["responses"].pop("415")),
            ("has no success", lambda d, s, c: c["responses"].pop("201")),
            ("is not a problem", lambda d, s, c: c["responses"].update({"400": {"description": "x"}})),
            ("leads nowhere", lambda d, s, c: s["Sandbox"]["properties"].update(name=reference)),
            ("path parameters", lambda d, s, c: d["paths"]["/v1/sandboxes/{id}"].pop("parameters")),
            ("is no schema", lambda d, s, c: s["Sandbox"].update(type="thing")),
            ("is open", lambda d, s, c: s["Sandbox"].pop("additionalProperties")),
            ("is open", lambda d, s, c: s["Command"].pop("unevaluatedProperties")),
            ("a slip", lambda d, s, c: s["Sandbox"].update(additionalProperty=False)),
            ("which it does not describe", lambda d, s, c: s["Health"]["required"].append("more")),
            ("without maxLength", lambda d, s, c: s["StartCommand"]["properties"]["cwd"].pop("maxLength")),
            ("without maxLength", lambda d, s, c: d["components"]["parameters"]["FilePath"]["schema"].pop("x-max-bytes")),
            ("without minimum and maximum", lambda d, s, c: s["CreateSandbox"]["properties"]["pids"].pop("maximum")),
            ("without maxItems", lambda d, s, c: s["StartCommand"]["properties"]["argv"].pop("maxItems")),
            ("without maxProperties", lambda d, s, c: s["Labels"].pop("maxProperties")),
            ("/state", lambda d, s, c: d["components"]["examples"]["RunningSandbox"]["value"].update(state="odd")),
            ("/status", lambda d, s, c: s["Problem"]["examples"][0].update(status=200)),
        )
        for part, change in cases:
            with self.subTest(part):
                self.assertIn(part, self.after(change))


if __name__ == "__main__":
    unittest.main()
