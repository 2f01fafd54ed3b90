"""Rules of disclosure control: each step against the mechanism of the same name, comparison against plain brute force."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_disclosure.rule_steps import (
    CellContents,
    DominanceStep,
    PerturbationStep,
    PPercentStep,
    RandomRoundingStep,
    RedactionStep,
    RoundingStep,
    RuleStep,
    ThresholdStep,
)
from dpspec_disclosure.rules import MoreDisclosing, RuleFile, compare_rules, partitions, read_rules

from dpspec.base.errors import DpspecError, Faults

SPECS = Path(__file__).parents[3] / "specs" / "rules"


def chain(*steps: RuleStep, kind: str = "counts") -> RuleFile:
    return RuleFile(path="", id="chain", title="chain", kind=kind, steps=steps)


def perturbation(*changes: set[int], cycle: int = 1) -> PerturbationStep:
    step = PerturbationStep(file="keys.csv", cycle=cycle)
    object.__setattr__(step, "changes", ({0}, *changes))
    return step


def contents(xs: tuple[int, ...]) -> CellContents:
    return CellContents(len(xs), sum(xs), xs)


# --- comparison -----------------------------------------------------------------------------------


COUNT_CHAINS = [
    (RoundingStep(base=3),),
    (RoundingStep(base=2), RoundingStep(base=3)),
    (RoundingStep(base=3, to="midpoint"),),
    (RandomRoundingStep(base=3),),
    (ThresholdStep(least=4),),
    (ThresholdStep(least=2), RandomRoundingStep(base=2)),
    (RandomRoundingStep(base=3), RedactionStep(up_to=3)),
    (RedactionStep(up_to=5), RoundingStep(base=5)),
    (RedactionStep(up_to=7), RoundingStep(base=5)),
    (DominanceStep(contributions=1, percent=30), RoundingStep(base=2, to="down")),
    (PPercentStep(percent=120),),
    (perturbation({-1, 2}, {-1, 0, 1}),),
    (perturbation({0}, {1}, {-1}, {2}, cycle=2), RoundingStep(base=2, to="up")),
]


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(range(len(COUNT_CHAINS)), 2)][::2])
def test_counts_are_compared_as_by_brute_force(first, second):
    """On counts far beyond those that the comparison looks at; what is left open is compared in full."""
    one, two = chain(*COUNT_CHAINS[first]), chain(*COUNT_CHAINS[second])
    found = compare_rules(one, two)
    last = 70
    shown = {id(rules): [rules.outcomes(CellContents.of_count(n, 4)) for n in range(last + 30)] for rules in (one, two)}

    def left(rules):
        held = {}
        for n, values in enumerate(shown[id(rules)]):
            for value in values:
                held.setdefault(value, set()).add(n)
        return held

    for mine, other, told in ((one, two, found.by_first), (two, one, found.by_second)):
        a, b = left(mine), left(other)
        beyond = [
            (n, y, a[y]) for n in range(last) for y in shown[id(mine)][n] if not any(b[z] <= a[y] for z in shown[id(other)][n])
        ]
        assert (told is None) == (beyond == [])
        if told is not None:
            smallest, sharpest = told
            assert smallest.cell == (beyond[0][0],)
            assert (smallest.shown, set(smallest.known)) in [(y, known) for n, y, known in beyond if (n,) == smallest.cell]
            assert len(sharpest.known) == min(len(known) for *_, known in beyond)
            assert dict(sharpest.others) == {z: tuple(sorted(b[z])) for z in shown[id(other)][sharpest.cell[0]]}


def test_the_pair_of_opensafely():
    """Redacting up to 5 and rounding to 5 publishes a 5 for 6 and 7 alone; redacting up to 7 mends that."""
    found = compare_rules(read_rules(SPECS / "redact-5-round-5.rules.toml"), read_rules(SPECS / "redact-7-round-5.rules.toml"))
    assert found.answer is MoreDisclosing.FIRST
    assert (found.by_first[1].cell, found.by_first[1].shown, found.by_first[1].known) == ((6,), 5, (6, 7))
    assert found.by_first[1].others == ((None, tuple(range(8))),)


MAGNITUDE_CHAINS = [
    (ThresholdStep(least=3),),
    (ThresholdStep(least=3), DominanceStep(contributions=1, percent=75)),
    (ThresholdStep(least=3), PPercentStep(percent=20)),
    (DominanceStep(contributions=2, percent=90),),
    (PPercentStep(percent=10), RoundingStep(base=2)),
    (RedactionStep(up_to=3), RandomRoundingStep(base=2)),
]


def ask(xs):
    yield "total", sum(xs)
    for own in set(xs):
        rest = list(xs)
        rest.remove(own)
        yield own, max(rest, default=0)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 2), (2, 1), (3, 4), (4, 2), (5, 2)])
def test_magnitudes_are_compared_as_by_brute_force(first, second):
    """With a larger list of cells than the comparison has, its witnesses still are witnesses, and it misses none."""
    one, two = chain(*MAGNITUDE_CHAINS[first], kind="magnitudes"), chain(*MAGNITUDE_CHAINS[second], kind="magnitudes")
    found = compare_rules(one, two, total=7)
    cells = [xs for total in range(17) for xs in partitions(total, total)]
    left = {}
    for rules in (one, two):
        for xs in cells:
            for question, answer in ask(xs):
                for y in rules.outcomes(contents(xs)):
                    left.setdefault((id(rules), question, y), set()).add(answer)
    beyond = [
        (xs, question, y)
        for xs in cells if sum(xs) <= 7
        for question, _ in ask(xs)
        for y in one.outcomes(contents(xs))
        if not any(left[id(two), question, z] <= left[id(one), question, y] for z in two.outcomes(contents(xs)))
    ]  # fmt: skip
    assert (found.by_first is None) == (beyond == [])
    if found.by_first is not None:
        for told in found.by_first:
            question = "total" if told.question[0] == "total" else told.question[1]
            assert (told.cell, question, told.shown) in beyond
            whole = left[id(one), question, told.shown]
            assert set(told.known) == {answer for answer in whole if told.shown is not None or answer <= told.limit}
        assert sum(found.by_first[0].cell) == min(sum(xs) for xs, *_ in beyond)


def test_dominance_and_p_percent_disagree_as_the_handbook_says():
    """6, 1, 1: the largest is 75 percent, and the second knows it to within 1, which is less than 20 percent of 6."""
    found = compare_rules(read_rules(SPECS / "dominance-1-75.rules.toml"), read_rules(SPECS / "p-percent-20.rules.toml"))
    assert found.answer is MoreDisclosing.BOTH
    assert (found.by_first[0].cell, found.by_first[0].shown) == ((6, 1, 1), 8)
    assert Fraction(1) < Fraction(20, 100) * 6


def test_a_rule_against_itself_tells_nothing_more():
    for path in SPECS.glob("*.toml"):
        rules = read_rules(path)
        assert compare_rules(rules, rules).answer is MoreDisclosing.NEITHER


# --- files ----------------------------------------------------------------------------------------

HEAD = 'schema = 1\nid = "a"\ntitle = "A"\nkind = "counts"\n'


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "schema-version", "schema"),
        (HEAD, "wrong-shape", "[[step]]"),
        (HEAD + "step = 3\n", "wrong-shape", "[[step]]"),
        (HEAD + "[[step]]\n", "missing-key", "rule"),
        (HEAD + '[[step]]\nrule = "treshold"\nleast = 3\n', "unknown-name", "threshold"),
        (HEAD + '[[step]]\nrule = "threshold"\n', "missing-key", "least"),
        (HEAD + '[[step]]\nrule = "threshold"\nleast = 0\n', "parameter", "least"),
        (HEAD + '[[step]]\nrule = "threshold"\nleast = 3\nmost = 4\n', "unknown-key", "most"),
        (HEAD + '[[step]]\nrule = "redaction"\nup_to = 3\nleast = 4\n', "disclosure-rule", "least"),
        (HEAD + '[[step]]\nrule = "rounding"\nbase = 5\nto = "even"\n', "parameter", "nearest"),
        (HEAD + '[[step]]\nrule = "cell-key"\nfile = "../keys.csv"\n', "disclosure-rule", "next to"),
        (HEAD + '[[step]]\nrule = "cell-key"\nfile = "none.csv"\n', "unreadable-file", "none.csv"),
        (HEAD.replace('"a"', '"A b"') + '[[step]]\nrule = "rounding"\nbase = 5\n', "disclosure-rule", "lower-kebab"),
        (HEAD.replace("counts", "sums") + '[[step]]\nrule = "rounding"\nbase = 5\n', "parameter", "magnitudes"),
        (HEAD + 'colour = "red"\n[[step]]\nrule = "rounding"\nbase = 5\n', "unknown-key", "colour"),
        (HEAD + '[tables]\ntotal = "t"\n[[step]]\nrule = "rounding"\nbase = 5\n', "disclosure-rule", "published"),
        (HEAD + "tables = 3\n[[step]]\nrule = 'rounding'\nbase = 5\n", "wrong-shape", "[tables]"),
        (HEAD + "[[step]\n", "syntax", "TOML"),
    ],
)  # fmt: skip
def test_faults_of_rule_files(tmp_path, text, code, words):
    path = tmp_path / "a.rules.toml"
    path.write_text(text)
    with pytest.raises(DpspecError) as caught:
        read_rules(path)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


def test_several_faults_come_together_with_their_lines(tmp_path):
    path = tmp_path / "a.rules.toml"
    path.write_text(HEAD + '[[step]]\nrule = "threshold"\nleast = -1\n[[step]]\nrule = "rounding"\nbase = "x"\n')
    with pytest.raises(Faults) as caught:
        read_rules(path)
    assert [fault.line for fault in caught.value.faults] == [7, 10]
