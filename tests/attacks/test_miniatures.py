"""Wrong claims that are green on a miniature of their own choosing: none of them may hold.

Each lowers a size on which the sensitivity depends, or exchanges the very thing that is claimed.
"""

from __future__ import annotations

import itertools
import time

import pytest
from dpspec_noise import Geometric

from dpspec.base.words import Word
from dpspec.extension import installed
from dpspec.specfile import read_text
from dpspec.verifier.document import verify_document
from dpspec.verifier.obligations import claims
from dpspec.verifier.standing import standing

HEAD = 'schema = 1\nid = "attack"\ntitle = "attack"\n'
NOISE = """
[output_divergence]
type = "mult"
[budget]
epsilon = "{claimed}"
[mechanism]
type = "geometric"
queries = [{query}]
unit = "{unit}"
sensitivity = {sensitivity}
epsilon = "ln(4)"
[claim]
verdict = "verified"
because = "so it says"
[[miniature]]
title = "small"
[miniature.space]
"""

HOUSEHOLDS = """type = "households"
{most}members = {members}
household = [{{ name = "block", categories = [{blocks}] }}]
person = [{{ name = "age", categories = [{ages}] }}]
"""
STREAMS = 'type = "event-streams"\nusers = [{users}]\ntimes = {times}\nvalues = ["visit"]\nwindow = 1\nper_time = {rows}\n'


@pytest.fixture(autouse=True)
def nothing_is_proved(monkeypatch):
    """As if no mechanism said how it is made: with a proof on the whole space a miniature is a second witness, no verdict."""
    monkeypatch.setattr(Geometric, "structure", lambda self, space: None)


def households(members, blocks='"a", "b"', most="", ages='"x"'):
    return HOUSEHOLDS.format(members=members, blocks=blocks, most=most, ages=ages)


def claim(large, small, distance, query, *, unit, sensitivity, claimed="ln(4)", more=""):
    noise = NOISE.format(query=query, unit=unit, sensitivity=sensitivity, claimed=claimed)
    return f'{HEAD}[space]\n{large}[input_divergence]\ntype = "hamming"\nunit = "{distance}"\n{noise}{small}{more}'


PERSONS = '{ type = "marginal", unit = "person", attributes = ["block"] }'
VISITS = '{ type = "marginal", attributes = ["time"], unit = "event" }'
TOTAL = '{ type = "marginal", attributes = [], unit = "event" }'

REFUTED = {
    "a histogram of persons over households of one person, claimed for five": claim(
        households(5), households(1, most="most = 2\n"), "household", PERSONS, unit="household", sensitivity=2
    ),
    "rows at one time, claimed for four": claim(
        STREAMS.format(users='"ann", "bob"', times=4, rows=1), STREAMS.format(users='"ann", "bob"', times=1, rows=1),
        "user", VISITS, unit="user", sensitivity=1,
    ),
    "one contribution at a time, claimed for three": claim(
        STREAMS.format(users='"ann"', times=1, rows=3), STREAMS.format(users='"ann"', times=1, rows=1),
        "user", TOTAL, unit="user", sensitivity=1,
    ),
    "one block, between which nobody moves, claimed for two": claim(
        households(1), households(1, '"a"', most="most = 2\n"), "household", PERSONS, unit="household", sensitivity=1
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUTED.values(), ids=REFUTED)
def test_a_lowered_size_is_raised_until_the_claim_falls(text):
    document = read_text(text, installed().registry)
    found = verify_document(document)
    assert found.word is Word.REFUTED
    obligation = found.obligations[-1]  # that of the miniature; before it, where a pair of the whole space was found, the claim
    assert obligation.verdict.witness is not None
    (alone,) = [one.judge(None, None) for one in claims(document, effort=0) if one.name.startswith("claim on miniature")]
    assert alone.word is Word.MINIATURE  # green on the miniature alone: what the growth is for


def test_a_constant_that_grows_below_the_budget_holds_nothing():
    """Four times the budget are enough for members up to four; the claim is about fifty."""
    text = claim(
        households(50), households(1, most="most = 2\n"), "household", PERSONS, unit="household", sensitivity=2, claimed="4*ln(4)"
    )
    found = verify_document(read_text(text, installed().registry))
    claimed, grown = found.obligations
    assert claimed.word is Word.REFUTED  # by a pair of the whole space
    assert grown.word is Word.UNDECIDED
    assert "the constant grows with members (members = 1, 2" in grown.detail
    assert "ln(4), ln(16)" in grown.detail


def test_the_word_does_not_depend_on_the_speed_of_the_machine(monkeypatch):
    """A clock that says that hours went by between any two looks changes nothing: growth is bounded by counts."""
    hours = itertools.count(step=7200)
    for clock in ("time", "monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, clock, lambda: next(hours))
    text = REFUTED["one contribution at a time, claimed for three"]
    assert standing(read_text(text, installed().registry)).is_false


def test_a_size_that_does_not_matter_is_told_as_steady():
    text = claim(households(1), households(1, most="most = 2\n"), "household", PERSONS, unit="household", sensitivity=2)
    (obligation,) = verify_document(read_text(text, installed().registry)).obligations
    assert obligation.word is Word.MINIATURE
    (most,) = obligation.grown
    assert (most.size, most.grows, set(most.constants)) == ("most", False, {"ln(4)"})


EXCHANGED = {
    "budget": "[miniature.budget]\nepsilon = 99\n",
    "multiverse": '[miniature.multiverse]\ninvariants = [{ type = "marginal", unit = "household", attributes = ["block"] }]\n',
    "input_divergence": '[miniature.input_divergence]\ntype = "hamming"\nunit = "person"\n',
    "output_divergence": '[miniature.output_divergence]\ntype = "mult-delta"\ndelta = "1/2"\n',
    "mechanism": (
        '[miniature.mechanism]\ntype = "geometric"\nqueries = [{ type = "marginal", unit = "household", attributes = [] }]\n'
        'unit = "household"\nsensitivity = 1\nepsilon = "ln(4)"\n'
    ),
}


@pytest.mark.parametrize("block", EXCHANGED)
def test_an_exchanged_block_leaves_the_claim_unchecked(block):
    large, small = households(1), households(1, most="most = 1\n")
    text = claim(large, small, "household", PERSONS, unit="household", sensitivity=2, more=EXCHANGED[block])
    document = read_text(text, installed().registry)
    (obligation,) = verify_document(document).obligations
    assert obligation.exchanged == (block,)
    assert obligation.word in (Word.UNCHECKED, Word.MISSED)
    assert not standing(document).word.is_good


@pytest.mark.parametrize("small", [
    households(1, most="most = 2\n").replace('"x"', '"y"'),  # a category of its own
    households(2, most="most = 2\n"),  # larger than what is claimed
    'type = "records"\nmost = 1\nunit = "household"\nattributes = [{ name = "block", categories = ["a", "b"] }]\n',
], ids=["category", "larger", "kind"])  # fmt: skip
def test_another_space_is_no_miniature(small):
    query = '{ type = "marginal", unit = "household", attributes = ["block"] }'
    text = claim(households(1), small, "household", query, unit="household", sensitivity=2)
    obligation = verify_document(read_text(text, installed().registry)).obligations[-1]
    assert (obligation.exchanged, obligation.word) == (("space",), Word.UNCHECKED)
