"""Attackers of released tables: nearest donor, most likely record, integer program. `dpspec attack` measures what they achieve.

Each is after the secret attributes of one target, whose other attributes it knows in part, and sees all that is published.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from dpspec.plugin import (
    AttackGuess,
    AttackScene,
    Attribute,
    Dataset,
    FiniteLaw,
    Integer,
    Marginal,
    Mechanism,
    PrivacySpec,
    Record,
    TableAttacker,
    answers,
    define,
    errors,
    late_module,
    memoize,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

MOST_DATASETS = 5_000
"""The largest number of datasets whose laws are computed for one table."""
MOST_KINDS = 20_000
"""The largest number of unknowns of an integer program; one takes more than a second there."""

Cell = tuple[str, ...]


# --- the nearest donor ----------------------------------------------------------------------------


@define
class NearestDonor(TableAttacker):
    """An attacker who looks for the released records that are most like the target, and takes over their secret.

    The distance of two records is the number of known attributes in which they differ. Of the nearest records the most frequent
    secret is named. A single nearest record that agrees in all known attributes is a claim to have identified the target.
    """

    name: ClassVar[str] = "nearest-donor"
    title: ClassVar[str] = "takes over the secret of the released records that are most like the target"
    knowledge: ClassVar[str] = "some attributes of the target, and nothing of the mechanism"
    target: ClassVar[str] = "the secret attributes of one record"
    observation: ClassVar[str] = "the released records"
    assumption: ClassVar[str] = "the release consists of records with the attributes of the data"
    source: ClassVar[str] = "record linkage: Domingo-Ferrer and Torra 2003"

    def guess(self, scene: AttackScene, known: Mapping[str, str], secret: tuple[str, ...]) -> AttackGuess:
        table = scene.released
        if table is None or answers.has_numbers(table) or not {*known, *secret} <= {a.name for a in table.attributes}:
            rule = "needs a release of records with the attributes of the data"
            raise errors.AttackerMisfitError(f"attacker {self.name}", rule, "use an attacker who reads the published tables")
        if not len(table):
            return AttackGuess(best=())
        apart = np.zeros(len(table), dtype=np.int64)
        for name, value in known.items():
            apart += table.codes[name] != table.attribute(name).index(value)
        least = int(apart.min())
        nearest = table.rows(apart == least)
        counted = nearest.counts(secret)
        most = max(counted.values())
        best = tuple(cell for cell, count in counted.items() if count == most)
        return AttackGuess(best=best, is_claim=least == 0 and len(nearest) == 1)


# --- the most likely record -----------------------------------------------------------------------


@define
class MostLikelyRecord(TableAttacker):
    r"""An attacker who knows the law of the mechanism, and believes in every list of records that the published tables allow.

    All datasets x with as many records and the same published tables are equally likely as lists, and the target is one of the
    records, uniformly. Of the release t and the known attributes k of the target follows

        P(secret = s | k, t)  proportional to  sum over x of  (number of lists of x) * P_x(t) * (number of records (k, s) in x),

    and the most likely value is named. No attack that knows no more is right more often, over this belief. A posterior of 1 is
    a claim to have identified the secret.

    Args:
        most: the largest number of datasets whose laws are computed.
    """

    name: ClassVar[str] = "most-likely-record"
    title: ClassVar[str] = "names the most likely secret by the law of the mechanism"
    knowledge: ClassVar[str] = "some attributes of the target, the number of records, and the mechanism, but not its random bits"
    target: ClassVar[str] = "the secret attributes of one record"
    observation: ClassVar[str] = "the whole release, and the tables that are published exactly"
    assumption: ClassVar[str] = "every list of records that the published tables allow is equally likely beforehand"
    source: ClassVar[str] = "Bayes' theorem; Bailie et al. 2024, strongest attacker, with an attacker who knows less"

    most: Annotated[int, Integer(1)] = MOST_DATASETS

    def guess(self, scene: AttackScene, known: Mapping[str, str], secret: tuple[str, ...]) -> AttackGuess:
        if scene.output is None:
            rule = "needs a release whose probability can be computed"
            raise errors.AttackerMisfitError(f"attacker {self.name}", rule, "use an attacker who reads the released records")
        names = [a.name for a in scene.spec.space.attributes_of(_unit(scene.spec))]
        places = [names.index(name) for name in secret]
        belief: dict[Record, Fraction] = defaultdict(Fraction)
        for dataset, lists in self._datasets(scene):
            law = _law(scene.mechanism, scene.spec, dataset)
            if not isinstance(law, FiniteLaw):
                raise errors.NotEnumerableError(f"attacker {self.name}", "needs laws on finitely many outputs")
            mass = law.probability(scene.output)
            if mass == 0:
                continue
            for record in scene.spec.space.records(dataset, _unit(scene.spec)):
                if all(record[names.index(name)] == value for name, value in known.items()):
                    belief[tuple(record[place] for place in places)] += mass * lists
        if not belief:
            return AttackGuess(best=())
        most = max(belief.values())
        best = tuple(value for value, mass in belief.items() if mass == most)
        return AttackGuess(best=best, is_claim=len(belief) == 1)

    def _datasets(self, scene: AttackScene) -> Iterator[tuple[Dataset, int]]:
        """The datasets that the published tables allow, each with the number of lists of records that it is."""
        space, unit = scene.spec.space, _unit(scene.spec)
        for dataset in _of_size(scene.spec, scene.size, self.most, self.name):
            records = space.records(dataset, unit)
            names = [a.name for a in space.attributes_of(unit)]
            if all(_counts(table, records, names) == counted for table, counted in scene.published.items()):
                yield dataset, 1 if space.is_ordered else _lists(records)


def _unit(spec: PrivacySpec) -> str:
    return spec.space.units[0]


@memoize(maxsize=1 << 14)
def _law(mechanism: Mechanism, spec: PrivacySpec, dataset: Dataset) -> object:
    return mechanism.law(dataset, spec.space)


@memoize(maxsize=16)
def _of_size(spec: PrivacySpec, size: int, most: int, name: str) -> tuple[Dataset, ...]:
    """The datasets with so many records."""
    kinds = list(itertools.islice(_kinds(spec.space.attributes_of(_unit(spec))), most + 1))
    chosen = itertools.product(kinds, repeat=size) if spec.space.is_ordered else (
        itertools.combinations_with_replacement(kinds, size)
    )  # fmt: skip
    found: dict[Dataset, None] = {}
    for records in chosen:
        found[spec.space.dataset(records)] = None
        if len(found) > most:
            advice = "use an attacker who reads the released records, or a smaller table"
            rule = f"would compute the laws of more than {most:,} datasets"
            raise errors.NotEnumerableError(f"attacker {name}", rule, advice)
    return tuple(found)


def _kinds(attributes: Sequence[Attribute]) -> Iterator[Record]:
    """The kinds of records, without those whose categories do not lie in each other."""
    places = {attribute.name: place for place, attribute in enumerate(attributes)}
    for record in itertools.product(*(attribute.values() for attribute in attributes)):
        if all(
            a.within is None or a.parent(record[place], attributes[places[a.within]]) == record[places[a.within]]
            for place, a in enumerate(attributes)
        ):
            yield record


def _counts(table: Marginal, records: Sequence[Record], names: Sequence[str]) -> Mapping[Cell, int]:
    """The cells of a table that occur, with their counts."""
    where = [(names.index(name), frozenset(kept)) for name, kept in table.where]
    places = [names.index(name) for name in table.attributes]
    return Counter(
        tuple(str(record[place]) for place in places) for record in records if all(record[place] in kept for place, kept in where)
    )


def _lists(records: Sequence[Record]) -> int:
    """In how many orders different lists are made of these records."""
    found, left = 1, len(records)
    for count in Counter(records).values():
        for taken in range(1, count + 1):
            found = found * left // taken
            left -= 1
    return found


# --- the integer program --------------------------------------------------------------------------


@define
class IntegerProgram(TableAttacker):
    """An attacker who reconstructs from the tables that are published exactly, and looks at nothing else.

    For each value s of the secret, an integer program finds the largest number of records (k, s) in a dataset with the same
    published tables, k the known attributes of the target. The value with the largest number is named. Where one value alone is
    possible, every such dataset has it, and that is a claim to have identified the secret.

    Args:
        nodes: so many nodes of the search tree are looked at in one program; where it ends without an answer, the target is
            counted as undecided. A count and not a time, so that the score does not depend on the machine.
    """

    name: ClassVar[str] = "integer-program"
    title: ClassVar[str] = "reconstructs the secret from all exact tables by integer programs"
    knowledge: ClassVar[str] = "some attributes of the target, and nothing of the mechanism"
    target: ClassVar[str] = "the secret attributes of one record"
    observation: ClassVar[str] = "the tables that are published exactly"
    assumption: ClassVar[str] = "none"
    source: ClassVar[str] = "Garfinkel, Abowd and Martindale 2019, reconstruction from published tables"

    nodes: Annotated[int, Integer(1)] = 1_000

    def guess(self, scene: AttackScene, known: Mapping[str, str], secret: tuple[str, ...]) -> AttackGuess:
        tables = {table: counted for table, counted in scene.published.items() if table.unit == _unit(scene.spec)}
        mentioned = {name for table in tables for name in (*table.attributes, *(held for held, _ in table.where))}
        if not set(secret) & mentioned:
            return AttackGuess(best=())
        kinds, names = _support(tables, known, secret, scene.spec.space.attributes_of(_unit(scene.spec)))
        places = [names.index(name) for name in secret]
        conditions = [(names.index(name), value) for name, value in known.items() if name in names]
        fitting = [all(kind[place] == value for place, value in conditions) for kind in kinds]
        largest: dict[Cell, int] = {}
        for value in dict.fromkeys(tuple(kind[p] for p in places) for kind, fits in zip(kinds, fitting, strict=True) if fits):
            wanted = [fits and tuple(kind[p] for p in places) == value for kind, fits in zip(kinds, fitting, strict=True)]
            found = self._largest(kinds, names, tables, known, wanted, scene.size)
            if found is None:
                return AttackGuess(best=(), undecided=True)
            if found:
                largest[value] = found
        if not largest:
            return AttackGuess(best=())
        most = max(largest.values())
        best = tuple(value for value, count in largest.items() if count == most)
        return AttackGuess(best=best, is_claim=len(largest) == 1)

    def _largest(  # noqa: PLR0917 - one program with all that it needs
        self, kinds: Sequence[Cell], names: Sequence[str], tables: Mapping[Marginal, Mapping[Cell, int]],
        known: Mapping[str, str], wanted: Sequence[bool], size: int,
    ) -> int | None:  # fmt: skip
        """The largest number of the wanted records in a dataset with these tables; None where the program does not end."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_matrix

        rows: list[int] = []
        columns: list[int] = []
        right: list[int] = []
        common = _common(tables) & known.keys()
        for table, counted in tables.items():
            spots = [names.index(name) for name in table.attributes]
            where = [(names.index(name), frozenset(kept)) for name, kept in table.where]
            numbers: dict[Cell, int] = {}
            for cell, count in counted.items():
                if all(value == known[name] for name, value in zip(table.attributes, cell, strict=True) if name in common):
                    numbers[cell] = len(right)
                    right.append(count)
            for column, kind in enumerate(kinds):
                if all(kind[place] in kept for place, kept in where):
                    rows.append(numbers[tuple(kind[place] for place in spots)])
                    columns.append(column)
        matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(right), len(kinds)))
        found = milp(
            -np.asarray(wanted, dtype=np.float64), constraints=[LinearConstraint(matrix, right, right)],
            bounds=Bounds(0, size), integrality=np.ones(len(kinds)), options={"node_limit": self.nodes},
        )  # fmt: skip
        if found.status != 0 or found.x is None:
            return None
        return round(float(np.rint(found.x)[np.asarray(wanted)].sum()))


def _common(tables: Mapping[Marginal, object]) -> set[str]:
    """The attributes by which every table is broken down: a dataset falls into parts, one for each of their values."""
    return set.intersection(*(set(table.attributes) for table in tables)) if tables else set()


def _support(
    tables: Mapping[Marginal, Mapping[Cell, int]],
    known: Mapping[str, str],
    secret: tuple[str, ...],
    attributes: Sequence[Attribute],
) -> tuple[list[Cell], list[str]]:
    """The kinds of records that all unconditional tables allow, in the part of the data in which the target is.

    Raises:
        NotEnumerableError: there are too many.
    """
    fixed = {name: known[name] for name in _common(tables) & known.keys()}
    names: list[str] = []
    kinds: list[Cell] = [()]
    for table, counted in sorted(tables.items(), key=lambda pair: len(pair[1])):
        if table.where:
            continue
        cells = [
            cell for cell in counted
            if all(fixed.get(name, value) == value for name, value in zip(table.attributes, cell, strict=True))
        ]  # fmt: skip
        kinds, names = _joined(kinds, names, cells, table.attributes)
    conditioned = [name for table in tables if table.where for name in (*table.attributes, *(held for held, _ in table.where))]
    for name in dict.fromkeys((*conditioned, *secret)):
        if name not in names:
            values = next(a for a in attributes if a.name == name).values()
            kinds, names = _joined(kinds, names, [(value,) for value in values], (name,))
    for table, counted in tables.items():
        spots, where = [names.index(n) for n in table.attributes], [(names.index(n), frozenset(kept)) for n, kept in table.where]
        kinds = [
            kind for kind in kinds
            if tuple(kind[p] for p in spots) in counted or not all(kind[p] in kept for p, kept in where)
        ]  # fmt: skip
    return [kind for kind in kinds if all(kind[names.index(name)] == value for name, value in fixed.items())], names


def _joined(
    kinds: Sequence[Cell], names: Sequence[str], cells: Sequence[Cell], added: Sequence[str]
) -> tuple[list[Cell], list[str]]:  # fmt: skip
    """The kinds with the cells that agree with them in the attributes that both have."""
    shared = [name for name in added if name in names]
    new = [place for place, name in enumerate(added) if name not in names]
    by_shared: dict[Cell, list[Cell]] = defaultdict(list)
    for cell in cells:
        key = tuple(cell[added.index(name)] for name in shared)
        by_shared[key].append(tuple(cell[place] for place in new))
    places = [names.index(name) for name in shared]
    found: list[Cell] = []
    for kind in kinds:
        found += [(*kind, *rest) for rest in by_shared.get(tuple(kind[place] for place in places), ())]
        if len(found) > MOST_KINDS:
            rule = f"would have more than {MOST_KINDS:,} unknowns"
            raise errors.NotEnumerableError("attacker integer-program", rule, "use an attacker who reads the released records")
    return found, [*names, *(added[place] for place in new)]
