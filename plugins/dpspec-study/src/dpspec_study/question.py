"""The question of a study: the table of counts to be published, and the tolerated risk.

columns = ["region", "age"]     # the table of counts; required
exchange = ["region"]           # what two persons exchange in the risk that is compared, and what a swap moves
match = ["sex"]                 # what these two persons agree on, and what a swap holds
risk = "1/2"                    # the power that a test may have at the level
level = "1/20"
metric = "mae"                  # the error: mae, rmse, mape or max
unit = "person"                 # what one record of the table is
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec import DpspecError
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import (
    MissingKeyError,
    UnknownKeyError,
    WrongShapeError,
    decoded,
    did_you_mean,
    parse,
    raise_all,
    read_bytes,
)

METRICS = ("mae", "rmse", "mape", "max")
MOST_CELLS = 2_000
"""Cells of the table of counts: the laws of all of them are computed for each design."""
CLOSEST = Fraction(1, 1000)
"""The risk lies between the level and 1 by at least so much."""


@attrs.frozen(kw_only=True)
class Question:
    """The table to be published, and the tolerated risk.

    Args:
        columns: the columns of the table of counts.
        exchange: the columns whose values two persons exchange; without them the first of `columns`.
        match: the columns in which these two persons agree.
        risk: the power that a test may have at the level, between the level and 1.
        level: the level of the test, in (0, 1).
        metric: the error: ``mae``, ``rmse``, ``mape`` or ``max``.
        unit: what one record of the table is.
    """

    columns: tuple[str, ...]
    exchange: tuple[str, ...]
    match: tuple[str, ...] = ()
    risk: Fraction = Fraction(1, 2)
    level: Fraction = Fraction(1, 20)
    metric: str = "mae"
    unit: str = "person"

    @property
    def every(self) -> tuple[str, ...]:
        """All columns that are needed of the table."""
        return tuple(dict.fromkeys([*self.columns, *self.match, *self.exchange]))

    @property
    def held(self) -> tuple[str, ...]:
        """The columns of the table of counts that an exchange leaves alone and in which the two persons may differ."""
        return tuple(name for name in self.columns if name not in (*self.exchange, *self.match))

    @property
    def statistic(self) -> str:
        """As `dpspec tradeoff` takes it."""
        return f"marginal:{','.join(self.columns)}"

    @property
    def measure(self) -> str:
        """The risk, as `dpspec tradeoff` takes it."""
        return f"power:{self.level}:exchange"


def read_question(given: str | Path | Mapping[str, Any]) -> Question:
    """The question in a TOML file, or in a mapping with the same keys.

    Raises:
        MissingKeyError: it names no columns.
        UnknownKeyError, WrongShapeError, ParameterError: a key is none, or its value is not what it holds.

    >>> read_question({"columns": ["region", "age"]}).exchange
    ('region',)
    """
    if not isinstance(given, Mapping):
        try:
            return _read(parse(decoded(read_bytes(Path(given)))))
        except DpspecError as fault:
            fault.file = fault.file or str(given)
            raise
    return _read(given)


def _read(data: Mapping[str, Any]) -> Question:
    known = tuple(field.name for field in attrs.fields(Question))
    raise_all([
        UnknownKeyError(name, "is no key of a question", did_you_mean(name, known) or f"the keys are {', '.join(known)}")
        for name in data if name not in known
    ])  # fmt: skip
    columns = _names(data, "columns")
    if not columns:
        raise MissingKeyError("columns", "is missing: a question names the table of counts", 'write columns = ["region", "age"]')
    exchange, match = _names(data, "exchange") or columns[:1], _names(data, "match")
    found = Question(
        columns=columns, exchange=exchange, match=match, risk=_share(data, "risk", Fraction(1, 2)),
        level=_share(data, "level", Fraction(1, 20)), metric=_text(data, "metric", "mae"), unit=_text(data, "unit", "person"),
    )  # fmt: skip
    if found.metric not in METRICS:
        raise ParameterError("metric", f"is none of {', '.join(METRICS)}", 'write metric = "mae"', value=found.metric)
    if not found.level + CLOSEST <= found.risk <= 1 - CLOSEST:
        rule = "must be larger than the level of the test, and less than 1"
        raise ParameterError("risk", rule, 'write risk = "1/2"', value=str(found.risk))
    listed = [name for name in found.every if "," in name]
    if listed:
        raise ParameterError("columns", "names a column with a comma in its name", "rename the column", value=listed[0])
    both = [name for name in found.exchange if name in found.match]
    if both:
        raise ParameterError("match", "names a column that is exchanged", "leave it out of one of the two", value=both[0])
    outside = [name for name in found.exchange if name not in found.columns]
    if outside:
        rule = "must be columns of the table of counts, or no published number changes"
        raise ParameterError("exchange", rule, "add it to columns", value=outside[0])
    if not found.held:
        rule = "must have a column in addition to those that are exchanged and matched: otherwise no exchange changes a number"
        raise ParameterError("columns", rule, 'such as columns = ["region", "age"], exchange = ["region"]')
    return found


def _names(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of names; each once."""
    value = data.get(key, ())
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise WrongShapeError(key, "must be a list of columns", f'write {key} = ["region"]')
    return tuple(dict.fromkeys(value))


def _text(data: Mapping[str, Any], key: str, otherwise: str) -> str:
    value = data.get(key, otherwise)
    if not isinstance(value, str) or not value:
        raise WrongShapeError(key, "must be a text", f'write {key} = "{otherwise}"')
    return value


def _share(data: Mapping[str, Any], key: str, otherwise: Fraction) -> Fraction:
    """A number in (0, 1); a decimal is the number that is written."""
    value = data.get(key, str(otherwise))
    try:
        share = Fraction(0) if isinstance(value, bool) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise ParameterError(key, "must be a number between 0 and 1", f'write {key} = "{otherwise}"', value=str(value))
    return share
