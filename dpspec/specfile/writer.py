"""Writing a specification as a file that reads back to an equal object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.errors import NotWritableError
from dpspec.base.exact import Number
from dpspec.base.params import Pairs, parameters
from dpspec.blocks.budget import Budget, BudgetTable, OpenBudget, UniformBudget
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.specfile.blocks import BLOCK_KINDS
from dpspec.specfile.document import (
    SCHEMA,
    Expectation,
    Miniature,
    PromisedBeside,
    RecordedClaim,
    SecretMechanism,
    SpecDocument,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpspec.extension import Registry
    from dpspec.grammar.mechanism import Mechanism
    from dpspec.grammar.spec import PrivacySpec

_WIDTH = 110


def to_toml(thing: SpecDocument | PrivacySpec, registry: Registry, *, id: str = "unnamed", title: str = "") -> str:
    """The text of a specification file.

    Args:
        thing: a document, or just a specification, which then needs
        id, title: its name and one line for people.
        registry: the names of the classes.

    Raises:
        NotWritableError: a block has no form in a file, such as an invariant given as a Python function.
    """
    document = thing if isinstance(thing, SpecDocument) else SpecDocument(id=id, title=title or id, spec=thing)
    return "\n".join(_Writer(registry).document(document)) + "\n"


def fragment(path: str, thing: Any, registry: Registry, *, array: bool = False) -> str:
    """One table of a specification file, as text.

    Args:
        path: the name of the table.
        thing: the block that it describes, or its values by their keys.
        registry: the names of the classes.
        array: whether it is a row of a list of tables.

    Raises:
        NotWritableError: something in it has no form in a file.
    """
    writer = _Writer(registry)
    if isinstance(thing, Mapping):
        lines = _table(path, {key: writer.plain(value) for key, value in thing.items()}, array=array)
    else:
        lines = writer.block(path, thing, path)
    return "\n".join(lines).strip()


def setting(value: Any, registry: Registry) -> str:
    """A value as `KEY=VALUE` options take it, quoted for a shell where that is needed."""
    written = _Writer(registry).plain(value).replace("\n", "")
    plain = written[1:-1] if written.startswith('"') else written
    return plain if all(c.isalnum() or c in "./-_" for c in plain) else f"'{written}'"


class _Writer:
    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    # -- tables -----------------------------------------------------------------------------------

    def document(self, document: SpecDocument) -> Iterator[str]:
        yield f"schema = {SCHEMA}"
        yield f"id = {_text(document.id)}"
        yield f"title = {_text(document.title)}"
        yield from self.blocks(document.spec, document.mechanism, "", None)
        if document.secret is not None:
            yield from _table("mechanism", self.secret(document.secret))
        if document.claim is not None:
            yield from _table("claim", self.claim(document.claim))
        if document.ledger is not None:
            name, parts = document.ledger.parameter, document.ledger.parts
            rows = [_inline({"id": _text(part.id), name: _number(part.amount)}) for part in parts]
            yield from _table("ledger", {"parts": _list(rows)})
        for miniature in document.miniatures:
            yield from self.miniature(miniature, document)
        for part in document.parts:
            yield from self.part(part, document)
        for found in document.counterexamples:
            written = {"title": _text(found.title), "because": _text(found.because)}
            yield from _table("counterexample", written, array=True)
            yield from _table("counterexample.mechanism", self.fields(found.mechanism))
        for expectation in document.expectations:
            yield from _table("expect", self.expectation(expectation), array=True)
        for explanation in document.explained:
            written = {"finding": _text(explanation.finding), "because": _text(explanation.because)}
            yield from _table("explained", written, array=True)
        for change in document.changes:
            history = {"from": change.before, "to": change.after, "because": change.because, "approved_by": change.approved_by}
            yield from _table("change", {key: _text(value) for key, value in history.items()}, array=True)
        if document.source:
            yield from _table("source", {_key(key): _text(value) for key, value in document.source})
        yield from self.facts(document)

    def facts(self, document: SpecDocument) -> Iterator[str]:
        """The statements other than the claim: the deployment, the sources, provenance, and steps outside of the guarantee."""
        if document.deployment is not None:
            yield from _table("deployment", _without(self.parameters(document.deployment), "units", "prose"))
            for key, pairs in (("units", document.deployment.units), ("prose", document.deployment.prose)):
                if pairs:
                    yield from _table(f"deployment.{key}", {_key(name): _text(value) for name, value in pairs})
        for source in document.sources:
            yield from _table("source", self.parameters(source), array=True)
        if document.provenance:
            rows = {one.block: self.parameters(one) for one in document.provenance}
            yield from _table("provenance", {block: _inline(_without(row, "block")) for block, row in rows.items()})
        for step in document.unaccounted:
            yield from _table("unaccounted", self.parameters(step), array=True)
        if document.layout is not None:
            yield from _table("table", self.parameters(document.layout))

    def blocks(
        self, spec: PrivacySpec, mechanism: Mechanism | None, prefix: str, inherited: SpecDocument | None
    ) -> Iterator[str]:
        """The block tables; for a miniature or a part only those that differ from the document's."""
        given = {"space"} if prefix == "miniature." else set()  # a miniature is given by its space, whichever it is
        for block in BLOCK_KINDS:
            value = getattr(spec, block)
            if inherited is None or block in given or value != getattr(inherited.spec, block):
                yield from self.block(block, value, prefix + block)
        if mechanism is not None and (inherited is None or mechanism != inherited.mechanism):
            yield from _table(f"{prefix}mechanism", self.fields(mechanism))

    def block(self, block: str, value: Any, path: str) -> Iterator[str]:
        """The table of one block, in its short form where it has one."""
        short: dict[str, Callable[[Any, str], Iterator[str]]] = {"multiverse": self.multiverse, "budget": self.budget}
        yield from short.get(block, self.typed)(value, path)

    def typed(self, value: Any, path: str) -> Iterator[str]:
        """A block by the name of its class."""
        if not attrs.has(type(value)):
            raise _unwritable(value)
        yield from _table(path, self.fields(value))

    def multiverse(self, value: Multiverse, path: str) -> Iterator[str]:
        """``invariants = [...]`` where that reads back as the same."""
        held = value.invariants
        if held is not None and value == (LevelSets(invariants=held) if held else Trivial()):
            yield from _table(path, {"invariants": self.plain(held)})
        else:
            yield from self.typed(value, path)

    def budget(self, value: Budget, path: str) -> Iterator[str]:
        """``epsilon = ...``, or one for each universe, where that reads back as the same."""
        name, amount, rows = value.parameter, value.uniform(), value.by_label()
        low, high = value.bounds() or (None, None)
        if value == OpenBudget(parameter=name, at_least=low, at_most=high):
            held = {"at_least": low, "at_most": high}
            bounds = {key: _inline({name: _number(bound)}) for key, bound in held.items() if bound is not None}
            yield from _table(path, bounds or {"stated": "false"})
        elif rows is not None and value == BudgetTable(parameter=name, values=rows):
            for label, entry in rows:
                yield from _table(f"{path}.universe", {"label": self.plain(label), name: _number(entry)}, array=True)
        elif amount is not None and value == UniformBudget(parameter=name, value=amount):
            yield from _table(path, {name: _number(amount)})
        else:
            yield from self.typed(value, path)

    def miniature(self, miniature: Miniature, document: SpecDocument) -> Iterator[str]:
        if miniature.mechanism is None and document.mechanism is not None:
            raise NotWritableError("miniature", "drops the mechanism of its document", "give it one", value=miniature.title)
        yield from _table("miniature", {"title": _text(miniature.title)}, array=True)
        yield from self.blocks(miniature.spec, miniature.mechanism, "miniature.", document)

    def secret(self, secret: SecretMechanism) -> dict[str, str]:
        """The fields of a mechanism, with the range of each secret parameter in the place of its value."""
        fields = self.fields(secret.mechanism)
        for one in secret.parameters:
            ends = {"at_least": self.plain(one.at_least), "at_most": self.plain(one.at_most)} if not one.one_of else {}
            listed = {"one_of": self.plain(one.one_of)} if one.one_of else {}
            fields[one.name] = _inline({"secret": "true", **ends, **listed})
        return fields

    def part(self, part: PromisedBeside, document: SpecDocument) -> Iterator[str]:
        if part.mechanism is None and document.mechanism is not None:
            raise NotWritableError("part", "drops the mechanism of its document", "give it one", value=part.title)
        values = {key: getattr(part, key) for key in ("title", "view", "share", "verdict", "because")}
        yield from _table("part", {key: self.plain(value) for key, value in values.items() if value is not None}, array=True)
        yield from self.blocks(part.spec, part.mechanism, "part.", document)

    def claim(self, claim: RecordedClaim) -> dict[str, str]:
        written = {"verdict": _text(claim.verdict), "because": _text(claim.because)}
        return written | ({"source": _text(claim.source)} if claim.source else {})

    def expectation(self, expectation: Expectation) -> dict[str, str]:
        return {
            "what": _text(expectation.what),
            expectation.parameter: _number(expectation.printed),
            **({} if expectation.corrected is None else {"corrected": _number(expectation.corrected)}),
            "tolerance": _ratio(expectation.tolerance),
            "because": _text(expectation.because),
            "route": _inline(self.fields(expectation.route)),
        }

    # -- values -----------------------------------------------------------------------------------

    def fields(self, thing: Any) -> dict[str, str]:
        """The type of a registered object and its parameters that differ from their defaults."""
        entry = self.registry.entry_of(type(thing))
        if entry is None:
            raise _unwritable(thing)
        # Two plugins may have one name; the qualified one then says which is meant.
        ambiguous = sum(other.kind == entry.kind and other.name == entry.name for other in self.registry) > 1
        return {"type": _text(entry.qualified_name if ambiguous else entry.name), **self.parameters(thing)}

    def parameters(self, thing: Any) -> dict[str, str]:
        given = {p.name: (getattr(thing, p.name), p) for p in parameters(type(thing))}
        return {
            name: self.pairs(value) if isinstance(parameter.domain, Pairs) and value is not None else self.plain(value)
            for name, (value, parameter) in given.items()
            if parameter.required or value != parameter.default
        }

    def pairs(self, value: tuple[tuple[str, Any], ...]) -> str:
        """A table from texts to values, as a file has it."""
        return _inline({_key(key): self.plain(entry) for key, entry in value})

    def plain(self, value: Any) -> str:
        """Any value that a declared parameter can hold."""
        for kind, write in _SCALARS.items():
            if isinstance(value, kind):
                return write(value)
        if isinstance(value, tuple):
            return _list([self.plain(entry) for entry in value])
        if self.registry.entry_of(type(value)) is not None:
            return _inline(self.fields(value))
        if attrs.has(type(value)) and parameters(type(value)):
            return _inline(self.parameters(value))
        raise _unwritable(value)


def _table(path: str, rows: Mapping[str, str], *, array: bool = False) -> Iterator[str]:
    yield ""
    yield f"[[{path}]]" if array else f"[{path}]"
    for key, value in rows.items():
        yield f"{key} = {value}"


def _without(rows: Mapping[str, str], *keys: str) -> dict[str, str]:
    return {name: value for name, value in rows.items() if name not in keys}


def _unwritable(value: Any) -> NotWritableError:
    advice = "register its class, or build the specification in Python"
    return NotWritableError(str(value) or type(value).__name__, "has no form in a specification file", advice)


def _text(value: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written.replace("\x7f", "\\u007f")  # JSON allows the character as it is, TOML does not


def _key(key: str) -> str:
    return key if key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key) else _text(key)


def _inline(rows: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{key} = {value}" for key, value in rows.items()) + " }" if rows else "{}"


def _list(entries: list[str]) -> str:
    line = "[" + ", ".join(entries) + "]"
    if len(line) <= _WIDTH and not any(entry.startswith("{") for entry in entries):
        return line
    return "[\n" + "".join(f"  {entry},\n" for entry in entries) + "]" if entries else "[]"


def _number(value: Number) -> str:
    return _ratio(value.as_fraction()) if value.is_rational else _text(str(value))


def _ratio(value: Fraction) -> str:
    """A decimal where one of few digits is exact, else a ratio; quoted either way.

    >>> _ratio(Fraction(263, 100)), _ratio(Fraction(1, 3)), _ratio(Fraction(5))
    ('"2.63"', '"1/3"', '"5"')
    """
    for digits in range(1, 9):
        scaled = value * 10**digits
        if value.denominator > 1 and scaled.denominator == 1:
            sign, whole = "-" if scaled < 0 else "", str(abs(scaled.numerator)).rjust(digits + 1, "0")
            return f'"{sign}{whole[:-digits]}.{whole[-digits:]}"'
    return f'"{value}"'


_SCALARS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    float: repr,
    str: _text,
    Number: _number,
    Fraction: _ratio,
}
"""The formats of plain values; bool precedes int, of which it is a subclass."""
