"""What a page states about a specification file is what the engine says of it.

Two forms are read. A row of a table that links to a specification file states its verdict, its budget and its constant in columns
of these names. A sentence is followed by a mark that no reader sees:

    0.07 is exact. <!-- claim: specs/census-2020/pl-housing-units.dpspec.toml verified, tight, rho = 7/100 -->

with a verdict, and perhaps `tight` or `not tight` and the least budget that is true. A sentence that calls a number exact, tight,
verified or refuted, or says so next to a link to a file, needs a mark.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from dpspec import read
from dpspec.base.exact import Bracket, Number, number, rounded_product
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.document import verify_document
from dpspec.verifier.verdict import Outcome, Verdict

ROOT = Path(__file__).parents[2]
GENERATED = {"deployments", "examples", "reproductions", "gallery", "reference", "api", "releases", "notebooks", "static"}
"""Folders of pages that a script writes from what the engine says, or that quote other people's numbers."""

LINK = re.compile(r"\((?:\.\./)*(specs/[\w./-]+\.dpspec\.toml)\)")
MARK = re.compile(r"<!-- claim: (\S+) ([^>]*?) -->")
VERDICTS = {"verified": Outcome.VERIFIED, "proved": Outcome.VERIFIED, "refuted": Outcome.REFUTED, "undecided": Outcome.UNDECIDED}
WORDS = re.compile(r"\b(exact|tight|verified|refuted|undecided)\b")
SAID = r"(?:is|are) (?:exact|tight|verified|refuted)\b"
NUMBERS = re.compile(rf"\d(?:\*\*)? {SAID}|\b(?:epsilon|rho|delta|mu) = (?:(?!\. [A-Z])[^|]){{1,80}}? {SAID}")


def pages() -> list[Path]:
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if not GENERATED & set(page.relative_to(ROOT).parts)]


@functools.cache
def judged(path: str) -> tuple[PrivacySpec, Verdict]:
    """A file's own claim and its verdict."""
    report = verify_document(read(ROOT / path))
    found = next(one for one in report.obligations if one.verdict is not None)
    assert found.spec is not None
    assert found.verdict is not None
    return found.spec, found.verdict


@attrs.frozen(kw_only=True)
class Statement:
    """What a page says of a file.

    Args:
        page: where it stands.
        path: the file.
        outcome: the verdict; None where the page says none.
        tight: whether the constant is said to be the bound.
        budget: the budget of the claim, as a parameter and a value.
        least: the least budget that is said to be true, as a parameter and a number.
        constant: the Lipschitz constant as text, or None.
    """

    page: str
    path: str
    outcome: Outcome | None
    tight: bool | None = None
    budget: tuple[str, str] | None = None
    least: tuple[str, str] | None = None
    constant: str | None = None

    def faults(self) -> Iterator[str]:
        """What is not as the engine says."""
        spec, verdict = judged(self.path)
        if self.outcome is not None and verdict.outcome is not self.outcome:
            yield f"is {verdict.outcome.value}, not {self.outcome.value}"
            return
        tightest = verdict.tightest
        if self.tight is not None and (tightest is not None and tightest.is_tight) is not self.tight:
            yield f"is {'not ' if self.tight else ''}tight: constant {verdict.constant}"
        if self.budget is not None:
            name, value = self.budget
            own = spec.budget.uniform()
            if name != spec.budget.parameter or own is None or number(own) != number(value):
                yield f"has the budget {spec.budget}, not {name} = {value}"
        if self.least is not None and not about(self.least[1], least_budget(spec, verdict, self.least[0])):
            yield f"has the constant {verdict.constant}, and not the least {self.least[0]} = {self.least[1]}"
        if self.constant is not None and not (about(self.constant, verdict.constant) or shown_by(self.constant, verdict)):
            yield f"has the constant {verdict.constant}, not {self.constant}"


def least_budget(spec: PrivacySpec, verdict: Verdict, parameter: str) -> Bracket:
    """The constant as a budget."""
    lower, upper = (spec.output_divergence.budget_for(parameter, end) for end in (verdict.constant.lower, verdict.constant.upper))
    return Bracket(lower=lower, upper=upper)


def about(text: str, found: Bracket) -> bool:
    """Whether a text states a constant: a number, both ends, a decimal cut off by dots, or one end in words."""
    text = text.strip()
    if text in ("inf", "infinite"):
        return found.upper.is_infinite
    words = re.fullmatch(r"(at least|at most|between) (\S+)(?: and (\S+))?", text)
    if words:
        ends = [number(one) for one in words.groups()[1:] if one]
        if words[1] == "between":
            return ends[0] <= found.lower and found.upper <= ends[1]
        return ends[0] <= found.lower if words[1] == "at least" else found.upper <= ends[0]
    if text.startswith("["):
        low, high = (number(end) for end in text.strip("[]").split(", "))
        return low <= found.lower and found.upper <= high
    exact, _, decimal = text.partition(" = ")
    same = found.is_exact and number(exact) == found.lower
    return same and (not decimal or is_cut_off(decimal, found.lower))


def shown_by(text: str, verdict: Verdict) -> bool:
    """Whether the two datasets of a refutation show a lower bound exactly, where the constant of the verdict is rounded."""
    words, witness = re.fullmatch(r"at least (.+)", text.strip()), verdict.witness
    if words is None or witness is None or witness.distance == 0:
        return False
    bound = number(words[1])
    return rounded_product(bound, witness.distance) <= witness.divergence.lower


def is_cut_off(decimal: str, value: Number) -> bool:
    """Whether a decimal that ends in dots is the beginning of a number."""
    shown = decimal.removesuffix("...")
    step = number(1) * number(f"1/{10 ** len(shown.partition('.')[2])}")
    return number(shown) <= value <= number(shown) + step


# --- rows of tables ---------------------------------------------------------------------------------------


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows(page: Path) -> Iterator[Statement]:
    """The rows that link to a file, each column by its title."""
    titles: list[str] = []
    above: dict[str, str] = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            titles = []
            continue
        if not titles:
            titles = cells(line)
            continue
        found = LINK.search(line)
        if found is None:
            continue
        row = dict(zip(titles, cells(line), strict=False))
        row = {title: above.get(title, "") if cell == "the same" else cell for title, cell in row.items()}
        above = row
        yield stated(page, found[1], row)


def stated(page: Path, path: str, row: dict[str, str]) -> Statement:
    verdict = row.get("verdict") or row.get("found") or row.get("filed as") or ""
    word = next((word for word in VERDICTS if re.search(rf"\b{word}\b", verdict)), None)
    constant = row.get("constant") or row.get("constant found")
    if word is None and constant is not None and constant.startswith("at least"):
        word = "refuted"  # a row of a mistake shows the pair
    tight = None if "tight" not in verdict else "not tight" not in verdict
    budget = re.fullmatch(r"(\w+) = (\S.*)", row.get("budget") or row.get("claimed") or "")
    least = re.sub(r"\.\.\.$", "...", row.get("least rho that is true", "").partition(" (")[0])
    printed = row.get("printed rho", "").partition(" (")[0]
    if re.fullmatch(r"[\d.]+", printed):
        budget = re.fullmatch(r"(\w+) = (\S+)", f"rho = {printed}")
    return Statement(
        page=str(page.relative_to(ROOT)), path=path, outcome=None if word is None else VERDICTS[word], tight=tight,
        budget=None if budget is None else (budget[1], budget[2].rstrip(".")), constant=constant,
        least=("rho", least) if least and word != "refuted" else None,
    )  # fmt: skip


def marks(page: Path) -> Iterator[Statement]:
    """The marks beside sentences."""
    for path, words in MARK.findall(page.read_text(encoding="utf-8")):
        outcome, *rest = [word.strip() for word in words.split(",")]
        tight = True if "tight" in rest else False if "not tight" in rest else None
        least = next((re.fullmatch(r"(\w+) = (.+)", word) for word in rest if "=" in word), None)
        known = {"tight", "not tight", *([least[0]] if least else [])}
        assert set(rest) <= known, f"{page}: {words}"
        yield Statement(
            page=str(page.relative_to(ROOT)), path=path, outcome=VERDICTS[outcome], tight=tight,
            least=None if least is None else (least[1], least[2]),
        )  # fmt: skip


STATEMENTS = [*(one for page in pages() for one in marks(page)), *(one for page in pages() for one in rows(page))]
CENSUS = [one for one in STATEMENTS if one.page != "docs/mechanisms.md"]
TABLE = [one for one in STATEMENTS if one.page == "docs/mechanisms.md"]


def faults(statements: list[Statement]) -> list[str]:
    return [f"{one.page}: {one.path} {fault}" for one in statements for fault in one.faults()]


@pytest.mark.parametrize("path", sorted({one.path for one in CENSUS if "disclosure" not in one.path}))
def test_a_page_states_what_the_engine_says(path: str) -> None:
    assert not faults([one for one in CENSUS if one.path == path])


@pytest.mark.parametrize("part", [
    TABLE[::25], pytest.param(TABLE[1::6], marks=pytest.mark.slow), pytest.param(TABLE, marks=pytest.mark.long),
], ids=["some", "more", "all"])
def test_the_page_of_mechanisms_states_what_the_engine_says(part: list[Statement]) -> None:
    assert not faults(part)


@pytest.mark.slow
def test_the_page_of_disclosure_control_states_what_the_engine_says() -> None:
    assert not faults([one for one in CENSUS if "disclosure" in one.path])


def unmarked(text: str) -> list[str]:
    """The paragraphs that state something about a file, and have no mark."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    paragraphs = [one for one in re.split(r"\n\s*\n|\n(?=[*-] )", prose) if not one.lstrip().startswith("|")]
    return [
        " ".join(one.split())
        for one in paragraphs
        if not MARK.search(one) and (NUMBERS.search(one) or (LINK.search(one) and WORDS.search(MARK.sub("", one))))
    ]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_sentence_about_a_file_has_a_mark(page: Path) -> None:
    assert not unmarked(page.read_text(encoding="utf-8"))


def test_statements_are_found_and_refuted() -> None:
    """A page that calls 0.07 exact of the file that is refuted fails, and so does one without a mark."""
    assert len(TABLE) > 200
    assert len(CENSUS) > 30
    assert unmarked("The units are published. 0.07 is exact.")
    assert unmarked("[This file](../specs/census-2020/pl-persons.dpspec.toml) is tight.")
    assert unmarked("rho = 0.07 for housing units is refuted by the scale.")
    path = "specs/deployments/us-2020-pl-housing-units-as-printed.dpspec.toml"
    wrong = Statement(page="", path=path, outcome=Outcome.VERIFIED, tight=True)
    assert list(wrong.faults()) == ["is refuted, not verified"]
    units = "specs/census-2020/pl-housing-units.dpspec.toml"
    right = Statement(page="", path=units, outcome=Outcome.VERIFIED, tight=True, least=("rho", "7/100"), budget=("rho", "0.07"))
    assert list(right.faults()) == []
    changed: dict[str, Any] = {"tight": False, "least": ("rho", "8/100"), "budget": ("rho", "0.08"), "constant": "1"}
    for key, value in changed.items():
        assert len(list(attrs.evolve(right, **{key: value}).faults())) == 1, key


RECORDED = re.compile(r"\b(refuted|undecided|verified)\b")


def test_titles_that_name_a_verdict_are_of_files_that_record_it() -> None:
    """The verdict of every file is compared with what it records by `pytest specs`; its title says nothing else."""
    wrong = []
    for path in sorted((ROOT / "specs").rglob("*.toml")):
        text = path.read_text(encoding="utf-8")
        title = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
        word = RECORDED.search(title[1]) if title else None
        recorded = re.search(r'^\[claim\]\nverdict = "(\w+)"', text, re.MULTILINE)
        if word is not None and (recorded is None or recorded[1] != word[1]):
            wrong.append(f"{path.name}: {title[1] if title else ''}")
    assert not wrong
