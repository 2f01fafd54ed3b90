"""A call that is cut at its time limit is evidence of nothing: no pair, no event, no bet and no finding rests on it.

All calls are timed by a clock that counts units of work, so that nothing depends on the machine.
"""

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_code.bits import refute_bits
from dpspec_code.sampled.calls import Calls
from dpspec_code.sampled.engine import cover, refute
from dpspec_code.sampled.search import against
from dpspec_code.sampled.witness import Covered, Fault, event_counts, interval_of

from dpspec.base.exact import number
from dpspec.verifier.expression import Expression, form
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import BIT, CountingClock, claim, geometric_count, laplace_count, response

DRAWS = 20_000
LIMIT = 100


def timed(function, cost):
    """A function whose calls report the work that `cost` says of the dataset, the output and the number of the call."""
    clock, made = CountingClock(), itertools.count(1)

    def call(x, rng):
        number, given = next(made), list(x)
        output = function(x, rng)
        clock.work(cost(given, output, number))
        return output

    return call, clock


SLOW = {
    "by size": lambda x, output, number: math.inf if len(x) > 1 and number % 500 == 0 else 1,
    "by value": lambda x, output, number: math.inf if sum(x) == 1 and number % 300 == 0 else 1,
    "by output": lambda x, output, number: math.inf if output > 2 and number % 40 == 0 else 1,
    "by dataset and output": lambda x, output, number: math.inf if len(x) == 1 and output > 1 and number % 20 == 0 else 1,
}


@pytest.mark.spread(2)
@pytest.mark.parametrize("name", SLOW)
def test_a_right_mechanism_is_never_refuted_by_its_running_time(name):
    function, clock = timed(geometric_count(math.exp(-1)), SLOW[name])
    verdict = refute(function, claim(epsilon=1), draws=DRAWS, limit=LIMIT, clock=clock)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.witness is None
    assert "does-not-end" in [finding.code for finding in verdict.findings]
    assert "hidden-state" not in [finding.code for finding in verdict.findings]


def test_an_output_that_is_cut_on_one_dataset_alone_is_not_taken_to_be_missing_there(monkeypatch):
    """An output of probability 1/20, whatever the data. On [1] every call that would return it is cut."""
    monkeypatch.setattr("dpspec_code.sampled.calls.MOST_ENDLESS", 10_000)
    function, clock = timed(
        lambda x, rng: int(rng.random() < 0.05), lambda x, output, number: math.inf if (x, output) == ([1], 1) else 1
    )
    verdict = refute(function, claim(BIT, epsilon=1), draws=10_000, limit=LIMIT, clock=clock)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "not refuted" in verdict.reason


def test_a_mechanism_that_never_ends_on_some_data_is_not_refuted_by_that():
    function, clock = timed(response(0), lambda x, output, number: math.inf if x == [1] else 1)
    verdict = refute(function, claim(BIT, epsilon=1), draws=DRAWS, limit=LIMIT, clock=clock)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "did not end" in verdict.reason


def test_a_wrong_mechanism_is_refuted_beside_calls_that_are_cut():
    function, clock = timed(geometric_count(math.exp(-2)), lambda x, output, number: math.inf if number % 200 == 0 else 1)
    verdict = refute(function, claim(epsilon=1), draws=DRAWS, limit=LIMIT, clock=clock)
    assert verdict.outcome is Outcome.REFUTED
    assert "does-not-end" in [finding.code for finding in verdict.findings]


def test_a_cut_call_is_counted_where_it_pays_least():
    assert against((3, 9, 10), (1, 8, 10)) == (3, 7, 3, 7)
    assert against((0, 0, 4), (0, 0, 6)) == (0, 4, 6, 0)


def test_an_interval_holds_whatever_the_cut_calls_would_have_returned():
    low, high = interval_of(10, 30, 100)
    for hits in range(10, 41):
        one, other = interval_of(hits, 0, 100)
        assert low <= one <= other <= high
    assert interval_of(0, 0, 0) == (0.0, 1.0)


def test_an_event_is_counted_again_without_the_calls_that_are_cut():
    """Of the calls on [1] 40 are cut, all of which would have been in the event."""
    function, clock = timed(
        response(0), lambda x, output, number: math.inf if (x, output) == ([1], 1) and number % 50 == 0 else 0.001
    )
    sampling = {"seed": 0, "error": "1e-6", "draws": 2_000}
    left, right = event_counts(function, claim(BIT, epsilon=1), ((0,), (1,)), Expression.listed([form(1)]), sampling, clock=clock)
    assert left.lower <= 0.5 <= left.upper
    assert right.lower <= 0.5 <= right.upper
    assert right.upper - right.lower > left.upper - left.lower


def test_nothing_is_covered_beside_calls_that_are_cut():
    function, clock = timed(response(1.0), lambda x, output, number: math.inf if number % 1_000 == 0 else 1e-9)
    fault = Fault(loss=number(3), mass=Fraction(1, 5))
    found = cover(function, claim(BIT, epsilon=1), fault, seconds=1e6, limit=LIMIT, clock=clock)
    assert isinstance(found, Covered)
    assert "did not end" in found.why


def test_last_bits_are_judged_without_the_calls_that_are_cut():
    function, clock = timed(laplace_count(1.0), lambda x, output, number: math.inf if number % 1_000 == 0 else 1)
    assert refute_bits(function, claim(epsilon=1), draws=DRAWS, limit=LIMIT, clock=clock).outcome is Outcome.UNDECIDED


def test_which_draws_a_cut_call_made_is_no_hint():
    clock = CountingClock()

    def drawing(x, rng):
        for _ in range(len(x)):
            rng.random()
            clock.work(60)
        return 0

    calls = Calls(function=drawing, space=claim().space, claim="hint", seed=0, draws=100, limit=LIMIT, clock=clock)
    with calls.guarded():
        assert calls.signature((0,)) == ("random(){}",)
        assert calls.signature((0, 1)) is None
