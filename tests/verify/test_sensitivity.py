"""The sensitivity of a mechanism: what its proof takes for granted is established, or the step is missing."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from dpspec.blocks.invariant import FunctionInvariant, Invariant, Marginal
from dpspec.blocks.multiverse import LevelSets, determines
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import NoisyCount
from dpspec.laws.law import Law
from dpspec.plugin import define
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing
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
        women_and_men = NoisyCount(Marginal(attributes=("sex",)), NOISE.noise)
        return Structure(views=(women_and_men,), reads=(self.fact,), publishes_views=False)


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
