"""`dpspec compose`: its answer in text and as JSON, how often a file is released, and what it refuses."""

import pytest


def test_the_answer_comes_first(run, specs):
    ran = run("compose", f"{specs / 'randomised-response.dpspec.toml'}=100", "--delta", "1e-6")
    assert ran.code == 0
    assert ran.out.startswith("epsilon lies in [94.28986, 94.28987] at delta = 1e-6")
    for words in ("randomised-response", "100", "at distance one change: ", "Claim status"):
        assert words in ran.out


def test_the_json(run, specs):
    path = specs / "gaussian-standard.dpspec.toml"
    data = run("compose", f"{path}=2", "--epsilon", "3", "--format", "json").json("compose")
    assert (data["wanted"], data["given"]) == ("delta", {"name": "epsilon", "value": "3"})
    assert [(part["id"], part["times"]) for part in data["parts"]] == [("gaussian-standard", 2)]
    assert float(data["value"]["lower"]) <= float(data["value"]["upper"]) < 1e-5


def test_a_file_that_is_named_twice_is_released_twice(run, specs):
    path = specs / "randomised-response.dpspec.toml"
    twice = run("compose", path, f"{path}=2", "--epsilon", "1", "--format", "json").json("compose")
    thrice = run("compose", f"{path}=3", "--epsilon", "1", "--format", "json").json("compose")
    assert twice == thrice


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--delta"),
        (("--delta", "1e-6", "--epsilon", "1"), "not both"),
        (("--delta", "1"), "[0, 1)"),
        (("--delta", "x"), "delta"),
        (("--epsilon", "-1"), "epsilon"),
    ],
)
def test_bad_questions_end_with_2(run, specs, arguments, words):
    ran = run("compose", specs / "randomised-response.dpspec.toml", *arguments)
    assert ran.code == 2
    assert words in ran.err


@pytest.mark.parametrize("times", ["0", "x", "1/2", "-3", "10000000000"])
def test_bad_times_end_with_2(run, specs, times):
    ran = run("compose", f"{specs / 'randomised-response.dpspec.toml'}={times}", "--delta", "1e-6")
    assert ran.code == 2
    assert "times" in ran.err


def test_a_name_with_an_equals_sign_is_a_file(run, specs, tmp_path):
    path = tmp_path / "a=3"
    path.write_text((specs / "randomised-response.dpspec.toml").read_text(encoding="utf-8"), encoding="utf-8")
    data = run("compose", path, "--epsilon", "1", "--format", "json").json("compose")
    assert [part["times"] for part in data["parts"]] == [1]


def test_rho_is_sent_to_the_ledger(run, specs):
    ran = run("compose", specs / "ledger-2020", "--delta", "1e-6")
    assert ran.code == 2
    assert "dpspec ledger" in ran.err


def test_a_refuted_promise_is_not_counted(run, specs):
    path = specs / "gaussian-lecture.dpspec.toml"
    refused = run("compose", path, "--delta", "1e-6")
    assert refused.code == 1
    assert "does not keep what it promises" in refused.err
    assert run("compose", path, "--delta", "1e-6", "--as-promised").code == 0


BESIDE = """
[[unaccounted]]
step = "a list of categories"
effect = "it was chosen by the data"
[[part]]
title = "a second table"
budget = { epsilon = 2 }
output_divergence = { type = "mult-delta", delta = "1/7" }
"""


@pytest.mark.parametrize("command", ["compose", "ledger"])
def test_what_a_file_does_beside_its_promise_is_told(run, specs, tmp_path, command):
    """A total of two files is not all that was spent where one of them also releases something else."""
    path = tmp_path / "more.dpspec.toml"
    path.write_text((specs / "gaussian-standard.dpspec.toml").read_text(encoding="utf-8") + BESIDE, encoding="utf-8")
    asked = [command, path, *(["--epsilon", "1"] if command == "compose" else [])]
    losses = " ".join(run(*asked, "--format", "json").json(command)["losses"])
    assert "a list of categories" in losses
    assert "a second table, epsilon = 2 by approximate differential privacy (delta = 1/7); one change: " in losses
    assert "a second table" in run(*asked).out


@pytest.mark.parametrize("standard", ['"gaussian-trade-off"', '"mult"', '"d-nor"', '"renyi"\norder = 2', '"mult-one-way"'])
@pytest.mark.parametrize(("asked", "total"), [("--delta", "epsilon = inf"), ("--epsilon", "delta = 1")])
def test_an_infinite_budget_has_a_total_that_promises_nothing(run, response, standard, asked, total):
    """Of mu, it was undecided, and of others it was said that they have no worst pair: it allows any two laws."""
    path = response()
    parameter = {'"gaussian-trade-off"': "mu", '"d-nor"': "rho"}.get(standard, "epsilon")
    text = path.read_text(encoding="utf-8").replace('"mult"', standard).replace('epsilon = "ln(3)"', f'{parameter} = "inf"')
    path.write_text(text.partition("[mechanism]")[0], encoding="utf-8")
    ran = run("compose", path, asked, "1/1000000")
    assert (ran.code, ran.err) == (0, "")
    assert total in ran.out
    assert "promises nothing" in ran.out
