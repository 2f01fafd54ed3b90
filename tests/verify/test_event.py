"""The event of a refutation proves it, as data, and a replay asks about that very event."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from dpspec_code.sampled.engine import refute
from dpspec_divergences import DNor, FDivergence, HockeyStick, Mult, MultDelta, Renyi, TotalVariation
from flint import arb

from dpspec.base.errors import NoFormulaError, SpecSyntaxError
from dpspec.base.exact import INFINITY, Bracket, ln, number
from dpspec.extension import installed
from dpspec.laws import FiniteLaw
from dpspec.laws.combine import mixture, product
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.enclosures import EnclosedLaw
from dpspec.laws.exponential import exact_exponential, finite_law
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.event import Asked, _outcomes, probability, telling_event
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.expression import Expression, form
from dpspec.verifier.replay import from_data, replay, to_data, witness_file
from tests.verify.toys import bits_spec, block


def cut_off(center, ratio="1/2"):
    """A two-sided geometric law as enumeration finds it: the outcomes that were reached, and what is left of the loops."""
    law = TwoSidedGeometricLaw.with_ratio(center, ratio)
    bounds = {k: (law.probability(k), law.probability(k)) for k in range(-22, 23)}
    return EnclosedLaw(bounds, 1 - sum(low for low, _ in bounds.values()))


def weighed(power):
    e = exact_exponential(power)
    return finite_law({"yes": e / (1 + e), "no": 1 / (1 + e)})


TEXT = mixture(["1/2", "1/2"], [LaplaceLaw(0, 1), FiniteLaw.point("none")])
PAIRS = {
    "cut off": (cut_off(0), cut_off(1)),
    "geometric": (TwoSidedGeometricLaw(0, number(1)), TwoSidedGeometricLaw(1, number(1))),
    "discrete gaussian": (DiscreteGaussianLaw(0, 1), DiscreteGaussianLaw(1, 1)),
    "laplace": (LaplaceLaw(0, 1), LaplaceLaw(1, 1)),
    "gaussian": (GaussianLaw(0, 1), GaussianLaw(1, 1)),
    "exponential": (weighed("1"), weighed("-1")),
    "tuples": (FiniteLaw.of({("a", 0.5): "1/3", ("b", None): "2/3"}), FiniteLaw.of({("a", 0.5): "2/3", ("b", None): "1/3"})),
    "product": (product([LaplaceLaw(0, 1), LaplaceLaw(3, 1)]), product([LaplaceLaw(0, 1), LaplaceLaw(4, 1)])),
    "mixture": (TEXT, mixture(["1/2", "1/2"], [LaplaceLaw(1, 1), FiniteLaw.point("none")])),
    "atoms of one": (FiniteLaw.of({0: "9/10", 1: "1/10"}), FiniteLaw.point(0)),
}
CLAIMS = {
    "pure": (Mult(), "1/20", lambda p, q: p / q > math.exp(0.05) or q / p > math.exp(0.05) if min(p, q) else max(p, q) > 0),
    "approximate": (MultDelta(delta="1/100"), "1/20", lambda p, q: max(p - math.exp(0.05) * q, q - math.exp(0.05) * p) > 0.01),
    "stick": (HockeyStick(epsilon="1/20"), "1/100", lambda p, q: max(p - math.exp(0.05) * q, q - math.exp(0.05) * p) > 0.01),
    "variation": (TotalVariation(), "1/100", lambda p, q: abs(p - q) > 0.01),
}


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("name", PAIRS)
def test_the_event_proves_the_refutation(name, claim):
    """By the definition of each divergence, in doubles, at the ends of both brackets that are worst for the proof."""
    (left, right), (divergence, limit, beyond) = PAIRS[name], CLAIMS[claim]
    event = telling_event(left, right, Asked(divergence, number(limit)))
    assert event.proves
    p, q = event.left, event.right
    if p.lower > q.lower:
        assert beyond(float(p.lower), float(q.upper))
    else:
        assert beyond(float(p.upper), float(q.lower))
    assert max(p.lower, q.lower) > number("1/1000")  # a likely one
    assert probability(left, event.expression) == p
    assert probability(right, event.expression) == q
    read = Expression.read(json.loads(json.dumps(event.expression.json)))
    assert read == event.expression
    assert from_data(json.loads(json.dumps(to_data(event)))) == event


def test_the_rest_of_a_law_that_was_cut_off_counts():
    """-22 is the outcome next to the cut, and proves nothing: what was cut off may have gone there."""
    event = telling_event(cut_off(0), cut_off(1), Asked(Mult(), number("1/2")))
    assert event.text == "the outcome 1"
    assert event.proves
    assert event.left.lower <= number(Fraction(1, 6)) <= event.left.upper
    far = probability(cut_off(1), Expression.listed([form(-22)]))
    assert far.upper > 2 * far.lower


def test_an_event_that_proves_nothing_says_so():
    """A mean over outcomes may be too large where no event is: laws with many small differences of all sizes."""
    left, right = FiniteLaw.of({0: "1/2", 1: "1/4", 2: "1/4"}), FiniteLaw.of({0: "1/4", 1: "1/2", 2: "1/4"})
    kl = FDivergence(generator="kl", direction="forward")
    exact = kl.between(left, right).lower
    event = telling_event(left, right, Asked(kl, exact - number("1/1000")))
    assert event is not None
    assert not event.proves
    assert "illustration" in event.role


@pytest.mark.parametrize("divergence", [DNor(), Renyi(order=3), TotalVariation(), Mult()])
def test_no_event_proves_what_is_true(divergence):
    """A limit that holds, with equality where it is exact: no event may claim to be beyond it."""
    for left, right in (PAIRS[name] for name in ("cut off", "laplace", "tuples", "exponential")):
        try:
            limit = divergence.between(left, right).upper
        except NoFormulaError:
            continue
        event = telling_event(left, right, Asked(divergence, limit))
        assert event is None or not event.proves


def test_one_sided_divergences_count_one_way_only():
    left, right = FiniteLaw.of({0: "9/10", 1: "1/10"}), FiniteLaw.of({0: "1/2", 1: "1/2"})
    forward = Asked(FDivergence(generator="kl", direction="forward"), number("1/100"))
    assert not forward.both_ways
    assert telling_event(left, right, forward).proves
    # P lives where Q has nothing: that is an infinite divergence one way; the other way it is a finite one.
    sure, half = FiniteLaw.point(0), FiniteLaw.of({0: "1/2", 1: "1/2"})
    assert not telling_event(sure, half, Asked(forward.divergence, number(1))).proves


OUTPUTS = [1, 1.0, True, None, "a", (1, 2.5), [1, 2.5], (None, 3), float("nan"), float("inf"), -0.5, 2**60, "1", (), [[]]]


def test_forms_tell_outputs_apart_that_python_may_not():
    forms = [form(output) for output in OUTPUTS]
    assert len(set(map(repr, forms))) == len(forms)
    for output, given in zip(OUTPUTS, forms, strict=True):
        event = Expression.listed([given])
        assert [event.holds(other) for other in OUTPUTS] == [other is output for other in OUTPUTS]
        assert Expression.read(json.loads(json.dumps(event.json))) == event


@pytest.mark.parametrize(
    ("data", "inside", "outside"),
    [
        ({"number": {"sum": [[0, "1"], [1, "-2"]]}, "within": [["0", None]], "of": None}, (3, 1), (1, 3)),
        ({"number": {"fraction": 0}, "within": [["1/2", None]], "of": None}, 2.75, 2.25),
        ({"number": {"largest": True}, "within": [["5", "6"]], "of": None}, (1, 5), (1, 6)),
        ({"number": {"largest": False}, "within": [[None, "1"]], "of": None}, (0, 5), (1, 6)),
        ({"number": {"steps": [[["0"], ["0", "1"]], [["0"], ["0", "1"]]]}, "within": [["2", None]], "of": None}, (0, 0), (0, -1)),
        ({"in": [["tuple", ["int"], ["None"]]]}, (7, None), (7, 7)),
        ({"not": {"in": [["int", "1"]]}}, 2, 1),
        ({"and": [{"in": [["int"]]}, {"not": {"in": [["int", "1"]]}}]}, 2, 2.0),
        ({"or": [{"in": [["int"]]}, {"in": [["None"]]}]}, None, "x"),
        ({"number": {"sum": [[0, "1"]]}, "within": [["1/3", None]], "of": ["float"]}, 0.34, 1),
        ({"number": {"sum": [[0, "1"]]}, "within": [["0x", None]], "of": None} | {"within": [[str(Fraction(0.1)), None]]}, 0.1,
         math.nextafter(0.1, 0)),
    ],
)  # fmt: skip
def test_the_language(data, inside, outside):
    event = Expression.read(data)
    assert event.holds(inside)
    assert not event.holds(outside)
    assert Expression.read(event.json) == event


@pytest.mark.parametrize("data", [{}, {"in": 3}, {"number": {"sine": 0}, "within": [], "of": None}, {"within": [["a", "b"]]}, []])
def test_what_is_no_expression_is_refused(data):
    with pytest.raises(SpecSyntaxError):
        Expression.read(data)


# --- replay ----------------------------------------------------------------------------------------------------------


def witness_of(keep, tmp_path, change=lambda content: None):
    mechanism = block("mechanisms", "randomised-response", keep_probability=keep)
    document = SpecDocument(id="too-strong", title="Too strong", spec=bits_spec(epsilon="ln(2)"), mechanism=mechanism)
    verdict = verify(mechanism, document.spec, registry=installed().registry)
    content = json.loads(witness_file(verdict.witness, document, installed().registry))
    change(content)
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_replay_evaluates_the_recorded_event(tmp_path):
    found = replay(witness_of("3/4", tmp_path))
    assert found.event.proves
    assert (str(found.event.left), str(found.event.right)) == ("27/64", "9/64")
    assert "still proves" in found.event_in_words


def test_another_event_in_the_file_is_the_one_that_is_asked_about(tmp_path):
    """The pair still refutes the claim, but not by the event that stands in the file now."""

    def change(content):
        content["witness"]["event"]["expression"] = {"expression": {"not": {"in": [["int", "5"]]}}}

    found = replay(witness_of("3/4", tmp_path, change))
    assert found.outcome.value == "refuted"
    assert not found.event.proves
    assert (str(found.event.left), str(found.event.right)) == ("1", "1")
    assert "does not prove" in found.event_in_words


def test_a_sampled_event_is_data_too():
    spec = bits_spec(epsilon="1/2")
    found = refute(lambda bits, rng: bits[0] + rng.laplace(), spec, draws=60_000, datasets=[(0, 0, 0), (1, 0, 0)])
    event = found.witness.event
    assert event.expression.members is None
    assert event.expression.holds(1e9) != event.expression.holds(-1e9)
    assert from_data(json.loads(json.dumps(to_data(event)))) == event


def test_an_undecided_verdict_has_no_constant_0():
    found = refute(lambda bits, rng: rng.random(), bits_spec(), draws=2_000, datasets=[(0, 0, 0), (1, 0, 0)])
    assert found.outcome.value == "undecided"
    assert (str(found.constant.lower), str(found.constant.upper)) == ("0", "inf")


def test_of_a_table_of_noisy_cells_the_likely_outcomes_are_looked_at():
    """Four cells with noise have 130,321 outcomes but for 2^-8, and the likely ones are enough."""
    left, right = (
        product([TwoSidedGeometricLaw(center, ln(2)) for center in centers]) for centers in ((0, 0, 0, 1), (0, 0, 1, 0))
    )
    assert len(_outcomes(left, right)) <= 10_000


class Forwards(MultDelta):
    """P against Q, and not Q against P."""

    name = "forwards"
    is_symmetric = False

    def largest_probability(self, q, bound):
        return (bound.exp() * q + float(self.delta)).min(arb(1))


def between(low, high):
    return Bracket(lower=number(low), upper=number(high))


def test_an_event_proves_in_the_orders_that_are_promised():
    likely, rare = Bracket.exactly("9/10"), Bracket.exactly("1/10")
    one, both = (Asked(divergence(delta="1/10"), ln(2)) for divergence in (Forwards, MultDelta))
    assert [one.refuted_by(likely, rare), one.refuted_by(rare, likely)] == [True, False]
    assert [both.refuted_by(likely, rare), both.refuted_by(rare, likely)] == [True, True]


def test_an_event_proves_only_at_the_ends_that_are_worst_for_it():
    """P between 2/5 and 3/5 is more than twice Q for some Q between 1/10 and 3/10, and not for all."""
    asked = Asked(Mult(), ln(2))
    p, q = between("2/5", "3/5"), between("1/10", "3/10")
    assert not asked.refuted_by(p, q)
    assert asked.refuted_by(p, between("1/10", "19/100"))
    assert not asked.refuted_by(p, between("1/10", "1/5"))
    assert not asked.refuted_by(between(0, 1), Bracket.exactly(0))
    assert asked.refuted_by(between("1/1000", 1), Bracket.exactly(0))
    assert not Asked(Mult(), INFINITY).refuted_by(p, Bracket.exactly(0))
