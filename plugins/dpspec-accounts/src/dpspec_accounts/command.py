"""The commands `dpspec account`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress

_URL = click.argument("url", metavar="ACCOUNT")
_PERIOD = click.option(
    "--period",
    metavar="PERIOD",
    help="Period of the data, in an account with periods, such as 2027-03.  [default: the current one]",
)
_BY = click.option("--by", metavar="NAME", help="Name of the person responsible, for the history.")
_SPEC = click.argument("spec", metavar="SPEC", type=click.Path())


class VerifyCommand(click.Command):
    """A command that counts rows."""

    counts = ("verifying", "rows")


class FitCommand(click.Command):
    """A command that counts the widths of noise that it tries."""

    counts = ("fitting", "widths")


@click.group("account", short_help="Manage the budget account of a data collection.")
def command() -> None:
    """Keep the budget account of a data collection: a cap that releases together never exceed.

    ACCOUNT is the path of an SQLite file, or postgresql://USER@HOST/DATABASE. Give a password by ~/.pgpass or PGPASSWORD, not in
    the URL, which other users of the machine can see.

    \b
    Examples:
      dpspec account create survey.db year.dpspec.toml
      dpspec account charge survey.db week-1.dpspec.toml
      dpspec account show survey.db
    """


@command.command("create", short_help="Create an account.")
@_URL
@_SPEC
@click.option("--as-promised", is_flag=True, help="Accept guarantees that are not verified; every report states this.")
@click.option("--period", type=click.Choice(["day", "week", "month", "year"]), help="Apply the cap to the data of each period.")
@click.option("--responsible", metavar="ROLE=NAME", multiple=True, help="Roles and names of the people responsible.")
def create(url: str, spec: str, as_promised: bool, period: str | None, responsible: tuple[str, ...]) -> CommandAnswer:
    """Create an account with the blocks of SPEC. Its budget is the cap.

    The standard must be one whose sums hold for releases that depend on earlier ones: pure, approximate, zero-concentrated, Renyi
    or Gaussian differential privacy. List everything that is, or will be, published exactly as invariants.

    With --period, the cap applies to each day, week, month or year separately. A charge names the period of its data. A release
    from the data of two periods is charged to each. Every report shows the names in --responsible. The database controls who may
    write to the account.

    \b
    Examples:
      dpspec account create survey.db year.dpspec.toml
      dpspec account create clicks.db month.dpspec.toml --period month --responsible "release=data steward"
    """
    from dpspec_accounts import functions

    roles = {}
    for one in responsible:
        role, equals, name = one.partition("=")
        if not (equals and role.strip() and name.strip()) or role in roles:
            raise click.BadParameter(f"{one!r} is no ROLE=NAME of its own", param_hint="--responsible")
        roles[role] = name
    return functions.create(url, spec, as_promised=as_promised, period=period, responsible=roles)


@command.command("charge", short_help="Charge a release that was made.")
@_URL
@_SPEC
@click.option("--written", metavar="FILE", multiple=True, type=click.Path(), help="Record the hash of a file that was published.")
@_PERIOD
@_BY
def charge(url: str, spec: str, written: tuple[str, ...], period: str | None, by: str | None) -> CommandAnswer:
    """Verify SPEC, convert it to the blocks of the account, and charge it if the total stays at or below the cap.

    If the total would exceed the cap, nothing is charged, the remaining budget is printed, and the exit code is 1. A claim that
    is refuted, undecided or unchecked is not charged (exit 1, 3, 5), unless the account accepts guarantees that are not verified.

    \b
    Example:
      dpspec account charge survey.db week-1.dpspec.toml --written week-1/released.csv
    """
    from dpspec_accounts import functions

    return functions.charge(url, spec, written, period=period, by=by)


@command.command("show", short_help="Show the cap, the total and the charges.")
@_URL
@click.option("--out", metavar="FILE", type=click.Path(), help="Write a figure of the spending to FILE (SVG, PNG or PDF).")
@click.option(
    "--planned", metavar="CALENDAR.toml", type=click.Path(), help="With --out, also plot the releases of this calendar."
)
@_PERIOD
def show(url: str, out: str | None, planned: str | None, period: str | None) -> CommandAnswer:
    """Print the cap, the total, the remaining budget, and every charge with its state.

    \b
    Examples:
      dpspec account show survey.db
      dpspec account show survey.db --out spending.svg --planned calendar.toml
    """
    from dpspec_accounts import functions

    return functions.show(url, period=period, out=out, planned=planned)


@command.command("history", short_help="Show the history, row by row.")
@_URL
def history(url: str) -> CommandAnswer:
    """Print every row of the history. Rows are only added, never changed.

    \b
    Example:
      dpspec account history survey.db
    """
    from dpspec_accounts import functions

    return functions.history(url)


@command.command("check", short_help="Check whether a charge fits under the cap.")
@_URL
@_SPEC
@_PERIOD
def check(url: str, spec: str, period: str | None) -> CommandAnswer:
    """Print what SPEC would spend. Nothing is charged. Exits with 1 if it does not fit under the cap. Of a claim that is not
    verified, the first line says that a charge is refused, unless the account accepts it.

    \b
    Example:
      dpspec account check survey.db week-53.dpspec.toml
    """
    from dpspec_accounts import functions

    return functions.check(url, spec, period=period)


@command.command("fit", cls=FitCommand, short_help="Find the noise with which a release fits.")
@_URL
@_SPEC
@click.option("--out", metavar="FILE", required=True, type=click.Path(), help="Output file (specification).")
@_PERIOD
def fit(url: str, spec: str, out: str, period: str | None, progress: Progress | None = None) -> CommandAnswer:
    """Write SPEC with the largest budget that fits under the cap, and with enough noise for it. Nothing is charged.

    The noise of the mechanism is increased until `dpspec verify` verifies the smaller budget. A release that already fits is
    written unchanged. `dpspec release --account ACCOUNT --fit` does the same and releases at once.

    \b
    Example:
      dpspec account fit survey.db week-53.dpspec.toml --out week-53-fitted.dpspec.toml
    """
    from dpspec_accounts import functions

    return functions.fit(url, spec, out, period=period, progress=progress)


@command.command("void", short_help="Release a reservation from which nothing was drawn.")
@_URL
@click.argument("number", metavar="CHARGE", type=click.IntRange(min=1))
@click.option("--because", metavar="TEXT", required=True, help="Reason, for the history.")
@_BY
def void(url: str, number: int, because: str, by: str | None) -> CommandAnswer:
    """Release the reservation with the number CHARGE. Refused (exit 1) if something may have been drawn.

    \b
    Example:
      dpspec account void survey.db 5 --because "the process was stopped before it read the table"
    """
    from dpspec_accounts import functions

    return functions.void(url, number, because, by=by)


@command.command("export", short_help="Export the whole history to a file.")
@_URL
@click.option("--out", metavar="FILE", required=True, type=click.Path(), help="Output file (JSON).")
@click.option("--sign", metavar="KEY.pem", type=click.Path(), help="Ed25519 private key to sign the export.")
def export(url: str, out: str, sign: str | None) -> CommandAnswer:
    """Write every row into a JSON file that anyone can verify without the database.

    Create a key with `openssl genpkey -algorithm ed25519 -out key.pem`, and its public key for others with `openssl pkey -in
    key.pem -pubout -out public.pem`.

    \b
    Example:
      dpspec account export survey.db --out survey-account.json
    """
    from dpspec_accounts import functions

    return functions.export(url, out, sign=sign)


@command.command("verify", cls=VerifyCommand, short_help="Verify an export of an account.")
@click.argument("path", metavar="EXPORT", type=click.Path())
@click.option("--head", metavar="HASH", help="Hash of a row that must be present, such as the last one of an earlier export.")
@click.option("--signed-by", metavar="PUBLIC.pem", type=click.Path(), help="Ed25519 public key whose signature is required.")
def verify(path: str, head: str | None, signed_by: str | None, progress: Progress | None = None) -> CommandAnswer:
    """Recompute the hash chain, the states, and every verdict, amount and total of an export, from the export alone.

    Wrong rows are named (exit 1). Without --head and --signed-by, rows removed at the end, or a consistent forged history, cannot
    be detected.

    \b
    Example:
      dpspec account verify survey-account.json --head 3f7a...
    """
    from dpspec_accounts import functions

    return functions.verify(path, head=head, signed_by=signed_by, progress=progress)


@command.command("import", cls=VerifyCommand, short_help="Create an account from an export.")
@_URL
@click.argument("path", metavar="EXPORT", type=click.Path())
@click.option("--head", metavar="HASH", help="Hash of a row that must be present, such as the last one of an earlier export.")
@click.option("--signed-by", metavar="PUBLIC.pem", type=click.Path(), help="Ed25519 public key whose signature is required.")
def import_(url: str, path: str, head: str | None, signed_by: str | None, progress: Progress | None = None) -> CommandAnswer:
    """Create an account with the history of EXPORT, for example to move it from SQLite to PostgreSQL, or after the loss of a
    disk.

    The export is recomputed first, as in `dpspec account verify`. Then use only one of the two accounts: charges to one are
    unknown to the other. If a later history may exist, an import would spend its budget again.

    \b
    Example:
      dpspec account import postgresql://clerk@db/survey survey-account.json --head 3f7a...
    """
    from dpspec_accounts import functions

    return functions.import_(url, path, head=head, signed_by=signed_by, progress=progress)


@command.command("plan", short_help="Plan a year: split a cap for the least error.")
@click.argument("cap", metavar="CAP")
@click.argument("calendar", metavar="CALENDAR.toml", type=click.Path())
@click.option(
    "--objective",
    type=click.Choice(["weighted", "largest"]),
    help="Error to minimise: the sum of weighted variances, or the largest one.",
)
@_PERIOD
def plan(cap: str, calendar: str, objective: str | None, period: str | None) -> CommandAnswer:
    """Split the budget of CAP, a specification file (.toml), or what is left of an account, among the releases of a calendar.

    Each release gets the share of the budget with which the errors of all are least: those of Laplace noise, or of Gaussian noise
    where rho or mu adds up. The distance from the least error with this noise is proved. Nothing is charged. With a `budget` for
    each release, the error of these budgets is also printed.

    \b
    Examples:
      dpspec account plan year.dpspec.toml calendar.toml
      dpspec account plan survey.db calendar.toml --objective largest
    \b
    calendar.toml:
      [[release]]
      name = "monthly counts"
      times = 12
      sensitivity = 1        # how far one change moves the answers
      weight = 2             # how much the error counts
    """
    from dpspec_accounts.planning import plan as planned

    return planned(cap, calendar, objective=objective, period=period)
