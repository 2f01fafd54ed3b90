"""What a specification promises, told to two audiences: to the people in the data, and to those who must judge it (Z-A22)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec.exact import Bracket, Number
from dpspec.report import standing
from dpspec.report.explain import promise
from dpspec.report.json import bracket
from dpspec.report.terminal import FAINT, drawn
from dpspec.report.words import budget_in_words, thing_in_words
from dpspec.risk.allowed import allowed_excess, allowed_power
from dpspec.risk.pairs import bound_within
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.verify.standing import Standing

Data = dict[str, Any]

AUDIENCES = ("public", "technical")
LEVELS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))
FACTORS = (2, 10)
POWER, GROWTH = "power of the best test at level {}", "chance that the release speaks {}-fold for the truth"


def data(found: SpecDocument, audience: str, stands: Standing) -> Data:
    """The paragraphs for an audience, and the numbers in them.

    The numbers hold for every mechanism that satisfies the specification: the largest power of a test (K-T17 to K-T20), and the
    largest chance that the likelihood ratio of the truth is at least a factor (K-D12, K-T28).
    """
    spec = found.spec
    bound = bound_within(spec)
    numbers = {POWER.format(level): allowed_power(spec.output_divergence, bound, level) for level in LEVELS}
    numbers |= {GROWTH.format(factor): _growth(spec, bound, factor) for factor in FACTORS}
    told = _public(spec, numbers) if audience == "public" else _technical(found, bound)
    return {
        "id": found.id,
        "title": found.title,
        "audience": audience,
        "standing": standing.data(stands),
        "paragraphs": [standing.PUBLIC[stands.word] if audience == "public" else f"How it stands: {stands.sentence}.", *told],
        "numbers": [{"what": what, "value": bracket(value)} for what, value in numbers.items()],
    }


def _growth(spec: PrivacySpec, bound: Number, factor: int) -> Bracket:
    return Bracket.exactly(1) if bound.is_infinite else allowed_excess(spec.output_divergence, bound, Bracket.exactly(factor))


def _public(spec: PrivacySpec, numbers: dict[str, Bracket]) -> Iterator[str]:
    unit = spec.input_divergence.counted_unit() or getattr(spec.input_divergence, "unit", None) or "record"
    yield (
        f"Imagine somebody who knows how the release is made and has all of the data before them, except for yours (one {unit}). "
        "They have two ideas of what your data could be, and look at the release to find out which of them is right."
    )
    caught = numbers[POWER.format(Fraction(1, 20))]
    yield (
        "The release is blurred by chance on purpose. If this somebody takes care to name the wrong idea in no more than 5 of "
        f"100 cases, they find the right one in at most {cases(caught)}. Without looking at the release at all it would be 5."
    )
    twice, tenfold = (cases(numbers[GROWTH.format(factor)]) for factor in FACTORS)
    yield (
        f"The release can make them twice as sure of the truth in at most {twice}, and ten times as sure in at most {tenfold}. "
        "These are limits for the worst design that keeps the promise; a good one is often far below them."
    )
    yield (
        "What is not promised: that nothing can be learned about you. A pattern that shows in everybody's data shows without "
        "yours too, and may be applied to you. The promise is about what the use of your own data adds."
    )
    if spec.multiverse.invariants != ():
        yield (
            "Some facts are published exactly as they are, without blurring. The promise covers what is left open once they are "
            "known, and says nothing about the facts themselves."
        )


def _technical(found: SpecDocument, bound: Number) -> Iterator[str]:
    spec = found.spec
    yield promise(found)
    yield (
        f"For two datasets at distance 1 the bound is {bound} in {thing_in_words(spec.output_divergence)} "
        f"({budget_in_words(spec.budget)}). The adversary knows both datasets and the mechanism, all but its random bits, and "
        "may process the release in any way; the numbers below are suprema over all mechanisms within the bound, all attained."
    )
    yield (
        "Frequentist: a test of one dataset against the other at level a has at most the power below; by mixing, that holds for "
        "unknown other records too wherever the divergence is quasi-convex. Bayesian: with the other records known and any prior "
        "on one, the posterior of the true record exceeds F times its prior with at most the chance below, over the release of "
        "the true data; over the prior predictive law it is that chance divided by F."
    )
    yield (
        "None of this bounds the change from prior to posterior for an adversary who does not know the other records: dependence "
        "between records carries over. A chance below is not the delta of approximate privacy, and not a raw tail of the privacy "
        "loss, but the least number above that tail which post-processing keeps."
    )
    if spec.multiverse.invariants != ():
        yield "Only datasets of one universe are compared: the invariants themselves are outside of the guarantee."


def cases(chance: Bracket) -> str:
    """A probability as cases of a hundred, rounded up; rare ones as one in a power of ten. To be read, not to be computed with.

    >>> [cases(Bracket.exactly(value)) for value in ("0.7417", "0.0035", "1/2", "0")]
    ['75 of 100 cases', '1 of 100 cases', '50 of 100 cases', '1 of a billion cases']
    """
    for size, name in ((10**9, "a billion"), (10**6, "a million"), (1000, "1,000")):
        if chance.upper <= Fraction(1, size):
            return f"1 of {name} cases"
    hundredths = next(n for n in range(1, 101) if chance.lower <= Fraction(n, 100) or n == 100)
    return f"{hundredths} of 100 cases"


def text(told: Data, found: SpecDocument) -> str:
    """The paragraphs as text; for the technical audience with a table of the numbers."""
    parts: list[RenderableType] = [Text.assemble((found.id, "bold"), f"  {found.title}"), ""]
    for paragraph in told["paragraphs"]:
        parts += [paragraph, ""]
    if told["audience"] == "technical":
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(overflow="fold", style=FAINT)
        table.add_column(no_wrap=True)
        for row in told["numbers"]:
            most = Bracket.exactly(row["value"]["upper"]).upper
            table.add_row(row["what"], f"at most {most.decimal()}")
        parts.append(table)
    return drawn(*parts).rstrip()
