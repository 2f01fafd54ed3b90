"""Every pair that a command finds beyond a claim counts for `verify`: methods of disclosure control on spaces without a bound.

The oracle computes the distance of two datasets and the likelihood ratio of two finite laws by itself.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest

import dpspec as dp
from dpspec.api import quick_standing, read, risk, verify
from dpspec.base.errors import DpspecError, WorkLimitError
from dpspec.base.exact import INFINITY, Bracket, number
from dpspec.base.time_limits import Stopwatch
from dpspec.base.words import Word
from dpspec.blocks.budget import UniformBudget
from dpspec.grammar.trial_datasets import MOST_RECORDS, groups_for, has_small_law, trial_groups
from dpspec.laws.work import work_of
from dpspec.plugin import Attribute, Marginal, Mechanism, UnorderedRecords, define
from dpspec.verifier import exhaustive
from dpspec.verifier.exhaustive import READING, refute_on
from dpspec.verifier.mechanisms import judged_unlisted
from dpspec.verifier.verdict import Outcome

SPECS = Path(__file__).parents[2] / "specs"
METHODS = {
    "cell-suppression": ["threshold = 3", "threshold = 10", "threshold = 20"],
    "conventional-rounding": ["base = 5", "base = 10", "base = 5\nredact_up_to = 7"],
    "random-rounding": ["base = 3", "base = 5"],
    "cell-key": ["keys = 2\nlargest = 1\nvariance = '1/2'"],
}
FILE = """
schema = 1
id = "unlimited"
title = "A method of disclosure control on any number of records"

[space]
type = "{space}"
{size}
attributes = [
  {{ name = "region", categories = ["north", "south"] }},
  {{ name = "age", categories = ["old", "young"] }},
]

[multiverse]
invariants = [{invariants}]

[input_divergence]
type = "{distance}"

[output_divergence]
{standard}

[mechanism]
type = "{method}"
tables = [["region", "age"], []]
{parameters}
"""
PURE, CONCENTRATED = 'type = "mult"\n\n[budget]\nepsilon = 1', 'type = "d-nor"\n\n[budget]\nrho = 1'
TOTAL = '{ type = "marginal", attributes = [] }'


def written(tmp_path, method, parameters, *, space="records", size="", distance="hamming", standard=PURE, invariants=""):
    path = tmp_path / "unlimited.dpspec.toml"
    filled = {"space": space, "size": size, "distance": distance, "standard": standard, "invariants": invariants}
    path.write_text(FILE.format(method=method, parameters=parameters, **filled), encoding="utf-8")
    return path


def log_ratio(one, other):
    """The largest log-ratio of two finite laws, in either order; infinite where one has an outcome that the other lacks."""
    if set(one.weights) != set(other.weights):
        return math.inf
    ratios = [Fraction(w, one.total) / Fraction(other.weights[o], other.total) for o, w in one.weights.items()]
    return math.log(max(*ratios, 1 / min(ratios)))


def replaced(one, other):
    return (Counter(one) - Counter(other)).total() if len(one) == len(other) else math.inf


@pytest.mark.parametrize(("method", "parameters"), [(m, p) for m, held in METHODS.items() for p in held if m != "cell-key"])
def test_verify_refutes_a_method_without_a_promise_on_any_number_of_records(tmp_path, method, parameters):
    path = written(tmp_path, method, parameters)
    document = read(path)
    found = verify(path).standing
    assert found.word is Word.REFUTED
    witness = found.verdicts[0].witness
    laws = [document.mechanism.law(dataset, document.spec.space) for dataset in (witness.left, witness.right)]
    assert log_ratio(*laws) > 1 * replaced(witness.left, witness.right)
    assert number(str(replaced(witness.left, witness.right))) == witness.distance


@pytest.mark.parametrize(
    "block",
    [
        {"standard": CONCENTRATED},
        {"distance": "symmetric-difference"},
        {"space": "contingency-tables"},
        {"space": "ordered-records"},
        {"space": "ordered-records", "distance": "hamming-ordered"},
        {"size": "least = 1000\nmost = 1000"},
        {"size": "most = 11691"},
        {"invariants": TOTAL},
        {"invariants": '{ type = "marginal", attributes = ["region"] }'},
    ],
)
def test_so_it_is_for_other_blocks(tmp_path, block):
    """Suppression below 10 shows nothing among the smallest datasets of four cells."""
    found = verify(written(tmp_path, "cell-suppression", "threshold = 10", **block)).standing
    assert found.word is Word.REFUTED, found


def test_whoever_asks_first_gets_the_same_answer(tmp_path):
    path = written(tmp_path, "random-rounding", "base = 3")
    document, panel = read(path), risk(path)
    assert panel.exceeded
    (standing,) = {report.about[1].sentence for report in panel.reports}
    assert standing == quick_standing(document).sentence == verify(path).standing.sentence


@pytest.mark.spread(0, slow=8)
@pytest.mark.parametrize("path", sorted(SPECS.glob("disclosure/*.toml")), ids=lambda path: path.name)
def test_every_method_of_the_specifications_is_refuted_without_a_bound_and_without_invariants(tmp_path, path):
    text = re.sub(r"(\[space\][^\[]*?)most = \d+\n", r"\1", path.read_text(encoding="utf-8"), count=1)
    text = re.sub(r"\[multiverse\].*?(?=\n\[input_divergence)", "[multiverse]\ninvariants = []\n", text, flags=re.DOTALL)
    text = re.sub(r"\[budget\]\nepsilon = .*", "[budget]\nepsilon = 1", text)
    text = re.sub(r"\n\[claim\].*?(?=\n\[|\Z)", "", text, flags=re.DOTALL)
    copy = tmp_path / path.name
    copy.write_text(text, encoding="utf-8")
    assert verify(copy).standing.word is Word.REFUTED
    assert all(report.about[1].word is Word.REFUTED for report in risk(copy).reports)


def test_a_pair_that_an_attacker_names_refutes_the_claim(tmp_path):
    """Too many cells for a search: the user names the two datasets."""
    path = written(tmp_path, "conventional-rounding", "base = 5")
    with_ages(path, 15_000)
    assert verify(path).standing.word is Word.UNDECIDED
    two, three = ([["north", "0"]] * n + [["south", "0"]] * (3 - n) for n in (2, 3))
    report = risk(path, "tester", datasets=[two, three])
    assert report.exceeded
    assert report.about[1].word is Word.REFUTED


@pytest.mark.parametrize("most", [3, 40, 10**6])
def test_a_space_too_large_for_a_quick_look_is_still_refuted_by_a_pair(tmp_path, most):
    path = written(tmp_path, "random-rounding", "base = 3", size=f"most = {most}")
    assert quick_standing(read(path)).word is Word.REFUTED


@define
class Counted(Mechanism):
    """Publishes nothing, and counts how often its law is computed."""

    name = "counted"
    calls: ClassVar[Counter] = Counter()

    def check(self, space):
        pass

    def law(self, dataset, space):
        self.calls[dataset] += 1
        if len(dataset) > 3:
            raise DpspecError("counted", "cannot be listed", "take fewer records")
        return dp.laws.FiniteLaw.point("nothing")


def people(**size):
    return dp.spec(
        space=dp.records(region=["north", "south"], **size), distance="hamming", standard="pure", epsilon=1
    )  # fmt: skip


def test_the_search_ends_after_a_bounded_number_of_laws():
    Counted.calls.clear()
    spec = people()
    groups = trial_groups(spec)
    found = refute_on(Counted(), spec, groups)
    assert isinstance(found, str)
    assert "pairs that were compared is beyond it" in found
    assert max(Counted.calls.values()) == 1 or len(Counted.calls) <= 1000
    assert len(Counted.calls) <= len({dataset for group in groups for dataset in group}) <= 1000


def test_a_pair_beyond_refutes_where_the_limit_was_reached_and_others_stayed_undecided(monkeypatch):
    """`verify` ended with an AssertionError: the pair was not compared again, since so many others had stayed undecided."""

    def interrupted(walk, groups, most_work):
        walk.undecided, walk.beyond = exhaustive.MOST_UNDECIDED, ((("north",),), (("south",),))
        raise WorkLimitError("search", "spent its limit of work")

    monkeypatch.setattr(exhaustive, "_first_beyond", interrupted)
    found = refute_on(dp.release_invariants(invariants=[dp.marginal(attributes="region")]), people(), [], most_work=1)
    assert (found.outcome, found.witness.distance) == (Outcome.REFUTED, 1)


@pytest.mark.parametrize("most", [0, 1, 1_000, 5_000])
def test_the_search_ends_after_a_bounded_amount_of_work(most):
    """A law of `Counted` is 102 units of work, whether or not it can be listed; the clock is not asked."""
    Counted.calls.clear()
    found = refute_on(Counted(), people(), trial_groups(people()), most_work=most)
    assert "more pairs would exceed the work limit" in found
    assert Counted.calls.total() <= most / 100 + 1


class ManyReports(Mechanism):
    """A law that is refused after all records were read."""

    name: ClassVar[str] = "many-reports"
    calls: ClassVar[Counter] = Counter()

    def law(self, dataset, space):
        ManyReports.calls[dataset] += 1
        raise DpspecError("many-reports", "has more reports than are listed", "take fewer records")


def test_records_that_are_read_without_a_law_are_work():
    """A thousand reports in random order, in two parts, were read for 11 s."""
    calls = []
    for least in (0, 1_000):
        ManyReports.calls.clear()
        spec = people(least=least)
        refute_on(ManyReports(), spec, trial_groups(spec), most_work=100_000)
        calls.append(ManyReports.calls.total())
    assert calls[1] <= 100_000 / (100 + READING * 1_000) + 1
    assert calls[0] > calls[1]


def test_a_search_ends_where_brackets_hold_the_bound(monkeypatch):
    """A sample of counts that are cut at 0 is known between two laws: such pairs took over a minute, at four precisions each."""
    compared, evaluated = [], []
    compare, divergence = exhaustive._Walk._compare, exhaustive._Walk._divergence
    monkeypatch.setattr(exhaustive._Walk, "_compare", lambda *given: compared.append(compare(*given)) or compared[-1])
    monkeypatch.setattr(
        exhaustive._Walk, "_divergence", lambda self, *given: evaluated.append(given[-1]) or divergence(self, *given)
    )
    count = dp.geometric(queries=dp.marginal(attributes=[]), ratio="1/2")
    noise = dp.composed(parts=[dp.post_processed(mechanism=dp.subsampled(mechanism=count, rate="1/2"), at_least=0)])
    spec = people().replace(
        input_divergence=dp.neighbour(relation=dp.add_remove()), budget=UniformBudget(parameter="epsilon", value=LESS)
    )
    found = refute_on(noise, spec, trial_groups(spec), most_work=500_000)
    assert isinstance(found, str)
    assert "more pairs would exceed the work limit" in found
    assert len([outcome for *_, outcome in compared if outcome is Outcome.UNDECIDED]) == exhaustive.MOST_UNDECIDED
    assert max(evaluated) == exhaustive.PRECISIONS[1]


def test_a_bracket_that_comes_nearer_to_a_bound_it_nearly_meets_is_refined_further():
    """Ends and bound may be equal as doubles: what counts is how far an end has moved, against what is left of its way."""
    tiny = Fraction(1, 10**30)

    def stuck(before, after, bound="1/3"):
        brackets = [Bracket(lower=number("1/3") - low * tiny, upper=number("1/3") + high * tiny) for low, high in (before, after)]
        return exhaustive._is_stuck(*brackets, number(bound))

    assert not stuck((2, 2), (1, 1))
    assert not stuck((2, 2), (2, 1))
    assert not stuck((0, 2), (0, 2))
    assert stuck((2, 2), (2, 2))
    assert stuck((2, 2), (1, 1), "1/2")
    open_end = Bracket(lower=number("1/4"), upper=INFINITY)
    assert exhaustive._is_stuck(open_end, open_end, number("1/3"))
    assert not exhaustive._is_stuck(open_end, Bracket(lower=number("1/4"), upper=number(1)), number("1/3"))


LESS = number("ln(4/3)")
"""The claim; the constant is ln(3/2)."""


def test_a_slow_machine_finds_the_same_pair(tmp_path, monkeypatch):
    """Stopwatches without any time left change nothing: no verdict on a mechanism depends on a clock."""
    path = written(tmp_path, "cell-suppression", "threshold = 10")
    found = verify(path).standing.verdicts[0]
    monkeypatch.setattr(Stopwatch, "left", lambda _: 0.0)
    monkeypatch.setattr("time.process_time", lambda: math.inf)
    slow = verify(path).standing.verdicts[0]
    assert (slow.outcome, slow.reason, slow.witness) == (found.outcome, found.reason, found.witness)
    assert slow.outcome is Outcome.REFUTED


def test_work_counts_outcomes_and_their_answers():
    small, large = (dp.laws.FiniteLaw.uniform([(k, *range(size)) for k in range(10)]) for size in (1, 1_000))
    assert (work_of(small), work_of(large)) == (100 + 2 * 11, 100 + 1_001 * 11)
    assert work_of(dp.laws.TwoSidedGeometricLaw(0, number(1))) == 101


def test_nothing_is_verified_by_pairs():
    found = judged_unlisted(Counted(), people())
    assert getattr(found, "outcome", None) is not Outcome.VERIFIED
    assert "is beyond it" in str(found)


# --- many kinds of records --------------------------------------------------------------------------


def with_ages(path, count, tables='[["region", "age"], []]'):
    text = path.read_text(encoding="utf-8").replace('categories = ["old", "young"]', f"count = {count}")
    path.write_text(text.replace('[["region", "age"], []]', tables), encoding="utf-8")
    return path


@pytest.mark.parametrize(("count", "tables"), [(4_000, '[["region", "age"], []]'), (10**6, '[["region"], []]')])
@pytest.mark.parametrize(
    ("method", "parameters"),
    [("cell-suppression", "threshold = 10"), ("conventional-rounding", "base = 5"), ("random-rounding", "base = 3")],
)
def test_a_false_claim_with_many_kinds_of_records_is_refuted_by_a_pair(tmp_path, method, parameters, count, tables):
    path = with_ages(written(tmp_path, method, parameters), count, tables)
    found = verify(path).standing.verdicts[0]
    assert found.outcome is Outcome.REFUTED
    document = read(path)
    one, other = (document.mechanism.law(x, document.spec.space) for x in (found.witness.left, found.witness.right))
    assert log_ratio(one, other) > 1


@define
class TenOldest(Mechanism):
    """Whether ten persons are of the last age: no other category of no other attribute shows anything."""

    name = "ten-oldest"

    def law(self, dataset, space):
        last = str(space.attributes_of("person")[1].size - 1)
        return dp.laws.FiniteLaw.point(sum(record[1] == last for record in dataset) >= 10)


@define
class EveryCount(Mechanism):
    """All counts of a table of a million cells, which nothing should list."""

    name = "every-count"
    calls: ClassVar[Counter] = Counter()

    def law(self, dataset, space):
        self.calls[space] += 1
        return dp.laws.FiniteLaw.point(Marginal(attributes=("age",)).answers(space.dataset(dataset), space))


def many(**size):
    age = Attribute(name="age", count=10**6)
    space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")), age), **size)
    return dp.spec(space=space, distance="hamming", standard="pure", epsilon=1)


@pytest.mark.parametrize("size", [{}, {"least": 12}, {"most": 40}])
def test_a_threshold_on_the_last_category_is_found(size):
    found = judged_unlisted(TenOldest(), many(**size))
    assert found.outcome is Outcome.REFUTED
    assert {TenOldest().law(x, many().space) for x in (found.witness.left, found.witness.right)} == {
        dp.laws.FiniteLaw.point(True), dp.laws.FiniteLaw.point(False)
    }  # fmt: skip


def test_a_law_of_a_million_numbers_is_never_computed():
    EveryCount.calls.clear()
    spec = many()
    found = judged_unlisted(EveryCount(), spec)
    assert getattr(found, "outcome", None) is not Outcome.VERIFIED
    assert EveryCount.calls[spec.space] == 0
    assert not has_small_law(EveryCount(), spec)
    assert has_small_law(TenOldest(), spec)


def test_the_pairs_of_a_space_with_many_kinds_are_bounded_and_always_the_same():
    for size in ({}, {"least": 1_000}):
        groups = [tuple(groups_for(TenOldest(), many(**size))) for _ in range(2)]
        assert groups[0] == groups[1]
        assert sum(len(dataset) for group in groups[0] for dataset in group) <= MOST_RECORDS + 2_100
    assert not trial_groups(many())
