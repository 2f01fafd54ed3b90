"""The JSON schema: valid in itself, kept in the repository, and satisfied by every specification."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema

from dpspec import specfile
from dpspec.extension import installed
from dpspec.specfile import language_schema, new_spec, spec_files
from dpspec.specfile.schema import FILE, first_party_schema

SPECS = Path(__file__).parents[2] / "specs"
CHECKED_IN = Path(specfile.__file__).with_name(FILE)
VALIDATOR = jsonschema.Draft202012Validator(language_schema(installed().registry))


def plain(text: str) -> Any:
    return json.loads(json.dumps(tomllib.loads(text), default=str))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


def test_the_checked_in_schema_is_the_current_one() -> None:
    """Mend with: python -m dpspec.specfile.schema"""
    assert CHECKED_IN.read_text(encoding="utf-8") == first_party_schema()


def test_specifications_satisfy_the_schema() -> None:
    assert [
        f"{path.name}: {error.message}" for path in spec_files(SPECS) for error in VALIDATOR.iter_errors(plain(path.read_text()))
    ] == []


def test_the_template_satisfies_the_schema() -> None:
    assert [error.message for error in VALIDATOR.iter_errors(plain(new_spec("my-release")))] == []


def test_faults_of_form_break_the_schema() -> None:
    faults = ("unknown-", "missing-", "wrong-shape", "schema-version")
    formed = [path for path in spec_files(SPECS / "bad") if path.name.startswith(faults)]
    assert len(formed) >= 20
    assert [path.name for path in formed if VALIDATOR.is_valid(plain(path.read_text()))] == []
