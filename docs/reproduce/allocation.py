"""Section 7 of the frequentist and Bayesian source: the allocation of the 2020 Census budget."""

from __future__ import annotations

from fractions import Fraction

from dpspec_census.configuration_2020 import (
    BASE,
    LEVEL_SHARES,
    LEVELS,
    PRINTED_FAIRFAX,
    QUERIES,
    rho_star,
    spending,
    spent,
)

from reproduce.layout import Page, Table, beside

SINGLE = "0.000412195 0.00131707 0.000681402 0.00052299 0.00057411 0.000125762"
RHO_STAR = {
    "total": "0 0.828219 0.213006 0.163905 0.326286 0.000125762",
    "cenrace": "0.00082439 0.00131707 0.000681402 0.000836784 0.00057411 0.000226372",
    "hispanic": SINGLE,
    "votingage": SINGLE,
    "hhinstlevels": SINGLE,
    "hhgq": SINGLE,
    "hispanic-x-cenrace": "0.00206098 0.00263415 0.00190793 0.202188 0.201895 0.000528201",
    "votingage-x-cenrace": "0.00206098 0.00263415 0.00190793 0.00209196 0.00172233 0.000528201",
    "votingage-x-hispanic": SINGLE,
    "votingage-x-hispanic-x-cenrace": "0.00700732 0.00746341 0.00688216 0.00700806 0.00459288 0.00178582",
    "hhgq-x-votingage-x-hispanic-x-cenrace": "0.0509378 0.0504878 0.0513777 0.0504162 0.246485 0.0992264",
    "occupancy": "0.000341463 0.000341463 0.00597561 0.0248585 0.0300317 0.00845122",
}
TOTALS = "0.065294 0.899683 0.285146 0.453919 0.814457 0.111501"
UPWARD = "2.630000 2.564706 1.665023 1.379877 0.925958 0.111501"


def page() -> Page:
    """Section 8.1, Tables 3 to 5."""
    return Page(
        name="census-allocation",
        title="The budget of the 2020 Census redistricting file (frequentist and Bayesian semantics, section 7)",
        tables=(facts(), shares(), examples(), budgets()),
        panels=(),
    )


def facts() -> Table:
    """The whole budget and what it is spent on."""
    persons = [query for query in QUERIES if query.unit == "person"]
    moves = spent(lambda query, level: (query.name, level) != ("total", "state"))
    rows = (
        ("rho of persons, Table 3", str(float(BASE["person"])), "2.56"),
        ("rho of housing units, Table 3", str(float(BASE["household"])), "0.07"),
        ("rho, as the sum along a path, Section 8.1", str(float(spent(lambda *_: True))), "2.63"),
        ("cells of a unit, persons", str(sum(query.cells for query in persons)), ""),
        ("(query, level) pairs that spend", str(len(list(spending()))), ""),
        ("rho of a move within a state, whose total is invariant", f"{float(moves):.6f}", ""),
    )
    remark = "Where nothing is printed the number is derived; the effect of the invariants is left out (Sections 8.1 and 10)."
    return Table(heading="Section 8, Table 3: the whole", columns=("what", "recomputed", "printed"), rows=rows, remark=remark)


def shares() -> Table:
    """The fractions of Tables 4 and 5, with the sums of their columns."""
    rows = [(f"level, {unit}", *map(str, parts), str(sum(parts))) for unit, parts in LEVEL_SHARES.items()]
    rows += [(query.name, *map(str, query.shares), "") for query in QUERIES if query.unit == "person"]
    columns = [sum((q.shares[i] for q in QUERIES if q.unit == "person"), Fraction(0)) for i in range(len(LEVELS))]
    rows.append(("sum of the queries", *map(str, columns), ""))
    return Table(
        heading="Tables 4 and 5: shares of the levels, and of the person queries within them",
        columns=("", *LEVELS, "sum"),
        rows=tuple(rows),
        remark="The fractions are as printed, in lowest terms; that all shares sum to 1 is recomputed.",
    )


def examples() -> Table:
    """The three budgets that the text works out."""
    race, occupancy = (next(q for q in QUERIES if q.name == name) for name in ("votingage-x-cenrace", "occupancy"))
    rows = tuple(
        (f"{query.name}, {level}", beside(float(rho_star(query, level)), printed))
        for query, level, printed in (
            (occupancy, "county", "0.0060"),
            (race, "state", "0.0026"),
            (race, "county", f"{float(PRINTED_FAIRFAX):.4f}"),
        )
    )
    remark = "No entry of the tables gives a rho* near 0.0175, printed for Fairfax County."
    return Table(
        heading="Section 8.1: rho* of a query, the printed one in brackets",
        columns=("what", "rho*"),
        rows=rows,
        remark=remark,
    )


def budgets() -> Table:
    """rho* of every query in a unit of every level."""
    rows = [
        (q.name, *(beside(float(rho_star(q, a)), text, 6) for a, text in zip(LEVELS, RHO_STAR[q.name].split(), strict=True)))
        for q in QUERIES
    ]
    levels = [spent(lambda _, at, level=level: at == level) for level in LEVELS]  # type: ignore[misc]
    upward = [sum(levels[i:], Fraction(0)) for i in range(len(levels))]
    for name, found, texts in (("level total", levels, TOTALS), ("from the block upward", upward, UPWARD)):
        rows.append((name, *(beside(float(x), text, 6) for x, text in zip(found, texts.split(), strict=True))))
    return Table(
        heading="Tables 3 to 5: rho* of a query in a unit",
        columns=("", *LEVELS),
        rows=tuple(rows),
        remark="The source prints the shares alone; in brackets is what was computed beforehand, with other code.",
    )
