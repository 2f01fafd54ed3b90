"""What packages contribute, and which package is named where one is not installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import dpspec as dp
from dpspec.base.errors import DerivationFileError, DpspecError, MissingPackageError, UnknownNameError, reported_as_own
from dpspec.cli import main
from dpspec.extension import Registry, load_plugins, packages
from dpspec.report.figures import chart
from dpspec.report.pages import CommandAnswer, answering

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """As where dpspec alone is installed."""
    for module in ("dpspec.extension.packages", "dpspec.cli.framework", "dpspec.report.figures"):
        monkeypatch.setattr(f"{module}.contributed", lambda group: {})
    monkeypatch.setattr("dpspec.extension.packages._is_absent", lambda package: True)
    return load_plugins(names=()).registry


@pytest.mark.parametrize(("package", "command"), [
    (package, command) for package, brings in packages.first_party().items() for command in brings.get("commands", ())
])  # fmt: skip
def test_a_command_of_a_missing_package_is_one_line_that_names_it(alone: Registry, package: str, command: str) -> None:
    done = CliRunner().invoke(main, [command, "file"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"command {command}: is in the package {package}, which is not installed: pip install {package}\n"


def test_a_misspelt_command_is_no_missing_package(alone: Registry) -> None:
    done = CliRunner().invoke(main, ["check-prof"])
    assert (done.exit_code, "No such command" in done.stderr) == (2, True)


@pytest.mark.parametrize(("name", "package"), [
    ("check_proof", "dpspec-checker"), ("exposure", "dpspec-disclosure"),
    ("HammingOfNoPackage", None), ("no_such_name", None),
])  # fmt: skip
def test_a_function_of_a_missing_package_names_it(alone: Registry, name: str, package: str | None) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(dp, name)
    assert str(caught.value).endswith(f"pip install {package}") is (package is not None)


@pytest.mark.parametrize(("package", "kind", "name"), [
    (package, kind, name)
    for package, brings in packages.first_party().items() for kind, names in brings.items()
    for name in names[:1] if kind not in ("classes", "commands", "functions", "renderers")
])  # fmt: skip
def test_a_registered_name_of_a_missing_package_names_it(alone: Registry, package: str, kind: str, name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"pip install {package}$") as caught:
        alone.entry(kind, name)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("words", [
    ("compare", "randomised-response.dpspec.toml", "gaussian-lecture.dpspec.toml", "--picture", "out.svg"),
    ("risk", "randomised-response.dpspec.toml", "--picture", "out.svg"), ("explain", "flavours", "--picture", "out.svg"),
])  # fmt: skip
def test_a_figure_of_a_missing_package_is_refused_before_work(alone: Registry, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, [str(tmp_path / word) if word.endswith((".svg", ".toml")) else word for word in words])
    assert (done.exit_code, done.stdout, [*tmp_path.iterdir()]) == (2, "", [])
    assert done.stderr == "figure: is in the package dpspec-report, which is not installed: pip install dpspec-report\n"


@pytest.mark.parametrize("command", ["check", "lint", "verify"])
def test_a_format_of_a_missing_package_names_it(alone: Registry, command: str) -> None:
    done = CliRunner().invoke(main, [command, str(SPECS / "randomised-response.dpspec.toml"), "--format", "sarif"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "format sarif: is in the package dpspec-report, which is not installed: pip install dpspec-report\n"


def test_a_page_in_a_notebook_needs_no_package_for_figures(alone: Registry) -> None:
    found = CommandAnswer("hello", 0, {}, lambda: "hello", lambda: chart("title", ()))
    assert '<pre class="dpspec" style="white-space:pre-wrap">hello</pre>' in found._repr_html_()
    assert "<img" not in found._repr_html_()
    with pytest.raises(MissingPackageError, match="pip install dpspec-report"):
        found.plot()


def test_no_stranger_takes_the_name_of_a_first_party_package(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        SimpleNamespace(name=name, module="m", dist=SimpleNamespace(name=package))
        for name, package in (("chart", "a"), ("chart", "dpspec-report"), ("chart", "z"), ("song", "c"), ("song", "b"))
    ]
    monkeypatch.setattr("dpspec.extension.packages.entry_points", lambda group: points)
    found = packages.contributed.__wrapped__("dpspec.renderers")
    assert {name: one.dist.name for name, one in found.items()} == {"chart": "dpspec-report", "song": "b"}


def test_an_installed_package_is_not_missing() -> None:
    assert packages.missing_package("check-proof", "commands") is None
    assert packages.missing_package("laplace") is None


def test_a_plain_answer_becomes_one_of_dpspec() -> None:
    plain = SimpleNamespace(command="hello", exit_code=1, content={"a": 1}, words=lambda: "hello", value=3)
    found = answering(lambda: plain)()
    assert isinstance(found, CommandAnswer)
    assert (str(found), found.exit_code, found["a"], found.value) == ("hello", 1, 1, 3)
    assert found.to_dict() == {"format": 1, "command": "hello", "exit_code": 1, "a": 1}


class ForeignError(Exception):
    exit_code, subject, rule, advice = 2, "file", "is no\x1bJSON", "write JSON"

    def __init__(self, code: str, **given: object) -> None:
        super().__init__("file: is no JSON")
        self.code, self.given = code, given


def test_a_plain_error_becomes_the_one_of_dpspec_with_its_code() -> None:
    with pytest.raises(DerivationFileError, match=r"^file=a.json: is no\\x1bJSON: write JSON$"), reported_as_own():
        raise ForeignError("derivation-file", value="a.json")
    with pytest.raises(DpspecError) as caught, reported_as_own():
        raise ForeignError("of-no-class")
    assert (type(caught.value), caught.value.code, caught.value.exit_code) == (DpspecError, "of-no-class", 2)
    with pytest.raises(KeyError), reported_as_own():
        raise KeyError("a fault of the package")


def test_errors_of_the_checker_have_the_classes_of_dpspec(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text("{")
    with pytest.raises(DerivationFileError, match="is no JSON"):
        dp.check_derivation(tmp_path / "d.json")
    done = CliRunner().invoke(main, ["check-derivation", str(tmp_path / "d.json"), "--format", "json"])
    assert (done.exit_code, json.loads(done.stdout)["errors"][0]["code"]) == (2, "derivation-file")
