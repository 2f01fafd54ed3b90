"""Random questions "does A imply B?" on small spaces, with what decides them written down apart from the product.

For each specification there are two descriptions: the product's blocks, and plain Python that says how far the laws of x and
x' may be apart: lines (r, s) with P_x(S) <= r P_x'(S) + s for every event S. The second one shares no code with the first.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import attrs
from dpspec_divergences import UserMetric

from dpspec.base.exact import ln, number
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.grammar.spec import PrivacySpec
from tests.verify.toys import block

Pair = tuple[Any, Any]
Line = tuple[Fraction, Fraction]
INFINITE = None
"""A distance or a budget."""


@attrs.frozen(kw_only=True)
class Plain:
    """A specification in plain terms.

    Args:
        datasets: all of them.
        lines: for ordered pairs that are compared, lines (r, s) with P_x(S) <= r P_x'(S) + s.
    """

    datasets: tuple[Any, ...]
    lines: dict[Pair, tuple[Line, ...]]


@attrs.frozen(kw_only=True)
class Question:
    """A implies B?"""

    left: PrivacySpec
    right: PrivacySpec
    premise: Plain
    conclusion: Plain


# --- spaces, distances and universes -------------------------------------------------------------

Distance = Callable[[Any, Any], Fraction | None]
SEX = Attribute(name="sex", categories=("f", "m"))


@attrs.frozen(kw_only=True)
class Ground:
    """A space, and what there is to choose on it."""

    space: Any
    datasets: tuple[Any, ...]
    inputs: tuple[tuple[Any, Distance], ...]
    universes: tuple[tuple[Any, Callable[[Any], tuple[Hashable, ...]]], ...]


def _d_x(name: str, relation: str | None = None, **more: Any) -> Any:
    if relation is not None:
        return block("input_divergences", name, relation=block("relations", relation))
    return block("input_divergences", name, **more)


def _differ(x: Any, y: Any) -> int:
    return sum(a != b for a, b in zip(x, y, strict=True))


def _near(distance: Distance, most: int = 1) -> Distance:
    def near(x: Any, y: Any) -> Fraction | None:
        found = distance(x, y)
        return Fraction(0) if x == y else Fraction(1) if found is not None and found <= most else INFINITE

    return near


def _table(source: random.Random, datasets: tuple[Any, ...], label: str) -> tuple[Any, Distance]:
    """Any numbers at all, or a pseudo-metric: asymmetric, 0 between different datasets, infinite."""
    if source.random() < 0.5:
        values = {pair: source.choice((0, 1, 1, 2, 3, INFINITE)) for pair in itertools.permutations(datasets, 2)}
    else:
        heights = {x: source.choice((0, 0, 1, 3)) for x in datasets}
        values = {(x, y): abs(heights[x] - heights[y]) for x, y in itertools.permutations(datasets, 2)}

    def distance(x: Any, y: Any) -> Fraction | None:
        found = 0 if x == y else values[x, y]
        return INFINITE if found is INFINITE else Fraction(found)

    metric = UserMetric(function=lambda x, y: "inf" if (d := distance(x, y)) is None else d, label=label)
    return metric, distance


def _by_list(source: random.Random, datasets: tuple[Any, ...]) -> tuple[Any, Callable[[Any], tuple[Hashable, ...]]]:
    """Universes that may overlap, and leave datasets out."""
    held = {name: tuple(x for x in datasets if source.random() < 0.6) for name in ("a", "b", "c")[: source.randint(1, 3)]}
    made = ExplicitUniverses(universes_by_label={k: v for k, v in held.items() if v} or {"a": datasets[:1]})  # type: ignore[arg-type]
    known = dict(made.universes_by_label)
    return made, lambda x: tuple(label for label, members in known.items() if x in members)


def _bits(source: random.Random) -> Ground:
    length = source.choices((1, 2, 3, 4), (4, 8, 1.5, 0.05))[0]
    datasets = tuple(itertools.product((0, 1), repeat=length))
    rows = tuple(tuple(source.randint(-1, 2) for _ in range(length)) for _ in range(source.choice((1, 1, 2))))
    weights = tuple(Fraction(source.choice((1, 2, 3))) for _ in range(length))

    def linear(x: Any) -> tuple[Hashable, ...]:
        return (tuple(sum(a * b for a, b in zip(row, x, strict=True)) for row in rows),)

    def hamming(x: Any, y: Any) -> Fraction | None:
        return Fraction(_differ(x, y))

    def unordered(x: Any, y: Any) -> Fraction | None:
        return Fraction(abs(sum(x) - sum(y)))

    inputs = [
        (_d_x("hamming-ordered"), hamming),
        (_d_x("hamming"), unordered),
        (_d_x("symmetric-difference"), lambda x, y: 2 * (unordered(x, y) or Fraction(0))),
        (_d_x("neighbour", "differ-in-one-position"), _near(hamming)),
        (_d_x("within-distance", of=_d_x("hamming-ordered"), most=2), _near(hamming, 2)),
        (_d_x("personal-weights", weights=weights),
         lambda x, y: sum((w for w, a, b in zip(weights, x, y, strict=True) if a != b), Fraction(0))),
        *(_table(source, datasets, f"table {place}") for place in range(2)),
    ]  # fmt: skip
    universes = [
        (Trivial(), lambda x: ("X",)),
        (LevelSets(invariants=(LinearMap(rows=rows),)), linear),
        (LevelSets(invariants=(LinearMap(rows=((1,) * length,)),)), lambda x: (sum(x),)),
        (block("multiverses", "one-position"), lambda x: tuple((i, x[:i] + x[i + 1 :]) for i in range(length))),
        _by_list(source, datasets),
    ]
    return Ground(space=BitVectors(length=length), datasets=datasets, inputs=tuple(inputs), universes=tuple(universes))


def _records(source: random.Random) -> Ground:
    least, most = source.choice(((0, 1), (0, 1), (0, 2), (1, 2), (2, 2), (3, 3)))
    kinds = (("f",), ("m",))
    datasets = tuple(x for n in range(least, most + 1) for x in itertools.combinations_with_replacement(kinds, n))
    space = UnorderedRecords(attributes=(SEX,), least=least, most=most)

    def symmetric(x: Any, y: Any) -> Fraction | None:
        ours, theirs = Counter(x), Counter(y)
        return Fraction((ours - theirs).total() + (theirs - ours).total())

    def hamming(x: Any, y: Any) -> Fraction | None:
        return (symmetric(x, y) or Fraction(0)) / 2 if len(x) == len(y) else INFINITE

    inputs = [
        (_d_x("symmetric-difference"), symmetric),
        (_d_x("hamming"), hamming),
        (_d_x("neighbour", "add-remove"), _near(symmetric)),
        (_d_x("neighbour", "replace-one"), _near(hamming)),
        (_d_x("path", "replace-one"), hamming),
        _table(source, datasets, "table"),
    ]
    universes = [
        (Trivial(), lambda x: ("X",)),
        (LevelSets(invariants=(Marginal(attributes=()),)), lambda x: (len(x),)),
        (LevelSets(invariants=(Marginal(attributes=("sex",)),)), lambda x: (tuple(sorted(Counter(x).items())),)),
        _by_list(source, datasets),
    ]
    return Ground(space=space, datasets=datasets, inputs=tuple(inputs), universes=tuple(universes))


def _ordered(source: random.Random) -> Ground:
    datasets = tuple(tuple(x) for n in range(3) for x in itertools.product((("f",), ("m",)), repeat=n))

    def positions(x: Any, y: Any) -> Fraction | None:
        return Fraction(_differ(x, y)) if len(x) == len(y) else INFINITE

    def unordered(x: Any, y: Any) -> Fraction | None:
        return Fraction((Counter(x) - Counter(y)).total()) if len(x) == len(y) else INFINITE

    inputs = [
        (_d_x("hamming-ordered"), positions),
        (_d_x("hamming"), unordered),
        (_d_x("neighbour", "replace-one"), lambda x, y: Fraction(x != y) if x == y or unordered(x, y) == 1 else INFINITE),
        _table(source, datasets, "table"),
    ]  # fmt: skip
    universes = [(Trivial(), lambda x: ("X",)), _by_list(source, datasets)]
    space = OrderedRecords(attributes=(SEX,), most=2)
    return Ground(space=space, datasets=datasets, inputs=tuple(inputs), universes=tuple(universes))


def _counts(source: random.Random) -> Ground:
    high = source.randint(1, 4)
    datasets = tuple((n,) for n in range(high + 1))
    line = UserMetric(function=lambda x, y: abs(x[0] - y[0]), label="difference")
    up = UserMetric(function=lambda x, y: y[0] - x[0] if y[0] >= x[0] else "inf", label="upwards")
    inputs = [
        (line, lambda x, y: Fraction(abs(x[0] - y[0]))),
        (up, lambda x, y: Fraction(y[0] - x[0]) if y[0] >= x[0] else INFINITE),
        *(_table(source, datasets, f"table {place}") for place in range(2)),
    ]
    universes = [(Trivial(), lambda x: ("X",)), _by_list(source, datasets)]
    space = IntegerCounts(length=1, high=high)
    return Ground(space=space, datasets=datasets, inputs=tuple(inputs), universes=tuple(universes))


GROUNDS = (_bits,) * 6 + (_records,) * 4 + (_ordered,) + (_counts,) * 2

# --- output divergences and budgets --------------------------------------------------------------

Bound = tuple[Fraction, Fraction]
"""A budget t = (r, m): as ln r where the divergence is a log-ratio, else as m."""
RATIOS = tuple(map(Fraction, ("1", "1", "11/10", "5/4", "3/2", "2", "3", "9")))
MASSES = tuple(map(Fraction, ("0", "0", "1/20", "1/10", "1/6", "1/4", "1/3", "1/2", "9/10", "1")))
DELTAS = tuple(map(Fraction, ("0", "1/20", "1/10", "1/4", "9/10")))


@attrs.frozen(kw_only=True)
class Standard:
    """An output divergence, and the lines that it stands for at a budget times a distance."""

    divergence: Any
    parameter: str
    by_ratio: bool
    lines: Callable[[Fraction], tuple[Line, ...]]
    both: bool = True
    whole: bool = False


def standard(source: random.Random) -> Standard:
    """One of those that are lines. For log-ratios `lines` is given e^t, else t."""
    kind = source.choice(("mult", "mult", "mult-delta", "mult-delta", "hockey", "variation", "f", "one-way", "steps"))
    delta, ratio = source.choice(DELTAS), source.choice(RATIOS)
    if kind == "mult":
        return Standard(divergence=_d_pr("mult"), parameter="epsilon", by_ratio=True, lines=lambda r: ((r, Fraction(0)),))
    if kind == "one-way":
        made = _d_pr("mult-one-way")
        return Standard(divergence=made, parameter="epsilon", by_ratio=True, lines=lambda r: ((r, Fraction(0)),), both=False)
    if kind == "mult-delta":
        made = _d_pr("mult-delta", delta=delta)
        return Standard(divergence=made, parameter="epsilon", by_ratio=True, lines=lambda r: ((r, delta),))
    if kind == "hockey":
        made = _d_pr("hockey-stick", epsilon=ln(ratio))
        return Standard(divergence=made, parameter="delta", by_ratio=False, lines=lambda t: ((ratio, t),))
    if kind == "steps":
        ratio = max(ratio, Fraction(5, 4))
        delta = min(delta, Fraction(1, 4))
        made = _d_pr("trade-off", epsilon=ln(ratio), delta=delta)
        lines = lru_cache(partial(_steps, ratio, delta))
        return Standard(divergence=made, parameter="steps", by_ratio=False, lines=lambda t: lines(int(t)), whole=True)
    parameter = "distance" if kind == "variation" else "divergence"
    name, more = ("total-variation", {}) if kind == "variation" else ("f-divergence", {"generator": "total-variation"})
    made = _d_pr(name, **more, **({"direction": "forward"} if more else {}))
    return Standard(divergence=made, parameter=parameter, by_ratio=False, lines=lambda t: ((Fraction(1), t),))


def _d_pr(name: str, **parameters: Any) -> Any:
    return block("output_divergences", name, **parameters)


def _steps(ratio: Fraction, delta: Fraction, count: int) -> tuple[Line, ...]:
    """min(1, r q + delta, 1 - (1 - q - delta)/r) composed with itself: every choice of lines that is the least one somewhere."""
    one = ((ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio), (Fraction(0), Fraction(1)))
    found: set[Line] = {(Fraction(1), Fraction(0))}
    for _ in range(count):
        found = _least({(a * c, a * d + b) for a, b in one for c, d in found})
    return tuple((a, b) for a, b in found if a)


def _least(lines: set[Line]) -> set[Line]:
    """The lines that are the least one at some place in [0, 1]."""
    meet = {(d - b) / (a - c) for (a, b), (c, d) in itertools.combinations(lines, 2) if a != c}
    ends = sorted({Fraction(0), Fraction(1), *(q for q in meet if 0 < q < 1)})
    places = [(low + high) / 2 for low, high in itertools.pairwise(ends)]
    return {min(lines, key=lambda line: line[0] * q + line[1]) for q in places}


def _amount(source: random.Random, made: Standard) -> Fraction | None:
    """A budget: e^epsilon, a mass, a number of steps; sometimes infinite."""
    if source.random() < 0.06:
        return INFINITE
    if made.whole:
        return Fraction(source.choice((0, 1, 1, 2)))
    return source.choice(RATIOS if made.by_ratio else MASSES)


def _stated(made: Standard, amount: Fraction | None) -> Any:
    return number("inf") if amount is None else ln(amount) if made.by_ratio else number(amount)


# --- questions -----------------------------------------------------------------------------------


def side(source: random.Random, ground: Ground, inputs: int, universes: int, made: Standard) -> tuple[PrivacySpec, Plain]:
    d_x, distance = ground.inputs[inputs]
    multiverse, labels = ground.universes[universes]
    names = sorted({label for x in ground.datasets for label in labels(x)}, key=repr)
    if multiverse.is_listed and source.random() < 0.5:
        amounts = {label: _amount(source, made) for label in names}
        rows = tuple((label, _stated(made, amount)) for label, amount in amounts.items())
        budget: Any = BudgetTable(parameter=made.parameter, values=rows)
    else:
        amounts = dict.fromkeys(names, _amount(source, made))
        first = next(iter(amounts.values()), Fraction(1))
        budget = UniformBudget(parameter=made.parameter, value=_stated(made, first))
    spec = PrivacySpec(
        space=ground.space, multiverse=multiverse, input_divergence=d_x, output_divergence=made.divergence, budget=budget
    )
    lines: dict[Pair, tuple[Line, ...]] = {}
    for x, y in itertools.permutations(ground.datasets, 2):
        far = distance(x, y)
        for label in set(labels(x)) & set(labels(y)):
            if far is not None and (far == 0 or amounts[label] is not None):
                asked = made.lines(_times(made, amounts[label], far))
                for pair in ((x, y), (y, x)) if made.both else ((x, y),):
                    lines[pair] = tuple({*lines.get(pair, ()), *asked})
    return spec, Plain(datasets=ground.datasets, lines=lines)


def _times(made: Standard, amount: Fraction | None, far: Fraction) -> Fraction:
    """The budget times the distance, in the form that `lines` takes."""
    if far == 0 or amount is None:
        return Fraction(1 if made.by_ratio else 0)
    return amount ** int(far) if made.by_ratio else amount * far


def questions(seed: object) -> Iterator[Question]:
    """Endlessly many; about half share most of their blocks, so that both answers are frequent."""
    source = random.Random(f"{seed}")
    while True:
        ground = source.choice(GROUNDS)(source)
        places = [source.randrange(len(ground.inputs)), source.randrange(len(ground.universes))]
        others = [source.randrange(len(ground.inputs)), source.randrange(len(ground.universes))]
        kept = [place if source.random() < 0.6 else other for place, other in zip(places, others, strict=True)]
        one = standard(source)
        two = one if source.random() < 0.4 else standard(source)
        left, premise = side(source, ground, *places, one)
        right, conclusion = side(source, ground, *kept, two)
        if left != right:
            yield Question(left=left, right=right, premise=premise, conclusion=conclusion)
