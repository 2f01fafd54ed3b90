r"""Exposure: the facts that exactly published tables disclose, before any noise.

The published margins put the confidential table x into its universe D(x), the tables with the same margins. A fact that holds in
all tables of D(x) is disclosed with certainty by the margins alone, whatever the mechanism adds. Three attackers are evaluated:

(a) knows only the margins: the kinds of records, by the attributes of the margins, whose count n(c) is the same in all of
    D(x). A record is *determined* when its kind is, and when the attributes that no margin reads can have no other value. A
    margin of one attribute, which gives the counts of its categories, determines no record that has further attributes;
(b) also knows some attributes K of a target: the records whose secret S is *determined*: in every table of D(x) all records
    with the target's values on K have the same values on S;
(c) knows all records but u, the target's among them, and K: the records whose secret is the same in every way to fill in the
    u records, whichever the other u - 1 are.

Beliefs are taken under the uniform law on the lists of records with these margins: P(S = s | K = k) = E n(k, s) / E n(k).
A record about which nothing was proved either way is counted as undecided, and never as determined nor as safe.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import attrs
import numpy as np
import numpy.typing as npt

from dpspec_disclosure.knowledge import Geography, mean_of
from dpspec_disclosure.margins import Codes, Columns, Margins, identities, sums
from dpspec_disclosure.programs import Program, programs_of

Mask = npt.NDArray[np.bool_]
Fractions = tuple[Codes, Codes]
"""Numerators and denominators."""

MOST_PROGRAMS = 400
"""Integer programs for one question; a program of published margins takes some milliseconds."""

MOST_MOVES = 4_096
"""Sets of attributes that two records may exchange, which are tried to show that a secret is open."""

SCALE = 10**12
"""Mean beliefs are bracketed to so many parts of one."""


@attrs.frozen(kw_only=True)
class Share:
    """The share of the records with a property.

    Args:
        yes: it was proved for these.
        undecided: neither it nor its contrary was proved for these.
        of: all records.
    """

    yes: int
    undecided: int
    of: int


@attrs.frozen(kw_only=True)
class FixedCells:
    """Attacker (a): the kinds of records whose count is the same in all tables of the universe.

    Args:
        cells: these kinds, as far as they occur.
        possible: all kinds that occur in some table of the universe, undecided ones included.
        undecided: the kinds about which nothing was proved.
        records: the records of the kinds that are fixed.
        determined: those of them of which every other attribute is decided by these, too.
    """

    cells: int
    possible: int
    undecided: int
    records: Share
    determined: Share


@attrs.frozen(kw_only=True)
class Belief:
    """The belief of attacker (b) in the truth.

    Args:
        low, high: bracket its mean over the records, in parts of `SCALE`.
        largest: the largest over the records whose secret is not determined; None where all are.
        guess_low, guess_high: bracket the mean without the published tables.
    """

    low: int
    high: int
    largest: Fraction | None
    guess_low: int
    guess_high: int


@attrs.frozen(kw_only=True)
class SecretExposure:
    """The results of attackers (b) and (c) on one secret.

    Args:
        secret: the attributes of the secret.
        known: the attributes that are known of the target.
        determined: attacker (b).
        strata: in how many strata (values of the attributes that all margins share) a record is determined, and of how many.
        smallest: the number of records of the smallest of these strata; None for none.
        belief: of attacker (b); None where no formula is known for these margins.
        unknown: the number u of attacker (c).
        all_but: attacker (c).
    """

    secret: tuple[str, ...]
    known: tuple[str, ...]
    determined: Share
    strata: tuple[int, int]
    smallest: int | None
    belief: Belief | None
    unknown: int
    all_but: Share


class Exposed:
    """The analysis of one table; what several questions need is computed once.

    Args:
        margins: the table and its margins.
        geography: all attributes of a record.
    """

    def __init__(self, margins: Margins, geography: Geography) -> None:
        self.margins, self.geography = margins, geography
        self.order = margins.junction()
        self.support = margins.support()
        self._programs: list[tuple[Codes, Program]] = []
        self._moves = _tied(margins)
        if self.order is None:
            self.use_programs()

    def use_programs(self) -> None:
        """Answer by integer programs, also where the margins are decomposable."""
        self.order = None
        self._programs = programs_of(self.margins, self.support)

    # --- attacker (a) -----------------------------------------------------------------------------

    def fixed_cells(self) -> FixedCells:
        """The kinds of records whose count is the same in all tables of the universe."""
        here = self._counts_in_support()
        if self.order is not None:
            lower, upper = self.margins.bounds(self.support, self.order)
            fixed, open_ = lower == upper, np.zeros(len(here), dtype=bool)
            possible = len(here)
        else:
            fixed, open_ = self._fixed_by_programs(here)
            possible = int(len(here) - (fixed & (here == 0)).sum())
        occurring, decided = fixed & (here > 0), self._decides_the_rest()
        return FixedCells(
            cells=int(occurring.sum()), possible=possible, undecided=int(open_.sum()),
            records=_share(occurring, open_, here),
            determined=_share(occurring & decided, open_ & decided, here),
        )  # fmt: skip

    def _decides_the_rest(self) -> Mask:
        """The kinds of the support of which the attributes that no margin looks at can have one value only."""
        columns = {a.name: place for place, a in enumerate(self.margins.attributes)}
        decided = np.ones(len(self.support), dtype=bool)
        for attribute in self.geography.attributes:
            if attribute.name not in columns:
                anchor = self.geography.anchor(attribute.name, columns)
                choices = self.geography.choices(attribute.name, anchor)
                decided &= (choices if anchor is None else choices[self.support[:, columns[anchor]]]) == 1
        return decided

    def _counts_in_support(self) -> Codes:
        numbers = identities(np.concatenate([self.margins.kinds, self.support]))
        counted = sums(numbers[: len(self.margins.kinds)], self.margins.counts, int(numbers.max()) + 1)
        return counted[numbers[len(self.margins.kinds) :]]

    def _fixed_by_programs(self, here: Codes) -> tuple[Mask, Mask]:
        fixed, moved = np.zeros(len(here), dtype=bool), np.zeros(len(here), dtype=bool)
        left = MOST_PROGRAMS
        for places, program in self._programs:
            for place in range(len(places)):
                if left <= 0 or moved[places[place]]:
                    continue
                wanted = np.arange(len(places)) == place
                answers = []
                for sign in (1, -1):
                    left -= 1
                    found = program.largest(wanted, more_than=sign * int(here[places[place]]), sign=sign)
                    answers.append(found.proved)
                    if found.table is not None:
                        moved[places[found.table != program.counts]] = True
                    if found.proved:
                        break
                fixed[places[place]] = answers == [False, False]
        return fixed, ~fixed & ~moved

    # --- attackers (b) and (c) --------------------------------------------------------------------

    def of_secret(
        self, table: Mapping[str, Codes], counts: Codes, secret: Sequence[str], known: Sequence[str], unknown: int
    ) -> SecretExposure:
        """What attackers (b) and (c) learn of one secret.

        Args:
            table: for each attribute of a record its category in each kind of record, the kinds being defined by all attributes.
            counts: the number of records of each kind.
            secret, known: the attributes of the secret, and those known of the target.
            unknown: the number of records that attacker (c) does not know.
        """
        held = self.geography.known_with(known)
        above, below = self.geography.guess(table, secret, known)
        rows = np.stack([table[a.name] for a in self.margins.attributes] or [np.zeros(len(counts), np.int64)], axis=1)
        rows = rows[:, : len(self.margins.attributes)]
        k = self.margins.columns(a.name for a in self.margins.attributes if a.name in held)
        s = self.margins.columns(self._seen_part(secret, held))
        free_above, free_below = self._unseen_part(table, secret, held)
        is_free = free_below > free_above
        open_, undecided = self._open(rows, k, s)
        open_ |= is_free
        undecided &= ~is_free
        determined = ~open_ & ~undecided
        others_open, others_undecided = self._open_to_all_but(rows, k, s, unknown, determined)
        others_open |= is_free
        others_undecided &= ~is_free
        strata = identities(rows[:, self._common()])
        with_some = np.unique(strata[determined])
        sizes = sums(strata, counts, int(strata.max()) + 1)
        return SecretExposure(
            secret=tuple(secret), known=tuple(known), unknown=unknown,
            determined=_share(determined, undecided, counts),
            strata=(len(with_some), len(sizes)),
            smallest=int(sizes[with_some].min()) if len(with_some) else None,
            belief=self._belief(rows, k, s, counts, determined, (above, below), (free_above, free_below)),
            all_but=_share(~others_open & ~others_undecided, others_undecided, counts),
        )  # fmt: skip

    def _seen_part(self, secret: Sequence[str], held: set[str]) -> list[str]:
        """The attributes with margins that the secret decides, each of them part of it."""
        seen = {a.name for a in self.margins.attributes}
        return [name for name in seen & self.geography.known_with(secret) if name not in held]

    def _unseen_part(self, table: Mapping[str, Codes], secret: Sequence[str], held: set[str]) -> tuple[Codes, Codes]:
        """The belief in the attributes of the secret that no margin looks at, given all that the margins do."""
        seen = {a.name for a in self.margins.attributes}
        rest = [name for name in secret if name not in seen]
        return self.geography.guess(table, rest, [*held, *(seen & self.geography.known_with(secret))])

    def _common(self) -> Columns:
        cliques = [set(clique) for clique in self.margins.cliques]
        return tuple(sorted(set.intersection(*cliques))) if cliques else ()

    def _open(self, rows: Codes, k: Columns, s: Columns) -> tuple[Mask, Mask]:
        """The kinds whose secret differs in some table of the universe that fits what is known; and the undecided ones."""
        both = np.concatenate([rows, self.support])
        groups = identities(both[:, k])
        several = _several(groups, identities(both[:, s]))
        open_ = several[groups[: len(rows)]]
        if self.order is not None:
            return open_, np.zeros(len(rows), dtype=bool)
        mine = identities(rows[:, k])
        shown = _several(mine, identities(rows[:, s]))[mine] | self._open_between_two(rows, k, s)
        return self._open_by_programs(rows, k, s, open_, shown)

    def _open_by_programs(self, rows: Codes, k: Columns, s: Columns, candidates: Mask, shown: Mask) -> tuple[Mask, Mask]:
        both = np.concatenate([rows, self.support])
        groups, values = identities(both[:, k]), identities(both[:, s])
        theirs, their_values = groups[len(rows) :], values[len(rows) :]
        open_, undecided = candidates & shown, np.zeros(len(rows), dtype=bool)
        left = MOST_PROGRAMS
        for group in np.unique(groups[: len(rows)][candidates & ~shown]).tolist():
            members = groups[: len(rows)] == group
            wanted = (theirs == group) & (their_values != values[: len(rows)][members][0])
            answers: list[bool | None] = []
            for places, program in self._programs:
                if wanted[places].any():
                    left -= 1
                    answers.append(program.largest(wanted[places]).proved if left >= 0 else None)
                    if answers[-1]:
                        break
            open_[members] = any(answer is True for answer in answers)
            undecided[members] = not open_[members].any() and any(answer is None for answer in answers)
        return open_, undecided

    def _open_to_all_but(self, rows: Codes, k: Columns, s: Columns, unknown: int, determined: Mask) -> tuple[Mask, Mask]:
        nothing = np.zeros(len(rows), dtype=bool)
        alone = self._open_alone(rows, k, s)
        if unknown == 1 or alone.all():
            return alone, nothing
        open_ = alone | self._open_between_two(rows, k, s)
        exact = unknown == 2 and not self.margins.partial and len(self._moves_of(k, s)) < MOST_MOVES
        return open_, nothing if exact else ~open_ & ~determined

    def _open_alone(self, rows: Codes, k: Columns, s: Columns) -> Mask:
        """The kinds of which one record can become another with the same margins and known values, and another secret."""
        fixed = set(itertools.chain.from_iterable(self.margins.cliques))
        loose = [column for column in range(rows.shape[1]) if column not in fixed]
        if not loose:
            return np.zeros(len(rows), dtype=bool)
        lefts, found = self.margins.completed(rows, tuple(sorted(fixed)))
        same = np.ones(len(found), dtype=bool)
        for margin in self.margins.partial:
            now, then = margin.counted(found), margin.counted(rows)[lefts]
            same &= (now == then) & (~now | (found[:, margin.columns] == rows[lefts][:, margin.columns]).all(axis=1))
        fits = same & (found[:, k] == rows[lefts][:, k]).all(axis=1) & (found[:, s] != rows[lefts][:, s]).any(axis=1)
        open_ = np.zeros(len(rows), dtype=bool)
        open_[lefts[fits]] = True
        return open_

    def _moves_of(self, k: Columns, s: Columns) -> list[tuple[Columns, Columns]]:
        """Sets of columns that records may exchange when they agree on the border: connected, with part of s and none of k."""
        free = [column for column in range(len(self.margins.attributes)) if column not in k]
        found: list[tuple[Columns, Columns]] = []
        for size in range(1, len(free) + 1):
            for chosen in itertools.combinations(free, size):
                if set(chosen) & set(s) and _connected(chosen, self._moves):
                    border = set(itertools.chain.from_iterable(self._moves[column] for column in chosen)) - set(chosen)
                    found.append((chosen, tuple(sorted(border))))
                if len(found) >= MOST_MOVES:
                    return found
        return found

    def _open_between_two(self, rows: Codes, k: Columns, s: Columns) -> Mask:
        """The kinds whose secret is open because a record of the table can exchange some attributes with one of this kind."""
        open_ = np.zeros(len(rows), dtype=bool)
        for chosen, border in self._moves_of(k, s):
            groups = identities(rows[:, border])
            changed = tuple(column for column in chosen if column in s)
            open_ |= _several(groups, identities(rows[:, changed]))[groups]
        return open_

    def _belief(  # noqa: PLR0917 - one question with all that it needs
        self, rows: Codes, k: Columns, s: Columns, counts: Codes, determined: Mask, guess: Fractions, free: Fractions
    ) -> Belief | None:
        if self.order is None:
            return None
        expected = self.margins.expected(self.support, self.order)
        both = np.concatenate([rows, self.support])
        by_k, by_ks = identities(both[:, k]), identities(both[:, tuple({*k, *s})])
        of_k, of_ks = _fraction_sums(by_k[len(rows) :], expected), _fraction_sums(by_ks[len(rows) :], expected)
        columns = (by_ks[: len(rows)], by_k[: len(rows)], *free)
        beliefs = [
            of_ks[ks] / of_k[one] * Fraction(above, below)
            for ks, one, above, below in zip(*(column.tolist() for column in columns), strict=True)
        ]
        low, high = mean_of((b.numerator, b.denominator, n) for b, n in zip(beliefs, counts.tolist(), strict=True))
        first, last = mean_of(zip(guess[0].tolist(), guess[1].tolist(), counts.tolist(), strict=True))
        open_ = [belief for belief, sure in zip(beliefs, determined.tolist(), strict=True) if not sure]
        return Belief(low=low, high=high, largest=max(open_, default=None), guess_low=first, guess_high=last)


def _fraction_sums(groups: Codes, fractions: Sequence[tuple[int, int]]) -> dict[int, Fraction]:
    """The sums of fractions by group; those with one denominator are added first."""
    by_denominator: dict[tuple[int, int], int] = {}
    for group, (above, below) in zip(groups.tolist(), fractions, strict=True):
        by_denominator[group, below] = by_denominator.get((group, below), 0) + above
    found: dict[int, Fraction] = {}
    for (group, below), above in by_denominator.items():
        found[group] = found.get(group, Fraction(0)) + Fraction(above, below)
    return found


def _share(yes: Mask, undecided: Mask, counts: Codes) -> Share:
    return Share(yes=int(counts[yes].sum()), undecided=int(counts[undecided].sum()), of=int(counts.sum()))


def _several(groups: Codes, values: Codes) -> Mask:
    """For each group whether its members have more than one value."""
    pairs = np.unique(np.stack([groups, values], axis=1), axis=0)
    return np.asarray(np.bincount(pairs[:, 0], minlength=int(groups.max(initial=-1)) + 1) > 1)


def _tied(margins: Margins) -> list[set[int]]:
    """For each column those in a margin with it, or nested with it: they stay together when records exchange values."""
    names = {a.name: place for place, a in enumerate(margins.attributes)}
    nested = [(names[a.within], place) for place, a in enumerate(margins.attributes) if a.within in names]
    groups = [set(one) for one in (*margins.cliques, *(partial.looked_at for partial in margins.partial), *nested)]
    return [set(itertools.chain.from_iterable(g for g in groups if column in g)) for column in range(len(margins.attributes))]


def _connected(chosen: Columns, tied: Sequence[set[int]]) -> bool:
    reached, waiting = {chosen[0]}, [chosen[0]]
    while waiting:
        for column in tied[waiting.pop()] & set(chosen) - reached:
            reached.add(column)
            waiting.append(column)
    return len(reached) == len(chosen)


def each_attribute(names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Each attribute as the secret of an attacker who knows all the others.

    >>> list(each_attribute(["age", "sex"]))
    [(('age',), ('sex',)), (('sex',), ('age',))]
    """
    return (((name,), tuple(other for other in names if other != name)) for name in names)
