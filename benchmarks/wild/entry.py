"""What an idiom of the corpus is, and how the data files are read."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

import dpspec as dp
from dpspec import PrivacySpec

HERE = Path(__file__).parent
KEYS = ("space", "distance", "standard", "budget", "truth", "why", "origin")
TRUTHS = ("correct", "wrong")


@attrs.frozen(kw_only=True)
class Idiom:
    """A function as people write it, and what is claimed of it.

    Args:
        module: the module of `benchmarks.wild` that has the function.
        name: the function.
        space: the five blocks' space, as a table.
        distance, standard, budget: the rest of the claim, as `dpspec.spec` takes it.
        truth: "correct" where the claim is true, otherwise "wrong".
        why: the reason.
        origin: a public repository and a path where the idiom occurs. It is a pointer; the function here is our own.
    """

    module: str
    name: str
    space: dict[str, Any]
    distance: str | dict[str, Any]
    standard: str
    budget: dict[str, str]
    truth: str
    why: str
    origin: str

    @property
    def label(self) -> str:
        return f"{self.module.rpartition('.')[2]}.{self.name}"

    @property
    def function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(importlib.import_module(self.module), self.name)
        return found

    def spec(self) -> PrivacySpec:
        """The claim, written as a user writes it."""
        numbers: dict[str, Any] = dict(self.budget)
        return dp.spec(space=self.space, distance=self.distance, standard=self.standard, **numbers)


def spaces(folder: Path) -> dict[str, dict[str, Any]]:
    """The spaces by their names. TOML has no tuples: entries that are lists are tuples here."""
    found = tomllib.loads((folder / "spaces.toml").read_text(encoding="utf-8"))
    for space in found.values():
        if "values" in space:
            space["values"] = [tuple(value) if isinstance(value, list) else value for value in space["values"]]
    return found


def read(folder: Path) -> Iterator[Idiom]:
    """The idioms of a folder, file by file: one TOML file next to each module, with what its functions have in common first.

    Raises:
        ValueError: a key is missing or unknown.
    """
    named = spaces(folder)
    for path in sorted(folder.glob("*.toml")):
        if path.stem == "spaces":
            continue
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, own in data["functions"].items():
            values = {**data["defaults"], **own}
            if set(values) != set(KEYS):
                raise ValueError(f"{path.name}: {name} has the keys {sorted(values)}; write {sorted(KEYS)}")
            if values["truth"] not in TRUTHS:
                raise ValueError(f"{path.name}: the truth of {name} is {values['truth']!r}; write one of {TRUTHS}")
            space = named[values.pop("space")]
            yield Idiom(module=f"benchmarks.wild.{folder.name}.{path.stem}", name=name, space=space, **values)


IDIOMS: tuple[Idiom, ...] = tuple(read(HERE / "idioms"))
MECHANISMS: tuple[Idiom, ...] = tuple(read(HERE / "mechanisms"))
