"""Everyday claims about local randomisers: each person reports one of 2,925 codes or of a million words, with the mistakes.

They belong to the page of `python -m reproductions.everyday`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reproductions.everyday import ANSWER, NEIGHBOUR_ADD, PURE, REPLACE, RHO, Case, table

CODES: dict[str, Any] = {"type": "ordered-records", "attributes": [{"name": "code", "count": 2925}]}
WORDS: dict[str, Any] = {"type": "ordered-records", "attributes": [{"name": "word", "count": 1_000_000}]}
ANSWERS: dict[str, Any] = {"type": "ordered-records", "attributes": [{"name": "answer", "categories": ["no", "yes"]}]}
PANEL: dict[str, Any] = {**ANSWERS, "most": 3}

TWO_ANSWERS: dict[str, Any] = {"type": "within-distance", "of": ANSWER, "most": 2}
NEIGHBOUR_ANSWER: dict[str, Any] = {"type": "neighbour", "relation": {"type": "differ-in-one-position", "unit": "person"}}


def cases() -> Iterator[Case]:
    """Every claim, right and wrong."""
    yield from _right()
    yield from _mistakes()
    yield from _shuffled()


def k_ary(**chances: str) -> dict[str, Any]:
    return {"type": "k-ary-response", **chances}


def unary(**chances: str) -> dict[str, Any]:
    return {"type": "unary-encoding", **chances}


def hadamard(epsilon: str) -> dict[str, Any]:
    return {"type": "hadamard-response", "epsilon": epsilon}


def sketch(epsilon: str, *hashes: tuple[int, ...], width: int = 1024) -> dict[str, Any]:
    return {"type": "count-mean-sketch", "epsilon": epsilon, "width": width, "hashes": [list(one) for one in hashes]}


PERMANENT = unary(keep_probability="3/4", false_probability="1/4")
"""RAPPOR's permanent response for f = 1/2; with 3/4 for a 1 and 1/2 for a 0 what is sent at one time is the next."""
ONE_TIME = unary(keep_probability="11/16", false_probability="9/16")
HASHES = ((90, 1_103_515_245, 12_345), (271, 828_182_845, 904_523), (314, 159_265_358, 979_323), (577, 215_664_901, 532_860))


def _right() -> Iterator[Case]:
    """Reports of each person by themselves: 2,925 codes, or a million words, and people without a limit."""
    pure: tuple[tuple[str, str, Mapping[str, Any], str, Mapping[str, Any]], ...] = (
        ("k-ary", "a code kept with e^epsilon/(e^epsilon + 2,924)", k_ary(epsilon="ln(3)"), "ln(3)", CODES),
        ("k-ary-one", "the same for epsilon = 1, exactly", k_ary(epsilon="1"), "1", CODES),
        ("k-ary-words", "a word of a million", k_ary(epsilon="4"), "4", WORDS),
        ("k-ary-tiny", "other codes of probability below 2^-1024", k_ary(epsilon="1024*ln(2)"), "1024*ln(2)", CODES),
        ("k-ary-kept", "a code kept with 3/4, whatever their number", k_ary(keep_probability="3/4"), "ln(8772)", CODES),
        ("unary-symmetric", "a bit for each code", unary(form="symmetric", epsilon="ln(9)"), "ln(9)", CODES),
        ("unary-optimised", "a bit for each of a million words", unary(form="optimised", epsilon="1"), "1", WORDS),
        ("rappor-permanent", "RAPPOR's permanent response, f = 1/2", PERMANENT, "ln(9)", CODES),
        ("rappor-one-time", "RAPPOR's response of one time, alone", ONE_TIME, "ln(77/45)", CODES),
        ("hadamard", "a column of a Hadamard matrix", hadamard("ln(3)"), "ln(3)", WORDS),
        ("sketch", "four hash functions, 1,024 flipped bits", sketch("4", *HASHES), "4", WORDS),
        ("sketch-collided", "hash functions that see no difference", sketch("4", (7,), (1, 1024)), "0", CODES),
    )
    for name, says, mechanism, epsilon, space in pure:
        yield _local(f"local-{name}", says, mechanism, {"epsilon": epsilon}, space=space)
    kept, two = k_ary(epsilon="ln(3)"), {"epsilon": "ln(9)"}
    yield _local("local-two-reports", "two reports of each person, each of ln 3", kept, two, distance=TWO_ANSWERS)
    twice = {"type": "composed", "parts": [kept, kept]}
    yield _local("local-asked-twice", "the same question asked twice, answered afresh", twice, two)
    published = (table("code"),)
    yield _local("local-counts-published", "the counts of all codes published", kept, {"epsilon": "ln(3)"}, published=published)
    yield _local("local-concentrated", "rho of a kept answer of two", kept, {"rho": "1/2*ln(3)"}, standard=RHO, space=ANSWERS)
    rho = {"rho": "0.0407"}
    yield _local("local-concentrated-codes", "rho of one of 2,925, far below epsilon^2/2", kept, rho, standard=RHO)
    yield _local("local-concentrated-bits", "rho of two bits of ln 3", PERMANENT, {"rho": "ln(3)"}, standard=RHO)
    alpha, order = {"type": "renyi", "order": "2"}, {"epsilon": "ln(8797/8781)"}
    yield _local("local-renyi", "order 2, between neighbours", kept, order, standard=alpha, distance=NEIGHBOUR_ANSWER)
    delta, half = {"type": "mult-delta", "delta": "1/2927"}, {"epsilon": "ln(2)"}
    yield _local("local-delta", "epsilon at a small delta", kept, half, standard=delta, distance=NEIGHBOUR_ANSWER)
    variation = {"type": "total-variation"}
    yield _local("local-variation", "total variation, which k makes small", kept, {"distance": "2/2927"}, standard=variation)


def _mistakes() -> Iterator[Case]:
    """What goes wrong with reports of each person by themselves."""
    both, flipped = (
        unary(keep_probability="9/10", false_probability="1/4"),
        unary(keep_probability="7/8", false_probability="1/8"),
    )
    plain = unary(keep_probability="1/2", false_probability="0")
    kept = k_ary(epsilon="ln(3)")
    pure: tuple[tuple[str, str, Mapping[str, Any], str, Mapping[str, Any]], ...] = (
        ("k-forgotten", "kept with e^epsilon/(e^epsilon + 1) among 2,925", k_ary(keep_probability="3/4"), "ln(3)", CODES),
        ("k-of-another-list", "a p for 100 codes, of which there are 2,925", k_ary(keep_probability="1/34"), "ln(3)", CODES),
        ("tiny-as-double", "2^-1024 rounded to the next double, 2^-1022", k_ary(epsilon="1024*ln(2)"), "1022*ln(2)", CODES),
        ("unary-one-bit", "epsilon of one bit, where two change", PERMANENT, "ln(3)", CODES),
        ("unary-mixed", "q of the optimised form, p larger than 1/2", both, "ln(3)", CODES),
        ("unary-zeros-kept", "bits that are 0 reported as they are", plain, "ln(3)", CODES),
        ("rappor-permanent-half", "the factor 2 of the permanent response forgotten", flipped, "ln(7)", CODES),
        ("rappor-one-time-for-good", "epsilon of one time, promised for good", PERMANENT, "ln(77/45)", CODES),
        ("hadamard-halved", "half the columns are equal, so half is promised", hadamard("ln(3)"), "1/2*ln(3)", WORDS),
        (
            "hadamard-own-column",
            "a column chosen by the word, and told: so is the word",
            k_ary(keep_probability="1"),
            "ln(3)",
            WORDS,
        ),
        ("sketch-flips", "each bit flipped with the full epsilon", sketch("8", *HASHES), "4", WORDS),
        ("sketch-shared", "epsilon divided by the number of hash functions", sketch("4", *HASHES), "1", WORDS),
        ("sketch-collisions", "two words collide, so all are taken to", sketch("4", (0, 1), width=2), "0", CODES),
        ("shuffled-in-mind", "the gain of a shuffler that there is none of", kept, "1/10", CODES),
    )
    for name, says, mechanism, epsilon, space in pure:
        yield _local(f"local-{name}", says, mechanism, {"epsilon": epsilon}, space=space, wrong=True)
    one, three = {"epsilon": "ln(3)"}, (table("code"),)
    says = "two reports of each person, the budget of one"
    yield _local("local-two-reports-as-one", says, kept, one, distance=TWO_ANSWERS, wrong=True)
    says = "asked twice, the budget of one answer: averages undo the chance"
    yield _local("local-asked-twice-as-once", says, {"type": "composed", "parts": [kept, kept]}, one, wrong=True)
    says = "published counts taken for leaving half of the records free"
    yield _local("local-counts-published-halved", says, kept, {"epsilon": "1/2*ln(3)"}, published=three, wrong=True)
    says = "an answer added or removed, where the number of reports is seen"
    yield _local("local-add-remove", says, kept, one, space=PANEL, distance=NEIGHBOUR_ADD, wrong=True)
    says = "people without an order, where the reports have one"
    yield _local("local-unordered", says, kept, one, space=PANEL, distance=REPLACE, wrong=True)
    says = "rho of one bit, where two change"
    yield _local("local-concentrated-one-bit", says, PERMANENT, {"rho": "1/2*ln(3)"}, standard=RHO, wrong=True)
    says = "rho = epsilon^2/8, which holds for a choice among scores"
    yield _local("local-concentrated-eighth", says, kept, {"rho": "0.1509"}, standard=RHO, space=ANSWERS, wrong=True)
    delta = {"type": "mult-delta", "delta": "1/2928"}
    says = "the same epsilon at a delta that is a little smaller"
    half = {"epsilon": "ln(2)"}
    yield _local("local-delta-rounded", says, kept, half, standard=delta, distance=NEIGHBOUR_ANSWER, wrong=True)


def _local(
    name: str,
    says: str,
    mechanism: Mapping[str, Any],
    budget: Mapping[str, str],
    *,
    space: Mapping[str, Any] = CODES,
    distance: Mapping[str, Any] = ANSWER,
    standard: Mapping[str, Any] = PURE,
    published: tuple[Mapping[str, Any], ...] = (),
    wrong: bool = False,
    gap: str = "",
) -> Case:
    """A claim about reports of each person."""
    return Case(
        name=name,
        says=says,
        mechanism=mechanism,
        distance=distance,
        standard=standard,
        budget=budget,
        space=space,
        published=published,
        wrong=wrong,
        gap=gap,
    )


def _shuffled() -> Iterator[Case]:
    """Reports in random order, of any number of people, of four, and of a thousand or more."""
    answer = {"type": "shuffled", "mechanism": k_ary(epsilon="ln(3)")}
    four, many = ({**ANSWERS, "least": least} for least in (4, 1_000))
    small, tiny = ({"type": "mult-delta", "delta": delta} for delta in ("1/100", "1e-6"))
    near: dict[str, Any] = {"distance": NEIGHBOUR_ANSWER}
    yield _local("shuffled-pure", "answers in random order, of any number of people", answer, {"epsilon": "ln(3)"}, space=ANSWERS)
    yield _local(
        "shuffled-four", "answers of four or more in random order, delta = 1/100", answer, {"epsilon": "1.0665"}, standard=small,
        space=four, **near,
    )  # fmt: skip
    gap = "the law of a thousand reports is not listed, so that no pair is known"
    yield _local(
        "shuffled-thousand", "a thousand or more answers in random order, delta = 10^-6", answer, {"epsilon": "0.169"},
        standard=tiny, space=many, gap=gap, **near,
    )  # fmt: skip
    wrong: dict[str, Any] = {"wrong": True}
    yield _local(
        "shuffled-no-delta", "less than ln 3 without a delta: all others may give the rare answer", answer, {"epsilon": "1"},
        space=four, **wrong,
    )  # fmt: skip
    yield _local(
        "shuffled-alone", "the gain among a thousand, where a dataset may hold one person", answer, {"epsilon": "0.169"},
        standard=tiny, space=ANSWERS, **near, **wrong,
    )  # fmt: skip
    yield _local(
        "shuffled-four-as-many", "the epsilon of twenty people, promised for four", answer, {"epsilon": "1/2"}, standard=small,
        space=four, **near, **wrong,
    )  # fmt: skip
