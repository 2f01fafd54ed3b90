"""Conformance checks, and their arguments.

A check is a function ``check_<property>(subject, context)``. It returns nothing, or a text to report; or it raises
`CheckFailedError`, or `NotApplicable` with the reason. Its docstring says the property, where it comes from, and what a failure
means. Its subjects are chosen by their kind and by what their class declares about itself (`is_metric`, ...), never by name.

Subjects are objects built from the declared parameters of registered classes, on small spaces that they fit.

A class may say itself what it wants to be checked with: ``examples()``, a class method that yields objects of the class, or pairs
(object, space). Without it a few values of every declared domain are combined; texts are names that the space knows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from random import Random
from typing import Any, TypeVar
from unittest import SkipTest

import attrs
from hypothesis import HealthCheck, Phase, given, settings

from dpspec.base.errors import DpspecError
from dpspec.base.exact import Number
from dpspec.base.params import Domain, Items, Nested, Pairs, Parameter, Registered, Text, parameters
from dpspec.blocks.parts import listed_cells
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.extension.hooks import Entry, Registry
from dpspec.extension.loader import PluginInfo
from dpspec.report.terminal import thing_in_words

PRECISION = 128
"""Bits at which two numbers without a common exact form are compared."""


class CheckFailedError(AssertionError):
    """The subject lacks the property."""


class NotApplicable(SkipTest):
    """The check does not apply to the subject; states the reason. A test runner treats it as a skip."""


# --- subjects ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PluginSubject:
    """A plugin as a whole.

    Args:
        info: what became of it when it was loaded.
        module: the module (or object) with its hooks; None when it could not be imported.
        importable: the name under which a fresh interpreter can import it; None for an object made in a test.
    """

    info: PluginInfo
    module: Any
    importable: str | None

    def __str__(self) -> str:
        return self.info.provenance.plugin


@attrs.frozen(kw_only=True)
class ClassSubject:
    """A registered class."""

    entry: Entry

    @property
    def thing(self) -> type:
        """The object whose tags are used."""
        cls: type = self.entry.cls
        return cls

    def __str__(self) -> str:
        return self.entry.name


@attrs.frozen(kw_only=True)
class ValueSubject:
    """An object of a registered class, built from its declared parameters."""

    thing: Any

    def __str__(self) -> str:
        return thing_in_words(self.thing)


@attrs.frozen(kw_only=True)
class PlacedSubject:
    """An object on a small space that it fits.

    Args:
        thing: an input divergence, an invariant or a mechanism.
        space: the space.
        datasets: all datasets of the space.
        compared: those of which all pairs, triples and laws are checked.
    """

    thing: Any
    space: DatasetSpace
    datasets: tuple[Dataset, ...]
    compared: tuple[Dataset, ...]

    def pairs(self) -> Iterator[tuple[Dataset, Dataset]]:
        """All ordered pairs of compared datasets, equal ones too."""
        return ((left, right) for left in self.compared for right in self.compared)

    def __str__(self) -> str:
        return f"{thing_in_words(self.thing)} on {thing_in_words(self.space)}"


# --- context -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Context:
    """The resources of a check in addition to its subject.

    Args:
        registry: everything that is registered.
        level: "fast", or "full" for more examples and for checks that draw samples.
        placed: all objects of a kind that fit a space.
        values: objects of a kind, without a space.
        members: a few values of a parameter's domain.
    """

    registry: Registry
    level: str
    placed: Callable[[str, DatasetSpace], tuple[Any, ...]]
    values: Callable[[str], tuple[Any, ...]]
    members: Callable[[Domain], list[Any]]

    def times(self, fast: int, full: int | None = None) -> int:
        """The number of examples to draw; in full ten times as many, unless it is given."""
        return fast if self.level == "fast" else 10 * fast if full is None else full

    def random(self, name: str) -> Random:
        """A source of examples that is the same in every run."""
        return Random(name)


def require(condition: bool, message: str) -> None:
    """Fail the check with a message."""
    if not condition:
        raise CheckFailedError(message)


def exceeds_times(left: Number, factor: Number, right: Number) -> bool:
    """Whether left > factor x right with certainty; False when the enclosures overlap."""
    if factor == 0 or right == 0:
        return left > 0
    if factor.is_infinite or right.is_infinite:
        return False
    return left.is_infinite or bool(left.enclose(PRECISION) > factor.enclose(PRECISION) * right.enclose(PRECISION))


def exceeds(left: Number, *terms: Number) -> bool:
    """Whether left > the sum of the terms with certainty; False when the enclosures overlap."""
    if any(term.is_infinite for term in terms):
        return False
    if left.is_infinite:
        return True
    total = sum((term.enclose(PRECISION) for term in terms[1:]), terms[0].enclose(PRECISION))
    return bool(left.enclose(PRECISION) > total)


# --- checks --------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Check:
    """A check with the subjects that it is meant for.

    Args:
        name: the name of its function.
        kind: the kind of its subjects.
        call: the function.
        when: what the class of the subject must declare as true; "" for every class.
        level: "full" for a check that is not part of the fast run.
    """

    name: str
    kind: str
    call: Callable[[Any, Context], str | None]
    when: str = ""
    level: str = "fast"

    def excluded(self, subject: Any) -> str:
        """The reason why the check does not apply to a subject; "" when it applies."""
        if self.when and not getattr(subject.thing, self.when):
            return f"{self.when} is false"
        return ""


CheckFunction = TypeVar("CheckFunction", bound=Callable[[Any, Context], str | None])
_ALL: dict[str, Check] = {}


def check(kind: str, *, when: str = "", level: str = "fast") -> Callable[[CheckFunction], CheckFunction]:
    """Make a function a check of a kind of subjects."""

    def declare(function: CheckFunction) -> CheckFunction:
        name = function.__name__
        if not name.startswith("check_") or not function.__doc__ or name in _ALL:
            raise DpspecError("check", "needs a name check_... of its own and a docstring", value=name)
        _ALL[name] = Check(name=name, kind=kind, call=function, when=when, level=level)
        return function

    return declare


def declared_checks() -> tuple[Check, ...]:
    """Every check that has been declared, in order."""
    return tuple(_ALL.values())


# --- examples of a class --------------------------------------------------------------------------


def examples(cls: type) -> list[Any]:
    """The examples of the class: objects of it, or pairs (object, space)."""
    given: Callable[[], Iterable[Any]] | None = getattr(cls, "examples", None)
    return [] if given is None else list(given())


def example_objects(cls: type) -> list[Any]:
    """The objects among its examples, on whatever space.

    >>> example_objects(int)
    []
    """
    return [example[0] if isinstance(example, tuple) else example for example in examples(cls)]


# --- building subjects ----------------------------------------------------------------------------


MOST_DATASETS = 40
COMPARED = {"fast": 10, "full": MOST_DATASETS}
"""The number of datasets of a space whose pairs and triples are checked, at each level."""
MOST_VALUES = 3
"""Values tried for each parameter, and objects kept of each class on each space."""


@cache
def small_spaces() -> tuple[DatasetSpace, ...]:
    """One small space of each structure, each with few enough datasets to look at all triples."""
    sex, place = Attribute(name="sex", categories=("f", "m")), Attribute(name="place", categories=("a", "b"))
    return (
        BitVectors(length=2),
        IntegerCounts(length=1, low=0, high=3),
        OrderedRecords(attributes=(sex,), most=2),
        UnorderedRecords(attributes=(sex, place), least=1, most=2),
        ContingencyTables(attributes=(sex, place), most=2),
        Households(household=(place,), person=(sex,), most=1, members=2),
    )


@attrs.define(kw_only=True)
class Subjects:
    """Builds subjects; what it has built it keeps.

    Args:
        registry: where the objects that are parameters of others come from.
        level: "fast", or "full" to compare all datasets of a space with each other.
    """

    registry: Registry
    level: str = "full"
    _built: dict[tuple[type, DatasetSpace | None], tuple[Any, ...]] = attrs.field(factory=dict)
    _nested: dict[tuple[type, DatasetSpace | None], list[Any]] = attrs.field(factory=dict)
    _drawn: dict[tuple[type, str], list[Any]] = attrs.field(factory=dict)

    def spaces(self) -> tuple[DatasetSpace, ...]:
        """The small spaces, and the examples that registered spaces give of themselves."""
        own = [
            space for entry in self.registry.usable("spaces") for space in examples(entry.cls) if isinstance(space, DatasetSpace)
        ]
        return tuple(dict.fromkeys([*small_spaces(), *(space for space in own if _is_small(space))]))

    def values(self, kind: str) -> tuple[Any, ...]:
        """Objects of every class of a kind."""
        return tuple(thing for entry in self.registry.usable(kind) for thing in self.objects(entry))

    def placed(self, kind: str, space: DatasetSpace) -> tuple[Any, ...]:
        """Objects of every class of a kind that fit the space."""
        return tuple(thing for entry in self.registry.usable(kind) for thing in self.on(entry.cls, space))

    def objects(self, entry: Entry) -> tuple[Any, ...]:
        """Objects of one registered class, on no particular space."""
        built = example_objects(entry.cls) or [thing for space in (None, *small_spaces()) for thing in self.on(entry.cls, space)]
        return tuple(dict.fromkeys(_hashable(built)))[: 2 * MOST_VALUES]

    def value_subjects(self, entry: Entry) -> Iterator[ValueSubject]:
        return (ValueSubject(thing=thing) for thing in self.objects(entry))

    def space_subjects(self, entry: Entry) -> Iterator[ValueSubject]:
        """The small spaces of one registered class; those that its parameters make, where it gives no examples."""
        given = [space for space in self.spaces() if type(space) is entry.cls]
        made = given or [space for space in self.on(entry.cls, None) if _is_small(space)]
        return (ValueSubject(thing=space) for space in made)

    def plain_subjects(self, entry: Entry) -> Iterator[ValueSubject]:
        """The object of a class that takes no parameters."""
        yield ValueSubject(thing=entry.cls())

    def placed_subjects(self, entry: Entry) -> Iterator[PlacedSubject]:
        """Objects of one registered class, each on every small space that it fits."""
        for space in self.spaces():
            for thing in self.on(entry.cls, space):
                yield self._placed(thing, space)
        for example in examples(entry.cls):
            if isinstance(example, tuple):
                yield self._placed(*example)

    def _placed(self, thing: Any, space: DatasetSpace) -> PlacedSubject:
        datasets = tuple(itertools.islice(space.datasets(), MOST_DATASETS))
        return PlacedSubject(thing=thing, space=space, datasets=datasets, compared=_spread(datasets, COMPARED[self.level]))

    def on(self, cls: type, space: DatasetSpace | None) -> tuple[Any, ...]:
        """Objects of a class that fit a space (any objects, for None)."""
        key = cls, space
        if key not in self._built:
            self._built[key] = ()  # a class that is a parameter of itself ends here
            given = [example for example in examples(cls) if not isinstance(example, tuple)]
            made = given or self._combined(cls, space)
            fitting = (thing for thing in made if space is None or _fits(thing, space))
            self._built[key] = tuple(itertools.islice(fitting, MOST_VALUES))
        return self._built[key]

    def _combined(self, cls: type, space: DatasetSpace | None) -> Iterator[Any]:
        """The required parameters alone; when that gives nothing that fits, one optional parameter more."""
        if not attrs.has(cls):  # no class of declared parameters
            return
        declared = parameters(cls)
        required = [p for p in declared if p.required]
        found = False
        for chosen in ([], *([p] for p in declared if not p.required)):
            for thing in self._products(cls, [*required, *chosen], space):
                found = found or space is None or _fits(thing, space)
                yield thing
            if found:
                return

    def _products(self, cls: type, chosen: list[Parameter], space: DatasetSpace | None) -> Iterator[Any]:
        columns = [[(p.name, value) for value in self._domain(p.domain, space)] for p in chosen]
        for combination in itertools.islice(itertools.product(*columns), 10 * MOST_VALUES):
            try:
                yield cls(**dict(combination))
            except DpspecError:  # the parameters do not go together
                continue

    def members(self, domain: Domain) -> list[Any]:
        """A few values of a domain."""
        return self._domain(domain, None)

    def _domain(self, domain: Domain, space: DatasetSpace | None) -> list[Any]:
        """A few values of a domain, such as they make sense on the space."""
        if isinstance(domain, Registered):
            return [thing for entry in self.registry.usable(domain.kind) for thing in self.on(entry.cls, space)][
                : 2 * MOST_VALUES
            ]
        if isinstance(domain, Nested):
            if (domain.cls, space) not in self._nested:
                made = self._combined(domain.cls, space)
                self._nested[domain.cls, space] = list(itertools.islice(made, MOST_VALUES))
            return self._nested[domain.cls, space]
        if isinstance(domain, Items):
            lengths = {max(1, domain.least, length) for length in (1, 1 if space is None else len(listed_cells(space) or "1"))}
            return [(value,) * length for length in sorted(lengths) for value in self._domain(domain.item, space)]
        if isinstance(domain, Pairs):
            return [()]
        if isinstance(domain, Text) and not domain.choices:  # texts that mean something on the space
            units = () if space is None else space.units
            names = () if space is None else (a.name for unit in units for a in space.attributes_of(unit))
            return list(dict.fromkeys((*units, *names))) or ["person"]
        key = type(domain), repr(domain)  # a plugin's domain may have no hash
        if key not in self._drawn:
            self._drawn[key] = drawn(domain)
        return self._drawn[key]


def _hashable(things: Iterable[Any]) -> Iterator[Any]:
    for thing in things:
        try:
            hash(thing)
        except TypeError:
            continue
        yield thing


def _fits(thing: Any, space: DatasetSpace) -> bool:
    try:
        thing.check(space)
    except DpspecError:
        return False
    except AttributeError:  # nothing to fit
        return True
    return True


def _is_small(space: DatasetSpace) -> bool:
    size = space.cardinality()
    return size is not None and size <= MOST_DATASETS


def _spread(datasets: tuple[Dataset, ...], most: int) -> tuple[Dataset, ...]:
    """So many datasets: half of them the first ones, which are neighbours of each other, the others spread up to the last.

    >>> _spread(tuple(range(40)), 6), _spread((1, 2), 6)
    ((0, 1, 2, 14, 27, 39), (1, 2))
    """
    if len(datasets) <= most:
        return datasets
    first, others = most // 2, most - most // 2
    step = (len(datasets) - first) / others
    return (*datasets[:first], *(datasets[first - 1 + round(step * place)] for place in range(1, others + 1)))


def drawn(domain: Domain, amount: int = MOST_VALUES) -> list[Any]:
    """Different values of a domain; the same in every run. Simple ones come first."""
    found: list[Any] = []
    quiet = settings(
        derandomize=True, database=None, deadline=None, max_examples=20, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    @quiet
    @given(domain.strategy())
    def gather(value: Any) -> None:
        if value not in found:
            found.append(value)

    gather()
    return found[:amount]
