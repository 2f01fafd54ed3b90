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
'''
UNUSED = '''
import numpy as np


def unused(x, epsilon, rng=None):
    """Records, epsilon-DP when one record is added or removed."""
    return len(x) + np.random.laplace(0, 1 / epsilon)
'''


def found_in(folder, source):
    (folder / "survey.py").write_text(source, encoding="utf-8")
    return {one.plan.drawing.name: one for one in hunt(folder, yes=True, seconds=5).value.functions}


@pytest.mark.slow
def test_values_that_matter(tmp_path):
    found = found_in(tmp_path, SOURCE)
    assert found["adults"].outcome == "verified"
    assert found["adults"].verdict["constant"] == {"lower": "1", "upper": "1"}
    assert found["far"].outcome != "verified"


@pytest.mark.slow
def test_a_generator_that_is_not_used_is_not_given(tmp_path):
    found = found_in(tmp_path, UNUSED)
    assert found["unused"].outcome == "verified"
    assert "rng" not in found["unused"].plan.call
