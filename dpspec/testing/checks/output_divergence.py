"""Checks of output divergences: on pairs of random finite laws, disjoint and equal ones among them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from random import Random

from flint import arb, ctx

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, Number, ball, number
from dpspec.laws.finite import FiniteLaw
from dpspec.testing.check import Context, NotApplicable, ValueSubject, check, exceeds, exceeds_times, require

KIND = "output_divergences"
FINER = 192
"""Bits of the refined bracket that is compared with the ordinary one."""


def random_law(source: Random, *, outcomes: int = 4) -> FiniteLaw:
    """A law with small integer weights, some of them 0."""
    weights: dict[Hashable, int] = {place: source.choice((0, 1, 1, 2, 3, 7)) for place in range(outcomes)}
    return FiniteLaw.from_weights(weights if any(weights.values()) else {0: 1})


def random_pairs(context: Context, name: str) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
    """Pairs of laws: two disjoint, one contained in the other, then random ones."""
    yield FiniteLaw.point(0), FiniteLaw.point(1)
    yield FiniteLaw.point(0), FiniteLaw.uniform([0, 1])
    source = context.random(name)
    for _ in range(context.times(10, full=200)):
        yield random_law(source), random_law(source)


def post_processed(source: Random, left: FiniteLaw, right: FiniteLaw) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
    """Both laws after a random kernel, and after merging any two outcomes."""
    outcomes = tuple(dict.fromkeys((*left.support, *right.support)))
    kernel = {outcome: random_law(source, outcomes=3) for outcome in outcomes}
    yield _through(kernel, left), _through(kernel, right)
    for one, two in itertools.combinations(outcomes, 2):
        yield _merged(left, one, two), _merged(right, one, two)


def _merged(law: FiniteLaw, one: Hashable, two: Hashable) -> FiniteLaw:
    return law.push_forward(lambda outcome: two if outcome == one else outcome)


def _through(kernel: Mapping[Hashable, FiniteLaw], law: FiniteLaw) -> FiniteLaw:
    weights: list[Fraction] = [probability for _, probability in law.probabilities()]
    return FiniteLaw.mixture(weights, [kernel[outcome] for outcome in law.support])


def _value(subject: ValueSubject, left: FiniteLaw, right: FiniteLaw, precision: int = 64) -> Bracket:
    found: Bracket = subject.thing.between(left, right, precision=precision)
    return found


@check(KIND)
def check_equal_laws_are_at_zero(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, P) = 0 (B-S5). Otherwise even a mechanism that ignores its data is refuted."""
    for law, _ in random_pairs(context, "equal laws"):
        found = _value(subject, law, law)
        require(found.lower == 0, f"d(P, P) = {found} for P = {law}")


@check(KIND)
def check_divergence_is_nonnegative(subject: ValueSubject, context: Context) -> None:
    """0 <= lower <= upper for the bracket of every pair (B-D5). A verdict compares both ends with the budget."""
    for left, right in random_pairs(context, "nonnegative"):
        found = _value(subject, left, right)
        require(isinstance(found, Bracket), f"{found!r} is no Bracket")
        require(found.lower >= 0, f"d(P, Q) = {found} for P = {left}, Q = {right}")
        require(not found.upper < found.lower, f"the bracket {found} is empty")


@check(KIND)
def check_post_processing_never_separates(subject: ValueSubject, context: Context) -> None:
    """Data processing: d_Pr(K P, K Q) <= d_Pr(P, Q) for every finite kernel K. No guarantee survives without it."""
    source = context.random("kernels")
    for left, right in random_pairs(context, "data processing"):
        before = _value(subject, left, right)
        for processed in post_processed(source, left, right):
            after = _value(subject, *processed)
            require(not after.lower > before.upper, f"post-processing raises {before} to {after} for P = {left}, Q = {right}")


@check(KIND, when="is_symmetric")
def check_divergence_is_symmetric(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, Q) = d_Pr(Q, P) when `is_symmetric` is declared. Engines then look at one order of each pair only."""
    for left, right in random_pairs(context, "symmetric"):
        there, back = _value(subject, left, right), _value(subject, right, left)
        overlap = there.lower <= back.upper and back.lower <= there.upper
        require(overlap, f"d(P, Q) = {there}, d(Q, P) = {back} for P = {left}, Q = {right}; declare is_symmetric = False")


@check(KIND, when="is_metric")
def check_divergence_obeys_the_triangle_inequality(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, R) <= d_Pr(P, Q) + d_Pr(Q, R) when `is_metric` is declared. Neighbour-only proofs rest on it (B-S2, B-S3)."""
    source = context.random("triangle")
    for left, right in random_pairs(context, "triangle"):
        between = random_law(source)
        far, first, second = (_value(subject, *pair) for pair in ((left, right), (left, between), (between, right)))
        short = not exceeds(far.lower, first.upper, second.upper)
        require(short, f"d(P, R) = {far}, above {first} + {second}, for P = {left}, Q = {between}, R = {right}")


@check(KIND)
def check_refinement_stays_inside_the_bracket(subject: ValueSubject, context: Context) -> None:
    """A larger precision gives a value inside the bracket of a smaller one. A bracket that is left was never rigorous."""
    for left, right in random_pairs(context, "refined"):
        coarse, fine = _value(subject, left, right, 24), _value(subject, left, right, FINER)
        inside = fine.lower <= coarse.upper and coarse.lower <= fine.upper
        require(inside, f"{fine} at {FINER} bits lies outside {coarse} at 24 bits, for P = {left}, Q = {right}")


@check(KIND)
def check_extremal_answers_stay_within_the_bound(subject: ValueSubject, context: Context) -> None:
    """d_Pr(N_0, N_1) <= b, both ways, for all answers that `extremal(b)` offers. Comparison separates specifications by them."""
    for bound in (number(Fraction(1, 3)), number(1)):
        for answers in subject.thing.extremal(bound):
            steps = range(2 if answers.most is None else min(answers.most, 2))
            for i, (left, right) in itertools.product(steps, ((0, 1), (1, 0))):
                found = subject.thing.between(answers.law(i + left), answers.law(i + right))
                require(not found.lower > bound, f"d(N_{i + left}, N_{i + right}) = {found}, above {bound}, {answers.words}")


@check(KIND, when="separates_disjoint")
def check_disjoint_laws_are_infinitely_far(subject: ValueSubject, context: Context) -> None:
    """d_Pr = infinity for laws without a common outcome when `separates_disjoint` is declared (the hypothesis of B-T10(2))."""
    source = context.random("disjoint")
    for _ in range(context.times(5)):
        left = random_law(source)
        right = random_law(source).push_forward(lambda outcome: ("other", outcome))
        found = _value(subject, left, right)
        require(found.lower.is_infinite, f"d(P, Q) = {found} for disjoint P = {left}, Q = {right}")


@check(KIND)
def check_only_equal_laws_are_at_zero_as_declared(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, Q) > 0 for different laws when `separates_laws` says so. Comparison then takes a budget of 0 for equal laws."""
    if not subject.thing.separates_laws():
        raise NotApplicable("it does not say that only equal laws are at 0")
    small = [Fraction(1, 10), Fraction(1, 1000)]
    close = [(FiniteLaw.bernoulli(Fraction(1, 2) + e), FiniteLaw.bernoulli(Fraction(1, 2))) for e in small]
    for left, right in itertools.chain(close, ((b, a) for a, b in close), random_pairs(context, "separated")):
        found = _value(subject, left, right, FINER)
        require(left == right or found.upper > 0, f"d(P, Q) = {found} for P = {left}, Q = {right}; separates_laws is False")


@check(KIND)
def check_event_bounds_are_the_divergence(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, Q) <= b exactly where P(S) <= e^a Q(S) + c for all `event_bounds(b)` and events S. Comparison decides by them."""
    divergence: OutputDivergence = subject.thing
    if divergence.event_bounds(number(1)) is None:
        raise NotApplicable("it is not told by single events")
    for bound in map(number, ("0", "1/5", "1", "ln(2)", "ln(7)", "2")):
        lines = divergence.event_bounds(bound)
        for left, right in random_pairs(context, f"events {bound}") if lines is not None else ():
            pairs = ((left, right), (right, left)) if divergence.is_symmetric else ((left, right),)
            kept = all(_keeps(*pair, *line) for pair in pairs for line in lines or ())
            found = _value(subject, left, right, FINER)
            wrong = found.lower > bound if kept else not found.upper > bound
            require(not wrong, f"d(P, Q) = {found} for P = {left}, Q = {right}, and event_bounds({bound}) say {kept}")


def _keeps(left: FiniteLaw, right: FiniteLaw, power: Number, slack: Number) -> bool:
    """Whether no event breaks the line: the worst one holds the outcomes with P(o) > e^a Q(o)."""
    with ctx.workprec(FINER):
        ratio, free = power.enclose(FINER).exp(), slack.enclose(FINER)
        terms = [ball(left.probability(o)) - ratio * ball(right.probability(o)) for o in {*left.support, *right.support}]
        return not sum((term for term in terms if term > 0), arb(0)) > free


@check(KIND)
def check_divergence_is_bounded_as_stated(subject: ValueSubject, context: Context) -> None:
    """`bounded_by(other)` = c: d_Pr <= c other for all laws; `bounds(other)`: other <= c d_Pr. Implications rest on both."""
    for other in context.values(KIND):
        _require_bound(subject.thing, other, subject.thing.bounded_by(other), context)
        _require_bound(other, subject.thing, subject.thing.bounds(other), context)


def _require_bound(
    smaller: OutputDivergence, larger: OutputDivergence, stated: tuple[Number, str] | None, context: Context
) -> None:
    if stated is None:
        return
    factor, reason = stated
    for left, right in random_pairs(context, "bounded"):
        less, more = smaller.between(left, right), larger.between(left, right).upper
        require(
            not exceeds_times(less.lower, factor, more),
            f"d = {less} of {smaller}, above {factor} x {more} of {larger}, for P = {left}, Q = {right}, in spite of: {reason}",
        )


@check(KIND)
def check_larger_budgets_allow_more(subject: ValueSubject, context: Context) -> None:
    """`lipschitz` is nonnegative and nondecreasing for every budget parameter (B-X1): it turns budgets into constants."""
    require(bool(subject.thing.budget_parameters), "budget_parameters is empty, so no budget can be written")
    for parameter in subject.thing.budget_parameters:
        constants = [subject.thing.lipschitz(parameter, number(text)) for text in ("0", "1/10", "1", "3", "inf")]
        require(constants[0] >= 0, f"{parameter} = 0 allows {constants[0]}")
        rising = all(small <= large for small, large in itertools.pairwise(constants))
        require(rising, f"{parameter} = 0, 1/10, 1, 3, inf allow {', '.join(map(str, constants))}")


@check(KIND)
def check_composition_covers_the_joint_law(subject: ValueSubject, context: Context) -> None:
    """`composed` of two budgets bounds d_Pr of the product laws, when it says anything. Ledgers add budgets by it."""
    divergence: OutputDivergence = subject.thing
    first = divergence.budget_parameters[0]
    pairs = list(random_pairs(context, "composed"))[1:]
    for one, two in itertools.pairwise(pairs):
        spent = [(divergence, divergence.budget_for(first, divergence.between(*pair).upper)) for pair in (one, two)]
        found = divergence.composed(spent)
        if found is None:
            return
        allowed = found.divergence.lipschitz(found.divergence.budget_parameters[0], found.value)
        left, right = (FiniteLaw.product([one[side], two[side]]) for side in (0, 1))
        reached = found.divergence.between(left, right)
        told = f"{one} and {two} spend {spent[0][1]} and {spent[1][1]}; together {reached}, above {allowed}"
        require(not exceeds(reached.lower, allowed), told)
