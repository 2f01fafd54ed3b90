"""`dpspec explain NAME`: words of the field, parameters that refer to another class, and an example of every name."""

from __future__ import annotations

import re
import shlex
import tomllib
from fractions import Fraction

import pytest

from dpspec import installed
from dpspec.base.exact import number
from dpspec.extension import Entry
from dpspec.report.examples import COMMANDS, IN_FILES, TABLES, Examples
from dpspec.report.explain import described_parameters, folded, glossary
from dpspec.specfile.maker import FilePositions, Log, Maker
from dpspec.specfile.reader import read_text
from dpspec.specfile.writer import fragment

REGISTRY = installed().registry
ENTRIES = tuple(REGISTRY)


def test_no_parameter_is_described_by_a_reference_alone() -> None:
    left = [
        f"{entry.qualified_name}: {name}: {text}"
        for entry in ENTRIES
        for name, text in described_parameters(entry.cls, REGISTRY).items()
        if re.search(r"\bas in `", text) and name in {p.name for p in _declared(entry)}
    ]
    assert left == []


def _declared(entry: Entry):
    from dpspec.base.params import parameters

    return parameters(entry.cls)


def test_a_reference_is_replaced_by_the_words_that_it_refers_to(run) -> None:
    """`laplace` takes its queries "as in `AdditiveNoise`"; `policy-neighbours` its edges "the policy graph, as in `policy`"."""
    (laplace,) = run("explain", "laplace", "--format", "json").json("explain")["meanings"]
    meanings = {p["name"]: p["meaning"] for p in laplace["parameters"]}
    assert meanings["queries"] == "the invariants whose integer answers are published."
    (tables,) = run("explain", "contingency-tables", "--format", "json").json("explain")["meanings"]
    meanings = {p["name"]: p["meaning"] for p in tables["parameters"]}
    assert meanings["least"].endswith("; least and most bound the total count.")
    assert "as in" not in meanings["least"]
    policy = next(entry.cls for entry in ENTRIES if entry.name == "policy-neighbours")
    assert described_parameters(policy, REGISTRY)["edges"].startswith("the policy graph: pairs of values")


def test_a_reference_to_itself_ends() -> None:
    """A class that refers to itself, or to a name that means nothing, keeps its own words."""

    class Loop:
        """A class.

        Args:
            a: as in `Loop`.
            b: as in `Nowhere`.
        """

    assert described_parameters(Loop, REGISTRY) == {"a": "as in `Loop`.", "b": "as in `Nowhere`."}


# --- examples ------------------------------------------------------------------------------------


def test_every_name_of_a_file_has_an_example_that_reads_back() -> None:
    """Each fragment is read as a file is read, without a fault, and written again as the same text."""
    examples, wrong = Examples(registry=REGISTRY), []
    for entry in ENTRIES:
        if entry.kind not in IN_FILES:
            continue
        text = examples.toml(entry)
        if text is None or not _reads_back(entry, text):
            wrong.append(f"{entry.kind} {entry.qualified_name}: {text}")
    assert wrong == []


def _reads_back(entry: Entry, text: str) -> bool:
    data = tomllib.loads(text)
    log = Log("example", FilePositions.of(text, data))
    maker = Maker(REGISTRY, log)
    if entry.kind == "output_divergences":
        (parameter,) = data.pop("budget")
        if parameter != entry.cls.budget_parameters[0]:
            return False
        text = text.partition("\n\n[budget]")[0]
    ((block, table),) = data.items()
    if entry.kind == "routes":
        made = maker.registered("routes", table[0]["route"], "route")
        return log.found == 0 and isinstance(made, entry.cls)
    if block == "multiverse" and "invariants" in table and "type" not in table:
        made = [maker.registered("invariants", value, "invariants") for value in table["invariants"]]
        whole: object = {"invariants": tuple(made)}
        right = entry.kind == "multiverses" or isinstance(made[0], entry.cls)
    elif block == "budget" and "type" not in table:
        return entry.name == "uniform" and len(table) == 1
    else:
        (kind,) = (kind for kind, name in TABLES.items() if name == block)
        whole = maker.registered(kind, table, block)
        right = isinstance(whole, entry.cls) or (entry.kind == "relations" and f'"{entry.name}"' in text)
    return log.found == 0 and right and fragment(block, whole, REGISTRY) == text


def test_every_flavour_is_shown_as_a_file_that_reads_back() -> None:
    examples = Examples(registry=REGISTRY)
    flavours = [entry for entry in ENTRIES if entry.kind == "flavours"]
    unwritten = [entry.name for entry in flavours if examples.toml(entry) is None]
    assert unwritten == []
    for entry in flavours:
        document = read_text(examples.toml(entry) or "", REGISTRY)
        assert document.spec == entry.cls().spec(), entry.name


def test_other_names_have_a_command_where_they_are_used(run) -> None:
    examples = Examples(registry=REGISTRY)
    for entry in ENTRIES:
        assert (examples.command(entry) is None) == (entry.kind not in COMMANDS), entry.name
    for entry in (e for e in ENTRIES if e.kind == "tolerances" and e.name != "function"):  # that one needs a module
        assert run(*shlex.split(examples.command(entry) or "")[1:]).code == 0, entry.name


def test_the_example_is_printed_as_it_is(run) -> None:
    """Also on a narrow terminal: a line of TOML that is broken is another text."""
    (meaning,) = run("explain", "noise:laplace", "--format", "json").json("explain")["meanings"]
    assert meaning["example"] in run("explain", "noise:laplace", COLUMNS="300").out
    tomllib.loads(meaning["example"])


# --- words of the field --------------------------------------------------------------------------


def test_no_two_words_are_written_alike() -> None:
    written = [folded(name) for word in glossary() for name in (word["name"], *word.get("also", ()))]
    assert len(written) == len(set(written))


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("zcdp", "zCDP"), ("ZCDP", "zCDP"), ("zero concentrated dp", "zCDP"), ("pure-dp", "pure DP"), ("Pure_DP", "pure DP"),
        ("R\u00e9nyi DP", "Renyi DP"), ("rdp", "Renyi DP"), ("(epsilon,delta)-dp", "approximate DP"), ("EPS", "epsilon"),
        ("Neighboring datasets", "neighbour"), ("top-down", None), ("topdown", "TopDown"), ("hockeystick", "hockey-stick"),
        ("lipschitz-constant", "sensitivity"), ("d_X", "input divergence"), ("trade off curve", "f-DP"),
    ],
)  # fmt: skip
def test_words_are_found_however_they_are_written(run, asked: str, word: str | None) -> None:
    found = run("explain", asked, "--format", "json").json("explain")["meanings"]
    assert word is None or word in [meaning["name"] for meaning in found if meaning["kind"] == "word"]


@pytest.mark.parametrize(
    "word",
    [
        "zCDP", "pure DP", "approximate DP", "Renyi DP", "epsilon", "delta", "rho", "mu", "claim", "attribute", "universe",
        "invariant", "sensitivity", "budget", "unit", "neighbour", "witness", "derivation", "hockey-stick", "swapping", "TopDown",
    ],
)  # fmt: skip
def test_the_words_of_the_field_are_known(run, word: str) -> None:
    ran = run("explain", word)
    assert ran.code == 0
    assert "word of the field" in ran.out
    assert "In dpspec: " in ran.out
    assert "Try: dpspec " in ran.out


def test_a_word_and_a_registered_name_are_both_told(run) -> None:
    kinds = [meaning["kind"] for meaning in run("explain", "swapping", "--format", "json").json("explain")["meanings"]]
    assert kinds == ["word", "budget"]


def test_registered_names_are_found_without_regard_to_case_and_hyphens(run) -> None:
    (meaning,) = run("explain", "Bit_Vectors", "--format", "json").json("explain")["meanings"]
    assert meaning["name"] == "bit-vectors"


def test_a_name_of_signs_alone_is_unknown(run) -> None:
    assert run("explain", "--", "---").code == 2


COMMAND_LINES = sorted({word["command"] for word in glossary()})
QUICK = [line for line in COMMAND_LINES if line.split()[1] in {"explain", "convert"} and line.split()[2] != "flavours"]


@pytest.mark.parametrize("line", QUICK)
def test_the_command_of_a_word_runs(run, line: str, monkeypatch, specs) -> None:
    monkeypatch.chdir(specs.parent)
    assert run(*shlex.split(line)[1:]).code == 0


@pytest.mark.long
@pytest.mark.parametrize("line", [line for line in COMMAND_LINES if line not in QUICK])
def test_the_longer_command_of_a_word_runs(run, line: str, monkeypatch, specs) -> None:
    monkeypatch.chdir(specs.parent)
    assert run(*shlex.split(line)[1:]).code == 0


def test_what_a_word_stands_for_is_registered() -> None:
    """Names in backticks that look like names of dpspec are names of dpspec."""
    known = {entry.name for entry in ENTRIES} | {folded(kind) for kind in (*IN_FILES, *COMMANDS)}
    known |= {"rules", "unit", "within", "categories", "sensitivity", "attributes", "distance", "rates"}
    named = [(word["name"], name) for word in glossary() for name in re.findall(r"`([a-z][a-z-]*)`", word["in_dpspec"])]
    assert [(word, name) for word, name in named if name not in known] == []


def test_longer_units_and_risks_are_those_of_the_first_promise(run, tmp_path) -> None:
    """A sentence about a week was printed below the further promise, of another budget."""
    path = tmp_path / "days.dpspec.toml"
    path.write_text(DAYS, encoding="utf-8")
    out = " ".join(run("explain", path).out.split())
    first, further = out.index("For user-week: epsilon = 7"), out.index("and some users")
    assert out.index("The budget is written as epsilon = 1.") < first < further
    assert "These numbers are about the first promise alone." in out[further:]


DAYS = """
schema = 1
id = "days"
title = "Daily counts"
[space]
type = "records"
unit = "user-day"
attributes = [{ name = "site", count = 2 }]
[multiverse]
invariants = []
[input_divergence]
type = "symmetric-difference"
unit = "user-day"
[output_divergence]
type = "mult"
[budget]
epsilon = 1
[[part]]
title = "some users"
share = "1/2"
budget = { epsilon = "1/8" }
"""


def test_a_number_that_is_not_published_does_not_differ_by_universe(run) -> None:
    said = run("explain", "specs/deployments/meta-urls.dpspec.toml").out
    numbers = said.partition("What an attacker finds out")[2]
    assert "differs by universe" not in said
    assert "no number published" in numbers.partition("Odds and beliefs")[0]


WARNER = """schema = 1
id = "{id}"
title = "one answer"
space = {{ type = "bit-vectors", length = 2 }}
input_divergence = {{ type = "hamming-ordered" }}
output_divergence = {{ type = "mult" }}
budget = {{ epsilon = "{epsilon}" }}
"""


def test_a_limit_without_a_short_form_is_not_printed_below_itself(run, tmp_path) -> None:
    """The nearest decimal was the number that laws are *no further apart* than, and a budget that is *implied*."""
    epsilon = Fraction(1, 3**68)  # the nearest decimal of six digits is below it
    paths = [tmp_path / f"{name}.dpspec.toml" for name in ("a", "b")]
    for path in paths:
        path.write_text(WARNER.format(id=path.name[0], epsilon=epsilon))
    explained = re.search(r"no further apart than (\S+) times", " ".join(run("explain", paths[0]).out.split()))
    implied = re.findall(r"implies +epsilon (\D*)(\S+)", run("compare", *paths, "--yardstick").out)
    assert explained is not None
    assert Fraction(explained[1]) >= epsilon > Fraction(number(epsilon).decimal())
    assert implied
    assert all(words == "at most " and Fraction(limit) >= epsilon for words, limit in implied)
