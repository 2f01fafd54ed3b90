"""d_Pr of the answers that a change moves, for the checker of proofs: closed forms and rigorous sums of its own."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
from flint import arb

from dpspec.checker.numbers import (
    ExactValue,
    JsonTable,
    UnknownFormula,
    at_most,
    exponential,
    fraction,
    linear,
    product,
    rational,
    read,
    surely,
)

Moves = Counter[tuple[str, int]]
"""Which answers move: a noise as text, and by how much; how often."""


def _law(noise: str) -> JsonTable:
    found: JsonTable = json.loads(noise)
    return found


def _pure(case: Moves) -> ExactValue:
    """The largest log-likelihood ratio: |shift| times the decay of each Laplace or geometric noise."""
    parts = []
    for (noise, shift), times in case.items():
        law = _law(noise)
        if isinstance(law, list):
            parts.append((Fraction(times), _of_two(law)))
        elif law["family"] in ("LaplaceLaw", "TwoSidedGeometricLaw"):
            parts.append((Fraction(abs(shift) * times), read(law["decay"])))
        elif law["family"] in ("GaussianLaw", "DiscreteGaussianLaw"):
            return ExactValue(infinite=True)
        else:
            raise UnknownFormula(f"noise of the family {law['family']} is not known here")
    if any(value.root for _, value in parts):
        raise UnknownFormula("a sum of roots has no exact form here")
    return linear(parts)


def _of_two(laws: Any) -> ExactValue:
    """The largest log-ratio of two laws on finitely many outcomes."""
    if {law["family"] for law in laws} != {"FiniteLaw"} or set(laws[0]["weights"]) != set(laws[1]["weights"]):
        raise UnknownFormula("two laws on other outcomes are not known here")
    sums = [sum(map(Fraction, law["weights"].values())) for law in laws]
    one, other = ({t: Fraction(w) / whole for t, w in law["weights"].items()} for law, whole in zip(laws, sums, strict=True))
    return read(f"ln({max(max(one[t] / other[t], other[t] / one[t]) for t in one)})")


def _concentrated(case: Moves) -> ExactValue:
    """rho: shift^2 / (2 variance) of each Gaussian, discrete or not (Canonne, Kamath and Steinke 2020, Proposition 5)."""
    parts = []
    for (noise, shift), times in case.items():
        law = _law(noise)
        family = "" if isinstance(law, list) else law["family"]
        if family == "DiscreteGaussianLaw":
            parts.append((Fraction(shift**2 * times, 2) / fraction(law["variance"]), ExactValue(Fraction(1))))
        elif family == "GaussianLaw":
            parts.append((Fraction(shift**2 * times, 2), read(law["accuracy"])))
        else:
            raise UnknownFormula(f"the concentration of noise of the family {family} is not known here")
    if any(value.root for _, value in parts):
        raise UnknownFormula("a sum of roots has no exact form here")
    return linear(parts)


LOSSES: dict[str, Callable[[Moves], ExactValue]] = {"mult": _pure, "d-nor": _concentrated}
"""What adds up over independent answers."""

Shown = Callable[[Moves, Fraction, ExactValue], bool]
"""Whether a number of times d_Pr of a case is seen to be at most a bound."""


def divergence_below(chosen: JsonTable, rate: Fraction) -> Shown:
    kind = chosen["type"]
    if rate < 1 and kind not in ("mult", "mult-delta"):
        raise UnknownFormula(f"{kind} of a sample is not known here")
    if kind == "mult":
        return _mult if rate == 1 else _mult_of_sample(rate)
    if kind == "d-nor":
        return _d_nor
    if kind == "renyi":
        order = fraction(chosen["order"])
        return lambda case, times, bound: _once(times) and _renyi(case, order, bound)
    if kind == "mult-delta":
        delta = fraction(chosen["delta"])
        return lambda case, times, bound: _once(times) and _excess_below(case, bound, ExactValue(delta), rate)
    if kind == "hockey-stick":
        return lambda case, times, bound: _once(times) and _excess_below(case, read(chosen["epsilon"]), bound, rate)
    raise UnknownFormula(f"the output divergence {kind} is not known here")


def _mult(case: Moves, times: Fraction, bound: ExactValue) -> bool:
    loss = _pure(case)
    return at_most(loss if loss.infinite else linear([(times, loss)]), bound)


def _d_nor(case: Moves, times: Fraction, bound: ExactValue) -> bool:
    root = attrs.evolve(_concentrated(case), root=True)
    scaled = product(ExactValue(times), root)
    return scaled is not None and at_most(scaled, bound)


def _mult_of_sample(rate: Fraction) -> Shown:
    """ln(1 + q (e^L - 1)) (Balle, Barthe and Gaboardi 2018, Theorem 9)."""

    def shown(case: Moves, times: Fraction, bound: ExactValue) -> bool:
        loss = _pure(case)
        ratio = exponential(loss)
        if ratio is not None:
            return at_most(linear([(times, read(f"ln({1 + rate * (ratio - 1)})"))]), bound)
        if loss.infinite:
            return False

        def sampled() -> arb:
            return rational(times) * (1 + rational(rate) * (loss.ball().exp() - 1)).log()

        return _decided(lambda: sampled() < bound.ball(), lambda: sampled() > bound.ball())

    return shown


def _renyi(case: Moves, order: Fraction, bound: ExactValue) -> bool:
    """The sum over the answers (van Erven and Harremoes 2014, Theorem 28): order times rho for Gaussians, and for P, Q of decay u
    a shift of c apart, with a the order, the logarithm of the sum of P^a Q^(1-a) over a - 1, where for Laplace noise it is
    a/(2a-1) e^((a-1) u c) + (a-1)/(2a-1) e^(-a u c) (Mironov 2017, Proposition 6), for geometric noise a sum of c + 1 terms.
    """
    gaussian = Counter({move: times for move, times in case.items() if "Gaussian" in move[0]})
    others = [(_law(noise), abs(shift), times) for (noise, shift), times in (case - gaussian).items()]
    exact = linear([(order, _concentrated(gaussian))])
    if not others:
        return at_most(exact, bound)
    if any(isinstance(law, list) or law["family"] not in ("LaplaceLaw", "TwoSidedGeometricLaw") for law, _, _ in others):
        raise UnknownFormula("the Renyi divergence of some noise is not known here")
    a = rational(order)

    def single(law: JsonTable, shift: int) -> arb:
        decay = read(law["decay"]).ball()
        ends = ((a - 1) * decay * shift).exp(), (-a * decay * shift).exp()
        if law["family"] == "LaplaceLaw":
            return (a * ends[0] + (a - 1) * ends[1]) / (2 * a - 1)
        ratio = (-decay).exp()
        inner = sum(((-decay * (a * k + (1 - a) * (shift - k))).exp() for k in range(1, shift)), arb(0))
        return ((ends[0] + ends[1]) / (1 - ratio) + inner) * (1 - ratio) / (1 + ratio)

    def every() -> arb:
        return exact.ball() + sum((times * single(law, c).log() for law, c, times in others), arb(0)) / (a - 1)

    return _decided(lambda: every() < bound.ball(), lambda: every() > bound.ball())


def _decided(holds: Callable[[], bool], fails: Callable[[], bool]) -> bool:
    """A strict comparison of balls; what no precision decides is not known."""
    if surely(holds, fails):
        return True
    if surely(fails):
        return False
    raise UnknownFormula("the bound is met so closely that no precision decides it")


def _once(times: Fraction) -> bool:
    if times != 1:
        raise UnknownFormula("bounds of this output divergence do not add up")
    return True


def _excess_below(case: Moves, loss: ExactValue, delta: ExactValue, rate: Fraction) -> bool:
    """Whether P(S) <= e^loss Q(S) + delta for all S, in both directions, at a rate of sampling.

    The mixture (1 - q) P + q Q of what is released without and with the record: against P it is q times the excess of Q over P
    at 1 + (e^loss - 1)/q (Balle, Barthe and Gaboardi 2018, Theorem 2), and P against it is a times that at e^loss q/a, with
    a = 1 - e^loss (1 - q), none where a is not positive.
    """
    if not case or loss.infinite or (delta == ExactValue() and at_most(_pure(case), loss) and rate == 1):
        return True
    if (
        rate == 1
        and case.total() == 1
        and "LaplaceLaw" in next(iter(case))[0]
        and delta.plain < 1
        and not (delta.logs or delta.root)
    ):
        least = linear([(Fraction(1), _pure(case)), (Fraction(-2), read(f"ln({1 / (1 - delta.plain)})"))])
        return at_most(least, loss)  # 1 - e^((loss - pure)/2) is at most delta from here on
    exact = _exact_excess(case, loss) if rate == 1 else None
    if exact is not None:
        return at_most(ExactValue(max(exact, Fraction(0))), delta)
    excess = _excess(case)

    def forward() -> arb:
        return rational(rate) * excess((1 + (loss.ball().exp() - 1) / rational(rate)).log())

    def backward() -> arb:
        left = 1 - loss.ball().exp() * rational(1 - rate)
        if left > 0:
            return left * excess((loss.ball().exp() * rational(rate) / left).log())
        return arb(0) if left < 0 or rate == 1 else left.abs_upper()

    return _decided(
        lambda: forward() < delta.ball() and (rate == 1 or backward() < delta.ball()),
        lambda: forward() > delta.ball() or (rate < 1 and backward() > delta.ball()),
    )


def _excess(case: Moves) -> Callable[[arb], arb]:
    """sup over S of P(S) - e^loss Q(S), as a function of the loss."""
    laws = [_law(noise) for noise, _ in case]
    families = {"" if isinstance(law, list) else law["family"] for law in laws}
    if families == {"GaussianLaw"}:  # Balle and Wang 2018, Theorem 8
        rho = _concentrated(case)

        def gaussian(loss: arb) -> arb:
            mu = (2 * rho.ball()).sqrt()
            return _below(mu / 2 - loss / mu) - loss.exp() * _below(-mu / 2 - loss / mu)

        return gaussian
    if families == {"LaplaceLaw"} and case.total() == 1:
        pure = _pure(case)

        def laplace(loss: arb) -> arb:
            rest = 1 - ((loss - pure.ball()) / 2).exp()
            return rest.nonnegative_part()

        return laplace
    if families == {"TwoSidedGeometricLaw"} and case.total() == 1:  # the best event is a cut {X <= k}, by the monotone ratio
        ((_, shift),) = case
        decay = read(laws[0]["decay"])

        def geometric(loss: arb) -> arb:
            return functools.reduce(
                lambda one, other: one.max(other), _cuts((-decay.ball()).exp(), loss.exp(), abs(shift)), arb(0)
            )

        return geometric
    raise UnknownFormula(f"the excess of {case.total()} answers with noise of {', '.join(sorted(families))} is not known here")


def _cuts(ratio: Any, factor: Any, shift: int) -> list[Any]:
    """P(X <= k) - factor Q(X <= k) for two geometric laws of a ratio, at a distance, and every k between their centers."""

    def upto(k: int) -> Any:
        return 1 - ratio ** (k + 1) / (1 + ratio) if k >= 0 else ratio**-k / (1 + ratio)

    return [upto(k) - factor * upto(k - shift) for k in range(shift)]


def _exact_excess(case: Moves, loss: ExactValue) -> Fraction | None:
    """The same where it is a rational number: of one geometric answer, with e^decay and e^loss rational."""
    law = _law(next(iter(case))[0])
    if isinstance(law, list) or law["family"] != "TwoSidedGeometricLaw" or case.total() > 1:
        return None
    ratio, factor = exponential(read(law["decay"])), exponential(loss)
    if ratio is None or factor is None:
        return None
    return max(_cuts(1 / ratio, factor, abs(next(iter(case))[1])), default=Fraction(0))


def _below(value: arb) -> arb:
    """The standard normal distribution function."""
    return (-value / arb(2).sqrt()).erfc() / 2
