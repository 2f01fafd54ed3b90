"""Specification files, mutated: bytes, words, keys, types, depths, sizes and letters.

python tests/attacks/mutating.py COUNT [SEED]     reads that many and says what came of them, a thousand to a seed
"""

from __future__ import annotations

import random
import re
import resource
import signal
import sys
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 10
"""Of processor, for one file; none needs more than a fraction of it."""
WORD = re.compile(r'"(?:\\.|[^"\\\n])*"|[A-Za-z0-9_.+-]+|[\[\]{}=,]|\n')
NUMBERS = (
    "0", "-1", "1e999999999", "1e-999999999", "9" * 400, "0." + "0" * 300 + "1", "inf", "-inf", "nan", "0x7fffffffffffffff",
    "1_000_000", "9223372036854775808", "1e308", "1979-05-27 07:32:00+01:00", "07:32:00", '"1/0"', '"sqrt(-1)"', '"ln(0)"',
    '"2^(2^(2^99))"', "true",
)  # fmt: skip
VALUES = (
    '""', '"x"', "[]", "{}", "[[]]", "[{}]", "{a = 1}", "'''\n'''", '"""\n"""', '"\\u005b"', '"\\u202e\\u0000"', "[1, 'a', {}]",
)  # fmt: skip
KEYS = ('"a\\u005bb"', '"a.b"', "'a[0]'", '""', "a.b.c", '"\\"]"', "'\"'", '"\\u0000"', "é", '"é"', '"a\\nb"')
LETTERS = (
    "\x00", "\x1b", "\u202e", "\ufeff", "\u2028", "é", "\U0001f600", "\\", '"', "'", '"""', "'''", "#", "\r", "\r\n", "\t",
    "[[", "]]",
)  # fmt: skip


def sources() -> list[str]:
    """The specifications of the project."""
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "specs").rglob("*.dpspec.toml"))]


def mutated(text: str, others: list[str], draw: random.Random) -> bytes:
    """One to four mutations of a text."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        text = draw.choice(MUTATIONS)(text, others, draw)
    content = text.encode("utf-8", "surrogatepass")
    if draw.random() < 0.08 and content:
        flipped = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
        content = bytes(flipped)
    return content


def _place(text: str, draw: random.Random) -> int:
    return draw.randint(0, len(text))


def _words(text: str, draw: random.Random) -> tuple[list[re.Match[str]], int]:
    words = list(WORD.finditer(text)) or [re.match("", text)]
    return words, draw.randrange(len(words))


def _replaced(text: str, word: re.Match[str], by: str) -> str:
    return text[: word.start()] + by + text[word.end() :]


def letter(text: str, others: list[str], draw: random.Random) -> str:
    at = _place(text, draw)
    return text[:at] + draw.choice(LETTERS) + text[at + draw.randint(0, 2) :]


def swapped(text: str, others: list[str], draw: random.Random) -> str:
    words, at = _words(text, draw)
    one, two = sorted((at, draw.randrange(len(words))))
    return _replaced(_replaced(text, words[two], words[one][0]), words[one], words[two][0])


def replaced(text: str, others: list[str], draw: random.Random) -> str:
    words, at = _words(text, draw)
    return _replaced(text, words[at], draw.choice((*NUMBERS, *VALUES, *KEYS, "", words[draw.randrange(len(words))][0])))


def number(text: str, others: list[str], draw: random.Random) -> str:
    """The value of a key, or a number anywhere."""
    found = list(re.finditer(r"(?<== )[^\n,}\]]+|\b[0-9][0-9.e/]*\b", text))
    return _replaced(text, draw.choice(found), draw.choice((*NUMBERS, *VALUES))) if found else text


def key(text: str, others: list[str], draw: random.Random) -> str:
    found = list(re.finditer(r"(?m)^[A-Za-z_]+(?= =)|(?<=[{,] )[a-z_]+(?= =)", text))
    return _replaced(text, draw.choice(found), draw.choice(KEYS)) if found else text


def line(text: str, others: list[str], draw: random.Random) -> str:
    """A line doubled, dropped, moved, or taken from another file."""
    lines = text.split("\n")
    at = draw.randrange(len(lines))
    other = draw.choice(others).split("\n")
    lines[at : at + draw.randint(0, 1)] = draw.choice(([lines[at]] * 2, [], [draw.choice(lines)], [draw.choice(other)]))
    return "\n".join(lines)


def cut(text: str, others: list[str], draw: random.Random) -> str:
    return text[: _place(text, draw)]


def deep(text: str, others: list[str], draw: random.Random) -> str:
    depth = draw.choice((3, 20, 31, 40, 2000))
    made = draw.choice(("[" * depth + "]" * depth, "{a=" * depth + "1" + "}" * depth, ".".join("a" * depth)))
    at = _place(text, draw)
    return text[:at] + made + text[at:]


def long(text: str, others: list[str], draw: random.Random) -> str:
    at = _place(text, draw)
    return text[:at] + draw.choice('a1"#[. \n=') * draw.choice((100, 1900, 2100, 20_000)) + text[at:]


def spliced(text: str, others: list[str], draw: random.Random) -> str:
    other = draw.choice(others)
    return text[: _place(text, draw)] + other[_place(other, draw) :]


def ends(text: str, others: list[str], draw: random.Random) -> str:
    others = ["\ufeff" + text, text + "\n" + text, text.replace(" ", "\t")]
    return draw.choice((*others, text.replace("\n", "\r\n"), text.replace("\n", "\r")))


MUTATIONS = (*[number] * 8, *[line] * 6, *[key] * 3, *[swapped] * 2, replaced, letter, cut, deep, long, spliced, ends)
"""Those that leave most files well formed come often, since what reads them lies deeper."""


FAILED = "failed"
"""Neither read nor refused with a code and a message."""


class Hang(BaseException):
    """A file took too long."""


def _late(*_: object) -> None:
    raise Hang


def outcomes(count: int, seed: int, folder: Path) -> Counter[str]:
    """What became of `count` mutated files: "read", the code of an error, or `FAILED` where one hung or ended otherwise.

    A file that fails is kept in the folder, told on stderr, and the next one follows.
    """
    from dpspec.base.errors import DpspecError, Faults
    from dpspec.extension import installed
    from dpspec.specfile.reader import read

    registry, texts, draw = installed().registry, sources(), random.Random(seed)
    found: Counter[str] = Counter()
    path = folder / "mutated.dpspec.toml"
    before = signal.signal(signal.SIGVTALRM, _late)
    try:
        for turn in range(count):
            path.write_bytes(mutated(draw.choice(texts), texts, draw))
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            try:
                read(path, registry)
                found["read"] += 1
            except DpspecError as fault:
                first = fault.faults[0] if isinstance(fault, Faults) else fault
                found[first.code if str(fault) and first.code != DpspecError.code else FAILED] += 1
            except KeyboardInterrupt:
                raise
            except BaseException as problem:
                kept = folder / f"kept-{seed}-{turn}.dpspec.toml"
                path.rename(kept)
                found[FAILED] += 1
                place = traceback.extract_tb(problem.__traceback__)[-1]
                sys.stderr.write(f"{kept}: {type(problem).__name__}: {problem} ({place.filename}, line {place.lineno})\n")
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return found


if __name__ == "__main__":
    import tempfile

    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    made, chosen = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    told, place = Counter[str](), Path(tempfile.mkdtemp())
    while told.total() < made:
        told += outcomes(min(1000, made - told.total()), chosen, place)
        chosen += 1
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        sys.stdout.write(f"{told.total()} files, {peak} MB at most: {dict(told.most_common())}\n")
        sys.stdout.flush()
