"""The largest changes of one record, by connected parts of what is read, and never by a product of independent attributes.

A pattern (`dpspec.verifier.changes`) says for each attribute what becomes of it. A table sees three bits of a pattern: whether
the record meets the conditions before, whether it does after, and whether the cell is the same. Each bit is the conjunction of
one bit for each attribute. So attributes can be passed one after the other, as in a dynamic program:

* the *state* after some attributes is the bits so far of every table that is read and still has attributes to come, with what
  becomes of each coarser attribute that has finer ones to come;
* of each state the *sums* are kept: the collections of answers that the completed readers see move, each with some patterns;
* a reader (a view, an invariant, all views of smaller records) is evaluated once its last attribute has been passed.

Attributes that nothing ties have parts of their own, whose sums are added. The work is exponential only in the tables that are
open at once, which is the pathwidth of the ties and never their number: a chain, a star or a tree of tables is passed in linear
time. Two rules keep the number of sums small.

    Rule 1 (larger answers). Where the answers that one change moves are among those that another one moves, and both cost the
    same, d_Pr of the first is at most that of the second: it is that of a marginal (data processing).
    Rule 2 (mirrored noise). The pair of the laws f(t - a), f(t - b) of one even density f is the pair in the other order, read in
    a mirror at (a + b)/2. So an answer that rises is one that falls, also together with other answers.

Where a part would take more work than `MOST_WORK`, its readers are divided into two halves, and invariants are dropped in the
end: each half is passed by itself, which allows more changes, never fewer. The bound is then proved and may be larger than what
is attained, and patterns for the bound from below come from a search.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

import attrs

from dpspec.base.work import spend
from dpspec.blocks.invariant import Marginal
from dpspec.verifier.changes import AttributeChange, CategoryClass, Pattern, SeenAttributes, Sides, farthest, options_of, sides_of

MOST_WORK = 1 << 17
"""A tied part is passed exactly with at most so many sums in all, long ones counting more, which takes about a second; halves
of it with half as many."""

_WORK_OF_A_SUM = 2
"""Units of work (`dpspec.base.work`) of one of them."""

LEAST_WORK = 1 << 10
"""Half of a half of a part gets so much work at least."""

LISTED = 128
"""Of changes that larger ones cover, so many are kept, the largest first, as further attempts for a pair of datasets."""

INCOMPARABLE = 1_024
"""At most so many changes are kept of which none covers another one."""

ALIKE = 16
"""The number of patterns that are kept of those that the views do not distinguish."""

MOST_FREE = 3
"""A view of at most so many tables is evaluated on all of their bits."""

SEARCHED, ROUNDS = 6, 2
"""The number of patterns that are improved attribute by attribute where a part is too large, and the number of rounds."""


class SeenChange(NamedTuple):
    """A change as read by the tables.

    Args:
        laws: the answers that move, by the numbers of their pairs of laws, in order.
        members: those that move with each record inside it, where these change one after the other.
        times: how many records inside it there are.
        groups: what each group of views may see.
    """

    laws: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    times: int = 0
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()

    def plus(self, other: SeenChange) -> SeenChange:
        """Both at once; at most one of them has records inside it."""
        laws = tuple(sorted(self.laws + other.laws)) if self.laws and other.laws else self.laws or other.laws
        inner = self if self.times or self.groups else other
        return SeenChange(laws, inner.members, inner.times, inner.groups)


NOTHING_SEEN = SeenChange()


@attrs.frozen(eq=False)
class Reader:
    """Reads a change through some tables.

    Args:
        tables: the tables, whose bits are all that is read.
        reads: from the bits of each table what may be seen, one for each situation; nothing where the change is not allowed.
        is_view: whether answers move; an invariant allows a change, or does not.
        is_preferred: whether it is no constraint, and changes that it does not allow are only tried last.
        reads_cells: whether it matters that the cell is the same where the conditions are not met on both sides.
        halves: readers that see at least as much together, each of fewer tables.
    """

    tables: tuple[Marginal, ...]
    reads: Callable[[tuple[Sides, ...]], Sequence[SeenChange]]
    is_view: bool = True
    is_preferred: bool = False
    reads_cells: bool = False
    halves: tuple[Reader, ...] = ()

    @property
    def names(self) -> set[str]:
        """The attributes that the tables read."""
        return set().union(*map(names_read, self.tables))


def names_read(table: Marginal) -> set[str]:
    """The attributes that a table reads."""
    return {*table.attributes, *(name for name, _ in table.where)}


Chosen = tuple | None  # type: ignore[type-arg]  # a tree of pairs, with an attribute and its change at each leaf
"""The changes of some attributes, as a tree that shares its branches."""

Sums = dict[tuple[bool, SeenChange], list[Chosen]]
"""Whether all invariants are kept, and what is seen, with a few choices; with none where it is a bound that no choice attains."""


class AlikePatterns(Sequence[Pattern]):
    """Patterns of all attributes that the views read alike; each is constructed on demand, as most are never used.

    Args:
        choices: what each chooses.
        written: the pattern of a choice.
    """

    def __init__(self, choices: Sequence[Chosen], written: Callable[[Chosen], Pattern]) -> None:
        self._choices, self._written = tuple(choices), written

    def __len__(self) -> int:
        return len(self._choices)

    @overload
    def __getitem__(self, at: int) -> Pattern: ...
    @overload
    def __getitem__(self, at: slice) -> AlikePatterns: ...
    def __getitem__(self, at: int | slice) -> Pattern | AlikePatterns:
        return AlikePatterns(self._choices[at], self._written) if isinstance(at, slice) else self._written(self._choices[at])


@attrs.frozen(kw_only=True)
class LargestChanges:
    """The result of the search for the largest changes.

    Args:
        seen: what is seen of the changes, each with a few patterns, those that keep all invariants first.
        parts: for each tied part what is seen of it, with one pattern each; empty where `seen` lists all of them together.
        patterns: how many sums of partial patterns the largest tied part has.
        attributes: how many attributes it has.
        completed: a pattern of all attributes, from one of some; what is not among them stays what it is.
        is_complete: whether smaller changes are listed too.
        is_attained: whether each listed change is that of a pattern.
    """

    seen: Mapping[SeenChange, Sequence[Pattern]]
    parts: tuple[dict[SeenChange, Pattern | None], ...] = ()
    completed: Callable[[Pattern], Pattern]
    patterns: int = 0
    attributes: int = 0
    is_complete: bool = True
    is_attained: bool = True


@attrs.define(kw_only=True)
class Components:
    """Finds the largest changes of one record.

    Args:
        columns: the attributes, with the sets of categories that are singled out.
        readers: what reads them.
        is_added: whether a record is added, whose attributes do not change.
        mirrored: the number of a pair of laws, equal for its mirror image.
    """

    columns: SeenAttributes
    readers: Sequence[Reader]
    is_added: bool
    mirrored: Callable[[int], int]
    patterns: int = 0
    attributes: int = 0
    is_complete: bool = True
    is_attained: bool = True
    _fields: dict[int, int] = attrs.field(factory=dict, init=False)
    _mirrors: set[int] = attrs.field(factory=set, init=False)
    _guard: int = attrs.field(default=0, init=False)

    def found(self, *, in_groups: bool) -> LargestChanges:
        """The largest changes.

        Args:
            in_groups: whether parts may be separated, to be composed, where together they have too many incomparable changes.
        """
        parts = [self._of_part(names, readers) for names, readers in self._parts()]
        together: Sums = {(True, NOTHING_SEEN): [None]}
        few = max([LISTED, *map(len, parts)])
        for sums in parts:
            fuller = self._reduced(_added(together, sums), few)
            if len(fuller) > INCOMPARABLE:
                if in_groups and not any(seen.times or seen.groups for sums in parts for _, seen in sums):
                    return self._apart(parts)
                fuller = self._joined(fuller)
            together = fuller
        seen: dict[SeenChange, list[Chosen]] = {}
        for (keeps, one), choices in sorted(together.items(), key=lambda entry: not entry[0][0]):  # those that keep all first
            seen.setdefault(one, []).extend(reversed(choices) if keeps else choices[: ALIKE // 2])
        return self._reported({one: AlikePatterns(choices, self._pattern) for one, choices in seen.items()})

    def _reported(
        self, seen: Mapping[SeenChange, Sequence[Pattern]], parts: Iterable[dict[SeenChange, Pattern | None]] = ()
    ) -> LargestChanges:  # fmt: skip
        return LargestChanges(
            seen=seen, parts=tuple(parts), completed=self._completed, patterns=self.patterns, attributes=self.attributes,
            is_complete=self.is_complete, is_attained=self.is_attained,
        )  # fmt: skip

    def _apart(self, parts: Sequence[Sums]) -> LargestChanges:
        """The parts by themselves."""
        self.is_complete = False
        listed = []
        for sums in parts:
            own: dict[SeenChange, Pattern | None] = {}
            for (_, one), choices in sorted(sums.items(), key=lambda entry: not entry[0][0]):
                if own.get(one) is None:
                    own[one] = self._leaves(choices[0]) if choices else None
            listed.append(own)
        return self._reported({}, listed)

    # -- parts ------------------------------------------------------------------------------------

    def _parts(self) -> list[tuple[list[str], list[Reader]]]:
        """Attributes that are tied by a reader or a hierarchy, with what reads them; first what reads no attribute."""
        tied = Ties.of(self.columns, (reader.names for reader in self.readers))
        names: dict[str, list[str]] = {}
        for name in self.columns.attributes:
            names.setdefault(tied.root(name), []).append(name)
        readers: dict[str | None, list[Reader]] = {}
        for reader in self.readers:
            readers.setdefault(next((tied.root(name) for name in reader.names), None), []).append(reader)
        free: list[tuple[list[str], list[Reader]]] = [([], readers[None])] if None in readers else []
        return [*free, *((own, readers.get(root, [])) for root, own in names.items())]

    def _of_part(self, names: list[str], readers: list[Reader]) -> Sums:
        """The changes of one part: with all invariants, else with those only that have to be preserved, else a bound."""
        self.attributes = max(self.attributes, len(names))
        needed = [reader for reader in readers if not reader.is_preferred]
        tried = [(readers, LISTED), (readers, 0), *([(needed, 0)] if len(needed) < len(readers) else [])]
        for chosen, few in tried:
            found = self._passed(names, chosen, self.columns, MOST_WORK, few)
            if found is not None:
                return found
        found = self._halved(sorted(names), needed, MOST_WORK // 2)
        self.is_attained = False
        for pattern in self._searched(names, needed):
            seen = self._seen_of(pattern, readers)
            if seen is not None:
                _add(found, seen[0], seen[1], [tuple(pattern.items())])
        return self._reduced(found, LISTED)

    def _halved(self, names: Sequence[str], readers: Sequence[Reader], work: int) -> Sums:
        """A bound for a part that is too large: what two halves of its readers see, each by itself, added up."""
        views, kept = ([reader for reader in readers if reader.is_view is which] for which in (True, False))
        if len(views) == 1 and views[0].halves:
            views = list(views[0].halves)
        if len(views) > 1:
            half = len(views) // 2
            halves = [views[:half], views[half:]]
        elif kept:
            half = len(kept) // 2  # those that share the most with the view stay
            read = set().union(*(view.names for view in views))
            kept = sorted(kept, key=lambda reader: len(reader.names & read), reverse=True)[:half]
            halves = [views]
        else:
            halves = []
        sums: Sums = {(True, NOTHING_SEEN): []}
        for half_of in halves:
            read = set().union(*(view.names for view in half_of))
            chosen = [*half_of, *(reader for reader in kept if reader.names & read)]
            tables = [table for reader in chosen for table in reader.tables]
            own = self._with_outer(set().union(*(reader.names for reader in chosen)))
            fewer = SeenAttributes(
                attributes={n: a for n, a in self.columns.attributes.items() if n in own},
                named={n: tuple(dict.fromkeys(frozenset(of) for t in tables for m, of in t.where if m == n)) for n in own},
            )
            order = [name for name in names if name in own]
            found = self._passed(order, chosen, fewer, max(work, LEAST_WORK), 0)
            if found is None:
                found = self._halved(order, chosen, work // 2)
            sums = self._reduced(_added(sums, {key: [] for key in found}), LISTED)
            if len(sums) > INCOMPARABLE:
                sums = self._joined(sums)
        if not halves:  # one view alone, which reads more than can be passed: each of its tables may see anything
            sums = {(True, one): [] for view in views for one in _freely(view)}
        return sums

    def _with_outer(self, names: set[str]) -> set[str]:
        found = set()
        for name in names:
            outer: str | None = name
            while outer is not None and outer in self.columns.attributes:
                found.add(outer)
                outer = self.columns.attributes[outer].within
        return found

    # -- one part ---------------------------------------------------------------------------------

    def _passed(
        self, names: Sequence[str], readers: Sequence[Reader], columns: SeenAttributes, work: int, few: int
    ) -> Sums | None:  # fmt: skip
        """All patterns of some attributes as read by the readers; None where that takes too much work.

        Args:
            names: the attributes.
            readers: the readers.
            columns: the attributes, with what is singled out of them.
            work: how much work is too much.
            few: so many sums of one state are few, so that those that others cover are kept.
        """
        walk = _AttributeWalk.of(names, readers, columns, is_added=self.is_added)
        sums = walk.sums(self._reduced, self._joined, work, few)
        if sums is not None:
            self.patterns = max(self.patterns, walk.largest)
        return sums

    def _pattern(self, choice: Chosen) -> Pattern:
        return self._completed(self._leaves(choice))

    def _completed(self, chosen: Pattern) -> Pattern:
        """A choice for every attribute; those that nothing reads stay what they are."""
        found = dict(chosen)
        for name in self.columns.attributes:
            if name not in found:
                outer = found.get(str(self.columns.attributes[name].within))
                found[name] = options_of(name, outer, self.columns)[0]
        return {name: found[name] for name in self.columns.attributes}

    def _leaves(self, choice: Chosen) -> dict[str, AttributeChange]:
        found, waiting = {}, [choice]
        while waiting:
            one = waiting.pop()
            if one is None:
                continue
            if isinstance(one[0], str):
                found[one[0]] = one[1]
            else:
                waiting += one
        return found

    # -- fewer sums -------------------------------------------------------------------------------

    def _reduced(self, sums: Sums, few: int) -> Sums:
        """The sums without most of those that larger ones cover, where there are more than twice as many as are few."""
        if len(sums) <= 2 * few or any(len(seen.laws) >= 1 << 15 for _, seen in sums):  # counts have 15 bits below
            return sums
        self.is_complete = False
        tops: dict[SeenChange, list[tuple[bool, int]]] = {}
        largest, covered = [], []
        packed = {key: self._packed(key[1].laws) for key in sums}
        guard = self._guard << 15
        for key in sorted(sums, key=lambda key: (-len(key[1].laws), not key[0])):
            keeps, own = key[0], packed[key]
            above = tops.setdefault(key[1]._replace(laws=()), [])
            if any((keeps <= also) and ((other | guard) - own) & guard == guard for also, other in above):
                covered.append(key)
            else:
                above.append((keeps, own))
                largest.append(key)
        return {key: sums[key] for key in (*largest, *covered[: max(0, few - len(largest))])}

    def _packed(self, laws: tuple[int, ...]) -> int:
        """The multiplicity of each pair of laws, in 16 bits each; mirror images count as one."""
        for law in laws:
            if law not in self._fields:
                one = self.mirrored(law)
                if one not in self._fields:
                    self._fields[one] = 1 << 16 * len(self._mirrors)
                    self._mirrors.add(one)
                    self._guard += self._fields[one]
                self._fields[law] = self._fields[one]
        return sum(map(self._fields.__getitem__, laws))

    def _joined(self, sums: Sums) -> Sums:
        """Fewer sums, each of which covers several of them; no pattern attains them."""
        self.is_attained = self.is_complete = False
        joined: dict[SeenChange, Counter[int]] = {}
        for _, seen in sums:
            inner = seen._replace(laws=())
            joined[inner] = joined.get(inner, Counter()) | Counter(map(self.mirrored, seen.laws))
        bounds: Sums = {(True, inner._replace(laws=tuple(sorted(laws.elements())))): [] for inner, laws in joined.items()}
        attained = sorted((key for key in sums if sums[key]), key=lambda key: -len(key[1].laws))[:LISTED]
        for key in attained:
            bounds[key] = [*bounds.get(key, ()), *sums[key]]
        return bounds

    # -- patterns of parts that are too large -------------------------------------------------------

    def _searched(self, names: Sequence[str], readers: Sequence[Reader]) -> Iterator[Pattern]:
        """Patterns that move many answers, found attribute by attribute."""
        columns = attrs.evolve(self.columns, attributes={n: a for n, a in self.columns.attributes.items() if n in names})
        inner = {a.within for a in columns.attributes.values()}
        read_by = {name: [reader for reader in readers if name in reader.names] for name in names}
        starts = (p for p in farthest(columns) if not self.is_added or all(kept.equal for kept in p.values()))
        few = itertools.islice(farthest(columns, is_added=True) if self.is_added else starts, SEARCHED)
        for start in few:
            pattern = dict(start)
            for name in (n for _ in range(ROUNDS) for n in names if n not in inner):
                kept, best = pattern[name], self._score({**pattern}, read_by[name])
                outer = pattern.get(str(columns.attributes[name].within))
                for option in options_of(name, outer, columns)[: 4 * ALIKE]:
                    if self.is_added and not option.equal:
                        continue
                    score = self._score({**pattern, name: option}, read_by[name])
                    if score > best:
                        kept, best = option, score
                pattern[name] = kept
            yield start
            yield pattern

    def _score(self, pattern: Pattern, readers: Sequence[Reader]) -> tuple[bool, int]:
        seen = self._seen_of(pattern, readers)
        return seen is not None, 0 if seen is None else len(seen[1].laws)

    def _seen_of(self, pattern: Pattern, readers: Sequence[Reader]) -> tuple[bool, SeenChange] | None:
        """Whether a pattern keeps all invariants, and what is seen of it in the first situation; None where it is not allowed."""
        keeps, seen = True, NOTHING_SEEN
        for reader in readers:
            found = reader.reads(tuple(sides_of(table, pattern, self.columns) for table in reader.tables))
            if reader.is_preferred:
                keeps = keeps and bool(found)
            elif not found:
                return None
            else:
                seen = seen.plus(found[0])
        return keeps, seen


class TooManySituationsError(Exception):
    """Raised where one view alone sees a change in more situations than can be passed."""


def _freely(view: Reader) -> dict[SeenChange, None]:
    """Whatever a view may see, however its tables are met."""
    if len(view.tables) > MOST_FREE:
        raise TooManySituationsError
    every = [(before, after, same) for before in (False, True) for after in (False, True) for same in (False, True)]
    return {one: None for sides in itertools.product(every, repeat=len(view.tables)) for one in view.reads(sides)}


def _add(sums: Sums, keeps: bool, seen: SeenChange, choices: Sequence[Chosen]) -> None:
    known = sums.setdefault((keeps, seen), [])
    known.extend(choices[: ALIKE - len(known)] if len(known) < ALIKE else ())


def _added(one: Sums, other: Sums) -> Sums:
    """Every sum of the one with every sum of the other."""
    found: Sums = {}
    for (ours, first), choices in one.items():
        for (theirs, second), others in other.items():
            known = found.setdefault((ours and theirs, first.plus(second)), [])
            if len(known) < ALIKE:
                known += itertools.islice(itertools.product(choices, others), ALIKE - len(known))
    return found


@attrs.frozen
class Ties:
    """Disjoint sets of attributes that are tied to each other."""

    above: dict[str, str]

    @classmethod
    def of(cls, columns: SeenAttributes, read: Iterable[Iterable[str]]) -> Ties:
        """Attributes are tied that are read together, and those that lie in each other."""
        tied = cls({name: name for name in columns.attributes})
        for name, attribute in columns.attributes.items():
            if attribute.within in columns.attributes:
                tied.tie(name, str(attribute.within))
        for names in read:
            tied.tie(*names)
        return tied

    def root(self, name: str) -> str:
        """The attribute that represents all attributes tied to a name."""
        while self.above[name] != name:
            self.above[name] = self.above[self.above[name]]
            name = self.above[name]
        return name

    def tie(self, *names: str) -> None:
        """Put some attributes into one set."""
        for one, other in itertools.pairwise(names):
            self.above[self.root(one)] = self.root(other)


# --- passing the attributes of one part --------------------------------------------------------------

_Bits = tuple[int, int, int]
"""Before, after and same, with a bit for each table."""

_Option = tuple[_Bits, list[AttributeChange]]
"""The possible changes of an attribute that no table distinguishes, with the bits that they leave."""

_State = tuple[_Bits, tuple[tuple[str, AttributeChange], ...]]
"""The bits of the open tables, and what becomes of the coarser attributes with finer ones to come."""


@attrs.define(kw_only=True)
class _AttributeWalk:
    """Passes the attributes of one part in an order that keeps few tables open."""

    order: list[str]
    readers: Sequence[Reader]
    columns: SeenAttributes
    is_added: bool
    tables: dict[Marginal, int]
    work: int = 0
    largest: int = 0
    _read: dict[tuple[int, _Bits], Sequence[SeenChange]] = attrs.field(factory=dict, init=False)
    _changes: dict[tuple[str, AttributeChange | None], list[_Option]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, names: Sequence[str], readers: Sequence[Reader], columns: SeenAttributes, *, is_added: bool) -> _AttributeWalk:
        tables: dict[Marginal, int] = {}
        for reader in readers:
            for table in reader.tables:
                tables.setdefault(table, len(tables))
        return cls(order=_ordered(names, readers, columns), readers=readers, columns=columns, is_added=is_added, tables=tables)

    def sums(self, reduced: Callable[[Sums, int], Sums], joined: Callable[[Sums], Sums], work: int, few: int) -> Sums | None:
        """All sums; None where they take too much work."""
        within = {name: self.columns.attributes[name].within for name in self.order}
        position = {name: place for place, name in enumerate(self.order)}
        closed_at: dict[int, list[int]] = {}
        for number, reader in enumerate(self.readers):
            closed_at.setdefault(max((position[name] for name in reader.names), default=-1), []).append(number)
        last = {str(outer): place for place, outer in enumerate(within.values()) if outer in position}
        own = [self._mask(reader.tables) for reader in self.readers]
        strict = self._mask(table for reader in self.readers if reader.reads_cells for table in reader.tables)
        still = [0] * (len(self.order) + 1)  # the tables that are open after each attribute; the last entry is before the first
        for at, numbers in closed_at.items():
            for place in range(-1, at):
                for number in numbers:
                    still[place] |= own[number]
        full = (1 << len(self.tables)) - 1
        states: dict[_State, Sums] = {((full, full, full), ()): {(True, NOTHING_SEEN): [None]}}
        for place in range(-1, len(self.order)):
            name = self.order[place] if place >= 0 else ""
            closing, most = [(number, own[number]) for number in closed_at.get(place, ())], 1
            goes_on, open_now = last.get(name, -1) > place, still[place]
            fresh: dict[_State, Sums] = {}
            for (bits, live), sums in states.items():
                outer, longest = dict(live).get(str(within.get(name))), len(next(iter(sums))[1].laws)
                left = tuple((n, kept) for n, kept in live if last[n] > place)
                for masks, changes in self._masks(name, outer, goes_on=goes_on):
                    met = bits[0] & masks[0], bits[1] & masks[1], bits[2] & masks[2]
                    seen = self._closed(closing, met)
                    cost = len(closing) + len(sums) * max(1, len(seen)) * (1 + longest // 8)
                    spend(_WORK_OF_A_SUM * cost)
                    self.work += cost
                    if not seen:
                        continue
                    most = max(most, len(seen))
                    cells = met[2] & (met[0] & met[1] | strict)
                    further = (*left, (name, changes[0])) if goes_on else left
                    state = (met[0] & open_now, met[1] & open_now, cells & open_now), further
                    _extend(fresh.setdefault(state, {}), sums, seen, [(name, kept) for kept in changes])
                if self.work > work:
                    return None
            states, total = {}, sum(map(len, fresh.values()))
            own_few = few if total <= 4 * LISTED else few // len(fresh)
            for state, sums in fresh.items():
                fewer = reduced(sums, max(own_few, most))
                states[state] = joined(fewer) if len(fewer) > max(INCOMPARABLE, most) else fewer
            self.largest = max(self.largest, sum(map(len, states.values())))
        return next(iter(states.values()), {})

    def _mask(self, tables: Iterable[Marginal]) -> int:
        """The bits of some tables."""
        found = 0
        for table in tables:
            found |= 1 << self.tables[table]
        return found

    def _masks(self, name: str, outer: AttributeChange | None, *, goes_on: bool) -> list[_Option]:
        """The groups of possible changes of an attribute that no table distinguishes, with the bits that they leave."""
        full = (1 << len(self.tables)) - 1
        if not name:
            return [((full, full, full), [])]
        if (name, outer) in self._changes:
            return self._changes[name, outer]
        found: dict[tuple[_Bits, AttributeChange | None], list[AttributeChange]] = {}
        conditions = [
            (1 << place, self.columns.named[name].index(frozenset(of)))
            for table, place in self.tables.items() for other, of in table.where if other == name
        ]  # fmt: skip
        cells = self._mask(table for table in self.tables if name in table.attributes)
        admitted: dict[CategoryClass, int] = {}

        def mask(holds: CategoryClass) -> int:
            """The tables that a side does not leave: of hundreds of categories each is read once, and not in each change."""
            if holds not in admitted:
                left = full
                for bit, index in conditions:
                    left &= full if holds[index] else ~bit
                admitted[holds] = left
            return admitted[holds]

        for kept in options_of(name, outer, self.columns):
            if self.is_added and not kept.equal:
                continue
            masks = mask(kept.before), mask(kept.after), full if kept.equal else full & ~cells
            alike = found.setdefault((masks, kept if goes_on else None), [])
            if len(alike) < ALIKE:
                alike.append(kept)
        self._changes[name, outer] = [(masks, changes) for (masks, _), changes in found.items()]
        return self._changes[name, outer]

    def _closed(self, closing: Sequence[tuple[int, int]], bits: _Bits) -> dict[tuple[bool, SeenChange], None]:
        """The combinations of readers whose last attribute was passed; nothing where the change is not allowed."""
        found: dict[tuple[bool, SeenChange], None] = {(True, NOTHING_SEEN): None}
        for number, own in closing:
            reader = self.readers[number]
            key = number, (bits[0] & own, bits[1] & own, bits[2] & own)
            if key not in self._read:
                places = [self.tables[table] for table in reader.tables]
                self._read[key] = reader.reads(tuple(
                    (bool(bits[0] >> p & 1), bool(bits[1] >> p & 1), bool(bits[2] >> p & 1)) for p in places
                ))  # fmt: skip
            seen = self._read[key]
            if reader.is_preferred:
                found = found if seen else dict.fromkeys((False, one) for _, one in found)
            else:
                found = {(keeps, one.plus(other)): None for keeps, one in found for other in seen}
        return found


def _extend(into: Sums, sums: Sums, seen: Iterable[tuple[bool, SeenChange]], leaves: list[tuple[str, AttributeChange]]) -> None:
    """Add what was seen at one attribute to each sum, and the attribute to its choices."""
    for (keeps, one), choices in sums.items():
        longer: list[Chosen] = list(itertools.islice(itertools.product(choices, leaves), ALIKE)) if leaves else choices
        for also, other in seen:
            _add(into, keeps and also, one.plus(other), longer)


def _ordered(names: Sequence[str], readers: Sequence[Reader], columns: SeenAttributes) -> list[str]:
    """An order in which coarser attributes come before finer ones and few readers are open at once."""
    left = {number: set(reader.names) for number, reader in enumerate(readers) if reader.names}
    of_name: dict[str, list[int]] = {name: [] for name in names}
    for number, own in left.items():
        for name in own:
            of_name[name].append(number)
    open_now: set[int] = set()
    waiting, order = dict.fromkeys(names), list[str]()

    def is_ready(name: str) -> bool:
        return columns.attributes[name].within not in waiting

    def opened(name: str) -> tuple[int, int]:
        numbers = of_name[name]
        more = sum(number not in open_now and len(left[number]) > 1 for number in numbers)
        fewer = sum(number in open_now and len(left[number]) == 1 for number in numbers)
        return more - fewer, len(numbers)

    while waiting:
        near = {name for number in open_now for name in left[number] if is_ready(name)}
        name = next(iter(waiting))
        if len(waiting) > 1:
            name = min((n for n in waiting if (n in near if near else is_ready(n))), key=opened)
        order.append(name)
        del waiting[name]
        for number in of_name[name]:
            left[number].discard(name)
            open_now.add(number)
            if not left[number]:
                open_now.discard(number)
    return order
