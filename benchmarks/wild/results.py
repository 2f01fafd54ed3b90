"""The recorded score, `results.json`, and its trend, `trend.csv`: one line for each recorded run."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("results.json")
TREND = Path(__file__).with_name("trend.csv")
KINDS = ("functions", "libraries", "vectors")
JUDGED = ("functions", "libraries")
FALSE = {("correct", "refuted"), ("wrong", "verified")}
"""Truths with outcomes that are false answers."""
COLUMNS = (
    "date", "commit", "correct", "verified", "undecided", "wrong", "refuted", "missed", "mechanisms", "mechanisms decided", "vectors",
    "agree", "looser", "tighter", "not expressible", "false",
)  # fmt: skip


def read() -> dict[str, Any]:
    """The recorded results; empty tables where nothing was recorded."""
    if not PATH.exists():
        return {kind: {} for kind in KINDS}
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def write(results: Mapping[str, Any]) -> None:
    """Replace the recorded results, whole or not at all."""
    part = PATH.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(part, PATH)


def outcomes(lines: Iterable[Mapping[str, Any]], truth: str) -> Counter[str]:
    """How many of one truth have each outcome."""
    return Counter(line["outcome"] for line in lines if line["truth"] == truth)


def false_answers(results: Mapping[str, Any]) -> list[str]:
    """Correct functions that were refuted, wrong ones that were verified, and vectors that are contradicted."""
    found = [
        f"{name}: {line['truth']}, {line['outcome']}"
        for kind in JUDGED
        for name, line in results[kind].items()
        if (line["truth"], line["outcome"]) in FALSE
    ]
    return found + [f"{name}: contradiction" for name, line in results["vectors"].items() if line["outcome"] == "contradiction"]


def summary(results: Mapping[str, Any], date: str, commit: str) -> dict[str, Any]:
    """One line of the trend."""
    functions, mechanisms = results["functions"].values(), results["libraries"].values()
    correct, wrong = outcomes(functions, "correct"), outcomes(functions, "wrong")
    decided = outcomes(mechanisms, "correct")["verified"] + outcomes(mechanisms, "wrong")["refuted"]
    vectors = Counter(line["outcome"] for line in results["vectors"].values())
    values = (
        date, commit, correct.total(), correct["verified"], correct.total() - correct["verified"] - correct["refuted"],
        wrong.total(), wrong["refuted"], wrong.total() - wrong["refuted"] - wrong["verified"], len(mechanisms), decided,
        vectors.total(), vectors["agrees"], vectors["looser"], vectors["tighter"], vectors["not expressible"],
        len(false_answers(results)),
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def add_to_trend(line: Mapping[str, Any]) -> None:
    """Append one line, under the names of the columns."""
    fresh = not TREND.exists()
    with TREND.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerow(line)
