"""Checks of flavours: what they say about themselves, and that the engine tells their two examples apart."""

from __future__ import annotations

from functools import cache

import attrs

from dpspec.flavour import Flavour
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec
from dpspec.specfile.flavours import flavour_document
from dpspec.specfile.reader import read_text
from dpspec.specfile.writer import to_toml
from dpspec.testing.check import ClassSubject, Context, check, require
from dpspec.testing.checks.rule import compared_pairs, lies_above
from dpspec.verify.exhaustive import verify
from dpspec.verify.verdict import Outcome

KIND = "flavours"
SMALL = 3
"""A witness has at most this many records on either side."""


def _made(subject: ClassSubject) -> Flavour:
    made: Flavour = subject.thing()
    return made


@check(KIND)
def check_flavour_says_where_it_comes_from(subject: ClassSubject, context: Context) -> None:
    """A flavour has a title, a citation, and names the blocks that it changes as `PrivacySpec` names them (B-D30)."""
    flavour = _made(subject)
    require(bool(flavour.title and flavour.citation), "title or citation is empty")
    blocks = {field.name for field in attrs.fields(PrivacySpec)}
    unknown = set(flavour.changes) - blocks
    require(not unknown, f"changes names {', '.join(sorted(unknown))}, which is no block")


@check(KIND)
def check_flavour_is_satisfied_by_its_example(subject: ClassSubject, context: Context) -> None:
    """The engine verifies the mechanism that is said to satisfy the flavour, and some pair is compared."""
    flavour = _made(subject)
    verdict = verify(flavour.satisfied_by().mechanism, flavour.spec(), registry=context.registry)
    require(verdict.outcome is Outcome.VERIFIED, f"{verdict.outcome.value}: {verdict.witness or verdict.reason}")
    require(len(verdict.vacuous) < len(verdict.universes), "every universe is vacuous, so that anything satisfies it")


@check(KIND)
def check_flavour_is_broken_by_its_example(subject: ClassSubject, context: Context) -> None:
    """Two datasets of at most 3 records refute the mechanism that is said to break the flavour; in full, by the engine."""
    flavour = _made(subject)
    spec = flavour.spec()
    mechanism = flavour.broken_by().mechanism
    if context.level == "fast" and _some_small_pair_breaks_it(mechanism, spec):
        return
    verdict = verify(mechanism, spec, registry=context.registry)
    require(verdict.outcome is Outcome.REFUTED, f"{verdict.outcome.value}: constant {verdict.constant}")
    if verdict.witness is not None:
        largest = max(spec.space.magnitude(x) for x in (verdict.witness.left, verdict.witness.right))
        require(largest <= SMALL, f"the witness has {largest} records: {verdict.witness}")


def _some_small_pair_breaks_it(mechanism: Mechanism, spec: PrivacySpec) -> bool:
    """Whether d_Pr of some pair of small datasets is certainly above its bound, which needs no telling event."""
    mechanism.check(spec.space)
    law = cache(lambda x: mechanism.law(x, spec.space))
    for universe, x, y, distance in compared_pairs(spec):
        if max(map(spec.space.magnitude, (x, y))) <= SMALL:
            found = spec.output_divergence.between(law(x), law(y)).lower
            if lies_above(found, spec.bound(universe), distance):
                return True
    return False


@check(KIND)
def check_flavour_can_be_written_to_a_file(subject: ClassSubject, context: Context) -> None:
    """The file of a flavour reads back as an equal specification. A flavour that only lives in code cannot be handed on."""
    document = flavour_document(_made(subject))
    again = read_text(to_toml(document, context.registry), context.registry)
    require(again == document, "its file reads back as something else")
