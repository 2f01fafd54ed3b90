"""Block 4: the output divergence d_Pr between laws, the standard by which protection is measured (Bailie, Gong, Meng and
Drechsler 2024).

`Composed` is the rule by which its budgets add up: what several releases of one data collection spend together.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import attrs

from dpspec.base.errors import NoFormulaError, NumericalError, PluginContractError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.base.log_linear import ball
from dpspec.base.promises import Promising

if TYPE_CHECKING:
    from flint import arb

    from dpspec.laws.dichotomy import Dichotomy
    from dpspec.laws.law import Answers, Law

SpentBudgets = Sequence["tuple[OutputDivergence, Number]"]
"""For each release its output divergence and its budget, in the first of the divergence's `budget_parameters`."""


@attrs.frozen(kw_only=True)
class Composed:
    """The joint release of several parts, each with its own noise; a later part may depend on the outputs of the earlier ones.

    Args:
        divergence: the output divergence of the joint release.
        value: its budget, in the first of the divergence's `budget_parameters`.
        rule: what adds up, in words.
        citation: where that is proved.
    """

    divergence: OutputDivergence
    value: Number
    rule: str
    citation: str


def total(values: Iterable[Number]) -> Number:
    """The sum of nonnegative numbers, exact where it has an exact form, else rounded up to 17 digits.

    >>> str(total([number("0.07"), number("2.56")]))
    '263/100'
    >>> str(total([number("sqrt(2)"), number("ln(2)")]))
    '2634200928666301/1250000000000000'
    """
    # a release that is made a million times is one object, and one product
    runs = (list(run) for _, run in itertools.groupby(values, key=id))
    listed = [run[0] * len(run) if len(run) > 1 else run[0] for run in runs]
    try:
        return sum(listed, ZERO)
    except NumericalError:
        enclosure = sum((value.enclose(128) for value in listed), ball(0))
        return number(Bracket.around(enclosure, least=0).ends()[1])


def added(divergence: OutputDivergence, parts: SpentBudgets, rule: str, citation: str) -> Composed | None:
    """The composition of parts that are all measured by one divergence, whose budgets add up; None when one is not."""
    if any(measured != divergence for measured, _ in parts):
        return None
    return Composed(divergence=divergence, value=total(value for _, value in parts), rule=rule, citation=citation)


WorstPairs: TypeAlias = "tuple[Dichotomy, Dichotomy]"
"""Two pairs of laws that a worst pair lies between; the same one twice where it is known exactly."""


# --- the output divergence ------------------------------------------------------------------------


EventBounds = tuple[tuple[Number, Number], ...]
"""Pairs (a, b): P(S) <= e^a Q(S) + b for every event S."""


class OutputDivergence(Promising, ABC):
    """d_Pr(P, Q), evaluated exactly or in a rigorous bracket.

    A subclass implements `evaluate` on the pair (P, Q) seen as a `Dichotomy`, and names the number in which its
    budget is stated.
    """

    name: ClassVar[str]

    is_symmetric: ClassVar[bool] = False
    """Whether d_Pr(P, Q) = d_Pr(Q, P) for all laws. Unless a class declares it, both orders are evaluated."""
    is_metric: ClassVar[bool] = False
    """Whether the triangle inequality holds, so that a bound for neighbours extends along paths."""
    keeps_mixtures: ClassVar[bool] = False
    """Whether d_Pr(sum w P_i, sum w Q_i) <= max d_Pr(P_i, Q_i) for all laws and weights (quasi-convexity).

    Then uncertainty about other records makes no attack better (Kifer et al. 2022), and the least error of the second kind that a
    bound allows is convex in the level. Probabilistically bounded privacy at one delta does not keep its bound (Kifer et al.
    2022, Example 5.6). Declare it only where it is proved.
    """
    budget_parameters: ClassVar[tuple[str, ...]] = ("epsilon",)
    """The names of the numbers in which a budget for this divergence may be written, the preferred one first."""

    @abstractmethod
    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        """d_Pr of the pair; a larger precision gives a narrower bracket."""

    def in_words(self) -> str:
        """The name of the standard in the literature, such as "pure differential privacy"; by default its own text or name.

        Everything that people read takes these words; the registered name is for files.
        """
        return str(self) if type(self).__str__ is not object.__str__ else self.name

    def between(self, left: Law, right: Law, *, precision: int = 64) -> Bracket:
        """d_Pr(P, Q) of two laws.

        Raises:
            PluginContractError: `evaluate` returns no bracket of two numbers.
        """
        found = self.evaluate(left.against(right), precision=precision)
        if not (isinstance(found, Bracket) and isinstance(found.lower, Number) and isinstance(found.upper, Number)):
            rule, advice = "evaluate() must return a Bracket of two Numbers", "return Bracket.exactly(value)"
            raise PluginContractError(f"output divergence {self.name}", rule, advice, value=repr(found))
        return found

    def score(self, pair: Dichotomy) -> tuple[int, int] | None:
        """Integers (a, b) such that a/b grows strictly with d_Pr of the pair, b = 0 < a meaning infinity; None when unknown.

        Optional: it lets a walk over many pairs of finite laws find the largest divergence on integers alone, without changing
        any result.
        """
        return None

    def separates_laws(self) -> bool:
        """Whether d_Pr(P, Q) = 0 for P = Q alone, for these parameters.

        Only then does a budget of 0, or a distance of 0, require equal laws, from which everything follows. (epsilon 0, delta
        9/10)-privacy requires much less. Return True only where it is proved: a property that is not declared is not used.
        """
        return False

    def event_bounds(self, bound: Number) -> EventBounds | None:
        """Pairs (a, b) such that d_Pr(P, Q) <= bound exactly when P(S) <= e^a Q(S) + b for each of them and every event S; where
        the divergence is symmetric, with P and Q exchanged too. None where single events do not decide, or no such list is known.

        Optional: with it a comparison decides implications on small spaces for certain. A bound is finite, 0 included, in units
        of `lipschitz`.
        """
        return None

    def lipschitz(self, parameter: str, value: Number) -> Number:
        """The Lipschitz constant that a budget means: the factor of d_X in the inequality.

        For most divergences the budget itself; for the normalised Renyi metric sqrt(rho).
        """
        return value

    def budget_for(self, parameter: str, constant: Number) -> Number:
        """The least budget whose `lipschitz` is a given constant, rounded up where it has no exact form: the inverse of it.

        Infinity, which is no constraint, where the inverse is not known.
        """
        return constant if self.lipschitz(parameter, constant) >= constant else INFINITY

    def extremal(self, bound: Number) -> Iterator[Answers]:
        """Laws N_0, N_1, ... with d_Pr(N_0, N_1) <= bound and as large as the bound allows, the most discriminating first.

        Optional: with them a comparison finds mechanisms that use up a budget to the last. A bound is finite, in units of
        `lipschitz`, and positive unless laws at 0 may differ. They are checked before they are used.
        """
        return iter(())

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """The largest P(S) over all laws and events with Q(S) = q and d_Pr(P, Q) <= bound: what refutation by sampling needs.

        A ball around g(q), concave and non-decreasing in q on [0, 1]; a concave function above it only costs power.

        Raises:
            NoFormulaError: when the divergence does not say it, so that sampling cannot refute claims about it.
        """
        raise NoFormulaError(
            self.name,
            "does not say the largest probability that it allows",
            "implement largest_probability(q, bound) to check samples",
        )

    def largest_loss(self, bound: Number) -> Number | None:
        """The largest |ln(P(S)/Q(S))| over all events and laws with d_Pr(P, Q) <= bound: by e to it the odds of P against Q may
        change when S is seen, whatever they were before. None when there is no largest one, or none is known.
        """
        return None

    def composed(self, parts: SpentBudgets) -> Composed | None:
        """The total of several releases, measured by this divergence (or one of its kind); None when that is not known.

        The assumption on each part is d_i(P_i, Q_i) <= b_i for the laws of that release, for every history of earlier outputs.
        Then d(P, Q) <= b has to hold for their joint laws, and with k b_i on the right sides for every k >= 0 with k b (for a
        budget that multiplies a distance; in terms of the Lipschitz constants, where the budget is another number).

        Args:
            parts: for each release its divergence d_i and its budget, in the first of the divergence's `budget_parameters`.
        """
        return None

    def worst_pairs(self, bound: Number) -> WorstPairs | None:
        """The pair (P*, Q*) that simulates every pair within the bound, in either order (Blackwell); None when none is known.

        Every (P, Q) with d(P, Q) <= bound and d(Q, P) <= bound is a post-processing of it; so is every product of such pairs
        of the product of theirs, which is how many releases are counted together.
        """
        return None

    def bounded_by(self, other: OutputDivergence) -> tuple[Number, str] | None:
        """A constant c with d(P, Q) <= c other(P, Q) for all laws, and the reason; None when unknown or none exists."""
        return (number(1), "the same output divergence") if self == other else None

    def bounds(self, other: OutputDivergence) -> tuple[Number, str] | None:
        """A constant c with other(P, Q) <= c d(P, Q) for all laws, and the reason; None when unknown.

        The counterpart of `other.bounded_by(self)`, for a new divergence that the existing class of `other` cannot know.
        """
        return None

    _promised: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("is_symmetric", "is_metric", "keeps_mixtures"), False),
        "between": between,
        "in_words": in_words,
        "score": score,
        "separates_laws": separates_laws,
        "event_bounds": event_bounds,
        "budget_for": budget_for,
        "extremal": extremal,
        "largest_probability": largest_probability,
        "largest_loss": largest_loss,
        "composed": composed,
        "worst_pairs": worst_pairs,
        "bounded_by": bounded_by,
        "bounds": bounds,
        "__str__": object.__str__,
    }
    _restated = frozenset({"between"})


@attrs.frozen
class EitherOrder(OutputDivergence):
    """The smaller one of d_Pr(P, Q) and d_Pr(Q, P): what is promised of two datasets whose order is not known.

    Where neither d_X nor d_Pr is symmetric, a promise may compare two datasets in one order alone. That limits tests in both
    directions: of P(S) <= e^epsilon Q(S) for every event and its complement follows Q(S) <= 1 - e^-epsilon (1 - P(S)).

    Args:
        of: d_Pr.

    >>> from dpspec.extension import installed
    >>> from dpspec.laws.law import FiniteLaw
    >>> one_way = installed().registry.get("output_divergences", "mult-one-way")()
    >>> str(EitherOrder(one_way).between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli(1)))
    'ln(2)'
    """

    is_symmetric: ClassVar[bool] = True

    of: OutputDivergence

    @property
    def name(self) -> str:  # type: ignore[override]  # of this class it depends on the divergence
        return f"{self.of.name} in one order"

    @property
    def budget_parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.of.budget_parameters

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        forth, back = (self.of.evaluate(way, precision=precision) for way in (pair, pair.reverse()))
        return Bracket(lower=min(forth.lower, back.lower), upper=min(forth.upper, back.upper))

    def separates_laws(self) -> bool:
        return self.of.separates_laws()

    def lipschitz(self, parameter: str, value: Number) -> Number:
        return self.of.lipschitz(parameter, value)

    def budget_for(self, parameter: str, constant: Number) -> Number:
        return self.of.budget_for(parameter, constant)

    def in_words(self) -> str:
        return self.of.in_words()

    def __str__(self) -> str:
        return str(self.of)
