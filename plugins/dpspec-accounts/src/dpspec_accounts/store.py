"""Storage of the rows of an account: SQLite in one file, or PostgreSQL by URL; the same tables and the same transactions.

One database holds one account. The table `dpspec_account` has one row, which a writer locks for the whole of its transaction
(SQLite: BEGIN IMMEDIATE on the file; PostgreSQL: SELECT ... FOR UPDATE on that row), so writers come one after another. The table
`dpspec_event` has the history; triggers refuse to change or remove a row, and to add one that is not the next.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import sqlalchemy as sa
from sqlalchemy import exc

from dpspec.plugin.applications import MissingLibraryError, harmless
from dpspec_accounts.errors import AccountError, AccountUnavailableError
from dpspec_accounts.history import Event

logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())  # the traceback of an interruption is not for users

SCHEMA_VERSION = 1
WAIT = 10
"""Seconds that a command waits for another one that writes."""

MOST_ROWS = (1 << 31) - 1
"""No row has a larger number: an integer of PostgreSQL."""

_METADATA = sa.MetaData()
ACCOUNT = sa.Table(
    "dpspec_account",
    _METADATA,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, nullable=False),
    sqlite_strict=True,
)
EVENT = sa.Table(
    "dpspec_event",
    _METADATA,
    sa.Column("seq", sa.Integer, sa.CheckConstraint("seq >= 1"), primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("charge", sa.Integer, sa.ForeignKey("dpspec_event.seq"), index=True),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("previous", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
    sqlite_strict=True,
)

_SQLITE_TRIGGERS = (
    *(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}"
        " BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END"
        for table in ("dpspec_event", "dpspec_account")
        for verb in ("UPDATE", "DELETE")
    ),
    """CREATE TRIGGER dpspec_event_next BEFORE INSERT ON dpspec_event
    WHEN NEW.seq <> (SELECT COALESCE(MAX(seq), 0) + 1 FROM dpspec_event)
      OR (NEW.seq > 1 AND NEW.previous <> (SELECT hash FROM dpspec_event ORDER BY seq DESC LIMIT 1))
    BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END""",
    """CREATE TRIGGER dpspec_account_one BEFORE INSERT ON dpspec_account
    WHEN (SELECT COUNT(*) FROM dpspec_account) > 0 BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END""",
)  # an insertion that replaces a row would otherwise remove it without firing the trigger of deletions
_POSTGRESQL_TRIGGERS = (
    """CREATE FUNCTION dpspec_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the history is append-only'; END $$""",
    """CREATE FUNCTION dpspec_next() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.seq <> (SELECT COALESCE(MAX(seq), 0) + 1 FROM dpspec_event)
      OR (NEW.seq > 1 AND NEW.previous <> (SELECT hash FROM dpspec_event ORDER BY seq DESC LIMIT 1))
    THEN RAISE EXCEPTION 'the history is append-only'; END IF; RETURN NEW; END $$""",
    *(
        f"CREATE TRIGGER {table}_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION dpspec_refuse()"
        for table in ("dpspec_event", "dpspec_account")
    ),
    "CREATE TRIGGER dpspec_event_next BEFORE INSERT ON dpspec_event FOR EACH ROW EXECUTE FUNCTION dpspec_next()",
)


@attrs.frozen(kw_only=True)
class Rows:
    """The history inside one transaction.

    Args:
        connection: of the transaction.
    """

    connection: sa.Connection

    def all(self) -> tuple[Event, ...]:
        """Every row, in order."""
        return self._every(sa.select(EVENT).order_by(EVENT.c.seq))

    def first(self) -> Event:
        """The row that creates the account.

        Raises:
            AccountError: there is none.
        """
        found = self._one(sa.select(EVENT).where(EVENT.c.seq == 1))
        if found is None:
            raise AccountError("account", "has no rows", "make one with `dpspec account create`")
        return found

    def last(self, *kinds: str) -> Event | None:
        """The last row, or the last one of these kinds; None where there is none."""
        asked = sa.select(EVENT).order_by(EVENT.c.seq.desc()).limit(1)
        return self._one(asked.where(EVENT.c.kind.in_(kinds)) if kinds else asked)

    def last_of_period(self, period: str) -> Event | None:
        """The last row that changed what is spent in a period; None where there is none.

        The rows of a period lie next to each other, as a rule, so that the last one is found among the last rows.
        """
        of_period = sa.and_(EVENT.c.kind.in_(("reserve", "void")), EVENT.c.body.like(f'%"period":"{period}"%'))
        return self._one(sa.select(EVENT).where(of_period).order_by(EVENT.c.seq.desc()).limit(1))

    def of_charge(self, number: int) -> tuple[Event, ...]:
        """The reservation of a charge, and the rows about it, in order."""
        if not 0 < number <= MOST_ROWS:
            return ()
        wanted = sa.or_(sa.and_(EVENT.c.seq == number, EVENT.c.kind == "reserve"), EVENT.c.charge == number)
        return self._every(sa.select(EVENT).where(wanted).order_by(EVENT.c.seq))

    def _one(self, asked: sa.Select[Any]) -> Event | None:
        return next(iter(self._every(asked)), None)

    def _every(self, asked: sa.Select[Any]) -> tuple[Event, ...]:
        return tuple(Event(**row._mapping) for row in self.connection.execute(asked))

    def add(self, event: Event) -> None:
        """Append one row."""
        self.connection.execute(sa.insert(EVENT).values(**attrs.asdict(event)))


class Store:
    """The database of one account.

    Args:
        url: a path of an SQLite file, or ``sqlite:///PATH`` or ``postgresql://USER@HOST/DATABASE``.
        wait: how many seconds to wait for another writer.

    Raises:
        AccountError: the URL is none of these.
        MissingLibraryError: the driver of PostgreSQL is not installed.
    """

    def __init__(self, url: str | Path, *, wait: float = WAIT) -> None:
        self._wait = wait
        parsed = _parsed(str(url))
        self._path = parsed if isinstance(parsed, Path) else None
        self.name = _shown_path(str(parsed)) if isinstance(parsed, Path) else _shown(parsed)
        self._engine = None if isinstance(parsed, Path) else _postgresql(parsed, wait)

    @property
    def is_file(self) -> bool:
        """Whether the account is an SQLite file."""
        return self._path is not None

    def create(self, events: Iterable[Event]) -> None:
        """Make the tables and the first rows, all or nothing.

        Raises:
            AccountError: there is an account already, or the place cannot be written to.
            AccountUnavailableError: the database is locked or does not answer.
        """
        with self._failures(), self._open(new=True) as connection:
            if self.is_file:
                others = set(sa.inspect(connection).get_table_names()) - {ACCOUNT.name, EVENT.name}
                if others:
                    raise AccountError("account", "is a database of something else", "choose another place", value=self.name)
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")  # stays with the file
            self._begin(connection)
            if sa.inspect(connection).has_table(ACCOUNT.name):
                raise AccountError("account", "exists already", "choose another place, or use it", value=self.name)
            _METADATA.create_all(connection)
            for trigger in _SQLITE_TRIGGERS if self.is_file else _POSTGRESQL_TRIGGERS:
                connection.exec_driver_sql(trigger)
            connection.execute(sa.insert(ACCOUNT).values(id=1, version=SCHEMA_VERSION))
            rows = Rows(connection=connection)
            for event in events:
                rows.add(event)
            self._commit(connection)

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """A transaction that reads.

        Raises:
            AccountError: there is no account, or one of another version. AccountUnavailableError: as `create`.
        """
        with self._failures(), self._open() as connection:
            if self.is_file:
                connection.exec_driver_sql("BEGIN")
            self._check_version(connection, lock=False)
            yield Rows(connection=connection)

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """A transaction that no other writer enters before it ends; it is committed when the block ends without an error.

        Raises:
            as `reading`.
        """
        with self._failures(), self._open() as connection:
            self._begin(connection)
            self._check_version(connection, lock=True)
            yield Rows(connection=connection)
            self._commit(connection)

    def _check_version(self, connection: sa.Connection, *, lock: bool) -> None:
        if not sa.inspect(connection).has_table(ACCOUNT.name):
            advice = "make one with `dpspec account create`"
            raise AccountError("account", "is not in this database", advice, value=self.name)
        asked = sa.select(ACCOUNT.c.version)
        found = connection.execute(asked.with_for_update() if lock else asked).scalar_one_or_none()
        if found != SCHEMA_VERSION:
            advice = f"this dpspec reads version {SCHEMA_VERSION}: use the dpspec that wrote it"
            raise AccountError("account", f"has tables of version {found}", advice, value=self.name)

    @contextmanager
    def _open(self, *, new: bool = False) -> Iterator[sa.Connection]:
        """A connection of its own, closed at the end; what was not committed is undone."""
        if self._path is None:
            assert self._engine is not None  # noqa: S101 - one of the two
            with self._engine.connect() as connection:
                yield connection
            return
        engine = _sqlite(self._path, self._wait, new=new)
        try:
            with engine.connect() as connection:
                try:
                    yield connection
                finally:
                    with suppress(exc.SQLAlchemyError):
                        if connection.connection.dbapi_connection.in_transaction:  # type: ignore[union-attr]
                            connection.exec_driver_sql("ROLLBACK")
        finally:
            engine.dispose()

    def _begin(self, connection: sa.Connection) -> None:
        if self.is_file:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{int(self._wait * 1000)}ms'")

    def _commit(self, connection: sa.Connection) -> None:
        if self.is_file:
            connection.exec_driver_sql("COMMIT")
        else:
            connection.commit()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """What a driver says, as one line without its text, which may quote the URL."""
        try:
            yield
        except exc.DBAPIError as problem:
            raise _failure(self.name, problem) from None
        except sqlite3.Error as problem:
            raise _failure(self.name, problem) from None
        except exc.SQLAlchemyError as problem:
            raise AccountUnavailableError("account", f"failed ({type(problem).__name__})", value=self.name) from None


# --- URLs -----------------------------------------------------------------------------------------


_FORMS = "write a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"


def _parsed(url: str) -> Path | sa.URL:
    """A path, or the URL of a PostgreSQL database. The URL itself is in no message: it may hold a password."""
    if not url or "\0" in url:
        raise AccountError("account", "is no path and no URL", _FORMS)
    if "://" not in url:
        return Path(url)
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        if not rest.startswith("/") or "?" in rest or len(rest) == 1:
            raise AccountError("account", "is no URL of an SQLite file", _FORMS)
        return Path(rest[1:])
    if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise AccountError("account", "has a URL of an unknown kind", _FORMS)
    try:
        found = sa.make_url(f"postgresql+psycopg://{rest}")
    except (exc.ArgumentError, ValueError):
        raise AccountError("account", "has a URL that cannot be read", _FORMS) from None
    if not found.database:
        raise AccountError("account", "has a URL without a database", _FORMS)
    return found


def _shown_path(path: str) -> str:
    """A path, without what is before an @ where that may be a user and a password: a URL that was mistyped is taken for a path.

    >>> _shown_path("year.db"), _shown_path("postgresql:/clerk:secret@host/survey")
    ('year.db', '...@host/survey')
    """
    before, at, rest = path.rpartition("@")
    if at and ":" in before:
        path = f"...@{rest}"
    return harmless("..." if "password" in path.lower() else path, keep="")


def _shown(url: sa.URL) -> str:
    """Host and database alone: user names, passwords and options are in no message."""
    port = "" if url.port is None else f":{url.port}"
    return harmless(f"postgresql://{url.host or ''}{port}/{url.database}", keep="")


def _postgresql(url: sa.URL, wait: float) -> sa.Engine:
    given = {"connect_timeout": max(2, int(wait))}
    try:
        return sa.create_engine(
            url, poolclass=sa.NullPool, connect_args=given, hide_parameters=True, isolation_level="READ COMMITTED"
        )  # each statement after the lock sees what the writer before it has committed
    except ModuleNotFoundError:
        raise MissingLibraryError("account", "psycopg", "dpspec-accounts[postgresql]", "use an SQLite file") from None


def _sqlite(path: Path, wait: float, *, new: bool) -> sa.Engine:
    mode = "rwc" if new else "rw"

    def connect() -> sqlite3.Connection:
        if not new and not path.is_file():
            raise AccountError("account", "is no file", "make one with `dpspec account create`", value=_shown_path(str(path)))
        found = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=wait, isolation_level=None)
        try:
            for pragma in ("synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
                found.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            found.close()
            raise
        return found

    return sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool, hide_parameters=True)


def _failure(name: str, problem: Any) -> AccountError | AccountUnavailableError:
    """What a driver reports, by its kind."""
    original = getattr(problem, "orig", problem)
    said = str(original).lower()
    code = str(getattr(original, "sqlstate", "") or "")
    for words, rule, advice in _REFUSED:
        if any(word in said for word in words) or (code and code in words):
            return AccountError("account", rule, advice, value=name)
    for words, rule in _BUSY:
        if any(word in said for word in words) or (code and code in words):
            return AccountUnavailableError("account", rule, "repeat the command", value=name)
    return AccountUnavailableError("account", f"does not answer ({type(original).__name__})", "check the database", value=name)


_REFUSED = (
    (("readonly", "read-only", "25006", "42501", "permission denied"), "is read-only", "ask for the right to write to it"),
    (("unable to open",), "cannot be opened", "check the path and the rights of its folder"),
    (("not a database", "malformed", "file is encrypted"), "is no database of an account", "check the path"),
    (("append-only",), "has a history that cannot be changed", "rows are only added, one after another"),
    (("unique", "23505"), "was changed in the meantime", "repeat the command"),
    (("28p01", "28000", "password", "authentication"), "refuses the user", "check user and password"),
    (("3d000", "does not exist"), "has no such database", "create the database first"),
)
_BUSY = (
    (("locked", "busy", "55p03", "lock timeout"), "is locked by another process"),
    (("full", "53100"), "has no room on its disk"),
)
