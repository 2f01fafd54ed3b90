"""A claim that the walk through a space leaves undecided is proved, if there is a proof; an empty truth is not."""

import itertools
from typing import Any

import pytest

import dpspec as dp
from dpspec.base.exact import Number, number
from dpspec.base.work import spent
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.mechanism import ReleaseInvariants
from dpspec.verifier import components, exhaustive, mechanisms
from dpspec.verifier.entry import judge_claim, verify_claim
from dpspec.verifier.exhaustive import NOTHING, WIDE
from dpspec.verifier.verdict import Outcome, Verdict

SPEC = dp.spec(space=dp.records(colour=3, most=2), distance="add-remove", standard="pure", epsilon=1)
COUNTS = dp.laplace(queries=dp.marginal(attributes="colour"), epsilon=1)


@pytest.mark.parametrize(("reason", "outcome"), [(WIDE, Outcome.VERIFIED), (NOTHING, Outcome.UNDECIDED)])
def test_brackets_that_hold_the_bound_leave_it_to_a_proof(monkeypatch: pytest.MonkeyPatch, reason: str, outcome: Outcome) -> None:
    walked = Verdict(outcome=Outcome.UNDECIDED, method="exhaustive", scope="all pairs", reason=reason)
    monkeypatch.setattr(mechanisms, "verify", lambda *_, **__: walked)
    assert mechanisms.judged(COUNTS, SPEC).outcome is outcome


def test_a_false_claim_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = Verdict(outcome=Outcome.UNDECIDED, method="exhaustive", scope="all pairs", reason=WIDE)
    monkeypatch.setattr(mechanisms, "verify", lambda *_, **__: walked)
    false = dp.spec(space=dp.records(colour=3, most=2), distance="add-remove", standard="pure", epsilon="0.9")
    assert mechanisms.judged(COUNTS, false).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    "universes",
    [(), (("none", ()),), (("one", ((("a",),),)),), (("one", ((("a",),),)), ("other", ((("b",),),)))],
    ids=["no universe", "an empty one", "one of one dataset", "two of one dataset"],
)
def test_where_no_two_datasets_are_compared_nothing_is_verified(universes: tuple[tuple[str, tuple[Any, ...]], ...]) -> None:
    """A release of the data themselves, of which a claim that says nothing could be said, too."""
    space = UnorderedRecords(attributes=(Attribute(name="kind", categories=("a", "b")),), least=1, most=1)
    held = ExplicitUniverses(universes_by_label=universes)
    spec = dp.spec(space=space, distance="hamming", standard="pure", epsilon=0).replace(multiverse=held)
    exact = ReleaseInvariants(invariants=(Marginal(attributes=("kind",)),))
    found = verify_claim(exact, spec)
    assert (found.outcome, found.reason) == (Outcome.UNDECIDED, NOTHING)


def sampled(most: int, standard: str = "zero-concentrated", **budget: object) -> tuple[dp.Mechanism, dp.PrivacySpec]:
    """A few records, and laws that are mixtures of infinite ones: a comparison of two takes about a second."""
    noise = dp.geometric(queries=dp.marginal(attributes="sex"), ratio="1/2")
    spec = dp.spec(space=dp.records(sex=["f", "m"], most=most), distance="symmetric-difference", standard=standard, **budget)
    return dp.subsampled(mechanism=noise, rate="1/2"), spec


def test_a_small_space_with_costly_laws_is_left_to_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` compared all pairs of six datasets for over 100 s, and was asked for the proof, which takes 0.3 s, afterwards."""
    monkeypatch.setattr(mechanisms, "MOST_WALKED_WORK", 20_000)
    mechanism, spec = sampled(2, rho=1)
    before = spent()
    found = mechanisms.judged(mechanism, spec)
    assert (found.outcome, found.method) == (Outcome.VERIFIED, "derived")
    assert spent() - before < 20_000 + mechanisms.MOST_PROVED_WORK


def test_without_a_proof_a_pair_is_looked_for_with_limited_work(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, spec = sampled(1, rho="1/1000")
    for module, name in ((mechanisms, "MOST_WALKED_WORK"), (mechanisms, "MOST_PROVED_WORK"), (exhaustive, "MOST_COMPARED")):
        monkeypatch.setattr(module, name, 1_000)
    before = spent()
    found = mechanisms.judged(mechanism, spec)
    assert found.outcome is Outcome.UNDECIDED
    assert "exceeds the limit of work" in found.reason
    assert exhaustive.MORE in found.reason
    assert spent() - before < 4_000


def test_a_pair_that_was_found_before_the_limit_refutes() -> None:
    """The last pair is cut off by the limit, and the first ones were beyond the claim: the limit takes no refutation away."""
    spec = dp.spec(space=dp.records(sex=["f", "m"], most=6), distance="symmetric-difference", standard="pure", epsilon="1/2")
    noise = dp.geometric(queries=dp.marginal(attributes="sex"), ratio="1/2")
    exhaustive.verify(noise, spec)
    before = spent()
    everything = exhaustive.verify(noise, spec)
    cut = exhaustive.verify(noise, spec, most_work=spent() - before - 1)
    assert everything.outcome is cut.outcome is Outcome.REFUTED
    assert cut.witness is not None
    assert [sum(result.pairs or 0 for result in found.universes) for found in (cut, everything)] == [1, 378]


def crossed(attributes: int) -> tuple[dp.Mechanism, dp.PrivacySpec]:
    """Noise on the table of all attributes, of which every table of two is published: 2^n cells, and no part by itself."""
    names = [f"x{place}" for place in range(attributes)]
    published = [dp.marginal(attributes=list(pair)) for pair in itertools.combinations(names, 2)]
    spec = dp.spec(
        space=dp.records(**dict.fromkeys(names, 2)), invariants=published, distance="hamming", standard="pure", epsilon=8
    )  # fmt: skip
    return dp.geometric(queries=dp.marginal(attributes=names), ratio="1/2"), spec


def test_a_table_of_a_billion_cells_with_crossed_invariants_takes_limited_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers of a law and the changes that invariants allow are work."""
    monkeypatch.setattr(mechanisms, "MOST_PROVED_WORK", 100_000)
    monkeypatch.setattr(exhaustive, "MOST_COMPARED", 100_000)
    steps: list[int] = []
    plain = components._AttributeWalk._closed
    monkeypatch.setattr(components._AttributeWalk, "_closed", lambda *args: steps.append(1) or plain(*args))
    cells: list[int] = []
    listed = Marginal.cells
    monkeypatch.setattr(Marginal, "cells", lambda *args: (cells.append(1) or cell for cell in listed(*args)))
    found = mechanisms.judged(*crossed(30))
    assert found.outcome is Outcome.UNDECIDED
    assert "the step work is missing" in found.reason
    assert len(steps) < 60_000
    assert len(cells) < 60_000


def test_where_no_pair_was_found_it_is_not_said_that_there_is_none() -> None:
    """Four records of even parity and four of odd parity have the same tables of two attributes."""
    found = mechanisms.judged(*crossed(6))
    assert found.outcome is Outcome.UNDECIDED
    assert found.reason.startswith("the proof needs two datasets of one universe at a finite distance, and found none")


def test_a_small_space_on_which_two_laws_have_no_formula_is_undecided() -> None:
    """Two draws of noise whose negative numbers become 0: each draw is known through cells, which are not multiplied."""
    noise = dp.geometric(queries=dp.marginal(attributes=[]), ratio="1/2")
    twice = dp.repeated(mechanism=dp.post_processed(mechanism=noise, at_least=0), times=2)
    space = dp.records(sex=["f", "m"], most=1)
    spec = dp.spec(space=space, distance="add-remove", standard="total-variation", budget="1/4")
    found = mechanisms.judged(twice, spec)
    assert found.outcome is Outcome.UNDECIDED
    assert "is not composed where one draw is known through cells only" in found.reason


STICK, APPROXIMATE = {"type": "hockey-stick", "epsilon": 1}, {"type": "mult-delta", "delta": "1/10"}


def by_generator(name: str) -> dict[str, str]:
    return {"type": "f-divergence", "generator": name, "direction": "forward"}


def on_many(standard: dict[str, Any], **blocks: Any) -> dp.PrivacySpec:
    space = {"type": "records", "attributes": [{"name": "kind", "categories": ["a", "b"]}]}
    distance = {"type": "symmetric-difference", "unit": "person"}
    return dp.build(**{"space": space, "input_divergence": distance, "output_divergence": standard, **blocks}).spec


@pytest.mark.parametrize(
    ("standard", "budget", "outcome"),
    [
        (STICK, {"delta": 1}, Outcome.UNDECIDED),
        (STICK, {"delta": "inf"}, Outcome.UNDECIDED),
        (STICK, {"delta": "999/1000"}, Outcome.REFUTED),
        (APPROXIMATE, {"epsilon": "inf"}, Outcome.UNDECIDED),
        (APPROXIMATE, {"epsilon": 50}, Outcome.REFUTED),
        (by_generator("hellinger"), {"divergence": 1}, Outcome.UNDECIDED),
        (by_generator("jensen-shannon"), {"divergence": 1}, Outcome.UNDECIDED),
        (by_generator("triangular"), {"divergence": 2}, Outcome.UNDECIDED),
        (by_generator("triangular"), {"divergence": "199/100"}, Outcome.REFUTED),
    ],
)
def test_a_claim_that_every_mechanism_satisfies_is_no_guarantee_and_says_so(
    standard: dict[str, Any], budget: dict[str, Any], outcome: Outcome
) -> None:
    """Here the data are released, so that the structure proves nothing else."""
    exact = ReleaseInvariants(invariants=(Marginal(attributes=("kind",)),))
    found = mechanisms.judged(exact, on_many(standard, budget=budget))
    assert found.outcome is outcome
    assert ("every mechanism satisfies the claim: " in found.reason) is (outcome is Outcome.UNDECIDED)


@pytest.mark.parametrize("most", [2, None])
@pytest.mark.parametrize("budget", ["inf", 1])
def test_such_a_claim_has_one_answer_on_spaces_of_all_sizes(most: int | None, budget: Any) -> None:
    """It was *verified* where all datasets can be listed, so that a release of the records was called fit for publication."""
    space = {"type": "records", "attributes": [{"name": "kind", "categories": ["a", "b"]}]} | (
        {} if most is None else {"most": most}
    )
    standard = {"type": "total-variation"} if budget == 1 else {"type": "mult"}
    parameter = "distance" if budget == 1 else "epsilon"
    spec = on_many(standard, budget={parameter: budget}, space=space)
    exact = ReleaseInvariants(invariants=(Marginal(attributes=("kind",)),))
    assert dp.verify(exact, spec).outcome is Outcome.UNDECIDED
    assert "every mechanism satisfies the claim: " in dp.verify(exact, spec).reason
    noisy = dp.geometric(queries=dp.marginal(attributes="kind"), ratio="1/2")
    assert dp.verify(noisy, spec).outcome is Outcome.VERIFIED, "its own constant is smaller"
    least = dp.measure(exact, against=spec)
    assert least.value.constant.lower == (1 if budget == 1 else number("inf"))


class UnknownLeast(InputDivergence):
    """Promises nothing: different datasets may be at distance 0, where the claim requires equal laws."""

    name = "unknown-least"

    def distance(self, left: Any, right: Any, space: Any) -> Number:
        return number(0)


def test_a_divergence_that_declares_nothing_is_promised_nothing() -> None:
    exact = ReleaseInvariants(invariants=(Marginal(attributes=("kind",)),))
    spec = on_many(STICK, budget={"delta": "inf"}).replace(input_divergence=UnknownLeast())
    assert "every mechanism" not in mechanisms.judged(exact, spec).reason


def test_no_number_published_of_a_claim_without_a_proof_leaves_it_undecided() -> None:
    exact = ReleaseInvariants(invariants=(Marginal(attributes=("kind",)),))
    found = dp.verify(exact, on_many(APPROXIMATE, budget={"stated": False}))
    assert found.outcome is Outcome.UNDECIDED
    assert found.reason.startswith("no number published")


SIZE = ReleaseInvariants(invariants=(Marginal(attributes=()),))


def coin_and_data(records: Any, rng: Any) -> list[Any]:
    return [len(records), int(rng.random() < 0.5)]


@pytest.mark.parametrize("subject", [SIZE, pytest.param(coin_and_data, marks=pytest.mark.slow)], ids=["mechanism", "function"])
def test_what_every_mechanism_satisfies_is_no_answer_of_verify_claim(subject: Any) -> None:
    """It said *verified* of a release of the data. A search for the least budget needs the constant that the engines return."""
    spec = dp.spec(space=dp.records(kind=1, most=1), distance="add-remove", standard="pure", epsilon="inf")
    found = verify_claim(subject, spec)
    assert found.outcome is Outcome.UNDECIDED
    assert "every mechanism satisfies the claim: " in found.reason
    assert judge_claim(subject, spec).constant.upper.is_infinite


def test_no_budget_is_measured_where_nothing_is_compared() -> None:
    spec = dp.spec(space=dp.records(colour=1, least=1, most=1), distance="hamming", standard="pure", epsilon=1)
    found = dp.measure(COUNTS, against=spec)
    assert (found.exit_code, found["vacuous"], found["proved"], found["tried"]) == (3, True, None, [])


@pytest.mark.parametrize("least", [150_000, 10**6])
def test_no_pair_is_searched_where_one_is_known_that_is_too_large_to_be_written(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It made datasets of so many records for half a minute, and none of them could have been a witness."""
    monkeypatch.setattr(mechanisms, "refute_on", lambda *_, **__: pytest.fail("searched"))
    space = dp.records(colour=["r", "b"], least=least, most=least)
    spec = dp.spec(space=space, distance="hamming", standard="pure", epsilon="1/10")
    found = dp.verify(dp.geometric(queries=dp.marginal(attributes="colour"), epsilon=1), spec)
    assert found.outcome is Outcome.UNDECIDED
    assert found.reason == "the constant is at least 2, shown by a pair that is too large to be written down"


def test_the_ends_of_an_open_constant_are_short() -> None:
    """They were fractions of hundreds of digits."""
    sampled = dp.subsampled(mechanism=dp.geometric(queries=dp.marginal(attributes="colour"), epsilon=1), rate="1/2")
    space = dp.records(colour=["r", "b"], least=10_001, most=10_001)
    found = dp.verify(sampled, dp.spec(space=space, distance="hamming", standard="pure", epsilon="1/10"))
    assert found.outcome is Outcome.UNDECIDED
    assert "the constant lies between 0 (a pair) and 1.000001 (the proof)" in found.reason
