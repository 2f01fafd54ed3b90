"""Judging a mechanism on all datasets of a space: by walking through it, by a proof, or by a pair that refutes.

A space that can be listed is walked. On a larger one the structure of the mechanism, or a theorem about it, gives a proof
and a pair. Where that decides nothing, the pairs that every command tries (`dpspec.grammar.trial_datasets`) are compared: one
that is beyond the claim refutes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

import attrs

from dpspec.base.errors import NoFormulaError, NotEnumerableError, WorkLimitError
from dpspec.base.exact import INFINITY, Bracket
from dpspec.base.types import Progress
from dpspec.base.work import limited
from dpspec.blocks.multisets import MOST_WRITTEN
from dpspec.blocks.parts import sizes_of
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.extension.hooks import Registry
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec, allowed_to_all
from dpspec.grammar.trial_datasets import groups_for
from dpspec.verifier.exhaustive import MOST_WALKED, WIDE, per_unit, refute_on, verify
from dpspec.verifier.proof import METHOD, ONE_PAIR, derive
from dpspec.verifier.sensitivity import Missing
from dpspec.verifier.verdict import Outcome, Verdict

MOST_WORK = 500_000
"""Work of the search for a pair, in units of `dpspec.laws.work.work_of`, after which no further law is computed. The
whole search takes 3,000 to 250,000 units, and about a second, for a method of disclosure control on up to 100 cells; the limit is
for laws of thousands of answers, or of outcomes whose number grows with the number of records: there it is 5 to 12 seconds."""

MOST_WALKED_WORK = 1_500_000
"""Work of comparing all pairs of a space, in units of `dpspec.base.work` of about one microsecond. A space of a few datasets may
have laws that are mixtures of infinite ones: to compare two of them takes seconds, and a proof has no need of it."""
MOST_PROVED_WORK = 6_000_000
"""Work of a proof from the structure, in the same units."""


def judged(
    mechanism: Mechanism,
    spec: PrivacySpec,
    *,
    most: int = MOST_WALKED,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge a mechanism on every dataset of a space.

    Args:
        mechanism: the mechanism to verify.
        spec: the specification it is claimed to satisfy.
        most: a space of more datasets is not walked.
        registry: where the provenance of the blocks is looked up; without it, among all installed plugins.
        progress: called with (pairs done, pairs in all).
    """
    try:
        verdict = verify(mechanism, spec, most_datasets=most, most_work=MOST_WALKED_WORK, registry=registry, progress=progress)
    except NotEnumerableError as fault:  # the datasets of the space can be listed, but not the laws on them
        verdict = Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=str(fault))
    except NoFormulaError as fault:  # laws that are mixtures over samples, many times: the proof has no need of them
        proved = _derived(mechanism, spec, registry)
        if _is_decided(proved):
            return proved
        reason = f"{fault}; {proved}" if isinstance(proved, Missing) else f"{fault}; {proved.reason}"
        return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=reason)
    if verdict.reason == WIDE:
        proved = _derived(mechanism, spec, registry)
        return proved if _is_decided(proved) else verdict
    if verdict.method != "none":
        return verdict
    found = judged_unlisted(mechanism, spec, registry=registry)  # too large to be listed
    return attrs.evolve(verdict, reason=f"{verdict.reason}; {found}") if isinstance(found, Missing) else found


def judged_unlisted(
    mechanism: Mechanism,
    spec: PrivacySpec,
    *,
    registry: Registry | None = None,
    most_work: int = MOST_WORK,
) -> Verdict | Missing:
    """Judge a mechanism on a space without listing it: by a proof, or by a pair that refutes.

    Args:
        mechanism, spec, registry: as for `judged`.
        most_work: the largest amount of work of the search for a pair.

    Returns:
        A verdict, or why there is neither a proof nor a pair.
    """
    proved = _derived(mechanism, spec, registry)
    if _is_decided(proved):
        return proved
    if spec.budget.unpublished() is not None:  # no pair is beyond an unknown number
        return proved
    budget = spec.budget.uniform()
    if budget is not None and budget.is_infinite and spec.input_divergence.is_metric:  # nothing is beyond it
        return proved
    if budget is not None and isinstance(proved, Verdict) and _is_shown_beyond(proved) and _has_only_large_datasets(spec.space):
        return proved
    tried = refute_on(mechanism, spec, _groups(mechanism, spec), registry=registry, most_work=most_work)
    if isinstance(tried, Verdict):
        return _of_one_pair(tried)
    return attrs.evolve(proved, reason=f"{proved.reason}; {tried}")


def _derived(mechanism: Mechanism, spec: PrivacySpec, registry: Registry | None) -> Verdict | Missing:
    """What the structure of the mechanism proves, with a limited amount of work.

    A claim that every mechanism satisfies is no guarantee: where nothing else is proved, the reason says so.
    """
    try:
        with limited(MOST_PROVED_WORK):
            found = derive(mechanism, spec, registry=registry)
    except WorkLimitError:
        found = Missing(step="work", reason="to prove the claim from the structure of the mechanism exceeds the limit of work")
    if _is_decided(found) or spec.budget.unpublished() is not None:
        return found
    why = allowed_to_all(spec)
    return found if why is None else attrs.evolve(found, reason=f"{found.reason}; every mechanism satisfies the claim: {why}")


def _groups(mechanism: Mechanism, spec: PrivacySpec) -> Iterator[Sequence[Dataset]]:
    """The groups that are compared, made inside the search whose work is limited: it takes laws to choose them."""
    yield from groups_for(mechanism, spec)


def _is_decided(proved: Verdict | Missing) -> TypeGuard[Verdict]:
    return not isinstance(proved, Missing) and proved.outcome is not Outcome.UNDECIDED


def _is_shown_beyond(proved: Verdict) -> bool:
    """Whether a pair is known that is beyond the claim, and was too large to be written down."""
    return any(result.constant.lower > result.bound for result in proved.universes)


def _has_only_large_datasets(space: DatasetSpace) -> bool:
    """Whether no pair of the space is written down: a search would make datasets for nothing, half a minute long."""
    return bool(space.units) and sizes_of(space)[0] * len(space.attributes_of(space.units[0])) > MOST_WRITTEN


def _of_one_pair(found: Verdict) -> Verdict:
    """A refutation by one pair, which says nothing about how large the constant is."""
    witness = found.witness
    assert witness is not None  # noqa: S101 - a refutation has one
    result = next(result for result in found.universes if result.label == witness.universe)
    constant = Bracket(lower=per_unit(witness.divergence, witness.distance).lower, upper=INFINITY)
    shown = attrs.evolve(result, datasets=None, pairs=None, constant=constant, attained=(witness.left, witness.right))
    return attrs.evolve(found, method=METHOD, scope=ONE_PAIR, universes=(shown,))
