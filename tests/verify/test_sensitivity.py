"""The sensitivity of a mechanism: what its proof takes for granted is established, or the step is missing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import pytest

from dpspec.blocks.invariant import FunctionInvariant, Invariant, Marginal
from dpspec.blocks.multiverse import LevelSets, determines
from dpspec.blocks.records import UnorderedRecords
from dpspec.extension.loader import installed
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.structure import SizeHypothesis, Structure
from dpspec.grammar.views import NoisyCount
from dpspec.laws.law import FiniteLaw, Law
from dpspec.plugin import define
from dpspec.specfile.reader import read_text
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing, MissingStep, Sensitivity
from dpspec.verifier.verdict import Outcome
from tests.compare.test_rules import HAMMING, SEX, spec
from tests.verify.toys import block

PEOPLE, TOTAL = UnorderedRecords(attributes=(SEX,)), Marginal(attributes=())
CROWD = FunctionInvariant(function=lambda records: records.count(("f",)) > 99, label="more than 99 women")
NOISE = block("mechanisms", "geometric", queries=(Marginal(attributes=("sex",)),), ratio="1/2")


@define
class WithFact(Mechanism):
    """Noisy counts, after which a fact of the data is read."""

    name: ClassVar[str] = "with-fact"

    fact: Any

    def law(self, dataset: Any, space: Any) -> Law:
        return NOISE.law(dataset, space)  # type: ignore[no-any-return]

    def structure(self, space: Any) -> Structure:
        views = (NoisyCount(Marginal(attributes=("sex",)), NOISE.noise),)
        return Structure(views=views, reads=(self.fact,), publishes_views=False)


@pytest.mark.parametrize(
    ("held", "fact", "answer"),
    [((TOTAL, CROWD), CROWD, True), ((TOTAL,), CROWD, None), ((TOTAL,), Marginal(attributes=("sex",)), False)],
)
def test_post_processing_reads_what_universes_are_known_to_fix(
    held: tuple[Invariant, ...], fact: Invariant, answer: bool | None
) -> None:
    """Neither what they leave open nor what nobody has decided: a hundred women show that the total does not fix the crowd."""
    assert determines(held, (fact,), PEOPLE).answer is answer
    found = derive(WithFact(fact=fact), spec(PEOPLE, HAMMING, multiverse=LevelSets(invariants=held)))
    assert (found.step if isinstance(found, Missing) else "proved") == ("proved" if answer else "post-process")


SAMPLE_OF_TEN = """
schema = 1
id = "sample"
title = "Counts of some categories with noise of their own, among ten of a hundred records"
[space]
type = "records"
attributes = [{{ name = "c", categories = ["a", "b", "c", "d"] }}]
least = 100
most = 100
[input_divergence]
type = "neighbour"
relation = {{ type = "replace-one" }}
[output_divergence]
{divergence}
[budget]
{budget}
[mechanism]
type = "subsampled"
size = 10
mechanism = {{ type = "composed", parts = [{parts}] }}
samples = {{ type = "records", attributes = [{{ name = "c", categories = ["a", "b", "c", "d"] }}] }}
"""
NOISY_COUNT = """{{ type = "discrete-gaussian", sensitivities = ["1"], variance = "{variance}", queries = [
  {{ type = "marginal", attributes = [], where = {{ c = ["{category}"] }} }},
] }}"""


@pytest.mark.parametrize(("divergence", "budget", "variances", "is_proved"), [
    ('type = "d-nor"', 'rho = "5"', "149", False),
    ('type = "renyi"\norder = "2"', 'epsilon = "50"', "149", False),
    ('type = "d-nor"', 'rho = "5"', "14", True),  # a record moves both counts at most
    ('type = "d-nor"', 'rho = "5"', "1", True),
    ('type = "mult-delta"\ndelta = "1/1000"', 'epsilon = "5"', "149", True),
    ('type = "hockey-stick"\nepsilon = "1"', 'delta = "1/2"', "149", True),
])  # fmt: skip
def test_changes_of_several_kinds_in_a_sample_of_a_fixed_size_are_bounded_by_events_alone(
    divergence: str, budget: str, variances: str, is_proved: bool
) -> None:
    """In the sample without the record another one takes its place, by any change: of three counts a record moves any two."""
    parts = ", ".join(NOISY_COUNT.format(variance=variance, category="abc"[place]) for place, variance in enumerate(variances))
    document = read_text(SAMPLE_OF_TEN.format(divergence=divergence, budget=budget, parts=parts), installed().registry)
    found = derive(document.mechanism, document.spec)
    if is_proved:
        assert not isinstance(found, Missing)
        assert found.outcome is Outcome.VERIFIED
    else:
        assert isinstance(found, Missing)
        assert found.step == "sample"


# --- mixtures over other records -----------------------------------------------------------------------------

KEYS = block("mechanisms", "threshold-release", query=TOTAL, ratio="1/2", threshold=2)
"""A count of 1 is shown with probability 1/3, of 2 with 2/3, and of 0 never: one record more is another case next to none."""
CASES = block("mechanisms", "subsampled", mechanism=KEYS, rate="1/2")
BATCHES = block("mechanisms", "batched", mechanism=KEYS, batches=2, assignment="independent")
ONE_MORE = block("input_divergences", "neighbour", relation=block("relations", "add-remove"))


def missing(mechanism: Any, name: str, **parameters: Any) -> Missing | None:
    """The step of the proof that is missing; None where there is a bound."""
    output = block("output_divergences", name, **parameters)
    claim = spec(PEOPLE, ONE_MORE).replace(
        output_divergence=output, budget=block("budgets", "uniform", parameter=output.budget_parameters[0], value="9/10")
    )
    known = Sensitivity(structure=mechanism.structure(PEOPLE), spec=claim)
    try:
        known.costs(known.changes()[1], 64)
    except MissingStep as at:
        return at.missing
    return None


def test_a_mixture_of_two_cases_may_be_beyond_both() -> None:
    """Hidden with 5/6 next to one other record and 2/3 with one more: 5/4 on an event of 3/4, and each case is at most 6/5."""
    shown = {0: Fraction(0), 1: Fraction(1, 3), 2: Fraction(2, 3)}
    without, joined = {0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)}
    hidden = [1 - sum(share * shown[number] for number, share in law.items()) for law in (without, joined)]
    assert hidden[0] > Fraction(3, 4)
    assert hidden[0] / hidden[1] == Fraction(5, 4)


@pytest.mark.parametrize("mechanism", [CASES, BATCHES], ids=["sample", "batches"])
def test_where_a_mixture_of_cases_may_be_beyond_all_a_step_is_missing(mechanism: Any) -> None:
    found = missing(mechanism, "pbdp", delta="3/4")
    assert found is not None
    assert found.step == "sample"
    assert "mixtures" in found.reason


@pytest.mark.parametrize("mechanism", [CASES, BATCHES], ids=["sample", "batches"])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("hockey-stick", {"epsilon": "1/2"}), ("total-variation", {}), ("mult-delta", {"delta": "1/2"}),
     ("f-divergence", {"generator": "hellinger", "direction": "forward"})],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_where_mixtures_keep_a_bound_each_case_is_enough(mechanism: Any, name: str, parameters: Any) -> None:
    assert missing(mechanism, name, **parameters) is None


def test_each_repetition_may_be_another_case() -> None:
    """Of two batches each time: a loss by one case, then one by the other, may be more than two by the same."""
    twice = block("mechanisms", "repeated", mechanism=BATCHES, times=2)
    found = missing(twice, "total-variation")
    assert found is not None
    assert "another one in each repetition" in found.reason
    counts = block("mechanisms", "batched", mechanism=NOISE, batches=2, assignment="independent")
    assert missing(block("mechanisms", "repeated", mechanism=counts, times=2), "total-variation") is None
    assert missing(block("mechanisms", "composed", parts=(BATCHES, NOISE)), "pbdp", delta="3/4") is not None


def test_statements_about_many_views_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of equal and different views are not compared with each other one by one."""
    tables = (Marginal(attributes=(f"a{place}",)) for place in range(200))
    views = tuple(NoisyCount(table=table, noise=FiniteLaw.point) for table in tables)
    compared = []
    known = NoisyCount.__eq__
    monkeypatch.setattr(NoisyCount, "__eq__", lambda one, other: compared.append(1) or known(one, other))
    stated = tuple(SizeHypothesis(view=view, by="a") for view in views)
    found = Structure(views=(*views, views[0]), hypotheses=(*stated, SizeHypothesis(view=views[1], by="b")))
    assert not found.states(views[0], "a")  # one statement, two equal views
    assert found.states(views[1], "a")
    assert not found.states(views[0], "b")
    assert [statement.view for statement in found.restated(of="a", by="c").hypotheses] == list(views[1:])
    assert len(compared) < 2_000
