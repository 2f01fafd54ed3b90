"""Everyday mechanisms and mistakes: `python -m reproductions.everyday specs/mechanisms docs/mechanisms.md`.

A survey of any number of people, or of any number of households: tables of counts with noise, answers to a question given by
chance, reports that each person makes for themselves. Each right claim is written beside the mistakes of its kind; each is judged
on the whole space, and the page tells by which pair of datasets a mistake is found.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from dpspec import SpecDocument, build, installed, verify
from dpspec.specfile.writer import to_toml

PEOPLE: dict[str, Any] = {
    "type": "records",
    "attributes": [
        {"name": "region", "count": 16},
        {"name": "county", "count": 400, "within": "region"},
        {"name": "age", "count": 116},
        {"name": "sex", "categories": ["female", "male"]},
    ],
}
HOMES: dict[str, Any] = {
    "type": "households",
    "household": [{"name": "block", "count": 100_000}, {"name": "tenure", "categories": ["owned", "rented", "free"]}],
    "person": [{"name": "age", "count": 116}],
}
BITS: dict[str, Any] = {"type": "bit-vectors", "length": 100_000}


def table(*attributes: str, unit: str = "person", **where: list[str]) -> dict[str, Any]:
    """A table of counts."""
    found: dict[str, Any] = {"type": "marginal", "unit": unit, "attributes": list(attributes)}
    return {**found, "where": where} if where else found


AGES, TOTAL, REGIONS, ADULTS = table("age", "sex"), table(), table("region"), table("region", age=[str(n) for n in range(18, 65)])
LEVELS = (table("region"), table("county"))

ADD: dict[str, Any] = {"type": "symmetric-difference", "unit": "person"}
REPLACE: dict[str, Any] = {"type": "hamming", "unit": "person"}
HOME: dict[str, Any] = {"type": "hamming", "unit": "household"}
ANSWER: dict[str, Any] = {"type": "hamming-ordered", "unit": "person"}
NEIGHBOUR_ADD: dict[str, Any] = {"type": "neighbour", "relation": {"type": "add-remove", "unit": "person"}}
NEIGHBOUR_REPLACE: dict[str, Any] = {"type": "neighbour", "relation": {"type": "replace-one", "unit": "person"}}
TWO: dict[str, Any] = {"type": "within-distance", "of": REPLACE, "most": 2}

PURE: dict[str, Any] = {"type": "mult"}
RHO: dict[str, Any] = {"type": "d-nor"}
APPROXIMATE: dict[str, Any] = {"type": "mult-delta", "delta": "1e-6"}


@attrs.frozen(kw_only=True)
class Case:
    """A claim.

    Args:
        name: of the file.
        says: what is claimed, or what the mistake is.
        mechanism, distance, standard, budget: as in a file.
        space, published: the space, and the invariants.
        wrong: whether it is a mistake.
        gap: why the pair that is found does not attain the bound; empty where it does.
    """

    name: str
    says: str
    mechanism: Mapping[str, Any]
    distance: Mapping[str, Any]
    standard: Mapping[str, Any]
    budget: Mapping[str, str]
    space: Mapping[str, Any] = PEOPLE
    published: tuple[Mapping[str, Any], ...] = ()
    wrong: bool = False
    gap: str = ""

    def document(self) -> SpecDocument:
        """The specification."""
        verdict = "refuted" if self.wrong else "verified"
        return build(
            id=self.name,
            title=self.says,
            space=self.space,
            multiverse={"invariants": list(self.published)},
            input_divergence=self.distance,
            output_divergence=self.standard,
            budget=self.budget,
            mechanism=self.mechanism,
            claim={"verdict": verdict, "because": self.says, "source": "everyday mechanisms of this project"},
        )

    @property
    def path(self) -> str:
        """Where the file stands in its folder."""
        return f"{'mistakes/' if self.wrong else ''}{self.name}.dpspec.toml"


def laplace(*queries: Any, sensitivity: int | str = 1, epsilon: str = "1") -> dict[str, Any]:
    return {"type": "laplace", "queries": list(queries), "sensitivity": sensitivity, "epsilon": epsilon}


def geometric(*queries: Any, ratio: str = "1/2") -> dict[str, Any]:
    return {"type": "geometric", "queries": list(queries), "ratio": ratio}


def gaussian(*queries: Any, variance: str = "8") -> dict[str, Any]:
    return {"type": "gaussian", "queries": list(queries), "variance": variance}


def discrete(*queries: Any, variance: str = "8") -> dict[str, Any]:
    return {
        "type": "discrete-gaussian",
        "queries": list(queries),
        "variance": variance,
        "sensitivities": ["1"] * len(queries),
    }


def cases() -> Iterator[Case]:
    """Every claim, right and wrong."""
    yield from _tables()
    yield from _concentrated()
    yield from _approximate()
    yield from _universes()
    yield from _households()
    yield from _answers()
    from reproductions import local_rules, made_of_parts  # their cases are made of the parts of this module

    yield from made_of_parts.cases()
    yield from local_rules.cases()


def _tables() -> Iterator[Case]:
    """Laplace and geometric noise on tables, pure privacy."""
    shapes = (("table", (AGES,), 1, 2), ("total", (TOTAL,), 1, 0), ("adults", (ADULTS,), 1, 2), ("levels", LEVELS, 2, 4))
    for shape, queries, added, replaced in shapes:
        for way, distance, moved in (("add-remove", ADD, added), ("replace-one", REPLACE, replaced)):
            if not moved:
                continue  # the total of a replaced record does not move
            right = f"Laplace noise on the {shape}, scale {moved}: {moved} answers move by one, {way}"
            yield Case(
                name=f"laplace-{shape}-{way}",
                says=right,
                mechanism=laplace(*queries, sensitivity=moved),
                distance=distance,
                standard=PURE,
                budget={"epsilon": "1"},
            )
            if moved > 1:
                wrong = f"scale {moved // 2} where {moved} answers move: the sensitivity is halved"
                yield Case(
                    name=f"laplace-{shape}-{way}-halved",
                    says=wrong,
                    mechanism=laplace(*queries, sensitivity=moved // 2),
                    distance=distance,
                    standard=PURE,
                    budget={"epsilon": "1"},
                    wrong=True,
                )
            stated = f"two-sided geometric noise of ratio 1/2 on the {shape}, {way}"
            yield Case(
                name=f"geometric-{shape}-{way}",
                says=stated,
                mechanism=geometric(*queries),
                distance=distance,
                standard=PURE,
                budget={"epsilon": f"ln({2**moved})"},
            )
            if moved > 1:
                yield Case(
                    name=f"geometric-{shape}-{way}-one-answer",
                    says=f"counts one moving answer where there are {moved}",
                    mechanism=geometric(*queries),
                    distance=distance,
                    standard=PURE,
                    budget={"epsilon": "ln(2)"},
                    wrong=True,
                )
    yield Case(
        name="laplace-table-other-neighbours",
        says="noise for an added record, promised for a replaced one",
        mechanism=laplace(AGES),
        distance=REPLACE,
        standard=PURE,
        budget={"epsilon": "1"},
        wrong=True,
    )
    yield Case(
        name="laplace-two-apart",
        says="Laplace noise, promised for datasets that differ in two records",
        mechanism=laplace(AGES, sensitivity=2),
        distance=TWO,
        standard=PURE,
        budget={"epsilon": "2"},
    )
    yield Case(
        name="laplace-two-apart-as-one",
        says="the budget of one record, promised for two",
        wrong=True,
        mechanism=laplace(AGES, sensitivity=2),
        distance=TWO,
        standard=PURE,
        budget={"epsilon": "1"},
    )
    yield Case(
        name="laplace-table-twice",
        says="the same table released twice with the noise of one",
        wrong=True,
        mechanism=laplace(AGES, AGES),
        distance=ADD,
        standard=PURE,
        budget={"epsilon": "1"},
    )
    yield Case(
        name="laplace-a-little-less",
        says="the budget is one part in a thousand too small",
        wrong=True,
        mechanism=laplace(AGES),
        distance=ADD,
        standard=PURE,
        budget={"epsilon": "0.999"},
    )


def _concentrated() -> Iterator[Case]:
    """Gaussian and discrete Gaussian noise, concentrated privacy: rho = (answers that move) / (2 variance)."""
    shapes = (("table", (AGES,), 1, 2), ("adults", (ADULTS,), 1, 2), ("levels", LEVELS, 2, 4))
    for kind, noise in (("gaussian", gaussian), ("discrete-gaussian", discrete)):
        for shape, queries, added, replaced in shapes:
            for way, distance, moved in (("add-remove", ADD, added), ("replace-one", REPLACE, replaced)):
                name = f"{kind}-{shape}-{way}"
                says = f"{kind} noise of variance 8 on the {shape}: {moved} answers move by one, {way}"
                yield Case(
                    name=name,
                    says=says,
                    mechanism=noise(*queries),
                    distance=distance,
                    standard=RHO,
                    budget={"rho": f"{moved}/16"},
                )
                if moved > 1:
                    yield Case(
                        name=f"{name}-one-answer",
                        says=f"rho for one moving answer where there are {moved}",
                        wrong=True,
                        mechanism=noise(*queries),
                        distance=distance,
                        standard=RHO,
                        budget={"rho": "1/16"},
                    )
        yield Case(
            name=f"{kind}-levels-forgotten",
            says="two tables released, the budget of one: composition is forgotten",
            mechanism=noise(*LEVELS),
            distance=REPLACE,
            standard=RHO,
            budget={"rho": "2/16"},
            wrong=True,
        )
        yield Case(
            name=f"{kind}-variance-as-deviation",
            says="the standard deviation, 8, taken for the variance",
            wrong=True,
            mechanism=noise(AGES),
            distance=ADD,
            standard=RHO,
            budget={"rho": "1/128"},
        )
        yield Case(
            name=f"{kind}-without-a-half",
            says="rho = 1/(4 variance): the half is taken twice",
            wrong=True,
            mechanism=noise(AGES),
            distance=ADD,
            standard=RHO,
            budget={"rho": "1/32"},
        )


def _approximate() -> Iterator[Case]:
    """Gaussian noise, (epsilon, delta)-privacy between neighbours, exactly (Balle and Wang 2018, Theorem 8)."""
    for way, distance, budget, less in (
        ("add-remove", NEIGHBOUR_ADD, "1.5437", "1.5436"),
        ("replace-one", NEIGHBOUR_REPLACE, "2.2541", "2.2540"),
    ):
        yield Case(
            name=f"gaussian-delta-{way}",
            says=f"Gaussian noise of variance 8, epsilon at delta = 1e-6, {way}",
            mechanism=gaussian(AGES),
            distance=distance,
            standard=APPROXIMATE,
            budget={"epsilon": budget},
        )
        yield Case(
            name=f"gaussian-delta-{way}-rounded-down",
            says="the same epsilon, rounded down in its fourth decimal",
            mechanism=gaussian(AGES),
            distance=distance,
            standard=APPROXIMATE,
            budget={"epsilon": less},
            wrong=True,
        )
    yield Case(
        name="gaussian-delta-other-neighbours",
        says="epsilon of an added record, promised for a replaced one",
        mechanism=gaussian(AGES),
        distance=NEIGHBOUR_REPLACE,
        standard=APPROXIMATE,
        budget={"epsilon": "1.5437"},
        wrong=True,
    )
    for calibration, wrong in (("standard", False), ("lecture", True)):
        noise = {"type": "gaussian", "queries": [TOTAL], "calibration": calibration, "epsilon": "1/2", "delta": "1e-6"}
        says = {"standard": "the variance of Dwork and Roth 2014", "lecture": "the variance without the factor 2"}[calibration]
        yield Case(
            name=f"gaussian-{calibration}-calibration",
            says=says,
            mechanism=noise,
            distance=NEIGHBOUR_ADD,
            standard=APPROXIMATE,
            budget={"epsilon": "1/2"},
            wrong=wrong,
        )
    yield Case(
        name="gaussian-calibrated-for-one-of-two",
        says="calibrated for one answer, two move",
        wrong=True,
        mechanism={"type": "gaussian", "queries": [*LEVELS], "calibration": "standard", "epsilon": "1/2", "delta": "1e-6"},
        distance=NEIGHBOUR_REPLACE,
        standard=APPROXIMATE,
        budget={"epsilon": "1/2"},
    )


def _universes() -> Iterator[Case]:
    """Claims inside the universes of facts that are published as they are."""
    for fact, published in (("total", TOTAL), ("regions", REGIONS)):
        yield Case(
            name=f"laplace-{fact}-published",
            says=f"the {fact} published: one record can only be replaced",
            mechanism=laplace(AGES),
            distance=ADD,
            standard=PURE,
            budget={"epsilon": "1"},
            published=(published,),
        )
    yield Case(
        name="levels-regions-published",
        says="regions published: of the two levels only the counties move",
        mechanism=discrete(*LEVELS),
        distance=REPLACE,
        standard=RHO,
        budget={"rho": "2/16"},
        published=(REGIONS,),
    )
    yield Case(
        name="levels-regions-published-halved",
        says="regions published, and the counties forgotten too",
        wrong=True,
        mechanism=discrete(*LEVELS),
        distance=REPLACE,
        standard=RHO,
        budget={"rho": "1/16"},
        published=(REGIONS,),
    )
    yield Case(
        name="margins-published",
        says="regions and sexes published: records exchange what they do not share",
        mechanism=laplace(table("region", "sex")),
        distance=REPLACE,
        standard=PURE,
        budget={"epsilon": "2"},
        published=(REGIONS, table("sex")),
    )
    yield Case(
        name="margins-published-as-free",
        says="two published margins taken for leaving nothing to protect",
        wrong=True,
        mechanism=laplace(table("region", "sex")),
        distance=REPLACE,
        standard=PURE,
        budget={"epsilon": "1/100"},
        published=(REGIONS, table("sex")),
    )
    yield Case(
        name="free-inside",
        says="what the universes fix costs nothing: regions published, noise on regions only",
        mechanism=laplace(REGIONS),
        distance=REPLACE,
        standard=PURE,
        budget={"epsilon": "0"},
        published=(REGIONS,),
    )
    yield Case(
        name="free-inside-of-another",
        says="sexes published, noise on regions taken to cost nothing",
        wrong=True,
        mechanism=laplace(REGIONS),
        distance=REPLACE,
        standard=PURE,
        budget={"epsilon": "0"},
        published=(table("sex"),),
    )


def _households() -> Iterator[Case]:
    """Two units: households and the persons in them."""
    homes, persons = table("block", "tenure", unit="household"), table("block", "age")
    yield Case(
        name="households-by-block",
        says="households by block and tenure, one household replaced",
        space=HOMES,
        mechanism=discrete(homes),
        distance=HOME,
        standard=RHO,
        budget={"rho": "2/16"},
    )
    yield Case(
        name="households-by-block-one-answer",
        says="a replaced household counted once",
        space=HOMES,
        wrong=True,
        mechanism=discrete(homes),
        distance=HOME,
        standard=RHO,
        budget={"rho": "1/16"},
    )
    yield Case(
        name="persons-by-block",
        says="persons by block and age, one person replaced",
        space=HOMES,
        mechanism=discrete(persons),
        distance=REPLACE,
        standard=RHO,
        budget={"rho": "2/16"},
    )
    yield Case(
        name="persons-by-block-one-answer",
        says="a replaced person counted once",
        space=HOMES,
        wrong=True,
        mechanism=discrete(persons),
        distance=REPLACE,
        standard=RHO,
        budget={"rho": "1/16"},
    )
    yield Case(
        name="households-promised-per-person",
        says="a table of households, promised per person",
        space=HOMES,
        wrong=True,
        mechanism=discrete(homes),
        distance=REPLACE,
        standard=RHO,
        budget={"rho": "2/16"},
    )
    yield Case(
        name="persons-promised-per-household",
        says="a table of persons, promised per household of any size",
        space=HOMES,
        mechanism=discrete(persons),
        distance=HOME,
        standard=RHO,
        budget={"rho": "2/16"},
        wrong=True,
    )


def _answers() -> Iterator[Case]:
    """Randomised response of a hundred thousand people."""
    for keep, odds in (("3/4", 3), ("1/4", 3), ("9/10", 9)):
        mechanism = {"type": "randomised-response", "keep_probability": keep}
        name = f"response-{keep.replace('/', '-of-')}"
        yield Case(
            name=name,
            says=f"the truth with probability {keep}",
            space=BITS,
            mechanism=mechanism,
            distance=ANSWER,
            standard=PURE,
            budget={"epsilon": f"ln({odds})"},
        )
        yield Case(
            name=f"{name}-odds-halved",
            says="the odds of the truth, halved",
            space=BITS,
            mechanism=mechanism,
            distance=ANSWER,
            standard=PURE,
            budget={"epsilon": f"ln({odds}/2)"},
            wrong=True,
        )
    yield Case(
        name="lecture-response",
        says="a coin for the truth, another for the lie",
        space=BITS,
        mechanism={"type": "lecture-randomised-response"},
        distance=ANSWER,
        standard=PURE,
        budget={"epsilon": "ln(3)"},
    )
    yield Case(
        name="lecture-response-two-coins",
        says="epsilon = ln 2, as if the second coin were the only lie",
        space=BITS,
        mechanism={"type": "lecture-randomised-response"},
        distance=ANSWER,
        standard=PURE,
        budget={"epsilon": "ln(2)"},
        wrong=True,
    )


# --- files and page -------------------------------------------------------------------------------


def text_of(case: Case) -> str:
    """The file of one claim."""
    return "# Written by python -m reproductions.everyday.\n" + to_toml(case.document(), installed().registry)


def page() -> Iterator[str]:
    """Every claim with what the engine found."""
    yield "# Everyday mechanisms and common mistakes\n"
    yield "`python -m reproductions.everyday specs/mechanisms docs/mechanisms.md` generates this page. Each claim is verified on"
    yield "the whole space ([proofs](proofs.md)). The spaces are:\n"
    yield "* any number of people, with 16 regions, 400 counties, 116 ages and two sexes;"
    yield "* households of any size in 100,000 blocks;"
    yield "* a hundred thousand answers of yes or no;"
    yield "* any number of people who each report an answer, one of 2,925 codes or one of a million words;"
    yield "* a survey of three people over time.\n"
    for wrong, title in ((False, "Correct claims"), (True, "Mistakes")):
        listed = [case for case in cases() if case.wrong is wrong]
        yield f"## {title} ({len(listed)})\n"
        yield "| claim | budget | constant | found |\n|---|---|---|---|"
        for case in listed:
            yield _line(case)
        yield ""


def _line(case: Case) -> str:
    (claim,) = verify(case.document()).obligations
    verdict = claim.verdict
    assert verdict is not None  # noqa: S101 - a claim that was judged
    (result,) = verdict.universes
    budget = ", ".join(f"{name} = {value}" for name, value in case.budget.items())
    if verdict.witness is None:
        found = "proved; tight" if result.is_tight else "proved; the pair attains it" if result.constant.is_exact else "proved"
        found += f"; {case.gap}" if case.gap else ""
        constant = str(result.constant)
    else:
        found = f"x = {verdict.witness.left}, x' = {verdict.witness.right}"
        found = found if len(found) < 160 else f"a pair of {case.space['type']} at distance {verdict.witness.distance}"
        constant = f"at least {result.constant.lower}"
    return f"| [{case.says}](../specs/mechanisms/{case.path}) | {budget} | {constant} | {found} |"


def main() -> None:
    """Write a file for each claim, and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("page", type=Path)
    given = parser.parse_args()
    (given.directory / "mistakes").mkdir(parents=True, exist_ok=True)
    for case in cases():
        (given.directory / case.path).write_text(text_of(case), encoding="utf-8")
    given.page.write_text("\n".join(page()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
