"""The corpus of published violations: its structure, and that its functions run; `python -m benchmarks.faults` judges them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from benchmarks.faults import FAULTS, THEMES
from benchmarks.faults.check import breaks, distance, happens, outcome
from benchmarks.faults.run import text, totals
from benchmarks.peers import baseline
from dpspec.verifier.entry import verify_claim

SIDES = [(fault, side) for fault in FAULTS for side in ("wrong", "mended")]
NAMES = [f"{fault.name}-{side}" for fault, side in SIDES]


def test_the_corpus_has_at_least_forty_pairs_with_names_of_their_own():
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert sum(map(len, THEMES.values())) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_an_entry_says_its_source_its_pair_and_why(fault):
    assert any(str(year) in fault.source for year in range(2009, 2027))
    assert all((fault.fault, fault.because, fault.holds))
    assert " / " in fault.because
    assert fault.wrong is not fault.mended
    left, right = (fault.spec.space.dataset(dataset) for dataset in fault.pair)
    assert fault.spec.input_divergence.distance(left, right, fault.spec.space) == distance(fault, *fault.pair)


@pytest.mark.parametrize(("fault", "side"), SIDES, ids=NAMES)
def test_both_sides_have_a_source_and_run_on_the_pair(fault, side):
    function = getattr(fault, side)
    assert inspect.getsource(function).startswith("def ")
    rng = np.random.default_rng(1)
    outs = [outcome(function, dataset, rng) for dataset in fault.pair for _ in range(3)]
    if side == "mended":
        assert not any(isinstance(out, str) and out.endswith("Error") for out in outs)


def test_every_event_is_seen_where_it_is_said_to_be_the_more_likely_one():
    for fault in FAULTS:
        rng = np.random.default_rng(2)
        assert any(happens(fault.event, outcome(fault.wrong, fault.pair[0], rng)) for _ in range(4000)), fault.name


@pytest.mark.parametrize(
    ("claim", "apart", "p", "q", "broken"),
    [
        (("pure", 1), 1, 0.3, 0.1, True),
        (("pure", 1), 2, 0.3, 0.1, False),
        (("approximate", 1, "1/20"), 1, 0.3, 0.1, False),
        (("approximate", 1, "1/50"), 1, 0.3, 0.1, True),
        (("approximate", 1, "1/50"), 2, 0.3, 0.1, False),
        (("concentrated", 1), 1, 0.84, 0.001, True),
        (("concentrated", 1), 3, 0.84, 0.001, False),
    ],
)
def test_the_check_breaks_a_claim_by_its_definition(claim, apart, p, q, broken):
    assert breaks(claim, float(claim[1]), apart, p, q) is broken


def test_a_line_tells_outcome_pair_and_event():
    fault = next(fault for fault in FAULTS if fault.name == "lie-may-be-the-truth")
    verdict = verify_claim(fault.wrong, fault.spec)
    assert verdict.outcome.value == "refuted"
    line = {
        "name": fault.name,
        "side": "wrong",
        "outcome": "refuted",
        "seconds": 1.0,
        "method": "m",
        "pair": "[0] / [1]",
        "event": "e",
    }
    assert "[0] / [1]  e" in text(line)
    assert totals([line])["wrong"] == {"refuted": 1}
    assert totals([line | {"side": "mended"}])["false"] == [f"mended {fault.name} refuted"]


@pytest.mark.slow
def test_the_plain_baseline_finds_a_sum_without_noise_and_does_not_refute_its_mending():
    fault = next(fault for fault in FAULTS if fault.name == "no-bounds-no-noise")
    assert baseline(fault, "wrong", 0.6)["outcome"] == "refuted"
    assert baseline(fault, "mended", 0.6)["outcome"] == "undecided"
