"""Flavours with a budget for each part: each pair, stratum, record value or person."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import HammingOrdered, Mult, SymmetricDifference
from dpspec_noise import Geometric, RandomisedResponse

from dpspec.blocks.budget import BudgetTable
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.exact import ln
from dpspec.flavour import Example, Flavour
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec
from dpspec_flavours.universes.budgets import ByPart, ByValue, PartBudget
from dpspec_flavours.universes.observed import SUM, firms
from dpspec_flavours.universes.parts import Instance, OnePosition, OneRecord, Strata, WithAndWithout

HALF = Fraction(1, 2)


def _noisy(query: LinearMap | Marginal, ratio: Fraction, unit: str) -> Mechanism:
    return Geometric(queries=(query,), ratio=ratio, unit=unit)


class PerInstanceDP(Flavour):
    """Per-instance differential privacy: e^-epsilon P_x(S) <= P_xz(S) <= e^epsilon P_x(S), epsilon = epsilon(x, z), for one pair.

    The pair is a dataset x and x with one record z added; each listed pair has its own budget.

    >>> from dpspec import verify_claim
    >>> flavour = PerInstanceDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "per-instance-dp"
    title: ClassVar[str] = "Per-instance differential privacy: one dataset with and without one record, a budget for each pair"
    citation: ClassVar[str] = "Wang, Journal of Privacy and Confidentiality 2019 (first 2018)"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        dataset = (("1",),)
        pairs = (Instance(dataset=dataset, record=("1",)), Instance(dataset=dataset, record=("4",)))
        return PrivacySpec(
            space=firms("1", "4"),
            multiverse=WithAndWithout(pairs=pairs),
            input_divergence=SymmetricDifference(unit="firm"),
            output_divergence=Mult(),
            budget=BudgetTable(parameter="epsilon", values=(((("1",), dataset), ln(2)), ((("4",), dataset), ln(16)))),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="a sum of sizes with two-sided geometric noise of ratio 1/2",
            mechanism=_noisy(SUM, HALF, "firm"),
            because="a record of size s moves the sum by s and costs s ln 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the number of firms, with noise for the larger of the two budgets",
            mechanism=_noisy(LinearMap(rows=((1, 1),), label="number of firms"), Fraction(1, 16), "firm"),
            because="in a count the small record costs as much as the large one, ln 16 instead of ln 2",
        )


def _regions() -> UnorderedRecords:
    """At most two people, each in a region and ill or not."""
    region = Attribute(name="region", categories=("north", "south"))
    return UnorderedRecords(attributes=(region, Attribute(name="ill", categories=("no", "yes"))), most=2)


class StratifiedDP(Flavour):
    """Stratified differential privacy: P_x(S) <= e^(epsilon_s d(x, x')) P_x'(S) for x, x' that agree outside the stratum s.

    Bun et al. (2022), who are cited for the name, analyse what sampling by strata does to ordinary differential privacy; a
    budget for
    each stratum is the reading filed here, and no publication is known to us that states it.

    >>> from dpspec import verify_claim
    >>> flavour = StratifiedDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "stratified-dp"
    title: ClassVar[str] = "Stratified differential privacy: a budget for each stratum"
    citation: ClassVar[str] = (
        "no publication known to us defines it; strata as in Bun, Drechsler, Gaboardi, McMillan and Sarathy, FORC 2022"
    )
    reference: ClassVar[str] = "B-D30, B-S21"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        budgets = (PartBudget(part="north", value=ln(2)), PartBudget(part="south", value=ln(4)))
        return PrivacySpec(
            space=_regions(),
            multiverse=Strata(attribute="region"),
            input_divergence=SymmetricDifference(),
            output_divergence=Mult(),
            budget=ByPart(parameter="epsilon", values=budgets),
        )

    def satisfied_by(self) -> Example:
        ill = LinearMap(rows=((0, 1, 0, 0), (0, 0, 0, 2)), label="ill people, those of the south counted twice")
        return Example(
            title="the ill people of each stratum, those of the south with half the noise",
            mechanism=_noisy(ill, HALF, "person"),
            because="one person moves the northern count by 1 and costs ln 2, or the southern one by 2 and costs 2 ln 2",
        )

    def broken_by(self) -> Example:
        ill = Marginal(attributes=("region",), where=(("ill", ("yes",)),))
        return Example(
            title="the ill people of each stratum with the noise of the more generous budget",
            mechanism=_noisy(ill, Fraction(1, 4), "person"),
            because="the largest budget of the strata is not the budget of each: a person of the north costs ln 4",
        )


class PerRecordDP(Flavour):
    """Per-record differential privacy: P_x(S) <= e^(epsilon(r)) P_x'(S) where x and x' differ by one record of the value r.

    The policy epsilon(r) = s ln 2 for a firm of size s protects large firms less than small ones.

    >>> from dpspec import verify_claim
    >>> flavour = PerRecordDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "per-record-dp"
    title: ClassVar[str] = "Per-record differential privacy: the budget is a function of the record's value"
    citation: ClassVar[str] = "Seeman, Sexton, Pujol and Machanavajjhala, 2023"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=firms("1", "4"),
            multiverse=OneRecord(),
            input_divergence=SymmetricDifference(unit="firm"),
            output_divergence=Mult(),
            budget=ByValue(parameter="epsilon", attribute="size", rate=ln(2), unit="firm"),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="a sum of sizes with two-sided geometric noise of ratio 1/2",
            mechanism=_noisy(SUM, HALF, "firm"),
            because="a firm of size s moves the sum by s, as if it were split into s firms of size 1",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the number of firms with noise for the average size, 5/2",
            mechanism=_noisy(LinearMap(rows=((1, 1),), label="number of firms"), Fraction(1, 5), "firm"),
            because="a policy bounds each record and not their average: a firm of size 1 may cost ln 2 and costs ln 5",
        )


class PersonalisedBudgets(Flavour):
    """Personalised privacy with a budget for each person: P_x(S) <= e^(epsilon_i) P_x'(S) where only person i changes.

    For pure privacy it is the same promise as one number under the distance that weighs person i with epsilon_i.

    >>> from dpspec import verify_claim
    >>> flavour = PersonalisedBudgets()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "personalised-budgets"
    title: ClassVar[str] = "Personalised differential privacy, written with a budget for each person"
    citation: ClassVar[str] = "Jorgensen, Yu and Cormode, ICDE 2015"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        budgets = (PartBudget(part=0, value=ln(2)), PartBudget(part=1, value=ln(4)))
        return PrivacySpec(
            space=BitVectors(length=2),
            multiverse=OnePosition(),
            input_divergence=HammingOrdered(),
            output_divergence=Mult(),
            budget=ByPart(parameter="epsilon", values=budgets),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="a weighted sum with two-sided geometric noise of ratio 1/2",
            mechanism=_noisy(LinearMap(rows=((1, 2),), label="sum with the second person counted twice"), HALF, "person"),
            because="the first person moves the sum by 1, the second by 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response for all with the average budget",
            mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)),
            because="ln 3 is more than the cautious person agreed to, ln 2",
        )
