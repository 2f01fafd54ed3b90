"""Verdicts, witnesses and errors as JSON data and back.

Only the classes that are listed here are ever made from data, so that reading data runs no code that its writer chose.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs

from dpspec.base.errors import DpspecError, Faults, NotWritableError, error_classes
from dpspec.base.exact import Bracket, Number, number
from dpspec.extension.hooks import Provenance
from dpspec.verifier import verdict as verdicts
from dpspec.verifier.expression import Expression
from dpspec.verifier.verdict import Outcome

_CLASSES = {
    cls.__name__: cls for cls in (Bracket, Provenance, *vars(verdicts).values()) if isinstance(cls, type) and attrs.has(cls)
}
del _CLASSES["Number"], _CLASSES["Expression"]  # these are read, and so checked (`_READERS`)


@attrs.frozen(repr=False)
class DisplayedValue:
    """A value of another process that has no form in JSON: only how it is written is known.

    Args:
        text: its representation.
    """

    text: str

    def __repr__(self) -> str:
        return self.text


_WRITERS: tuple[tuple[str, type, Callable[[Any], Any]], ...] = (
    ("fraction", Fraction, str),
    ("number", Number, str),
    ("float", float, float.hex),
    ("outcome", Outcome, lambda outcome: outcome.value),
    ("expression", Expression, lambda event: event.json),
    ("displayed", DisplayedValue, lambda value: value.text),
)


def to_data(value: Any, *, displayed: bool = False) -> Any:  # noqa: PLR0911 - one end for each form
    """A verdict, a witness, or any part of one as JSON data; `from_data` gives an equal value back.

    Args:
        value: what is written.
        displayed: write a `DisplayedValue` for what has no form in JSON, instead of raising NotWritableError.

    >>> to_data((1, ("a", Fraction(1, 3)))), from_data(to_data((1, ("a", Fraction(1, 3)))))
    ([1, ['a', {'fraction': '1/3'}]], (1, ('a', Fraction(1, 3))))
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, tuple):
        return [to_data(part, displayed=displayed) for part in value]
    for tag, kind, written in _WRITERS:
        if isinstance(value, kind):
            return {tag: written(value)}
    if isinstance(value, (bool, int, str)):
        return value
    if type(value) is dict:
        return {"table": [[to_data(part, displayed=displayed) for part in pair] for pair in value.items()]}
    if type(value) is list:
        return {"list": [to_data(part, displayed=displayed) for part in value]}
    if type(value) is frozenset:
        return {"set": [to_data(part, displayed=displayed) for part in sorted(value, key=repr)]}
    if type(value) in _CLASSES.values():
        fields = {field.name: to_data(getattr(value, field.name), displayed=displayed) for field in attrs.fields(type(value))}
        return {"class": type(value).__name__, **fields}
    if displayed:
        return {"displayed": repr(value)}
    raise NotWritableError(type(value).__name__, "has no form in JSON", "use tuples of texts and numbers", value=value)


def from_data(data: Any) -> Any:
    """The object that `to_data` wrote.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, SpecSyntaxError: it wrote no such data.
    """
    if isinstance(data, list):
        return tuple(from_data(part) for part in data)
    if not isinstance(data, dict):
        return data
    if "class" in data:
        cls = _CLASSES[data["class"]]
        hints = _hints(cls)
        given = {key: from_data(part) for key, part in data.items() if key in hints}
        for key, part in given.items():
            if not _is_of(part, hints[key]):
                raise TypeError(f"{key} of {cls.__name__} cannot be {part!r}")
        return cls(**given)
    (tag, content), *_ = data.items()
    return _READERS[tag](content)


@cache
def _hints(cls: type) -> Mapping[str, Any]:
    """The fields of a class with their types."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in attrs.fields(cls)}


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type; of what tables and lists hold nothing is said."""
    kind, args = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        return any(_is_of(value, one) for one in args)
    if kind is tuple and args:
        each = args[:1] * len(value) if isinstance(value, tuple) and args[-1] is ... else args
        return isinstance(value, tuple) and len(value) == len(each) and all(map(_is_of, value, each))
    return not isinstance(kind, type) or isinstance(value, kind)


def _double(text: str) -> float:
    """A double in hexadecimal, or in decimal as files had it before."""
    return float.fromhex(text) if "x" in text else float(text)


_READERS: dict[str, Callable[[Any], Any]] = {
    "fraction": Fraction,
    "number": number,
    "float": _double,
    "outcome": Outcome,
    "expression": Expression.read,
    "displayed": DisplayedValue,
    "table": lambda pairs: {from_data(key): from_data(part) for key, part in pairs},
    "list": lambda parts: [from_data(part) for part in parts],
    "set": lambda parts: frozenset(from_data(part) for part in parts),
}


# --- errors ---------------------------------------------------------------------------------------


def error_to_data(fault: DpspecError) -> dict[str, Any]:
    """An error of dpspec as JSON data; `error_from_data` gives one of the same class and message back."""
    if isinstance(fault, Faults):
        return {"faults": [error_to_data(single) for single in fault.faults]}
    cls = type(fault)
    texts = {name: str(getattr(fault, name, "")) for name in ("subject", "rule", "advice")}
    place = {"file": fault.file, "line": fault.line}
    message = str(fault.args[0]) if fault.args else ""
    return {"error": f"{cls.__module__}.{cls.__qualname__}", "message": message, "texts": texts, "place": place}


def error_from_data(data: dict[str, Any]) -> DpspecError:
    """The error that `error_to_data` wrote; of a class that is not loaded here, an error of the base class."""
    if "faults" in data:
        return Faults([error_from_data(single) for single in data["faults"]])
    known = {f"{cls.__module__}.{cls.__qualname__}": cls for cls in error_classes()}
    message = str(data["message"])
    fault = DpspecError.__new__(known.get(data["error"], DpspecError), message)
    fault.args = (message,)
    for name in ("subject", "rule", "advice"):
        setattr(fault, name, str(data["texts"][name]))
    fault.value = None
    file, line = data["place"]["file"], data["place"]["line"]
    fault.file, fault.line = None if file is None else str(file), None if line is None else int(line)
    return fault
