"""Characters that a terminal would obey, or that would hide or turn round what stands beside them, made visible.

A file may hold anything: commands of a terminal (ESC, C1), overrides of the direction of writing, characters without width, line
ends that begin a line of their own. What is shown of a file goes through here.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata

_COLOUR = r"\x1b\[(?:0|[1-4]|3[0-7]|9[0-7])(?:;(?:[1-4]|3[0-7]|9[0-7]))*m"
"""Bold, faint, a colour and their end, which reports are drawn with: none hides, moves or replaces anything."""
_SHOWN = ("Zs", "Co", "Cn")
"""Categories that Python does not call printable and that do no harm: blanks, private and unassigned characters."""


def harmless(text: str, keep: str = "\n\t") -> str:
    r"""The text with every control, direction, invisible and separating character written as an escape.

    Args:
        keep: those that are meant.

    >>> harmless("a\x1b]0;b\u202ec")
    'a\\x1b]0;b\\u202ec'
    """
    if text.isprintable():
        return text
    return "".join(letter if _fine(letter, keep) else _escaped(letter) for letter in text)


def harmless_json(text: str) -> str:
    r"""The same for a JSON text, which stays JSON and keeps its meaning.

    >>> harmless_json('{"a": "\u202e"}')
    '{"a": "\\u202e"}'
    """
    if text.isprintable():
        return text
    return "".join(letter if _fine(letter, "\n") else json.dumps(letter)[1:-1] for letter in text)


def harmless_page(text: str) -> str:
    r"""The same for a page that may be coloured.

    >>> harmless_page("\x1b[1;31mrefuted\x1b[0m \x1b[8mhidden")
    '\x1b[1;31mrefuted\x1b[0m \\x1b[8mhidden'
    """
    if text.isprintable():
        return text
    return "".join(part if place % 2 else harmless(part) for place, part in enumerate(re.split(f"({_COLOUR})", text)))


def in_markup(text: str) -> str:
    """The same as text of an XML or HTML document, which may not even hold an escaped control character.

    >>> in_markup("a<b")
    'a&lt;b'
    """
    return html.escape(harmless(text))


def _fine(letter: str, keep: str) -> bool:
    return letter.isprintable() or letter in keep or unicodedata.category(letter) in _SHOWN


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
