"""Code that answers for each entry by itself: verified on lists of any length, and nothing that looks beside its entry is."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dpspec_code.automatic.entries import answers_by_entry, claim_of_one_entry
from dpspec_code.case import FunctionSampler, _Case

import dpspec as dp
from dpspec.base.errors import NotEnumerableError
from dpspec.base.exact import ln, number
from dpspec.blocks.input_divergence import RecordSteps
from dpspec.report.measurement import measured_text
from dpspec.verifier.exhaustive import verify as verify_exhaustively
from dpspec.verifier.functions import Sampling
from dpspec.verifier.measure import Measurement
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of

pytestmark = pytest.mark.usefixtures("in_this_process")

KEEP, FEW = 0.75, 2_000
PEOPLE = dp.bit_vectors(length=20)


def judged(function: Any, space: Any = PEOPLE, **claim: Any) -> dp.Verdict:
    promise = dp.spec(space=space, distance="hamming-ordered", standard="pure", **(claim or {"epsilon": "ln(3)"}))
    return dp.verify(function, promise, draws=FEW)


# --- right functions --------------------------------------------------------------------------------


def by_flips(answers, rng):
    return [answer ^ int(rng.random() < 0.25) for answer in answers]


def by_choice(answers, rng):
    """Each keeps the answer with probability 3/4."""
    reports = [answer if rng.random() < KEEP else 1 - answer for answer in answers]
    return reports  # noqa: RET504 - as people write it


def by_coins(answers, rng):
    return [int(rng.integers(0, 2)) if rng.random() < 0.5 else answer for answer in answers]


def by_weights(answers, rng):
    return [int(rng.random() < (3 * answer + 1 * (1 - answer)) / 4) for answer in answers]


def by_logistic_weights(answers, rng):
    return [answer ^ int(rng.random() < 1 / (1 + math.exp(1))) for answer in answers]


RIGHT = {by_flips: ln(3), by_choice: ln(3), by_coins: ln(3), by_weights: ln(3), by_logistic_weights: number(1)}


@pytest.mark.parametrize("function", RIGHT, ids=lambda one: one.__name__)
def test_local_randomisers_are_verified_however_many_people_there_are(function: Any) -> None:
    found = judged(function)
    assert found.outcome is Outcome.VERIFIED
    assert found.constant.upper == found.constant.lower == RIGHT[function]
    (result,) = found.universes
    assert result.attained is not None
    left, right = result.attained
    assert sum(a != b for a, b in zip(left, right, strict=True)) == 1


def by_type(answers, rng):
    return [rng.integers(0, 2) if rng.random() < 0.5 else answer for answer in answers]


def test_a_number_of_another_type_tells_who_was_honest() -> None:
    assert answers_by_entry(by_type)
    assert judged(by_type, dp.value_lists(values=[0, 1], ordered=True)).outcome is Outcome.REFUTED


def counted(answers, rng):
    reports = [answer if rng.random() < KEEP else 1 - answer for answer in answers]
    return max(reports), sum(reports) / len(reports)


def noisy(answers, rng):
    return [answer + rng.laplace(scale=2) for answer in answers]


def test_what_is_computed_of_the_reports_loses_no_more_than_they_do() -> None:
    found = judged(counted)
    assert (found.outcome, found.constant.upper) == (Outcome.VERIFIED, ln(3))
    assert found.constant.lower == 0
    assert judged(noisy, epsilon="1/2").outcome is Outcome.VERIFIED
    assert judged(by_flips, dp.value_lists(values=[0, 1], ordered=True), epsilon=1).outcome is Outcome.REFUTED


def test_measure_names_the_two_datasets_that_need_the_budget() -> None:
    proved = of_all_lists(by_flips, 12)
    assert proved is not None
    promise = dp.spec(space=dp.bit_vectors(length=12), distance="hamming-ordered", standard="pure", epsilon=30)
    found = Measurement(spec=promise, constant=proved.constant, proved=proved, refuted=None, first=proved, tried=())
    said = measured_text(found, ())
    assert "not enough: less than ln(3), for two datasets" in said
    assert "x' = (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)" in said


def test_lists_of_any_length_are_verified() -> None:
    assert judged(by_flips, dp.value_lists(values=[0, 1], ordered=True)).outcome is Outcome.VERIFIED
    assert judged(by_flips, dp.bit_vectors(length=5_000)).outcome is Outcome.VERIFIED


# --- what looks beside its entry ---------------------------------------------------------------------


STATE = [0]


def helper(answer, rng):
    STATE[0] += 1
    return answer if STATE[0] == 1 else int(rng.random() < 0.5)


def with_place(answers, rng):
    return [answer if place == 0 else int(rng.random() < 0.5) for place, answer in enumerate(answers)]


def with_another(answers, rng):
    return [answers[0] ^ int(rng.random() < 0.25) for answer in answers]


def with_length(answers, rng):
    return [answer ^ int(rng.random() < 0.25 / len(answers)) for answer in answers]


def with_state(answers, rng):
    return [helper(answer, rng) for answer in answers]


def filtered(answers, rng):
    return [answer ^ int(rng.random() < 0.25) for answer in answers if answer]


def twice(answers, rng):
    return [other ^ int(rng.random() < 0.25) for answer in answers for other in answers]


def named(answers, rng):
    return [(told := answer) ^ told ^ int(rng.random() < 0.25) for answer in answers]


def nested(answers, rng):
    return [sum([other * answer for other in answers]) for answer in answers]


def of_the_generator(answers, rng):
    return [answer ^ (rng.bit_generator.state["state"]["state"] & 1) for answer in answers]


def shuffled(answers, rng):
    return [rng.shuffle(answers) for answer in answers]


def kept(answers, rng, seen=[]):  # noqa: B006
    return [seen.append(answer) or len(seen) for answer in answers]


def shown(answers, rng):
    reports = [answer ^ int(rng.random() < 0.25) for answer in answers]
    return reports, answers[0]


def shared(answers, rng):
    return [STATE if answer else [0] for answer in answers]


def compared(answers, rng):
    return [answer is answers[-1] for answer in answers]


def reordered(answers, rng):
    answers.sort()
    return [answer ^ int(rng.random() < 0.25) for answer in answers]


def of_globals(answers, rng):
    return [globals()["STATE"][0] for answer in answers]


def by_a_lambda(answers, rng):
    return [(lambda: answer ^ int(rng.random() < 0.25))() for answer in answers]  # noqa: PLC3002


def generated(answers, rng):
    yield from [answer ^ int(rng.random() < 0.25) for answer in answers]


TRICKS = [
    with_place, with_another, with_length, with_state, filtered, twice, named, nested, of_the_generator, shuffled, kept, shown,
    shared, compared, reordered, of_globals, by_a_lambda, generated,
]  # fmt: skip


@pytest.mark.parametrize("function", TRICKS, ids=lambda one: one.__name__)
def test_code_that_may_look_beside_its_entry_is_not_of_this_form(function: Any) -> None:
    assert not answers_by_entry(function)


SHADOWS = {
    "a builtin": "int = lambda value: STATE.append(value) or len(STATE)\nSTATE = []",
    "the builtins": "__builtins__ = {**vars(__import__('builtins')), 'int': lambda value: 0}",
    "a decorator": "import functools\ndef twice(f): return functools.wraps(f)(lambda x, rng: [sum(x)])",
}


@pytest.mark.parametrize("which", SHADOWS)
def test_names_that_mean_something_else_are_seen(which: str, tmp_path: Path) -> None:
    decorated = "@twice\n" if which == "a decorator" else ""
    text = f"{SHADOWS[which]}\n{decorated}def told(x, rng):\n    return [v ^ int(rng.random() < 0.25) for v in x]\n"
    assert not answers_by_entry(module_of(text, tmp_path, f"shadowed_{which.replace(' ', '_')}").told)


def test_a_closure_and_a_bound_method_are_not_of_this_form() -> None:
    hidden = [1]

    def told(answers, rng):
        return [answer ^ hidden[0] for answer in answers]

    assert not answers_by_entry(told)
    assert not answers_by_entry(functools.partial(by_flips))


# --- claims of which it does not follow ---------------------------------------------------------------


class Nearer(type(dp.hamming_ordered())):  # type: ignore[misc]
    """A stranger's distance, which is larger between lists of one entry than its price says."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * (2 if len(left) == 1 else 1)

    def record_steps(self, space: Any) -> RecordSteps:
        return RecordSteps(unit="person", replaced=1, in_place=True)


def test_a_distance_that_is_larger_on_short_lists_shows_nothing() -> None:
    promise = dp.spec(space=PEOPLE, distance="hamming-ordered", standard="pure", epsilon=1)
    assert claim_of_one_entry(promise.replace(input_divergence=Nearer())) is None


def constant(answers, rng):
    return [0 for answer in answers]


def test_code_that_never_draws_is_not_verified() -> None:
    assert answers_by_entry(constant)
    assert of_all_lists(constant, 10) is None


@pytest.mark.parametrize(
    "claim",
    [
        {"distance": "add-remove", "space": dp.value_lists(values=[0, 1], ordered=True)},
        {"distance": "hamming", "space": dp.value_lists(values=[0, 1])},
        {"distance": dp.within_distance(of=dp.hamming_ordered(), most=2), "standard": "approximate", "delta": "1/10"},
        {"invariants": [dp.marginal(attributes=["bit"])]},
    ],
)
def test_other_distances_universes_and_divergences_are_left_to_the_other_ways(claim: dict[str, Any]) -> None:
    """Two lists of one entry say nothing of three positions, nor of lists of other lengths."""
    given = {"space": PEOPLE, "distance": "hamming-ordered", "standard": "pure", "epsilon": 1, **claim}
    assert claim_of_one_entry(dp.spec(**given)) is None
    assert claim_of_one_entry(dp.spec(space=PEOPLE, distance="hamming-ordered", standard="pure", epsilon=1)) is not None


# --- programs at random ------------------------------------------------------------------------------


def written(lot: random.Random) -> str:
    """An expression of an entry, constants and draws."""
    weights = ["0.25", "0.5", "0.1", "v / 2", "(1 + v) / 4", "1 - v / 3", "W"]

    def draw() -> str:
        return lot.choice([f"(rng.random() < {lot.choice(weights)})", "rng.integers(0, 2)", "rng.integers(0, 3)"])

    text = lot.choice(["v", draw(), f"int({draw()})"])
    for _ in range(lot.randint(1, 3)):
        text = lot.choice([
            f"({text} ^ int({draw()}))", f"({text} if {draw()} else 1 - v)", f"(v if {draw()} else {text})",
            f"max({text}, int({draw()}))", f"({text} + int({draw()}))", f"abs({text} - v)", f"int({text} > 0)",
        ])  # fmt: skip
    return text


def of_all_lists(function: Any, length: int) -> dp.Verdict | None:
    """What follows from lists of one entry."""
    promise = dp.spec(space=dp.bit_vectors(length=length), distance="hamming-ordered", standard="pure", epsilon=30)
    case = _Case(function=function, spec=promise, datasets=None, registry=None, progress=None, sampling=Sampling())
    return case._entry_by_entry(60, None)


def of_three(function: Any) -> dp.Verdict | None:
    """By the exhaustive engine, which lists three bits with all of their answers; None where these are too many."""
    promise = dp.spec(space=dp.bit_vectors(length=3), distance="hamming-ordered", standard="pure", epsilon=30)
    try:
        return verify_exhaustively(FunctionSampler(function, "function", most_paths=20_000), promise)
    except NotEnumerableError:
        return None


@pytest.mark.parametrize("seed", [
    0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (4, 5)),
    *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3)),
])  # fmt: skip
def test_one_entry_has_the_constant_of_three(seed: int, tmp_path: Path) -> None:
    lot = random.Random(seed)
    lines = ["W = 0.75"]
    for place in range(3):
        lines += [f"def told_{place}(x, rng):", f"    return [{written(lot)} for v in x]"]
    module = module_of("\n".join(lines) + "\n", tmp_path, f"entries_{seed}")
    for place in range(3):
        function: Callable[..., Any] = getattr(module, f"told_{place}")
        assert answers_by_entry(function)
        three, ten = of_three(function), of_all_lists(function, 10)
        if three is not None and three.outcome is Outcome.VERIFIED and ten is not None:
            assert ten.constant.lower in (0, three.constant.lower)
            assert ten.constant.upper == three.constant.upper
        if three is not None and three.outcome is Outcome.REFUTED:
            assert ten is None
