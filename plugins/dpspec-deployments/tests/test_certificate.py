"""`dpspec certify` and `dpspec check-certificate`: true certificates are accepted, and nothing that was changed is.

Whoever changes a certificate can compute its digest again. So each field is changed with a digest that fits, too.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dpspec_deployments import certificate as engine

import dpspec as dp
from dpspec import release
from dpspec.base.errors import CertificateError, CertificateVersionError, DpspecError, NotCertifiableError
from dpspec.cli import main
from dpspec.extension import installed

SPEC = """\
schema = 1
id = "{id}"
title = "Incomes by region"

[space]
type = "records"
unit = "person"
attributes = [
  {{ name = "region", categories = ["north", "south"] }},
  {{ name = "income", categories = ["low", "high", "higher"] }},
]

[multiverse]
invariants = [
  {{ type = "marginal", attributes = ["income"] }},
  {{ type = "marginal", attributes = ["region"] }},
]

[input_divergence]
type = "hamming"

[output_divergence]
type = "mult"

[budget]
type = "swapping"
swap_rate = "{rate}"
unit = "person"

[mechanism]
type = "permutation-swapping"
swap = ["region"]
swap_rate = "{rate}"
unit = "person"
"""
TABLE = "region,income\nnorth,low\nsouth,high\nnorth,low\nsouth,higher\nsouth,low\n"
REGISTRY = installed().registry


def written(folder: Path, id: str = "survey", rate: str = "1/10") -> tuple[Path, Path]:
    """A specification and a release under it."""
    (folder / "in").mkdir(parents=True)
    spec = folder / f"{id}.dpspec.toml"
    spec.write_text(SPEC.format(id=id, rate=rate), encoding="utf-8")
    (folder / "in" / "table.csv").write_text(TABLE, encoding="utf-8")
    release(spec, folder / "in" / "table.csv", folder / "out")
    return spec, folder / "out"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A specification, a release and its certificate."""
    folder = tmp_path_factory.mktemp("certificate")
    spec, out = written(folder)
    dp.certify(spec, out, folder / "certificate.json")
    return spec, out, folder / "certificate.json"


@pytest.fixture
def judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal texts are judged once: the same claim of many tampered certificates."""
    real, known = engine.verify_document, dict[str, Any]()

    def judge(document: Any, **options: Any) -> Any:
        if document.text not in known:
            known[document.text] = real(document, **options)
        return known[document.text]

    monkeypatch.setattr(engine, "verify_document", judge)


def rejected(path: Path, out: Path | None) -> bool:
    """Whether a certificate is not accepted: a line fails, or it is refused."""
    try:
        return dp.check_certificate(path, out).exit_code != 0
    except DpspecError:
        return True


def test_a_true_certificate_is_accepted(made: tuple[Path, Path, Path]) -> None:
    _, out, path = made
    found = dp.check_certificate(path, out)
    assert found.exit_code == 0
    assert {line["status"] for line in found["lines"]} == {"holds"}
    sections = ["certificate", "specification", "release", "invariants", "universe", "claims"]
    assert [line["what"] for line in found["lines"]] == sections
    assert str(found).splitlines()[0] == "certificate.json: every line holds"
    content = json.loads(path.read_text())
    assert content["universe"]["budget"]["value"] == "ln(54)"  # ln((b + 1)(1 - p)/p), b = 5, p = 1/10
    assert content["universe"]["constant"]["value"] is not None
    assert content["universe"]["exposure"]["cells"]["records"]["of"] == 5
    assert content["universe"]["exposure"]["determined"] == dp.exposure(made[0], out / "released.csv")["determined"]
    assert [row["entries"] for row in content["invariants"]] == [3, 2]
    assert content["release"]["fit_for_publication"] is True
    assert content["claims"]["obligations"][0]["verdict"]["proof"]


def test_without_the_release_the_rest_is_checked(made: tuple[Path, Path, Path]) -> None:
    found = dp.check_certificate(made[2])
    assert found.exit_code == 0
    assert {line["what"] for line in found["lines"] if line["status"] == "not checked"} == set(engine.OF_RELEASE)


def test_the_certificate_in_this_universe_is_that_of_every_table_of_it(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Another draw of the same table has the same invariants, constant, budget and exposure: they may be published."""
    spec, again = written(tmp_path)
    one, other = json.loads(made[2].read_text()), dict(dp.certify(spec, again))["certificate"]
    assert one["invariants"] == other["invariants"]
    assert one["universe"] == other["universe"]


# --- tampering ------------------------------------------------------------------------------------


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield from leaves(value, (*path, key))
    if not isinstance(tree, (dict, list)) or not tree:
        yield path


def changed(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    whole = copy.deepcopy(tree)
    at = whole
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return whole


def other_value(value: Any, generator: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + generator.choice((-1, 1))
    if isinstance(value, str):
        return value[:-1] if value and generator.random() < 0.5 else value + "0"
    return "x" if value is None else None


@pytest.mark.slow
def test_no_field_can_be_changed(made: tuple[Path, Path, Path], tmp_path: Path, judged_once: None) -> None:
    """Every field in turn, with the old digest and with one that fits: more than 200 tampered certificates, none accepted."""
    _, out, path = made
    content, generator, tried = json.loads(path.read_text()), random.Random(28), 0
    target = tmp_path / "tampered.json"
    for place in leaves({key: value for key, value in content.items() if key != "digest"}):
        value = content
        for key in place:
            value = value[key]
        wrong = changed(content, place, other_value(value, generator))
        for data in (wrong, {**wrong, "digest": engine.digest_of(wrong)}):
            target.write_text(engine.text_of(data), encoding="utf-8")
            assert rejected(target, out), place
            tried += 1
    assert tried >= 200


def test_no_field_can_be_left_out_or_added(made: tuple[Path, Path, Path], tmp_path: Path, judged_once: None) -> None:
    _, out, path = made
    content = json.loads(path.read_text())
    target = tmp_path / "tampered.json"
    for place in ((), *_tables(content)):
        at = content
        for key in place:
            at = at[key]
        lacking, further = copy.deepcopy(content), changed(content, (*place, "further"), 1)
        inner = lacking
        for step in place:
            inner = inner[step]
        del inner[next(iter(at))]
        for wrong in (lacking, further):
            target.write_text(engine.text_of({**wrong, "digest": engine.digest_of(wrong)}), encoding="utf-8")
            assert rejected(target, out), place


def _tables(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            if isinstance(value, dict):
                yield (*path, key)
            yield from _tables(value, (*path, key))


def test_no_byte_of_a_certificate_can_be_changed(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, out, path = made
    whole = path.read_bytes()
    target = tmp_path / "tampered.json"
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        target.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert rejected(target, out), place
    for text in (whole + b"\n", whole.replace(b"  ", b" ", 1), whole[:-1], b"", b"[]", b"\xff", b"{}"):
        target.write_bytes(text)
        assert rejected(target, out)


def test_no_byte_of_a_released_file_can_be_changed(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Bytes from the whole of each file; the section is compared as the command does it."""
    _, out, path = made
    folder = tmp_path / "out"
    shutil.copytree(out, folder)
    data = json.loads(path.read_text())
    document = dp.read(made[0])
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        for place in range(0, len(whole), max(1, len(whole) // 100)):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            sections = engine._Sections(document, REGISTRY, folder)
            found = engine._line("release", partial(engine._compare, data, "release", sections))
            assert found.status == engine.FAILS, (file.name, place)
        file.write_bytes(whole)
    assert not rejected(path, folder)


def test_a_changed_cell_is_named(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Also where somebody writes the new SHA-256 into the report and into the certificate: the recount shows it."""
    _, out, path = made
    folder = tmp_path / "out"
    shutil.copytree(out, folder)
    table, report = folder / "released.csv", folder / "report.json"
    old = table.read_text()
    new = old.replace("low", "high", 1)
    table.write_text(new)
    said = str(dp.check_certificate(path, folder))
    assert "released file released.csv" in said.splitlines()[0]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (old, new)]
    told = report.read_text()
    report.write_text(told.replace(*digests))
    forged = path.read_text().replace(*digests)
    forged = forged.replace(*(hashlib.sha256(text.encode()).hexdigest() for text in (told, report.read_text())))
    content = json.loads(forged)
    for row in content["release"]["files"]:
        row["bytes"] = (folder / row["file"]).stat().st_size
    target = tmp_path / "forged.json"
    target.write_text(engine.text_of({**content, "digest": engine.digest_of(content)}))
    found = dp.check_certificate(target, folder)
    assert found.exit_code == 1
    assert "invariants person by income" in str(found).splitlines()[0]


def test_the_proof_of_another_file_is_named(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, out, path = made
    spec, again = written(tmp_path, rate="1/5")
    other, content = dict(dp.certify(spec, again))["certificate"], json.loads(path.read_text())
    target = tmp_path / "tampered.json"
    for section in ("claims", "specification", "universe", "release"):
        wrong = {**content, section: other[section]}
        target.write_text(engine.text_of({**wrong, "digest": engine.digest_of(wrong)}))
        found = dp.check_certificate(target, out)
        assert found.exit_code == 1, section
        assert any(line["status"] == "fails" for line in found["lines"])
    wrong = {**content, "claims": other["claims"]}
    target.write_text(engine.text_of({**wrong, "digest": engine.digest_of(wrong)}))
    assert "claims.sha256" in str(dp.check_certificate(target, out)).replace("\n", " ")


def test_files_that_are_missing_or_further(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, out, path = made
    for change in ("missing", "further", "folder", "link"):
        folder = tmp_path / change
        shutil.copytree(out, folder)
        if change == "missing":
            (folder / "released.csv").unlink()
        elif change == "further":
            (folder / "more.csv").write_text("a\n")
        elif change == "folder":
            (folder / "more").mkdir()
        else:
            (folder / "more.csv").symlink_to(folder / "released.csv")
        assert rejected(path, folder), change
    assert rejected(path, tmp_path / "none")


# --- what cannot be certified ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('swap_rate = "1/10"\nunit = "person"\n\n[mechanism]', 'swap_rate = "1/2"\nunit = "person"\n\n[mechanism]', 1),
        ('[mechanism]\ntype = "permutation-swapping"\nswap = ["region"]\nswap_rate = "1/10"\nunit = "person"\n', "", 5),
    ],
    ids=["refuted", "unchecked"],
)
def test_false_and_unchecked_premises(tmp_path: Path, old: str, new: str, code: int) -> None:
    spec, out = written(tmp_path)
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))
    with pytest.raises(NotCertifiableError) as caught:
        dp.certify(spec, _relabelled(out, spec))
    assert caught.value.exit_code == code


def _relabelled(out: Path, spec: Path) -> Path:
    """The release with a report that names another specification."""
    report = json.loads((out / "report.json").read_text())
    report["specification"]["sha256"] = hashlib.sha256(spec.read_bytes()).hexdigest()
    (out / "report.json").write_text(json.dumps(report))
    return out


def test_a_claim_on_miniatures_only(made: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from dpspec.base.words import Word
    from dpspec.verifier.document import FileReport
    from dpspec.verifier.standing import Standing

    stands = Standing(word=Word.MINIATURE, reason="on miniatures only")
    monkeypatch.setattr(FileReport, "standing", property(lambda self: stands))
    with pytest.raises(NotCertifiableError) as caught:
        dp.certify(made[0], made[1])
    assert caught.value.exit_code == Word.MINIATURE.exit_code


def test_a_release_that_was_made_unverified(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(made[1], folder)
    report = json.loads((folder / "report.json").read_text())
    report["claim"]["released_unverified"] = True
    (folder / "report.json").write_text(json.dumps(report))
    with pytest.raises(NotCertifiableError, match="unverified"):
        dp.certify(made[0], folder)


def test_a_seed_is_in_the_certificate(tmp_path: Path) -> None:
    spec, out = written(tmp_path)
    release(spec, tmp_path / "in" / "table.csv", out, seed=7)
    found = dp.certify(spec, out)
    assert found["certificate"]["release"]["fit_for_publication"] is False
    assert "7" in found["certificate"]["release"]["randomness"]
    assert "not fit for publication" in str(found)


def test_a_constant_between_two_ends_is_rounded_outward() -> None:
    """10/3 is not *about 3.33333* where it is the largest that a constant may be."""
    nothing = {"value": None, "determined": None, "note": "none", "parameter": "epsilon"}
    ends = {"value": {"lower": "1/3", "upper": "10/3"}, "note": ""}
    words = dict(engine._universe_in_words({"constant": ends, "budget": nothing, "exposure": nothing}))
    assert words["constant"] == "between 0.333333333 and 3.33333334"


@pytest.mark.parametrize(("key", "value"), [
    ("mechanism", {"name": "laplace"}), ("records", 999), ("records", "5"), ("randomness", "seed 7"),
])  # fmt: skip
def test_a_report_that_does_not_fit_its_release_is_not_certified(
    made: tuple[Path, Path, Path], tmp_path: Path, key: str, value: Any
) -> None:
    """The mechanism and the number of records were copied from the report, whatever was released."""
    folder = tmp_path / "out"
    shutil.copytree(made[1], folder)
    report = json.loads((folder / "report.json").read_text())
    (folder / "report.json").write_text(json.dumps({**report, key: value}))
    with pytest.raises(CertificateError):
        dp.certify(made[0], folder)


# --- bad input, one line each ---------------------------------------------------------------------


def test_another_version_is_refused(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    content = json.loads(made[2].read_text())
    target = tmp_path / "other.json"
    versions = ((("versions", "dpspec"), "9.9"), (("versions", "dpspec-more"), "1"))
    for place, value in ((("version",), 1), (("version",), 3), (("version",), True), *versions):
        wrong = changed(content, place, value)
        target.write_text(engine.text_of({**wrong, "digest": engine.digest_of(wrong)}))
        with pytest.raises(CertificateVersionError):
            dp.check_certificate(target, made[1])


def test_bad_input_has_one_line_and_a_code(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    spec, out, path = made
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.json").write_text("no JSON")
    for given in (
        ["certify", str(spec), str(tmp_path / "none"), "--out", str(tmp_path / "c.json")],
        ["certify", str(spec), str(tmp_path / "empty"), "--out", str(tmp_path / "c.json")],
        ["certify", str(spec), str(out), "--out", str(out / "c.json")],
        ["check-certificate", str(tmp_path / "none.json")],
        ["check-certificate", str(tmp_path / "text.json"), str(out)],
    ):
        ran = CliRunner().invoke(main, given)
        assert ran.exit_code == 2, given
        assert len(ran.stderr.strip().splitlines()) == 1, ran.stderr
    assert not (tmp_path / "c.json").exists()
    assert not rejected(path, out)


def test_a_release_of_another_specification(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    spec, _ = written(tmp_path, id="other")
    with pytest.raises(CertificateError, match="another specification"):
        dp.certify(spec, made[1])


def test_no_cell_is_in_a_certificate(made: tuple[Path, Path, Path]) -> None:
    """Invariants are there by their hashes: what they are is in the released files."""
    assert "north" not in made[2].read_text().split('"text"')[0]
