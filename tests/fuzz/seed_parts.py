"""What the inputs of several fuzz targets are made of."""

import struct


def text(content):
    """A length of two bytes and the content."""
    data = content.encode() if isinstance(content, str) else content
    return struct.pack("<H", len(data)) + data
