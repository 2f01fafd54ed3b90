"""The command line inside the test process, and specification files whose claims are verified."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import response, run, specs

__all__ = ["response", "run", "specs"]

BLOCKS = """\
schema = 1
id = "{id}"
title = "{id}"
[space]
type = "bit-vectors"
length = 6
unit = "{unit}"
[multiverse]
invariants = []
[input_divergence]
type = "hamming-ordered"
unit = "{unit}"
[output_divergence]
{standard}
[budget]
{budget}
"""
RESPONSE = """\
[mechanism]
type = "randomised-response"
keep_probability = "{keep}"
"""
STANDARDS = {"epsilon": 'type = "mult"', "rho": 'type = "d-nor"', "mu": 'type = "gaussian-trade-off"'}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a specification file: `write("week", epsilon="ln(3)", keep="3/4")`; without `keep` it has no mechanism."""

    def made(
        id: str, *, standard: str | None = None, keep: str | None = None, unit: str = "person", length: int = 6, **budget: str
    ) -> Path:
        ((parameter, value),) = budget.items()
        blocks = BLOCKS.format(id=id, unit=unit, standard=standard or STANDARDS[parameter], budget=f'{parameter} = "{value}"')
        blocks = blocks.replace("length = 6", f"length = {length}")
        path = tmp_path / f"{id}.dpspec.toml"
        path.write_text(blocks + (RESPONSE.format(keep=keep) if keep else ""), encoding="utf-8")
        return path

    return made
