"""Records of the deployments registry: read, made into specification files, and written again."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import yaml
from dpspec_deployments.record import (
    FIELDS,
    read_record,
    record_of,
)
from dpspec_deployments.record_export import export_record
from dpspec_deployments.record_import import import_record, record_in
from dpspec_deployments.yaml import decimal_text, read_yaml, read_yaml_text, to_yaml

from dpspec import installed
from dpspec.api import read

HERE = Path(__file__).parent / "records"
REGISTRY = installed().registry


def written(record: Path, folder: Path) -> Path:
    """The specification file of a record."""
    found = import_record(record, REGISTRY)
    path = folder / found.file_name
    path.write_text(found.text, encoding="utf-8")
    return path


def small(variant: str, numbers: dict[str, str]) -> str:
    parts = [(HERE / "smallest.yaml").read_text(encoding="utf-8")]
    parts += [f"  dp_variant: {{variant_name: '{variant}'}}\n"] if variant else []
    held = ", ".join(f"{name}: {number}" for name, number in numbers.items())
    return "".join(parts + ([f"  privacy_loss: {{privacy_parameters: {{{held}}}}}\n"] if numbers else []))


HARD = [
    "'''", "''''", "a'", "'a", '"', '"""', "\\", "\\\\(x\\\\)", "a\\", "\t", " a", "a ", "a\n", "\na",
    "\n\na\n\n", " \na", "a\n ", "# a",
    "- a", "a: b", "|", ">", "%", "@", "!x", "&x", "*x", "yes", "~", "1e-5", "2020-01-01", "=", "<<", "é", "\U0001f600", "\u202e",
    "'''\na", "a\n'", "a\n''", "{}", "[]", "a\n\tb\n", "\u00a0", "\n x\n  y\n z",
]  # fmt: skip


def test_hard_texts_are_carried(tmp_path):
    texts = [text for text in HARD if text.strip()]
    free = [field.path for field in FIELDS if field.kind == "text" and not field.path.startswith("url")]
    for start in range(0, len(texts), len(free)):
        values = dict(record_in(read_yaml(HERE / "smallest.yaml")).values)
        values |= dict(zip(free, texts[start:] + texts, strict=False)) | {
            "basic.data_curators": tuple(texts),
            "url_slug": f"a{texts[start]}",
        }
        values |= {"administrative.registry_authors": tuple(texts)}
        path, record = tmp_path / f"hard_{start}.yaml", record_of(values)
        path.write_text(to_yaml(record), encoding="utf-8")
        seen = yaml.safe_load(path.read_text(encoding="utf-8"))["deployment"]
        assert seen["administrative"]["registry_authors"] == texts
        assert seen["basic"]["name"] == values["basic.name"]
        assert record_in(read_yaml(path)) == record
        assert export_record(read(written(path, tmp_path), REGISTRY), path.name).record == record


def test_what_is_written_is_what_any_reader_of_yaml_reads():
    letters, chance = [*"a \n'\"#:-\t|>\\é{%?0", " \n", "\n\n"], random.Random(5)
    for _ in range(60):
        text = "".join(chance.choice(letters) for _ in range(chance.randrange(12)))
        digits = tuple(chance.randrange(10) for _ in range(chance.randrange(1, 40)))
        number = Decimal((0, digits, chance.randrange(-60, 20)))
        record = record_of({"url_slug": text, "basic.data_curators": (text, "x"), "privacy_loss.privacy_parameters.rho": number})
        found = yaml.safe_load(to_yaml(record))
        assert (found["url_slug"], found["deployment"]["basic"]["data_curators"]) == (text, [text, "x"])
        assert isinstance(found["deployment"]["privacy_loss"]["privacy_parameters"]["rho"], float)
        assert Fraction(decimal_text(number)) == Fraction(number)
        plain = read_yaml_text(to_yaml(record)).data["deployment"]["privacy_loss"]["privacy_parameters"]["rho"]
        assert (Decimal(plain.written), plain.looks) == (number, "number")


# --- numbers and warnings -------------------------------------------------------------------------


def test_numbers_are_the_decimals_that_are_written():
    record = record_in(read_yaml(HERE / "every_field.yaml"))
    assert record.get("privacy_loss.privacy_parameters.delta") == Decimal("0.00001")
    long = small("Pure DP", {"epsilon": "0.123456789012345678901234567890123456789"})
    faults: list[object] = []
    found = read_record(read_yaml_text(long).data, lambda *fault: faults.append(fault))
    assert found is not None
    assert faults == []
    assert str(found.get("privacy_loss.privacy_parameters.epsilon")) == "0.123456789012345678901234567890123456789"
