"""What the attacker models on counts share: the quantities that they state for every prior."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, Number, largest
from dpspec.laws.dichotomy import Dichotomy
from dpspec.params import Exact, Items, define
from dpspec.risk.candidates import candidates_within
from dpspec.spec import PrivacySpec
from dpspec_attackers.counts.belief import expected_posterior, right_on_average
from dpspec_attackers.counts.worst import worst_bet, worst_posterior
from dpspec_attackers.priors import IN_DOUBT
from dpspec_attackers.semantics import said

Place = tuple[tuple[str, str], ...]
Settings = tuple[tuple[Place, OutputDivergence, Number], ...]
"""Where statements are made: a place with the divergence and the bound that hold there."""

QUANTITIES = ("mean posterior of the truth", "mean posterior by prior", "right bets")
"""What is stated, in the order in which it is shown."""
PRIORS = ("1/2", "1/5", "1/10", "1/50")


@define
class CountAttacker(AttackerModel):
    """What the attackers on counts share: for every prior of the truth, the mean posterior, its ratio, and the right bets."""

    priors: Annotated[tuple[Fraction, ...], Items(IN_DOUBT, least=1)] = PRIORS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]

    def settings(self, divergence: OutputDivergence, bound: Number) -> Settings:
        """The places in the order in which they are shown, for candidates whose laws are at most so far apart."""
        return (((), divergence, bound),)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return by_quantity(candidates_within(spec, self.distance).stated(partial(self.allowed, spec.output_divergence)))

    def allowed(self, given: OutputDivergence, bound: Number) -> tuple[RiskStatement, ...]:
        """What holds of all laws within a bound of a divergence."""
        return by_quantity(
            statement
            for place, divergence, joint in self.settings(given, bound)
            for statement in self.statements(
                place,
                Relation.AT_MOST,
                f"mean over the least private pair of laws that {divergence.name} allows (Blackwell); {self.source}",
                partial(worst_posterior, divergence, joint),
                partial(worst_bet, divergence, joint),
            )
        )

    def beside(self, spec: PrivacySpec, own: Callable[[], Iterable[RiskStatement]]) -> tuple[RiskStatement, ...]:
        """What is published beside a mechanism's own law, which is asked only where it has something to say."""
        found = candidates_within(spec, self.distance)
        told = tuple(found.published(partial(self.allowed, spec.output_divergence)))
        asked = found.bound is not None or bool(getattr(self, "datasets", ()))
        return by_quantity((*told, *found.left_open(own() if asked else ())))

    def of_pairs(self, place: Place, relation: Relation, theorem: str, pairs: Sequence[Dichotomy]) -> tuple[RiskStatement, ...]:
        """The statements about given pairs of laws: the largest value of each quantity."""
        return self.statements(
            place,
            relation,
            theorem,
            lambda p: largest(expected_posterior(pair, p) for pair in pairs),
            lambda p: largest(right_on_average(pair, p) for pair in pairs),
        )

    def statements(
        self,
        place: Place,
        relation: Relation,
        theorem: str,
        posterior: Callable[[Fraction], Bracket],
        bet: Callable[[Fraction], Bracket],
    ) -> tuple[RiskStatement, ...]:
        """One statement for every prior and quantity."""
        made = []
        for p in self.priors:
            mean = posterior(p)
            for quantity, value in zip(QUANTITIES, (mean, mean.scaled(1 / p), bet(p)), strict=True):
                at = (("prior", str(p)), *place, ("distance", str(self.distance)))
                most = 1 / p if quantity == QUANTITIES[1] else 1
                made.append(said(quantity, at, relation, value, theorem, self.assumption, trivial=most))
        return by_quantity(made)


def by_quantity(statements: Iterable[RiskStatement]) -> tuple[RiskStatement, ...]:
    """The statements about one quantity side by side."""
    return tuple(sorted(statements, key=lambda statement: QUANTITIES.index(statement.quantity)))
