"""What the public is told in four sentences: true in every case, easy to read, and the same in every language."""

from __future__ import annotations

import itertools
import re
import string

import pytest

from dpspec import read
from dpspec.base.words import Word
from dpspec.report.audience import audience_data, catalogue
from dpspec.verifier.document import Standing

STANDINGS = (
    Word.VERIFIED, Word.DERIVED, Word.MINIATURE, Word.RECORDED, Word.REFUTED, Word.UNCHECKED, Word.UNDECIDED, Word.PLUGIN,
)  # fmt: skip
TWO_ANSWERS = '{ type = "bit-vectors", length = 2 }'
COLOURS = '{ type = "records", most = 3, attributes = [{ name = "colour", categories = ["red", "green", "blue"] }] }'
TOTAL = '{ invariants = [{ type = "marginal", attributes = [] }] }'


@pytest.fixture
def told(tmp_path):
    """The four sentences about a specification, each asked for by its blocks."""

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
    said_to_be_kept = "release that is made as described here keeps it" in first or "releases that are made" in first
    assert said_to_be_kept is (word in (Word.VERIFIED, Word.DERIVED))
    assert ("is false" in first) is (word in (Word.RECORDED, Word.REFUTED))


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (["mechanism"], "one that we made up ourselves keeps this promise"),
        (["space"], "on data of a form that we made up"),
        (["mechanism", "space"], "where we made up both"),
    ],
)
def test_what_stands_in_is_said_to_be_made_up(told, blocks, said):
    mechanism = '{ type = "randomised-response", keep_probability = "3/4" }'
    extra = "\n".join(f'[provenance.{block}]\nhow = "assumed"\nbecause = "ours"' for block in blocks)
    extra = f'[deployment]\npublisher = "A"\nproduct = "B"\nyear = 2023\n{extra}'
    assert said in told(mechanism=mechanism, extra=extra)[0]
    assert "made up" not in told(Word.REFUTED, mechanism=mechanism, extra=extra)[0]


def test_a_limit_is_that_of_the_best_test(told):
    """Warner with ln 3: with false alarms in 1 of 20 cases a test has power 3/20; a bracket around that is rounded up."""
    (cases,) = re.findall(r"finds a change in the data of one person in (\d+) of 100 cases at most\.$", told()[2])
    assert int(cases) in (15, 16)


def test_a_budget_of_nought_is_not_silence_where_it_allows_a_ratio(told):
    """Delta 0 at epsilon 1 is pure privacy with epsilon 1: the laws may differ."""
    limited = told(output_divergence='{ type = "hockey-stick", epsilon = "1" }', budget='{ delta = "0" }')[2]
    assert "14 of 100" in limited
    silent = told(budget='{ epsilon = "0" }')[2]
    assert silent.startswith("If the promise is kept, nobody can tell from the release")


def test_no_limit_is_told_as_none(told):
    assert "sets no limit" in told(budget='{ epsilon = "inf" }')[2]
    assert "sets almost no limit" in told(budget='{ epsilon = "20" }')[2]


def test_one_change_is_what_the_distance_counts(told):
    """A person who is replaced counts twice where persons are added and removed: the limit is not about that."""
    added = told(space=COLOURS, input_divergence='{ type = "symmetric-difference" }')[2]
    assert "finds one person more or less in the data in" in added
    replaced = told(space=COLOURS, input_divergence='{ type = "hamming" }')[2]
    assert "finds a change in the data of one person in" in replaced


def test_what_is_published_comes_before_the_limit(told):
    exact, limit = told(space=COLOURS, multiverse=TOTAL, input_divergence='{ type = "hamming" }')[1:3]
    assert exact == "Some facts are published exactly, and the promise covers no change that shows in them: person total."
    assert "that the promise covers" in limit


def test_a_published_total_does_not_give_a_person_away(told):
    """The number of people is published: nobody can be missing, yet who is there may have another colour, at distance 2."""
    blocks = {"space": COLOURS, "multiverse": TOTAL, "input_divergence": '{ type = "symmetric-difference" }'}
    exact, limit = told(**blocks)[1:3]
    assert "a change of distance 1 always shows in them" in exact
    assert re.search(r"a change of distance 2 or less that the promise covers in 4[56] of 100 cases", limit)


def test_what_is_published_may_leave_nothing(told):
    every = '{ invariants = [{ type = "linear-map", rows = [[1, 0], [0, 1]] }] }'
    exact, limit = told(multiverse=every)[1:3]
    assert "the promise covers no change that shows in them" in exact
    assert limit == "The promise covers no change of distance 3 or less, so it sets no limit there."


def test_some_sets_alone_are_promised(told):
    universes = '{ type = "explicit", universes_by_label = { a = [[0, 0], [0, 1]] } }'
    exact = told(multiverse=universes)[1]
    assert exact == "The promise covers some changes only, and sets no limit for the others."


def test_a_budget_without_one_number_is_told_all_the_same(specs):
    data = audience_data(read(specs / "swapping-derangement.dpspec.toml"), "public", Standing(word=Word.VERIFIED, reason=""))
    assert len(data["sentences"]) == 4
    assert data["sentences"][2].startswith("How much the release gives away cannot be put into one number here")


def test_steps_outside_are_told(told):
    step = '[[unaccounted]]\nstep = "a threshold is chosen by hand"\neffect = "leaks"\ntouches = "budget"'
    assert told(extra=step)[3].endswith("some steps of the release lie outside of it.")


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


@pytest.mark.parametrize(("language", "least"), [("en", 60), ("de", 45), ("fr", 55)])
def test_the_public_is_told_in_plain_words(language, least):
    said = catalogue()[language]
    change = said["change"]["replaced"].format(unit="person")
    fill = {"facts": "the total", "change": change, "cases": "14", "unit": "person"}
    parts = [said[table].values() for table in ("standing", "exact", "limit", "beyond")]
    texts = [" ".join(sentence.format(**fill) for sentence in four) for four in itertools.product(*parts)]
    assert min(ease(text, language) for text in texts) >= least - 15
    assert sum(ease(text, language) for text in texts) / len(texts) >= least
