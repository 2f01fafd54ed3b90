"""Incomplete gamma functions in log space, and draws from a gamma law between two ends. Everything is in floats, on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

Floats = NDArray[np.float64]

_TINY = 1e-280
_TERMS = 400
_HALVINGS = 90


def log_lower(shape: Any, x: Any) -> Floats:
    """ln of the lower incomplete gamma function, the integral of t^(shape - 1) e^-t from 0 to x; by its series where it is tiny.

    >>> round(float(log_lower(2.0, 3.0)), 6), round(float(log_lower(300.0, 1.0)), 3)
    (-0.222079, -6.7)
    """
    a, point = np.broadcast_arrays(np.asarray(shape, dtype=float), np.asarray(x, dtype=float))
    share = gammainc(a, point)
    with np.errstate(divide="ignore"):
        found = np.asarray(np.log(share) + gammaln(a))
    tiny = (share < _TINY) & (point > 0)
    if tiny.any():
        found = np.where(tiny, _lower_series(np.where(tiny, a, 1.0), np.where(tiny, point, 1.0)), found)
    return found


def log_upper(shape: Any, x: Any) -> Floats:
    """ln of the upper incomplete gamma function, from x to infinity; by a continued fraction where it is tiny.

    >>> round(float(log_upper(2.0, 3.0)), 6), round(float(log_upper(2.0, 2000.0)), 3)
    (-1.613706, -1992.399)
    """
    a, point = np.broadcast_arrays(np.asarray(shape, dtype=float), np.asarray(x, dtype=float))
    share = gammaincc(a, point)
    with np.errstate(divide="ignore"):
        found = np.asarray(np.log(share) + gammaln(a))
    tiny = (share < _TINY) & np.isfinite(point)
    if tiny.any():
        found = np.where(tiny, _upper_fraction(np.where(tiny, a, 1.0), np.where(tiny, point, 9.0)), found)
    return found


def log_between(shape: Any, low: Any, high: Any) -> Floats:
    """ln of the integral of t^(shape - 1) e^-t from low to high; minus infinity for an empty range."""
    a, start, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (shape, low, high)))
    below = start < a
    large = np.where(below, log_lower(a, end), log_upper(a, start))
    small = np.where(below, log_lower(a, start), log_upper(a, end))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = large + np.log(-np.expm1(np.minimum(small - large, 0.0)))
    return np.where(start < end, found, -np.inf)


def gamma_between(source: Generator, shape: float, rate: Any, low: Any, high: Any) -> Floats:
    """Draws from the gamma law with a *rate* (Z-S29), cut to [low, high]; high may be infinite.

    By inversion, in the tail that is nearer; where the range has less than 1e-280 of the mass, by halving in log space.

    >>> from numpy.random import default_rng
    >>> draws = gamma_between(default_rng(0), 2.0, 1.0, np.full(5, 900.0), np.inf)
    >>> bool((draws >= 900).all() and (draws < 920).all())
    True
    """
    rates, lows, highs = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (rate, low, high)))
    start, end = rates * lows, rates * highs
    u = source.random(rates.shape)
    from_below = start < shape
    p = gammainc(shape, start) + u * (gammainc(shape, end) - gammainc(shape, start))
    q = gammaincc(shape, start) - u * (gammaincc(shape, start) - gammaincc(shape, end))
    found = np.where(from_below, gammaincinv(shape, np.clip(p, 0, 1)), gammainccinv(shape, np.clip(q, 0, 1)))
    hard = np.where(from_below, gammainc(shape, end), gammaincc(shape, start)) < _TINY
    if hard.any():
        found[hard] = _by_halving(shape, start[hard], end[hard], u[hard])
    return np.asarray(np.clip(found / rates, lows, highs))


def _by_halving(shape: float, start: Floats, end: Floats, u: Floats) -> Floats:
    """The x with mass u of [start, end] below it; the mass is near the end that is nearer to the mode."""
    low, high = start.copy(), np.where(np.isfinite(end), end, start + 800.0 + shape)
    whole = log_between(shape, low, high)
    floor = start.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        less = log_between(shape, floor, middle) - whole < np.log(np.maximum(u, 1e-300))
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.asarray((low + high) / 2)


def _lower_series(a: Floats, x: Floats) -> Floats:
    total, term = np.ones_like(x), np.ones_like(x)
    for k in range(1, _TERMS):
        term = term * x / (a + k)
        total += term
    return np.asarray(a * np.log(x) - x - np.log(a) + np.log(total))


def _upper_fraction(a: Floats, x: Floats) -> Floats:
    """By the continued fraction of Legendre, evaluated from its end; x is far above a."""
    value = np.zeros_like(x)
    for k in range(60, 0, -1):
        value = k * (k - a) / (x + 2 * k + 1 - a - value)
    return np.asarray(a * np.log(x) - x - np.log(x + 1 - a - value))
