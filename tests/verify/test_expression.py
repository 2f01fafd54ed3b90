"""Events as data: which outputs they hold, with exact numbers, half-open intervals, and forms that keep the types apart."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpspec.base.errors import SpecSyntaxError
from dpspec.verifier.expression import Expression, fits, form, numbers, value


def within(number: dict[str, Any], low: str | None, high: str | None, of: Any = None) -> Expression:
    return Expression.read({"number": number, "within": [[low, high]], "of": of})


FIRST = {"sum": [[0, "1"]]}


def test_forms_keep_types_and_bits() -> None:
    assert form(5) == ("int", "5")
    assert form(1.5) == ("float", "0x1.8000000000000p+0")
    assert form(True) == ("True",)
    assert form((1, (2.0,))) == ("tuple", ("int", "1"), ("tuple", ("float", "0x1.0000000000000p+1")))
    assert form(np.int64(5))[0] == "np.int64"
    assert len({form(x) for x in (1, 1.0, True, np.int64(1), "1", (1,), [1])}) == 7


@pytest.mark.parametrize("output", [3, -2.5, 0.1, (1, 2.5, (3,)), True, None, (False, 10**30)])
def test_plain_outputs_are_read_back(output: Any) -> None:
    back = value(form(output))
    assert back == output
    assert type(back) is type(output)


def test_numbers_are_exact_and_in_reading_order() -> None:
    assert numbers(form((1, (0.1, "text"), 2, None))) == [1, Fraction(0.1), 2]
    assert numbers(form("1")) == []
    assert value(form((1,))) == (1,)
    with pytest.raises(ValueError, match="text"):
        value(form("text"))


def test_a_number_that_is_left_out_matches_any_of_its_type() -> None:
    assert fits(form(3), ("int",))
    assert not fits(form(3.0), ("int",))
    assert not fits(form(3), ("int", "4"))
    assert fits(form((1, 2)), ("tuple", ("int",), ("int", "2")))
    assert not fits(form((1, 2)), ("tuple", ("int",)))
    assert not fits(form([1, 2]), ("tuple", ("int",), ("int",)))
    raised = ("raises", "ValueError", "('no',)", "deadbeef")
    assert fits(raised, ("raises", "ValueError", "('no',)"))
    assert not fits(raised, ("raises", "KeyError", "('no',)"))
    assert not fits(raised, ("raises", "ValueError", "('no',)", "cafe"))


def test_intervals_hold_their_lower_end_and_not_their_upper_one() -> None:
    event = within(FIRST, "1", "2")
    assert [event.holds(x) for x in (0.999, 1, 1.5, 2, (1, 9), "1", ())] == [False, True, True, False, True, False, False]
    assert [within(FIRST, None, "0").holds(x) for x in (-(10**30), 0)] == [True, False]
    assert [within(FIRST, "0", None).holds(x) for x in (0, 10**30)] == [True, True]
    assert Expression.between(Fraction(1), Fraction(2)).data == event.data
    second = Expression.between(Fraction(1), None, place=1)
    assert [second.holds(x) for x in ((0, 1), (1, 0), 1)] == [True, False, False]
    tenth = within(FIRST, "1/10", None)  # the double 0.1 is larger than 1/10
    assert tenth.holds(0.1)
    assert not within(FIRST, None, "1/10").holds(0.1)


def test_the_form_of_an_interval_restricts_it() -> None:
    event = within(FIRST, "0", "10", of=["int"])
    assert [event.holds(x) for x in (3, 3.0, (3,))] == [True, False, False]


@pytest.mark.parametrize(
    ("number", "output", "exact"),
    [
        ({"sum": [[0, "2"], [1, "-1/2"]]}, (3, 4), "4"), ({"fraction": 0}, -0.25, "3/4"), ({"remainder": [0, "3"]}, -1, "2"),
        ({"largest": True}, (1, 5, 2), "5"), ({"largest": False}, (1, 5, -2), "-2"), ({"whole": "count"}, (1, 5, 2), "3"),
        ({"whole": "sum"}, (1, 5, -2), "4"), ({"whole": "distinct"}, (1, 5, 1.0), "2"), ({"whole": "zero"}, (0, 5, 0.0), "2"),
        ({"whole": "place of the largest"}, (1, 5, 5), "1"), ({"whole": "place of the least"}, (1, 5, 1), "0"),
        ({"steps": [[["0", "1"], ["10", "20", "30"]], [["0"], ["1", "2"]]]}, (0, -1), "21"),
        ({"steps": [[["0", "1"], ["10", "20", "30"]]]}, 1, "30"), ({"steps": [[["0", "1"], ["10", "20", "30"]]]}, -0.5, "10"),
    ],
)  # fmt: skip
def test_numbers_of_an_output(number: dict[str, Any], output: Any, exact: str) -> None:
    just_above = str(Fraction(exact) + Fraction(1, 10**9))
    assert within(number, exact, just_above).holds(output)
    assert not within(number, just_above, None).holds(output)
    assert not within(number, None, exact).holds(output)


@pytest.mark.parametrize(
    "number", [{"sum": [[1, "1"]]}, {"fraction": 1}, {"remainder": [1, "2"]}, {"steps": [[[], ["1"]], [[], ["1"]]]}]
)
def test_an_output_without_the_number_is_in_no_interval(number: dict[str, Any]) -> None:
    assert not within(number, None, None).holds(5)
    assert within(number, None, None).negated().holds(5)
    assert not within({"largest": True}, None, None).holds("no number")
    assert not within({"whole": "place of the least"}, None, None).holds(())
    assert within({"whole": "count"}, "0", "1").holds(())


def test_events_are_combined() -> None:
    low, high = within(FIRST, None, "2"), within(FIRST, "1", None)
    both, either = (Expression.read({key: [low.json, high.json]}) for key in ("and", "or"))
    assert [both.holds(x) for x in (0, 1, 2)] == [False, True, False]
    assert [either.holds(x) for x in (0, 1, 2, "text")] == [True, True, True, False]
    assert [low.negated().holds(x) for x in (1, 2)] == [False, True]
    two = Expression.read({"number": FIRST, "within": [[None, "0"], ["5", None]], "of": None})
    assert [two.holds(x) for x in (-1, 0, 3, 5)] == [True, False, False, True]


def test_what_an_event_is_made_of() -> None:
    listed = Expression.listed([form(1), form("a")])
    assert listed.members == (form(1), form("a"))
    assert [listed.holds(x) for x in (1, "a", 1.0, 2)] == [True, True, False, False]
    assert listed.interval is None
    event = within(FIRST, "1/2", None)
    assert event.interval == (0, (Fraction(1, 2), None))
    assert event.members is None
    for other in (within(FIRST, "0", "1", of=["int"]), within({"sum": [[0, "2"]]}, "0", "1"), event.negated()):
        assert other.interval is None
    assert Expression.read(event.json) == event
    assert Expression.read(listed.json) == listed


@pytest.mark.parametrize(
    "bad",
    [
        {}, {"number": FIRST}, {"number": {"no such": 1}, "within": [[None, None]], "of": None},
        {"number": {"whole": "no such"}, "within": [[None, None]], "of": None}, {"and": [{"in": []}, {}]},
        {"number": {"remainder": [0, "0"]}, "within": [[None, None]], "of": None},
        {"number": FIRST, "within": [["x", None]], "of": None},
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(bad: Any) -> None:
    with pytest.raises(SpecSyntaxError):
        Expression.read(bad)


def test_truth_values_are_written_as_the_manual_says() -> None:
    """`["True"]` of docs/witnesses.md matched no output: the form that was written was ["bool", "True", "True"]."""
    for output in (True, False):
        event = Expression.read({"in": [[str(output)]]})
        assert event.holds(output)
        assert not event.holds(not output)
        assert not event.holds(int(output))
        assert value(form((output,))) == (output,)
    assert form(np.True_)[0] == "np.bool"


def test_infinite_and_missing_numbers() -> None:
    assert numbers(form(math.inf)) == []
    assert not within(FIRST, None, None).holds(math.nan)
