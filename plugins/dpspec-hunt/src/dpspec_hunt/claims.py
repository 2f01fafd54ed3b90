"""The claim of a function: standard, numbers and neighbours, as stated in its text.

What is read is the text of the function, of its class, and its parameters; the words that said so are kept as evidence. A
statement is an expression before the words of a guarantee: `0.5-DP`, `(2 * epsilon, 1e-6)-differentially private`. Where two
statements differ, or the words around one are about something else (a theorem, another paper, a guarantee per record), it is a
doubt, and the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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

_SYMBOLS = {
    **{name: about for about, names in NAMES.items() for name in names},
    **{letter: about for about, letters in {"epsilon": "εϵ", "delta": "δ", "rho": "ρ", "mu": "μµ"}.items() for letter in letters},
    "varepsilon": "epsilon", "mu": "mu",
}  # fmt: skip
_NUMBER = r"(?:ln\(\d+(?:/\d+)?\)|log\(\d+\)|\d+/\d+|\d+(?:\.\d+)?(?:e-?\d+)?|\.\d+)"
_PRIVATE = re.compile(
    r"(?P<zcdp>(?:zero-)?concentrated[ -]differential(?:ly)?[ -]priva\w*|zcdp\b)|"
    r"(?P<gaussian>gdp\b|gaussian[ -]+(?:differential(?:ly)?[ -]priva\w*|dp\b))|"
    r"(?P<plain>(?:(?:pure|approximate)[ -]+)?(?:local(?:ly)?[ -]+)?(?:differential(?:ly)?[ -]priva\w*|l?dp\b))",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"{_NUMBER}|[^\W\d]\w*|[εϵδρμµ]|\*\*|\^|[*/+-]|\S", re.IGNORECASE)
_EQUAL = re.compile(
    rf"(?<![\w.])(epsilon|eps|[εϵ]|delta|δ|rho|ρ|mu|[μµ])\s*(?:=|:|\bis\b|\bof\b)\s*({_NUMBER})(?!\.?[\w(])(?!\s*[*/^(])",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(
    rf"(?<![/\w.])(?:{_NUMBER}\s*\*?|[a-z]\s*\*)\s*(?:epsilon|eps|[εϵ])(?!\w)|"
    r"\b(?:epsilon|eps|[εϵ])\s*(?:\*\*?|/|\^)\s*\w|[εϵ]\s*[*/^]",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"differential(?:ly)?[ -]priva|\bdp\b|\bzcdp\b|\bepsilon\b|\beps\b|ε|\bgdp\b|privacy|privatis|privatiz", re.IGNORECASE
)
_LIMITED = (
    r"\bunlike\b|\bwhereas\b|\binstead\b|\bnot\b|n't\b|\bcannot\b|\bnever\b|\bno longer\b|\bwithout\b|\bfails?\b|\bviolat|"
    r"\bbreaks?\b|\bbroken\b|\binvalid\b|\bincorrect\b|\bwrong|\bmore than\b|\bless than\b|\bworse\b|\bbeyond\b|\balmost\b|"
    r"\bnearly\b|\broughly\b|\bhardly\b|\bapproximately\b|\bprovided\b|\bas long as\b|\bunless\b|\bexcept|\bbut\b|\bhowever\b|"
    r"\bonly\b(?! (?:one|a single)\b)|"
    r"\bif\b(?! (?:one|any|an?|a single|any single) (?:record|person|row|entry|individual|user|value)\b)|"
    r"\bassum|\bwith respect to\b|\bper\b|\beach\b|\bevery\b|\beither\b|\b(?:two|three|four|several)\b(?!-)"
)
"""Words that limit a statement next to them, deny it, or say that it is about a part of the answer."""
_DOUBTS = re.compile(
    rf"{_LIMITED}|\bet al\b|\bpapers?\b|\[\d+\]|\bcompared?\b|\bbaseline\b|\bprevious|\bprior (?:work|to)\b|\bin total\b|"
    r"\boverall\b|\btimes\b|\btwice\b|\bhalf\b|\bdouble|\bcompos|\bamplif|\bup to\b|\bat (?:least|most)\b|\btriple|\bO\(|"
    r"\btheorem|\blemma|\bcorollar|\bsection|\bversion|\bfigure|\btable\b|\balgorithm \d|"
    r"\b(?:sec|thm|lem|prop|def|fig|eq|ref|alg|ch|v)\b|\bchapter|\bappendix|\bexample|\be\.g\b|\bour\b|\btheir\b",
    re.IGNORECASE,
)
"""Words next to a statement that make it doubtful whether it is one about the whole function."""
_LIMITS = re.compile(_LIMITED, re.IGNORECASE)
"""Those that do so where the statement is about the parameter of the function, whose meaning no paper and no theorem changes."""
_NEIGHBOURS = (
    ("add-remove", re.compile(
        r"add(?:ing|s|ed)?(?:[ /-]+(?:or|and)?[ /-]*)remov|presence or absence|unbounded[ -](?:dp|differential)|"
        r"one (?:more|fewer) (?:record|person|row|entry)|"
        r"remov\w+ (?:one|a single|any single) (?:record|person|row|entry|individual|user)|"
        r"\b(?:one|a single|any single) (?:record|person|row|entry|individual|user) "
        r"(?:(?:is|being|may be|can be) )?(?:added|removed)",
        re.IGNORECASE)),
    ("replace-one", re.compile(
        r"(?:replac|substitut|chang)\w* (?:of )?(?:the )?(?:\w+ of )?(?:one|a single|any single|a|any) "
        r"(?:record|person|row|entry|individual|value|element|user)|"
        r"\b(?:one|a single|any single) (?:record|person|row|entry|individual|value|element|user) "
        r"(?:(?:is|being|may be|can be) )?(?:replaced|substituted|changed)|"
        r"replace[ -]one|substitution|(?<!un)bounded[ -](?:dp|differential)",
        re.IGNORECASE)),
    ("one-entry", re.compile(r"\blocal(?:ly)?\b[\w ,-]{0,20}(?:dp|differential|priva)|\bldp\b|randomi[sz]ed response",
    re.IGNORECASE)),
)  # fmt: skip
STRICTEST = ("replace-one", "one-entry", "add-remove")
"""Neighbours, those first whose guarantee is taken where a text names several."""


@attrs.frozen(kw_only=True)
class Fact:
    """An assumption, with its source.

    Args:
        about: what, such as `epsilon` or `neighbours`.
        value: it, as it is written in a file of answers.
        why: what says so.
        is_guess: whether nothing says so, and it is a guess.
        is_argument: whether it is what a parameter of that name is given.
    """

    about: str
    value: object
    why: str
    is_guess: bool = False
    is_argument: bool = False

    @property
    def subject(self) -> str:
        """What it is about, in words."""
        return f"argument {self.about}" if self.is_argument else self.about


@attrs.frozen(kw_only=True)
class Term:
    """A number of a statement: a number, or a multiple of what a parameter holds.

    Args:
        number: the number; None for a multiple.
        times: how many times the parameter.
    """

    number: Fraction | str | None = None
    times: Fraction = Fraction(1)


@attrs.frozen(kw_only=True)
class Statement:
    """A guarantee that a text states.

    Args:
        standard: which.
        terms: its numbers, by name; None for an expression that is not read.
        words: the words.
        doubt: why it may be none; empty without a doubt.
    """

    standard: str
    terms: Mapping[str, Term] | None
    words: str
    doubt: str = ""


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


def multiple(times: Fraction, value: Fraction | str) -> Fraction | str:
    """A multiple of a number of a claim."""
    if isinstance(value, Fraction):
        return times * value
    return value if times == 1 else f"{times}*{value}"


def claims_something(text: str) -> bool:
    """Whether a text speaks of privacy."""
    return _WORDS.search(text) is not None


def stated_neighbours(text: str) -> Fact | None:
    """The neighbours that a text names.

    They are a guess where it names several, of which it is the strictest, or where the words may be about what the function does.

    >>> stated_neighbours("1-DP when one record is replaced.").is_guess, stated_neighbours("Replaces any value above 9.").is_guess
    (False, True)
    """
    found: dict[str, tuple[str, bool]] = {}
    for sentence in _sentences(text):
        for name, pattern in _NEIGHBOURS:
            for matched in pattern.finditer(sentence):
                is_stated = _is_about_neighbours(sentence, matched.group())
                if name not in found or (is_stated and not found[name][1]):
                    found[name] = _short(matched.group()), is_stated
    if not found:
        return None
    name = next(name for name in STRICTEST if name in found)
    words = " and ".join(f'"{said}"' for said, _ in found.values())
    return Fact(about="neighbours", value=name, why=words, is_guess=len(found) > 1 or not found[name][1])


_ABOUT_DATA = re.compile(
    r"neighbo|adjacen|differ|data ?(?:set|base)|guarant|protect|sensitiv|presence|"
    r"\b(?:record|person|row|individual|user|participant|member|respondent|household)\b",
    re.IGNORECASE,
)
"""Words of sentences that say which datasets are compared."""
_OF_FUNCTION = re.compile(r"\b(?:adds|removes|replaces|substitutes|changes)\b(?! of\b)", re.IGNORECASE)
"""Verbs of what a function does to its data or its answer."""
_DENIED = re.compile(
    r"\bnot\b|n't\b|\bcannot\b|\bnever\b|\bunlike\b|\binstead\b|\brather than\b|\bwithout\b|\bno\b", re.IGNORECASE
)
"""Words by which a sentence says which datasets are *not* compared."""
_LOCAL = re.compile(r"local\w*[ -]+(?:model\b.*|eps\w*[ -]+)?(?:dp|differential|priva)", re.IGNORECASE)
"""Local privacy, and not the privacy of something that is local."""


def _is_about_neighbours(sentence: str, words: str) -> bool:
    """Whether words that may name neighbours are said of datasets, or of the guarantee."""
    if words.lower().startswith("local"):
        return _LOCAL.match(words) is not None
    about_data = _ABOUT_DATA.search(sentence) is not None or claims_something(sentence)
    return about_data and _OF_FUNCTION.search(words) is None and _DENIED.search(sentence) is None


def statements(text: str) -> tuple[Statement, ...]:
    """The guarantees that a text states, in its order, without repetitions.

    >>> [one.terms for one in statements("It is (epsilon/2)-DP.")]
    [{'epsilon': Term(number=None, times=Fraction(1, 2))}]
    >>> [one.doubt for one in statements("By theorem 3 DP mechanisms compose.")]
    ['"theorem"']
    >>> statements("It is differentially private.")
    ()
    """
    found: list[Statement] = []
    for sentence in _sentences(text):
        doubts = _DOUBTS.search(sentence), _LIMITS.search(sentence)
        for words in _PRIVATE.finditer(sentence):
            made = _statement(sentence, words, *doubts)
            if made is not None and all(attrs.evolve(other, words=made.words) != made for other in found):
                found.append(made)
    return tuple(found)


def stated_values(text: str) -> dict[str, tuple[Fact, ...]]:
    """The numbers that a text gives by name, as `epsilon = 0.5`; those of one name that differ are all there."""
    found: dict[str, dict[Fraction | str, Fact]] = {}
    for sentence in _sentences(text):
        doubt = _DOUBTS.search(sentence)
        for words in _EQUAL.finditer(sentence):
            value = number(words.group(2))
            if value is not None:
                about = _SYMBOLS[words.group(1).lower()]
                fact = Fact(about=about, value=words.group(2), why=f'"{_short(words.group())}"', is_guess=doubt is not None)
                found.setdefault(about, {}).setdefault(value, fact)
    return {about: tuple(facts.values()) for about, facts in found.items()}


def has_multiple(text: str) -> bool:
    """Whether a text speaks of a multiple of epsilon, or of a power, other than in a statement.

    >>> has_multiple("The total budget is 2*epsilon."), has_multiple("Noise of scale 1/epsilon.")
    (True, False)
    """
    for sentence in _sentences(text):
        read = any(term.times != 1 for one in statements(sentence) for term in (one.terms or {}).values())
        if not read and _MULTIPLE.search(sentence):
            return True
    return False


_OTHER = re.compile(
    r"\b(?:r[ée]nyi|label|metric|edge|node|f|one-sided|bayesian|distributional|personali[sz]ed|truncated[ -]concentrated)[ -]"
    r"(?:dp\b|differential|priva)|\br-?dp\b|\bt-?cdp\b|\br[ée]nyi\b|\bpufferfish\b|\bblowfish\b|geo-?indistinguishab|"
    r"\b(?:user|client|device|group|household|event|item|element|attribute)[ -]level\b",
    re.IGNORECASE,
)
"""Definitions of privacy that none of `STANDARDS` is, or whose neighbours are other ones."""


def other_definition(text: str) -> str | None:
    """The words by which a text names another definition of privacy.

    >>> other_definition("It is (2, 0.5)-RDP."), other_definition("It is 0.5-DP.")
    ('RDP', None)
    """
    found = _OTHER.search(text)
    return None if found is None else found.group()


def named_standard(text: str) -> str | None:
    """The standard that a text names without its numbers."""
    if re.search(r"zcdp|concentrated[ -]d", text, re.IGNORECASE):
        return "zCDP"
    if re.search(r"\bgdp\b|gaussian differential", text, re.IGNORECASE):
        return "gaussian"
    if re.search(r"approximate[ -]d", text, re.IGNORECASE):
        return "approximate"
    return "pure" if re.search(r"\bpure[ -](?:d|e)", text, re.IGNORECASE) else None


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a point inside a number ends none."""
    plain = re.sub(r"[`$]|\\(?=[a-zA-Z])|:math:", "", text)
    for part in re.split(r"(?<=[.;!?])(?<!\bal\.)(?<!\bcf\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)\s+(?!\d)|\n\s*\n", plain):
        if sentence := " ".join(part.split()):
            yield sentence


def _statement(
    sentence: str, words: re.Match[str], doubtful: re.Match[str] | None, limited: re.Match[str] | None
) -> Statement | None:
    """The statement that ends with some words; None where no number or symbol is before them.

    Args:
        sentence, words: the sentence, and the words in it.
        doubtful, limited: what `_DOUBTS` and `_LIMITS` find in the sentence.
    """
    before = sentence[: words.start()]
    joined = before.rstrip(" -")
    hyphen = "-" in before[len(joined) :]
    written, start = _expression(joined)
    if not written:
        return None
    parts = _split(written)
    kind = words.lastgroup
    standard = "zCDP" if kind == "zcdp" else "gaussian" if kind == "gaussian" else "approximate" if len(parts) == 2 else "pure"
    shown = _short(sentence[start : words.end()])
    terms: dict[str, Term] | None = None if _continues(sentence[:start]) else {}
    for about, part in zip(STANDARDS[standard], parts, strict=False):
        term = _term(part, about)
        terms = None if term is None or terms is None else {**terms, about: term}
    if len(parts) != len(STANDARDS[standard]):
        terms = None
    is_whole = terms is not None and all(term == Term() for term in terms.values())  # the parameters as they are
    doubt = limited if is_whole else doubtful
    if doubt is not None:
        return Statement(standard=standard, terms=terms, words=shown, doubt=f'"{doubt.group()}"')
    bare = not written.startswith("(") and re.fullmatch(_NUMBER, written, re.IGNORECASE) is not None
    if bare and not hyphen:
        return Statement(standard=standard, terms=terms, words=shown, doubt=f'"{shown}"')
    return Statement(standard=standard, terms=terms, words=shown)


LONGEST = 200
"""The largest number of characters of an expression that is read: the work grows with its square."""


def _expression(before: str) -> tuple[str, int]:
    """The expression at the end of a text, and where it begins; empty where there is none, or a longer one than is read."""
    cut = max(0, len(before) - LONGEST)
    written, start = _last_expression(before[cut:])
    return ("", 0) if cut and start == 0 else (written, cut + start)


_LAST = re.compile(
    rf"(?:(?:(?>{_NUMBER})|(?>[^\W\d]\w*))\s*(?:\*\*|[*/+^]|-(?=\s))\s*|(?>{_NUMBER})\s*(?=[^\W\d]))*"
    rf"(?:(?>{_NUMBER})|(?>[^\W\d]\w*'?))$",
    re.IGNORECASE,
)
"""Numbers and names with operators between them. Each is read in one way: with two, the work would double with each of them."""


def _last_expression(before: str) -> tuple[str, int]:
    if before.endswith((")", "]", "}")):
        depth, start = 0, len(before)
        while start > 0:
            start -= 1
            depth += (before[start] in ")]}") - (before[start] in "([{")
            if depth == 0:
                break
        written = before[start:]
        head = re.search(r"(?<![\w.])[^\W\d][\w.]*$", before[:start])  # the name of a function: log2(3) is no 3
        if head is not None:
            start = head.start()
            written = before[start:]
        factor = re.search(rf"(?:{_NUMBER}|[^\W\d]\w*)\s*[*/]\s*$", before[:start])
        if factor is not None:
            start = factor.start()
            written = before[start:]
        return (written, start) if _counts(written) else ("", 0)
    found = _LAST.search(before)
    if found is None or not _counts(found.group()):
        return "", 0
    return found.group().strip(), found.start()


def _counts(written: str) -> bool:
    """Whether a text has a number, or the symbol of one, as one with an index."""
    return re.search(r"\d", written) is not None or any(
        word.strip("_'").lower().startswith(("eps", "varepsilon")) or word.lower() in _SYMBOLS or word in "εϵδρμµ"
        for word in re.findall(r"[^\W\d]\w*'?", written)
    )


def _continues(before: str) -> bool:
    """Whether a text before an expression belongs to it: an operator, a letter as a factor, or the thousands of a number."""
    return re.search(r"(?:[*/^+]|(?<!\w)[b-zB-Z])\s*$|\d[,.'\s]$", before[-LONGEST:]) is not None


def _split(written: str) -> list[str]:
    """The parts of a pair, or the one expression.

    >>> _split("(1, min(1e-5, delta))"), _split("min(1, epsilon)")
    (['1', 'min(1e-5, delta)'], ['min(1, epsilon)'])
    """
    inside = written.strip()
    while inside[:1] in "([{" and inside[-1:] in ")]}" and len(inside) > 1:
        inside = inside[1:-1].strip()
    parts, depth = [""], 0
    for letter in inside:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _term(written: str, about: str) -> Term | None:
    """A number, or a multiple of the symbol of a number; None for what is not read."""
    value = number(written.lower())
    if value is not None:
        return Term(number=value)
    times, divides, seen, expected = Fraction(1), False, False, True
    for part in _TOKEN.findall(written):
        if part in "()[]{}":
            continue
        symbol = _SYMBOLS.get(part.lower())
        if part in "*/":
            if expected:
                return None
            divides, expected = part == "/", True
        elif symbol == about and not divides and not seen:
            seen, expected = True, False
        elif isinstance(factor := number(part.lower()), Fraction) and factor > 0 and (expected or not seen):
            times, divides, expected = times / factor if divides else times * factor, False, False
        else:
            return None
    return Term(times=times) if seen and not expected else None


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
