"""Findings about numbers that a file prints: each is recomputed from the specification."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpspec.base.errors import DpspecError
from dpspec.base.exact import Bracket
from dpspec.grammar.rule import Conversion
from dpspec.linter.finding import LintContext, LintedFile, Observation, Severity, finding
from dpspec.specfile.document import Expectation, SpecDocument


def _expectations(document: SpecDocument) -> Iterator[tuple[str, Expectation, Bracket]]:
    """The printed numbers with their paths and their recomputed values, where they have one."""
    for place, expectation in enumerate(document.expectations):
        try:
            yield f"expect[{place}]", expectation, expectation.value(document.spec)
        except DpspecError:
            continue


@finding("does-not-recompute", Severity.ERROR)
def does_not_recompute(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A printed number is not what its route gives. An erratum on record (`corrected = ...`) is explained by its `because`."""
    for path, expectation, value in _expectations(file.document):
        if expectation.is_near(expectation.printed, value) is not False:
            continue
        name, printed, found = expectation.parameter, expectation.printed.decimal(8), value.lower.decimal(8)
        on_record = expectation.corrected is not None and expectation.is_met_by(value) is True
        yield Observation(
            path=path,
            message=f"{name} = {printed} is printed for {expectation.what}; {expectation.route.name} gives {found}",
            advice="correct the number, or put the erratum on record: corrected = ... with its reason",
            explained=expectation.because if on_record else None,
        )


@finding("several-deltas", Severity.WARNING)
def several_deltas(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A file gives values of epsilon at different deltas, which a reader will compare. Quote all at one delta."""
    document, seen = file.document, dict[Fraction, str]()
    if document.spec.budget.parameter == "epsilon":
        own = getattr(document.spec.output_divergence, "delta", None)
        if own:
            seen[own] = "the budget"
    for place, expectation in enumerate(document.expectations):
        delta = getattr(expectation.route, "delta", None)
        if expectation.parameter != "epsilon" or not isinstance(delta, Fraction):
            continue
        if seen and delta not in seen:
            first, what = next(iter(seen.items()))
            yield Observation(
                path=f"expect[{place}]",
                message=f"epsilon is at delta = {_short(delta)} for {expectation.what}, and at {_short(first)} for {what}",
                advice="quote every epsilon of a file at one delta",
            )
        seen.setdefault(delta, expectation.what)


def _short(delta: Fraction) -> str:
    return f"{float(delta):g}"


@finding("constant-for-budget", Severity.WARNING)
def constant_for_budget(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A number that bears the name of the budget is the constant that multiplies d_X instead: sqrt(rho) printed as rho."""
    spec = file.document.spec
    value = spec.budget.uniform()
    if value is None:
        return
    constant = spec.output_divergence.lipschitz(spec.budget.parameter, value)
    if constant == value:
        return
    for place, expectation in enumerate(file.document.expectations):
        same = expectation.parameter == spec.budget.parameter
        if same and expectation.is_near(expectation.printed, Bracket.exactly(constant)):
            name, printed = expectation.parameter, expectation.printed.decimal()
            yield Observation(
                path=f"expect[{place}]",
                message=f"{name} = {printed} is printed; the budget is {name} = {value.decimal()}, and {printed} multiplies d_X",
                advice="print the budget, or give the constant another name",
            )


@finding("looser-conversion", Severity.WARNING)
def looser_conversion(file: LintedFile, context: LintContext) -> Iterator[Observation]:
    """A number is converted by a formula that another one beats for the same budget, and the file does not say so.

    So 17.90 and 17.14 are printed for one rho. Say in `[[explained]]` why the looser formula is used.
    """
    # Those that need not know the mechanism: the file may say nothing of it.
    known = (rule for rule in context.registry.classes("rules") if issubclass(rule, Conversion) and rule.mechanism is None)
    rules = tuple(rule() for rule in known)
    for path, expectation, value in _expectations(file.document):
        question = expectation.route.question(file.document.spec)
        if question is None or not value.upper > 0:
            continue
        best: tuple[Bracket, str] | None = None
        for rule in rules:
            if (rule.source, rule.target) != (question.source.name, question.goal.name):
                continue
            found = rule.converted(question.source, question.value, question.goal)
            if found is not None and found.upper < value.lower and (best is None or found.upper < best[0].upper):
                best = found, rule.name
        if best is not None:
            name = expectation.parameter
            yield Observation(
                path=path,
                message=f"{expectation.route.name} gives {name} = {value.upper.decimal()} for {expectation.what}, "
                f"and {best[1]} gives {best[0].upper.decimal()} for the same budget",
                advice="use the better formula, or explain in [[explained]] why not",
            )
