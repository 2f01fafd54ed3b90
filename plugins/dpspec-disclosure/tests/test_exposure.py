"""Exposure against enumeration: every table of the universe is listed, and what they have in common is read off."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve
from dpspec_disclosure.exposure import SCALE, Exposed
from dpspec_disclosure.knowledge import Geography
from dpspec_disclosure.margins import kinds_of, margins_of
from dpspec_disclosure.programs import Program, programs_of

from dpspec.plugin import Attribute, Marginal, Table

# --- the oracle: no code of the plugin -------------------------------------------------------------


def every_kind(attributes):
    names = [a.name for a in attributes]
    for kind in itertools.product(*(list(a.values()) for a in attributes)):
        record = dict(zip(names, kind, strict=True))
        nested = [(a, next(b for b in attributes if b.name == a.within)) for a in attributes if a.within]
        if all(a.parent(record[a.name], b) == record[b.name] for a, b in nested):
            yield kind


def published(table, margins, names):
    def count(margin):
        places = [names.index(a) for a in margin.attributes]
        where = [(names.index(a), admitted) for a, admitted in margin.where]
        return Counter(tuple(r[p] for p in places) for r in table if all(r[p] in admitted for p, admitted in where))

    return [count(margin) for margin in margins]


def universe(table, margins, attributes, sizes):
    names = [a.name for a in attributes]
    wanted = published(table, margins, names)
    lengths = [len(table)] if any(not m.where for m in margins) else range(sizes[0], sizes[1] + 1)
    return [
        other
        for length in lengths
        for other in itertools.combinations_with_replacement(sorted(every_kind(attributes)), length)
        if published(other, margins, names) == wanted
    ]


def with_coarser(names, attributes):
    known = {a.name: a for a in attributes}
    found = set()
    for name in names:
        at = name
        while at is not None:
            found.add(at)
            at = known[at].within
    return found


def part(record, names, wanted):
    return tuple(record[names.index(name)] for name in names if name in wanted)


def fixed_cells(table, others, names, seen):
    """The kinds by the attributes that margins see, whose count is the same in all tables, and the kinds that are possible."""
    counted = [Counter(part(record, names, seen) for record in other) for other in others]
    possible = set().union(*counted)
    fixed = {kind for kind in possible if len({count[kind] for count in counted}) == 1}
    here = Counter(part(record, names, seen) for record in table)
    return len(fixed), len(possible), sum(here[kind] for kind in fixed)


def determined(table, others, names, secret, known):
    return sum(
        {part(r, names, secret) for other in others for r in other if part(r, names, known) == part(target, names, known)}
        == {part(target, names, secret)}
        for target in table
    )


def all_but(table, margins, attributes, secret, known, unknown):
    names = [a.name for a in attributes]
    kinds = sorted(every_kind(attributes))
    found = 0
    for place, target in enumerate(table):
        rest = [i for i in range(len(table)) if i != place]
        possible = set()
        for chosen in itertools.combinations(rest, min(unknown, len(table)) - 1):
            hidden = [table[i] for i in (place, *chosen)]
            wanted = published(hidden, margins, names)
            for filled in itertools.combinations_with_replacement(kinds, len(hidden)):
                if published(filled, margins, names) == wanted:
                    possible |= {part(r, names, secret) for r in filled if part(r, names, known) == part(target, names, known)}
        found += possible == {part(target, names, secret)}
    return found


def beliefs(table, margins, attributes, secret, known):
    """P(secret | known) of each record under the uniform law on the lists with these margins."""
    names = [a.name for a in attributes]
    weights = [(other, _orders(other)) for other in universe(table, margins, attributes, (len(table), len(table)))]
    for target in table:
        k, s = part(target, names, known), part(target, names, secret)
        fits = sum(w * sum(part(r, names, known) == k for r in o) for o, w in weights)
        true = sum(w * sum(part(r, names, known) == k and part(r, names, secret) == s for r in o) for o, w in weights)
        yield Fraction(true, fits)


def _orders(other):
    found = 1
    for place, count in enumerate(itertools.accumulate(Counter(other).values())):
        size = list(Counter(other).values())[place]
        found *= len(list(itertools.combinations(range(count), size)))
    return found


# --- random tables --------------------------------------------------------------------------------


def drawn(rng, *, partial=True):
    sizes = [rng.choice((2, 2, 3)) for _ in range(rng.choice((2, 3, 3)))]
    if sum(sizes) > 7:
        sizes = [2] * len(sizes)
    attributes = [Attribute(name="abc"[i], count=size) for i, size in enumerate(sizes)]
    if len(sizes) == 3 and rng.random() < 0.3:
        attributes[1] = Attribute(name="b", count=max(sizes[1], sizes[0]), within="a")
    names = [a.name for a in attributes]
    margins = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        chosen = tuple(sorted(rng.sample(names, rng.choice((1, 2, 2)))))
        where = ()
        if partial and rng.random() < 0.25:
            a = rng.choice(attributes)
            where = ((a.name, tuple(rng.sample(sorted(a.values()), rng.choice((1, 1, a.size))))),)
        margins.append(Marginal(attributes=chosen, where=where))
    kinds = sorted(every_kind(attributes))
    table = [rng.choice(kinds) for _ in range(rng.choice((1, 2, 3, 3, 4)))]
    sizes = (rng.choice((0, len(table))), len(table) + rng.choice((0, 0, 1)))
    secret = tuple(rng.sample(names, rng.choice((1, 1, 2)) if len(names) > 1 else 1))
    known = tuple(n for n in names if n not in secret and rng.random() < 0.7)
    known = tuple(n for n in known if not with_coarser([n], attributes) & set(secret))
    return attributes, margins, table, sizes, secret, known


def analysed(attributes, margins, table, sizes, secret, known, unknown):
    given = Table.from_records(table, tuple(attributes))
    found = Exposed(margins_of(given, margins, sizes), Geography(attributes=tuple(attributes)))
    rows, counts = kinds_of(given, [a.name for a in attributes])
    columns = {a.name: rows[:, place] for place, a in enumerate(attributes)}
    return found, found.of_secret(columns, counts, secret, known, unknown)


def check(seed):
    rng = random.Random(seed)
    attributes, margins, table, sizes, secret, known = case = drawn(rng)
    names = [a.name for a in attributes]
    unknown = rng.choice((1, 2, 2, 3))
    exposed, found = analysed(*case, unknown)
    others = universe(table, margins, attributes, sizes)
    assert tuple(sorted(table)) in others
    seen = {a.name for a in exposed.margins.attributes}
    cells = exposed.fixed_cells()
    fixed, possible, records = fixed_cells(table, others, names, seen)
    undecided = 0
    assert cells.records.yes <= records <= cells.records.yes + cells.records.undecided
    assert cells.cells <= fixed <= cells.cells + cells.undecided
    whole = fixed_cells(table, others, names, set(names))[2]
    assert cells.determined.yes <= whole <= cells.determined.yes + cells.determined.undecided
    assert possible <= cells.possible <= possible + cells.undecided
    undecided += cells.undecided
    wider = with_coarser(known, attributes)
    truth = determined(table, others, names, set(secret), wider)
    assert found.determined.yes <= truth <= found.determined.yes + found.determined.undecided
    undecided += found.determined.undecided
    truth = all_but(table, margins, attributes, set(secret), wider, unknown)
    assert found.all_but.yes <= truth <= found.all_but.yes + found.all_but.undecided
    if found.belief is not None:
        exact = list(beliefs(table, margins, attributes, set(secret), wider))
        mean = sum(exact) / len(exact)
        assert found.belief.low <= mean * SCALE <= found.belief.high
        assert found.belief.high - found.belief.low <= 2
        kinds = list(every_kind(attributes))
        fits = [[k for k in kinds if part(k, names, wider) == part(t, names, wider)] for t in table]
        true = [sum(part(k, names, secret) == part(t, names, secret) for k in fit) for t, fit in zip(table, fits, strict=True)]
        guesses = [Fraction(count, len(fit)) for count, fit in zip(true, fits, strict=True)]
        assert found.belief.guess_low <= sum(guesses) / len(guesses) * SCALE <= found.belief.guess_high
    return undecided, found.all_but.undecided


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_small_tables_by_enumeration(first):
    found = [check(seed) for seed in range(first, first + 50)]
    assert sum(cells for cells, _ in found) == 0, "small tables leave nothing undecided"


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("first", range(1_000, 3_000, 200))
def test_many_small_tables_by_enumeration(first):
    for seed in range(first, first + 200):
        check(seed)


# --- what random tables seldom show ---------------------------------------------------------------


def compared(attributes, margins, table, sizes, secret, known, unknown):
    """The three counts by the plugin, each as (proved, undecided), and by enumeration."""
    exposed, found = analysed(attributes, margins, table, sizes, secret, known, unknown)
    others = universe(table, margins, attributes, sizes)
    names = [a.name for a in attributes]
    wider = with_coarser(known, attributes)
    cells = exposed.fixed_cells()
    said = [(share.yes, share.undecided) for share in (cells.records, found.determined, found.all_but)]
    true = [
        fixed_cells(table, others, names, {a.name for a in exposed.margins.attributes})[2],
        determined(table, others, names, set(secret), wider),
        all_but(table, margins, attributes, set(secret), wider, unknown),
    ]
    return said, true


def test_margins_in_a_circle_are_not_decomposable():
    """All two-way margins of three attributes: a kind with positive margins may still be impossible."""
    attributes = [Attribute(name=name, count=2) for name in "abc"]
    margins = [Marginal(attributes=pair) for pair in (("a", "b"), ("b", "c"), ("a", "c"))]
    differing = 0
    for seed in range(40):
        table = random.Random(seed).choices(sorted(every_kind(attributes)), k=5)
        said, true = compared(attributes, margins, table, (0, None), ("c",), ("a", "b"), 1)
        assert said == [(count, 0) for count in true], table
        chain = margins[:2]
        differing += compared(attributes, chain, table, (0, None), ("c",), ("a", "b"), 1)[1] != true
    assert differing > 10


def test_three_unknown_records_can_open_what_two_cannot():
    """Along a chain of margins an exchange between two others has to come first: two unknown records leave the secret certain."""
    attributes = [Attribute(name="a", count=3), *(Attribute(name=name, count=2) for name in "bcd")]
    margins = [Marginal(attributes=pair) for pair in (("a", "b"), ("b", "c"), ("c", "d"))]
    table = [("0", "0", "0", "0"), ("1", "0", "1", "0"), ("2", "1", "1", "1")]
    two = compared(attributes, margins, table, (0, None), ("d",), ("a",), 2)
    three = compared(attributes, margins, table, (0, None), ("d",), ("a",), 3)
    assert two[0][2] == (two[1][2], 0)
    assert three[1][2] < two[1][2]
    assert three[0][2][0] <= three[1][2] <= sum(three[0][2])


def test_beliefs_without_tables_count_what_lies_beside():
    """Of two nested branches the one beside the path counts: a region with more districts has more kinds of records."""
    region = Attribute(name="region", count=2)
    county = Attribute(name="county", categories=("p", "q", "r"), within="region", parents=("0", "1", "1"))
    district = Attribute(name="district", categories=("s", "t", "u"), within="region", parents=("0", "0", "1"))
    attributes = (region, county, district)
    kinds = list(every_kind(attributes))
    above, below = Geography(attributes=attributes).shares("county", None)
    for place, name in enumerate(county.categories):
        assert Fraction(int(above[place]), int(below[place])) == Fraction(sum(kind[1] == name for kind in kinds), len(kinds))


def block():
    """One block of a program: one published total of two records, of two kinds, both records of the first."""
    attributes = (Attribute(name="a", count=2),)
    given = Table.from_records([("0",), ("0",)], attributes)
    margins = margins_of(given, [Marginal(attributes=())], (0, None))
    of_a = evolve(margins, attributes=attributes, kinds=np.array([[0]]))
    (program,) = (program for _, program in programs_of(of_a, np.array([[0], [1]])))
    return program


def test_a_solver_is_not_believed(monkeypatch):
    program, second = block(), np.array([False, True])
    assert program.largest(second, more_than=1).proved is True
    assert program.largest(second, more_than=2).proved is False
    monkeypatch.setattr(Program, "_solved", lambda self, wanted, sign: np.array([0, 3]))  # three records, where two are published
    assert program.largest(second, more_than=2).proved is False
    assert program.largest(second, more_than=1).proved is None
    monkeypatch.setattr(Program, "_solved", lambda self, wanted, sign: None)
    assert [program.largest(second, more_than=most).proved for most in (0, 1, 2)] == [None, None, False]
