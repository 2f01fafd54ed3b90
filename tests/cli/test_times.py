"""``FILE=TIMES``: the same releases for `ledger` and for `compose`."""

from __future__ import annotations

import json

import pytest

import dpspec as dp
from dpspec.base.exact import number

WAVE = """
schema = 1
id = "{id}"
title = "wave"
space = {{ type = "records", attributes = [{{ name = "region", count = 4 }}] }}
input_divergence = {{ type = "hamming" }}
output_divergence = {{ type = "{standard}" }}
budget = {{ {budget} }}
"""


@pytest.fixture
def wave(tmp_path):
    def write(id, budget='epsilon = "1/10"', standard="mult"):
        path = tmp_path / f"{id}.dpspec.toml"
        path.write_text(WAVE.format(id=id, budget=budget, standard=standard), encoding="utf-8")
        return path

    return write


def test_a_release_that_is_made_several_times_spends_as_often(run, wave):
    data = run("ledger", f"{wave('first')}=12", f"{wave('second', 'epsilon = 1')}=4", "--format", "json").json("ledger")
    assert data["together"]["value"] == str(number("12/10") + 4)
    assert [(part["id"], part["times"], part["amount"]) for part in data["parts"]] == [("first", 12, "6/5"), ("second", 4, "4")]
    assert data["plain_sum"] == data["together"]["value"]
    assert "first (12 times)" in run("ledger", f"{wave('first')}=12").out


def test_times_are_those_of_as_many_files(run, wave):
    """Three times one file is what three files of one promise are; concentrated budgets are no different."""
    for standard, budget in (("mult", 'epsilon = "1/10"'), ("d-nor", 'rho = "1/8"')):
        many = [wave(f"copy-{place}", budget, standard) for place in range(3)]
        one = run("ledger", f"{many[0]}=3", "--format", "json").json("ledger")
        three = run("ledger", *many, "--format", "json").json("ledger")
        assert one["together"]["value"] == three["together"]["value"]
        assert run("ledger", many[0], many[0], many[0], "--format", "json").json("ledger")["together"] == one["together"]


def test_ledger_and_compose_read_the_same_texts(run, wave):
    first = wave("first")
    spent = run("ledger", f"{first}=3", first, "--format", "json").json("ledger")["parts"]
    counted = run("compose", f"{first}=3", first, "--delta", "1e-6", "--format", "json").json("compose")["parts"]
    assert [part["times"] for part in spent] == [part["times"] for part in counted] == [4]


@pytest.mark.parametrize("times", ["0", "-1", "1.5", "many", "1000001"])
def test_a_number_of_times_that_is_none_is_refused(run, wave, times):
    for command in (("ledger",), ("compose", "--delta", "1e-6")):
        refused = run(command[0], f"{wave('first')}={times}", *command[1:])
        assert refused.code == 2
        assert "times of" in refused.err


def test_the_written_total_is_a_file_whose_parts_add_up(run, wave, tmp_path):
    total = tmp_path / "total.dpspec.toml"
    assert run("ledger", f"{wave('first')}=12", "--out", total).code == 0
    document = dp.read(total)
    assert document.title == "12 releases together: first (12 times)"
    assert [str(part.amount) for part in document.ledger.parts] == ["6/5"]
    assert run("check", total).code == 0


def test_the_function_takes_times(wave):
    first = wave("first")
    assert dp.ledger(first, times=[12]).spec.budget.uniform() == number("6/5")
    for times in ([1, 2], [0], [True], ["x"]):
        with pytest.raises(dp.DpspecError, match="times"):
            dp.ledger(first, times=times)


def test_a_file_whose_name_has_the_sign_is_a_file(run, wave, tmp_path):
    path = wave("first").rename(tmp_path / "a=3.dpspec.toml")
    assert json.loads(run("ledger", path, "--format", "json").out)["parts"][0]["times"] == 1
    assert json.loads(run("ledger", f"{path}=2", "--format", "json").out)["parts"][0]["times"] == 2
