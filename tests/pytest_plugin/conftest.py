"""Specification files for projects of the tests; `pytester` runs pytest in them."""

from __future__ import annotations

import flint  # noqa: F401 - extension modules are loaded once per process, so before pytester takes its snapshot
import numpy as np  # noqa: F401
import pytest

import dpspec.api
import dpspec.report.text
import dpspec.testing.assertions
import dpspec.verifier.document
from dpspec.extension import installed

SPEC = """\
schema = 1
id = "{name}"
title = "Randomised response of two people"
[space]
type = "bit-vectors"
length = 2
[input_divergence]
type = "hamming-ordered"
[output_divergence]
type = "mult"
[budget]
epsilon = "{epsilon}"
"""

MECHANISM = """\
[mechanism]
type = "randomised-response"
keep_probability = "3/4"
"""

NUMBER = """\
[[expect]]
what = "amplified by {what}"
epsilon = "{printed}"
tolerance = 0
because = "exact"
route = {{ type = "amplification", fraction = "1/2", epsilon = "ln(3)" }}
"""


@pytest.fixture(scope="session")
def everything_is_loaded(tmp_path_factory):
    """What a test is the first to import is imported again after it, since pytester forgets it: so nothing is left to a test."""
    path = tmp_path_factory.mktemp("first") / "warner.dpspec.toml"
    path.write_text(written(), encoding="utf-8")
    installed()
    dpspec.api.verify_file(path)


@pytest.fixture
def project(everything_is_loaded, pytester, monkeypatch):
    """Writes specification files into an empty project; returns `pytester`."""
    monkeypatch.setenv("COLUMNS", "200")

    def write(**texts):
        if texts:
            pytester.makefile(".dpspec.toml", **texts)
        return pytester

    return write


def written(name="warner", epsilon="ln(3)", *, mechanism=True, numbers=()):
    parts = [SPEC.format(name=name, epsilon=epsilon), MECHANISM if mechanism else ""]
    return "".join([*parts, *(NUMBER.format(what=what, printed=printed) for what, printed in numbers)])


@pytest.fixture(scope="session")
def spec():
    """Makes the text of a specification file."""
    return written
