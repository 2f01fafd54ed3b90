"""`risk --secret`, `--move` and `--exchange` against all changes of all datasets, which the tests make by themselves."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

import dpspec as dp
from dpspec.base.errors import DpspecError, NoFormulaError, NotReachedError
from dpspec.base.exact import Number
from dpspec.grammar.attacker import RiskStatement, Sense
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.trade_off import largest_power

LEVEL = Fraction(1, 20)
SEX = {"name": "sex", "categories": ["f", "m"]}
AREA = {"name": "area", "categories": ["n", "s", "w"]}
REGION, COUNTY = {"name": "region", "count": 2}, {"name": "county", "count": 4, "within": "region"}
ATTRIBUTES = ([SEX, AREA], [SEX, REGION, COUNTY])


def document(mechanism: dict[str, Any], *, space: dict[str, Any], distance: str = "hamming", invariants: Any = ()) -> Any:
    return dp.build(
        space=space, multiverse={"invariants": list(invariants)}, input_divergence={"type": distance},
        output_divergence={"type": "mult"}, budget={"epsilon": "20"}, mechanism=mechanism,
    )  # fmt: skip


def records(most: int | None, attributes: Any = (SEX, AREA), kind: str = "records", least: int = 0) -> dict[str, Any]:
    limits = {"least": least} if most is None else {"least": least, "most": most}
    return {"type": kind, "attributes": list(attributes), **limits}


def geometric(*queries: dict[str, Any]) -> dict[str, Any]:
    return {"type": "geometric", "queries": list(queries), "ratio": "1/2"}


def count(*attributes: str, **where: list[str]) -> dict[str, Any]:
    return {"type": "marginal", "attributes": list(attributes), **({"where": where} if where else {})}


# --- all changes ------------------------------------------------------------------------------------------


def changed(spec: PrivacySpec, dataset: Any, kind: str, names: Any, within: str | None, change: Any) -> Iterator[Any]:
    """All datasets that differ from one by such a change."""
    known = {a.name: a for a in spec.space.attributes_of("person")}
    order = list(known)
    free = set(names)
    while more := {n for n, a in known.items() if a.within in free} | {known[n].within for n in free} - {None}:
        if more <= free:
            break
        free |= more
    if within is not None:
        kept = {within}
        while parent := known[next(iter(kept))].within:
            kept.add(parent)
        free -= kept
    held = [dict(zip(order, record, strict=True)) for record in spec.space.records(dataset, "person")]

    def fits(one: dict[str, Any], other: dict[str, Any]) -> bool:
        return change is None or {str(one[names[0]]), str(other[names[0]])} == set(change)

    def made(new: dict[int, dict[str, Any]]) -> Any:
        rows = [new.get(place, record) for place, record in enumerate(held)]
        try:
            return spec.space.dataset([tuple(row[name] for name in order) for row in rows])
        except DpspecError:
            return None

    if kind == "exchange":
        for i, j in itertools.combinations(range(len(held)), 2):
            if fits(held[i], held[j]):
                one = {n: held[j][n] if n in free else v for n, v in held[i].items()}
                other = {n: held[i][n] if n in free else v for n, v in held[j].items()}
                yield made({i: one, j: other})
        return
    for i, record in enumerate(held):
        for values in itertools.product(*(tuple(known[name].values()) for name in sorted(free))):
            other = {**record, **dict(zip(sorted(free), values, strict=True))}
            if fits(record, other):
                yield made({i: other})


def truth(asked: Any, **question: Any) -> Number | None:
    """The largest power over all changes inside a universe; None where there is none."""
    spec, best = asked.spec, None
    kind = next(key for key in ("secret", "move", "exchange") if key in question)
    for left in spec.space.datasets():
        law = asked.mechanism.law(left, spec.space)
        for right in changed(spec, left, kind, question[kind], question.get("within"), question.get("change")):
            if right is None or right == left or not spec.multiverse.share_universe(left, right, spec.space):
                continue
            other = asked.mechanism.law(right, spec.space)
            for pair in (law.against(other), other.against(law)):
                power = largest_power(pair, level=LEVEL).lower
                best = power if best is None else max(best, power)
    return best


def stated(asked: Any, **question: Any) -> tuple[list[RiskStatement], list[RiskStatement]]:
    """What is stated of any mechanism and of this one, about candidates that no publication distinguishes."""
    rows = dp.risk(asked, levels=[str(LEVEL)], **question).rows
    powers = [row for row in rows if row.quantity.startswith("power")]
    open_ = [row for row in powers if "distinguished" not in dict(row.at).get("candidates", "")]
    return [one for row in open_ for one in row.worst], [one for row in open_ for one in row.own]


def assert_true(small: Any, large: Any = None, **question: Any) -> str:
    """Compare what is stated on a space that is listed, and on one that is not, with all changes of the listed one."""
    expected = truth(small, **question)
    try:
        every, own = stated(small, **question)
    except NotReachedError:
        assert expected is None
        return "none"
    except NoFormulaError:
        return "no formula"
    assert expected is not None
    assert own
    for one in own:
        assert one.relation is Sense.EQUALS
        assert one.value.lower <= expected <= one.value.upper, (one.value, expected)
    assert all(one.relation is not Sense.AT_MOST or one.value.upper >= expected for one in every)
    if large is not None:
        try:
            every, own = stated(large, **question)
        except (NotReachedError, NoFormulaError):
            return "listed"
        for one in own:
            assert one.relation is not Sense.EQUALS or one.value.upper >= expected, (one, expected)
        assert all(one.relation is not Sense.AT_MOST or one.value.upper >= expected for one in every)
    return "compared"


# --- questions --------------------------------------------------------------------------------------------


def test_a_change_between_two_categories_is_about_these_alone() -> None:
    asked = document(geometric(count(area=["w"])), space=records(2))
    (power,) = stated(asked, secret=["area"], change=["n", "s"])[1]
    assert str(power.value) == "1/20"
    assert assert_true(asked, secret=["area"], change=["n", "w"]) == "compared"


@pytest.mark.parametrize("kind", ["records", "ordered-records"])
def test_an_exchange_is_no_change_of_two_records(kind: str) -> None:
    """Counts of the exchanged attribute stay as they are, and so does every answer."""
    distance = "hamming" if kind == "records" else "hamming-ordered"
    asked = document(geometric(count("area")), space=records(2, kind=kind), distance=distance)
    (power,) = stated(asked, exchange=["area"])[1]
    assert str(power.value) == "1/20"
    crossed = document(geometric(count("sex", "area")), space=records(2, kind=kind), distance=distance)
    assert assert_true(crossed, exchange=["area"]) == "compared"


def test_a_household_of_two_is_not_one_of_one() -> None:
    area = {"name": "area", "categories": ["n", "s"]}
    space = {"type": "households", "household": [area], "person": [SEX], "most": 1, "members": 2}
    asked = document(geometric({**count("area"), "unit": "person"}), space=space)
    one, two = (stated(asked, move=["area"], members=members)[1] for members in (1, 2))
    assert one[0].relation is two[0].relation is Sense.EQUALS
    assert one[0].value.upper < two[0].value.lower


OTHERS = {
    "noisy-max": {"type": "noisy-max", "query": count("area"), "noise": "exponential", "rate": "1"},
    "exponential": {"type": "exponential", "query": count("area"), "rate": "1"},
    "distinct": geometric({"type": "distinct-count", "attributes": ["area"]}),
    "composed": {"type": "composed", "parts": [geometric(count("sex")),
                                               {"type": "exponential", "query": count("area"), "rate": "1"}]},
}  # fmt: skip
"""Mechanisms whose answers depend on the other records, such as the largest of several counts."""


@pytest.mark.parametrize("name", OTHERS)
def test_the_smallest_datasets_do_not_show_how_far_such_answers_move(name: str) -> None:
    small, large = (document(OTHERS[name], space=records(most)) for most in (2, None))
    assert assert_true(small, large, secret=["area"]) == "compared"


@pytest.mark.parametrize("kind", ["k-ary-response", "geometric"])
def test_a_change_that_moves_an_answer_as_far_as_can_be_is_the_worst(kind: str) -> None:
    """So the number of the mechanism is exact, on a space of any size."""
    response = {"type": "k-ary-response", "attribute": "area", "epsilon": "1"}
    mechanism = response if kind == "k-ary-response" else geometric(count("area"))
    spaces = [records(most, kind="ordered-records") for most in (2, None)]
    small, large = (document(mechanism, space=space, distance="hamming-ordered") for space in spaces)
    assert assert_true(small, large, secret=["area"]) == "compared"
    if kind == "geometric":
        assert {one.relation for one in stated(large, secret=["area"])[1]} == {Sense.EQUALS}


def test_measurements_react_where_their_answers_differ() -> None:
    """A distinct count is the same on one person and another; two reports that change places both react."""
    distinct = dp.risk(document(OTHERS["distinct"], space=records(None)), secret=["area"])
    assert "0 of 1 measurements react" in str(distinct)
    response = {"type": "k-ary-response", "attribute": "area", "epsilon": "1"}
    asked = document(response, space=records(None, kind="ordered-records"), distance="hamming-ordered")
    assert "1 of 1 measurement react" in " ".join(str(dp.risk(asked, exchange=["area"])).split())


@pytest.mark.parametrize("members", [1, 2])
def test_households_of_one_size_that_exchange_areas_are_compared(members: int) -> None:
    """By area and size they are the same two households; their persons are not."""
    area = {"name": "area", "categories": ["n", "s"]}
    space = {"type": "households", "household": [area], "person": [SEX], "most": 2, "members": 2}
    cells = {**count("area", "sex"), "unit": "person"}
    asked = document(geometric(cells), space=space)
    persons = ("f",), ("m",)
    (here, one), (there, other) = (("n",), persons[:1] * members), (("s",), persons[1:] * members)
    left, right = (asked.spec.space.dataset(x) for x in ([(here, one), (there, other)], [(there, one), (here, other)]))
    laws = [asked.mechanism.law(x, asked.spec.space) for x in (left, right)]
    expected = largest_power(laws[0].against(laws[1]), level=LEVEL)
    (power,) = stated(asked, exchange=["area"], members=members)[1]
    assert power.relation is Sense.EQUALS
    assert str(power.value) == str(expected)


def questions(chance: random.Random) -> tuple[Any, Any, dict[str, Any]]:
    """A random question, on a small space and on one without a limit."""
    attributes = chance.choice(ATTRIBUTES)
    names = [a["name"] for a in attributes]

    def query() -> dict[str, Any]:
        where = {"sex": ["f"]} if chance.random() < 0.3 else {}
        table = count(*chance.sample(names, chance.randint(0, 2)), **where)
        return {"type": "distinct-count", "attributes": [chance.choice(names)]} if chance.random() < 0.2 else table

    mechanism: dict[str, Any] = geometric(*(query() for _ in range(chance.randint(1, 2))))
    wrapped = chance.random()
    if wrapped > 0.8:
        mechanism = {**chance.choice([OTHERS["noisy-max"], OTHERS["exponential"]]), "query": count(chance.choice(names))}
    if wrapped < 0.2:
        mechanism = {"type": "filtered", "where": {"sex": ["f"]}, "mechanism": mechanism}
    elif wrapped < 0.4:
        mechanism = {"type": "composed", "parts": [mechanism, geometric(query())]}
    invariants = [count(*chance.sample(names, chance.randint(0, 2))) for _ in range(chance.choice((0, 0, 1)))]
    kind = "records" if chance.random() < 0.7 else "ordered-records"
    distance = "hamming-ordered" if kind != "records" else chance.choice(("hamming", "symmetric-difference"))
    least = chance.choice((0, 0, 1, 2))
    small, large = (
        document(mechanism, space=records(most, attributes, kind, least), distance=distance, invariants=invariants)
        for most in (2, None)
    )
    asked = chance.choice(("secret", "move", "exchange"))
    name = chance.choice(names)
    question: dict[str, Any] = {asked: [name]}
    if name == "county" and chance.random() < 0.5:
        question["within"] = "region"
    if chance.random() < 0.4:
        values = next(a for a in attributes if a["name"] == name)
        known = values.get("categories") or [str(place) for place in range(values["count"])]
        question["change"] = chance.sample(known, 2)
    return small, large, question


FEW = (0, 1, 64, 205)
"""With questions whose answer was that no two datasets differ so."""


@pytest.mark.parametrize("seeds", [
    FEW, pytest.param(range(20), marks=pytest.mark.slow), pytest.param(range(20, 1_000), marks=pytest.mark.long),
], ids=["few", "more", "many"])  # fmt: skip
def test_random_questions(seeds: Sequence[int]) -> None:
    found = [assert_true(small, large, **question) for small, large, question in map(questions, map(random.Random, seeds))]
    assert found.count("compared") > len(seeds) // 3
