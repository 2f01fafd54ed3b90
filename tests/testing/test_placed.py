"""What the conformance tests place in a space says with `check(space)` whether it fits."""

import importlib
import inspect

import pytest

from dpspec.extension.hooks import BASES


@pytest.mark.parametrize("kind", BASES)
def test_check_asks_whether_a_thing_fits_into_a_space(kind):
    """A method of this name with another meaning ended the conformance tests of every budget with a TypeError."""
    module, name = BASES[kind].split(":")
    check = getattr(getattr(importlib.import_module(module), name), "check", None)
    assert check is None or list(inspect.signature(check).parameters) == ["self", "space"]
