"""Reading the tables of a specification file: the five blocks, the mechanism, miniatures, and the records of what is published.

Miniatures inherit the blocks that they do not state. Records are the claim, the ledger, expectations, explanations, the
history of the promise and the source.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.errors import (
    DpspecError,
    DuplicateIdError,
    EmptyLedgerError,
    LedgerError,
    MissingKeyError,
    NegativePartError,
    ParameterError,
    UnknownKeyError,
    WrongShapeError,
)
from dpspec.base.params import FAILED, Data, Domain, Exact, Integer, Rational, Text, did_you_mean, each, parameters
from dpspec.blocks.budget import Budget, BudgetTable, OpenBudget, UniformBudget
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import (
    QUANTITIES,
    VERDICTS,
    VIEWS,
    Counterexample,
    Expectation,
    Explanation,
    Ledger,
    LedgerPart,
    Miniature,
    PromisedBeside,
    RecordedChange,
    RecordedClaim,
    SecretMechanism,
    SecretParameter,
)
from dpspec.specfile.maker import Maker, misspelt, shape_of

if TYPE_CHECKING:
    from dpspec.base.exact import Number
    from dpspec.blocks.space import DatasetSpace

BLOCK_KINDS = {
    "space": "spaces",
    "multiverse": "multiverses",
    "input_divergence": "input_divergences",
    "output_divergence": "output_divergences",
    "budget": "budgets",
}
"""The five block tables in order, each with the kind of thing that its `type` names."""

_SHA256 = re.compile(r"[0-9a-f]{64}")

AMOUNT: Domain = next(p.domain for p in parameters(UniformBudget) if p.name == "value")
"""The domain of a budget: an exact number from 0 to infinity."""


@attrs.frozen(kw_only=True)
class Blocks:
    """The blocks of the block tables; a value of a block with a fault is FAILED, an absent one is None."""

    given: Mapping[str, Any]
    spec: PrivacySpec | None
    mechanism: Any
    secret: SecretMechanism | None = None

    @property
    def budget(self) -> Budget | None:
        """The budget, when it could be read."""
        budget = self.given.get("budget")
        return budget if isinstance(budget, Budget) else None


OF_PART: dict[str, Domain] = {
    "view": Text(VIEWS),
    "share": Rational(0, 1, open_low=True, open_high=True),
    "verdict": Text(VERDICTS),
    "because": Text(),
}
"""The keys of a part of a product other than its blocks."""


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
        """The mechanisms that must fail, each on the space of the specification that it violates."""
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

    def parts(self, data: Mapping[str, Any], document: Blocks) -> tuple[PromisedBeside, ...]:
        """Further promises for the same product, each with the blocks that it gives and the others inherited."""
        made = [self._part(row, f"part[{place}]", document) for place, row in self.rows(data, "part")]
        return tuple(part for part in made if part is not None)

    def _part(self, row: Mapping[str, Any], path: str, document: Blocks) -> PromisedBeside | None:
        before = self.log.found
        self.maker.known_keys(row, dict.fromkeys(("title", *OF_PART, *BLOCK_KINDS, "mechanism")), path)
        if "title" not in row:
            self.log.add(MissingKeyError(f"{path}.title", "is missing", "say in a text what else is promised"), path)
        if not any(block in row for block in BLOCK_KINDS):
            self.log.add(
                MissingKeyError(path, "has no block of its own", "give those in which it differs, or leave it out"), path
            )
        known = {"title": Text(), **OF_PART}
        values = {key: self.maker.value(domain, row[key], f"{path}.{key}") for key, domain in known.items() if key in row}
        inherited = {block: document.given[block] for block in BLOCK_KINDS}
        read = self._read(row, path, inherited, document.mechanism)
        if read.spec is None or read.mechanism is FAILED or self.log.found > before:
            return None
        return PromisedBeside(spec=read.spec, mechanism=read.mechanism, **values)

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
                given[block] = self._block(block, data[block], prefix + block, given["output_divergence"])
        secret: tuple[SecretParameter, ...] = ()
        if "mechanism" in data:
            table = data["mechanism"]
            if not path and _is_secret(table):
                secret, table = self._secrets(table)
            mechanism = FAILED if table is FAILED else self._registered_table("mechanisms", table, f"{prefix}mechanism")
        space = given["space"]
        if isinstance(mechanism, Mechanism) and space is not FAILED and not self._fits(f"{prefix}mechanism", mechanism, space):
            mechanism = FAILED
        spec = self._fit(given, prefix)
        if secret and isinstance(mechanism, Mechanism):
            return Blocks(given=given, spec=spec, mechanism=None, secret=self._secret(mechanism, secret))
        return Blocks(given=given, spec=spec, mechanism=mechanism)

    def _secrets(self, table: Mapping[str, Any]) -> tuple[tuple[SecretParameter, ...], Any]:
        """The secret parameters of a mechanism as they are written, and its table with a value of theirs in their places."""
        before, found, plain = self.log.found, [], dict(table)
        for key, row in ((key, row) for key, row in table.items() if _is_secret({key: row})):
            path = f"mechanism.{key}"
            self.maker.known_keys(row, dict.fromkeys(("secret", "at_least", "at_most", "one_of")), path)
            listed = row.get("one_of", [])
            if row["secret"] is not True:
                self.log.add(
                    WrongShapeError(f"{path}.secret", "can only be true", "write the value, where it is published"), path
                )
            elif ("one_of" in row) == ("at_least" in row or "at_most" in row) or ("at_least" in row) != ("at_most" in row):
                self.log.add(MissingKeyError(path, "has no range", "write at_least and at_most, or one_of = [...]"), path)
            elif "one_of" in row and not (isinstance(listed, list) and listed):
                self.log.add(WrongShapeError(f"{path}.one_of", "must be a list of values", "with one of them at least"), path)
            else:
                secret = SecretParameter(name=key, at_least=row.get("at_least"), at_most=row.get("at_most"), one_of=tuple(listed))
                found.append(secret)
                plain[key] = listed[0] if listed else secret.at_least
        return (tuple(found), FAILED) if self.log.found > before else (tuple(found), plain)

    def _secret(self, mechanism: Mechanism, written: tuple[SecretParameter, ...]) -> SecretMechanism | None:
        """The same with every value read by the domain of its parameter."""
        before = self.log.found
        domains = {p.name: p.domain for p in parameters(type(mechanism))}
        read = []
        for secret in written:
            path, domain = f"mechanism.{secret.name}", domains[secret.name]
            if not isinstance(domain, (Integer, Rational, Exact)) and not secret.one_of:
                self.log.add(WrongShapeError(path, "is no number, of which a range could be given", "write one_of = [...]"), path)
                continue
            values: dict[str, Any] = {
                key: None if (value := getattr(secret, key)) is None else self.maker.value(domain, value, f"{path}.{key}")
                for key in ("at_least", "at_most")
            }
            listed = [self.maker.value(domain, value, f"{path}.one_of[{place}]") for place, value in enumerate(secret.one_of)]
            low, high = values["at_least"], values["at_most"]
            if self.log.found == before and low is not None and high is not None and high < low:
                self.log.add(ParameterError(path, "is at least more than it is at most", "exchange the two"), path)
            read.append(SecretParameter(name=secret.name, one_of=tuple(listed), **values))
        if self.log.found > before:
            return None
        return SecretMechanism(mechanism=mechanism, parameters=tuple(read))

    def _block(self, block: str, value: Any, path: str, standard: Any) -> Any:
        table = self.maker.table(value, path)
        if table is None:
            return FAILED
        if block == "multiverse" and "type" not in table:
            return self._multiverse(table, path)
        if block == "budget" and "type" not in table:
            return self._budget(table, path, standard)
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
        classes = self.maker.registry.classes("output_divergences")
        return {name: None for cls in sorted(classes, key=lambda cls: str(cls.name)) for name in cls.budget_parameters}

    def is_quantity(self, name: str) -> bool:
        """Whether some registered output divergence has this name for its budget; loaded classes are tried first."""
        entries = (entry for entry in self.maker.registry if entry.kind == "output_divergences")
        loaded_first = sorted(entries, key=lambda entry: not entry.is_loaded)
        return any(entry.fault is None and name in entry.cls.budget_parameters for entry in loaded_first)

    def _budget(self, table: Mapping[str, Any], path: str, standard: Any) -> Any:
        if "universe" in table:
            return self._budget_table(table, path)
        if "stated" in table:
            return self._not_stated(table, path, standard)
        if "at_least" in table or "at_most" in table:
            return self._bounded(table, path)
        found = self._amount(table, path)
        return FAILED if found is None else UniformBudget(parameter=found[0], value=found[1])

    def _not_stated(self, table: Mapping[str, Any], path: str, standard: Any) -> Any:
        """``stated = false``: the publisher gave no number; it would be the first that the output divergence takes."""
        if table["stated"] is not False or len(table) > 1:
            fault = WrongShapeError(
                f"{path}.stated", "can only be false, and must be the only key", "if there is a number, write the number"
            )
            self.log.add(fault, path)
            return FAILED
        return standard if standard is FAILED else OpenBudget(parameter=standard.budget_parameters[0])

    def _bounded(self, table: Mapping[str, Any], path: str) -> Any:
        """``at_least`` and ``at_most``: each one number by its name, the same name."""
        before = self.log.found
        self.maker.known_keys(table, dict.fromkeys(("at_least", "at_most")), path)
        found = {}
        for bound in (bound for bound in ("at_least", "at_most") if bound in table):
            written = self.maker.table(table[bound], f"{path}.{bound}")
            amount = None if written is None else self._amount(written, f"{path}.{bound}")
            if amount is not None:
                found[bound] = amount
        names = sorted({name for name, _ in found.values()})
        if len(names) > 1:
            self.log.add(WrongShapeError(path, f"mixes {' and '.join(names)}", "state both bounds of one number"), path)
        if self.log.found > before:
            return FAILED
        values = {bound: value for bound, (_, value) in found.items()}
        return self.maker.attempt(path, lambda: OpenBudget(parameter=names[0], **values))

    def _amount(self, table: Mapping[str, Any], path: str) -> tuple[str, Number] | None:
        """The one number of a table, by its name."""
        if len(table) != 1:
            known = self.quantities()
            advice = f"write one of {', '.join(known)}"
            missing = MissingKeyError(path, "names no number", advice)
            many = WrongShapeError(path, f"names {len(table)} numbers ({', '.join(table)})", self._one_number(table))
            if any(key not in known for key in table):
                self.maker.known_keys(table, known, path)
            else:
                self.log.add(many if table else missing, path)
            return None
        key, written = next(iter(table.items()))
        registry = self.maker.registry  # a plugin that failed, or is missing altogether, may be what knows the name
        if registry.names("output_divergences") and not self.is_quantity(key) and registry.is_whole("output_divergences"):
            known = self.quantities()
            advice = did_you_mean(key, known) or f"write one of {', '.join(known)}"
            self.log.add(UnknownKeyError(f"{path}.{key}", "is no name of a budget", advice), path)
            return None
        value = self.maker.value(AMOUNT, written, f"{path}.{key}")
        return None if value is FAILED else (key, value)

    def _one_number(self, table: Mapping[str, Any]) -> str:
        """The advice for a budget of several numbers: some are parameters of an output divergence, such as delta."""
        for cls in self.maker.registry.classes("output_divergences"):
            own = {one.name for one in parameters(cls)} & set(table)
            left = set(table) - own
            if own and len(left) == 1 and left <= set(cls.budget_parameters):
                inside, alone = " and ".join(sorted(own)), left.pop()
                return f'write type = "{cls.name}" and {inside} under [output_divergence], and {alone} alone under [budget]'
        return "keep one of them: a budget is one number"

    def _budget_table(self, table: Mapping[str, Any], path: str) -> Any:
        """``[[budget.universe]]``: a label and a number for each universe."""
        self.maker.known_keys(table, {"universe": None}, path)
        before = self.log.found
        rows = self.rows(table, "universe", path)
        if not rows and self.log.found == before:
            advice = 'write [[budget.universe]] with label = "..." and the number, once for each universe'
            self.log.add(MissingKeyError(f"{path}.universe", "names no universe", advice), path)
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
        try:
            return BudgetTable(parameter=names.pop(), values=tuple(values))
        except ParameterError as fault:
            self.log.add(fault, f"{path}.universe")
            return FAILED

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
            spec = PrivacySpec(**whole)
            if not prefix.startswith("miniature"):  # a smaller space need not have all parts that a budget names
                spec.budget.check_universes(spec.multiverse, spec.space)
            return spec
        except DpspecError as fault:
            # A fault that a block has recorded at its own table is not repeated for the five together.
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


def _is_secret(table: Any) -> bool:
    """Whether some parameter of a mechanism is said to be secret."""
    return isinstance(table, Mapping) and any(isinstance(value, Mapping) and "secret" in value for value in table.values())


# --- records of what is published -----------------------------------------------------------------


_TOLERANCE = Rational(0)
_PRINTED = Exact()


class RecordReader:
    """Reads the recorded statements of a file."""

    def __init__(self, maker: Maker) -> None:
        self.maker, self.log = maker, maker.log

    def text(self, table: Mapping[str, Any], key: str, path: str, *, required: bool = True, choices: tuple[str, ...] = ()) -> str:
        """A text of a table; "" with a fault in the log when it is none."""
        shown = f"{path}.{key}" if path else key
        if key not in table:
            if required and key not in misspelt(table, (key,)):
                self.log.add(MissingKeyError(shown, "is missing", "give a text"), path)
            return ""
        read = self.maker.value(Text(choices), table[key], shown)
        return "" if read is FAILED else str(read)

    def claim(self, data: Mapping[str, Any]) -> RecordedClaim | None:
        """The table [claim]."""
        if "claim" not in data:
            return None
        table = self.maker.table(data["claim"], "claim")
        if table is None:
            return None
        self.maker.known_keys(table, dict.fromkeys(("verdict", "because", "source")), "claim")
        return RecordedClaim(
            verdict=self.text(table, "verdict", "claim", choices=VERDICTS),
            because=self.text(table, "because", "claim"),
            source=self.text(table, "source", "claim", required=False) or None,
        )

    def source(self, data: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The table [source]: texts, dates and whole numbers under any key."""
        if "source" not in data or isinstance(data["source"], list):
            return ()
        table = self.maker.table(data["source"], "source")
        pairs = []
        for key, value in (table or {}).items():
            if isinstance(value, (datetime.date, datetime.time)):
                pairs.append((key, value.isoformat()))
            elif isinstance(value, str) or type(value) is int:
                pairs.append((key, str(value)))
            else:
                fault = WrongShapeError(f"source.{key}", f"must be a text, not a {shape_of(value)}", "quote it", value=value)
                self.log.add(fault, "source")
        return tuple(pairs)

    # -- ledger -----------------------------------------------------------------------------------

    def ledger(self, data: Mapping[str, Any], budget: Budget | None, blocks: BlockReader) -> Ledger | None:
        """The table [ledger], whose parts must add up to the budget exactly."""
        if "ledger" not in data:
            return None
        table = self.maker.table(data["ledger"], "ledger")
        if table is None:
            return None
        self.maker.known_keys(table, {"parts": None}, "ledger")
        before = self.log.found
        rows = blocks.rows(table, "parts", "ledger")
        if not rows and self.log.found == before:
            self.log.add(EmptyLedgerError("ledger.parts", "holds no part", 'write parts = [{ id = "...", <number> }]'), "ledger")
        total = None if budget is None else budget.uniform()
        if budget is None or total is None:
            if budget is not None:
                self.log.add(LedgerError("ledger", "needs a budget that is one number", "state it in [budget]"), "ledger")
            return None
        parts = [self._part(row, f"ledger.parts[{place}]", budget.parameter) for place, row in rows]
        seen: set[str] = set()
        for place, row in rows:
            identity = row.get("id")
            if isinstance(identity, str) and identity in seen:
                path = f"ledger.parts[{place}].id"
                self.log.add(DuplicateIdError(path, "names a part twice", "give each part its own id", value=identity), path)
            elif isinstance(identity, str):
                seen.add(identity)
        if self.log.found > before:
            return None
        ledger = Ledger(parameter=budget.parameter, parts=tuple(part for part in parts if part is not None))
        self._check_sum(ledger, total)
        return ledger

    def _part(self, row: Mapping[str, Any], path: str, parameter: str) -> LedgerPart | None:
        self.maker.known_keys(row, {"id": None, parameter: None}, path)
        identity = self.text(row, "id", path)
        if parameter not in row:
            self.log.add(MissingKeyError(f"{path}.{parameter}", "is missing", "give the share of this part"), path)
            return None
        amount = self.maker.value(_PRINTED, row[parameter], f"{path}.{parameter}")
        if amount is FAILED:
            return None
        if amount < 0:
            fault = NegativePartError(f"{path}.{parameter}", "is below 0", "a part spends 0 or more", value=row[parameter])
            self.log.add(fault, path)
            return None
        return LedgerPart(id=identity, amount=amount)

    def _check_sum(self, ledger: Ledger, budget: Number) -> None:
        def add_up() -> None:
            total = sum((part.amount for part in ledger.parts[1:]), start=ledger.parts[0].amount)
            if total != budget:
                rule = f"the parts add up to {ledger.parameter} = {total.plain()}, the budget is {budget.plain()}"
                raise LedgerError("ledger", rule, "state the parts and the total as published, or no ledger")

        self.log.attempt("ledger", add_up)

    # -- expectations -----------------------------------------------------------------------------

    def expectations(self, data: Mapping[str, Any], blocks: BlockReader) -> tuple[Expectation, ...]:
        """The tables [[expect]]."""
        made = [self._expectation(row, f"expect[{place}]") for place, row in blocks.rows(data, "expect")]
        return tuple(expectation for expectation in made if expectation is not None)

    def _expectation(self, row: Mapping[str, Any], path: str) -> Expectation | None:
        before = self.log.found
        self.maker.known_keys(row, dict.fromkeys(("what", *QUANTITIES, "corrected", "tolerance", "because", "route")), path)
        what, because = self.text(row, "what", path), self.text(row, "because", path)
        named = [key for key in QUANTITIES if key in row]
        if len(named) != 1:
            rule = "names no printed number" if not named else f"names {len(named)} printed numbers"
            self.log.add(MissingKeyError(path, rule, f"write one of {', '.join(QUANTITIES)}"), path)
        printed = [self.maker.value(_PRINTED, row[key], f"{path}.{key}") for key in named]
        tolerance = self._required(row, "tolerance", path, "say how far off the printed number may be, 0 for not at all")
        if tolerance is not FAILED:
            tolerance = self.maker.value(_TOLERANCE, tolerance, f"{path}.tolerance")
        route = self._required(row, "route", path, 'name the formula: route = { type = "...", ... }')
        if route is not FAILED:
            route = self.maker.registered("routes", route, f"{path}.route")
        corrected = self.maker.value(_PRINTED, row["corrected"], f"{path}.corrected") if "corrected" in row else None
        if self.log.found > before:
            return None
        return Expectation(
            what=what, parameter=named[0], printed=printed[0], tolerance=Fraction(tolerance), because=because, route=route,
            corrected=corrected,
        )  # fmt: skip

    def _required(self, row: Mapping[str, Any], key: str, path: str, advice: str) -> Any:
        if key in row:
            return row[key]
        self.log.add(MissingKeyError(f"{path}.{key}", "is missing", advice), path)
        return FAILED

    # -- linter -----------------------------------------------------------------------------------

    def explanations(self, data: Mapping[str, Any], blocks: BlockReader) -> tuple[Explanation, ...]:
        """The tables [[explained]]."""
        found = []
        for place, row in blocks.rows(data, "explained"):
            path = f"explained[{place}]"
            self.maker.known_keys(row, dict.fromkeys(("finding", "because")), path)
            found.append(Explanation(finding=self.text(row, "finding", path), because=self.text(row, "because", path)))
        return tuple(found)

    # -- history ----------------------------------------------------------------------------------

    def changes(self, data: Mapping[str, Any], blocks: BlockReader) -> tuple[RecordedChange, ...]:
        """The tables [[change]]."""
        found = []
        for place, row in blocks.rows(data, "change"):
            path = f"change[{place}]"
            self.maker.known_keys(row, dict.fromkeys(("from", "to", "because", "approved_by")), path)
            before, after = (self._promise(row, key, path) for key in ("from", "to"))
            because, by = (self._responsible(row, key, path) for key in ("because", "approved_by"))
            found.append(RecordedChange(before=before, after=after, because=because, approved_by=by))
        return tuple(found)

    def _responsible(self, row: Mapping[str, Any], key: str, path: str) -> str:
        """A reason or a name, of which blanks are none."""
        found = self.text(row, key, path)
        if found and not found.strip():
            self.log.add(ParameterError(f"{path}.{key}", "is blank", f'write {key} = "..."', value=found), f"{path}.{key}")
        return found

    def _promise(self, row: Mapping[str, Any], key: str, path: str) -> str:
        """The hash of a promise."""
        found = self.text(row, key, path)
        if found and _SHA256.fullmatch(found) is None:
            rule, advice = "is no hash of a promise", "copy the 64 hexadecimal digits that dpspec diff prints"
            self.log.add(ParameterError(f"{path}.{key}", rule, advice, value=found), f"{path}.{key}")
        return found
