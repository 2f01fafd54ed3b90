"""The pages of docs/reproductions are what the command makes; charts are floats, and equal to four digits."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def pages():
    """PAGES of docs/reproduce, which is no installed package."""
    spec = importlib.util.spec_from_file_location("reproduce", DOCS / "reproduce" / "__init__.py")
    sys.modules["reproduce"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGES


MARKS = {
    "reproduce.census": pytest.mark.slow,
    "reproduce.counts": pytest.mark.slow,
    "reproduce.inference": pytest.mark.long,
    "reproduce.membership": pytest.mark.slow,
    "reproduce.semantics": pytest.mark.slow,
}
PAGES = [pytest.param(page, marks=MARKS.get(page.__module__, ()), id=page.__module__) for page in pages()]


def flat(points):
    return [number for point in points for number in point]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_up_to_date(page):
    for name, text in page().files().items():
        kept = (DOCS / "reproductions" / name).read_text(encoding="utf-8")
        if name.endswith(".md"):
            assert text == kept, f"run python docs/make_reproductions.py: {name} has changed"
        if name.endswith(".json"):
            made, before = json.loads(text), json.loads(kept)
            assert [(chart["chart"], list(chart["lines"])) for chart in made] == [
                (chart["chart"], list(chart["lines"])) for chart in before
            ]
            for chart, old in zip(made, before, strict=True):
                for line, points in chart["lines"].items():
                    assert flat(points) == pytest.approx(flat(old["lines"][line]), rel=1e-4, abs=1e-9), chart["chart"]


@pytest.mark.parametrize(("value", "printed", "same"), [
    (0.0824361, "0.820", False), (0.0824361, "0.082", True), (0.369453, "0.370", False), (8.42149e-4, "8.42149e-4", True),
    (8.42151e-4, "8.42149e-4", False), (0.7, "1", False), (1.0, "1", True),
])  # fmt: skip
def test_a_printed_number_agrees_when_it_is_the_rounded_one(value, printed, same):
    from reproduce.layout import agrees, beside

    assert agrees(value, printed) is same
    assert beside(value, printed).endswith(f"({printed})" if same else f"({printed}: differs)")


@pytest.mark.reference("K-E1", "K-E2", "K-E6")
def test_what_differs_from_the_print_is_said_to_and_nothing_else():
    """Four cells of all tables of the page on semantics and of that on the allocation, which are errata."""
    kept = "".join(
        (DOCS / "reproductions" / f"{name}.md").read_text(encoding="utf-8") for name in ("semantics", "census-allocation")
    )
    assert re.findall(r"\(([^()]*): differs\)", kept) == ["0.550", "0.820", "0.370", "0.0175"]
