"""A law that depends on more than the dataset is the plugin's failure: no verdict is about the law of one call."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import ClassVar

import pytest

import dpspec as dp
from dpspec import PrivacySpec, verify
from dpspec.base.errors import ContradictedError
from dpspec.plugin import FiniteLaw, Mechanism, define

BITS = PrivacySpec(
    space=dp.BitVectors(length=2),
    multiverse=dp.trivial(),
    input_divergence=dp.hamming_ordered(),
    output_divergence=dp.mult(),
    budget=dp.uniform(parameter="epsilon", value="ln(3)"),
)


def flipped(dataset, keeps):
    return FiniteLaw.product([FiniteLaw.of({bit: keeps, 1 - bit: 1 - keeps}) for bit in dataset])


@define
class Changing(Mechanism):
    name = "changing"
    step: str = "0"
    """What the probability loses at each further call."""
    calls = itertools.count()

    def law(self, dataset, space):
        return flipped(dataset, Fraction(3, 4) - next(self.calls) * Fraction(self.step))


@define
class Forgets(Mechanism):
    name = "forgets"
    seen: ClassVar[set] = set()

    def law(self, dataset, space):
        if dataset in self.seen:
            raise dp.DpspecError("law", "is gone", "")
        self.seen.add(dataset)
        return flipped(dataset, Fraction(3, 4))


def test_a_law_that_depends_on_earlier_calls_is_never_verified():
    """Each law is that of a mechanism which satisfies the claim, and two calls together do not."""
    with pytest.raises(ContradictedError, match=r"mechanism changing=.*: has another law of a dataset") as at:
        verify(Changing(step="1/1000"), BITS)
    assert at.value.exit_code == 4


def test_nor_is_it_refuted():
    with pytest.raises(ContradictedError, match="another law"):
        verify(Changing(step="1/1000"), BITS.replace(budget=dp.uniform(parameter="epsilon", value=1)))


def test_a_law_that_is_there_once_is_a_contradiction():
    with pytest.raises(ContradictedError, match="has no law of a dataset when it is computed again"):
        verify(Forgets(), BITS)


def test_a_law_of_the_dataset_alone_is_computed_again_for_few_datasets(monkeypatch):
    spec = BITS.replace(space=dp.BitVectors(length=6))
    monkeypatch.setattr(Changing, "calls", itertools.count())
    assert verify(Changing(), spec).outcome.value == "verified"
    assert next(Changing.calls) <= 64 + 64 // 16 + 2


@define
class Untold(Mechanism):
    """Laws of the same distribution that are unequal objects."""

    name = "untold"

    def law(self, dataset, space):
        class Own(FiniteLaw):
            __eq__ = object.__eq__
            __hash__ = object.__hash__

        return Own.from_weights({"a": 1, "b": 2})


def test_equal_distributions_are_no_contradiction():
    assert verify(Untold(), BITS).outcome.value == "verified"
