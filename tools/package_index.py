"""Files of a Python package index: PIP_INDEX_URL, else index-url of pip's configuration, else PyPI.

Only Python's standard library is used: a minimal Debian has no pip. Also keeps what was fetched, when its sha256 is the
pinned one.
"""

import configparser
import hashlib
import html.parser
import json
import os
import pathlib
import ssl
import tempfile
import urllib.parse
import urllib.request

LIMIT = 32 << 20
TIMEOUT_S = 60
LISTING = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


class Links(html.parser.HTMLParser):
    """The file links of an index page: name to address."""

    def __init__(self):
        super().__init__()
        self.found = {}
        self.address = None

    def handle_starttag(self, tag, attrs):
        self.address = dict(attrs).get("href") if tag == "a" else None

    def handle_data(self, data):
        if self.address and data.strip():
            self.found[data.strip()] = self.address


def pip_setting(name):
    """A value of pip's environment or configuration; pip lets later files win and the environment over all."""
    if value := os.environ.get("PIP_" + name.upper().replace("-", "_")):
        return value
    home = pathlib.Path(os.environ.get("HOME") or "/")
    config = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    files = ["/etc/xdg/pip/pip.conf", "/etc/pip.conf", home / ".pip" / "pip.conf", config / "pip" / "pip.conf",
             os.environ.get("PIP_CONFIG_FILE") or os.devnull]
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(files)
    except configparser.Error:
        return None
    return parser.get("global", name, fallback=None)


def fetch(url, accept="*/*"):
    """The body, its type and the final address."""
    context = ssl.create_default_context(cafile=pip_setting("cert"))
    request = urllib.request.Request(url, headers={"Accept": accept, "User-Agent": "caisson-setup"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as reply:
        body = reply.read(LIMIT + 1)
        if len(body) > LIMIT:
            raise ValueError(f"{url} is larger than {LIMIT} bytes")
        return body, reply.headers.get_content_type(), reply.geturl()


def address_of(name, archive):
    """Where the index has this file of the package."""
    index = (pip_setting("index-url") or "https://pypi.org/simple").rstrip("/")
    body, kind, page = fetch(f"{index}/{name}/", LISTING)
    if kind.endswith("json"):
        found = {file["filename"]: file["url"] for file in json.loads(body)["files"]}
    else:
        links = Links()
        links.feed(body.decode("utf-8", "replace"))
        found = links.found
    if archive not in found:
        raise ValueError(f"{index} does not list {archive}")
    return urllib.parse.urljoin(page, found[archive])


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def keep(body, pinned, archive, origin):
    """Writes the body to the path `archive`, if its sha256 is the pinned one."""
    found = hashlib.sha256(body).hexdigest()
    if found != pinned:
        raise ValueError(f"{origin} has sha256 {found}, pinned is {pinned}; it is not kept")
    archive.parent.mkdir(parents=True, exist_ok=True)
    # Renamed into place, so that an interrupted run leaves no half of an archive.
    with tempfile.NamedTemporaryFile(dir=archive.parent, prefix=archive.name, delete=False) as part:
        part.write(body)
    os.chmod(part.name, 0o644)
    os.replace(part.name, archive)
