"""Spaces whose datasets have very many records: what is proved, what refutes, and that no dataset is made in vain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpspec as dp
from dpspec.base.errors import NotEnumerableError
from dpspec.base.exact import number
from dpspec.blocks import multisets, parts
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Dataset
from dpspec.extension import installed
from dpspec.specfile.writer import to_toml
from dpspec.verifier.mechanisms import judged
from dpspec.verifier.proof import derive
from dpspec.verifier.replay import keep_witnesses, replay
from dpspec.verifier.verdict import Outcome, Verdict

TABLE = dp.geometric(queries=[dp.marginal(attributes=["a"])], epsilon=1)
NATION = 330_000_000


def claim(records: int, standard: str = "pure", distance: str = "replace-one", **budget: Any) -> dp.PrivacySpec:
    return dp.spec(space=dp.records(a=("0", "1"), least=records, most=records), distance=distance, standard=standard, **budget)


def proved(mechanism: dp.Mechanism, spec: dp.PrivacySpec) -> Verdict:
    found = derive(mechanism, spec)
    assert isinstance(found, Verdict), str(found)
    return found


def drawn(size: int) -> dp.Mechanism:
    return dp.subsampled(mechanism=TABLE, size=size)


LOSS = math.log1p((math.e**2 - 1) / 1000)
"""One record of a thousand that are drawn moves two counts by one each: ln(1 + (e^2 - 1)/1000)."""


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize("records", [1_000, 20_000, 100_000, 1_000_000, NATION])
def test_a_sample_of_one_in_a_thousand_loses_the_same_from_any_number_of_records(records: int) -> None:
    found = proved(drawn(records // 1_000), claim(records, epsilon="1/100"))
    assert found.outcome is Outcome.VERIFIED
    assert found.constant.lower > 0
    for end in (found.constant.lower, found.constant.upper):
        assert float(end) == pytest.approx(LOSS)
    below = judged(drawn(records // 1_000), claim(records, epsilon="63/10000"))
    written = records * 1 <= multisets.MOST_WRITTEN
    assert below.outcome is (Outcome.REFUTED if written else Outcome.UNDECIDED)
    assert (below.witness is not None) is written


@pytest.mark.parametrize(
    ("divergence", "parameter"),
    [(dp.hockey_stick(epsilon="1/10"), "delta"), (dp.total_variation(), "distance"), (dp.renyi(order=2), "epsilon")],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_pair_that_is_not_written_has_the_divergence_of_the_one_that_is(
    divergence: Any, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same share of the records is drawn, and all others are alike: the two laws are as far from each other."""
    budget = UniformBudget(parameter=parameter, value=number("9/10"))
    spec = claim(20_000, epsilon=1).replace(output_divergence=divergence, budget=budget)
    written = proved(drawn(2_000), spec)
    assert written.universes[0].attained is not None
    monkeypatch.setattr(multisets, "MOST_WRITTEN", 0)
    counted = proved(drawn(2_000), spec)
    assert counted.universes[0].attained is None
    assert counted.constant == written.constant


@pytest.mark.parametrize("space", [UnorderedRecords, OrderedRecords])
@pytest.mark.parametrize(("records", "outcome"), [(50_000, Outcome.REFUTED), (NATION, Outcome.UNDECIDED)])
def test_a_false_claim_about_many_records(space: Any, records: int, outcome: Outcome) -> None:
    spec = claim(records, epsilon="3/2")
    other = space(attributes=spec.space.attributes, least=records, most=records)
    found = proved(TABLE, spec.replace(space=other, input_divergence=dp.hamming()))
    assert found.outcome is outcome
    if found.witness is None:
        assert "too large to be written down" in found.reason
    else:
        assert len(found.witness.left) == records  # type: ignore[arg-type]
        assert found.witness.divergence.lower == 2


def test_the_witness_of_many_records_is_replayed(tmp_path: Path) -> None:
    spec, registry = claim(20_000, epsilon="1/2"), installed().registry
    document = dp.SpecDocument(id="many", title="Many records", spec=spec, mechanism=TABLE)
    (tmp_path / "many.dpspec.toml").write_text(to_toml(document, registry), encoding="utf-8")
    keep_witnesses(dp.verify(tmp_path / "many.dpspec.toml"), tmp_path, registry)
    (kept,) = tmp_path.glob("*.json")
    assert replay(kept).is_unchanged


def none_of(space: object) -> Iterator[Dataset]:
    raise AssertionError("a dataset of 330 million records was made")


@pytest.mark.parametrize("space", [UnorderedRecords, OrderedRecords])
@pytest.mark.parametrize(
    "mechanism",
    [
        TABLE,
        drawn(1_000),
        dp.subsampled(mechanism=TABLE, rate="1/2"),
        dp.conventional_rounding(base=5, tables=[["a"]]),
        dp.cell_suppression(threshold=3, tables=[["a"]]),
        dp.exponential(query=dp.marginal(attributes=["a"]), rate="1/2"),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_no_dataset_of_a_nation_is_made(space: Any, mechanism: dp.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """It took 30 seconds and 12 GB."""
    monkeypatch.setattr(multisets.Multisets, "datasets", none_of)
    monkeypatch.setattr(OrderedRecords, "datasets", none_of)
    spec = claim(NATION, epsilon=5)
    other = space(attributes=spec.space.attributes, least=NATION, most=NATION)
    spec = spec.replace(space=other, input_divergence=dp.hamming())
    assert judged(mechanism, spec).outcome is not Outcome.REFUTED
    assert dp.compare(spec, spec).relation is not None


def test_the_smallest_datasets_are_made_up_to_a_million_records() -> None:
    space = dp.records(a=("0", "1"), least=3)
    assert len(next(parts.smallest_datasets(space))) == 3  # type: ignore[arg-type]
    assert list(parts.smallest_datasets(dp.records(a=("0", "1"), least=parts.MOST_RECORDS + 1))) == []


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (dp.subsampled(mechanism=TABLE, rate="1/2"), "samples of 100000 records"),
        (dp.subsampled(mechanism=TABLE, size=50_000), "samples of 100000 records"),
        (dp.derangement_swapping(match=["a"], swap=["b"], swap_rate="1/20", unit="person"), "a stratum of 100,000 records"),
        (dp.permutation_swapping(match=["a"], swap=["b"], swap_rate="1/20", unit="person"), "a stratum of 100,000 records"),
    ],
    ids=["rate", "size", "deranged", "permuted"],
)
def test_a_law_of_very_many_choices_is_refused_before_it_is_listed(mechanism: dp.Mechanism, said: str) -> None:
    """The number of samples was added up size by size, and numbers of derangements were multiplied without end."""
    space = dp.records(a=("0", "1"), b=("0", "1"), least=100_000, most=100_000)
    with pytest.raises(NotEnumerableError, match=said):
        mechanism.law(space.dataset([("0", "0")] * 99_999 + [("0", "1")]), space)
