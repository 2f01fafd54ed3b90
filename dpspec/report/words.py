"""Blocks, numbers and datasets in words: short enough to be read, exact where that is short."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpspec.blocks.budget import Budget
from dpspec.blocks.multiverse import Multiverse
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.exact import Bracket, Number
from dpspec.forms import ending_decimal
from dpspec.numbers import LONGEST_EXACT
from dpspec.params import parameters
from dpspec.plural import count
from dpspec.spec import PrivacySpec


def number_in_words(value: Number | Fraction | int) -> str:
    """An exact number as people write it.

    >>> from dpspec.exact import ln, number, sqrt
    >>> [number_in_words(value) for value in (number("263/100"), ln(3), sqrt("2.63"), number("1/3"))]
    ['2.63', 'ln(3) (about 1.09861)', 'sqrt(263/100) (about 1.62173)', '1/3 (about 0.333333)']
    """
    if not isinstance(value, Number):
        value = Number(rational_part=Fraction(value))
    if value.is_infinite:
        return "infinity"
    if value.is_rational:
        short = ending_decimal(value.as_fraction())
        if short is not None and len(short) <= LONGEST_EXACT:
            return short
    exact = str(value)
    approximate = f"about {value.decimal()}"
    return f"{exact} ({approximate})" if len(exact) <= LONGEST_EXACT else approximate


def bracket_in_words(value: Bracket) -> str:
    """An exact value as itself; a bracket by the digits that both its ends share.

    >>> bracket_in_words(Bracket.exactly("1/4"))
    '0.25'
    """
    if value.is_exact:
        return number_in_words(value.lower)
    if value.upper.is_infinite:
        return f"at least {value.lower.decimal()}"
    low, high = value.lower.decimal(9), value.upper.decimal(9)
    return f"about {value.lower.decimal()}" if low == high else f"between {low} and {high}"


def probability_in_words(value: Bracket) -> str:
    """A probability: as a fraction where that is short.

    >>> probability_in_words(Bracket.exactly("3/4"))
    '3/4'
    """
    exact = str(value.lower)
    return exact if value.is_exact and len(exact) <= LONGEST_EXACT else bracket_in_words(value)


# --- blocks --------------------------------------------------------------------------------------


def thing_in_words(thing: object) -> str:
    """A block as it describes itself, else its registered name with its parameters."""
    if type(thing).__str__ is not object.__str__:
        return str(thing)
    name = str(getattr(thing, "name", type(thing).__name__))
    declared = parameters(type(thing))
    given = [(p.name, getattr(thing, p.name)) for p in declared if p.required or getattr(thing, p.name) != p.default]
    return name if not given else f"{name} ({', '.join(f'{key} {value_in_words(value)}' for key, value in given)})"


def value_in_words(value: Any) -> str:
    """The value of a parameter."""
    if isinstance(value, (Number, Fraction)):
        return number_in_words(value)
    if isinstance(value, tuple):
        return "; ".join(value_in_words(entry) for entry in value)
    if isinstance(value, Attribute):
        return attribute_in_words(value)
    return str(value) if isinstance(value, (str, int)) else thing_in_words(value)


def attribute_in_words(attribute: Attribute) -> str:
    """An attribute with the number of its categories."""
    return f"{attribute.name} ({attribute.size:,})"


def space_in_words(space: DatasetSpace) -> list[str]:
    """A dataset space: its kind, its size, and the attributes of its units."""
    lines = [space.name.replace("-", " ") + space.extent()]
    seen: set[str] = set()
    for unit in reversed(space.units) if len(space.units) > 1 else space.units:
        attributes = space.own_attributes(unit)
        if attributes and unit not in seen:
            seen.add(unit)
            lines.append(f"{unit}: {', '.join(attribute_in_words(a) for a in attributes)}")
    return lines


def multiverse_in_words(multiverse: Multiverse) -> list[str]:
    """The universes; invariants one by one."""
    held = multiverse.invariants
    if not held:
        return [thing_in_words(multiverse)]
    return [f"datasets that agree on {count(len(held), 'invariant')}:", *(f"- {invariant}" for invariant in held)]


def budget_in_words(budget: Budget) -> str:
    """The budget with the name of its number."""
    value = budget.uniform()
    return thing_in_words(budget) if value is None else f"{budget.parameter} = {number_in_words(value)}"


def blocks_in_words(spec: PrivacySpec) -> dict[str, list[str]]:
    """The five blocks, each as lines."""
    budget = [budget_in_words(spec.budget)]
    value = spec.budget.uniform()
    if value is not None:
        constant = spec.output_divergence.lipschitz(spec.budget.parameter, value)
        if constant != value:
            budget.append(f"Lipschitz constant {number_in_words(constant)}")
    return {
        "dataset space": space_in_words(spec.space),
        "multiverse": multiverse_in_words(spec.multiverse),
        "input divergence": [thing_in_words(spec.input_divergence)],
        "output divergence": [thing_in_words(spec.output_divergence)],
        "budget": budget,
    }


# --- datasets ------------------------------------------------------------------------------------


def pair_in_words(left: Dataset, right: Dataset, space: DatasetSpace) -> tuple[str, str]:
    """Two datasets, with all values of their records.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> pair_in_words((("f",), ("f",)), (("f",), ("m",)), UnorderedRecords(attributes=(sex,)))
    ('2 x (sex f)', '(sex f), (sex m)')
    """
    return space.in_words(left, right)
