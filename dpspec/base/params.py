"""Parameters, declared once, and their domains: each domain reads, checks, describes and draws its values.

A parameter of a block, mechanism or divergence is an annotated field:

    @define
    class Laplace(Mechanism):
        epsilon: Annotated[Number, Exact(low=0, open_low=True)]

The `Domain` in the annotation is the only place that knows the parameter's range. It reads and checks every value that
enters (as an attrs *converter*: validators can be switched off process-wide, converters cannot), it describes
itself for the docs, it yields the JSON schema of the spec file and the Hypothesis strategy of the tests.
"""

from __future__ import annotations

import difflib
import re
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, dataclass_transform

import attrs

from dpspec.base.errors import (
    DpspecError,
    Faults,
    MissingKeyError,
    ParameterError,
    UnknownKeyError,
    count,
    named,
    several,
    with_article,
)
from dpspec.base.exact import INFINITY, Number, NumberLike, number, rational

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class Domain(ABC):
    """The set of values that a parameter may take."""

    python = "Any"
    """The type of what may be given, as Python writes it; signatures and editors show it."""

    @abstractmethod
    def read(self, value: Any, subject: str) -> Any:
        """The value as it is stored; raises ParameterError naming `subject`."""

    def holds_all(self, values: tuple[Any, ...]) -> bool:
        """Whether all values are known to be stored as they are, found without a call for each; False where that is not known."""
        return False

    @abstractmethod
    def describe(self) -> str:
        """The domain in a few words, as in "rational in (0, 1)"."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value in a spec file."""

    @abstractmethod
    def strategy(self) -> SearchStrategy[Any]:
        """A Hypothesis strategy for values inside the domain, edges included."""


NUMBER_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
_WHOLE = (int, type(None))
"""Types of ends that are compared with a rational in integers."""


@attrs.frozen
class _Range(Domain):
    """Shared by the numeric domains: low and high ends, each closed unless said otherwise."""

    low: NumberLike | None = None
    high: NumberLike | None = None
    open_low: bool = attrs.field(default=False, kw_only=True)
    open_high: bool = attrs.field(default=False, kw_only=True)

    kind = "number"

    def _check(self, value: Number | Fraction | int, subject: str) -> None:
        if type(self.low) in _WHOLE and type(self.high) in _WHOLE and (not isinstance(value, Number) or value.is_rational):
            if not self._holds(value.rational_part if isinstance(value, Number) else value):
                self._refuse(value, subject)
            return
        if self.low is not None:
            low = number(self.low)
            if value < low or (self.open_low and value == low):
                self._refuse(value, subject)
        if self.high is not None:
            high = number(self.high)
            if value > high or (self.open_high and value == high):
                self._refuse(value, subject)

    def _holds(self, value: Fraction | int) -> bool:
        """The same for a rational and whole ends, in integers."""
        top, bottom = value.numerator, value.denominator
        if self.low is not None:
            low = cast("int", self.low) * bottom
            if top < low or (self.open_low and top == low):
                return False
        if self.high is not None:
            high = cast("int", self.high) * bottom
            if top > high or (self.open_high and top == high):
                return False
        return True

    def _refuse(self, value: object, subject: str) -> None:
        raise ParameterError(subject, f"must be {with_article(self.describe())}", value=str(value))

    def describe(self) -> str:
        if self.low is None and self.high is None:
            return self.kind
        left = "(-inf" if self.low is None else f"{'(' if self.open_low else '['}{self.low}"
        right = "inf)" if self.high is None else f"{self.high}{')' if self.open_high else ']'}"
        return f"{self.kind} in {left}, {right}"

    def schema(self) -> dict[str, Any]:
        return {**NUMBER_SCHEMA, "description": self.describe()}

    def _bounds(self) -> tuple[Fraction, Fraction]:
        """Finite ends to draw from."""
        low = Fraction(-100) if self.low is None else number(self.low).as_fraction()
        high = low + 100 if self.high is None or number(self.high) == INFINITY else number(self.high).as_fraction()
        return low, high


@attrs.frozen
class Rational(_Range):
    """An exact rational number."""

    kind = "rational"
    python = "NumberLike"

    def read(self, value: Any, subject: str) -> Fraction:
        read = value if type(value) is Fraction else rational(value, subject)
        self._check(read, subject)
        return read

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        low, high = self._bounds()
        drawn = st.fractions(low, high, max_denominator=64)
        return drawn.filter(lambda x: not (self.open_low and x == low) and not (self.open_high and x == high))


@attrs.frozen
class Exact(_Range):
    """An exact extended real: a rational, logarithms of rationals, a square root, or infinity."""

    kind = "exact number"
    python = "NumberLike"

    def read(self, value: Any, subject: str) -> Number:
        read = number(value, subject)
        self._check(read, subject)
        return read

    def strategy(self) -> SearchStrategy[Any]:
        return Rational(self.low, self.high, open_low=self.open_low, open_high=self.open_high).strategy().map(number)


@attrs.frozen
class Integer(_Range):
    """An integer."""

    kind = "integer"
    python = "int"

    def read(self, value: Any, subject: str) -> int:
        if type(value) is int:
            self._check(value, subject)
            return value
        read = rational(value, subject)
        if read.denominator != 1:
            self._refuse(value, subject)
        self._check(read, subject)
        return int(read)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "description": self.describe()}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        low, high = self._bounds()
        return st.integers(int(low) + self.open_low, int(high) - self.open_high)


@attrs.frozen
class Text(Domain):
    """A non-empty text; with `choices`, one of them; with `empty`, also the text without letters."""

    python = "str"

    choices: tuple[str, ...] = ()
    empty: bool = attrs.field(default=False, kw_only=True)

    def holds_all(self, values: tuple[Any, ...]) -> bool:
        return not self.choices and set(map(type, values)) <= {str} and (self.empty or all(values))

    def read(self, value: Any, subject: str) -> str:
        if not isinstance(value, str) or not (value or self.empty):
            raise ParameterError(subject, f"must be a {'' if self.empty else 'non-empty '}text", value=value)
        if self.choices and value not in self.choices:
            raise ParameterError(subject, f"must be {self.describe()}", did_you_mean(value, self.choices), value=value)
        return value

    def describe(self) -> str:
        return "one of " + ", ".join(self.choices) if self.choices else "text"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)} if self.choices else {"type": "string", "minLength": 0 if self.empty else 1}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.sampled_from(self.choices or ("a", "b", "household"))


@attrs.frozen
class Truth(Domain):
    """True or false."""

    python = "bool"

    def read(self, value: Any, subject: str) -> bool:
        if not isinstance(value, bool):
            raise ParameterError(subject, "must be true or false", value=value)
        return value

    def describe(self) -> str:
        return "true or false"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.booleans()


@attrs.frozen
class Items(Domain):
    """A sequence whose items lie in one domain, stored as a tuple."""

    item: Domain
    least: int = 0

    def read(self, value: Any, subject: str) -> tuple[Any, ...]:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise ParameterError(subject, f"must be {with_article(self.describe())}", value=value)
        if isinstance(value, Set):
            rule = "is a set, whose order differs from run to run"
            raise ParameterError(subject, rule, "write a list", value=sorted(map(str, value)))
        if isinstance(value, tuple) and self.item.holds_all(value) and len(value) >= self.least:
            return value
        read = collect(partial(self.item.read, entry, f"{subject}[{place}]") for place, entry in enumerate(value))
        if len(read) < self.least:
            raise ParameterError(subject, f"needs at least {count(self.least, 'item')}", value=value)
        return tuple(read)

    def describe(self) -> str:
        return f"list of {several(self.item.describe())}"

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema(), "minItems": self.least}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        item = self.item.strategy()
        if item.is_empty:  # objects, which a domain cannot draw
            return st.nothing() if self.least else st.just(())
        return st.lists(item, min_size=self.least, max_size=self.least + 3).map(tuple)


@attrs.frozen
class Pairs(Domain):
    """A table from texts to values of one domain, stored as a sorted tuple of pairs."""

    item: Domain

    def read(self, value: Any, subject: str) -> tuple[tuple[str, Any], ...]:
        pairs = value.items() if isinstance(value, Mapping) else value
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise ParameterError(subject, f"must be {with_article(self.describe())}", value=value)
        read: dict[str, Any] = {}
        for pair in pairs:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise ParameterError(subject, f"must be {with_article(self.describe())}", value=pair)
            key = str(pair[0])
            if key in read:
                raise ParameterError(subject, "names a key twice", value=key)
            read[key] = self.item.read(pair[1], f"{subject}.{key}")
        return tuple(sorted(read.items(), key=lambda pair: pair[0]))

    def describe(self) -> str:
        return f"table of {several(self.item.describe())}"

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.schema()}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.dictionaries(st.sampled_from("abc"), self.item.strategy(), max_size=2).map(
            lambda table: tuple(sorted(table.items()))
        )


@attrs.frozen
class Data(Domain):
    """A plain value of text, integers and nested lists of them, stored as nested tuples: a dataset as it is written."""

    python = "str | int | Sequence[Any]"

    def read(self, value: Any, subject: str) -> Any:
        if isinstance(value, (list, tuple)):
            return tuple(self.read(entry, f"{subject}[{place}]") for place, entry in enumerate(value))
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return value
        raise ParameterError(subject, f"must be {self.describe()}", value=value)

    def describe(self) -> str:
        return "text, an integer, or a list of them"

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "integer", "array"]}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.lists(st.integers(0, 1), max_size=3).map(tuple)


@attrs.frozen
class Registered(Domain):
    """An object of a registered kind: another block, a relation, an invariant.

    In Python it is given as that object. In a spec file it is a table with the key ``type``, which the reader
    of the file turns into the object before this domain sees it; the core itself knows no names.
    """

    kind: str

    def read(self, value: Any, subject: str) -> Any:
        if value is None or isinstance(value, (str, int, float, Mapping, list)):
            raise ParameterError(subject, f"must be {with_article(self.describe())}", value=value)
        return value

    def describe(self) -> str:
        return f"object of the kind {self.kind}"

    def schema(self) -> dict[str, Any]:
        return {"$ref": f"#/$defs/{self.kind}"}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.nothing()


def each(fault: DpspecError) -> tuple[DpspecError, ...]:
    """The single faults of an error."""
    return fault.faults if isinstance(fault, Faults) else (fault,)


def raise_all(faults: Sequence[DpspecError]) -> None:
    """Raise one fault as itself, several as `Faults`, none not at all."""
    if faults:
        raise faults[0] if len(faults) == 1 else Faults(faults)


def collect(calls: Iterable[Callable[[], Any]]) -> list[Any]:
    """The results of all calls; their faults are raised together."""
    results: list[Any] = []
    faults: list[DpspecError] = []
    for call in calls:
        try:
            results.append(call())
        except DpspecError as fault:
            faults.extend(each(fault))
    raise_all(faults)
    return results


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt name, or the list of known ones when it is short.

    >>> did_you_mean("hammming", ["hamming", "path"])
    'did you mean hamming?'
    >>> did_you_mean("eps", ["steps", "epsilon"]), did_you_mean("dataset-space", ["space", "budget"])
    ('did you mean epsilon?', 'did you mean space?')
    >>> did_you_mean("mul", ["mult", "mult-delta"])
    'did you mean mult?'
    """
    known = sorted(known)
    folded = {other: other.replace("_", "-").lower() for other in known}
    short = name.replace("_", "-").lower()
    begun = [other for other in known if len(short) > 2 and folded[other].startswith(short)]  # eps, not e
    nearly = difflib.get_close_matches(name, known, n=3, cutoff=0.85)
    close = nearly or begun[:3] or difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if not close:  # a part of the name is one, such as space in dataset-space
        close = [other for other in known if other in re.split(r"[-_ ]", name.lower())][:3]
    if close:
        return f"did you mean {' or '.join(map(named, close))}?"
    return f"known: {', '.join(map(named, known))}" if known and len(known) <= 24 else ""


# --- declared parameters, and objects from tables -------------------------------------------------


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
        raise ParameterError(subject, f"must be {with_article(self.describe())}", value=value)

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


def _without_hash(self: Any) -> None:
    object.__setattr__(self, "_attrs_cached_hash", None)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(attrs.field,))
def define(cls: Class) -> Class:
    """A frozen, hashable, keyword-only value class whose annotated domains read and check every field.

    A hash is computed once: specifications are looked up thousands of times where many are compared.
    """
    # a class may have a hash, or a step before its construction, of its own
    once = "__hash__" not in vars(cls) and getattr(cls, "__attrs_pre_init__", _without_hash) is _without_hash
    if once:  # attrs makes room for the hash only after __attrs_post_init__, which may look up the object that it checks
        cls.__attrs_pre_init__ = _without_hash  # type: ignore[attr-defined]
    return attrs.define(cls, frozen=True, slots=True, kw_only=True, cache_hash=once, field_transformer=_install_domains)


def evolve(value: Value, **changes: Any) -> Value:
    """The same value with some parameters exchanged (each read by its domain again)."""
    return typing.cast("Value", attrs.evolve(typing.cast("Any", value), **changes))


def _install_domains(cls: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    annotated = any("domain" not in field.metadata for field in fields)
    hints = typing.get_type_hints(cls, include_extras=True) if annotated else {}  # once: every annotation is compiled each time
    return [_with_domain(field, hints) for field in fields]


def _with_domain(field: attrs.Attribute[Any], hints: Mapping[str, Any]) -> attrs.Attribute[Any]:
    domain: Domain | None
    if "domain" in field.metadata:
        domain = field.metadata["domain"]
    else:
        domain = next((found for found in _annotations(hints[field.name]) if isinstance(found, Domain)), None)
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


UNKNOWN_KEYS_SHOWN = 20
"""The largest number of unknown keys of one table that are reported one by one."""


class _Failed:
    """Placeholder for an invalid value; the structurer records the fault itself."""

    def __repr__(self) -> str:
        return "FAILED"


FAILED: Final = _Failed()


class Structurer:
    """Makes objects of declared classes from plain data, parameter by parameter; no fault of a table hides another.

    `fail` takes each fault with the path of the table or value it was met at. Here faults are gathered, for `build`; the
    reader of spec files overrides it to know lines, and `value` to make registered objects of the tables inside.
    """

    def __init__(self) -> None:
        self.faults: list[DpspecError] = []

    def make(self, cls: type, table: Mapping[str, Any], path: str) -> Any:
        """An object of a class from a table of its declared parameters, or FAILED."""
        declared = {parameter.name: parameter for parameter in parameters(cls)}
        healthy = self.known_keys(table, declared, path)
        values: dict[str, Any] = {}
        for key, parameter in declared.items():
            if key in table:
                values[key] = self.value(parameter.domain, table[key], f"{path}.{key}")
            elif parameter.required:
                values[key] = self.absent(key, declared, table, path)
        if not healthy or any(value is FAILED for value in values.values()):
            return FAILED
        return self.construct(cls, values, path)

    def construct(self, cls: type, values: Mapping[str, Any], path: str) -> Any:
        """The object of read values, or FAILED when they do not fit together."""
        return self.attempt(path, lambda: cls(**values))

    def value(self, domain: Domain, value: Any, path: str) -> Any:
        """A value read by its domain, or FAILED."""
        return self.attempt(path, lambda: domain.read(value, path))

    def known_keys(self, table: Mapping[str, Any], known: Mapping[str, object], path: str) -> bool:
        """Whether all keys have a meaning; a fault with a suggestion for each that has none."""
        unknown = [key for key in table if key not in known]
        for key in unknown[:UNKNOWN_KEYS_SHOWN]:
            advice = did_you_mean(key.replace("-", "_"), known) or "remove it"
            self.fail(UnknownKeyError(f"{path}.{key}" if path else key, "is no key of this table", advice), path)
        if len(unknown) > UNKNOWN_KEYS_SHOWN:
            self.fail(UnknownKeyError(path or "file", f"has {len(unknown)} unknown keys, the first are shown"), path)
        return not unknown

    def absent(self, key: str, declared: Mapping[str, Parameter], table: Mapping[str, Any], path: str) -> Any:
        """FAILED, with a fault: a required parameter that the table does not name."""
        advice = f"give {with_article(declared[key].domain.describe())}"
        return self.fail(MissingKeyError(f"{path}.{key}", "is missing", advice), path)

    def attempt(self, path: str, call: Callable[[], Any]) -> Any:
        """The result of a call, or FAILED with its faults recorded at `path`."""
        try:
            return call()
        except DpspecError as fault:
            return self.fail(fault, path)

    def fail(self, fault: DpspecError, path: str) -> Any:
        """Record a fault of the value at `path`; a group of faults is recorded one by one."""
        self.faults.extend(each(fault))
        return FAILED


def build(cls: type, table: Mapping[str, Any], subject: str) -> Any:
    """Make an object from a table of its parameters; every fault of the table is reported, not the first alone.

    Raises:
        Faults, or the single fault: UnknownKeyError, MissingKeyError, ParameterError, IncompatibleBlocksError.
    """
    structurer = Structurer()
    made = structurer.make(cls, {str(key).replace("-", "_"): value for key, value in table.items()}, subject)
    raise_all(structurer.faults)
    return made


def object_schema(cls: type) -> dict[str, Any]:
    """The JSON schema of a table that `build` accepts for the class."""
    declared = parameters(cls)
    return {
        "type": "object",
        "properties": {p.name: p.domain.schema() for p in declared},
        "required": [p.name for p in declared if p.required],
        "additionalProperties": False,
    }


# --- what a class promises ------------------------------------------------------------------------
