"""Families of separating mechanisms: what each finds, that it satisfies its premise everywhere, and what is said of a failure."""

import itertools
import re
from fractions import Fraction

import pytest

from dpspec.api import compare
from dpspec.base.exact import number
from dpspec.base.work import spend
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import ExplicitUniverses, Trivial
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.comparison import families as cuts, families as numbers, families as outside, families as releases
from dpspec.comparison.answers import Answered, extremal_answers, ladder, searched_answers
from dpspec.comparison.compare import Answer, Direction
from dpspec.comparison.separations import INSTANCE, MOST_OF_ALL, MOST_OF_FAMILY, MOST_UNDECIDED, search_separation
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.small_spaces import cases
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import bits_spec, block

ANSWER = Attribute(name="answer", categories=("no", "yes"))


def budget(parameter: str, value: object) -> UniformBudget:
    return UniformBudget(parameter=parameter, value=value)  # type: ignore[arg-type]


def separated(premise: PrivacySpec, conclusion: PrivacySpec) -> Direction:
    found = compare(premise, conclusion).forward
    assert found.answer is Answer.SEPARATED
    assert found.separation is not None
    return found


STANDARDS = [
    ("mult", {}, "epsilon", "ln(3)"),
    ("mult", {}, "epsilon", "1/2"),
    ("mult-delta", {"delta": "1/10"}, "epsilon", "ln(2)"),
    ("d-nor", {}, "rho", "1/2"),
    ("renyi", {"order": 2}, "epsilon", "1/2"),
    ("total-variation", {}, "distance", "1/3"),
    ("hockey-stick", {"epsilon": "ln(2)"}, "delta", "1/10"),
    ("gaussian-trade-off", {}, "mu", "1/2"),
    ("f-divergence", {"generator": "kl", "direction": "both"}, "divergence", "1/10"),
]


@pytest.mark.parametrize(("name", "parameters", "parameter", "value"), STANDARDS)
def test_a_budget_does_not_imply_one_that_is_smaller_by_one_percent(name, parameters, parameter, value):
    """Answers that use up the budget break the next smaller one, whatever the standard."""
    divergence = block("output_divergences", name, **parameters)
    large = number(value)
    premise = bits_spec(2).replace(output_divergence=divergence, budget=budget(parameter, large))
    conclusion = premise.replace(budget=budget(parameter, large * Fraction(24, 25)))
    found = compare(premise, conclusion)
    assert found.forward.answer is Answer.SEPARATED
    assert found.backward.answer is Answer.IMPLIES


@pytest.mark.parametrize(("name", "parameters", "parameter", "value"), STANDARDS)
def test_answers_stay_within_the_bound_on_a_whole_space(name, parameters, parameter, value):
    """The engine, on all pairs of the space, has nothing against what the families propose for a premise."""
    premise = bits_spec(2).replace(
        output_divergence=block("output_divergences", name, **parameters), budget=budget(parameter, value)
    )
    conclusion = premise.replace(budget=budget(parameter, number(value) / 2))
    proposed = itertools.chain(numbers.answered(premise, conclusion), cuts.cuts(premise, conclusion))
    judged = [verify(candidate.mechanism, premise) for candidate in itertools.islice(proposed, 6)]
    assert judged
    assert {verdict.outcome for verdict in judged} <= {Outcome.VERIFIED, Outcome.UNDECIDED}
    assert Outcome.VERIFIED in {verdict.outcome for verdict in judged}


@pytest.mark.parametrize(("name", "parameters", "parameter", "value"), STANDARDS)
def test_three_answers_stay_within_the_bound_without_a_triangle_inequality(name, parameters, parameter, value):
    premise = bits_spec(2).replace(
        output_divergence=block("output_divergences", name, **parameters), budget=budget(parameter, value)
    )
    bound = premise.output_divergence.lipschitz(parameter, number(value))
    answers = ladder(premise.output_divergence, bound)
    assert answers is None or verify(Answered(value=sum, answers=answers), premise).outcome is Outcome.VERIFIED
    assert answers is not None or name not in ("mult", "d-nor", "total-variation", "gaussian-trade-off")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("premise", "conclusion", "word"),
    [
        (("renyi", {"order": 2}, "epsilon", "ln(3)"), ("gaussian-trade-off", {}, "mu", "8/5"), "1/10000000000"),
        (("d-nor", {}, "rho", "61/100"), ("hockey-stick", {"epsilon": "ln(3)"}, "delta", "1/3"), "for 0, "),
    ],
)
def test_rare_answers_and_three_in_a_row_separate_standards_that_measure_a_mean(premise, conclusion, word):
    specs = [
        bits_spec(2).replace(output_divergence=block("output_divergences", name, **given), budget=budget(parameter, value))
        for name, given, parameter, value in (premise, conclusion)
    ]
    found = separated(*specs).separation
    assert found is not None
    assert word in found.mechanism
    assert verify(found.run, specs[0]).outcome is Outcome.VERIFIED
    assert verify(found.run, specs[1]).outcome is Outcome.REFUTED


def test_what_neighbours_leave_open_is_answered_truthfully():
    """A metric that never compares databases of different size lets their size be told."""
    space = UnorderedRecords(attributes=(ANSWER,), most=2)
    premise = bits_spec().replace(space=space, input_divergence=block("input_divergences", "hamming"))
    conclusion = premise.replace(
        input_divergence=block("input_divergences", "symmetric-difference"), budget=budget("epsilon", 50)
    )
    found = separated(premise, conclusion).separation
    assert found is not None
    assert "finite distance" in found.mechanism
    for candidate in releases.reach(premise, conclusion):
        assert verify(candidate.mechanism, premise).outcome is Outcome.VERIFIED


def households(unit: str, rho: object, members: int | None = None) -> PrivacySpec:
    space = Households(
        household=(Attribute(name="kind", categories=("occupied", "vacant")),),
        person=(Attribute(name="age", count=3),),
        members=members,
    )
    return bits_spec().replace(
        space=space,
        input_divergence=block("input_divergences", "hamming", unit=unit),
        output_divergence=block("output_divergences", "d-nor"),
        budget=budget("rho", rho),
    )


@pytest.mark.reference("B-T22", "B-X6")
@pytest.mark.parametrize("rho", [1, 100, "123456"])
def test_a_household_without_a_largest_size_changes_more_persons_than_any_budget_covers(rho):
    found = separated(households("person", "1/2"), households("household", rho)).separation
    assert found is not None
    assert len(found.left) == len(found.right) == 1
    persons = len(found.left[0][1])
    assert persons**2 * Fraction(1, 2) > Fraction(rho)


@pytest.mark.reference("B-S8", "B-X6")
def test_what_persons_do_not_show_is_shown_by_households():
    """At person distance 0 the laws have to agree, however large the budget."""
    found = separated(households("household", "1/100"), households("person", 1000)).separation
    assert found is not None
    assert all(not members for dataset in (found.left, found.right) for _, members in dataset)


RECORDS = block("input_divergences", "symmetric-difference")


def answers(most: int, attribute: Attribute = ANSWER, **blocks: object) -> PrivacySpec:
    return bits_spec().replace(
        space=UnorderedRecords(attributes=(attribute,), most=most),
        input_divergence=RECORDS,
        budget=budget("epsilon", 1),
        **blocks,
    )


def test_equal_pairs_of_laws_are_checked_once_and_few_that_no_precision_decides(monkeypatch):
    """A count and the distance from x with the same wide noise are one pair of laws: Gaussian privacy against zCDP took 29 s."""
    space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),))
    premise, conclusion = (
        PrivacySpec(
            space=space, multiverse=Trivial(), input_divergence=block("input_divergences", "hamming"),
            output_divergence=block("output_divergences", name), budget=budget(parameter, number(value)),
        )
        for name, parameter, value in (("d-nor", "rho", "1/1000"), ("gaussian-trade-off", "mu", "5"))
    )  # fmt: skip
    checked = []

    def judge(mechanism, spec, datasets):
        left, right = (mechanism.law(x, space) for x in datasets)
        assert spec is conclusion or spec == conclusion
        checked.append((left.against(right).signature(), spec.distance(*datasets)))
        return Outcome.UNDECIDED, "undecided"

    found = search_separation(premise, conclusion, judge)
    assert found.separation is None
    assert 3 <= len(checked) == len(set(checked)) <= MOST_UNDECIDED
    monkeypatch.setattr("dpspec.comparison.separations.MOST_UNDECIDED", 2)
    checked.clear()
    found = search_separation(premise, conclusion, judge)
    assert len(checked) == 2
    assert any("stopped after 2 whose laws no precision decides" in words for words in found.tried)


def test_what_only_the_conclusion_speaks_about_is_told():
    """The premise says nothing of three records, so they are told; of two records it says all that it says."""
    found = separated(answers(2), answers(3)).separation
    assert found is not None
    assert found.kind == "space"
    assert max(len(found.left), len(found.right)) == 3
    assert max(map(len, found.instance)) == 2
    assert verify(found.run, answers(2)).outcome is Outcome.VERIFIED
    assert verify(found.run, answers(3)).outcome is Outcome.REFUTED
    assert list(outside.outside(answers(3), answers(2))) == []


def test_records_of_other_attributes_are_other_records():
    """The same categories under another name: only the empty dataset is in both spaces."""
    premise, conclusion = answers(2), answers(2, Attribute(name="smokes", categories=("no", "yes")))
    ours, theirs = premise.space, conclusion.space
    assert outside.has(ours, ours, (("no",),))
    assert not outside.has(ours, theirs, (("no",),))
    assert outside.has(ours, theirs, ())
    for pair in ((premise, conclusion), (conclusion, premise)):
        found = separated(*pair).separation
        assert found is not None
        assert found.kind == "space"


@pytest.mark.parametrize("value", ["1", "5/2"])
def test_what_a_conclusion_allows_anyway_is_no_separation(value):
    """No two laws are further apart than 1 in total variation: nothing is asked, on whatever datasets."""
    distance = {"output_divergence": block("output_divergences", "total-variation"), "budget": budget("distance", value)}
    found = compare(answers(2).replace(**distance), answers(3).replace(**distance)).forward
    assert found.answer is Answer.UNKNOWN
    assert any(line.startswith("which dataset it is") for line in found.tried)


def test_what_separates_is_checked_on_more_than_two_datasets():
    """The instance holds the two datasets and others that the premise compares."""
    found = separated(bits_spec(20, epsilon="ln(3)"), bits_spec(20, epsilon="ln(2)")).separation
    assert found is not None
    assert {found.left, found.right} < {*found.instance}
    assert len(found.instance) == INSTANCE
    assert "45 pairs" in found.checks[0]


def test_where_the_smaller_space_has_all_datasets_mechanisms_still_separate():
    small, large = (
        bits_spec().replace(
            space=UnorderedRecords(attributes=(ANSWER,), most=most),
            input_divergence=block("input_divergences", "symmetric-difference"),
            budget=budget("epsilon", epsilon),
        )
        for most, epsilon in ((2, 1), (3, 2))
    )
    found = separated(large, small).separation
    assert found is not None
    assert found.kind == "mechanism"
    space = separated(small, large).separation
    assert space is not None
    assert space.kind == "space"


def test_a_cut_separates_universes_without_invariants():
    a, b, c = (0, 0), (0, 1), (1, 1)
    premise, conclusion = (
        bits_spec(2).replace(multiverse=ExplicitUniverses(universes_by_label=universes))
        for universes in ({"ab": (a, b)}, {"ab": (a, b), "bc": (b, c)})
    )
    separated(premise, conclusion)
    for candidate in cuts.cuts(premise, conclusion):
        assert verify(candidate.mechanism, premise).outcome is Outcome.VERIFIED


def test_an_open_answer_says_what_was_tried():
    pure = bits_spec(5, epsilon="ln(3)")  # on fewer bits every event is looked at, and the answer is yes
    steps = block("output_divergences", "trade-off", epsilon="ln(3)", delta="1/10")
    open_one = compare(pure, pure.replace(output_divergence=steps, budget=budget("steps", 1))).forward
    assert open_one.answer is Answer.UNKNOWN
    assert any("least noise" in line and "mechanisms" in line for line in open_one.tried)
    assert compare(pure, pure).forward.tried == ()


def test_one_case_of_each_kind():
    premise, conclusion = bits_spec(2), bits_spec(2, epsilon="ln(2)")
    kinds = [case.kind for case in cases(premise, conclusion)]
    assert len(kinds) == len(set(kinds)) == 2


@pytest.mark.parametrize("bound", ["0", "inf"])
def test_answers_at_the_ends_of_the_scale(bound):
    """Nothing is answered at bound 0, and the truth where there is none."""
    divergence, limit = block("output_divergences", "mult"), number(bound)
    found = [*extremal_answers(divergence, limit), *searched_answers(divergence, limit)]
    assert [answers.words for answers in found] == ([] if bound == "0" else ["without noise"])


def test_a_family_ends_by_its_work_and_all_of_them_by_theirs():
    """Mixtures of infinite laws took minutes in each family; a search without an answer says that it stopped."""
    premise, conclusion = answers(2), answers(2).replace(budget=budget("epsilon", number("1/2")))
    asked = []

    def judge(mechanism, spec, datasets):
        asked.append(mechanism)
        spend(MOST_OF_FAMILY)
        return Outcome.UNDECIDED, "undecided"

    found = search_separation(premise, conclusion, judge)
    assert found.separation is None
    assert any("more would exceed the work limit" in words for words in found.tried)
    assert len(asked) <= 1 + MOST_OF_ALL // MOST_OF_FAMILY


@pytest.mark.parametrize("epsilon", ["1", "1e-20"])
def test_a_separation_is_told_without_long_fractions(epsilon: str) -> None:
    """Odds near e were printed as 6121026514868071/2251799813685248, and a tiny budget as a fraction."""
    blocks = bits_spec().replace(budget=budget("epsilon", epsilon))
    leaking = blocks.replace(output_divergence=block("output_divergences", "mult-delta", delta=number("1/3").as_fraction()))
    found = compare(leaking, blocks).forward.separation
    assert found is not None
    for text in (found.mechanism, found.argument, *found.checks):
        assert not re.search(r"\d{13}", text), text
