"""The checker's own reading of the simplest conversions between output divergences, on neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb

from dpspec.checker.numbers import Value, at_most, read, surely, within_numbers

Table = dict[str, Any]
Formula = Callable[[Value, Table, Value, Table], bool]
"""Whether the new amount is at least the formula at the old one, the tables being those of the two divergences."""


def _above(formula: Callable[[arb, Table, Table], arb]) -> Formula:
    """Above the formula in ball arithmetic, and by no more than rounding: else another formula was meant."""

    def holds(old: Value, source: Table, new: Value, target: Table) -> bool:
        above = surely(lambda: formula(old.ball(), source, target) < new.ball())
        return above and surely(lambda: new.ball() < formula(old.ball(), source, target) * (1 + arb(2) ** -20))

    return holds


def _log(text: Any) -> arb:
    return read(text).ball().log()


def _simple(rho: arb, _source: Table, target: Table) -> arb:
    return rho + 2 * (-rho * _log(target["delta"])).sqrt()


def _by_order(gamma: arb, order: arb, delta: Any) -> arb:
    return gamma + (1 - 1 / order).log() - (order.log() + _log(delta)) / (order - 1)


def _cks(rho: arb, _source: Table, target: Table) -> arb:
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


def _renyi(old: Value, source: Table, new: Value, target: Table) -> bool:
    return at_most(read(target["order"]), read(source["order"])) and at_most(old, new)


def _from_renyi(gamma: arb, source: Table, target: Table) -> arb:
    return gamma - _log(target["delta"]) / (read(source["order"]).ball() - 1)


def _from_renyi_cks(gamma: arb, source: Table, target: Table) -> arb:
    return _by_order(gamma, read(source["order"]).ball(), target["delta"])


CONVERSIONS: dict[str, tuple[str, str, Formula]] = {
    "pure-to-zcdp-simple": ("mult", "d-nor", lambda old, _s, new, _t: within_numbers([read("1/2"), old, old], new)),
    "zcdp-to-approximate": ("d-nor", "mult-delta", _above(_simple)),
    "zcdp-to-approximate-cks": ("d-nor", "mult-delta", _above(_cks)),
    "zcdp-to-renyi": ("d-nor", "renyi", lambda old, _s, new, target: within_numbers([read(target["order"]), old], new)),
    "renyi-to-renyi": ("renyi", "renyi", _renyi),
    "renyi-to-approximate": ("renyi", "mult-delta", _above(_from_renyi)),
    "renyi-to-approximate-cks": ("renyi", "mult-delta", _above(_from_renyi_cks)),
}
"""By name of the rule: the divergences it joins, and its formula. Any other conversion is unchecked."""
