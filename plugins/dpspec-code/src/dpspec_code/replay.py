"""Replay of a witness about a plain function: its two datasets on fresh draws, and its event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from dpspec import Verdict
from dpspec.plugin import PrivacySpec, Registry
from dpspec.plugin.judges import (
    Event,
    NamedFunction,
    PlainFunction,
    Progress,
    Sampling,
    Witness,
    asked_of,
    compared_by_value,
    computed_law,
    verify_claim,
    with_probabilities,
)
from dpspec_code.case import PATHS, FunctionSampler
from dpspec_code.functions import adapted
from dpspec_code.named_function import in_sandbox
from dpspec_code.sampled.witness import event_counts


def replay(
    function: PlainFunction | NamedFunction,
    spec: PrivacySpec,
    witness: Witness,
    sampling: Sampling,
    *,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> tuple[Verdict, Event | None]:
    """The verdict on the two datasets of a witness, and its event with the probabilities of today.

    Args:
        function: the function; one that is named and was not imported is imported in a sandbox.
        spec: the claim.
        witness: what was found before.
        sampling: how it was found. The draws are others: they have the next seed.
        registry: where adapters are looked up.
        progress: called with (done, in all).
    """
    fresh = {**sampling.keywords, "seed": sampling.seed + 1, "dataset": None, "generator": None}
    pair = (witness.left, witness.right)

    def judged(subject: PlainFunction, report: Progress | None) -> tuple[Verdict, Event | None]:
        verdict = verify_claim(subject, spec, datasets=pair, registry=registry, progress=report, **fresh)
        with compared_by_value(sampling.by_value):
            return verdict, _event_today(witness, spec, subject, verdict, fresh)

    if isinstance(function, NamedFunction):
        if function.call is None:
            return in_sandbox(attrs.evolve(function, sampling=sampling), spec, judged, registry=registry, progress=progress)
        function = function.call
    fitted = adapted(function, spec.space, dataset=sampling.dataset, generator=sampling.generator, registry=registry)
    return judged(fitted, progress)


def _event_today(
    witness: Witness, spec: PrivacySpec, function: PlainFunction, verdict: Verdict, sampling: Mapping[str, Any]
) -> Event | None:
    """The event of the witness under the laws of the code, or on fresh draws where nothing was read off the code."""
    event = witness.event
    if event is None or event.expression is None or verdict.method == "none":
        return None
    asked = asked_of(spec, witness)
    if verdict.method == "exhaustive":
        sampler = FunctionSampler(function, "function", most_paths=PATHS)
        laws = [computed_law(sampler, dataset, spec.space) for dataset in (witness.left, witness.right)]
        return with_probabilities(event, laws[0], laws[1], asked)
    left, right = event_counts(function, spec, (witness.left, witness.right), event.expression, sampling)
    return attrs.evolve(event, left=left, right=right, proves=asked.refuted_by(left, right))
