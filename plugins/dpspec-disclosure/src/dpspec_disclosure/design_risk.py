r"""The risk of one design: in the worst universe, and for one real table.

    power:LEVEL[:exchange]      the largest power at a level of a test between two datasets
    odds[:exchange]             the largest ratio of the probabilities of an output on the two
    belief[:PRIOR][:exchange]   the belief in the one dataset after the best test at level 1/20 has accused it:
                                p w / (p w + (1 - p) a) with the prior p, the level a and the power w
    exposure                    the share of the records that the exact tables determine by themselves

Without ``exchange`` the two datasets are as near as two of a universe can be. With it they differ by one exchange: two records
that agree on the matched attributes exchange their values of others. In the universes of a swap the two are the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import attrs

from dpspec import PrivacySpec, SpecDocument
from dpspec.plugin import (
    Bracket,
    Dataset,
    FiniteLaw,
    Law,
    Mechanism,
    ParameterError,
    Table,
    UnorderedRecords,
    errors,
    exact,
    grammar,
    laws,
    number,
    risks,
)  # fmt: skip
from dpspec.plugin.applications import curve_subject, level_in_words, worst_change
from dpspec_disclosure.published import exposed_records
from dpspec_disclosure.utility import RunSource

WORST, TABLE = "worst universe", "this table"
LEVEL = Fraction(1, 20)
MOST_PATTERNS = 4_096
MOST_COUNTS = 16
"""The largest published count that is evaluated where the law of a number depends on its count."""
MOST_COMBINATIONS = 500
MOST_CELLS = 400
COPIES = (1, 2, 3, 5, 8, 13)
"""So many equal records of each kind are in the small datasets on which a law is computed."""


@attrs.frozen(kw_only=True)
class RiskMeasure:
    """The quantity on the axis of risk.

    Args:
        kind: power, odds, belief or exposure.
        level: of the test, for power and belief.
        prior: for belief.
        exchange: whether the two datasets differ by one exchange.
    """

    kind: str
    level: Fraction = LEVEL
    prior: Fraction = Fraction(1, 2)
    exchange: bool = False

    @classmethod
    def of(cls, text: str) -> RiskMeasure:
        """As it is typed.

        Raises:
            ParameterError: it has another form, or a level or prior outside (0, 1).

        >>> RiskMeasure.of("power:0.05:exchange")
        RiskMeasure(kind='power', level=Fraction(1, 20), prior=Fraction(1, 2), exchange=True)
        """
        kind, *rest = text.split(":")
        exchange = bool(rest) and rest[-1] == "exchange"
        rest = rest[:-1] if exchange else rest
        most = {"power": 1, "odds": 0, "belief": 1, "exposure": 0}
        if kind not in most or len(rest) > most[kind] or (kind == "exposure" and exchange):
            raise ParameterError("risk", "is none of power, odds, belief and exposure", "write power:0.05:exchange", value=text)
        given = _between(rest[0], text) if rest else None
        if kind == "belief":
            return cls(kind=kind, prior=given or Fraction(1, 2), exchange=exchange)
        return cls(kind=kind, level=given or LEVEL, exchange=exchange)

    @property
    def axis(self) -> str:
        """What the axis says."""
        against = " against one exchange" if self.exchange else ""
        percent = level_in_words(self.level)
        said = {
            "power": f"power of the best test at level {percent}",
            "odds": "largest ratio of probabilities of an output",
            "belief": f"belief after the best test at level {percent} accused, {number(self.prior).plain()} before",
            "exposure": "share of the records that the exact tables determine",
        }
        return said[self.kind] + against

    def of_pair(self, pair: laws.Dichotomy) -> Bracket:
        """The number of a pair of laws."""
        if self.kind == "odds":
            top = pair.max_log_ratio()
            return Bracket(lower=_exp(top.lower, up=False), upper=_exp(top.upper, up=True))
        return self.of_power(laws.largest_power(pair, self.level))

    def of_power(self, power: Bracket) -> Bracket:
        """The number that belongs to a power."""
        if self.kind == "power":
            return power
        lower, upper = (self._believed(_rational(end, up=up)) for end, up in ((power.lower, False), (power.upper, True)))
        return Bracket(lower=number(lower), upper=number(upper))

    def _believed(self, power: Fraction) -> Fraction:
        """The belief that follows from a power, which grows with it."""
        p = self.prior
        return p * power / (p * power + (1 - p) * self.level)

    def certain(self) -> Bracket:
        """The value where the two datasets are distinguished with certainty."""
        return Bracket.exactly(exact.INFINITY) if self.kind == "odds" else self.of_power(Bracket.exactly(1))

    def nothing(self) -> Bracket:
        """The number where nothing is found out."""
        return Bracket.exactly(1) if self.kind == "odds" else self.of_power(Bracket.exactly(self.level))


def _between(text: str, whole: str) -> Fraction:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 0 < value < 1:
        raise ParameterError("risk", "needs a level or prior in (0, 1)", "write power:0.05", value=whole)
    return value


def _rational(value: exact.Number, *, up: bool) -> Fraction:
    """A power where it is rational, else the nearest rational end of its enclosure on the outer side."""
    if value.is_rational:
        return value.as_fraction()
    end = (exact.ceiling_of if up else exact.floor_of)(value.enclose())
    return Fraction(int(up)) if end is None else end


def _exp(value: exact.Number, *, up: bool) -> exact.Number:
    if value.is_infinite or float(value) > 700:
        return exact.INFINITY if up or value.is_infinite else number(Fraction(math.exp(700)))
    shift = 1 + 1e-12 if up else 1 - 1e-12
    return number(Fraction(math.exp(float(value)) * shift))


# --- exchanges ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Exchange:
    """Two records that agree on some attributes exchange their values of others.

    Args:
        swap: what they exchange.
        match: what they agree on.
    """

    swap: tuple[str, ...]
    match: tuple[str, ...] = ()

    def __str__(self) -> str:
        among = f" between two records of equal {', '.join(self.match)}" if self.match else ""
        return f"one exchange of {', '.join(self.swap)}{among}"

    @classmethod
    def of(cls, mechanism: Mechanism | None) -> Exchange | None:
        """The exchange of a mechanism that says that it exchanges values; None for any other."""
        if not isinstance(mechanism, grammar.ExchangesValues):
            return None
        swap, match = mechanism.exchanged_values()
        return cls(swap=swap, match=match)


@attrs.frozen(kw_only=True)
class RiskFound:
    """The risk of a design at one parameter.

    Args:
        value: in a bracket; None where nothing is known.
        protects: which two datasets are compared; "" where nothing is known.
        about: ``any mechanism``, ``this mechanism`` or ``this table``.
        sense: ``exact``, ``at most``, ``at least`` or ``between``.
        reason: why nothing is known.
    """

    value: Bracket | None = None
    protects: str = ""
    about: str = "this mechanism"
    sense: str = "exact"
    reason: str = ""

    @classmethod
    def known(cls, value: Bracket, protects: str, about: str, measure: RiskMeasure) -> RiskFound:
        """With the sense that the ends of the bracket have."""
        least, most = measure.nothing().lower, measure.certain().upper
        wide = not value.lower.is_infinite if value.upper.is_infinite else _is_wide(float(value.lower), float(value.upper))
        sense = "exact"
        if wide and value.lower <= least:
            sense = "at most"
        elif wide and value.upper >= most:
            sense = "at least"
        elif wide:
            sense = "between"
        if sense == "at most" and value.upper >= most:
            return cls(about=about, reason=f"no bound is known for {protects}")
        return cls(value=value, protects=protects, about=about, sense=sense)


def _is_wide(low: float, high: float) -> bool:
    """Whether two ends are more than a millionth of their distance from 0 and from 1 apart: then they are printed as bounds."""
    return high - low > 1e-6 * min(low, abs(1 - high))


@attrs.frozen
class RiskOfDesign:
    """The risks of a design, at any parameter.

    Args:
        measure: what is computed.
        table: the real table.
        exchange: the exchange that all designs are compared by; None where the measure needs none.
    """

    measure: RiskMeasure
    table: Table
    exchange: Exchange | None

    def of(self, document: SpecDocument) -> dict[str, RiskFound]:
        """The risk in the worst universe, and that for this table."""
        mechanism = document.mechanism
        if mechanism is None:
            missing = RiskFound(reason="the file names no mechanism")
            return {WORST: missing, TABLE: missing}
        if self.measure.kind == "exposure":
            found = _exposed(document, self.table)
            return {TABLE: found}
        spec = document.spec
        own = Exchange.of(mechanism)
        if self.measure.exchange and self.exchange is not None and own is not None and {*own.swap} != {*self.exchange.swap}:
            other = RiskFound(reason=f"{mechanism.name} exchanges {', '.join(own.swap)}, and not {', '.join(self.exchange.swap)}")
            return {WORST: other, TABLE: attrs.evolve(other, about=TABLE)}
        outside = risks.lies_outside(self.table, spec)
        stated = None if outside else self._on_table(mechanism, spec)
        if stated is not None:
            return stated
        try:
            found = self._exchanged(mechanism, spec) if self.measure.exchange else self._nearest(document)
        except errors.DpspecError as fault:
            found = RiskFound(reason=str(fault))
        if outside:
            return {WORST: found, TABLE: RiskFound(about=TABLE, reason=f"this table {risks.OUTSIDE}")}
        return {WORST: found, TABLE: self._for_table(mechanism, spec, found)}

    # -- what a theorem says about a swap ----------------------------------------------------------

    def _on_table(self, mechanism: Mechanism, spec: PrivacySpec) -> dict[str, RiskFound] | None:
        """Of a swap of the one table: its universe, and the table itself; None where no theorem speaks about them."""
        if not isinstance(mechanism, grammar.LawsOnTables) or not grammar.states_itself(mechanism, "nearest_laws_of_table"):
            return None
        nearest = mechanism.nearest_laws_of_table(spec, self.table)
        if nearest is None:
            return None
        pairs = risks.ComparedPairs(pairs=nearest.pairs, complete=False, scope=nearest.scope, above=nearest.above)
        widest = pairs.largest(self.measure.of_pair)
        if not nearest.pairs:
            widest = Bracket(lower=self.measure.nothing().lower, upper=widest.upper)
        sizes = "of every universe whose varied strata have the sizes of this table's"
        exchange = Exchange.of(mechanism) or "one exchange"
        everywhere = f"any two tables that differ by {exchange}, {sizes}"
        found = {WORST: RiskFound.known(widest, f"{everywhere} ({nearest.citation})", "this mechanism", self.measure)}
        here = f"this table and any table that differs from it by {exchange}"
        power = None if self.measure.kind == "odds" else mechanism.power_on_table(spec, self.table, self.measure.level)
        if power is None:
            reason = f"for {here}, the power of tests is known, and not the largest ratio"
            reason = reason if self.measure.kind == "odds" else "no exchange changes this table"
            return {**found, TABLE: RiskFound(about=TABLE, reason=reason)}
        value = self.measure.of_power(power.power)
        most = min(value.upper, widest.upper)
        bracket = Bracket(lower=min(value.lower, most), upper=most)
        return {**found, TABLE: RiskFound.known(bracket, f"{here} ({power.citation})", TABLE, self.measure)}

    # -- the nearest datasets ----------------------------------------------------------------------

    def _nearest(self, document: SpecDocument) -> RiskFound:
        """As `curve` has it: the datasets that are as near as two of a universe can be, and what the mechanism does there."""
        changed = self._changed(document)
        if changed is not None:
            return changed
        subject = curve_subject(document)
        if not subject.pairs:
            return RiskFound(reason=subject.own.scope)
        value = subject.own.largest(self.measure.of_pair)
        far = f"two datasets of one universe at distance {subject.distance}, {subject.own.scope}"
        if not subject.own.pairs:
            value = Bracket(lower=self.measure.nothing().lower, upper=value.upper)
        elif not subject.complete:
            value = Bracket(lower=value.lower, upper=self.measure.certain().upper)
        return RiskFound.known(value, far, "this mechanism", self.measure)

    def _changed(self, document: SpecDocument) -> RiskFound | None:
        """The worst change of one record, as `risk --secret` has it for all attributes; None where another one may be worse."""
        mechanism, spec = document.mechanism, document.spec
        if mechanism is None or not spec.space.units or spec.input_divergence.name != "hamming":
            return None
        if not _has_structure(mechanism, spec):
            return None
        names = tuple(a.name for a in spec.space.attributes_of(spec.space.units[0]))
        try:
            worst = worst_change(mechanism, spec, names)
            with risks.evidence([worst.pair], None, complete=worst.is_worst):
                found = risks.own_pairs(mechanism, spec, worst.distance)
        except errors.DpspecError:
            return None
        if worst.distance != 1 or not worst.is_worst or not found.complete:
            return None
        says = f"any two datasets of one universe in which one {spec.space.units[0]} differs"
        return RiskFound.known(found.largest(self.measure.of_pair), says, "this mechanism", self.measure)

    # -- one exchange ------------------------------------------------------------------------------

    def _exchanged(self, mechanism: Mechanism, spec: PrivacySpec) -> RiskFound:
        exchange = self.exchange
        assert exchange is not None  # noqa: S101 - checked before
        swapped = Exchange.of(mechanism)
        if swapped is not None:
            return self._by_theorem(mechanism, spec, swapped)
        pairs = tuple(_two_records(spec, exchange))
        inside = [pair for pair in pairs if spec.multiverse.share_universe(*pair, spec.space)]
        if not inside:
            return self._distinguished(spec, exchange, "this mechanism")
        structure = grammar.stated_structure(mechanism, spec.space) if _has_structure(mechanism, spec) else None
        if structure is not None and not structure.is_sampled:
            says = f"any two tables of one universe that differ by {exchange}"
            return RiskFound.known(self._by_structure(structure, spec, inside), says, "this mechanism", self.measure)
        counted = _counted(mechanism)
        if counted is not None and len(inside) == len(pairs):
            return self._by_counts(counted, spec, exchange, None)
        return self._by_small_laws(mechanism, spec, exchange)

    def _distinguished(self, spec: PrivacySpec, exchange: Exchange, about: str) -> RiskFound:
        """Where no universe holds two tables that differ by an exchange: certain where exact publications are the reason."""
        if spec.multiverse.induced_by() is None:
            reason = f"no universe was found that holds two tables which differ by {exchange}: nothing is promised about such"
            return RiskFound(about=about, reason=reason)
        says = f"{exchange}: what is published exactly distinguishes the two tables"
        return RiskFound.known(self.measure.certain(), says, about, self.measure)

    def _by_theorem(self, mechanism: Mechanism, spec: PrivacySpec, exchange: Exchange) -> RiskFound:
        """Of a swap about whose tables nothing is stated: over all universes of the space."""
        known = risks.nearest_pairs(mechanism, spec)
        if known is None:
            return RiskFound(reason=f"no theorem says how far apart tables are that differ by {exchange} under {mechanism.name}")
        value = known.largest(self.measure.of_pair)
        if not known.above:
            value = Bracket(lower=value.lower, upper=self.measure.certain().upper)
        elif not known.pairs:
            value = Bracket(lower=self.measure.nothing().lower, upper=value.upper)
        return RiskFound.known(value, known.scope, "this mechanism", self.measure)

    def _by_structure(
        self, structure: grammar.Structure, spec: PrivacySpec, inside: Sequence[tuple[Dataset, Dataset]]
    ) -> Bracket:
        """Of independent noise on counts: the same for all tables, since the noise does not depend on the counts."""
        plain = all(
            isinstance(view, grammar.NoisyCount) and not view.table.where and view.most is None for view in structure.views
        )
        found: list[Bracket] = []
        for left, right in inside:
            for one, other in ((left, right), (right, left)):
                pair = risks.pair_of_views(structure, spec, one, other)
                found.append(self.measure.certain() if pair is None else self.measure.of_pair(pair))
        value = exact.largest(found)
        if not plain:
            value = Bracket(lower=value.lower, upper=self.measure.certain().upper)
        if not structure.publishes_views:
            value = Bracket(lower=self.measure.nothing().lower, upper=value.upper)
        return value

    def _by_counts(self, counted: grammar.CountLaws, spec: PrivacySpec, exchange: Exchange, table: Table | None) -> RiskFound:
        """Of published numbers whose laws depend on their counts: four cells of one table change."""
        moved = [names for names in counted.counted_tables(spec.space) if _reacts(names, exchange)]
        about = "this mechanism" if table is None else TABLE
        if len(counted.counted_tables(spec.space)) > 1 and not counted.tables_are_independent():
            return RiskFound(about=about, reason="several tables are published whose numbers depend on each other")
        if len(moved) != 1:
            if not moved:
                return RiskFound.known(self.measure.nothing(), f"{exchange}: no published table shows it", about, self.measure)
            return RiskFound(about=about, reason=f"{len(moved)} published tables show {exchange}, and only one can be analysed")
        shifts = _Shifts(counted, moved[0], spec)
        corners, all_of_them = _corners_up_to(shifts) if table is None else _corners_of(shifts, table, moved[0], exchange)
        if corners is None:
            return RiskFound(about=about, reason=f"the table of {' x '.join(moved[0])} has too many cells")
        if not corners:
            return RiskFound(about=about, reason=f"{exchange} changes nothing in this table")
        pairs = [shifts.pair(corner) for corner in sorted(corners)]  # either table may be the one that is accused
        top = exact.largest([self.measure.of_pair(one) for pair in pairs for one in (pair, pair.reverse())])
        if table is None or not all_of_them:
            top = Bracket(lower=top.lower, upper=self.measure.certain().upper)
        elif not set(exchange.match) <= set(moved[0]):  # whether such records agree on the other attributes is not checked
            top = Bracket(lower=self.measure.nothing().lower, upper=top.upper)
        says = f"two tables that differ by {exchange}, with counts up to {MOST_COUNTS}" if table is None else (
            f"this table and any table that differs from it by {exchange}"
        )  # fmt: skip
        return RiskFound.known(top, says, about, self.measure)

    def _by_small_laws(self, mechanism: Mechanism, spec: PrivacySpec, exchange: Exchange) -> RiskFound:
        """From the law of the mechanism on small datasets: the risk is at least that of these."""
        found: list[Bracket] = []
        for left, right in _small_datasets(spec, exchange):
            with suppress(errors.DpspecError):
                pair = mechanism.law(left, spec.space).against(mechanism.law(right, spec.space))
                found += [self.measure.of_pair(pair), self.measure.of_pair(pair.reverse())]
            if found and exact.largest(found).lower >= self.measure.certain().upper:
                break
        if not found:
            return RiskFound(reason=f"the law of {mechanism.name} is not known on tables that differ by {exchange}")
        value = Bracket(lower=exact.largest(found).lower, upper=self.measure.certain().upper)
        says = f"two small tables that differ by {exchange}"
        return RiskFound.known(value, says, "this mechanism", self.measure)

    # -- this table --------------------------------------------------------------------------------

    def _for_table(self, mechanism: Mechanism, spec: PrivacySpec, worst: RiskFound) -> RiskFound:
        """Where the noise does not depend on the table, what its own records can change; else what is known of this one."""
        if worst.value is not None and _has_structure(mechanism, spec):
            if self.measure.exchange and self.exchange is not None:
                return self._by_noise(mechanism, spec, self.exchange, worst.value)
            return attrs.evolve(worst, about=TABLE)
        reason = "for this table, the risk of this mechanism is computed against one exchange only"
        if self.measure.exchange and self.exchange is not None:
            try:
                return self._against(mechanism, spec, self.exchange)
            except errors.DpspecError as fault:
                reason = str(fault)
        return RiskFound(about=TABLE, reason=reason)

    def _by_noise(self, mechanism: Mechanism, spec: PrivacySpec, exchange: Exchange, worst: Bracket) -> RiskFound:
        """Of independent noise on counts: the exchanges that records of this table can make, each as on any other table."""
        says = f"this table and any table that differs from it by {exchange}"
        occurring = _differences(self.table, exchange)
        if occurring is None:
            return RiskFound.known(Bracket(lower=self.measure.nothing().lower, upper=worst.upper), says, TABLE, self.measure)
        if not occurring:
            return RiskFound(about=TABLE, reason=f"{exchange} changes nothing in this table")
        pairs = list(_two_records(spec, exchange, occurring))
        inside = [pair for pair in pairs if spec.multiverse.share_universe(*pair, spec.space)]
        if len(inside) < len(pairs):  # what is published exactly distinguishes the other tables
            says = f"this table and any table of its universe that differs from it by {exchange}"
        structure = grammar.stated_structure(mechanism, spec.space)
        if not inside:
            return self._distinguished(spec, exchange, TABLE)
        if structure is None or structure.is_sampled:
            return RiskFound.known(Bracket(lower=self.measure.nothing().lower, upper=worst.upper), says, TABLE, self.measure)
        return RiskFound.known(self._by_structure(structure, spec, inside), says, TABLE, self.measure)

    def _against(self, mechanism: Mechanism, spec: PrivacySpec, exchange: Exchange) -> RiskFound:
        """What is known of an exchange in this table."""
        if not all(spec.multiverse.share_universe(*pair, spec.space) for pair in _two_records(spec, exchange)):
            return RiskFound(
                about=TABLE, reason=f"the universe of this table does not hold every table that differs by {exchange}"
            )
        counted = _counted(mechanism)
        if counted is not None:
            return self._by_counts(counted, spec, exchange, self.table)
        if _distinguishes(mechanism, spec, self.table, exchange):
            says = f"this table and a table that differs from it by {exchange}"
            return RiskFound.known(self.measure.certain(), says, TABLE, self.measure)
        return RiskFound(about=TABLE, reason=f"the law of {mechanism.name} on this table is not known")


def _has_structure(mechanism: Mechanism, spec: PrivacySpec) -> bool:
    """Whether the mechanism says that it adds independent noise to counts, and to nothing else."""
    try:
        structure = grammar.stated_structure(mechanism, spec.space)
    except grammar.NoStructure:
        return False
    return structure is not None and all(isinstance(view, grammar.NoisyCount) for view in structure.views)


def _counted(mechanism: Mechanism) -> grammar.CountLaws | None:
    stated = isinstance(mechanism, grammar.CountLaws) and grammar.states_itself(mechanism, "count_law")
    return mechanism if stated and isinstance(mechanism, grammar.CountLaws) else None


def _exposed(document: SpecDocument, table: Table) -> RiskFound:
    """What `exposure` finds for an attacker who knows the exact tables alone."""
    try:
        share = exposed_records(document.spec, table)
    except errors.DpspecError as fault:
        return RiskFound(about=TABLE, reason=str(fault))
    low, high = Fraction(share.yes, share.of or 1), Fraction(share.yes + share.undecided, share.of or 1)
    value = Bracket(lower=number(low), upper=number(high))
    protects = "the records of this table, from an attacker who knows the exact tables alone"
    return RiskFound(value=value, protects=protects, about=TABLE, sense="exact" if low == high else "between")


MOST_RELEASED = 100_000
"""Releases of more rows are not compared."""
TRIED = 5
"""So many exchanges of the table are tried."""


def _distinguishes(mechanism: Mechanism, spec: PrivacySpec, table: Table, exchange: Exchange) -> bool:
    """Whether a mechanism that draws nothing publishes something else after some exchange in a table."""
    source = RunSource("exchange", 0)
    try:
        before = grammar.released(mechanism, table, spec.space, source)
        if source.used or len(before) > MOST_RELEASED:
            return False
        shown = sorted(before.records())
        changed = itertools.islice(_exchanges_in(table, exchange), TRIED)
        after = (grammar.released(mechanism, one, spec.space, source) for one in changed)
        return any(sorted(one.records()) != shown for one in after) and not source.used
    except errors.PluginContractError:
        raise
    except errors.DpspecError:
        return False


def _exchanges_in(table: Table, exchange: Exchange) -> Iterator[Table]:
    """The table after an exchange of two of its records, of the most frequent kinds first."""
    names = [a.name for a in table.attributes]
    kinds = table.counts(names)
    ranked = sorted(kinds, key=lambda kind: -kinds[kind])[:MOST_CELLS]
    moving = [place for place, name in enumerate(names) if name in exchange.swap]
    agreed = [place for place, name in enumerate(names) if name in exchange.match]
    for one, other in itertools.combinations(ranked, 2):
        made = _after_exchange(one, other, moving)
        if any(one[place] != other[place] for place in agreed) or {one, other} == {*made}:
            continue
        codes = {name: table.codes[name].copy() for name in names}
        for kind, new in zip((one, other), made, strict=True):
            row = _first_row(table, kind)
            for name, category in zip(names, new, strict=True):
                codes[name][row] = table.attribute(name).index(category)
        yield table.replace(codes)


def _after_exchange(one: Sequence[str], other: Sequence[str], moving: Sequence[int]) -> list[tuple[str, ...]]:
    """Two records after they exchanged the values at some places."""
    both = ((one, other), (other, one))
    return [tuple(b if i in moving else a for i, (a, b) in enumerate(zip(*two, strict=True))) for two in both]


def _first_row(table: Table, kind: Sequence[str]) -> int:
    """The first record of a kind."""
    fits = None
    for attribute, category in zip(table.attributes, kind, strict=True):
        here = table.codes[attribute.name] == attribute.index(category)
        fits = here if fits is None else fits & here
    return 0 if fits is None else int(fits.argmax())


# --- two records that exchange --------------------------------------------------------------------


def _reacts(names: Sequence[str], exchange: Exchange) -> bool:
    """Whether a table of counts can show an exchange: it has an attribute that moves, and one that may differ and stays."""
    moving = set(names) & set(exchange.swap)
    return bool(moving) and bool(set(names) - set(exchange.swap) - set(exchange.match))


def _differences(table: Table, exchange: Exchange) -> set[frozenset[str]] | None:
    """In which attributes two records of a table differ whose exchange changes it; None where there are too many kinds."""
    names = [a.name for a in table.attributes]
    kinds = list(table.counts(names))
    if len(kinds) > MOST_CELLS:
        return None
    pairs = itertools.combinations(kinds, 2)
    found = {frozenset(name for name, a, b in zip(names, *pair, strict=True) if a != b) for pair in pairs}
    return {
        differing for differing in found
        if not differing & {*exchange.match} and differing & {*exchange.swap} and differing - {*exchange.swap}
    }  # fmt: skip


def _kinds(
    spec: PrivacySpec, exchange: Exchange, occurring: Collection[frozenset[str]] | None = None
) -> Iterator[tuple[list[str], list[str]]]:
    """Two records that may exchange: all attributes differ, then fewer; of given sets of attributes alone, where there are any.

    Raises:
        IncompatibleBlocksError: the records are none of one unit, or an attribute is none of them.
    """
    space = spec.space
    if not isinstance(space, UnorderedRecords):
        rule = "are compared on tables of records of one unit"
        raise errors.IncompatibleBlocksError("exchanges", rule, value=space.name)
    attributes = space.attributes_of(space.units[0])
    names = [a.name for a in attributes]
    unknown = [name for name in (*exchange.swap, *exchange.match) if name not in names]
    if unknown:
        raise errors.UnknownNameError("exchanged attribute", f"is none of a {space.units[0]}", value=", ".join(unknown))
    if any(a.within is not None for a in attributes):
        raise errors.IncompatibleBlocksError("exchanges", "are compared where no attribute lies within another one")
    free = [a.name for a in attributes if a.name not in exchange.match and a.size > 1]
    moving, held = ([n for n in free if (n in exchange.swap) is side] for side in (True, False))
    if 2 ** len(free) > MOST_PATTERNS:
        raise errors.NotEnumerableError("exchanges", "of so many attributes are not checked", value=len(free))
    first = [next(iter(a.values())) for a in attributes]
    second = [list(itertools.islice(a.values(), 2))[-1] for a in attributes]
    for some in itertools.product(_subsets(moving), _subsets(held)):
        differing = {*some[0], *some[1]}
        if occurring is None or differing in occurring:
            yield first, [b if name in differing else a for name, a, b in zip(names, first, second, strict=True)]


def _subsets(names: Sequence[str]) -> list[tuple[str, ...]]:
    """All but the empty one, the largest first."""
    return [some for size in range(len(names), 0, -1) for some in itertools.combinations(names, size)]


def _exchanged(one: list[str], other: list[str], spec: PrivacySpec, exchange: Exchange) -> tuple[list[str], list[str]]:
    names = [a.name for a in spec.space.attributes_of(spec.space.units[0])]
    swapped = [
        [b if name in exchange.swap else a for name, a, b in zip(names, *pair, strict=True)]
        for pair in ((one, other), (other, one))
    ]
    return swapped[0], swapped[1]


def _two_records(
    spec: PrivacySpec, exchange: Exchange, occurring: Collection[frozenset[str]] | None = None
) -> Iterator[tuple[Dataset, Dataset]]:
    for one, other in _kinds(spec, exchange, occurring):
        yield spec.space.dataset([one, other]), spec.space.dataset(list(_exchanged(one, other, spec, exchange)))


def _small_datasets(spec: PrivacySpec, exchange: Exchange) -> Iterator[tuple[Dataset, Dataset]]:
    """Some equal records of the two kinds, and of the two that the exchange makes; and one exchange in them."""
    one, other = next(_kinds(spec, exchange))
    changed = _exchanged(one, other, spec, exchange)
    for many in COPIES:
        for beside in (0, many):
            rest = [one, other] * (many - 1) + [*changed] * beside
            pair = spec.space.dataset([*rest, one, other]), spec.space.dataset([*rest, *changed])
            if spec.multiverse.share_universe(*pair, spec.space):
                yield pair


# --- numbers that depend on their counts ----------------------------------------------------------


Corner = tuple[tuple[int, int], tuple[int, int]]
"""The kinds of shifts of the two cells that lose a record, and of the two that gain one."""


class _Shifts:
    """The kinds of pairs of laws that one count has when it changes by 1."""

    def __init__(self, mechanism: grammar.CountLaws, names: tuple[str, ...], spec: PrivacySpec) -> None:
        self._mechanism, self._names, self._space = mechanism, names, spec.space
        self._laws: dict[int, Law] = {}
        self._numbers: dict[Any, int] = {}
        self._pairs: list[laws.Dichotomy] = []
        self._of: dict[tuple[int, int], int] = {}

    def kind(self, before: int, after: int) -> int:
        """The number of the pair of laws at two counts; pairs with the same probabilities have one number."""
        if (before, after) not in self._of:
            pair = self._law(before).against(self._law(after))
            atoms = laws.exact_atoms_of(pair)
            key = (before, after) if atoms is None else tuple(sorted(atoms))
            if key not in self._numbers:
                self._numbers[key] = len(self._pairs)
                self._pairs.append(pair)
            self._of[before, after] = self._numbers[key]
        return self._of[before, after]

    def _law(self, count: int) -> Law:
        if count not in self._laws:
            law = self._mechanism.count_law(self._names, count, self._space)
            if not isinstance(law, FiniteLaw):
                raise errors.NoFormulaError("count law", "is not a law on finitely many numbers")
            self._laws[count] = law
        return self._laws[count]

    def pair(self, corner: Corner) -> laws.Dichotomy:
        """The pair of laws of four independent numbers."""
        return laws.product_of([self._pairs[kind] for side in corner for kind in side])


def _corners_up_to(shifts: _Shifts) -> tuple[set[Corner] | None, bool]:
    """All combinations of small counts, or the same count in all cells where these are too many."""
    losing = sorted({shifts.kind(count, count - 1) for count in range(1, MOST_COUNTS + 1)})
    gaining = sorted({shifts.kind(count, count + 1) for count in range(MOST_COUNTS)})
    first, second = (list(itertools.combinations_with_replacement(kinds, 2)) for kinds in (losing, gaining))
    if len(first) * len(second) > MOST_COMBINATIONS:
        first, second = ([(kind, kind) for kind in kinds] for kinds in (losing, gaining))
    return set(itertools.islice(itertools.product(first, second), MOST_COMBINATIONS)), False


def _corners_of(shifts: _Shifts, table: Table, names: tuple[str, ...], exchange: Exchange) -> tuple[set[Corner] | None, bool]:
    """Those of the exchanges in a table, among cells that hold a record; whether these are all."""
    counts = {cell: count for cell, count in table.counts(names).items() if count}
    if len(counts) > MOST_CELLS:
        return None, False
    moving = [place for place, name in enumerate(names) if name in exchange.swap]
    agreed = [place for place, name in enumerate(names) if name in exchange.match]
    found: set[Corner] = set()
    for one, other in itertools.combinations(counts, 2):
        if any(one[place] != other[place] for place in agreed):
            continue
        made = _after_exchange(one, other, moving)
        if {one, other} == {*made}:
            continue
        losing = sorted(shifts.kind(counts[cell], counts[cell] - 1) for cell in (one, other))
        gaining = sorted(shifts.kind(counts.get(cell, 0), counts.get(cell, 0) + 1) for cell in made)
        found.add(((losing[0], losing[1]), (gaining[0], gaining[1])))
    listed = sorted(found)[:MOST_COMBINATIONS]
    return set(listed), len(listed) == len(found)
