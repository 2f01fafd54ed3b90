"""The knowledge of an attacker about the target, with nested attributes: a block determines its tract, and a tract its county."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np

from dpspec.plugin import Attribute, errors, table_files
from dpspec_disclosure.margins import Codes

_LARGEST = 1 << 62


@attrs.frozen(kw_only=True)
class Geography:
    """The attributes of a record, and which of them lie in which.

    Args:
        attributes: all attributes of a record.
    """

    attributes: tuple[Attribute, ...]

    def named(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        return {a.name: a for a in self.attributes}

    def coarser(self, name: str) -> str | None:
        """The attribute in which another lies; None for none."""
        within = self.named()[name].within
        return within if within in self.named() else None

    def known_with(self, names: Iterable[str]) -> set[str]:
        """The named attributes with all that they decide: the coarser ones in which they lie."""
        found: set[str] = set()
        for name in names:
            at: str | None = name
            while at is not None and at not in found:
                found.add(at)
                at = self.coarser(at)
        return found

    def finest_first(self, names: Iterable[str]) -> list[str]:
        """The names so that each comes before the coarser ones in which it lies."""
        return sorted(names, key=lambda name: (-len(self.known_with([name])), name))

    def anchor(self, name: str, known: Iterable[str]) -> str | None:
        """The nearest known attribute in which the named one lies; None for none."""
        held, at = set(known), self.coarser(name)
        while at is not None and at not in held:
            at = self.coarser(at)
        return at

    def choices(self, name: str, anchor: str | None) -> Codes:
        """How many categories of an attribute lie in each category of the anchor; without an anchor, how many there are.

        >>> tract, county = Attribute(name="tract", count=5, within="county"), Attribute(name="county", count=2)
        >>> Geography(attributes=(county, tract)).choices("tract", "county").tolist()
        [3, 2]
        """
        attribute = self.named()[name]
        if anchor is None:
            return np.asarray([attribute.size], dtype=np.int64)
        at, below = np.arange(attribute.size, dtype=np.int64), name
        while below != anchor:
            above = self.coarser(below)
            assert above is not None  # noqa: S101 - the anchor lies above it
            at, below = table_files.parents(self.named()[below], self.named()[above])[at], above
        return np.bincount(at, minlength=self.named()[anchor].size)

    def kinds_below(self, name: str, without: str | None = None) -> Codes:
        """For each category the number of ways to choose the finer attributes inside it, one branch left out.

        Raises:
            NotEnumerableError: there are more than 64-bit integers can count.
        """
        attribute = self.named()[name]
        found = np.ones(attribute.size, dtype=np.int64)
        for finer in self.attributes:
            if self.coarser(finer.name) != name or finer.name == without:
                continue
            inside = np.zeros(attribute.size, dtype=np.int64)
            np.add.at(inside, table_files.parents(finer, attribute), self.kinds_below(finer.name))
            if int(found.max()) * int(inside.max()) > _LARGEST:
                raise errors.NotEnumerableError(f"attribute {name}", "has more nested kinds than can be counted")
            found = found * inside
        return found

    def shares(self, name: str, anchor: str | None) -> tuple[Codes, Codes]:
        """The uniform law on kinds of records, at one attribute: for each category its number of kinds, and that of its anchor.

        Args:
            anchor: the known attribute in which it lies; None where none is known.
        """
        found, at, below = self.kinds_below(name), np.arange(self.named()[name].size, dtype=np.int64), name
        while (above := self.coarser(below)) is not None and below != anchor:
            at = table_files.parents(self.named()[below], self.named()[above])[at]
            if above == anchor:
                break
            found, below = found * self.kinds_below(above, without=below)[at], above
        if anchor is None:
            return found, np.full(len(found), int(found.sum()), dtype=np.int64)
        inside = np.zeros(self.named()[anchor].size, dtype=np.int64)
        np.add.at(inside, at, found)
        return found, inside[at]

    def guess(self, codes: Mapping[str, Codes], secret: Sequence[str], known: Sequence[str]) -> tuple[Codes, Codes]:
        """For each record the belief in its secret without any published table, as a fraction: numerators and denominators.

        The law is uniform on the kinds of records that agree with what is known.
        """
        size = len(next(iter(codes.values())))
        above, below = np.ones(size, dtype=np.int64), np.ones(size, dtype=np.int64)
        held = self.known_with(known)
        for name in self.finest_first(secret):
            if name in held:
                continue
            one, whole = self.shares(name, self.anchor(name, held))
            above, below = _times(above, one[codes[name]]), _times(below, whole[codes[name]])
            held |= self.known_with([name])
        return above, below


def _times(left: Codes, right: Codes) -> Codes:
    if len(left) and int(left.max()) * int(right.max()) > _LARGEST:
        raise errors.NotEnumerableError("secret", "has more values than can be counted", "name fewer attributes")
    return left * right


def mean_of(fractions: Iterable[tuple[int, int, int]], scale: int = 10**12) -> tuple[int, int]:
    """The weighted mean of fractions a/b with weights w, as whole numbers low <= scale * mean <= high.

    >>> mean_of([(1, 3, 1), (2, 3, 1)], scale=10)
    (4, 6)
    """
    low = high = total = 0
    for above, below, weight in fractions:
        low += weight * (above * scale // below)
        high += weight * -(-above * scale // below)
        total += weight
    return (low // total, -(-high // total)) if total else (0, 0)


def least_fraction(above: int, below: int) -> tuple[int, int]:
    """A fraction in lowest terms.

    >>> least_fraction(6, 8)
    (3, 4)
    """
    common = math.gcd(above, below)
    return above // common, below // common
