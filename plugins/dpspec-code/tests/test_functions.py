"""Plain functions on the command line: right, wrong and bad ones; witness files and their replay."""

from __future__ import annotations

import json
import sys
import textwrap
from importlib.util import find_spec

import pytest

FUNCTIONS = """
    import time
    import numpy as np

    calls = 0

    def right(bits, generator):
        return [bit ^ int(generator.random() < 0.25) for bit in bits]

    def wrong(bits, generator):
        return [bit ^ int(generator.random() < 0.125) for bit in bits]

    def noisy(bits, generator):
        return sum(bits) + generator.laplace(0, 0.25)

    def mended(bits, generator):
        return sum(bits) + 2 * generator.standard_t(3)

    def crowded(bits, generator, more):
        return bits

    def raises(bits, generator):
        raise ValueError("always")

    def sometimes(bits, generator):
        if bits[0] and generator.random() < 0.5:
            raise ValueError("sometimes")
        return 0

    def exits(bits, generator):
        raise SystemExit(0)

    def hangs(bits, generator):
        while True:
            pass

    def mutates(bits, generator):
        for place in range(len(bits)):
            bits[place] ^= int(generator.random() < 0.4)
        return list(bits)

    def ignores(bits, generator):
        return 1

    def reveals(bits, generator):
        return sum(bits)

    def nan(bits, generator):
        return float("nan")

    def arrays(bits, generator):
        return np.array(bits) ^ (generator.random(len(bits)) < 0.25)

    def tables(bits, generator):
        return {"answer": [bit ^ int(generator.random() < 0.25) for bit in bits]}

    def objects(bits, generator):
        return object() if generator.random() < 0.5 else None

    def types(bits, generator):
        return [1, "1", None, (1,)][sum(bits) + int(generator.random() < 0.5)]

    def state(bits, generator):
        global calls
        calls += 1
        return calls % 2

    def elsewhere(bits, generator):
        return int(np.random.default_rng().integers(2))

    number = 7
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A module of plain functions in the current directory."""
    (tmp_path / "made.py").write_text(textwrap.dedent(FUNCTIONS), encoding="utf-8")
    (tmp_path / "broken.py").write_text("import nothing_of_the_kind\n", encoding="utf-8")
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in ("made", "broken", "leaves"):
        sys.modules.pop(name, None)


@pytest.fixture
def judge(run, response, functions):
    """Runs `verify FILE --function made:NAME --format json`; returns the exit code and the verdict."""

    def call(name, *options, **claim):
        ran = run("verify", response(**claim), "--function", f"made:{name}", *options, "--format", "json")
        (file,) = ran.json("verify")["files"]
        (obligation,) = file["obligations"]
        return ran.code, obligation["verdict"]

    return call


# --- judging -------------------------------------------------------------------------------------


def test_a_function_is_judged_instead_of_the_mechanism(judge):
    assert judge("right")[0] == 0
    code, verdict = judge("wrong")
    assert code == 1
    assert verdict["method"] == "exhaustive"
    assert verdict["constant"] == {"lower": "ln(7)", "upper": "ln(7)"}


def test_the_command_of_a_refutation_gives_it_again(run, response, functions):
    options = "--function", "made:noisy", "--seed", "5", "--error", "1e-6", "--draws", "5000"
    first = run("verify", response(), *options)
    assert first.code == 1
    assert "note     both intervals" in first.out
    (command,) = [line.removeprefix("  replay: ") for line in first.out.splitlines() if line.startswith("  replay: ")]
    assert command.endswith("--function made:noisy --seed 5 --error 1/1000000 --draws 5000")
    assert run(*command.split()[1:]).out == first.out


def test_a_function_that_is_not_refuted_is_undecided_with_the_power_of_the_search(judge):
    code, verdict = judge("mended", "--draws", "5000", "--seconds", "600")
    assert code == 3
    assert "would have been found with 99 % power" in verdict["reason"]
    assert "nor was it verified: made.py:17: rng.standard_t" in verdict["reason"]


def test_bits_are_looked_at_when_asked(judge):
    code, verdict = judge("noisy", "--bits", "--draws", "10000", epsilon="4")
    assert verdict["outcome"] in ("refuted", "undecided")
    assert code in (1, 3)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("made", "must be written module:name"),
        ("made:rihgt", "did you mean right?"),
        ("maid:right", "there is no module maid"),
        ("made.py:right", "name the module, not its file: made:right, in the folder of made.py"),
        ("code/made.py:right", "name the module, not its file: made:right, in the folder of made.py"),
        ("made.more:right", "made"),
        ("broken:right", "cannot be imported: ModuleNotFoundError"),
        ("leaves:right", "cannot be imported: SystemExit"),
        ("made:crowded", "cannot be called with a dataset and a generator, nor with a dataset alone"),
        ("made:number", "is no function"),
    ],
)
def test_what_is_no_function_is_an_error_that_teaches(run, response, functions, path, words):
    ran = run("verify", response(), "--function", path, "--format", "json")
    (error,) = ran.json("failure")["errors"]
    assert ran.code == 2
    assert error["code"] == "function"
    assert words in error["message"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--dataset", "panda"], "unknown-name", "adapter=panda: is not registered: did you mean pandas?"),
        (["--generator", "randon"], "unknown-name", "generator=randon: is not registered: did you mean random?"),
        (["--dataset", "pandas-series"], "adapter", "adapter=pandas-series: needs pandas"),
    ],
)
def test_what_a_function_cannot_be_handed_is_told(run, response, functions, options, code, words):
    if code == "adapter" and find_spec("pandas") is not None:
        pytest.skip("pandas is installed")
    ran = run("verify", response(), "--function", "made:right", *options, "--format", "json")
    assert ran.code == 2
    assert json.dumps(code) in ran.out
    assert words in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["FILE", "--seed", "1"], "--seed belongs to --function"),
        (["FILE", "--bits"], "--bits belongs to --function"),
        (["FILE", "FILE", "--function", "made:right"], "one FILE"),
        ([".", "--function", "made:right"], "one FILE"),
        (["FILE", "--replay", "x.json"], "--replay FILE takes no other options"),
        (["--replay", "x.json", "--seed", "1"], "--replay FILE takes no other options"),
        (["FILE", "--function", "made:right", "--error", "2"], "error=2: must be a rational in (0, 1)"),
        (["FILE", "--function", "made:right", "--seconds", "nan"], "seconds=nan"),
        (["FILE", "--function", "made:right", "--draws", "0"], "--draws"),
    ],
)
def test_what_does_not_go_together_is_refused(run, response, functions, arguments, words):
    ran = run("verify", *[response() if word == "FILE" else word for word in arguments])
    assert ran.code == 2
    assert words in ran.err


# --- bad mechanisms ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "noticed", "reason"),
    [
        ("ignores", "deterministic", "never seen to draw"),
        pytest.param("nan", "deterministic", "never seen to draw", marks=pytest.mark.slow),
        ("state", None, "assigns the global name calls"),
        ("elsewhere", "hidden-state", "the same seed gave two outputs"),
        ("objects", None, "is no plain value"),
    ],
)
def test_a_bad_mechanism_is_never_a_pass(judge, name, noticed, reason):
    code, verdict = judge(name, "--draws", "1000")
    assert (code, verdict["outcome"]) == (3, "undecided")
    assert reason in verdict["reason"]
    if noticed is not None:
        assert noticed in [finding["code"] for finding in verdict["findings"]]


def test_work_on_the_list_that_it_is_given_is_noticed_and_no_leak(judge):
    code, verdict = judge("mutates", "--draws", "3000")
    assert (code, verdict["outcome"]) == (0, "verified")
    assert "mutates-dataset" in [finding["code"] for finding in verdict["findings"]]


@pytest.mark.parametrize(("name", "what"), [("raises", "ValueError: always"), ("exits", "SystemExit: 0")])
def test_what_raises_on_every_dataset_is_bad_input(run, response, functions, name, what):
    ran = run("verify", response(), "--function", f"made:{name}")
    said = " ".join(f"{ran.out} {ran.err}".split())
    assert ran.code == 2
    assert f"function={name}: raised in all of 64 calls on 4 datasets: {what}" in said
    assert "a dataset is a list of int such as [0, 0]" in said


def test_what_was_noticed_is_in_the_text(run, response, functions):
    ran = run("verify", response(), "--function", "made:ignores", "--draws", "3000")
    assert "noticed  deterministic: the generator was left untouched" in ran.out


@pytest.mark.long
def test_a_mechanism_that_hangs_is_cut(judge, monkeypatch):
    monkeypatch.setattr("dpspec_code.automatic.sampler.LIMIT", 0.05)
    monkeypatch.setattr("dpspec_code.sampled.calls.MOST_ENDLESS", 4)
    code, verdict = judge("hangs", "--draws", "3000")
    assert code == 3
    assert "did not end" in verdict["reason"]
    assert [finding["code"] for finding in verdict["findings"]] == ["does-not-end"]


@pytest.mark.parametrize("name", ["sometimes", "reveals", "types"])
def test_outputs_of_every_kind_can_refute(judge, name):
    code, verdict = judge(name)
    assert code == 1
    assert verdict["witness"]["event"]["text"].startswith("the outcome")


@pytest.mark.parametrize("name", ["arrays", "tables"])
def test_arrays_and_tables_are_outcomes(judge, name):
    assert judge(name)[0] == 0


def test_nothing_to_compare_is_no_pass(run, response, functions):
    extra = '[multiverse]\ninvariants = [{ type = "linear-map", rows = [[1, 0], [0, 1]], label = "all" }]\n'
    for options in ((), ("--function", "made:right"), ("--function", "made:mended")):
        ran = run("verify", response(extra=extra), *options)
        assert ran.code == 3
        assert "nothing to compare" in ran.out


# --- witness files -------------------------------------------------------------------------------


def replay_command(out):
    """The arguments of the line that replays the witness."""
    (command,) = [line.removeprefix("  replay: ") for line in out.splitlines() if line.startswith("  replay: ")]
    return command.split()[1:]


def test_a_witness_is_written_and_replayed(run, response, tmp_path):
    ran = run("verify", response(epsilon="1"), "--witnesses", tmp_path / "found")
    command = replay_command(ran.out)
    (file,) = (tmp_path / "found").iterdir()
    assert command == ["verify", "--replay", str(file)]
    again = run(*command)
    assert again.code == 1
    assert again.out.startswith(f"{file}: still refuted\n  refuted, as recorded\n")
    data = run(*command, "--format", "json").json("replay")
    assert data["unchanged"]
    assert data["verdict"]["witness"] == data["recorded"]


def test_a_mended_claim_is_no_longer_refuted(run, response, tmp_path):
    run("verify", response(epsilon="1"), "--witnesses", tmp_path / "found")
    (file,) = (tmp_path / "found").iterdir()
    content = json.loads(file.read_text(encoding="utf-8"))
    content["specification"] = content["specification"].replace('epsilon = "1"', 'epsilon = "ln(3)"')
    file.write_text(json.dumps(content), encoding="utf-8")
    ran = run("verify", "--replay", file)
    assert ran.code == 0
    assert ran.out.startswith(f"{file}: no longer refuted\n")


def test_a_right_claim_leaves_no_witness(run, response, tmp_path):
    ran = run("verify", response(), "--witnesses", tmp_path / "found", "--format", "json")
    assert ran.json("verify")["files"][0]["obligations"][0]["replay"] is None
    assert not (tmp_path / "found").exists()


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize(("name", "method"), [("wrong", "exhaustive"), ("noisy", "sampled")])
def test_a_witness_about_a_function_is_replayed_on_fresh_draws(run, response, functions, name, method):
    ran = run("verify", response(), "--function", f"made:{name}", "--draws", "50000", "--witnesses", "found")
    command = replay_command(ran.out)
    assert command[-2:] == ["--function", f"made:{name}"]
    again = run(*command, "--format", "json").json("replay")
    assert (again["exit_code"], again["verdict"]["method"]) == (1, method)
    assert run(*command[:-1], "made:right").code == 0
    assert run(*command[:-1], "made:mended").code == 3


def test_a_witness_file_never_imports_code(run, response, functions):
    ran = run("verify", response(), "--function", "made:wrong", "--witnesses", "found")
    assert "made" not in sys.modules  # it is imported in a sandbox
    refused = run(*replay_command(ran.out)[:-2])
    assert refused.code == 2
    assert "give --function made:wrong" in refused.err
    assert "made" not in sys.modules


def test_a_directory_that_cannot_be_written_is_an_error(run, response, tmp_path):
    (tmp_path / "found").write_text("a file", encoding="utf-8")
    ran = run("verify", response(epsilon="1"), "--witnesses", tmp_path / "found")
    assert ran.code == 2
    assert "cannot be written" in ran.err


def test_a_long_path_is_not_broken(run, response, tmp_path):
    deep = tmp_path / ("long-" * 30)
    deep.mkdir()
    path = response(epsilon="1").rename(deep / "response.dpspec.toml")
    out = run("verify", path, "--witnesses", deep / "found").out.splitlines()
    assert out[0] == f"{path}: refuted"
    assert out[-1].startswith(f"  replay: dpspec verify --replay {deep}")
