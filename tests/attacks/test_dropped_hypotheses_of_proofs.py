"""Every step of a derived proof, without one of its hypotheses: the conclusion is false, and dpspec does not draw it.

Each test builds a case in which the hypothesis fails, shows two datasets that break what the step would say (exactly, by the
exhaustive engine or in fractions), and that the proof names the step as missing, or gives the larger constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from dpspec_divergences import (
    AddRemove,
    Hamming,
    Mult,
    Neighbour,
    Renyi,
    ReplaceOne,
    SymmetricDifference,
    TotalVariation,
)
from dpspec_flavours.secrets.averages import Subsampled
from dpspec_noise import (
    BoundedContributions,
    ComposedMechanism,
    ExponentialMechanism,
    Filtered,
    Gaussian,
    Geometric,
    Parallel,
    PostProcessed,
    RepeatedMechanism,
    ThresholdRelease,
)

from dpspec import Households, Marginal, OrderedRecords, PrivacySpec, Trivial, UniformBudget, UnorderedRecords
from dpspec.base.errors import ParameterError
from dpspec.base.exact import INFINITY, Bracket, Number, ln, number
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import NoisyCount
from dpspec.laws.combine import product
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw, Law
from dpspec.plugin import define
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing
from dpspec.verifier.verdict import Outcome, Verdict


def named(name: str, *categories: str) -> Attribute:
    return Attribute(name=name, categories=categories)


PEOPLE = UnorderedRecords(attributes=(named("a", "a0", "a1"), named("b", "b0", "b1")))
HOMES = Households(household=(named("block", "b0", "b1"),), person=(named("kind", "k0", "k1"),), members=2)
ONE_MORE, ONE_ELSE = Neighbour(relation=AddRemove()), Neighbour(relation=ReplaceOne())
BY_A = Marginal(attributes=("a",))


def count(*attributes: str, ratio: str = "1/2") -> Geometric:
    return Geometric(queries=(Marginal(attributes=attributes),), ratio=ratio)


def claim(
    distance: Any, budget: Any = 1000, *, space: DatasetSpace = PEOPLE, output: Any = None, fixed: tuple[Marginal, ...] = ()
) -> PrivacySpec:
    chosen = Mult() if output is None else output
    return PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=distance,
        output_divergence=chosen,
        budget=UniformBudget(parameter=chosen.budget_parameters[0], value=budget),
    )


def proved(mechanism: Mechanism, spec: PrivacySpec) -> Verdict:
    found = derive(mechanism, spec)
    assert not isinstance(found, Missing), str(found)
    return found


def missing(mechanism: Mechanism, spec: PrivacySpec) -> str:
    found = derive(mechanism, spec)
    assert isinstance(found, Missing), str(found)
    return found.step


def on_pair(mechanism: Mechanism, spec: PrivacySpec, *pair: Any) -> Number:
    """The quotient of d_Pr and d_X on two datasets at least, by the law of the mechanism."""
    return verify(mechanism, spec, datasets=pair).constant.lower


# --- sensitivity -----------------------------------------------------------------------------------


def test_laminar_invariants() -> None:
    """Two margins that cross: no single record can be replaced, and yet two can exchange a category. Both datasets are free."""
    margins = (BY_A, Marginal(attributes=("b",)))
    kinds = [(a, b) for a in ("a0", "a1") for b in ("b0", "b1")]
    alike = [(one, other) for one in kinds for other in kinds if one != other and one[0] == other[0] and one[1] == other[1]]
    assert not alike  # a sum of changes that keep both margins changes nothing
    spec = claim(Hamming(), fixed=margins)
    left, right = (("a0", "b0"), ("a1", "b1")), (("a0", "b1"), ("a1", "b0"))
    assert on_pair(count("a", "b"), spec, left, right) == ln(4)
    assert proved(count("a", "b"), spec).constant.upper >= ln(4)


@define
class Flat(SymmetricDifference):
    """1 for any two different datasets: what it says of the price of a record it has from another class."""

    name: ClassVar[str] = "flat"

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return number(0 if left == right else 1)


def test_a_price_of_changing_records() -> None:
    one = ("a0", "b0")
    assert on_pair(count("a"), claim(Flat()), (), (one, one, one)) == ln(8)  # and ln(2) for each record
    assert missing(count("a"), claim(Flat())) == "sensitivity"


# --- noise -----------------------------------------------------------------------------------------


@define
class SurerOfNobody(Geometric):
    """Noise that is smaller where nobody is counted: not one law around every count."""

    name: ClassVar[str] = "surer-of-nobody"

    def noise(self, center: int) -> Law:
        return TwoSidedGeometricLaw(center, ln(4 if center == 0 else 2))


def test_noise_of_one_shape_around_every_count() -> None:
    surer = SurerOfNobody(queries=(BY_A,), ratio="1/2")
    assert on_pair(surer, claim(ONE_MORE), (), (("a0", "b0"),)) > ln(2)
    assert missing(surer, claim(ONE_MORE)) == "structure"


def two_steps(center: int) -> Law:
    """The count, or 2 more: a change by 1 is seen for certain, one by 2 in half of the cases."""
    return FiniteLaw.of({center: Fraction(1, 2), center + 2: Fraction(1, 2)})


@define
class TwoSteps(Mechanism):
    """The number of persons with noise that hides a change by 2 better than one by 1."""

    name: ClassVar[str] = "two-steps"

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return two_steps(len(space.records(dataset, "person")))

    def structure(self, space: DatasetSpace) -> Structure:
        return Structure(views=(NoisyCount(Marginal(attributes=()), two_steps),))


def test_noise_that_larger_changes_are_never_easier_to_hide_behind() -> None:
    """A household of at most 2: the largest change alone would give 1/2."""
    spec = claim(Neighbour(relation=AddRemove(unit="household")), 1, space=HOMES, output=TotalVariation())
    full, single = ((("b0",), (("k0",), ("k0",))),), ((("b0",), (("k0",),)),)
    assert on_pair(TwoSteps(), spec, (), full) == number("1/2")
    assert on_pair(TwoSteps(), spec, (), single) == 1
    assert proved(TwoSteps(), spec).constant.upper >= 1


# --- path ------------------------------------------------------------------------------------------


def test_an_output_divergence_that_is_a_metric() -> None:
    """Renyi divergence of a Gaussian grows with the square of the shift: two records cost four times what one does."""
    noisy = Gaussian(queries=(BY_A,), variance=1)
    spec, near = (claim(d, output=Renyi(order=2)) for d in (SymmetricDifference(), ONE_MORE))
    one = ("a0", "b0")
    assert on_pair(noisy, near, (), (one,)) == 1
    assert on_pair(noisy, spec, (), (one, one)) == 2
    assert proved(noisy, near).constant.upper == 1
    assert missing(noisy, spec) == "path"


# --- post-process ----------------------------------------------------------------------------------


@define
class WithTotal(Mechanism):
    """A noisy table beside the exact number of records, which is read from the data."""

    name: ClassVar[str] = "with-total"

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return product([count("a").law(dataset, space), FiniteLaw.point(len(space.records(dataset, "person")))])

    def structure(self, space: DatasetSpace) -> Structure:
        return Structure(views=(NoisyCount(BY_A, count("a").noise),), reads=(Marginal(attributes=()),))


def test_facts_that_universes_fix() -> None:
    assert on_pair(WithTotal(), claim(ONE_MORE), (), (("a0", "b0"),)) == INFINITY
    assert missing(WithTotal(), claim(ONE_MORE)) == "post-process"
    assert proved(WithTotal(), claim(Hamming(), "ln(4)", fixed=(Marginal(attributes=()),))).outcome is Outcome.VERIFIED


# --- sample ----------------------------------------------------------------------------------------


def test_a_sample_that_is_not_published() -> None:
    space = OrderedRecords(attributes=PEOPLE.attributes)
    shown, hidden = (Subsampled(mechanism=count(), rate="1/2", publishes_sample=public) for public in (True, False))
    assert proved(hidden, claim(ONE_MORE, space=space)).constant.upper == ln("3/2")
    assert on_pair(shown, claim(ONE_MORE, space=space), (), (("a0", "b0"),)) > ln("3/2")
    assert missing(shown, claim(ONE_MORE, space=space)) == "structure"


def test_records_that_are_added_and_not_replaced() -> None:
    """What one record added may cost on a sample is ln(3/2); one replaced costs ln(2), where each cell has its own noise."""
    half = Subsampled(mechanism=count("a"), rate="1/2")
    assert proved(half, claim(ONE_MORE)).constant.upper == ln("3/2")
    on_one = on_pair(half, claim(ONE_ELSE), (("a0", "b0"),), (("a1", "b0"),))  # a lower end
    assert ln("2") - number("1e-15") < on_one <= ln("2")
    assert proved(half, claim(ONE_ELSE)).constant == Bracket.exactly(ln("2"))
    assert proved(half, claim(ONE_ELSE, "ln(3/2)")).outcome is Outcome.REFUTED


def test_a_record_replaced_whose_answers_are_not_independent() -> None:
    """Beside a total, which both records move, the two laws are mixtures with a part in common and no products."""
    both = Subsampled(mechanism=ComposedMechanism(parts=(count(), count("a"))), rate="1/2")
    assert missing(both, claim(ONE_ELSE)) == "sample"
    assert proved(both, claim(ONE_MORE)).constant.upper >= ln("5/2")


def test_a_rate_that_is_applied_once() -> None:
    half = Subsampled(mechanism=count(), rate="1/2")
    assert proved(half, claim(ONE_MORE, "ln(5/4)")).outcome is Outcome.REFUTED
    quarter = Subsampled(mechanism=half, rate="1/2")
    assert proved(quarter, claim(ONE_MORE)).constant.upper == ln("5/4")
    own = ComposedMechanism(parts=(half, half))  # each on a sample of its own
    assert missing(Subsampled(mechanism=own, rate="1/2"), claim(ONE_MORE)) == "structure"


def test_releases_with_samples_of_their_own() -> None:
    """Two releases about one sample lose ln(257/2) together, more than twice what each loses on a sample of its own.

    With little noise, as the law of two counts about one sample is listed point by point.
    """
    total, of_a = count(ratio="1/16"), count("a", ratio="1/16")
    one, both = (Subsampled(mechanism=m, rate="1/2") for m in (total, ComposedMechanism(parts=(of_a, of_a))))
    assert proved(one, claim(ONE_MORE)).constant.upper == ln("17/2")
    assert on_pair(one, claim(ONE_MORE), (), (("a0", "b0"),)) == ln("17/2")
    assert proved(both, claim(ONE_MORE)).constant.upper >= ln("257/2")
    assert ln("289/4") < ln("257/2")
    assert proved(ComposedMechanism(parts=(one, one)), claim(ONE_MORE)).constant.upper == ln("289/4")
    often = RepeatedMechanism(mechanism=one, times=2)
    assert proved(often, claim(ONE_MORE)).constant.upper == ln("289/4")
    once = Subsampled(mechanism=RepeatedMechanism(mechanism=of_a, times=2), rate="1/2")
    assert proved(once, claim(ONE_MORE)).constant.upper >= ln("257/2")


# --- parts, and bounded contributions ---------------------------------------------------------------


def test_parts_that_do_not_overlap() -> None:
    """A record of a0 is in both parts: together they lose the sum, not the larger one."""
    parts = [{"categories": ("a0",), "mechanism": count("b")}, {"categories": ("a0", "a1"), "mechanism": count("b")}]
    with pytest.raises(ParameterError, match="overlap"):
        Parallel(attribute="a", parts=parts)
    both = ComposedMechanism(parts=tuple(Filtered(mechanism=count("b"), where={"a": p["categories"]}) for p in parts))
    assert on_pair(both, claim(ONE_MORE), (), (("a0", "b0"),)) == ln(4)
    assert proved(both, claim(ONE_MORE)).constant.upper == ln(4)


@define
class FirstOfAll(BoundedContributions):
    """The first so many records of all users together: which of one user are left depends on the others."""

    name: ClassVar[str] = "first-of-all"

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        persons = sorted(space.records(dataset, "person"))[: self.most]
        kinds = Counter(kind for _, kind in persons)
        return product([TwoSidedGeometricLaw(kinds[kind], ln(2)) for kind in ("k0", "k1")])


def test_a_choice_that_looks_at_one_user_alone() -> None:
    """A household that comes first takes the only place, and another one's person is gone."""
    spec = claim(Neighbour(relation=AddRemove(unit="household")), space=HOMES)
    later, earlier = (("b1",), (("k0",),)), (("b0",), (("k1",),))
    own, shared = (kind(mechanism=count("kind"), most=1) for kind in (BoundedContributions, FirstOfAll))
    assert proved(own, spec).constant.upper == ln(2)
    assert on_pair(shared, spec, (later,), (earlier, later)) == ln(4)
    assert missing(shared, spec) == "structure"


# --- composition -----------------------------------------------------------------------------------


def up_to_two(center: int) -> Law:
    """The count and 0, 1 or 2 more."""
    return FiniteLaw.of({center + more: Fraction(1, 3) for more in range(3)})


def counts_of(dataset: Dataset, space: DatasetSpace) -> Sequence[int]:
    kinds = Counter(record[0] for record in space.records(dataset, "person"))
    return kinds["a0"], kinds["a1"]


@define
class OwnNoise(Mechanism):
    """Two counts, each with noise of its own."""

    name: ClassVar[str] = "own-noise"

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return product([up_to_two(n) for n in counts_of(dataset, space)])

    def structure(self, space: DatasetSpace) -> Structure:
        return Structure(views=(NoisyCount(BY_A, up_to_two),))


@define
class SharedNoise(OwnNoise):
    """The same noise for both counts: their difference is published exactly."""

    name: ClassVar[str] = "shared-noise"

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        one, other = counts_of(dataset, space)
        return FiniteLaw.of({(one + more, other + more): Fraction(1, 3) for more in range(3)})


def test_noise_of_its_own_for_every_answer() -> None:
    spec = claim(ONE_ELSE, 1, output=TotalVariation())
    pair = (("a0", "b0"),), (("a1", "b0"),)
    assert proved(OwnNoise(), spec).constant.upper == number("5/9")
    assert on_pair(SharedNoise(), spec, *pair) == 1
    assert missing(SharedNoise(), spec) == "structure"


# --- choices and keys ------------------------------------------------------------------------------


def test_counts_that_change_in_one_direction() -> None:
    """One record added costs an exponential mechanism its rate; one replaced moves two counts apart and costs up to twice it."""
    chosen = ExponentialMechanism(query=BY_A, rate="ln(2)")
    assert proved(chosen, claim(ONE_MORE)).constant.upper == ln(2)
    far = [tuple(sorted([("a0", "b0")] * n + [("a1", "b0")] * (5 - n))) for n in (0, 1)]
    assert on_pair(chosen, claim(ONE_ELSE), *far) > ln(3)
    assert proved(chosen, claim(ONE_ELSE)).constant.upper == ln(4)


KEYS: tuple[tuple[str, Callable[[], Mechanism]], ...] = (
    ("listed", lambda: PostProcessed(mechanism=count("a"), hidden_below=2)),
    ("found in the data", lambda: ThresholdRelease(query=BY_A, ratio="1/2", threshold=2)),
)


def test_keys_that_are_listed() -> None:
    """Where a key is shown only if it occurs, that it is shown gives a record away, whatever epsilon is."""
    listed, found = (made() for _, made in KEYS)
    assert proved(listed, claim(ONE_MORE)).constant.upper == ln(2)
    assert on_pair(found, claim(ONE_MORE), (), (("a0", "b0"),)) == INFINITY
    assert proved(found, claim(ONE_MORE)).outcome is Outcome.REFUTED
