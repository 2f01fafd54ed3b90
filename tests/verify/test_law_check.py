"""The structure that a mechanism states is compared with its law: broken plugins are not verified, correct ones are."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, ClassVar

import pytest
from dpspec_divergences import AddRemove, Hamming, Mult, MultDelta, Neighbour, SymmetricDifference, TotalVariation
from dpspec_flavours.secrets.averages import Subsampled
from dpspec_noise import Laplace
from dpspec_noise.combinators import ComposedMechanism, Filtered, Parallel, ParallelPart, PostProcessed

import dpspec as dp
from dpspec import Attribute, Marginal, PrivacySpec, UnorderedRecords
from dpspec.base.errors import NoFormulaError, NotInSpaceError, PluginContractError
from dpspec.base.params import Integer, Truth, evolve
from dpspec.base.work import spent
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.structure import ProvedBound, Structure
from dpspec.grammar.views import NoisyCount, law_data
from dpspec.laws.combine import product
from dpspec.laws.exponential import exact_exponential, finite_law
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.plugin import define
from dpspec.verifier import law_check
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.law_check import FEW_CATEGORIES, FEW_COMBINATIONS, SMALLER_PARAMETERS, compare_law
from dpspec.verifier.proof import OTHER_SPACE, Missing, derive
from dpspec.verifier.verdict import Outcome
from tests.verify.broken_mechanisms import AGE, BROKEN, BY_SEX, PEOPLE, SEX, Correct, Noisy, WithNumber, claim, noise


@define
class NoLaw(Noisy):
    """A structure whose law no one can compute."""

    name: ClassVar[str] = "test-no-law"

    def law(self, dataset: Any, space: Any) -> Any:
        raise NoFormulaError(self.name, "has no law that can be computed", "none")

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class SomeLaws(Noisy):
    """A law that can be computed on tables of one size only, so that no record added is ever compared."""

    name: ClassVar[str] = "test-some-laws"

    def law(self, dataset: Any, space: Any) -> Any:
        if len(space.records(dataset, "person")) != 1:
            raise NoFormulaError(self.name, "has a law for one person only", "none")
        return product(self.counts(dataset, space))

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@pytest.mark.parametrize(("mechanism", "spec"), BROKEN, ids=lambda value: getattr(value, "name", ""))
def test_a_structure_that_the_law_contradicts_is_a_fault_of_the_mechanism(mechanism: Any, spec: PrivacySpec) -> None:
    with pytest.raises(PluginContractError, match=f"mechanism {mechanism.name}.*(contradicts|another law)"):
        derive(mechanism, spec)


@define
class WithCrowd(Noisy):
    """Noisy counts, and whether the table has exactly these numbers of women and men: other tables say nothing of it."""

    name: ClassVar[str] = "test-with-crowd"

    women: Annotated[int, Integer(0)]
    men: Annotated[int, Integer(0)]

    def law(self, dataset: Any, space: Any) -> Any:
        is_it = BY_SEX.answers(space.dataset(dataset), space) == (self.women, self.men)
        return product([*self.counts(dataset, space), FiniteLaw.point(is_it)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@pytest.mark.parametrize(
    ("women", "men", "distance", "least"),
    [
        (1, 1, Neighbour(relation=AddRemove()), 0), (0, 2, Neighbour(relation=AddRemove()), 0), (2, 2, SymmetricDifference(), 0),
        (3, 1, Neighbour(relation=AddRemove()), 2), (1, 2, Hamming(), 0),
    ],
)  # fmt: skip
def test_a_law_that_tells_one_table_apart_contradicts_its_structure(women: int, men: int, distance: Any, least: int) -> None:
    made = WithCrowd(women=women, men=men)
    with pytest.raises(PluginContractError, match=f"{made.name}.*states a structure that its own law contradicts"):
        verify_claim(made, claim(distance, "ln(4)", space=UnorderedRecords(attributes=(SEX, AGE), least=least)))


@define
class FromNumber(Noisy):
    """Noisy counts, and whether there are so many records, which small tables do not show."""

    name: ClassVar[str] = "test-from-number"

    number: Annotated[int, Integer(0)]

    def law(self, dataset: Any, space: Any) -> Any:
        are_many = len(space.records(dataset, "person")) >= self.number
        return product([*self.counts(dataset, space), FiniteLaw.point(are_many)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@pytest.mark.parametrize("number", [5, 12, 28])
@pytest.mark.parametrize("distance", [SymmetricDifference(), Neighbour(relation=AddRemove())], ids=lambda value: value.name)
def test_a_law_that_tells_more_from_a_number_of_records_on_contradicts_its_structure(number: int, distance: Any) -> None:
    with pytest.raises(PluginContractError, match=r"test-from-number.*states a structure that its own law contradicts"):
        verify_claim(FromNumber(number=number), claim(distance, "ln(4)"))


@define
class ManyMen(Noisy):
    """Noisy counts, and whether there are so many men, which a claim about replaced records does not fix."""

    name: ClassVar[str] = "test-many-men"

    number: Annotated[int, Integer(0)]

    def law(self, dataset: Any, space: Any) -> Any:
        are_many = BY_SEX.answers(space.dataset(dataset), space)[1] >= self.number
        return product([*self.counts(dataset, space), FiniteLaw.point(are_many)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@pytest.mark.parametrize("distance", [Hamming(), Neighbour(relation=AddRemove())], ids=lambda value: value.name)
def test_a_law_that_tells_more_of_many_records_of_one_kind_contradicts_its_structure(distance: Any) -> None:
    with pytest.raises(PluginContractError, match=r"test-many-men.*states a structure that its own law contradicts"):
        verify_claim(ManyMen(number=20), claim(distance, "ln(4)"))


BY_AGE = Marginal(attributes=("age",))


@define
class OneCategory(Noisy):
    """Noisy counts, and whether someone is 45 years old: no reduced space has this category."""

    name: ClassVar[str] = "test-one-category"

    def law(self, dataset: Any, space: Any) -> Any:
        ages = {record[1] for record in space.records(dataset, "person")}
        return product([*self.counts(dataset, space), FiniteLaw.point("45" in ages)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class OneExactCell(Noisy):
    """Noisy counts by age, one of which is exact."""

    name: ClassVar[str] = "test-one-exact-cell"

    def law(self, dataset: Any, space: Any) -> Any:
        counts = BY_AGE.answers(space.dataset(dataset), space)
        return product([FiniteLaw.point(count) if age == 45 else noise(count) for age, count in enumerate(counts)])

    def structure(self, space: Any) -> Structure:
        return Structure(views=(NoisyCount(BY_AGE, noise),))


@define
class OtherOnLargeSpaces(Noisy):
    """Counts by age with less noise than the structure says, where there are many ages."""

    name: ClassVar[str] = "test-other-on-large-spaces"

    def law(self, dataset: Any, space: Any) -> Any:
        return product([small_noise(count) for count in BY_AGE.answers(space.dataset(dataset), space)])

    def structure(self, space: Any) -> Structure:
        is_large = space.attributes_of("person")[1].size > 20
        return Structure(views=(NoisyCount(BY_AGE, noise if is_large else small_noise),))


def small_noise(center: int) -> Any:
    return TwoSidedGeometricLaw.with_ratio(center, Fraction(1, 8))


@pytest.mark.parametrize(("mechanism", "spec"), [
    (OneCategory(), claim()),
    (OneCategory(), claim(Neighbour(relation=AddRemove()))),
    (OneCategory(), claim(Hamming(), "ln(4)")),
    (OneCategory(), claim(Hamming(), "ln(4)", fixed=(BY_SEX,))),
    (OneCategory(), claim(space=UnorderedRecords(attributes=(SEX, AGE), least=1000))),
    (OneExactCell(), claim()),
    (OneExactCell(), claim(Hamming(), "ln(4)")),
], ids=lambda value: getattr(value, "name", ""))  # fmt: skip
def test_a_law_that_tells_one_category_apart_contradicts_its_structure(mechanism: Any, spec: PrivacySpec) -> None:
    with pytest.raises(PluginContractError, match=f"{mechanism.name}.*states a structure that its own law contradicts"):
        verify_claim(mechanism, spec)


def with_ages(count: int) -> UnorderedRecords:
    return UnorderedRecords(attributes=(SEX, Attribute(name="age", count=count)))


def test_a_structure_that_is_another_one_on_large_spaces_contradicts_the_law() -> None:
    """On a reduced space the two agree. Of a law of 1,500 answers a few pairs are compared on the space itself."""
    with pytest.raises(PluginContractError, match=r"test-other-on-large-spaces.*contradicts"):
        verify_claim(OtherOnLargeSpaces(), claim(space=with_ages(1_500)))


@pytest.mark.parametrize(("mechanism", "ages"), [(OneCategory(), 1_501), (OtherOnLargeSpaces(), 20_000), (Correct(), 1_501)])
def test_a_verdict_says_that_not_all_categories_were_compared(mechanism: Any, ages: int) -> None:
    found = verify_claim(mechanism, claim(space=with_ages(ages)))
    assert found.outcome is Outcome.VERIFIED
    assert FEW_CATEGORIES in found.assumptions


def test_a_category_within_another_one_is_compared_in_its_place() -> None:
    """The first record with each category: 45 lies in the second of two generations."""
    age = Attribute(name="age", count=90, within="generation")
    spec = claim(space=UnorderedRecords(attributes=(Attribute(name="generation", count=2), age, SEX)))
    with pytest.raises(PluginContractError, match=r"test-one-category=\(\), \(\('1', '45', 'f'\),\): .*contradicts"):
        verify_claim(OneCategory(), spec)
    assert not {FEW_CATEGORIES, FEW_COMBINATIONS} & set(verify_claim(Correct(), spec).assumptions)


@define
class OneCombination(Noisy):
    """Noisy counts, and whether someone is 45 years old and lives in region 1."""

    name: ClassVar[str] = "test-one-combination"

    def law(self, dataset: Any, space: Any) -> Any:
        places = [[a.name for a in space.attributes_of("person")].index(name) for name in ("age", "region")]
        people = [tuple(record[place] for place in places) for record in space.records(dataset, "person")]
        return product([*self.counts(dataset, space), FiniteLaw.point(("45", "1") in people)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


def with_regions(count: int) -> UnorderedRecords:
    return UnorderedRecords(attributes=(SEX, AGE, Attribute(name="region", count=count)))


BY_REGION = Marginal(attributes=("region",))


@pytest.mark.parametrize("distance", [SymmetricDifference(), Hamming()], ids=lambda value: value.name)
@pytest.mark.parametrize("mechanism", [OneCombination(), Correct()], ids=lambda value: value.name)
def test_a_verdict_says_that_not_all_combinations_were_compared(mechanism: Any, distance: Any) -> None:
    """A record of each category was, and 1,800 combinations are too many: nothing shows which of the two mechanisms it is."""
    found = verify_claim(mechanism, claim(distance, "ln(4)", space=with_regions(10)))
    assert found.outcome is Outcome.VERIFIED
    assert FEW_COMBINATIONS in found.assumptions


@pytest.mark.parametrize("fixed", [(), (BY_REGION,), (BY_REGION, BY_AGE), (BY_SEX, BY_REGION, BY_AGE)])
def test_all_combinations_are_compared_where_they_are_few(fixed: Any) -> None:
    """Also where no single record can be replaced by the one before it, or by any other: two of them exchange an attribute."""
    spec = claim(Hamming(), "ln(16)", space=with_regions(2), fixed=fixed)
    with pytest.raises(PluginContractError, match=r"test-one-combination.*contradicts"):
        verify_claim(OneCombination(), spec)
    assert not {FEW_CATEGORIES, FEW_COMBINATIONS} & set(verify_claim(Correct(), spec).assumptions)


def test_records_that_are_in_no_compared_pair_are_not_said_to_be_compared() -> None:
    """All is fixed but the region of those who are 45: no record of another age is in a pair that the claim speaks about."""
    fixed = Marginal(attributes=("sex", "age", "region"), where={"age": tuple(str(age) for age in range(90) if age != 45)})
    found = verify_claim(Correct(), claim(Hamming(), "ln(4)", space=with_regions(2), fixed=(fixed,)))
    assert found.outcome is Outcome.VERIFIED
    assert FEW_CATEGORIES in found.assumptions


@define
class WithoutOneCategory(Noisy):
    """Noisy counts, with an error instead of a law for one category."""

    name: ClassVar[str] = "test-without-one-category"

    crashes: Annotated[bool, Truth()] = False

    def law(self, dataset: Any, space: Any) -> Any:
        if any(record[1] == "45" for record in space.records(dataset, "person")):
            raise ZeroDivisionError if self.crashes else NotInSpaceError(self.name, "knows nobody of this age")
        return product(self.counts(dataset, space))

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


def test_a_law_that_is_undefined_for_one_category_proves_nothing() -> None:
    found = derive(WithoutOneCategory(), claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.UNDECIDED
    assert "its law could be compared with it on" in found.reason
    crashed = derive(WithoutOneCategory(crashes=True), claim())
    assert not isinstance(crashed, Missing)
    assert crashed.outcome is Outcome.UNDECIDED
    assert "test-without-one-category: raised ZeroDivisionError" in crashed.reason


@define
class WithTwoWomen(Noisy):
    """Noisy counts by sex, and how many women are of age 0 where there are two women: no single record shows it where the counts
    by sex and by age are fixed."""

    name: ClassVar[str] = "test-with-two-women"

    def law(self, dataset: Any, space: Any) -> Any:
        ages = [record[1] for record in space.records(dataset, "person") if record[0] == "f"]
        return product([*self.counts(dataset, space), FiniteLaw.point(ages.count("0") if len(ages) == 2 else 0)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


def test_a_law_that_tells_exchanges_apart_contradicts_its_structure() -> None:
    spec = claim(Hamming(), "ln(4)", fixed=(BY_SEX, BY_AGE), space=with_ages(2))
    with pytest.raises(PluginContractError, match=r"test-with-two-women.*states a structure that its own law contradicts"):
        verify_claim(WithTwoWomen(), spec)


@pytest.mark.parametrize(("changed", "output", "budget"), [
    ({"at_least": 0}, TotalVariation(), "1/3"), ({"rounded_to": 5}, TotalVariation(), "1/3"),
    ({"at_least": 0}, Mult(), "ln(2)"), ({"rounded_to": 5}, MultDelta(delta="1/1000"), "ln(2)"),
])  # fmt: skip
def test_an_exact_number_next_to_noise_that_is_changed_is_seen(changed: Any, output: Any, budget: str) -> None:
    """The laws of two numbers have different outcomes, but for tails of the noise that are not listed."""
    parameter = output.budget_parameters[0]
    spec = claim(Neighbour(relation=AddRemove()), budget, output=output, parameter=parameter)
    with pytest.raises(PluginContractError, match=r"contradicts|another law"):
        verify_claim(PostProcessed(mechanism=WithNumber(), **changed), spec)


def test_the_work_on_many_records_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the limit leaves out is not compared, and a proof goes on."""
    monkeypatch.setattr(law_check, "MANY_OTHERS", (9, 99))
    before = spent()
    assert verify_claim(Correct(), claim(Hamming(), "ln(4)")).outcome is Outcome.VERIFIED
    assert spent() - before < 2 * law_check.MOST_WORK_OF_MANY
    monkeypatch.setattr(law_check, "MOST_WORK_OF_MANY", 10)
    assert verify_claim(FromNumber(number=12), claim()).outcome is Outcome.VERIFIED


def test_what_is_never_compared_may_be_told() -> None:
    """Under Hamming the number of records is known, and no path leads from fewer to more."""
    assert verify_claim(FromNumber(number=50), claim(Hamming(), "ln(4)")).outcome is Outcome.VERIFIED


def test_a_law_that_tells_more_only_of_tables_outside_the_space_is_no_contradiction() -> None:
    space = UnorderedRecords(attributes=(SEX, AGE), most=25)
    assert verify_claim(FromNumber(number=26), claim(space=space)).outcome is Outcome.VERIFIED
    with pytest.raises(PluginContractError, match="contradicts"):
        verify_claim(FromNumber(number=25), claim(space=space))


@pytest.mark.parametrize(("mechanism", "spec"), BROKEN, ids=lambda value: getattr(value, "name", ""))
def test_verify_does_not_verify_a_broken_plugin(mechanism: Any, spec: PrivacySpec) -> None:
    """The entry of `dpspec verify` and `dp.verify`, which walks small spaces and tries pairs besides."""
    try:
        found = verify_claim(mechanism, spec)
    except PluginContractError as fault:
        assert mechanism.name in str(fault)  # noqa: PT017 - a refutation is as good
    else:
        assert found.outcome is not Outcome.VERIFIED


def test_what_a_law_derives_from_its_parameters_is_no_data_of_a_proof() -> None:
    law = finite_law({0: exact_exponential(1), 1: 1}, normalise=True)
    assert set(law_data(law)) == {"family", "probabilities"}


RIGHT = [
    (Correct(), claim()),
    (Correct(), claim(Hamming(), "ln(4)")),
    (Correct(), claim(space=UnorderedRecords(attributes=(SEX, AGE), least=1000))),
    (Correct(), claim(Hamming(), "ln(4)", space=UnorderedRecords(attributes=(SEX, AGE), least=70, most=70))),
    (Correct(), claim(output=MultDelta(delta="1/1000"), distance=Neighbour(relation=AddRemove()))),
    (WithNumber(), claim(Hamming(), "ln(4)", space=UnorderedRecords(attributes=(SEX, AGE), least=70, most=70))),
    (WithNumber(), claim(Hamming(), "ln(4)")),
]


@pytest.mark.parametrize(("mechanism", "spec"), RIGHT, ids=lambda value: getattr(value, "name", ""))
def test_a_correct_structure_is_verified_and_does_not_rest_on_itself(mechanism: Any, spec: PrivacySpec) -> None:
    found = derive(mechanism, spec)
    assert not isinstance(found, Missing), str(found)
    assert found.outcome is Outcome.VERIFIED
    assert not any("structure" in text for text in found.assumptions)


def test_pairs_of_equal_laws_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the pairs next to other records differ by the same shift of one answer."""
    judged, real = [], Mult.event_bounds
    monkeypatch.setattr(Mult, "event_bounds", lambda divergence, bound: judged.append(bound) or real(divergence, bound))
    found = compare_law(Correct(), Correct().structure(PEOPLE), claim())
    assert found.compared > 60
    assert len(judged) * 4 < found.compared


def test_a_structure_without_any_law_proves_nothing() -> None:
    """Its author states the structure, and nothing else says that the mechanism is made so."""
    found = derive(NoLaw(), claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.UNDECIDED
    assert "the constant would be at most ln(2), but the proof rests on the structure that the mechanism states" in found.reason
    assert "test-no-law: has no law that can be computed" in found.reason
    assert not found.universes


def test_a_law_on_some_pairs_alone_proves_nothing() -> None:
    found = derive(SomeLaws(), claim(Neighbour(relation=AddRemove())))
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.UNDECIDED
    assert "has a law for one person only" in found.reason


@define
class FewCategories(Noisy):
    """A law that can be computed for few categories only."""

    name: ClassVar[str] = "test-few-categories"

    def law(self, dataset: Any, space: Any) -> Any:
        if space.attributes_of("person")[1].size > 50:
            raise NoFormulaError(self.name, "has a law for few categories only", "none")
        return product(self.counts(dataset, space))

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


def test_a_verdict_says_that_the_law_is_known_on_smaller_spaces_only() -> None:
    found = derive(FewCategories(), claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.VERIFIED
    assert OTHER_SPACE in found.assumptions


@define
class WideReport(Noisy):
    """Noisy counts whose law is listed for few bits only, with a claim for smaller parameters: its own, or those of another."""

    name: ClassVar[str] = "test-wide-report"

    bits: Annotated[int, Integer()] = 64
    other_class: Annotated[bool, Truth()] = False
    leaks: Annotated[bool, Truth()] = False

    def reduced(self, space: Any) -> Mechanism:
        return Correct() if self.other_class else evolve(self, bits=2)

    def law(self, dataset: Any, space: Any) -> Any:
        if self.bits > 8:
            raise NoFormulaError(self.name, "has a law for eight bits only", "none")
        number = len(space.records(dataset, "person"))
        return product([*self.counts(dataset, space), *([FiniteLaw.point(number)] if self.leaks else [])])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


def test_smaller_parameters_confirm_a_structure_and_the_verdict_says_so() -> None:
    found = derive(WideReport(), claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.VERIFIED
    assert SMALLER_PARAMETERS in found.assumptions


def test_another_mechanism_is_not_the_one_with_smaller_parameters() -> None:
    found = derive(WideReport(other_class=True), claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.UNDECIDED


def test_smaller_parameters_whose_law_contradicts_the_structure_are_a_fault() -> None:
    with pytest.raises(PluginContractError, match=r"test-wide-report.*contradicts"):
        derive(WideReport(leaks=True), claim())


@pytest.mark.parametrize("made", [
    lambda inner: Filtered(mechanism=inner, where=(("sex", ("f",)),)),
    lambda inner: ComposedMechanism(parts=(inner, Correct())),
    lambda inner: PostProcessed(mechanism=inner, at_least=0),
    lambda inner: Parallel(attribute="sex", parts=(ParallelPart(categories=("f",), mechanism=inner),)),
    lambda inner: Subsampled(mechanism=inner, rate="1/2"),
])  # fmt: skip
@pytest.mark.parametrize("inner", [NoLaw(), SomeLaws()], ids=lambda inner: inner.name)
def test_what_applies_a_mechanism_without_a_law_proves_nothing(made: Any, inner: Any) -> None:
    found = derive(made(inner), claim(epsilon="ln(4)"))
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.UNDECIDED


# --- theorems --------------------------------------------------------------------------------------


@define
class Theorem(Noisy):
    """A noisy number of women, with a theorem of its own; with `leaks` the exact number of men next to it."""

    name: ClassVar[str] = "test-theorem"

    leaks: Annotated[bool, Truth()] = False

    def law(self, dataset: Any, space: Any) -> Any:
        women, men = BY_SEX.answers(space.dataset(dataset), space)
        return product([noise(women), FiniteLaw.point(men)]) if self.leaks else noise(women)

    def proved(self, spec: PrivacySpec) -> ProvedBound:
        pair = (spec.space.dataset([]), spec.space.dataset([spec.space.dataset([["f", "0"]])[0]]))
        return ProvedBound(
            holds=True, invariants=(), input_divergence=spec.input_divergence, output_divergence=spec.output_divergence,
            pair=pair, says="noise hides one woman", citation="the lecture",
        )  # fmt: skip


def test_a_theorem_that_the_law_contradicts_is_a_fault_of_the_mechanism() -> None:
    found = derive(Theorem(), claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.VERIFIED
    with pytest.raises(PluginContractError, match="states a theorem that its own law contradicts"):
        derive(Theorem(leaks=True), claim())


@define
class TheoremFromNumber(Theorem):
    """The same theorem, of a mechanism that tells whether there are so many records."""

    name: ClassVar[str] = "test-theorem-from-number"

    number: Annotated[int, Integer(0)]

    def law(self, dataset: Any, space: Any) -> Any:
        women, men = BY_SEX.answers(space.dataset(dataset), space)
        return product([noise(women), FiniteLaw.point(women + men >= self.number)])

    def proved(self, spec: PrivacySpec) -> ProvedBound:
        return super().proved(spec)


@pytest.mark.parametrize(
    ("distance", "number"), [(SymmetricDifference(), 5), (SymmetricDifference(), 20), (Neighbour(relation=AddRemove()), 8)]
)
def test_a_theorem_that_many_records_refute_is_a_fault_of_the_mechanism(distance: Any, number: int) -> None:
    with pytest.raises(PluginContractError, match="states a theorem that its own law contradicts"):
        derive(TheoremFromNumber(number=number), claim(distance, "ln(4)"))


@define
class TheoremOfOneCategory(Theorem):
    """The same theorem, of a mechanism that tells whether someone is 45 years old."""

    name: ClassVar[str] = "test-theorem-of-one-category"

    def law(self, dataset: Any, space: Any) -> Any:
        ages = {record[1] for record in space.records(dataset, "person")}
        return product([super().law(dataset, space), FiniteLaw.point("45" in ages)])

    def proved(self, spec: PrivacySpec) -> ProvedBound:
        return super().proved(spec)


def test_a_theorem_that_one_category_refutes_is_a_fault_of_the_mechanism() -> None:
    with pytest.raises(PluginContractError, match="states a theorem that its own law contradicts"):
        derive(TheoremOfOneCategory(), claim())
    space = UnorderedRecords(attributes=(SEX, Attribute(name="age", count=1500)))
    found = derive(TheoremOfOneCategory(), claim(space=space))
    assert not isinstance(found, Missing)
    assert FEW_CATEGORIES in found.assumptions


@define
class TheoremAlone(Theorem):
    """The same theorem, of a mechanism without a law on more than one record."""

    name: ClassVar[str] = "test-theorem-alone"

    def law(self, dataset: Any, space: Any) -> Any:
        if len(space.records(dataset, "person")) > 1:
            raise NoFormulaError(self.name, "has a law for one person only", "none")
        return super().law(dataset, space)

    def proved(self, spec: PrivacySpec) -> ProvedBound:
        return super().proved(spec)


def test_a_theorem_that_cannot_be_compared_with_a_law_proves_nothing() -> None:
    found = derive(TheoremAlone(), claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.UNDECIDED
    assert "rests on the theorem that the mechanism states" in found.reason


# --- views -----------------------------------------------------------------------------------------


class Halved(NoisyCount):
    """A view that changes what a change shows, and does not say again that larger changes are easier to see."""

    def changed(self, counts: Any) -> Any:
        return super().changed(tuple(count % 2 for count in counts))


class Renamed(NoisyCount):
    """A view that is written differently in proofs, and shows the same."""

    def data(self) -> Any:
        return {"kind": "renamed"}


def test_a_view_that_shows_something_else_inherits_no_promise() -> None:
    assert NoisyCount(BY_SEX, noise).tells_more_by_more
    assert Renamed(BY_SEX, noise).tells_more_by_more
    assert not Halved(BY_SEX, noise).tells_more_by_more


def test_two_margins_that_cross_are_compared_on_exchanges() -> None:
    """No single change keeps both margins, so that pairs of the structure's changes share no universe."""
    table = Marginal(attributes=("sex", "age"))
    spec = claim(Hamming(), 2, fixed=(BY_SEX, Marginal(attributes=("age",))))
    mechanism = Laplace(queries=(table,), epsilon=1)
    structure = mechanism.structure(spec.space)
    assert structure is not None
    assert compare_law(mechanism, structure, spec).compared > 0


def test_exchanges_of_many_attributes_are_few_and_change_each_record() -> None:
    """With 96 tables that are published, each record exchanged each attribute: 33,000 pairs, each read by all tables."""
    names = [f"a{place}" for place in range(40)]
    published = [dp.marginal(attributes=[name]) for name in names[1:]]
    spec = dp.spec(
        space=dp.records(**dict.fromkeys(names, 3)), invariants=published, distance="hamming", standard="pure", epsilon=2
    )  # fmt: skip
    each = law_check._EachCategory.of(spec.space, 3)
    pairs, beyond = each.pairs(spec)
    assert beyond == (FEW_COMBINATIONS,)
    assert len(pairs) <= max(law_check.MOST_EXCHANGES, law_check.FEW_EXCHANGED * len(each.records)) + len(each.records)


def test_of_many_attributes_only_those_of_a_family_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that differs in one attribute is looked for among thousands, for each of a thousand attributes."""
    calls = []
    mixed = law_check._mixed
    monkeypatch.setattr(law_check, "_mixed", lambda *given: calls.append(1) or mixed(*given))
    space = UnorderedRecords(attributes=tuple(Attribute(name=f"a{place}", count=3) for place in range(60)))
    found = law_check._EachCategory.of(space, 1)._families
    assert not calls
    first = next(iter(found.values()))
    assert [sum(a != b for a, b in zip(record, first, strict=True)) for record in list(found.values())[1:]] == [2] * 59
