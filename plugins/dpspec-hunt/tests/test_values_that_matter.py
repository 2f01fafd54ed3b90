"""A function that is constant on the guessed values was not checked; values are taken from what entries are compared with."""

from __future__ import annotations

import pytest
from dpspec_hunt import jail
from dpspec_hunt.hunt import hunt

pytestmark = pytest.mark.skipif(bool(jail.reason_for_none()), reason=f"no jail: {jail.reason_for_none()}")

SOURCE = '''
import numpy as np


def adults(ages, epsilon, rng):
    """Adults, epsilon-DP when one record is added or removed."""
    return sum(1 for age in ages if age > 18) + rng.laplace(0, 1 / epsilon)


def far(x, epsilon, rng):
    """Large values, epsilon-DP when one record is added or removed."""
    return int(np.sum(np.array(x) // 1000)) + rng.laplace(0, 1 / epsilon)


def unused(x, epsilon, rng=None):
    """Records, epsilon-DP when one record is added or removed."""
    return len(x) + np.random.laplace(0, 1 / epsilon)
'''


def test_values_that_matter(tmp_path):
    (tmp_path / "survey.py").write_text(SOURCE, encoding="utf-8")
    found = {one.plan.drawing.name: one for one in hunt(tmp_path, yes=True, seconds=5).value.functions}
    assert found["adults"].outcome == "verified"
    assert found["adults"].verdict["constant"] == {"lower": "1", "upper": "1"}
    assert found["far"].outcome != "verified"
    assert found["unused"].outcome == "verified"
    assert "rng" not in found["unused"].plan.call
