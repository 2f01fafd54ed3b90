"""Records of the deployments registry: read, made into specification files, and written again."""

from __future__ import annotations

from pathlib import Path

import pytest
from dpspec_deployments.record import (
    FIELDS,
)
from dpspec_deployments.record_export import export_record
from dpspec_deployments.record_import import import_record, import_records, missing_by_field, missing_text, record_in
from dpspec_deployments.yaml import read_yaml, read_yaml_text

from dpspec import installed
from dpspec.api import read
from dpspec.linter import lint

HERE = Path(__file__).parent / "records"
SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "deployments-registry"
SYNTHETIC = sorted(HERE.glob("*.yaml"))
PUBLIC = sorted(SAMPLES.glob("deployments/*.yaml"))
REGISTRY = installed().registry


def written(record: Path, folder: Path) -> Path:
    """The specification file of a record."""
    found = import_record(record, REGISTRY)
    path = folder / found.file_name
    path.write_text(found.text, encoding="utf-8")
    return path


def round_trip(record: Path, folder: Path) -> tuple[str, str, str]:
    """The specification of a record, the record that is made of it, and the specification of that."""
    first = written(record, folder)
    exported = export_record(read(first, REGISTRY), record.name)
    again = folder / record.name
    again.write_text(exported.text, encoding="utf-8")
    return first.read_text(encoding="utf-8"), exported.text, import_record(again, REGISTRY).text


def test_what_is_missing_is_counted_by_field():
    """Against the lists of the single records, counted here by their text."""
    found = import_records(SYNTHETIC, REGISTRY)
    lacking = missing_by_field(found)
    for field in {gap.field for one in found for gap in one.gaps}:
        assert lacking[field] == [one.id for one in found if field in {gap.field for gap in one.gaps}]
    assert [len(records) for records in lacking.values()] == sorted(map(len, lacking.values()), reverse=True)
    lines = missing_text(found).splitlines()
    assert lines[0] == f"missing in {len(found)} records, by field:"
    assert len(lines) == 1 + len(lacking)
    assert missing_text(()) == "nothing is missing in 0 records"


@pytest.mark.parametrize("record", [*SYNTHETIC, *PUBLIC], ids=lambda path: path.stem)
def test_what_is_made_is_a_specification_without_findings(record, tmp_path):
    path = written(record, tmp_path)
    document = read(path, REGISTRY)
    assert document.claim.verdict == "undecided"
    assert document.mechanism is None
    assert {one.block for one in document.assumed} >= {"space", "multiverse", "input_divergence"}
    assert [found for found in lint([path], REGISTRY) if found.explained is None] == []


def test_the_former_naming_is_the_same_record(tmp_path):
    _, exported, _ = round_trip(HERE / "former_naming.yaml", tmp_path)
    assert "product:" not in exported
    assert "privacy_unit_details: 'all visits of one user on one day'" in exported
    codes = [warning.code for warning in import_record(HERE / "former_naming.yaml", REGISTRY).warnings]
    assert codes == ["former-naming"]


def test_the_synthetic_records_use_every_field():
    record = record_in(read_yaml(HERE / "every_field.yaml"))
    assert [path for path, _ in record.values] == [field.path for field in FIELDS]


def small(variant: str, numbers: dict[str, str]) -> str:
    parts = [(HERE / "smallest.yaml").read_text(encoding="utf-8")]
    parts += [f"  dp_variant: {{variant_name: '{variant}'}}\n"] if variant else []
    held = ", ".join(f"{name}: {number}" for name, number in numbers.items())
    return "".join(parts + ([f"  privacy_loss: {{privacy_parameters: {{{held}}}}}\n"] if numbers else []))


def codes(text: str, tmp_path: Path, name: str = "record.yaml") -> list[str]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [warning.code for warning in import_record(path, REGISTRY).warnings]


def test_what_is_odd_is_told(tmp_path):
    assert codes(small("", {}), tmp_path) == []
    assert codes(small("Pure DP", {"epsilon": "1.0"}), tmp_path) == []
    assert codes(small("Pure DP", {"epsilon": "1.0", "delta": "0.0"}), tmp_path) == ["several-parameters"]
    assert "pure-with-delta" in codes(small("Pure DP", {"epsilon": "1.0", "delta": "1.0e-6"}), tmp_path)
    assert codes(small("Approximate DP", {"epsilon": "1.0"}), tmp_path) == ["approximate-without-delta"]
    assert codes(small("Approximate DP", {"epsilon": "1.0", "delta": "1.0e-6"}), tmp_path) == []
    assert codes(small("Approximate DP", {"epsilon": "1.0", "delta": "1e-6"}), tmp_path) == ["number-as-text"]
    assert codes(small("Approximate DP", {"epsilon": "1.0", "delta": "'n^-2'"}), tmp_path) == ["delta-in-words"]
    assert codes(small("Zero-concentrated DP", {"rho": "1.0", "epsilon": "2.0"}), tmp_path) == ["several-parameters"]
    assert codes(small("Zero-concentrated DP", {"epsilon": "2.0"}), tmp_path) == ["other-parameter"]
    assert codes(small("", {"epsilon": "2.0"}), tmp_path) == ["no-variant"]
    assert codes(small("", {}), tmp_path, "Record-1.yaml") == ["registry-check"]
    assert codes(small("", {}).replace("intended_use: none", "intended_use: >\n      none"), tmp_path) == ["registry-check"]
    assert codes(small("", {}).replace("use: none", "use: see http://localhost"), tmp_path) == ["registry-check"]
    assert codes(small("", {}).replace("use: none", r"use: \\alpha"), tmp_path) == ["registry-check"]


def test_the_unit_beside_a_reset_and_an_interface_nobody_may_ask():
    found = {warning.code: warning for warning in import_record(HERE / "every_field.yaml", REGISTRY).warnings}
    assert found.keys() == {"several-parameters", "number-as-text", "user-level-resets", "interactive-api"}
    assert found["number-as-text"].line == 33
    days = (HERE / "every_field.yaml").read_text(encoding="utf-8").replace("User-level", "User-day-level")
    record = record_in(read_yaml_text(days))
    assert record.text("privacy_loss.privacy_unit") == "User-day-level"


def test_what_a_person_must_fill_in():
    gaps = {gap.field for gap in import_record(HERE / "every_field.yaml", REGISTRY).gaps}
    assert gaps == {
        "space",
        "multiverse",
        "input_divergence",
        "mechanism",
        "implementation.preprocessing_and_hyperparameter_tuning",
    }
    least = [gap.field for gap in import_record(HERE / "smallest.yaml", REGISTRY).gaps]
    assert least == [
        "space", "multiverse", "input_divergence", "mechanism", "output_divergence", "budget", "basic.data_product_sector",
        "administrative.sources", "administrative.notes", "administrative.registry_authors",
    ]  # fmt: skip


# --- files that no record made --------------------------------------------------------------------


BIRTHS = Path(__file__).with_name("births.toml").read_text(encoding="utf-8")


def exported(tmp_path, old="", new="", beside=""):
    path = tmp_path / "births.dpspec.toml"
    path.write_text(BIRTHS.replace("EPSILON", "9.98").replace(old or "no such", new) + beside, encoding="utf-8")
    return export_record(read(path, REGISTRY), "births.yaml", ("A. Person",))
