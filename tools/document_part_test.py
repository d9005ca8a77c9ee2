#!/usr/bin/env python3
"""A part of a document is read and replaced, and nothing else of it is touched."""

import pathlib
import tempfile
import unittest

import document_part

TEXT = "before\n<!-- one: begin -->\nold\n<!-- one: end -->\nafter\n<!-- two: begin -->\n<!-- two: end -->\n"


class DocumentPart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "document.md"
        self.path.write_text(TEXT, "utf-8")

    def test_is_read(self):
        self.assertEqual(document_part.read(self.path, "one"), "old\n")
        self.assertEqual(document_part.read(self.path, "two"), "")

    def test_is_replaced_and_the_rest_stays(self):
        document_part.write(self.path, "one", "new\nlines")
        document_part.write(self.path, "two", "second\n")
        self.assertEqual(self.path.read_text("utf-8"),
                         TEXT.replace("old\n", "new\nlines\n").replace("<!-- two: end", "second\n<!-- two: end"))

    def test_without_both_lines_once_and_in_order_nothing_is_written(self):
        for text in ("", TEXT.replace("<!-- one: end -->\n", ""), TEXT + TEXT, "<!-- one: end -->\n<!-- one: begin -->\n"):
            self.path.write_text(text, "utf-8")
            with self.assertRaises(ValueError):
                document_part.write(self.path, "one", "new")
            self.assertEqual(self.path.read_text("utf-8"), text)


if __name__ == "__main__":
    unittest.main()
