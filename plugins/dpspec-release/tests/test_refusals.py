"""Whatever is refused is refused before a budget is spent: every mechanism, inside every mechanism that is made of others."""

from __future__ import annotations

import itertools

import pytest
from dpspec_flavours.secrets.averages import Subsampled
from dpspec_noise import BoundedContributions, ComposedMechanism, Filtered, PostProcessed

from dpspec import installed
from dpspec.base.errors import DpspecError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.space import MEMBERS
from dpspec.grammar.mechanism import check_table
from dpspec.grammar.workers import Run
from dpspec.testing.check import NotApplicable, Subjects, examples
from dpspec.testing.checks.mechanism import _whole_table


def around(mechanism, space):
    """A mechanism by itself, and in others."""
    yield mechanism
    yield PostProcessed(mechanism=mechanism, at_least=0)
    yield ComposedMechanism(parts=(mechanism, mechanism))
    yield Subsampled(mechanism=mechanism, size=1)
    for unit in space.units[:2]:
        named = [a for a in space.attributes_of(unit) if a.name != MEMBERS and a.categories]
        if named:
            yield Filtered(mechanism=mechanism, where={named[0].name: named[0].categories[:1]}, unit=unit)
    if len(space.units) > 1:
        yield BoundedContributions(mechanism=mechanism, most=1)


def refusal(of):
    try:
        of()
    except DpspecError as problem:
        return problem
    return None


def late(thing, space, datasets):
    """What is refused only when it is drawn."""
    if refusal(lambda: thing.check_release(space)):
        return
    try:
        tables = [_whole_table(x, space) for x in dict.fromkeys((datasets[0], datasets[-1]))]
    except NotApplicable:
        return
    for mechanism in around(thing, space):
        if refusal(lambda: mechanism.check_release(space)) or refusal(lambda: mechanism.check(space)):
            continue
        for table in tables:
            if refusal(lambda: check_table(mechanism, table, space)) is None:
                found = refusal(lambda: mechanism.run(table, space, Run(source=SeededRandomness(1))))
                if found is not None:
                    yield f"{mechanism} on {space}: {found}"


def test_every_refusal_precedes_the_charge():
    """On the examples that classes give of themselves."""
    found = []
    for entry in installed().registry.usable("mechanisms"):
        for example in examples(entry.cls):
            if isinstance(example, tuple):
                found += late(*example, list(itertools.islice(example[1].datasets(), 4))[-1:])
    assert found == []


@pytest.mark.long
def test_every_refusal_precedes_the_charge_on_all_small_spaces():
    subjects = Subjects(registry=installed().registry, level="fast")
    for entry in subjects.registry.usable("mechanisms"):
        for subject in itertools.islice(subjects.placed_subjects(entry), 40):
            assert list(late(subject.thing, subject.space, subject.datasets)) == []
