"""Swaps and their budgets: the variables of a swap and what they keep (Bailie, Gong and Meng 2023), and the number for each
universe (Bailie, Gong and Meng 2023).

A record of the swapping unit reads (j, l, k): j its *match* category (the stratum), l the *rest* (all that is held),
k its *swap* category. A swap exchanges values k inside a stratum, so it keeps

    c_Swap = (n_jl, n_jk),        the counts of match x rest and of match x swap.

Several match, rest or swap attributes are treated as one attribute, their combination.

Rates may differ by stratum: an agency swaps more where records are easier to recognise.

The strata of a swap are independent, and d_HamS and Mult add up over them. So the theorem holds stratum by stratum, and the
budget of a universe is the largest over its strata j of that for the size b_j and the rate p_j (Bailie, Gong and Meng 2023).

Routes recompute the printed numbers: a budget, the least budget, and the rates for a budget.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Bracket,
    Budget,
    Dataset,
    DatasetSpace,
    Exact,
    IncompatibleBlocksError,
    Integer,
    Items,
    LevelSets,
    Marginal,
    Nested,
    Number,
    ParameterError,
    PrivacySpec,
    Rational,
    Record,
    Route,
    Text,
    blocks,
    define,
    errors,
    exact,
    is_a,
    late_module,
    ln,
    params,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

SwappedRecords = tuple[tuple[Record, Record], ...]
"""The records of one stratum, each as its pair (rest, swap)."""


def _attributes(space: DatasetSpace, unit: str, names: Iterable[str]) -> Mapping[str, Attribute]:
    """The attributes of a unit by name.

    Raises:
        IncompatibleBlocksError: one of the names is none of theirs.
    """
    attributes = {a.name: a for a in space.attributes_of(unit)}
    for name in names:
        if name not in attributes:
            rule, advice = f"is unknown to the space {space.name}", params.did_you_mean(name, attributes)
            raise IncompatibleBlocksError(f"{unit} attribute", rule, advice, value=name)
    return attributes


@define
class SwapScheme:
    """The attributes that are matched on, those that are swapped, and the unit whose records they are.

    Args:
        match: the attributes that form the strata; () for one stratum.
        swap: the attributes whose values move, all together.
        unit: the unit that one record is.

    >>> scheme = SwapScheme(match=("state",), swap=("county",))
    >>> scheme.match, scheme.swap, scheme.unit
    (('state',), ('county',), 'household')
    """

    match: Annotated[tuple[str, ...], Items(Text())] = ()
    swap: Annotated[tuple[str, ...], Items(Text(), least=1)]
    unit: Annotated[str, Text()] = "household"

    def __attrs_post_init__(self) -> None:
        named = (*self.match, *self.swap)
        if len(set(named)) < len(named):
            raise ParameterError("swap", "must not name an attribute twice, nor one of match", value=named)

    # -- fit with a space ---------------------------------------------------------------------------

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError unless swapped records of the unit are again a dataset of the space."""
        if not isinstance(space, blocks.Multisets):
            raise IncompatibleBlocksError(
                f"space {space.name}", "has no unordered records; a swap releases a multiset",
                "use the space records or contingency-tables",
            )  # fmt: skip
        if isinstance(space, blocks.Households) and self.unit != space.units[0]:
            raise IncompatibleBlocksError(
                "unit", "cannot be swapped between households; whole households are", f"write unit = {space.units[0]}",
                value=self.unit,
            )  # fmt: skip
        self._check_nesting(_attributes(space, self.unit, (*self.match, *self.swap)))

    def _check_nesting(self, attributes: Mapping[str, Attribute]) -> None:
        """A nested attribute moves together with the one it lies within, or one of the two is fixed in a stratum."""
        fixed = set(self.match)
        for name in self.match:
            coarser = attributes[name].within
            while coarser is not None:
                fixed.add(coarser)
                coarser = attributes[coarser].within
        for name, attribute in attributes.items():
            within = attribute.within
            if within is None or {name, within} & fixed or (name in self.swap) == (within in self.swap):
                continue
            raise IncompatibleBlocksError(
                f"swap of {', '.join(self.swap)}", f"would tear {name} from {within}, in which it lies",
                f"match on {within}, or swap both", value=name,
            )  # fmt: skip

    def rest(self, space: DatasetSpace) -> tuple[str, ...]:
        """The held attributes: all of the unit's that are neither matched on nor swapped."""
        return tuple(a.name for a in space.attributes_of(self.unit) if a.name not in (*self.match, *self.swap))

    # -- the invariants -----------------------------------------------------------------------------

    def invariants(self, space: DatasetSpace) -> tuple[Marginal, Marginal]:
        """c_Swap: the tables match x rest and match x swap (Bailie, Gong and Meng 2023)."""
        self.check(space)
        return (
            Marginal(attributes=(*self.match, *self.rest(space)), unit=self.unit),
            Marginal(attributes=(*self.match, *self.swap), unit=self.unit),
        )

    def multiverse(self, space: DatasetSpace) -> LevelSets:
        """The level sets of c_Swap (Bailie et al. 2024)."""
        return LevelSets(invariants=self.invariants(space))

    # -- records in and out -------------------------------------------------------------------------

    def strata(self, dataset: Dataset, space: DatasetSpace) -> dict[Record, SwappedRecords]:
        """The records of every stratum as pairs (rest, swap), by the match category."""
        names = [a.name for a in space.attributes_of(self.unit)]
        parts = [[names.index(name) for name in part] for part in (self.match, self.rest(space), self.swap)]
        found: dict[Record, list[tuple[Record, Record]]] = defaultdict(list)
        for record in space.records(dataset, self.unit):
            match, rest, swap = (tuple(record[place] for place in places) for places in parts)
            found[match].append((rest, swap))
        return {match: tuple(pairs) for match, pairs in found.items()}

    def joined(self, match: Record, pairs: Iterable[tuple[Record, Record]], space: DatasetSpace) -> tuple[Record, ...]:
        """The inverse of `strata` for one stratum: whole records, in the order of the space's attributes."""
        names = [a.name for a in space.attributes_of(self.unit)]
        order = [(*self.match, *self.rest(space), *self.swap).index(name) for name in names]
        return tuple(tuple((*match, *rest, *swap)[place] for place in order) for rest, swap in pairs)

    def dataset(self, records: Iterable[Record], space: DatasetSpace) -> Dataset:
        """The dataset of the space with these records of the unit."""
        if not isinstance(space, blocks.Multisets):
            raise IncompatibleBlocksError(f"space {space.name}", "has no unordered records")
        cells: Any = tuple(records)
        if isinstance(space, blocks.Households):
            cells = tuple((record[:-1], record[-1]) for record in cells)
        return space.of(cells)


@attrs.frozen(kw_only=True)
class StratumSizes:
    """The sizes n_j of the strata of one dataset.

    Args:
        largest: max n_j over all strata; 0 for no records ("maximum stratum size" in Bailie et al. 2024).
        largest_varied: b = max n_j over the strata that hold at least two different records; 0 for none
            (Bailie, Gong and Meng 2023, swapping theorem, appendix).
    """

    largest: int
    largest_varied: int

    @classmethod
    def of(cls, dataset: Dataset, space: DatasetSpace, match: tuple[str, ...], unit: str) -> StratumSizes:
        """Read from the records of a dataset; both are constant inside a universe of c_Swap.

        >>> from dpspec.plugin import UnorderedRecords
        >>> space = UnorderedRecords(attributes=[{"name": "size", "count": 3}, {"name": "tenure", "count": 2}])
        >>> StratumSizes.of((("1", "0"), ("1", "0"), ("1", "0"), ("2", "0"), ("2", "1")), space, ("size",), "person")
        StratumSizes(largest=3, largest_varied=2)
        """
        sizes = cls.by_stratum(dataset, space, match, unit).values()
        return cls(
            largest=max((size.largest for size in sizes), default=0),
            largest_varied=max((size.largest_varied for size in sizes), default=0),
        )

    @classmethod
    def by_stratum(cls, dataset: Dataset, space: DatasetSpace, match: tuple[str, ...], unit: str) -> dict[Record, StratumSizes]:
        """The size of each stratum, by its match category."""
        names = [a.name for a in space.attributes_of(unit)]
        places = [names.index(name) for name in match]
        strata: dict[Record, list[Record]] = defaultdict(list)
        for record in space.records(dataset, unit):
            strata[tuple(record[place] for place in places)].append(record)
        return {
            key: cls(largest=len(held), largest_varied=len(held) if len(set(held)) > 1 else 0) for key, held in strata.items()
        }


# --- rates by stratum -----------------------------------------------------------------------------


@define
class StratumRate:
    """The swap rate of one stratum.

    Args:
        stratum: its category of each attribute of `match`, in that order.
        swap_rate: p, the probability with which each record is selected.

    >>> str(rate_of(("2",), [StratumRate(stratum=["2"], swap_rate="1/5")], Fraction(1, 20)))
    '1/5'
    """

    stratum: Annotated[tuple[str, ...], Items(Text(), least=1)]
    swap_rate: Annotated[Fraction, Rational(0, 1)]


@attrs.frozen(kw_only=True)
class Rates:
    """The swap rates of the strata of a table, by the numbers of the strata.

    Args:
        default: of all strata that have none of their own.
        own: of those that have.
    """

    default: Fraction
    own: Mapping[int, Fraction]

    def classes(self, names: npt.NDArray[np.int64]) -> Iterator[tuple[Fraction, npt.NDArray[np.bool_]]]:
        """Each rate that occurs, with the strata that have it as a mask over their numbers."""
        left = np.ones(len(names), dtype=np.bool_)
        for rate in sorted(set(self.own.values())):
            having = np.isin(names, [key for key, value in self.own.items() if value == rate])
            left &= ~having
            yield rate, having
        yield self.default, left


def check_rates(rates: Sequence[StratumRate], match: Sequence[str]) -> None:
    """Refuse rates that do not name every attribute of `match`, or one stratum twice."""
    named = [rate.stratum for rate in rates]
    for stratum in named:
        if len(stratum) != len(match):
            raise ParameterError(
                "rates", f"must name one category for each of {', '.join(match) or 'no attribute'}", value=stratum
            )
        if named.count(stratum) > 1:
            raise ParameterError("rates", "must not name a stratum twice", value=stratum)


def check_strata(space: DatasetSpace, unit: str, match: Sequence[str], rates: Sequence[StratumRate]) -> None:
    """Refuse strata by attributes that a space lacks, and rates of strata that it lacks.

    Raises:
        IncompatibleBlocksError, NotInSpaceError.
    """
    attributes = _attributes(space, unit, match)
    for rate in rates:
        for name, category in zip(match, rate.stratum, strict=False):
            attributes[name].index(category)


def rate_of(stratum: Record, rates: Sequence[StratumRate], default: Fraction) -> Fraction:
    """The rate of a stratum: its own where it has one."""
    return next((rate.swap_rate for rate in rates if rate.stratum == stratum), default)


# --- the budget -----------------------------------------------------------------------------------


FORMS = ("s23-full", "s23-short", "s24")
"""The versions of the theorem that are printed, by the slides that print them."""


@lru_cache(maxsize=4096)
def nominal_budget(largest_stratum: int, swap_rate: Fraction, form: str = "s23-full") -> Number:
    """eps of the swapping theorem for a stratum size b and a swap rate p, with o = p/(1-p), in nats per unit.

    s23-full:   0 for b = 0; ln((b+1)/o) for 0 < p <= 1/2; max{ln o, ln((b+1)/o)} for 1/2 < p < 1;
                infinite for p in {0, 1} and b > 0, where the source denies every finite budget.
    s24:        the same two branches, without a word on b = 0 or on p in {0, 1}.
    s23-short:  ln((b+1)/o), printed for 0 < p <= 1/2 only.

    >>> nominal_budget(264331, Fraction(1, 20)).decimal(), str(nominal_budget(8, Fraction(3, 4)))
    ('15.4294', 'ln(3)')
    """
    check_form(swap_rate, form)
    if form == "s23-full" and largest_stratum == 0:
        return exact.ZERO
    if swap_rate in (0, 1):
        return exact.INFINITY
    odds = swap_rate / (1 - swap_rate)
    return max(ln(odds), ln((largest_stratum + 1) / odds))


def check_form(swap_rate: Fraction, form: str) -> None:
    """Refuse a swap rate for which the theorem is not stated in this form."""
    if form == "s23-short" and not 0 < swap_rate <= Fraction(1, 2):
        rule = "the short form of the theorem is stated for 0 < p <= 1/2 only"
        raise ParameterError("swap_rate", rule, 'choose form = "s23-full"', value=str(swap_rate))
    if form == "s24" and not 0 < swap_rate < 1:
        rule = "the 2024 form of the theorem says nothing about p = 0 and p = 1"
        raise ParameterError("swap_rate", rule, 'choose form = "s23-full", which gives infinity', value=str(swap_rate))


@define
class SwappingBudget(Budget):
    """eps_D of the swapping theorem as printed, from the stratum sizes of the universe D.

    The size b is read from the datasets of D: for ``s23-full`` the largest stratum that holds at least two
    different records (Bailie, Gong and Meng 2023, swapping theorem, appendix), for the other two forms the largest stratum. Both
    are constant inside a universe of c_Swap; in a universe of another multiverse the largest over its datasets is taken.

    Args:
        match: the attributes that form the strata.
        swap_rate: p, the probability with which each record is selected.
        form: which print of the theorem, see `nominal_budget`.
        rates: the strata that have a rate of their own; their budgets count with it.
        unit: the unit whose records are swapped.
        largest_stratum: b as a source prints it; the budget is then one number for all universes.

    >>> str(SwappingBudget(match=("state",), swap_rate="1/20", largest_stratum=13680081).uniform())
    'ln(259921558)'
    """

    name: ClassVar[str] = "swapping"

    parameter: str = attrs.field(default="epsilon", init=False)
    match: Annotated[tuple[str, ...], Items(Text())] = ()
    swap_rate: Annotated[Fraction, Rational(0, 1)]
    rates: Annotated[tuple[StratumRate, ...], Items(Nested(StratumRate))] = ()
    form: Annotated[str, Text(FORMS)] = "s23-full"
    unit: Annotated[str, Text()] = "household"
    largest_stratum: Annotated[int, Integer(0)] | None = None

    def __attrs_post_init__(self) -> None:
        check_form(self.swap_rate, self.form)
        check_rates(self.rates, self.match)
        for rate in self.rates:
            check_form(rate.swap_rate, self.form)
        if self.rates and self.largest_stratum is not None:
            raise ParameterError("largest_stratum", "is one number for one rate", "leave out rates, or the largest stratum")

    def check_universes(self, multiverse: blocks.Multiverse, space: DatasetSpace) -> None:
        """A rate of a misspelt stratum would count for none."""
        if self.largest_stratum is None:
            check_strata(space, self.unit, self.match, self.rates)

    def at(self, universe: blocks.Universe, space: DatasetSpace) -> Number:
        if self.largest_stratum is not None:
            return nominal_budget(self.largest_stratum, self.swap_rate, self.form)
        strata = [StratumSizes.by_stratum(dataset, space, self.match, self.unit) for dataset in universe.datasets]
        budgets = {self.of_stratum(stratum, size) for sizes in strata for stratum, size in sizes.items()}
        return max(budgets, default=nominal_budget(0, self.swap_rate, self.form))

    def of_stratum(self, stratum: Record, size: StratumSizes) -> Number:
        """The budget of one stratum with its own rate."""
        b = size.largest_varied if self.form == "s23-full" else size.largest
        return nominal_budget(b, rate_of(stratum, self.rates, self.swap_rate), self.form)

    def within(self, other: Budget) -> str | None:
        """Of the full form within the others: it grows with the size of the stratum, and reads fewer strata."""
        fields = ("match", "swap_rate", "rates", "unit", "largest_stratum")
        same = is_a(other, SwappingBudget) and all(getattr(self, name) == getattr(other, name) for name in fields)
        if same and self.form == "s23-full":
            return (
                "at one swap rate it grows with b, and b is the size of a stratum with two different records, or of any stratum"
            )
        return Budget.within(self, other)

    def uniform(self) -> Number | None:
        if self.largest_stratum is None:
            return None
        return nominal_budget(self.largest_stratum, self.swap_rate, self.form)

    def is_same_in_parts(self, multiverse: blocks.Multiverse, space: DatasetSpace) -> bool:
        """Where the universes fix the sizes of the strata, and for the full form which of them have different records."""
        if self.largest_stratum is not None:
            return True
        if self.unit not in space.units:
            return False
        tables = [self.match]
        if self.form == "s23-full":  # the records of a stratum are alike where each attribute has one value in it
            names = (attribute.name for attribute in space.attributes_of(self.unit))
            tables += [(*self.match, name) for name in names if name not in self.match]
        return all(blocks.fixes_table(multiverse, space, self.unit, table) for table in tables)

    def least_between(self, multiverse: blocks.Multiverse, space: DatasetSpace) -> tuple[Number, str] | None:
        """Of universes whose datasets have the same table of match x a for each attribute a: that for a stratum of two records.

        Two different datasets of one universe differ in some stratum. Its records are not all alike in either of them, since
        records that are all alike are determined by the tables of match x a. So b is at least 2 (Bailie, Gong and Meng 2023), and
        the budget does not fall in b.
        """
        known = self.uniform()
        if known is not None:
            return known, "in every universe"
        if self.unit not in space.units or not blocks.fixes_each_attribute(multiverse, space, self.unit, self.match):
            return None
        rates = (self.swap_rate, *(rate.swap_rate for rate in self.rates))
        least = min(nominal_budget(2, rate, self.form) for rate in rates)
        return least, "the budget of a universe with two different datasets, since a stratum then has at least two records"

    def __str__(self) -> str:
        b = "the largest stratum" if self.largest_stratum is None else f"b = {self.largest_stratum}"
        own = f" (other rates in {errors.count(len(self.rates), 'stratum', 'strata')})" if self.rates else ""
        return f"epsilon of the swapping theorem ({self.form}) at swap rate {self.swap_rate}{own}, {b}"


# --- routes ---------------------------------------------------------------------------------------


PRECISION = 160
"""Bits of the balls around swap rates that are no rational numbers."""


@define
class SwappingBudgetRoute(Route):
    """Stratum size and swap rate -> epsilon (Bailie, Gong and Meng 2023).

    Args:
        largest_stratum: b; left out, it is read from a `swapping` budget of the specification.
        swap_rate: p, the probability with which each record is selected; left out, likewise.
        form: which print of the theorem.
    """

    name: ClassVar[str] = "swapping-budget"

    largest_stratum: Annotated[int, Integer(0)] | None = None
    swap_rate: Annotated[Fraction, Rational(0, 1)] | None = None
    form: Annotated[str, Text(FORMS)] = "s23-full"

    def value(self, spec: PrivacySpec) -> Bracket:
        rate = _from_budget(spec, "swap_rate", self.swap_rate)
        return Bracket.exactly(nominal_budget(_from_budget(spec, "largest_stratum", self.largest_stratum), rate, self.form))


@define
class LeastSwappingBudgetRoute(Route):
    """Stratum size -> the least nominal budget, (1/2) ln(b+1), or the swap rate that gives it (Bailie, Gong and Meng 2023).

    The two branches of the theorem meet at o = sqrt(b+1), so p = o/(1+o).

    Args:
        largest_stratum: b; left out, it is read from a `swapping` budget of the specification.
        quantity: epsilon or swap-rate.
    """

    name: ClassVar[str] = "least-swapping-budget"

    largest_stratum: Annotated[int, Integer(1)] | None = None
    quantity: Annotated[str, Text(("epsilon", "swap-rate"))] = "epsilon"

    def value(self, spec: PrivacySpec) -> Bracket:
        b = _from_budget(spec, "largest_stratum", self.largest_stratum)
        return Bracket.exactly(least_budget(b)) if self.quantity == "epsilon" else rate_of_least_budget(b)


@define
class SwapRateForBudgetRoute(Route):
    """Stratum size and epsilon -> one of the two swap rates with that nominal budget (Bailie, Gong and Meng 2023).

    Args:
        epsilon: the budget, at least (1/2) ln(b+1).
        largest_stratum: b; left out, it is read from a `swapping` budget of the specification.
        branch: smaller, o = (b+1) e^-epsilon; or larger, o = e^epsilon.
    """

    name: ClassVar[str] = "swap-rate-for-budget"

    epsilon: Annotated[Number, Exact(0)]
    largest_stratum: Annotated[int, Integer(1)] | None = None
    branch: Annotated[str, Text(("smaller", "larger"))] = "smaller"

    def value(self, spec: PrivacySpec) -> Bracket:
        smaller, larger = swap_rates(self.epsilon, _from_budget(spec, "largest_stratum", self.largest_stratum))
        return smaller if self.branch == "smaller" else larger


def least_budget(largest_stratum: int) -> Number:
    """eps_b = (1/2) ln(b+1), the least nominal budget for stratum size b (Bailie, Gong and Meng 2023).

    >>> least_budget(99).decimal()
    '2.30259'
    """
    return ln(largest_stratum + 1) / 2


def rate_of_least_budget(largest_stratum: int) -> Bracket:
    """The swap rate p = o/(1+o), o = sqrt(b+1), of the least nominal budget; exact when b+1 is a square.

    >>> str(rate_of_least_budget(99))
    '10/11'
    """
    odds = exact.sqrt(largest_stratum + 1)
    if odds.is_rational:
        root = odds.as_fraction()
        return Bracket.exactly(root / (1 + root))
    return _rate(odds.enclose(PRECISION))


def swap_rates(epsilon: Number, largest_stratum: int) -> tuple[Bracket, Bracket]:
    """The two swap rates whose nominal budget is epsilon: o = (b+1) e^-epsilon and o = e^epsilon.

    >>> from dpspec.plugin import number
    >>> [round(float(rate.lower), 6) for rate in swap_rates(number(5), 99)]
    [0.402555, 0.993307]
    """
    least = least_budget(largest_stratum)
    if epsilon.is_infinite or epsilon < least:
        rule = f"is given by no swap rate; the least budget for b={largest_stratum} is {least.decimal()}"
        raise ParameterError("epsilon", rule, "ask for a finite larger one", value=str(epsilon))
    from flint import ctx

    with ctx.workprec(PRECISION):
        growth = epsilon.enclose(PRECISION).exp()
        return _rate(exact.ball(largest_stratum + 1) / growth), _rate(growth)


def _rate(odds: Any) -> Bracket:
    """p = o/(1+o) around a ball of positive odds."""
    from flint import ctx

    with ctx.workprec(PRECISION):
        return Bracket.around(1 - 1 / (1 + odds), least=0)


def _from_budget(spec: PrivacySpec, field: str, given: Any) -> Any:
    if given is not None:
        return given
    read = getattr(spec.budget, field) if is_a(spec.budget, SwappingBudget) else None
    if read is None:
        raise ParameterError(field, "is neither given nor stated by a swapping budget", f"write {field} in the route")
    return read
