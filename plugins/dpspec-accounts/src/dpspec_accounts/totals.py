"""Budgets of charges, computed from their specifications by the rules of `dpspec ledger`, and their totals.

The account is a part of its own ledger, with a budget of 0: so what a charge spends is in the space, the universes, the unit and
the standard of the account, or it cannot be charged. Amounts add up exactly: so the total after a charge is the total before it,
which the history records, and the amount of the charge. `total_of` computes the total of all charges anew, as one ledger.

An analyst chooses what to release next by what was released before. So a total may be held against the cap only where the rule
that adds is a *privacy filter*: budgets that are chosen on the way, one after another, of which the sum never exceeds a fixed cap
(Rogers, Roth, Ullman and Vadhan 2016). These are the standards of `FILTERS`; an account in another one is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any

import attrs
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi
from dpspec_divergences.trade_off import GaussianTradeOff
from flint import ctx

from dpspec import DpspecError, PrivacySpec, SpecDocument, installed
from dpspec.plugin import Number, OutputDivergence, UniformBudget, exact, number
from dpspec.plugin.applications import (
    Part,
    Standing,
    at_most_in_words,
    compose_parts,
    multiverse_in_words,
    number_in_words,
    parameters,
    read_text,
    standing,
    thing_in_words,
)
from dpspec_accounts.errors import AccountError


@attrs.frozen(kw_only=True)
class Filter:
    """The theorem by which a sum in one standard is valid for budgets that are chosen adaptively.

    Args:
        citation: where that is proved.
        nothing: the standard in which a release of nothing has the budget 0 and adds nothing.
        squares: whether squares of budgets add.
    """

    citation: str
    nothing: Callable[[OutputDivergence], OutputDivergence] = lambda standard: standard
    squares: bool = False


FILTERS: Mapping[type[OutputDivergence], Filter] = {
    Mult: Filter(citation="basic composition filter: Rogers, Roth, Ullman and Vadhan 2016"),
    MultDelta: Filter(
        citation="basic composition filter, epsilon and delta each: Rogers, Roth, Ullman and Vadhan 2016",
        nothing=lambda _: MultDelta(delta=Fraction(0)),
    ),
    DNor: Filter(citation="Renyi filter at every order: Feldman and Zrnic 2021; Lecuyer 2021"),
    Renyi: Filter(citation="Renyi filter: Feldman and Zrnic 2021; Lecuyer 2021"),
    GaussianTradeOff: Filter(citation="filter of Gaussian privacy: Smith and Thakurta 2022", squares=True),
}


@attrs.frozen(kw_only=True)
class Spent:
    """An amount in the blocks of an account.

    Args:
        standard: the output divergence, with its delta or order.
        parameter: which number it is: epsilon, rho or mu.
        value: the number.
    """

    standard: OutputDivergence
    parameter: str
    value: Number

    def data(self) -> dict[str, str]:
        """As JSON data, exactly: the standard, its parameters, and the number."""
        fields = {found.name: str(getattr(self.standard, found.name)) for found in parameters(type(self.standard))}
        return {"standard": self.standard.name, **fields, self.parameter: str(self.value)}

    def of(self, data: Mapping[str, Any]) -> Spent | None:
        """The amount that JSON data say, where it is one in this standard; it may have another delta.

        >>> one = Spent(standard=MultDelta(delta=Fraction(1, 100)), parameter="epsilon", value=number(1))
        >>> one.of({"standard": "mult-delta", "delta": "1/1000", "epsilon": "ln(3)"}).data()
        {'standard': 'mult-delta', 'delta': '1/1000', 'epsilon': 'ln(3)'}
        """
        try:
            value = number(data[self.parameter])
            standard = MultDelta(delta=Fraction(data["delta"])) if isinstance(self.standard, MultDelta) else self.standard
            found = Spent(standard=standard, parameter=self.parameter, value=value)
        except (DpspecError, KeyError, TypeError, ValueError, ZeroDivisionError):
            return None
        return found if found.data() == data else None

    def __str__(self) -> str:
        """In words, for what is spent: no number is rounded down."""
        return self._in_words(lambda value: at_most_in_words(value, "= "))

    @property
    def as_limit(self) -> str:
        """In words, for a cap and for what may still be spent: no number is rounded up."""
        return self._in_words(lambda value: f"= {allowance_in_words(value)}")

    def _in_words(self, in_words: Callable[[Number], str]) -> str:
        delta = getattr(self.standard, "delta", None)
        slack = "" if delta is None else f", delta {in_words(number(delta))}"
        return f"{self.parameter} {in_words(self.value)}{slack}"


def allowance_in_words(value: Number) -> str:
    """A number up to which something is allowed: exact where it is short, and decimals that are rounded down.

    >>> [allowance_in_words(number(text)) for text in ("0.25", "1 - ln(2)", "1/3")]
    ['0.25', '1 - ln(2) (0.306852 rounded down)', '1/3 (0.333333 rounded down)']
    """
    form, about, rest = number_in_words(value).partition("about ")
    return f"{form}{exact.rounded_down(value, 6)} rounded down{')' if rest.endswith(')') else ''}" if about else form


@attrs.frozen(kw_only=True)
class Frame:
    """The blocks of an account: in which everything that is charged is counted.

    Args:
        document: its specification file.
        cap: what may be spent.
        zero: the account as a part that spends nothing.
        filter: why sums hold for budgets that are chosen on the way.
    """

    document: SpecDocument
    cap: Spent
    zero: Part
    filter: Filter

    @property
    def spec(self) -> PrivacySpec:
        """The five blocks; the budget is the cap."""
        return self.document.spec


# --- reading --------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def document_of(text: str) -> SpecDocument:
    """The specification of a text, read once."""
    return read_text(text, installed().registry, "charge")


@lru_cache(maxsize=64)
def frame_of(text: str) -> Frame:
    """The blocks of an account from the text of its specification file.

    Raises:
        AccountError: the file cannot be an account, and why.
    """
    document = document_of(text)
    spec, standard = document.spec, document.spec.output_divergence
    found = FILTERS.get(type(standard))
    subject = f"account {document.id}"
    if found is None:
        known = ", ".join(cls.name for cls in FILTERS)
        rule = f"is in a standard whose sums are not known to hold for adaptive releases ({thing_in_words(standard)})"
        raise AccountError(subject, rule, f"state the cap in one of {known}")
    if document.parts:
        raise AccountError(subject, "states further promises", "state one specification, whose budget is the cap")
    value = spec.budget.uniform()
    if value is None or spec.budget.unpublished() is not None or spec.budget.bounds() is not None or value.is_infinite:
        raise AccountError(subject, "has a budget that is no finite number for all universes", 'write such as rho = "1/2"')
    parameter = standard.budget_parameters[0]
    nothing = UniformBudget(parameter=parameter, value=number(0))
    zero = Part(id="the account", spec=spec.replace(output_divergence=found.nothing(standard), budget=nothing))
    first = standard.budget_for(parameter, standard.lipschitz(spec.budget.parameter, value))
    cap = Spent(standard=standard, parameter=parameter, value=value if spec.budget.parameter == parameter else first)
    return Frame(document=document, cap=cap, zero=zero, filter=found)


@lru_cache(maxsize=1024)
def standing_of(text: str) -> Standing:
    """The status of the claim of a specification, as `dpspec verify` computes it: no statement of a file or a row is trusted."""
    return standing(document_of(text), installed().registry)


def caveats_of(text: str) -> tuple[str, ...]:
    """Why the number of a file is not that of all that it releases; empty where nothing is known against it."""
    document = document_of(text)
    return (
        *(f"the guarantee does not cover: {step}" for step in document.unaccounted),
        *map(str, document.assumed),
    )


# --- totals ---------------------------------------------------------------------------------------


def _parts(texts: Sequence[str]) -> list[Part]:
    """Specifications as parts of a ledger, equal ones together."""
    often = Counter(texts)  # in the order in which each comes first
    documents = {text: document_of(text) for text in often}
    return [Part(id=documents[text].id, spec=documents[text].spec, times=times) for text, times in often.items()]


def total_of(frame: Frame, texts: Sequence[str]) -> Spent:
    """What specifications spend together, in the blocks of the account.

    Raises:
        AccountError: one of them publishes counts exactly that the account does not, or is in a standard that the account's does
            not bound. NoCompositionError: a space, a unit or a standard without a rule.

    >>> import dpspec as dp
    >>> from dpspec.plugin.applications import to_toml
    >>> people = dp.records(region=["north", "south"])
    >>> def text(epsilon):
    ...     spec = dp.spec(space=people, distance="add-remove", standard="pure", epsilon=epsilon)
    ...     return to_toml(spec, dp.installed().registry, id="survey")
    >>> print(total_of(frame_of(text("1")), [text("1/10"), text("1/5")]))
    epsilon = 0.3
    """
    return _total(frame, _parts(texts))


def _total(frame: Frame, parts: Sequence[Part]) -> Spent:
    spec = compose_parts([frame.zero, *parts], like=frame.spec).spec
    if spec.multiverse != frame.spec.multiverse and (spec.multiverse.induced_by() or frame.spec.multiverse.induced_by()):
        ours = frame.spec.multiverse.induced_by() or ()
        new = [str(invariant) for invariant in spec.multiverse.induced_by() or () if invariant not in ours]
        reason = f"publishes exactly what the account does not: {', '.join(new)}" if new else _other_universes(spec)
        raise AccountError("charge", reason, "create the account with all invariants that are, or will be, published exactly")
    if spec.space != frame.spec.space or spec.input_divergence != frame.spec.input_divergence:
        raise AccountError("charge", "is not led to the space and the unit of the account", "see `dpspec ledger`")
    value = spec.budget.uniform()
    if value is None or spec.budget.parameter != frame.cap.parameter or not _is_bounded(frame.cap.standard, spec):
        rule = f"is in a standard that the account's does not bound ({thing_in_words(spec.output_divergence)})"
        raise AccountError("charge", rule, f"state it in {thing_in_words(frame.cap.standard)}; see `dpspec convert`")
    return Spent(standard=spec.output_divergence, parameter=spec.budget.parameter, value=value)


def _other_universes(spec: PrivacySpec) -> str:
    return f"holds in other universes than the account's: {' '.join(multiverse_in_words(spec.multiverse))}"


def _is_bounded(standard: OutputDivergence, spec: PrivacySpec) -> bool:
    """Whether a total is in the account's standard, or in one that differs in the delta alone, which adds."""
    found = spec.output_divergence
    return found == standard or (isinstance(found, MultDelta) and isinstance(standard, MultDelta))


@lru_cache(maxsize=4096)
def amount_of(frame: Frame, text: str) -> Spent:
    """What one specification spends in the blocks of the account; raises as `total_of`."""
    return total_of(frame, [text])


def nothing_of(frame: Frame) -> Spent:
    """The total of an account without charges."""
    return Spent(standard=frame.zero.spec.output_divergence, parameter=frame.cap.parameter, value=number(0))


def total_with(frame: Frame, before: Spent, text: str, counted: Callable[[], Sequence[str]]) -> Spent:
    """The total after a charge: the total before it and its amount, or their squares, where these add.

    Args:
        before: the total before it.
        text: its specification.
        counted: the specifications of all charges that count, this one included, of which the total is computed where the sum
            of the two numbers has no exact form.

    >>> import dpspec as dp
    >>> from dpspec.plugin.applications import to_toml
    >>> def text(mu):
    ...     spec = dp.spec(space=dp.records(region=["north"]), distance="add-remove", standard="gaussian", mu=mu)
    ...     return to_toml(spec, dp.installed().registry, id="year")
    >>> frame = frame_of(text(6))
    >>> print(total_with(frame, total_with(frame, nothing_of(frame), text(3), list), text(4), list))
    mu = 5
    """
    return _combined(frame, before, text, 1, counted)


def total_without(frame: Frame, before: Spent, text: str, counted: Callable[[], Sequence[str]]) -> Spent:
    """The total after a charge is void: `counted` are the charges that still count."""
    return _combined(frame, before, text, -1, counted)


def _combined(frame: Frame, before: Spent, text: str, sign: int, counted: Callable[[], Sequence[str]]) -> Spent:
    amount, standard = amount_of(frame, text), before.standard
    if isinstance(standard, MultDelta) and isinstance(amount.standard, MultDelta):
        delta = standard.delta + sign * amount.standard.delta
        if delta >= 1:  # any two laws are that near: nothing is promised, as with an infinite epsilon
            return Spent(standard=standard, parameter=before.parameter, value=number("inf"))
        standard = MultDelta(delta=delta)
    try:
        if frame.filter.squares:
            value = (before.value.squared() + sign * amount.value.squared()).sqrt()
        else:
            value = before.value + sign * amount.value
    except DpspecError:  # such as 1 + sqrt(2)
        return total_of(frame, counted())
    return Spent(standard=standard, parameter=before.parameter, value=value)


def fits(total: Spent, cap: Spent) -> bool:
    """Whether a total is at most the cap, in every number that it has."""
    if isinstance(total.standard, MultDelta) and isinstance(cap.standard, MultDelta):
        return total.value <= cap.value and total.standard.delta <= cap.standard.delta
    return total.standard == cap.standard and total.value <= cap.value


def remainder_of(frame: Frame, total: Spent) -> Spent | None:
    """What is left under the cap, in its numbers; None where a total is above it. Without an exact form it is rounded down.

    >>> import dpspec as dp
    >>> from dpspec.plugin.applications import to_toml
    >>> def text(epsilon):
    ...     spec = dp.spec(space=dp.records(region=["north"]), distance="add-remove", standard="pure", epsilon=epsilon)
    ...     return to_toml(spec, dp.installed().registry, id="year")
    >>> frame = frame_of(text(1))
    >>> print(remainder_of(frame, amount_of(frame, text("sqrt(1/2)"))).as_limit)
    epsilon = 0.292893 rounded down
    """
    cap = frame.cap
    if not fits(total, cap):
        return None
    standard: OutputDivergence = cap.standard
    if isinstance(cap.standard, MultDelta) and isinstance(total.standard, MultDelta):
        standard = MultDelta(delta=cap.standard.delta - total.standard.delta)
    left = _difference(cap.value, total.value, squares=frame.filter.squares)
    return Spent(standard=standard, parameter=cap.parameter, value=left)


_PRECISION = 256
"""Bits of a difference without an exact form."""
_SLACK = Fraction(1, 1 << 50)
"""This share of the cap is not counted as left where sums have no exact form: they are rounded up to 17 digits."""


def _difference(cap: Number, spent: Number, *, squares: bool) -> Number:
    """The cap without what is spent, or the root of the difference of their squares."""
    if cap == spent:
        return number(0)
    try:
        return (cap.squared() - spent.squared()).sqrt() if squares else cap - spent
    except (DpspecError, ValueError):  # a difference or a square without an exact form
        with ctx.workprec(_PRECISION):
            ends = [value.enclose(_PRECISION) for value in (cap, spent)]
            top, spent_there = (end**2 if squares else end for end in ends)
            found = exact.floor_of(top * exact.ball(1 - _SLACK) - spent_there) or Fraction(0)
            return number(exact.rounded_down(number(found).sqrt() if squares else number(found), 17)) if found > 0 else number(0)


def budget_within(frame: Frame, text: str, left: Spent | None, amount: Spent) -> Number | None:
    """A budget of a specification, smaller than the one that it states, that fits into what is left; None where none is known.

    It is the largest one that fits where what is spent is proportional to the budget, or to its square; then all that is left
    is spent, exactly. Elsewhere it is found by bisection, to 2^-20 of the stated budget, from below. What a budget spends is
    computed by the rules of the ledger in each case.

    Args:
        frame: the blocks of the account.
        text: the specification.
        left: what is left of the account.
        amount: what the specification spends.
    """
    spec = document_of(text).spec
    stated = spec.budget.uniform()
    if left is None or stated is None or stated.is_infinite or amount.value.is_infinite or stated <= number(0):
        return None
    if left.value <= number(0) or not delta_fits(left, amount):
        return None

    def spends(budget: Number) -> Number | None:
        smaller = spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=budget))
        try:
            return _total(frame, [Part(id="charge", spec=smaller)]).value
        except DpspecError:
            return None

    for candidate in _proportional(stated, left.value, amount.value):
        if candidate <= stated and spends(candidate) == left.value:
            return candidate
    low, high = Fraction(0), Fraction(1)
    while high - low > _SMALLEST_STEP:
        middle = (low + high) / 2
        spent = spends(stated * middle)
        low, high = (middle, high) if spent is not None and spent <= left.value else (low, middle)
    return stated * low if low > 0 else None


_SMALLEST_STEP = Fraction(1, 1 << 20)


def _proportional(stated: Number, left: Number, amount: Number) -> Iterator[Number]:
    """The budgets that spend what is left, if what is spent is proportional to the budget, or to its square."""
    near = Fraction(float(amount.enclose()) / float(stated.enclose())).limit_denominator(10**6)
    if near > 0 and stated * near == amount:
        yield left * (1 / near)
    with suppress(DpspecError):  # where it has an exact form
        yield stated * (left / amount)
    with suppress(DpspecError):
        yield stated * (left / amount).sqrt()


def delta_fits(left: Spent, amount: Spent) -> bool:
    """Whether the delta of a specification fits into what is left: noise does not make it smaller."""
    return Fraction(getattr(amount.standard, "delta", 0)) <= Fraction(getattr(left.standard, "delta", 0))


def check_charge(text: str) -> None:
    """Refuse a file that cannot be one charge.

    Raises:
        AccountError: its budget is not one published number, or it makes further promises, which its budget does not count.
    """
    document = document_of(text)
    budget = document.spec.budget
    if budget.uniform() is None or budget.unpublished() is not None or budget.bounds() is not None:
        rule = "has a budget that is no published number for all universes"
        raise AccountError(f"specification {document.id}", rule, 'state one, such as rho = "1/2"')
    if document.parts:
        named = ", ".join(part.title for part in document.parts)
        rule = f"makes further promises, which its budget does not count: {named}"
        raise AccountError(f"specification {document.id}", rule, "charge each as a file of its own")
