"""Counterexamples of a file: mechanisms that the engine has to refute, on the first miniature or the whole space."""

from dpspec.base.words import Word
from dpspec.extension import installed
from dpspec.specfile import read_text, to_toml
from dpspec.verifier.document import verify_document
from dpspec.verifier.verdict import Outcome

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
