"""Studies of public samples, where they are there: every number of the recommendation by code of its own."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dpspec as dp

FOLDER = Path(os.environ.get("DPSPEC_PUBLIC_SAMPLES", Path(__file__).parents[4] / "shared" / "data"))
"""The folder of the public samples, which are no part of the project."""

SAMPLES = {
    "uk": (
        "uk-census-2011-teaching-10k/uk_census_2011_teaching_10k.csv", ["Region", "Sex", "Age"],
        {"columns": ["Region", "Age"], "exchange": ["Region"], "match": ["Sex"]},
    ),
    "california": (
        "us-pums-california-1000/pums_california_demographics_1000.csv", ["race", "educ", "sex"],
        {"columns": ["race", "educ"], "exchange": ["race"]},
    ),
    "adult": (
        "uci-adult-1994/adult.data", ["race", "education", "sex"],
        {"columns": ["race", "education"], "exchange": ["race"], "match": ["sex"]},
    ),
}  # fmt: skip
ADULT = {"education": 3, "race": 8, "sex": 9}


def records(name):
    """The columns of a sample; the first line of Adult is a wrong header."""
    path, columns, _ = SAMPLES[name]
    if not (FOLDER / path).exists():
        pytest.skip("the public sample is not here")
    text = (FOLDER / path).read_text(encoding="utf-8")
    if name == "adult":
        rows = [line.split(", ") for line in text.splitlines()[1:] if line.strip()]
        return [{column: row[ADULT[column]] for column in columns} for row in rows]
    return [{column: row[column] for column in columns} for row in csv.DictReader(text.splitlines())]


# --- what is recomputed, without dpspec -----------------------------------------------------------


def noise(kind, value):
    """P(w) of the noise, as an array from -far to far."""
    far = 60
    places = np.arange(-far, far + 1)
    weights = np.exp(-(places**2) / (2 * value)) if kind == "discrete-gaussian" else np.exp(-np.abs(places) * value / 2)
    return places, weights / weights.sum()


def power(probabilities, level):
    """Of the best test between four independent numbers, of which two fall and two grow by 1: Neyman and Pearson, with doubles.

    The law of the sum of four log likelihood ratios is found by listing distinct values.
    """
    shifted = np.concatenate([[0.0], probabilities[:-1]])
    inside = (probabilities > 1e-18) & (shifted > 1e-18)
    ratio = np.log(shifted[inside]) - np.log(probabilities[inside])
    law = {}
    for value, p, q in zip(np.round(ratio, 12), probabilities[inside], shifted[inside], strict=True):
        old = law.get(value, (0.0, 0.0))
        law[value] = (old[0] + p, old[1] + q)
    total = {0.0: (1.0, 1.0)}
    for _ in range(4):
        grown = {}
        for (a, (p, q)), (b, (r, s)) in itertools.product(total.items(), law.items()):
            old = grown.get(round(a + b, 9), (0.0, 0.0))
            grown[round(a + b, 9)] = (old[0] + p * r, old[1] + q * s)
        total = {value: both for value, both in grown.items() if max(both) > 1e-16}
    found, left = 0.0, level
    for _, (p, q) in sorted(total.items(), reverse=True):
        if p > left:
            return found + q * left / p
        found, left = found + q, left - p
    return found


def swapped(rows, question, rate, generator):
    """One release of the swap: the selected records of a stratum get the values of others by a uniform derangement."""
    exchange, match = question["exchange"], question.get("match", [])
    strata = {}
    for place, row in enumerate(rows):
        strata.setdefault(tuple(row[name] for name in match), []).append(place)
    values = [tuple(row[name] for name in exchange) for row in rows]
    after = list(values)
    for places in strata.values():
        chosen = [place for place in places if generator.random() < rate]
        while len(chosen) == 1:
            chosen = [place for place in places if generator.random() < rate]
        if not chosen:
            continue
        order = np.arange(len(chosen))
        while True:
            moved = generator.permutation(len(chosen))
            if not (moved == order).any():
                break
        for place, source in zip(chosen, moved, strict=True):
            after[place] = values[chosen[source]]
    return after


def errors_of_swap(rows, question, rate, runs):
    """The mean absolute error in each of some releases."""
    generator = np.random.default_rng(11)
    columns, exchange = question["columns"], question["exchange"]
    sizes = [sorted({row[name] for row in rows}) for name in columns]
    cells = list(itertools.product(*sizes))
    true = Counter(tuple(row[name] for name in columns) for row in rows)
    found = []
    for _ in range(runs):
        after = swapped(rows, question, rate, generator)
        made = Counter(
            tuple(new[exchange.index(name)] if name in exchange else row[name] for name in columns)
            for row, new in zip(rows, after, strict=True)
        )
        found.append(sum(abs(made[cell] - true[cell]) for cell in cells) / len(cells))
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLES)
def test_every_number_of_the_recommendation(name, tmp_path):
    """Parameters, risks, budget and errors of the five lines; simulations agree within six standard errors."""
    rows, (_, columns, question) = records(name), SAMPLES[name]
    with (tmp_path / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    found = dp.study(tmp_path / "table.csv", question, out=tmp_path / "out")
    designs = {one["name"]: one for one in found["designs"]}
    lines = found["recommendation"]
    shown = {}
    for kind, key in (("discrete-gaussian", "variance"), ("geometric", "epsilon")):
        value = float(fraction_of(designs[kind]["value"]))
        places, law = noise(kind, value)
        shown[kind] = float((np.abs(places) * law).sum())
        assert designs[kind]["error"]["value"] == pytest.approx(shown[kind], rel=1e-9)
        low, high = designs[kind]["risk"]["bounds"]
        mine = power(law, 0.05)
        assert low - 1e-6 <= mine <= high + 1e-6
        assert mine <= 0.5
        assert mine >= 0.499, key  # the parameter is not larger than it has to be
    variance = float(fraction_of(designs["discrete-gaussian"]["value"]))
    budget = float(re.search(r"about ([0-9.]+)", lines[3])[1])
    assert budget == pytest.approx(1 / variance, rel=1e-5)  # two counts change by 1: rho = 2 / (2 variance)
    swap = designs["swapping"]
    runs = errors_of_swap(rows, question, float(fraction_of(swap["value"])), 20)
    spread = math.hypot(float(np.std(runs, ddof=1)), swap_spread(tmp_path / "out")) / math.sqrt(20)
    assert abs(float(np.mean(runs)) - swap["error"]["value"]) <= 6 * spread
    shown["swapping"] = swap["error"]["value"]
    assert found["recommended"] == min(shown, key=shown.get) == "discrete-gaussian"
    for kind, error in shown.items():
        assert f"{error:.4g}" in lines[1], kind
    assert f"variance = {variance:.4g}" in lines[0]


def fraction_of(text):
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


def swap_spread(out):
    """The standard deviation of one simulated release, of whose interval half a width is t(0.975, 19) / sqrt(20) of it."""
    data = json.loads((out / "confidential" / "frontier.json").read_text(encoding="utf-8"))
    listed = data["at_risk"]["designs"]
    (point,) = [one["point"] for one in listed if (one["name"], one["curve"]) == ("swapping", "worst universe")]
    low, high = point["error"]["interval"]
    return (high - low) / 2 / 2.093 * math.sqrt(20)
