"""How the command line behaves: start-up, usage, odd input, pipes, colours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpspec.cli import main

ROOT = Path(__file__).parents[2]
GROUPS = {
    "account": ("create", "charge", "show", "history", "check", "void", "export", "verify", "plan"),
    "new": ("spec", "plugin"),
    "registry": ("import", "export"),
    "rules": ("check", "compare", "show"),
}
COMMANDS = [
    (name, *below) for name in main.every_command() for below in ([(one,) for one in GROUPS[name]] if name in GROUPS else [()])
]


@pytest.mark.parametrize("module", ["dpspec", "dpspec.cli"])
def test_nothing_heavy_is_imported_at_the_start(module):
    code = f"import sys, {module}; print(sorted({{'numpy', 'scipy', 'flint', 'rich', 'pluggy', 'attr'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_public_names_are_all_there():
    import dpspec

    assert sorted(dpspec.__all__) == list(dpspec.__all__)
    for name in dpspec.__all__:
        assert getattr(dpspec, name) is not None
    assert set(dpspec.__all__) <= set(dir(dpspec))
    with pytest.raises(AttributeError, match="nothing"):
        dpspec.nothing  # noqa: B018


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_and_a_format(run, command):
    ran = run(*command, "--help")
    assert ran.code == 0
    assert "Example" in ran.out
    assert ("--format" in ran.out) is (command != ("lsp",))  # which speaks a protocol of its own


def test_no_arguments_shows_the_help(run):
    ran = run()
    assert ran.code == 2
    assert "Usage: dpspec" in ran.out + ran.err


@pytest.mark.parametrize("arguments", [["verify"], ["compare", "a"], ["nothing"], ["check", "--nothing", "x"], ["schema", "x"]])
def test_wrong_usage_is_2(run, arguments):
    ran = run(*arguments)
    assert ran.code == 2
    assert "Usage:" in ran.err


@pytest.mark.parametrize("command", ["check", "verify", "explain"])
@pytest.mark.parametrize("kind", ["missing", "directory", "binary", "empty", "nul"])
def test_odd_files_get_a_message(run, tmp_path, command, kind):
    path = tmp_path / "odd.dpspec.toml"
    if kind == "directory":
        path.mkdir()
    elif kind != "missing":
        path.write_bytes({"binary": bytes(range(256)), "empty": b"", "nul": b"\0"}[kind])
    ran = run(command, path)
    assert ran.code == 2
    assert "odd.dpspec.toml" in ran.err


def test_a_big_file_is_refused(run, tmp_path):
    path = tmp_path / "big.dpspec.toml"
    path.write_text("# " + "x" * 10_000_000, encoding="utf-8")
    assert run("check", path, "--format", "json").json("check")["files"][0]["errors"][0]["code"] == "too-large"


def test_an_error_is_json_too(run, tmp_path):
    ran = run("compare", tmp_path / "a.dpspec.toml", tmp_path / "b.dpspec.toml", "--format", "json")
    data = ran.json("failure")
    assert [error["code"] for error in data["errors"]] == ["spec-file", "spec-file"]


def test_a_fault_of_our_own_is_not_taken_for_a_refutation(monkeypatch, response):
    from click.testing import CliRunner

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("dpspec.verifier.document.verify_document", broken)
    result = CliRunner().invoke(main, ["verify", str(response())])
    assert result.exit_code == 4
    assert "is at fault (RuntimeError in test_behaviour.py, line" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "a bug" not in result.stderr, "a message may quote confidential input"


def test_what_a_plugin_raises_is_no_fault_of_our_own(monkeypatch, response, tmp_path):
    """An invariant that raised, or an attacker, was called a fault of dpspec, wherever nothing expected it to."""
    import importlib
    from importlib.metadata import EntryPoint

    from click.testing import CliRunner

    (tmp_path / "strangers.py").write_text("def broken(*_, **__):\n    return int('cell 4711')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint(name="stranger", value="strangers", group="dpspec")
    monkeypatch.setattr("dpspec.extension.packages.entry_points", lambda group: [point])
    monkeypatch.setattr("dpspec.verifier.document.verify_document", importlib.import_module("strangers").broken)
    result = CliRunner().invoke(main, ["verify", str(response())])
    assert result.exit_code == 4
    blamed = "plugin stranger: raised ValueError (strangers.py, line 2): report it to its author, with the command\n"
    assert result.stderr == blamed


def test_an_interruption_is_130(monkeypatch, run, response):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpspec.verifier.document.verify_document", interrupted)
    ran = run("verify", response())
    assert ran.code == 130
    assert ran.err == "interrupted\n"


@pytest.mark.slow
def test_a_closed_pipe_is_quiet():
    command = f'"{sys.executable}" -m dpspec verify specs | head -n 1; echo "code ${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] in ("code 141", "code 0")
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize("width", ["20", "60", "500"])
def test_width_is_kept_in_bounds(run, response, width):
    ran = run("verify", response(epsilon="1"), COLUMNS=width)
    assert 0 < max(map(len, ran.out.splitlines()[1:])) <= 120


def test_no_colour_without_a_terminal(run, response):
    assert "\x1b" not in run("verify", response(), FORCE_COLOR="").out
