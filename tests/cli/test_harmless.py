"""Nothing that a file or its name holds is a command to the terminal, hides, or turns what stands beside it round."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import click
import pytest
from rich.text import Text

import dpspec.cli
from dpspec.base.errors import harmless, harmless_json, harmless_page, in_markup
from dpspec.cli.framework import CommandLine, say
from dpspec.report.page import Grid, Sentence
from dpspec.report.terminal import bullet, drawn

NASTY = [
    "\x1b]0;owned\x07", "\x1b[2J", "\x1b[8m", "\x9b31m", "\x90q\x9c", "\u202eevil", "\u2066x\u2069", "\u200e\u200f", "\u2028",
    "\u2029", "\u200b", "\ufeff", "\u00ad", "\U000e0041", "\x07", "\x08\x08", "\x7f", "\x85",
]  # fmt: skip
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


@pytest.mark.parametrize("nasty", NASTY)
def test_it_is_shown_and_not_obeyed(nasty):
    for shown in (harmless(f"a{nasty}b"), in_markup(f"a{nasty}b"), harmless_json(json.dumps(f"a{nasty}b", ensure_ascii=False))):
        assert not BAD.search(shown)
    assert json.loads(harmless_json(json.dumps(f"a{nasty}b", ensure_ascii=False))) == f"a{nasty}b"


def test_every_letter_of_unicode_is_decided_by_its_category():
    for number in range(0x11000):
        shown, category = harmless(chr(number), keep=""), unicodedata.category(chr(number))
        assert (shown == chr(number)) == (category not in ("Cc", "Cf", "Cs", "Zl", "Zp")), hex(number)


SPEC = """\
schema = 1
id = "warner"
title = "T{0}\\nforged.dpspec.toml: holds"
[space]
type = "bit-vectors"
length = 2
[input_divergence]
type = "hamming-ordered"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = "{1}"
[mechanism]
type = "randomised-response"
keep_probability = "3/4"
[claim]
verdict = "verified"
because = "B{0}"
[source]
"K{0}" = "S{0}"
"""


def escaped(nasty):
    return "".join(f"\\U{ord(letter):08x}" for letter in nasty)


@pytest.mark.parametrize("nasty", ["\x1b]0;owned\x07\x1b[8m\x9b31m\u202e\u2066\u200f\u2028"])
@pytest.mark.parametrize("epsilon", ["ln(3)", "no{0}number"])
@pytest.mark.parametrize("command", [["check"], ["verify"], ["lint", "--explained"], ["explain"], ["ledger"]])
def test_no_command_obeys_a_file_or_its_name(run, tmp_path, nasty, epsilon, command):
    path = tmp_path / f"warner{nasty[:-1]}.dpspec.toml"
    path.write_text(SPEC.replace("{1}", epsilon).replace("{0}", escaped(nasty)), encoding="utf-8")
    for further in ([], ["--format", "json"]):
        ran = run(*command, path, *further)
        assert not BAD.search(ran.out), ascii(BAD.search(ran.out))
        assert not BAD.search(ran.err), ascii(BAD.search(ran.err))
        assert not any(line.startswith("forged") for line in (ran.out + ran.err).splitlines())


@pytest.mark.parametrize("nasty", ["\u202e", "\x1b[31m", "\u2028", "\U000e0041"])
@pytest.mark.parametrize(
    "make",
    [
        str,
        Text,
        bullet,
        lambda text: Sentence(words=text),
        lambda text: Grid(caption="c", heads=("h", "i"), rows=((text, text),)),
    ],
)
def test_what_is_escaped_takes_no_other_text_with_it(nasty, make):
    """Escapes are longer than the letters that were measured: the ends of full lines were cut off."""
    text = " ".join(f"word{place}{nasty}" for place in range(60))
    shown = drawn(make(text))
    assert all(f"word{place}" in shown for place in range(60))
    assert not BAD.search(shown)


@pytest.mark.parametrize("nasty", NASTY)
def test_whatever_a_command_says_is_harmless(nasty, capsys):
    say(f"a{nasty}b")
    say(f"a{nasty}b", err=True)
    group = CommandLine("dpspec")

    @group.command()
    def fails():
        raise click.UsageError(f"no{nasty}")

    for arguments in (["fails"], [f"un{nasty}known"]):
        with pytest.raises(SystemExit) as ended:
            group.main(arguments, "dpspec")
        assert ended.value.code == 2
    told = capsys.readouterr()
    assert not BAD.search(told.out + told.err)
    assert told.err.count("Error: ") == 2


def test_no_command_has_another_way_to_print():
    """What a report, an error, a plugin or a file's name holds passes one place."""
    for path in sorted(Path(dpspec.cli.__file__).parent.glob("*.py")):
        uses = re.findall(r"click\.(?:s?echo|secho|echo_via_pager)\(|\bprint\(", path.read_text(encoding="utf-8"))
        assert uses == (["click.echo("] if path.name == "framework.py" else []), path


def test_a_page_keeps_its_colours_and_nothing_else():
    assert harmless_page("\x1b[1;31ma\x1b[0m") == "\x1b[1;31ma\x1b[0m"
    for hiding in ("\x1b[8m", "\x1b[7m", "\x1b[2;8m", "\x1b[38;5;8m", "\x1b[41m", "\x1b[2J", "\x1b]0;a\x07"):
        assert "\x1b" not in harmless_page(hiding)
