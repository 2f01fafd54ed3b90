"""Numbers of other projects' test suites, compared with the accountants of dpspec.

`vectors.toml` has the tests with their sources, and for each a table of rows: the parameters, and the published number. Mechanisms are written
`laplace(scale, sensitivity)`, `gaussian(deviation, sensitivity)`, `discrete-laplace(parameter, sensitivity)`,
`discrete-gaussian(deviation, sensitivity)`, `response(lie, values)`, `approximate(epsilon, delta)`, each with `@ rate` for a Poisson sample and `* times`,
and joined by ` + `. Directions of one record are `remove`, `add` and `both`, the larger of the two.

Our numbers are brackets that are proved, so a comparison needs no tolerance of ours: `accuracy` is that of the published test.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import attrs
from dpspec_divergences import MultDelta

import dpspec as dp
from dpspec.base.exact import Bracket, Number, number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift, geometric_shift
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.loss import compose
from dpspec.laws.samples import sampled
from dpspec.reason.conversions import Conversions

PATH = Path(__file__).with_name("vectors.toml")
TERM = re.compile(r"(?P<name>[a-z-]+)\((?P<arguments>(?:[^()]|\([^()]*\))*)\)(?: @ (?P<rate>\S+))?(?: \* (?P<times>\d+))?")
SENSES = ("exact", "bound")
OUTCOMES = ("agrees", "looser", "tighter", "not expressible", "contradiction")


def _laplace(scale: Number, sensitivity: Number) -> Dichotomy:
    return LaplaceShift(sensitivity / scale)


def _gaussian(deviation: Number, sensitivity: Number) -> Dichotomy:
    return GaussianShift(number((sensitivity.as_fraction() / deviation.as_fraction()) ** 2))


def _discrete_laplace(parameter: Number, sensitivity: Number) -> Dichotomy:
    return geometric_shift(int(sensitivity.as_fraction()), parameter)


def _discrete_gaussian(deviation: Number, sensitivity: Number) -> Dichotomy:
    return DiscreteGaussianShift(int(sensitivity.as_fraction()), deviation.as_fraction() ** 2)


def _response(lie: Number, values: Number) -> Dichotomy:
    """The truth with probability 1 - lie, otherwise any of k values."""
    k, other = int(values.as_fraction()), lie.as_fraction() / int(values.as_fraction())
    truth = 1 - other * (k - 1)
    return FiniteDichotomy.of([(truth, other), (other, truth), *[(other, other)] * (k - 2)])


def _approximate(epsilon: Number, delta: Number) -> Dichotomy:
    """The worst pair of an (epsilon, delta) promise (Kairouz, Oh and Viswanath 2015), from above."""
    return MultDelta(delta=delta.as_fraction()).worst_pairs(epsilon)[1]


MECHANISMS: dict[str, Callable[[Number, Number], Dichotomy]] = {
    "laplace": _laplace,
    "gaussian": _gaussian,
    "discrete-laplace": _discrete_laplace,
    "discrete-gaussian": _discrete_gaussian,
    "response": _response,
    "approximate": _approximate,
}


def pairs_of(mechanism: str, direction: str) -> Iterator[Dichotomy]:
    """The pairs of laws of a mechanism with and without a record, in one direction or in both.

    Raises:
        KeyError: there is no such mechanism here.
    """
    parts = []
    for term in mechanism.split(" + "):
        found = TERM.fullmatch(term)
        if found is None:
            raise ValueError(f"{term!r} is no mechanism; write laplace(1, 1) @ 1/100 * 50")
        arguments = [number(argument.strip()) for argument in found["arguments"].split(",")]
        pair = sampled(MECHANISMS[found["name"]](*arguments), Fraction(found["rate"] or 1))
        parts.append((pair, int(found["times"] or 1)))
    if direction in {"add", "both"}:
        yield compose(parts)
    if direction in {"remove", "both"}:
        yield compose((pair.reverse(), times) for pair, times in parts)


@attrs.frozen(kw_only=True)
class Vector:
    """A published number.

    Args:
        label: project, test and row.
        source: the path of the test in the repository.
        mechanism, direction: what was computed on; see the module.
        quantity: `delta` (at epsilon), `epsilon` (at delta), `renyi` (at order), `noise` (the least, at epsilon and delta: the mechanism has
            `{published}` in the place of it), `from-rho` (the epsilon at delta of a rho).
        at: the parameters of the quantity.
        expected: the published number.
        accuracy: how far off the published test allows it to be, absolute, or relative with a `%`.
        sense: `exact`, or `bound` where the project publishes an upper bound.
    """

    label: str
    source: str
    mechanism: str
    direction: str
    quantity: str
    at: dict[str, str]
    expected: str
    accuracy: str
    sense: str

    @property
    def slack(self) -> Fraction:
        if self.accuracy.endswith("%"):
            return abs(Fraction(self.expected)) * Fraction(self.accuracy[:-1]) / 100
        return Fraction(self.accuracy)

    def compared(self) -> tuple[str, str]:
        """The outcome, and our number in words."""
        low, high = (Fraction(self.expected) + sign * self.slack for sign in (-1, 1))
        if self.quantity == "noise":
            return self._compared_noise(max(low, Fraction(1, 10**9)), high)
        try:
            ours = self._ours()
        except KeyError:
            return "not expressible", ""
        return self._verdict(ours, low, high), text(ours)

    def _ours(self) -> Bracket:
        if self.quantity == "from-rho":
            found = dp.convert({"rho": self.mechanism}, "epsilon", delta=self.at["delta"])
            assert isinstance(found, Conversions)
            return found.paths[0].value
        return self._largest([self._of(pair) for pair in pairs_of(self.mechanism, self.direction)])

    def _of(self, pair: Dichotomy) -> Bracket:
        if self.quantity == "delta":
            return pair.hockey_stick(self.at["epsilon"])
        return pair.epsilon_at(self.at["delta"]) if self.quantity == "epsilon" else pair.renyi(self.at["order"])

    @staticmethod
    def _largest(found: list[Bracket]) -> Bracket:
        return Bracket(lower=max(one.lower for one in found), upper=max(one.upper for one in found))

    def _verdict(self, ours: Bracket, low: Fraction, high: Fraction) -> str:
        if number(low) <= ours.upper and ours.lower <= number(high):
            return "agrees" if ours.upper <= number(high) else "looser"
        if ours.upper < number(low) and self.sense == "bound":
            return "tighter"
        return "contradiction"

    def _compared_noise(self, low: Fraction, high: Fraction) -> tuple[str, str]:
        """Whether more noise is enough and less is not: `low` and `high` are the ends of what the published test allows."""
        allowed = number(self.at["delta"])
        below, above = (self._delta_with(noise) for noise in (low, high))
        more, less = (above, below) if self.direction != "falling" else (below, above)
        ours = f"delta {text(less)} with less noise, {text(more)} with more"
        if more.lower > allowed:
            return "contradiction", ours
        if more.upper > allowed:
            return "looser", ours
        if less.lower >= allowed:
            return "agrees", ours
        return ("tighter" if self.sense == "bound" else "contradiction"), ours

    def _delta_with(self, noise: Fraction) -> Bracket:
        direction = self.at.get("direction", "both")
        mechanism = self.mechanism.replace("{published}", str(noise))
        return self._largest([pair.hockey_stick(self.at["epsilon"]) for pair in pairs_of(mechanism, direction)])


def text(value: Bracket) -> str:
    """Both ends to ten digits, or one number where they agree."""
    ends = [f"{float(end):.10g}" for end in (value.lower, value.upper)]
    return ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"


def read(path: Path) -> Iterator[Vector]:
    """The vectors of a file, row by row; numbers keep their digits."""
    data = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    for test in data["test"]:
        if test["sense"] not in SENSES:
            raise ValueError(f"{test['test']}: the sense is {test['sense']!r}; write one of {SENSES}")
        for place, row in enumerate(test["rows"], start=1):
            values = {**test.get("fixed", {}), **dict(zip(test["columns"], row, strict=True))}
            texts = {name: str(value) for name, value in values.items()}
            yield Vector(
                label=f"{test['project']}.{test['test']}.{place}",
                source=f"{test['project']} {test['path']}",
                mechanism=test["mechanism"].format_map({**texts, "published": "{published}"}),
                direction=texts.get("direction", "both") if test["quantity"] != "noise" else test.get("noise", "rising"),
                quantity=test["quantity"],
                at={name: texts[name] for name in ("epsilon", "delta", "order", "direction") if name in texts},
                expected=texts["published"],
                accuracy=str(test["accuracy"]),
                sense=test["sense"],
            )


VECTORS: tuple[Vector, ...] = tuple(read(PATH))
