"""Conversions of budgets: every chain of formulas from one output divergence to another, and budgets by their names.

The graph has output divergences as nodes and `Conversion`s as arrows. A path applies each step to the upper end of the bracket of
the step before, so that its number is on the safe side. The lower ends are propagated as well, to separate rounding from slack.

Budgets are identified by their names, as users write them: rho = 2.63, or epsilon at delta = 1e-10.

Several divergences may share the name of a budget (approximate privacy and pbdp both have an epsilon at a delta). The first
registered one is used, and the others are reported; a divergence can always be named explicitly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import DpspecError, MissingKeyError, NoFormulaError, ParameterError, UnknownNameError
from dpspec.base.exact import Bracket, Number, number
from dpspec.base.params import build, did_you_mean, parameters
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.extension.hooks import Registry
from dpspec.grammar.rule import BudgetTheorem, Conversion, TheoremNumber

LONGEST = 3
"""Paths have at most this many steps: longer ones only lose more."""


@attrs.frozen(kw_only=True)
class Leg:
    """One step: the formula, the divergence that it leads to, and the budget there."""

    conversion: Conversion
    target: OutputDivergence
    value: Bracket


@attrs.frozen(kw_only=True)
class ConversionPath:
    """A chain of formulas from a budget to a budget of another divergence.

    Args:
        source: the divergence that it starts from.
        legs: its steps, at least one.
    """

    source: OutputDivergence
    legs: tuple[Leg, ...]

    @property
    def value(self) -> Bracket:
        """The budget that it ends with; every mechanism with the budget of the start has it, at the upper end."""
        return self.legs[-1].value

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(leg.conversion.name for leg in self.legs)

    @property
    def known(self) -> tuple[Conversion, ...]:
        """The steps that need to know the mechanism."""
        return tuple(leg.conversion for leg in self.legs if leg.conversion.mechanism is not None)

    @property
    def tight(self) -> bool:
        """Whether a mechanism attains the number: a tight step, after steps that say exactly what the mechanism is."""
        *before, last = self._attained
        return last and all(before) and all(leg.conversion.mechanism is not None for leg in self.legs[:-1])

    @property
    def _attained(self) -> tuple[bool, ...]:
        """Whether each step is tight between the divergences that it joins."""
        sources = (self.source, *(leg.target for leg in self.legs))
        return tuple(leg.conversion.attained(source, leg.target) for source, leg in zip(sources, self.legs, strict=False))

    @property
    def sense(self) -> str:
        """In which sense it is tight, or why it is not."""
        *before, last = self.legs
        if self.tight or not before:
            return last.conversion.sense
        if all(self._attained):
            return "each step is attained, by another mechanism"
        open_ = (leg.conversion for leg, attained in zip(self.legs, self._attained, strict=True) if not attained)
        return "; ".join(f"{conversion.name}: {conversion.sense}" for conversion in open_)


def paths(
    conversions: Iterable[Conversion], source: OutputDivergence, value: Number, goal: OutputDivergence, *, known: bool = False
) -> tuple[ConversionPath, ...]:
    """Every path from a budget to a divergence, the least number first, and after them those that need to know the mechanism.

    Two paths through the same formulas that differ in a parameter on the way (a Renyi order) are one, with its best parameter.

    Args:
        conversions: the arrows.
        source: the divergence to start from.
        value: a budget of it, in the first of its `budget_parameters`.
        goal: the divergence to reach, with its parameters.
        known: whether the mechanism is known, so that the formulas that need it rank with the others.
    """
    best: dict[tuple[str, ...], ConversionPath] = {}
    arrows = tuple(conversions)
    for found in _walk(arrows, ConversionPath(source=source, legs=()), Bracket.exactly(value), goal):
        before = best.get(found.names)
        if before is None or found.value.upper < before.value.upper:
            best[found.names] = found

    def rank(path: ConversionPath) -> tuple[bool, Number, int, tuple[str, ...]]:
        return bool(path.known) and not known, path.value.upper, len(path.legs), path.names

    return tuple(sorted(best.values(), key=rank))


def _walk(
    arrows: Sequence[Conversion], so_far: ConversionPath, value: Bracket, goal: OutputDivergence
) -> Iterator[ConversionPath]:
    here = so_far.legs[-1].target if so_far.legs else so_far.source
    visited = {so_far.source.name, *(leg.target.name for leg in so_far.legs)}
    for arrow in arrows:
        if arrow.source != here.name:
            continue
        for target in arrow.targets(here, goal):
            if target.name in visited and target != goal:
                continue
            found = _converted(arrow, here, value, target)
            if found is None:
                continue
            longer = attrs.evolve(so_far, legs=(*so_far.legs, Leg(conversion=arrow, target=target, value=found)))
            if target == goal:
                yield longer
            elif len(longer.legs) < LONGEST:
                yield from _walk(arrows, longer, found, goal)


def _converted(arrow: Conversion, here: OutputDivergence, value: Bracket, target: OutputDivergence) -> Bracket | None:
    """The bracket of the formula over a bracket; None when it says nothing, or nothing finite."""
    top = arrow.converted(here, value.upper, target)
    if top is None or top.upper.is_infinite or value.is_exact:
        return None if top is None or top.upper.is_infinite else top
    bottom = arrow.convert(here, value.lower, target)
    lower = top.lower if bottom is None else min(bottom.lower, top.lower)
    return Bracket(lower=lower, upper=top.upper)


# --- budgets by their names -----------------------------------------------------------------------


KIND = "output_divergences"


@attrs.frozen(kw_only=True)
class Conversions(Showable):
    """The result of a conversion: a budget in other terms.

    Args:
        source: the divergence of the given budget.
        value: the budget.
        goal: the target divergence.
        paths: every way there, best first.
        alike: other divergences whose budgets have the requested name.
    """

    source: OutputDivergence
    value: Number
    goal: OutputDivergence
    paths: tuple[ConversionPath, ...]
    alike: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class TheoremNumbers(Showable):
    """Theorems on the budgets of mechanisms, evaluated at the parameters of the mechanisms.

    Args:
        given: the parameters, as texts.
        goal: the target divergence.
        theorem: the name of the route.
        numbers: one for each mechanism that the parameters fit.
    """

    given: tuple[tuple[str, str], ...]
    goal: OutputDivergence
    theorem: str
    numbers: tuple[TheoremNumber, ...]


def budget_at(
    registry: Registry, source: OutputDivergence, value: Number, parameter: str, at: Mapping[str, str]
) -> Bracket | None:
    """The implied value of another parameter, such as epsilon at a delta, for every mechanism with a given budget: by the best
    path.

    Args:
        source: the divergence of the budget.
        value: the budget, in the first of its `budget_parameters`.
        parameter: the target parameter.
        at: exactly the parameters of the divergence that it belongs to.

    Returns:
        the number in a bracket, which holds at its upper end; None where no finite one is known.

    >>> from dpspec.base.exact import ln
    >>> from dpspec.extension import installed
    >>> pure = installed().registry.get("output_divergences", "mult")()
    >>> budget_at(installed().registry, pure, ln(3), "epsilon", {"order": "2"}).upper.decimal()
    '0.847298'
    """
    arrows = registered(registry)
    for kind in registry.classes(KIND):
        if kind.budget_parameters[0] != parameter or {p.name for p in parameters(kind)} != set(at):
            continue
        goal: OutputDivergence = build(kind, at, kind.name)
        if goal == source:
            return Bracket.exactly(value)
        found = [path for path in paths(arrows, source, value, goal) if not path.known]
        if found:
            return found[0].value
    return None


def equations(texts: Iterable[str]) -> dict[str, str]:
    """Texts such as "rho=2.63" as names and values, in their order.

    Raises:
        ParameterError: for a text of another form, and for a duplicate name.

    >>> equations(["epsilon=1", "delta=1e-6"])
    {'epsilon': '1', 'delta': '1e-6'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            raise ParameterError("budget", "must be a name and a value", "write it as rho=2.63", value=text)
        if name in found:
            raise ParameterError(name, "is given twice", "write one value", value=value)
        found[name] = value
    return found


def registered(registry: Registry) -> tuple[Conversion, ...]:
    """Every registered conversion."""
    return tuple(rule() for rule in registry.classes("rules") if issubclass(rule, Conversion))


def convert(
    registry: Registry,
    given: Mapping[str, str],
    to: str,
    at: Mapping[str, str],
    *,
    divergence: str | None = None,
    mechanism: str | None = None,
) -> Conversions | TheoremNumbers:
    """Convert a budget along every path of registered formulas, or the parameters of a mechanism by a theorem about it.

    Args:
        registry: where divergences and conversions are looked up.
        given: the budget by its name, then the parameters of its divergence: {"rho": "2.63"}, {"epsilon": "1", "delta": "1e-6"}.
        to: the name of a budget, or of an output divergence.
        at: the parameters of the divergence to convert to, such as {"delta": "1e-10"}.
        divergence: the name of the divergence of the given budget, where the numbers leave it open.
        mechanism: a kind of mechanism that is known: its formulas rank with the others, and those of other kinds are left out.

    Raises:
        UnknownNameError: for a quantity or a mechanism that nothing is known of.
        MissingKeyError: a parameter is missing without which there is no such number, such as a delta.
        ParameterError: a number lies outside its domain.
        NoFormulaError: no path is known, or none for a number as large.

    >>> from dpspec.extension import installed
    >>> found = convert(installed().registry, {"rho": "2.63"}, "epsilon", {"delta": "1e-10"})
    >>> found.paths[0].names, found.paths[0].value.upper.decimal()
    (('zcdp-to-approximate-cks',), '17.4306')
    """
    arrows = _arrows(registry, mechanism)
    theorem = None if divergence is not None else _theorem(registry, given)
    if theorem is not None:
        for goal in _goals(registry, arrows, to, at):
            if numbers := theorem.numbers(goal):
                return TheoremNumbers(given=tuple(given.items()), goal=goal, theorem=theorem.name, numbers=numbers)
        raise NoFormulaError(to, f"does not follow from {', '.join(given)} by {theorem.name}", "ask for epsilon, rho or mu")
    source, value = _source(registry, arrows, given, divergence)
    goals = [goal for goal in _goals(registry, arrows, to, at) if goal != source]
    if not goals:
        raise NoFormulaError(to, "is the budget that was given", "ask for another")
    for goal in goals:
        found = paths(arrows, source, value, goal, known=mechanism is not None)
        if found:
            alike = tuple(other.name for other in goals if other != goal)
            return Conversions(source=source, value=value, goal=goal, paths=found, alike=alike)
    if any(goal.name in _ends(arrows, source) for goal in goals):
        rule = f"is beyond the formulas from {source.name} to {to}: none gives a finite number for so much"
        advice = "ask about a smaller budget: one as large promises next to nothing"
        raise NoFormulaError(source.budget_parameters[0], rule, advice, value=value.decimal())
    raise _unreached(registry, arrows, source, to, at)


def _arrows(registry: Registry, mechanism: str | None) -> tuple[Conversion, ...]:
    arrows = registered(registry)
    kinds = sorted({arrow.mechanism for arrow in arrows if arrow.mechanism is not None})
    if mechanism is None:
        return arrows
    if mechanism not in kinds:
        advice = did_you_mean(mechanism, kinds) or f"formulas are known for {', '.join(kinds) or 'none'}"
        raise UnknownNameError("mechanism", "has no formula of its own", advice, value=mechanism)
    return tuple(arrow for arrow in arrows if arrow.mechanism in (None, mechanism))


def _source(
    registry: Registry, arrows: Sequence[Conversion], given: Mapping[str, str], divergence: str | None
) -> tuple[OutputDivergence, Number]:
    """The divergence and the budget that the given numbers state, the budget first."""
    if not given:
        raise MissingKeyError("budget", "is missing", "write it by its name, such as rho=2.63")
    name, *_ = given
    value = number(given[name], name)
    if value < 0 or value.is_infinite:
        raise ParameterError(
            name, "must be a finite number of at least 0", "write what is spent, such as 2.63", value=given[name]
        )
    rest = {key: text for key, text in given.items() if key != name}
    starts = {arrow.source for arrow in arrows}
    if divergence is not None:
        return build(registry.get(KIND, divergence), rest, divergence), value
    return _stated_in(registry, starts, name, rest)[0], value


def _theorem(registry: Registry, given: Mapping[str, str]) -> BudgetTheorem | None:
    """The theorem whose parameters are given, where they are not the budget of some divergence."""
    first = next(iter(given), "")
    if any(first in kind.budget_parameters for kind in registry.classes(KIND)):
        return None
    for kind in registry.classes("routes"):
        if issubclass(kind, BudgetTheorem) and first in {p.name for p in parameters(kind)}:
            return cast("BudgetTheorem", build(kind, dict(given), kind.name))
    return None


def _goals(registry: Registry, arrows: Sequence[Conversion], to: str, at: Mapping[str, str]) -> list[OutputDivergence]:
    """The divergences that are meant by the name of a budget, or of themselves."""
    if "delta" in at and number(at["delta"], "delta") == 0:
        raise ParameterError("delta", "must lie in (0, 1)", "leave it out to ask for pure privacy", value=at["delta"])
    if to in registry.names(KIND):
        return [build(registry.get(KIND, to), at, to)]
    return _stated_in(registry, {arrow.target for arrow in arrows}, to, at)


def _stated_in(registry: Registry, joined: set[str], name: str, given: Mapping[str, str]) -> list[OutputDivergence]:
    """The divergences that conversions join, whose budget has the name, with the given parameters."""
    classes = _classes(registry, joined)
    stated = [cls for cls in classes if cls.budget_parameters[0] == name]
    if not stated:
        known = sorted({cls.budget_parameters[0] for cls in classes} | {cls.name for cls in classes})
        advice = did_you_mean(name, known) or f"known are {', '.join(known)}"
        raise UnknownNameError("quantity", "is the budget of nothing that can be converted", advice, value=name)
    fitting = [cls for cls in stated if _required(cls) <= set(given) <= {p.name for p in parameters(cls)}]
    if not fitting:
        choices = "; ".join(f"{cls.name} takes {', '.join(p.name for p in parameters(cls)) or 'nothing'}" for cls in stated)
        raise MissingKeyError(name, f"is no budget with {', '.join(given) or 'no further parameters'}", choices)
    # Where nothing is given, a class with parameters is not meant, though it may need none of them in particular.
    return [build(cls, given, cls.name) for cls in fitting if given or not parameters(cls)]


def _classes(registry: Registry, names: Collection[str]) -> list[type[OutputDivergence]]:
    return [entry.cls for entry in registry if entry.kind == KIND and entry.name in names]


def _required(cls: type) -> set[str]:
    return {p.name for p in parameters(cls) if p.required}


def _ends(arrows: Sequence[Conversion], source: OutputDivergence) -> set[str]:
    """The divergences that one formula leads to."""
    return {arrow.target for arrow in arrows if arrow.source == source.name}


def _unreached(
    registry: Registry, arrows: Sequence[Conversion], source: OutputDivergence, to: str, at: Mapping[str, str]
) -> DpspecError:
    """The reason why there is no path: a parameter is missing, or nothing is known."""
    ends = _ends(arrows, source)
    classes = _classes(registry, ends)
    wanting = sorted({key for cls in classes if cls.budget_parameters[0] == to for key in _required(cls) - set(at)})
    if wanting:
        rule = f"is missing: from {source.name} the number {to} follows only with it"
        return MissingKeyError(" or ".join(wanting), rule, f"write --{wanting[0]}")
    rule = f"does not follow from {source.name} by any registered formula"
    return NoFormulaError(to, rule, f"from {source.name} there are formulas to {', '.join(sorted(ends)) or 'nothing'}")
