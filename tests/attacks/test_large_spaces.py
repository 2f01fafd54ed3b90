"""Reading a file never walks over a space: sizes are counted from the parameters, or refused."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
import resource
import signal

import pytest

from dpspec.base.errors import DpspecError, NotEnumerableError, NotInSpaceError, ParameterError
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multisets import (
    all_records,
    check_attributes,
    count_records,
    multisets_between,
    restrict_attributes,
    sequences_between,
)
from dpspec.blocks.records import OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.extension import installed
from dpspec.specfile.reader import read_text
from tests.attacks.mutating import ROOT, Hang, _late

HUGE = 10**18


def nested(draw):
    """A few attributes, some within others, each category filled."""
    attributes = []
    for place in range(draw.randint(1, 5)):
        coarser = draw.choice([None, *attributes])
        size = draw.randint(1 if coarser is None else coarser.size, 5)
        if coarser is not None and draw.random() < 0.5:
            parents = [*coarser.values(), *draw.choices(list(coarser.values()), k=size - coarser.size)]
            draw.shuffle(parents)
            names = tuple(f"c{i}" for i in range(size))
            attributes.append(Attribute(name=f"a{place}", categories=names, within=coarser.name, parents=tuple(parents)))
        else:
            attributes.append(Attribute(name=f"a{place}", count=size, within=None if coarser is None else coarser.name))
    return tuple(attributes)


def test_records_are_counted_as_they_are_listed():
    draw = random.Random(5)
    for _ in range(200):
        attributes = nested(draw)
        check_attributes(attributes)
        assert count_records(attributes) == sum(1 for _ in all_records(attributes))


def test_what_is_mentioned_stays_whole_in_a_miniature():
    """A category is kept with all that it lies within, and each category that is kept is filled."""
    draw = random.Random(6)
    for _ in range(200):
        attributes = nested(draw)
        mentioned = {a.name: frozenset(draw.sample(list(a.values()), 1)) for a in attributes if draw.random() < 0.4}
        kept = restrict_attributes(attributes, mentioned)
        check_attributes(kept)
        for attribute in kept:
            assert mentioned.get(attribute.name, frozenset()) <= set(attribute.values())


@pytest.mark.parametrize(
    "finer",
    [
        Attribute(name="block", count=2, within="county"),
        Attribute(name="block", categories=("x", "y"), within="county"),
        Attribute(name="block", categories=("x", "y"), within="county", parents=("0", "1")),
    ],
)
def test_a_category_that_no_record_has_is_refused(finer):
    for county in (10**308, 3):
        with pytest.raises(ParameterError, match="leaves categories of county empty"):
            check_attributes((Attribute(name="county", count=county), finer))


def test_a_parent_is_a_category():
    block = Attribute(name="block", categories=("x", "y"), within="county", parents=("0", "7"))
    with pytest.raises(NotInSpaceError):
        check_attributes((Attribute(name="county", count=2), block))


@pytest.mark.parametrize(("least", "most"), [(least, most) for least in range(4) for most in range(least, 6)])
@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_sequences_and_multisets_are_counted_as_they_are_listed(kinds, least, most):
    sizes = range(least, most + 1)
    assert sequences_between(kinds, least, most) == sum(1 for n in sizes for _ in itertools.product(range(kinds), repeat=n))
    listed = sum(1 for n in sizes for _ in itertools.combinations_with_replacement(range(kinds), n))
    assert multisets_between(kinds, least, most) == listed


def test_a_space_is_not_counted_beyond_what_a_number_may_hold():
    age = (Attribute(name="age", count=6_000_000),)
    for space in (
        BitVectors(length=HUGE),
        IntegerCounts(length=HUGE, low=0, high=1),
        IntegerCounts(length=3, low=0, high=10**3000),
        OrderedRecords(attributes=age, least=HUGE, most=HUGE),
        OrderedRecords(attributes=age, most=HUGE),
    ):
        assert space.cardinality() is None
    branching = (Attribute(name="a", count=HUGE), *(Attribute(name=n, count=HUGE, within="a") for n in "bc"))
    assert count_records(branching) is None


SPACES = {
    "bit-vectors": "length = {0}",
    "integer-counts": "length = {0}\nlow = 0\nhigh = {0}",
    "ordered-records": "least = 1\nmost = {0}\nattributes = [{1}]",
    "records": "most = {0}\nattributes = [{1}]",
    "contingency-tables": "most = {0}\nattributes = [{1}]",
    "households": "most = {0}\nmembers = {0}\nhousehold = [{1}]\nperson = [{2}]",
    "event-streams": 'users = ["u"]\ntimes = {0}\nvalues = ["v", "w"]\nper_time = 3',
    "element-records": 'users = ["u", "v"]\nelements = [{1}]',
    "metric-points": "grid = [{0}, {0}]\ncount = {0}",
}
TEXT = """\
schema = 1
id = "large"
title = "large"
[space]
type = "{0}"
{1}
[multiverse]
invariants = [{2}]
[input_divergence]
type = "hamming"
[output_divergence]
type = "mult"
[budget]
epsilon = 1
[mechanism]
{3}
"""
INVARIANTS = (
    "",
    '{ type = "linear-map", rows = [[1, 1, 1]] }',
    '{ type = "marginal", attributes = ["a0", "a1", "a2"] }',
    '{ type = "marginal", unit = "household", attributes = ["a0"] }',
)
MECHANISMS = (
    'type = "randomised-response"\nkeep_probability = "3/4"',
    'type = "permutation-swapping"\nswap_rate = "1/20"\nmatch = ["a0"]\nswap = ["a1"]',
    'type = "geometric"\nepsilon = 1\nunit = "person"\nneighbours = "replace-one"\n'
    'queries = [{ type = "marginal", attributes = ["a0"] }]',
    'type = "gaussian"\nvariance = 4\nqueries = [{ type = "linear-map", rows = [[1, 1, 1]] }]',
)


@pytest.mark.parametrize("space", SPACES)
def test_a_file_of_any_size_is_read_or_refused(space):
    """Of processor at most 10 s for all of them together, of memory 300 MB more than before."""

    def attributes(first):
        return ", ".join(f'{{ name = "{first}{i}", count = 6_000_000 }}' for i in range(250))

    before, registry = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, installed().registry
    handler = signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, 10)
    try:
        parameters = SPACES[space].format(6_000_000_000, attributes("a"), attributes("p"))
        for invariant, mechanism in zip(INVARIANTS, MECHANISMS, strict=True):
            try:
                read_text(TEXT.format(space, parameters, invariant, mechanism), registry)
            except DpspecError:
                continue
    except Hang:
        pytest.fail("reading walks over the space")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


def test_a_vector_of_too_many_places_is_not_listed():
    for space in (BitVectors(length=2**63), IntegerCounts(length=2**63, low=0, high=1)):
        with pytest.raises(NotEnumerableError):
            next(iter(space.datasets()))


@pytest.mark.parametrize("where", [3, [3], [["a"]], [["a", ["0"], 1]], ["ab"], [["a", ["0"]], ["a", ["1"]]]])
def test_a_table_that_is_none_is_refused(where):
    with pytest.raises(ParameterError):
        Marginal(attributes=("a",), where=where)


def _made_huge(path, number):
    """The text with each whole number in turn replaced by a huge one."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r'(?<![\w."/\-])\d+(?![\w."/\-])', text):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].lstrip()
        if not line.startswith(("#", "schema")):
            yield text[: found.start()] + str(number) + text[found.end() :]


def _reading_ends(paths, numbers):
    """Each text is read or refused within 5 s of processor."""
    registry, handler, count = installed().registry, signal.signal(signal.SIGVTALRM, _late), 0
    try:
        for path, number in itertools.product(paths, numbers):
            for text in _made_huge(path, number):
                count += 1
                signal.setitimer(signal.ITIMER_VIRTUAL, 5)
                with contextlib.suppress(DpspecError):
                    read_text(text, registry)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except Hang:
        pytest.fail(f"{path} with {number} for a number walks over the space")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
    return count


@pytest.mark.parametrize("name", ["topdown-by-levels-town", "distributional-privacy", "noiseless-privacy"])
def test_a_huge_number_in_a_specification(name):
    """A hierarchy of places, and laws of data by records: found by this and by mutated files."""
    paths = list((ROOT / "specs").rglob(f"{name}.dpspec.toml"))
    assert len(paths) == 1
    assert _reading_ends(paths, [10**300])


@pytest.mark.long
def test_every_number_of_every_specification_made_huge():
    paths = [path for path in sorted((ROOT / "specs").rglob("*.dpspec.toml")) if path.parent.name != "bad"]
    assert _reading_ends(paths, (6_000_000, 2**63, 10**300)) > 4000
