"""The checker's own reading of the simplest conversions between output divergences, on neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
from flint import arb

from dpspec_checker.constants import knots_of
from dpspec_checker.numbers import ExactValue, at_most, exponential, fraction, linear, rational, read, surely, within_numbers

JsonTable = dict[str, Any]
Formula = Callable[[ExactValue, JsonTable, ExactValue, JsonTable], bool]
"""Whether the new amount is at least the formula at the old one, the tables being those of the two divergences."""


@attrs.frozen
class Above:
    """Above the formula in ball arithmetic, and by no more than rounding: else another formula was meant."""

    formula: Callable[[arb, JsonTable, JsonTable], arb]

    def __call__(self, old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
        close = surely(lambda: new.ball() < self.formula(old.ball(), source, target) * (1 + arb(2) ** -20))
        return close and self.enough(old, source, new, target)

    def enough(self, old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
        """Above the formula, however far."""
        return surely(lambda: self.formula(old.ball(), source, target) <= new.ball())


def _log(text: Any) -> arb:
    return rational(fraction(text)).log()


def _order(renyi: JsonTable) -> Fraction:
    order = fraction(renyi["order"])
    if order <= 1:
        raise ValueError("the order of a Renyi divergence is above 1")
    return order


def _simple(rho: arb, _source: JsonTable, target: JsonTable) -> arb:
    return rho + 2 * (-rho * _log(target["delta"])).sqrt()


def _by_order(gamma: arb, order: arb, delta: Any) -> arb:
    return gamma + (1 - 1 / order).log() - (order.log() + _log(delta)) / (order - 1)


def _cks(rho: arb, _source: JsonTable, target: JsonTable) -> arb:
    """The least of alpha rho + ln(1 - 1/alpha) - ln(alpha delta)/(alpha - 1) over some alpha; any alpha is valid."""

    def at(u: arb) -> arb:
        order = 1 + u.exp()
        return _by_order(rho * order, order, target["delta"])

    low, high = (
        arb(-20),
        arb(20),
    )  # of ln(alpha - 1); where the search ends decides how tight the value is, not if it is right
    for _ in range(200):
        one, two = ((2 * low + high) / 3).mid(), ((low + 2 * high) / 3).mid()
        low, high = (low, two) if at(one) < at(two) else (one, high)
    return at(high)


def _renyi(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    return at_most(read(target["order"]), read(source["order"])) and at_most(old, new)


def _no_smaller(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    return at_most(read(source["delta"]), read(target["delta"])) and at_most(old, new)


def _from_renyi(gamma: arb, source: JsonTable, target: JsonTable) -> arb:
    return gamma - _log(target["delta"]) / (rational(_order(source)) - 1)


def _from_renyi_cks(gamma: arb, source: JsonTable, target: JsonTable) -> arb:
    return _by_order(gamma, rational(_order(source)), target["delta"])


def _bun_steinke(old: ExactValue, _source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    """The bound at epsilon = rho + t is at most delta, and not at a t that is smaller by more than rounding."""

    def excess(shrunk: Fraction) -> arb:
        rho = old.ball()
        t = (new.ball() - rho) * rational(shrunk)
        slope = 1 + t / (2 * rho)
        return (2 / (slope + (slope**2 + 4 / (arb.pi() * rho)).sqrt())).log() - t**2 / (4 * rho) - _log(target["delta"])

    beyond = surely(lambda: new.ball() >= old.ball()) and surely(lambda: excess(Fraction(1)) < 0)
    return beyond and surely(lambda: excess(1 - Fraction(1, 2**20)) > 0)


# --- entropies: D_1 <= x, and D_2 <= y -----------------------------------------------------------

_ENTROPIES: dict[str, Callable[[arb], arb]] = {
    "chi-squared": lambda y: y.expm1(),
    "hellinger": lambda x: -(-x / 2).expm1(),
    "total-variation": lambda x: (x / 2).sqrt().min((-(-x).expm1()).sqrt()),
}


def _entropic(generator: str) -> Formula:
    """From rho, with x = rho and y = 2 rho, or from a Renyi divergence, which is x, and y from the order 2 on."""

    def holds(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
        squares = generator == "chi-squared"
        low_order = squares and source["type"] == "renyi" and not at_most(read(2), read(source["order"]))
        if low_order or target.get("generator", generator) != generator:
            return False
        if generator == "kl":
            return at_most(old, new)
        twice = 2 if squares and source["type"] == "d-nor" else 1
        return Above(lambda x, _source, _target: _ENTROPIES[generator](twice * x))(old, source, new, target)

    return holds


# --- worst pairs: randomised response that gives everything away with probability delta ----------


def _odds(amount: ExactValue, source: JsonTable) -> tuple[ExactValue, ExactValue]:
    """The epsilon and the delta of the worst pair that a budget allows."""
    kind = source["type"]
    if kind in ("mult", "mult-delta"):
        return amount, ExactValue(fraction(source.get("delta", 0)))
    return read(source.get("epsilon", 0)), amount if at_most(amount, read(1)) else read(1)


def _stick(pair: tuple[ExactValue, ExactValue], free: ExactValue, limit: ExactValue) -> bool:
    """Whether the hockey stick at `free`, delta + (1 - delta) max(0, e^epsilon - e^free)/(1 + e^epsilon), is below the limit."""
    (epsilon, delta), odds, given = pair, exponential(pair[0]), exponential(free)
    if at_most(epsilon, free) or at_most(read(1), limit):  # it is delta alone; it never exceeds 1
        return at_most(delta, limit)
    if odds is not None and given is not None and not delta.logs and not delta.root:
        return at_most(ExactValue(delta.plain + (1 - delta.plain) * (odds - given) / (1 + odds)), limit)

    def stick() -> arb:
        ratio = epsilon.ball().exp()
        return delta.ball() + (1 - delta.ball()) * (ratio - free.ball().exp()) / (1 + ratio)

    return surely(lambda: stick() < limit.ball(), lambda: stick() > limit.ball())


def _to_stick(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    return _stick(_odds(old, source), read(target.get("epsilon", 0)), new)


def _to_approximate(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    return _stick(_odds(old, source), new, read(target["delta"]))


def _pure_to_renyi(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    """ln(h^a t^(1-a) + t^a h^(1-a))/(a - 1) for heads h and tails t; in exact form where odds and order are whole enough."""
    odds, order = exponential(old), _order(target)
    if odds is not None and order.denominator == 1:
        heads, power = odds / (1 + odds), int(order)
        moment = heads**power * (1 - heads) ** (1 - power) + (1 - heads) ** power * heads ** (1 - power)
        return within_numbers([read(f"ln({moment})"), ExactValue(1 / (order - 1))], new)

    def formula(epsilon: arb, _source: JsonTable, _target: JsonTable) -> arb:
        heads, power = 1 / (1 + (-epsilon).exp()), rational(order)
        return (heads**power * (1 - heads) ** (1 - power) + (1 - heads) ** power * heads ** (1 - power)).log() / (power - 1)

    return Above(formula)(old, source, new, target)


def _pure_to_f_divergence(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    """The total variation, or epsilon tanh(epsilon/2) = epsilon (e^epsilon - 1)/(e^epsilon + 1), of randomised response."""
    odds = exponential(old)
    if target["generator"] == "total-variation":
        return _to_stick(old, source, new, {})
    if target["generator"] != "kl":
        return False
    if odds is None:
        return surely(lambda: old.ball() * (old.ball() / 2).tanh() < new.ball())
    return within_numbers([old, ExactValue((odds - 1) / (odds + 1))], new)


# --- trade-off curves: the pair of laws that a curve represents ----------------------------------


def group(divergence: JsonTable, steps: ExactValue) -> list[tuple[Fraction, Fraction]] | None:
    """The knots (a, 1 - f(a)) of so many steps of a curve f, rounded down: 1 - f is applied over and over."""
    knots, count = knots_of(divergence), int(steps.plain)
    if knots is None or steps.logs or steps.root or steps.infinite or not 1 <= count <= 32:
        return None
    rising = [(level, 1 - error) for level, error in knots]
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in itertools.pairwise(rising)]
    if rising[0][0] != 0 or min(rising[-1]) != 1 or sorted(slopes, reverse=True) != slopes or slopes[-1] < 0:
        return None  # no convex curve down to 0
    found = rising
    for _ in range(count - 1):
        levels = {a for a, _ in found}
        for (a, b), (c, d) in itertools.pairwise(found):
            levels |= {a + (level - b) * (c - a) / (d - b) for level, _ in rising if b < level < d}
        found = [(level, _at(rising, _at(found, level))) for level in sorted(levels)]
    return found


def _at(line: list[tuple[Fraction, Fraction]], level: Fraction) -> Fraction:
    for (a, b), (c, d) in itertools.pairwise(line):
        if a <= level <= c:
            return b + (level - a) * (d - b) / (c - a)
    raise ValueError("a level outside of the curve")


def _masses(line: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]] | None:
    """The two laws of a curve as masses on its pieces; None where one of them has a mass and the other has none."""
    found = [(d - b, c - a) for (a, b), (c, d) in itertools.pairwise(line)]
    return found if not any(line[0]) and all(p > 0 and q > 0 for p, q in found) else None


def _pure_to_curve(old: ExactValue, _source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    """Randomised response has the knot a = 1/(1 + e^epsilon), and the steps of a convex curve lie below it when they do there."""
    odds, line = exponential(old), group(target, new)
    if odds is None or line is None:
        return False
    return 1 - _at(line, 1 / (1 + odds)) <= 1 / (1 + odds)


def _curve_to_kl(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    line = group(source, old) if old.plain.denominator == 1 else None
    masses = None if line is None else _masses(line)
    if masses is None or target["generator"] != "kl":
        return False

    def mean(pairs: list[tuple[Fraction, Fraction]]) -> ExactValue:
        return linear((p if p > q else -p, read(f"ln({max(p / q, q / p)})")) for p, q in pairs)

    return all(at_most(mean(pairs), new) for pairs in (masses, [(q, p) for p, q in masses]))


def _curve_to_renyi(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    line = group(source, old) if old.plain.denominator == 1 else None
    masses, order = None if line is None else _masses(line), read(target["order"]).plain
    if masses is None or order.denominator != 1:
        return False
    power = int(order)
    moments = (
        sum((p**power * q ** (1 - power) for p, q in pairs), Fraction(0)) for pairs in (masses, [(q, p) for p, q in masses])
    )
    return all(within_numbers([read(f"ln({moment})"), ExactValue(1 / (order - 1))], new) for moment in moments)


def _pure_to_zcdp(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    """epsilon tanh(epsilon/2), in exact form where the odds are rational."""
    odds = exponential(old)
    if odds is not None:
        return within_numbers([ExactValue((odds - 1) / (odds + 1)), old], new)
    return Above(lambda epsilon, _source, _target: epsilon * (epsilon / 2).tanh())(old, source, new, target)


def _pure_to_gaussian(epsilon: arb, _source: JsonTable, _target: JsonTable) -> arb:
    """2 Phi^-1(e^epsilon/(1 + e^epsilon)): the knot of randomised response on the curve of two Gaussians."""
    return 2 * arb(2).sqrt() * (epsilon / 2).tanh().erfinv()


def _to_pbdp(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    """ln(d/a) for the least level a of the power d on max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a))."""
    (epsilon, delta), power = _odds(old, source), fraction(target["delta"])
    ratio = exponential(epsilon)
    if ratio is not None and not delta.logs and not delta.root:
        level = max((power - delta.plain) / ratio, 1 - delta.plain - ratio * (1 - power))
        return level > 0 and at_most(read(f"ln({power / level})"), new)

    def level_ball() -> arb:
        odds, rest = epsilon.ball().exp(), 1 - delta.ball()
        return ((rational(power) - delta.ball()) / odds).max(rest - odds * rational(1 - power))

    return surely(lambda: level_ball() * new.ball().exp() > rational(power))


def _renyi_to_stick(old: ExactValue, source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    """The largest p - e^epsilon q with q >= p^b e^-gamma, b = alpha/(alpha - 1): at p = (r/b)^(alpha - 1), or at p = 1."""
    order, exponent = read(source["order"]).plain, linear([(Fraction(1), old), (Fraction(-1), read(target["epsilon"]))])
    slope, ratio = order / (order - 1), exponential(exponent)
    if ratio is not None and order.denominator == 1:
        most = 1 - 1 / ratio if ratio >= slope else (ratio / slope) ** int(order - 1) / order
        return at_most(ExactValue(most), new)

    def above() -> bool:
        share = exponent.ball().exp() / rational(slope)
        inside = share < 1 and share ** rational(order - 1) / rational(order) < new.ball()
        return bool(inside or (share > 1 and 1 - 1 / exponent.ball().exp() < new.ball()))

    return surely(above)


# --- Gaussian privacy: N(0, 1) and N(mu, 1) ------------------------------------------------------


def _normal(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def _gaussian_stick(mu: arb, free: arb) -> arb:
    return _normal(mu / 2 - free / mu) - free.exp() * _normal(-mu / 2 - free / mu)


def _gaussian_to_approximate(old: ExactValue, _source: JsonTable, new: ExactValue, target: JsonTable) -> bool:
    return surely(lambda: _gaussian_stick(old.ball(), new.ball()) < read(target["delta"]).ball())


def _gaussian_to_stick(mu: arb, _source: JsonTable, target: JsonTable) -> arb:
    return _gaussian_stick(mu, read(target.get("epsilon", 0)).ball())


def _gaussian_to_pbdp(mu: arb, _source: JsonTable, target: JsonTable) -> arb:
    power = read(target["delta"]).ball()
    return power.log() - _normal(arb(2).sqrt() * (2 * power - 1).erfinv() - mu).log()


_EXACT_BITS = 1 << 16
"""Sums of more digits than this are compared in balls."""


def grown_at_most(delta: ExactValue, limit: ExactValue, epsilon: ExactValue, steps: int) -> bool:
    """delta (1 + e^epsilon + ... + e^((k-1) epsilon)) <= limit: the delta of a group of k."""
    ratio = exponential(epsilon)
    if ratio is not None and steps * ratio.numerator.bit_length() <= _EXACT_BITS:
        return within_numbers([delta, ExactValue((ratio**steps - 1) / (ratio - 1) if ratio > 1 else Fraction(steps))], limit)
    return surely(lambda: delta.ball() * sum((epsilon.ball() * i).exp() for i in range(steps)) < limit.ball())


def _same(scale: Callable[[JsonTable], list[ExactValue]]) -> Formula:
    """The amount times some numbers."""
    return lambda old, _source, new, target: within_numbers([*scale(target), old], new)


_FAILING = {"pure": "mult", "approximate": "mult-delta", "hockey-stick": "hockey-stick", "total-variation": "total-variation"}
"""The standards whose worst pair is a randomised response that may fail."""

CONVERSIONS: dict[str, tuple[str, str, Formula]] = {
    "pure-to-zcdp-simple": ("mult", "d-nor", lambda old, _s, new, _t: within_numbers([read("1/2"), old, old], new)),
    "pure-to-zcdp": ("mult", "d-nor", _pure_to_zcdp),
    "pure-to-gaussian": ("mult", "gaussian-trade-off", Above(_pure_to_gaussian)),
    "pure-to-renyi": ("mult", "renyi", _pure_to_renyi),
    "zcdp-to-approximate": ("d-nor", "mult-delta", Above(_simple)),
    "zcdp-to-approximate-cks": ("d-nor", "mult-delta", Above(_cks)),
    "zcdp-to-approximate-bun-steinke": ("d-nor", "mult-delta", _bun_steinke),
    "zcdp-to-renyi": ("d-nor", "renyi", _same(lambda target: [read(target["order"])])),
    "renyi-to-renyi": ("renyi", "renyi", _renyi),
    "renyi-to-hockey-stick": ("renyi", "hockey-stick", _renyi_to_stick),
    "renyi-to-approximate": ("renyi", "mult-delta", Above(_from_renyi)),
    "renyi-to-approximate-cks": ("renyi", "mult-delta", Above(_from_renyi_cks)),
    **{
        f"{name}-to-{generator}": (kind, generator if generator == "total-variation" else "f-divergence", _entropic(generator))
        for name, kind in (("zcdp", "d-nor"), ("renyi", "renyi"))
        for generator in ("kl", *_ENTROPIES)
    },
    "zcdp-to-pbdp": ("d-nor", "pbdp", Above(_simple)),
    "renyi-to-pbdp": ("renyi", "pbdp", Above(_from_renyi)),
    "pbdp-to-approximate": ("pbdp", "mult-delta", _no_smaller),
    "gaussian-to-pbdp": ("gaussian-trade-off", "pbdp", Above(_gaussian_to_pbdp)),
    **{f"{name}-to-pbdp": (kind, "pbdp", _to_pbdp) for name, kind in _FAILING.items()},
    "gaussian-to-zcdp": ("gaussian-trade-off", "d-nor", lambda old, _s, new, _t: within_numbers([read("1/2"), old, old], new)),
    "gaussian-to-renyi": (
        "gaussian-trade-off",
        "renyi",
        lambda old, _s, new, target: within_numbers([read("1/2"), read(target["order"]), old, old], new),
    ),
    "gaussian-to-approximate": ("gaussian-trade-off", "mult-delta", _gaussian_to_approximate),
    "gaussian-to-hockey-stick": ("gaussian-trade-off", "hockey-stick", Above(_gaussian_to_stick)),
    "gaussian-to-total-variation": ("gaussian-trade-off", "total-variation", Above(_gaussian_to_stick)),
    **{f"{name}-to-approximate": (kind, "mult-delta", _to_approximate) for name, kind in _FAILING.items()},
    **{f"{name}-to-hockey-stick": (kind, "hockey-stick", _to_stick) for name, kind in _FAILING.items()},
    **{f"{name}-to-total-variation": (kind, "total-variation", _to_stick) for name, kind in _FAILING.items()},
}
"""By name of the rule: the divergences it joins, and its formula. Any other conversion is unchecked."""

SLOW = ("pure-to-zcdp", "pure-to-total-variation", "pure-to-gaussian", "gaussian-to-total-variation")
"""Formulas f, between Lipschitz constants, with a falling f(t)/t: at a whole distance d they give f(t d) <= d f(t).

They are sqrt(t tanh(t/2)), tanh(t/2), twice the normal quantile of the logistic function, and 2 Phi(t/2) - 1.
"""

ON_PAIRS: dict[str, tuple[str, str, Formula]] = {
    **CONVERSIONS,
    "pure-to-f-divergence": ("mult", "f-divergence", _pure_to_f_divergence),
    "pure-to-curve": ("mult", "trade-off", _pure_to_curve),
    "curve-to-f-divergence": ("trade-off", "f-divergence", _curve_to_kl),
    "curve-to-renyi": ("trade-off", "renyi", _curve_to_renyi),
}
"""Those that are followed on single pairs of datasets: some only for certain generators, orders and whole odds."""
