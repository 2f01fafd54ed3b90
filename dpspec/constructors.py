"""Everything that a specification file can name, made in Python by the same name: ``dpspec.laplace(...)``.

A constructor takes the parameters of the file, by their names; hyphens of a registered name are underscores here. Where a file
accepts a text or a table for a block, a relation or an invariant, so does Python; one object may replace a list of one object.
`spec` puts five blocks together.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from functools import cache, partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import attrs

from dpspec.base.errors import (
    IncompatibleBlocksError,
    MissingKeyError,
    ParameterError,
    UnknownKeyError,
    UnknownNameError,
    with_article,
)
from dpspec.base.exact import INFINITY, Number, NumberLike
from dpspec.base.lazy import at
from dpspec.base.params import (
    FAILED,
    Domain,
    Items,
    Nested,
    Pairs,
    Parameter,
    Registered,
    Structurer,
    Text,
    collect,
    did_you_mean,
    parameters,
    raise_all,
)
from dpspec.blocks.budget import Budget, UniformBudget
from dpspec.blocks.input_divergence import InputDivergence, Relation
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.extension.hooks import BASES, Entry, Registry, singular
from dpspec.extension.loader import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.report.explain import described_parameters, folded, glossary, prose

if TYPE_CHECKING:
    from dpspec.blocks.invariant import Invariant
    from dpspec.grammar.flavour import Flavour

KINDS = (
    "spaces", "multiverses", "invariants", "relations", "input_divergences", "output_divergences", "budgets", "mechanisms",
    "flavours", "attackers", "tolerances",
)  # fmt: skip
"""The kinds of things that have constructors."""
BY_KIND = {singular(kind).replace(" ", "_"): kind for kind in KINDS if kind != "budgets"}
"""The constructors of any name, by kind: ``mechanism("laplace", ...)``."""
GROUPS = tuple(kind for kind in KINDS if kind != "invariants")
"""The kinds whose constructors are also grouped: ``mechanisms.laplace``. The name ``invariants`` is that of a multiverse."""


# --- one thing by its name ------------------------------------------------------------------------


def names() -> tuple[str, ...]:
    """The constructors of the installed plugins, and the groups of those of one kind."""
    return tuple(sorted({*_by_name(), *BY_KIND, *GROUPS}))


class Group:
    """The constructors of one kind, such as ``dpspec.mechanisms``.

    ``dpspec.mechanisms.laplace`` makes what ``dpspec.laplace`` makes.
    `dir` lists them, and printing the group shows each with what it makes.

    >>> import dpspec as dp
    >>> dp.mechanisms.geometric(queries=dp.marginal(attributes="colour"), ratio="1/2") == dp.geometric(
    ...     queries=dp.marginal(attributes="colour"), ratio="1/2"
    ... )
    True
    >>> "add_remove" in dir(dp.relations), repr(dp.relations).splitlines()[0]
    (True, 'dpspec.relations')
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def _entries(self) -> dict[str, Entry]:
        """By name; where two plugins have registered one, the first, and making the thing is refused as it is in a file."""
        found = ((name, entry) for name, entries in sorted(_by_name().items()) for entry in reversed(entries))
        return {name: entry for name, entry in found if entry.kind == self._kind}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        entries = self._entries()
        if name not in entries:
            advice = did_you_mean(name, entries) or f"known: {', '.join(entries)}"
            raise AttributeError(f"dpspec.{self._kind} has no {name!r}: {advice}")
        return _of_entry(entries[name])

    def __dir__(self) -> list[str]:
        return list(self._entries())

    def __repr__(self) -> str:
        entries = self._entries()
        width = max(map(len, entries), default=0)
        lines = (f"  {name:{width}}  {prose(entry.cls).strip().splitlines()[0]}" for name, entry in entries.items())
        return "\n".join([f"dpspec.{self._kind}", *lines])


@cache
def _by_name() -> Mapping[str, tuple[Entry, ...]]:
    found: dict[str, tuple[Entry, ...]] = {}
    for entry in installed().registry:
        if entry.kind in KINDS:
            name = entry.name.replace("-", "_")
            found[name] = (*found.get(name, ()), entry)
    return found


@cache
def constructor(name: str) -> Callable[..., Any] | Group:
    """The constructor, or the group of constructors, that goes by a name.

    Raises:
        AttributeError: there is none, or the name means several things.
    """
    if name in GROUPS:
        return Group(name)
    if name in BY_KIND:
        return _of_kind(name, BY_KIND[name])
    entries = _by_name().get(name, ())
    if len(entries) != 1:
        kinds = " and ".join(sorted(singular(entry.kind) for entry in entries))
        advice = f"is the name of a {kinds}: write the kind first, as in mechanism({name!r})" if entries else "is not registered"
        raise AttributeError(f"{name} {advice}")
    return _of_entry(entries[0])


def _of_entry(entry: Entry) -> Callable[..., Any]:
    name, registry = entry.name.replace("-", "_"), installed().registry

    def make(*wrong: Any, **given: Any) -> Any:
        return made(entry.kind, entry.name, given, name, wrong)

    cls = entry.cls
    make.__name__ = make.__qualname__ = name
    make.__module__ = "dpspec"
    make.__signature__ = signature(cls)  # type: ignore[attr-defined]
    make.__doc__ = documentation(cls, registry)
    return make


def _of_kind(word: str, kind: str) -> Callable[..., Any]:
    def make(name: str, /, **given: Any) -> Any:
        return made(kind, name, given, word)

    make.__name__ = make.__qualname__ = word
    make.__module__ = "dpspec"
    shown = singular(kind)
    make.__doc__ = f"A registered {shown} by its name, with its parameters: what the constructor of that name makes.\n\n" + (
        f"Args:\n    name: {', '.join(installed().registry.names(kind))}.\n    given: its parameters; `dpspec.explain(name)` "
        "says what they mean.\n"
    )
    return make


def made(kind: str, name: str, given: Mapping[str, Any], subject: str, wrong: Sequence[Any] = ()) -> Any:
    """A registered thing with its parameters; every fault of them together.

    Raises:
        UnknownNameError, UnknownKeyError, MissingKeyError, ParameterError, IncompatibleBlocksError, or several as `Faults`.
    """
    if wrong:
        known = ", ".join(f"{p.name}=..." for p in parameters(installed().registry.get(kind, name)))
        raise ParameterError(subject, "takes its parameters by their names", f"write {subject}({known})")
    constructing = _Constructing(installed().registry)
    found = constructing.registered(kind, {"type": name, **given}, subject)
    raise_all(constructing.faults)
    return found


class _Constructing(Structurer):
    """Makes objects of what a user gives: objects, texts, tables, and one thing where a list is wanted."""

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self.registry = registry

    def registered(self, kind: str, value: Any, path: str) -> Any:
        """An object as it is; a name, or a table with the key ``type``, as what goes by that name."""
        if isinstance(value, str):
            value = {"type": value}
        if not isinstance(value, Mapping):
            return value
        name = value.get("type")
        if not isinstance(name, str):
            return self.fail(MissingKeyError(f"{path}.type", "is missing", f"name a registered {singular(kind)}"), path)
        cls = self.attempt(path, lambda: self.registry.get(kind, name.replace("_", "-")))
        if cls is FAILED:
            return FAILED
        optional = {p.name for p in parameters(cls) if not p.required and p.default is None}
        optional |= {"attributes"} if _takes_attributes(cls) else set()
        table = {key: entry for key, entry in value.items() if key != "type" and not (entry is None and key in optional)}
        return self.make(cls, _with_attributes(cls, table, path, self), path)

    def value(self, domain: Domain, value: Any, path: str) -> Any:
        prepared = self._prepared(domain, value, path)
        return FAILED if prepared is FAILED else super().value(domain, prepared, path)

    def known_keys(self, table: Mapping[str, Any], known: Mapping[str, object], path: str) -> bool:
        unknown = [key for key in table if key not in known]
        for key in unknown:
            advice = did_you_mean(key, known) or "leave it out"
            self.fail(UnknownKeyError(f"{path}({key})", "is no parameter", advice), path)
        return not unknown

    def absent(self, key: str, declared: Mapping[str, Parameter], table: Mapping[str, Any], path: str) -> Any:
        if key in difflib.get_close_matches(key, [given for given in table if given not in declared], n=1):
            return FAILED
        return self.fail(
            MissingKeyError(f"{path}({key})", "is missing", f"give {with_article(declared[key].domain.describe())}"), path
        )

    def _prepared(self, domain: Domain, value: Any, path: str) -> Any:
        if isinstance(domain, Registered):
            return self.registered(domain.kind, value, path)
        if isinstance(domain, Nested) and isinstance(value, Mapping):
            return self.make(domain.cls, value, path)
        if isinstance(domain, Items):
            return self._listed(domain, value, path)
        if isinstance(domain, Pairs) and isinstance(value, Mapping):
            return self._all({key: (domain.item, entry, f"{path}.{key}") for key, entry in value.items()})
        return value

    def _listed(self, domain: Items, value: Any, path: str) -> Any:
        item = domain.item
        if isinstance(item, Nested) and item.cls is Attribute and isinstance(value, Mapping):
            value = [_attribute(name, said) for name, said in value.items()]
        if isinstance(value, str) if isinstance(item, Text) else _is_one(item, value):
            value = [value]
        if isinstance(value, (str, Mapping, Set)) or not isinstance(value, Iterable):
            return value
        held = self._all({place: (item, entry, f"{path}[{place}]") for place, entry in enumerate(value)})
        return FAILED if held is FAILED else tuple(held.values())

    def _all(self, entries: Mapping[Any, tuple[Domain, Any, str]]) -> Any:
        found = {key: self._prepared(*entry) for key, entry in entries.items()}
        return FAILED if any(entry is FAILED for entry in found.values()) else found


def _is_one(item: Domain, value: Any) -> bool:
    """Whether a value is one object, or a short form of one, where a list of such objects is expected."""
    if isinstance(item, Registered):
        return isinstance(value, (str, Mapping, at(BASES[item.kind])))
    return isinstance(item, Nested) and isinstance(value, (item.cls, Mapping))


def _attribute(name: Any, said: Any) -> Any:
    """An attribute by its name: how many categories it has, or which, whole numbers as the texts that they are written as."""
    if isinstance(said, Attribute):
        return attrs.evolve(cast("Any", said), name=name)
    if isinstance(said, Mapping):
        return {"name": name, **said}
    if isinstance(said, int) and not isinstance(said, bool):
        return {"name": name, "count": said}
    if isinstance(said, Iterable) and not isinstance(said, (str, Set)):
        said = [str(one) if isinstance(one, Integral) and not isinstance(one, bool) else one for one in said]
    return {"name": name, "categories": said}


def _takes_attributes(cls: type) -> bool:
    """Whether the attributes of a space may be given one by one, by their own names."""
    domain = next((p.domain for p in parameters(cls) if p.name == "attributes"), None)
    return isinstance(domain, Items) and isinstance(domain.item, Nested) and domain.item.cls is Attribute


def _with_attributes(cls: type, table: Mapping[str, Any], path: str, structurer: Structurer) -> Mapping[str, Any]:
    """``records(colour=10)``: what is no parameter is an attribute, unless it looks like a misspelt parameter."""
    declared = {p.name for p in parameters(cls)}
    further = {key: value for key, value in table.items() if key not in declared}
    if not further or not _takes_attributes(cls) or "attributes" in table:
        return table
    plain = {key: value for key, value in table.items() if key in declared}
    for key in further:
        if close := difflib.get_close_matches(key, declared, n=1, cutoff=0.75):
            advice = f"did you mean {close[0]}? As the name of an attribute write attributes={{{key!r}: ...}}"
            structurer.fail(UnknownKeyError(f"{path}({key})", "is like the name of a parameter", advice), path)
    return {**plain, "attributes": further}


# --- what a constructor says of itself ------------------------------------------------------------


class _Written(str):
    """A text that a signature shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def signature(cls: type) -> inspect.Signature:
    """The parameters of a constructor, each with its type and default."""
    taken = [
        inspect.Parameter(
            p.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if p.required else _default(p.default),
            annotation=_Written(python_type(p.domain, optional=not p.required and p.default is None)),
        )
        for p in parameters(cls)
    ]
    if _takes_attributes(cls):
        loose = [p.replace(default=None) if p.name == "attributes" else p for p in taken]
        further = inspect.Parameter("named", inspect.Parameter.VAR_KEYWORD, annotation=_Written("int | Sequence[str | int]"))
        taken = [*loose, further]
    return inspect.Signature(taken, return_annotation=_Written(cls.__name__))


def _default(value: Any) -> Any:
    if isinstance(value, (Number, Fraction)):
        return _Written(value)
    if isinstance(value, tuple) and any(isinstance(entry, (Number, Fraction)) for entry in value):
        return _Written(f"({', '.join(map(str, value))}{',' if len(value) == 1 else ''})")
    return value if value is None or isinstance(value, (str, int, tuple)) else _Written(value)


def python_type(domain: Domain, *, optional: bool = False) -> str:
    """The type of what a parameter may be given, as Python writes it.

    >>> from dpspec.base.params import Rational
    >>> python_type(Items(Rational(0, 1)))
    'Sequence[NumberLike]'
    """
    found = _type(domain)
    return f"{found} | None" if optional else found


def _type(domain: Domain) -> str:
    if isinstance(domain, Registered):
        return f"{at(BASES[domain.kind]).__name__} | str | Mapping[str, Any]"
    if isinstance(domain, Nested):
        return f"{domain.cls.__name__} | Mapping[str, Any]"
    if isinstance(domain, Items):
        item = _type(domain.item)
        attributes = (
            "Mapping[str, int | Sequence[str | int]] | "
            if isinstance(domain.item, Nested) and domain.item.cls is Attribute
            else ""
        )
        one = f"{item} | " if isinstance(domain.item, (Registered, Nested, Text)) else ""
        return f"{attributes}{one}Sequence[{item}]"
    if isinstance(domain, Pairs):
        return f"Mapping[str, {_type(domain.item)}]"
    return domain.python


def documentation(cls: type, registry: Registry) -> str:
    """The docstring of a constructor: its result, and each parameter with its domain, its default, and its meaning."""
    described = described_parameters(cls, registry)
    lines = []
    for p in parameters(cls):
        default = "" if p.required or p.default in (None, ()) else f"; default {_default(p.default)}"
        meaning = described.get(p.name, "").rstrip(".")
        lines.append(f"    {p.name}: {meaning}{' ' if meaning else ''}[{p.domain.describe()}{default}].")
    if _takes_attributes(cls):
        lines.append("    named: attributes by their names, each with its number of categories or their list.")
    text = prose(cls)
    return f"{text}\n\nArgs:\n{chr(10).join(lines)}\n" if lines else f"{text}\n"


# --- five blocks ----------------------------------------------------------------------------------


def spec(
    *,
    space: DatasetSpace | str | Mapping[str, Any],
    distance: InputDivergence | Relation | str | Mapping[str, Any],
    standard: OutputDivergence | str | Mapping[str, Any],
    invariants: Invariant | Sequence[Invariant | str | Mapping[str, Any]] | None = None,
    multiverse: Multiverse | str | Mapping[str, Any] | None = None,
    unit: str | None = None,
    budget: Budget | Mapping[str, Any] | NumberLike | None = None,
    **numbers: Any,
) -> PrivacySpec:
    """Five blocks put together: which datasets, inside which universes, per which change, measured how, and how much.

    Args:
        space: the datasets, such as ``records(colour=10)``.
        distance: the distance of two datasets, in units: an input divergence or its name; or a neighbour relation or its name,
            such as add-remove, where neighbours are at distance 1 and others are not compared.
        standard: how two laws are compared: an output divergence, its name, or that of a definition that changes no other block,
            such as pure, approximate, zCDP, renyi, gaussian.
        invariants: what is published exactly; promises hold between datasets that agree on it. Without any: one universe.
        multiverse: the universes, where they are not given by invariants.
        unit: the unit whose changes are counted (person, household, ...), for a distance that is given by its name.
        budget: a budget that is more than one number; or the number, of a standard with one budget whose name means something
            else here, as that of total-variation does.
        numbers: the budget by its name (epsilon, rho, mu: privacy losses per unit of distance, no further unit), and the
            parameters of the standard (delta: a probability; order: of Renyi), exact or as texts such as "ln(3)".

    Raises:
        SpecError and its kin; several faults come together as `Faults`.

    >>> from dpspec.constructors import constructor
    >>> people = constructor("records")(colour=10)
    >>> print(spec(space=people, distance="add-remove", standard="pure", epsilon="1/2").budget)
    epsilon = 1/2
    """
    found = collect(
        (
            partial(_block, "spaces", space, "space"),
            partial(_distance, distance, unit),
            partial(_standard, standard, numbers),
            partial(_multiverse, multiverse, invariants),
        )
    )
    (measured, left), counted = found[2], found[1]
    if isinstance(standard, str) and not counted.is_neighbour_form and _is_of_neighbours(standard, installed().registry):
        advice = "name a neighbour relation, such as add-remove, or give within_distance(of=..., most=1)"
        advice += f", or standard={measured.name!r} for every distance"
        raise IncompatibleBlocksError("distance", f"must be one of neighbours for {standard}", advice, value=counted.name)
    made = PrivacySpec(
        space=found[0],
        input_divergence=counted,
        output_divergence=measured,
        multiverse=found[3],
        budget=_budget(budget, left, measured),
    )
    made.budget.check_universes(made.multiverse, made.space)
    return made


def blocks_alone(*, standard: OutputDivergence | str | Mapping[str, Any], **given: Any) -> PrivacySpec:
    """The blocks of `spec` with an infinite budget, which is no constraint.

    >>> from dpspec.constructors import constructor
    >>> people = constructor("records")(colour=10)
    >>> print(blocks_alone(space=people, distance="add-remove", standard="pure").budget)
    epsilon = inf
    """
    numbers = {name: value for name, value in given.items() if name not in inspect.signature(spec).parameters}
    measured, _ = _standard(standard, numbers)
    return spec(standard=standard, budget=UniformBudget(parameter=measured.budget_parameters[0], value=INFINITY), **given)


def _block(kind: str, given: Any, subject: str) -> Any:
    """A block that is given as itself, by its name, or as a table."""
    base = at(BASES[kind])
    if isinstance(given, (str, Mapping)):
        constructing = _Constructing(installed().registry)
        given = constructing.registered(kind, given, subject)
        raise_all(constructing.faults)
    if not isinstance(given, base):
        advice = f"call it: {given.__name__}(...)" if callable(given) and hasattr(given, "__name__") else ""
        raise IncompatibleBlocksError(subject, f"is none of the kind {singular(kind)}, nor the name of one", advice, value=given)
    return given


def _distance(given: Any, unit: str | None) -> InputDivergence:
    registry = installed().registry
    if isinstance(given, Relation) and unit is None:
        return _neighbours(registry, given)
    if not isinstance(given, str):
        if unit is not None:
            raise ParameterError(
                "unit", "belongs to a distance that is given by its name", "give the unit to the distance itself"
            )
        return cast("InputDivergence", _block("input_divergences", given, "distance"))
    counted = {} if unit is None else {"unit": unit}
    name = given.replace("_", "-")
    if name in registry.names("relations"):
        return _neighbours(registry, made("relations", name, counted, "distance"))
    if name not in registry.names("input_divergences"):
        known = [*registry.names("input_divergences"), *registry.names("relations")]
        advice = registry.lacking or did_you_mean(name, known) or f"name one of {', '.join(known)}"
        raise UnknownNameError("distance", "is no input divergence and no neighbour relation", advice, value=given)
    return cast("InputDivergence", made("input_divergences", name, counted, "distance"))


def _neighbours(registry: Registry, relation: Any) -> InputDivergence:
    """Distance 1 for neighbours: the registered divergence whose only required parameter is a neighbour relation."""
    for cls in registry.classes("input_divergences"):
        wanted = [p for p in parameters(cls) if p.required]
        domain = wanted[0].domain if len(wanted) == 1 else None
        if cls.is_neighbour_form is True and isinstance(domain, Registered) and domain.kind == "relations":
            return cast("InputDivergence", cls(**{wanted[0].name: relation}))
    raise UnknownNameError(
        "distance", "is a neighbour relation, and no divergence of neighbours is installed", value=relation.name
    )


def standards(name: str, registry: Registry) -> tuple[str, ...]:
    """The output divergences that a name denotes: one of this name, or that of a flavour or of a term of the field.

    Raises:
        UnknownNameError: it is none of these.
    """
    divergences = registry.names("output_divergences")
    known = {folded(one): one for one in divergences}
    if folded(name) in known:
        return (known[folded(name)],)
    flavours = registry.names("flavours")
    found = [flavour for flavour in flavours if folded(flavour) == folded(name)]
    for word in glossary():
        if folded(name) in map(folded, (word["name"], *word.get("also", ()))):
            found += [flavour for flavour in flavours if f"`{flavour}`" in word.get("in_dpspec", "")]
    if not found:
        advice = registry.lacking or did_you_mean(name, [*divergences, *flavours]) or f"write one of {', '.join(divergences)}"
        raise UnknownNameError("standard", "is no output divergence and no definition", advice, value=name)
    return tuple(dict.fromkeys(str(registry.get("flavours", one)().spec().output_divergence.name) for one in found))


def _definition(name: str, registry: Registry) -> Flavour | None:
    """The definition of differential privacy that a standard is called by, with or without DP at its end."""
    flavours = {folded(one): one for one in registry.names("flavours")}
    found = flavours.get(folded(name)) or flavours.get(folded(f"{name} dp"))
    return None if found is None else cast("Flavour", registry.get("flavours", found)())


def _is_of_neighbours(name: str, registry: Registry) -> bool:
    """Whether a definition is about neighbours alone, so that it promises nothing more for datasets at larger distances."""
    flavour = _definition(name, registry)
    return flavour is not None and "input_divergence" in flavour.changes and flavour.spec().input_divergence.is_neighbour_form


def _meant(name: str, registry: Registry) -> str:
    """The one output divergence that a standard means; a definition that changes another block is no standard alone.

    Raises:
        UnknownNameError, IncompatibleBlocksError
    """
    flavour = _definition(name, registry)
    if flavour is not None:
        free = (
            {"output_divergence", "budget", "input_divergence"}
            if _is_of_neighbours(name, registry)
            else {"output_divergence", "budget"}
        )
        changed = set(flavour.changes) - free
        if changed or (flavour.changes and "output_divergence" not in flavour.changes):
            words = " and ".join(sorted(block.replace("_", " ") for block in changed or flavour.changes))
            advice = "name the output divergence, and give those blocks"
            raise IncompatibleBlocksError("standard", f"is a definition that changes the {words}", advice, value=name)
    for said in (name, f"{name} dp"):
        try:
            found = standards(said, registry)
        except UnknownNameError:
            continue
        if len(found) == 1:
            return found[0]
        raise UnknownNameError("standard", "means several", f"name one of {', '.join(found)}", value=name)
    return standards(name, registry)[0]


def _standard(given: Any, numbers: Mapping[str, Any]) -> tuple[OutputDivergence, dict[str, Any]]:
    """The output divergence, and the numbers that are left for the budget."""
    registry = installed().registry
    if not isinstance(given, str):
        return cast("OutputDivergence", _block("output_divergences", given, "standard")), dict(numbers)
    name = _meant(given, registry)
    cls = registry.get("output_divergences", name)
    own = {p.name for p in parameters(cls)}
    left = {key: value for key, value in numbers.items() if key not in own}
    for key in left:
        if key not in cls.budget_parameters:
            known = [*cls.budget_parameters, *own]
            advice = did_you_mean(key, known) or f"{given} takes {' and '.join(known)}"
            raise UnknownKeyError(key, f"is no number of {given}", advice)
    return made("output_divergences", name, {key: numbers[key] for key in numbers if key in own}, "standard"), left


def _multiverse(given: Any, invariants: Any) -> Multiverse:
    one = isinstance(invariants, (at(BASES["invariants"]), str, Mapping))
    if not one and not isinstance(invariants, (Sequence, type(None))):
        raise ParameterError("invariants", "must be an invariant, or a list of some", value=invariants)
    held = (invariants,) if one else tuple(invariants or ())
    if given is not None:
        if held:
            raise ParameterError("multiverse", "and invariants are two ways to say one thing", "give one of them")
        return cast("Multiverse", _block("multiverses", given, "multiverse"))
    if not held:
        return Trivial()
    return LevelSets(invariants=tuple(_block("invariants", entry, f"invariants[{place}]") for place, entry in enumerate(held)))


_SPEC_BLOCKS = ("space", "distance", "standard", "invariants", "multiverse", "unit", "budget")
"""Names that `spec` gives another meaning than a budget of that name has: of `total-variation`, the budget is a distance."""


def _is_amount(given: Any) -> bool:
    """Whether a budget is given as a number, and not as a block or the name of one."""
    if isinstance(given, str):
        return given not in installed().registry.names("budgets")
    return isinstance(given, (int, float, Fraction, Number)) and not isinstance(given, bool)


def _budget(given: Any, left: Mapping[str, Any], measured: OutputDivergence) -> Budget:
    wanted = measured.budget_parameters
    amount = next(p.domain for p in parameters(UniformBudget) if p.name == "value")
    if given is not None:
        if left:
            raise ParameterError("budget", f"and {', '.join(left)} are two ways to say one thing", "give one of them")
        if len(wanted) == 1 and _is_amount(given):
            return UniformBudget(parameter=wanted[0], value=amount.read(given, "budget"))
        return cast("Budget", _block("budgets", given, "budget"))
    if len(left) == 1:
        ((parameter, value),) = left.items()
        return UniformBudget(parameter=parameter, value=amount.read(value, parameter))
    named = [f"{'budget' if name in _SPEC_BLOCKS else name}=..." for name in wanted]
    advice = f"give one number: {' or '.join(named)}"
    if left:
        raise ParameterError("budget", f"is said twice: {', '.join(left)}", advice)
    raise MissingKeyError("budget", "is missing", advice)
