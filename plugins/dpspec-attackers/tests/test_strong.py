"""The attacker of chapter 5 of the thesis, who knows all records but one, as a model; and its errors."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_attackers.membership import (
    MembershipPosterior,
    MembershipRatio,
    Releases,
    StrongMembership,
    approximate_of_loss,
    loss_of_approximate,
    loss_of_difference,
    loss_of_posterior,
    loss_of_ratio,
    posterior_law,
    total,
)
from dpspec_divergences import DNor, Mult, MultDelta, SymmetricDifference
from dpspec_divergences.counting import AddRemove
from dpspec_divergences.paths import Neighbour
from dpspec_divergences.routes import pure_spec
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws

from dpspec.base.errors import (
    AttackerMisfitError,
    CertainTargetError,
    FailureProbabilityError,
    NoFormulaError,
    ParameterError,
    ProfileBelowOneError,
)
from dpspec.base.exact import number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.attacker import Sense
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.continuous import GaussianLaw
from dpspec.laws.law import FiniteLaw
from dpspec.risks.engine import risk
from tests.risk.attacking import near

YES_NO = Attribute(name="answer", categories=("no", "yes"))


class Coin(Mechanism):
    """Tosses a coin that says whether there are more than `at` records, rightly with odds `odds` to one."""

    name = "coin"

    def __init__(self, odds):
        self.odds = Fraction(odds)

    def law(self, dataset, space):
        chance = self.odds / (1 + self.odds)
        return FiniteLaw.bernoulli(chance if len(space.records(dataset, "person")) % 2 else 1 - chance)


def specification(divergence, parameter, value, distance=None):
    return PrivacySpec(
        space=UnorderedRecords(attributes=(YES_NO,), most=3),
        multiverse=Trivial(),
        input_divergence=distance or SymmetricDifference(unit="person"),
        output_divergence=divergence,
        budget=UniformBudget(parameter=parameter, value=number(value)),
    )


@pytest.mark.reference("Z-D8", "Z-D47", "Z-T32", "Z-T33", "Z-T34", "Z-D50", "Z-S41")
def test_attacker_under_pure_privacy():
    attacker = StrongMembership(priors=["1/2"])
    report = risk(specification(Mult(), "epsilon", "ln(3)"), attacker, Coin(3))
    values = {row.quantity: (str(row.worst[0].value), str(row.own[0].value)) for row in report.rows}
    assert values == {
        "largest posterior of membership": ("3/4", "3/4"),
        "least posterior of membership": ("1/4", "1/4"),
        "largest posterior by prior": ("3/2", "3/2"),
        "largest change of the posterior": (values["largest change of the posterior"][0],) * 2,
        "privacy loss": ("ln(3)", "ln(3)"),
    }
    assert not report.exceeded
    assert all(said.assumption == StrongMembership.assumption for row in report.rows for said in (*row.worst, *row.own))
    assert {said.relation for row in report.rows for said in row.own} == {Sense.EQUALS}
    worse = risk(specification(Mult(), "epsilon", "ln(3)"), attacker, Coin(4))
    assert len(worse.exceeded) == 5, "a mechanism that breaks the specification is beyond every row"


@pytest.mark.reference("Z-T36", "Z-T37", "Z-T38", "Z-A17", "Z-S34")
def test_attacker_under_other_standards():
    attacker = StrongMembership(priors=["1/2"], failure="1/20")
    approximate = attacker.worst_case(specification(MultDelta(delta="1e-6"), "epsilon", "9/5"))
    assert near(approximate[0].value, 0.85815, 1e-5)
    concentrated = attacker.worst_case(specification(DNor(), "rho", "1/10"))
    assert concentrated[0].value.upper < 1
    neighbours = specification(Mult(), "epsilon", "ln(3)", Neighbour(relation=AddRemove(unit="person")))
    assert str(attacker.worst_case(neighbours)[0].value) == "3/4"


@pytest.mark.reference("Z-S42", "Z-D11")
def test_concentrated_privacy_of_two_units():
    """The Lipschitz constant is the root of rho, so that two records cost 4 rho; the moments say the same of Gaussian noise."""
    concentrated = specification(DNor(), "rho", "1/10")
    none, two = concentrated.space.dataset([]), concentrated.space.dataset([["yes"], ["yes"]])
    assert concentrated.allowance(none, two).squared() == Fraction(4, 10)
    pair = GaussianLaw(0, 5).against(GaussianLaw(2, 5))
    for order in (Fraction(3, 2), 2, 5):
        assert pair.renyi(order).upper <= Fraction(4, 10) * Fraction(order)  # ln E e^((a - 1) Z) <= (a - 1) a rho


def test_an_attacker_that_does_not_fit():
    with pytest.raises(AttackerMisfitError, match="no one is in or out"):
        StrongMembership().worst_case(pure_spec(epsilon=1))
    from dpspec_divergences import Hamming

    with pytest.raises(AttackerMisfitError, match="promises nothing about datasets with one person record more"):
        StrongMembership().worst_case(specification(Mult(), "epsilon", 1, Hamming(unit="person")))
    with pytest.raises(FailureProbabilityError, match="above delta"):
        StrongMembership(failure="1e-7").worst_case(specification(MultDelta(delta="1e-6"), "epsilon", 1))
    with pytest.raises(FailureProbabilityError, match="above 0 for d-nor"):
        StrongMembership().worst_case(specification(DNor(), "rho", 1))


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.reference("Z-S35")
def test_errors_teach():
    for prior in (0, 1):
        with pytest.raises(CertainTargetError, match="nothing to learn"):
            StrongMembership(priors=[prior])
        with pytest.raises(CertainTargetError, match="nothing to learn"):
            MembershipPosterior(posterior="3/4", prior=prior)
    with pytest.raises(FailureProbabilityError, match="must lie above delta"):
        loss_of_approximate(1, "1e-3", "1e-3")
    with pytest.raises(ProfileBelowOneError, match="above the prior"):
        MembershipPosterior(posterior="1/4", prior="1/2")
    with pytest.raises(ParameterError, match="too large"):
        approximate_of_loss("1/1000", "1/10", "1/5")
    with pytest.raises(FailureProbabilityError, match="no bound holds always"):
        MembershipRatio(ratio=3, method="zcdp").recommend()
    with pytest.raises(ParameterError, match="what 12 releases"):
        Releases(times=12, epsilon=1, delta_each="1e-6", delta="1e-6")
    for wrong in (lambda: loss_of_ratio(1), lambda: loss_of_difference(1), lambda: loss_of_posterior("1/4", "1/2")):
        with pytest.raises(ParameterError):
            wrong()
    with pytest.raises(ParameterError, match="must be one of"):
        total(Releases(times=1, epsilon=1), "naive")
    with pytest.raises(NoFormulaError, match="posterior_cdf"):
        posterior_law(GaussianLaw(0, 1).against(GaussianLaw(1, 1)), "1/2")


@pytest.mark.parametrize("failure", ["0", "1/100"])
def test_an_outcome_without_the_record_is_no_proof_of_the_record(failure):
    """Only data without anybody give b: a prior of 1/2 falls to 0 there, and rises to 1/(1 + 1/2) at a, never to 1."""
    rows = [ListedLaw(dataset=(), law=(("a", "1/2"), ("b", "1/2"))), ListedLaw(dataset=(("no",),), law=(("a", "1"),))]
    spec = PrivacySpec(
        space=UnorderedRecords(attributes=(Attribute(name="answer", categories=("no",)),), most=1), multiverse=Trivial(),
        input_divergence=SymmetricDifference(), output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=number("inf")),
    )  # fmt: skip
    found = {said.quantity: said for said in StrongMembership(priors=["1/2"], failure=failure).under(ListedLaws(laws=rows), spec)}
    assert {said.relation for said in found.values()} == {Sense.EQUALS}
    values = {quantity: said.value.lower for quantity, said in found.items()}
    assert values["largest posterior of membership"] == Fraction(2, 3)
    assert values["largest posterior by prior"] == Fraction(4, 3)
    assert values["least posterior of membership"] == 0
    assert values["privacy loss"].is_infinite
