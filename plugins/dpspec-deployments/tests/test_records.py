"""Records of the deployments registry: read, made into specification files, and written again."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml
from dpspec_deployments.record import (
    FIELDS,
    RegistryRecord,
    read_record,
    record_of,
    registry_checks,
)
from dpspec_deployments.record_export import export_record
from dpspec_deployments.record_import import import_record, import_records, missing_by_field, missing_text, record_in
from dpspec_deployments.yaml import decimal_text, read_yaml, read_yaml_text, to_yaml

from dpspec import installed
from dpspec.api import read
from dpspec.base.errors import DpspecError
from dpspec.linter import lint

HERE = Path(__file__).parent / "records"
SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "deployments-registry"
SYNTHETIC = sorted(HERE.glob("*.yaml"))
PUBLIC = sorted(SAMPLES.glob("deployments/*.yaml"))
REGISTRY = installed().registry

there = pytest.mark.skipif(not PUBLIC, reason="the public records are not here")


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


# --- the round trip -------------------------------------------------------------------------------


@pytest.mark.parametrize("record", [*SYNTHETIC, *PUBLIC], ids=lambda path: path.stem)
def test_import_export_import_gives_the_same_file(record, tmp_path):
    """Byte for byte; and the record that is written holds what the registry's own reader finds in the first one."""
    first, exported, second = round_trip(record, tmp_path)
    assert second == first
    given = yaml.safe_load(record.read_text(encoding="utf-8"))
    if record.stem not in ("former_naming", "every_field"):
        assert yaml.safe_load(exported) == given
    if record.stem == "every_field":
        given["deployment"]["privacy_loss"]["privacy_parameters"]["delta"] = 1e-5  # the text "1e-5" to YAML 1.1
        assert yaml.safe_load(exported) == given


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


VARIANTS = ("", "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
NUMBERS = [
    dict(chosen)
    for epsilon, delta, rho in itertools.product(("", "2.64"), ("", "1e-6", "0.0", "1", "'n^-2'"), ("", "0.5"))
    if (chosen := [pair for pair in (("epsilon", epsilon), ("delta", delta), ("rho", rho)) if pair[1]]) is not None
]


def small(variant: str, numbers: dict[str, str]) -> str:
    parts = [(HERE / "smallest.yaml").read_text(encoding="utf-8")]
    parts += [f"  dp_variant: {{variant_name: '{variant}'}}\n"] if variant else []
    held = ", ".join(f"{name}: {number}" for name, number in numbers.items())
    return "".join(parts + ([f"  privacy_loss: {{privacy_parameters: {{{held}}}}}\n"] if numbers else []))


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_and_numbers_say_no_more_than_the_record(variant, tmp_path):
    """Every variant with every set of numbers: a specification that says the numbers of the variant, or that none is stated."""
    path = tmp_path / "smallest.yaml"
    for place, numbers in enumerate(NUMBERS):
        path.write_text(small(variant, numbers), encoding="utf-8")
        folder = tmp_path / str(place)
        folder.mkdir()
        document = read(written(path, folder), REGISTRY)
        if place % len(VARIANTS) == VARIANTS.index(variant):
            first, _, second = round_trip(path, folder)
            assert second == first, numbers
        spec, how = document.spec, {one.block: one.how for one in document.provenance}
        name, value = spec.output_divergence.name, spec.budget.uniform()
        small_delta = numbers.get("delta") in ("1e-6", "0.0")
        if value is not None:
            assert value.as_fraction() == Fraction(numbers[spec.budget.parameter])
        if name == "mult" and value is not None:  # the strongest promise: only where the record says so and no delta is named
            assert variant == "Pure DP"
            assert numbers.get("delta") in (None, "0.0")
        if name == "mult-delta":
            assert small_delta
            assert spec.output_divergence.delta == Fraction(numbers["delta"])
            assert variant in ("", "Pure DP", "Approximate DP")
        if name == "d-nor" and value is not None:
            assert variant in ("", "Zero-concentrated DP")
        if how["output_divergence"] == "stated":
            assert name == {"Pure DP": "mult", "Approximate DP": "mult-delta", "Zero-concentrated DP": "d-nor"}[variant]
        assert how["budget"] == ("assumed" if value is None else "stated")


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


@there
@pytest.mark.parametrize("record", [*SYNTHETIC, *PUBLIC], ids=lambda path: path.stem)
def test_what_is_written_is_valid_under_the_published_schema(record, tmp_path):
    _, exported, _ = round_trip(record, tmp_path)
    checker = jsonschema.Draft7Validator(schema_of(), format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    assert list(checker.iter_errors(yaml.safe_load(exported))) == []
    styles = {token.style for token in yaml.scan(exported) if isinstance(token, yaml.ScalarToken)}
    assert styles <= {None, "|", '"', "'"}


# --- files that no record made --------------------------------------------------------------------


BIRTHS = """\
schema = 1
id = "births"
title = "Births by month"
[space]
type = "records"
unit = "person"
most = 3
attributes = [{ name = "month", count = 12 }]
[multiverse]
invariants = []
[input_divergence]
type = "symmetric-difference"
unit = "person"
[output_divergence]
type = "mult-delta"
delta = "1e-6"
[budget]
epsilon = "EPSILON"
[deployment]
publisher = "An office"
product = "Births"
published = "2024-03"
region = "Somewhere"
kind = "synthetic-data"
sector = "other"
use = "planning"
trust = "central"
[[source]]
id = "paper"
title = "A paper"
arxiv = "2405.00267"
[[unaccounted]]
step = "thresholds were tuned on the data"
effect = "they tell about it"
[provenance]
space = { how = "assumed", because = "ours" }
multiverse = { how = "stated", source = "paper" }
input_divergence = { how = "stated", source = "paper" }
output_divergence = { how = "stated", source = "paper" }
budget = { how = "stated", source = "paper" }
"""


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


PART = '[[part]]\ntitle = "the mothers"\nbudget = { epsilon = "1/2" }\n'
HIDDEN = """[mechanism]
type = "laplace"
unit = "person"
queries = [{ type = "marginal", unit = "person", attributes = ["month"] }]
epsilon = { secret = true, at_least = "7/10", at_most = "3/4" }
"""


def exported(tmp_path, old="", new="", beside=""):
    path = tmp_path / "births.dpspec.toml"
    path.write_text(BIRTHS.replace("EPSILON", "9.98").replace(old or "no such", new) + beside, encoding="utf-8")
    return export_record(read(path, REGISTRY), "births.yaml", ("A. Person",))


def test_further_promises_their_renewal_and_secrets_are_told_in_words(tmp_path):
    found = exported(tmp_path, 'trust = "central"', 'trust = "central"\nperiod = "week"', PART)
    details = found.record.text("privacy_loss.privacy_parameters_details")
    assert "renewed after each week" in details
    assert "- the mothers: epsilon = 0.5" in details
    secret = exported(tmp_path, beside=HIDDEN)
    assert "3/4" in secret.record.text("implementation.mechanisms")
    assert not {"part", "deployment.period", "mechanism.secret"} & {*found.left_out, *secret.left_out}


def test_what_no_field_holds_is_told(tmp_path):
    """The words of the record itself stand where ours would, or the budget is not the publisher's."""
    own = '[deployment.prose]\n"privacy_loss.privacy_parameters_details" = "ours"\n"implementation.mechanisms" = "noise"\n'
    found = exported(tmp_path, 'trust = "central"', f'trust = "central"\nperiod = "week"\n{own}', PART)
    assert {"part", "deployment.period"} <= set(found.left_out)
    assert "mechanism.secret" in exported(tmp_path, 'trust = "central"', f'trust = "central"\n{own}', HIDDEN).left_out
    assert found.record.text("privacy_loss.privacy_parameters_details") == "ours"
    ours = exported(
        tmp_path, 'budget = { how = "stated", source = "paper" }', 'budget = { how = "assumed", because = "ours" }', PART
    )
    assert "part" in ours.left_out
    assert ours.record.get("privacy_loss.privacy_parameters_details") is None


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("multiverse", '"dp_variant.unprotected_quantities" = "none"'),
        ("input_divergence", '"privacy_loss.privacy_unit" = "User-level"'),
        ("budget", '"privacy_loss.privacy_parameters.epsilon" = "9.98"'),
        ("output_divergence", '"dp_variant.variant_name" = "Approximate DP"'),
    ],
)
def test_a_block_that_the_record_does_not_say_is_left_out(tmp_path, block, said):
    """What is inferred is not told as the publisher's; a record without it promises another thing than the file."""
    stated, inferred = f'{block} = {{ how = "stated", source', f'{block} = {{ how = "inferred", because = "ours", source'
    assert block not in exported(tmp_path).left_out
    assert block in exported(tmp_path, stated, inferred).left_out
    words = BIRTHS.replace("[[source]]", f"[deployment.prose]\n{said}\n[[source]]").replace(stated, inferred)
    path = tmp_path / "said.dpspec.toml"
    path.write_text(words.replace("EPSILON", "9.98"), encoding="utf-8")
    assert block not in export_record(read(path, REGISTRY), "said.yaml", ("A. Person",)).left_out


def test_steps_outside_of_the_guarantee_are_left_out_where_the_record_has_other_words(tmp_path):
    own = '[deployment.prose]\n"implementation.preprocessing_and_hyperparameter_tuning" = "cleaned"\n[[source]]'
    found = exported(tmp_path, "[[source]]", own)
    assert "unaccounted" in found.left_out
    assert "tuned on the data" not in found.text
    assert "unaccounted" not in exported(tmp_path).left_out


@pytest.mark.parametrize(
    ("standard", "told"),
    [
        ('type = "mult-delta"\ndelta = "1/7"', "(delta = 1/7)"),
        ('type = "renyi"\norder = "3"', "3"),
        ('type = "total-variation"', "total variation"),
    ],
)
def test_a_standard_that_no_variant_says_is_told_in_words(tmp_path, standard, told):
    old = 'type = "mult-delta"\ndelta = "1e-6"\n[budget]\nepsilon = "9.98"'
    new = f'{standard}\n[budget]\nepsilon = "9.98"' if "total" not in standard else f'{standard}\n[budget]\ndistance = "1/2"'
    found = exported(tmp_path, old, new)
    assert told in found.record.text("privacy_loss.privacy_parameters_details")
    assert "output_divergence" not in found.left_out


def test_an_end_of_a_range_is_not_the_number(tmp_path):
    """Of epsilon from 0.69 to 10.61, a record said 10.61 and no more."""
    found = exported(tmp_path, 'epsilon = "9.98"', 'at_least = { epsilon = "0.69" }\nat_most = { epsilon = "10.61" }')
    assert "0.69" in found.record.text("privacy_loss.privacy_parameters_details")
    assert found.record.get("privacy_loss.privacy_parameters.epsilon") == Decimal("10.61")


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
