"""Noise that code makes of uniform numbers and of signs.

**A logarithm.** -ln V has the exponential law of mean 1 where V is uniform between 0 and 1. A `Uniform` whose logarithm of U + b
is taken, where U + b is known to lie between 0 and 1, becomes such a draw, and no other operation on it is possible from then on.
So u = U - 1/2 whose sign was taken has ln(1 - 2|u|) for noise, which is the Laplace law by inversion.

**A sign.** Let two ends of a tree have one probability p and the conditions and outputs of one another with -E in place of E, for
exponential noise E of mean b. They are one end with probability 2p and L in place of E, for Laplace noise L of scale b:

    p P(E in A) + p P(-E in A) = 2p P(L in A)    for all sets A, given all other draws.

Draws are replaced only where the resulting ends hold for every value of the draws with probabilities that add up to 1, so that
they are again the ends of a tree. This is checked condition by condition, in the order of the code.

**The whole part.** floor(a E) of exponential noise E of mean b is k with probability (1 - e^(-1/s)) e^(-k/s) for s = a b, so that
a difference of two has discrete Laplace noise of scale s. It is taken for a draw of its own where nothing else depends on E.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dpspec_code.automatic.formulas import (
    ARITHMETIC,
    FLOORED,
    Affine,
    Applied,
    Condition,
    MadeDraw,
    NoiseDraw,
    NoiseFormula,
    TreeEnd,
    affine_of,
    arithmetic,
    changed,
    holes_of,
    rewritten,
)
from dpspec_code.automatic.noise import array_of, drawn_number
from dpspec_code.automatic.path import Uniform

if TYPE_CHECKING:
    from dpspec.plugin.judges import Probability

# --- what functions make of uniform numbers ---------------------------------------------------------


def of_uniform(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """function(*args) of a uniform number, or of an array of such; NotImplemented where it is not modelled."""
    answer = None if options else OF_UNIFORM.get(id(function))
    if answer is None or not args:
        return NotImplemented
    *before, last = args
    if type(last) is Uniform:
        return answer(function, *before, last)
    of_numbers = type(last) is np.ndarray and last.dtype.hasobject and isinstance(function, np.ufunc) and not before
    if not of_numbers or not last.size or any(type(one) is not Uniform for one in last.flat):
        return NotImplemented
    return array_of([answer(function, one) for one in last.flat], last.shape)


def _logarithm(function: Any, *given: Any) -> Any:
    """The natural logarithm of a number between 0 and 1: noise."""
    if len(given) != 1:
        return NotImplemented
    number: Uniform = given[0] + 1 if function in (math.log1p, np.log1p) else given[0]
    draw = number.draw
    if not number.is_between_0_and_1():
        number.refuse("was asked for a logarithm where it does not lie between 0 and 1")
    made = MadeDraw(draw.number, number.scale, number.shift, Fraction(draw.low), Fraction(draw.high))  # type: ignore[arg-type]  # exact
    if number.make(made):
        draw.path.made.append(made)
    noise = NoiseDraw(draw.number, "exponential", Fraction(1))
    sample = -1.0 if function in (math.log, math.log1p) else np.float64(-1)
    return drawn_number(draw.path, Affine(Fraction(0), ((noise, Fraction(-1)),)), sample)


def _sign(function: Any, *given: Any) -> Any:
    """Its sign, which is that of 0 with probability 0."""
    return function(-1.0 if given[0] < 0 else 1.0) if len(given) == 1 else NotImplemented


def _with_sign(function: Any, *given: Any) -> Any:
    """A plain number with its sign."""
    if len(given) != 2 or type(given[0]) not in (int, float, np.float64):
        return NotImplemented
    return function(given[0], -1.0 if given[1] < 0 else 1.0)


def _size(function: Any, *given: Any) -> Any:
    """Its absolute value."""
    if len(given) != 1:
        return NotImplemented
    return abs(given[0]).as_float() if function is math.fabs else abs(given[0]).as_scalar()


def _double(_function: Any, *given: Any) -> Any:
    """It as a double of Python's."""
    return given[0].as_float() if len(given) == 1 else NotImplemented


OF_UNIFORM: dict[int, Callable[..., Any]] = {
    id(function): answer
    for answer, functions in (
        (_logarithm, (math.log, math.log1p, np.log, np.log1p)),
        (_sign, (np.sign,)),
        (_with_sign, (math.copysign, np.copysign)),
        (_size, (math.fabs, np.abs, np.absolute, np.fabs)),
        (_double, (float,)),
    )
    for function in functions
}

# --- signs ------------------------------------------------------------------------------------------


def _draws_of(leaf: TreeEnd) -> Iterable[NoiseDraw]:
    expressions = (*(one.left for one in leaf.conditions), *holes_of(leaf.seen))
    return (noise for one in expressions for part in affine_of(one) for noise, _ in part.terms)


Ends = tuple[tuple[TreeEnd, "Probability"], ...]


def with_signs(leaves: Ends) -> Ends:
    """The ends of a tree with Laplace noise for exponential noise that has a random sign."""
    drawn = {noise for leaf, _ in leaves for noise in _draws_of(leaf) if noise.kind == "exponential"}
    for noise in sorted(drawn if len(leaves) > 1 else ()):
        leaves = _signed(leaves, noise) or leaves
    return leaves


def _signed(leaves: Ends, noise: NoiseDraw) -> Ends | None:
    """The same with one draw replaced; None where its sign is not random, or more than a sign depends on it."""
    together = NoiseDraw(noise.number, "laplace", noise.size)
    others = [(leaf, probability) for leaf, probability in leaves if noise not in _draws_of(leaf)]
    waiting: dict[Any, list[tuple[TreeEnd, Fraction]]] = {}
    found: list[tuple[TreeEnd, Probability]] = []
    for leaf, probability in leaves:
        if noise not in _draws_of(leaf):
            continue
        if not isinstance(probability, Fraction):
            return None
        plain = TreeEnd(leaf.seen, leaf.conditions)
        turned = _changed(plain, lambda one: rewritten(one, lambda part: _turned(part, noise)))
        partners = waiting.get((turned, probability))
        if partners:
            other, _ = partners.pop()
            upwards = leaf if _first_factor(plain, noise) > 0 else other
            replaced = _changed(upwards, lambda one: rewritten(one, lambda part: _with(part, noise, together)))
            found.append((replaced, 2 * probability))
        else:
            waiting.setdefault((plain, probability), []).append((leaf, probability))
    if any(waiting.values()):
        return None
    ends = (*others, *found)
    return ends if _whole([(leaf.conditions, probability) for leaf, probability in ends]) == 1 else None


def _changed(leaf: TreeEnd, change: Callable[[NoiseFormula], Any]) -> TreeEnd:
    """An end with every expression changed."""
    conditions = tuple(Condition(change(one.left), one.relation, one.holds) for one in leaf.conditions)
    return TreeEnd(changed(leaf.seen, change), conditions)


def _turned(part: Affine, noise: NoiseDraw) -> Affine:
    """An expression with -E in place of E."""
    return Affine(part.constant, tuple((one, -factor if one == noise else factor) for one, factor in part.terms))


def _with(part: Affine, noise: NoiseDraw, other: NoiseDraw) -> Affine:
    """An expression with another draw in place of one."""
    return Affine(part.constant, tuple(sorted((other if one == noise else one, factor) for one, factor in part.terms)))


def _first_factor(leaf: TreeEnd, noise: NoiseDraw) -> Fraction:
    """What a draw is multiplied by where it comes first."""
    expressions = (*(one.left for one in leaf.conditions), *holes_of(leaf.seen))
    return next(factor for one in expressions for part in affine_of(one) for other, factor in part.terms if other == noise)


def _whole(ends: Sequence[tuple[Sequence[Condition], Probability]]) -> Fraction | None:
    """The sum of the probabilities of the ends whose conditions hold, where it is constant in the values of the draws; else None.

    Ends that ask the same question first are taken together: those that go on where it holds have to add up to what those do
    that go on where it does not.
    """
    total = Fraction(0)
    asked: dict[Any, tuple[list[Any], list[Any]]] = {}
    for conditions, probability in ends:
        if not isinstance(probability, Fraction):
            return None
        if not conditions:
            total += probability
            continue
        first, *rest = conditions
        asked.setdefault((first.left, first.relation), ([], []))[first.holds].append((rest, probability))
    for sides in asked.values():
        sums = [_whole(side) for side in sides]
        if sums[0] is None or sums[0] != sums[1]:
            return None
        total += sums[0]
    return total


# --- whole parts ------------------------------------------------------------------------------------


_DOWN = ("floor", "int", "trunc")
_ROUNDING = (*_DOWN, "ceil")


def rounded_down(leaves: Ends) -> Ends:
    """The ends of a tree with draws of their own for the whole parts of exponential noise."""
    found = tuple((_changed(leaf, _with_whole_parts), probability) for leaf, probability in leaves)
    drawn = {noise for leaf, _ in found for noise in _draws_of(leaf)}
    is_new = any(noise.kind == FLOORED for noise in drawn)
    return found if is_new and len({noise.number for noise in drawn}) == len(drawn) else leaves


def _with_whole_parts(formula: Any) -> Any:
    """An expression with draws for the whole parts of exponential noise, affine where it is so then."""
    if not isinstance(formula, Applied):
        return formula
    arguments = tuple(map(_with_whole_parts, formula.arguments))
    name, first = formula.function, arguments[0]
    if name == "floordiv" and isinstance(first, Affine) and isinstance(arguments[1], Affine):
        divisor = arguments[1]
        found = None if divisor.terms or divisor.constant <= 0 else _whole_part("floor", first.scaled(1 / divisor.constant))
        return attrs.evolve(formula, arguments=arguments) if found is None else found
    if len(arguments) == 1 and isinstance(first, Affine):
        found = first if name in ("int", "float") and _is_whole(first) else _whole_part(name, first)
        return attrs.evolve(formula, arguments=arguments) if found is None else found
    if name in ARITHMETIC and all(isinstance(one, Affine) for one in arguments):
        return arithmetic(ARITHMETIC[name], *arguments)
    return attrs.evolve(formula, arguments=arguments)


def _whole_part(name: str, inside: Affine) -> Affine | None:
    """floor(a E + n) and the like for a > 0 and a whole number n, as n + a draw; None for other numbers."""
    drawn = [(noise, factor) for noise, factor in inside.terms if not noise.is_count]
    if name not in _ROUNDING or len(drawn) != 1 or drawn[0][0].kind != "exponential" or drawn[0][1] <= 0:
        return None
    ((noise, factor),) = drawn
    rest = Affine(inside.constant, tuple(term for term in inside.terms if term[0] != noise))
    if not _is_whole(rest) or (name in _DOWN[1:] and (rest.terms or rest.constant < 0)):
        return None
    made = NoiseDraw(noise.number, FLOORED, factor * noise.size)
    return rest.plus(Affine(Fraction(1 if name == "ceil" else 0), ((made, Fraction(1)),)))


def _is_whole(part: Affine) -> bool:
    """Whether it is a whole number: of counts and whole parts, with whole factors."""
    whole = all((noise.is_count or noise.kind == FLOORED) and factor.denominator == 1 for noise, factor in part.terms)
    return whole and part.constant.denominator == 1
