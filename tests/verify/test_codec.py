"""Verdicts and errors as JSON and back: equal, by listed classes alone, and with every type kept apart."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest

from dpspec.base.errors import DpspecError, Faults, NotInSpaceError, NotWritableError, ParameterError
from dpspec.base.exact import INFINITY, Bracket, number, sqrt
from dpspec.verifier.codec import DisplayedValue, error_from_data, error_to_data, from_data, to_data
from dpspec.verifier.expression import Expression, form
from dpspec.verifier.verdict import Event, Notice, Outcome, ProofStep, UniverseResult, Verdict, Witness

ONE = Expression.listed([form(1)])
EVENT = Event(text="it is 1", left=Bracket.exactly(1), right=Bracket.exactly("1/3"), expression=ONE, proves=True)
WITNESS = Witness(
    universe=("X", 1), left=((0,), "a"), right=frozenset({1, 2}), distance=number(1),
    divergence=Bracket(lower=sqrt(2), upper=INFINITY), bound=number("ln(3)"), event=EVENT,
)  # fmt: skip
RESULT = UniverseResult(
    label=None, datasets=None, pairs=0, constant=Bracket.exactly("1/2*ln(3)"), bound=INFINITY, outcome=Outcome.VERIFIED,
    attained=((0,), (1,)),
)  # fmt: skip
VERDICT = Verdict(
    outcome=Outcome.REFUTED, method="sampled", scope="some", universes=(RESULT,), witness=WITNESS,
    findings=(Notice(code="raises", text="it"),), proof=(ProofStep(step="noise", says="so", citation=""),),
)  # fmt: skip

VALUES: list[Any] = [
    None, True, 0, -5, 10**30, "text", "", (), (1, (2,)), [1, [2]], {"a": (1,), 2: [None]}, frozenset({1, 2}), Fraction(-1, 3),
    0.1, -0.0, math.inf, number("ln(2)"), INFINITY, sqrt(3), Outcome.UNDECIDED, Expression.listed([form(0.5)]),
    DisplayedValue("it"), EVENT, WITNESS, RESULT, VERDICT,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_everything_comes_back_as_it_was(value: Any) -> None:
    back = from_data(json.loads(json.dumps(to_data(value))))
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_types_that_are_equal_in_python_are_kept_apart() -> None:
    for one, other in ((1, True), (1, 1.0), ((1,), [1]), (0.0, -0.0), (1, Fraction(1)), (1, number(1))):
        assert json.dumps(to_data(one)) != json.dumps(to_data(other))
    assert math.isnan(from_data(to_data(math.nan)))
    assert from_data({"float": "0.1"}) == 0.1  # as files had it before


def test_what_has_no_form_is_refused_or_displayed() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "<odd>"

    with pytest.raises(NotWritableError):
        to_data((1, Odd()))
    assert to_data((1, Odd()), displayed=True) == [1, {"displayed": "<odd>"}]
    assert repr(from_data(to_data((1, Odd()), displayed=True))) == "(1, <odd>)"


def test_only_listed_classes_are_made_and_unknown_fields_are_left_out() -> None:
    for name in ("Number", "Popen", "Expression"):
        with pytest.raises(KeyError):
            from_data({"class": name, "value": 1})
    assert from_data({"expression": ONE.json}) == ONE
    data = to_data(Notice(code="raises", text="it"))
    assert from_data({**data, "later": 1}) == Notice(code="raises", text="it")


@pytest.mark.parametrize(
    ("value", "field", "other"),
    [
        (WITNESS, "event", 5), (WITNESS, "distance", 1), (WITNESS, "divergence", {"number": "1"}), (WITNESS, "bound", None),
        (WITNESS, "left", {"list": [1]}), (WITNESS, "universe", {"table": []}), (WITNESS, "note", None),
        (EVENT, "expression", "it is 1"), (EVENT, "left", to_data(number(1))), (EVENT, "text", 1),
        (RESULT, "attained", [1, 2, 3]),
        (RESULT, "outcome", "verified"), (RESULT, "pairs", "3"), (VERDICT, "universes", [5]), (VERDICT, "assumptions", "none"),
        (VERDICT, "witness", to_data(EVENT)),
    ],
)  # fmt: skip
def test_a_field_of_another_type_is_refused(value: Any, field: str, other: Any) -> None:
    """A damaged witness file ended with an error that blamed dpspec."""
    data = to_data(value)
    assert field in data
    with pytest.raises(TypeError, match=field):
        from_data({**data, field: other})


def test_errors_keep_their_class_message_and_place() -> None:
    fault = NotInSpaceError("entry", "must be a number", "write 1", value="secret")
    fault.file, fault.line = "a.toml", 7
    back = error_from_data(json.loads(json.dumps(error_to_data(fault))))
    assert type(back) is NotInSpaceError
    assert (str(back), back.subject, back.rule, back.advice, back.file, back.line) == (
        str(fault), "entry", "must be a number", "write 1", "a.toml", 7,
    )  # fmt: skip
    both = Faults([fault, ParameterError("a", "is wrong")])
    again = error_from_data(error_to_data(both))
    assert isinstance(again, Faults)
    assert [type(one) for one in again.faults] == [NotInSpaceError, ParameterError]


def test_an_error_of_an_unknown_class_is_one_of_the_base_class() -> None:
    data = error_to_data(ParameterError("a", "is wrong"))
    back = error_from_data({**data, "error": "somewhere.Odd"})
    assert type(back) is DpspecError
    assert str(back) == str(ParameterError("a", "is wrong"))
