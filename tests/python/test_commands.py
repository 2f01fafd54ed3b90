"""Every command has its function, and every function its command; the answers are what the command prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import dpspec as dp
from dpspec.cli import main
from dpspec.constructors import names

SPECS = Path(__file__).parents[2] / "specs"
RESPONSE = SPECS / "randomised-response.dpspec.toml"
RULES = SPECS / "rules" / "redact-5-round-5.rules.toml"

WITHOUT_A_COMMAND = {
    "build": "a specification from the tables of a file, given in Python",
    "read": "what `check` reads, as an object",
    "read_table": "what `release` and `exposure` read, as an object",
    "spec": "five blocks put together in Python",
    "order": "`compare` of more than two files",
    "replay": "`verify --replay`",
    "yardsticks": "`compare --yardstick`",
    "installed": "what `plugins` lists, as an object",
    "load_plugins": "plugins for tests",
    "ln": "a number", "number": "a number", "sqrt": "a number",
}  # fmt: skip


RENAMED = {"report": "write_report"}
"""Commands whose own name is that of a package."""


def commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        path = (*before, name)
        if isinstance(command, click.Group):
            yield from commands(command, path)
        else:
            yield "_".join(path).replace("-", "_")


def functions() -> set[str]:
    return {name for name in dp.__all__ if callable(getattr(dp, name)) and not isinstance(getattr(dp, name), type)}


def test_every_command_has_its_function_and_back() -> None:
    called = {RENAMED.get(name, name) for name in commands(main)}
    assert functions() - called == set(WITHOUT_A_COMMAND)
    assert called <= functions()


def test_no_function_has_the_name_of_a_constructor() -> None:
    assert not functions() & set(names())


CALLS = [
    (["check", RESPONSE], lambda _: dp.check(RESPONSE)),
    (["explain", "hamming"], lambda _: dp.explain("hamming")),
    (["explain", "unknown-key"], lambda _: dp.explain("unknown-key")),
    (["explain", RESPONSE], lambda _: dp.explain(str(RESPONSE))),
    (["explain", RESPONSE, "--audience", "public"], lambda _: dp.explain(str(RESPONSE), audience="public")),
    (["plugins"], lambda _: dp.plugins()),
    (["examples"], lambda _: dp.examples()),
    (["synth"], lambda _: dp.synth()),
    (["label", RESPONSE], lambda _: dp.label(RESPONSE)),
    (["recommend", "fixed-q", "posterior=1/4", "ratio=3"], lambda _: dp.recommend("fixed-q", posterior="1/4", ratio=3)),
    (["rules", "show", RULES], lambda _: dp.rules_show(RULES)),
    (["catalogue", RESPONSE], lambda _: dp.catalogue(RESPONSE)),
]


@pytest.mark.parametrize(("arguments", "call"), CALLS)
def test_the_answer_is_what_the_command_prints(arguments, call, run, tmp_path) -> None:
    answer = call(tmp_path)
    ran = run(*arguments)
    assert ran.out.rstrip("\n") == str(answer).rstrip("\n")
    assert ran.code == answer.exit_code
    assert json.loads(run(*arguments, "--format", "json").out) == answer.to_dict()
    assert answer.to_markdown().startswith("```text\n") is isinstance(answer.words(), str)
    assert "<" in answer._repr_html_()


def test_answers_are_mappings_of_their_data() -> None:
    found = dp.explain("hamming")
    assert found["meanings"][0]["name"] == "hamming"
    assert set(found) == {"meanings"}
    assert found.to_dict()["command"] == "explain"


def test_what_is_written_is_told(tmp_path, run) -> None:
    assert [path.name for path in dp.new_spec("mine", tmp_path).value["written"]] == ["mine.dpspec.toml"]
    assert dp.check(tmp_path / "mine.dpspec.toml").exit_code == 0
    assert dp.evidence(RESPONSE, tmp_path / "evidence", progress=None).exit_code in (0, 7)
    assert (tmp_path / "evidence" / "SHA256SUMS").is_file()
    assert dp.examples(directory=tmp_path / "specs")["written"]
    with pytest.raises(dp.DpspecError, match="exists"):
        dp.new_spec("mine", tmp_path)
    assert run("new", "spec", "mine", "--dir", tmp_path).code == 2


def test_a_witness_is_replayed_as_the_command_does(tmp_path, run) -> None:
    wrong = tmp_path / "wrong.dpspec.toml"
    wrong.write_text(RESPONSE.read_text(encoding="utf-8").replace('epsilon = "ln(3)"', "epsilon = 1"), encoding="utf-8")
    assert run("verify", wrong, "--witnesses", tmp_path / "found").code == 1
    path = min((tmp_path / "found").iterdir())
    found = dp.replay(path)
    ran = run("verify", "--replay", path)
    assert (ran.out.rstrip("\n"), ran.code) == (str(found), 1)
    assert json.loads(run("verify", "--replay", path, "--format", "json").out) == found.to_dict()
    assert found.is_unchanged
    assert "still refuted" in found._repr_html_()
    mended = dp.replay(path, dp.randomised_response(keep_probability="2/3"))
    assert mended.outcome is dp.Outcome.VERIFIED
    assert "no longer refutes the claim" in str(mended)
    assert dp.replay(path, against=RESPONSE).outcome is dp.Outcome.VERIFIED
    with pytest.raises(dp.DpspecError, match="is not JSON"):
        dp.replay(RESPONSE)


def test_a_file_is_looked_at_once_and_may_be_a_path() -> None:
    assert [file["outcome"] for file in dp.check(RESPONSE, str(RESPONSE))["files"]] == ["valid"]
    assert str(dp.explain(RESPONSE)) == str(dp.explain(str(RESPONSE)))


def test_files_with_faults_are_told_all_together(tmp_path) -> None:
    bad = tmp_path / "bad.dpspec.toml"
    bad.write_text("schema = 1\n", encoding="utf-8")
    found = dp.check(RESPONSE, bad, tmp_path / "absent.dpspec.toml")
    assert [file["outcome"] for file in found["files"]] == ["valid", "invalid", "invalid"]
    assert found.exit_code == 2
    assert "is missing" in str(found)


def test_questions_that_do_not_go_together() -> None:
    for call, says in (
        (lambda: dp.catalogue(order=True, ledger=True), "ask one"),
        (lambda: dp.catalogue(delta="1e-6"), "belongs to `yardstick`"),
        (lambda: dp.explain("hamming", audience="public"), "neither a file nor the folder of a release"),
        (lambda: dp.synth("massachusetts-1940"), "name the file"),
        (lambda: dp.schema("specs"), "neither spec nor output"),
        (lambda: dp.rules_compare(RULES, RULES, total=3), "all counts"),
        (lambda: dp.compose(RESPONSE, times=[1, 2], delta="1e-6"), "one for each release"),
        (dp.ledger, "part"),
        (dp.check, "are none"),
        (lambda: dp.explain("zzzzzz"), "nothing registered"),
    ):
        with pytest.raises(dp.DpspecError) as caught:
            call()
        assert says in str(caught.value)


def test_a_specification_in_python_is_explained_as_its_file() -> None:
    """Its text was taken for a name, and for a path that is too long."""
    spec = dp.read(RESPONSE).spec
    found, of_file = str(dp.explain(spec)), str(dp.explain(RESPONSE))
    part = of_file.index("dataset space"), of_file.index("mechanism")
    assert of_file[slice(*part)] in found
    assert str(dp.explain(spec, audience="public")) != found


@pytest.mark.parametrize("text", ["a" * 300, "a\0b", "", "a/" * 3_000])
def test_a_text_that_can_be_no_path_is_a_name_that_is_unknown(text: str) -> None:
    with pytest.raises(dp.DpspecError, match="is nothing registered"):
        dp.explain(text)


@pytest.mark.parametrize("command", [dp.check, dp.lint])
def test_what_reads_files_says_so(command) -> None:
    with pytest.raises(dp.DpspecError, match="this reads files"):
        command(dp.read(RESPONSE).spec)
