"""Parameters are declared once, and read everywhere by the same domain."""

from fractions import Fraction
from typing import Annotated

import attrs
import pytest
from hypothesis import given, strategies as st

from dpspec.base.errors import Faults, MissingKeyError, ParameterError, UnknownKeyError
from dpspec.base.exact import Number, ln
from dpspec.base.params import (
    Exact,
    Integer,
    Items,
    Nested,
    Pairs,
    Rational,
    Text,
    Truth,
    build,
    define,
    object_schema,
    parameters,
)


@define
class Inner:
    size: Annotated[int, Integer(1)]


@define
class Everything:
    rate: Annotated[Fraction, Rational(0, 1, open_low=True)]
    budget: Annotated[Number, Exact(0)]
    names: Annotated[tuple[str, ...], Items(Text())] = ()
    inner: Annotated[Inner | None, Nested(Inner)] = None
    flag: Annotated[bool, Truth()] = False
    table: Annotated[tuple[tuple[str, int], ...], Pairs(Integer())] = ()


def test_values_are_read_frozen_and_hashable() -> None:
    value = build(
        Everything, {"rate": 0.1, "budget": "ln(3)", "names": ["a"], "inner": {"size": 2}, "table": {"b": 2, "a": 1}}, "x"
    )
    assert value == Everything(rate=Fraction(1, 10), budget=ln(3), names=("a",), inner=Inner(size=2), table=(("a", 1), ("b", 2)))
    assert len({value, value}) == 1
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        value.rate = Fraction(1)


@pytest.mark.parametrize("bad", [0, -1, "2", True, float("nan"), None, "half", [1]])
def test_out_of_domain_is_refused_by_name(bad: object) -> None:
    with pytest.raises(ParameterError, match="rate"):
        Everything(rate=bad, budget=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1, "-ln(2)", False, float("nan")])
def test_budgets_are_not_negative_boolean_or_nan(bad: object) -> None:
    with pytest.raises(ParameterError, match="budget"):
        Everything(rate=1, budget=bad)  # type: ignore[arg-type]


def test_all_faults_of_a_table_come_together() -> None:
    with pytest.raises(Faults) as caught:
        build(Everything, {"rat": 1, "budget": -1, "names": ["", 3], "inner": {"sise": 1}}, "block")
    kinds = [type(fault) for fault in caught.value.faults]
    assert kinds.count(UnknownKeyError) == 2
    assert kinds.count(MissingKeyError) == 2
    assert kinds.count(ParameterError) == 3
    assert "did you mean rate?" in str(caught.value)


def test_converters_work_when_attrs_validators_are_off() -> None:
    attrs.validators.set_disabled(True)
    try:
        with pytest.raises(ParameterError):
            Inner(size=0)
    finally:
        attrs.validators.set_disabled(False)


def test_the_schema_names_every_parameter() -> None:
    schema = object_schema(Everything)
    assert set(schema["properties"]) == {p.name for p in parameters(Everything)}
    assert schema["required"] == ["rate", "budget"]


@given(st.data())
def test_strategies_stay_inside_the_domain(data: st.DataObject) -> None:
    for parameter in parameters(Everything):
        drawn = data.draw(parameter.domain.strategy())
        assert parameter.domain.read(drawn, parameter.name) == drawn
