"""Outputs of a black box as data: a shape with the numbers in it, and a small language for sets of outputs, the events.

The *shape* is everything that is not a finite number.

Outputs are distinguished as `dpspec.verifier.observation` defines.

    3.5 -> ("float",), (3.5,)        (None, 2) -> ("tuple", ("None",), ("int",)), (2.0,)
    an exception -> ("raises", type, message, what is seen of it, its place in the code), ()

Equal shape and numbers mean the same output: an atom. NaN, infinities, None, texts and lengths are part of the shape.

An event can be evaluated by anyone, without this program.
An output is written as a *form*, a list that begins with its kind:

    ["int", "5"]  ["float", "0x1.8p+0"]  ["True"]  ["None"]  ["text", "'yes'"]  ["nan"]  ["inf"]
    ["tuple", form, ...]  ["list", form, ...]  ["raises", type, message, details]  [type, repr]  (others)

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
import dis
import hashlib
import itertools
import math
import os
import sys
import sysconfig
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import attrs

from dpspec.base.errors import SpecSyntaxError
from dpspec.base.lazy import late_module
from dpspec.base.types import Floats, Mask
from dpspec.verifier.observation import Frame, Observed, UnobservableError, comparison, observed, observed_raise, plain_value

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

Shape = tuple[Hashable, ...]
Atom = tuple[Shape, tuple[float, ...]]

MOST_NUMBERS = 512
"""The largest number of features of an output; further numbers are left out of the features (they still distinguish atoms)."""
_EXACT = 2**53
_BRACKETS = {"tuple": ("(", ")"), "list": ("[", "]"), "set": ("{", "}"), "dict": ("{", "}")}


MOST_LETTERS = 80
"""Letters of the message of an exception that are shown."""


@attrs.frozen
class Raised:
    """An exception as an output.

    Args:
        kind, message: its type and text.
        stated: whether the code raises it by a statement of its own, and neither an operation nor a library does.
        seen: what is seen of it (`dpspec.verifier.observation`); None where that cannot be compared.
    """

    kind: str
    message: str
    stated: bool = attrs.field(default=False, eq=False)
    seen: Observed | None = None

    @classmethod
    def of(cls, problem: BaseException) -> Raised:
        """The raised exception."""
        kind, stated = type(problem).__name__, _is_stated(problem)
        try:
            seen = cast("Observed", observed_raise(problem))
            return cls(kind, str(problem)[:MOST_LETTERS], stated, seen)
        except UnobservableError:
            return cls(kind, _message(problem), stated)


def _message(problem: BaseException) -> str:
    """The text of an exception of a class that may write itself."""
    try:
        return str(problem)[:MOST_LETTERS]
    except Exception as other:
        return f"cannot be written: {type(other).__name__}"


_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_RAISE = dis.opmap["RAISE_VARARGS"]


def _is_stated(problem: BaseException) -> bool:
    """Whether the last step was a `raise` or an `assert` outside the libraries."""
    last = problem.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return False
    code = last.tb_frame.f_code
    return code.co_code[last.tb_lasti] == _RAISE and not code.co_filename.startswith(_LIBRARIES)


def atom(output: Any) -> Atom:  # noqa: PLR0911 (one line per kind of output)
    """The shape and the numbers of one output: two outputs have one atom if and only if `observed` sees them alike.

    Of an output that cannot be compared only its type is seen.

    >>> atom((1, 0.5)), atom(float("nan"))
    ((('tuple', ('int',), ('float',)), (1.0, 0.5)), (('nan',), ()))
    """
    if comparison.by_value and not isinstance(output, Raised):
        try:
            output = plain_value(output)
        except UnobservableError:
            return ("object", f"an object of type {type(output).__name__}"), ()
    if type(output) is float and math.isfinite(output) and (output or math.copysign(1.0, output) > 0):
        return ("float",), (output,)
    if type(output) is int and -_EXACT < output < _EXACT:
        return ("int",), (float(output),)
    if type(output) in (tuple, list):
        plain = _plain(output)
        if plain is not None:
            return plain
    if isinstance(output, Raised):
        return (("raises", output.kind, output.message), ()) if output.seen is None else _seen(output.seen)
    try:
        return _seen(observed(output))
    except UnobservableError:
        return ("object", f"an object of type {type(output).__name__}"), ()


def _plain(output: Sequence[Any]) -> Atom | None:
    """The atom of a list or tuple of plain numbers, the commonest case, without looking at each of them for long; else None."""
    shape = _plain_shape(type(output), tuple(map(type, output)))
    if shape is None:
        return None
    values = tuple(map(float, output))
    for value in values:
        if not (-_EXACT < value < _EXACT) or (not value and math.copysign(1.0, value) < 0):
            return None
    return shape, values


@lru_cache(maxsize=1024)
def _plain_shape(kind: type, types: tuple[type, ...]) -> Shape | None:
    return (kind.__name__, *((one.__name__,) for one in types)) if set(types) <= {int, float} else None


def outcome_atom(outcome: Any) -> Atom:
    """The atom of an outcome of a law: of a law that was read off code it is what was observed, of a stated one a plain value.

    >>> outcome_atom(observed([0, 1])) == atom([0, 1]), outcome_atom((observed(True), 2)) == atom((True, 2))
    (True, True)

    Values that cannot be compared as outputs are distinguished as by the law, by their written form.
    """
    if _is_sight(outcome):
        return _seen(outcome)
    shape, numbers = atom(outcome)
    return ((type(outcome).__name__, repr(outcome)), ()) if shape[0] == "object" else (shape, numbers)


def _is_sight(outcome: Any) -> bool:
    return type(outcome) is Observed or (type(outcome) is tuple and any(map(_is_sight, outcome)))


def _seen(sight: Any) -> Atom:  # noqa: PLR0911 (one line per kind of sight)
    """The observed outcome, with its numbers taken out."""
    kind = type(sight)
    if kind is tuple:
        return _collection("tuple", sight)
    if kind in (float, bool, complex):  # the elements of an array
        return atom(sight)
    if kind is not Observed:
        if kind is int and -_EXACT < sight < _EXACT:
            return ("int",), (float(sight),)
        return (("None",) if sight is None else ("text" if kind is str else kind.__name__, repr(sight))), ()
    if sight.parts is not None:
        return _collection(sight.kind, sight.parts)
    if sight.kind == "raises":
        return ("raises", sight.content[0].rpartition(".")[2], sight.content[2][:MOST_LETTERS], sight, _place(sight)), ()
    if sight.number is None:
        return (sight.kind, sight.content, sight.text), ()
    if math.isfinite(sight.number) and (sight.number or math.copysign(1.0, sight.number) > 0):
        return (sight.kind,), (sight.number,)
    usual = sight.kind == "float" and sight == observed(float(sight.text))
    return ((sight.text,) if usual else (sight.kind, sight.content, sight.text)), ()


def _place(sight: Observed) -> str:
    """The location in the code at which an exception was raised; empty where it is not observable."""
    frames = sight.content[4]  # type: ignore[index]
    return str(frames[-1].place) if frames else ""


@lru_cache(maxsize=1024)
def _details(sight: Observed) -> str:
    """The place of an exception in the code, and a digest of all that is seen of it: the same wherever the code lies."""
    digest = hashlib.sha256(repr(_portable(sight)).encode()).hexdigest()
    return f"{_place(sight)} #{digest[:16]}".strip()


def _portable(seen: Any) -> Any:
    """The observed outcome as nested tuples of texts, with files by their names as modules."""
    if isinstance(seen, Observed):
        return seen.kind, _portable(seen.content)
    if isinstance(seen, Frame):
        return (_module_file(seen.file), seen.function, seen.line, seen.last_line, seen.column, seen.last_column)
    return tuple(map(_portable, seen)) if isinstance(seen, tuple) else (type(seen).__name__, repr(seen))


def _module_file(file: str) -> str:
    """The path of a file below the folder from which it is imported."""
    folders = sorted((folder for folder in map(os.path.abspath, sys.path) if file.startswith(folder + os.sep)), key=len)
    return os.path.relpath(file, folders[-1]).replace(os.sep, "/") if folders else file


def _collection(kind: str, parts: Iterable[Any]) -> Atom:
    atoms = [_seen(part) for part in parts]
    return (kind, *(shape for shape, _ in atoms)), tuple(value for _, values in atoms for value in values)


def kind_of(outcome: Any) -> str:
    """The type of an outcome, whether it is written plainly or as what is observed."""
    return outcome.kind if type(outcome) is Observed else type(outcome).__name__


def value_of(outcome: Any) -> Hashable:
    """A key that is equal for two outcomes that differ in type, memory or traceback alone.

    >>> value_of(observed(np.int64(0))) == value_of(0) == value_of(observed(False)) == value_of(observed(0.0))
    True
    """
    kind = type(outcome)
    if kind in (bool, int, float):
        return cast("Hashable", outcome + 0)
    if kind is tuple:
        return tuple(map(value_of, outcome))
    if kind is not Observed:
        return cast("Hashable", outcome)
    return _value_seen(outcome)


def _value_seen(sight: Observed) -> Hashable:
    content: Any = sight.content
    if sight.number is not None:
        return sight.number + 0.0
    if sight.kind in ("bool", "np.bool_", "np.bool"):
        return sight.text.endswith(("True", "True)"))
    if sight.kind == "raises":
        return "raises", content[0], content[2]
    if sight.kind == "printed":
        return value_of(content[0])
    return sight.content if sight.parts is None else tuple(map(value_of, sight.parts))


def written(given: Atom) -> str:
    """An atom as people write it.

    >>> written(atom((1, None, "a", 0.5)))
    "(1, None, 'a', 0.5)"
    """
    return _written(given[0], iter(given[1]))


def _written(shape: Shape, values: Iterator[float]) -> str:
    kind = shape[0]
    if len(shape) == 1 and (kind in ("float", "int") or str(kind).startswith("np.")):
        value = next(values, None)
        if value is None:
            return "#"
        text = _float_text(value) if "float" in str(kind) else str(int(value))
        return f"{kind}({text})" if str(kind).startswith("np.") else text
    if kind == "raises":
        place = f" at {shape[4]}" if len(shape) > 4 and shape[4] else ""
        return f"raises {shape[1]}" + (f" ({shape[2]})" if shape[2] else "") + place
    if len(shape) == 1 or all(isinstance(part, tuple) for part in shape[1:]):
        parts = [_written(part, values) for part in shape[1:] if isinstance(part, tuple)]
        plain = (f"{kind}(", ")") if parts else (str(kind), "")
        left, right = _BRACKETS.get(str(kind), plain)
        return f"{left}{', '.join(parts)}{',' if kind == 'tuple' and len(parts) == 1 else ''}{right}"
    return str(shape[-1])


def _float_text(value: float) -> str:
    """A double to ten digits; with a point where it looks like an integer otherwise."""
    text = f"{value:.10g}"
    return f"{text}.0" if text.lstrip("-").isdigit() else text


def shape_text(shape: Shape) -> str:
    """A shape as people write it, with # for a number.

    >>> shape_text(atom((None, 3))[0])
    '(None, #)'
    """
    return _written(shape, iter(()))


@attrs.define(eq=False)
class Outcomes:
    """Many outputs: their atoms, grouped by shape, with the numbers of each group as a matrix."""

    atoms: list[Atom]
    groups: dict[Shape, tuple[Any, Floats]]

    @classmethod
    def of(cls, outputs: Iterable[Any]) -> Outcomes:
        return cls.from_atoms([atom(output) for output in outputs])

    @classmethod
    def from_atoms(cls, atoms: list[Atom]) -> Outcomes:
        rows: dict[Shape, list[int]] = {}
        for place, (shape, _) in enumerate(atoms):
            held = rows.get(shape)
            if held is None:
                rows[shape] = [place]
            else:
                held.append(place)
        groups = {
            shape: (np.array(places), np.array([atoms[place][1][:MOST_NUMBERS] for place in places], dtype=float))
            for shape, places in rows.items()
        }
        return cls(atoms=atoms, groups=groups)

    def __len__(self) -> int:
        return len(self.atoms)

    def part(self, start: int, stop: int | None = None, step: int = 1) -> Outcomes:
        """Some of the outputs, by their places."""
        end = len(self) if stop is None else min(stop, len(self))
        groups = {}
        for shape, (rows, matrix) in self.groups.items():
            kept = (rows >= start) & (rows < end) & ((rows - start) % step == 0)
            if kept.any():
                groups[shape] = (rows[kept] - start) // step, matrix[kept]
        return Outcomes(atoms=self.atoms[start:end:step], groups=groups)

    def kept(self, mask: Mask) -> Outcomes:
        """The outputs where the mask is true."""
        places = np.cumsum(mask) - 1
        groups = {}
        for shape, (rows, matrix) in self.groups.items():
            inside = mask[rows]
            if inside.any():
                groups[shape] = places[rows[inside]], matrix[inside]
        return Outcomes(atoms=list(itertools.compress(self.atoms, mask)), groups=groups)

    def __add__(self, other: Outcomes) -> Outcomes:
        groups = dict(self.groups)
        for shape, (rows, matrix) in other.groups.items():
            if shape in groups:
                before = groups[shape]
                groups[shape] = np.concatenate([before[0], rows + len(self)]), np.concatenate([before[1], matrix])
            else:
                groups[shape] = rows + len(self), matrix
        return Outcomes(atoms=self.atoms + other.atoms, groups=groups)


# --- events as data -------------------------------------------------------------------------------


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
        return (kind, *map(str, parts[:2]), _details(parts[2]))
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
