"""The composition of specifications with different blocks: by hand, by the exact engine, and where it must be refused."""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner
from dpspec_divergences.counting import AddRemove, Hamming, HammingOrdered, ReplaceOne, SymmetricDifference
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi, TotalVariation
from dpspec_divergences.paths import Neighbour
from hypothesis import given, strategies as st

import dpspec as dp
from dpspec.base.errors import EmptyLedgerError, MixedLedgerError, NoCompositionError
from dpspec.base.exact import number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.cli import main
from dpspec.comparison.composition import Part, compose, composed_document, documents_of, parts_of
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec, compares_sizes
from dpspec.laws.law import FiniteLaw
from dpspec.report.ledgers import ledger_parts
from dpspec.report.terminal import budget_in_words, drawn
from dpspec.specfile import read_text, to_toml
from reproductions.ledger_2020 import files

SPECS = Path(__file__).parents[2] / "specs"
KIND = Attribute(name="kind", categories=("a", "b"))
AGE = Attribute(name="age", categories=("minor", "adult"))
RECORDS = UnorderedRecords(attributes=(KIND,), most=2)
HOMES = Households(household=(KIND,), person=(AGE,), most=2, members=2)
PERSONS = Marginal(unit="person", attributes=())
ADULTS = Marginal(unit="person", attributes=("age",))
UNITS = Marginal(unit="household", attributes=("kind",))


def spec(budget, *, space=RECORDS, invariants=(), distance=None, divergence=None):
    divergence = divergence or Mult()
    return PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=invariants) if invariants else Trivial(),
        input_divergence=distance or Hamming(unit="person"),
        output_divergence=divergence,
        budget=UniformBudget(parameter=divergence.budget_parameters[0], value=number(budget)),
    )


def parts(*specs):
    return [Part(id=f"part-{place}", spec=each) for place, each in enumerate(specs)]


def read_parts(*names, directory=SPECS):
    return parts_of(documents_of([str(directory / f"{name}.dpspec.toml") for name in names], installed().registry))


# --- by hand -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("budgets", "printed", "nearest"), [
    (("sqrt(2)",) * 3, "4.24265", "4.24264"), (("sqrt(3)", "ln(2)"), "2.4252", "2.42520"),
])  # fmt: skip
def test_a_total_without_a_short_form_is_printed_rounded_up(budgets, printed, nearest):
    """3 sqrt(2) = 4.242640... was printed as about 4.24264, which is less than what is spent."""
    found = compose(parts(*map(spec, budgets)))
    texts = [drawn(*ledger_parts(found), plain=True), budget_in_words(found.spec.budget)]
    assert all(f"at most {printed}" in text for text in texts)
    spent = sum(math.sqrt(2) if budget == "sqrt(2)" else math.sqrt(3) / 2 + math.log(2) / 2 for budget in budgets)
    assert float(printed) > spent
    assert f"{spent:.5f}" == nearest


def test_invariants_unite():
    found = compose(
        parts(
            spec(1, space=HOMES, invariants=(PERSONS,)), spec(2, space=HOMES, invariants=(UNITS, PERSONS)), spec(3, space=HOMES)
        )
    )
    assert found.spec.multiverse == LevelSets(invariants=(PERSONS, UNITS))
    assert found.spec.budget.uniform() == 6
    assert [len(line.steps) for line in found.lines] == [1, 1, 1]


def test_a_distance_goes_to_the_common_one_by_its_constant():
    """A replaced record is one removed and one added: what is said per removal costs twice as much per replacement."""
    found = compose(parts(spec(1, distance=Hamming()), spec(1, distance=SymmetricDifference())), like=spec(0, distance=Hamming()))
    assert found.spec.budget.uniform() == 3
    assert found.spec.input_divergence == Hamming()


def test_rho_grows_with_the_square_of_the_constant():
    rho = [spec(1, distance=d, divergence=DNor()) for d in (Hamming(), SymmetricDifference())]
    assert compose(parts(*rho), like=rho[0]).spec.budget.uniform() == 5


def test_a_divergence_goes_to_the_common_one():
    found = compose(parts(spec(2), spec("1/2", divergence=DNor())))
    assert found.spec.output_divergence == DNor()
    assert float(found.spec.budget.uniform()) == pytest.approx(2 * math.tanh(1) + 0.5, rel=1e-12)
    assert "rho at most 1.52319" in str(found.losses())


def test_approximate_parts_add_both_numbers():
    found = compose(parts(spec(1, divergence=MultDelta(delta="1e-6")), spec(2, divergence=MultDelta(delta="1e-10")), spec(3)))
    assert found.spec.output_divergence == MultDelta(delta="1.0001e-6")
    assert found.spec.budget.uniform() == 6
    assert found.losses() == ()


def test_persons_and_households_need_a_largest_household_and_a_fixed_number_of_persons():
    """Ten times two constants: 3 persons of a household change at most, so rho is multiplied by 9."""
    homes = attrs.evolve(HOMES, members=3)
    per_person = spec(1, space=homes, invariants=(PERSONS,), divergence=DNor())
    per_home = spec("1/2", space=homes, divergence=DNor(), distance=Hamming(unit="household"))
    found = compose(parts(per_person, per_home))
    assert found.spec.budget.uniform() == Fraction(19, 2)
    assert found.spec.input_divergence == Hamming(unit="household")
    assert [step.rule for step in found.lines[0].steps] == ["domination-inside-universes"]


# --- against the exact engine --------------------------------------------------------------------


def _answers(seed, space):
    """A law for every dataset: a coin whose bias is a fixed function of the dataset."""
    return {x: FiniteLaw.bernoulli(Fraction(1 + (seed * (place + 3) ** 2) % 7, 9)) for place, x in enumerate(space.datasets())}


def _least(laws, given):
    """The least constant of the laws under the blocks of a specification, by walking all pairs."""
    constant = number(0)
    for x, y in itertools.permutations(laws, 2):
        distance = given.distance(x, y)
        if not given.multiverse.share_universe(x, y, given.space) or distance.is_infinite:
            continue
        if distance == 0:
            assert given.output_divergence.between(laws[x], laws[y]).upper == 0
            continue
        constant = max(constant, given.output_divergence.between(laws[x], laws[y]).upper / distance)
    return constant


BLOCKS = st.tuples(
    st.sampled_from([(), (PERSONS,), (UNITS,), (ADULTS,), (PERSONS, UNITS)]),
    st.sampled_from([Hamming(unit="household"), SymmetricDifference(unit="household")]),
    st.sampled_from([Mult(), TotalVariation()]),
)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 50), BLOCKS), min_size=2, max_size=2))
def test_the_joint_mechanism_keeps_the_composed_promise(chosen):
    """Random mechanisms with the least budget that each keeps; their joint laws against the composed specification."""
    space = Households(household=(KIND,), person=(AGE,), most=1, members=1)
    laws, stated = [], []
    for seed, (invariants, distance, divergence) in chosen:
        answers = _answers(seed, space)
        frame = spec(0, space=space, invariants=invariants, distance=distance, divergence=divergence)
        laws.append(answers)
        stated.append(frame.replace(budget=UniformBudget(parameter=frame.budget.parameter, value=_least(answers, frame))))
    found = compose(parts(*stated), like=stated[0].replace(input_divergence=Hamming(unit="household")))
    joint = {x: FiniteLaw.product([answers[x] for answers in laws]) for x in space.datasets()}
    allowed = found.spec.output_divergence.lipschitz(found.spec.budget.parameter, found.spec.budget.uniform())
    for x, y in itertools.permutations(joint, 2):
        distance = found.spec.distance(x, y)
        if found.spec.multiverse.share_universe(x, y, space) and not distance.is_infinite and distance != 0:
            reached = found.spec.output_divergence.between(joint[x], joint[y])
            assert not reached.lower.enclose(128) > allowed.enclose(128) * distance.enclose(128)


@given(st.sampled_from([(), (PERSONS,), (UNITS,), (ADULTS,), (PERSONS, UNITS)]))
def test_domination_inside_universes_is_true_of_every_pair(invariants):
    """Every constant that a step inside universes uses, on all pairs of a small space."""
    homes = Households(household=(KIND,), person=(AGE,), most=2, members=2)
    per_person = spec(1, space=homes, invariants=invariants)
    goal = Hamming(unit="household")
    try:
        found = compose(parts(per_person, spec(1, space=homes, distance=goal)))
    except NoCompositionError:
        assert not invariants or invariants == (UNITS,)
        return
    constant = found.lines[0].amount
    for x, y in itertools.combinations(homes.datasets(), 2):
        if per_person.multiverse.share_universe(x, y, homes):
            assert per_person.distance(x, y) <= constant * goal.distance(x, y, homes)


# --- refused -------------------------------------------------------------------------------------


def test_nothing_to_add():
    with pytest.raises(EmptyLedgerError, match="holds no part"):
        compose([])


def test_bounded_and_unbounded_neighbours():
    mixed = parts(spec(1, distance=Hamming()), spec(1, distance=SymmetricDifference()))
    with pytest.raises(
        MixedLedgerError, match=r"part-1: one person added or removed.*part-0: one person replaced by another.*--like"
    ):
        compose(mixed)
    assert [compares_sizes(part.spec) for part in mixed] == [False, True]


def test_neighbour_forms_are_told_apart_too():
    forms = [Neighbour(relation=ReplaceOne()), Neighbour(relation=AddRemove())]
    assert [compares_sizes(spec(1, distance=form)) for form in forms] == [False, True]
    homes = [Neighbour(relation=ReplaceOne(unit="household")), Neighbour(relation=AddRemove(unit="household"))]
    assert [compares_sizes(spec(1, space=HOMES, distance=form)) for form in homes] == [False, True]
    with pytest.raises(MixedLedgerError):
        compose(parts(*(spec(1, distance=form) for form in forms)))


def test_conversions_lead_where_no_constant_does():
    """Between neighbours rho becomes an epsilon at the delta of the other part, by the best formula that is at hand."""
    near = Neighbour(relation=ReplaceOne())
    both = parts(spec(1, distance=near, divergence=MultDelta(delta="1e-6")), spec("1/2", distance=near, divergence=DNor()))
    with pytest.raises(NoCompositionError):
        compose(both, rules=[])
    simple, better = (
        compose(both, rules=[installed().registry.get("rules", name)() for name in names])
        for names in (["zcdp-to-approximate"], ["zcdp-to-approximate", "zcdp-to-approximate-cks"])
    )
    assert simple.spec.output_divergence == better.spec.output_divergence == MultDelta(delta="2e-6")
    assert simple.spec.budget.uniform().decimal() == "6.75652"  # 1 + 1/2 + 2 sqrt(ln(10^6)/2)
    assert better.spec.budget.uniform() < simple.spec.budget.uniform()
    assert "by zcdp-to-approximate: rho = 0.5 becomes epsilon at most 5.75653" in simple.losses()[0]


def test_at_a_distance_no_conversion_is_used():
    far = parts(spec(1, divergence=MultDelta(delta="1e-6")), spec("1/2", divergence=DNor()))
    with pytest.raises(NoCompositionError):
        compose(far, rules=[installed().registry.get("rules", "zcdp-to-approximate")()])


def test_inside_universes_of_one_size_the_two_are_not_mixed():
    """Neither compares datasets of different size there; a replacement counts 2 in the one."""
    both = parts(spec(1, invariants=(PERSONS,)), spec(1, invariants=(PERSONS,), distance=SymmetricDifference()))
    assert [compares_sizes(part.spec) for part in both] == [None, None]
    assert compose(both).spec.budget.uniform() == 3


def test_no_largest_household():
    homes = attrs.evolve(HOMES, members=None)
    with pytest.raises(NoCompositionError, match="states no largest number of persons that one household holds"):
        compose(parts(spec(1, space=homes), spec(1, space=homes, distance=Hamming(unit="household"))))


def test_a_number_of_persons_that_differs():
    with pytest.raises(NoCompositionError, match="the number of persons differs inside a universe"):
        compose(parts(spec(1, space=HOMES), spec(1, space=HOMES, distance=Hamming(unit="household"))))


def test_a_conversion_and_its_reverse_are_no_step_to_another_distance():
    """From chi-squared to Renyi and back: one part still counted persons, and the total of both was said of households."""
    standards = {"person": FDivergence(generator="chi-squared", direction="both"), "household": Renyi(order=2)}
    both = [
        spec("1/5", space=HOMES, distance=Neighbour(relation=ReplaceOne(unit=unit)), divergence=divergence)
        for unit, divergence in standards.items()
    ]
    with pytest.raises(NoCompositionError, match="input divergence"):
        compose(parts(*both))


def test_two_spaces():
    with pytest.raises(NoCompositionError, match="no space is known to be a part of all others"):
        compose(parts(spec(1), spec(1, space=HOMES)))


def test_universes_without_invariants():
    listed = ExplicitUniverses(universes_by_label=(("first", ((), (("a",),))),))
    with pytest.raises(NoCompositionError, match="induced by no invariants"):
        compose(parts(spec(1).replace(multiverse=listed), spec(1, invariants=(PERSONS,))))
    alone = compose(parts(spec(1).replace(multiverse=listed), spec(2)))
    assert alone.spec.multiverse == listed


@pytest.mark.parametrize("divergences", [(Renyi(order=2), DNor()), (Mult(), MultDelta(delta="0.5"), MultDelta(delta="0.5"))])
def test_divergences_without_a_common_one(divergences):
    with pytest.raises(NoCompositionError, match="bounds the others and says how its budgets add up"):
        compose(parts(*(spec(1, divergence=each) for each in divergences)))


def test_ordered_and_unordered():
    """Positions that agree cancel: the unordered distance is the smaller one, so the total is per position."""
    from dpspec.blocks.vectors import BitVectors

    bits = BitVectors(length=3)
    found = compose(parts(spec(1, space=bits), spec(2, space=bits, distance=HammingOrdered())))
    assert (found.spec.input_divergence, found.spec.budget.uniform()) == (HammingOrdered(), 3)


# --- the 2020 Census -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.reference("B-N1", "B-N2", "B-O17", "B-X6")
def test_the_persons_of_2020_per_person():
    found = compose(read_parts("topdown-2020-pl-persons", "topdown-2020-dhc-persons", "safetab-2020-ddhc-a"))
    assert found.spec.budget.uniform() == number("27.296") == found.plain_sum
    assert found.losses() == ("safetab-2020-ddhc-a: promised inside the smaller universes of all parts only",)


@pytest.mark.slow
@pytest.mark.reference("B-X6")
def test_persons_and_housing_units_do_not_add_up_without_a_largest_household():
    with pytest.raises(NoCompositionError, match="states no largest number of persons that one household holds"):
        compose(read_parts("topdown-2020-pl-persons", "topdown-2020-pl-housing-units"))


@pytest.mark.reference("B-N1", "B-N2", "B-X6", "K-N7")
def test_the_ledger_of_2020():
    """100 (2.56 + 4.96 + 19.776) + 0.07 + 7.70 per household of at most ten; the printed figures add up to 35.066."""
    found = compose(parts_of(documents_of([str(SPECS / "ledger-2020")], installed().registry)))
    assert found.spec.budget.uniform() == number("2737.37")
    assert found.plain_sum == number("35.066")
    assert "which is no budget of the whole" in found.losses()[-1]


def test_a_sum_that_is_above_the_total_is_a_budget_of_the_whole():
    """mu = 2 was said to be none of two releases with mu = 1, which are mu = sqrt(2) together."""
    one = dp.spec(space=dp.bit_vectors(length=2), distance="hamming-ordered", standard="gaussian", mu=1)
    found = compose([Part(id="a", spec=one), Part(id="b", spec=one)])
    assert found.spec.budget.uniform() == number("sqrt(2)")
    assert found.losses() == ("the numbers as stated add up to 2, which is more than the total: they do not add up",)


@pytest.mark.reference("K-N9", "K-O50")
def test_the_files_of_the_ledger_are_the_generated_ones():
    """Mend with: python -m reproductions.ledger_2020 --specs specs --out specs/ledger-2020"""
    texts = dict(files(SPECS, installed().registry))
    assert texts == {path.name: path.read_text(encoding="utf-8") for path in (SPECS / "ledger-2020").iterdir()}


@pytest.mark.reference("K-O50")
def test_every_query_is_a_part():
    documents = {found.id: found for found in documents_of([str(SPECS / "ledger-2020")], installed().registry)}
    assert len(documents["pl-persons"].ledger.parts) == 65
    assert len(documents["pl-housing-units"].ledger.parts) == 6


@pytest.mark.reference("K-O52", "K-O54C", "K-O54D", "K-O54E", "K-O54F", "K-O54G", "K-O54H", "K-E6", "K-E7", "K-O56")
def test_errata_are_on_record_and_the_corrected_numbers_recompute():
    (document,) = documents_of([str(SPECS / "ledger-2020" / "pl-persons.dpspec.toml")], installed().registry)
    wrong = {e.printed.decimal(8): e.corrected.decimal(8) for e in document.expectations if e.corrected is not None}
    assert wrong == {
        "0.952": "1.01029", "0.945": "1.002151", "1.32": "1.378684", "0.555": "0.611591", "0.969": "1.026511",
        "0.968": "1.025785", "0.0175": "0.001908", "17.91": "17.92",
    }  # fmt: skip
    for expectation in document.expectations:
        value = expectation.value(document.spec)
        assert expectation.is_met_by(value) is True
        if expectation.corrected is not None:
            assert attrs.evolve(expectation, corrected=None).is_met_by(value) is False
            assert attrs.evolve(expectation, printed=expectation.corrected).is_met_by(value) is False


@pytest.mark.slow
def test_a_composition_reads_back_from_its_file():
    found = compose(read_parts("topdown-2020-pl-persons", "safetab-2020-ddhc-a"))
    document = composed_document(found, id="both", title="Both")
    again = read_text(to_toml(document, installed().registry), installed().registry)
    assert again == document
    assert [part.amount for part in again.ledger.parts] == [number("2.56"), number("19.776")]


@pytest.mark.parametrize(
    ("standard", "budget", "times", "empty"),
    [
        ({"type": "total-variation"}, {"distance": "1/2"}, 1, False),
        ({"type": "total-variation"}, {"distance": "1/2"}, 2, True),
        ({"type": "hockey-stick", "epsilon": 1}, {"delta": "1/3"}, 2, False),
        ({"type": "hockey-stick", "epsilon": 1}, {"delta": "1/3"}, 3, True),
        ({"type": "mult"}, {"epsilon": "50"}, 10, False),
    ],
)
def test_a_total_that_promises_nothing_is_said_to_be_empty(standard, budget, times, empty):
    """Deltas and total variations of 1 or more allow two laws without a common output, and so any two."""
    part = dp.build(
        space={"type": "bit-vectors", "length": 2}, input_divergence={"type": "hamming-ordered"}, output_divergence=standard,
        budget=budget,
    )  # fmt: skip
    found = dp.ledger(part, times=[times])
    assert any("promises nothing" in line for line in found.losses()) is empty
    assert ("promises nothing" in str(found)) is empty


def test_deltas_that_add_to_1_have_no_total_and_the_reason_is_said():
    part = dp.build(
        space={"type": "bit-vectors", "length": 2}, input_divergence={"type": "hamming-ordered"},
        output_divergence={"type": "mult-delta", "delta": "1/2"}, budget={"epsilon": 1},
    )  # fmt: skip
    assert dp.ledger(part).spec.budget.uniform() == 1
    with pytest.raises(dp.DpspecError, match="deltas that add to 1"):
        dp.ledger(part, times=[2])


def test_a_sum_of_what_is_verified_on_a_stand_in_says_so():
    """A total of a made-up mechanism was verified without a word of that next to its status."""
    path = SPECS / "deployments" / "linkedin-race.dpspec.toml"
    out = " ".join(CliRunner().invoke(main, ["ledger", f"{path}=2"]).stdout.split())
    blocks = "the space and the mechanism of the file, in place of what is not published"
    assert f"constant 9/2, the whole space; about {blocks}" in out
    assert f"assumes: the release linkedin-race has {blocks}" in out
    composed = " ".join(CliRunner().invoke(main, ["compose", f"{path}=2", "--delta", "1e-6"]).stdout.split())
    assert f"assumes: the release linkedin-race has {blocks}" in composed
