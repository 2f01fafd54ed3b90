"""What plain code can do to its judge: crash, print, end the process, keep its noise, differ from what was read off it."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import signal
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dpspec_code.child_process import CAN_FORK, Act, Spare, note, run_in_child
from dpspec_code.crosscheck import ERROR, compared_by_runs, second_opinion
from dpspec_code.trial import FunctionActsError, FunctionRaisesError

from dpspec.laws.enclosures import EnclosedLaw
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome
from tests.attacks.tricks import ENDINGS
from tests.sampled.toys import BIT, CountingClock, claim
from tests.verify.toys import bits_spec

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="code runs apart only where processes can be forked")


def flip(x: Any, rng: Any) -> int:
    return int(x[0] ^ int(rng.random() < 0.25))


def codes(verdict: Any) -> list[str]:
    return [finding.code for finding in verdict.findings]


# --- ends of a process ------------------------------------------------------------------------------------------------


@pytest.mark.spread(4)
@pytest.mark.parametrize("trick", ENDINGS, ids=lambda trick: trick.name)
def test_a_function_that_ends_the_process_is_told_as_such(trick: Any) -> None:
    before = os.getpid()
    try:
        outcome = verify_claim(trick.make(), bits_spec(length=1), draws=600).outcome
    except FunctionActsError:  # it would have become two processes, or another one
        outcome = Outcome.UNDECIDED
    assert os.getpid() == before
    assert outcome is not Outcome.VERIFIED


def test_the_signal_and_the_dataset_are_told() -> None:
    def crash(x: Any, rng: Any) -> int:
        if x[0]:
            ctypes.string_at(0)
        return flip(x, rng)

    verdict = verify_claim(crash, bits_spec(length=1), draws=600)
    assert (verdict.outcome, codes(verdict)) == (Outcome.UNDECIDED, ["ends-process"])
    assert "by a segmentation fault (SIGSEGV) in its first calls (a first call on (1,))" in verdict.reason


def test_what_comes_back_from_a_child() -> None:
    told: list[tuple[int, int]] = []

    def work(tell: Any) -> int:
        tell(1, 2)
        print("said")
        os.write(2, b"more")
        return 3

    found = run_in_child(work, lambda done, of: told.append((done, of)))
    assert (found.value, found.printed, told) == (3, "said\nmore", [(1, 2)])
    with pytest.raises(ZeroDivisionError):
        run_in_child(lambda _: 1 // 0)
    ended = run_in_child(lambda _: (note("the last thing"), os._exit(7)))
    assert (ended.value, ended.ended, ended.note) == (None, "with exit code 7", "the last thing")


def test_no_copy_of_the_process_is_made() -> None:
    """Else each copy would go on with our work, and be copied again."""
    with pytest.raises(Act, match=r"os\.fork"):
        run_in_child(lambda _: os.fork())


def test_a_spare_process_is_as_it_was() -> None:
    seen = [1]
    with Spare(lambda extra: (seen.append(extra), list(seen))[1]) as spare:
        seen.append(2)
        assert (spare.ask(3), spare.ask(4)) == ([1, 3], [1, 4])
        assert spare.ask("x" * 10) == [1, "x" * 10]


# --- crashes ----------------------------------------------------------------------------------------------------------


def unfinished(x: Any, rng: Any) -> int:
    return int({"a": 1}[str(x)])


@pytest.mark.parametrize("function", [unfinished, lambda x, rng: x.missing, lambda x, rng: x["a"], lambda x, rng: 1 // 0])
def test_code_that_raises_on_every_dataset_is_bad_input_whatever_its_messages_say(function: Any) -> None:
    for spec in (bits_spec(length=2), claim(BIT)):
        with pytest.raises(FunctionRaisesError) as caught:
            verify_claim(function, spec)
        assert caught.value.exit_code == 2
        assert "a dataset is a list of int such as [0" in str(caught.value)
        assert "test_plain_code.py:" in str(caught.value)


def test_a_crash_on_some_datasets_is_told_with_its_place() -> None:
    def crash(x: Any, rng: Any) -> float:
        return 1 / (1 - x[0]) + int(rng.integers(2))

    verdict = verify_claim(crash, bits_spec(length=1))
    assert verdict.outcome is Outcome.REFUTED
    (finding,) = verdict.findings
    assert finding.code == "raises"
    assert finding.text.startswith("raised on 1 of 2 datasets in the first calls: ZeroDivisionError: division by zero (")
    assert "(test_plain_code.py:" in finding.text
    assert "return 1 / (1 - x[0])" in finding.text
    assert finding.text.endswith("on [1]")


# --- what is printed --------------------------------------------------------------------------------------------------


def test_what_is_printed_stays_away_and_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    def chatty(x: Any, rng: Any) -> int:
        print("the data are", x)
        return flip(x, rng)

    verdict = verify_claim(chatty, bits_spec(length=1), draws=600)
    assert capfd.readouterr() == ("", "")
    assert verdict.outcome is not Outcome.VERIFIED
    assert "prints" in codes(verdict)


def test_a_word_to_standard_error_is_never_verified() -> None:
    def warns(x: Any, rng: Any) -> int:
        os.write(2, b"done")
        return flip(x, rng)

    verdict = verify_claim(warns, bits_spec(length=1), draws=600)
    assert verdict.outcome is not Outcome.VERIFIED
    assert "prints" in codes(verdict)


# --- the second opinion -----------------------------------------------------------------------------------------------

SPACE = bits_spec(length=1).space
LAWS = {(0,): FiniteLaw.of({0: "3/4", 1: "1/4"}), (1,): FiniteLaw.of({0: "1/4", 1: "3/4"})}


def test_a_right_law_fits() -> None:
    opinion = run_in_child(lambda _: second_opinion(flip, SPACE, LAWS)).value
    assert opinion is not None
    assert (opinion.misfit, opinion.reaches, opinion.printed) == ("", (), "")
    assert opinion.scope.startswith("4,000 runs with numpy's generator on each of 2 datasets")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, rng: x[0] ^ int(rng.random() < 0.35), "enumerated, its probability is 0.75"),
        (lambda x, rng: 7 if rng.random() < 0.01 else flip(x, rng), "it gave 7, which its enumerated law does not know"),
        (lambda x, rng: bool(flip(x, rng)), "which its enumerated law does not know"),
        (lambda x, rng: 0, "on (0,) it gave 0 4000 times in 4000"),
        (lambda x, rng: iter([flip(x, rng)]), "on (0,) it gave an output of type"),
        (lambda x, rng: {}[flip(x, rng)], "it gave raises KeyError"),
    ],
)
def test_a_law_that_is_not_that_of_the_code_is_noticed(function: Any, words: str) -> None:
    opinion = run_in_child(lambda _: second_opinion(function, SPACE, LAWS)).value
    assert opinion is not None
    assert words in opinion.misfit


def test_what_a_law_has_cut_off_may_be_seen() -> None:
    def tail(x: Any, rng: Any) -> int:
        return int(rng.random() < 1e-3)

    for rest, fits in ((Fraction(2, 1000), True), (Fraction(0), False), (Fraction(1, 10**9), False)):
        law = EnclosedLaw({0: (Fraction(998, 1000), Fraction(1))}, rest)
        opinion = run_in_child(lambda _, law=law: second_opinion(tail, SPACE, {(0,): law})).value  # type: ignore[misc]
        assert opinion is not None
        assert (not opinion.misfit) == fits


@pytest.mark.parametrize("runs", [0, 1, 100, 5_000])
def test_runs_for_which_there_is_no_time_find_nothing(runs: int) -> None:
    """A law that is wrong a thousand times less often than it is run: without runs, nothing is known of it."""
    for ask in ("the law", "the models"):
        clock = CountingClock()

        def function(x: Any, rng: Any, clock: CountingClock = clock) -> int:
            clock.work(0.01)
            return flip(x, rng)

        if ask == "the law":
            found = second_opinion(function, SPACE, LAWS, seconds=0.02 * runs, clock=clock).misfit
        else:
            found = compared_by_runs(function, flip, list(LAWS), seed=0, seconds=0.01 * runs, clock=clock)
        assert found.startswith("there was no time for more than ") is (runs < 1_000), (ask, found)
        assert not found or runs < 1_000


@pytest.mark.statistical
def test_right_laws_are_doubted_no_more_often_than_said() -> None:
    """400 opinions at error 1/2 in place of 1e-9. With each wrong with probability 1/2 at most, more than 260 doubts have
    probability below 1e-9; the bounds are loose, so there are far fewer. A law wrong by 1/10 is doubted every time."""
    rng = np.random.default_rng(0)
    doubts = 0
    from dpspec_code.crosscheck import exceeds

    for _ in range(400):
        hits = int(rng.binomial(4000, 0.25))
        doubts += exceeds(hits, 4000, 0.25, 0.25, math.log(2 / 0.5))
        assert exceeds(hits, 4000, 0.35, 0.35, math.log(2 / ERROR))
    assert doubts <= 260


@pytest.mark.parametrize(
    ("deed", "word"),
    [
        (lambda x: open("/dev/null").close(), "open '/dev/null'"),
        (lambda x: os.system("true"), "os.system"),  # noqa: S605
        (lambda x: __import__("socket").socket().close(), "socket."),
        (lambda x: __import__("gc").get_objects(), "gc.get_objects"),
    ],
)
def test_what_reaches_outside_is_heard(deed: Any, word: str) -> None:
    def function(x: Any, rng: Any) -> int:
        deed(x)
        return flip(x, rng)

    found = run_in_child(lambda _: second_opinion(function, SPACE, LAWS))
    assert found.value is not None
    assert any(word in heard for heard in (*found.value.reaches, found.act))


def test_an_import_inside_is_nothing_to_speak_of() -> None:
    def function(x: Any, rng: Any) -> int:
        import colorsys  # noqa: F401

        return flip(x, rng)

    opinion = run_in_child(lambda _: second_opinion(function, SPACE, LAWS)).value
    assert opinion is not None
    assert opinion.reaches == ()


def test_the_timer_of_a_call_is_no_act_of_the_call() -> None:
    """It reads how long the process waited for a processor, whenever a second on the wall ends in the middle of a call."""

    def function(x: Any, rng: Any) -> int:
        tick: Any = signal.getsignal(signal.SIGALRM)
        tick(signal.SIGALRM, None)
        return flip(x, rng)

    opinion = run_in_child(lambda _: second_opinion(function, SPACE, LAWS)).value
    assert opinion is not None
    assert opinion.reaches == ()


def test_no_audit_hook_is_added_to_a_process_that_goes_on(in_this_process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No hook can be removed: each would make all later imports, calls of `open` and reads of `__code__` in it slower."""
    added: list[object] = []
    monkeypatch.setattr(sys, "addaudithook", added.append)
    assert second_opinion(flip, SPACE, LAWS).misfit == ""
    assert added == []


# --- calls that are not independent -----------------------------------------------------------------------------------


def drawn_once() -> Any:
    held: list[float] = []

    def function(x: Any, rng: Any) -> float:
        if not held:
            held.append(rng.laplace(0, 2))
        return float(sum(x) + held[0])

    return function


def once_for_each_dataset() -> Any:
    held: dict[Any, float] = {}

    def function(x: Any, rng: Any) -> float:
        return held.setdefault(tuple(x), float(sum(x) + rng.laplace(0, 2)))

    return function


def memoised() -> Any:
    source: list[Any] = []

    @functools.lru_cache
    def noisy(x: tuple[int, ...]) -> float:
        return float(sum(x) + source[-1].laplace(0, 2))

    def function(x: Any, rng: Any) -> float:
        source[:] = [rng]
        return noisy(tuple(x))

    return function


def its_first_generator() -> Any:
    held: list[Any] = []

    def function(x: Any, rng: Any) -> float:
        held.append(rng)
        return float(sum(x) + held[0].laplace(0, 2))

    return function


def late() -> Any:
    calls = [0]

    def function(x: Any, rng: Any) -> float:
        calls[0] += 1
        return float(sum(x) + (rng.laplace(0, 2) if calls[0] < 2000 else 0))

    return function


def rarely_noisy() -> Any:
    held: dict[Any, float] = {}

    def function(x: Any, rng: Any) -> float:
        noise = rng.normal() if rng.random() < 0.02 else 0.0
        return held.setdefault(tuple(x), float((sum(x) if noise else 0) + noise))

    return function


@pytest.mark.spread(3)
@pytest.mark.parametrize("make", [drawn_once, once_for_each_dataset, memoised, its_first_generator, late])
def test_noise_that_is_repeated_refutes_nothing(make: Any) -> None:
    verdict = verify_claim(make(), claim(BIT, epsilon=1), draws=10_000)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "hidden-state" in codes(verdict)


@pytest.mark.parametrize("function", [lambda x, rng: x, lambda x, rng: sum(x), lambda x, rng: (sum(x), rng.laplace(0, 1))])
def test_a_leak_that_keeps_nothing_is_refuted(function: Any) -> None:
    assert verify_claim(function, claim(BIT, epsilon=1), draws=30_000).outcome is Outcome.REFUTED


# --- assumptions ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_verdict_lists_what_it_assumes() -> None:
    enumerated = verify_claim(flip, bits_spec(length=1))
    sampled = verify_claim(lambda x, rng: sum(x) + rng.laplace(0, 1), claim(BIT, epsilon=1), draws=600)
    assert enumerated.outcome is Outcome.VERIFIED
    assert any("bits of numpy's generator are uniform" in text for text in enumerated.assumptions)
    for verdict in (enumerated, sampled):
        assert any("calls are independent" in text for text in verdict.assumptions)
        assert any("neither time nor memory" in text for text in verdict.assumptions)
