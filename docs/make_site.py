"""Build the documentation site. ``pip install -r requirements-docs.txt && python docs/make_site.py``; open out/site/index.html.

Warnings are errors. Afterwards the pages themselves are looked at: every link inside the site leads to a page and a place in it,
and no page fetches a script, font, style or picture from elsewhere.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).parent
NEEDED = ("sphinx", "myst_nb", "furo", "matplotlib", "flit_core")


def main() -> int:
    """Build, then look at what was built."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=DOCS.parent / "out" / "site", help="folder of the site (out/site)")
    parser.add_argument("--no-notebooks", action="store_true", help="show the notebooks without running them")
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
    from sphinx.cmd.build import main as sphinx

    os.environ["DPSPEC_SITE_MADE"] = str(made.resolve())
    code = sphinx(["-q", "-W", "--keep-going", "-E", "-j", "auto", "-b", "html", "-d", str(doctrees), str(DOCS), str(given.out)])
    return _fail(list(faults(given.out))) or code


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
