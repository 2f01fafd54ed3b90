"""The swapping theorem judged by `verify` on spaces of any size: by its proof, or by a pair whose probabilities are computed.

The oracle of the probabilities lists permutations of records; that of the constants is the closed form, written out again.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping
from dpspec_census.swap_budget import SwappingBudget
from dpspec_divergences import Hamming, Mult

import dpspec as dp
from dpspec.api import verify
from dpspec.extension import installed
from dpspec.plugin import UnorderedRecords
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.writer import to_toml
from dpspec.verifier.mechanisms import judged
from dpspec.verifier.replay import keep_witnesses, replay
from dpspec.verifier.verdict import Outcome

PAIR = [{"name": "kin", "count": 9}, {"name": "place", "count": 9}]


def claim(mechanism=PermutationSwapping, rate="9/10", form="s23-full", match=(), values=9, **size):
    attributes = [{"name": name, "count": values} for name in ("kin", "place")] + [{"name": name, "count": 3} for name in match]
    space = UnorderedRecords(attributes=attributes, unit="household", **size)
    swap = mechanism(match=match, swap=["place"], swap_rate=rate)
    spec = dp.PrivacySpec(
        space=space,
        multiverse=swap.scheme().multiverse(space),
        input_divergence=Hamming(unit="household"),
        output_divergence=Mult(),
        budget=SwappingBudget(match=match, swap_rate=rate, form=form),
    )
    return swap, spec


def is_true(size, rate, form="s23-full"):
    """Whether the printed budget of one stratum of n records is at least the constant of permutation swapping."""
    o = Fraction(rate) / (1 - Fraction(rate))
    if size == 3:
        return (1 + 9 / o + 18 / o**2 + 6 / o**3) <= max(o, (size + 1) / o) ** 3
    return 1 + 2 * size / o + size * (size - 1) / o**2 <= max(o, (size + 1) / o) ** 2


@pytest.mark.spread(24, slow=24)
@pytest.mark.parametrize("rate", ["9/10", "59/100", "3/4", "1/2"])
@pytest.mark.parametrize("size", [4, 5, 6, 7, 8, 9, 10, 50, 72, 73, 74, 1000])
def test_a_space_of_one_size_has_a_verdict_and_it_is_the_true_one(size, rate):
    found = judged(*claim(rate=rate, least=size, most=size))
    assert found.outcome is (Outcome.VERIFIED if is_true(size, rate) else Outcome.REFUTED)


@pytest.mark.parametrize(("most", "holds"), [(72, True), (73, False), (11_691, False), (None, False)])
def test_the_claim_at_nine_tenths_is_true_up_to_72_records(most, holds):
    assert judged(*claim(most=most)).outcome is (Outcome.VERIFIED if holds else Outcome.REFUTED)


@pytest.mark.parametrize("size", [{"least": n, "most": n} for n in (3, 50, 11_691)] + [{"least": 60}, {"most": 3}])
@pytest.mark.parametrize("rate", ["1/20", "9/10"])
def test_derangements_keep_the_claim_at_every_size(size, rate):
    assert judged(*claim(DerangementSwapping, rate, values=99, **size)).outcome is Outcome.VERIFIED


@pytest.mark.parametrize("form", ["s23-full", "s24"])
def test_a_stratum_of_a_space_of_one_size_may_be_smaller(form):
    """At p = 59/100 the claim is false from 2 to 8 records; the other records are alike and in another stratum."""
    swap, spec = claim(rate="59/100", match=("area",), form=form, least=20, most=20)
    found = judged(swap, spec)
    assert found.outcome is (Outcome.REFUTED if form == "s23-full" else Outcome.UNDECIDED)


def test_with_many_strata_of_one_size_all_records_are_tried_in_one():
    assert judged(*claim(match=("area",), values=4, form="s24", least=1000, most=1000)).outcome is Outcome.REFUTED


def test_the_pair_of_73_records_is_confirmed_by_the_probabilities_of_one_table():
    swap, spec = claim(most=11_691)
    found = judged(swap, spec)
    witness = found.witness
    assert len(witness.left) == len(witness.right) == 73
    assert witness.event.proves
    assert witness.divergence.lower == dp.ln("739/9")  # 1 + 2n/o + n(n-1)/o^2 at n = 73, o = 9
    ratio = witness.event.left.lower.as_fraction() / witness.event.right.lower.as_fraction()
    assert ratio in (Fraction(739, 9), Fraction(9, 739))
    assert Fraction(739, 9) > 81  # the budget is ln 9 per unit, and the distance is 2


def test_the_witness_is_replayed_without_listing_the_law(tmp_path):
    path = tmp_path / "swap.dpspec.toml"
    swap, spec = claim(most=11_691)
    registry = installed().registry
    document = SpecDocument(id="swap", title="A swap", spec=spec, mechanism=swap)
    path.write_text(to_toml(document, registry), encoding="utf-8")
    keep_witnesses(verify(path), tmp_path, registry)
    (kept,) = tmp_path.glob("*.json")
    assert replay(kept).is_unchanged


def listed(dataset, rate, *, derange):
    """The law by listing the permutations of every selection."""
    p, n = Fraction(rate), len(dataset)
    law = Counter()
    for mask in itertools.product((0, 1), repeat=n):
        chosen = [i for i in range(n) if mask[i]]
        if derange and len(chosen) == 1:
            continue
        turns = [t for t in itertools.permutations(chosen) if not derange or all(a != b for a, b in zip(t, chosen, strict=True))]
        for turn in turns:
            places = dict(zip(chosen, turn, strict=True))
            table = tuple(sorted((kin, dataset[places.get(i, i)][1]) for i, (kin, _) in enumerate(dataset)))
            law[table] += p ** len(chosen) * (1 - p) ** (n - len(chosen)) / len(turns)
    total = sum(law.values())
    return {table: chance / total for table, chance in law.items()}


@pytest.mark.parametrize("mechanism", [DerangementSwapping, PermutationSwapping])
@pytest.mark.parametrize("kinds", ["00 11 22 33", "00 00 11 12", "00 01 10 11 22", "00 11", "00"])
def test_the_probability_of_one_table_is_that_of_the_permutations(mechanism, kinds):
    space = UnorderedRecords(attributes=PAIR, unit="household")
    dataset = space.dataset([tuple(kind) for kind in kinds.split()])
    swap = mechanism(swap=["place"], swap_rate="2/5")
    if len(dataset) == 1:
        assert swap.probability(dataset, dataset, space) == 1
        return
    law = listed(dataset, "2/5", derange=swap.deranges)
    assert {table: swap.probability(dataset, table, space) for table in law} == law
    assert swap.probability(dataset, dataset[1:], space) == 0
    assert math.isclose(sum(law.values()), 1)
