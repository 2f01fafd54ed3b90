"""One entry to the engines: a mechanism goes to the exact engine, a plain function to the installed judge of functions.

    a mechanism with laws     a proof from its structure, or every pair of every universe (`judged`)
    a plain function          the class that a package named to judge functions (`FunctionJudge`)
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any

from dpspec.base.errors import ParameterError
from dpspec.base.types import Progress
from dpspec.extension.hooks import Registry
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.functions import PlainFunction
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.exhaustive import as_guarantee, verify, without_number
from dpspec.verifier.functions import ERROR, SECONDS, Sampling, function_judge
from dpspec.verifier.mechanisms import judged
from dpspec.verifier.verdict import Verdict


def verify_claim(
    subject: Mechanism | PlainFunction, spec: PrivacySpec, *, datasets: Iterable[Any] | None = None, **options: Any
) -> Verdict:
    """Judge whether a mechanism, or a plain function `(dataset, numpy Generator) -> output`, satisfies a specification.

    Args:
        subject, spec, datasets, options: as for `judge_claim`.

    Returns:
        Its verdict, as an answer to a user (`as_guarantee`): where no two of the datasets share a universe at a finite distance,
        or every mechanism satisfies the claim and nothing less is proved of this one, it is undecided.

    Raises:
        as `judge_claim`.

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
    chosen = None if datasets is None else tuple(datasets)
    return as_guarantee(judge_claim(subject, spec, datasets=chosen, **options), spec, chosen)


def judge_claim(
    subject: Mechanism | PlainFunction,
    spec: PrivacySpec,
    *,
    seed: int = 0,
    error: Any = ERROR,
    draws: int | None = None,
    seconds: Any = None,
    bits: bool = False,
    by_value: bool = False,
    dataset: str | None = None,
    generator: str | None = None,
    loss: Any = None,
    mass: Any = "0.05",
    power: Any = "0.99",
    datasets: Iterable[Any] | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge a claim as `verify_claim` does, without regard to whether its truth is a guarantee.

    Args:
        subject: the mechanism or the function.
        spec: the claim.
        seed, error, draws: for sampling: the seed of all draws (the same seed, the same draws in the same order), the
            probability of refuting a true claim, and a limit on the number of draws (without it, time alone is one).
        seconds: processor time for all that is done about a plain function, children included; without it 30.
        bits: judge the law on floating-point numbers: also look at which doubles can be reached (half of the error goes there).
        by_value: compare outcomes by value: `0`, `0.0` and `numpy.int64(0)` are one outcome, a list and an array of equal numbers
            are one, exceptions of one type and message are one. A function with noise that is read as a symbol is sampled.
        loss, mass, power: of a plain function that is not refuted, state which faults would have been found: a loss per unit
            distance of at least `loss`, at events of probability at least `mass` on one dataset (and their complements on the
            other), with probability `power`. The verdict stays undecided; without time to look so closely, it is an error.
        dataset, generator: the adapters of the function: the type of its dataset (`pandas`, `numpy`, `dicts`, ...), and its
            source of randomness (`random`, `system`, ...); by default chosen by its annotations (`adapted`).
        datasets: compare only these datasets of the space; without it, all of them, or those that sampling picks.
        registry: where the provenance of the blocks is looked up; without it, among all installed plugins.
        progress: called with (done, in all).

    Returns:
        A verdict; its method is exhaustive, sampled, or none. When a function was sampled, the reason says why. Its constant
        holds also where the claim is true of every mechanism, or of no pair of datasets.

    Raises:
        ParameterError: for what is no mechanism and no function; for an error outside (0, 1), no draws, no time, or a negative
            seed.
        FunctionRaisesError: for a function that raises in every call, on every dataset.
        PowerError: with `loss`, where a fault of that size could have been missed.
        MissingPackageError: for a function, where no judge of functions is installed.
        UnknownNameError, AdapterError, WantedShapeError, FunctionError: for a function that cannot be handed what it wants.
    """
    sampling = Sampling(
        seed=seed, error=error, draws=draws, seconds=Fraction(SECONDS) if seconds is None else seconds, bits=bits,
        by_value=by_value, loss=loss, mass=mass, power=power, dataset=dataset, generator=generator,
    )  # fmt: skip
    if isinstance(subject, type) and issubclass(subject, Mechanism):
        advice = f"make an object of it: {subject.__name__}(...)"
        raise ParameterError("mechanism", "is a class, which has no law", advice, value=subject.__name__)
    if isinstance(subject, Mechanism):
        subject.check(spec.space)
    elif not callable(subject):
        advice = "write the mechanism first, then the specification, in this order"
        raise ParameterError("mechanism", "must be a mechanism or a function", advice, value=type(subject).__name__)
    chosen = None if datasets is None else tuple(datasets)
    check_declared(spec)
    if spec.budget.unpublished() is not None:
        judge = partial(
            judge_claim, subject, seed=seed, error=error, draws=draws, seconds=seconds, bits=bits, by_value=by_value,
            dataset=dataset, generator=generator, loss=loss, mass=mass, power=power, datasets=chosen, registry=registry,
            progress=progress,
        )  # fmt: skip
        return without_number(spec, judge)
    if not isinstance(subject, Mechanism):
        return function_judge().verify(subject, spec, sampling, datasets=chosen, registry=registry, progress=progress)
    if chosen is None:
        return judged(subject, spec, registry=registry, progress=progress)
    return verify(subject, spec, datasets=chosen, registry=registry, progress=progress)
