"""Values of parameters for which the constants of the checker are theorems, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from dpspec_checker.domains import outside_domain

CURVE = [["0", "1"], ["1/4", "1/4"], ["1", "0"]]


@pytest.mark.parametrize(
    "given",
    [
        {"type": "renyi", "order": "3/2"}, {"type": "renyi", "order": 2}, {"type": "mult-delta", "delta": 0},
        {"type": "mult-delta", "delta": "99/100"}, {"type": "pbdp", "delta": 1}, {"type": "hockey-stick", "epsilon": 0},
        {"type": "hockey-stick", "epsilon": "ln(3)"}, {"type": "mult"}, {"type": "trade-off", "curve": CURVE},
        {"type": "trade-off", "epsilon": "ln(3)", "delta": "1/10"}, {"type": "trade-off", "curve": CURVE[::-1]},
        {"type": "trade-off", "curve": [["0", "9/10"], ["9/40", "9/40"], ["9/10", "0"], ["1", "0"]]},
    ],
    ids=str,
)  # fmt: skip
def test_inside(given: dict[str, Any]) -> None:
    assert outside_domain(given) == ""


@pytest.mark.parametrize(
    "given",
    [
        {"type": "renyi", "order": 1}, {"type": "renyi", "order": "1/2"}, {"type": "renyi", "order": "inf"},
        {"type": "renyi", "order": "ln(9)"}, {"type": "renyi", "order": None}, {"type": "mult-delta", "delta": 1},
        {"type": "probabilistic", "delta": "3/2"}, {"type": "pbdp", "delta": 0}, {"type": "pbdp", "delta": "11/10"},
        {"type": "hockey-stick", "epsilon": "inf"}, {"type": "trade-off", "epsilon": "inf"}, {"type": "trade-off", "delta": 1},
        {"type": "trade-off", "curve": [["0", "1"], ["1", "0"]]},  # equal laws
        {"type": "trade-off", "curve": [["0", "1"], ["1/4", "1/2"], ["1", "0"]]},  # not its own inverse
        {"type": "trade-off", "curve": [["0", "1"], ["1/3", "1/3"], ["2/5", "1/10"], ["1", "0"]]},  # not convex
        {"type": "trade-off", "curve": [["1/10", "1"], ["1/4", "1/4"], ["1", "0"]]},  # from another level
        {"type": "trade-off", "curve": [["0", "1"], ["1/4", "1/4"], ["9/10", "0"]]},  # not to the end
        {"type": "trade-off", "curve": []}, {"type": "trade-off", "curve": "steep"},
    ],
    ids=str,
)  # fmt: skip
def test_outside(given: dict[str, Any]) -> None:
    assert str(given["type"]) in outside_domain(given)
