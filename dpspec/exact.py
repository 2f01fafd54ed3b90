"""Exact arithmetic for privacy: `Number`s that are compared exactly, `Bracket`s for what has no exact form."""

from dpspec.bracket import Bracket, largest, rounded_product
from dpspec.forms import ball, dyadic
from dpspec.numbers import INFINITY, ZERO, Number, NumberLike, Scalar, ln, number, rational, sqrt

__all__ = [
    "INFINITY",
    "ZERO",
    "Bracket",
    "Number",
    "NumberLike",
    "Scalar",
    "ball",
    "dyadic",
    "largest",
    "ln",
    "number",
    "rational",
    "rounded_product",
    "sqrt",
]
