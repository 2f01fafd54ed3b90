"""Lower bounds: the pair of datasets at which a constant is attained, with d_X and d_Pr recomputed from the two datasets.

A proof bounds the constant from above. That the bound is met, or nearly, is shown by two datasets: both are in the space, the
invariants are equal on both, d_X is counted, and d_Pr is that of the answers that differ.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs

from dpspec_checker.noise import (
    NEVER,
    ExponentialQuotient,
    Moves,
    divergence_above,
    exponential_of,
    noise_text,
    pair_text,
    sketch_pair,
    two_laws,
)
from dpspec_checker.numbers import ExactValue, JsonTable, Rejected, UnknownFormula, fraction, linear, need, product, read
from dpspec_checker.universes import hash_values, is_category, parent_of

Categories = tuple[str, ...]
"""The category of each attribute of a unit, in the order of the space."""


@attrs.frozen
class DatasetRecords:
    """The records of a dataset: those of the space's own unit, and of households the members of each.

    Args:
        space: the space.
        own: the records, in their order.
        members: the persons in each household; empty for spaces without households.
    """

    space: JsonTable
    own: list[Categories]
    members: list[list[Categories]]

    @classmethod
    def read(cls, value: Any, space: JsonTable) -> DatasetRecords:
        """Read a dataset as a verdict writes it.

        Raises:
            Rejected: it is not in the space.
            UnknownFormula: the space is not known here.
        """
        kind = space["type"]
        need(isinstance(value, list), "a dataset is no list")
        if kind == "bit-vectors":
            need(len(value) == space["length"], f"a dataset has {len(value)} bits instead of {space['length']}")
            need(all(type(bit) is int and bit in (0, 1) for bit in value), "a bit is neither 0 nor 1")
            return cls(space, [(str(bit),) for bit in value], [])
        if kind in ("records", "ordered-records"):
            own, members = [_record(entry, space["attributes"]) for entry in value], []
        elif kind == "households":
            need(all(isinstance(entry, list) and len(entry) == 2 for entry in value), "a household is no pair")
            own = [_record(entry[0], space["household"]) for entry in value]
            members = [sorted(_record(person, space["person"]) for person in entry[1]) for entry in value]
            largest = max(map(len, members), default=0)
            need(largest <= space.get("members", largest), f"a household has {largest} members")
        else:
            raise UnknownFormula(f"datasets of the space {kind} are not known here")
        need(space.get("least", 0) <= len(own) <= space.get("most", len(own)), f"a dataset has {len(own)} records")
        return cls(space, own, members)

    @property
    def unit(self) -> str:
        """The unit of the records that a dataset is a list of."""
        return "household" if self.space["type"] == "households" else str(self.space.get("unit", "person"))

    def names(self, unit: str) -> list[str]:
        """The attributes of a unit, in their order."""
        kind = self.space["type"]
        if kind == "bit-vectors" and unit == self.unit:
            return ["bit"]
        if kind == "households" and unit in ("household", "person"):
            inner = self.space["person"] if unit == "person" else []
            return [a["name"] for a in (*self.space["household"], *inner)]
        if kind in ("records", "ordered-records") and unit == self.unit:
            return [a["name"] for a in self.space["attributes"]]
        raise UnknownFormula(f"records of the unit {unit} are not known here")

    def records(self, unit: str) -> list[Any]:
        """The records of a unit; of a household, its members belong to it."""
        if self.space["type"] != "households":
            need(unit == self.unit, f"the space has no records of the unit {unit}")
            return list(self.own)
        if unit == "household":
            return [(*own, tuple(inside)) for own, inside in zip(self.own, self.members, strict=True)]
        need(unit == "person", f"the space has no records of the unit {unit}")
        return [(*own, *one) for own, inside in zip(self.own, self.members, strict=True) for one in inside]

    def cells(self, table: JsonTable, contributions: list[JsonTable] | None = None) -> list[tuple[str, ...] | None]:
        """The cell of a table that each record lies in, in order; None outside of all, and left out where not counted."""
        unit = table.get("unit", "person")
        names = self.names(unit)
        if not {*table["attributes"], *table.get("where", {})} <= set(names):
            raise UnknownFormula("a table looks at more than attributes")
        counted = self._limited(contributions) if contributions else self
        found: list[tuple[str, ...] | None] = []
        for record in counted.records(unit):
            named = dict(zip(names, record, strict=False))
            met = all(named[name] in of for name, of in table.get("where", {}).items())
            found.append(tuple(named[name] for name in table["attributes"]) if met else None)
        return found

    def _limited(self, contributions: list[JsonTable]) -> DatasetRecords:
        """The dataset with the members that are counted, the outermost bound first."""
        need(self.space["type"] == "households", "nothing lies in a record of this space")
        names, left = self.names("person"), self
        for bound in reversed(contributions):
            kept = []
            for own, inside in zip(left.own, left.members, strict=True):
                seen: Counter[tuple[str, ...]] = Counter()
                chosen = []
                for one in inside:
                    named = dict(zip(names, (*own, *one), strict=True))
                    if any(named[name] not in of for name, of in bound["where"].items()):
                        continue
                    group = tuple(named[name] for name in bound["by"])
                    seen[group] += 1
                    if bound["in_cell"] is None or seen[group] <= bound["in_cell"]:
                        chosen.append(one)
                kept.append(chosen if bound["most"] is None else chosen[: bound["most"]])
            left = attrs.evolve(left, members=kept)
        return left


def _record(value: Any, attributes: list[JsonTable]) -> Categories:
    need(isinstance(value, list) and len(value) == len(attributes), "a record has not one category for each attribute")
    for category, attribute in zip(value, attributes, strict=True):
        inside = isinstance(category, str) and is_category(attribute, category)
        need(inside, f"{category!r} is no category of {attribute['name']}")
    named = {a["name"]: (a, category) for a, category in zip(attributes, value, strict=True)}
    for attribute, category in named.values():
        if attribute.get("within") in named:
            outer, above = named[attribute["within"]]
            need(parent_of(attribute, outer, category) == above, f"{category!r} does not lie in {above!r}")
    return tuple(value)


# --- d_X and the universe -----------------------------------------------------------------------------


def distance(left: DatasetRecords, right: DatasetRecords, divergence: JsonTable) -> int | None:
    """d_X; None where it is infinite."""
    kind = divergence["type"]
    if kind == "within-distance":
        inner = distance(left, right, divergence["of"])
        return None if inner is None or inner > divergence["most"] else min(inner, 1)
    if kind == "neighbour":
        inner = distance(left, right, divergence["relation"])
        return inner if inner in (0, 1) else None
    unit = divergence.get("unit", "person")
    ours, theirs = left.records(unit), right.records(unit)
    if kind in ("hamming-ordered", "differ-in-one-position"):
        need(left.space["type"] in ("ordered-records", "bit-vectors"), "records of this space have no order")
        return None if len(ours) != len(theirs) else sum(a != b for a, b in zip(ours, theirs, strict=True))
    gone, come = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    if kind in ("hamming", "replace-one"):
        return gone.total() if gone.total() == come.total() else None
    if kind in ("symmetric-difference", "add-remove"):
        return gone.total() + come.total()
    raise UnknownFormula(f"the input divergence {kind} is not known here")


def need_one_universe(left: DatasetRecords, right: DatasetRecords, invariants: list[JsonTable]) -> None:
    """Reject two datasets that lie in different universes."""
    for invariant in invariants:
        if invariant["type"] != "marginal":
            raise UnknownFormula(f"an invariant of type {invariant['type']} is not known here")
        ours, theirs = (Counter(cell for cell in side.cells(invariant) if cell is not None) for side in (left, right))
        need(ours == theirs, f"the two datasets differ in the invariant by {' x '.join(invariant['attributes']) or 'nothing'}")


# --- d_Pr --------------------------------------------------------------------------------------------


def answers_on_pair(views: list[JsonTable], left: DatasetRecords, right: DatasetRecords) -> Moves:
    """The answers whose laws differ on two datasets."""
    found: Moves = Counter()
    for view in views:
        kind = view["kind"]
        if kind not in _ON_PAIR:
            raise UnknownFormula(f"a view of kind {kind} on two datasets is not known here")
        cells = [side.cells(view["table"], view.get("contributions")) for side in (left, right)]
        found += _ON_PAIR[kind](view, cells, left.space)
    return found


CellsOfBoth = list[list[tuple[str, ...] | None]]
"""The cell of each record that a view counts, before and after."""


def _changed(cells: CellsOfBoth) -> Counter[tuple[str, ...]]:
    """By how much the count of each cell changes, for those that do."""
    change: Counter[tuple[str, ...]] = Counter()
    for sign, side in zip((-1, 1), cells, strict=True):
        for cell in side:
            if cell is not None:
                change[cell] += sign
    return Counter({cell: by for cell, by in change.items() if by})


def _noisy_counts(view: JsonTable, cells: CellsOfBoth, _: JsonTable) -> Moves:
    return Counter(dict(Counter((noise_text(view["noise"]), by) for by in _changed(cells).values())))


def _noisy_sum(view: JsonTable, cells: CellsOfBoth, _: JsonTable) -> Moves:
    sums = [
        sum(min(max(int(cell[0]), view["least"]), view["most"]) for cell in side if cell is not None) for side in cells
    ]  # fmt: skip
    return Counter({(noise_text(view["noise"]), sums[1] - sums[0]): 1} if sums[0] != sums[1] else {})


def _noisy_distinct(view: JsonTable, cells: CellsOfBoth, _: JsonTable) -> Moves:
    kinds = [len({cell for cell in side if cell is not None}) for side in cells]
    return Counter({(noise_text(view["noise"]), kinds[1] - kinds[0]): 1} if kinds[0] != kinds[1] else {})


def _in_places(cells: CellsOfBoth) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The cells of the records that change, in their places."""
    before, after = cells
    if len(before) != len(after) or None in (*before, *after):
        raise UnknownFormula("records that are not answered for are not known here")
    return [(a, b) for a, b in zip(before, after, strict=True) if a is not None and b is not None and a != b]


def _reports(view: JsonTable, cells: CellsOfBoth, _: JsonTable) -> Moves:
    changed = len(_in_places(cells))
    return Counter({(two_laws(*view["laws"]), 0): changed} if changed else {})


def _sketches(view: JsonTable, cells: CellsOfBoth, space: JsonTable) -> Moves:
    """The number of hash functions that have different values for the two categories of a record."""
    found: Moves = Counter()
    name, hashes = view["table"]["attributes"][0], view["hashes"]
    for one, other in _in_places(cells):
        ours, theirs = (hash_values(hashes, view["width"], space, name, cell[0]) for cell in (one, other))
        distinguishing = sum(a != b for a, b in zip(ours, theirs, strict=True))
        if distinguishing:
            found[sketch_pair(read(view["epsilon"]), Fraction(distinguishing, len(hashes))), 0] += 1
    return found


def _choice(view: JsonTable, cells: CellsOfBoth, _: JsonTable) -> Moves:
    """The exponential mechanism: a cell with count n is chosen with a probability proportional to e^(rate n)."""
    counts = [Counter(cell for cell in side if cell is not None) for side in cells]
    looked = {**counts[0], **counts[1]}
    alike = Counter((counts[0][cell], counts[1][cell]) for cell in looked)
    alike[0, 0] += int(view["cells"]) - len(looked)
    rate = read(view["rate"])
    weights = [
        [ExponentialQuotient.read(str(times)).times(exponential_of(linear([(Fraction(pair[side]), rate)])))
         for pair, times in alike.items() if times] for side in (0, 1)
    ]  # fmt: skip
    whole = [_sum(side) for side in weights]
    pairs = [(a.over(whole[0]), b.over(whole[1])) for a, b in zip(*weights, strict=True)]
    return Counter({(pair_text(pairs), 0): 1} if any(a != b for a, b in pairs) else {})


def _sum(terms: list[ExponentialQuotient]) -> ExponentialQuotient:
    total = NEVER
    for term in terms:
        total = total.plus(term)
    return total


MOST_SHOWN = 1_000
"""The largest number of noisy counts that are evaluated one by one."""


def _shown_counts(view: JsonTable, cells: CellsOfBoth, _: JsonTable) -> Moves:
    """A key is shown with its noisy count where that reaches the threshold, and never without a count.

    From the larger of both counts on, the noisy counts have one likelihood ratio, so they are one outcome here.
    """
    ratio, threshold = fraction(view["ratio"]), int(view["threshold"])
    need(0 < ratio < 1, "the ratio of the noise is not between 0 and 1")
    counts = [Counter(cell for cell in side if cell is not None) for side in cells]
    found: Moves = Counter()
    for cell in _changed(cells):
        sides = (counts[0][cell], counts[1][cell])
        last = max(*sides, threshold)
        if last - threshold > MOST_SHOWN:
            raise UnknownFormula("too many noisy counts to look at one by one")
        laws = []
        for count in sides:
            shown = [(1 - ratio) / (1 + ratio) * ratio ** abs(k - count) for k in range(threshold, last)]
            shown.append(ratio ** (last - count) / (1 + ratio))
            laws.append([1 - sum(shown), *shown] if count else [Fraction(1), *([Fraction(0)] * len(shown))])
        pairs = [tuple(ExponentialQuotient.read(str(p)) if p else NEVER for p in both) for both in zip(*laws, strict=True)]
        found[pair_text([(a, b) for a, b in pairs]), 0] += 1
    return found


_ON_PAIR: dict[str, Callable[[JsonTable, CellsOfBoth, JsonTable], Moves]] = {
    "NoisyCount": _noisy_counts, "NoisySum": _noisy_sum, "NoisyDistinct": _noisy_distinct, "Report": _reports,
    "CountMeanSketch": _sketches, "Chosen": _choice, "ShownCounts": _shown_counts,
}  # fmt: skip


def on_pair(claim: JsonTable, views: list[JsonTable], rate: Fraction, pair: Any) -> tuple[Moves, int]:
    """The answers that differ on a pair of datasets of one universe, and d_X.

    Raises:
        Rejected: the pair shows nothing about the claim.
        UnknownFormula: something about it is not known here.
    """
    need(isinstance(pair, list) and len(pair) == 2, "the pair is no two datasets")
    left, right = (DatasetRecords.read(value, claim["space"]) for value in pair)
    need((left.own, left.members) != (right.own, right.members), "the two datasets of the pair are equal")
    if "type" in claim["multiverse"]:
        raise UnknownFormula(f"universes of type {claim['multiverse']['type']} are not known here")
    need_one_universe(left, right, claim["multiverse"]["invariants"])
    apart = distance(left, right, claim["input_divergence"])
    if apart is None:
        raise Rejected("the two datasets of the pair are at an infinite distance")
    if rate < 1:
        _need_hidden(left, right, views)
    return answers_on_pair(views, left, right), apart


def _need_hidden(left: DatasetRecords, right: DatasetRecords, views: list[JsonTable]) -> None:
    """On samples: one record comes or goes, and no view counts one of the others, which are drawn too."""
    ours, theirs = (Counter(side.records(side.unit)) for side in (left, right))
    fewer = left if ours.total() < theirs.total() else right
    if ((ours - theirs) + (theirs - ours)).total() != 1:
        raise UnknownFormula("several sampled records that change are not known here")
    cells = itertools.chain.from_iterable(fewer.cells(view["table"], view.get("contributions")) for view in views)
    if any(cell is not None for cell in cells):
        raise UnknownFormula("sampled records together with others that are counted are not known here")


def pair_reaches(claim: JsonTable, rate: Fraction, moves: Moves, apart: int, lower: ExactValue) -> bool:
    """Whether d_Pr of the answers is seen to be at least `lower` times d_X."""
    if apart == 0:
        return lower.infinite and divergence_above(claim["output_divergence"], rate, moves, ExactValue(Fraction(1, 10**9)))
    scaled = product(lower, ExactValue(Fraction(apart)))
    if scaled is None:
        raise UnknownFormula("the distance times the constant has no exact form here")
    return divergence_above(claim["output_divergence"], rate, moves, scaled)
