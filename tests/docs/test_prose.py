"""The words and sentences of pages, help texts and error messages.

The list is that of the writing guide: words that the project once used in a sense of its own, each with what to write.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from dpspec.cli import main

ROOT = Path(__file__).parents[2]
DOCS = sorted(path.relative_to(ROOT).as_posix() for folder in ("docs", "docs/tutorials") for path in (ROOT / folder).glob("*.md"))
OTHERS = [
    path.relative_to(ROOT).as_posix()
    for pattern in ("plugins/*/README.md", "docs/notebooks/*.md")
    for path in sorted(ROOT.glob(pattern))
]
PAGES = ["README.md", "CONTRIBUTING.md", "specs/README.md", *DOCS, *OTHERS]
WORDS = {
    r"tells? apart|told apart": "distinguish",
    r"is told": "is stated, is reported",
    r"stands? for": "means, is",
    r"somebody|nobody|whoever": "a user, no one, anyone who",
    r"hand(?:ed|s)? on": "share, export",
    r"gives? (?:it )?away": "disclose, reveal",
    r"lean on": "depend on",
    r"looked at|judged": "checked, verified",
    r"mend(?:ed|s)?": "fix",
    r"as printed": "as published",
    r"yardstick": "common measure",
    r"walks? every": "checks every",
    r"besides?": "next to, in addition",
    r"whole sentence": "full guarantee",
    r"that there are": "all",
    r"chances?": "probability, randomness",
    r"house": "package",
    r"kit": "conformance tests",
    r"panels? of": "standard attackers",
    r"doors?": "entry point",
    r"floors?": "layer",
    r"afterwards": "then, later",
    r"as (?:it|they) stands?": "unchanged, exactly as shown",
    r"knows? nothing of": "does not depend on",
    r"it is not known": "unknown",
}
LONGEST = 30
"""Words of a sentence at most; the writing guide."""


def prose(text: str) -> str:
    """A page without code, displayed formulas, tables, links' targets, comments and headings."""
    text = re.sub(r"^(```|~~~|:::).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^    +(?:>>>|\.\.\.).*?(?=\n\s*\n|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^\$\$\n.*?^\$\$$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ *[|#].*$|^!\[.*$|^\{.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text)


def findings(text: str) -> list[str]:
    """Words of the list, and sentences that are too long; code, options and formulas are one word each."""
    text = re.sub(r"`[^`\n]*`|\$[^$\n]+\$|--[a-z][\w-]*", "it", text).replace("**", "")
    hits = ((hit[0], instead) for word, instead in WORDS.items() for hit in re.finditer(rf"\b(?:{word})\b", text, re.IGNORECASE))
    found = [f"{hit}: write {instead}" for hit, instead in hits]
    sentences = re.split(r"(?<=[.?!:])\s+|\n\s*\n|\n[*-] ", text)
    return found + [f"{len(one.split())} words: {' '.join(one.split())}" for one in sentences if len(one.split()) > LONGEST]


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_plain(page: str) -> None:
    assert findings(prose((ROOT / page).read_text(encoding="utf-8"))) == []


def test_every_page_is_checked() -> None:
    """But for generated pages: the reference, the deployments, and records of releases and reproductions."""
    assert len(PAGES) > 80


def test_the_linter_finds_what_it_is_for() -> None:
    told = ["is told: write is stated, is reported", "Nobody: write a user, no one, anyone who"]
    assert findings("Nobody leans. It is told twice.") == told
    assert len(findings("word " * 31)) == 1
    assert len(findings(prose("# A page\n\nNobody reads what is below a heading.\n\n| a | b |\n\nIt is told."))) == 2
    assert findings("Compare by `yardstick` or --yardstick.") == []
    assert findings(prose("```sh\nnobody\n```\n| told apart |\n[a](nobody.md) is a page.")) == []


# --- help and messages ----------------------------------------------------------------------------


def help_texts() -> Iterator[tuple[str, str]]:
    """The help of every command and option, without its examples."""
    for words in leaves(main):
        command: click.Command = main
        for word in words:
            found = command.get_command(click.Context(command), word)  # type: ignore[attr-defined]
            assert found is not None
            command = found
        name = " ".join(words)
        yield name, command.short_help or ""
        yield name, re.split(r"\x08|\n\s*Examples?:", command.help or "")[0]
        yield from ((name, option.help or "") for option in command.params if isinstance(option, click.Option))


def leaves(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*words, name))
        else:
            yield (*words, name)


def test_help_texts_are_plain() -> None:
    texts = list(help_texts())
    assert len(texts) > 200
    assert [(name, found) for name, text in texts for found in findings(text)] == []


def messages() -> Iterator[tuple[str, int, str]]:
    """The texts of errors: of calls that make one, and of the variables that hold their rule and advice."""
    for path in (*(ROOT / "dpspec").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign):
                wanted = any(isinstance(target, ast.Name) and target.id in {"rule", "advice"} for target in node.targets)
            else:
                called = node.func if isinstance(node, ast.Call) else None
                name = getattr(called, "id", getattr(called, "attr", ""))
                wanted = name.endswith("Error") or name == "fail"
            for inner in ast.walk(node) if wanted else ():
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield path.name, inner.lineno, inner.value


def test_messages_have_none_of_the_words() -> None:
    texts = list(messages())
    assert len(texts) > 2_000
    found = [(*place, hit) for *place, text in texts for hit in findings(text) if not hit[0].isdigit()]
    assert found == []
