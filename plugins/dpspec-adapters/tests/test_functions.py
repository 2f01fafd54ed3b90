"""Plain functions that are handed what they are written for, by annotation and by option.

The sampled tests draw at most what they state; each is wrong about a right function with probability at most 1e-9.
"""

from __future__ import annotations

import os
import random
import secrets
from typing import Annotated, Any

import numpy as np
import pytest
from dpspec_adapters.functions import PythonRandom, ReadRandom, System, needed
from dpspec_code.functions import adapted
from scipy import stats

import dpspec as dp
from dpspec import Attribute, BitVectors, Outcome, UnorderedRecords, ValueLists, build, verify
from dpspec.base.errors import AdapterError, UnknownNameError, WantedShapeError
from dpspec.plugin import AdaptedFunction
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.functions import FunctionError

BITS = BitVectors(length=2)
PEOPLE = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")), Attribute(name="age", count=3)), most=2)


def claim(epsilon="ln(3)", space=None, distance="hamming-ordered"):
    return build(
        space=space or {"type": "bit-vectors", "length": 2}, input_divergence={"type": distance},
        output_divergence={"type": "mult"}, budget={"epsilon": epsilon},
    )  # fmt: skip


# --- datasets -------------------------------------------------------------------------------------


def handed(function, listed, space=BITS, **options):
    made = adapted(function, space, **options)
    return made.handed(listed) if isinstance(made, AdaptedFunction) else listed


def as_dicts(rows: list[dict[str, Any]], rng): ...
def as_array(rows: np.ndarray, rng): ...
def as_text(rows: str, rng): ...
def as_annotated(rows: Annotated[np.ndarray, "bits"], rng): ...
def as_list(rows: list[int], rng): ...
def as_anything(rows: Any, rng): ...
def as_polars(rows: "pl.DataFrame", rng): ...  # noqa: F821, UP037 (a name for type checkers)


def test_the_annotation_says_what_is_handed_over():
    assert handed(as_dicts, [0, 1]) == [{"bit": 0}, {"bit": 1}]
    assert handed(as_text, [0, 1]) == "bit\n0\n1\n"
    for function in (as_array, as_annotated):
        array = handed(function, [0, 1])
        assert (type(array), array.tolist()) == (np.ndarray, [0, 1])
    for function in (as_list, as_anything):
        assert adapted(function, BITS) is function
    assert handed(as_polars, [0, 1]).rows() == [(0,), (1,)]


def test_an_option_goes_before_the_annotation():
    assert handed(as_dicts, [0, 1], dataset="tuples") == [(0,), (1,)]


def test_records_have_named_columns_and_whole_numbers():
    dataset = PEOPLE.dataset([("m", "2"), ("f", "0")])
    assert handed(as_dicts, list(dataset), PEOPLE) == [{"sex": "f", "age": 0}, {"sex": "m", "age": 2}]
    frame = handed(as_polars, list(dataset), PEOPLE)
    assert (frame.columns, frame["age"].to_list()) == (["sex", "age"], [0, 2])


def test_every_call_has_a_copy_of_its_own():
    def spoils(rows: list[dict], rng):
        before = [dict(row) for row in rows]
        rows[0]["bit"] = 7
        rows.append({})
        return before

    made = adapted(spoils, BITS)
    assert made([0, 1], None) == made([0, 1], None) == [{"bit": 0}, {"bit": 1}]


@pytest.mark.slow
def test_code_on_other_forms_is_read_and_verified_or_refuted():
    def flips(rows: list[dict], rng):
        return [row["bit"] ^ int(rng.random() < 0.25) for row in rows]

    def flips_an_array(bits: np.ndarray, rng):
        return bits ^ (rng.random(2) < 0.25)

    def flips_rarely(text: str, rng):
        return [int(bit) ^ int(rng.random() < 0.2) for bit in text.split()[1:]]

    for function in (flips, flips_an_array):
        verdict = verify(function, claim())
        assert (verdict.outcome, verdict.method, str(verdict.constant)) == (Outcome.VERIFIED, "exhaustive", "ln(3)")
    verdict = verify(flips_rarely, claim())
    assert (verdict.outcome, verdict.method, str(verdict.constant)) == (Outcome.REFUTED, "exhaustive", "ln(4)")


@pytest.mark.slow
def test_a_data_frame_is_judged_by_sampling():
    """A count of the wrong column's noise: half of what one record needs. 40,000 draws at most."""
    people = {"type": "value-lists", "values": [["f", 30], ["m", 20]], "named": ["sex", "age"], "most": 2}

    def women(frame, rng):
        return int(frame["sex"].to_list().count("f")) + rng.laplace(scale=0.5)

    verdict = verify(women, claim(1, people, "symmetric-difference"), dataset="polars", draws=40_000)
    assert verdict.outcome is Outcome.REFUTED


# --- what cannot be handed over -------------------------------------------------------------------


def test_an_adapter_that_is_unknown_is_told_with_the_nearest():
    with pytest.raises(UnknownNameError, match="adapter=panda: is not registered: did you mean pandas"):
        adapted(as_list, BITS, dataset="panda")
    with pytest.raises(UnknownNameError, match="generator=randon: is not registered: did you mean random"):
        adapted(as_list, BITS, generator="randon")


def test_a_missing_library_is_told_with_what_to_install():
    with pytest.raises(AdapterError, match=r"adapter=frames: needs no_such_library, which cannot be imported .*: pip install it"):
        needed("no_such_library", "frames", "it")


def test_a_dataset_without_rows_is_told_before_anything_is_run():
    town, sex = ([{"name": name, "categories": ["x"]}] for name in ("town", "sex"))
    people = {"type": "households", "household": town, "person": sex, "members": 1, "most": 1}
    mixed = ValueLists(values=(1, "a"), most=2)
    with pytest.raises(AdapterError, match="adapter=numpy: values of several sorts have no array: float, str"):
        verify(as_array, claim(1).spec.replace(space=mixed))
    nested = build(
        space=people, input_divergence={"type": "hamming", "unit": "household"}, output_divergence={"type": "mult"},
        budget={"epsilon": 1},
    )  # fmt: skip
    with pytest.raises(AdapterError, match="has no rows and columns"):
        verify(as_dicts, nested)


def test_a_function_that_wants_another_shape_is_told():
    def of_sets(rows: set[int], rng): ...
    def of_three(rows, rng, more): ...

    with pytest.raises(WantedShapeError, match=r"function=.*of_sets: wants a set, and a dataset of bit-vectors is a list"):
        adapted(of_sets, BITS)
    with pytest.raises(FunctionError, match="cannot be called with a dataset and a generator, nor with a dataset alone"):
        adapted(of_three, BITS)
    with pytest.raises(FunctionError, match="takes no generator"):
        adapted(len, BITS, generator="random")


# --- chances --------------------------------------------------------------------------------------


def by_random(bits: list[int], rng: random.Random):
    return [bit if rng.random() < 0.75 else 1 - bit for bit in bits]


def by_choice(bits: list[int], rng: random.Random):
    return [rng.choice([bit, bit, bit, bit, 1 - bit]) for bit in bits]


def by_sample(bits: list[int], rng: random.Random):
    return [bit ^ (rng.sample(range(4), 1)[0] == 0) for bit in bits]


@pytest.mark.parametrize(("function", "outcome", "constant"), [
    (by_random, Outcome.VERIFIED, "ln(3)"), (by_sample, Outcome.VERIFIED, "ln(3)"),
    pytest.param(by_choice, Outcome.REFUTED, "ln(4)", marks=pytest.mark.slow),
])  # fmt: skip
def test_code_that_draws_from_random_is_read(function, outcome, constant):
    verdict = verify(function, claim())
    assert (verdict.outcome, verdict.method, str(verdict.constant)) == (outcome, "exhaustive", constant)
    assert any("random.Random" in text for text in verdict.assumptions)


def test_code_that_asks_what_it_was_handed_is_told_the_same_in_every_engine():
    """Read as a stranger's object it would tell the truth, and be refuted."""

    def careful(bits: list[int], rng: random.Random):
        if not isinstance(rng, random.Random):
            return bits
        return [bit if rng.random() < 0.75 else 1 - bit for bit in bits]

    assert verify(careful, claim(), draws=4_000).outcome is not Outcome.REFUTED


def test_code_that_sets_its_seed_is_not_read():
    """Its answer is a function of the dataset: it says everything. 4,000 draws at most."""

    def seeded(bits: list[int], rng: random.Random):
        rng.seed(7)
        return [bit if rng.random() < 0.75 else 1 - bit for bit in bits]

    verdict = verify(seeded, claim(), draws=4_000)
    assert (verdict.outcome, verdict.method) == (Outcome.REFUTED, "sampled")


def shuffled(rng):
    letters = list("abc")
    rng.shuffle(letters)
    return "".join(letters)


CALLS = [
    lambda rng: rng.randrange(3, 12, 4), lambda rng: rng.randint(2, 4), lambda rng: rng.getrandbits(3),
    lambda rng: rng.choices("abc", weights=[1, 2, 3], k=1)[0], lambda rng: rng.choices("abc", cum_weights=[1, 1, 4])[0],
    lambda rng: "".join(rng.sample("abc", 2)), lambda rng: "".join(rng.sample("ab", 2, counts=[2, 1])),
    lambda rng: rng.choice("abcd"), shuffled, lambda rng: rng.random() < 0.3,
    lambda rng: rng.uniform(2, 4) < 2.5, lambda rng: len(rng.randbytes(2)), lambda rng: rng.gauss(1, 2) < 2,
    lambda rng: rng.expovariate(2) < 0.3, lambda rng: rng.triangular(0, 2, 1) < 0.5, lambda rng: rng.betavariate(2, 3) < 0.4,
    lambda rng: rng.paretovariate(3) < 1.2, lambda rng: rng.weibullvariate(2, 1) < 1.0, lambda rng: rng.gammavariate(2, 3) < 4,
    lambda rng: rng.lognormvariate(0, 1) < 1, lambda rng: rng.vonmisesvariate(0, 1) % 6.283 < 1,
    lambda rng: rng.normalvariate() < 1,
]  # fmt: skip


@pytest.mark.statistical
@pytest.mark.parametrize("call", CALLS)
def test_what_stands_in_for_random_has_the_laws_of_it(call):
    """3,000 draws of each; a chi-squared test at 1e-9, which misses an event that is 0.16 off once in 1e9."""
    real, ours = random.Random(5), ReadRandom(np.random.default_rng(5))
    drawn = [[repr(call(rng)) for _ in range(3_000)] for rng in (real, ours)]
    seen = sorted({*drawn[0], *drawn[1]})
    table = np.array([[sample.count(one) for one in seen] for sample in drawn])
    assert len(seen) == 1 or stats.chi2_contingency(table).pvalue > 1e-9


AGES = dp.spec(
    space=dp.value_lists(values=[("f", 1), ("f", 5), ("m", 1), ("m", 5)], named=("sex", "age")),
    distance="add-remove", standard="mult", epsilon=1,
)  # fmt: skip
NUMBERS = dp.spec(space=dp.value_lists(values=[0, 1, 5, 10]), distance="add-remove", standard="mult", epsilon=1)


def sums_of_women(rows: list[dict], rng):
    total = 0
    for row in rows:
        if row["sex"] == "f":
            total += min(row["age"], 3)
    return total + rng.laplace(0, 3)


def counts_by_sex(rows: list[dict], rng):
    counts = {"f": 0, "m": 0}
    for row in rows:
        counts[row["sex"]] += 1
    return {key: count + rng.laplace() for key, count in counts.items()}


def clipped_total(numbers: np.ndarray, rng):
    return np.clip(numbers, 0, 5).sum() + rng.laplace(0, 5)


def how_many_are_large(numbers: np.ndarray, rng):
    return (numbers >= 5).sum() + rng.laplace()


def whole_total(rows: list[dict], rng):
    return sum(row["age"] for row in rows) + rng.laplace(0, 1)


def grows_its_rows(rows: list[dict], rng):
    rows.append({"sex": "f", "age": 1})
    return sum(row["age"] for row in rows) + rng.laplace(0, 6)


@pytest.mark.parametrize(
    ("function", "claim_of", "outcome"),
    [
        (counts_by_sex, AGES, "verified"), (clipped_total, NUMBERS, "verified"), (whole_total, AGES, "refuted"),
        pytest.param(sums_of_women, AGES, "verified", marks=pytest.mark.slow),
        pytest.param(how_many_are_large, NUMBERS, "verified", marks=pytest.mark.slow),
        pytest.param(grows_its_rows, AGES, "undecided", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_rows_and_arrays_are_read_on_all_datasets_entry_by_entry(function, claim_of, outcome):
    verdict = verify_claim(function, claim_of, draws=20_000, seconds=600)
    assert verdict.outcome.value == outcome, verdict.reason
    if outcome == "verified":
        assert (verdict.method, str(verdict.constant)) == ("derived", "1")


def counted_by_python(people: list, rng: random.Random):
    return len(people) + rng.expovariate(1.0) - rng.expovariate(1.0)


def loudly(people: list, rng: random.Random):
    return len(people) + rng.expovariate(3.0) - rng.expovariate(3.0)


def measured_by_python(people: list, rng: random.Random):
    return [people.count(kind) + rng.choices([0, 1])[0] + rng.gauss(0, 1) for kind in (0, 1)]


def test_noise_of_random_is_read_and_held_against_what_it_draws():
    space = dp.value_lists(values=[0, 1])
    pure = dp.spec(space=space, distance="add-remove", standard="mult", epsilon=1)
    verdict = verify_claim(counted_by_python, pure, seconds=600)
    assert (verdict.outcome, verdict.method, str(verdict.constant)) == (Outcome.VERIFIED, "derived", "1")
    assert verify_claim(loudly, pure, seconds=600).outcome is Outcome.REFUTED
    rho = dp.spec(space=space, distance="add-remove", standard="d-nor", rho="1/2")
    assert verify_claim(measured_by_python, rho, seconds=600).outcome is Outcome.VERIFIED


def test_the_same_bits_give_the_same_chances_wherever_they_are_asked_for():
    def asked():
        with System().drawing(np.random.default_rng(3)):
            legacy = np.random.normal()
            return secrets.token_hex(4), random.gauss(0, 1), legacy, np.random.default_rng().random(), os.urandom(4)

    before = os.urandom
    assert asked() == asked()
    assert os.urandom is before
    first, second = (PythonRandom().made(np.random.default_rng(seed)).random() for seed in (1, 2))
    assert first != second


@pytest.mark.long
def test_a_function_of_one_argument_draws_from_what_is_there():
    """A bit told wrongly once in eight times, at ln(3); and once in four. 20,000 and 4,000 draws at most."""

    def rarely(bits):
        return [bit ^ (secrets.randbelow(8) == 0) for bit in bits]

    def often(bits, *, chance=0.25):
        return [bit ^ (random.random() < chance) for bit in bits]

    assert verify(rarely, claim(), draws=20_000).outcome is Outcome.REFUTED
    verdict = verify(often, claim(), draws=4_000)
    assert verdict.outcome is Outcome.UNDECIDED
    assert not any(finding.code == "hidden-state" for finding in verdict.findings)
    assert any("secrets and os.urandom" in text for text in verdict.assumptions)


def test_a_second_parameter_with_a_number_is_no_generator():
    def told(bits, epsilon=1.0):
        return [random.random() < epsilon for _ in bits]

    made = adapted(told, BITS)
    assert (made.takes, made.generator.name) == (1, "system")
    assert all(made([0, 1], np.random.default_rng(1)))


@pytest.mark.slow
def test_a_witness_is_replayed_through_the_same_adapters(tmp_path, monkeypatch):
    from dpspec_code.functions import load_function

    from dpspec.extension import installed
    from dpspec.verifier.document import verify_function
    from dpspec.verifier.functions import Sampling
    from dpspec.verifier.replay import replay, witness_file

    (tmp_path / "replayed_survey.py").write_text(
        "def survey(rows, rng):\n    return [row['bit'] ^ (rng.random() < 0.2) for row in rows]\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    function = load_function("replayed_survey:survey", Sampling(dataset="dicts", generator="random"))
    document = claim()
    found = verify_function(function, document, registry=installed().registry)
    (obligation,) = found.obligations
    assert "--dataset dicts --generator random" in obligation.replay
    path = tmp_path / "witness.json"
    path.write_text(witness_file(obligation.verdict.witness, document, installed().registry, function), encoding="utf-8")
    again = replay(path, mechanism=function.call)
    assert again.outcome is Outcome.REFUTED
    assert again.event.proves


def test_torch_and_jax_are_seeded_where_they_are_installed():
    torch = pytest.importorskip("torch")

    def noisy(bits, rng: torch.Generator):
        return torch.rand(1, generator=rng).item()

    made = adapted(noisy, BITS, generator="torch")
    assert made([0], np.random.default_rng(1)) == made([0], np.random.default_rng(1)) != made([0], np.random.default_rng(2))


# --- the libraries themselves: `.ci/run` has them -------------------------------------------------


PAIRS = ValueLists(values=(("f", 30), ("m", 2.5)), named=("sex", "age"), most=2)


def test_tables_of_libraries_have_one_type_for_each_column():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frames = [handed(as_list, list(dataset), PAIRS, dataset="pandas") for dataset in PAIRS.datasets()]
    assert {tuple(map(str, frame.dtypes)) for frame in frames} == {(str(frames[0].dtypes.iloc[0]), "float64")}
    assert frames[-1].to_dict("list") == {"sex": ["m", "m"], "age": [2.5, 2.5]}
    assert all(isinstance(frame, pandas.DataFrame) for frame in frames)
    tables = [handed(as_list, list(dataset), PAIRS, dataset="arrow") for dataset in PAIRS.datasets()]
    assert {table.schema for table in tables} == {arrow.schema([("sex", arrow.string()), ("age", arrow.float64())])}
    ages = handed(as_list, [1, 0], dataset="pandas-series")
    assert (ages.name, ages.to_list()) == ("bit", [1, 0])


@pytest.mark.statistical
def test_a_data_frame_of_libraries_is_asked_for_by_its_annotation():
    """Half of the noise that a count needs; 30,000 draws at most."""
    pandas = pytest.importorskip("pandas")

    def women(people: pandas.DataFrame, rng):
        people["age"] = 0.0  # in its own copy
        return (people["sex"] == "f").sum() + rng.laplace(scale=0.4)

    document = claim(1, {"type": "value-lists", "values": list(map(list, PAIRS.values)), "named": ["sex", "age"], "most": 2},
                     "symmetric-difference")  # fmt: skip
    assert verify(women, document, draws=30_000).outcome is Outcome.REFUTED
