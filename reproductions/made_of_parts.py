"""Everyday claims about what is made of other mechanisms, about choices, sums, samples and users with many records.

Each right claim stands beside the mistakes of its kind; `reproductions.everyday` writes them down with the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reproductions.everyday import (
    ADD,
    ADULTS,
    AGES,
    APPROXIMATE,
    NEIGHBOUR_ADD,
    NEIGHBOUR_REPLACE,
    PEOPLE,
    PURE,
    REGIONS,
    REPLACE,
    RHO,
    TOTAL,
    Case,
    gaussian,
    geometric,
    laplace,
    table,
)

USERS: dict[str, Any] = {
    "type": "households",
    "household": [{"name": "country", "count": 200}],
    "person": [{"name": "page", "count": 50_000_000}, {"name": "hour", "count": 24}],
}
"""Users (households) with any number of views (persons): of a page, at an hour."""
FAMILIES: dict[str, Any] = {
    "type": "households",
    "household": [{"name": "block", "count": 8_100_000}],
    "person": [{"name": "age", "count": 116}, {"name": "sex", "categories": ["female", "male"]}],
    "members": 8,
}

USER_ADD: dict[str, Any] = {"type": "symmetric-difference", "unit": "household"}
USER_REPLACE: dict[str, Any] = {"type": "hamming", "unit": "household"}
NEIGHBOUR_USER: dict[str, Any] = {"type": "neighbour", "relation": {"type": "add-remove", "unit": "household"}}
PAGES, HOURS = table("page"), table("hour")
SUM: dict[str, Any] = {"type": "clipped-sum", "attribute": "age", "least": 18, "most": 80}
KINDS: dict[str, Any] = {"type": "distinct-count", "attributes": ["county"]}


_NEVER = "the more records there are in one cell, the nearer a pair comes"
_FAR = "the farther counts lie from the threshold, the nearer a pair comes"


def cases() -> Iterator[Case]:
    """Every claim, right and wrong."""
    yield from _users()
    yield from _families()
    yield from _together()
    yield from _sums()
    yield from _weights()
    yield from _staircases()
    yield from _chosen()
    yield from _noisy_max()
    yield from _keys()
    yield from _samples()


def pure(name: str, says: str, mechanism: Mapping[str, Any], distance: Mapping[str, Any], epsilon: str, **more: Any) -> Case:
    """A claim of pure privacy."""
    return Case(name=name, says=says, mechanism=mechanism, distance=distance, standard=PURE, budget={"epsilon": epsilon}, **more)


def bounded(mechanism: Mapping[str, Any], **limits: Any) -> dict[str, Any]:
    """At most so many records of each user."""
    return {"type": "bounded", "mechanism": dict(mechanism), **limits}


def _users() -> Iterator[Case]:
    """Users with many records, of whom at most some count."""
    five = bounded(laplace(PAGES, sensitivity=5), most=5)
    yield pure("users-five-views", "at most five views of each user, scale 5", five, USER_ADD, "1", space=USERS)
    yield pure("users-five-views-replaced", "the same for users replaced: ten views", five, USER_REPLACE, "2", space=USERS)
    once = bounded(laplace(PAGES), most=5)
    yield pure(
        "users-noise-for-one-view", "noise for one view, though each user has five", once, USER_ADD, "1", space=USERS, wrong=True
    )
    yield pure(
        "users-five-views-two-tables",
        "two tables of the same five views, and noise for one",
        bounded(laplace(PAGES, HOURS, sensitivity=5), most=5),
        USER_ADD,
        "1",
        space=USERS,
        wrong=True,
    )
    yield pure(
        "users-unbounded",
        "contributions are not bounded: a user may have sixty-four views",
        laplace(PAGES),
        USER_ADD,
        "1",
        space=USERS,
        wrong=True,
    )
    yield pure(
        "users-replaced-as-added",
        "users are replaced, and the noise is that for added ones",
        five,
        USER_REPLACE,
        "1",
        space=USERS,
        wrong=True,
    )
    distinct = bounded(gaussian(PAGES, variance="8"), most=4, in_cell=1, by=["page"])
    yield Case(
        name="users-once-a-page",
        says="at most four pages of each user, each once: rho = 4/16",
        mechanism=distinct,
        distance=USER_ADD,
        standard=RHO,
        budget={"rho": "1/4"},
        space=USERS,
    )
    often = bounded(gaussian(PAGES, variance="8"), most=4)
    yield Case(
        name="users-often-a-page",
        says="four views, which may all be of one page: rho = 16/16",
        mechanism=often,
        distance=USER_ADD,
        standard=RHO,
        budget={"rho": "1"},
        space=USERS,
    )
    yield Case(
        name="users-often-taken-for-once",
        says="rho = 4/16, as if a user's four views were of four pages",
        mechanism=often,
        distance=USER_ADD,
        standard=RHO,
        budget={"rho": "1/4"},
        space=USERS,
        wrong=True,
    )
    approximate = {"type": "mult-delta", "delta": "1e-6"}
    yield Case(
        name="users-once-a-page-delta",
        says="the same Gaussian counts at delta = 10^-6",
        mechanism=distinct,
        distance=NEIGHBOUR_USER,
        standard=approximate,
        budget={"epsilon": "3.4"},
        space=USERS,
    )


def _families() -> Iterator[Case]:
    """Households of at most eight persons, and tables of persons."""
    ages = geometric(table("block", "age"), ratio="1/2")
    yield pure("families-added", "eight persons go with a household", ages, USER_ADD, "8*ln(2)", space=FAMILIES)
    yield pure("families-replaced", "and sixteen change with one replaced", ages, USER_REPLACE, "16*ln(2)", space=FAMILIES)
    yield pure(
        "families-as-persons",
        "the loss of a person, promised to a household",
        ages,
        USER_ADD,
        "ln(2)",
        space=FAMILIES,
        wrong=True,
    )
    noise = gaussian(table("block"), table("age"), variance="64")
    yield Case(
        name="families-two-tables",
        says="two tables of persons: rho = 2 x 64/128 for a household",
        mechanism=noise,
        distance=USER_ADD,
        standard=RHO,
        budget={"rho": "1"},
        space=FAMILIES,
    )
    yield Case(
        name="families-eight-times",
        says="eight times the rho of a person, where it is sixty-four times",
        mechanism=noise,
        distance=USER_ADD,
        standard=RHO,
        budget={"rho": "1/8"},
        space=FAMILIES,
        wrong=True,
    )


def _together() -> Iterator[Case]:
    """Several releases, of all records and of parts."""
    two = {"type": "composed", "parts": [laplace(AGES), geometric(REGIONS)]}
    yield pure("composed-two", "two tables: the losses add up", two, ADD, "1 + ln(2)")
    yield pure("composed-forgotten", "the loss of the larger part alone", two, ADD, "1", wrong=True)
    parts = [
        {"categories": ["female"], "mechanism": laplace(table("age"))},
        {"categories": ["male"], "mechanism": laplace(table("age"), epsilon="1/2")},
    ]
    apart = {"type": "parallel", "attribute": "sex", "parts": parts}
    yield pure("parallel-by-sex", "a table for each sex: the larger loss, for a person added", apart, ADD, "1")
    yield pure("parallel-replaced", "the same for a person replaced: a change of age counts twice", apart, REPLACE, "2")
    yield pure("parallel-replaced-as-added", "the larger loss, promised for a person replaced", apart, REPLACE, "1", wrong=True)
    overlapping = {
        "type": "composed",
        "parts": [
            {"type": "filtered", "mechanism": laplace(REGIONS), "where": {"age": ["18", "19", "20"]}},
            {"type": "filtered", "mechanism": laplace(REGIONS), "where": {"age": ["20", "21"]}},
        ],
    }
    yield pure(
        "parts-that-overlap",
        "two age groups share the age of 20: parallel composition does not hold",
        overlapping,
        ADD,
        "1",
        wrong=True,
    )
    yield pure("parts-that-overlap-counted", "two age groups share the age of 20: both losses", overlapping, ADD, "2")
    rounded = {"type": "post-processed", "mechanism": geometric(TOTAL), "at_least": 0, "rounded_to": 5}
    yield pure("rounded-afterwards", "a noisy total, cut at 0 and rounded to fives", rounded, ADD, "ln(2)")
    yield pure(
        "rounded-counted-twice", "rounding to fives is said to divide the loss by five", rounded, ADD, "1/5*ln(2)", wrong=True
    )
    adults = {"type": "filtered", "mechanism": geometric(REGIONS), "where": {"age": ["65", "66", "67"]}}
    yield pure("filtered-elderly", "a table of three ages only", adults, ADD, "ln(2)")


def _sums() -> Iterator[Case]:
    """Sums of numbers that are cut to a range, and numbers of kinds."""
    yield pure("sum-added", "a sum of ages cut to 18 to 80: one person adds 80 at most", laplace(SUM, sensitivity=80), ADD, "1")
    yield pure("sum-replaced", "one person replaced changes it by 62", laplace(SUM, sensitivity=62), REPLACE, "1")
    yield pure(
        "sum-range-for-added",
        "the width of the range taken for the sensitivity of a person added",
        laplace(SUM, sensitivity=62),
        ADD,
        "1",
        wrong=True,
    )
    unclipped = {**SUM, "least": 0, "most": 115}
    yield pure(
        "sum-clipped-after-noise",
        "noise for ages up to 80, and nothing is cut before it",
        {"type": "post-processed", "mechanism": geometric(unclipped, ratio="9/10"), "at_least": 0},
        ADD,
        "80*ln(10/9)",
        wrong=True,
    )
    both = {"type": "composed", "parts": [laplace(SUM, sensitivity=80), laplace(TOTAL)]}
    yield pure("mean-of-two", "a mean from a sum and a number: both losses", both, ADD, "2")
    yield pure("mean-of-one", "a mean from a sum and a number, and the number is taken for free", both, ADD, "1", wrong=True)
    yield pure("kinds-of-counties", "the number of counties that somebody lives in", laplace(KINDS), ADD, "1")
    yield pure("kinds-replaced", "the same for a person replaced: one county may be gone or new", laplace(KINDS), REPLACE, "1")
    yield pure("kinds-halved", "half the loss, as if a person were seldom the only one", laplace(KINDS), ADD, "1/2", wrong=True)


def weighted(attributes: list[str], rows: Mapping[tuple[str, ...], tuple[str, str]]) -> dict[str, Any]:
    """A cost and a number of visits, to which each person adds by region, or region and sex."""
    weights = [{"cell": list(cell), "adds": list(adds)} for cell, adds in rows.items()]
    return {"type": "weighted-sums", "attributes": attributes, "sums": ["cost", "visits"], "weights": weights}


def _weights() -> Iterator[Case]:
    """Linear queries with weights: the loss of a change is the weighted norm of the difference of two rows."""
    by_region = weighted(["region"], {("0",): ("5/2", "1"), ("1",): ("1", "4"), ("2",): ("-3", "2")})
    rows = {("0", "female"): ("5/2", "1"), ("0", "male"): ("2", "3"), ("1", "male"): ("4", "4")}
    by_both = weighted(["region", "sex"], rows)
    yield pure("weights-added", "costs and visits by region: one person adds 1 + 4", laplace(by_region, sensitivity=5), ADD, "1")
    yield pure(
        "weights-replaced",
        "one person moves from 5/2, 1 to -3, 2: 11/2 + 1",
        laplace(by_region, sensitivity="13/2"),
        REPLACE,
        "1",
    )
    yield pure(
        "weights-largest",
        "the largest weight is taken for the sensitivity",
        laplace(by_region, sensitivity=4),
        ADD,
        "1",
        wrong=True,
    )
    yield pure(
        "weights-one-sum", "the larger of two sums, 11/2, as if one moved", laplace(by_region, sensitivity="11/2"), REPLACE, "1",
        wrong=True,
    )  # fmt: skip
    yield pure(
        "weights-replaced-as-added", "the weights of one added, for one replaced", laplace(by_region, sensitivity=5), REPLACE,
        "1", wrong=True,
    )  # fmt: skip
    noise, rho = gaussian(by_region, variance="16"), {"distance": REPLACE, "standard": RHO}
    yield Case(
        name="weights-gaussian",
        says="the same with Gaussian noise: (121/4 + 1)/32",
        mechanism=noise,
        budget={"rho": "125/128"},
        **rho,
    )
    yield Case(
        name="weights-gaussian-rows",
        says="the longest row, 1 + 16, taken for the longest difference of two",
        mechanism=noise,
        budget={"rho": "17/32"},
        wrong=True,
        **rho,
    )
    inside = laplace(by_both, sensitivity=8)
    yield pure("weights-inside", "regions published: only the sex moves, 4 + 4", inside, REPLACE, "1", published=(REGIONS,))
    yield pure(
        "weights-inside-as-region-0",
        "regions published, and only region 0 was looked at: 1/2 + 2",
        laplace(by_both, sensitivity="5/2"),
        REPLACE,
        "1",
        published=(REGIONS,),
        wrong=True,
    )
    whole = weighted(["region"], {("0",): ("5", "2"), ("1",): ("2", "8")})
    yield pure("weights-geometric", "in halves, with geometric noise: 2 + 8", geometric(whole), ADD, "10*ln(2)")


def staircase(query: Any, width: int, inner: int, **more: Any) -> dict[str, Any]:
    return {"type": "staircase", "queries": [query], "width": width, "inner": inner, "epsilon": "ln(3)", **more}


def _staircases() -> Iterator[Case]:
    """Noise in steps: one answer loses a step, however little it moves."""
    yield pure("staircase-sum", "a sum of ages up to 80, steps of 80", staircase(SUM, 80, 30), ADD, "ln(3)")
    yield pure("staircase-line", "the same on the line", staircase(SUM, 80, 30, on_line=True), ADD, "ln(3)")
    yield pure(
        "staircase-narrow",
        "steps of 62, the width of the range, for a person added",
        staircase(SUM, 62, 30),
        ADD,
        "ln(3)",
        wrong=True,
    )
    yield pure(
        "staircase-table", "a table, steps of 2: each of two answers loses a step", staircase(AGES, 2, 1), REPLACE, "ln(9)"
    )
    yield pure(
        "staircase-as-laplace",
        "steps of 2 for two answers that move by one, as if half a step were half the loss",
        staircase(AGES, 2, 1),
        REPLACE,
        "ln(3)",
        wrong=True,
    )


def _chosen() -> Iterator[Case]:
    """The exponential mechanism, and the sparse vector technique."""
    exponential = {"type": "exponential", "query": REGIONS, "rate": "1/2"}
    yield pure("most-common-added", "the most common region, rate 1/2: a person added", exponential, ADD, "1/2", gap=_NEVER)
    yield pure("most-common-replaced", "the same for a person replaced: two counts move", exponential, REPLACE, "1", gap=_NEVER)
    yield pure(
        "most-common-factor-two", "the factor two is forgotten for a person replaced", exponential, REPLACE, "1/2", wrong=True
    )
    above = {"type": "above-threshold", "query": REGIONS, "threshold": "10", "threshold_scale": "2", "query_scale": "4"}
    yield pure("first-above", "the first region above ten: one count moves, 1/4 for a person added", above, ADD, "1/4", gap=_FAR)
    yield pure("first-above-replaced", "two counts move, 2/4 for a person replaced", above, REPLACE, "1/2", gap=_FAR)
    small = {**above, "query": table("sex"), "threshold": "0", "threshold_scale": "1/4", "query_scale": "1/4"}
    yield pure(
        "first-above-one-scale", "the noise of the threshold is taken for all that is needed", small, REPLACE, "1", wrong=True
    )


def _noisy_max() -> Iterator[Case]:
    """Report noisy max: a person added costs the rate, one replaced twice the rate."""
    far = "pairs with more people come as near as one likes"
    for noise, rate, twice, gap in (
        ("exponential", "1/2", "1", ""),
        ("laplace", "1/2", "1", far),
        ("geometric", "ln(3/2)", "2*ln(3/2)", far),
    ):
        largest = {"type": "noisy-max", "query": table("sex"), "noise": noise, "rate": rate}
        yield pure(f"noisy-max-{noise}", f"the more common sex by {noise} noise, a person added", largest, ADD, rate, gap=gap)
        yield pure(
            f"noisy-max-{noise}-replaced", "the same for a person replaced: twice the rate", largest, REPLACE, twice, gap=gap
        )
        yield pure(
            f"noisy-max-{noise}-factor-two",
            "the factor two is forgotten for a person replaced",
            largest,
            REPLACE,
            rate,
            wrong=True,
        )
    regions = {"type": "noisy-max", "query": REGIONS, "noise": "exponential", "rate": "1/2"}
    yield pure("noisy-max-regions", "the most common of sixteen regions, exponential noise", regions, ADD, "1/2", gap=_NEVER)
    yield pure(
        "noisy-max-sixteenth",
        "a sixteenth of the loss, as one of sixteen noisy counts is shown",
        regions,
        ADD,
        "1/32",
        wrong=True,
    )
    shown = {"type": "composed", "parts": [regions, geometric(REGIONS, ratio="1/2")]}
    yield pure("noisy-max-with-count", "the region, and all noisy counts beside it", shown, ADD, "1/2 + ln(2)")
    yield pure("noisy-max-count-for-free", "the counts beside the region are taken for free", shown, ADD, "1/2", wrong=True)


def _keys() -> Iterator[Case]:
    """Keys that nobody listed, shown where they are common enough."""
    shown = {"type": "threshold-release", "query": table("county"), "ratio": "1/2", "threshold": 20}
    low = {**shown, "threshold": 3}
    claim: dict[str, Any] = {"distance": NEIGHBOUR_ADD, "standard": APPROXIMATE, "budget": {"epsilon": "ln(2)"}}
    right = {**claim, "standard": {"type": "mult-delta", "delta": "1e-5"}}
    yield Case(name="keys-from-twenty", says="counties from twenty on: delta = 2^-19/(3/2)", mechanism=shown, **right)
    yield Case(name="keys-from-three", says="counties from three on, with the same delta", mechanism=low, **right, wrong=True)
    yield Case(
        name="keys-smaller-delta", says="counties from twenty on, with delta = 10^-6", mechanism=shown, **claim, wrong=True
    )
    yield pure("keys-without-delta", "counties from twenty on, without a delta", shown, ADD, "ln(2)", wrong=True)
    yield Case(
        name="keys-replaced",
        says="a person replaced, with the loss of one added",
        mechanism=shown,
        wrong=True,
        **{**right, "distance": NEIGHBOUR_REPLACE},
    )


def _samples() -> Iterator[Case]:
    """Each person takes part by chance."""
    tenth = {"type": "subsampled", "mechanism": geometric(AGES), "rate": "1/10"}
    yield pure("sampled-tenth", "one person in ten: ln(1 + (2 - 1)/10)", tenth, ADD, "ln(11/10)")
    yield pure("sampled-twice", "the gain of sampling is taken twice", tenth, ADD, "ln(101/100)", wrong=True)
    yield pure("sampled-times-rate", "a tenth of the loss", tenth, ADD, "1/10*ln(2)", wrong=True)
    gauss = {"type": "subsampled", "mechanism": gaussian(ADULTS, variance="1"), "rate": "1/100"}
    five = {"type": "mult-delta", "delta": "1e-5"}
    yield Case(
        name="sampled-gaussian",
        says="one adult in a hundred, Gaussian noise of variance 1, delta = 10^-5",
        mechanism=gauss,
        distance=NEIGHBOUR_ADD,
        standard=five,
        budget={"epsilon": "1/2"},
    )
    yield Case(
        name="sampled-gaussian-times-rate",
        says="a hundredth of the epsilon without sampling",
        mechanism=gauss,
        distance=NEIGHBOUR_ADD,
        standard=five,
        budget={"epsilon": "1/20"},
        wrong=True,
    )
    yield from _drawn()


def _drawn() -> Iterator[Case]:
    """A sample of a fixed size, drawn without replacement."""
    panel = {**PEOPLE, "least": 1_000}

    def ten(mechanism: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "subsampled", "mechanism": dict(mechanism), "size": 10, "samples": PEOPLE}

    ages = ten(geometric(AGES))
    yield pure("drawn-replaced", "ten of a thousand or more: ln(1 + (4 - 1)/100)", ages, REPLACE, "ln(103/100)", space=panel)
    yield pure(
        "drawn-added",
        "a person added takes another's place in the sample: ln(1 + (4 - 1) 10/1001)",
        ages,
        ADD,
        "ln(1031/1001)",
        space=panel,
    )
    yield pure(
        "drawn-as-poisson",
        "the loss of a sample of one in a hundred by coins, promised for ten drawn of a thousand",
        ages,
        ADD,
        "ln(101/100)",
        space=panel,
        wrong=True,
    )
    yield pure("drawn-twice", "the gain of drawing is taken twice", ages, REPLACE, "ln(10003/10000)", space=panel, wrong=True)
    yield pure(
        "drawn-of-few", "a hundredth is promised, and there may be as few as ten people", ages, REPLACE, "ln(103/100)", wrong=True
    )
    yield Case(
        name="drawn-gaussian",
        says="a table of the adults among ten of a thousand, Gaussian noise of variance 1, delta = 10^-5",
        mechanism=ten(gaussian(ADULTS, variance="1")),
        distance=NEIGHBOUR_REPLACE,
        standard={"type": "mult-delta", "delta": "1e-5"},
        budget={"epsilon": "0.816"},
        space=panel,
    )
