"""Counterexamples of a file: mechanisms that the engine has to refute, on the first miniature or the whole space."""

import attrs
import pytest

from dpspec.base.exact import Bracket, number
from dpspec.base.words import Word
from dpspec.extension import installed
from dpspec.specfile import read_text, to_toml
from dpspec.verifier.document import verify_document
from dpspec.verifier.obligations import Judgement, Obligation, _as_second, _of_all, obligation_of
from dpspec.verifier.sensitivity import Missing
from dpspec.verifier.verdict import Outcome, UniverseResult, Verdict
from tests.verify.toys import bits_spec

REGISTRY = installed().registry
TEXT = """
schema = 1
id = "two-sides"
title = "one that keeps it, one that does not"
[space]
type = "bit-vectors"
length = {length}
[input_divergence]
type = "hamming-ordered"
[output_divergence]
type = "mult"
[budget]
epsilon = "ln(3)"
[mechanism]
type = "randomised-response"
keep_probability = "3/4"
[[counterexample]]
title = "{title}"
because = "likelihood ratio {keep}"
[counterexample.mechanism]
type = "randomised-response"
keep_probability = "{keep}"
"""
MINIATURE = """
[[miniature]]
title = "one bit"
[miniature.space]
type = "bit-vectors"
length = 1
"""


def report(keep, *, length=2, title="louder", more="", proof=True):
    text = TEXT.format(keep=keep, length=length, title=title) + more
    if not proof:  # the same standard, but not known as a metric: bounds for single changes do not add up
        text = text.replace('type = "mult"', 'type = "mult-delta"\ndelta = 0')
    return verify_document(read_text(text, REGISTRY), registry=REGISTRY)


def words(found):
    return {obligation.name: obligation.word for obligation in found.obligations}


def test_a_counterexample_that_is_refuted_holds():
    found = report("4/5")
    assert words(found) == {"claim": Word.HOLDS, "counterexample: louder": Word.HOLDS}
    assert found.obligations[1].verdict.outcome is Outcome.REFUTED
    assert found.obligations[1].recorded is Outcome.REFUTED


def test_a_counterexample_that_is_verified_fails_the_file():
    found = report("3/4")
    assert words(found)["counterexample: louder"] is Word.MISSED
    assert found.word is Word.MISSED
    assert "recorded as refuted" in found.obligations[1].detail


def test_an_undecided_counterexample_does_not_hold():
    assert report("4/5", length=30, proof=False).word is Word.UNDECIDED


def test_it_is_judged_on_the_first_miniature():
    found = report("4/5", length=30, more=MINIATURE, proof=False)
    assert words(found)["counterexample: louder"] is Word.HOLDS
    assert found.word is Word.MINIATURE
    assert found.obligations[1].spec.space.length == 1


def test_it_survives_writing_and_reading():
    document = read_text(TEXT.format(keep="4/5", length=2, title="louder") + MINIATURE, REGISTRY)
    assert read_text(to_toml(document, REGISTRY), REGISTRY) == document
    assert document.counterexamples[0].title == "louder"


# --- what a verdict makes of an obligation --------------------------------------------------------


YES, NO, OPEN = Outcome.VERIFIED, Outcome.REFUTED, Outcome.UNDECIDED


def verdict(outcome, constant=1):
    result = UniverseResult(
        label="X", datasets=4, pairs=3, constant=Bracket.exactly(constant), bound=number(1), outcome=outcome
    )  # fmt: skip
    return Verdict(outcome=outcome, method="exhaustive", scope="all", universes=(result,))


@pytest.mark.parametrize(
    ("found", "recorded", "word"),
    [
        (YES, YES, Word.HOLDS), (YES, OPEN, Word.HOLDS), (YES, NO, Word.MISSED), (NO, YES, Word.REFUTED), (NO, NO, Word.RECORDED),
        (NO, OPEN, Word.REFUTED), (OPEN, YES, Word.UNDECIDED), (OPEN, OPEN, Word.UNCHECKED), (OPEN, NO, Word.UNDECIDED),
    ],
)  # fmt: skip
def test_a_verdict_is_held_against_what_is_recorded(found, recorded, word):
    assert obligation_of("claim", verdict(found), recorded, bits_spec()).word is word


@attrs.frozen
class Secret:
    """A secret of which the candidates, and perhaps the ends, are named by numbers."""

    names: tuple
    is_listed: bool
    both: tuple | None = None

    def ends(self):
        return self.both

    def candidates(self):
        return tuple((f"p = {name}", name) for name in self.names)


def of_all(secret, **outcomes):
    """The verdict of all, from the outcomes of each; the constant of a mechanism is its number."""
    return _of_all(secret, lambda name: verdict(outcomes.get(f"at_{name}", YES), name))


def test_some_values_of_a_secret_are_not_all():
    listed, some = (Secret((1, 3, 2), is_listed) for is_listed in (True, False))
    every = of_all(listed)
    assert every.outcome is YES
    assert every.constant == Bracket.exactly(3)  # the worst of them
    assert "each of 3 was checked" in every.scope
    assert of_all(some).outcome is OPEN
    assert "nothing is shown between them" in of_all(some).reason
    assert of_all(some, at_1=NO, at_2=NO, at_3=NO).outcome is OPEN
    mixed = of_all(listed, at_3=NO)
    assert mixed.outcome is OPEN
    assert "verified at p = 1 and refuted at p = 3; refuted at p = 3 and verified at p = 2" in mixed.reason


def test_the_ends_of_a_secret_decide_all():
    ends = Secret((), False, (9, 1))
    assert of_all(ends).outcome is YES
    assert of_all(ends).constant == Bracket.exactly(9)
    assert of_all(ends, at_9=NO, at_1=NO).outcome is NO
    assert of_all(Secret((5,), False, (9, 1)), at_9=NO).outcome is OPEN


def test_a_miniature_holds_only_beside_a_proof():
    small = Obligation(name="claim on miniature: m", word=Word.MINIATURE, detail="")
    judged = {}
    for name, whole in {"proved": verdict(YES), "open": verdict(OPEN), "false": verdict(NO)}.items():
        second = _as_second(Judgement(name="m", judge=lambda _, __: small), lambda whole=whole: whole)
        judged[name] = second.judge(None, None).word
    assert judged == {"proved": Word.HOLDS, "open": Word.MINIATURE, "false": Word.MINIATURE}
    without = _as_second(Judgement(name="m", judge=lambda _, __: small), lambda: Missing(step="structure", reason="none"))
    assert without.judge(None, None).word is Word.MINIATURE
    assert without.judge(None, None).unproved
    refuted = attrs.evolve(small, word=Word.REFUTED)
    beside = _as_second(Judgement(name="m", judge=lambda _, __: refuted), lambda: verdict(YES))
    assert beside.judge(None, None).word is Word.REFUTED
