"""Bad input: each fault has its file, its line and its code, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from dpspec_deployments.yaml import MOST_BYTES

from dpspec.cli import main

GOOD = (Path(__file__).parent / "records" / "smallest.yaml").read_text(encoding="utf-8")
USE = "    intended_use: none\n"
NUMBERS = GOOD + "  dp_variant: {variant_name: Pure DP}\n  privacy_loss:\n    privacy_parameters:\n      epsilon: EPSILON\n"
CURATORS = "    data_curators:\n      - An office\n"
BOMB = 'a: &a ["x","x"]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n'

CASES = {
    "bomb": (BOMB, 1, "yaml", "anchor"),
    "alias": ("a: *b\n", 1, "yaml", "alias"),
    "anchor deeper": (GOOD.replace("use: none", "use: &x none"), 9, "yaml", "anchor"),
    "tag": (GOOD.replace("use: none", "use: !!python/object:os.system none"), 9, "yaml", "tag"),
    "bare tag": (GOOD.replace("use: none", "use: ! none"), 9, "yaml", "tag"),
    "directive": ("%YAML 1.2\n---\n" + GOOD, 1, "yaml", "directive"),
    "two documents": (GOOD + "---\n" + GOOD, 14, "yaml", "second document"),
    "an empty second document": (GOOD + "---\n", 14, "yaml", "second document"),
    "key twice": (GOOD.replace(USE, USE * 2), 10, "yaml", "occurs twice"),
    "key twice, quoted": (GOOD + "'tier': 2\n", 14, "yaml", "occurs twice"),
    "deep": (GOOD + "x: " + "[" * 40 + "]" * 40, 14, "too-large", "deeper than 8"),
    "deep blocks": ("".join(f"{' ' * n}a:\n" for n in range(40)), 9, "too-large", "deeper than 8"),
    "no mapping": ("- a\n", 1, "yaml", "no mapping"),
    "empty": ("", 1, "yaml", "is empty"),
    "comments alone": ("# a\n", 1, "yaml", "is empty"),
    "no yaml": (GOOD + "x: [1,\n", 15, "yaml", "YAML"),
    "a tab": (GOOD.replace(USE, "\tintended_use: none\n"), 9, "yaml", "YAML"),
    "NUL": (GOOD.replace("use: none", "use: \0"), 9, "yaml", "U+0000"),
    "ESC": (GOOD.replace("use: none", "use: \x1b[2J"), 9, "yaml", "U+001B"),
    "NUL by its escape": (GOOD.replace("use: none", 'use: "\\0"'), 9, "parameter", "U+0000"),
    "half a character": (GOOD.replace("use: none", 'use: "\\ud800"'), 9, "parameter", "U+D800"),
    "a date unquoted": (GOOD.replace("'1999-12-31'", "1999-12-31"), 13, "wrong-shape", "is a date to YAML"),
    "a date that is none": (GOOD.replace("1999-12-31", "1999-02-30"), 13, "parameter", "is no date"),
    "a date turned round": (GOOD.replace("1999-12-31", "31/12/1999"), 13, "parameter", "is no date"),
    "a date without hyphens": (GOOD.replace("1999-12-31", "19991231"), 13, "parameter", "is no date"),
    "a date in other digits": (GOOD.replace("1999-12-31", "１９９９-12-31"), 13, "parameter", "is no date"),
    "a number as text": (NUMBERS.replace("EPSILON", "'2.64'"), 17, "wrong-shape", "is a text, and a number belongs here"),
    "an octal number": (NUMBERS.replace("EPSILON", "010"), 17, "wrong-shape", "must be a decimal number"),
    "base sixty": (NUMBERS.replace("EPSILON", "1:30"), 17, "wrong-shape", "must be a decimal number"),
    "thousands": (NUMBERS.replace("EPSILON", "1_000"), 17, "wrong-shape", "must be a decimal number"),
    "infinity": (NUMBERS.replace("EPSILON", ".inf"), 17, "wrong-shape", "must be a decimal number"),
    "not a number": (NUMBERS.replace("EPSILON", ".nan"), 17, "wrong-shape", "must be a decimal number"),
    "too many digits": (NUMBERS.replace("EPSILON", "1." + "1" * 400), 17, "wrong-shape", "must be a decimal number"),
    "a huge exponent": (NUMBERS.replace("EPSILON", "1.0e+99999999"), 17, "wrong-shape", "must be a decimal number"),
    "below 0": (NUMBERS.replace("EPSILON", "-1"), 17, "parameter", "is below 0"),
    "no number": (NUMBERS.replace("EPSILON", "~"), 17, "wrong-shape", "must be a decimal number"),
    "a delta above 1": (NUMBERS.replace("EPSILON", "1\n      delta: 1.5"), 18, "parameter", "is no probability"),
    "a number as a text's value": (GOOD.replace("use: none", "use: 2020"), 9, "wrong-shape", "must be a text, not a number"),
    "a truth value": (GOOD.replace("use: none", "use: no"), 9, "wrong-shape", "must be a text, not a truth value"),
    "nothing": (GOOD.replace("use: none", "use:"), 9, "wrong-shape", "must be a text, not nothing"),
    "an empty text": (GOOD.replace("use: none", "use: ''"), 9, "parameter", "is empty"),
    "a list": (GOOD.replace("use: none", "use: [a]"), 9, "wrong-shape", "must be a text, not a list"),
    "a text for a list": (GOOD.replace(CURATORS, "    data_curators: An office\n"), 7, "wrong-shape", "a list of texts"),
    "no curator": (GOOD.replace(CURATORS, "    data_curators: []\n"), 7, "wrong-shape", "at least one text"),
    "a word of its own": (GOOD.replace("Dataset", "Datasets"), 10, "parameter", "did you mean Dataset?"),
    "a quoted tier": (GOOD.replace("tier: 1", "tier: '1'"), 3, "parameter", "must be 1, 2 or 3"),
    "tier 4": (GOOD.replace("tier: 1", "tier: 4"), 3, "parameter", "must be 1, 2 or 3"),
    "tier true": (GOOD.replace("tier: 1", "tier: true"), 3, "parameter", "must be 1, 2 or 3"),
    "an unknown field": (GOOD.replace("intended_use", "intended_uses"), 9, "unknown-key", "did you mean intended_use?"),
    "an unknown table": (GOOD + "  basics: {}\n", 14, "unknown-key", "did you mean basic?"),
    "an unknown key": (GOOD + "author: x\n", 14, "unknown-key", "is no field of a record"),
    "a merge key": (GOOD + "<<: {a: 1}\n", 14, "unknown-key", "is no field of a record"),
    "a key with dots": (GOOD + "deployment.basic: {}\n", 14, "unknown-key", "is no field of a record"),
    "a text for a table": (GOOD + "  accounting: none\n", 14, "wrong-shape", "must be a table, not a text"),
    "a field missing": (GOOD.replace(USE, ""), 5, "missing-key", "deployment.basic.intended_use: is missing"),
    "authors missing": (GOOD + "  administrative:\n    notes: x\n", 14, "missing-key", "registry_authors"),
    "deployment missing": ("url_slug: a\nstatus: Draft\ntier: 1\n", 1, "missing-key", "deployment: is missing"),
    "both namings": (GOOD + "  product: {name: x}\n", 14, "unknown-key", "under both names of basic"),
    "both namings of a field": (
        GOOD + "  dp_variant:\n    variant_name: Pure DP\n    name: Pure DP\n", 16, "unknown-key", "both names of variant_name",
    ),
    "an earlier version": (GOOD + "approved: true\n", 14, "record-version", "an earlier version"),
    "an earlier version of a table": (GOOD + "  model:\n    is_interactive: true\n", 15, "record-version", "an earlier version"),
    "a later version": (GOOD + "  administrative:\n    evidence_sources: {}\n", 15, "record-version", "a later version"),
    "a version number": ("version: 3\n" + GOOD, 1, "record-version", "an unknown version"),
    "no letter in its name": (GOOD.replace("url_slug: smallest", "url_slug: '---'"), 1, "parameter", "no letter or digit"),
    "a formula for epsilon": (NUMBERS.replace("EPSILON", "ln(3)"), 17, "wrong-shape", "is no number"),
}  # fmt: skip


def imported(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["registry", "import", *map(str, arguments)], prog_name="dpspec")
    assert "Traceback" not in result.stderr, result.stderr
    return result.exit_code, result.stderr


@pytest.mark.parametrize("name", CASES)
def test_a_fault_has_its_line_and_nothing_is_written(name, tmp_path):
    text, line, code, told = CASES[name]
    bad, good, out = tmp_path / "bad.yaml", tmp_path / "good.yaml", tmp_path / "out"
    bad.write_text(text, encoding="utf-8")
    good.write_text(GOOD, encoding="utf-8")
    result = CliRunner().invoke(main, ["registry", "import", str(good), str(bad), "--out", str(out), "--format", "json"])
    assert result.exit_code == 2
    (fault,) = json.loads(result.stdout)["errors"]
    assert (fault["line"], fault["code"], fault["file"]) == (line, code, str(bad)), fault
    assert told in fault["message"] or told in fault["subject"], fault
    assert not out.exists()


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "bad.yaml"
    for content in (GOOD.encode("utf-16"), GOOD.replace("none", "caf\xe9").encode("latin-1"), b"\xff\xfe", b"\x00"):
        path.write_bytes(content)
        code, told = imported(path, "--out", tmp_path / "out")
        assert code == 2
        assert f"{path}:" in told
        assert not (tmp_path / "out").exists()


def test_files_that_are_too_large_or_no_files(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD + "#" * MOST_BYTES, encoding="utf-8")
    assert "is larger than" in imported(path, "--out", tmp_path / "out")[1]
    assert imported(tmp_path / "missing.yaml", "--out", tmp_path / "out")[0] == 2
    (tmp_path / "empty").mkdir()
    assert "holds no file *.yaml" in imported(tmp_path / "empty", "--out", tmp_path / "out")[1]
    assert imported("/dev/zero", "--out", tmp_path / "out")[0] == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text", ["? " * 20000, "[" * 50000, "{" * 30000, '"' * 50000, "a,\n" * 9000, "!" * 50000, "%" * 50000, "- " * 20000]
)
def test_what_is_made_to_keep_a_parser_busy_ends(text, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    code, told = imported(path, "--out", tmp_path / "out")
    assert code == 2
    assert len(told) < 2000


def test_no_file_is_overwritten_and_no_two_records_are_one(tmp_path):
    path, other = tmp_path / "a.yaml", tmp_path / "sub" / "a.yaml"
    other.parent.mkdir()
    path.write_text(GOOD, encoding="utf-8")
    other.write_text(GOOD.replace("url_slug: smallest", "url_slug: other"), encoding="utf-8")
    code, told = imported(path, other, "--out", tmp_path / "out")
    assert code == 2
    assert "is the file of two records" in told
    assert not (tmp_path / "out").exists()
    assert imported(path, "--out", tmp_path / "out")[0] == 0
    assert "exists already" in imported(path, "--out", tmp_path / "out")[1]
    other.write_text(GOOD, encoding="utf-8")
    other.rename(other.with_name("b.yaml"))
    assert "is the id of" in imported(path, other.with_name("b.yaml"), "--out", tmp_path / "new")[1]
