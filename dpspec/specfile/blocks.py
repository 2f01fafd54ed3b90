"""The block tables of a specification file: the five blocks, the mechanism, and the miniatures that inherit them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from dpspec.blocks.budget import Budget, BudgetTable, UniformBudget
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.space import DatasetSpace
from dpspec.errors import DpspecError, MissingKeyError, UnknownKeyError, WrongShapeError
from dpspec.exact import Number
from dpspec.mechanism import Mechanism
from dpspec.params import Data, Domain, Text, did_you_mean, each, parameters
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import Counterexample, Miniature
from dpspec.specfile.maker import FAILED, Maker, misspelt, shape_of

BLOCK_KINDS = {
    "space": "spaces",
    "multiverse": "multiverses",
    "input_divergence": "input_divergences",
    "output_divergence": "output_divergences",
    "budget": "budgets",
}
"""The five block tables in order, each with the kind of thing that its `type` names."""

AMOUNT: Domain = next(p.domain for p in parameters(UniformBudget) if p.name == "value")
"""What a budget may be: an exact number from 0 to infinity."""


@attrs.frozen(kw_only=True)
class Blocks:
    """What the block tables gave; a value of a block with a fault is FAILED, an absent one is None."""

    given: Mapping[str, Any]
    spec: PrivacySpec | None
    mechanism: Any

    @property
    def budget(self) -> Budget | None:
        """The budget, when it could be read."""
        budget = self.given.get("budget")
        return budget if isinstance(budget, Budget) else None


class BlockReader:
    """Reads block tables and fits them together."""

    def __init__(self, maker: Maker) -> None:
        self.maker, self.log = maker, maker.log

    def document(self, data: Mapping[str, Any]) -> Blocks:
        """The blocks of the file itself; all but the multiverse are required."""
        meant = misspelt(data, BLOCK_KINDS)
        for block, kind in BLOCK_KINDS.items():
            if block not in {*data, *meant, "multiverse"}:
                known = ", ".join(self.maker.registry.names(kind))
                advice = f"name a type: {known}" if block != "budget" else 'write the number by its name: epsilon = "..."'
                self.log.add(MissingKeyError(block, "is missing", f"add a table [{block}]; {advice}"), "")
        return self._read(data, "", {"multiverse": Trivial()}, None)

    def miniatures(self, data: Mapping[str, Any], document: Blocks) -> tuple[Miniature, ...]:
        """The small instances, each with the blocks it gives and the others inherited."""
        rows = self.rows(data, "miniature")
        made = [self._miniature(row, f"miniature[{place}]", document) for place, row in rows]
        return tuple(miniature for miniature in made if miniature is not None)

    def rows(self, data: Mapping[str, Any], key: str, path: str = "") -> list[tuple[int, Mapping[str, Any]]]:
        """The entries of an array of tables, each with its place."""
        shown = f"{path}.{key}" if path else key
        value = data.get(key, [])
        if not isinstance(value, list):
            self.log.add(WrongShapeError(shown, f"must be an array of tables [[{shown}]], not a {shape_of(value)}"), shown)
            return []
        tables = [(place, self.maker.table(row, f"{shown}[{place}]")) for place, row in enumerate(value)]
        return [(place, row) for place, row in tables if row is not None]

    def counterexamples(self, data: Mapping[str, Any], spec: PrivacySpec | None) -> tuple[Counterexample, ...]:
        """The mechanisms that must fail, each fitting the space of the specification on which it is judged."""
        rows = self.rows(data, "counterexample")
        made = [self._counterexample(row, f"counterexample[{place}]", spec) for place, row in rows]
        return tuple(found for found in made if found is not None)

    # -- parts ------------------------------------------------------------------------------------

    def _miniature(self, row: Mapping[str, Any], path: str, document: Blocks) -> Miniature | None:
        known = dict.fromkeys(("title", *BLOCK_KINDS, "mechanism"))
        self.maker.known_keys(row, known, path)
        title = row.get("title")
        if not isinstance(title, str) or not title:
            self.log.add(MissingKeyError(f"{path}.title", "is missing", "say in a text what the small instance is"), path)
        if "space" not in row:
            self.log.add(MissingKeyError(f"{path}.space", "is missing", "a miniature is given by its small space"), path)
            return None
        inherited = {block: document.given[block] for block in BLOCK_KINDS}
        read = self._read(row, path, inherited, document.mechanism)
        if read.spec is None or read.mechanism is FAILED:
            return None
        return Miniature(title=str(title), spec=read.spec, mechanism=read.mechanism)

    def _counterexample(self, row: Mapping[str, Any], path: str, spec: PrivacySpec | None) -> Counterexample | None:
        before = self.log.found
        self.maker.known_keys(row, dict.fromkeys(("title", "because", "mechanism")), path)
        for key, advice in (
            ("title", "say in a text what the mechanism does"),
            ("because", "say in a text why it fails"),
            ("mechanism", 'name it: mechanism = { type = "...", ... }'),
        ):
            if key not in row:
                self.log.add(MissingKeyError(f"{path}.{key}", "is missing", advice), path)
        title, because = (self.maker.value(Text(), row.get(key, "-"), f"{path}.{key}") for key in ("title", "because"))
        mechanism = None
        if "mechanism" in row:
            mechanism = self._registered_table("mechanisms", row["mechanism"], f"{path}.mechanism")
        if isinstance(mechanism, Mechanism) and spec is not None:
            self._fits(f"{path}.mechanism", mechanism, spec.space)
        if self.log.found > before or not isinstance(mechanism, Mechanism):
            return None
        return Counterexample(title=title, because=because, mechanism=mechanism)

    def _read(self, data: Mapping[str, Any], path: str, inherited: Mapping[str, Any], mechanism: Any) -> Blocks:
        prefix = f"{path}." if path else ""
        given: dict[str, Any] = dict.fromkeys(BLOCK_KINDS, FAILED) | dict(inherited)
        for block in BLOCK_KINDS:
            if block in data:
                given[block] = self._block(block, data[block], prefix + block)
        if "mechanism" in data:
            mechanism = self._registered_table("mechanisms", data["mechanism"], f"{prefix}mechanism")
        space = given["space"]
        if isinstance(mechanism, Mechanism) and space is not FAILED and not self._fits(f"{prefix}mechanism", mechanism, space):
            mechanism = FAILED
        spec = self._fit(given, prefix)
        return Blocks(given=given, spec=spec, mechanism=mechanism)

    def _block(self, block: str, value: Any, path: str) -> Any:
        table = self.maker.table(value, path)
        if table is None:
            return FAILED
        if block == "multiverse" and "type" not in table:
            return self._multiverse(table, path)
        if block == "budget" and "type" not in table:
            return self._budget(table, path)
        return self.maker.registered(BLOCK_KINDS[block], table, path)

    def _registered_table(self, kind: str, value: Any, path: str) -> Any:
        table = self.maker.table(value, path)
        return FAILED if table is None else self.maker.registered(kind, table, path)

    def _multiverse(self, table: Mapping[str, Any], path: str) -> Any:
        """``invariants = [...]`` without a type: the level sets; of no invariants: one universe."""
        if table == {"invariants": []}:
            return Trivial()
        return self.maker.make(LevelSets, table, path)

    # -- budget -----------------------------------------------------------------------------------

    def quantities(self) -> dict[str, None]:
        """Every name that some registered output divergence gives to its budget."""
        names = self.maker.registry.names("output_divergences")
        classes = [self.maker.registry.get("output_divergences", name) for name in names]
        return {parameter: None for cls in classes for parameter in cls.budget_parameters}

    def _budget(self, table: Mapping[str, Any], path: str) -> Any:
        if "universe" in table:
            return self._budget_table(table, path)
        found = self._amount(table, path)
        return FAILED if found is None else UniformBudget(parameter=found[0], value=found[1])

    def _amount(self, table: Mapping[str, Any], path: str) -> tuple[str, Number] | None:
        """The one number of a table, by its name."""
        known = self.quantities()
        if len(table) != 1:
            advice = f"write one of {', '.join(known)}"
            missing = MissingKeyError(path, "names no number", advice)
            many = WrongShapeError(path, f"names {len(table)} numbers ({', '.join(table)})", "a budget is one number")
            if any(key not in known for key in table):
                self.maker.known_keys(table, known, path)
            else:
                self.log.add(many if table else missing, path)
            return None
        key, written = next(iter(table.items()))
        if key not in known and not self.maker.registry.failed:  # a failed plugin may be what knows the name
            advice = did_you_mean(key, known) or f"write one of {', '.join(known)}"
            self.log.add(UnknownKeyError(f"{path}.{key}", "is no name of a budget", advice), path)
            return None
        value = self.maker.value(AMOUNT, written, f"{path}.{key}")
        return None if value is FAILED else (key, value)

    def _budget_table(self, table: Mapping[str, Any], path: str) -> Any:
        """``[[budget.universe]]``: a label and a number for each universe."""
        self.maker.known_keys(table, {"universe": None}, path)
        rows = self.rows(table, "universe", path)
        before = self.log.found
        values: list[tuple[Any, Number]] = []
        names: set[str] = set()
        for place, row in rows:
            here = f"{path}.universe[{place}]"
            if "label" not in row:
                self.log.add(MissingKeyError(f"{here}.label", "is missing", "write the universe's label"), here)
                continue
            label = self.maker.value(Data(), row["label"], f"{here}.label")
            found = self._amount({key: entry for key, entry in row.items() if key != "label"}, here)
            if found is not None:
                names.add(found[0])
                values.append((label, found[1]))
        if len(names) > 1:
            fault = WrongShapeError(f"{path}.universe", f"mixes {' and '.join(sorted(names))}", "state one number everywhere")
            self.log.add(fault, path)
        if self.log.found > before or not names:
            return FAILED
        return BudgetTable(parameter=names.pop(), values=tuple(values))

    # -- fit --------------------------------------------------------------------------------------

    def _fit(self, given: dict[str, Any], prefix: str) -> PrivacySpec | None:
        """The specification, when its blocks fit together; a block that does not fit becomes FAILED in `given`."""
        whole = dict(given)
        if given["space"] is FAILED:
            return None
        for block in ("multiverse", "input_divergence"):
            if given[block] is not FAILED and not self._fits(prefix + block, given[block], given["space"]):
                given[block] = FAILED
        if any(value is FAILED for value in whole.values()):
            return None
        try:
            return PrivacySpec(**whole)
        except DpspecError as fault:
            known = {(found.subject, found.rule) for found in self.log.faults}
            for single in each(fault):
                if (single.subject, single.rule) not in known:
                    self.log.add(single, f"{prefix}budget")
                    given["budget"] = FAILED
            return None

    def _fits(self, path: str, block: Any, space: DatasetSpace) -> bool:
        """Whether a block says that it fits the space; its faults are recorded at its own table."""
        before = self.log.found
        self.log.attempt(path, lambda: block.check(space))
        return self.log.found == before
