"""Parameters, declared once.

A parameter of a block, mechanism or divergence is an annotated field:

    @define
    class Laplace(Mechanism):
        epsilon: Annotated[Number, Exact(low=0, open_low=True)]

The `Domain` in the annotation is the only place that knows the parameter's range. It reads and checks every value that
enters (as an attrs *converter*: validators can be switched off process-wide, converters cannot), it describes
itself for the docs, it yields the JSON schema of the spec file and the Hypothesis strategy of the tests.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import attrs

from dpspec.domains import NUMBER_SCHEMA as NUMBER_SCHEMA
from dpspec.domains import Data as Data
from dpspec.domains import Domain as Domain
from dpspec.domains import Exact as Exact
from dpspec.domains import Integer as Integer
from dpspec.domains import Items as Items
from dpspec.domains import Pairs as Pairs
from dpspec.domains import Rational as Rational
from dpspec.domains import Registered as Registered
from dpspec.domains import Text as Text
from dpspec.domains import Truth as Truth
from dpspec.domains import collect as collect
from dpspec.domains import did_you_mean as did_you_mean
from dpspec.domains import each as each
from dpspec.domains import raise_all as raise_all
from dpspec.errors import DpspecError, MissingKeyError, ParameterError, UnknownKeyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

Class = TypeVar("Class", bound=type)
Value = TypeVar("Value")


@attrs.frozen
class Nested(Domain):
    """An object of one class, given as that object or as a table of its parameters."""

    cls: type

    def read(self, value: Any, subject: str) -> Any:
        if isinstance(value, self.cls):
            return value
        if isinstance(value, Mapping):
            return build(self.cls, value, subject)
        raise ParameterError(subject, f"must be a {self.describe()}", value=value)

    def describe(self) -> str:
        return f"table of {self.cls.__name__.lower()} parameters"

    def schema(self) -> dict[str, Any]:
        return object_schema(self.cls)

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.builds(self.cls, **{p.name: p.domain.strategy() for p in parameters(self.cls) if p.required})


@attrs.frozen
class Parameter:
    """One declared parameter of a class."""

    name: str
    domain: Domain
    required: bool
    default: Any


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(attrs.field,))
def define(cls: Class) -> Class:
    """A frozen, hashable, keyword-only value class whose annotated domains read and check every field."""
    return attrs.define(cls, frozen=True, slots=True, kw_only=True, field_transformer=_install_domains)


def evolve(value: Value, **changes: Any) -> Value:
    """The same value with some parameters exchanged (each read by its domain again)."""
    return typing.cast("Value", attrs.evolve(typing.cast("Any", value), **changes))


def _install_domains(cls: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    return [_with_domain(cls, field) for field in fields]


def _with_domain(cls: type, field: attrs.Attribute[Any]) -> attrs.Attribute[Any]:
    domain = _declared_domain(cls, field)
    if domain is None:
        return field

    def convert(value: Any) -> Any:
        return domain.read(value, field.name)

    metadata = {**field.metadata, "domain": domain}
    default = field.default
    if default is not attrs.NOTHING and not isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = domain.read(default, field.name) if default is not None else None
    converter = attrs.converters.optional(convert) if default is None else convert
    return field.evolve(converter=converter, metadata=metadata)


def _declared_domain(cls: type, field: attrs.Attribute[Any]) -> Domain | None:
    if "domain" in field.metadata:
        return typing.cast("Domain", field.metadata["domain"])
    annotation = typing.get_type_hints(cls, include_extras=True)[field.name]
    for argument in _annotations(annotation):
        if isinstance(argument, Domain):
            return argument
    return None


def _annotations(annotation: Any) -> Sequence[Any]:
    """The metadata of Annotated[...], also inside ``Annotated[...] | None``."""
    if hasattr(annotation, "__metadata__"):
        return tuple(annotation.__metadata__)
    return [found for part in typing.get_args(annotation) for found in _annotations(part)]


def parameters(cls: type) -> tuple[Parameter, ...]:
    """The declared parameters of a class made by `define`, in order; none for any other class."""
    return tuple(
        Parameter(field.name, field.metadata["domain"], field.default is attrs.NOTHING, field.default)
        for field in (attrs.fields(cls) if attrs.has(cls) else ())
        if "domain" in field.metadata
    )


def build(cls: type, table: Mapping[str, Any], subject: str) -> Any:
    """Make an object from a table of its parameters; every fault of the table is reported, not the first alone.

    Raises:
        Faults, or the single fault: UnknownKeyError, MissingKeyError, ParameterError, IncompatibleBlocksError.
    """
    declared = {parameter.name: parameter for parameter in parameters(cls)}
    given = {str(key).replace("-", "_"): value for key, value in table.items()}
    faults: list[DpspecError] = [
        UnknownKeyError(f"{subject}.{key}", "is no key of this table", did_you_mean(key, declared))
        for key in given
        if key not in declared
    ]
    values: dict[str, Any] = {}
    for key, parameter in declared.items():
        if key not in given:
            if parameter.required:
                faults.append(MissingKeyError(f"{subject}.{key}", "is missing", f"give a {parameter.domain.describe()}"))
            continue
        try:
            values[parameter.name] = parameter.domain.read(given[key], f"{subject}.{key}")
        except DpspecError as fault:
            faults.extend(each(fault))
    raise_all(faults)
    return cls(**values)


def object_schema(cls: type) -> dict[str, Any]:
    """The JSON schema of a table that `build` accepts for the class."""
    declared = parameters(cls)
    return {
        "type": "object",
        "properties": {p.name: p.domain.schema() for p in declared},
        "required": [p.name for p in declared if p.required],
        "additionalProperties": False,
    }
