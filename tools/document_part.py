"""The part of a document that a program writes: what stands between the lines `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""


def _around(text, name):
    """The text up to and with the first line, the part, and the text from the last line on."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the document must have one line '{begin.strip()}' and after it one '{end.strip()}'")
    before, _, rest = text.partition(begin)
    part, _, after = rest.partition(end)
    return before + begin, part, end + after


def read(path, name):
    """What the document at `path` holds there; ends with a newline unless it is empty."""
    return _around(path.read_text("utf-8"), name)[1]


def write(path, name, part):
    """Puts `part` there and leaves the rest as it is. ValueError without both lines."""
    before, _, after = _around(path.read_text("utf-8"), name)
    path.write_text(before + part.rstrip("\n") + "\n" + after, "utf-8")
