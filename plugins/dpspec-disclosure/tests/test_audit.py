"""Audits of published tables against enumeration: ranges, certificates, sums that recompute a cell, releases in time."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_checker.errors import CheckerError
from dpspec_disclosure.audit import AttackQuestion, AuditedTables, audit_tables, audit_text, certificate
from dpspec_disclosure.rule_steps import CellContents
from dpspec_disclosure.rules import read_rules

import dpspec as dp
from dpspec.base.errors import DpspecError, Faults
from dpspec.cli import main
from dpspec.report import json as report

AGES = {"child": "young", "teen": "young", "old": "old"}
"""The finest codes of age, with the code above."""
RULES = {
    "exact": '[[step]]\nrule = "rounding"\nbase = 1\n',
    "nearest": '[[step]]\nrule = "rounding"\nbase = 3\n',
    "random": '[[step]]\nrule = "random-rounding"\nbase = 3\n',
    "keys": '[[step]]\nrule = "cell-key"\nfile = "keys.csv"\n',
}
POSSIBLE: dict[str, Callable[[int], set[int]]] = {
    "exact": lambda n: {n},
    "nearest": lambda n: {min(range(0, 60, 3), key=lambda y: (abs(y - n), -y))},
    "random": lambda n: {y for y in range(0, 60, 3) if abs(y - n) < 3},
    "keys": lambda n: {n} if n == 0 else {n, n + 2} if n == 1 else {n - 1, n + 1},
}
"""What can be published of a count."""
OFF = {"exact": 0, "nearest": 2, "random": 4, "keys": 3}
"""By how much a total can be above the true one when the same number is published; the total is, in each first table."""
KEYS = "i,v,p\n1,0,0.5\n1,2,0.5\n2,-1,0.5\n2,1,0.5\n"


def publication(source: random.Random, folder: Path, kind: str) -> tuple[list, list[tuple[str, ...]], list[str], int]:
    """Random linked tables in a folder: what each row says as (column choices, written), the kinds of records, and attributes."""
    attributes = source.choice([["region", "age"], ["region", "sex"], ["region", "age"], ["region", "sex", "job"]])
    finest = {"region": ["N", "S"], "sex": ["f", "m"], "job": ["yes", "no"], "age": list(AGES)}
    kinds = list(itertools.product(*(finest[name] for name in attributes)))
    records = [source.choice(kinds) for _ in range(source.randint(1, 5 if len(kinds) > 6 else 7))]
    rows, number = [], 0
    tables = [names for size in range(1, len(attributes) + 1) for names in itertools.combinations(attributes, size)]
    for names in [tables[-1], *source.sample(tables, source.randint(1, 2))]:
        lines = [",".join([*names, "count"])]
        for codes in itertools.product(*([*finest[n], "Total", *(["young"] if n == "age" else [])] for n in names)):
            chosen = dict(zip(names, codes, strict=True))
            true = sum(fits(chosen, dict(zip(attributes, one, strict=True))) for one in records)
            everything = set(codes) == {"Total"}
            fate = 0.5 if everything else source.random()
            if fate < 0.4:
                written = "x"
            elif fate > 0.93 and kind == "exact":
                written = source.choice([f"{max(0, true - 1)}-{true + source.randint(0, 1)}", f"{max(0, true - 1)}+"])
            elif source.random() < 0.15 and not everything:
                continue
            else:
                written = str(source.choice(sorted(POSSIBLE[kind](true))))
            lines.append(",".join([*codes, written]))
            rows.append((chosen, written))
        (folder / f"t{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        number += 1
    return rows, kinds, attributes, len(records)


def fits(chosen: dict[str, str], record: dict[str, str]) -> bool:
    return all(code in {"Total", record[name], AGES.get(record[name])} for name, code in chosen.items())


def allowed(written: str, kind: str, count: int) -> bool:
    if written == "x":
        return True
    if written.endswith("+"):
        return count >= int(written[:-1])
    if "-" in written:
        low, high = map(int, written.split("-"))
        return low <= count <= high
    return int(written) in POSSIBLE[kind](count)


def all_tables(kinds: int, most: int) -> Iterator[tuple[int, ...]]:
    for total in range(most + 1):
        for ends in itertools.combinations(range(total + kinds - 1), kinds - 1):
            cuts = [-1, *ends, total + kinds - 1]
            yield tuple(b - a - 1 for a, b in itertools.pairwise(cuts))


def enumerated(rows, kinds, attributes, kind, most) -> list[tuple[int, ...] | None]:
    """For each row the least and largest count over all tables that fit."""
    named = [dict(zip(attributes, one, strict=True)) for one in kinds]
    members = [[place for place, one in enumerate(named) if fits(chosen, one)] for chosen, _ in rows]
    found: list[list[int]] = [[] for _ in rows]
    for table in all_tables(len(kinds), most):
        counts = [sum(table[place] for place in places) for places in members]
        if all(allowed(written, kind, count) for (_, written), count in zip(rows, counts, strict=True)):
            for listed, count in zip(found, counts, strict=True):
                listed.append(count)
    return [(min(listed), max(listed)) if listed else None for listed in found]


def rule_file(folder: Path, steps: str, tables: str = "", codes: str = "") -> Path:
    text = f'schema = 1\nid = "r"\ntitle = "R"\nkind = "counts"\n{steps}[tables]\nlinked = true\n'
    path = folder / "r.rules.toml"
    path.write_text(f"{text}{tables}{codes}", encoding="utf-8")
    return path


def checked(found: AuditedTables, folder: Path) -> list:
    """The certificate, recomputed by the checker."""
    path = folder / "certificate.json"
    path.write_text(json.dumps(certificate(found)), encoding="utf-8")
    return list(dp.check_bounds(path).value)


@pytest.mark.parametrize(("batch", "count"), [
    (0, 10), *(pytest.param(batch, 50, marks=pytest.mark.long if batch else pytest.mark.slow) for batch in range(10)),
])  # fmt: skip
def test_random_publications_against_enumeration(batch, count, tmp_path):
    """Ten batches of fifty: one-way to three-way tables, linked, with a hierarchy, suppressed, rounded, perturbed, in bands."""
    source = random.Random(batch)
    differ, cells, known = [], 0, 0
    for number in range(count):
        kind = ("exact", "exact", "nearest", "random", "keys")[number % 5]
        folder = tmp_path / str(number)
        (folder / "tables").mkdir(parents=True)
        rows, kinds, attributes, size = publication(source, folder / "tables", kind)
        (folder / "keys.csv").write_text(KEYS, encoding="utf-8")
        (folder / "age.csv").write_text("code,parent\nyoung,\nold,\nchild,young\nteen,young\n", encoding="utf-8")
        rules = rule_file(folder, RULES[kind], 'labels = ["region", "age", "sex", "job"]\n', '[codes]\nage = "age.csv"\n')
        found = audit_tables([folder / "tables"], read_rules(rules))
        listed = enumerated(rows, kinds, attributes, kind, size + OFF[kind])
        expected = [bounds for (_, written), bounds in zip(rows, listed, strict=True) if written == "x"]
        got = [(cell.range.low, cell.range.high) for cell in found.cells]
        if got != expected or not all(cell.range.is_exact for cell in found.cells):
            differ.append((number, got, expected))
        if found.cells:
            assert all(claim.accepted for claim in checked(found, folder)), number
        cells += len(got)
        known += sum(low == high for low, high in got)
    assert differ == []
    assert cells > 2 * count
    assert known > count / 5


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize(("later", "most"), [("same", 0), ("grows", None), ("changes=1", 1), ("any", None)])
def test_two_releases_against_enumeration(later, most, tmp_path):
    """Twelve random pairs of releases of a two-by-two table each, every pair of tables listed."""
    source = random.Random(later)
    regions, ages = ("N", "S"), ("o", "y")
    for number in range(12):
        first = [source.randint(0, 2) for _ in range(4)]
        second = list(first)
        for _ in range(0 if later == "same" else source.randint(0, most or 2)):
            place = source.randrange(4)
            second[place] += 1 if later == "grows" or source.random() < 0.6 or not second[place] else -1
        folders, sums = [tmp_path / f"{number}-{release}" for release in (1, 2)], []
        for folder, table in zip(folders, (first, second), strict=True):
            folder.mkdir()
            lines, written = ["region,age,count"], []
            for region, age in itertools.product((*regions, "Total"), (*ages, "Total")):
                places = [2 * i + j for i, a in enumerate(regions) for j, b in enumerate(ages)
                          if region in (a, "Total") and age in (b, "Total")]  # fmt: skip
                text = "x" if len(places) < 4 and source.random() < 0.5 else str(sum(table[place] for place in places))
                lines.append(f"{region},{age},{text}")
                written.append((places, text))
            sums.append(written)
            (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        rules = rule_file(tmp_path, '[[step]]\nrule = "rounding"\nbase = 1\n', 'labels = ["region", "age"]\n')
        found = audit_tables(folders, read_rules(rules), later)
        tables = [
            [t for t in all_tables(4, sum(true)) if all(s == "x" or sum(t[p] for p in places) == int(s) for places, s in written)]
            for true, written in zip((first, second), sums, strict=True)
        ]
        pairs = [(a, b) for a in tables[0] for b in tables[1] if related(later, a, b)]
        expected = []
        for release, written in enumerate(sums):
            for places, text in written:
                if text == "x":
                    values = [sum(pair[release][place] for place in places) for pair in pairs]
                    expected.append((min(values), max(values)))
        assert [(cell.range.low, cell.range.high) for cell in found.cells] == expected, number
        assert all(claim.accepted for claim in checked(found, tmp_path)) if found.cells else True


def related(later: str, before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    moves = [b - a for a, b in zip(before, after, strict=True)]
    if later == "same":
        return not any(moves)
    if later == "grows":
        return min(moves) >= 0
    return later == "any" or sum(map(abs, moves)) <= int(later.partition("=")[2])


def listed_tables(rows, kinds, attributes, most) -> list[tuple[int, ...]]:
    """All tables that fit, each as the counts of the kinds."""
    named = [dict(zip(attributes, one, strict=True)) for one in kinds]
    members = [[place for place, one in enumerate(named) if fits(chosen, one)] for chosen, _ in rows]
    return [
        table for table in all_tables(len(kinds), most)
        if all(allowed(w, "exact", sum(table[p] for p in places)) for (_, w), places in zip(rows, members, strict=True))
    ]  # fmt: skip


@pytest.mark.parametrize(("seed", "times"), [
    (77, 10), pytest.param(79, 20, marks=pytest.mark.slow), pytest.param(78, 60, marks=pytest.mark.long),
])  # fmt: skip
def test_attackers_against_enumeration(seed, times, tmp_path):
    """Random publications: who knows an attribute of the target, who knows nothing of it, and who knows all other records."""
    source = random.Random(seed)
    certain = gains = determined = 0
    for number in range(times):
        folder = tmp_path / str(number)
        (folder / "tables").mkdir(parents=True)
        rows, kinds, attributes, size = publication(source, folder / "tables", "exact")
        (folder / "age.csv").write_text("code,parent\nyoung,\nold,\nchild,young\nteen,young\n", encoding="utf-8")
        rules = rule_file(folder, RULES["exact"], 'labels = ["region", "age", "sex", "job"]\n', '[codes]\nage = "age.csv"\n')
        tables = listed_tables(rows, kinds, attributes, size)
        truth = source.choice(tables)
        lines = [",".join(attributes), *(",".join(kind) for kind, count in zip(kinds, truth, strict=True) for _ in range(count))]
        (folder / "records.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        secret, known = attributes[-1], attributes[0]
        question = AttackQuestion(secret=secret, known=(known,), records=folder / "records.csv")
        [found] = audit_tables([folder / "tables"], read_rules(rules), question=question).attacks
        expected = {}
        for code in (None, *dict.fromkeys(kind[0] for kind in kinds)):
            here = [p for p, kind in enumerate(kinds) if code in (None, kind[0])]
            fitting = [t for t in tables if sum(t[p] for p in here)]
            if fitting:
                shares = [
                    min(Fraction(sum(t[p] for p in here if kinds[p][-1] == s), sum(t[p] for p in here)) for t in fitting)
                    for s in dict.fromkeys(kind[-1] for kind in kinds)
                ]
                expected[code] = max(shares)
        assert found.baseline == expected.pop(None, 0)
        assert {target.known[0][1]: target.right for target in found.targets} == expected
        assert {target.known[0][1] for target in found.targets if target.certain} == {c for c, q in expected.items() if q == 1}
        counted, belief, possible = 0, Fraction(0), set(tables)
        for place, count in enumerate(truth):
            others = [p for p in range(len(kinds)) if kinds[p][0] == kinds[place][0] and kinds[p][-1] != kinds[place][-1]]
            moved = [tuple(n + (p == other) - (p == place) for p, n in enumerate(truth)) for other in others]
            counted += 0 if possible.intersection(moved) else count
            secrets = {kinds[other][-1] for other, one in zip(others, moved, strict=True) if one in possible}
            belief += Fraction(count, 1 + len(secrets))
        assert found.all_but_one is not None
        assert (found.all_but_one.determined, found.all_but_one.records) == (counted, sum(truth))
        assert found.all_but_one.belief * sum(truth) == belief
        certain += found.certain
        gains += found.gain > 0
        determined += counted
    assert min(certain, gains, determined) >= times // 10


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--secret", "colour"], "is in no table"),
        (["--secret", "age", "--known", "age"], "other attributes than the secret"),
        (["--known", "age"], "needs a secret"),
        (["--secret", "age", "--records", "short.csv"], "lacks an attribute of the tables"),
        (["--secret", "age", "--records", "strange.csv"], "has a code that the tables do not have"),
        (["--secret", "age", "--records", "few.csv"], "do not have the numbers of the published tables"),
    ],
)
def test_a_question_that_cannot_be_asked_is_one_line(options, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("short", "age\na\n"), ("strange", "region,age\nN,z\n"), ("few", "region,age\nN,a\n")):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    folder = folder_of(tmp_path / "t", one="region,age,count\nN,a,x\nN,b,x\nN,Total,9\n")
    rules = rule_file(tmp_path, NONE, LABELS)
    ran = CliRunner().invoke(main, ["rules", "audit", str(folder), "--rules", str(rules), *options])
    assert (ran.exit_code, part in ran.stderr, ran.stderr.count("\n")) == (2, True, 1)


# --- sums that recompute a cell -------------------------------------------------------------------

LABELS = 'labels = ["region", "age"]\n'
NONE = '[[step]]\nrule = "threshold"\nleast = 5\n'


def folder_of(base: Path, **tables: str) -> Path:
    base.mkdir(parents=True, exist_ok=True)
    for name, text in tables.items():
        (base / f"{name}.csv").write_text(text, encoding="utf-8")
    return base


def test_a_published_pattern_with_a_cell_that_can_be_recomputed(tmp_path):
    """Every row and column has two suppressed cells, or none, and yet one of three linked tables gives one away."""
    one = "region,age,count\nN,a,x\nN,b,x\nN,c,31\nN,Total,50\nS,a,x\nS,b,x\nS,c,22\nS,Total,61\n"
    one += "Total,a,30\nTotal,b,28\nTotal,c,53\n"
    tables = folder_of(tmp_path / "t", one=one)
    rules = read_rules(rule_file(tmp_path, NONE, LABELS))
    assert [cell.status for cell in audit_tables([tables], rules).cells] == ["open"] * 4
    folder_of(tables, two="region,age,count\nN,a,12\n")
    found = audit_tables([tables], rules)
    assert [cell.status for cell in found.cells] == ["recomputed"] * 4
    assert found.cells[1].recomputed is not None
    assert {label: int(factor) for label, factor in found.cells[1].recomputed} == {
        "t/one.csv:5 (region N)": 1, "t/one.csv:4 (region N, age c)": -1, "t/two.csv:2 (region N, age a)": -1,
    }  # fmt: skip
    assert "  = t/one.csv:5 (region N) - t/one.csv:4 (region N, age c) - t/two.csv:2 (region N, age a)" in audit_text(found)


def test_a_cell_that_is_known_because_none_is_negative_is_named_with_its_bounds(tmp_path):
    tables = folder_of(tmp_path / "t", one="region,age,count\nN,a,x\nN,b,x\nN,Total,0\n")
    found = audit_tables([tables], read_rules(rule_file(tmp_path, NONE, LABELS)))
    assert [cell.bounds for cell in found.cells] == [((), ("t/one.csv:4 (region N)",))] * 2
    assert "at least by 0, since no cell is negative\n  at most by t/one.csv:4 (region N)" in audit_text(found)


def test_columns_of_other_names_are_said_not_to_be_linked(tmp_path):
    """Under *all tables count one population* the cell is known: it is published in the other table."""
    rules = read_rules(rule_file(tmp_path, NONE, LABELS))
    one, other = "region,count\nN,x\nS,x\nTotal,31\n", "region,persons\nN,12\nS,19\nTotal,31\n"
    found = audit_tables([folder_of(tmp_path / "t", one=one, other=other)], rules)
    assert audit_text(found).endswith("assumed: numbers of columns with other names are of something else: count, persons")
    told = str(dp.rules_check(tmp_path / "t", rule_file(tmp_path, NONE, LABELS)))
    assert told.startswith("holds")
    assert told.endswith("are of something else: count, persons")
    linked = audit_tables([folder_of(tmp_path / "t", one=one, other=other.replace("persons", "count"))], rules)
    assert [cell.status for cell in linked.cells] == ["recomputed", "recomputed"]
    assert "other names" not in audit_text(linked)


def test_a_hierarchy_gives_a_cell_away(tmp_path):
    """Regions in two divisions: one suppressed region in each division, and both follow."""
    (tmp_path / "regions.csv").write_text("code,parent\nup,\ndown,\na,up\nb,up\nc,down\nd,down\n", encoding="utf-8")
    text = "region,age,count\na,Total,x\nb,Total,9\nc,Total,x\nd,Total,7\nTotal,Total,31\n"
    rules = read_rules(rule_file(tmp_path, NONE, LABELS, '[codes]\nregion = "regions.csv"\n'))
    assert [cell.status for cell in audit_tables([folder_of(tmp_path / "t", one=text)], rules).cells] == ["open", "open"]
    found = audit_tables([folder_of(tmp_path / "t", two="region,count\nup,20\n")], rules)
    assert [cell.status for cell in found.cells] == ["recomputed", "recomputed"]


def test_who_knows_that_only_small_cells_are_suppressed_knows_more(tmp_path):
    tables = folder_of(tmp_path / "t", one="region,age,count\nN,a,x\nN,b,x\nN,Total,8\n")
    for extra, low in (("", 0), ("secondary = false\n", 4)):
        rules = read_rules(rule_file(tmp_path, NONE, LABELS + extra))
        assert [cell.range.low for cell in audit_tables([tables], rules).cells] == [low, low]


def test_number_columns_may_be_the_categories_of_an_attribute(tmp_path):
    tables = folder_of(tmp_path / "t", one="region,men,women,Total\nN,x,6,10\nS,x,x,12\nTotal,9,13,22\n")
    rules = read_rules(rule_file(tmp_path, NONE, 'labels = ["region"]\nacross = "sex"\n'))
    assert [cell.status for cell in audit_tables([tables], rules).cells] == ["recomputed"] * 3


def test_numbers_that_contradict_each_other_are_named_and_certified(tmp_path):
    tables = folder_of(tmp_path / "t", one="region,age,count\nN,a,x\nN,b,9\nN,Total,8\nS,Total,7\n")
    found = audit_tables([tables], read_rules(rule_file(tmp_path, NONE, LABELS)))
    assert (found.word.exit_code, found.cells) == (3, ())
    assert "no table has these numbers: t/one.csv:3 (region N, age b); t/one.csv:4 (region N)" in audit_text(found)
    assert [claim.accepted for claim in checked(found, tmp_path)] == [True]


@pytest.mark.parametrize("size", [10**3, 10**9, 10**12, 10**17])
def test_magnitudes_of_any_size(size, tmp_path):
    """Numbers far beyond what doubles hold are bounded exactly."""
    source = random.Random(size)
    a, b, c, d = (source.randrange(size // 2, size) for _ in range(4))
    text = f"region,age,turnover\nN,a,x\nN,b,x\nN,Total,{a + b}\nS,a,x\nS,b,x\nS,Total,{c + d}\n"
    text += f"Total,a,{a + c}\nTotal,b,{b + d}\n"
    found = audit_tables([folder_of(tmp_path / "t", one=text)], read_rules(rule_file(tmp_path, NONE, LABELS)))
    low, high = max(0, a - d), min(a + b, a + c)
    assert (found.cells[0].range.low, found.cells[0].range.high, found.cells[0].range.is_exact) == (low, high, True)
    assert all(claim.accepted for claim in checked(found, tmp_path))


def test_a_cell_without_a_largest_value_has_a_direction(tmp_path):
    tables = folder_of(tmp_path / "t", one="region,age,count\nN,a,x\nN,b,x\nN,Total,5+\n")
    found = audit_tables([tables], read_rules(rule_file(tmp_path, NONE, LABELS)))
    assert [(cell.status, cell.range.high, cell.range.is_exact) for cell in found.cells] == [("open", None, True)] * 2
    assert all(claim.accepted for claim in checked(found, tmp_path))


# --- the checker ----------------------------------------------------------------------------------


def a_certificate(tmp_path: Path) -> dict:
    tables = folder_of(
        tmp_path / "t", one="region,age,count\nN,a,x\nN,b,x\nN,c,4\nN,Total,9\nS,a,x\nS,b,6\nS,Total,8\nTotal,a,x\nTotal,b,7-9\n"
    )
    return certificate(audit_tables([tables], read_rules(rule_file(tmp_path, '[[step]]\nrule = "rounding"\nbase = 1\n', LABELS))))


def judged(data: dict, tmp_path: Path) -> bool:
    path = tmp_path / "tampered.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    try:
        return dp.check_bounds(path).exit_code == 0
    except (CheckerError, DpspecError):
        return False


def test_a_certificate_with_any_number_changed_is_refused_or_still_true(tmp_path):
    """Bounds that are tighter, tables that do not fit, statements that allow more: each changed number by itself."""
    data = a_certificate(tmp_path)
    assert judged(data, tmp_path)
    claims = data["systems"][0]["claims"]
    for place, claim in enumerate(claims):
        for key, by in (("low", 1), ("low", -1), ("high", -1), ("high", 1)):
            changed = copy.deepcopy(data)
            changed["systems"][0]["claims"][place][key] += by
            assert not judged(changed, tmp_path), (place, key, by)
        for end, cell in itertools.product(("least", "most"), range(len(claim["least"]["table"]))):
            changed = copy.deepcopy(data)
            changed["systems"][0]["claims"][place][end]["table"][cell] += 1
            assert not judged(changed, tmp_path) or still_fits(changed, place, end), (place, end, cell)
    for place, statement in enumerate(data["systems"][0]["statements"]):
        changed = copy.deepcopy(data)
        changed["systems"][0]["statements"][place]["allowed"][-1][1] = statement["allowed"][-1][1] + 1
        changed["systems"][0]["statements"][place]["allowed"][0][0] = statement["allowed"][0][0] + 1
        assert not judged(changed, tmp_path), place


def still_fits(data: dict, place: int, end: str) -> bool:
    """Whether a changed table still fits and attains the end: then it shows the same."""
    system = data["systems"][0]
    table, claim = system["claims"][place][end]["table"], system["claims"][place]
    sums = [(sum(f * table[c] for c, f in one["terms"]), one["allowed"]) for one in system["statements"]]
    value = sum(f * table[c] for c, f in claim["terms"])
    return all(any(a <= s <= b for a, b in parts) for s, parts in sums) and value == claim["low" if end == "least" else "high"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d.update(certificate="proof"), "derivation-file"),
        (lambda d: d.update(version=2), "derivation-version"),
        (lambda d: d.update(systems=[]), "derivation-file"),
        (lambda d: d["systems"][0].update(cells="9"), "derivation-file"),
        (lambda d: d["systems"][0]["statements"][0].update(allowed=[[3, 2]]), "derivation-file"),
        (lambda d: d["systems"][0]["claims"][0].update(terms=[[99, 1]]), "derivation-file"),
        (lambda d: d["systems"][0]["claims"][0]["most"]["proof"].update(multipliers=[[0, "1e9"]]), "derivation-file"),
    ],
)
def test_a_file_that_is_no_certificate_is_refused_with_its_code(change, code, tmp_path):
    data = a_certificate(tmp_path)
    change(data)
    path = tmp_path / "tampered.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    ran = CliRunner().invoke(main, ["check-bounds", str(path), "--format", "json"])
    assert (ran.exit_code, json.loads(ran.stdout)["errors"][0]["code"]) == (2, code)


# --- bad input, and no number in any message ------------------------------------------------------

NUMBER = "7654321"


@pytest.mark.parametrize(
    ("text", "tables", "code", "part"),
    [
        (f"region,age,count\nN,a,{NUMBER}.5\n", LABELS, "table", "row 1, column count: is no whole number"),
        (f"region,age,count\nN,a,-{NUMBER}\n", LABELS, "table", "is negative"),
        (f"region,age,count\nN,a,{NUMBER}-1\n", LABELS, "table", "is a range that ends before it begins"),
        (f"region,age,count\nN,a,{NUMBER}\nN,a,x\n", LABELS, "table", "is for the same cell as a row above"),
        (f"region,age,count\nN,a,{NUMBER},1\n", LABELS, "table", "has 4 fields instead of 3"),
        (f"region,age,count\ntotal,a,{NUMBER}\n", LABELS, "table", "is called like a total"),
        (f"region,age,count\nN,z,{NUMBER}\n", LABELS + '[codes]\nage = "ages.csv"\n', "table", "that the hierarchy of age"),
        ("region,age\nN,a\n", LABELS, "table", "has no column of numbers"),
        (f"region,age,count\nN,a,{NUMBER}\n", LABELS + '[codes]\nage = "loop.csv"\n', "disclosure-rule", "above itself"),
        (f"region,age,count\nN,a,{NUMBER}\n", LABELS + '[codes]\nage = "../a.csv"\n', "disclosure-rule", "next to the rule file"),
        (f"region,age,count\nN,a,{NUMBER}\n", LABELS + "[codes]\nage = 3\n", "wrong-shape", "must be a table [codes]"),
        (f"region,age,count\nN,a,{NUMBER}\n", LABELS + 'across = "age"\n', "disclosure-rule", "several number columns"),
    ],
)
def test_bad_input_is_one_line_with_its_code_and_no_number(text, tables, code, part, tmp_path):
    (tmp_path / "ages.csv").write_text("code,parent\na,\nb,\n", encoding="utf-8")
    (tmp_path / "loop.csv").write_text("code,parent\na,b\nb,a\n", encoding="utf-8")
    rules = rule_file(tmp_path, NONE, tables)
    folder = folder_of(tmp_path / "t", one=text)
    ran = CliRunner().invoke(main, ["rules", "audit", str(folder), "--rules", str(rules), "--format", "json"])
    data = json.loads(ran.stdout)
    assert (ran.exit_code, [fault["code"] for fault in data["errors"]]) == (2, [code])
    assert part in data["errors"][0]["message"]
    assert NUMBER not in ran.output


def test_a_relation_of_releases_that_is_none_and_a_folder_without_tables(tmp_path):
    rules = rule_file(tmp_path, NONE, LABELS)
    folder = folder_of(tmp_path / "t", one="region,age,count\nN,a,9\n")
    for arguments, part in (([folder, "--later", "soon"], "changes=N"), ([tmp_path / "none"], "is no directory and no table")):
        ran = CliRunner().invoke(main, ["rules", "audit", *map(str, arguments), "--rules", str(rules)])
        assert (ran.exit_code, part in ran.output) == (2, True)
    with pytest.raises((DpspecError, Faults)):
        dp.rules_audit(rules=rules)


def test_no_number_of_a_table_is_printed(tmp_path):
    """Neither a published number nor one that can be recomputed, in text or JSON; the certificate has them."""
    text = f"region,age,count\nN,a,x\nN,b,{NUMBER}\nN,Total,{2 * int(NUMBER)}\n"
    rules, folder = rule_file(tmp_path, NONE, LABELS), folder_of(tmp_path / "t", one=text)
    out = tmp_path / "c.json"
    for form in ("text", "json"):
        ran = CliRunner().invoke(
            main, ["rules", "audit", str(folder), "--rules", str(rules), "--format", form, "--certificate", str(out)]
        )
        assert ran.exit_code == 1
        assert NUMBER not in ran.output
        if form == "json":
            schema = {**report.output_schema(), "oneOf": [{"$ref": "#/$defs/rules-audit"}]}
            jsonschema.Draft202012Validator(schema).validate(json.loads(ran.stdout))
    ran = CliRunner().invoke(main, ["check-bounds", str(out), "--format", "json"])
    schema = {**report.output_schema(), "oneOf": [{"$ref": "#/$defs/check-bounds"}]}
    jsonschema.Draft202012Validator(schema).validate(json.loads(ran.stdout))
    assert ran.exit_code == 0


# --- rules check uses the same ranges -------------------------------------------------------------

MAGNITUDES = """schema = 1
id = "m"
title = "M"
kind = "magnitudes"
[[step]]
rule = "p-percent"
percent = 20
[tables]
labels = ["region", "branch"]
published = "published"
contributors = "n"
total = "total"
largest = ["x1", "x2"]
"""


def checked_folder(tmp_path: Path, text: str, rules: str) -> tuple[int, dict]:
    path = tmp_path / "m.rules.toml"
    path.write_text(rules, encoding="utf-8")
    folder = folder_of(tmp_path / "m", one=text)
    ran = CliRunner().invoke(main, ["rules", "check", str(folder), "--rules", str(path), "--format", "json"])
    return ran.exit_code, json.loads(ran.stdout)


def p_percent_table(other: int) -> str:
    """A two-by-two table: N mining is sensitive (900 of 1,000 with 50 second, so that 130 more and less are required)."""
    rows = [
        ("N", "mining", "x", 4, 1000, 900, 50),
        ("N", "trade", "x", 40, 300, 20, 20),
        ("N", "Total", 1300, 44, 1300, 900, 50),
        ("S", "mining", "x", 9, 400, 60, 60),
        ("S", "trade", "x", 40, other, 12, 12),
        ("S", "Total", 400 + other, 49, 400 + other, 60, 60),
        ("Total", "mining", 1400, 13, 1400, 900, 60),
        ("Total", "trade", 300 + other, 80, 300 + other, 20, 20),
    ]
    return "region,branch,published,n,total,x1,x2\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize(("other", "code"), [(100, 1), (129, 1), (130, 0), (135, 0)])
def test_a_sensitive_cell_must_reach_as_far_as_p_percent_requires(other, code, tmp_path):
    """N mining falls by at most what S trade holds, by moving it to N trade; 130 are required."""
    found, data = checked_folder(tmp_path, p_percent_table(other), MAGNITUDES)
    assert found == code
    assert [(one["line"], one["recomputed"]) for one in data["tables"][0]["exposed"]] == ([(2, False)] if code else [])


def test_check_finds_what_follows_from_margins_and_from_linked_tables(tmp_path):
    one = "region,age,count\nN,a,x\nN,b,x\nN,Total,30\nS,a,x\nS,b,x\nS,Total,41\nTotal,a,30\nTotal,b,41\n"
    base = folder_of(tmp_path / "t", one=one, two="region,age,count\nS,a,16\n")
    for linked, code in (("false", 0), ("true", 1)):
        rules = rule_file(tmp_path, NONE, LABELS)
        rules.write_text(rules.read_text(encoding="utf-8").replace("linked = true", f"linked = {linked}"), encoding="utf-8")
        ran = CliRunner().invoke(main, ["rules", "check", str(base), "--rules", str(rules)])
        assert ran.exit_code == code, ran.output
    assert "= t/two.csv:2 (region S, age a)" in ran.output


def test_a_large_table_without_totals_needs_no_audit(tmp_path):
    """Forty thousand areas, more than can be audited: no number says anything of another one."""
    rows = "".join(f"a{place},{'x' if place % 3 else 9}\n" for place in range(40_000))
    rules = rule_file(tmp_path, NONE, 'labels = ["area"]\n')
    for total, code in (("", 0), ("Total,400000\n", 3)):
        folder = folder_of(tmp_path / "t", one=f"area,count\n{rows}{total}")
        assert dp.rules_check(folder, rules).exit_code == code


def test_a_cell_that_one_table_suppresses_and_another_publishes_is_found(tmp_path):
    folder = folder_of(tmp_path / "t", one="area,count\na,x\nb,9\n", two="area,count\na,7\n")
    rules = rule_file(tmp_path, NONE, 'labels = ["area"]\n')
    ran = CliRunner().invoke(main, ["rules", "check", str(folder), "--rules", str(rules)])
    assert (ran.exit_code, "= t/two.csv:2 (area a)" in ran.output) == (1, True)


def test_disjoint_cells_are_known_where_the_rules_suppress_one_number_only(tmp_path):
    text = '[[step]]\nrule = "redaction"\nup_to = 1\nleast = 1\n'
    folder = folder_of(tmp_path / "t", one="area,count\na,x\nb,9\n")
    for extra, code in (("", 0), ("secondary = false\n", 1)):
        assert dp.rules_check(folder, rule_file(tmp_path, text, 'labels = ["area"]\n' + extra)).exit_code == code


def test_a_range_with_gaps_has_fewer_values_than_it_is_long(tmp_path):
    """Suppressed for 1 or 4 records: two values are possible, and the range from 1 to 4 has four numbers."""
    steps = "".join(f'[[step]]\nrule = "redaction"\nleast = {one}\nup_to = {one}\n' for one in (1, 4))
    rules = rule_file(tmp_path, steps, 'labels = ["area"]\nsecondary = false\n')
    found = dp.rules_audit(folder_of(tmp_path / "t", one="area,count\na,x\nb,9\n"), rules=rules)
    assert [value for value in range(20) if read_rules(rules).outcomes(CellContents.of_count(value, 0)) == {None}] == [1, 4]
    assert found["cells"][0]["possible_values"] == 4
    assert "the least protected has at most 4 possible values" in str(found)


# --- forged certificates: each is false in one way only ------------------------------------------


def leaf(*multipliers: tuple[int, str], empty: bool = False) -> dict:
    return {"empty": empty, "multipliers": [list(one) for one in multipliers]}


def forged(statements: list, claim: dict, cells: int = 2) -> dict:
    listed = [{"label": "", "terms": terms, "allowed": allowed} for terms, allowed in statements]
    made = {"label": "cell", "exact": True, "recomputed": None, **claim}
    return {"certificate": "cell-bounds", "version": 1, "systems": [{"cells": cells, "statements": listed, "claims": [made]}]}


SUM = [[0, 1], [1, 1]], [[4, 4]]
"""x_0 + x_1 = 4."""
LEAST = {"proof": leaf(), "table": [0, 4], "direction": None}
MOST = {"proof": leaf((0, "1")), "table": [4, 0], "direction": None}
TRUE = {"terms": [[0, 1]], "low": 0, "high": 4, "least": LEAST, "most": MOST}


def split(below: int, above: int, left: dict, right: dict) -> dict:
    return {"split": [[0, 1]], "below": below, "above": above, "left": left, "right": right}


@pytest.mark.parametrize(
    "data",
    [
        # a split that loses 2 and 3: the branches end at 1 and begin at 4, where there is only (4, 0), which is called empty
        forged([SUM, ([[1, 1]], [[1, 4]])], {
            **TRUE, "high": 1, "most": {
                "proof": split(1, 4, leaf((2, "1")), leaf((0, "1"), (1, "-1"), (2, "-1"), empty=True)),
                "table": [1, 3], "direction": None}}),
        # multipliers that cover only one cell of two
        forged([SUM, ([[0, 1]], [[0, 1]])], {
            "terms": [[0, 1], [1, 1]], "low": 4, "high": 1, "exact": False,
            "least": {"proof": leaf((0, "-1")), "table": [0, 4], "direction": None},
            "most": {"proof": leaf((1, "1")), "table": [0, 4], "direction": None}}),
        # a leaf that is called empty and is not
        forged([SUM], {
            **TRUE, "high": 3, "exact": False, "most": {"proof": leaf(empty=True), "table": [3, 1], "direction": None}}),
        # a direction in which a sum that is at least 0 falls: x_0 - x_1 >= 0, and x_1 grows
        forged([([[0, 1], [1, -1]], [[0, None]])], {
            "terms": [[1, 1]], "low": 0, "high": None, "least": {**LEAST, "table": [4, 0]},
            "most": {"proof": leaf(), "table": [4, 0], "direction": [0, 1]}}),
        # sums that do not recompute the cell
        forged([([[0, 1]], [[4, 4]]), ([[1, 1]], [[4, 4]])], {
            "terms": [[0, 1]], "low": 4, "high": 4, "least": {"proof": leaf((0, "-1")), "table": [4, 4], "direction": None},
            "most": {"proof": leaf((0, "1")), "table": [4, 4], "direction": None}, "recomputed": [[1, "1"]]}),
        # a sum that recomputes and is not exact
        forged([([[0, 1]], [[4, 4]]), ([[0, 1]], [[4, 5]])], {
            "terms": [[0, 1]], "low": 4, "high": 4, "least": {"proof": leaf((0, "-1")), "table": [4, 0], "direction": None},
            "most": {"proof": leaf((0, "1")), "table": [4, 0], "direction": None}, "recomputed": [[1, "1"]]}),
        # sums that recompute one value, for a range of two
        forged([([[0, 1]], [[4, 4]])], {
            "terms": [[0, 1]], "low": 3, "high": 4, "exact": False, "recomputed": [[0, "1"]],
            "least": {"proof": leaf((0, "-1")), "table": [4, 0], "direction": None},
            "most": {"proof": leaf((0, "1")), "table": [4, 0], "direction": None}}),
        # an end that a statement does not have
        forged([([[0, 1], [1, 1]], [[4, None]])], {**TRUE, "exact": False}),
    ],
)  # fmt: skip
def test_a_forged_certificate_is_refused(data, tmp_path):
    assert judged(forged([SUM], TRUE), tmp_path)
    assert not judged(data, tmp_path)


def test_a_contradiction_that_is_none_is_refused(tmp_path):
    data = forged([SUM], TRUE)
    data["systems"][0]["contradiction"] = leaf((0, "1"), empty=True)
    assert not judged(data, tmp_path)


def test_the_pattern_of_working_paper_22_fails_in_one_cell(tmp_path: Path) -> None:
    """Federal Committee on Statistical Methodology 1994, Table 4: Alpha, very high, is 1; no other suppressed cell follows.

    The oracle: moving 1 around a cycle of suppressed cells keeps all totals, and all suppressed counts of the paper's Table 3 are
    at least 1. So a cell is open where its row and column stay connected by the other suppressed cells.
    """
    example = Path(__file__).parents[3] / "docs" / "examples" / "audit" / "working-paper-22"
    file = tmp_path / "bounds.json"
    rules = str(example / "counts.rules.toml")
    ran = CliRunner().invoke(main, ["rules", "audit", str(example / "tables"), "--rules", rules, "--certificate", str(file)])
    assert (ran.exit_code, ran.output.splitlines()[0]) == (1, "refuted: 1 of 9 suppressed cells can be recomputed")
    assert "county-education.csv:5: column count: the suppressed cell can be recomputed" in ran.output
    assert CliRunner().invoke(main, ["check-bounds", str(file)]).exit_code == 0
    rows = [line.split(",") for line in (example / "tables" / "county-education.csv").read_text().splitlines()[1:]]
    cells = itertools.product(("Alpha", "Beta", "Gamma", "Delta"), ("low", "medium", "high", "very high"))
    true = dict(zip(cells, TABLE_3, strict=True))
    inner = {(county, education): count for county, education, count in rows if "Total" not in (county, education)}
    assert {cell for cell, count in inner.items() if count not in ("x", str(true[cell]))} == set()
    hidden = {cell for cell, count in inner.items() if count == "x"}
    assert len(hidden) == 9
    assert {cell for cell in hidden if cell[1] not in connected(cell[0], hidden - {cell})} == {("Alpha", "very high")}


TABLE_3 = (15, 1, 3, 1, 20, 10, 10, 15, 3, 10, 10, 2, 12, 14, 7, 2)


def connected(start: str, cells: set[tuple[str, str]]) -> set[str]:
    """The rows and columns that cells connect with one of them."""
    found, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        new = {end for cell in cells if here in cell for end in cell} - found
        found |= new
        waiting += new
    return found
