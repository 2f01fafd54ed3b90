"""`dpspec attack`: scores against Bayes' theorem by enumeration, counterfactuals, intervals, and what must not be told."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_attackers import IntegerProgram, NearestDonor
from dpspec_census import DerangementSwapping

import dpspec as dp
from dpspec.base.errors import (
    AttackerMisfitError,
    DpspecError,
    ParameterError,
    PluginContractError,
    TableError,
    UnknownNameError,
)
from dpspec.cli import main
from dpspec.plugin import AttackGuess, AttackScene, Marginal
from dpspec.plugin.applications import as_document
from dpspec.report.json import output_schema

SPECS = Path(__file__).parents[3] / "specs"
SWAP = SPECS / "swapping-derangement.dpspec.toml"
SIZES, TENURES, COUNTIES = ("1", "2"), ("owned", "rented"), ("Dukes", "Nantucket")


def table(folder: Path, records: list[tuple[str, str, str]], name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(["size,tenure,county", *(",".join(record) for record in records)]) + "\n", encoding="utf-8")
    return path


# --- an oracle that shares no code: lists of records, and a swap that is written out ---------------


def swap_law(records: list[tuple[str, str, str]], rate: Fraction) -> dict[tuple, Fraction]:
    """Records are selected independently, and again while one of a size is selected alone; then counties are deranged."""
    law: dict[tuple, Fraction] = {(): Fraction(1)}
    for size in SIZES:
        stratum = [record for record in records if record[0] == size]
        weights: dict[tuple, Fraction] = {}
        for chosen in itertools.product((0, 1), repeat=len(stratum)):
            if sum(chosen) == 1:
                continue
            mass = Fraction(1)
            for one in chosen:
                mass *= rate if one else 1 - rate
            places = [place for place, one in enumerate(chosen) if one]
            ways = [p for p in itertools.permutations(places) if all(a != b for a, b in zip(places, p, strict=True))]
            for way in ways:
                moved = list(stratum)
                for place, origin in zip(places, way, strict=True):
                    moved[place] = (*stratum[place][:2], stratum[origin][2])
                key = tuple(sorted(moved))
                weights[key] = weights.get(key, Fraction(0)) + mass / len(ways)
        total = sum(weights.values())
        law = _combined(law, weights, total)
    return law


def _combined(law: dict, weights: dict, total: Fraction) -> dict[tuple, Fraction]:
    found: dict[tuple, Fraction] = {}
    for (done, p), (part, w) in itertools.product(law.items(), weights.items()):
        key = tuple(sorted((*done, *part)))
        found[key] = found.get(key, Fraction(0)) + p * w / total
    return found


def facts(records) -> tuple:
    return (tuple(sorted((r[0], r[1]) for r in records)), tuple(sorted((r[0], r[2]) for r in records)))


def bayes_score(records, others, known_places, secret_place, rate) -> Fraction:
    """How likely the Bayes rule, over all *lists* with these facts, names the secret of `records[target]`, target uniform."""
    total = Fraction(0)
    kinds = list(itertools.product(SIZES, TENURES, COUNTIES))
    for target, data in enumerate(others):
        lists = [x for x in itertools.product(kinds, repeat=len(data)) if facts(x) == facts(data)]
        laws = {x: swap_law(list(x), rate) for x in {tuple(sorted(x)) for x in lists}}
        truth = records[target][secret_place]
        for output, probability in swap_law(list(data), rate).items():
            belief: dict[str, Fraction] = {}
            for x, place in itertools.product(lists, range(len(data))):
                if all(x[place][k] == records[target][k] for k in known_places):
                    mass = laws[tuple(sorted(x))].get(output, Fraction(0))
                    if mass:
                        belief[x[place][secret_place]] = belief.get(x[place][secret_place], Fraction(0)) + mass
            best = [value for value, mass in belief.items() if mass == max(belief.values())]
            share = Fraction(truth in best, len(best)) if best else Fraction(1, 2)
            total += probability * share / len(records)
    return total


TABLES = [
    [("1", "owned", "Dukes"), ("1", "rented", "Nantucket"), ("1", "rented", "Dukes")],
    [("1", "owned", "Dukes"), ("1", "rented", "Nantucket"), ("2", "rented", "Dukes")],
    [("1", "owned", "Dukes"), ("1", "owned", "Dukes"), ("1", "rented", "Nantucket")],
]


@pytest.mark.parametrize("records", TABLES)
@pytest.mark.parametrize(("known", "places"), [(["size", "tenure"], (0, 1)), (["size"], (0,))])
def test_the_score_of_the_most_likely_record_is_that_of_bayes(records, known, places, tmp_path) -> None:
    found = dp.attack(SWAP, table(tmp_path, records), secret=["county"], known=known, attacker="most-likely-record")
    assert found["method"] == "exact"
    (one,) = found["attacks"]
    rate = Fraction(3, 5)
    assert Fraction(one["with"]["value"]) == bayes_score(records, [records] * len(records), places, 2, rate)
    without = [[r for place, r in enumerate(records) if place != target] for target in range(len(records))]
    assert Fraction(one["without"]["value"]) == bayes_score(records, without, places, 2, rate)
    assert Fraction(one["gain"]["value"]) == Fraction(one["with"]["value"]) - Fraction(one["without"]["value"])


@pytest.mark.slow
def test_the_score_of_four_records_is_that_of_bayes(tmp_path) -> None:
    records = [*TABLES[0], ("2", "owned", "Dukes")]
    found = dp.attack(SWAP, table(tmp_path, records), secret=["county"], attacker="most-likely-record")
    assert Fraction(found["attacks"][0]["with"]["value"]) == bayes_score(records, [records] * 4, (0, 1), 2, Fraction(3, 5))


def test_the_nearest_donor_reads_the_released_records(tmp_path) -> None:
    records = TABLES[0]
    found = dp.attack(SWAP, table(tmp_path, records), secret=["county"], attacker="nearest-donor")
    score = Fraction(0)
    for target, (output, mass) in itertools.product(records, swap_law(records, Fraction(3, 5)).items()):
        donors = [r[2] for r in output if r[:2] == target[:2]]
        best = [v for v in set(donors) if donors.count(v) == max(map(donors.count, donors))]
        score += mass * Fraction(target[2] in best, len(best)) / 3
    assert Fraction(found["attacks"][0]["with"]["value"]) == score


def test_the_integer_program_claims_what_the_exact_tables_determine(tmp_path) -> None:
    """The one record of size 2 is known from the exact tables alone, and not where it is left out."""
    records = [*TABLES[0], ("2", "owned", "Dukes")]
    (one,) = dp.attack(SWAP, table(tmp_path, records), secret=["county"], attacker="integer-program")["attacks"]
    assert (one["with"]["claims"], one["with"]["true_claims"]) == ("1", "1")
    assert one["without"]["true_claims"] == "0"
    # sizes 1: (owned, Dukes) is one of two cells with 1 possible record in either county; the two rented ones hold Dukes and
    # Nantucket or Dukes twice, so that at most 2 of them are in Dukes and at most 1 in Nantucket
    assert Fraction(one["with"]["value"]) == (Fraction(1, 2) + Fraction(0) + Fraction(1) + Fraction(1)) / 4


@pytest.mark.parametrize("seed", range(12))
def test_the_integer_program_finds_what_listing_the_universe_finds(seed: int) -> None:
    """On up to four records the datasets with the same tables are listed, whether or not the tables are decomposable."""
    drawn, names = random.Random(seed), ("size", "tenure", "county")
    kinds = list(itertools.product(SIZES, TENURES, COUNTIES))
    records = [drawn.choice(kinds) for _ in range(drawn.randint(1, 4))]
    margins = [*drawn.sample([("size", "tenure"), ("size", "county"), ("tenure", "county"), ("size",)], drawn.randint(1, 3)),
               ("county",)]  # fmt: skip

    def counts(rows, margin) -> dict:
        cells = [tuple(row[names.index(name)] for name in margin) for row in rows]
        return {cell: cells.count(cell) for cell in cells}

    target = drawn.choice(records)
    known = dict(drawn.sample([("size", target[0]), ("tenure", target[1])], drawn.randint(0, 2)))
    document = dp.read(SWAP)
    published = {Marginal(attributes=margin, unit="household"): counts(records, margin) for margin in margins}
    scene = AttackScene(
        spec=document.spec, mechanism=document.mechanism, size=len(records), published=published, released=None
    )  # fmt: skip
    universe = [rows for rows in itertools.combinations_with_replacement(kinds, len(records))
                if all(counts(rows, margin) == counts(records, margin) for margin in margins)]  # fmt: skip
    like = [[row for row in rows if all(row[names.index(name)] == value for name, value in known.items())] for rows in universe]
    largest = {county: max(sum(row[2] == county for row in rows) for rows in like) for county in COUNTIES}
    possible = {county: most for county, most in largest.items() if most}
    found = IntegerProgram().guess(scene, known, ("county",))
    assert set(found.best) == {(county,) for county, most in possible.items() if most == max(possible.values())}
    assert found.is_claim == (len(possible) == 1)
    assert not found.undecided


@pytest.mark.parametrize("ends", [0, 1, 2])
def test_where_one_program_does_not_end_no_value_is_named(monkeypatch: pytest.MonkeyPatch, ends: int) -> None:
    """Of two possible values, the one whose program ended would be claimed for certain."""
    import scipy.optimize

    real, asked = scipy.optimize.milp, itertools.count()

    def milp(*args: object, **options: object) -> object:
        return real(*args, **options) if next(asked) != ends else SimpleNamespace(status=1, x=None)

    monkeypatch.setattr(scipy.optimize, "milp", milp)
    document = dp.read(SWAP)
    published = {Marginal(attributes=("county",), unit="household"): {("Dukes",): 1, ("Nantucket",): 1}}
    scene = AttackScene(spec=document.spec, mechanism=document.mechanism, size=2, published=published, released=None)
    found = IntegerProgram().guess(scene, {}, ("county",))
    assert found.undecided is (ends < 2)  # there are two programs
    assert found.undecided or set(found.best) == {("Dukes",), ("Nantucket",)}
    assert not found.is_claim


@pytest.mark.parametrize("size", [3, 24])
@pytest.mark.parametrize("where", ["with", "without"])
def test_an_attack_that_does_not_end_may_gain_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, where: str
) -> None:
    """In the one world it is right about every target, and in the other it does not end: it may be right there, too, or never."""

    def guess(self: IntegerProgram, scene: AttackScene, known: object, secret: object) -> AttackGuess:
        decided = (scene.size == size) is (where == "without")
        return AttackGuess(best=(("Dukes",),)) if decided else AttackGuess(best=(), undecided=True)

    monkeypatch.setattr(IntegerProgram, "guess", guess)
    path = table(tmp_path, [("1", "owned", "Dukes")] * size)
    found = dp.attack(SWAP, path, secret=["county"], attacker="integer-program", targets=60, seed=1)
    assert (found["method"], found.exit_code) == ("exact" if size == 3 else "simulated", 3)
    (row,) = found["attacks"]
    low, value, high = (Fraction(row["gain"][end]) for end in ("lower", "value", "upper"))
    least, most = (-1, 0) if where == "with" else (0, 1)
    assert low <= least + Fraction(size == 24, 8)  # a simulation of 60 targets shows no more
    assert high >= most - Fraction(size == 24, 8)
    assert low <= value <= high
    for side in ("with", "without"):
        assert (Fraction(row[side]["lower"]) <= Fraction(1, 8)) is (side == where)
        assert Fraction(row[side]["upper"]) == 1
    assert "No attack that was run is right" not in str(found)


# --- simulated ------------------------------------------------------------------------------------


def many(count: int) -> list[tuple[str, str, str]]:
    kinds = list(itertools.product(SIZES, TENURES, COUNTIES))
    return [kinds[(3 * place + place // 5) % len(kinds)] for place in range(count)]


def test_a_simulation_repeats_with_its_seed_and_says_what_it_is(tmp_path) -> None:
    path = table(tmp_path, many(24))
    given = {"secret": ["county"], "targets": 40, "seed": 7}
    one, again = (dp.attack(SWAP, path, **given) for _ in range(2))
    assert one.to_dict() == again.to_dict()
    assert (one["method"], one["targets"], one["seed"]) == ("simulated", 40, 7)
    for row in one["attacks"]:
        for side in ("with", "without"):
            low, value, high = (Fraction(row[side][end]) for end in ("lower", "value", "upper"))
            assert low <= value <= high
            assert value == Fraction(row[side]["hits"], 40)
        assert Fraction(row["gain"]["lower"]) <= Fraction(row["gain"]["value"]) <= Fraction(row["gain"]["upper"])
    assert "Simulated for this table: 40 targets" in str(one)
    assert [row["attacker"] for row in one["not_run"]] == ["most-likely-record"]


@pytest.mark.slow
def test_an_omitted_target_gains_nothing(tmp_path) -> None:
    """An attacker of a release in which no record matters: tenure is uniform and independent of what is known."""
    records = [("1", TENURES[place % 2], COUNTIES[(place // 2) % 2]) for place in range(400)]
    found = dp.attack(SWAP, table(tmp_path, records), secret=["county"], attacker="nearest-donor", targets=200, seed=1)
    gain = found["attacks"][0]["gain"]
    assert Fraction(gain["lower"]) <= 0 <= Fraction(gain["upper"])


# --- a given release, the command, errors ---------------------------------------------------------


def test_a_given_release(tmp_path) -> None:
    path = table(tmp_path, many(24))
    dp.release(SWAP, path, tmp_path / "out", seed=3)
    found = dp.attack(SWAP, path, secret=["county"], release=tmp_path / "out", targets=20, seed=1)
    assert found["release"]
    assert {row["attacker"] for row in found["attacks"]} == {"nearest-donor", "integer-program"}
    other = table(tmp_path, [*many(23), ("2", "rented", "Dukes")], "other.csv")
    with pytest.raises(TableError, match="published exactly"):
        dp.attack(SWAP, other, secret=["county"], release=tmp_path / "out")
    with pytest.raises(TableError, match=r"report\.json"):
        dp.attack(SWAP, path, secret=["county"], release=tmp_path)


def test_the_command_prints_totals_and_valid_json(tmp_path) -> None:
    path = table(tmp_path, TABLES[0])
    ran = CliRunner().invoke(main, ["attack", str(SWAP), str(path), "--secret", "county", "--format", "json"])
    data = json.loads(ran.stdout)
    jsonschema.Draft202012Validator(output_schema()).validate(data)
    assert ran.exit_code == data["exit_code"] == 0
    told = CliRunner().invoke(main, ["attack", str(SWAP), str(path), "--secret", "county"]).stdout
    assert "Exact for this table" in told
    for value in (*COUNTIES, *TENURES):
        assert value not in told
        assert value not in ran.stdout


def test_the_page_shows_what_is_printed(tmp_path) -> None:
    page = (SPECS.parent / "docs" / "attack.md").read_text(encoding="utf-8")
    _, data, shown, *_ = (block.partition("```")[0] for block in page.split("```text\n"))
    path = tmp_path / "dwellings.csv"
    path.write_text(data, encoding="utf-8")
    assert str(dp.attack(SWAP, path, secret=["county"])).rstrip() == shown.rstrip()


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"secret": []}, ParameterError),
        ({"secret": ["state"]}, UnknownNameError),
        ({"secret": ["county"], "known": ["county"]}, ParameterError),
        ({"secret": ["county"], "targets": 0}, ParameterError),
        ({"secret": ["county"], "confidence": "1"}, ParameterError),
        ({"secret": ["county"], "attacker": "tester"}, UnknownNameError),
        ({"secret": ["county"], "attacker": "most-likely-record"}, DpspecError),
    ],
)
def test_what_does_not_fit_is_refused_without_a_value(given: dict, fault: type[DpspecError], tmp_path) -> None:
    with pytest.raises(fault) as found:
        dp.attack(SWAP, table(tmp_path, many(24)), **given)
    assert not any(value in str(found.value) for value in (*COUNTIES, *TENURES))


@pytest.mark.parametrize("method", ["guess", "release"])
@pytest.mark.parametrize("answer", [KeyError(*COUNTIES), COUNTIES])
def test_what_raises_or_returns_something_else_is_named_without_a_value(method, answer, monkeypatch, tmp_path) -> None:
    """An attacker or a mechanism of a plugin that failed was called a fault of dpspec, and in Python its error quoted records."""

    def broken(*_: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    broken_class = NearestDonor if method == "guess" else DerangementSwapping
    monkeypatch.setattr(broken_class, method, broken)
    with pytest.raises(PluginContractError) as found:
        dp.attack(SWAP, table(tmp_path, many(24)), secret=["county"], attacker="nearest-donor", targets=2, seed=1)
    assert broken_class.name in str(found.value)
    assert not any(value in str(found.value) for value in (*COUNTIES, *TENURES))


def test_attacks_need_a_mechanism_and_records(tmp_path) -> None:
    with pytest.raises(ParameterError, match="mechanism"):
        dp.attack(dp.read(SWAP).spec, table(tmp_path, TABLES[0]), secret=["county"])
    with pytest.raises(TableError):
        dp.attack(SWAP, table(tmp_path, []), secret=["county"])


def test_noisy_counts_are_no_records(tmp_path) -> None:
    document = dp.build(
        space={"type": "records", "unit": "person", "attributes": [{"name": "sex", "categories": ["f", "m"]}]},
        input_divergence={"type": "symmetric-difference", "unit": "person"}, output_divergence={"type": "d-nor"},
        budget={"rho": "1"}, mechanism={"type": "discrete-gaussian", "variance": "2", "sensitivities": ["1"],
        "queries": [{"type": "marginal", "attributes": ["sex"], "unit": "person"}]},
    )  # fmt: skip
    path = tmp_path / "people.csv"
    path.write_text("sex\nf\nm\n", encoding="utf-8")
    with pytest.raises(AttackerMisfitError, match="records"):
        dp.attack(document, path, secret=["sex"], attacker="nearest-donor", targets=2)


def test_a_table_in_no_universe_is_said_to_be_so(tmp_path):
    """Nothing is promised about a table that no listed universe holds; the attack is run, and its answer says so."""
    space = dp.records(sex=["f", "m"], ill=["no", "yes"], most=3)
    universe = dp.explicit(universes_by_label={"one": [[], [["f", "yes"], ["m", "no"]]]})
    promise = dp.spec(space=space, multiverse=universe, distance="symmetric-difference", standard="pure", epsilon=1)
    design = as_document(promise, mechanism=dp.permutation_swapping(swap=["sex"], swap_rate="1/2", unit="person"))
    for rows, outside in (("f,yes\nm,no\n", False), ("f,yes\nm,yes\n", True)):
        (tmp_path / "people.csv").write_text(f"sex,ill\n{rows}")
        found = dp.attack(design, tmp_path / "people.csv", secret=["ill"], attacker="nearest-donor")
        assert found["table"]["outside"] is outside
        assert ("lies in no universe" in str(found)) is outside


@pytest.mark.parametrize("least", [2, 3])
def test_a_space_without_datasets_of_one_record_fewer_has_no_counterfactual(tmp_path, least):
    """Of at least three records, the mechanism releases no two: whether its law is listed or drawn."""
    (tmp_path / "people.csv").write_text("sex,ill\nf,yes\nm,no\nm,yes\n")
    people = dp.records(sex=["f", "m"], ill=["no", "yes"], least=least)
    promise = dp.spec(space=people, distance="hamming", standard="pure", epsilon=9)
    noise = dp.geometric(queries=[dp.marginal(attributes=["sex"])], sensitivity=2, epsilon=1, neighbours="replace-one")
    for mechanism in (noise, dp.permutation_swapping(swap=["sex"], swap_rate="1/2", unit="person")):
        asked = {"secret": ["ill"], "targets": 5, "seed": 1}
        if least == 2:
            assert dp.attack(as_document(promise, mechanism=mechanism), tmp_path / "people.csv", **asked)["attacks"]
            continue
        with pytest.raises(AttackerMisfitError, match="one record fewer"):
            dp.attack(as_document(promise, mechanism=mechanism), tmp_path / "people.csv", **asked)
