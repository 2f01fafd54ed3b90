"""What the public reads in four statements: true in every case, easy to read, and the same in every language."""

from __future__ import annotations

import decimal
import itertools
import re
import string
import tomllib
from fractions import Fraction

import attrs
import pytest

from dpspec import read
from dpspec.api import build, document_at
from dpspec.base.exact import number
from dpspec.base.words import Word
from dpspec.report.audience import audience_data, catalogue, public_standing
from dpspec.specfile import BlockProvenance
from dpspec.verifier.standing import Standing

STANDINGS = (
    Word.VERIFIED, Word.DERIVED, Word.MINIATURE, Word.RECORDED, Word.REFUTED, Word.UNCHECKED, Word.UNDECIDED, Word.PLUGIN,
)  # fmt: skip
TWO_ANSWERS = '{ type = "bit-vectors", length = 2 }'
COLOURS = '{ type = "records", most = 3, attributes = [{ name = "colour", categories = ["red", "green", "blue"] }] }'
TOTAL = '{ invariants = [{ type = "marginal", attributes = [] }] }'


@pytest.fixture
def told(tmp_path):
    """The four statements about a specification, each requested by its blocks."""

    def tell(word=Word.VERIFIED, language="en", extra="", **blocks):
        given = {
            "space": TWO_ANSWERS,
            "input_divergence": '{ type = "hamming-ordered" }',
            "output_divergence": '{ type = "mult" }',
            "budget": '{ epsilon = "ln(3)" }',
        } | blocks
        path = tmp_path / "told.dpspec.toml"
        lines = ["schema = 1", 'id = "told"', 'title = "told"', *(f"{block} = {text}" for block, text in given.items()), extra]
        path.write_text("\n".join(lines), encoding="utf-8")
        return audience_data(read(path), "public", Standing(word=word, reason="of the test"), language)["sentences"]

    return tell


# --- true in every case ---------------------------------------------------------------------------


@pytest.mark.parametrize("word", STANDINGS)
def test_only_what_was_checked_is_said_to_be_kept(told, word):
    first = told(word)[0]
    said_to_be_kept = "release made as described here keeps it" in first or "Releases made as described here keep it" in first
    assert said_to_be_kept is (word in (Word.VERIFIED, Word.DERIVED))
    assert ("is false" in first) is (word in (Word.RECORDED, Word.REFUTED))


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (["mechanism"], "A release that we made up ourselves keeps this promise"),
        (["space"], "We made up a form of data. On such data,"),
        (["mechanism", "space"], "We made up both. In that case"),
    ],
)
def test_what_stands_in_is_said_to_be_made_up(told, blocks, said):
    mechanism = '{ type = "randomised-response", keep_probability = "3/4" }'
    extra = "\n".join(f'[provenance.{block}]\nhow = "assumed"\nbecause = "ours"' for block in blocks)
    extra = f'[deployment]\npublisher = "A"\nproduct = "B"\nyear = 2023\n{extra}'
    assert said in told(mechanism=mechanism, extra=extra)[0]
    refuted = told(Word.REFUTED, mechanism=mechanism, extra=extra)[0]
    assert not re.search("keeps this promise|is kept", refuted)
    assert "made up" in refuted
    assert "This promise is false" not in refuted
    small = told(Word.MINIATURE, mechanism=mechanism, extra=extra)[0]
    assert ("made up" in small) is ("mechanism" in blocks)
    assert "we have not shown it" in small


@pytest.mark.parametrize("blocks", [("space",), ("mechanism",), ("space", "mechanism")])
def test_a_page_names_all_that_is_made_up(blocks):
    """A release of our own, on data of a form of our own, was said to keep the promise without a word about the data."""
    made_up = tuple(BlockProvenance(block=block, how="assumed", because="a test") for block in blocks)
    promise = build(
        space={"type": "bit-vectors", "length": 2}, input_divergence={"type": "hamming-ordered"},
        output_divergence={"type": "mult"}, budget={"epsilon": 1},
    )  # fmt: skip
    document = attrs.evolve(promise, provenance=made_up)
    for word in (Word.VERIFIED, Word.REFUTED, Word.RECORDED):
        said = public_standing(Standing(word=word, reason="of the test"), document)
        assert ("how the release is really made" in said) is ("mechanism" in blocks)
        assert ("what the real data look like" in said) is ("space" in blocks)
        assert "known to be false" not in said


@pytest.mark.parametrize(
    ("language", "words"), [("en", "sets no limit"), ("de", "setzt keine Grenze"), ("fr", "ne fixe aucune limite")]
)
def test_a_promise_that_every_release_keeps_is_not_called_possibly_false(told, language, words):
    assert words in told(Word.UNDECIDED, language, budget='{ epsilon = "inf" }')[0]
    assert words not in told(Word.UNDECIDED, language)[0]


def test_a_limit_is_that_of_the_best_test(told):
    """Warner with ln 3: with false alarms in 1 of 20 cases a test has power 3/20; a bracket around that is rounded up."""
    said = r"looks for a change in the data of one person\. .* they find it in at most (\d+) of 100 cases\.$"
    (cases,) = re.findall(said, told()[2])
    assert int(cases) in (15, 16)


@pytest.mark.parametrize("epsilon", ["1/10", "1/3", "1/2", "1", "3/2", "2"])
def test_no_limit_for_technical_readers_is_rounded_below_the_truth(run, tmp_path, epsilon):
    """By the curve of pure privacy, min(e^eps a, 1 - e^-eps (1 - a)), in decimals of 40 digits."""
    path = tmp_path / "told.dpspec.toml"
    path.write_text(
        f'schema = 1\nid = "told"\ntitle = "told"\nspace = {TWO_ANSWERS}\ninput_divergence = {{ type = "hamming-ordered" }}\n'
        f'output_divergence = {{ type = "mult" }}\nbudget = {{ epsilon = "{epsilon}" }}\n',
        encoding="utf-8",
    )
    page = run("explain", path, "--audience", "technical").out
    ratio = (decimal.Decimal(Fraction(epsilon).numerator) / Fraction(epsilon).denominator).exp(decimal.Context(prec=40))
    for level in (100, 20, 10):
        (shown,) = re.findall(rf"level 1/{level}\s+at most (\S+)", page)
        true = min(ratio / level, 1 - (1 - 1 / decimal.Decimal(level)) / ratio)
        assert true <= decimal.Decimal(shown) <= true * (1 + decimal.Decimal("1e-5"))


def test_a_budget_of_nought_is_not_silence_where_it_allows_a_ratio(told):
    """Delta 0 at epsilon 1 is pure privacy with epsilon 1: the laws may differ."""
    limited = told(output_divergence='{ type = "hockey-stick", epsilon = "1" }', budget='{ delta = "0" }')[2]
    assert "14 of 100" in limited
    silent = told(budget='{ epsilon = "0" }')[2]
    assert silent.startswith("If the promise is kept, no one can see from the release")


def test_no_limit_is_told_as_none(told):
    assert "sets no limit" in told(budget='{ epsilon = "inf" }')[2]
    assert "sets almost no limit" in told(budget='{ epsilon = "20" }')[2]


def test_one_change_is_what_the_distance_counts(told):
    """A person who is replaced counts twice where persons are added and removed: the limit is not about that."""
    added = told(space=COLOURS, input_divergence='{ type = "symmetric-difference" }')[2]
    assert "looks for one person more or less in the data." in added
    replaced = told(space=COLOURS, input_divergence='{ type = "hamming" }')[2]
    assert "looks for a change in the data of one person." in replaced


def test_the_unit_of_a_relation_is_no_record(told):
    """A promise to users was called one of what the data of one record add."""
    space = COLOURS.replace("most = 3,", 'unit = "user",')
    for distance in ("add-remove", "replace-one"):
        relation = f'{{ type = "{distance}", unit = "user" }}'
        said = told(space=space, input_divergence=f'{{ type = "neighbour", relation = {relation} }}')
        assert said[3].endswith("what the data of one user add.")


@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize("name", ["pufferfish", "noiseless-privacy", "distributional-privacy", "coupled-worlds"])
def test_no_one_who_knows_all_other_data_is_limited_by_a_promise_about_laws_of_the_data(specs, name, language):
    """Noiseless privacy: the other records are the only noise, so that whoever knows them reads the secret off the release."""
    document = read(specs / f"flavours/{name}.dpspec.toml")
    said, held = catalogue()[language], Standing(word=Word.VERIFIED, reason="")
    data = audience_data(document, "public", held, language)
    text = " ".join([*data["sentences"], *data["paragraphs"]])
    assert said["knows"]["others"] not in text
    assert said["more"]["imagine"].split("{", maxsplit=1)[0] not in text
    assert said["more"]["own"] not in text
    assert said["knows"]["stated"] in data["sentences"][2]
    assert said["beyond"]["stated"] in data["sentences"][3]
    assert said["more"]["stated"] in data["paragraphs"]
    technical = " ".join(audience_data(document, "technical", held)["paragraphs"])
    assert "knows both distributions" in technical
    assert "other records" not in technical
    assert "two datasets" not in technical


def test_equal_laws_of_a_release_do_not_silence_those_who_know_more(told):
    space = '{ type = "data-laws", base = { type = "bit-vectors", length = 1 }, data_laws = [{ label = "a", listed = [{ value = '
    space += '[0], probability = 1 }] }, { label = "b", listed = [{ value = [1], probability = 1 }] }] }'
    blocks = {"space": space, "input_divergence": '{ type = "data-variation" }', "budget": '{ epsilon = "0" }'}
    assert re.search(r"in at most [56] of 100 cases\.$", told(**blocks)[2])


@pytest.mark.parametrize(
    ("distance", "change", "what"),
    [
        ('{ type = "hamming-ordered" }', "what the data of one person add", "yours (one person)"),
        ('{ type = "within-distance", of = { type = "hamming-ordered" }, most = 1 }', "what the data of one person add",
         "yours (one person)"),
        ('{ type = "within-distance", of = { type = "hamming-ordered" }, most = 2 }', "the changes that it covers",
         "what changes of distance 1 or less can touch"),
        ('{ type = "neighbour", relation = { type = "listed-pairs", pairs = [[[0, 0], [1, 1]]] } }', "the changes that it covers",
         "what changes of distance 1 or less can touch"),
    ],
)  # fmt: skip
def test_more_than_one_record_may_change_at_distance_1(distance, change, what):
    """Of two people who may both change, an attacker was said to know one, and the promise to be about the other only."""
    asked = build(
        space={"type": "bit-vectors", "length": 2}, output_divergence={"type": "mult"}, budget={"epsilon": 1},
        input_divergence=tomllib.loads(f"of = {distance}")["of"],
    )  # fmt: skip
    data = audience_data(asked, "public", Standing(word=Word.UNCHECKED, reason="of the test"))
    assert f"The promise is only about {change}." in data["sentences"][3]
    assert f"all of the data except {what}" in " ".join(data["paragraphs"])


def test_what_is_published_comes_before_the_limit(told):
    exact, limit = told(space=COLOURS, multiverse=TOTAL, input_divergence='{ type = "hamming" }')[1:3]
    assert exact == "Some facts are published exactly: person total. The promise covers no change that shows in them."
    assert "that the promise covers" in limit


def test_a_published_total_does_not_give_a_person_away(told):
    """The number of people is published: nobody can be missing, yet who is there may have another colour, at distance 2."""
    blocks = {"space": COLOURS, "multiverse": TOTAL, "input_divergence": '{ type = "symmetric-difference" }'}
    exact, limit = told(**blocks)[1:3]
    assert "A change of distance 1 always shows in them" in exact
    assert re.search(r"a change of distance 2 or less that the promise covers\. .* in at most 4[56] of 100 cases", limit)


@pytest.mark.parametrize(
    ("space", "distance", "fact"),
    [
        (
            {"type": "bit-vectors", "length": 40},
            "hamming-ordered",
            {"type": "linear-map", "rows": [[0] * 39 + [1]], "label": "last"},
        ),
        (
            {"type": "integer-counts", "length": 30, "high": 9},
            "l1",
            {"type": "linear-map", "rows": [[0] * 29 + [1]], "label": "last"},
        ),
    ],
)
def test_no_limit_is_told_for_two_ideas_that_a_published_fact_tells_apart(space, distance, fact):
    """In a space too large to list, no two such datasets were found; there are some nevertheless."""
    asked = build(
        space=space,
        multiverse={"invariants": [fact]},
        input_divergence={"type": distance},
        output_divergence={"type": "mult"},
        budget={"epsilon": 1},
    )
    told = audience_data(asked, "public", Standing(word=Word.UNCHECKED, reason="of the test"))["paragraphs"]
    (odds,) = (one for one in told if "names the wrong idea" in one)
    assert "two ideas that agree in all facts that are published exactly" in odds


def test_what_is_published_may_leave_nothing(told):
    every = '{ invariants = [{ type = "linear-map", rows = [[1, 0], [0, 1]] }] }'
    exact, limit = told(multiverse=every)[1:3]
    assert "The promise covers no change that shows in them" in exact
    assert limit == "The promise covers no change of distance 3 or less. It sets no limit there."


def test_some_sets_alone_are_promised(told):
    universes = '{ type = "explicit", universes_by_label = { a = [[0, 0], [0, 1]] } }'
    exact = told(multiverse=universes)[1]
    assert exact == "The promise covers some changes only. It sets no limit for the others."


def test_a_budget_without_one_number_is_told_all_the_same(specs):
    data = audience_data(read(specs / "swapping-derangement.dpspec.toml"), "public", Standing(word=Word.VERIFIED, reason=""))
    assert len(data["sentences"]) == 4
    assert data["sentences"][2].startswith("How much the release reveals depends on the data.")


def test_steps_outside_are_told(told):
    step = '[[unaccounted]]\nstep = "a threshold is chosen by hand"\neffect = "leaks"\ntouches = "budget"'
    assert told(extra=step)[3].endswith("Some steps of the release lie outside of the promise.")


# --- languages ------------------------------------------------------------------------------------


def test_every_language_says_the_same_things():
    english, *others = catalogue().values()
    for other in others:
        assert other["draft"]
        assert set(other) - {"draft"} == set(english)
        for table in set(english) - {"units"}:
            assert set(other[table]) == set(english[table])
            for key, text in english[table].items():
                wanted = [name for name in _filled_in(text) if name != "reason"]  # which the engine says, in English
                assert _filled_in(other[table][key]) == wanted, (table, key)
                assert sum(_filled_in(text).count(name) for name in _filled_in(text)) == len(_filled_in(text))


def _filled_in(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("language", ["de", "fr"])
def test_a_draft_is_marked_and_has_no_english(run, response, language):
    out = " ".join(run("explain", response(), "--audience", "public", "--language", language).out.split())
    assert catalogue()[language]["draft"] in out
    assert "promise" not in out.replace("promesse", "")
    assert re.search(r"1[56] (von|cas sur) 100", out)


VARIED = [
    "randomised-response", "topdown-2020-pl-persons", "swapping-2020-county-tract", "swapping-derangement",
    "gaussian-lecture-corrected", "flavours/w-event-dp", "flavours/per-record-dp", "deployments/us-2020-pl-persons",
    "deployments/au-tablebuilder", "deployments/wikimedia-current", "deployments/google-gboard-models", "disclosure/cell-key",
    "mechanisms/laplace-adults-add-remove",
]  # fmt: skip
ENGLISH_WORDS = frozenset(
    re.findall(
        r"\w+",
        "the of by and or is are was were that with where which who whose if in under at than more less what no not none never "
        "always some any every each one two people persons person household records changes release released promise promises "
        "published exactly number cases from this these it its other others their them your you data distance here may can keeps",
    )
)
ALSO = {"de": {"in", "person", "was"}, "fr": {"or", "distance"}}
"""Words that these languages have, too."""


@pytest.mark.parametrize("language", ["de", "fr"])
@pytest.mark.parametrize("place", range(len(VARIED)))
def test_nothing_is_left_in_english(specs, language, place):
    """Beside the file's own words: its title, names of attributes, categories in braces, and what stands in quotation marks."""
    document = read(specs / f"{VARIED[place]}.dpspec.toml")
    standing = Standing(word=STANDINGS[place % len(STANDINGS)], reason="of the test")
    data = audience_data(document, "public", standing, language)
    space = document.spec.space
    own = " ".join(attribute.name for unit in space.units for attribute in space.attributes_of(unit))
    assert len(data["paragraphs"]) >= (2 if document.spec.budget.unpublished() is not None else 3)
    for text in (*data["sentences"], *data["paragraphs"]):
        plain = re.sub(r"„[^“]*“|« [^»]* »|\{[^}]*\}", "", text)
        words = {one.lower() for one in WORD.findall(plain)} - {one.lower() for one in WORD.findall(own)}
        assert not words & (ENGLISH_WORDS - ALSO[language]), text


def test_the_heading_and_the_note_come_from_the_catalogue(run, response):
    for language, said in catalogue().items():
        out = run("explain", response(), "--audience", "public", "--language", language).out
        assert f"\n{said['more']['heading']}\n" in out
        assert ("draft" in said) == (language != "en")
        if "draft" in said:
            assert out.rstrip().endswith(said["draft"])


def test_an_unknown_language_is_refused(run, response):
    refused = run("explain", response(), "--audience", "public", "--language", "xx")
    assert refused.code == 2
    assert "en, de, fr" in refused.err
    assert run("explain", response(), "--audience", "technical", "--language", "de").code == 2


# --- easy to read ---------------------------------------------------------------------------------

WORD = re.compile(r"[^\W\d_]+")
VOWELS = {"en": "aeiouy", "de": "aeiouyäöü", "fr": "aeiouyàâéèêëîïôûùœ"}


def syllables(word: str, language: str) -> int:
    """Groups of vowels; in English and French without a silent e at the end."""
    groups = len(re.findall(f"[{VOWELS[language]}]+", word.lower()))
    return max(1, groups - bool(re.search(SILENT[language], word.lower())))


SILENT = {
    "en": r"[^aeiouyl]e$|[^aeiouycgsxz]es$|[^aeiouydt]ed$",
    "de": r"(?!)",
    "fr": r"[^aeiouyéè]e(s|nt)?$",
}


def ease(text: str, language: str) -> float:
    """Flesch's reading ease (1948); for German by Amstad (1978), for French by Kandel and Moles (1958). 60 is plain English."""
    words = WORD.findall(text)
    length = len(words) / len(re.findall(r"[.!?](?:\s|$)", text))
    density = sum(syllables(word, language) for word in words) / len(words)
    return {
        "en": 206.835 - 1.015 * length - 84.6 * density,
        "de": 180 - length - 58.5 * density,
        "fr": 207 - 1.015 * length - 73.6 * density,
    }[language]


def test_the_measure_tells_plain_from_hard():
    plain = "The cat sat on the mat. It was glad to be there."
    hard = "The organisation institutionalised interdisciplinary methodological considerations."
    assert ease(plain, "en") > 100 > 0 > ease(hard, "en")


def grade(text: str) -> float:
    """Flesch and Kincaid (1975): the school year in which an English text can be read."""
    words = WORD.findall(text)
    length = len(words) / len(re.findall(r"[.!?:](?:\s|$)", text))
    return 0.39 * length + 11.8 * sum(syllables(word, "en") for word in words) / len(words) - 15.59


def test_the_grade_tells_plain_from_hard():
    assert grade("The cat sat on the mat. It was glad to be there.") < 2
    assert grade("The organisation institutionalised interdisciplinary methodological considerations.") > 20


def filled(language):
    """The parts of a catalogue with an example in every place."""
    said = catalogue()[language]
    unit = said.get("units", {}).get("person", "person")
    change = said["change"]["replaced"].format(unit=unit)
    fill = {
        "facts": "the total", "change": change, "cases": "14", "unit": unit, "what": "yours", "distance": "1",
        "caught": "14", "twice": "14", "tenfold": "3", "divergence": "one person", "called": "", "reason": "none",
        "units": "", "words": "", "knows": said["knows"]["others"],
    }  # fmt: skip
    return {
        table: [text.format(**fill) for text in said[table].values()]
        for table in ("standing", "exact", "limit", "beyond", "how", "more")
    }


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize(("language", "least"), [("en", 80), ("de", 65), ("fr", 85)])
def test_the_public_reads_plain_words(language, least):
    parts = filled(language)
    texts = [" ".join(four) for four in itertools.product(*(parts[table] for table in ("standing", "exact", "limit", "beyond")))]
    assert min(ease(text, language) for text in texts) >= least - 15
    assert sum(ease(text, language) for text in texts) / len(texts) >= least
    more = [text for table in ("how", "more") for text in parts[table] if text.endswith((".", ":"))]
    assert ease(" ".join(more), language) >= least
    assert language != "en" or max(grade(" ".join(texts)), grade(" ".join(more))) <= 8


# --- the numbers of one table ---------------------------------------------------------------------


SWAP = "swapping-derangement.dpspec.toml"


@pytest.fixture
def households(tmp_path):
    """Two strata: three households of size 1, and five of size 2; b = 5."""
    rows = [(1, "owned", "Dukes"), (1, "rented", "Nantucket"), (1, "owned", "Nantucket"), (2, "owned", "Dukes")]
    rows += [(2, "rented", "Nantucket"), (2, "rented", "Dukes"), (2, "owned", "Nantucket"), (2, "rented", "Nantucket")]
    path = tmp_path / "households.csv"
    path.write_text("size,tenure,county\n" + "".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [["label"], ["explain", "--audience", "public"]])
def test_no_table_has_a_number_where_none_is_published(run, tmp_path, command):
    """An unpublished budget is none that depends on the table: the message offered the number of one."""
    path = tmp_path / "open.dpspec.toml"
    lines = ["schema = 1", 'id = "open"', 'title = "open"', f"space = {TWO_ANSWERS}", "budget = { stated = false }"]
    lines += ['input_divergence = { type = "hamming-ordered" }', 'output_divergence = { type = "mult" }']
    path.write_text("\n".join(lines), encoding="utf-8")
    found = run(command[0], path, *command[1:])
    assert (found.code, found.err) == (0, "")


@pytest.mark.slow
def test_the_numbers_of_a_table_are_those_of_risk(run, specs, households):
    """Where budgets differ by universe there is no number without a table; with one, it is that of `risk`."""
    without = run("explain", specs / SWAP, "--audience", "public")
    assert "depends on the data" in without.out
    assert "--universe-of" in without.err
    assert "--universe-of" not in without.out
    told = run("explain", specs / SWAP, "--audience", "public", "--universe-of", households, "--format", "json").json("explain")
    risk = run("risk", specs / SWAP, "--attacker", "tester", "--set", 'levels=["1/20"]', "--set", "distance=2", "--universe-of",
               households, "--format", "json").json("risk")  # fmt: skip
    powers = [row for row in risk["rows"] if row["quantity"] == "power" and row["worst_case"]]
    (wanted,) = [row["worst_case"][0]["value"]["upper"] for row in powers
                 if {"name": "candidates", "value": "distinguished by what is published"} not in row["at"]]  # fmt: skip
    assert [row["value"]["upper"] for row in told["audience"]["numbers"] if "level 1/20" in row["what"]] == [wanted]
    assert wanted.startswith("0.8")
    assert any("one table" in text for text in told["audience"]["paragraphs"])


@pytest.mark.parametrize("language", ["de", "fr"])
def test_a_table_has_no_english(run, specs, households, language):
    asked = ("--audience", "public", "--language", language, "--universe-of", households)
    assert catalogue()[language]["more"]["of_table"] in " ".join(run("explain", specs / SWAP, *asked).out.split())


def test_label_and_report_have_the_number_of_a_table(run, specs, households, tmp_path):
    value = document_at(read(specs / SWAP), households).spec.budget.uniform()
    assert value == number("ln(4)")
    label = " ".join(run("label", specs / SWAP, "--universe-of", households).out.split())
    assert "epsilon is about 1.387, for one change" in label
    assert "facts of one table" in label
    assert "for this release" not in label, "the mechanism's own numbers are about other universes"
    page = tmp_path / "page.md"
    run("report", specs / SWAP, "--universe-of", households, "--out", page)
    assert "the facts of one table" in page.read_text(encoding="utf-8")
    for text in (label, page.read_text(encoding="utf-8")):
        assert "households.csv" not in text


@pytest.mark.parametrize("command", [("explain", "--audience", "public"), ("label",), ("report", "--out", "page.md")])
def test_a_table_that_does_not_fit_is_refused(run, specs, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("size,tenure,county\n1,owned,Elsewhere\n", encoding="utf-8")
    for table in ("other.csv", "missing.csv"):
        refused = run(command[0], specs / SWAP, *command[1:], "--universe-of", table)
        assert refused.code == 2
        assert "Elsewhere" not in refused.err
        assert not (tmp_path / "page.md").exists()


def test_a_table_goes_with_an_audience_and_with_a_budget_that_differs(run, specs, response, households, tmp_path):
    assert run("explain", specs / SWAP, "--universe-of", households).code == 2
    refused = run("report", response(), "--universe-of", households, "--out", tmp_path / "page.md")
    assert refused.code == 2
    assert "no budget differs by universe" in refused.err


TWO_PROMISES = """\
schema = 1
id = "two"
title = "Two promises"
[space]
type = "records"
attributes = [{ name = "sex", categories = ["f", "m"] }, { name = "county", categories = ["a", "b"] }]
[input_divergence]
type = "hamming"
[output_divergence]
type = "mult"
[budget]
epsilon = "2*ln(2)"
[mechanism]
type = "geometric"
ratio = "1/2"
queries = [{ type = "marginal", attributes = ["sex"] }]
[[part]]
title = "more"
budget = { epsilon = 1 }
mechanism = { type = "geometric", ratio = "1/9", queries = [{ type = "marginal", attributes = ["county"] }] }
"""


@pytest.mark.parametrize(
    ("language", "one", "all_of_it"),
    [
        ("en", "At least one promise of the file is false", "This promise is false"),
        ("de", "Mindestens ein Versprechen der Datei ist falsch", "Dieses Versprechen ist falsch"),
        ("fr", "Au moins une promesse du fichier est fausse", "Cette promesse est fausse"),
    ],
)
def test_a_promise_is_not_called_false_because_another_one_of_the_file_is(run, tmp_path, language, one, all_of_it):
    path = tmp_path / "two.dpspec.toml"
    path.write_text(TWO_PROMISES, encoding="utf-8")
    out = " ".join(run("explain", path, "--audience", "public", "--language", language).out.split())
    assert one in out
    assert all_of_it not in out
    if language == "en":
        label = " ".join(run("label", path).out.split())
        assert "At least one promise of the file is known to be false." in label
        assert "The promise below is known to be false" not in label
        path.write_text(TWO_PROMISES.partition("[[part]]")[0].replace("2*ln(2)", "1"), encoding="utf-8")
        assert "The promise below is known to be false" in " ".join(run("label", path).out.split())
