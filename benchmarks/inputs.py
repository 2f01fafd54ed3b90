"""The files that the lines of the benchmarks read: specifications and tables of any size, the same bytes every time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SPECS = ROOT / "specs"

DWELLING = {"stratum": 22_000, "tract": 64, "size": 8, "tenure": 2, "rooms": 12, "value": 100, "race": 6, "age": 75}
"""The columns of a made-up dwelling and their numbers of categories."""
LARGEST_STRATUM = 0.274
"""The share of the largest stratum: 13.7 of 50 million, as that of the two-person households of the United States."""


def dwellings(folder: Path, count: int) -> tuple[Path, Path]:
    """A Parquet file of made-up dwellings in strata of Pareto sizes, and the specification that swaps their tracts."""
    import polars as pl

    draw = np.random.default_rng(count)
    shares = draw.pareto(1.1, DWELLING["stratum"]) + 0.02
    shares[0] = 0
    shares *= (1 - LARGEST_STRATUM) / shares.sum()
    shares[0] = LARGEST_STRATUM
    columns = {"stratum": draw.choice(DWELLING["stratum"], count, p=shares).astype(np.uint16)}
    for name, kinds in list(DWELLING.items())[1:]:
        columns[name] = draw.integers(0, kinds, count, dtype=np.uint8)
    table = folder / "dwellings.parquet"
    pl.DataFrame(columns).write_parquet(table)
    attributes = ", ".join(f'{{ name = "{name}", count = {kinds} }}' for name, kinds in DWELLING.items())
    kept = [["stratum", "tract"], ["stratum", "size", "tenure"]]
    invariants = ", ".join(f'{{ type = "marginal", unit = "household", attributes = {json.dumps(names)} }}' for names in kept)
    text = (
        'schema = 1\nid = "dwellings"\ntitle = "Made-up dwellings, tracts exchanged inside strata"\n'
        f'[space]\ntype = "records"\nunit = "household"\nattributes = [{attributes}]\n'
        f"[multiverse]\ninvariants = [{invariants}]\n"
        '[input_divergence]\ntype = "hamming"\nunit = "household"\n[output_divergence]\ntype = "mult"\n'
        '[budget]\nepsilon = "inf"\n[mechanism]\ntype = "permutation-swapping"\nmatch = ["stratum"]\nswap = ["tract"]\n'
        'swap_rate = "1/2"\nunit = "household"\n'
    )
    return table, written(folder / "dwellings.dpspec.toml", text)


def cells(folder: Path, count: int) -> tuple[Path, Path]:
    """A Parquet file of as many records as cells, and the specification of geometric noise of ratio 0.99 on each cell."""
    import polars as pl

    table = folder / "cells.parquet"
    pl.DataFrame({"cell": np.random.default_rng(count).integers(0, count, count, dtype=np.uint32)}).write_parquet(table)
    text = counted(f'{{ name = "cell", count = {count} }}', [["cell"]], "geometric", 'ratio = "0.99"', '"1/10"')
    return table, written(folder / "cells.dpspec.toml", text)


PARTITION = 250_000
"""Records of a made-up partition."""


def partitions(folder: Path, count: int) -> tuple[Path, Path]:
    """A folder of Parquet files with made-up persons, and the specification of geometric noise on two tables of them."""
    import polars as pl

    table = folder / "persons"
    table.mkdir(exist_ok=True)
    kinds = {"state": 50, "age": 100, "tenure": 3, "sex": 2}
    for begin in range(0, count, PARTITION):
        draw, rows = np.random.default_rng(begin), min(PARTITION, count - begin)
        columns = {name: draw.integers(0, size, rows, dtype=np.uint8) for name, size in kinds.items()}
        pl.DataFrame(columns).write_parquet(table / f"part-{begin // PARTITION:05}.parquet")
    attributes = ", ".join(f'{{ name = "{name}", count = {size} }}' for name, size in kinds.items())
    text = counted(attributes, [["state", "age", "sex"], ["state", "tenure"]], "geometric", 'ratio = "1/2"', '"2"')
    return table, written(folder / "persons.dpspec.toml", text)


def counted(attributes: str, tables: Iterable[Iterable[str]], noise: str, parameters: str, budget: str, invariants: str = "") -> str:
    """A specification of records that may be added and removed, with noise on some tables of counts."""
    queries = ", ".join(f'{{ type = "marginal", attributes = {json.dumps(list(names))} }}' for names in tables)
    return (
        'schema = 1\nid = "counted"\ntitle = "Noise on tables of counts"\n'
        f'[space]\ntype = "records"\nattributes = [{attributes}]\n[multiverse]\ninvariants = [{invariants}]\n'
        '[input_divergence]\ntype = "symmetric-difference"\n[output_divergence]\ntype = "mult"\n'
        f"[budget]\nepsilon = {budget}\n"
        f'[mechanism]\ntype = "{noise}"\nqueries = [{queries}]\n{parameters}\n'
    )


def one_way_tables(folder: Path, count: int) -> Path:
    """One-way tables over as many attributes, with Laplace noise on each."""
    names = [f"a{k}" for k in range(count)]
    attributes = ", ".join(f'{{ name = "{name}", count = 5 }}' for name in names)
    text = counted(attributes, [[name] for name in names], "laplace", f'sensitivity = "{count}"\nepsilon = "1"', '"1"')
    return written(folder / "one-way.dpspec.toml", text)


def one_way_invariants(folder: Path, count: int) -> Path:
    """One table with Laplace noise, and as many one-way tables of other attributes published exactly."""
    names = [f"a{k}" for k in range(count)]
    attributes = ", ".join(f'{{ name = "{name}", count = 5 }}' for name in ("noisy", *names))
    kept = ", ".join(f'{{ type = "marginal", attributes = ["{name}"] }}' for name in names)
    text = counted(attributes, [["noisy"]], "laplace", 'sensitivity = "1"\nepsilon = "1"', '"1"', kept)
    return written(folder / "invariants.dpspec.toml", text)


def equal_promises(folder: Path, count: int) -> list[Path]:
    """As many files with the same promise and different ids."""
    text = counted('{ name = "a", count = 5 }', [["a"]], "laplace", 'sensitivity = "1"\nepsilon = "1/100"', '"1/100"')
    return [written(folder / f"wave-{k}.dpspec.toml", text.replace('"counted"', f'"wave-{k}"')) for k in range(count)]


def different_promises(folder: Path, count: int) -> list[Path]:
    """As many files with promises of different budgets, each with a mechanism that keeps it."""
    found = []
    for k in range(1, count + 1):
        text = counted('{ name = "a", count = 5 }', [["a"]], "laplace", f'sensitivity = "1"\nepsilon = "{k}/100"', f'"{k}/100"')
        found.append(written(folder / f"wave-{k}.dpspec.toml", text.replace('"counted"', f'"wave-{k}"')))
    return found


def persons_of_2020(folder: Path, blocks: int) -> Path:
    """The persons of the 2020 redistricting file with as many blocks; every level of the hierarchy still branches."""
    text = (SPECS / "census-2020" / "pl-persons.dpspec.toml").read_text(encoding="utf-8")
    largest = (51, 3143, 84_000, 240_000, 8_100_000)
    levels = ("state", "county", "tract", "block-group", "block")
    for least, (name, most) in zip((2, 3, 4, 6, 8), zip(levels, largest, strict=True), strict=True):
        nodes = max(least, most * blocks // largest[-1])
        text = re.sub(rf'(name = "{name}", count = )\d+', rf"\g<1>{nodes}", text)
    return written(folder / "persons.dpspec.toml", text)


HISTOGRAM = '''\
import numpy as np
from collections.abc import Sequence


def histogram(records: Sequence[int], rng: np.random.Generator) -> list[float]:
    return [count + rng.laplace(0, {scale}) for count in np.bincount(records, minlength=10).tolist()]
'''


def histogram(folder: Path, scale: str) -> tuple[Path, str]:
    """A ten-bin histogram as plain code with Laplace noise, and the claim that it costs epsilon = 1."""
    text = (
        'schema = 1\nid = "histogram"\ntitle = "A histogram of ten bins"\n'
        '[space]\ntype = "value-lists"\nvalues = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n'
        '[multiverse]\ninvariants = []\n[input_divergence]\ntype = "symmetric-difference"\n'
        '[output_divergence]\ntype = "mult"\n[budget]\nepsilon = "1"\n'
    )
    written(folder / "histogram.py", HISTOGRAM.format(scale=scale))
    return written(folder / "histogram.dpspec.toml", text), "histogram:histogram"


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def account(folder: Path, charges: int) -> tuple[Path, Path]:
    """An account to which so many equal releases are charged, and the specification of one more."""
    from dpspec_accounts.account import Account, text_of
    from dpspec_accounts.history import following, sha256
    from dpspec_accounts.store import Store
    from dpspec_accounts.totals import amount_of, frame_of, nothing_of, total_with

    import dpspec as dp

    def promise(epsilon: str) -> dp.PrivacySpec:
        return dp.spec(space=dp.records(region=["north", "south"]), distance="add-remove", standard="pure", epsilon=epsilon)

    noise = dp.geometric(queries=dp.marginal(attributes="region"), ratio="999/1000")
    text = text_of(dp.SpecDocument(id="weekly", title="A weekly table", spec=promise("1/500"), mechanism=noise))
    place, file = folder / f"{charges}.db", folder / "weekly.dpspec.toml"
    file.write_text(text, encoding="utf-8")
    Account.create(place, promise("1000"))
    with Store(place).writing() as rows:
        last = rows.first()
        frame = frame_of(last.content["specification"]["text"])
        total, amount, number = nothing_of(frame), amount_of(frame, text), 0
        for _ in range(charges):
            total = total_with(frame, total, text, list)
            recorded = {"specification": {"text": text, "sha256": sha256(text)}, "verdict": "verified", "caveats": []}
            content = {**recorded, "as_promised": False, "amount": amount.data(), "total": total.data()}
            for kind, added in (("reserve", content), ("draw", {}), ("commit", {"files": {}})):
                last = following(last, kind, added, None if kind == "reserve" else number)
                number = last.seq if kind == "reserve" else number
                rows.add(last)
    return place, file
