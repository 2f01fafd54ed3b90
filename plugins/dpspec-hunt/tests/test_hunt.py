"""Verdicts, answers, folders and exit codes of a hunt."""

import json
import subprocess
import sys
import tomllib

import attrs
import pytest
from click.testing import CliRunner
from dpspec_hunt import checks, hunt as hunting, jail
from dpspec_hunt.checks import specification
from dpspec_hunt.hunt import hunt
from dpspec_hunt.results import Checked, Outcome

from dpspec.cli import main
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import ReleaseError

needs_jail = pytest.mark.skipif(bool(jail.reason_for_none()), reason=f"no jail here: {jail.reason_for_none()}")

# A function that keeps its claim, and one mistake in it.
PAIRS = {
    "count": ("""
def count(records, epsilon, rng):
    \"\"\"epsilon-DP when one record is added or removed.\"\"\"
    return len(records) + rng.laplace(0, 1 / epsilon)
""", "1 / epsilon", "0.5 / epsilon"),
    "total": ("""
def total(records, epsilon, rng):
    return sum(min(max(v, 0), 2) for v in records) + rng.laplace(0, 2 / epsilon)
""", "2 / epsilon", "1 / epsilon"),
    "unclipped": ("""
import numpy as np
def unclipped(data, epsilon, rng):
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 1 / epsilon)
""", "np.clip(data, 0, 1).sum() +", "np.clip(data, 0, 1).sum() + np.sum(data) +"),
    "histogram": ("""
def noisy(histogram, epsilon, rng):
    return [c + rng.laplace(0, 1 / epsilon) for c in histogram]
""", "1 / epsilon) for c in histogram]", "1 / epsilon) if c else 0 for c in histogram]"),
    "stated": ("""
def stated(count, epsilon, rng):
    \"\"\"(epsilon/2)-DP.\"\"\"
    return count + rng.laplace(0, 2 / epsilon)
""", "2 / epsilon", "1 / epsilon"),
    "doubled": ("""
def doubled(count, epsilon, rng):
    \"\"\"2*epsilon-DP.\"\"\"
    return count + rng.laplace(0, 1 / (2 * epsilon))
""", "(2 * epsilon)", "(4 * epsilon)"),
    "response": ("""
def response(bits, rng):
    \"\"\"ln(3)-DP.\"\"\"
    return [b ^ int(rng.random() < 0.25) for b in bits]
""", "0.25", "0.2"),
    "method": ("""
class Mechanism:
    def __init__(self, epsilon, sensitivity=1):
        self.scale = sensitivity / epsilon
    def release(self, value: float, rng):
        return value + rng.laplace(0, self.scale)
""", "sensitivity / epsilon", "sensitivity / epsilon / 2"),
    "sensitivity": ("""
def answer(value, epsilon, rng, sensitivity=3):
    return value + rng.laplace(0, sensitivity / epsilon)
""", "sensitivity / epsilon", "1 / epsilon"),
    "gaussian": ("""
def gaussian(count, epsilon=1, delta=1e-5, rng=None):
    return count + rng.normal(0, 4)
""", "0, 4", "0, 1"),
}  # fmt: skip


@pytest.fixture
def repository(tmp_path):
    def make(**texts):
        folder = tmp_path / "repository"
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text)
        return folder

    return make


@needs_jail
@pytest.mark.spread(1, slow=1)
@pytest.mark.parametrize("name", PAIRS)
def test_a_right_function_is_verified_and_one_mistake_refutes_it(repository, tmp_path, name):
    """The written tests pass and fail as the verdicts say."""
    right, *change = PAIRS[name]
    wrong = right.replace(*change)
    assert wrong != right
    target, out = repository(right=right, wrong=wrong), tmp_path / "found"
    answer = hunt(target, yes=True, seconds=60, out=out)
    assert [(one.plan.drawing.module.name, one.outcome) for one in answer.value.functions] == [
        ("right", "verified"), ("wrong", "refuted"),
    ]  # fmt: skip
    assert answer.exit_code == 1
    assert sorted(path.name for path in out.iterdir()) == ["answers.toml", "report.md", "specifications", "tests"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(out / "tests"), "-q", "-p", "no:cacheprovider", "--no-header", "-rA"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    ended = {word: line for line in done.stdout.splitlines() if (word := line.partition(" ")[0]) in {"PASSED", "FAILED"}}
    assert set(ended) == {"PASSED", "FAILED"}, done.stdout[-3000:]
    assert "test_right_" in ended["PASSED"]
    assert "test_wrong_" in ended["FAILED"]


COUNT = """
def count(records, epsilon, rng):
    \"\"\"epsilon-DP when one record is added or removed; records are clipped.\"\"\"
    return sum(min(max(r, 0), 2) for r in records) + rng.laplace(0, 2 / epsilon)
"""
PLAIN = "\ndef plain(data, rng):\n    return sum(data) + rng.laplace(0, 1)\n"
ASKS = "\ndef asks(count, epsilon, rng):\n    return count + rng.laplace(0, 1 / epsilon)\n"


@pytest.fixture(scope="module")
def results():
    """The results of checks, by the text of the module, the call, the claim and the limits."""
    return {}


@pytest.fixture
def checked_once(monkeypatch, results):
    """A function that was checked is not checked again: for tests of what is made of the results."""

    def check(made, seconds, *, jailed):
        asked = made.drawing.module.text, made.call, specification(made), seconds, jailed
        if asked not in results:
            results[asked] = checks.check(made, seconds, jailed=jailed)
        return attrs.evolve(results[asked], plan=made)

    monkeypatch.setattr(hunting, "check", check)


@needs_jail
@pytest.mark.usefixtures("checked_once")
def test_exit_codes(repository):
    """0 all verified, 1 one refuted, 3 one to be confirmed, 5 nothing was checked."""
    target = repository(m=COUNT, n=PLAIN)
    assert hunt(target).exit_code == 0
    repository(m=COUNT.replace("2 / epsilon", "1 / epsilon"), n=ASKS)
    assert hunt(target).exit_code == 1
    repository(m=COUNT, n=ASKS)
    assert hunt(target).exit_code == 3
    repository(m=PLAIN, n="x = 1\n")
    assert hunt(target).exit_code == 5
    repository(m="x = 1\n")
    assert hunt(target).exit_code == 5


@pytest.mark.slow
@needs_jail
@pytest.mark.usefixtures("checked_once")
def test_answers(repository, tmp_path):
    """The file that a hunt writes is TOML; what is said in it is taken, and marked as said."""
    target = repository(m=ASKS + PLAIN)
    first = hunt(target, out=tmp_path / "found")
    assert [(one.plan.drawing.name, one.outcome) for one in first.value.functions] == [("asks", "asked"), ("plain", "unchecked")]
    written = (tmp_path / "found" / "answers.toml").read_text()
    assert tomllib.loads(written) == {"m:asks": {}}
    confirmed = "\n".join(line.removeprefix("# ") if " = " in line else line for line in written.splitlines())
    (tmp_path / "answers.toml").write_text(confirmed)
    assert tomllib.loads(confirmed) == {"m:asks": {"neighbours": "add-remove", "distance": 1}}
    second = hunt(target, answers=tmp_path / "answers.toml")
    assert [one.outcome for one in second.value.functions] == ["verified", "unchecked"]
    assert not second.value.functions[0].plan.guesses
    said = {
        "m:asks": {"epsilon": "1/2", "neighbours": "add-remove", "distance": 1},
        "m:plain": {"epsilon": 1, "data": "data", "values": [0, 1]},
    }
    third = hunt(target, answers=said, yes=True)
    assert [one.outcome for one in third.value.functions] == ["verified", "verified"]
    assert third.value.functions[0].plan.call == "asks(count=x[0], epsilon=0.5, rng=rng)"
    skipped = hunt(target, answers={"m:asks": {"skip": True}}, yes=True)
    assert [one.outcome for one in skipped.value.functions] == ["unchecked", "unchecked"]
    assert skipped.exit_code == 5


def test_guesses_are_marked_and_asked(repository, monkeypatch):
    monkeypatch.setattr(hunting, "check", lambda made, *_, **__: Checked(plan=made, outcome=Outcome.UNDECIDED, reason="not run"))
    monkeypatch.setattr(hunting.jail, "reason_for_none", lambda: "")
    target = repository(m=ASKS)
    answer = hunt(target, yes=True)
    assert "guess: neighbours = add-remove" in answer.words()
    assert [fact["guess"] for fact in answer["functions"][0]["facts"] if fact["about"] == "neighbours"] == [True]
    assert answer["guesses_accepted"] is True
    asked = []

    def ask(made):
        asked.append([guess.subject for guess in made.guesses])
        return {"neighbours": "replace-one"}

    answer = hunt(target, ask=ask)
    assert asked == [["neighbours", "distance"]]
    assert [fact["value"] for fact in answer["functions"][0]["facts"] if fact["about"] == "neighbours"] == ["replace-one"]
    assert [one.outcome for one in hunt(target, ask=lambda made: None).value.functions] == ["asked"]


def run(*arguments):
    return CliRunner().invoke(main, ["hunt", *map(str, arguments)])


@pytest.mark.parametrize(("arguments", "message"), [
    (["nowhere"], "is neither a file, nor a folder, nor an installed package"),
    (["HERE", "--out", "HERE"], "exists already"),
    (["HERE", "--answers", "HERE/m.py"], "is no TOML"),
    (["HERE", "--answers", "HERE/none.toml"], "cannot be read (No such file or directory)"),
    (["HERE", "--answers", "HERE/unknown.toml"], "names no function that draws"),
    (["HERE", "--answers", "HERE/key.toml"], "epsilom is no answer"),
    (["HERE", "--answers", "HERE/table.toml"], "is no table"),
    (["HERE", "--answers", "HERE/bytes.toml"], "is no TOML"),
    (["HERE", "--seconds", "0"], "is not above 0"),
    (["HERE", "--seconds", "nan"], "is not above 0"),
    (["HERE", "--seconds", "-1"], "is not above 0"),
])  # fmt: skip
def test_bad_input_is_one_line(repository, monkeypatch, arguments, message):
    monkeypatch.setattr(checks, "_run", lambda *_, **__: pytest.fail("it was run"))
    folder = repository(m=ASKS)
    (folder / "unknown.toml").write_text('["m:other"]\nepsilon = 1\n')
    (folder / "key.toml").write_text('["m:asks"]\nepsilom = 1\n')
    (folder / "table.toml").write_text('"m:asks" = 3\n')
    (folder / "bytes.toml").write_bytes(b"\xff\xfe")
    done = run(*(argument.replace("HERE", str(folder)) for argument in arguments))
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["bytes.toml", "key.toml", "m.py", "table.toml", "unknown.toml"]


def test_in_python_bad_input_raises(repository, tmp_path):
    with pytest.raises(ParameterError, match="answers"):
        hunt(repository(m=ASKS), answers={"m:asks": {"standard": "strong"}})
    with pytest.raises(ReleaseError, match="exists already"):
        hunt(repository(m=ASKS), out=tmp_path)


def test_the_folder_appears_whole_or_not_at_all(repository, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(hunting, "check", fails)
    monkeypatch.setattr(hunting.jail, "reason_for_none", lambda: "")
    with pytest.raises(KeyboardInterrupt):
        hunt(repository(m=ASKS), yes=True, out=tmp_path / "found")
    assert not (tmp_path / "found").exists()


def test_files_of_functions_with_like_names_do_not_collide(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(hunting, "check", lambda made, *_, **__: Checked(plan=made, outcome=Outcome.UNDECIDED, reason="not run"))
    monkeypatch.setattr(hunting.jail, "reason_for_none", lambda: "")
    target = repository(a_b=ASKS.replace("asks", "c"), a=ASKS.replace("asks", "b_c"), A=ASKS.replace("asks", "B_c"))
    hunt(target, yes=True, out=tmp_path / "found")
    assert len(list((tmp_path / "found" / "specifications").iterdir())) == 3
    assert len(list((tmp_path / "found" / "tests").glob("test_*.py"))) == 3


def test_what_a_check_printed_need_not_be_a_result(repository, monkeypatch):
    """A check that was ended, or whose output is cut, is no verdict."""
    monkeypatch.setattr(hunting.jail, "reason_for_none", lambda: "")
    target = repository(m=ASKS)
    empty, wrong = b'{"command": "verify", "files": []}', b'{"command": "verify", "files": [{"obligations": 3}]}'
    for printed in (b"", b"{", b"[]", b"\xff", empty, wrong):
        monkeypatch.setattr(checks, "_run", lambda *_, printed=printed, **__: (-9, printed))
        [one] = hunt(target, yes=True).value.functions
        assert one.outcome == "broken"
        assert one.reason.startswith("its check ended with exit code -9 and no result")
        assert "\n" not in one.reason


@needs_jail
@pytest.mark.usefixtures("checked_once")
def test_as_data(repository):
    done = run(repository(m=COUNT, n=ASKS), "--format", "json")
    data = json.loads(done.stdout)
    assert (done.exit_code, data["command"], data["exit_code"]) == (3, "hunt", 3)
    assert [one["outcome"] for one in data["functions"]] == ["verified", "asked"]


def test_an_installed_package_is_found_without_importing_it():
    from dpspec_hunt.modules import modules_of

    before = set(sys.modules)
    found = modules_of("dpspec_hunt")
    assert {"dpspec_hunt", "dpspec_hunt.jail"} <= {module.name for module in found.modules}
    assert not {name for name in set(sys.modules) - before if name.startswith("dpspec_hunt.")}
    assert [module.name for module in modules_of("dpspec_hunt.jail").modules] == ["dpspec_hunt.jail"]
