"""`dpspec diff`: 50 changes that weaken a promise and 57 that do not, with directions known by hand; records; files; formats."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import attrs
import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_guard.difference import difference
from dpspec_guard.promise import promise_hash, promise_text
from dpspec_guard.relation import relation
from dpspec_guard.sources import Side, SourceFile

import dpspec as dp
from dpspec.cli import main
from dpspec.plugin.applications import read_text

CORPUS = tomllib.loads(Path(__file__).with_name("changes.toml").read_text(encoding="utf-8"))
BASES = CORPUS["bases"]
WEAKER, UNKNOWN, HARMLESS = ({row["name"]: row for row in CORPUS[kind]} for kind in ("weaker", "unknown", "harmless"))
SURVEY = BASES["survey"]
REGISTRY = dp.installed().registry


def exchanged(case):
    """A base, and what becomes of it."""
    old = new = BASES[case["base"]]
    for before, after in case["exchange"]:
        assert before in new, before
        new = new.replace(before, after)
    assert new != old
    return old, new


def compared(old, new):
    """The one file of a diff of two texts."""
    sides = [
        Side(name=name, files={"": SourceFile(shown=f"{name}.dpspec.toml", path=f"{name}.dpspec.toml", content=text.encode())})
        for name, text in (("old", old), ("new", new))
    ]
    found = difference(*sides, REGISTRY)
    (file,) = found.files
    return found, file


def with_record(new, file, **other):
    """NEW with the record that the diff proposes, or with parts of it exchanged."""
    before, after = file.hashes
    rows = {"from": before, "to": after, "because": "agreed", "approved_by": "the board"} | other
    return new + "\n[[change]]\n" + "\n".join(f'{key} = "{value}"' for key, value in rows.items()) + "\n"


@pytest.mark.spread(20, slow=10)
@pytest.mark.parametrize("name", WEAKER)
def test_a_weaker_promise_fails_unless_it_is_recorded(name):
    old, new = exchanged(WEAKER[name])
    found, file = compared(old, new)
    assert found.exit_code == 1, [finding.message for finding in found.findings]
    recorded, _ = compared(old, with_record(new, file))
    assert recorded.exit_code == 0
    assert [finding.explained for finding in recorded.findings] == ["agreed (approved by the board)"] * len(found.findings)


@pytest.mark.spread(20, slow=10)
@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_change_passes(name):
    found, file = compared(*exchanged(HARMLESS[name]))
    assert (found.exit_code, file.relation.effect.keeps) == (0, True), [finding.message for finding in found.findings]


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_unknown_neither_passes_nor_is_equal(name):
    found, _ = compared(*exchanged(UNKNOWN[name]))
    assert found.exit_code in (1, 3)
    assert {finding.exit_code for finding in found.findings if finding.code in ("undecided", "terms")} == {3}


def test_the_corpus_is_large_enough():
    assert len(WEAKER) >= 40
    assert len(HARMLESS) >= 40


@pytest.mark.spread(15, slow=12)
@pytest.mark.parametrize("name", [*WEAKER, *HARMLESS])
def test_the_relation_is_that_of_compare(name):
    """Both answers are those of `dp.compare`, for files of one promise with a number and without other names."""
    old, new = exchanged({**WEAKER, **HARMLESS}[name])
    if "[[part]]" in old or "stated = false" in old or "renamed" in name or "categories" in name:
        return
    _, file = compared(old, new)
    answer = dp.compare(*(dp.build(**{k: v for k, v in tomllib.loads(text).items() if k != "schema"}) for text in (old, new)))
    found = file.relation
    assert (found.kept.answer, found.gained.answer) == (answer.backward.answer, answer.forward.answer)


def test_stronger_is_what_weaker_is_the_other_way_round():
    old, new = exchanged(WEAKER["budget-doubled"])
    assert compared(old, new)[1].effect == "weaker"
    assert compared(new, old)[1].effect == "stronger"


def test_the_pair_of_datasets_is_shown():
    found, file = compared(*exchanged(WEAKER["invariant-region"]))
    pair = file.relation.kept.pair
    assert pair.left != pair.right
    assert pair.left in found.findings[0].detail


def test_each_changed_block_is_tried_alone():
    old, new = exchanged(WEAKER["budget-doubled"])
    new = new.replace("invariants = []", 'invariants = [{ type = "marginal", unit = "person", attributes = ["region"] }]')
    _, file = compared(old, new.replace("most = 3", "most = 4"))
    effects = {block.block: block.alone.effect.word for block in file.blocks}
    assert effects == {"dataset space": "stronger", "multiverse": "weaker", "budget": "weaker"}


def test_a_block_that_cannot_stand_alone_says_why():
    _, file = compared(*exchanged(WEAKER["standard-zero-concentrated"]))
    reasons = {block.block: block.reason for block in file.blocks}
    assert "takes rho" in reasons["output divergence"]


@pytest.mark.parametrize("name", [name for name, row in {**WEAKER, **HARMLESS}.items() if row["base"] == "universes"])
def test_a_changed_block_is_shown_as_changed(name):
    """A budget of two universes was "for each of 2 universes" before and after."""
    _, file = compared(*exchanged({**WEAKER, **HARMLESS}[name]))
    assert file.blocks
    assert all(block.before != block.after for block in file.blocks)


def test_numbers_for_a_person_are_those_of_the_budget():
    """At epsilon = ln(3) and ln(4), the power at level 1/20 is at most 3/20 and 4/20, and the belief at most 3/4 and 4/5."""
    _, file = compared(*exchanged(WEAKER["budget-in-logarithms"]))
    told = {row.what: row.promised for row in file.consequences}
    assert told["power, level 1/20, distance 1"] == ("at most 0.15", "at most 0.2")
    assert told["posterior belief in one of two candidates, prior 1/2"] == ("at most 0.75", "at most 0.8")


# --- records --------------------------------------------------------------------------------------


OLD, NEW = exchanged(WEAKER["budget-in-logarithms"])


@pytest.mark.parametrize(
    "other",
    [{"from": "0" * 64}, {"to": "f" * 64}, {"from": "HASH-OF-NEW", "to": "HASH-OF-OLD"}],
    ids=["another-from", "another-to", "reversed"],
)
def test_a_record_of_another_change_excuses_nothing(other):
    _, file = compared(OLD, NEW)
    swap = {"HASH-OF-NEW": file.hashes[1], "HASH-OF-OLD": file.hashes[0]}
    found, _ = compared(OLD, with_record(NEW, file, **{key: swap.get(value, value) for key, value in other.items()}))
    assert found.exit_code == 1


def test_an_old_record_excuses_nothing_new():
    """1 -> 2 was approved, the promise went back to 1, and becomes 2 again."""
    _, file = compared(OLD, NEW)
    history = with_record("", file)
    assert compared(OLD + history, NEW + history)[0].exit_code == 1
    assert compared(OLD + history, NEW + history + history)[0].exit_code == 0


def test_a_record_does_not_cover_a_further_weakening():
    _, file = compared(OLD, NEW)
    further = NEW.replace("ln(4)", "ln(5)")
    assert compared(OLD, with_record(further, file))[0].exit_code == 1


def test_records_of_several_steps_lead_from_old_to_new():
    last = NEW.replace("ln(4)", "ln(5)")
    _, first = compared(OLD, NEW)
    _, second = compared(NEW, last)
    assert compared(OLD, with_record(with_record(last, first), second))[0].exit_code == 0
    assert compared(OLD, with_record(last, second))[0].exit_code == 1


def test_history_may_not_be_cut():
    _, file = compared(OLD, NEW)
    recorded = with_record(NEW, file)
    found, _ = compared(recorded, NEW)
    assert (found.exit_code, [finding.code for finding in found.findings]) == (1, ["history"])
    assert compared(recorded, NEW.replace('id = "weekly"', 'id = "other"'))[0].exit_code == 1
    edited = recorded.replace("the board", "someone else")
    assert [finding.code for finding in compared(recorded, edited)[0].findings] == ["history"]


@pytest.mark.parametrize("blank", ["", " ", "\\t"])
@pytest.mark.parametrize("key", ["because", "approved_by"])
def test_a_record_without_a_reason_or_a_name_is_no_record(key, blank):
    _, file = compared(OLD, NEW)
    found, _ = compared(OLD, with_record(NEW, file, **{key: blank}))
    assert (found.exit_code, found.findings[0].code) == (2, "unreadable")


def test_the_proposed_record_is_what_has_to_be_written():
    found, _ = compared(OLD, NEW)
    rows = found.findings[0].advice.partition("\n")[2]
    assert compared(OLD, f"{NEW}\n{rows}\n")[0].exit_code == 0


def test_the_hash_is_of_the_promise_and_not_of_the_text():
    documents = [_document(text) for text in exchanged(HARMLESS["comment"])]
    assert len({promise_hash(document, REGISTRY) for document in documents}) == 1


def _document(text):
    return read_text(text, REGISTRY)


@pytest.mark.parametrize("name", WEAKER)
def test_every_weakening_has_a_hash_of_its_own(name):
    old, new = (_document(text) for text in exchanged(WEAKER[name]))
    assert promise_text(old, REGISTRY) != promise_text(new, REGISTRY)


# --- files and folders ----------------------------------------------------------------------------


def folder(path, **texts):
    path.mkdir()
    for name, text in texts.items():
        (path / f"{name}.dpspec.toml").write_text(text, encoding="utf-8")
    return path


def test_a_removed_file_is_reported(tmp_path):
    found = dp.diff(folder(tmp_path / "old", a=OLD, b=SURVEY), folder(tmp_path / "new", b=SURVEY))
    assert found.exit_code == 1
    assert [(row["title"], row["kind"]) for row in found["changes"]] == [("a.dpspec.toml", "removed")]


def test_a_file_that_was_moved_or_got_another_id_is_the_same(tmp_path):
    old = folder(tmp_path / "old", a=OLD, b=SURVEY)
    new = folder(tmp_path / "new", c=OLD, b=SURVEY.replace('id = "survey"', 'id = "other"'))
    (new / "inner").mkdir()
    (new / "c.dpspec.toml").rename(new / "inner" / "d.dpspec.toml")
    found = dp.diff(old, new)
    assert (found.exit_code, {row["effect"] for row in found["changes"]}) == (0, {"equal"})


def test_names_that_are_exchanged_do_not_hide_a_weaker_promise(tmp_path):
    """The id of the strong file is given to a weak one, and the other way round."""
    strong, weak = OLD, NEW.replace('id = "weekly"', 'id = "weak"')
    old = folder(tmp_path / "old", a=strong, b=weak)
    other = weak.replace('id = "weak"', 'id = "weekly"'), strong.replace('id = "weekly"', 'id = "weak"')
    new = folder(tmp_path / "new", a=other[0], b=other[1])
    assert dp.diff(old, new).exit_code == 1


def test_promises_that_releases_exchange_are_not_the_same():
    """A release is known by its title: in another order, the promise of one was taken for that of the other."""

    def product(*releases):
        parts = [
            f'[[part]]\ntitle = "{title}"\nbudget = {{ epsilon = "{epsilon}" }}\n'
            f'mechanism = {{ type = "randomised-response", keep_probability = "{keep}" }}\n'
            for title, keep, epsilon in releases
        ]
        space = '[space]\ntype = "bit-vectors"\nlength = 2\n[input_divergence]\ntype = "hamming-ordered"\n'
        blocks = f'{space}[output_divergence]\ntype = "mult"\n[budget]\nepsilon = "2"\n'
        mechanism = '[mechanism]\ntype = "randomised-response"\nkeep_probability = "3/4"\n'
        return "\n".join(['schema = 1\nid = "product"\ntitle = "product"', blocks + mechanism, *parts])

    north, south = ("north", "51/100", "1/10"), ("south", "52/100", "1/5")
    old = product(north, south)
    found, file = compared(old, product(("south", "52/100", "1/10"), ("north", "51/100", "1/5")))
    assert (found.exit_code, file.relation.effect.word) == (1, "incomparable")
    for same in (product(south, north), product(("north-east", *north[1:]), south)):
        found, file = compared(old, same)
        assert (found.exit_code, file.relation.effect.word) == (0, "equal")


def promised(epsilon, part, **coverage):
    """A promise to all about the release, and one that covers something else."""
    beside = {"title": "beside", "because": "x", "verdict": "undecided", "budget": {"epsilon": part}, **coverage}
    return dp.build(
        space={"type": "bit-vectors", "length": 1}, input_divergence={"type": "hamming-ordered"},
        output_divergence={"type": "mult"}, budget={"epsilon": epsilon}, part=[beside],
    )  # fmt: skip


def test_what_separates_keeps_every_promise_of_the_file():
    """A mechanism of the main promise was shown, with "keeps NEW", although it breaks the stronger one to most units."""
    most = {"share": "9/10"}
    found = relation(promised("2", "1", **most), promised("2", "3/2", **most), REGISTRY)
    assert found.effect.word == "weaker"
    assert "at most 3/2" in found.kept.pair.argument


def test_a_stronger_promise_about_a_view_may_exclude_what_would_separate():
    """What the server sees may hold the release, so that its promise of 1 may imply that of the release: diff said weaker."""
    server = {"view": "server"}
    found = relation(promised("1", "1", **server), promised("2", "1", **server), REGISTRY)
    assert found.effect.word == "undecided"
    found = relation(promised("1", "1", **server), promised("1", "2", **server), REGISTRY)
    assert found.effect.word == "weaker"


@pytest.mark.parametrize(("budget", "effect"), [("inf", "equal"), ("5", "weaker")])
@pytest.mark.parametrize(
    "coverage", [{"view": "server"}, {"mechanism": {"type": "randomised-response", "keep_probability": "2/3"}}], ids=str
)
def test_a_promise_that_asks_for_nothing_is_not_lost(coverage, budget, effect):
    """A part with an infinite budget was removed, and diff said weaker: every mechanism keeps it."""
    old = promised("1", budget, **coverage)
    new = attrs.evolve(old, parts=())
    assert relation(old, new, REGISTRY).effect.word == effect
    assert relation(new, old, REGISTRY).kept.answer.name == "IMPLIES"


def test_a_promise_may_be_replaced_by_that_of_another_file_with_a_record(tmp_path):
    old = folder(tmp_path / "old", a=OLD, b=SURVEY)
    gone, kept = (promise_hash(_document(text), REGISTRY) for text in (OLD, SURVEY))
    record = f'\n[[change]]\nfrom = "{gone}"\nto = "{kept}"\nbecause = "merged"\napproved_by = "the board"\n'
    assert dp.diff(old, folder(tmp_path / "new", b=SURVEY + record)).exit_code == 0
    assert dp.diff(folder(tmp_path / "again", a=OLD, b=SURVEY + record), tmp_path / "new").exit_code == 1


def test_an_added_file_weakens_nothing(tmp_path):
    found = dp.diff(folder(tmp_path / "old", a=OLD), folder(tmp_path / "new", a=OLD, b=NEW.replace('"weekly"', '"other"')))
    assert (found.exit_code, [row["kind"] for row in found["changes"]]) == (0, ["added"])


def test_files_that_cannot_be_read(tmp_path):
    bad, good = folder(tmp_path / "bad", a="schema = "), folder(tmp_path / "good", a=OLD)
    assert dp.diff(good, bad).exit_code == 2
    assert dp.diff(bad, good).exit_code == 3


def test_what_did_not_change_is_not_read(tmp_path, monkeypatch):
    """Not even a file that is no specification: `dpspec check` is for that."""
    seen = []
    monkeypatch.setattr("dpspec_guard.difference.read_text", lambda text, *_: seen.append(text) or read_text(text, REGISTRY))
    old, new = folder(tmp_path / "old", a=OLD, b="bad"), folder(tmp_path / "new", a=OLD, b="bad", c=SURVEY)
    assert (dp.diff(old, new).exit_code, seen) == (0, [SURVEY])


def test_two_files_need_not_have_one_name_or_id(tmp_path):
    path = folder(tmp_path / "both", a=OLD, b=NEW.replace('"weekly"', '"other"'))
    found = dp.diff(path / "a.dpspec.toml", path / "b.dpspec.toml")
    assert (found.exit_code, [row["effect"] for row in found["changes"]]) == (1, ["weaker"])


@pytest.mark.parametrize("given", [["nowhere"], ["nowhere", "neither"], ["--", "-x", "-y"]])
def test_bad_arguments_are_one_line(given):
    found = CliRunner().invoke(main, ["diff", *given])
    assert (found.exit_code, len(found.stderr.strip().splitlines())) == (2, 1)


# --- formats --------------------------------------------------------------------------------------


@pytest.fixture
def both(tmp_path):
    return [str(folder(tmp_path / name, a=text)) for name, text in (("old", OLD), ("new", NEW))]


def test_the_answer_is_in_the_first_lines(both):
    found = CliRunner().invoke(main, ["diff", *both])
    assert found.exit_code == 1
    assert found.stdout.splitlines()[0].endswith(": 1 weaker")
    assert found.stdout.splitlines()[1] == "fails: 1 x weaker"


def test_json_follows_the_published_schema(both):
    schema = dp.schema("output")
    for given in (both, [both[0], both[0]], both[::-1]):
        found = CliRunner().invoke(main, ["diff", *given, "--format", "json"])
        jsonschema.Draft202012Validator(schema).validate(json.loads(found.stdout))


def test_sarif_names_the_line_of_the_block_that_changed(both):
    found = CliRunner().invoke(main, ["diff", *both, "--format", "sarif"])
    (run,) = json.loads(found.stdout)["runs"]
    (result,) = run["results"]
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert (result["ruleId"], result["level"]) == ("diff/weaker", "error")
    assert NEW.splitlines()[line - 1] == "[budget]"
    assert run["tool"]["driver"]["rules"][0]["id"] == "diff/weaker"


def test_markdown_shows_nothing_of_a_file_as_markup(tmp_path, both):
    title = r"<script>alert(1)</script> | ![x](y) @someone #1"
    hostile = NEW.replace("Randomised response, weekly", title.replace("\\", "")).replace('unit = "person"', 'unit = "<b>|`x`"')
    old = OLD.replace('unit = "person"', 'unit = "<b>|`x`"')
    found = CliRunner().invoke(
        main, ["diff", str(folder(tmp_path / "o", a=old)), str(folder(tmp_path / "n", a=hostile)), "--format", "markdown"]
    )
    assert found.exit_code == 1
    told = re.sub(r"^(`{3,})(?:toml|diff|text)\n.*?\n\1$", "", found.stdout, flags=re.DOTALL | re.MULTILINE)
    assert "```" not in told, "no line of a file ends a block"
    assert not re.search(r"(?<!\\)[<`!]\[?|@", told)
