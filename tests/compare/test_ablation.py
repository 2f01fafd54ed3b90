"""Ablation: known numbers, ends that equal `verify`, invariants that never raise a constant, and steps that do not fit."""

from __future__ import annotations

import itertools
import json
import random

import attrs
import jsonschema
import pytest
from click.testing import CliRunner

import dpspec as dp
from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.base.exact import INFINITY, Bracket, number
from dpspec.cli import main
from dpspec.comparison.ablation import AblationStep, _factor
from dpspec.report.ablation import _factor_row

CELLS = dp.records(cell=["x", "y"])
NOISE = dp.geometric(queries=[dp.marginal(attributes=["cell"])], ratio="1/2")
FREE = dp.spec(space=CELLS, distance="symmetric-difference", standard="pure", epsilon=1)
FIXED = dp.spec(space=CELLS, invariants=[dp.marginal(attributes=[])], distance="hamming", standard="zero-concentrated", rho=1)


def test_a_histogram_of_two_cells_with_geometric_noise():
    """The constants as Lipschitz constants: for zero-concentrated privacy the square root of rho."""
    found = dp.ablate(FREE, FIXED, mechanism=NOISE)
    constants = {tuple(step["exchanged"]): step["constant"]["upper"] for step in found["steps"]}
    assert constants[()] == "ln(2)"
    assert constants["input_divergence",] == "ln(4)"
    assert constants["output_divergence",] == "sqrt(1/3*ln(2))"
    assert constants["multiverse",] == "ln(2)"
    assert constants["multiverse", "input_divergence", "output_divergence"] == "sqrt(1/3*ln(4))"
    assert len(found["orders"]) == 6
    by_block = {factor["block"]: factor for factor in found["factors"]}
    assert by_block["input_divergence"]["smallest"][0] <= 2**0.5 <= by_block["input_divergence"]["smallest"][1]
    assert by_block["input_divergence"]["largest"][0] <= 2 <= by_block["input_divergence"]["largest"][1]
    assert by_block["output_divergence"]["mean"] is None


def test_the_command_prints_and_its_data_fits_the_schema(tmp_path):
    from dpspec.extension import installed
    from dpspec.specfile.writer import to_toml

    for name, spec in (("free", FREE), ("fixed", FIXED)):
        text = to_toml(spec, installed().registry)
        run = '\n[mechanism]\ntype = "geometric"\nratio = "1/2"\nqueries = [{ type = "marginal", attributes = ["cell"] }]\n'
        (tmp_path / f"{name}.dpspec.toml").write_text(text + (run if name == "free" else ""))
    files = [str(tmp_path / f"{name}.dpspec.toml") for name in ("free", "fixed")]
    said = CliRunner().invoke(main, ["ablate", *files])
    assert said.exit_code == 0, said.output
    assert said.output.startswith("The least budget that geometric needs as blocks of")
    data = CliRunner().invoke(main, ["ablate", *files, "--format", "json"])
    jsonschema.Draft202012Validator(dp.schema("output")).validate(json.loads(data.output))


def test_an_infinite_step_shows_its_pair():
    gaussian = dp.gaussian(queries=[dp.marginal(attributes=["cell"])], variance=1)
    concentrated = FREE.replace(output_divergence=FIXED.output_divergence, budget=FIXED.budget)
    found = dp.ablate(concentrated, FREE, mechanism=gaussian)
    assert found["steps"][1]["constant"]["upper"] == "inf"
    assert found["steps"][1]["pair"] is not None
    assert "no finite budget, as" in str(found)


def test_a_bracket_of_powers_is_not_one_number():
    from dpspec.base.exact import Bracket, number
    from dpspec.report.ablation import _decimal

    assert _decimal(Bracket(lower=number("1/2"), upper=number("3/4"))) == "0.5 to 0.75"
    assert _decimal(Bracket(lower=number("1/2"), upper=number("0.50001"))) == "0.5000"
    assert _decimal(Bracket.exactly("0.99999")) == "0.9999 to 1"
    assert _decimal(Bracket.exactly(1)) == "1.0000"


def test_numbers_come_with_their_delta_and_with_the_change_that_they_are_for():
    def allowed(delta):
        return FREE.replace(output_divergence=dp.spec(
            space=CELLS, distance="symmetric-difference", standard={"type": "mult-delta", "delta": delta}, epsilon=1,
        ).output_divergence)  # fmt: skip

    small = dp.records(cell=["x", "y"], most=1)
    told = str(dp.ablate(*(allowed(delta).replace(space=small) for delta in ("1/100", "1/10")), mechanism=NOISE))
    found = " ".join(told.split())
    assert "specification: approximate differential privacy (delta = 0.01); one change: one person added or removed" in found
    assert "specification: approximate differential privacy (delta = 0.1); one change: one person added or removed" in found


def test_a_large_finite_constant_is_not_called_infinite(monkeypatch):
    """A pair that refutes a finite budget shows that no finite one is enough only where its divergence is infinite."""
    from dpspec.base.exact import Bracket
    from dpspec.comparison import ablation

    real = ablation.judged

    def without_upper_end(mechanism, spec):
        found = real(mechanism, spec)
        unknown = Bracket(lower=found.constant.lower, upper=INFINITY)
        return attrs.evolve(found, universes=tuple(attrs.evolve(one, constant=unknown) for one in found.universes))

    monkeypatch.setattr(ablation, "judged", without_upper_end)
    strong = dp.geometric(queries=[dp.marginal(attributes=["cell"])], epsilon=2000)
    small = FREE.replace(space=dp.records(cell=["x", "y"], most=1))
    found = dp.ablate(small, small, mechanism=strong)
    assert found["steps"][0]["pair"] is None
    assert found["steps"][0]["constant"] is None
    assert found.exit_code == 3


def test_blocks_that_cannot_be_exchanged():
    other = dp.spec(space=dp.records(town=2), distance="symmetric-difference", standard="pure", epsilon=1)
    with pytest.raises(IncompatibleBlocksError, match="in any order"):
        dp.ablate(FREE, other, mechanism=NOISE)


def test_without_a_mechanism_there_is_nothing_to_ask():
    with pytest.raises(ParameterError, match="named by neither"):
        dp.ablate(FREE, FIXED)


def drawn(rng):
    """Two specifications on one space, and a mechanism on it."""
    space = dp.records(a=rng.choice((2, 3)), b=2)
    queries = [dp.marginal(attributes=some) for some in rng.sample([["a"], ["b"], ["a", "b"], []], rng.choice((1, 2)))]

    def spec():
        invariants = [dp.marginal(attributes=some) for some in rng.sample([[], ["a"], ["b"]], rng.choice((0, 1, 1)))]
        standard, budget = rng.choice([("pure", {"epsilon": 1}), ("zero-concentrated", {"rho": 1})])
        distance = rng.choice(["hamming", "symmetric-difference"])
        return dp.spec(space=space, invariants=invariants, distance=distance, standard=standard, **budget)

    noise = rng.choice([dp.geometric(queries=queries, ratio="1/2"), dp.laplace(queries=queries, epsilon=1)])
    return spec(), spec(), noise


def check(seed):
    left, right, noise = drawn(random.Random(seed))
    found = dp.ablate(left, right, mechanism=noise).value
    for spec, step in ((left, found.steps[0]), (right, found.steps[-1])):
        judged = dp.verify(noise, spec.replace(budget=dp.UniformBudget(parameter=step.parameter, value=INFINITY)))
        assert step.constant is None or step.constant == judged.constant
    by_blocks = {step.exchanged: step for step in found.steps}
    for some, without in itertools.permutations(by_blocks, 2):
        if set(some) == {*without, "multiverse"}:
            more, fewer = (by_blocks[one] for one in (some, without))
            if len(more.spec.multiverse.invariants) < len(fewer.spec.multiverse.invariants):
                more, fewer = fewer, more
            nested = set(map(str, fewer.spec.multiverse.invariants)) <= set(map(str, more.spec.multiverse.invariants))
            if nested and more.constant is not None and fewer.constant is not None:
                assert more.constant.lower <= fewer.constant.upper


@pytest.mark.parametrize("seed", range(8))
def test_ends_equal_verify_and_an_invariant_raises_nothing(seed):
    check(seed)


@pytest.mark.parametrize("first", [
    pytest.param(first, marks=pytest.mark.long if first > 100 else pytest.mark.slow) for first in range(100, 600, 20)
])
def test_ends_equal_verify_and_an_invariant_raises_nothing_500_times(first):
    for seed in range(first, first + 20):
        check(seed)


def test_factors_of_a_block_are_bounded_over_all_orders():
    """A factor whose lower end is smaller may have the larger upper end; what is printed is on the outer side."""
    orders = (("multiverse", "input_divergence"), ("input_divergence", "multiverse"))
    constants = {
        frozenset[str](): Bracket(lower=number(1), upper=number("1.5")),
        frozenset({"multiverse"}): Bracket(lower=number(2), upper=number(6)),
        frozenset({"input_divergence"}): Bracket.exactly(1),
        frozenset({"multiverse", "input_divergence"}): Bracket(lower=number("2.1"), upper=number("2.2")),
    }
    steps = {
        chosen: AblationStep(exchanged=tuple(chosen), spec=None, parameter="epsilon", constant=constant)
        for chosen, constant in constants.items()
    }
    found = _factor("multiverse", orders, steps)
    assert found.smallest[0] <= 4 / 3
    assert found.largest[1] >= 6
    assert _factor_row(found)[1:3] == ("1.33333", "6")


def test_a_step_without_two_datasets_to_compare_holds_trivially():
    """Such a step was undecided, and the exit code 3."""
    few = FREE.replace(space=dp.records(cell=["x", "y"], most=2))
    known = [dp.marginal(attributes=["cell"])]
    counted = dp.spec(space=few.space, invariants=known, distance="symmetric-difference", standard="pure", epsilon=1)
    found = dp.ablate(few, counted, mechanism=NOISE)
    assert found.exit_code == 0
    assert [step["vacuous"] for step in found["steps"]] == [False, True]
    assert found["steps"][1]["constant"] is None
    assert "every mechanism satisfies any budget" in str(found)
