"""Numbers of a fixed width in plain code: what wraps around or is rounded on a long dataset is not verified for all datasets.

Each function below keeps its claim in exact arithmetic. The wrong ones break it in that of numpy, on datasets that can be made.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from dpspec_code.automatic.noise import NoisyNumber
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree
from dpspec_code.child_process import CAN_FORK
from dpspec_code.crosscheck import second_opinion
from flint import arb

from dpspec.base.errors import DpspecError, value_text
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.records import ContingencyTables
from dpspec.blocks.vectors import IntegerCounts
from dpspec.laws.dichotomy import Cell
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.document import verify_function
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.functions import NamedFunction
from dpspec.verifier.verdict import Outcome, Verdict
from tests.attacks.plain import done, spec_of, told


def records(*values: Any, most: int | None = None) -> Any:
    return spec_of(ValueLists(values=values, most=most, ordered=False), 1, distance="symmetric-difference")


LISTS = records(0, 1)
TABLE = spec_of(
    ContingencyTables(attributes=[{"name": "colour", "categories": ["red", "green"]}]), 1, distance="symmetric-difference"
)
NUMBERS = spec_of(IntegerCounts(length=2), 1, distance="l1")
FEW_NUMBERS = spec_of(IntegerCounts(length=2, low=-1000, high=1000), 1, distance="l1")


def proved(function: Any, spec: Any = LISTS) -> Verdict | str:
    """The verdict of the proof for all datasets, without real runs; or why there is none."""
    try:
        return WholeProof.of(whole_tree(function, spec, most_paths=300), spec).verdict()
    except (NoConstant, DpspecError) as problem:
        return str(problem)


# --- integers of 64 bits ---------------------------------------------------------------------------


def scaled_array(x, rng):
    return (np.array(x) * 10**16).sum() / 10**16 + rng.laplace()


def scaled_down(x, rng):
    return (np.array(x) * -(10**16)).sum() / 10**16 + rng.laplace()


def bins_times_a_power(x, rng):
    return np.bincount(x, minlength=2)[1] * 2**58 / 2**58 + rng.laplace()


def bins_in_place(x, rng):
    found = np.bincount(x, minlength=2)
    found *= 2**58
    return found / 2**58 + rng.laplace(size=2)


def sum_of_bins(x, rng):
    return (np.bincount(x, minlength=2) * 2**58).sum() / 2**58 + rng.laplace()


def running_sum_of_bins(x, rng):
    return np.cumsum(np.bincount(x, minlength=2) * 2**58)[1] / 2**58 + rng.laplace()


def scalar_added(x, rng):
    total = np.int64(0)
    for v in x:
        total += np.int64(v * 10**16)
    return total / 10**16 + rng.laplace()


def array_of_large_entries(x, rng):
    return np.array([v * 10**16 for v in x], dtype=int).sum() / 10**16 + rng.laplace()


def filled_array(x, rng):
    found = np.zeros(2, dtype=int)
    for v in x:
        found[v] += 10**17
    return found / 10**17 + rng.laplace(size=2)


def array_of_counts(x, rng):
    return (np.array([len(x), 5]) * 10**17).sum() / 10**17 + rng.laplace()


def integer_of_python_in_an_array(x, rng):
    return np.array([len(x) * 2**59, 0]).sum() / 2**59 + rng.laplace()


def integer_of_python_times_one_of_numpy(x, rng):
    return np.int64(10**16) * len(x) / 10**16 + rng.laplace()


def product_of_numpy(x, rng):
    return float(np.multiply(len(x), 10**16)) / 10**16 + rng.laplace()


def negative_product_of_numpy(x, rng):
    return float(np.negative(np.multiply(10**16, len(x)))) / 10**16 + rng.laplace()


def counter_in_an_array(x, rng):
    return np.array([Counter(x)[1] * 2**58])[0] * 4 / 2**60 + rng.laplace()


def clipped_array(x, rng):
    return np.clip(np.array(x) * 10**18, 0, 10**18).sum() / 10**18 + rng.laplace()


def count_of_places(x, rng):
    return np.count_nonzero(np.array(x) > 0) * np.int64(2**60) / 2**60 + rng.laplace()


def histogram_times_a_power(x, rng):
    return np.histogram(x, bins=2, range=(0, 2))[0] * 2**58 / 2**58 + rng.laplace(size=2)


def compared_after_wrapping(x, rng):
    return bool((np.array(x) * 10**16).sum() / 10**16 + rng.laplace() > 5)


def largest_after_wrapping(x, rng):
    return int(np.argmax(np.bincount(x, minlength=2) * 2**58 / 2**58 + rng.laplace(size=2)))


def noise_of_integers_before(x, rng):
    noise = np.round(rng.laplace(size=2)).astype(int)
    return (np.bincount(x, minlength=2) * 2**58 + noise) / 2**58 + rng.laplace(size=2)


def weights_after_wrapping(x, rng):
    scores = np.array([x.count(0), x.count(1)]) * 2**57 / 2**57
    weights = np.exp((scores - scores.max()) / 2)
    return int(rng.choice(2, p=weights / weights.sum()))


WRAPPING = [
    (scaled_array, 923), (scaled_down, 923), (bins_times_a_power, 32), (bins_in_place, 32), (sum_of_bins, 32),
    (running_sum_of_bins, 32), (scalar_added, 923), (array_of_large_entries, 923), (filled_array, 93), (array_of_counts, 88),
    (integer_of_python_in_an_array, 16), (integer_of_python_times_one_of_numpy, 923), (counter_in_an_array, 8),
    (clipped_array, 10), (count_of_places, 8), (histogram_times_a_power, 32), (compared_after_wrapping, 923),
    (product_of_numpy, 923), (negative_product_of_numpy, 923),
    (largest_after_wrapping, 32), (noise_of_integers_before, 32), (weights_after_wrapping, 64),
]  # fmt: skip


@pytest.mark.parametrize(("function", "size"), WRAPPING, ids=[function.__name__ for function, _ in WRAPPING])
def test_no_proof_goes_beyond_the_integers_of_the_code(function: Any, size: int) -> None:
    """The number of records is that at which the code, run by itself, leaves the straight line."""
    found = proved(function)
    assert isinstance(found, str)
    assert f"fewer than {size} records only: numpy's int64 wraps around" in found


def numbers_of_numpy(x, rng):
    size, noise = len(x), rng.laplace(scale=8)
    return [
        np.add(size, noise), np.subtract(0.5, noise), np.divide(size, 2) + noise, np.clip(size, 0, 2) + noise,
        np.where(size > 1, 0.25, 0.75) + noise, np.fabs(size) + noise, np.float64(size) + noise, np.maximum(size, 1.5) + noise,
        float(np.clip(size, None, 3)) + noise, np.multiply(3, size) + noise, np.add(noise, [size, 1])[0],
    ]  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_functions_of_numpy_give_numbers_of_numpy(size: int) -> None:
    tree = whole_tree(numbers_of_numpy, spec_of(ValueLists(values=(0, 1)), 1), most_paths=300)
    assert told(tree.on((0,) * size)) == done(numbers_of_numpy, (0,) * size)


def power_of_truth_values(x, rng):
    return [((np.asarray(x) > 0) ** 2 * 100 + 100).sum() + rng.laplace(scale=200)]


def integers_that_wrap_around_one_by_one(x, rng):
    return [(np.array(x, dtype=np.int8) * 100 + 100).sum() + rng.laplace(scale=200)]


@pytest.mark.parametrize("function", [power_of_truth_values, integers_that_wrap_around_one_by_one])
def test_entries_are_computed_as_in_an_array(function: Any) -> None:
    """A truth value of numpy to the power of 2 is an integer of 64 bits, and an array of them is one of 8 bits: 200 is -56."""
    tree = whole_tree(function, spec_of(ValueLists(values=(0, 1), least=1), 1), most_paths=300)
    assert told(tree.on((1, 0, 1))) == done(function, (1, 0, 1)) == ([-12.0], ["np.float64"])


def test_a_sum_in_eight_bits_is_not_read_off() -> None:
    def summed(x, rng):
        return np.einsum("i->", (np.asarray(x) > 0) ** 2) / 1000 + rng.laplace()

    assert summed([1] * 200, np.random.default_rng(0)) < summed([1] * 2, np.random.default_rng(0))
    assert "narrow integers" in str(proved(summed))


def filled_like_a_sum_of_floats(x, rng):
    sums = np.array([sum(v / 2 for v in x)])
    found = np.zeros_like(sums)
    found[0] = 0.5  # of integers where x is empty, as `sum` of nothing is 0
    return 1000 * found[0] + rng.laplace()


def largest_of_sums_of_floats(x, rng):
    sums = np.array([sum(v / 2 for v in x if v > 0), sum(v / 4 for v in x if v > 0)])
    return sums.sum() - sums[1] + rng.laplace(scale=4)


def test_sums_of_floats_may_make_an_array_of_integers() -> None:
    types = [np.zeros_like(np.array([sum(v / 2 for v in x)])).dtype.char for x in ([], [1])]
    assert types == ["l", "d"]
    assert "has numbers whose type the data decide" in str(proved(filled_like_a_sum_of_floats))
    assert isinstance(proved(largest_of_sums_of_floats), Verdict)


@pytest.mark.parametrize("function", [scaled_array, bins_times_a_power, filled_array], ids=lambda one: one.__name__)
def test_where_the_space_bounds_the_records_the_bound_is_used(function: Any) -> None:
    size = dict(WRAPPING)[function]
    within = proved(function, records(0, 1, most=size - 1))
    beyond = proved(function, records(0, 1, most=size))
    assert isinstance(within, Verdict)
    assert (within.outcome, within.scope, within.assumptions) == (Outcome.VERIFIED, "the whole space", ())
    assert isinstance(beyond, str)


@pytest.mark.parametrize("guard", ["_check_integer", "check_double"])
def test_the_tests_see_a_guard_that_is_missing(guard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NoisyNumber, guard, lambda *_: None)
    cases = [(one, LISTS) for one, _ in WRAPPING] if guard == "_check_integer" else [(one, LISTS) for one in ROUNDING[2:3]]
    assert all(isinstance(proved(*case), Verdict) for case in cases)


@pytest.mark.skipif(not CAN_FORK, reason="code runs apart only where processes can be forked")
@pytest.mark.parametrize(
    "function", [bins_times_a_power, *(pytest.param(one, marks=pytest.mark.slow) for one in (scaled_array, scalar_added))]
)
def test_the_dataset_that_wraps_around_refutes(function: Any) -> None:
    verdict = verify_claim(function, LISTS, seconds=600)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.witness is not None
    assert len(verdict.witness.left) >= dict(WRAPPING)[function] - 1


# --- other types -----------------------------------------------------------------------------------


SIGNED = ("int8", "int16", "int32")
NARROW = (*SIGNED, "uint8", "uint16", "uint32", "uint64", "float16", "float32", "longdouble")


@pytest.mark.parametrize("name", NARROW)
def test_nothing_is_proved_of_numbers_of_other_widths(name: str) -> None:
    """None of them is modelled: 300 records wrap around in 8 bits, 2,049 are rounded in a float16.

    One thing is: numpy sums up an array of integers with a sign in 64 bits.
    """
    kind = getattr(np, name)

    def array(x, rng):
        return np.array(x, dtype=kind).sum() + rng.laplace()

    def narrow(x, rng):
        return np.array(x, dtype=kind).sum(dtype=kind) + rng.laplace()

    def product(x, rng):
        return float(np.array(x, dtype=kind) @ np.ones(len(x), dtype=kind)) + rng.laplace()

    def scalar(x, rng):
        total = kind(0)
        for v in x:
            total = total + kind(v)
        return float(total) + rng.laplace()

    def converted(x, rng):
        return float(kind(len(x))) + rng.laplace()

    def cast(x, rng):
        return float(np.bincount(x, minlength=2).astype(kind)[1]) + rng.laplace()

    def filled(x, rng):
        found = np.zeros(2, dtype=kind)
        for v in x:
            found[v] += 1
        return found + rng.laplace(size=2)

    for function in (narrow, product, scalar, converted, cast, filled):
        assert isinstance(proved(function), str), function.__name__
    whole = proved(array)
    if name not in SIGNED:
        assert isinstance(whole, str)
        return
    total = np.ones(70_000, dtype=kind).sum()
    assert (type(total), total) == (np.int64, 70_000)
    assert not isinstance(whole, str)
    assert whole.outcome is Outcome.VERIFIED


def mixed_scaled(x, rng):
    return (np.array(x) * 10**16).sum() / 10**16 + rng.laplace()


def mixed_summed(x, rng):
    return np.array(x).sum() + rng.laplace()


def mixed_as_doubles(x, rng):
    return (np.array(x, dtype=float) * 10**16).sum() / 10**16 + rng.laplace()


def test_an_array_is_of_integers_where_no_fraction_occurs() -> None:
    spec = records(0, 0.5, 1)
    assert "fewer than 923 records" in str(proved(mixed_scaled, spec))
    for function in (mixed_summed, mixed_as_doubles):
        found = proved(function, spec)
        assert isinstance(found, Verdict)
        assert found.outcome is Outcome.VERIFIED


def geometric_times_a_power(x, rng):
    drawn = rng.geometric(0.5, size=2)
    return len(x) + ((drawn[0] - drawn[1]) * 2**62) // 2**62


def test_noise_that_wraps_around_is_no_noise() -> None:
    assert "numpy's int64 wraps around" in str(proved(geometric_times_a_power))


def raises_on_one_side(x, rng):
    noisy = rng.laplace()
    if noisy > 0:
        return noisy
    return np.array(x, dtype=int).sum() * 0 + noisy


def test_an_error_that_an_entry_causes_is_none_of_all_datasets() -> None:
    """2^63 is no integer of 64 bits: only lists that hold it raise OverflowError."""
    assert isinstance(proved(raises_on_one_side, records(0, 2**63)), str)


# --- doubles ---------------------------------------------------------------------------------------


def steps_of_three(x, rng):
    total = float(2**53)
    for v in x:
        total += 3 * v
    return (total - 2**53) / 4 + rng.laplace(scale=0.75)


def far_and_back(x, rng):
    return (len(x) * 0.1 + 1e15) - 1e15 + rng.laplace(scale=0.1)


def scores_far_and_back(x, rng):
    scores = (np.array([x.count(0), x.count(1)], float) * 3 + 2.0**53 - 2.0**53) / 3
    weights = np.exp((scores - scores.max()) / 2)
    return int(rng.choice(2, p=weights / weights.sum()))


def drowned_noise(x, rng):
    total = rng.laplace()
    for _ in x:
        total += 2.0**60
    for _ in x:
        total -= 2.0**60 - 1
    return total


def added_and_taken_away(x, rng):
    total = 1.0
    for _ in x:
        total += 1e16
        total -= 1e16
    return total + rng.laplace(scale=100)


ROUNDING = [steps_of_three, far_and_back, scores_far_and_back, drowned_noise, added_and_taken_away]


@pytest.mark.parametrize("function", ROUNDING, ids=[one.__name__ for one in ROUNDING])
def test_what_doubles_lose_on_the_way_is_not_taken_for_exact(function: Any) -> None:
    assert isinstance(proved(function), str)


# --- right code ------------------------------------------------------------------------------------


def python_has_no_end(x, rng):
    return sum(v * 10**18 for v in x) / 10**18 + rng.laplace()


def plain_sum(x, rng):
    return np.array(x).sum() + rng.laplace()


def scaled_in_doubles(x, rng):
    return sum(v * 10**18 for v in x) * 1.0 / 1e18 + rng.laplace()


def thirds(x, rng):
    return len(x) / 3 + rng.laplace(scale=1 / 3)


def tenths(x, rng):
    total = 0.0
    for v in x:
        total += v * 0.1
    return total + rng.laplace(scale=0.1)


def small_steps(x, rng):
    return sum(x) * 1e-6 + rng.laplace(scale=1e-6)


def rounded_noise(x, rng):
    return np.bincount(x, minlength=2) + np.round(rng.laplace(size=2)).astype(int)


def each(x, rng):
    return [c + rng.laplace() for c in x]


def as_an_array(x, rng):
    return np.array(x) + rng.laplace(size=2)


def each_geometric(x, rng):
    return [c + rng.geometric(0.6) - rng.geometric(0.6) for c in x]


def up_and_down(x, rng):
    return np.array(x) * 10**15 / 10**15 + rng.laplace(size=2)


def hundreds(x, rng):
    return np.clip(x, 0, 10**8).sum() + rng.laplace(scale=10**8)


@pytest.mark.parametrize(
    "function", [python_has_no_end, plain_sum, scaled_in_doubles, thirds, tenths, small_steps, rounded_noise]
)
def test_right_code_on_lists_needs_no_assumption(function: Any) -> None:
    """No list has more entries than a process addresses."""
    found = proved(function)
    assert isinstance(found, Verdict)
    assert (found.outcome, found.scope, found.assumptions) == (Outcome.VERIFIED, "the whole space", ())


@pytest.mark.parametrize(
    ("function", "spec", "words"),
    [
        (each, TABLE, "fewer than 9,007,199,254,740,992 records"),
        (as_an_array, TABLE, "fewer than 9,007,199,254,740,992 records"),
        (each, NUMBERS, "numbers below 9,007,199,254,740,992"),
        (hundreds, records(0, 10**8), "fewer than 92,233,720,369 records"),
    ],
)
def test_a_proof_for_fewer_records_says_so(function: Any, spec: Any, words: str) -> None:
    found = proved(function, spec)
    assert isinstance(found, Verdict)
    assert (found.outcome, found.scope) == (Outcome.VERIFIED, f"all datasets of {words}")
    assert found.assumptions[0].startswith(f"{words}: beyond, ")


def test_bounded_numbers_and_integers_of_python_need_none() -> None:
    for function, spec in ((each_geometric, TABLE), (up_and_down, FEW_NUMBERS)):
        found = proved(function, spec)
        assert isinstance(found, Verdict)
        assert (found.scope, found.assumptions) == ("the whole space", ())
    assert "numbers below 9,224 only" in str(proved(up_and_down, NUMBERS))


# --- what is printed, and the second opinion -------------------------------------------------------


@pytest.mark.skipif(not CAN_FORK, reason="code runs apart only where processes can be forked")
def test_the_first_lines_say_for_how_many_records_it_holds() -> None:
    report = verify_function(NamedFunction(path="here:each", call=each), SpecDocument(id="table", title="table", spec=TABLE))
    words = "all datasets of fewer than 9,007,199,254,740,992 records"
    assert report.scope == f"{words}, by a proof"
    (obligation,) = report.obligations
    assert obligation.verdict is not None
    assert obligation.verdict.assumptions[0].startswith("fewer than 9,007,199,254,740,992 records")
    assert obligation.verdict.scope.startswith(words)


@pytest.mark.parametrize(("factor", "size"), [(2**56, 300), (2**48, 70_000)])
def test_the_second_opinion_sees_what_wraps_around_on_long_datasets(
    factor: int, size: int, in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoisyNumber, "_check_integer", lambda *_: None)

    def function(x, rng):
        return (np.array(x) * factor).sum() / factor + rng.laplace()

    tree = whole_tree(function, LISTS, most_paths=50)
    laws = {dataset: tree.on(dataset) for dataset in ((), (0,), (0, 1))}
    long = {dataset: tree.on(dataset) for dataset in tree.long_datasets(LISTS)}
    assert second_opinion(function, LISTS.space, laws).misfit == ""
    assert f"on {size:,} records it gave" in second_opinion(function, LISTS.space, laws, long=long).misfit


def test_a_run_on_a_long_dataset_that_needs_too_much_says_nothing() -> None:
    def function(x, rng):
        if len(x) > 200:
            raise MemoryError
        return len(x) + rng.laplace()

    def counted(x, rng):
        return len(x) + rng.laplace()

    tree = whole_tree(counted, LISTS, most_paths=50)
    long = {dataset: tree.on(dataset) for dataset in tree.long_datasets(LISTS)}
    opinion = second_opinion(function, LISTS.space, {(0,): tree.on((0,))}, long=long)
    assert opinion.misfit == ""
    assert "sizes" not in opinion.scope


def test_a_ratio_is_known_from_below_where_one_mass_may_be_none() -> None:
    cell = Cell.atom(arb(0.5), arb(0, 2.0**-100))
    assert float(cell.low) > 68
    assert not cell.high.is_finite()
    assert not Cell.atom(arb(0, 0.5), arb(0, 0.5)).low.is_finite()


def test_many_equal_entries_are_counted() -> None:
    assert value_text((1,) * 922 + (0,)) == "(1 repeated 922 times, 0)"
    assert value_text((1,) * 5) == "(1, 1, 1, 1, 1)"
