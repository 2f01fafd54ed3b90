"""Outputs of a black box as data: the shape of an output, with the numbers in it.

The *shape* is everything that is not a finite number.

    3.5 -> ("float",), (3.5,)        (None, 2) -> ("tuple", ("None",), ("int",)), (2.0,)
    an exception -> ("raises", type, message, what is seen of it, its place in the code), ()

Equal shape and numbers mean the same output: an *atom*. NaN, infinities, None, texts and lengths are part of the shape.
Outputs are distinguished as `dpspec.verifier.observation` defines.
"""

from __future__ import annotations

import dis
import hashlib
import itertools
import math
import os
import sys
import sysconfig
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import attrs

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
def details_of(sight: Observed) -> str:
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
