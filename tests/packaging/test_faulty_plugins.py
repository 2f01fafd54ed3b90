"""Plugins that are at fault: each with its own error, exit code 4 where they are needed, and no harm to the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpspec.base.words import Word

pytestmark = pytest.mark.slow

GOOD = "randomised-response.dpspec.toml"

MECHANISM = '''
from typing import ClassVar
from dpspec.extension import hookimpl
from dpspec.laws.law import FiniteLaw
from dpspec.grammar.mechanism import Mechanism
from dpspec.base.params import define

@define
class Silent(Mechanism):
    """Says nothing."""

    name: ClassVar[str] = "{name}"

    def law(self, dataset, space):
        {law}

@hookimpl
def dpspec_register_mechanisms(register):
    {register}
'''

SPEC = """\
schema = 1
id = "needs-it"
title = "Needs a mechanism of a plugin"
[space]
type = "bit-vectors"
length = 1
[input_divergence]
type = "hamming-ordered"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = 1
[mechanism]
type = "{mechanism}"
"""


def plugin(name="silent", law="return FiniteLaw.point(0)", register="register(Silent)"):
    return MECHANISM.format(name=name, law=law, register=register)


@pytest.fixture
def listed(clean):
    def call(**environment):
        done = clean.run("dpspec", "plugins", "--format", "json", **environment)
        data = json.loads(done.out)
        return done.code, {entry["distribution"]: entry for entry in data["plugins"]}, data["ambiguous"]

    return call


@pytest.fixture
def verified(clean, tmp_path):
    def call(mechanism="silent", **environment):
        path = tmp_path / "needs.dpspec.toml"
        path.write_text(SPEC.format(mechanism=mechanism), encoding="utf-8")
        done = clean.run("dpspec", "verify", str(path), "--format", "json", **environment)
        (file,) = json.loads(done.out)["files"]
        assert "Traceback" not in done.err
        return done.code, file

    return call


def harmless(clean):
    """The first-party plugins still work."""
    good = Path(__file__).parents[2] / "specs" / GOOD
    return clean.run("dpspec", "verify", str(good)).code == Word.HOLDS.exit_code


def test_a_good_plugin_is_no_fault(third_party, listed, verified):
    third_party("demo-silent", "demo", plugin())
    assert listed()[0] == 0
    code, file = verified()
    assert (code, file["outcome"]) == (0, "holds")


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("raise RuntimeError('no such device')", "plugin-load", "RuntimeError: no such device"),
        ("import a_module_that_is_not_there", "plugin-load", "ModuleNotFoundError"),
        ("def broken(:", "plugin-load", "SyntaxError"),
        (plugin(register="raise RuntimeError('not today')"), "plugin-load", "RuntimeError: not today"),
        (plugin(register="register(int)"), "plugin-contract", "registers no Mechanism"),
        (plugin(register="register(Silent); register(Silent)"), "duplicate-name", "registered twice"),
        (plugin().replace("dpspec_register_mechanisms", "dpspec_register_mechanism"), "unknown-hook", "did you mean"),
        (plugin().replace("@hookimpl", ""), "unknown-hook", "@hookimpl"),
        ("DPSPEC_API = 99\n" + plugin(), "api-version", "99"),
    ],
    ids=["at-import", "missing-module", "syntax", "at-registration", "wrong-class", "twice", "misspelt", "undecorated", "api"],
)
def test_a_plugin_that_cannot_be_loaded(third_party, clean, listed, verified, text, error, words):
    third_party("demo-silent", "demo", text)
    code, found, _ = listed()
    assert code == 4
    assert found["demo-silent"]["status"] == "failed"
    (fault,) = found["demo-silent"]["errors"]
    assert fault["code"] == error
    assert words in fault["message"]
    assert harmless(clean)
    code, file = verified()
    assert code == 4
    assert file["outcome"] == "plugin"
    assert file["errors"][0]["code"] == "unknown-name"
    assert "demo failed to load" in file["errors"][0]["message"]


@pytest.mark.parametrize(
    ("law", "words"),
    [("raise ZeroDivisionError('in the law')", "ZeroDivisionError: in the law"), ("return 0.5", "must return a Law")],
)
def test_a_plugin_that_fails_inside_law(third_party, clean, listed, verified, law, words):
    third_party("demo-silent", "demo", plugin(law=law))
    assert listed()[0] == 0
    code, file = verified()
    assert code == 4
    assert file["errors"][0]["code"] == "plugin-contract"
    assert words in file["errors"][0]["message"]
    assert "silent" in file["errors"][0]["message"]
    assert harmless(clean)


def test_two_distributions_with_one_plugin_name(third_party, clean, listed, verified):
    third_party("demo-silent", "demo", plugin())
    third_party("demo-rival", "demo", plugin(name="rival"))
    code, found, _ = listed()
    assert code == 4
    for distribution in ("demo-silent", "demo-rival"):
        (fault,) = found[distribution]["errors"]
        assert fault["code"] == "duplicate-plugin"
        assert "demo-rival 1.0 and by demo-silent 1.0" in fault["message"]
    assert verified()[0] == 4
    assert harmless(clean)


def test_two_plugins_with_one_registered_name(third_party, clean, listed, verified):
    third_party("demo-silent", "first", plugin())
    third_party("demo-rival", "second", plugin())
    code, found, ambiguous = listed()
    assert code == 4
    assert found["demo-silent"]["status"] == found["demo-rival"]["status"] == "loaded"
    assert [fault["code"] for fault in ambiguous] == ["duplicate-name"]
    code, file = verified()
    assert code == 4
    assert file["errors"][0]["code"] == "duplicate-name"
    assert "first:silent" in file["errors"][0]["message"]
    code, file = verified("second:silent")
    assert (code, file["outcome"]) == (0, "holds")
    assert harmless(clean)


def test_plugins_can_be_chosen_and_blocked(third_party, clean, listed, verified):
    third_party("demo-silent", "demo", "raise RuntimeError('always')")
    code, found, _ = listed(DPSPEC_BLOCK_PLUGINS="demo")
    assert (code, found["demo-silent"]["status"]) == (0, "blocked")
    code, found, _ = listed(DPSPEC_LOAD_PLUGINS="noise,divergences")
    assert code == 0
    assert set(found) == {"dpspec", "dpspec-noise", "dpspec-divergences"}
    code, found, _ = listed(DPSPEC_LOAD_PLUGINS="")
    assert set(found) == {"dpspec"}
    code, file = verified("randomised-response", DPSPEC_BLOCK_PLUGINS="noise")
    assert code in (2, 4)
    assert file["errors"][0]["code"] == "unknown-name"
