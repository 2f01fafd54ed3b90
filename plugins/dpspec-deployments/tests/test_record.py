"""Records of the deployments registry: read, made into specification files, and written again."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from dpspec_deployments.record import (
    FIELDS,
    RegistryRecord,
    record_of,
    registry_checks,
)
from dpspec_deployments.record_export import export_record

from dpspec import installed
from dpspec.api import read
from dpspec.base.errors import DpspecError

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "deployments-registry"
PUBLIC = sorted(SAMPLES.glob("deployments/*.yaml"))
REGISTRY = installed().registry

there = pytest.mark.skipif(not PUBLIC, reason="the public records are not here")


# --- against what the registry publishes ----------------------------------------------------------


def schema_of() -> dict[str, object]:
    return yaml.safe_load((SAMPLES / "deployments-schema.yaml").read_text(encoding="utf-8"))


@there
def test_the_fields_are_those_of_the_published_schema():
    kinds = {"text": "string", "date": "string", "choice": "string", "texts": "array", "number": "number", "tier": "integer"}
    found = {}

    def walk(table, path):
        for key, field in table["properties"].items():
            below = f"{path}.{key}" if path else key
            if field.get("type") == "object":
                walk(field, below)
            else:
                found[below.removeprefix("deployment.")] = (field, key in table.get("required", ()))

    walk(schema_of(), "")
    assert list(found) == [field.path for field in FIELDS]
    for field in FIELDS:
        stated, required = found[field.path]
        assert stated.get("type", "string") == kinds.get(field.kind, ["number", "string"]), field.path
        assert tuple(stated.get("enum", ())) == (field.choices or ((1, 2, 3) if field.kind == "tier" else ())), field.path
        assert required == (field.required or field.path == "administrative.registry_authors"), field.path
        assert stated.get("tier", field.tier) == field.tier, field.path


# --- files that no record made --------------------------------------------------------------------


BIRTHS = Path(__file__).with_name("births.toml").read_text(encoding="utf-8")


def births(tmp_path: Path, epsilon: str = "9.98", old: str = "EPSILON", new: str = "9.98") -> RegistryRecord:
    path = tmp_path / "births.dpspec.toml"
    path.write_text(BIRTHS.replace(old, new).replace("EPSILON", epsilon), encoding="utf-8")
    return export_record(read(path, REGISTRY), "births.yaml", ("A. Person",)).record


def test_words_are_made_of_the_blocks_that_the_file_states(tmp_path):
    record = births(tmp_path)
    assert record.get("basic.publication_date") == "2024-03-01"
    assert record.get("basic.data_product_type") == "Synthetic data"
    assert record.get("basic.data_product_sector") is None
    assert record.get("dp_variant.variant_name") == "Approximate DP"
    assert record.get("privacy_loss.privacy_unit") == "person-level"
    assert record.get("privacy_loss.privacy_parameters.epsilon") == Decimal("9.98")
    assert record.get("privacy_loss.privacy_parameters.delta") == Decimal("0.000001")
    assert "one person added or removed" in record.text("privacy_loss.privacy_unit_details")
    assert "tuned on the data" in record.text("implementation.preprocessing_and_hyperparameter_tuning")
    assert "2405.00267" in record.text("administrative.sources")
    assert record.get("dp_variant.data_domain") is None  # the space is ours
    assert record.get("tier") == 1  # nothing is said of release, data and access


def test_a_number_that_is_no_decimal_is_told_in_words(tmp_path):
    record = births(tmp_path, new="ln(3)")
    assert record.get("privacy_loss.privacy_parameters.epsilon") is None
    assert "ln(3)" in record.text("privacy_loss.privacy_parameters_details")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('use = "planning"\n', "", "deployment.use: is missing"),
        ('region = "Somewhere"\n', "", "deployment.region: is missing"),
        ('kind = "synthetic-data"\n', "", "deployment.kind: is missing"),
        ("[[source]]", '[deployment.prose]\ntier = "4"\n[[source]]', "tier=4: must be 1, 2 or 3"),
        ("[[source]]", '[deployment.prose]\nstatus = "Fine"\n[[source]]', "status=Fine: is none of the registry's words"),
        ("[[source]]", '[deployment.prose]\n"basic.name" = "Births"\n[[source]]', "is in [deployment] as product"),
        ("[[source]]", '[deployment.prose]\n"basic.description" = "http://x"\n[[source]]', "an address without the shape"),
        ("[[source]]", "[deployment.prose]\n\"accounting.composition\" = '\\\\alpha'\n[[source]]", "two backslashes"),
        (
            "[[source]]",
            '[deployment.prose]\n"privacy_loss.privacy_parameters.delta" = "1e-5"\n[[source]]',
            "among the record's words, and 0.000001 in the blocks",
        ),
    ],
)
def test_what_the_registry_would_refuse_is_not_written(old, new, told, tmp_path):
    with pytest.raises(DpspecError) as raised:
        births(tmp_path, old=old, new=new)
    assert told in str(raised.value)
    assert str(tmp_path) in str(raised.value)


def test_the_check_script_is_stated_again():
    record = record_of({"basic.name": "see https://example.org/x, \\\\(a\\\\)"})
    assert list(registry_checks("a_1.yaml", record)) == []
    assert len(list(registry_checks("a-1.yaml", record, (7,)))) == 2
    assert len(list(registry_checks("a.yaml", record_of({"basic.name": "\\\\a", "basic.description": "http://a b"})))) == 2
