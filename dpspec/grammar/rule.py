"""Rules of inference between specifications, conversions between budgets, and the routes by which printed numbers are recomputed.

A step (S, S') says that every mechanism that satisfies S satisfies S'. A rule proposes steps that lead from a given S towards
a wanted goal; a derivation is a chain of steps. A rule never has to be complete, but each of its steps has to be true.

A *conversion* is a named formula f between output divergences with: d(P, Q) <= t implies d'(P, Q) <= f(t), for all laws.
A budget that multiplies distances passes through such an f only where distances are 0, 1 or infinity, so a conversion applies to
*neighbour* distances; what holds with a constant factor for all distances is `OutputDivergence.bounded_by`.

A formula whose constant *slows down*, f(u)/u <= f(t)/t for t <= u, does apply to distances that are whole numbers: for d >= 1 it
gives f(eps d) = d f(eps d)/d <= d f(eps), so that the number for one unit is the number for each; and for d = 0 the laws have to
be equal, which is so where only equal laws are at 0. From epsilon of pure privacy follows
rho = epsilon tanh(epsilon/2) for all distances that way, where a constant factor alone gives epsilon^2/2. Where invariants keep
the datasets of one universe at least m apart, the same argument starts at m: f(eps d) <= d f(eps m)/m for d >= m. Two households
that exchange their places are at distance 2, and from epsilon follows rho = (epsilon/2) tanh(epsilon).

Some formulas need more than a guarantee. From rho-concentrated privacy alone no Gaussian trade-off function follows; from rho of
*Gaussian noise* it does. A program that mixed the two up would print numbers that no theorem supports, so such a formula says
which `mechanism` it needs, its numbers are printed separately, and it takes no part in a derivation between specifications.

A *route* is a named formula by which a published number is recomputed. An `[[expect]]` row of a specification file names its
route, so that the origin of a published epsilon is documented, and dpspec can check whether the formula gives the published
value.
"""

from __future__ import annotations

import functools
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import attrs

from dpspec.base.errors import NoFormulaError, NumericalError, PluginContractError
from dpspec.base.exact import Bracket, Number, number, rounded_product
from dpspec.base.params import define
from dpspec.base.promises import Promising
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import Law


@attrs.frozen(kw_only=True)
class Step:
    """One step of a derivation: every mechanism that satisfies `before` satisfies `after`.

    Args:
        rule: the name of the rule.
        block: the block that changes, such as "input divergence" (its budget may change with it).
        before, after: the two specifications.
        reason: the argument in words.
        citation: where the rule is proved.
        parameters: what the rule was applied with, as JSON data: a constant, a number of steps.
    """

    rule: str
    block: str
    before: PrivacySpec
    after: PrivacySpec
    reason: str
    citation: str
    parameters: Mapping[str, Any] = attrs.field(factory=dict)


class Rule(ABC):
    """A rule of inference, made with `dpspec.define` without parameters and registered under its `name`."""

    name: ClassVar[str]
    citation: ClassVar[str]
    hypotheses: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The hypotheses of a step: statements by a short name, each of them necessary. ``dpspec explain`` shows them, and each
    one of the first-party rules has a mechanism in the tests that breaks the conclusion where it alone is dropped."""

    @abstractmethod
    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        """True steps that start at the premise and lead towards the goal; none when the rule does not apply."""


# --- conversions ----------------------------------------------------------------------------------


MOST_TRIED = 6
"""The number of pairs of laws on which a formula of a plugin is tried."""


def _within(source: OutputDivergence, value: Number) -> Iterator[tuple[Law, Law]]:
    """Pairs of laws that a divergence says have a budget, as much of it as it allows; each checked, and in both orders."""
    try:
        constant = source.lipschitz(source.budget_parameters[0], value)
    except NumericalError:  # the root of a root: the formula is stated for it nevertheless
        return
    if constant.is_infinite or (constant == 0 and source.separates_laws()):
        return
    for answers in itertools.islice(source.extremal(constant), MOST_TRIED):
        pair = answers.law(0), answers.law(1)
        try:
            both = (source.between(*pair).upper, source.between(*pair[::-1]).upper)
        except NoFormulaError:
            continue
        if max(both) <= constant:
            yield from (pair, pair[::-1])


SLOWER = "; what it gives for one unit of distance it gives for each, since it rises no faster than in proportion"
"""Added to the reason where distances are whole numbers."""


class Conversion(Promising, Rule):
    """A formula from the budget of one output divergence to that of another; registers as a rule under its `name`.

    A subclass names the divergences it joins by their registered names, says whether it is tight, and implements `convert`.
    """

    hypotheses: ClassVar[Mapping[str, str]] = {
        "formula": "d(P, Q) <= t implies d'(P, Q) <= f(t) for all laws, and the new budget is at least f of the old one",
        "neighbours": "distances are 0, of equal datasets, 1 or infinite; or whole, f(t)/t never rises and d separates laws",
        "apart": "where m > 1 is a parameter, d(x, x') is 0 or at least m for all datasets that share a universe",
        "one budget": "the budget is the same number in all universes",
        "any mechanism": "the formula needs nothing to be known of the mechanism but its guarantee",
    }
    source: ClassVar[str]
    target: ClassVar[str]
    formula: ClassVar[str]
    """The formula as text, for people: "rho + 2 sqrt(rho ln(1/delta))"."""
    tight: ClassVar[bool] = False
    """Whether some mechanism attains every value of the formula."""
    sense: ClassVar[str] = ""
    """The sense in which it is tight, or a better constant."""
    slows: ClassVar[bool] = False
    """Whether f(t)/t never rises with t, f being the formula between Lipschitz constants."""
    mechanism: ClassVar[str | None] = None
    """The mechanism that has to be known, as a word for ``dpspec convert --mechanism``; None where the guarantee is enough."""
    needs: ClassVar[str] = ""
    """The information about that mechanism that the formula needs, in words."""

    @abstractmethod
    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        """The budget of the target that a budget of the source implies on neighbours, in a bracket; None when it says nothing.

        Args:
            source: the divergence to convert from, with its parameters.
            value: a budget of it, in the first of its `budget_parameters`.
            target: the divergence to convert to, with its parameters (delta, an order).
        """

    def converted(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        """What `convert` gives, which is tried on laws that use up the budget of the source.

        Raises:
            PluginContractError: when two laws with the budget of the source have more than the number of the formula.
        """
        found = self.convert(source, value, target)
        if found is None or found.upper.is_infinite or self.mechanism is not None:
            return found
        try:
            allowed = target.lipschitz(target.budget_parameters[0], found.upper)
        except NumericalError:  # as in `_within`
            return found
        for one, other in _within(source, value):
            try:
                reached = target.between(one, other)
            except NoFormulaError:  # nothing is known of these laws
                continue
            if reached.lower > allowed:
                rule = f"gives {found.upper} for {value}, and two laws within that are {reached} apart by {target.in_words()}"
                raise PluginContractError(f"rule {self.name}", rule, "report it to the plugin's author")
        return found

    def attained(self, source: OutputDivergence, target: OutputDivergence) -> bool:
        """Whether it is tight between these two divergences: some formulas are at one order, or at equal deltas, alone."""
        return self.tight

    _promised: ClassVar[Mapping[str, Any]] = {
        **{"tight": False, "slows": False, "sense": "", "attained": attained},
        **{"formula": "a formula that is not stated", "citation": "no source is stated"},
    }
    _asides = frozenset({"targets", "hypotheses", "needs"})

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        """The divergences to convert to on the way to a goal: the goal itself when it has the name of the target."""
        if goal.name == self.target and goal != source:
            yield goal

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        """Steps to the upper end of the bracket, where distances are those of neighbours and the budget is one number.

        A formula that slows down is applied to whole distances, too, where laws at 0 are equal. None where the mechanism has to
        be known: a specification does not say what it is.
        """
        if self.mechanism is not None:
            return
        source, value = premise.output_divergence, premise.budget.uniform()
        if value is None or premise.budget.parameter != source.budget_parameters[0] or source.name != self.source:
            return
        near, whole = premise.input_divergence.is_neighbour_form, self.slows and premise.input_divergence.is_integral
        whole = whole and source.separates_laws()  # different datasets may be at distance 0
        if not near and not whole:
            return
        apart = 1 if near else premise.input_divergence.apart_inside(premise.multiverse, premise.space)
        for target in self.targets(source, goal.output_divergence):
            amount = self._at_distance(apart, source, value, target)
            if amount is None:
                continue
            budget = UniformBudget(parameter=target.budget_parameters[0], value=amount)
            yield Step(
                rule=self.name,
                block="output divergence",
                before=premise,
                after=premise.replace(output_divergence=target, budget=budget),
                reason=self._reason(budget.parameter, apart, near=near),
                citation=self.citation,
                parameters={} if apart == 1 else {"apart": apart},
            )

    def _at_distance(self, apart: int, source: OutputDivergence, value: Number, target: OutputDivergence) -> Number | None:
        """The budget for one unit of distance where all distances are 0 or at least so many units; None where none is finite."""
        first, parameter = source.budget_parameters[0], target.budget_parameters[0]
        scaled = value if apart == 1 else source.budget_for(first, rounded_product(source.lipschitz(first, value), number(apart)))
        found = None if scaled.is_infinite and apart > 1 else self.converted(source, scaled, target)
        if found is None or found.upper.is_infinite:
            return None
        if apart == 1:
            return found.upper
        share = rounded_product(target.lipschitz(parameter, found.upper), number(Fraction(1, apart)))
        amount = target.budget_for(parameter, share)
        return None if amount.is_infinite else amount

    def _reason(self, parameter: str, apart: int, *, near: bool) -> str:
        formula = f"{parameter} = {self.formula}, rounded up where it has no exact form"
        if near:
            return formula
        if apart == 1:
            return formula + SLOWER
        return (
            f"{formula}, at distance {apart}, and divided by {apart} as a Lipschitz constant: different datasets of one universe "
            f"are at least {apart} apart, and the number rises no faster than the distance"
        )


BudgetFormula = Callable[[OutputDivergence, Number, OutputDivergence], Bracket | None]
"""The signature of `Conversion.convert`: a source, a budget of it and a target to the budget of the target."""


def conversion(  # noqa: PLR0917 - the columns of a table
    module: str, name: str, source: str, target: str, formula: str, value: BudgetFormula, *,
    doc: str, citation: str, base: type = Conversion, **more: Any,
) -> type[Conversion]:  # fmt: skip
    """A conversion that is one formula, written as a row of a table: the class that is registered under its name.

    Args:
        module: the module that holds the row, under the name in capitals: `ZcdpToKl` of zcdp-to-kl.
        name, source, target, formula, citation: as in `Conversion`.
        value: the formula.
        doc: what it says, for people, with an example.
        base: what several rows share.
        more: further members, such as `tight` and `sense`.
    """

    def convert(self: Conversion, source: OutputDivergence, budget: Number, target: OutputDivergence) -> Bracket | None:  # noqa: ARG001
        return value(source, budget, target)

    members = {"name": name, "source": source, "target": target, "formula": formula, "citation": citation, "convert": convert}
    title = "".join(word.capitalize() for word in name.split("-"))
    return type(title, (_of_values(base),), {"__module__": module, "__doc__": doc, "__slots__": (), **members, **more})


@functools.cache
def _of_values(base: type) -> type:
    """The base as a class of values: attrs writes its methods once, and not for each of a hundred rows without parameters."""
    return define(type(base.__name__, (base,), {"__module__": base.__module__, "__doc__": base.__doc__}))


# --- routes ---------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Question:
    """A formula from the budget of one output divergence to that of another. More than one formula may exist.

    Args:
        source: the divergence to start from.
        value: a budget of it, in the first of its `budget_parameters`.
        goal: the divergence to reach, with its parameters.
    """

    source: OutputDivergence
    value: Number
    goal: OutputDivergence


class Route(ABC):
    """A formula with its parameters; made with `dpspec.define` and registered under its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def value(self, spec: PrivacySpec) -> Bracket:
        """The number, exactly or in a rigorous bracket; parameters left out are read from the specification."""

    def question(self, spec: PrivacySpec) -> Question | None:
        """The question between output divergences that the number answers, so that other formulas can be tried; None if none."""
        return None


@attrs.frozen(kw_only=True)
class TheoremNumber:
    """A budget that a theorem gives a mechanism.

    Args:
        value: the number, in the first of the `budget_parameters` of the target divergence.
        about: the mechanism, and the datasets that it holds for.
        citation: where it is proved.
    """

    value: Bracket
    about: str
    citation: str


class BudgetTheorem(Route):
    """A route from the parameters of a mechanism to its budgets: `dpspec convert` starts from these parameters, too."""

    @abstractmethod
    def numbers(self, goal: OutputDivergence) -> tuple[TheoremNumber, ...]:
        """The budgets by an output divergence; () where the theorem says nothing about it."""
