"""Running the command line inside the test process, and reading its JSON against the published schema."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from click.testing import CliRunner

from dpspec.cli import main
from dpspec.report.json import output_schema

ROOT = Path(__file__).parents[2]


@functools.cache
def _validator(kind: str) -> jsonschema.Draft202012Validator:
    """The published schema, which is built once for all calls."""
    return jsonschema.Draft202012Validator({**output_schema(), "oneOf": [{"$ref": f"#/$defs/{kind}"}]})


@attrs.frozen
class Ran:
    """What one call of the command line gave."""

    code: int
    out: str
    err: str

    def json(self, kind: str) -> dict[str, Any]:
        """The output as JSON, valid under one definition of the published schema."""
        data: dict[str, Any] = json.loads(self.out)
        _validator(kind).validate(data)
        assert data["exit_code"] == self.code
        return data


Run = Callable[..., Ran]


@pytest.fixture
def run() -> Run:
    def call(*arguments: object, **environment: str) -> Ran:
        result = CliRunner().invoke(main, list(map(str, arguments)), env=environment, prog_name="dpspec")
        assert "Traceback" not in result.stderr, result.stderr
        return Ran(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def specs() -> Path:
    return ROOT / "specs"


RESPONSE = """\
schema = 1
id = "response"
title = "Randomised response"
[space]
type = "bit-vectors"
length = {length}
[input_divergence]
type = "hamming-ordered"
unit = "person"
[output_divergence]
type = "{standard}"
[budget]
epsilon = "{epsilon}"
[mechanism]
type = "randomised-response"
keep_probability = "3/4"
"""


@pytest.fixture
def response(tmp_path: Path) -> Callable[..., Path]:
    """Writes a specification of randomised response: truthful with probability 3/4, so ln 3 is its exact budget."""

    def write(*, length: int = 2, epsilon: str = "ln(3)", extra: str = "", proof: bool = True) -> Path:
        path = tmp_path / "response.dpspec.toml"
        standard = "mult" if proof else 'mult-delta"\ndelta = "0'  # the same, but not known as a metric: no proof on large spaces
        path.write_text(RESPONSE.format(length=length, epsilon=epsilon, standard=standard) + extra, encoding="utf-8")
        return path

    return write
