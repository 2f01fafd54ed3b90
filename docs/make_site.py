"""Build the documentation site. ``pip install -r requirements-docs.txt && python docs/make_site.py``; open out/site/index.html.

Warnings are errors. The built pages are checked: every link inside the site leads to a page and a place in it, and no page
fetches a script, font, style or picture from elsewhere. Each page links to its source in the repository of `--repository`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).parent
NEEDED = ("sphinx", "myst_nb", "furo", "matplotlib", "flit_core", "latex2mathml", "sphinx_copybutton")


def main() -> int:
    """Build the site, then check the built pages."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=DOCS.parent / "out" / "site", help="folder of the site (out/site)")
    parser.add_argument("--no-notebooks", action="store_true", help="show the notebooks without running them")
    parser.add_argument("--repository", help="web address of the repository for the links that edit a page (that of origin)")
    parser.add_argument("--branch", default="main", help="branch of these links (main)")
    given = parser.parse_args()
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        return _fail([f"{', '.join(missing)}: not installed: run pip install -r requirements-docs.txt"])
    if given.no_notebooks:
        os.environ["DPSPEC_SITE_NOTEBOOKS"] = "off"
    doctrees, made = (given.out.parent / f"{given.out.name}-{what}" for what in ("doctrees", "made"))
    if given.out.exists() and any(given.out.iterdir()) and not (given.out / "objects.inv").is_file():
        return _fail([f"{given.out}: has other things in it than a site: name another folder"])
    for left in (given.out, doctrees, made):
        shutil.rmtree(left, ignore_errors=True)
    made.mkdir(parents=True)
    os.environ |= {
        "DPSPEC_SITE_MADE": str(made.resolve()),
        "DPSPEC_REPOSITORY": origin() if given.repository is None else given.repository,
        "DPSPEC_BRANCH": given.branch,
    }
    from sphinx.cmd.build import main as sphinx

    sys.path.insert(0, str(DOCS))
    import site_api

    shown = Progress(sys.stdout)
    try:
        with contextlib.redirect_stdout(shown):
            options = ["-W", "--keep-going", "-E", "-j", "auto", "-b", "html", "-d", str(doctrees)]
            code = sphinx([*options, str(DOCS), str(given.out)])
    finally:
        site_api.remove_pages()
    shown.step("checking links and what pages fetch")
    code = _fail(list(faults(given.out))) or code
    shown.step(f"{sum(1 for _ in given.out.rglob('*.html'))} pages in {given.out}" if code == 0 else "failed")
    shown.end()
    return code


def origin() -> str:
    """The web address of the Git remote `origin`; nothing where there is none or it is no web address."""
    asked = ["git", "-C", str(DOCS), "remote", "get-url", "origin"]
    try:
        address = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - nothing is given
    except OSError:
        return ""
    address = re.sub(r"^git@([^:]+):", r"https://\1/", address).removesuffix(".git")
    return address if address.startswith("https://") else ""


class Progress(io.TextIOBase):
    """What Sphinx prints, as one line for each step; on a terminal its percentage changes in place."""

    STEP = re.compile(r"(?P<step>[a-z][\w ,-]*)\.\.\. *(?:\[ *(?P<percent>\d+)%\])?")

    def __init__(self, stream: io.TextIOBase) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._began = time.monotonic()
        self._rest = self._step = self._line = ""

    def write(self, text: str) -> int:
        """Take what Sphinx prints, and show the step that it is at."""
        *lines, self._rest = re.split(r"[\r\n]", self._rest + text)
        for line in lines:
            found = self.STEP.match(re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", line))
            if found:
                self.step(found["step"], found["percent"])
        return len(text)

    def step(self, name: str, percent: str | None = None) -> None:
        """Show a step; the line of the step before is finished."""
        if name != self._step:
            self.end()
            self._step = name
        line = f"{time.monotonic() - self._began:5.0f} s  {name}" + (f" {percent} %" if percent else "")
        if self._terminal and line != self._line:
            self._stream.write(f"\r\x1b[K{line}")
            self._stream.flush()
        self._line = line

    def end(self) -> None:
        """Finish the line of a step."""
        if self._line:
            self._stream.write("\n" if self._terminal else f"{self._line}\n")
            self._stream.flush()
        self._line = ""


def _fail(lines: list[str]) -> int:
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201
    return 1 if lines else 0


FETCHED = {
    "img": ("src", "srcset"), "script": ("src",), "iframe": ("src",), "source": ("src", "srcset"), "video": ("src",),
    "audio": ("src",), "embed": ("src",), "object": ("data",), "input": ("src",),
}  # fmt: skip
"""The attributes that make a browser fetch something."""


FETCHES = re.compile(r"""(?<=url\()["']?\s*(?:https?:)?//[^)]*|(?<=@import)\s*["'][^"']*""")
"""What a style fetches from elsewhere."""


class Page(HTMLParser):
    """What a page links to, fetches, and can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.styles = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect addresses and places."""
        given = {name: value or "" for name, value in attrs}
        self.styles = tag == "style"
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.fetched += [given[name] for name in FETCHED.get(tag, ()) if given.get(name)]
        if tag == "link" and given.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.fetched.append(given.get("href", ""))
        elif tag in ("a", "link", "area") and given.get("href"):
            self.links.append(given["href"])

    def handle_data(self, data: str) -> None:
        """A style in the page may fetch, too."""
        if self.styles and FETCHES.search(data):
            self.fetched.append(FETCHES.search(data)[0])


def faults(site: Path) -> Iterator[str]:
    """Links that lead nowhere, and what is fetched from elsewhere."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for address in page.fetched:
            if urlsplit(address.strip(" \"'")).scheme not in ("", "data") or "//" in address[:3]:
                yield f"{name} fetches {address} from elsewhere"
            elif not address.startswith("data:") and not (path.parent / unquote(urlsplit(address).path)).is_file():
                yield f"{name} shows {address}, which is not there"
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or address.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name} links to {address}, which is not there"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{name} links to {address}: the page has no such place"
    for style in site.rglob("*.css"):
        if FETCHES.search(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site).as_posix()} fetches from elsewhere"


if __name__ == "__main__":
    sys.exit(main())
