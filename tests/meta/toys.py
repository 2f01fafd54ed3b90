"""Toys for the conformance kit: of each kind one that has every property, and for each check one that lacks only its property."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Annotated, ClassVar

import attrs
import numpy as np

from dpspec.base.errors import IncompatibleBlocksError, ParameterError, ReleaseError
from dpspec.base.exact import Bracket, ln, number, rational
from dpspec.base.params import Rational, define
from dpspec.base.randomness import KeyedRandomness
from dpspec.blocks.budget import Budget, UniformBudget
from dpspec.blocks.input_divergence import InputDivergence, RecordSteps, Relation
from dpspec.blocks.invariant import Invariant, LinearMap, Marginal
from dpspec.blocks.multiverse import Multiverse, Trivial
from dpspec.blocks.output_divergence import Composed, OutputDivergence
from dpspec.blocks.parts import Nesting, Tabular, Unnested
from dpspec.blocks.records import Households, OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.extension import hookimpl, installed
from dpspec.grammar import answers
from dpspec.grammar.attacker import AttackerModel, Recommendation, RiskStatement, Sense as Standing, Tolerance
from dpspec.grammar.flavour import Example, Flavour
from dpspec.grammar.functions import DatasetAdapter, GeneratorAdapter
from dpspec.grammar.mechanism import Claim, Mechanism
from dpspec.grammar.rule import Conversion, Question, Route, Rule, Step
from dpspec.grammar.sorting import SortedRelease
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.structure import Structure
from dpspec.grammar.tables import Coded, SizedBuilder, Table, TableFormat
from dpspec.grammar.views import Report
from dpspec.grammar.workers import Workers
from dpspec.laws.law import Answers, FiniteLaw
from dpspec.laws.trade_off import largest_power
from dpspec.risks.attack_bounds import allowed_power
from dpspec.risks.candidates import candidates_within, pairs_within

TOYS = {}
"""Name of a check to the kind and class of the toy that fails it alone."""

ALSO = []
"""Further toys of a check that has one already: name of the check, kind and class."""

RIGHT = {}
"""Kind to the toy that passes everything."""


def right(kind):
    def keep(cls):
        RIGHT[kind] = cls
        return cls

    return keep


def breaks(check, kind):
    def keep(cls):
        if check in TOYS:
            ALSO.append((check, kind, cls))
        TOYS.setdefault(check, (kind, cls))
        return said_again(cls)

    return keep


def said_again(cls):
    """The toy with the promises of what it is derived from, which are withdrawn where a class changes what they are about."""
    for kind in cls.__mro__:
        for name, unknown in {"name": vars(cls).get("name"), **vars(kind).get("_promised", {})}.items():
            if name not in cls.__annotations__ and name in vars(cls) and vars(cls)[name] is unknown:
                delattr(cls, name)
    return cls


def plugin(kind, cls):
    """A plugin that registers one class."""

    @hookimpl
    def hook(register):
        register(cls)

    return SimpleNamespace(DPSPEC_API=1, **{f"dpspec_register_{kind}": hook})


def bits_only(space):
    if not isinstance(space, BitVectors):
        raise IncompatibleBlocksError("toy", "plays with bits only")


# --- input divergences ---------------------------------------------------------------------------


@right("input_divergences")
@define
class Discrete(InputDivergence):
    """0 for equal datasets, else 1."""

    name: ClassVar[str] = "toy-distance"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True

    def check(self, space):
        bits_only(space)

    def distance(self, left, right, space):
        return number(0 if left == right else 1)

    def least_distance(self, space):
        return number(1)


@breaks("check_changes_cost_at_most_the_distance", "input_divergences")
@define
class BrokenPrice(Discrete):
    """Each change of a bit costs 1, and any number of changes lead to distance 1."""

    def record_steps(self, space):
        return RecordSteps(unit="person", replaced=1)


@breaks("check_one_change_has_the_price_that_is_stated", "input_divergences")
@define
class BrokenUnitPrice(Discrete):
    """One bit that changes is at distance 1, and is said to cost a half."""

    def counted_unit(self):
        return "person"

    def distance(self, left, right, space):
        return number(sum(one != other for one, other in zip(left, right, strict=True)))

    def unit_price(self, space):
        return number("1/2")


@breaks("check_distance_to_itself_is_zero", "input_divergences")
@define
class BrokenIdentity(Discrete):
    """1, always."""

    def distance(self, left, right, space):
        return number(1)


@breaks("check_distance_is_a_nonnegative_number", "input_divergences")
@define
class BrokenSign(Discrete):
    """-1 for different datasets."""

    is_metric: ClassVar[bool] = False

    def distance(self, left, right, space):
        return number(0 if left == right else -1)

    def least_distance(self, space):
        return None


@breaks("check_distance_is_symmetric", "input_divergences")
@define
class BrokenSymmetry(Discrete):
    """1 upwards, 2 downwards."""

    def distance(self, left, right, space):
        return number(0 if left == right else 1 if left < right else 2)


@breaks("check_distance_obeys_the_triangle_inequality", "input_divergences")
@define
class BrokenTriangle(Discrete):
    """The square of the number of different bits."""

    def distance(self, left, right, space):
        return number(sum(a != b for a, b in zip(left, right, strict=True)) ** 2)


@breaks("check_least_distance_is_a_lower_bound", "input_divergences")
@define
class BrokenLeast(Discrete):
    """States 2 where 1 occurs."""

    def least_distance(self, space):
        return number(2)


@breaks("check_integral_distances_are_whole_numbers", "input_divergences")
@define
class BrokenWhole(Discrete):
    """1/2 for different datasets, called a whole number."""

    def distance(self, left, right, space):
        return number(0 if left == right else "1/2")

    def least_distance(self, space):
        return number("1/2")


@breaks("check_distance_is_bounded_as_stated", "input_divergences")
@define
class BrokenBound(Discrete):
    """Claims to be at most half of anything."""

    def bounded_by(self, other, space):
        return number("1/2"), "wishful"


@breaks("check_distance_is_bounded_as_stated", "input_divergences")
@define
class BrokenReverse(Discrete):
    """Claims to be at least twice of anything."""

    def bounds(self, other, space):
        return number("1/2"), "wishful"


@breaks("check_counted_unit_moves_no_faster_than_the_distance", "input_divergences")
@define
class BrokenCount(Discrete):
    """Claims to count persons, and both of two may change at distance 1."""

    def counted_unit(self):
        return "person"


@breaks("check_neighbours_are_at_distance_one", "input_divergences")
@define
class BrokenNeighbourForm(Discrete):
    """All others are at distance 2, which is said to be that of neighbours."""

    is_neighbour_form: ClassVar[bool] = True

    def distance(self, left, right, space):
        return number(0 if left == right else 2)


@breaks("check_datasets_of_a_universe_are_as_far_apart_as_stated", "input_divergences")
@define
class BrokenApart(Discrete):
    """Said to be at least 2 apart in every universe."""

    def apart_inside(self, multiverse, space):
        return 2


@right("input_divergences of numbers")
@define
class Steps(InputDivergence):
    """The sum of the differences of whole numbers."""

    name: ClassVar[str] = "toy-distance"
    is_symmetric: ClassVar[bool] = True

    def check(self, space):
        if not isinstance(space, IntegerCounts):
            raise IncompatibleBlocksError("toy", "counts only")

    def distance(self, left, right, space):
        return number(sum(abs(a - b) for a, b in zip(left, right, strict=True)))

    def number_steps(self, places):
        units = [tuple(int(place == at) for place in range(places)) for at in range(places)]
        return (*units, *(tuple(-entry for entry in unit) for unit in units))


@breaks("check_lists_of_numbers_differ_by_the_steps_that_are_stated", "input_divergences")
@define
class BrokenSteps(Steps):
    """Any change of a number is at distance 1, and the steps go by one."""

    def distance(self, left, right, space):
        return number(0 if left == right else 1)


# --- output divergences --------------------------------------------------------------------------


@right("output_divergences")
@define
class Variation(OutputDivergence):
    """Total variation."""

    name: ClassVar[str] = "toy-divergence"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair, *, precision=64):
        return pair.total_variation(precision=precision)

    def __str__(self):
        return self.name


@right("output_divergences that separate")
@define
class Ratio(OutputDivergence):
    """The larger of both largest log-ratios."""

    name: ClassVar[str] = "toy-divergence"
    is_symmetric: ClassVar[bool] = True

    def evaluate(self, pair, *, precision=64):
        return pair.max_log_ratio() | pair.reverse().max_log_ratio()

    def score(self, pair):
        return pair.largest_ratio()

    def separates_laws(self):
        return True

    def event_bounds(self, bound):
        return ((bound, number(0)),)


@breaks("check_a_larger_score_is_a_larger_divergence", "output_divergences")
@define
class BrokenScore(Ratio):
    """A larger score for a smaller ratio."""

    def score(self, pair):
        large, small = pair.largest_ratio()
        return small, large


@breaks("check_equal_laws_are_at_zero", "output_divergences")
@define
class BrokenZero(Variation):
    """1 too much."""

    def evaluate(self, pair, *, precision=64):
        return Bracket.exactly(pair.total_variation().lower + 1)


@breaks("check_divergence_is_nonnegative", "output_divergences")
@define
class BrokenBracket(Variation):
    """A bracket that reaches below 0."""

    def evaluate(self, pair, *, precision=64):
        upper = pair.total_variation().upper
        return Bracket(lower=number(-1 if upper > 0 else 0), upper=upper)


@breaks("check_only_equal_laws_are_at_zero_as_declared", "output_divergences")
@define
class BrokenDeclaration(Variation):
    """Differences of at most 1/4 count nothing."""

    is_metric: ClassVar[bool] = False

    def separates_laws(self):
        return True

    def evaluate(self, pair, *, precision=64):
        return Bracket.exactly(max(pair.total_variation().lower - Fraction(1, 4), 0))


@breaks("check_event_bounds_are_the_divergence", "output_divergences")
@define
class BrokenEvents(Variation):
    """Twice what the total variation allows."""

    def event_bounds(self, bound):
        return ((number(0), bound * 2),)


@breaks("check_post_processing_never_separates", "output_divergences")
@define
class BrokenProcessing(Variation):
    """The sum of the squared differences, which merging two outcomes may raise."""

    is_metric: ClassVar[bool] = False

    def evaluate(self, pair, *, precision=64):
        return Bracket.exactly(sum(((p - q) ** 2 for p, q in pair.atoms()), Fraction(0)))


@breaks("check_composition_covers_the_joint_law", "output_divergences")
@define
class BrokenComposition(Variation):
    """Two releases spend no more than the first."""

    def composed(self, parts):
        return Composed(divergence=self, value=parts[0][1], rule="the first counts", citation="none")


@breaks("check_divergence_is_symmetric", "output_divergences")
@define
class BrokenDirection(Variation):
    """One direction of the largest log-ratio."""

    is_metric: ClassVar[bool] = False

    def evaluate(self, pair, *, precision=64):
        return pair.max_log_ratio()


@breaks("check_divergence_obeys_the_triangle_inequality", "output_divergences")
@define
class BrokenDetour(Variation):
    """The square of the total variation, called a metric."""

    def evaluate(self, pair, *, precision=64):
        return Bracket.exactly(pair.total_variation().lower.squared())


@breaks("check_divergence_keeps_its_bound_under_mixtures", "output_divergences")
@define
class BrokenMixture(Variation):
    """The smaller of both largest log-ratios, called quasi-convex: a coin between two directions has the larger one in both."""

    is_metric: ClassVar[bool] = False
    keeps_mixtures: ClassVar[bool] = True

    def evaluate(self, pair, *, precision=64):
        forth, back = pair.max_log_ratio(), pair.reverse().max_log_ratio()
        return Bracket(lower=min(forth.lower, back.lower), upper=min(forth.upper, back.upper))


@breaks("check_extremal_answers_stay_within_the_bound", "output_divergences")
@define
class BrokenExtremal(Variation):
    """Offers the truth at any bound."""

    def extremal(self, bound):
        yield Answers(law=FiniteLaw.point, words="without noise")


@breaks("check_refinement_stays_inside_the_bracket", "output_divergences")
@define
class BrokenRefinement(Variation):
    """Too large at low precision."""

    def evaluate(self, pair, *, precision=64):
        value = pair.total_variation().lower
        return Bracket.exactly(value + 2 if precision < 64 and value > 0 else value)


@breaks("check_divergence_is_bounded_as_stated", "output_divergences")
@define
class BrokenConversion(Variation):
    """Claims to be at most half of anything."""

    def bounded_by(self, other):
        return number("1/2"), "wishful"


@breaks("check_divergence_is_bounded_as_stated", "output_divergences")
@define
class BrokenReverseConversion(Variation):
    """Claims to be at least twice of anything."""

    def bounds(self, other):
        return number("1/2"), "wishful"


@breaks("check_larger_budgets_allow_more", "output_divergences")
@define
class BrokenBudget(Variation):
    """An infinite budget allows nothing."""

    def lipschitz(self, parameter, value):
        return number(0) if value.is_infinite else value


@breaks("check_the_budget_for_a_constant_allows_it", "output_divergences")
@define
class BrokenInverse(Variation):
    """Half a constant is said to be the budget for it."""

    def budget_for(self, parameter, constant):
        return constant / 2


@breaks("check_no_event_is_beyond_the_largest_loss", "output_divergences")
@define
class BrokenLoss(Ratio):
    """Half of the log-ratio."""

    def largest_loss(self, bound):
        return bound / 2


@breaks("check_no_event_is_beyond_the_largest_probability", "output_divergences")
@define
class BrokenProbability(Variation):
    """Half of what total variation allows."""

    def largest_probability(self, q, bound):
        return (q + bound / 2).min(1)


@breaks("check_worst_pairs_cover_what_the_budget_allows", "output_divergences")
@define
class BrokenWorst(Variation):
    """Two equal laws."""

    def worst_pairs(self, bound):
        equal = FiniteLaw.point(0).against(FiniteLaw.point(0))
        return equal, equal


# --- invariants ----------------------------------------------------------------------------------


@right("invariants")
@define
class Total(Invariant):
    """The number of ones."""

    name: ClassVar[str] = "toy-total"

    def check(self, space):
        bits_only(space)

    def value(self, dataset, space):
        return sum(dataset)

    def answers(self, dataset, space):
        return (sum(dataset),)

    def labels(self, space):
        return ("ones",)

    def matrix(self, space):
        return ((1,) * len(space.cells()),)

    def as_marginal(self):
        return Marginal(attributes=("bit",))


COUNTER = itertools.count()


@breaks("check_value_is_the_same_every_time", "invariants")
@define
class BrokenMemory(Total):
    """How often it was asked."""

    def value(self, dataset, space):
        return next(COUNTER)

    def as_marginal(self):
        return None

    def matrix(self, space):
        return None

    def implies(self, other, space):
        return None


class Nearly:
    """A number that equals those beside it."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return abs(self.value - other.value) <= 1

    def __hash__(self):
        return 0


@breaks("check_level_sets_partition_the_space", "invariants")
@define
class BrokenEquality(Total):
    """The number of ones, give or take one."""

    def value(self, dataset, space):
        return Nearly(sum(dataset))

    def as_marginal(self):
        return None

    def matrix(self, space):
        return None


@breaks("check_implication_holds_on_every_dataset", "invariants")
@define
class BrokenImplication(Total):
    """Whether there is a one; claims to determine everything."""

    def value(self, dataset, space):
        return any(dataset)

    def as_marginal(self):
        return None

    def matrix(self, space):
        return None

    def implies(self, other, space):
        return "wishful"


@breaks("check_matrix_carries_the_same_information", "invariants")
@define
class BrokenMatrix(Total):
    """The matrix sees the first bit only."""

    def matrix(self, space):
        return ((1,) + (0,) * (len(space.cells()) - 1),)


@breaks("check_table_carries_the_same_information", "invariants")
@define
class BrokenTable(Total):
    """The number of ones, said to be the number of records."""

    def as_marginal(self):
        return Marginal(attributes=())


@breaks("check_answers_are_integers_with_labels", "invariants")
@define
class BrokenLabels(Total):
    """Two labels for one answer."""

    def labels(self, space):
        return ("ones", "zeros")


# --- flavours ------------------------------------------------------------------------------------


def listed(**laws):
    """A mechanism on one bit, law by law."""
    rows = [{"dataset": [bit], "law": laws[name]} for bit, name in enumerate(("zero", "one"))]
    return installed().registry.get("mechanisms", "listed-laws")(laws=rows)


@right("flavours")
class Warner(Flavour):
    """One bit, pure privacy at ln 3."""

    name: ClassVar[str] = "toy-warner"
    title: ClassVar[str] = "one bit at ln 3"
    citation: ClassVar[str] = "Warner 1965"
    changes: ClassVar[tuple[str, ...]] = ()

    def spec(self):
        registry = installed().registry
        return PrivacySpec(
            space=BitVectors(length=1), multiverse=Trivial(),
            input_divergence=registry.get("input_divergences", "hamming-ordered")(),
            output_divergence=registry.get("output_divergences", "mult")(),
            budget=UniformBudget(parameter="epsilon", value="ln(3)"),
        )  # fmt: skip

    def satisfied_by(self):
        mechanism = listed(zero={"a": "3/4", "b": "1/4"}, one={"a": "1/4", "b": "3/4"})
        return Example(title="Warner", mechanism=mechanism, because="3/4 to 1/4")

    def broken_by(self):
        mechanism = listed(zero={"a": "4/5", "b": "1/5"}, one={"a": "1/5", "b": "4/5"})
        return Example(title="louder", mechanism=mechanism, because="4/5 to 1/5")


@breaks("check_flavour_says_where_it_comes_from", "flavours")
class BrokenCitation(Warner):
    """Says that it changes the distance, by a name that no block has."""

    changes: ClassVar[tuple[str, ...]] = ("distance",)


@breaks("check_flavour_is_satisfied_by_its_example", "flavours")
class BrokenPraise(Warner):
    """Praises the louder mechanism."""

    def satisfied_by(self):
        return self.broken_by()


@breaks("check_flavour_is_broken_by_its_example", "flavours")
class BrokenBlame(Warner):
    """Blames the right mechanism."""

    def broken_by(self):
        return self.satisfied_by()


@breaks("check_flavour_can_be_written_to_a_file", "flavours")
class BrokenPaper(Warner):
    """Its distance is registered under no name, so that no file can hold it."""

    def spec(self):
        return super().spec().replace(input_divergence=Discrete())


# --- mechanisms ----------------------------------------------------------------------------------


@right("mechanisms")
@define
class Flip(Mechanism):
    """Every bit, flipped with probability 1/4."""

    name: ClassVar[str] = "toy-flip"
    chance: ClassVar[Fraction] = Fraction(1, 4)

    def check(self, space):
        bits_only(space)

    def law(self, dataset, space):
        return FiniteLaw.product([FiniteLaw.of({bit: "3/4", 1 - bit: "1/4"}) for bit in space.dataset(dataset)])

    def structure(self, space):
        return Structure(views=(Report(Marginal(attributes=("bit",)), self.reports()),))

    def reports(self, chance="1/4"):
        return tuple(FiniteLaw.of({bit: 1 - Fraction(chance), 1 - bit: chance}) for bit in (0, 1))

    def claims(self, space):
        return (self._claim("the lecture", space),)

    def _claim(self, source, space):
        registry = installed().registry
        spec = PrivacySpec(
            space=space, multiverse=Trivial(), input_divergence=registry.get("input_divergences", "hamming-ordered")(),
            output_divergence=registry.get("output_divergences", "mult")(), budget=UniformBudget(parameter="epsilon", value=1),
        )  # fmt: skip
        return Claim(label="epsilon = 1, which is wrong", source=source, spec=spec)

    def release(self, table, space, source):
        flips = source.bernoulli(self.chance, len(table))
        return table.replace({"bit": table.codes["bit"] ^ flips})


@right("mechanisms records")
@define
class Copy(Mechanism):
    """The records as they are."""

    name: ClassVar[str] = "toy-copy"

    def check(self, space):
        if type(space) is not OrderedRecords:
            raise IncompatibleBlocksError("mechanism toy-copy", "copies ordered records", "use the space ordered-records")

    def law(self, dataset, space):
        return FiniteLaw.point(space.dataset(dataset))

    def release(self, table, space, source):
        return table


@breaks("check_table_without_records_is_released", "mechanisms")
@define
class BrokenEmpty(Copy):
    """Reads the first record of every table."""

    def release(self, table, space, source):
        next(iter(table.records()))
        return table


@breaks("check_what_is_refused_is_refused_before_a_budget_is_spent", "mechanisms")
@define
class BrokenRefusal(Copy):
    """Refuses every table when it draws."""

    def release(self, table, space, source):
        raise ReleaseError("toy-copy", "copies no table")


@breaks("check_answers_to_queries_are_released_where_they_are_stated", "mechanisms")
@define
class BrokenAnswers(Copy):
    """Says that records are answers."""

    def answers_queries(self):
        return True


@right("mechanisms answers")
@define
class Total(Copy):
    """The number of records as the answer to a query."""

    name: ClassVar[str] = "toy-total"

    def answers_queries(self):
        return True

    def law(self, dataset, space):
        return FiniteLaw.point(len(space.dataset(dataset)))

    def release(self, table, space, source):
        query = Marginal(attributes=(), unit=space.units[0])
        return answers.answer_table([answers.cells_of(query, space)], [len(table)])


@breaks("check_law_is_normalised", "mechanisms")
@define
class BrokenMass(Flip):
    """A law of mass 1/2, made by changing a frozen one."""

    def law(self, dataset, space):
        law = FiniteLaw.point(space.dataset(dataset))
        object.__setattr__(law, "total", 2)
        return law

    def claims(self, space):
        return ()


@breaks("check_law_is_the_same_every_time", "mechanisms")
@define
class BrokenLaw(Flip):
    """A law that changes whenever it is asked for."""

    def law(self, dataset, space):
        return FiniteLaw.from_weights({space.dataset(dataset): 1, "else": 1 + next(COUNTER)})

    def claims(self, space):
        return ()


@breaks("check_structure_agrees_with_the_law", "mechanisms")
@define
class BrokenNoise(Flip):
    """Says that it flips more bits than it does."""

    def structure(self, space):
        return Structure(views=(Report(Marginal(attributes=("bit",)), self.reports("1/3")),))


@breaks("check_structure_agrees_with_the_law", "mechanisms")
@define
class BrokenBeside(Flip):
    """Publishes the number of ones beside the flipped bits, and does not say so."""

    def law(self, dataset, space):
        return FiniteLaw.product([super().law(dataset, space), FiniteLaw.point(sum(dataset))])

    def structure(self, space):
        return Structure(views=(Report(Marginal(attributes=("bit",)), self.reports()),))

    def check_release(self, space):
        self._check_run()

    def release(self, table, space, source):
        return Mechanism.release(self, table, space, source)


class Blind(Report):
    """Reports of which it is said that none ever changes."""

    def changed(self, counts):
        return ((),)


@breaks("check_changes_are_as_visible_as_the_views_say", "mechanisms")
@define
class BrokenEyes(Flip):
    """Has such reports."""

    def structure(self, space):
        return Structure(views=(Blind(Marginal(attributes=("bit",)), self.reports()),))


@breaks("check_strangers_are_refused", "mechanisms")
@define
class BrokenGate(Flip):
    """Takes anything for a dataset."""

    def law(self, dataset, space):
        return FiniteLaw.point(0)


@breaks("check_release_draws_from_its_source_alone", "mechanisms")
@define
class BrokenSource(Flip):
    """Draws from the global generator of Python."""

    def release(self, table, space, source):
        flips = np.array([random.random() < self.chance for _ in range(len(table))], dtype=np.int64)
        return table.replace({"bit": table.codes["bit"] ^ flips})


@breaks("check_release_reads_the_counts_that_are_stated", "mechanisms")
@define
class BrokenCounts(Flip):
    """Reads the bits in their order, and states that it reads their counts."""

    def counts_read(self, attributes, space):
        return (Marginal(attributes=("bit",)),)

    def release(self, table, space, source):
        return super().release(table, space, source)


@breaks("check_batches_are_released_as_the_whole_table", "mechanisms")
@define
class BrokenPlaces(Flip):
    """Draws for the records of a batch by their places in the batch."""

    def release_batch(self, batch, first, space, source):
        flips = source.bernoulli_at(Fraction(1, 2), 0, np.arange(len(batch)))
        return batch.replace({"bit": batch.codes["bit"] ^ flips})

    def release(self, table, space, source):
        flips = source.placed().bernoulli_at(Fraction(1, 2), 0, np.arange(len(table)))
        return table.replace({"bit": table.codes["bit"] ^ flips})


@breaks("check_sorted_records_are_released_as_the_whole_table", "mechanisms")
@define
class BrokenSorting(Flip):
    """Releases sorted records as they are."""

    def release_sorted(self, batches, attributes, space, run, sorter):
        return SortedRelease(attributes=attributes, batches=[*batches])


@breaks("check_releases_of_one_source_differ", "mechanisms")
@define
class BrokenRepeats(Flip):
    """Asks its source by a key, so that a second release is the first one again."""

    chance: ClassVar[Fraction] = Fraction(1, 2)

    def law(self, dataset, space):
        return FiniteLaw.product([FiniteLaw.of({0: "1/2", 1: "1/2"})] * len(space.dataset(dataset)))

    def release(self, table, space, source):
        return super().release(table, space, KeyedRandomness(source.key, fit_for_publication=False))


@breaks("check_release_agrees_with_the_law", "mechanisms")
@define
class BrokenSampler(Flip):
    """Flips more than its law says."""

    chance: ClassVar[Fraction] = Fraction(1, 2)


@breaks("check_releases_tell_no_more_than_the_law", "mechanisms")
@define
class BrokenSecret(Flip):
    """Releases the bits, and states the law of their number."""

    chance: ClassVar[Fraction] = Fraction(0)

    def law(self, dataset, space):
        return super().law(dataset, space).push_forward(len)


@breaks("check_claims_can_be_judged", "mechanisms")
@define
class BrokenClaim(Flip):
    """A claim without a source."""

    def claims(self, space):
        return (self._claim("", space),)


# --- parameters and values -----------------------------------------------------------------------


class Plain(Route):
    """A route that says 0."""

    name: ClassVar[str] = "toy-route"

    def value(self, spec):
        return Bracket.exactly(0)


@right("routes")
@define
class Share(Plain):
    """A route with a share.

    Args:
        share: between 0 and 1.
    """

    share: Annotated[Fraction, Rational(0, 1, open_high=True)]


class Edgeless(Rational):
    """Refuses its own end."""

    def read(self, value, subject):
        if rational(value, subject) == 0:
            raise ParameterError(subject, "must not be 0")
        return super().read(value, subject)


@breaks("check_parameters_take_what_their_domain_says", "routes")
@define
class BrokenEdge(Plain):
    """`share` refuses 0, which its domain has."""

    share: Annotated[Fraction, Edgeless(0, 1)]


class Boundless(Rational):
    """Takes every number."""

    def read(self, value, subject):
        return rational(value, subject)


@breaks("check_parameters_refuse_what_lies_outside", "routes")
@define
class BrokenRange(Plain):
    """`share` takes 2."""

    share: Annotated[Fraction, Boundless(0, 1)]


class Forgiving(Rational):
    """Takes NaN for 0."""

    def read(self, value, subject):
        return super().read(0 if isinstance(value, float) and math.isnan(value) else value, subject)


@breaks("check_parameters_refuse_nan", "routes")
@define
class BrokenNumber(Plain):
    """`share` takes NaN."""

    share: Annotated[Fraction, Forgiving(0, 1)]


class Credulous(Rational):
    """Takes True for 1."""

    def read(self, value, subject):
        return super().read(int(value) if isinstance(value, bool) else value, subject)


@breaks("check_parameters_refuse_truth_values", "routes")
@define
class BrokenTruth(Plain):
    """`share` takes True."""

    share: Annotated[Fraction, Credulous(0, 1)]


@breaks("check_values_are_frozen", "routes")
@attrs.define(unsafe_hash=True)
class BrokenIce(Plain):
    """Can be changed."""

    share: int = 0


@breaks("check_values_are_hashable_and_equal_by_value", "routes")
@attrs.frozen(eq=False)
class BrokenEquals(Plain):
    """Equal to itself alone."""

    share: int = 0


# --- routes that answer, rules and formulas -------------------------------------------------------


@right("routes that answer")
@define
class Answering(Plain):
    """From pure to approximate privacy: the same epsilon."""

    def value(self, spec):
        return Bracket.exactly(1)

    def question(self, spec):
        outputs = installed().registry
        pure, loose = (outputs.get("output_divergences", name) for name in ("mult", "mult-delta"))
        return Question(source=pure(), value=number(1), goal=loose(delta=Fraction(1, 10)))


@breaks("check_route_gives_a_number", "routes")
@define
class BrokenRoute(Plain):
    """Says a plain number."""

    def value(self, spec):
        return 0


@breaks("check_route_answers_its_question", "routes")
@define
class BrokenAnswer(Answering):
    """Half of it."""

    def value(self, spec):
        return Bracket.exactly(Fraction(1, 2))


@right("rules")
@define
class Generous(Rule):
    """A larger number asks for less."""

    name: ClassVar[str] = "toy-rule"
    citation: ClassVar[str] = "nobody"

    def propose(self, premise, goal):
        if (value := premise.budget.uniform()) is not None and value.is_rational:
            yield self.step(premise, premise.replace(budget=attrs.evolve(premise.budget, value=value * 2 + 1)))

    def step(self, before, after):
        return Step(rule="toy-rule", block="budget", before=before, after=after, reason="larger", citation="nobody")


@breaks("check_steps_start_at_the_premise", "rules")
@define
class BrokenStart(Generous):
    """Starts at the goal."""

    def propose(self, premise, goal):
        for step in super().propose(premise, goal):
            yield attrs.evolve(step, before=goal, after=premise.replace(budget=step.after.budget))


@breaks("check_steps_are_true_of_every_mechanism", "rules")
@define
class BrokenRule(Generous):
    """A smaller number, too."""

    def propose(self, premise, goal):
        if (value := premise.budget.uniform()) is not None and value.is_rational:
            yield self.step(premise, premise.replace(budget=attrs.evolve(premise.budget, value=value * Fraction(9, 10))))


@breaks("check_steps_are_true_of_every_mechanism", "rules")
@define
class BrokenNeighbours(Generous):
    """Takes a promise for one distance as one for any other."""

    def propose(self, premise, goal):
        if premise.input_divergence != goal.input_divergence:
            yield self.step(premise, premise.replace(input_divergence=goal.input_divergence))


@breaks("check_steps_are_true_of_every_mechanism", "rules")
@define
class BrokenUniverses(Generous):
    """Takes a promise inside some universes as one inside any others."""

    def propose(self, premise, goal):
        if premise.multiverse != goal.multiverse:
            yield self.step(premise, premise.replace(multiverse=goal.multiverse))


@right("rules that convert")
@define
class Formula(Conversion):
    """Pure privacy is approximate privacy."""

    name: ClassVar[str] = "toy-rule"
    citation: ClassVar[str] = "nobody"
    source: ClassVar[str] = "mult"
    target: ClassVar[str] = "mult-delta"
    formula: ClassVar[str] = "epsilon"
    slows: ClassVar[bool] = True

    def convert(self, source, value, target):
        return Bracket.exactly(value)


@breaks("check_formulas_hold_for_every_pair_of_laws", "rules")
@define
class BrokenFormula(Formula):
    """Half of it, said to be enough at any delta."""

    def convert(self, source, value, target):
        return Bracket.exactly(value * Fraction(1, 2))


@breaks("check_formulas_slow_down_where_that_is_said", "rules")
@define
class BrokenSlowness(Formula):
    """Epsilon + epsilon^2, which is true and speeds up."""

    def convert(self, source, value, target):
        return Bracket.exactly(value + value.squared()) if value.is_rational else None


# --- spaces --------------------------------------------------------------------------------------


@right("spaces")
@define
class TwoBits(BitVectors, Nesting):
    """Bits, of which the kit takes two."""

    name: ClassVar[str] = "toy-space"

    def most_within(self, inner, outer):
        return Unnested(self).most_within(inner, outer)

    @classmethod
    def examples(cls):
        yield cls(length=2)


@right("spaces with rows")
@define
class Rowed(TwoBits, Tabular):
    """The same with rows."""

    def columns(self):
        return ("bit",)

    def rows(self, dataset):
        return tuple((bit,) for bit in dataset)


@breaks("check_rows_fill_the_columns", "spaces")
@define
class BrokenRow(Rowed):
    """Has a column more than it says."""

    def rows(self, dataset):
        return tuple((bit, "x") for bit in dataset)


@breaks("check_every_dataset_is_listed_once", "spaces")
@define
class BrokenList(TwoBits):
    """Leaves out the last dataset."""

    def datasets(self):
        return iter(list(super().datasets())[:-1])


@breaks("check_every_dataset_is_listed_once", "spaces")
@define
class BrokenFraction(TwoBits):
    """Has 4.0 datasets."""

    def cardinality(self):
        return float(super().cardinality())


@breaks("check_a_dataset_is_its_own_canonical_form", "spaces")
@define
class BrokenForm(TwoBits):
    """Reads a dataset from behind."""

    def dataset(self, value):
        return super().dataset(value)[::-1]

    def vector(self, dataset):
        return tuple(dataset)

    def from_vector(self, vector):
        return tuple(vector)


@breaks("check_records_fit_their_attributes", "spaces")
@define
class BrokenRecords(TwoBits):
    """Has records of two values for one attribute."""

    def records(self, dataset, unit):
        return tuple((*record, "x") for record in super().records(dataset, unit))

    def records_of_cell(self, cell, unit):
        return (("1", "x"),)

    def records_replaced(self, cell, unit):
        return (("0", "x"),)


@breaks("check_sizes_are_fixed_where_that_is_said", "spaces")
@define
class BrokenSize(TwoBits):
    """Has as many records as ones, and says that this is fixed."""

    def records(self, dataset, unit):
        return (("1",),) * sum(dataset)

    def records_replaced(self, cell, unit):
        return ()

    def is_told_by(self, unit):
        return False

    def most_changed(self, unit, per):
        return None

    def sizes(self):
        return 0, self.length

    def of_sizes(self, least, most):
        return None


@breaks("check_records_tell_datasets_apart_where_that_is_said", "spaces")
@define
class BrokenTold(TwoBits):
    """Sorts its records, and says that they tell everything."""

    def records(self, dataset, unit):
        return tuple(sorted(super().records(dataset, unit)))


@right("spaces of households")
@define
class TwoHouses(Households):
    """At most two households of at most two persons."""

    name: ClassVar[str] = "toy-houses"

    def magnitude(self, dataset):
        return len(dataset)

    @classmethod
    def examples(cls):
        home, sex = Attribute(name="home", categories=("a",)), Attribute(name="sex", categories=("f", "m"))
        yield cls(household=(home,), person=(sex,), most=2, members=2)


@breaks("check_counts_over_cells_give_the_dataset_back", "spaces")
@define
class BrokenTotal(TwoBits):
    """Says that at most one bit is set."""

    def total_range(self):
        return 0, 1


@breaks("check_counts_over_cells_give_the_dataset_back", "spaces")
@define
class BrokenCrossing(TwoBits):
    """Leaves the cells themselves out."""

    def crossed(self, cells):
        return ()


@breaks("check_cells_stand_for_the_records_they_add", "spaces")
@define
class BrokenReplacement(TwoBits):
    """Says that a bit which is set replaces nothing."""

    def records_replaced(self, cell, unit):
        return ()


@breaks("check_sizes_hold_the_numbers_of_records", "spaces")
@define
class BrokenSizes(TwoBits):
    """Says that all datasets have one record more than they have."""

    def sizes(self):
        return self.length + 1, self.length + 1


@breaks("check_any_collection_of_cells_is_a_dataset", "spaces")
@define
class BrokenCell(TwoHouses):
    """Takes the record of a household for its cell."""

    def cell_of(self, record):
        return record


@breaks("check_a_palette_holds_cells", "spaces")
@define
class BrokenPalette(TwoHouses):
    """Chooses one cell twice."""

    def palette(self, choose, mentioned):
        return (self.first_cell(),) * 2


@breaks("check_a_unit_holds_no_more_than_is_said", "spaces")
@define
class BrokenHold(TwoHouses):
    """Says that a household holds one person."""

    def most_within(self, inner, outer):
        return 1 if (inner, outer) == ("person", "household") else super().most_within(inner, outer)

    def most_changed(self, unit, per):
        return super().most_within(unit, per)

    def with_most(self, inner, outer, most):
        return None


@breaks("check_exchanges_change_one_larger_unit", "spaces")
@define
class BrokenExchange(TwoHouses):
    """Changes one person more than it says."""

    def exchanges(self, inner, outer, count):
        return super().exchanges(inner, outer, count + 1)


@breaks("check_exchanges_change_one_larger_unit", "spaces")
@define
class BrokenCrowd(TwoHouses):
    """Limits nothing."""

    def with_most(self, inner, outer, most):
        return self


@breaks("check_a_miniature_is_a_part_of_the_space", "spaces")
@define
class BrokenMiniature(TwoHouses):
    """A miniature with more households than the space has."""

    def miniature(self, mentioned, records):
        return Households(household=self.household, person=self.person, least=3, most=3, members=1)


@breaks("check_what_is_tried_are_datasets", "spaces")
@define
class BrokenTrials(TwoBits):
    """Tries what is no dataset."""

    def tried(self, lot):
        return iter([(7, 7)])


@breaks("check_what_is_tried_are_datasets", "spaces")
@define
class BrokenPlace(TwoBits):
    """Puts all datasets in one place."""

    def order_tried(self, dataset):
        return 0, "here"


@breaks("check_renamed_datasets_are_datasets", "spaces")
@define
class BrokenRenaming(TwoHouses):
    """Leaves out the second dataset."""

    def renamed(self, left, right):
        yield left, ()


@breaks("check_a_larger_unit_changes_no_more_than_is_said", "spaces")
@define
class BrokenChange(TwoBits):
    """Says that a person changes nothing."""

    def most_changed(self, unit, per):
        return 0


@breaks("check_coordinates_determine_the_dataset", "spaces")
@define
class BrokenVector(TwoBits):
    """Reads back the vector of zeros as ones."""

    def from_vector(self, vector):
        return super().from_vector(tuple(vector) if any(vector) else (1,) * len(vector))

    def from_counts(self, counts):
        return tuple(counts.get(cell, 0) for cell in self.cells())


@breaks("check_words_say_which_dataset_it_is", "spaces")
@define
class BrokenWords(TwoBits):
    """Leaves out of the words what all places share."""

    def in_words(self, left, right):
        return tuple("" if len({*left, *right}) == 1 else str(each) for each in (left, right))


@breaks("check_included_spaces_are_parts", "spaces")
@define
class BrokenPart(TwoBits):
    """Says that it includes every space."""

    def includes(self, other):
        return "wishful"


# --- multiverses ---------------------------------------------------------------------------------


@right("multiverses")
@define
class ByTotal(Multiverse):
    """A universe for every number of ones."""

    name: ClassVar[str] = "toy-multiverse"

    @property
    def invariants(self):
        return (LinearMap(rows=((1, 1),), label="ones"),)

    def check(self, space):
        bits_only(space)
        self.invariants[0].check(space)

    def labels(self, dataset, space):
        return (sum(dataset),)


@breaks("check_universes_hold_the_datasets_of_their_label", "multiverses")
@define
class BrokenUniverse(ByTotal):
    """Lists the universes without their last dataset."""

    def universes(self, space):
        for universe in super().universes(space):
            yield attrs.evolve(universe, datasets=universe.datasets[:-1])


@breaks("check_universes_hold_the_datasets_of_their_label", "multiverses")
@define
class BrokenListOfLabels(ByTotal):
    """A list of labels."""

    def labels(self, dataset, space):
        return list(super().labels(dataset, space))


@breaks("check_sharing_a_universe_is_having_a_label_in_common", "multiverses")
@define
class BrokenShare(ByTotal):
    """Everybody shares; no invariants."""

    @property
    def invariants(self):
        return None

    def check(self, space):
        bits_only(space)

    def share_universe(self, left, right, space):
        return True


@breaks("check_invariants_induce_the_universes", "multiverses")
@define
class BrokenInduction(ByTotal):
    """A universe for the first bit, with the total as invariant."""

    def labels(self, dataset, space):
        return (dataset[0],)


# --- relations -----------------------------------------------------------------------------------


@right("relations")
@define
class OneBit(Relation):
    """One bit differs."""

    name: ClassVar[str] = "toy-relation"
    is_symmetric: ClassVar[bool] = True

    def check(self, space):
        bits_only(space)

    def related(self, left, right, space):
        return sum(a != b for a, b in zip(left, right, strict=True)) == 1

    def within(self, other):
        return None


@breaks("check_a_relation_answers_yes_or_no", "relations")
@define
class BrokenYes(OneBit):
    """0 and 1."""

    def related(self, left, right, space):
        return int(super().related(left, right, space))


@breaks("check_relation_is_symmetric", "relations")
@define
class BrokenOrder(OneBit):
    """Only upwards."""

    def related(self, left, right, space):
        return left < right and super().related(left, right, space)


@breaks("check_a_relation_lies_within_another_as_stated", "relations")
@define
class BrokenWithin(OneBit):
    """Any two datasets, within any relation."""

    def related(self, left, right, space):
        return True

    def within(self, other):
        return "wishful"


# --- budgets -------------------------------------------------------------------------------------


@right("budgets")
@define
class OneThird(Budget):
    """1/3, everywhere."""

    name: ClassVar[str] = "toy-budget"
    parameter: ClassVar[str] = "epsilon"

    def at(self, universe, space):
        return number(Fraction(1, 3))

    def uniform(self):
        return number(Fraction(1, 3))


@breaks("check_a_budget_is_the_same_in_parts_where_that_is_said", "budgets")
@define
class BrokenParts(OneThird):
    """The number of datasets."""

    def at(self, universe, space):
        return number(len(universe))

    def uniform(self):
        return None

    def is_same_in_parts(self, multiverse, space):
        return True


@breaks("check_budgets_are_nonnegative_numbers", "budgets")
@define
class BrokenDebt(OneThird):
    """-1/3, everywhere."""

    def at(self, universe, space):
        return number(Fraction(-1, 3))

    def uniform(self):
        return number(Fraction(-1, 3))


@breaks("check_a_uniform_budget_is_that_of_every_universe", "budgets")
@define
class BrokenUniform(OneThird):
    """Said to be 0."""

    def uniform(self):
        return number(0)


@breaks("check_bounds_of_a_budget_hold_in_every_universe", "budgets")
@define
class BrokenLowerEnd(OneThird):
    """Said to be at least 1."""

    def least(self):
        return number(1)


@breaks("check_a_budget_lies_within_another_as_stated", "budgets")
@define
class BrokenLimit(OneThird):
    """1000, and within any other."""

    def at(self, universe, space):
        return number(1000)

    def uniform(self):
        return number(1000)

    def within(self, other):
        return "wishful"


# --- tables, formats, workers --------------------------------------------------------------------

COIN = Attribute(name="coin", categories=("heads", "tails"))


@right("tables")
@define
class Coins(SizedBuilder):
    """Coins that a seed throws."""

    name: ClassVar[str] = "toy-table"
    own_size: ClassVar[int] = 10
    source: ClassVar[str] = "made up"
    attributes: ClassVar = (COIN,)

    def batches(self, rows, seed=1):
        lot = random.Random(seed)
        yield Table.from_records([(lot.choice(COIN.categories),) for _ in range(rows)], (COIN,))


@breaks("check_a_sized_table_has_the_rows_that_are_asked_for", "tables")
@define
class BrokenRows(Coins):
    """One too many."""

    def batches(self, rows, seed=1):
        return super().batches(rows + 1, seed)


@breaks("check_a_sized_table_is_the_same_again", "tables")
@define
class BrokenSeed(Coins):
    """Throws again."""

    def batches(self, rows, seed=1):
        return super().batches(rows, next(COUNTER))


@right("formats")
@define
class Lines(TableFormat):
    """One record to a line, its values with bars between."""

    name: ClassVar[str] = "toy-format"
    suffixes: ClassVar[tuple[str, ...]] = (".toy",)

    def header(self, path):
        return tuple(path.read_text().splitlines()[0].split("|"))

    def batches(self, path, attributes):
        names, *rows = (line.split("|") for line in path.read_text().splitlines())
        for row in rows:
            yield {a.name: Coded(codes=np.array([a.index(row[names.index(a.name)])]), strangers=()) for a in attributes}

    def identifiers(self, path, column):
        return np.array([])

    def write(self, table, path, notes):
        rows = [[a.name for a in table.attributes], *table.records()]
        path.write_text("".join("|".join(row) + chr(10) for row in rows))


@breaks("check_a_table_reads_back_as_it_was_written", "formats")
@define
class BrokenHeader(Lines):
    """Forgets the names of the columns."""

    def header(self, path):
        return ()


@breaks("check_batches_are_written_as_one_table", "formats")
@define
class BrokenBatches(Lines):
    """Writes the first batch only."""

    def write_batches(self, attributes, batches, path, notes):
        self.write(next(iter(batches)), path, notes)


@breaks("check_file_endings_are_its_own", "formats")
@define
class BrokenEnding(Lines):
    """Takes files of tables with commas for its own."""

    suffixes: ClassVar[tuple[str, ...]] = (".csv",)


@right("workers")
@define
class OneByOne(Workers):
    """One part after the other."""

    name: ClassVar[str] = "toy-workers"

    def map(self, kernel, parts):
        return map(kernel, parts)


@breaks("check_parts_come_back_in_order", "workers")
@define
class BrokenTurn(OneByOne):
    """The last part first."""

    def map(self, kernel, parts):
        return map(kernel, reversed(list(parts)))


# --- what functions are handed -------------------------------------------------------------------


@right("adapters")
class Listing(DatasetAdapter):
    """A list."""

    name: ClassVar[str] = "toy-adapter"

    def written(self, dataset, space):
        return list(dataset)


@breaks("check_every_call_has_a_dataset_of_its_own", "adapters")
class BrokenCopy(Listing):
    """Hands over the same list again."""

    def copied(self, written):
        return written


@breaks("check_datasets_are_told_apart_in_written_form", "adapters")
class BrokenWriting(Listing):
    """Tells how much there is, and not what."""

    def written(self, dataset, space):
        return [None for _ in dataset]


@right("generators")
class Seeded(GeneratorAdapter):
    """A generator of Python, seeded."""

    name: ClassVar[str] = "toy-generator"
    replays: ClassVar[bool] = True

    def made(self, generator):
        return random.Random(generator.bytes(16))


@breaks("check_the_same_bits_give_the_same_draws", "generators")
class BrokenBits(Seeded):
    """A generator of Python that nobody seeded."""

    def made(self, generator):
        return random.Random(next(COUNTER))


# --- attackers -----------------------------------------------------------------------------------


@right("attackers")
@define
class Guesser(AttackerModel):
    """Tests one bit against the other at level 1/10, bets on one at even odds, and looks at the log-odds."""

    name: ClassVar[str] = "toy-attacker"
    title: ClassVar[str] = "guesses a bit"
    knowledge: ClassVar[str] = "all the other bits"
    target: ClassVar[str] = "one bit"
    observation: ClassVar[str] = "the release"
    assumption: ClassVar[str] = "none"
    source: ClassVar[str] = "the lecture"
    level: ClassVar[Fraction] = Fraction(1, 10)

    def worst_case(self, spec):
        return candidates_within(spec).stated(partial(self.allowed, spec.output_divergence))

    def allowed(self, divergence, bound):
        return self.said(Standing.AT_MOST, self.power(divergence, bound), self.bet(bound), self.gain(bound))

    def power(self, divergence, bound):
        return allowed_power(divergence, bound, self.level)

    def bet(self, bound):
        """1/(1 + e^-bound)."""
        return Bracket.exactly(1) if bound.is_infinite else Bracket.around(1 / (1 + (-bound.enclose()).exp()), least=0)

    def gain(self, bound):
        return Bracket.exactly(bound)

    def under(self, mechanism, spec):
        found = pairs_within(spec).compare(mechanism, spec)
        power = found.largest(partial(largest_power, level=self.level))
        gain = found.largest(lambda pair: pair.max_log_ratio())
        return tuple(candidates_within(spec).left_open(self.said(Standing.EQUALS, power, None, gain)))

    def said(self, relation, power, bet, gain):
        rows = [("power", "level", self.level, power), ("posterior belief", "prior", "1/2", bet), ("log-odds", "base", "e", gain)]
        parts = {"relation": relation, "theorem": self.source, "assumption": self.assumption}
        return tuple(
            RiskStatement(quantity=quantity, at=((place, str(where)),), value=value, **parts)
            for quantity, place, where, value in rows
            if value is not None
        )


@breaks("check_attacker_holds_its_own_mechanisms", "attackers")
@define
class BrokenGain(Guesser):
    """Log-odds a hundredth too small."""

    def gain(self, bound):
        return Bracket.exactly(bound * Fraction(99, 100))


@breaks("check_attacker_holds_its_own_mechanisms", "attackers")
@define
class BrokenReach(BrokenGain):
    """The same, by an attacker who wants something to be published."""

    def worst_case(self, spec):
        if not spec.multiverse.invariants:
            raise IncompatibleBlocksError("toy", "reads what is published")
        return super().worst_case(spec)


@breaks("check_attacker_holds_its_own_mechanisms", "attackers")
@define
class BrokenPrint(Guesser):
    """Leaves out the assumption."""

    assumption: ClassVar[str] = ""


@define
class Mute(Guesser):
    """Says nothing under a mechanism, which is allowed, and shows nothing."""

    def under(self, mechanism, spec):
        return ()


class Shy(Guesser):
    """Says nothing of the power under a mechanism."""

    def under(self, mechanism, spec):
        return tuple(row for row in super().under(mechanism, spec) if row.quantity != "power")


@breaks("check_attacker_limits_brute_force_bayes", "attackers")
@define
class BrokenPower(Shy):
    """The power at a budget a hundredth too small."""

    def power(self, divergence, bound):
        return super().power(divergence, bound * Fraction(99, 100))


@breaks("check_attacker_limits_brute_force_bayes", "attackers")
@define
class BrokenBet(Guesser):
    """The belief after odds that are a hundredth too small."""

    def bet(self, bound):
        return super().bet(bound * Fraction(99, 100))


@breaks("check_attacker_limits_brute_force_bayes", "attackers")
@define
class BrokenCertainty(Shy):
    """Takes what is published for half as telling."""

    def power(self, divergence, bound):
        return Bracket.exactly(Fraction(1, 2)) if bound.is_infinite else super().power(divergence, bound)


@breaks("check_attacker_knows_what_is_published", "attackers")
@define
class BrokenEar(Guesser):
    """Speaks only about bits that are not published."""

    def worst_case(self, spec):
        found = candidates_within(spec)
        return tuple(found.left_open(() if found.bound is None else self.allowed(spec.output_divergence, found.bound)))


@breaks("check_attacker_knows_what_is_published", "attackers")
@define
class BrokenTongue(Guesser):
    """Falls silent where anything is published."""

    def worst_case(self, spec):
        return () if spec.multiverse.invariants else super().worst_case(spec)


# --- tolerances ----------------------------------------------------------------------------------


@right("tolerances")
@define
class Threefold(Tolerance):
    """Odds may grow threefold."""

    name: ClassVar[str] = "toy-tolerance"
    title: ClassVar[str] = "odds may grow threefold"
    source: ClassVar[str] = "the lecture"

    def recommend(self):
        return self.found(Bracket.exactly(ln(3)))

    def found(self, value, assumption="none", kind=Recommendation):
        return kind(
            parameter="epsilon", value=value, at=(), binding="odds", method="closed form",
            theorem=self.source, assumption=assumption,
        )  # fmt: skip


@breaks("check_tolerance_recommends_a_budget", "tolerances")
@define
class BrokenLoan(Threefold):
    """A budget of -1."""

    def recommend(self):
        return self.found(Bracket.exactly(-1))


@breaks("check_tolerance_recommends_a_budget", "tolerances")
@define
class BrokenReason(Threefold):
    """No word about what it assumes."""

    def recommend(self):
        return self.found(Bracket.exactly(ln(3)), assumption=" ")


class RoundedUp(Recommendation):
    """States ln 3 as 1.099."""

    stated = "1.099"


@breaks("check_tolerance_rounds_down", "tolerances")
@define
class BrokenRounding(Threefold):
    """Rounds to nearest."""

    def recommend(self):
        return self.found(Bracket.exactly(ln(3)), kind=RoundedUp)


@breaks("check_tolerance_answers_the_same_twice", "tolerances")
@define
class BrokenMood(Threefold):
    """More every time."""

    def recommend(self):
        return self.found(Bracket.exactly(next(COUNTER)))


ASKED = []


@breaks("check_tolerance_answers_the_same_twice", "tolerances")
@define
class BrokenPatience(Threefold):
    """Gives in when the same one is asked again."""

    def recommend(self):
        ASKED.append(self)
        return self.found(Bracket.exactly(sum(one is self for one in ASKED)))


# --- registered classes --------------------------------------------------------------------------


@breaks("check_name_is_kebab", "routes")
@define
class BrokenName(Plain):
    """Two hyphens in a row."""

    name: ClassVar[str] = "toy--route"


@breaks("check_names_are_unique", "routes")
@define
class BrokenClash(Plain):
    """A name that somebody else has."""

    name: ClassVar[str] = installed().registry.names("routes")[0]


@breaks("check_class_is_documented", "routes")
@define
class BrokenDocs(Plain):
    share: Annotated[Fraction, Rational(0, 1)]


# --- modules -------------------------------------------------------------------------------------

MODULE = """
from dpspec.extension import hookimpl

{api}
{at_import}

@hookimpl
def {hook}(register):
    {at_registration}
"""


def module_text(api="DPSPEC_API = 1", at_import="", hook="dpspec_register_routes", at_registration="pass"):
    return MODULE.format(api=api, at_import=at_import, hook=hook, at_registration=at_registration)


MODULES = {
    "check_import_leaves_files_alone": module_text(at_import="open(__file__ + '.log', 'w').close()"),
    "check_import_leaves_the_network_alone": module_text(at_import="import socket; socket.getaddrinfo('localhost', 1)"),
    "check_import_leaves_random_state_alone": module_text(at_import="import random; random.seed(1)"),
    "check_plugin_loads": module_text(at_registration="raise RuntimeError('not today')"),
    "check_hooks_are_known": module_text(hook="dpspec_register_rotues"),
    "check_interface_version_is_stated": module_text(api=""),
}
"""Name of a check to the text of a module that fails it alone."""
