"""`[tool.dpspec]` in pyproject.toml, `--cap`, `--traceback`, and events for `logging`."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from click.testing import CliRunner

from dpspec import read, verify
from dpspec.base import log as events
from dpspec.cli import main
from dpspec.cli.settings import project_settings


@pytest.fixture
def project(tmp_path, monkeypatch, specs):
    """A project with one specification, in whose folder `below` the commands are run."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "specs" / "response.dpspec.toml").write_bytes((specs / "randomised-response.dpspec.toml").read_bytes())
    monkeypatch.chdir(tmp_path / "below")

    def write(table):
        (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "survey"\n{table}', encoding="utf-8")

    return write


def test_the_files_of_a_project_are_checked_where_none_is_named(run, project):
    project('[tool.dpspec]\npaths = ["specs"]\n')
    for command in ("check", "verify"):
        ran = run(command)
        assert ran.code == 0
        assert "../specs/response.dpspec.toml" in ran.out
    named = run("check", "missing.dpspec.toml")
    assert named.code == 2
    assert "response" not in named.out, "what the command line says goes first"


def test_the_format_of_a_project(run, project):
    project('[tool.dpspec]\nformat = "json"\npaths = ["specs"]\n')
    assert json.loads(run("verify").out)["command"] == "verify"
    assert json.loads(run("explain", "zCDP").out)["command"] == "explain"
    assert not run("explain", "zCDP", "--format", "text").out.startswith("{")
    project('[tool.dpspec]\nformat = "sarif"\n')
    assert not run("explain", "zCDP").out.startswith("{"), "a command without this format prints text"


def test_the_jobs_and_the_cap_of_a_project(run, project, monkeypatch):
    project('[tool.dpspec]\njobs = 1\ncap = "1"\npaths = ["specs"]\n')
    assert run("verify").code == 0
    spent = run("ledger", "../specs")
    assert spent.code == 1
    assert "epsilon = ln(3) (about 1.09861) is above the cap of 1" in spent.out
    assert run("ledger", "../specs", "--cap", "2").code == 0
    data = run("ledger", "../specs", "--format", "json").json("ledger")
    assert data["cap"] == {"value": "1", "above": True}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[tool.dpspec]\nformt = "json"', "did you mean format?"), ("[tool.dpspec]\njobs = 0", "whole number from 1 on"),
        ("[tool.dpspec]\njobs = true", "whole number from 1 on"), ('[tool.dpspec]\npaths = "specs"', 'write paths = ["specs"]'),
        ("[tool.dpspec]\npaths = []", "must be a list"), ('[tool.dpspec]\nformat = "jsn"', "did you mean json?"),
        ('[tool.dpspec]\ncap = "-1"', "must not be negative"), ("[tool.dpspec]\ncap = true", "must be a number"),
        ("[tool]\ndpspec = 3", "must be a table"), ("[tool.dpspec", "is no TOML"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_with_what_to_write(run, project, table, said):
    project(table)
    refused = run("verify", "../specs")
    assert refused.code == 2
    assert said in refused.err
    assert refused.err.startswith("pyproject.toml")
    assert run("--help").code == 0
    assert run("verify", "--help").code == 0


def test_the_nearest_file_with_the_table_counts(project, tmp_path):
    project("[tool.dpspec]\njobs = 3\n")
    (tmp_path / "below" / "pyproject.toml").write_text('[project]\nname = "of another"\n', encoding="utf-8")
    assert project_settings() == {"jobs": 3}
    (tmp_path / "below" / "pyproject.toml").write_text("[tool.dpspec]\n", encoding="utf-8")
    assert project_settings() == {}


# --- tracebacks -----------------------------------------------------------------------------------


def leaves(group, words=()):
    for name, command in group.every_command().items() if hasattr(group, "every_command") else group.commands.items():
        inner = hasattr(command, "commands")
        yield from leaves(command, (*words, name)) if inner else [(*words, name)]


@pytest.mark.parametrize("words", sorted(leaves(main)), ids=" ".join)
def test_every_command_shows_tracebacks_where_wanted(run, words):
    if words in {("lsp",), ("language-server",)}:
        pytest.skip("a server writes for an editor")
    assert "--traceback" in run(*words, "--help").out


def test_a_traceback_is_shown_where_it_is_wanted_only(run):
    plain = run("explain", "no-such-name")  # which refuses a traceback
    traced = CliRunner().invoke(main, ["explain", "no-such-name", "--traceback"])
    assert plain.code == traced.exit_code == 2
    assert "Traceback (most recent call last)" in traced.stderr
    assert traced.stderr.endswith(plain.err)


def test_the_place_of_an_error_in_a_plugin_is_its_own_line():
    from dpspec.base.errors import raised_at

    def broken():
        return {}["key"]

    with pytest.raises(KeyError) as caught:
        broken()
    assert raised_at(caught.value) == f"test_settings.py:{broken.__code__.co_firstlineno + 1}"
    with pytest.raises(SyntaxError) as unclosed:
        compile("x = (", "made_up.py", "exec")
    assert raised_at(unclosed.value) == "made_up.py:1"
    assert raised_at(ValueError("never raised")) == "no place is known"


# --- logging --------------------------------------------------------------------------------------


def test_events_are_logged(specs, caplog):
    with caplog.at_level(logging.DEBUG, logger="dpspec"):
        verify(read(specs / "randomised-response.dpspec.toml"))
    assert ("dpspec.verify", logging.INFO, "randomised-response: holds") in caplog.record_tuples
    assert any(name == "dpspec.files" and "randomised-response.dpspec.toml" in text for name, _, text in caplog.record_tuples)


def test_nothing_is_imported_to_log(monkeypatch):
    monkeypatch.delitem(sys.modules, "logging")
    events.log("verify", "INFO", "%s", "nobody listens")
    assert "logging" not in sys.modules
