"""Events as data: a small language for sets of outputs, which anyone can evaluate without this program.

An output is written as a *form*, a list that begins with its kind (`dpspec.verifier.outputs` has the shapes):

    ["int", "5"]  ["float", "0x1.8p+0"]  ["True"]  ["None"]  ["text", "'yes'"]  ["nan"]  ["inf"]
    ["tuple", form, ...]  ["list", form, ...]  ["raises", type, message, details]  [type, identity, repr]  (others)

The details of an exception are its place in the code and a digest of all that is seen of it: traceback, causes, context, notes
and attributes; without them the form covers every exception of that type and message.

Integers are decimals and floats are hexadecimal, so that nothing is rounded; ["int"] and ["float"] match any number of that
type, and so do numpy's types of numbers by their names, as in ["np.int64", "5"]. The *numbers of an output* are its finite ints
and floats in reading order, from place 0. An expression is one of

    {"in": [form, ...]}                                     the output has one of these forms
    {"number": N, "within": [[low, high], ...], "of": form} the number N of it lies in low <= N < high, for one of the pairs;
                                                            null for no end; "of" restricts it to outputs of a form, null: any
    {"not": E}   {"and": [E, ...]}   {"or": [E, ...]}

with N one of {"sum": [[place, weight], ...]}, {"fraction": place} (what is above the floor), {"remainder": [place, modulus]},
{"largest": true}, {"largest": false}, {"steps": [[[cut, ...], [value, ...]], ...]} (for each place the value of the cell it
lies in, summed) and {"whole": what}, of all numbers of the output together: their "count", their "sum", how many are
"distinct", how many are "zero", the "place of the largest" and the "place of the least" (of the first of several). All cuts,
weights and values are rationals as text, and N is computed exactly.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import attrs

from dpspec.base.errors import SpecSyntaxError
from dpspec.base.lazy import late_module
from dpspec.verifier.outputs import details_of, outcome_atom

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")


Form = tuple[Any, ...]
Ends = tuple[Fraction | None, Fraction | None]
"""low <= number < high, None for no end."""


def form(output: Any) -> Form:
    """An output as a form; the outcome of a law, too, whether it is written plainly or as what is observed.

    >>> form((1, 0.5, None, "a"))
    ('tuple', ('int', '1'), ('float', '0x1.0000000000000p-1'), ('None',), ('text', "'a'"))
    """

    shape, numbers = outcome_atom(output)
    return filled(shape, iter(numbers))


def filled(shape: Iterable[Any], numbers: Iterator[float]) -> Form:
    """A shape of `dpspec.verifier.expression` with its numbers, in reading order; without numbers, for any."""
    kind, *parts = shape
    if _is_number(kind) and not parts:
        value = next(numbers, None)
        return (kind,) if value is None else (kind, str(int(value)) if "int" in kind else float(value).hex())
    if kind == "raises" and len(parts) > 2:
        return (kind, *map(str, parts[:2]), details_of(parts[2]))
    if kind == "bool":
        return (str(parts[-1]),)
    if parts and isinstance(parts[-1], str):  # no parts of its own: its identity, and its written form
        return (kind, *(part if isinstance(part, str) else repr(part) for part in parts))
    return (kind, *(filled(part, numbers) if isinstance(part, tuple) else str(part) for part in parts))


def _is_number(kind: Any) -> bool:
    return kind in ("int", "float") or str(kind).startswith("np.")


def value(given: Form) -> Any:
    """The output of a form of ints, floats, texts and tuples of them; raises ValueError for others.

    >>> value(("tuple", ("int", "1"), ("float", "0x1.8p+0")))
    (1, 1.5)
    """
    kind, *parts = given
    if kind == "tuple":
        return tuple(value(part) for part in parts)
    if kind in ("int", "float") and parts:
        return int(parts[0]) if kind == "int" else float.fromhex(parts[0])
    if kind in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[kind]
    raise ValueError(f"{kind} is no number and no tuple of numbers")


def numbers(given: Form) -> list[Fraction]:
    """The finite numbers in a form, in reading order."""
    kind, *parts = given
    if _is_number(kind) and len(parts) <= 1:
        text = parts[0] if parts else "0"
        return [Fraction(int(text)) if "int" in kind else Fraction(float.fromhex(text))]
    return [number for part in parts if isinstance(part, tuple) for number in numbers(part)]


def fits(output: Form, pattern: Form) -> bool:
    """Whether an output has a form, where a number that is left out matches any.

    >>> fits(("tuple", ("int", "3")), ("tuple", ("int",))), fits(("int", "3"), ("float",))
    (True, False)
    """
    if output[0] != pattern[0]:
        return False
    if _is_number(output[0]) and len(pattern) == 1:
        return True
    if output[0] == "raises" and len(pattern) == len(("raises", "type", "message")):
        output = output[: len(pattern)]
    if len(output) != len(pattern):
        return False
    return all(
        fits(mine, its) if isinstance(mine, tuple) and isinstance(its, tuple) else mine == its
        for mine, its in zip(output[1:], pattern[1:], strict=True)
    )


@attrs.frozen
class Expression:
    """An event; see the module for what its data may be.

    Args:
        data: the expression, as nested tuples: of (key, value) for an object, of values for a list.

    >>> small = Expression.read({"number": {"sum": [[0, "1"]]}, "within": [[None, "1/2"]], "of": None})
    >>> small.holds(0.25), small.holds(0.5), small.holds("text")
    (True, False, False)
    """

    data: tuple[Any, ...]

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Expression:
        """An expression from JSON.

        Raises:
            SpecSyntaxError: it is none.
        """
        found = cls(_frozen(data))
        try:
            _holds(found.data, ("int", "0"))
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, AttributeError) as problem:
            raise SpecSyntaxError("event", f"is no expression: {problem!r}", "see dpspec.verifier.expression") from None
        return found

    @classmethod
    def listed(cls, outputs: Iterable[Form]) -> Expression:
        """The event that the output has one of some forms."""
        return cls((("in", tuple(outputs)),))

    @classmethod
    def between(cls, low: Fraction | None, high: Fraction | None, place: int = 0) -> Expression:
        """The event low <= number < high of the number at a place."""
        ends = tuple(None if end is None else str(end) for end in (low, high))
        number = (("sum", ((place, "1"),)),)
        return cls((("number", number), ("within", (ends,)), ("of", None)))

    @property
    def json(self) -> Any:
        """As JSON data."""
        return _thawed(self.data)

    def negated(self) -> Expression:
        return Expression((("not", self.data),))

    def holds(self, output: Any) -> bool:
        """Whether an output is in the event."""
        return self.holds_of(form(output))

    def holds_of(self, given: Form) -> bool:
        """Whether an output of this form is in it."""
        return _holds(self.data, given)

    @property
    def members(self) -> tuple[Form, ...] | None:
        """The forms, where the event is a list of whole outputs."""
        found = dict(self.data).get("in")
        return None if found is None else cast("tuple[Form, ...]", found)

    @property
    def interval(self) -> tuple[int, Ends] | None:
        """The place and the ends, where the event is low <= one number < high."""
        data = dict(self.data)
        terms = dict(data.get("number") or ()).get("sum", ())
        within = data.get("within", ())
        if data.get("of") is not None or len(terms) != 1 or len(within) != 1 or Fraction(terms[0][1]) != 1:
            return None
        low, high = (None if end is None else Fraction(end) for end in within[0])
        return int(terms[0][0]), (low, high)


def _frozen(data: Any) -> Any:
    if isinstance(data, Mapping):
        return tuple((str(key), _frozen(part)) for key, part in data.items())
    return tuple(map(_frozen, data)) if isinstance(data, (list, tuple)) else data


_KEYS = {"in", "number", "within", "of", "not", "and", "or", "sum", "fraction", "remainder", "largest", "steps", "whole"}


def _thawed(data: Any) -> Any:
    if isinstance(data, tuple):
        if data and all(isinstance(part, tuple) and len(part) == 2 and part[0] in _KEYS for part in data):
            return {key: _thawed(part) for key, part in data}
        return [_thawed(part) for part in data]
    return data


def _holds(data: Any, given: Form) -> bool:
    parts = dict(data)
    if "in" in parts:
        return any(fits(given, pattern) for pattern in parts["in"])
    if "not" in parts:
        return not _holds(parts["not"], given)
    for key, quantifier in (("and", all), ("or", any)):
        if key in parts:
            found = [_holds(part, given) for part in parts[key]]  # all of them: a fault in the last one is one too
            return quantifier(found)
    if parts["of"] is not None and not fits(given, parts["of"]):
        return False
    ends = [(_end(low, -math.inf), _end(high, math.inf)) for low, high in parts["within"]]
    number = _number(parts["number"], numbers(given))
    return number is not None and any(low <= number < high for low, high in ends)


def _end(text: str | None, missing: float) -> Fraction | float:
    return missing if text is None else Fraction(text)


def _whole(what: str, found: Sequence[Fraction]) -> Fraction | None:
    """A number that is made of all numbers of an output."""
    if what.startswith("place of"):
        chosen = max if {"place of the largest": True, "place of the least": False}[what] else min
        return Fraction(found.index(chosen(found))) if found else None
    made = {"count": len, "sum": sum, "distinct": lambda numbers: len(set(numbers)), "zero": lambda numbers: numbers.count(0)}
    return Fraction(made[what](list(found)))  # type: ignore[operator]


def _number(data: Any, found: Sequence[Fraction]) -> Fraction | None:  # noqa: PLR0911 (one line per kind of number)
    """The number that an expression speaks about; None where the output has not the numbers for it."""
    ((kind, argument),) = data
    if kind == "largest":
        return None if not found else max(found) if argument else min(found)
    if kind == "fraction":
        return found[argument] % 1 if argument < len(found) else None
    if kind == "remainder":
        return found[argument[0]] % Fraction(argument[1]) if argument[0] < len(found) else None
    if kind == "whole":
        return _whole(argument, found)
    if kind == "sum":
        if any(place >= len(found) for place, _ in argument):
            return None
        return sum((found[place] * Fraction(weight) for place, weight in argument), Fraction(0))
    if kind != "steps":
        raise KeyError(kind)
    if len(argument) > len(found):
        return None
    cells = zip(_steps(argument), found, strict=False)
    return sum((values[bisect.bisect_right(cuts, number)] for (cuts, values), number in cells), Fraction(0))


@lru_cache(maxsize=64)
def _steps(argument: tuple[Any, ...]) -> list[tuple[list[Fraction], list[Fraction]]]:
    return [([Fraction(cut) for cut in cuts], [Fraction(value) for value in values]) for cuts, values in argument]
