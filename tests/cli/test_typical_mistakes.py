"""Typical mistakes of new users: each message is one line that says what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import dpspec as dp
from dpspec.cli import main

GOOD = """\
schema = 1
id = "warner"
title = "Randomised response of three people"

[space]
type = "bit-vectors"
length = 3
unit = "person"

[multiverse]
invariants = []

[input_divergence]
type = "hamming-ordered"
unit = "person"

[output_divergence]
type = "mult"

[budget]
epsilon = "ln(3)"

[mechanism]
type = "randomised-response"
keep_probability = "3/4"
"""
EPSILON = 'epsilon = "ln(3)"'

IN_A_FILE = [
    (EPSILON, "epsilon = 1\ndelta = 0.001", 'write type = "mult-delta" and delta under [output_divergence]'),
    (EPSILON, "epsilon = log(3)", 'write epsilon = "ln(3)"'),
    (EPSILON, 'epsilon = "log(3)"', 'write "ln(3)"'),
    (EPSILON, "epsilon = ln(3)", 'write epsilon = "ln(3)"'),
    (EPSILON, "epsilon = 5%", 'write epsilon = "5/100"'),
    (EPSILON, 'epsilon = "5%"', 'write "5/100"'),
    (EPSILON, 'epsilon = "2.5%"', 'write "1/40"'),
    (EPSILON, "epsilon = 1/2", 'write epsilon = "1/2"'),
    (EPSILON, "epsilon = 1,5", "write epsilon = 1.5"),
    (EPSILON, 'epsilon = "1,5"', 'write "1.5"'),
    (EPSILON, "epsilon = \u201c1\u201d", 'epsilon = "1"'),
    (EPSILON, "epsilon = -1", "in [0, inf)"),
    (EPSILON, "epsilon = true", "write an integer or text"),
    (EPSILON, 'epsilon = "three"', 'such as "1/20"'),
    (EPSILON, "eps = 1", "did you mean epsilon?"),
    (EPSILON, "rho = 1", 'write epsilon = "..."'),
    (EPSILON, "", "write one of"),
    (EPSILON, f"{EPSILON}\nepsilon = 2", "delete one of the two lines"),
    (EPSILON, f"{EPSILON}\n[budget]", "cannot declare [budget] twice"),
    (EPSILON, 'epsilon = "ln(-3)"', 'budget.epsilon=ln(-3): is the logarithm of no positive number: write a number above 0'),
    (EPSILON, "epsilon = true", "budget.epsilon=true:"),
    (EPSILON, 'epsilon = { value = ["1"] }', "budget.epsilon={value = [1]}:"),
    (EPSILON, "\u03b5 = 1", "letters from a to z"),
    (EPSILON, 'epsilon = "1', "close the text"),
    (EPSILON, 'epsilon = "1\x00"', "as an escape, such as \\u0001"),
    ('type = "mult"', 'type = "mult"\n# \u2028\n\nhow = mult', 'warner.dpspec.toml:21: TOML: invalid value: write how = "mult"'),
    (GOOD, GOOD.replace("\n", "\r"), "with line ends"),
    ("[budget]", "[budgets]", "did you mean budget?"),
    ("[space]", "[dataset-space]", "did you mean space?"),
    ("[mechanism]", "mechanism", "such as [budget]"),
    ("[mechanism]", "[mechanisms]", "did you mean mechanism?"),
    ('"bit-vectors"', '"bitvectors"', "did you mean bit-vectors"),
    ('"bit-vectors"', '"bit_vectors"', "did you mean bit-vectors?"),
    ('"hamming-ordered"\nunit = "person"', '"hamming-ordered"\nunit = "persons"', "did you mean person?"),
    ("randomised-response", "randomized-response", "did you mean randomised-response"),
    ("keep_probability", "keep_probabilty", "did you mean keep_probability?"),
    ('"3/4"', "75", "in (0, 1)"),
    ('"3/4"', '"75%"', 'write "75/100"'),
    ("length = 3", "length = 0", "an integer in [1, inf)"),
    ("length = 3", "length = 2.5", "an integer in [1, inf)"),
    ("schema = 1", "schema = 2", "write schema = 1"),
    ("schema = 1", "", "write schema = 1"),
    ('id = "warner"', 'id = "My Spec"', "such as my-release-2020"),
    ('id = "warner"', "id = warner", 'write id = "warner"'),
    ("invariants = []", 'invariants = ["total"]', "known: "),
]


def ran(*words: str) -> str:
    """What a command prints, in both streams."""
    return CliRunner().invoke(main, list(words)).output


@pytest.mark.parametrize(("before", "after", "remedy"), IN_A_FILE, ids=[f"{place}" for place in range(len(IN_A_FILE))])
def test_a_mistake_in_a_file(tmp_path: Path, before: str, after: str, remedy: str) -> None:
    file = tmp_path / "warner.dpspec.toml"
    file.write_text(GOOD.replace(before, after, 1), encoding="utf-8")
    assert file.read_bytes() != GOOD.encode()
    said = [line for line in ran("verify", str(file)).splitlines() if "dpspec.toml:" in line and ": invalid  " not in line]
    assert any(remedy in line for line in said), said
    assert all(line.partition("dpspec.toml:")[2].partition(":")[0].isdigit() for line in said), said


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("verfy", "x"), "Did you mean 'verify'?"),
        (("verify", "x", "--fucntion", "a:b"), "Did you mean '--function'?"),
        (("verify", "absent.dpspec.toml"), "check the path"),
        (("explain", "laplase"), "did you mean laplace?"),
        (("convert", "eps=1", "--to", "rho"), "did you mean epsilon?"),
        (("recommend", "fixed-q", "posterior=25%", "ratio=3"), 'write "25/100"'),
        (("verify", "good.dpspec.toml", "--function", "survey.release"), "such as survey:survey"),
        (("verify", "good.dpspec.toml", "--function", "no_such_module:f"), "no_such_module.py"),
        (("verify", "table.csv"), "name a file *.dpspec.toml"),
        (("release", ".", "table.csv", "--out", "o"), "name a file *.dpspec.toml in it"),
        (("release", "good.dpspec.toml", "absent.csv", "--out", "o"), "is neither a file nor a registered table"),
        (("new", "spec", "draft", "--from", "semicolons.csv"), "with commas between the columns"),
        (("compare", "good.dpspec.toml"), "give another"),
    ],
    ids=str,
)
def test_a_mistake_on_the_command_line(tmp_path, monkeypatch, words, remedy):
    monkeypatch.chdir(tmp_path)
    Path("good.dpspec.toml").write_text(GOOD, encoding="utf-8")
    Path("table.csv").write_text("age,sex\n31,secret\n", encoding="utf-8")
    Path("semicolons.csv").write_text("age;sex\n31;secret\n", encoding="utf-8")
    said = ran(*words)
    assert remedy in said
    assert "secret" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: dp.lapalce(epsilon=1), "did you mean laplace"),
        (lambda: dp.marginal("age"), "write marginal(attributes=..."),
        (lambda: dp.spec(space=dp.records(a=2), distance="addremove", standard="pure", epsilon=1), "did you mean add-remove?"),
        (lambda: dp.spec(space=dp.records(a=2), distance="add-remove", standard="pure", rho=1), "known: epsilon"),
        (lambda: dp.spec(space=dp.records(a=2), distance="add-remove", standard="pure", epsilon="10%"), 'write "10/100"'),
        (lambda: dp.verify("absent.toml"), "check the path"),
    ],
    ids=range(6),
)
def test_a_mistake_in_python(call, remedy: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of several classes; the message is what counts
        call()
    assert remedy in str(raised.value)
