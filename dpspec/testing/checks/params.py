"""Checks of registered classes and of their values: parameters declared once, values frozen and hashable."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import attrs

from dpspec.domains import Domain, Items, Truth
from dpspec.errors import DpspecError
from dpspec.exact import number
from dpspec.params import Parameter, parameters
from dpspec.testing.check import ClassSubject, Context, NotApplicable, ValueSubject, check, require

CLASS, VALUE = "classes", "values"


def _declared(cls: type) -> tuple[Parameter, ...]:
    if not attrs.has(cls):
        raise NotApplicable("it declares no parameters with dpspec.define")
    return parameters(cls)


def _read(cls: type, parameter: Parameter, value: Any) -> Any:
    """The value as the class itself takes it."""
    converter = getattr(attrs.fields_dict(cls)[parameter.name], "converter", None)
    return parameter.domain.read(value, parameter.name) if converter is None else converter(value)


def _refused(cls: type, parameter: Parameter, value: Any) -> bool:
    try:
        _read(cls, parameter, value)
    except DpspecError as fault:
        require(parameter.name in str(fault), f"{parameter.name} refuses {value!r} without its name: {fault}")
        return True
    return False


def _edges(domain: Domain) -> Iterator[Any]:
    """The closed ends of a range."""
    for end, is_open in (("low", "open_low"), ("high", "open_high")):
        value = getattr(domain, end, None)
        if value is not None and not getattr(domain, is_open):
            yield value


def _outside(domain: Domain) -> Iterator[Any]:
    """Values beyond the ends of a range, and the ends that are open."""
    low, high = getattr(domain, "low", None), getattr(domain, "high", None)
    if low is not None:
        yield from (str(number(low) - 1), *([low] if domain.open_low else []))  # type: ignore[attr-defined]
    if high is not None and not number(high).is_infinite:
        yield from (str(number(high) + 1), *([high] if domain.open_high else []))  # type: ignore[attr-defined]


@check(CLASS)
def check_parameters_take_what_their_domain_says(subject: ClassSubject, context: Context) -> None:
    """Every value of a declared domain is taken, its closed ends too, and is then stored as a fixed point of reading."""
    for parameter in _declared(subject.thing):
        for value in (*context.members(parameter.domain), *_edges(parameter.domain)):
            try:
                stored = _read(subject.thing, parameter, value)
                again = _read(subject.thing, parameter, stored)
            except DpspecError as fault:
                domain = parameter.domain.describe()
                require(False, f"{parameter.name} is declared as {domain} and refuses {value!r}: {fault}")
            require(stored == again, f"{parameter.name} reads {value!r} as {stored!r}, and that as {again!r}")


@check(CLASS)
def check_parameters_refuse_what_lies_outside(subject: ClassSubject, context: Context) -> None:
    """A value outside the declared range is refused by an error that names the parameter, when the object is made."""
    for parameter in _declared(subject.thing):
        for value in _outside(parameter.domain):
            require(_refused(subject.thing, parameter, value), f"{parameter.name} takes {value!r}, outside its domain")


@check(CLASS)
def check_parameters_refuse_nan(subject: ClassSubject, context: Context) -> None:
    """NaN compares with nothing, so a budget or a scale of NaN would pass every bound. It is refused by name."""
    for parameter in _declared(subject.thing):
        value = (math.nan,) if isinstance(parameter.domain, Items) else math.nan
        require(_refused(subject.thing, parameter, value), f"{parameter.name} takes NaN")


@check(CLASS)
def check_parameters_refuse_truth_values(subject: ClassSubject, context: Context) -> None:
    """True is no number and no text: epsilon = true is a slip, not epsilon = 1. It is refused by name."""
    for parameter in _declared(subject.thing):
        if not isinstance(parameter.domain, Truth):
            require(_refused(subject.thing, parameter, True), f"{parameter.name} takes True")


@check(VALUE)
def check_values_are_frozen(subject: ValueSubject, context: Context) -> None:
    """A block cannot be changed once it is made: a verdict speaks about the object that was judged."""
    for field in attrs.fields(type(subject.thing)) if attrs.has(type(subject.thing)) else ():
        try:
            setattr(subject.thing, field.name, getattr(subject.thing, field.name))
        except AttributeError:
            continue
        require(False, f"{field.name} can be set after the object was made")


@check(VALUE)
def check_values_are_hashable_and_equal_by_value(subject: ValueSubject, context: Context) -> None:
    """Two objects with equal parameters are equal and have one hash. Laws and distances are remembered by it."""
    twin = attrs.evolve(subject.thing) if attrs.has(type(subject.thing)) else copy.copy(subject.thing)
    require(subject.thing == twin, "an object made from the same parameters is not equal")
    require(hash(subject.thing) == hash(twin), "equal objects have different hashes")
