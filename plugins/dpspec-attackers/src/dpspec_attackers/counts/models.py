"""The attackers on counts as attacker models: a specification beside a mechanism, each statement with its assumption."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar

from dpspec.attacker import Relation, RiskStatement
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.errors import AttackerMisfitError, NotReachedError
from dpspec.exact import Number
from dpspec.laws.combine import mixture
from dpspec.laws.composition import compose
from dpspec.mechanism import Mechanism
from dpspec.params import Data, Integer, Items, define
from dpspec.risk.pairs import pairs_within
from dpspec.spec import PrivacySpec
from dpspec_attackers.counts.shared import CountAttacker, Settings, by_quantity


@define
class BlockKnowledge(CountAttacker):
    """Somebody who knows all records of a block but one, and reads a count with noise (Z-D14 to Z-D18).

    Shown are the posterior of what is true, averaged over the release (Z-D17), the factor by which that exceeds the prior, and
    how often a bet on what seems likelier is right when the truth is drawn from the prior. One realised posterior can be larger.

    Args:
        priors: p, the prior probability of what is true, in (0, 1).
        distance: how far apart the two candidate datasets may be, in the unit of the input divergence.
        datasets: the datasets that are told apart, for the mechanism's own law; without it all, or the smallest of a large space.

    >>> from dpspec_divergences.examples import pure_spec
    >>> attacker = BlockKnowledge(priors=["1/2"])
    >>> [said.value.upper.decimal(4) for said in attacker.worst_case(pure_spec(epsilon="ln(3)"))]
    ['0.625', '1.25', '0.75']
    """

    name: ClassVar[str] = "block-knowledge"
    title: ClassVar[str] = "knows everybody in the block but one"
    knowledge: ClassVar[str] = (
        "all records of the block but the target's, and a prior probability p of what is true of the target"
    )
    target: ClassVar[str] = "whether the target is counted"
    observation: ClassVar[str] = "the whole release, of which a noisy count of the block is a part"
    assumption: ClassVar[str] = "the other records are known exactly, and the prior of what is true is p"
    source: ClassVar[str] = "Z-D14, Z-D15, Z-D17, Z-D18, Z-A1"

    datasets: Annotated[tuple[object, ...], Items(Data())] = ()

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self.beside(spec, partial(self._own, mechanism, spec))

    def _own(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        looked = pairs_within(spec, self.distance, self.datasets or None)
        relation = Relation.EQUALS if looked.complete else Relation.AT_LEAST
        pairs = list(looked.dichotomies(mechanism, spec))
        return self.of_pairs((), relation, f"exact Bayes (Z-D17), {looked.scope}", pairs)


@define
class Uniqueness(CountAttacker):
    """Somebody who knows that the target is unique at several levels, and reads a count at each of them (Z-D24).

    The specification is what the release of *one* level keeps; l levels are l such releases with their own noise.

    Args:
        priors: p, the prior probability of the true value, in (0, 1).
        distance: how far apart the two candidate datasets may be, in the unit of the input divergence.
        levels: numbers of levels, at least 1 each.
        datasets: the datasets that are told apart, for the mechanism's own law; without it all, or the smallest of a large space.

    >>> from dpspec_divergences.examples import pure_spec
    >>> attacker = Uniqueness(priors=["1/2"], levels=[1, 2])
    >>> [said.value.upper.decimal(4) for said in attacker.worst_case(pure_spec(epsilon="ln(3)"))][:2]
    ['0.625', '0.82']
    """

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "knows that the target is unique at several levels"
    knowledge: ClassVar[str] = (
        "all variables of the target but one, that they are unique at each level, and a prior p of the true value"
    )
    target: ClassVar[str] = "the one unknown variable of the target"
    observation: ClassVar[str] = "one release for every level"
    assumption: ClassVar[str] = (
        "the releases of the levels have independent noise and each keeps the specification; the prior is p"
    )
    source: ClassVar[str] = "Z-D24, Z-A4"

    levels: Annotated[tuple[int, ...], Items(Integer(1), least=1)] = (1, 2, 3, 4, 5, 6)
    datasets: Annotated[tuple[object, ...], Items(Data())] = ()

    def settings(self, divergence: OutputDivergence, bound: Number) -> Settings:
        if bound.is_infinite:
            return tuple(((("levels", str(count)),), divergence, bound) for count in self.levels)
        parameter = divergence.budget_parameters[0]
        budget = divergence.budget_for(parameter, bound)
        made = []
        for count in self.levels:
            joint = divergence.composed([(divergence, budget)] * count)
            if joint is None:
                rule = f"{divergence.name} does not say what {count} releases spend together"
                raise AttackerMisfitError("output divergence", rule, "ask about a divergence with a composition theorem")
            total = joint.divergence.lipschitz(joint.divergence.budget_parameters[0], joint.value)
            made.append(((("levels", str(count)),), joint.divergence, total))
        return tuple(made)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self.beside(spec, partial(self._own, mechanism, spec))

    def _own(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        looked = pairs_within(spec, self.distance, self.datasets or None)
        relation = Relation.EQUALS if looked.complete else Relation.AT_LEAST
        pairs = list(looked.dichotomies(mechanism, spec))
        return by_quantity(
            said
            for count in self.levels
            for said in self.of_pairs(
                (("levels", str(count)),),
                relation,
                f"exact Bayes for independent releases (Z-D24), {looked.scope}",
                [compose([(pair, count)]) for pair in pairs],
            )
        )


@define
class Hierarchical(CountAttacker):
    """Somebody who does not know the other blocks, but has a prior about them (Z-D19 to Z-D21).

    Mixtures of laws with the same weights are no easier to tell apart than the laws themselves, since the largest allowed power
    is concave in the level. So what holds for somebody who knows all others holds here too, *if* the belief about the others is
    the same whichever is true of the target. That is so for a uniform prior of the group's count given the block's; a prior that
    is uniform up to a fixed number is not of that kind (Z-S9).

    Args:
        priors: p, the prior probability of what is true of the target, in (0, 1).
        distance: how far apart a dataset and its contrary may be, in the unit of the input divergence.
        worlds: pairs (x, x') of datasets, equally likely: the same others, and what is true of the target or its contrary;
            without them, in a space of vectors, the target is the first entry and the others are anything.

    >>> from dpspec_divergences.examples import pure_spec
    >>> said = Hierarchical(priors=["1/2"]).worst_case(pure_spec(epsilon="ln(3)"))[0]
    >>> said.value.upper.decimal(4), said.assumption
    ('0.625', 'the belief about the other records does not depend on what is true of the target')
    """

    name: ClassVar[str] = "hierarchical"
    title: ClassVar[str] = "does not know the other blocks, but has a prior about them"
    knowledge: ClassVar[str] = "a prior of the target, and one of all others"
    target: ClassVar[str] = "whether the target is counted in its block"
    observation: ClassVar[str] = "the whole release: counts of the block, of the other blocks, and of the group around them"
    assumption: ClassVar[str] = "the belief about the other records does not depend on what is true of the target"
    source: ClassVar[str] = "Z-D19, Z-D21, Z-T42, Z-A2"

    worlds: Annotated[tuple[tuple[object, ...], ...], Items(Items(Data(), least=2))] = ()

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self.beside(spec, partial(self._own, mechanism, spec))

    def _own(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        pairs = [
            (truth, contrary)
            for truth, contrary in self._worlds(spec)
            if spec.distance(truth, contrary) <= self.distance and spec.multiverse.share_universe(truth, contrary, spec.space)
        ]
        if len(pairs) < len(self.worlds) or not pairs:
            rule = f"holds a pair of datasets that are not of one universe within distance {self.distance}"
            raise NotReachedError("worlds", rule, "name pairs (x, x') that are neighbours")
        shares = [Fraction(1, len(pairs))] * len(pairs)
        sides = [mixture(shares, [mechanism.law(pair[side], spec.space) for pair in pairs]) for side in (0, 1)]
        theorem = f"exact Bayes for mixtures over {len(pairs)} equally likely sets of others (Z-T42)"
        return self.of_pairs((), Relation.EQUALS, theorem, [sides[0].against(sides[1])])

    def _worlds(self, spec: PrivacySpec) -> Sequence[tuple[Any, Any]]:
        if self.worlds:
            return [(spec.space.dataset(pair[0]), spec.space.dataset(pair[1])) for pair in self.worlds]
        if not spec.space.is_ordered:
            rule = f"cannot be read off a space of {spec.space.name}, which has no first entry"
            raise AttackerMisfitError("worlds", rule, "name pairs (x, x') of datasets that differ in the target alone")
        pairs: Sequence[tuple[Any, Any]] = pairs_within(spec, self.distance).pairs
        return [(x, y) for x, y in pairs if x[1:] == y[1:] and x[0] > y[0]]
