"""One universe of a specification: that of a table, where budgets differ by universe.

A release keeps the invariants, so that the released table lies in the universe of the confidential one: anybody can ask about it.
"""

from __future__ import annotations

import json
from pathlib import Path

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.households import MEMBERS
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import AttackerMisfitError, TableError
from dpspec.extension.registry import Registry
from dpspec.reading import read_households, read_table
from dpspec.spec import PrivacySpec
from dpspec.table import Table


def at_universe_of(spec: PrivacySpec, dataset: Dataset) -> PrivacySpec:
    """The specification with the budget of the universe that holds a dataset, the largest if several do, for all universes.

    What it says about two datasets holds for two of that universe.

    Raises:
        AttackerMisfitError: when no universe holds the dataset.
    """
    if spec.budget.uniform() is not None:
        return spec
    labels = spec.multiverse.labels(dataset, spec.space)
    if not labels:
        raise AttackerMisfitError("universe-of", "lies in no universe, so that no budget is its own", "name another dataset")
    values = [spec.budget.at(Universe(label=label, datasets=(dataset,)), spec.space) for label in labels]
    return spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=max(values)))


def dataset_of(name: str, space: DatasetSpace, registry: Registry) -> Dataset:
    """The dataset in a table: a file, a directory with households and persons, a registered table, or a release's report.

    Args:
        name: what is read; of a release's ``report.json`` the released tables beside it.
        space: what the records are read as, of its largest unit.
        registry: where formats and tables are looked up.

    Raises:
        TableError: when it cannot be read, or does not fit the space.
    """
    path = Path(name)
    if path.suffix == ".json":
        path = _released(path)
    made = [registry.get("formats", kind)() for kind in registry.names("formats")]
    formats = {suffix: format_ for format_ in made for suffix in format_.suffixes}
    unit = space.units[0] if space.units else ""
    if path.is_dir() and len(space.units) > 1:
        outer, inner = (space.own_attributes(kind) for kind in space.units[:2])
        return _of_households(read_households(path, outer, inner, formats), space)
    attributes = tuple(a for a in space.attributes_of(unit) if a.name != MEMBERS)
    if path.exists():
        return _of_records(read_table(path, attributes, formats), space)
    if name in registry.names("tables"):
        return _of_records(registry.get("tables", name)().build(), space)
    advice = "give a table, or a release's report.json"
    raise TableError("universe-of", "is neither a file nor a registered table", advice, value=name)


def _of_records(table: Table, space: DatasetSpace) -> Dataset:
    if table.members is not None:
        return _of_households(table, space)
    if len(space.units) > 1:
        return space.dataset([(record, ()) for record in table.records()])
    return space.dataset(list(table.records()))


def _of_households(table: Table, space: DatasetSpace) -> Dataset:
    held: list[list[tuple[str, ...]]] = [[] for _ in range(len(table))]
    if table.members is not None:
        for person, owner in zip(table.members.table.records(), table.members.owner.tolist(), strict=True):
            held[owner].append(person)
    return space.dataset(list(zip(table.records(), held, strict=True)))


def _released(report: Path) -> Path:
    """The released table beside a report; the folder itself where there are several."""
    try:
        listed = json.loads(report.read_text(encoding="utf-8"))["released"]
        files = [report.parent / Path(entry["file"]).name for entry in listed]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        rule = "is no report of a release that can be read"
        raise TableError("universe-of", rule, "give its table", value=report.name) from fault
    return files[0] if len(files) == 1 else report.parent
