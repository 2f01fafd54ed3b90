"""What a function claims: which standard, with which numbers, between which neighbours, as its text says it.

What is read is the text of the function, of its class, and its parameters; the line that said so is kept as evidence. Nothing is
taken from the names of variables that are computed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

import attrs

from dpspec.plugin import ParameterError, exact

STANDARDS = {"pure": ("epsilon",), "approximate": ("epsilon", "delta"), "zCDP": ("rho",), "gaussian": ("mu",)}
"""Standard to the names of its numbers."""
USUAL = {"epsilon": "1", "delta": "1/100000", "rho": "1/2", "mu": "1"}
"""What a number is taken to be where nothing says it."""
NAMES = {
    "epsilon": ("epsilon", "eps", "epsilon_", "privacy_budget", "eps_total", "total_epsilon", "privacy_loss", "budget"),
    "delta": ("delta", "privacy_delta", "delta_"),
    "rho": ("rho", "rho_total", "total_rho"),
    "mu": ("mu_gdp", "gdp_mu"),
}
"""Number of a standard to the parameters that hold it."""

_NUMBER = r"(?:ln\(\d+(?:/\d+)?\)|log\(\d+\)|\d+/\d+|\d+(?:\.\d+)?(?:[eE]-?\d+)?|\.\d+)"
_PRIVATE = r"(?:differential(?:ly)?[ -]priva\w*|dp\b)"
_PAIR = re.compile(rf"\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\)[\s-]*{_PRIVATE}", re.IGNORECASE)
_ONE = re.compile(rf"(?<![\w.,/])({_NUMBER})[\s-]*(?:pure[\s-]*)?{_PRIVATE}", re.IGNORECASE)
_ZCDP = re.compile(rf"(?<![\w.,/])({_NUMBER})[\s-]*zcdp\b", re.IGNORECASE)
_GAUSSIAN = re.compile(rf"(?<![\w.,/])({_NUMBER})[\s-]*(?:gdp\b|gaussian[\s-]+(?:differential|dp\b))", re.IGNORECASE)
_EQUAL = {
    "epsilon": re.compile(rf"(?<![\w.])(?:epsilon|eps|ε)\s*(?:=|:|is|of)\s*({_NUMBER})(?![\w.]*\()", re.IGNORECASE),
    "delta": re.compile(rf"(?<![\w.])(?:delta|δ)\s*(?:=|:|is|of)\s*({_NUMBER})", re.IGNORECASE),
    "rho": re.compile(rf"(?<![\w.])(?:rho|ρ)\s*(?:=|:|is|of)\s*({_NUMBER})", re.IGNORECASE),
    "mu": re.compile(rf"(?<![\w.])(?:mu|μ)\s*(?:=|:|is|of)\s*({_NUMBER})", re.IGNORECASE),
}
_TIMES = re.compile(rf"(?<![\w.,/])({_NUMBER})\s*\*?\s*(?:epsilon|eps|ε)[\s-]*{_PRIVATE}", re.IGNORECASE)
_WORDS = re.compile(
    r"differential(?:ly)?[ -]priva|\bdp\b|\bzcdp\b|\bepsilon\b|\beps\b|ε|\bgdp\b|privacy|privatis|privatiz", re.IGNORECASE
)
_NEIGHBOURS = (
    ("add-remove", re.compile(r"add(?:ing|s|ed)?(?:[ /-]+(?:or|and)?[ /-]*)remov|presence or absence|unbounded[ -](?:dp|differential)|"
                              r"one (?:more|fewer) (?:record|person|row|entry)|remov\w+ (?:one|a single|any single)", re.IGNORECASE)),
    ("replace-one", re.compile(r"(?:replac|substitut|chang)\w* (?:of )?(?:the )?(?:\w+ of )?(?:one|a single|any single|a|any) "
                               r"(?:record|person|row|entry|individual|value|element|user)|replace[ -]one|substitution|"
                               r"(?<!un)bounded[ -](?:dp|differential)", re.IGNORECASE)),
    ("one-entry", re.compile(r"\blocal(?:ly)?\b[\w ,-]{0,20}(?:dp|differential|priva)|randomi[sz]ed response", re.IGNORECASE)),
)  # fmt: skip


@attrs.frozen(kw_only=True)
class Fact:
    """Something that is taken to be so.

    Args:
        about: what, such as `epsilon` or `neighbours`.
        value: it, as it is written in a file of answers.
        why: what says so.
        is_guess: whether nothing says so, and it is a guess.
    """

    about: str
    value: object
    why: str
    is_guess: bool = False


def number(text: object) -> Fraction | str | None:
    """A number of a claim as it is written in a specification; None for what is none.

    >>> number("1e-5"), number("log(3)"), number(0.1), number("many")
    (Fraction(1, 100000), 'ln(3)', Fraction(1, 10), None)
    """
    if isinstance(text, bool) or not isinstance(text, int | float | str | Fraction):
        return None
    written = str(text).strip().replace("log(", "ln(")
    try:
        return Fraction(written)
    except (ValueError, ZeroDivisionError):
        pass
    try:
        exact.number(written)
    except ParameterError:
        return None
    return written


def claims_something(text: str) -> bool:
    """Whether a text speaks of privacy."""
    return _WORDS.search(text) is not None


def stated_neighbours(text: str) -> Fact | None:
    """The neighbours that a text names."""
    for name, pattern in _NEIGHBOURS:
        if found := pattern.search(text):
            return Fact(about="neighbours", value=name, why=f'"{_short(found.group())}"')
    return None


def stated_numbers(text: str) -> tuple[str | None, dict[str, Fact]]:
    """The standard that a text names with its numbers, as far as it does."""
    found: dict[str, Fact] = {}

    def put(about: str, value: str, why: str) -> None:
        if about not in found and number(value) is not None:
            found[about] = Fact(about=about, value=value, why=f'"{_short(why)}"')

    standard = None
    if pair := _PAIR.search(text):
        standard = "approximate"
        put("epsilon", pair.group(1), pair.group())
        put("delta", pair.group(2), pair.group())
    elif one := _ZCDP.search(text):
        standard = "zCDP"
        put("rho", one.group(1), one.group())
    elif one := _GAUSSIAN.search(text):
        standard = "gaussian"
        put("mu", one.group(1), one.group())
    elif one := _ONE.search(text):
        standard = "pure"
        put("epsilon", one.group(1), one.group())
    for about, pattern in _EQUAL.items():
        if equal := pattern.search(text):
            put(about, equal.group(1), equal.group())
    if standard is None:
        standard = named_standard(text, found)
    return standard, found


def stated_times(text: str) -> Fraction:
    """How many times its epsilon a function claims, such as 2 where the text says 2*epsilon-DP.

    >>> stated_times("is 2 * epsilon-differentially private"), stated_times("is epsilon-DP")
    (Fraction(2, 1), Fraction(1, 1))
    """
    found = _TIMES.search(text)
    value = number(found.group(1)) if found else None
    return value if isinstance(value, Fraction) and value > 0 else Fraction(1)


def named_standard(text: str, numbers: Mapping[str, object]) -> str | None:
    """The standard that a text names without its number, or whose numbers are there."""
    if re.search(r"zcdp|concentrated[ -]d", text, re.IGNORECASE):
        return "zCDP"
    if re.search(r"\bgdp\b|gaussian differential", text, re.IGNORECASE):
        return "gaussian"
    if "delta" in numbers or re.search(r"\(\s*(?:epsilon|eps|ε)\s*,\s*(?:delta|δ)\s*\)|approximate[ -]d", text, re.IGNORECASE):
        return "approximate"
    if "rho" in numbers and "epsilon" not in numbers:
        return "zCDP"
    return (
        "pure"
        if "epsilon" in numbers or re.search(r"(?:epsilon|eps|ε)[- ]*(?:dp\b|differential)|pure[ -]d", text, re.IGNORECASE)
        else None
    )


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
