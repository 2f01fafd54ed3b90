"""The arguments of the comparison of TopDown with swapping, as Markdown: what separates them, and every derivation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpspec import Comparison
from dpspec.yardstick import Side
from dpspec_census.comparison_of_schemes import Scheme, told


def separations(schemes: Sequence[Scheme]) -> Iterator[str]:
    """What keeps the one promise and breaks the other, scheme by scheme, in both directions."""
    yield "## What separates them"
    yield ""
    yield "The engine refutes the second promise on the two datasets x and x', and verifies the first on a small instance; that"
    yield "the first holds everywhere is the argument."
    for scheme in schemes:
        yield ""
        yield f"### {scheme.name}"
        yield ""
        yield from _separation("TopDown, not swapping", scheme.comparison, forward=True)
        yield from _separation("Swapping, not TopDown", scheme.comparison, forward=False)
    yield ""


def _separation(words: str, comparison: Comparison, *, forward: bool) -> Iterator[str]:
    way = comparison.forward if forward else comparison.backward
    found = way.separation
    if found is None:
        yield f"* **{words}:** {way.answer.value}."
        return
    left, right = comparison.right.space.in_words(found.left, found.right)
    yield f"* **{words}:** {found.mechanism}."
    yield f"  * keeps the first: {found.argument}"
    yield f"  * x = {left}"
    yield f"  * x' = {right}"
    yield f"  * engine: {found.checks[0]}; {found.checks[1]}"


def derivations(schemes: Sequence[Scheme]) -> Iterator[str]:
    """Both sides of every common yardstick at swap rate 5 %; what is the same for several schemes stands once."""
    accepted, asked = sum(sum(scheme.accepted) for scheme in schemes), sum(len(scheme.accepted) for scheme in schemes)
    yield "## Derivations"
    yield ""
    yield "Every step has a citation. As data they come from `dpspec compare A B --yardstick --format json`, for files on one"
    yield "space, and `dpspec check-derivation` reads them. Each of them was given to that checker, which shares no code with the"
    yield f"search: it accepts {2 * accepted} of {2 * asked}."
    found: dict[tuple[str, ...], list[str]] = {}
    for scheme in schemes:
        for one in scheme.common:
            where = f"### Per unit of {one.spec.input_divergence}, {one.spec.output_divergence.name}"
            for words, side in (("TopDown", one.left), ("swapping", one.right)):
                found.setdefault((where, words, *_side(side)), []).append(scheme.name)
    headed: dict[str, list[str]] = {}
    for (where, words, *steps), names in found.items():
        held = "all schemes" if len(names) == len(schemes) else ", ".join(names)
        headed.setdefault(where, []).extend([f"* {words}, {held}: {steps[0]}", *steps[1:]])
    for where, lines in headed.items():
        yield from ("", where, "", *lines)
    yield ""


def _side(side: Side) -> Iterator[str]:
    yield f"{side.derivation.premise.budget.parameter} = {told(side.derivation.premise.budget.uniform())} as stated"
    for step in side.derivation.steps:
        budget, constant = step.after.budget, step.parameters.get("constant")
        factor = f", factor {constant}" if constant is not None else ""
        tight = ", tight" if step.rule in side.tight else ""
        yield f"  * `{step.rule}`{factor}{tight}: {budget.parameter} = {told(budget.uniform())} [{step.citation}]"
