"""A budget account of one data collection: what is charged to it never exceeds its cap, whatever the order and the processes."""

from __future__ import annotations

import hashlib
import inspect
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, ParamSpec, TypeAlias, TypeVar

import attrs

from dpspec import DpspecError, SpecDocument, installed
from dpspec.plugin import Number, ParameterError, PrivacySpec
from dpspec.plugin.applications import Standing, Word, as_document, read_bytes, read_text, to_toml
from dpspec_accounts.errors import AccountError, ChargeStateError
from dpspec_accounts.history import (
    COMMITTED,
    DIGEST,
    DRAWN,
    RESERVED,
    Charge,
    Event,
    History,
    broken,
    charge_of,
    following,
    read_alone,
    replayed,
    sha256,
)
from dpspec_accounts.periods import PERIODS, period_of, read_period, today
from dpspec_accounts.signatures import signed
from dpspec_accounts.store import WAIT, Rows, Store
from dpspec_accounts.totals import (
    Frame,
    Spent,
    allowance_in_words,
    amount_of,
    budget_within,
    caveats_of,
    check_charge,
    delta_fits,
    document_of,
    fits,
    frame_of,
    nothing_of,
    remainder_of,
    standing_of,
    total_with,
    total_without,
)

_RUN_LATER = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
"""Functions whose call does nothing yet."""
P = ParamSpec("P")
T = TypeVar("T")
AnySpecification: TypeAlias = "SpecDocument | PrivacySpec | str | Path"
EXPORT, EXPORT_VERSION = "dpspec-account", 1


@attrs.frozen(kw_only=True)
class Balance:
    """The balance of an account.

    Args:
        name: the place of the account, without user or password.
        frame: the blocks of the account, with the cap.
        total: the total of all charges that count; a reservation counts, a void charge does not.
        as_promised: whether unverified promises count.
        period: the period of the total; None where the account has no periods.
    """

    name: str
    frame: Frame
    total: Spent
    as_promised: bool
    period: str | None = None

    @property
    def remainder(self) -> Spent | None:
        """What is left under the cap, rounded down where it has no exact form (`remainder_of`)."""
        return remainder_of(self.frame, self.total)


@attrs.frozen(kw_only=True)
class Statement(Balance):
    """The balance of an account, and the history from which it was computed.

    Args:
        history: every row, with the states of the charges.
        periods: the total of each period in which something was charged; empty where the account has no periods.
    """

    history: History
    periods: Mapping[str, Spent] = {}

    @property
    def responsible(self) -> Mapping[str, str]:
        """Who is responsible for what, as was stated when the account was made."""
        return dict(self.history.account.get("responsible", {}))


@attrs.frozen(kw_only=True)
class Quote:
    """The cost of a planned charge.

    Args:
        balance: the account before it.
        amount: what the specification alone spends in the blocks of the account.
        total: what all charges together would spend.
        text: the specification.
        standing: the status of its claim.
        caveats: the reasons why its number does not cover all that it releases.
    """

    balance: Balance
    text: str
    amount: Spent
    total: Spent
    standing: Standing
    caveats: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether the total is at most the cap."""
        return fits(self.total, self.balance.frame.cap)

    @property
    def refusal(self) -> str | None:
        """Why a charge is refused, whatever is left: its promise is not verified, and the account counts no others."""
        try:
            check_standing(self.text, self.standing, self.caveats, as_promised=self.balance.as_promised)
        except AccountError as fault:
            return fault.rule
        return None

    @property
    def largest(self) -> Number | None:
        """A budget of the specification that fits, with more noise (`budget_within`); None where none is known."""
        return budget_within(self.balance.frame, self.text, self.balance.remainder, self.amount)


class OverCapError(DpspecError):
    """A charge does not fit under the cap of its account; nothing was charged.

    `quote` has what it would spend, and what is left.
    """

    code: ClassVar[str] = "over-cap"
    exit_code: ClassVar[int] = 1
    quote: Quote


class Account:
    """A budget account: opened by its URL, which is a path of an SQLite file or ``postgresql://USER@HOST/DATABASE``.

    Args:
        url: where it is.
        wait: how many seconds to wait for another process that writes.

    Raises:
        AccountError: the URL cannot be one.

    >>> import tempfile
    >>> import dpspec as dp
    >>> def year(epsilon):
    ...     return dp.spec(space=dp.records(region=["north", "south"]), distance="add-remove", standard="pure", epsilon=epsilon)
    >>> noise = dp.geometric(queries=dp.marginal(attributes="region"), ratio="1/2")
    >>> weekly = dp.SpecDocument(id="weekly", title="A weekly table", spec=year("ln(2)"), mechanism=noise)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     account = Account.create(f"{folder}/year.db", year("3"))
    ...     print(account.charge(weekly).state, "|", account.balance().total, "|", account.balance().remainder)
    committed | epsilon = ln(2) (about 0.693147) | epsilon = 3 - ln(2) (about 2.30685)
    """

    def __init__(self, url: str | Path, *, wait: float = WAIT) -> None:
        self._store = Store(url, wait=wait)

    @property
    def name(self) -> str:
        """Where it is, without user and password."""
        return self._store.name

    @classmethod
    def create(
        cls,
        url: str | Path,
        specification: AnySpecification,
        *,
        as_promised: bool = False,
        period: str | None = None,
        responsible: Mapping[str, str] | None = None,
        wait: float = WAIT,
    ) -> Account:
        """Make an account.

        Args:
            url: where it will be.
            specification: five blocks, or their file: the space, the universes, the unit and the standard of the account, and its
                cap as their budget. A mechanism in the file is ignored.
            as_promised: whether promises that are not verified may be charged; every report then says so.
            period: day, week, month or year: the cap is then that of each period, for releases about its data alone.
            responsible: names by role, which every report shows; who may write is up to the database.
            wait: as of the class.

        Raises:
            AccountError: the specification cannot be that of an account, or there is one at this place.
        """
        found = cls(url, wait=wait)
        text = text_of(specification)
        frame_of(text)
        content = {"specification": _recorded(text), "as_promised": bool(as_promised), "identity": secrets.token_hex(16)}
        if period is not None:
            if period not in PERIODS:
                raise ParameterError("period", f"is none of {', '.join(PERIODS)}", value=period)
            content["period"] = period
        if responsible:
            if not all(isinstance(one, str) and one.strip() for pair in responsible.items() for one in pair):
                raise ParameterError("responsible", "must be names by role", 'write such as {"release": "data steward"}')
            content["responsible"] = dict(responsible)
        found._store.create([following(None, "create", content)])
        return found

    @classmethod
    def restore(cls, url: str | Path, events: Sequence[Event], *, wait: float = WAIT) -> Account:
        """Make an account with the history of another one, row by row the same.

        Args:
            url: where it will be.
            events: its rows, as `verification.verify_events` found them consistent.
            wait: as of the class.

        Raises:
            HistoryError: the rows are no history. AccountError: there is an account at this place.
        """
        replayed(events)
        found = cls(url, wait=wait)
        found._store.create(events)
        return found

    def balance(self, period: str | None = None) -> Statement:
        """What is spent, computed from the specifications of all charges, with the whole history.

        Args:
            period: whose total is wanted, where the account has periods; without it, that of today.

        Raises:
            HistoryError: a row was changed, or records a total that is not that of its charges.
        """
        with self._store.reading() as rows:
            events = rows.all()
        return statement_of(self.name, replayed(events), period)

    def find(self, number: int) -> Charge | None:
        """The charge of a number; None where there is none."""
        with self._store.reading() as rows:
            return _charge(rows, number)

    @property
    def identity(self) -> str:
        """The hash of the first row, by which an account is another one than each other account."""
        with self._store.reading() as rows:
            return rows.first().hash

    def quote(self, specification: AnySpecification, *, period: str | None = None) -> Quote:
        """What a charge would spend; nothing is charged.

        Args:
            specification: of the release.
            period: the period whose data it is about, where the account has periods; without it, that of today.

        Raises:
            AccountError: it cannot be charged to this account. NoCompositionError: no rule leads it to the blocks of the account.
        """
        text = text_of(specification)
        check_charge(text)
        with self._store.reading() as rows:
            return self._quote(rows, text, period)

    def charge(
        self,
        specification: AnySpecification,
        files: Mapping[str, str] | None = None,
        *,
        period: str | None = None,
        by: str | None = None,
    ) -> Charge:
        """Charge a release that was made outside of dpspec: reserve, draw and commit in one step.

        Args:
            specification: its specification, or the file of it.
            files: what was published, by name and SHA-256.
            period: as of `quote`.
            by: who charges it, for the history.

        Raises:
            OverCapError: it does not fit under the cap; nothing was charged.
            AccountError: as `quote`; or the claim is not verified, and the account does not count as promised.
        """
        return self.charge_and_quote(specification, files, period=period, by=by)[0]

    def charge_and_quote(
        self,
        specification: AnySpecification,
        files: Mapping[str, str] | None = None,
        *,
        period: str | None = None,
        by: str | None = None,
    ) -> tuple[Charge, Quote]:
        """The same as `charge`, with what it spends."""
        text, written = self._prepared(specification), _files(files)
        with self._store.writing() as rows:
            number, quote = self._reserved(rows, text, period, by)
            self._step(rows, number, "draw", _by(by))
            charge = self._step(rows, number, "commit", {"files": written, **_by(by)})
        return charge, quote

    def reserve(
        self, specification: AnySpecification, *, period: str | None = None, by: str | None = None
    ) -> Reservation:
        """Reserve the budget of a release; it counts from here on, until it is voided.

        Args:
            specification, period, by: as of `charge`.

        Raises:
            as `charge`.
        """
        text = self._prepared(specification)
        with self._store.writing() as rows:
            number, _ = self._reserved(rows, text, period, by)
        return Reservation(self, number)

    def charged(self, specification: AnySpecification) -> Callable[[Callable[P, T]], Callable[P, T]]:
        """A decorator: each call of the function reserves, draws and commits the budget of its specification.

        A call over the cap raises `OverCapError` before the function runs. A call that raises an error stays drawn and counts.

        Args:
            specification: what one call promises.

        >>> import tempfile
        >>> import dpspec as dp
        >>> def year(epsilon):
        ...     return dp.spec(space=dp.records(region=["north"]), distance="add-remove", standard="pure", epsilon=epsilon)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     account = Account.create(f"{folder}/year.db", year("1"), as_promised=True)
        ...     @account.charged(year("1/2"))
        ...     def weekly(week):
        ...         return f"published week {week}"
        ...     print(weekly(1), "|", weekly(2), "|", account.balance().total)
        published week 1 | published week 2 | epsilon = 1
        """

        def decorated(function: Callable[P, T]) -> Callable[P, T]:
            if any(is_later(function) for is_later in _RUN_LATER):
                rule = "runs after its call has ended"
                raise ParameterError("charged", rule, "reserve inside it: `with account.reserve(spec):`", value=function.__name__)

            @wraps(function)
            def charged(*arguments: P.args, **options: P.kwargs) -> T:
                with self.reserve(specification):
                    return function(*arguments, **options)

            return charged

        return decorated

    def draw(self, number: int) -> Charge:
        """Record that something may be drawn from now on; the charge can no longer be voided.

        Raises:
            ChargeStateError: it is not reserved.
        """
        return self._stepped(number, "draw", {})

    def commit(self, number: int, files: Mapping[str, str] | None = None) -> Charge:
        """Record what was written.

        Args:
            number: of the charge.
            files: by name and SHA-256.

        Raises:
            ChargeStateError: it was not drawn, or is committed.
        """
        return self._stepped(number, "commit", {"files": _files(files)})

    def void(self, number: int, because: str, *, by: str | None = None) -> Charge:
        """Give back a reservation from which nothing was drawn.

        Args:
            number: of the charge.
            because: why, for the history.
            by: who gives it back, for the history.

        Raises:
            ChargeStateError: something was drawn or published, or it is void.
        """
        if not isinstance(because, str) or not because.strip():
            raise ParameterError("because", "must be a text", "say why, for the history")
        with self._store.writing() as rows:
            charge = _charge(rows, number)
            if charge is None or charge.state != RESERVED:
                return self._step(rows, number, "void", {})  # which refuses it
            period = charge.content.get("period")
            before, text = self._present(rows, period), charge.content["specification"]["text"]
            total = total_without(before.frame, before.total, text, partial(_counted, rows, period, without=number))
            content = {"because": because, "total": total.data(), **_of_period(period), **_by(by)}
            return self._step(rows, number, "void", content)

    def export(self, *, key: str | Path | None = None) -> dict[str, Any]:
        """The whole history as JSON data, which `dpspec account verify` checks without the database.

        Args:
            key: a PEM file with an Ed25519 private key, which signs it.

        Raises:
            AccountError: the file holds no such key.
        """
        with self._store.reading() as rows:
            events = rows.all()
        replayed(events)
        found: dict[str, Any] = {"format": EXPORT, "version": EXPORT_VERSION, "events": [event.data() for event in events]}
        return found if key is None else {**found, "signature": signed(events, key)}

    # -- inside a transaction ---------------------------------------------------------------------

    def _present(self, rows: Rows, period: str | None) -> Balance:
        """What is spent, as the last row has it that changed it: no other row is read but the first."""
        opening = read_alone(rows.first())
        frame, period = frame_of(opening["specification"]["text"]), named_period(opening, period)
        latest = rows.last("reserve", "void") if period is None else rows.last_of_period(period)
        total = nothing_of(frame) if latest is None else frame.cap.of(read_alone(latest)["total"])
        if total is None:
            raise broken(0 if latest is None else latest.seq, "records a total that is none of this account")
        return Balance(name=self.name, frame=frame, total=total, as_promised=opening["as_promised"], period=period)

    def _quote(self, rows: Rows, text: str, period: str | None) -> Quote:
        before = self._present(rows, period)
        return Quote(
            balance=before,
            text=text,
            amount=amount_of(before.frame, text),
            total=total_with(before.frame, before.total, text, lambda: [*_counted(rows, before.period), text]),
            standing=standing_of(text),
            caveats=caveats_of(text),
        )

    def _prepared(self, specification: AnySpecification) -> str:
        """The text of a specification that was verified already: that takes long, and no one else is to wait for it."""
        text = text_of(specification)
        check_charge(text)
        standing_of(text)
        return text

    def _reserved(self, rows: Rows, text: str, period: str | None, by: str | None) -> tuple[int, Quote]:
        """Append the reservation of a specification that fits: the number of its charge, and what it spends."""
        quote = self._quote(rows, text, period)
        check_standing(text, quote.standing, quote.caveats, as_promised=quote.balance.as_promised)
        if not quote.fits:
            raise over_cap(text, quote)
        content = {
            "specification": _recorded(text),
            "verdict": quote.standing.word.word,
            "caveats": list(quote.caveats),
            "as_promised": quote.balance.as_promised,
            "amount": quote.amount.data(),
            "total": quote.total.data(),
            **_of_period(quote.balance.period),
            **_by(by),
        }
        event = following(rows.last(), "reserve", content)
        rows.add(event)
        return event.seq, quote

    def _stepped(self, number: int, kind: str, content: Mapping[str, Any]) -> Charge:
        """A charge after one step, in a transaction of its own."""
        with self._store.writing() as rows:
            return self._step(rows, number, kind, content)

    def _step(self, rows: Rows, number: int, kind: str, content: Mapping[str, Any]) -> Charge:
        """Append one step of a charge: the charge after it."""
        before = _charge(rows, number)
        if before is None:
            raise AccountError("charge", "is none of this account", "`dpspec account show` lists them", value=number)
        if before.state != (RESERVED if kind in ("draw", "void") else DRAWN):
            raise _no_step(before, kind)
        event = following(rows.last(), kind, content, number)
        rows.add(event)
        found = _charge(rows, number)
        assert found is not None  # noqa: S101 - it was there before
        return found


def _charge(rows: Rows, number: int) -> Charge | None:
    """A charge, from its own rows."""
    return charge_of(rows.of_charge(number))


def _counted(rows: Rows, period: str | None, without: int | None = None) -> list[str]:
    """The specifications of all charges of a period that count, from the whole history."""
    counted = (charge for charge in replayed(rows.all()).counted if charge.number != without)
    return counted_texts([charge for charge in counted if charge.content.get("period") == period])


def _of_period(period: str | None) -> dict[str, str]:
    return {} if period is None else {"period": period}


def _by(name: str | None) -> dict[str, str]:
    """Who did it, as a row records it."""
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ParameterError("by", "must be a name", "leave it out, or say who")
    return {} if name is None else {"by": name}


def named_period(opening: Mapping[str, Any], period: str | None) -> str | None:
    """The period that is meant: the one that is named, or that of today; None where the account has none.

    Raises:
        AccountError: a period is named, and the account has none. ParameterError: it is none of its kind.
    """
    kind = opening.get("period")
    if kind is None:
        if period is not None:
            advice = "leave it out; an account with periods is made with `dpspec account create --period`"
            raise AccountError("account", "has no periods", advice, value=period)
        return None
    if kind not in PERIODS:
        raise broken(1, "has periods of a kind that is unknown")
    return period_of(kind, today()) if period is None else read_period(kind, period)


def statement_of(name: str, history: History, period: str | None = None) -> Statement:
    """What a history has spent: each amount is computed from its specification, and each total from the one before.

    Args:
        name: the place of the account.
        history: its rows.
        period: as of `named_period`.

    Raises:
        HistoryError: a row holds what cannot be charged, or records a total that is not that of its charges.
    """
    frame, period = frame_of(history.account["specification"]["text"]), named_period(history.account, period)
    totals: dict[str | None, Spent] = {event.content.get("period"): total for event, total in totals_of(frame, history)}
    return Statement(
        name=name, history=history, frame=frame, total=totals.get(period, nothing_of(frame)), period=period,
        periods={label: total for label, total in totals.items() if label is not None},
        as_promised=history.account["as_promised"],
    )  # fmt: skip


def totals_of(frame: Frame, history: History) -> Iterator[tuple[Event, Spent]]:
    """Each row that changes what is spent, with the total after it, of its period; raises as `statement_of`."""
    totals: dict[str | None, Spent] = {}
    counted: dict[str | None, dict[int, str]] = {}
    for event in history.events:
        if event.kind not in ("reserve", "void"):
            continue
        content = event.content
        period = _period_in(history, event, content)
        before, texts = totals.get(period, nothing_of(frame)), counted.setdefault(period, {})
        try:
            if event.charge is None:
                text = texts[event.seq] = content["specification"]["text"]
                total = total_with(frame, before, text, partial(_values, texts))
            else:
                total = total_without(frame, before, texts.pop(event.charge), partial(_values, texts))
        except DpspecError as fault:
            raise broken(event.seq, f"holds a specification that cannot be charged ({fault})") from None
        except KeyError:
            raise broken(event.seq, "gives back a charge of another period") from None
        if content["total"] != total.data():
            raise broken(event.seq, f"records the total {shown(content['total'])}, and it is {shown(total.data())}")
        totals[period] = total
        yield event, total


def _period_in(history: History, event: Event, content: Mapping[str, Any]) -> str | None:
    """The period of a row, which has one exactly where the account has periods."""
    period, kind = content.get("period"), history.account.get("period")
    if (period is None) != (kind is None):
        raise broken(event.seq, "names a period where there are none, or none where there must be one")
    try:
        return None if period is None else named_period(history.account, str(period))
    except ParameterError:
        raise broken(event.seq, "names a period that there is not") from None


def _values(counted: Mapping[int, str]) -> list[str]:
    return list(counted.values())


def shown(value: Any) -> str:
    """What a row records, short enough for a message."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {text}" for key, text in value.items())[:200]
    return str(value)[:200]


def account(url: str | Path, *, wait: float = WAIT) -> Account:
    """Open a budget account: ``dpspec account``.

    Args:
        url: a path of an SQLite file, or ``postgresql://USER@HOST/DATABASE``.
        wait: how many seconds to wait for another process that writes.

    Returns:
        the account: `balance`, `quote`, `charge`, `reserve`, `draw`, `commit`, `void` and `export`. Make one with
        ``Account.create`` of dpspec_accounts.account, or with `dpspec account create`.

    Raises:
        AccountError: the URL cannot be one.
    """
    return Account(url, wait=wait)


class Reservation:
    """A reserved budget; as a context manager it is drawn from when the block begins and committed when it ends without an error.

    With an error the charge stays drawn and counts: something may have been released.

    Args:
        account: whose it is.
        number: of the charge.
    """

    def __init__(self, account: Account, number: int) -> None:
        self.account, self.number = account, number
        self._written: dict[Path, str] = {}

    def __enter__(self) -> Reservation:
        self.account.draw(self.number)
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.account.commit(self.number, by_name(self._written))

    def wrote(self, path: str | Path) -> None:
        """Record a file that was written: its name and SHA-256.

        Raises:
            ParameterError: another file of this name was recorded, with another content.
        """
        written = {**self._written, **digests_of([path])}
        by_name(written)
        self._written = written

    def void(self, because: str) -> None:
        """Give it back, where nothing was drawn.

        Raises:
            ChargeStateError: something was.
        """
        self.account.void(self.number, because)


# --- rules of what may be charged -----------------------------------------------------------------


def text_of(specification: AnySpecification) -> str:
    """The text of a specification; what is charged is what this text says.

    Raises:
        AccountError: a document in Python that no text says. NotWritableError: a block has no form in a file.
    """
    document, registry = as_document(specification), installed().registry
    if document.text is not None and read_text(document.text, registry, document.id) == document:
        return document.text
    written = to_toml(document, registry)  # a document that was changed in Python after it was read
    if read_text(written, registry, document.id) == document:
        return written
    rule = "is not what its own text says when it is read again"
    raise AccountError(f"specification {document.id}", rule, "charge its file")


def counted_texts(charges: Sequence[Charge]) -> list[str]:
    """The specifications of charges."""
    return [charge.content["specification"]["text"] for charge in charges]


def check_standing(text: str, found: Standing, caveats: Sequence[str], *, as_promised: bool) -> None:
    """Refuse a promise that is not verified, unless the account counts as promised.

    Raises:
        AccountError: with the exit code of the claim: 1 for a refuted one, 3 for an undecided one, 5 for one never checked.
    """
    subject = f"specification {document_of(text).id}"
    if found.word is Word.PLUGIN:
        raise _with_code(AccountError(subject, f"was not verified: {found.reason}", "nothing was charged"), found.exit_code)
    if as_promised:
        return
    advice = "nothing was charged; an account that counts promises is made with `dpspec account create --as-promised`"
    if not found.word.is_good:
        raise _with_code(AccountError(subject, found.sentence, advice), found.exit_code)
    if caveats:
        raise _with_code(AccountError(subject, "; ".join(caveats), advice), Word.UNDECIDED.exit_code)


def _with_code(error: AccountError, code: int) -> AccountError:
    error.exit_code = code  # type: ignore[misc]  # of this error, not of its class
    return error


def over_cap(text: str, quote: Quote) -> OverCapError:
    """The error of a charge that does not fit."""
    left = quote.balance.remainder
    rule = f"spends {quote.amount}, and with it the account {quote.total}; the cap is {quote.balance.frame.cap.as_limit}"
    advice = "nothing was charged" + (f"; what is left is {left.as_limit}" if left is not None else "")
    largest = quote.largest
    if largest is not None:
        advice += f"; a budget of {allowance_in_words(largest)} would fit, with more noise"
    elif left is not None and not delta_fits(left, quote.amount):
        advice += "; its delta is larger than the rest, which no noise changes"
    error = OverCapError(f"specification {document_of(text).id}", rule, advice)
    error.quote = quote
    return error


def _no_step(charge: Charge, kind: str) -> ChargeStateError:
    rule, advice = f"is {charge.state}", "see `dpspec account show`"
    if kind == "void" and charge.state in (DRAWN, COMMITTED):
        rule = f"is {charge.state}: something may be released, so it cannot be voided"
        advice = "it counts; a new account with a larger cap is a decision of its own"
    return ChargeStateError(f"charge {charge.number}", rule, advice)


def digests_of(paths: Iterable[str | Path]) -> dict[Path, str]:
    """The SHA-256 of files."""
    return {Path(path).resolve(): hashlib.sha256(read_bytes(Path(path))).hexdigest() for path in paths}


def by_name(digests: Mapping[Path, str]) -> dict[str, str]:
    """Files as a charge records them: the SHA-256 of each by its name, which is that of one content.

    Raises:
        ParameterError: two files of one name differ.
    """
    found: dict[str, str] = {}
    for path, digest in digests.items():
        if found.setdefault(path.name, digest) != digest:
            raise ParameterError("written", "is the name of two files that differ", "give each its own name", value=path.name)
    return found


def _files(files: Mapping[str, str] | None) -> dict[str, str]:
    """Names of files and their SHA-256, as they are recorded."""
    found = dict(files or {})
    if not all(isinstance(name, str) and isinstance(digest, str) and DIGEST.fullmatch(digest) for name, digest in found.items()):
        raise ParameterError("files", "must be names with their SHA-256 in 64 hexadecimal digits", "use `wrote(path)`")
    return found


def _recorded(text: str) -> dict[str, str]:
    return {"text": text, "sha256": sha256(text)}
