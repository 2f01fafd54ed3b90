"""Tables without records, such as an empty sample: all mechanisms that release tables release them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import DerangementSwapping, PairSwapping, PermutationSwapping
from dpspec_census.disclosure.suppression import CellSuppression
from dpspec_flavours.secrets.averages import Subsampled

from dpspec.base.errors import DpspecError, ReleaseError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.parts import resized
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import MEMBERS, Attribute
from dpspec.extension import installed
from dpspec.grammar.tables import Members, Table
from dpspec.grammar.workers import Run

SEX, PLACE = Attribute(name="sex", categories=("f", "m")), Attribute(name="place", categories=("a", "b"))
SPACE = UnorderedRecords(attributes=(SEX, PLACE), most=2)
KINDS = (DerangementSwapping, PairSwapping, PermutationSwapping)
SWAPS = [kind(match=("place",), swap=("sex",), swap_rate=Fraction(1, 2), unit="person") for kind in KINDS]
SUPPRESSION = CellSuppression(tables=(("sex",), ()), threshold=3)


def examples():
    """The examples of all mechanisms whose records are rows of one table, on their spaces with room for no record."""
    for entry in installed().registry:
        if entry.kind != "mechanisms" or entry.fault is not None:
            continue
        for example in getattr(entry.cls, "examples", tuple)():
            mechanism, space = example if isinstance(example, tuple) else (example, SPACE)
            rows = space.units and all(a.name != MEMBERS for a in space.attributes_of(space.units[0]))
            if rows and space.attributes_of(space.units[0]) and fits(mechanism, smaller := resized(space, 0, 2) or space):
                yield entry.name, mechanism, smaller


def fits(mechanism, space):
    try:
        mechanism.check(space)
    except DpspecError:
        return False
    return True


def released(mechanism, space, records=()):
    table = Table.from_records(list(records), space.attributes_of(space.units[0]))
    return mechanism.run(table, space, Run(source=SeededRandomness(1)))


def test_every_mechanism_releases_a_table_without_records_or_no_table_at_all():
    done = set()
    for name, mechanism, space in examples():
        try:
            released(mechanism, space)
        except ReleaseError:
            record = tuple(next(iter(a.values())) for a in space.attributes_of(space.units[0]))
            with pytest.raises(ReleaseError):
                released(mechanism, space, [record])
        else:
            done.add(name)
    assert {"cell-suppression", "pre-noise", "targeted-swapping", "random-rounding", "cell-key", "top-coding"} <= done


@pytest.mark.parametrize("mechanism", [SUPPRESSION, *SWAPS], ids=lambda one: one.name)
def test_an_empty_sample_is_released(mechanism):
    output = released(Subsampled(mechanism=mechanism, rate=0), SPACE, [("f", "a"), ("m", "b")])
    assert list(output.main.records()) == list(released(mechanism, SPACE).main.records())
    assert mechanism is SUPPRESSION or not len(output.main)


def test_suppression_of_no_records_is_what_its_law_says():
    (outcome,) = SUPPRESSION.law((), SPACE).support
    assert outcome == ((0, 0), (0,))
    table = released(SUPPRESSION, SPACE).main
    place = [a.name for a in table.attributes].index("value")
    assert [row[place] for row in table.records()] == ["0", "0", "0"]


@pytest.mark.parametrize("swap", SWAPS, ids=lambda one: one.name)
def test_no_households_are_swapped_and_their_budget_is_that_of_no_stratum(swap):
    space = Households(household=(PLACE, Attribute(name="tenure", count=2)), person=(SEX,), most=2, members=2)
    swap = type(swap)(match=("place",), swap=("tenure",), swap_rate=Fraction(1, 2), unit="household")
    empty = Table.from_records([], space.household)
    members = Members(table=Table.from_records([], space.person), owner=np.zeros(0, dtype=np.int64))
    table = Table(attributes=empty.attributes, codes=empty.codes, members=members)
    output = swap.run(table, space, Run(source=SeededRandomness(1)))
    assert (len(output.main), len(output.main.members.table)) == (0, 0)
    assert output.report["strata"] == output.report["largest stratum"] == 0
    for claim, spent in zip(swap.claims(space), output.report["budget of this universe"], strict=True):
        assert spent["epsilon"] == str(claim.spec.budget.at(next(iter(claim.spec.multiverse.universes(space))), space))
