"""Outputs of a black box as a *shape* (everything that is not a finite number) and the numbers in it.

Outputs are told apart as `dpspec.verify.observed` sees them.

    3.5 -> ("float",), (3.5,)        (None, 2) -> ("tuple", ("None",), ("int",)), (2.0,)
    an exception -> ("raises", type, message), ()      no end within the limit -> ("does not end",), ()

Equal shape and numbers mean the same output: an atom. NaN, infinities, None, texts and lengths are part of the shape.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import attrs
import numpy as np

from dpspec.verify.observed import Observed, UnobservableError, observed

Shape = tuple[Hashable, ...]
Atom = tuple[Shape, tuple[float, ...]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

MOST_NUMBERS = 64
"""Numbers of an output beyond this many are left out of the features (they still tell atoms apart)."""
_EXACT = 2**53
_BRACKETS = {"tuple": ("(", ")"), "list": ("[", "]"), "set": ("{", "}"), "dict": ("{", "}")}


@attrs.frozen
class Raised:
    """An exception as an output."""

    kind: str
    message: str


@attrs.frozen
class Endless:
    """A call that did not end within its limit, as an output."""


def atom(output: Any) -> Atom:
    """The shape and the numbers of one output: two outputs have one atom if and only if `observed` sees them alike.

    Of an output that cannot be compared only its type is seen.

    >>> atom((1, 0.5)), atom(float("nan"))
    ((('tuple', ('int',), ('float',)), (1.0, 0.5)), (('nan',), ()))
    """
    if type(output) is float and math.isfinite(output) and (output or math.copysign(1.0, output) > 0):
        return ("float",), (output,)
    if type(output) is int and -_EXACT < output < _EXACT:
        return ("int",), (float(output),)
    if isinstance(output, Raised):
        return ("raises", output.kind, output.message), ()
    if isinstance(output, Endless):
        return ("does not end",), ()
    try:
        return _seen(observed(output))
    except UnobservableError:
        return ("object", f"an object of type {type(output).__name__}"), ()


def outcome_atom(outcome: Any) -> Atom:
    """The atom of an outcome of a law: of a law that was read off code it is what was observed, of a stated one a plain value.

    >>> outcome_atom(observed([0, 1])) == atom([0, 1]), outcome_atom((observed(True), 2)) == atom((True, 2))
    (True, True)

    What cannot be compared as an output is told apart as the law does it, by how it is written.
    """
    if _is_sight(outcome):
        return _seen(outcome)
    shape, numbers = atom(outcome)
    return ((type(outcome).__name__, repr(outcome)), ()) if shape[0] == "object" else (shape, numbers)


def _is_sight(outcome: Any) -> bool:
    return type(outcome) is Observed or (type(outcome) is tuple and any(map(_is_sight, outcome)))


def _seen(sight: Any) -> Atom:  # noqa: PLR0911 (one line per kind of sight)
    """What was seen, with its numbers taken out."""
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
    if sight.number is None:
        return (sight.kind, sight.content, sight.text), ()
    if math.isfinite(sight.number) and (sight.number or math.copysign(1.0, sight.number) > 0):
        return (sight.kind,), (sight.number,)
    usual = sight.kind == "float" and sight == observed(float(sight.text))
    return ((sight.text,) if usual else (sight.kind, sight.content, sight.text)), ()


def _collection(kind: str, parts: Iterable[Any]) -> Atom:
    atoms = [_seen(part) for part in parts]
    return (kind, *(shape for shape, _ in atoms)), tuple(value for _, values in atoms for value in values)


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
        text = f"{value:.10g}" if "float" in str(kind) else str(int(value))
        return f"{kind}({text})" if str(kind).startswith("np.") else text
    if kind == "raises":
        return f"raises {shape[1]}" + (f" ({shape[2]})" if shape[2] else "")
    if len(shape) == 1 or all(isinstance(part, tuple) for part in shape[1:]):
        parts = [_written(part, values) for part in shape[1:] if isinstance(part, tuple)]
        plain = (f"{kind}(", ")") if parts else (str(kind), "")
        left, right = _BRACKETS.get(str(kind), plain)
        return f"{left}{', '.join(parts)}{',' if kind == 'tuple' and len(parts) == 1 else ''}{right}"
    return str(shape[-1])


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

    def kept(self, mask: Bools) -> Outcomes:
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
