"""Targeted record swapping: its law against a second enumeration, its release against the law, what it keeps and what not.

Size and errors of the statistical test. Releases of 3,000 seeds are compared with the law by Pearson's statistic at level 1e-9,
the false alarm of each. A variant that takes the risky records in the order of the file has a noncentrality above 600, which a
test computes: it is missed with a probability below 1e-9.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.disclosure import TargetedSwapping, targeted
from scipy.stats import chi2

from dpspec import Outcome
from dpspec.base.errors import IncompatibleBlocksError, NotEnumerableError, ParameterError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.sorting import Packing
from dpspec.grammar.tables import Table, compact
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.entry import verify_claim

COUNTY = Attribute(name="county", categories=("A", "B"))
TRACT = Attribute(name="tract", categories=("a1", "a2", "b1", "b2"), within="county", parents=("A", "A", "B", "B"))
AGE, SIZE = Attribute(name="age", categories=("old", "young")), Attribute(name="size", categories=("1", "2"))
FLAT = UnorderedRecords(attributes=(COUNTY, AGE, SIZE), most=6, unit="household")
DEEP = UnorderedRecords(attributes=(COUNTY, TRACT, AGE), unit="household")
BY_COUNTY = TargetedSwapping(levels=["county"], risk=["age"], k=2, similar=[["size"]])
NEAREST = TargetedSwapping(levels=["county"], risk=["age"], k=2, similar=[["age", "size"], ["size"], []])
BY_TRACT = TargetedSwapping(levels=["county", "tract"], risk=["age"], k=2)
ANY_DONOR = TargetedSwapping(levels=["county"], risk=["age"], k=2)
THREE = UnorderedRecords(attributes=(Attribute(name="county", categories=("A", "B", "C")), AGE), unit="household")
DRAWS, LEVEL = 3_000, 1e-9


def second_law(mechanism, x, space, orders_of=itertools.permutations):
    """The law over whole orders of the risky records of every level, records told apart by their place in the file."""
    names = [a.name for a in space.attributes]
    file = [dict(zip(names, record, strict=True)) for record in x]

    def rare(one, depth):
        held = (*mechanism.levels[: depth + 1], *mechanism.risk)
        return sum(all(one[h] == other[h] for h in held) for other in file) < mechanism.k

    worlds = [(Fraction(1), [dict(one) for one in file], frozenset())]
    for depth, name in enumerate(mechanism.levels):
        later = []
        for chance, now, moved in worlds:
            risky = [i for i, one in enumerate(file) if rare(one, depth) and i not in moved]
            orders = list(orders_of(risky))
            for order in orders:
                branches = [(chance / len(orders), now, moved)]
                for i in order:
                    branches = [b for branch in branches for b in step(mechanism, branch, i, depth, name)]
                later += branches
        worlds = later
    law = defaultdict(Fraction)
    for chance, now, _ in worlds:
        law[space.dataset([tuple(one[n] for n in names) for one in now])] += chance
    return FiniteLaw.of(law)


def step(mechanism, branch, i, depth, name):
    chance, now, moved = branch
    if i in moved:
        return [branch]
    for profile in mechanism.similar:
        alike = (*mechanism.levels[:depth], *profile)
        donors = [
            j
            for j in range(len(now))
            if j not in moved and now[j][name] != now[i][name] and all(now[i][a] == now[j][a] for a in alike)
        ]
        if donors:
            break
    else:
        return [branch]
    after = []
    for j in donors:
        then = [dict(one) for one in now]
        for moving in mechanism.levels[depth:]:
            then[i][moving], then[j][moving] = now[j][moving], now[i][moving]
        after.append((chance / len(donors), then, moved | {i, j}))
    return after


CASES = [
    # two risky records and one donor: who comes first has it
    (BY_COUNTY, FLAT, [("A", "old", "1"), ("A", "young", "1"), ("B", "young", "1"), ("B", "young", "2")]),
    (BY_COUNTY, FLAT, [("A", "old", "1"), ("A", "young", "1"), ("B", "young", "1"), ("B", "young", "1")]),
    (BY_COUNTY, FLAT, [("A", "old", "1"), ("B", "old", "1"), ("B", "young", "1"), ("A", "young", "2")]),
    (NEAREST, FLAT, [("A", "old", "1"), ("B", "old", "1"), ("B", "young", "1"), ("A", "young", "2")]),
    (NEAREST, FLAT, [("A", "old", "1"), ("B", "young", "2"), ("B", "young", "2"), ("B", "young", "1")]),
    (BY_TRACT, DEEP, [("A", "a1", "old"), ("A", "a2", "young"), ("B", "b1", "young"), ("B", "b1", "young")]),
    (BY_TRACT, DEEP, [("A", "a1", "old"), ("A", "a1", "old"), ("A", "a2", "old"), ("A", "a2", "young"), ("A", "a2", "young")]),
    (BY_TRACT, DEEP, [("A", "a1", "old"), ("A", "a2", "old"), ("A", "a2", "young"), ("B", "b1", "young"), ("B", "b2", "young")]),
    # two risky records that may take each other, and then must not move on to the third county
    (ANY_DONOR, THREE, [("A", "old"), ("B", "old"), ("C", "young"), ("C", "young")]),
]


@pytest.mark.parametrize(("mechanism", "space", "x"), CASES)
def test_the_law_is_that_of_the_second_enumeration(mechanism, space, x):
    assert mechanism.law(x, space) == second_law(mechanism, space.dataset(x), space)


def test_every_small_dataset_has_the_law_of_the_second_enumeration():
    space = UnorderedRecords(attributes=(COUNTY, AGE), most=4, unit="household")
    mechanism = TargetedSwapping(levels=["county"], risk=["age"], k=2)
    for x in space.datasets():
        assert mechanism.law(x, space) == second_law(mechanism, x, space)


def test_nobody_who_is_common_begins_a_swap():
    law = BY_COUNTY.law([("A", "old", "1"), ("A", "old", "1"), ("B", "young", "1"), ("B", "young", "1")], FLAT)
    assert len(law.support) == 1


def test_the_nearest_donor_is_taken():
    """An old donor of the same size is there, so the first profile decides, although young ones agree in size too."""
    x = FLAT.dataset([("A", "old", "1"), ("B", "old", "1"), ("B", "young", "1"), ("B", "young", "1")])
    assert NEAREST.law(x, FLAT) == FiniteLaw.point(x)
    assert len(BY_COUNTY.law(x, FLAT).support) > 1


@pytest.mark.reference("B-T10")
@pytest.mark.parametrize("mechanism", [BY_COUNTY, NEAREST], ids=["one profile", "three profiles"])
def test_what_it_keeps_and_that_no_budget_is_finite_there(mechanism):
    space = UnorderedRecords(attributes=(COUNTY, AGE, SIZE), most=3, unit="household")
    kept = mechanism.scheme().invariants(space)
    for x in space.datasets():
        for outcome in mechanism.law(x, space).support:
            assert all(invariant.value(outcome, space) == invariant.value(x, space) for invariant in kept)
    for claim in mechanism.claims(space):
        verdict = verify_claim(mechanism, claim.spec)
        assert verdict.outcome is Outcome.UNDECIDED  # every mechanism satisfies the claim
        assert verdict.constant.lower.is_infinite


# --- releases ------------------------------------------------------------------------------------


def rows(table):
    labels = [list(a.values()) for a in table.attributes]
    columns = [table.codes[a.name].tolist() for a in table.attributes]
    return tuple(sorted(tuple(label[c] for label, c in zip(labels, row, strict=True)) for row in zip(*columns, strict=True)))


@pytest.mark.spread(0, slow=2)
@pytest.mark.statistical
@pytest.mark.parametrize(("mechanism", "space", "x"), [CASES[place] for place in (0, 2, 3, 7, 8)])
def test_a_release_follows_the_law(mechanism, space, x):
    law = mechanism.law(x, space)
    table = Table.from_records(x, space.attributes)
    seen = Counter(rows(mechanism.release(table, space, SeededRandomness(seed))) for seed in range(DRAWS))
    assert min(p for _, p in law.probabilities()) * DRAWS >= 50
    assert set(seen) <= set(law.support)
    statistic = sum((seen[z] - DRAWS * float(p)) ** 2 / (DRAWS * float(p)) for z, p in law.probabilities())
    assert statistic < chi2.isf(LEVEL, max(len(law.support) - 1, 1))


@pytest.mark.statistical
def test_the_order_of_the_file_would_be_seen():
    mechanism, space, x = CASES[0]
    law = mechanism.law(x, space)
    wrong = second_law(mechanism, space.dataset(x), space, orders_of=lambda risky: [tuple(risky)])
    assert set(wrong.support) <= set(law.support)
    assert DRAWS * sum((wrong.probability(z) - p) ** 2 / p for z, p in law.probabilities()) > 600


def test_a_full_listing_of_donors_after_refusals(monkeypatch):
    """The same release when every draw is refused at once: the donor comes from the list."""
    monkeypatch.setattr("dpspec_census.disclosure.targeted.TRIES", 0)
    mechanism, space, x = CASES[1]
    law, table = mechanism.law(x, space), Table.from_records(x, space.attributes)
    seen = {rows(mechanism.release(table, space, SeededRandomness(seed))) for seed in range(300)}
    assert seen == set(law.support)


@pytest.mark.slow
def test_a_million_households(monkeypatch):
    monkeypatch.setattr(targeted, "unordered", lambda table, _: table)  # whose records are compared one by one
    source, n = SeededRandomness(6), 1_000_000
    county, tract = Attribute(name="county", count=20), Attribute(name="tract", count=400, within="county")
    age, size = Attribute(name="age", count=64), Attribute(name="size", count=5)
    space = UnorderedRecords(attributes=(county, tract, age, size), unit="household")
    codes = {"tract": source.below(400, n), "size": source.below(5, n), "age": source.below(64, n) * source.below(64, n) // 64}
    codes["county"] = codes["tract"] // 20
    mechanism = TargetedSwapping(levels=["county", "tract"], risk=["age"], k=6, similar=[["size", "age"], ["size"]])
    table = Table(attributes=space.attributes, codes=codes)
    released = mechanism.release(table, space, source)
    assert released.counts(["county", "tract", "size"]) == table.counts(["county", "tract", "size"])
    assert released.counts(["age", "size"]) == table.counts(["age", "size"])
    assert (released.codes["county"] == released.codes["tract"] // 20).all()
    _, where, sizes = np.unique(table.key(["tract", "age"]), return_inverse=True, return_counts=True)
    risky, moved = sizes[where] < 6, released.codes["tract"] != codes["tract"]
    assert risky.sum() > 4_000
    assert moved[risky].mean() > 0.99
    assert moved[~risky].mean() < 0.05


# --- bad input -----------------------------------------------------------------------------------


def test_bad_input():
    with pytest.raises(ParameterError, match="k=0"):
        TargetedSwapping(levels=["county"], risk=["age"], k=0)
    with pytest.raises(ParameterError, match="levels"):
        TargetedSwapping(levels=[], risk=["age"], k=2)
    with pytest.raises(IncompatibleBlocksError, match="which moves"):
        TargetedSwapping(levels=["county"], risk=["county"], k=2).check(FLAT)
    with pytest.raises(IncompatibleBlocksError, match="did you mean age"):
        TargetedSwapping(levels=["county"], risk=["ag"], k=2).check(FLAT)
    with pytest.raises(IncompatibleBlocksError, match="tear"):
        TargetedSwapping(levels=["county"], risk=["age"], k=2).check(DEEP)
    with pytest.raises(NotEnumerableError, match="at most 8 records"):
        BY_TRACT.law([("A", "a1", "old")] * 9, DEEP)


def test_risk_variables_of_any_number_of_combinations():
    """More than 64 bits number: the release failed after its budget was spent."""
    attributes = (Attribute(name="area", count=2), *(Attribute(name=f"a{place}", count=10) for place in range(24)))
    space, names = UnorderedRecords(attributes=attributes), [a.name for a in attributes[1:]]
    records = [("0", *"0" * 24), ("0", *"0" * 24), ("0", *"0" * 23, "1"), ("1", *"0" * 24), ("1", *"0" * 24)]
    mechanism = TargetedSwapping(levels=["area"], risk=names, k=2, similar=[names[:-1]], unit="person")
    released = mechanism.release(Table.from_records(records, attributes), space, SeededRandomness(1))
    exchanged = [*records[:2], ("1", *records[2][1:]), ("0", *records[3][1:]), records[4]]
    assert [*released.records()] == sorted(exchanged), "the one rare record exchanges its area with a donor"


def test_kinds_of_many_categories():
    attributes = (Attribute(name="place", count=1 << 60), Attribute(name="age", count=3))
    table = Table(attributes=attributes, codes={"place": np.array([1 << 59, 5, 1 << 59]), "age": np.array([1, 1, 1])})
    assert table.kinds(["age", "place"]).tolist() == [1, 0, 1]
    assert table.kinds([]).tolist() == [0, 0, 0]


def test_kinds_of_codes_without_a_sign():
    """Codes above 2^32 are held as unsigned numbers of 64 bits. They became decimals, so that neighbours were the same kind."""
    attributes = (Attribute(name="age", count=3), Attribute(name="place", count=1 << 60))
    places = [(1 << 59) + 1, (1 << 59) + 2, (1 << 59) + 1]
    table = Table(attributes=attributes, codes={"age": compact([1, 1, 1], 3), "place": compact(places, 1 << 60)})
    assert table.codes["place"].dtype == np.uint64
    assert table.kinds(["age", "place"]).tolist() == table.kinds(["place"]).tolist() == [0, 1, 0]
    assert table.key(["age", "place"]).tolist() == [(1 << 60) + place for place in places]
    packing = Packing(attributes=attributes, name="key")
    assert packing.packed(table.codes)["key0"].tolist() == [(1 << 60) + place for place in places]
    assert packing.codes(packing.packed(table.codes))["place"].tolist() == places
