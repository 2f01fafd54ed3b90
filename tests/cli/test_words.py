"""How a claim stands, told by every command that speaks of it; the exit code of each word, and what may be accepted."""

from __future__ import annotations

import re

import pytest
from dpspec_divergences import Hamming, Mult, ReplaceOne

from dpspec import installed

REFUTED = '[claim]\nverdict = "refuted"\nbecause = "ln(3) is larger"\n'
OPEN = '[claim]\nverdict = "undecided"\nbecause = "too large"\n'
SMALL = '[[miniature]]\ntitle = "one bit"\n[miniature.space]\ntype = "bit-vectors"\nlength = 1\n'
NUMBER = '[[expect]]\nwhat = "half"\nrho = "0.5"\ntolerance = 0\nbecause = "exact"\n'
NUMBER += 'route = { type = "pure-to-zcdp", epsilon = 1 }\n'


@pytest.mark.parametrize(("given", "code", "word", "told"), [
    ({}, 0, "holds", "holds"),
    ({"epsilon": "1"}, 1, "refuted", "refuted"),
    ({"epsilon": "1", "extra": REFUTED}, 6, "recorded", "known false (confirmed)"),
    ({"extra": REFUTED}, 1, "missed", "FAILS"),
    ({"length": 20, "proof": False, "extra": SMALL}, 7, "miniature", "holds on miniatures only"),
    ({"length": 20, "proof": False, "extra": OPEN}, 5, "unchecked", "nothing was checked"),
    ({"length": 20, "proof": False, "extra": OPEN + NUMBER}, 5, "unchecked", "nothing was checked"),
    ({"length": 20, "proof": False}, 3, "undecided", "undecided"),
    ({"epsilon": "1", "extra": REFUTED + NUMBER}, 6, "recorded", "known false (confirmed)"),
])  # fmt: skip
def test_each_word_has_its_exit_code(run, response, given, code, word, told):
    path = response(**given)
    ran = run("verify", path)
    assert (ran.code, ran.out.splitlines()[0]) == (code, f"{path}: {told}")
    data = run("verify", path, "--format", "json").json("verify")
    assert (data["exit_code"], data["files"][0]["outcome"]) == (code, word)


def test_what_is_accepted_counts_as_success_and_keeps_its_word(run, response):
    path = response(epsilon="1", extra=REFUTED)
    ran = run("verify", path, "--accept", "recorded,miniature")
    assert (ran.code, ran.out.splitlines()[0]) == (0, f"{path}: known false (confirmed)")
    assert run("verify", path, "--accept", "miniature").code == 6
    for word in ("refuted", "missed", "invalid", "green"):
        refused = run("verify", path, "--accept", word)
        assert refused.code == 2
        assert "cannot be accepted" in refused.err


@pytest.mark.spread(3)
@pytest.mark.parametrize(("given", "word"), [
    ({}, "verified"), ({"epsilon": "1"}, "refuted"), ({"epsilon": "1", "extra": REFUTED}, "recorded"),
    ({"length": 20, "proof": False, "extra": SMALL}, "miniature"),
    pytest.param({"length": 9, "proof": False}, "unchecked", marks=pytest.mark.slow),
])  # fmt: skip
def test_the_standing_goes_wherever_the_claim_goes(run, response, given, word, tmp_path):
    path = response(**given)
    other = tmp_path / "other.dpspec.toml"
    other.write_text(path.read_text(encoding="utf-8").replace('id = "', 'id = "another-'), encoding="utf-8")
    told = run("explain", path, "--format", "json").json("explain")["file"]["standing"]
    public = run("explain", path, "--audience", "public", "--format", "json").json("explain")["audience"]["standing"]
    compared = run("compare", path, other, "--format", "json").json("compare")["standing"]
    asked = run("risk", path, "--attacker", "tester", "--format", "json").json("risk")["standing"]
    assert {told["word"], public["word"], compared["left"]["word"], compared["right"]["word"], asked["word"]} == {word}
    assert told["sentence"] in " ".join(run("compare", path, other).out.split())


def test_the_public_is_warned_of_a_false_promise(run, response):
    out = " ".join(run("explain", response(epsilon="1"), "--audience", "public").out.split())
    assert "known to be false" in out
    assert out.index("known to be false") < out.index("Imagine someone")


def test_a_ledger_adds_no_refuted_promise(run, response, tmp_path):
    other = tmp_path / "other.dpspec.toml"
    other.write_text(response().read_text(encoding="utf-8").replace('id = "', 'id = "another-'), encoding="utf-8")
    wrong = tmp_path / "wrong.dpspec.toml"
    wrong.write_text(other.read_text(encoding="utf-8").replace("another-", "wrong-").replace('"ln(3)"', "1"), encoding="utf-8")
    refused = run("ledger", other, wrong, "--format", "json")
    assert refused.code == 1
    assert [fault["code"] for fault in refused.json("failure")["errors"]] == ["refuted-part"]
    added = run("ledger", other, wrong, "--as-promised", "--format", "json")
    assert added.code == 0
    assert added.json("ledger")["together"]["standing"]["word"] == "refuted"
    assert "a total of promises, which are not all kept" in added.json("ledger")["together"]["standing"]["sentence"]


def test_a_total_of_verified_parts_is_derived(run, response, tmp_path):
    path = response()
    other = tmp_path / "other.dpspec.toml"
    other.write_text(path.read_text(encoding="utf-8").replace('id = "', 'id = "another-'), encoding="utf-8")
    assert run("ledger", path, other, "--format", "json").json("ledger")["together"]["standing"]["word"] == "derived"


def test_a_recommendation_says_that_nothing_was_checked(run):
    data = run("recommend", "fixed-q", "posterior=1/4", "ratio=3", "q=1", "--format", "json").json("recommend")
    assert data["standing"]["word"] == "unchecked"


def _options(command, path=""):
    import click

    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _options(inner, f"{path} {name}".strip())
    yield from ((path, option) for option in command.params if isinstance(option, click.Option))


def test_the_help_of_every_option_is_a_sentence():
    """It begins with a capital letter, ends with a full stop, and needs no line before it to be understood."""
    from dpspec.cli import main

    lame = [
        f"{path} {option.opts[0]}: {option.help}"
        for path, option in _options(main)
        if not option.hidden and not re.fullmatch(r"[A-Z][a-z]+ [^:]*[^ ].*\.(  \[default: .*\])?", option.help or "")
    ]
    assert lame == []


# --- divergences ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("explain",), ("verify",), ("verify", "--verbose"), ("label",), ("risk", "--attacker", "tester")], ids=" ".join
)
def test_people_read_words_for_divergences_and_no_registered_name(run, response, arguments):
    command, *options = arguments
    out = run(command, response(), *options).out.replace("dpspec explain mult", "")
    assert out
    assert not re.search(r"\b(mult|hamming-ordered)\b", out)


def test_explain_and_compare_say_how_a_statistician_calls_it(run, response, tmp_path):
    told = run("explain", response()).out
    assert "pure differential privacy" in told
    assert "the data of one person changed" in told
    other = tmp_path / "other.dpspec.toml"
    text = response().read_text(encoding="utf-8").replace('"mult"', '"d-nor"').replace("epsilon =", "rho =")
    other.write_text(text, encoding="utf-8")
    assert "zero-concentrated differential privacy" in run("compare", response(), other).out


def test_json_keeps_the_registered_names(run, response):
    blocks = run("compare", response(), response(), "--format", "json").json("compare")["blocks"]["left"]
    assert (blocks["output_divergence"], blocks["input_divergence"]) == (["mult"], ["hamming-ordered (person)"])


GIVEN = {
    "mult-delta": {"delta": "1/100"}, "renyi": {"order": 2}, "hockey-stick": {"epsilon": 1}, "pbdp": {"delta": "1/100"},
    "window-events": {"width": 2}, "within-distance": {"of": Hamming(), "most": 2}, "neighbour": {"relation": ReplaceOne()},
    "path": {"relation": ReplaceOne()},
}  # fmt: skip
"""Parameters of those that need some."""


def _registered(kind):
    for entry in installed().registry.usable(kind):
        found = list(entry.cls.examples()) if hasattr(entry.cls, "examples") else []
        things = [one[0] if isinstance(one, tuple) else one for one in found]
        yield from ((entry.name, thing) for thing in things or [entry.cls(**GIVEN.get(entry.name, {}))])


@pytest.mark.parametrize("kind", ["input_divergences", "output_divergences", "relations"])
def test_everything_registered_has_words_of_its_own(kind):
    told = {(name, thing.in_words()) for name, thing in _registered(kind)}
    assert not [name for name, words in told if re.match(rf"{re.escape(name)}( \(| of |$)", words)]


def test_a_class_that_changes_a_distance_loses_its_words():
    class Doubled(Mult):
        def evaluate(self, pair, *, precision=64):
            return super().evaluate(pair, precision=precision) | super().evaluate(pair, precision=precision)

    assert Mult().in_words() == "pure differential privacy"
    assert Doubled().in_words() == "doubled"


def test_two_budgets_of_each_universe_are_not_called_the_same(run, tmp_path):
    """Their words name no number, and were equal."""
    text = (
        'schema = 1\nid = "{id}"\ntitle = "T"\nspace = {{ type = "bit-vectors", length = 2 }}\n'
        'multiverse = {{ type = "one-position" }}\ninput_divergence = {{ type = "hamming-ordered" }}\n'
        'output_divergence = {{ type = "mult" }}\n[budget]\ntype = "by-part"\nparameter = "epsilon"\n'
        'values = [{{ part = 0, value = "1" }}, {{ part = 1, value = "{last}" }}]\n'
    )
    for id, last in (("a", 2), ("b", 3), ("c", 2)):
        (tmp_path / f"{id}.dpspec.toml").write_text(text.format(id=id, last=last), encoding="utf-8")

    def budget(one, other):
        page = run("compare", tmp_path / f"{one}.dpspec.toml", tmp_path / f"{other}.dpspec.toml").out
        return " ".join(page[page.index(" budget ") : page.index("Does A imply B?")].split())

    assert "the same" not in budget("a", "b")
    assert "with other parameters" in budget("a", "b")
    assert "(the same)" in budget("a", "c")
