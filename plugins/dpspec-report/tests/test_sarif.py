"""SARIF 2.1.0 of `check`, `lint` and `verify`, held to what the standard requires; and the script that the GitHub Action runs."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from dpspec.cli import main

ROOT = Path(__file__).parents[3]
LEVELS = ("none", "note", "warning", "error")


def conforms(log):
    """What OASIS SARIF 2.1.0 demands of the objects that occur (sections 3.13 to 3.20, 3.27 to 3.30, 3.49, 3.52, 3.58)."""
    assert log["version"] == "2.1.0"
    assert set(log) <= {"$schema", "version", "runs"}
    for run in log["runs"]:
        assert set(run) <= {"tool", "automationDetails", "columnKind", "invocations", "results"}
        driver = run["tool"]["driver"]
        assert driver["name"]
        assert re.fullmatch(r"\d+\.\d+\.\d+.*", driver["semanticVersion"])
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(set(ids)) == len(ids)
        assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        for invocation in run["invocations"]:
            assert isinstance(invocation["executionSuccessful"], bool)
            assert isinstance(invocation["exitCode"], int)
            for told in invocation.get("toolExecutionNotifications", ()):
                assert told["message"]["text"]
                assert told["level"] in LEVELS
        for result in run["results"]:
            assert set(result) == {"ruleId", "ruleIndex", "level", "message", "locations"}
            assert ids[result["ruleIndex"]] == result["ruleId"]
            assert result["level"] in LEVELS
            assert result["message"]["text"]
            (location,) = result["locations"]
            physical = location["physicalLocation"]
            assert physical["region"]["startLine"] >= 1
            uri = physical["artifactLocation"]["uri"]
            assert re.fullmatch(r"(?:file:///)?(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", uri), uri
            assert uri.startswith("file:///") != (physical["artifactLocation"].get("uriBaseId") == "%SRCROOT%")
    json.dumps(log, allow_nan=False)


def sarif(*arguments):
    done = CliRunner().invoke(main, [*map(str, arguments), "--format", "sarif"])
    log = json.loads(done.stdout)
    conforms(log)
    return done.exit_code, log["runs"][0]


def places(run):
    found = []
    for result in run["results"]:
        physical = result["locations"][0]["physicalLocation"]
        path = unquote(physical["artifactLocation"]["uri"]).removeprefix("file://")
        found.append((Path(path).name, physical["region"]["startLine"], result["ruleId"], result["level"]))
    return found


def test_a_claim_that_was_false_when_it_was_locked_is_a_result(tmp_path, monkeypatch):
    """It was as locked, so that there was nothing to review in a run that failed."""
    text = (ROOT / "specs" / "randomised-response.dpspec.toml").read_text(encoding="utf-8")
    for name, epsilon in (("right", "ln(3)"), ("wrong", "ln(2)")):
        (tmp_path / f"{name}.dpspec.toml").write_text(text.replace('"ln(3)"', f'"{epsilon}"'), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["lock", "."]).exit_code in (0, 1)
    code, run = sarif("verify", "--locked")
    assert code == 1
    assert places(run) == [("wrong.dpspec.toml", 1, "verify/" + verdict_of("wrong.dpspec.toml"), "error")]


def verdict_of(path):
    """How `dpspec verify` ends with a file."""
    data = json.loads(CliRunner().invoke(main, ["verify", path, "--format", "json"]).stdout)
    return data["files"][0]["outcome"]


def test_every_bad_file_is_a_result_at_its_line():
    code, run = sarif("check", ROOT / "specs" / "bad")
    assert code == 2
    data = json.loads(CliRunner().invoke(main, ["check", str(ROOT / "specs" / "bad"), "--format", "json"]).stdout)
    wanted = [
        (Path(file["path"]).name, error["line"] or 1, f"file/{error['code']}", "error")
        for file in data["files"]
        for error in file.get("errors", ())
    ]
    assert places(run) == wanted
    assert len(wanted) > 30


def test_findings_stand_at_their_lines_and_explained_ones_do_not():
    path = ROOT / "specs" / "lint" / "no-number--none-published.dpspec.toml"
    marked = next(line for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if "# <- finding" in text)
    code, run = sarif("lint", path)
    assert (code, places(run)) == (1, [(path.name, marked, "lint/no-number", "warning")])
    assert sarif("lint", ROOT / "specs" / "gaussian-lecture.dpspec.toml")[1]["results"] == []


WRONG = """\
schema = 1
id = "wrong"
title = "A claim, a number and a counterexample that do not hold"
[space]
type = "bit-vectors"
length = 3
[input_divergence]
type = "hamming-ordered"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = 1
[mechanism]
type = "randomised-response"
keep_probability = "3/4"
[[miniature]]
title = "one person"
space = { type = "bit-vectors", length = 1 }
[[miniature]]
title = "one person"
space = { type = "bit-vectors", length = 2 }
[[expect]]
what = "a number, with: a colon"
rho = "0.6"
tolerance = "0.001"
because = "printed"
route = { type = "pure-to-zcdp" }
[[expect]]
what = "one that holds"
rho = "0.5"
tolerance = "0.0001"
because = "printed"
route = { type = "pure-to-zcdp" }
"""


@pytest.mark.spread(1)
@pytest.mark.parametrize("name", ["wrong.dpspec.toml", "with a blank, ünd #%.dpspec.toml"])
def test_what_does_not_hold_stands_at_its_table(tmp_path, name):
    (tmp_path / name).write_text(WRONG, encoding="utf-8")
    code, run = sarif("verify", tmp_path / name)
    lines = WRONG.splitlines()
    first = lines.index("[[miniature]]") + 1
    second = lines.index("[[miniature]]", first) + 1
    number = lines.index("[[expect]]") + 1
    refuted = [line for _, line, rule, level in places(run) if (rule, level) == ("verify/refuted", "error")]
    assert code == 1
    assert {first, second} <= set(refuted)
    assert [(line, level) for _, line, rule, level in places(run) if rule == "verify/missed"] == [(number, "error")]


def test_what_is_known_for_what_it_is_is_a_note():
    code, run = sarif("verify", ROOT / "specs" / "gaussian-lecture.dpspec.toml", "--accept", "recorded")
    assert code == 0
    assert {level for *_, level in places(run)} == {"note"}


def test_an_error_is_a_notification(tmp_path):
    code, run = sarif("lint", tmp_path / "nothing here")
    (invocation,) = run["invocations"]
    assert (code, invocation["executionSuccessful"], invocation["exitCode"], run["results"]) == (2, False, 2, [])


def test_a_replay_has_no_sarif(tmp_path):
    assert CliRunner().invoke(main, ["verify", "--replay", "x.json", "--format", "sarif"]).exit_code == 2


# --- the Action -----------------------------------------------------------------------------------


def act(folder, *arguments, **environment):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
    return subprocess.run(
        [sys.executable, str(ROOT / "packaging" / "action.py"), *map(str, arguments)],
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.slow
def test_the_action_tells_annotations_a_summary_and_sarif(tmp_path):
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "a|b.dpspec.toml").write_text(WRONG, encoding="utf-8")
    (specs / "broken.dpspec.toml").write_text("schema = 1\n[", encoding="utf-8")
    shutil.copy(ROOT / "specs" / "randomised-response.dpspec.toml", specs)
    told = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    done = act(tmp_path, "specs", "--sarif", "dpspec.sarif", **told)
    assert done.returncode == 2, done.stderr
    lines = done.stdout.splitlines()
    assert all(re.match(r"::(error|warning|notice) file=[^,:]+,line=\d+,title=[^,:]+::\S", line) for line in lines), done.stdout
    assert sum("broken.dpspec.toml" in line for line in lines) == 1  # though three commands say so
    line = WRONG.splitlines().index("[[expect]]") + 1
    assert f"::error file=specs/a|b.dpspec.toml,line={line},title=verify/missed::number" in done.stdout
    log = json.loads((tmp_path / "dpspec.sarif").read_text(encoding="utf-8"))
    conforms(log)
    assert [run["automationDetails"]["id"] for run in log["runs"]] == ["dpspec/check/", "dpspec/lint/", "dpspec/verify/"]
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "| specs/a&#124;b.dpspec.toml | refuted |" in summary
    assert "| specs/randomised-response.dpspec.toml | holds |" in summary
    assert (tmp_path / "output").read_text(encoding="utf-8") == "sarif=dpspec.sarif\n"


@pytest.mark.slow
def test_the_action_passes_what_holds(tmp_path):
    shutil.copy(ROOT / "specs" / "randomised-response.dpspec.toml", tmp_path)
    done = act(tmp_path, ".", "--summary", "summary.md")
    assert (done.returncode, done.stdout.strip()) == (0, "")
    assert "Nothing was found that is not well." in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_no_text_of_a_file_becomes_a_command_of_the_workflow(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    import action

    assert action._data("a\n::set-output name=x::y%") == "a%0A::set-output name=x::y%25"
    assert "\n" not in action._property("a\r\nb,c:d")
    assert action._cell("<img src=x> | [a](b)\n# c") == "&#60;img src=x&#62; &#124; &#91;a&#93;(b) &#35; c"


@pytest.mark.spread(0, slow=2)
@pytest.mark.skipif(shutil.which("bash") is None or shutil.which("git") is None, reason="the Action runs in bash, with git")
@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        ({}, 0, "holds"),
        ({"locked": "true"}, 0, "Nothing was found"),
        ({"diff": "HEAD~1..HEAD"}, 1, "weaker"),
        ({"paths": "specs; echo stolen"}, 2, "does not exist"),
        ({"accept": "$(echo stolen)"}, 2, ""),
    ],
    ids=["verify", "locked", "diff", "a command in paths", "a command in accept"],
)  # fmt: skip
def test_each_input_of_the_action_does_what_it_says(tmp_path, inputs, code, said):
    """The last step of action.yml, run by bash as GitHub does, with the inputs as variables of the environment."""
    (tmp_path / "specs").mkdir()
    spec = tmp_path / "specs" / "randomised-response.dpspec.toml"
    text = (ROOT / "specs" / "randomised-response.dpspec.toml").read_text(encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    for epsilon in ("2", "3"):  # the second promise is weaker
        spec.write_text(text.replace('epsilon = "ln(3)"', f'epsilon = "{epsilon}"'), encoding="utf-8")
        commands = [["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", epsilon]]
        for command in commands if epsilon == "2" else commands[1:]:
            subprocess.run([*git, *command], check=True)
    subprocess.run([sys.executable, "-m", "dpspec", "lock", "specs"], cwd=tmp_path, check=True, capture_output=True)
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    given = {name: one.get("default", "") for name, one in action["inputs"].items()} | inputs
    variables = {
        name: str(ROOT) if "action_path" in value else given[re.search(r"inputs\.([a-z-]+)", value)[1]]
        for name, value in step["env"].items()
    }
    summary = tmp_path / "summary.md"
    environment = {**os.environ, **variables, "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(tmp_path / "out")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "stolen\n" not in done.stdout
    if said:
        assert said in summary.read_text(encoding="utf-8")


def test_the_action_and_the_hooks_name_what_there_is():
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    script = action["runs"]["steps"][-1]["run"]
    assert "packaging/action.py" in script
    assert "${{" not in script  # an input inside a script would be run
    options = (ROOT / "packaging" / "action.py").read_text(encoding="utf-8")
    assert all(option in options for option in re.findall(r"--[a-z-]+", script))
    assert set(re.findall(r"inputs\.([a-z-]+)", json.dumps(action))) == set(action["inputs"])
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entries = ["dpspec check", "dpspec verify", "dpspec lint", "dpspec diff HEAD .", "dpspec verify --locked"]
    assert [hook["entry"] for hook in hooks] == entries
    known = main.every_command()
    assert all(re.search(hook["files"], "specs/a.dpspec.toml") and hook["entry"].split()[1] in known for hook in hooks)


# --- completion in shells and editors -------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("typed", "offered"), [("ver", "verify"), ("verify --acc", "--accept"), ("lint --format ", "sarif"), ("new ", "spec")]
)
def test_completion_in_shells(shell, typed, offered):
    """What click answers to the script that it gives a shell."""
    words = ["dpspec", *typed.split(" ")]
    asked = {"_DPSPEC_COMPLETE": f"{shell}_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        asked["COMP_WORDS"], asked["COMP_CWORD"] = " ".join(words[:-1]), words[-1]
    done = CliRunner().invoke(main, [], prog_name="dpspec", env=asked)
    assert offered in done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("explain hamm", "hamming"),
        ("check-plugin nois", "noise"),
        ("examples rand", "randomised-response"),
        ("risk x.toml --attacker test", "tester"),
        ("explain zcd", "zCDP"),
        ("explain x.toml --audience public --language d", "de"),
        ("curve x.toml --panel p", "posterior"),
    ],
)
def test_registered_names_are_completed(typed, offered):
    words = ["dpspec", *typed.split(" ")]
    asked = {"_DPSPEC_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    assert offered in CliRunner().invoke(main, [], prog_name="dpspec", env=asked).stdout


BASH = """
eval "$(_DPSPEC_COMPLETE=bash_source dpspec)"
complete -p dpspec
COMP_WORDS=(dpspec check specs/o) COMP_CWORD=2 COMPREPLY=()
_dpspec_completion dpspec specs/o check
echo "${COMPREPLY[@]}"
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on PATH")
def test_a_real_bash_completes(tmp_path):
    """The line of the documentation, then what bash does when the key is pressed."""
    assert BASH.splitlines()[1] in (ROOT / "docs" / "where-people-work.md").read_text(encoding="utf-8")
    program = Path(sys.executable).with_name("dpspec")
    if not program.exists():
        pytest.skip("dpspec is no program of this environment")
    (tmp_path / "specs").mkdir()
    for name in ("one.dpspec.toml", "other.csv"):
        (tmp_path / "specs" / name).touch()
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", BASH], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["complete -o nosort -F _dpspec_completion dpspec", "specs/one.dpspec.toml"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("shell", "registers"),
    [("bash", "complete -o nosort -F _dpspec_completion dpspec"), ("zsh", "compdef _dpspec_completion dpspec"),
     ("fish", 'complete --no-files --command dpspec --arguments "(_dpspec_completion)"')],
)  # fmt: skip
def test_the_script_of_each_shell_is_made(shell, registers):
    done = CliRunner().invoke(main, [], prog_name="dpspec", env={"_DPSPEC_COMPLETE": f"{shell}_source"})
    assert done.exit_code == 0
    assert registers in done.stdout
    assert f"_DPSPEC_COMPLETE={shell}_source dpspec" in (ROOT / "docs" / "where-people-work.md").read_text(encoding="utf-8")


def test_specification_files_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.dpspec.toml", "other.toml", "table.csv"):
        (tmp_path / name).touch()
    (tmp_path / "specs").mkdir()
    asked = {"_DPSPEC_COMPLETE": "bash_complete", "COMP_WORDS": "dpspec check ", "COMP_CWORD": "2"}
    offered = CliRunner().invoke(main, [], prog_name="dpspec", env=asked).stdout
    assert "one.dpspec.toml" in offered
    assert "specs/" in offered
    assert "table.csv" not in offered


def test_new_files_name_a_schema_that_is_beside_them(run, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    run("new", "spec", "mine", "--dir", tmp_path)
    text = (tmp_path / "mine.dpspec.toml").read_text(encoding="utf-8")
    directive = text.splitlines()[0]
    assert directive.startswith("#:schema ./")
    schema = json.loads((tmp_path / directive.removeprefix("#:schema ./")).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(tomllib.loads(text))
