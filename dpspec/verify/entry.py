"""One entry to the engines: the strongest method that applies is taken.

a mechanism with laws                  exhaustive: every pair of every universe
a plain function, few datasets         exhaustive, on the laws read off its code by enumeration
a plain function, anything else        sampled: it can be refuted, never verified
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import attrs

from dpspec.errors import NoRouteError, NotEnumerableError
from dpspec.extension.registry import Registry
from dpspec.laws.finite import FiniteLaw
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec
from dpspec.verify.automatic import Sampler
from dpspec.verify.bits import refute_bits
from dpspec.verify.exhaustive import Progress, not_empty, verify
from dpspec.verify.function import Sampling
from dpspec.verify.sampled.calls import Function
from dpspec.verify.sampled.engine import DRAWS, ERROR, refute
from dpspec.verify.verdict import Outcome, Verdict

ENUMERATED = 500
"""A plain function is enumerated on spaces of at most this many datasets."""
PATHS = 3_000
"""... and when no dataset needs more runs than this."""
ROUNDING = Fraction(1, 1 << 40)
"""A claim about plain code that is exceeded by less, relatively, is not called refuted: code and claim are written in doubles."""


def verify_claim(
    subject: Mechanism | Function,
    spec: PrivacySpec,
    *,
    seed: int = 0,
    error: Any = ERROR,
    draws: int | None = None,
    seconds: Any = None,
    bits: bool = False,
    datasets: Iterable[Any] | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge whether a mechanism, or a plain function `(dataset, numpy Generator) -> output`, satisfies a specification.

    Args:
        subject: the mechanism or the function.
        spec: the claim.
        seed, error, draws, seconds: for sampling: the seed of all draws (the same seed, the same verdict), the probability
            of refuting a true claim, and limits on the number of draws and on the time.
        bits: judge the law on floating-point numbers: also look at which doubles can be reached (half of the error goes there).
        datasets: look only at these datasets of the space; without it, at all of them, or at those that sampling picks.
        registry: where the provenance of the blocks is looked up; without it, among all installed plugins.
        progress: called with (done, in all).

    Returns:
        A verdict; its method is exhaustive, sampled, or none. When a function was sampled, the reason says why.

    Raises:
        ParameterError: for an error outside (0, 1), no draws, no time, or a negative seed.

    >>> from dpspec.blocks.budget import UniformBudget
    >>> from dpspec.blocks.multiverse import Trivial
    >>> from dpspec.blocks.vectors import BitVectors
    >>> from dpspec.extension import installed
    >>> registry = installed().registry
    >>> spec = PrivacySpec(
    ...     space=BitVectors(length=2),
    ...     multiverse=Trivial(),
    ...     input_divergence=registry.get("input_divergences", "hamming-ordered")(),
    ...     output_divergence=registry.get("output_divergences", "mult")(),
    ...     budget=UniformBudget(parameter="epsilon", value="ln(3)"),
    ... )
    >>> verdict = verify_claim(lambda bits, rng: [b ^ int(rng.random() < 0.25) for b in bits], spec)
    >>> verdict.outcome.value, verdict.method, str(verdict.constant)
    ('verified', 'exhaustive', 'ln(3)')
    """
    sampling = Sampling(seed=seed, error=error, draws=DRAWS if draws is None else draws, seconds=seconds, bits=bits)
    chosen = None if datasets is None else tuple(datasets)
    if isinstance(subject, Mechanism):
        found = verify(subject, spec, datasets=chosen, registry=registry, progress=progress)
        return found if chosen is not None else not_empty(found)
    case = _Case(function=subject, spec=spec, datasets=chosen, registry=registry, progress=progress)
    exact = case.enumerated()
    if isinstance(exact, Verdict):
        return exact
    found = case.sampled(sampling)
    if found.outcome is not Outcome.UNDECIDED or found.reason == exact:
        return found
    return attrs.evolve(found, reason=f"{found.reason}; nor was it verified: {exact}")


@attrs.frozen(kw_only=True)
class _Case:
    """A plain function and what is claimed of it."""

    function: Function
    spec: PrivacySpec
    datasets: tuple[Any, ...] | None
    registry: Registry | None
    progress: Progress | None

    def enumerated(self) -> Verdict | str:
        """The verdict on the law that is read off the code, or why there is none to rely on."""
        size = self.spec.space.cardinality() if self.datasets is None else len(self.datasets)
        if size is None or size > ENUMERATED:
            return f"the space has more than {ENUMERATED} datasets"
        sampler = Sampler(self.function, "function", most_paths=PATHS)
        try:
            found = verify(sampler, self.spec, datasets=self.datasets, registry=self.registry, progress=self.progress)
            found = found if self.datasets is not None else not_empty(found)
            drawn = found.outcome is not Outcome.VERIFIED or self._draws(sampler)
        except (NotEnumerableError, NoRouteError) as problem:
            return str(problem)
        if found.outcome is Outcome.UNDECIDED:
            return found.reason
        if found.outcome is Outcome.REFUTED:
            return "the excess is within the rounding of doubles" if _by_rounding(found) else found
        return found if drawn else "it was never seen to draw from the generator that it is given"

    def _draws(self, sampler: Sampler) -> bool:
        """Whether the function was seen to use its generator at all: one that never does may be drawing out of sight."""
        space = self.spec.space
        looked_at = space.datasets() if self.datasets is None else map(space.dataset, self.datasets)
        laws = (sampler.law(dataset, space) for dataset in looked_at)
        return any(not isinstance(law, FiniteLaw) or len(law.support) > 1 for law in laws)

    def sampled(self, sampling: Sampling) -> Verdict:
        """Refuted on draws, or undecided; with `bits` half of the error is kept for the last bits."""
        limits: dict[str, Any] = {"seed": sampling.seed, "draws": sampling.draws}
        limits["error"] = sampling.error / (2 if sampling.bits else 1)
        found = refute(
            self.function, self.spec, datasets=self.datasets, registry=self.registry, progress=self.progress,
            seconds=None if sampling.seconds is None else float(sampling.seconds), **limits,
        )  # fmt: skip
        if sampling.bits and found.outcome is Outcome.UNDECIDED:
            pairs = None if self.datasets is None else itertools.combinations(self.datasets, 2)
            on_doubles = refute_bits(self.function, self.spec, given=pairs, **limits)
            return attrs.evolve(on_doubles, provenance=found.provenance) if on_doubles.outcome is Outcome.REFUTED else found
        return found


def _by_rounding(found: Verdict) -> bool:
    """Whether every excess is smaller than what a claim loses in doubles: 0.6931471805599453 is below ln(2)."""
    return all(result.constant.lower <= result.bound * (1 + ROUNDING) for result in found.universes)
