"""Every mutated specification is read or refused with a code, and every mutated table is released rightly or not at all."""

from __future__ import annotations

import resource

import pytest

from dpspec.base.errors import DpspecError
from dpspec.extension import installed
from dpspec.specfile.maker import FilePositions
from dpspec.specfile.reader import parse, read_text
from tests.attacks.mutating import FAILED, KEYS, outcomes

MEGABYTES = 500
"""By which the process may grow at most."""


def judged(count, seed, folder):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = outcomes(count, seed, folder)
    assert found.total() == count
    assert not found[FAILED]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES << 10
    return found


@pytest.mark.slow
def test_mutated_files_are_read_or_refused_with_a_code(tmp_path):
    found = judged(300, 3, tmp_path)
    assert found["read"]
    assert len(found) > 5


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_thousand_mutated_files(tmp_path, seed):
    judged(10_000, 100 + seed, tmp_path)


SOUND = """\
schema = 1
{0} = 1
[space]
{0} = "x" # {0} = 2
{0}x.{0} = {{ {0} = [1, {{ {0} = 2 }}], b = \"\"\"a
[no]
{0} = 3\"\"\" }}
d = 1979-05-27 07:32:00+01:00
"after" = 1
[[miniature.{0}]]
{0} = '''
x = 1
'''
[[miniature.{0}]]
last = 1
"""


@pytest.mark.parametrize("key", [*KEYS, "plain", "'lit[0].x'"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_keys_of_every_form_have_their_line(key, ends):
    """The lines of plain keys around the odd ones are right, and reading ends."""
    first = key if "." not in key or key[0] in "\"'" else "abc"
    if first == "é":
        return
    text = SOUND.replace("{{", "{").replace("}}", "}").replace("{0}x", "q").replace("{0}", first).replace("\n", ends)
    positions = FilePositions.of(text, parse(text))
    assert positions.lines["space.after"] == 9
    assert positions.lines["space.d"] == 8
    assert max(positions.lines.values()) == 15
    with pytest.raises(DpspecError):
        read_text(text, installed().registry)
    for path in ("space.a[b.c", "a[", "[", "space.[[[", ".", "a]]"):
        assert positions.nearest(path) >= 1
