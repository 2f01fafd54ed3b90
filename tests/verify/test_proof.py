"""Derived verdicts: what is proved on the whole space, what is missing, and what a structure may not do."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_divergences import Hamming, Mult, Neighbour, ReplaceOne, SymmetricDifference
from dpspec_noise import Geometric, Laplace

from dpspec import Attribute, Marginal, PrivacySpec, Trivial, UniformBudget, UnorderedRecords, read
from dpspec.base.errors import PluginContractError
from dpspec.base.exact import Bracket, number
from dpspec.blocks.budget import BudgetTable
from dpspec.blocks.input_divergence import WithinDistance
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets
from dpspec.grammar.structure import ProvedBound, Structure
from dpspec.grammar.views import NoisyCount
from dpspec.plugin import FiniteLaw, define
from dpspec.verifier import proof as proofs
from dpspec.verifier.document import verify_document
from dpspec.verifier.lower_bound import SeenPair
from dpspec.verifier.proof import METHOD, Missing, derive
from dpspec.verifier.replay import keep_witnesses, replay
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import Toy, bits_spec, block

SPECS = Path(__file__).parents[2] / "specs"
AGE, SEX = Attribute(name="age", count=116), Attribute(name="sex", categories=("f", "m"))
SPACE = UnorderedRecords(attributes=(AGE, SEX))
TABLE = Marginal(attributes=("age", "sex"))


def claim(distance: Any = None, epsilon: Any = 1, fixed: tuple[Marginal, ...] = (), space: Any = SPACE) -> PrivacySpec:
    return PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=distance or SymmetricDifference(),
        output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )


def outcome(mechanism: Any, spec: PrivacySpec) -> Outcome:
    found = derive(mechanism, spec)
    assert not isinstance(found, Missing), str(found)
    return found.outcome


def test_a_table_of_any_number_of_people() -> None:
    noise = Laplace(queries=(TABLE,), epsilon=1)
    assert outcome(noise, claim()) is Outcome.VERIFIED
    assert outcome(noise, claim(Hamming(), 2)) is Outcome.VERIFIED
    assert outcome(noise, claim(Hamming(), "1.999")) is Outcome.REFUTED
    assert outcome(noise, claim(fixed=(Marginal(attributes=()),))) is Outcome.VERIFIED  # a replaced record moves two, for two


def test_what_a_universe_fixes_costs_nothing_and_a_coarser_fact_does_not_help() -> None:
    by_sex = Laplace(queries=(Marginal(attributes=("sex",)),), epsilon=1)
    assert outcome(by_sex, claim(Hamming(), 0, (Marginal(attributes=("sex",)),))) is Outcome.VERIFIED
    assert outcome(by_sex, claim(Hamming(), 0, (TABLE.__class__(attributes=("age",)),))) is Outcome.REFUTED


def test_two_margins_that_cross_leave_exchanges() -> None:
    fixed = (Marginal(attributes=("age",)), Marginal(attributes=("sex",)))
    found = derive(Laplace(queries=(TABLE,), epsilon=1), claim(Hamming(), 2, fixed))
    assert not isinstance(found, Missing)
    assert found.universes[0].is_tight
    left, right = found.universes[0].attained
    assert len(left) == len(right) == 2


@define
class Derived(Laplace):
    """A class that changes the law, and says nothing of its structure."""

    name: ClassVar[str] = "test-derived"

    def law(self, dataset: Any, space: Any) -> Any:
        return FiniteLaw.point(dataset)


@define
class Liar(Laplace):
    """A class that says it is made of noise, and publishes the data."""

    name: ClassVar[str] = "test-liar"

    def law(self, dataset: Any, space: Any) -> Any:
        return FiniteLaw.point(dataset)

    def structure(self, space: Any) -> Structure:
        return Structure(views=(NoisyCount(Marginal(attributes=("sex",)), self.noise),))


def test_a_structure_counts_for_the_class_that_states_it() -> None:
    found = derive(Derived(queries=(TABLE,), epsilon=1), claim())
    assert isinstance(found, Missing)
    assert "inherits structure(), which is about another law" in found.reason


def test_a_structure_that_is_not_that_of_the_law_is_a_fault_of_the_plugin() -> None:
    with pytest.raises(PluginContractError, match="another law than its structure says"):
        derive(Liar(queries=(TABLE,), epsilon=1), claim())


def test_a_query_that_counts_with_weights_has_no_structure() -> None:
    @define
    class Doubled(Marginal):
        """Counts each record twice."""

        def answers(self, dataset: Any, space: Any) -> tuple[int, ...]:
            return tuple(2 * n for n in super().answers(dataset, space))

    assert Laplace(queries=(Doubled(attributes=("sex",)),), epsilon=1).structure(SPACE) is None


def test_the_order_of_cost_is_no_order_of_digits() -> None:
    """Three tables of one attribute and one of two: the dearest change is not the one of most patterns."""
    tables = (Marginal(attributes=("age",)), Marginal(attributes=()), Marginal(attributes=("sex",), where={"age": ("0",)}))
    found = derive(Geometric(queries=tables, ratio="1/2"), claim(Hamming(), "ln(8)"))
    assert not isinstance(found, Missing)
    assert str(found.constant) == "ln(8)"  # two ages, and the record of age 0 leaves its cell


@pytest.mark.parametrize("size", [8, 8_100_000])
def test_the_number_of_blocks_does_not_matter(size: int) -> None:
    block = Attribute(name="block", count=size)
    space = UnorderedRecords(attributes=(block, SEX))
    noise = Laplace(queries=(Marginal(attributes=("block", "sex")),), epsilon=1)
    assert outcome(noise, claim(Hamming(), 2, space=space)) is Outcome.VERIFIED


def test_a_refutation_is_shown_again(tmp_path: Path) -> None:
    document = read(SPECS / "census-2020" / "pl-persons-too-small.dpspec.toml")
    from dpspec.extension import installed

    report = keep_witnesses(verify_document(document), tmp_path, installed().registry)
    assert report.obligations[0].verdict.method == METHOD
    (path,) = tmp_path.iterdir()
    found = replay(path)
    assert found.outcome is Outcome.REFUTED
    assert found.is_unchanged


@pytest.mark.parametrize(("name", "word"), [
    pytest.param("pl-persons", "holds", marks=pytest.mark.slow),
    ("pl-persons-exact", "holds"), ("pl-persons-split-states", "holds"), ("pl-housing-units", "holds"),
    ("pl-together-per-person", "recorded"),
])  # fmt: skip
@pytest.mark.reference("K-D41", "K-D42")
def test_the_redistricting_file_of_2020(name: str, word: str) -> None:
    report = verify_document(read(SPECS / "census-2020" / f"{name}.dpspec.toml"))
    assert report.word.word == word
    if name in ("pl-persons-exact", "pl-persons-split-states", "pl-housing-units"):
        assert report.obligations[0].verdict.universes[0].is_tight


def test_a_step_that_is_missing_is_named() -> None:
    spec = attrs.evolve(claim(), output_divergence=__import__("dpspec_divergences").MultDelta(delta="1/10"))
    found = derive(Laplace(queries=(TABLE,), epsilon=1), attrs.evolve(spec, budget=UniformBudget(parameter="epsilon", value=9)))
    assert isinstance(found, Missing)
    assert found.step == "path"


@define
class Lighter(Hamming):
    """A distance of its own, under the promise of another: records that differ in age alone are near each other."""

    name: ClassVar[str] = "test-lighter"

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        plain = super().distance(left, right, space)
        sexes = [sorted(sex for _, sex in records) for records in (left, right)]
        return plain * Fraction(1, 2) if sexes[0] == sexes[1] else plain


@define
class Everything(LevelSets):
    """One universe, under the invariants of another multiverse."""

    name: ClassVar[str] = "test-everything"

    def labels(self, dataset: Any, space: Any) -> Any:
        return ("all",)


@define
class Steeper(Mult):
    """A divergence that is no metric, under the promise that it is one."""

    name: ClassVar[str] = "test-steeper"

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        plain = super().evaluate(pair, precision=precision)
        return plain if plain.upper <= 2 else plain.scaled(2)


@define
class Wider(ReplaceOne):
    """A relation that holds of more datasets than what it says it is measured by."""

    name: ClassVar[str] = "test-wider"

    def related(self, left: Any, right: Any, space: Any) -> bool:
        return len(left) == len(right)


def test_a_promise_does_not_outlive_what_it_is_about() -> None:
    """Classes derived from others, each of which changes what an inherited promise is about: none is verified."""
    noise, fixed = Laplace(queries=(TABLE,), epsilon=1), (Marginal(attributes=("age", "sex")),)
    plain = claim(Hamming(), 2)
    for changed in (
        plain.replace(input_divergence=Lighter()),
        plain.replace(input_divergence=WithinDistance(of=Lighter(), most=1)),
        plain.replace(input_divergence=Neighbour(relation=Wider())),
        plain.replace(output_divergence=Steeper()),
        claim(Hamming(), 0).replace(multiverse=Everything(invariants=fixed)),
    ):
        found = derive(noise, changed)
        assert isinstance(found, Missing) or found.outcome is not Outcome.VERIFIED, changed


@pytest.mark.slow
def test_a_household_of_the_census_moves_by_almost_all_that_is_proved() -> None:
    """Ten persons of vacant quarters in two counties: the pair keeps what the invariants count of both units."""
    found = verify_document(read(SPECS / "census-2020" / "pl-together-per-household.dpspec.toml")).obligations[0].verdict
    assert found is not None
    low, high = (float(end) for end in (found.constant.lower, found.constant.upper))
    assert 0 < high - low < 1e-4
    (pair,) = [universe.attained for universe in found.universes]
    assert pair is not None
    assert [len(members) for dataset in pair for _, members in dataset] == [10, 10]  # type: ignore[attr-defined]


# --- pairs, theorems and budgets of their own, one by one -----------------------------------------


A, B, C = (0, 0), (0, 1), (1, 0)
LISTED = ExplicitUniverses(universes_by_label=(("ab", (A, B)), ("abc", (A, B, C))))
BUDGETS = BudgetTable(parameter="epsilon", values=(("ab", number(2)), ("abc", number(3))))


def seen(left: Any, right: Any, divergence: Any) -> SeenPair:
    return SeenPair(left=left, right=right, distance=number(1), divergence=Bracket.exactly(divergence))


def test_the_smallest_budget_of_the_universes_of_a_pair_counts() -> None:
    spec = bits_spec(2).replace(multiverse=LISTED, budget=BUDGETS)
    goal = proofs._Proof(spec=spec, bound=number(2), sensitivity=None, attaining=None)  # type: ignore[arg-type]  # not read
    assert (goal.bound_of(seen(A, B, 5)), goal.bound_of(seen(A, C, 5))) == (number(2), number(3))
    assert [goal.refutes(seen(A, C, value)) for value in (2, "5/2", 3, "7/2")] == [False, False, False, True]
    assert [goal.refutes(seen(A, B, value)) for value in (2, "5/2")] == [False, True]
    witness = goal.refuted(seen(A, B, 5)).witness
    assert witness is not None
    assert (witness.universe, witness.bound) == ("ab", number(2))


def test_a_pair_beyond_what_was_proved_contradicts_the_proof() -> None:
    goal = proofs._Proof(spec=bits_spec(2), bound=number(2), sensitivity=None, attaining=None)  # type: ignore[arg-type]
    with pytest.raises(PluginContractError, match="beyond the 1 that was proved"):
        goal._decided((), number(1), seen(A, B, 2), written=True)
    tight = goal._decided((), number(2), seen(A, B, 2), written=True)
    assert (tight.outcome, tight.universes[0].is_tight) == (Outcome.VERIFIED, True)
    wide = goal._decided((), number(3), seen(A, B, 2), written=True)
    assert wide.outcome is Outcome.UNDECIDED
    assert "between 2 (a pair) and 3 (the proof)" in wide.reason


def theorem(**more: Any) -> ProvedBound:
    spec = bits_spec(2)
    given = {
        "holds": True, "invariants": (), "input_divergence": spec.input_divergence, "output_divergence": spec.output_divergence,
        "pair": None, "says": "it is small", "citation": "Somebody 2020",
    }  # fmt: skip
    return ProvedBound(**{**given, **more})


def test_a_theorem_is_about_its_own_blocks_alone() -> None:
    spec, total = bits_spec(2), LinearMap(rows=((1, 1),))
    assert proofs._unfit(theorem(), spec) == ""
    assert proofs._unfit(theorem(holds=False), spec) == "it is small"
    assert "for " in proofs._unfit(theorem(input_divergence=block("input_divergences", "hamming")), spec)
    assert "it is about" in proofs._unfit(theorem(output_divergence=block("output_divergences", "d-nor")), spec)
    assert "other invariants" in proofs._unfit(theorem(invariants=(total,)), spec)
    inside = spec.replace(multiverse=LevelSets(invariants=(total,)))
    assert proofs._unfit(theorem(invariants=(total,)), inside) == ""
    assert proofs._unfit(theorem(), inside) == ""  # of all pairs, and so of those in universes
    assert "other invariants" in proofs._unfit(theorem(), spec.replace(multiverse=LISTED))


def test_a_theorem_whose_pair_is_never_compared_has_shown_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Told(Toy):
        def proved(self, spec: Any) -> Any:
            return theorem(pair=(A, B), invariants=spec.multiverse.induced_by())

    compared = SimpleNamespace(assumptions=lambda: (), missing=lambda _: "")
    monkeypatch.setattr(proofs, "compare_theorem", lambda *_: compared)
    told, spec = Told(lambda x: FiniteLaw.bernoulli("1/2")), bits_spec(2)
    held = proofs._by_theorem(told, spec)
    assert held.outcome is Outcome.VERIFIED  # type: ignore[union-attr]  # a verdict
    apart = spec.replace(multiverse=LevelSets(invariants=(LinearMap(rows=((1, 0), (0, 1))),)))
    never = proofs._by_theorem(told, apart)
    assert never.outcome is Outcome.UNDECIDED  # type: ignore[union-attr]  # a verdict
    assert never.reason == proofs.NO_PAIR
