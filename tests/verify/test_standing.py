"""The status of a claim: the constant that counts as proved is one that no two datasets exceed."""

from __future__ import annotations

import dpspec as dp
from dpspec.base.exact import number
from dpspec.base.words import Word
from dpspec.extension import installed
from dpspec.specfile import new_spec, read_text
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.standing import standing

SPEC = dp.spec(space=dp.records(colour=("red", "blue")), distance="add-remove", standard="pure", epsilon=3)
LARGEST = dp.noisy_max(query=dp.marginal(attributes="colour"), noise="laplace", rate=1)
"""One more record costs the rate, which pairs come as near to as one likes, and none attains (Dwork and Roth 2014, Claim 3.9)."""


def test_a_constant_that_is_known_between_two_ends_counts_by_the_upper_one() -> None:
    document = dp.SpecDocument(id="one", title="one", spec=SPEC, mechanism=LARGEST)
    found = standing(document)
    (verdict,) = found.verdicts
    assert verdict.constant.lower < verdict.constant.upper == 1
    assert found.constant is not None
    for others in range(4):
        pair = [(("red",),) * others, (("red",),) * (others + 1)]
        assert verify(LARGEST, SPEC, datasets=pair).constant.upper <= found.constant
    assert found.constant == 1
    together = dp.ledger(document, dp.SpecDocument(id="two", title="two", spec=SPEC, mechanism=LARGEST))
    assert together.spec.budget.uniform() == 6
    assert together.proved is not None
    assert together.proved.spec.budget.uniform() == number(2)


def test_a_space_that_cannot_be_listed_is_no_fault_of_a_plugin() -> None:
    text = new_spec("long").replace("length = 3", "length = 1000000000")
    found = standing(read_text(text, installed().registry))
    assert found.word is not Word.PLUGIN
