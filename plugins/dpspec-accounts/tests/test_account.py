"""Accounts in Python: totals against sums made by hand, what may be charged, and the states of a charge."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_accounts.account import Account, OverCapError
from dpspec_accounts.errors import AccountError, ChargeStateError

import dpspec as dp
from dpspec.plugin import ParameterError
from dpspec.plugin.releases import DpspecError

DELTA = 'type = "mult-delta"\ndelta = "{}"'


def fraction(value):
    return Fraction(str(value))


# --- totals ---------------------------------------------------------------------------------------


def test_charges_add_up_to_the_cap_and_not_beyond(tmp_path, write):
    """ln 3 is below 11/10, and three of them are below 33/10; a fourth is not."""
    account = Account.create(tmp_path / "a.db", write("year", epsilon="33/10"))
    week = write("week", epsilon="ln(3)", keep="3/4")
    for _ in range(3):
        assert account.charge(week).state == "committed"
    before = account.balance().history.head
    with pytest.raises(OverCapError) as fault:
        account.charge(week)
    assert fault.value.exit_code == 1
    assert account.balance().history.head == before
    assert str(account.balance().total.value) == "3*ln(3)"


def test_the_cap_itself_may_be_spent(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="ln(9)"))
    week = write("week", epsilon="ln(3)", keep="3/4")
    account.charge(week)
    account.charge(week)
    assert str(account.balance().remainder.value) == "0"
    with pytest.raises(OverCapError):
        account.charge(write("little", epsilon="1/1000000", keep="1/2"))


def test_pure_charges_are_converted_one_by_one(tmp_path, write):
    """Randomised response at epsilon has rho = epsilon tanh(epsilon/2) at its order, the least that covers all; these add."""
    account = Account.create(tmp_path / "a.db", write("year", rho="2"), as_promised=True)
    for epsilon in ("1", "1/2"):
        account.charge(write("week", epsilon=epsilon))
    found, least = fraction(account.balance().total.value), math.tanh(1 / 2) + math.tanh(1 / 4) / 2
    assert Fraction(least) - Fraction(1, 10**12) <= found <= Fraction(1, 2) + Fraction(1, 8)


def test_epsilon_and_delta_are_both_held_to_the_cap(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", standard=DELTA.format("1/100"), epsilon="3"), as_promised=True)
    part = write("week", standard=DELTA.format("1/200"), epsilon="1")
    account.charge(part)
    account.charge(write("pure", epsilon="1/2"))
    account.charge(part)
    found = account.balance()
    assert (fraction(found.total.value), found.total.standard.delta) == (Fraction(5, 2), Fraction(1, 100))
    assert (fraction(found.remainder.value), found.remainder.standard.delta) == (Fraction(1, 2), 0)
    with pytest.raises(OverCapError):
        account.charge(write("little", standard=DELTA.format("1/1000000"), epsilon="1/100"))
    account.charge(write("rest", epsilon="1/2"))


def test_squares_of_gaussian_budgets_add(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", mu="5"), as_promised=True)
    for mu in ("3", "4"):
        account.charge(write("week", mu=mu))
    assert str(account.balance().total.value) == "5"
    assert str(account.balance().remainder.value) == "0"


@pytest.mark.parametrize("order", list(itertools.permutations(["1", "1/2", "2"])))
def test_the_order_of_charges_does_not_matter(tmp_path, write, order):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="7/2"), as_promised=True)
    for epsilon in order:
        account.charge(write("week", epsilon=epsilon))
    assert fraction(account.balance().total.value) == Fraction(7, 2)


def test_a_longer_vector_is_no_part_of_the_account(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    with pytest.raises(DpspecError) as fault:
        account.charge(write("week", epsilon="1", length=7))
    assert (fault.value.code, fault.value.exit_code) == ("no-composition", 2)


# --- what may be charged --------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "keep", "code"), [("1", None, 5), ("1", "3/4", 1)])
def test_what_is_not_verified_is_not_charged(tmp_path, write, epsilon, keep, code):
    """ln 3 is above 1, so the second promise is refuted; the first names no mechanism."""
    spec = write("week", epsilon=epsilon, keep=keep)
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"))
    with pytest.raises(AccountError) as fault:
        account.charge(spec)
    assert fault.value.exit_code == code
    with pytest.raises(AccountError):
        account.reserve(spec)
    assert len(account.balance().history.events) == 1
    promised = Account.create(tmp_path / "b.db", write("year", epsilon="3"), as_promised=True)
    assert promised.charge(spec).content["as_promised"] is True


def test_the_stated_number_counts_and_not_a_smaller_proved_one(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"))
    account.charge(write("week", epsilon="2", keep="3/4"))
    assert fraction(account.balance().total.value) == 2


def test_a_document_that_was_changed_in_python_is_charged_as_changed(tmp_path, write):
    """The text that it was read from still says 1/10."""
    import attrs

    read = dp.read(write("week", epsilon="1/10"))
    changed = attrs.evolve(read, spec=read.spec.replace(budget=dp.read(write("year", epsilon="2")).spec.budget))
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    account.charge(changed)
    assert fraction(account.balance().total.value) == 2


@pytest.mark.parametrize("standard", ['type = "total-variation"', 'type = "hockey-stick"\nepsilon = "1"'])
def test_a_standard_without_a_filter_is_refused(tmp_path, write, standard):
    parameter = "distance" if "total" in standard else "delta"
    with pytest.raises(AccountError, match="adaptive"):
        Account.create(tmp_path / "a.db", write("year", standard=standard, **{parameter: "1/2"}))
    assert not (tmp_path / "a.db").exists()


def test_an_infinite_cap_is_none(tmp_path, write):
    with pytest.raises(AccountError, match="no finite number"):
        Account.create(tmp_path / "a.db", write("year", epsilon="inf"))


def test_an_infinite_charge_is_over_any_cap(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    with pytest.raises(OverCapError):
        account.charge(write("all", epsilon="inf"))


def test_a_weaker_standard_is_not_charged_to_a_pure_account(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    for spec in (write("week", standard=DELTA.format("1/100"), epsilon="1"), write("noise", rho="1/10")):
        with pytest.raises(DpspecError) as fault:
            account.charge(spec)
        assert fault.value.exit_code == 2
    assert account.balance().history.charges == ()


def people(*invariants, distance="add-remove", epsilon="1"):
    return dp.spec(
        space=dp.records(region=["north", "south"], sex=["f", "m"]), distance=distance, standard="pure", epsilon=epsilon,
        invariants=invariants,
    )  # fmt: skip


def test_a_new_invariant_is_refused_and_a_stated_one_is_not(tmp_path):
    totals = dp.marginal(attributes="region")
    plain = Account.create(tmp_path / "a.db", people(epsilon="3"), as_promised=True)
    with pytest.raises(AccountError, match="publishes exactly"):
        plain.charge(people(totals))
    stated = Account.create(tmp_path / "b.db", people(totals, epsilon="3"), as_promised=True)
    stated.charge(people())
    stated.charge(people(totals))
    assert fraction(stated.balance().total.value) == 2


def test_one_replacement_is_two_changes_and_never_less(tmp_path):
    """A release per added or removed record costs twice its number where a record is replaced; the converse has no rule."""
    account = Account.create(tmp_path / "a.db", people(distance="hamming", epsilon="3"), as_promised=True)
    account.charge(people(distance="symmetric-difference"))
    assert fraction(account.balance().total.value) == 2
    other = Account.create(tmp_path / "b.db", people(distance="symmetric-difference", epsilon="3"), as_promised=True)
    with pytest.raises(DpspecError):
        other.charge(people(distance="hamming"))


# --- states ---------------------------------------------------------------------------------------

STEPS = {("reserved", "draw"): "drawn", ("drawn", "commit"): "committed", ("reserved", "void"): "void"}


@pytest.mark.parametrize("kinds", list(itertools.product(("draw", "commit", "void"), repeat=3)), ids="-".join)
def test_no_other_step_is_possible(tmp_path, write, kinds):
    """All words of three steps, against the table of steps."""
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    number = account.reserve(write("week", epsilon="1")).number
    state = "reserved"
    for kind in kinds:
        step = {"draw": account.draw, "commit": account.commit, "void": lambda n: account.void(n, "not needed")}[kind]
        if (state, kind) in STEPS:
            state = STEPS[state, kind]
            assert step(number).state == state
        else:
            with pytest.raises(ChargeStateError):
                step(number)
        total = fraction(account.balance().total.value)
        assert total == (0 if state == "void" else 1)


def test_a_reservation_counts_until_it_is_void(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="1"), as_promised=True)
    week = write("week", epsilon="1")
    held = account.reserve(week)
    with pytest.raises(OverCapError):
        account.reserve(week)
    held.void("stopped before the table was read")
    account.reserve(week)


def test_a_block_that_ends_with_an_error_leaves_the_charge_counted(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    held = account.reserve(write("week", epsilon="1"))
    with pytest.raises(ZeroDivisionError), held:
        raise ZeroDivisionError
    assert account.balance().history.charge(held.number).state == "drawn"
    with pytest.raises(ChargeStateError):
        held.void("it failed")


def test_a_block_commits_what_was_written(tmp_path, write):
    import hashlib

    account = dp.account(tmp_path / "a.db")
    Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    with account.reserve(write("week", epsilon="1")) as held:
        (tmp_path / "table.csv").write_bytes(b"a,b\n")
        held.wrote(tmp_path / "table.csv")
    found = account.balance().history.charge(held.number)
    assert (found.state, found.files) == ("committed", {"table.csv": hashlib.sha256(b"a,b\n").hexdigest()})


def test_a_reservation_is_entered_once(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    held = account.reserve(write("week", epsilon="1"))
    with held:
        pass
    with pytest.raises(ChargeStateError), held:
        pass


def test_an_unknown_number_is_no_charge(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    for number in (1, 2, 99):
        with pytest.raises((AccountError, ParameterError)):
            account.draw(number)


@pytest.mark.parametrize("files", [{"a.csv": "x"}, {"a.csv": None}, {1: "0" * 64}, {"a.csv": "0" * 65}, {"a.csv": "G" * 64}])
def test_files_are_recorded_by_their_hash_alone(tmp_path, write, files):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    with pytest.raises(ParameterError):
        account.charge(write("week", epsilon="1"), files)
    assert len(account.balance().history.events) == 1
    for reason in ("", "  ", None, 5):
        with pytest.raises(ParameterError):
            account.void(account.reserve(write("week", epsilon="1/10")).number, reason)


SOURCE = """\
[[source]]
id = "conf"
title = "A paper"
url = "https://example.org"
read = "2026-01-01"
"""
BESIDE = {
    "a step outside of the guarantee": """\
[[unaccounted]]
step = "small areas left out by their true number"
effect = "an area that is missing is small"
touches = ["multiverse"]
source = "conf"
""",
    "an assumed block": """\
[provenance]
input_divergence = { how = "assumed", because = "no source says what one change is" }
""",
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_a_verified_number_does_not_cover_is_refused(tmp_path, write, name):
    week = write("week", epsilon="ln(3)", keep="3/4")
    assert Account.create(tmp_path / "a.db", write("year", epsilon="3")).quote(week).caveats == ()
    week.write_text(week.read_text(encoding="utf-8") + SOURCE + BESIDE[name], encoding="utf-8")
    with pytest.raises(AccountError) as fault:
        Account(tmp_path / "a.db").charge(week)
    assert fault.value.exit_code == 3
    promised = Account.create(tmp_path / "b.db", write("year", epsilon="3"), as_promised=True)
    assert len(promised.charge(week).content["caveats"]) == 1


def test_a_file_with_further_promises_is_no_single_charge(tmp_path, write):
    """Its other part has a release and a budget of its own, which the number of the file does not count."""
    week = write("week", epsilon="ln(3)", keep="3/4")
    more = '[[part]]\ntitle = "the other half"\n[part.budget]\nepsilon = "1"\n'
    week.write_text(week.read_text(encoding="utf-8") + more, encoding="utf-8")
    for promised in (False, True):
        account = Account.create(tmp_path / f"{promised}.db", write("year", epsilon="3"), as_promised=promised)
        with pytest.raises(AccountError, match="further promises"):
            account.charge(week)
        with pytest.raises(AccountError, match="further promises"):
            Account.create(tmp_path / "c.db", week)


def test_a_decorated_function_is_charged_for_each_call_before_it_runs(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="1"), as_promised=True)
    calls = []

    @account.charged(write("week", epsilon="1/2"))
    def publish(week, *, fail=False):
        """Publish a week."""
        calls.append(week)
        if fail:
            raise OSError
        return week

    assert publish.__doc__ == "Publish a week."
    with pytest.raises(OSError):  # noqa: PT011 - of the function itself
        publish(1, fail=True)
    assert publish(2) == 2
    with pytest.raises(OverCapError):
        publish(3)
    assert calls == [1, 2]
    assert [charge.state for charge in account.balance().history.charges] == ["drawn", "committed"]


def test_what_runs_after_its_call_is_not_decorated(tmp_path, write):
    account = Account.create(tmp_path / "a.db", write("year", epsilon="1"), as_promised=True)

    async def later():
        pass

    def piecewise():
        yield 1

    for function in (later, piecewise):
        with pytest.raises(DpspecError, match="runs after its call has ended"):
            account.charged(write("week", epsilon="1/2"))(function)
