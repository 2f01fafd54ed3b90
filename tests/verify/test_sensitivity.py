"""The sensitivity of a mechanism: what its proof takes for granted is established, or the step is missing."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from dpspec.blocks.invariant import FunctionInvariant, Invariant, Marginal
from dpspec.blocks.multiverse import LevelSets, determines
from dpspec.blocks.records import UnorderedRecords
from dpspec.extension.loader import installed
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import NoisyCount
from dpspec.laws.law import Law
from dpspec.plugin import define
from dpspec.specfile.reader import read_text
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing
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
