"""`dpspec exposure`: what the tables that a specification publishes exactly disclose before any noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpspec as dp
from dpspec.plugin import Bracket, Marginal, ParameterError, blocks, errors, exact, number, params, tables
from dpspec.plugin.applications import count
from dpspec_disclosure.changes import Change, changes
from dpspec_disclosure.design_risk import TABLE, Exchange, RiskFound, RiskMeasure, RiskOfDesign
from dpspec_disclosure.exposure import SCALE, Exposed, FixedCells, SecretExposure, Share, each_attribute
from dpspec_disclosure.knowledge import Geography
from dpspec_disclosure.margins import Codes, kinds_of, margins_of
from dpspec_disclosure.published import published_tables, unit_of_records
from dpspec_disclosure.tradeoff import risk_in_words

if TYPE_CHECKING:
    from dpspec import CommandAnswer, DatasetSpace, PrivacySpec, SpecDocument

MOST_UNKNOWN = 1_000_000


def exposure(
    specification: SpecDocument | PrivacySpec | str | Path,
    table: str | Path | None = None,
    *,
    secret: Iterable[str] = (),
    known: Iterable[str] | None = None,
    unknown: int = 1,
) -> CommandAnswer:
    """What exact tables disclose before any noise is added.

    The invariants of a specification are published as they are. The tables with the same invariants form the universe of the
    confidential table, and what all of them have in common is known with certainty, whatever the mechanism does.

    Args:
        specification: five blocks, a specification, or its file.
        table: the confidential table. Without it the answer says which changes of one record no universe allows.
        secret: the attributes of the secret; without them, each attribute of the published tables is one in turn.
        known: the attributes of the target that the attacker knows; without them, all other attributes.
        unknown: the number of records, the target's among them, that an attacker does not know who knows all others.

    Returns:
        with a table: `cells` (an attacker who knows only the published tables) and `secrets` (who knows the target's values, or
        all records but some), as counts of records; without: `changes`.

    Raises:
        UnknownNameError: an attribute is none of the space.
        ParameterError: the secret is known, or `unknown` is not positive.
        IncompatibleBlocksError: the universes are not given by tables of counts of one unit.
        TableError: the table does not fit the space.
        NotEnumerableError: too many kinds of records fit the tables.

    >>> import dpspec as dp
    >>> people = dp.records(sex=["f", "m"], town=["north", "south"])
    >>> town = dp.marginal(attributes=["town"])
    >>> promise = dp.spec(space=people, invariants=[town], distance="hamming", standard="pure", epsilon=1)
    >>> print(dp.exposure(promise)["changes"][1]["words"])
    no universe allows changing the town of one person
    """
    document = dp.read(specification) if isinstance(specification, str | Path) else specification
    spec = document if isinstance(document, dp.PrivacySpec) else document.spec
    published = published_tables(spec)
    name = "the specification" if isinstance(document, dp.PrivacySpec) else document.id
    if table is None:
        space = spec.space
        found = {unit: _changes_of(space, unit, published) for unit in space.units}
        content = {
            "specification": name, "published": [str(margin) for margin in published], "table": None,
            "changes": [_change_data(change, unit) for unit, some in found.items() for change in some],
        }  # fmt: skip
        return dp.CommandAnswer("exposure", 0, content, partial(_changes_text, name, published, found))
    unit = unit_of_records(spec.space, published)
    given, sizes = dp.read_table(document, table), blocks.sizes_of(spec.space)
    chosen = _chosen(unit, given.attributes, secret, known, unknown)
    mechanism = None if isinstance(document, dp.PrivacySpec) or document.mechanism is None else document
    return _with_table(name, unit, published, given, sizes, chosen, unknown, mechanism)


def _changes_of(space: DatasetSpace, unit: str, published: Sequence[Marginal]) -> tuple[Change, ...]:
    """The changes of one record; where all datasets of the space have as many records, none is added or taken away."""
    found = changes(space.attributes_of(unit), *_by_unit(published, unit, space))
    return tuple(one for one in found if one.attribute is not None or not space.fixes_size(unit))


def _by_unit(published: Sequence[Marginal], unit: str, space: DatasetSpace) -> tuple[list[Marginal], list[Marginal]]:
    """The tables that count a unit, and those that change with it because they count its members, or the record that holds it."""
    own = [m for m in published if m.unit == unit]
    members = [m for m in published if m.unit != unit and (unit == space.units[0] or blocks.MEMBERS in m.attributes)]
    return own, members


def _chosen(
    unit: str, attributes: Sequence[dp.Attribute], secret: Iterable[str], known: Iterable[str] | None, unknown: int
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    names = [a.name for a in attributes]
    secret, known = tuple(dict.fromkeys(secret)), None if known is None else tuple(dict.fromkeys(known))
    for name in (*secret, *(known or ())):
        if name not in names:
            raise errors.UnknownNameError("attribute", f"is none of a {unit}", params.did_you_mean(name, names), value=name)
    both = [name for name in secret if name in Geography(attributes=tuple(attributes)).known_with(known or ())]
    if both:
        raise ParameterError("secret", "is known by what the attacker knows", "take it out of `known`", value=", ".join(both))
    if isinstance(unknown, bool) or not 1 <= unknown <= MOST_UNKNOWN:
        raise ParameterError("unknown", "must be a positive number of records", value=unknown)
    return secret, known


def _with_table(  # noqa: PLR0917 - one question with all that it needs
    name: str,
    unit: str,
    published: Sequence[Marginal],
    given: tables.Table,
    sizes: tuple[int, int | None],
    chosen: tuple[tuple[str, ...], tuple[str, ...] | None],
    unknown: int,
    document: SpecDocument | None,
) -> CommandAnswer:
    margins = margins_of(given, published, sizes)
    geography = Geography(attributes=given.attributes)
    exposed = Exposed(margins, geography)
    secret, known = chosen
    names = [a.name for a in given.attributes]
    seen = [a.name for a in margins.attributes]
    asked = (
        [(secret, tuple(n for n in names if n not in secret) if known is None else known)]
        if secret
        else [(one, others if known is None else tuple(n for n in known if n not in one)) for one, others in each_attribute(seen)]
    )
    cells = exposed.fixed_cells()
    secrets = []
    for one, beside in asked:
        table, counts = _kinds(given, (*one, *beside, *seen))
        secrets.append(exposed.of_secret(table, counts, one, beside, unknown))
    added = None if document is None else {one.secret: added_by_mechanism(document, given, one.secret) for one in secrets}
    content = {
        "specification": name, "published": [str(m) for m in published], "table": {"unit": unit, "records": len(given)},
        "determined": _share_data(cells.determined), "cells": _cells_data(cells),
        "secrets": [_secret_data(one, added) for one in secrets],
    }  # fmt: skip
    code = 3 if cells.undecided or any(one.determined.undecided or one.all_but.undecided for one in secrets) else 0
    return dp.CommandAnswer(
        "exposure", code, content, partial(_table_text, name, unit, published, cells, secrets, added, seen),
        value=(cells, tuple(secrets)),
    )  # fmt: skip


def added_by_mechanism(document: SpecDocument, given: tables.Table, secret: Sequence[str]) -> RiskFound:
    """What the mechanism adds inside the universe: the power at level 5 % of a test between two tables that differ in a secret.

    For the values that a swap exchanges, the two tables differ by one exchange, and the table is one of them; otherwise one
    record has another value of the secret, in any universe.
    """
    exchange, measure = Exchange.of(document.mechanism), RiskMeasure(kind="power", exchange=True)
    if exchange is not None and {*exchange.swap} == {*secret}:
        return RiskOfDesign(measure=measure, table=given, exchange=exchange).of(document)[TABLE]
    try:
        rows = dp.risk(document, secret=secret, levels=[str(measure.level)]).rows
    except errors.DpspecError as fault:
        return RiskFound(reason=str(fault))
    for row in rows:
        for said in row.own:
            if row.quantity.startswith("power") and not said.is_certainty:
                protects = f"two tables of one universe in which one record has another {', '.join(secret)}"
                upper = number(1) if said.relation.value == "at least" else said.value.upper
                return RiskFound.known(Bracket(lower=said.value.lower, upper=upper), protects, "this mechanism", measure)
    return RiskFound(reason="nothing is known of such tables under this mechanism")


def _kinds(given: tables.Table, names: Iterable[str]) -> tuple[Mapping[str, Codes], Codes]:
    """The kinds of records, distinguished by the named attributes and the coarser ones in which these lie, with their counts."""
    wanted = Geography(attributes=given.attributes).known_with(names)
    kept = [a.name for a in given.attributes if a.name in wanted]
    kinds, counts = kinds_of(given, kept)
    return {name: kinds[:, place] for place, name in enumerate(kept)}, counts


# --- as data --------------------------------------------------------------------------------------


def _change_data(change: Change, unit: str) -> dict[str, Any]:
    return {
        "unit": unit,
        "attribute": change.attribute,
        "allowed": change.allowed,
        "conditions": list(change.conditions),
        "words": change.in_words(unit),
    }


def _share_data(share: Share) -> dict[str, int]:
    return {"records": share.yes, "undecided": share.undecided, "of": share.of}


def _cells_data(cells: FixedCells) -> dict[str, Any]:
    return {
        "fixed": cells.cells, "possible": cells.possible, "undecided": cells.undecided, "records": _share_data(cells.records)
    }  # fmt: skip


def _added_data(found: RiskFound, level: str = "1/20") -> dict[str, Any]:
    value = found.value
    known = None if value is None else {"lower": str(value.lower), "upper": str(value.upper), "sense": found.sense}
    return {"level": level, "power": known, "about": found.about, "note": found.protects or found.reason}


def _secret_data(one: SecretExposure, added: Mapping[tuple[str, ...], RiskFound] | None) -> dict[str, Any]:
    belief = one.belief
    return {
        "secret": list(one.secret),
        "known": list(one.known),
        "determined": _share_data(one.determined),
        "strata": {"with_determined": one.strata[0], "of": one.strata[1], "smallest": one.smallest},
        "belief": None if belief is None else {
            "mean": [belief.low / SCALE, belief.high / SCALE],
            "without_tables": [belief.guess_low / SCALE, belief.guess_high / SCALE],
            "largest_undetermined": None if belief.largest is None else str(belief.largest),
        },
        "mechanism": None if added is None else _added_data(added[one.secret]),
        "all_but": {"unknown": one.unknown, **_share_data(one.all_but)},
    }  # fmt: skip


# --- as text --------------------------------------------------------------------------------------


def _counted(share: Share) -> str:
    open_ = f", {share.undecided:,} undecided" if share.undecided else ""
    return f"{share.yes:,} ({errors.percent(share.yes, share.of)}){open_}"


def _changes_text(name: str, published: Sequence[Marginal], found: Mapping[str, Sequence[Change]]) -> str:
    lines = [f"Changes of one record that no universe of {name} allows: nothing is promised about them.", ""]
    lines += [f"  published exactly: {margin}" for margin in published] or ["  nothing is published exactly"]
    for unit, some in found.items():
        ranked = sorted(some, key=lambda change: ("never", "sometimes", "always").index(change.allowed))
        lines += ["", *(f"  {change.in_words(unit)}" for change in ranked)]
    return "\n".join(lines)


def _table_text(  # noqa: PLR0917 - one page with all that it shows
    name: str,
    unit: str,
    published: Sequence[Marginal],
    cells: FixedCells,
    secrets: Sequence[SecretExposure],
    added: Mapping[tuple[str, ...], RiskFound] | None,
    seen: Sequence[str],
) -> str:
    whole, by = cells.determined, f" by {', '.join(seen)}" if seen else ""
    fixed = f"{cells.cells:,}" + (f", {cells.undecided:,} undecided" if cells.undecided else "")
    lines = [
        f"{_counted(whole)} of {whole.of:,} {unit} records are determined in all attributes by the exact tables of {name} alone, "
        "before any noise.",
        "",
        *(f"  published exactly: {margin}" for margin in published),
        "",
        "An attacker who knows only these tables:",
        f"  {fixed} of {cells.possible:,} possible kinds of records{by} have the same count in every table that fits;",
        f"  {_counted(cells.records)} of the records are of these kinds.",
        "",
        "An attacker who also knows values of the target; records whose secret is the same in every table that fits:",
        *_grid(secrets),
    ]
    unknown = secrets[0].unknown if secrets else 1
    others = "the target's record" if unknown == 1 else f"the target's record and {unknown - 1:,} others"
    lines += ["", f"An attacker who knows all records but {others}, and these values:"]
    lines += [f"  {_of(one)}: {_counted(one.all_but)}" for one in secrets]
    if added is not None:
        lines += ["", "What the mechanism adds inside the universe; power at level 5 % of a test between two tables:"]
        lines += [f"  {_of(one)}: {_added_text(added[one.secret])}" for one in secrets]
    lines += ["", "These numbers are computed from the confidential table: they are for the office, not for publication."]
    return "\n".join(lines)


def _added_text(found: RiskFound) -> str:
    if found.value is None:
        return f"not known ({found.reason})"
    return f"{risk_in_words(found.value, found.sense)}, for {found.protects}"


def _of(one: SecretExposure) -> str:
    return ", ".join(one.secret)


def _grid(secrets: Sequence[SecretExposure]) -> list[str]:
    rows = [("secret", "known", "determined", "mean belief in the truth", "without the tables", "largest belief otherwise")]
    for one in secrets:
        belief = one.belief
        beliefs = ("not computed",) * 3 if belief is None else (
            _number(belief.low, belief.high), _number(belief.guess_low, belief.guess_high),
            "-" if belief.largest is None else exact.rounded_down(number(belief.largest)),  # below 1: it is no certainty
        )  # fmt: skip
        rows.append((_of(one), count(len(one.known), "attribute"), _counted(one.determined), *beliefs))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _number(low: int, high: int) -> str:
    """A bracketed number to four digits."""
    return f"{(low + high) / 2 / SCALE:.4f}"
