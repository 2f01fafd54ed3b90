"""The conda recipe and the container file say what pyproject.toml says; they are built elsewhere. The example is built here."""

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.packaging.conftest import environment_without_dpspec

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
PROJECTS = [
    tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in (ROOT / "pyproject.toml", *(ROOT / "plugins").glob("*/pyproject.toml"))
]
OWN = {project["name"] for project in PROJECTS}
SURVEY = ROOT / "docs" / "examples" / "survey-project"


def test_the_recipe_has_the_version_and_the_dependencies_of_the_projects():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert {recipe["context"]["version"]} == {project["version"] for project in PROJECTS}
    wanted = {re.sub(r"(?<=[a-z0-9])(?=[><=])", " ", one.lower()) for project in PROJECTS for one in project["dependencies"]}
    wanted = {one for one in wanted if one.partition(" ")[0] not in OWN}
    assert set(recipe["requirements"]["run"]) == wanted | {f"python {PROJECTS[0]['requires-python']}"}
    (script,) = recipe["build"]["script"]
    assert set(re.findall(r"plugins/([\w-]+)", script)) == OWN - {"dpspec"}
    assert recipe["build"]["python"]["entry_points"] == [f"dpspec = {PROJECTS[0]['scripts']['dpspec']}"]
    assert set(recipe["tests"][0]["python"]["imports"]) == {name.replace("-", "_") for name in OWN}
    assert (recipe["about"]["license"], recipe["about"]["license_file"]) == (PROJECTS[0]["license"], "LICENSE")


@pytest.mark.long
def test_the_script_of_the_recipe_installs_what_its_tests_ask_for(tmp_path):
    """The recipe's own lines, in an environment that has what its `host` and `run` have; only conda is not there."""
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    source = tmp_path / "source"
    assert (PACKAGING / "conda" / recipe["source"]["path"]).resolve() == ROOT
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".*", "__pycache__", "out", "tests", "docs", "specs", "benchmarks")
    )
    assert (source / recipe["about"]["license_file"]).is_file()
    environment = environment_without_dpspec(tmp_path / "home", source)
    for line in recipe["build"]["script"]:
        program, *words = shlex.split(line.replace("${{ PYTHON }}", "python"))
        done = environment.run(program, *words, PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
        assert done.code == 0, done.err
    environment.work = tmp_path
    python, script = recipe["tests"]
    done = environment.run("python", "-c", "\n".join(f"import {name}" for name in python["python"]["imports"]))
    assert (done.code, done.err) == (0, "")
    for line in script["script"]:
        assert environment.run(*shlex.split(line)).code == 0, line


def test_the_container_copies_and_runs_what_there_is():
    """Each instruction of the file, in order: what is copied and installed is in the checkout, and what is run is installed."""
    text = (PACKAGING / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    assert [word for word, _ in lines] == ["FROM", "WORKDIR", "COPY", "RUN", "RUN", "USER", "WORKDIR", "ENTRYPOINT", "CMD"]
    said = [rest for _, rest in lines]
    *copied, target = said[2].split()
    assert target == "."
    assert all((ROOT / name).exists() for name in copied)
    install, clear = said[3].split("&&")
    assert clear.split() == ["rm", "-rf", said[1]]
    words = shlex.split(install)
    assert words[:3] == ["pip", "install", "--no-cache-dir"]
    assert (ROOT / words[words.index("-c") + 1]).is_file()
    folders = [word for word in words[words.index("-c") + 2 :] if word == "." or "/" in word]
    assert len(folders) == len(OWN)
    assert all((ROOT / folder / "pyproject.toml").is_file() for folder in folders)
    others = {word.lower() for word in words[words.index("-c") + 2 :]} - set(folders)
    assert others == {"pyyaml"}
    assert said[4].split()[-1] == said[5]
    assert json.loads(said[7])[0] in PROJECTS[0]["scripts"]
    assert json.loads(said[8]) == ["--help"]


def test_what_was_tried_is_said():
    text = " ".join((PACKAGING / "README.md").read_text(encoding="utf-8").split())
    assert "No conda package and no image was built" in text


def test_the_container_installs_every_distribution_at_its_pins():
    text = (PACKAGING / "Containerfile").read_text(encoding="utf-8")
    assert set(re.findall(r"plugins/([\w-]+)", text)) == OWN - {"dpspec"}
    assert "-c constraints.txt" in text
    (version,) = re.findall(r"python:(3\.\d+)-slim", text)
    assert f"Programming Language :: Python :: {version}" in PROJECTS[0]["classifiers"]


def test_what_is_optional_is_pinned_and_tested():
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()}
    extras = {one for project in PROJECTS for extra in project.get("optional-dependencies", {}).values() for one in extra}
    elsewhere = {"opendp", "diffprivlib", "dp-accounting", "pandas"}  # requirements-adapters.txt
    elsewhere |= {"pyspark", "pyarrow", "ray"}  # requirements-engines.txt
    assert {re.split(r"[><=\[]", one)[0].lower() for one in extras} - OWN - elsewhere <= pinned


@pytest.mark.slow
def test_the_example_project_is_built_and_tested_as_a_strangers(clean, tmp_path):
    """Installed from its sources beside the wheels of dpspec; then all that its README and its CI run."""
    folder = shutil.copytree(SURVEY, tmp_path / SURVEY.name, ignore=shutil.ignore_patterns("__pycache__"))
    clean.install(folder)
    try:
        assert clean.run("dpspec", "check", str(folder / "specs")).code == 0
        pytest_ = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
        done = clean.run(*pytest_, str(folder / "specs"), str(folder / "tests"))
        assert (done.code, "3 passed" in done.out) == (0, True), done.out
        code = folder / "src" / "survey_project" / "__init__.py"
        code.write_text(code.read_text(encoding="utf-8").replace("0.75", "0.8"), encoding="utf-8")
        clean.install(folder)
        done = clean.run(*pytest_, str(folder / "tests"))
        assert (done.code, "does not satisfy the specification" in done.out) == (1, True), done.out
    finally:
        clean.uninstall("survey-project")


def test_the_ci_of_the_example_uses_what_the_action_has():
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((SURVEY / ".github" / "workflows" / "privacy.yml").read_text(encoding="utf-8"))["jobs"]["promises"]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = [step for step in job["steps"] if step.get("uses") == "./dpspec-source"]
    assert set(step["with"]) <= set(action["inputs"])
    assert all(f"outputs.{name}" in str(job) for name in action["outputs"])
