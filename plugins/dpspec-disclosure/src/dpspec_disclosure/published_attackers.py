r"""Attacks on one person from published tables alone, with or without noise-free protection of their cells.

The tables leave a set F of tables of whole numbers (`FeasibleSet`). An attacker knows that the target is in the population and,
for the attributes K, the target's finest codes k. Of the secret S, over all tables of F with n(k) >= 1:

    certain       only one code s can occur together with k: max over F of sum_{s' != s} n(k, s') is 0
    best guess    the code s for which  q(k) = max_s  min over F of  n(k, s) / n(k)  is attained: whatever the true table is, the
                  guess is right for at least this share of those with the known codes
    gain          q(k) minus the same without K: guessing from what the tables say of everybody

The minimum of the ratio is found by Dinkelbach's method, in fractions: q is the minimum where min (b n(k, s) - a n(k)) = 0 for
q = a/b, and every table with a negative value has a smaller ratio. Each minimum is proved as any range is.

Who knows all records but the target's, and the codes k, knows the secret where no other one, in place of the true one, gives
tables that fit what is published.
"""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import attrs

from dpspec.plugin import errors
from dpspec.plugin.applications import read_bytes
from dpspec_disclosure.feasible_tables import FeasibleSet, NoTableFits, Statement, Terms
from dpspec_disclosure.linked_tables import Codes, Population, base_cells
from dpspec_disclosure.table_files import MOST_BYTES, at_line, opened

MOST_TARGETS = 1_000
"""Combinations of known codes and secrets; each is some linear programs."""
MOST_ROUNDS = 60
"""Rounds of Dinkelbach's method, which needs fewer than ten as a rule."""


@attrs.frozen(kw_only=True)
class KnownTarget:
    """The result of an attack on a target with some known codes.

    Args:
        known: the codes.
        certain: whether only one secret is possible; None where that was not decided.
        right: the best guess is right for at least this share.
    """

    known: Codes
    certain: bool | None
    right: Fraction


@attrs.frozen(kw_only=True)
class AllButOne:
    """The result of an attacker who knows all records but one.

    Args:
        determined: the records whose secret is then known.
        records: all records.
        belief: the mean belief in the true secret, starting from a uniform one over all secrets: one over the number that fit.
    """

    determined: int
    records: int
    belief: Fraction


@attrs.frozen(kw_only=True)
class PublishedAttack:
    """The results of attackers on one secret.

    Args:
        secret: the attribute.
        known: the attributes that are known.
        baseline: the share for which the best guess without known codes is right at least.
        targets: the result for each combination of known codes that occurs.
        all_but_one: the attacker who knows all other records; None without the records.
    """

    secret: str
    known: tuple[str, ...]
    baseline: Fraction
    targets: tuple[KnownTarget, ...]
    all_but_one: AllButOne | None = None

    @property
    def gain(self) -> Fraction:
        """The largest gain over the baseline."""
        return max((one.right - self.baseline for one in self.targets), default=Fraction(0))

    @property
    def certain(self) -> int:
        """The combinations of known codes with which the secret is certain."""
        return sum(one.certain is True for one in self.targets)

    @property
    def undecided(self) -> int:
        return sum(one.certain is None for one in self.targets)


def attack_published(population: Population, secret: str, known: Sequence[str], records: Path | None = None) -> PublishedAttack:
    """What attackers learn of `secret` from published tables.

    Raises:
        errors.ParameterError: no table has one of the attributes, or the secret is known.
        errors.NotEnumerableError: there are too many combinations.
        errors.TableError: the records cannot be read or do not fit the tables.
    """
    missing = next((name for name in (secret, *known) if name not in population.leaves), None)
    if missing is not None:
        has = ", ".join(population.leaves)
        raise errors.ParameterError("secret" if missing == secret else "known", "is in no table", f"one of {has}", value=missing)
    if secret in known or len(set(known)) < len(known):
        raise errors.ParameterError("known", "must be other attributes than the secret, each once", value=", ".join(known))
    values = population.leaves[secret]
    choices = list(itertools.product(*(population.leaves[name] for name in known)))
    if len(choices) * len(values) > MOST_TARGETS:
        rule, advice = f"has more than {MOST_TARGETS:,} combinations with the secret", "name fewer attributes"
        raise errors.NotEnumerableError("known", rule, advice, value=len(choices) * len(values))
    _, everybody = _best_guess(population, secret, ())
    targets = []
    for codes in choices:
        named = tuple(zip(known, codes, strict=True))
        certain, right = _best_guess(population, secret, named)
        if right is not None:
            targets.append(KnownTarget(known=named, certain=certain, right=right))
    return PublishedAttack(
        secret=secret, known=tuple(known), baseline=everybody or Fraction(0), targets=tuple(targets),
        all_but_one=None if records is None else _all_but_one(population, secret, known, records),
    )  # fmt: skip


def _best_guess(population: Population, secret: str, known: Codes) -> tuple[bool | None, Fraction | None]:
    """Whether the secret is certain, and a lower bound of the share for which the best guess is right; None for absent codes."""
    of_all = _sum(population, known)
    occurs = Statement(of_all, ((1, None),), "the target is in the population")
    here = FeasibleSet(population.feasible.cells, (*population.feasible.statements, occurs))
    try:
        here.table()
    except NoTableFits:
        return None, None
    certain: bool | None = False
    right = Fraction(0)
    for value in population.leaves[secret]:
        mine = _sum(population, (*known, (secret, value)))
        others = tuple(sorted(set(of_all) - set(mine)))
        most = here.largest(others) if others else None
        if most is None or most.bound == 0:
            return True, Fraction(1)
        if most.value == 0 and most.direction is None:
            certain = None
        right = max(right, _least_share(here, mine, of_all))
    return certain, right


def _least_share(here: FeasibleSet, mine: Terms, of_all: Terms) -> Fraction:
    """The least n(k, s) / n(k) over the tables that fit, or 0, which is always a lower bound."""
    table = here.table()
    for _ in range(MOST_ROUNDS):
        above, below = (sum(factor * table[cell] for cell, factor in terms) for terms in (mine, of_all))
        share = Fraction(above, below)
        if not share:
            return share
        weights = dict.fromkeys((cell for cell, _ in of_all), share.numerator)
        for cell, _ in mine:
            weights[cell] -= share.denominator
        found = here.largest(tuple(sorted((cell, weight) for cell, weight in weights.items() if weight)))
        if found.bound == 0:
            return share
        if found.value <= 0:
            return Fraction(0)
        table = found.attained
    return Fraction(0)


def _sum(population: Population, codes: Codes) -> Terms:
    return tuple((place, 1) for place in base_cells(codes, population.leaves))


# --- who knows all records but one ----------------------------------------------------------------


def _all_but_one(population: Population, secret: str, known: Sequence[str], path: Path) -> AllButOne:
    counts = Counter(_kinds(population, path))
    names = list(population.leaves)
    table = [0] * population.feasible.cells
    for kind, number in counts.items():
        table[_place(population, kind)] += number
    if not population.feasible.fits(table):
        rule = "do not have the numbers of the published tables"
        raise errors.TableError("records", rule, "give the records that the tables were made of", value=str(path))
    determined, belief = 0, Fraction(0)
    free = [name for name in names if name not in known]
    for kind, number in counts.items():
        table[_place(population, kind)] -= 1
        fitting = _secrets_that_fit(population, table, kind, free, secret)
        determined += number if fitting == 1 else 0
        belief += Fraction(number, fitting)
        table[_place(population, kind)] += 1
    return AllButOne(determined=determined, records=counts.total(), belief=belief / max(1, counts.total()))


def _secrets_that_fit(population: Population, table: list[int], kind: Codes, free: Sequence[str], secret: str) -> int:
    """How many secrets a record with the known codes can have in place of the true one, that one included."""
    fixed = {name: (code,) for name, code in kind}
    choices = [population.leaves[name] if name in free else fixed[name] for name in population.leaves]
    found = {dict(kind)[secret]}
    for codes in itertools.product(*choices):
        other = tuple(zip(population.leaves, codes, strict=True))
        if dict(other)[secret] not in found:
            place = _place(population, other)
            table[place] += 1
            if population.feasible.fits(table):
                found.add(dict(other)[secret])
            table[place] -= 1
    return len(found)


def _place(population: Population, kind: Codes) -> int:
    return base_cells(kind, population.leaves)[0]


def _kinds(population: Population, path: Path) -> Iterator[Codes]:
    """The kind of each record of a file that has a column for each attribute."""
    try:
        header, rows = opened(read_bytes(path, MOST_BYTES))
        missing = next((name for name in population.leaves if name not in header), None)
        if missing is not None:
            raise at_line(1, errors.TableError("header", "lacks an attribute of the tables", "add its column", value=missing))
        for line, row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise at_line(line, errors.TableError("row", f"has {len(row)} fields instead of {len(header)}"))
            fields = dict(zip(header, (text.strip() for text in row), strict=True))
            strange = next((name for name, leaves in population.leaves.items() if fields[name] not in leaves), None)
            if strange is not None:
                rule = "has a code that the tables do not have"
                raise at_line(line, errors.TableError(f"column {strange}", rule, "write the finest code of the hierarchy"))
            yield tuple((name, fields[name]) for name in population.leaves)
    except (errors.DpspecError, csv.Error) as problem:
        no_csv = errors.TableError("records", f"is no CSV ({problem})", "write it as comma-separated values")
        fault = problem if isinstance(problem, errors.DpspecError) else no_csv
        fault.file = fault.file or str(path)
        raise fault from None
