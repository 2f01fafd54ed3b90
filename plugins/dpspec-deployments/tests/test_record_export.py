"""Records of the deployments registry: read, made into specification files, and written again."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml
from dpspec_deployments.record_export import export_record
from dpspec_deployments.record_import import import_record

from dpspec import installed
from dpspec.api import read

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


# --- against what the registry publishes ----------------------------------------------------------


def schema_of() -> dict[str, object]:
    return yaml.safe_load((SAMPLES / "deployments-schema.yaml").read_text(encoding="utf-8"))


@there
@pytest.mark.parametrize("record", [*SYNTHETIC, *PUBLIC], ids=lambda path: path.stem)
def test_what_is_written_is_valid_under_the_published_schema(record, tmp_path):
    _, exported, _ = round_trip(record, tmp_path)
    checker = jsonschema.Draft7Validator(schema_of(), format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    assert list(checker.iter_errors(yaml.safe_load(exported))) == []
    styles = {token.style for token in yaml.scan(exported) if isinstance(token, yaml.ScalarToken)}
    assert styles <= {None, "|", '"', "'"}


# --- files that no record made --------------------------------------------------------------------


BIRTHS = Path(__file__).with_name("births.toml").read_text(encoding="utf-8")


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
