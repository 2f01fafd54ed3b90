"""Single packages from wheels: what works alone, and what says which package is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpspec.extension.packages import first_party
from tests.packaging.conftest import Clean, environment_without_dpspec

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RESPONSE, SWAPPING = (str(ROOT / "specs" / f"{name}.dpspec.toml") for name in ("randomised-response", "swapping-permutation"))
Made = Callable[..., Clean]


@pytest.fixture(scope="module")
def made(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """An environment with some of the packages, from wheels alone."""

    def make(*packages: str) -> Clean:
        environment = environment_without_dpspec(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("work"))
        environment.install_wheels(wheels, *packages)
        return environment

    return make


@pytest.fixture(scope="module")
def kernel(made: Made) -> Clean:
    return made("dpspec")


def test_each_absent_command_is_one_line_that_names_its_package(kernel: Clean) -> None:
    commands = [(package, command) for package, brings in first_party().items() for command in brings.get("commands", ())]
    assert commands
    for package, command in commands:
        done = kernel.run("dpspec", command, RESPONSE)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"command {command}: is in the package {package}, which is not installed: pip install {package}\n"


@pytest.mark.parametrize(("form", "package", "words"), [
    ("figure", "dpspec-report", ("explain", "flavours", "--picture", "flavours.svg")),
    ("format sarif", "dpspec-report", ("verify", RESPONSE, "--format", "sarif")),
    ("a specification from a table", "dpspec-release", ("new", "spec", "--from", RESPONSE)),
])  # fmt: skip
def test_each_absent_form_is_one_line_that_names_its_package(
    kernel: Clean, form: str, package: str, words: tuple[str, ...]
) -> None:
    done = kernel.run("dpspec", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"{form}: is in the package {package}, which is not installed: pip install {package}\n"


def test_each_absent_name_of_a_file_is_one_line_that_names_its_package(kernel: Clean) -> None:
    done = kernel.run("dpspec", "check", RESPONSE)
    lines = [line for line in done.err.splitlines() if "is not registered" in line]
    assert done.code == 2
    assert {line.rpartition("pip install ")[2] for line in lines} == {"dpspec-divergences", "dpspec-noise"}
    assert "Traceback" not in done.err


def test_every_command_of_the_kernel_has_its_help(kernel: Clean) -> None:
    done = kernel.run("dpspec", "--help")
    assert done.code == 0
    assert "verify" in done.out
    assert "check-proof" not in done.out


def test_files_whose_names_are_known_are_checked_verified_and_compared(made: Made, clean: Clean) -> None:
    """With the two packages that bring the names of the file; the answers are those with all packages.

    What an attacker finds out is left out, and each reason names the package of the attackers.
    """
    few = made("dpspec", "dpspec-divergences", "dpspec-noise")
    for words in (["check", RESPONSE], ["verify", RESPONSE], ["compare", RESPONSE, RESPONSE]):
        one, all_of_them = (environment.run("dpspec", *words, "--format", "json") for environment in (few, clean))
        assert one.code == 0, one.err
        found, wanted = json.loads(one.out), json.loads(all_of_them.out)
        for side in found.pop("risk", {}).values():
            assert side["rows"] == []
            assert all("pip install dpspec-attackers" in each["reason"] for each in side["unknown"])
        wanted.pop("risk", None)
        assert found == wanted
    assert "pip install dpspec-census" in few.run("dpspec", "check", SWAPPING).err


def test_the_checker_works_alone(made: Made, clean: Clean) -> None:
    """Its answers are those of the commands of dpspec, and nothing of dpspec is there."""
    alone = made("dpspec-checker")
    assert alone.run("python", "-c", "import dpspec").code == 1
    proof, derivation = clean.work / "v.json", clean.work / "d.json"
    file = ROOT / "specs" / "mechanisms" / "laplace-table-add-remove.dpspec.toml"
    proof.write_text(clean.run("dpspec", "verify", str(file), "--format", "json").out, encoding="utf-8")
    two = [str(ROOT / "specs" / f"topdown-2020-{name}.dpspec.toml") for name in ("pl", "pl-persons")]
    clean.run("dpspec", "compare", *two, "--derivation", str(derivation))
    for command, path in (("check-proof", proof), ("check-derivation", derivation)):
        for form in ("text", "json"):
            here, there = (
                environment.run(program, command, str(path), "--format", form)
                for environment, program in ((alone, "dpspec-checker"), (clean, "dpspec"))
            )
            assert here.code == there.code == 0, here.err
            assert (here.out, here.err) == (there.out, there.err)
    proof.write_text(json.dumps({**json.loads(proof.read_text(encoding="utf-8")), "exit_code": 1}), encoding="utf-8")
    assert alone.run("dpspec-checker", "check-proof", str(proof)).code == 1
    refused = alone.run("dpspec-checker", "check-derivation", str(proof), "--format", "json")
    assert (refused.code, json.loads(refused.out)["errors"][0]["code"]) == (2, "derivation-file")
    assert refused.err.count("\n") == 1
