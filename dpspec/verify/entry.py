"""One entry to the engines: the strongest method that applies is taken.

a mechanism with laws                  exhaustive: every pair of every universe
a plain function, few datasets         exhaustive, on the laws read off its code by enumeration
a plain function, anything else        sampled: it can be refuted, never verified
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpspec.errors import NoRouteError, NotEnumerableError
from dpspec.exact import rational
from dpspec.extension.registry import Registry
from dpspec.laws.finite import FiniteLaw
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec
from dpspec.verify.automatic import Sampler
from dpspec.verify.bits import refute_bits
from dpspec.verify.exhaustive import Progress, verify
from dpspec.verify.sampled.calls import Function
from dpspec.verify.sampled.engine import refute
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
    error: Any = "1e-9",
    draws: int | None = None,
    seconds: float | None = None,
    bits: bool = False,
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
        registry: where the provenance of the blocks is looked up.
        progress: called with (done, in all).

    Returns:
        A verdict; its method is exhaustive, sampled, or none.

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
    if isinstance(subject, Mechanism):
        return verify(subject, spec, registry=registry, progress=progress)
    size = spec.space.cardinality()
    if size is not None and size <= ENUMERATED:
        sampler = Sampler(subject, "function", most_paths=PATHS)
        try:
            found = verify(sampler, spec, registry=registry, progress=progress)
        except (NotEnumerableError, NoRouteError):
            pass
        else:
            if found.outcome is Outcome.VERIFIED and _draws(sampler, spec):
                return found
            if found.outcome is Outcome.REFUTED and not _by_rounding(found):
                return found
    level = rational(error, "error") / (2 if bits else 1)
    limits: dict[str, Any] = {} if draws is None else {"draws": draws}
    found = refute(subject, spec, seed=seed, error=level, seconds=seconds, registry=registry, progress=progress, **limits)
    if bits and found.outcome is Outcome.UNDECIDED:
        on_doubles = refute_bits(subject, spec, seed=seed, error=level, **limits)
        return on_doubles if on_doubles.outcome is Outcome.REFUTED else found
    return found


def _draws(sampler: Sampler, spec: PrivacySpec) -> bool:
    """Whether the function was seen to use its generator at all: one that never does may be drawing out of sight."""
    laws = (sampler.law(dataset, spec.space) for dataset in spec.space.datasets())
    return any(not isinstance(law, FiniteLaw) or len(law.support) > 1 for law in laws)


def _by_rounding(found: Verdict) -> bool:
    """Whether every excess is smaller than what a claim loses in doubles: 0.6931471805599453 is below ln(2)."""
    return all(result.constant.lower <= result.bound * (1 + ROUNDING) for result in found.universes)
