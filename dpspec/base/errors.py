"""Error classes, one for each cause, each with a stable code and an exit code; and functions that make text safe for a terminal.

A message reads *subject=value: rule: what to do*. The parts stay available as attributes, so that a
caller (the command line, the spec-file reader, a test) never parses text.

Text from a file goes through `harmless` before it is displayed. It replaces characters that a terminal would interpret, or that
would hide or reorder their neighbours, by visible ones. A file may contain anything: escape sequences (ESC, C1), characters that
override the writing direction, zero-width characters, and line ends that start a forged line.
"""

from __future__ import annotations

import html
import itertools
import json
import math
import re
import textwrap
import traceback
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

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
    return "".join(
        letter if _fine(letter, keep) else letter.encode("unicode_escape", "surrogatepass").decode("ascii") for letter in text
    )


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


# --- small texts ----------------------------------------------------------------------------------


def named(name: str) -> str:
    r"""A name as a message shows it: harmless, and in quotes where it is empty or contains a blank, which is invisible otherwise.

    >>> print(named("age"), named(" workclass"), named("a\x07 b"))
    age ' workclass' 'a\x07 b'
    """
    text = harmless(name, keep="")
    return text if text and not any(letter.isspace() for letter in text) else f"'{text}'"


def percent(part: int, whole: int) -> str:
    """A share in percent with one decimal, never 0.0 for some nor 100.0 for not all.

    >>> [percent(*pair) for pair in ((0, 9), (1, 10_000), (2100, 10_000), (9_999, 10_000), (9, 9))]
    ['0 %', 'under 0.1 %', '21.0 %', 'over 99.9 %', '100 %']
    """
    if part in {0, whole}:
        return "0 %" if part == 0 else "100 %"
    thousandths = part * 1000 // whole if 2 * part < whole else -(-part * 1000 // whole)
    if thousandths in {0, 1000}:
        return "under 0.1 %" if thousandths == 0 else "over 99.9 %"
    return f"{thousandths / 10:.1f} %"


def count(amount: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "pair"), count(2500, "universe")
    ('1 pair', '2,500 universes')
    """
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"


def with_article(noun: str) -> str:
    """A noun phrase as a sentence goes on with it.

    >>> with_article("integer in [1, 2]"), with_article("rational in (0, 1)"), with_article("one of a, b")
    ('an integer in [1, 2]', 'a rational in (0, 1)', 'one of a, b')
    """
    if noun.startswith(("one of ", "true or ", "a ")):
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def several(noun: str) -> str:
    """The plural of what a domain holds, after "list of".

    >>> several("table of attribute parameters"), several("exact number in [0, inf]"), several("one of a, b")
    ('tables of attribute parameters', 'exact numbers in [0, inf]', 'one of a, b')
    """
    return re.sub(r"^(exact number|integer|list|number|object|rational|table|text)(?= |$)", r"\1s", noun)


LONGEST_TEXT = 300
"""Characters of what an exception says that are shown."""


def text_of(problem: BaseException) -> str:
    """The text of an exception, on one line; its class may be a user's own, and have no text."""
    try:
        text = " ".join(str(problem).split())
    except Exception:
        return "(its text cannot be shown)"
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."


REPEATED = 100
"""The length of a run of equal entries from which it is counted and not listed."""


def value_text(value: Hashable, limit: int = 120) -> str:
    """A plain value, nested tuples without the quotes and commas of Python.

    >>> value_text((("county", 3), ("tract", 1)))
    '((county, 3), (tract, 1))'
    """
    text = _plain(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _plain(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        runs = ((text, sum(1 for _ in run)) for text, run in itertools.groupby(map(_plain, value)))
        parts = ([text] * times if times < REPEATED else [f"{text} repeated {times:,} times"] for text, times in runs)
        return f"({', '.join(itertools.chain.from_iterable(parts))})"
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    return str(value)


# --- errors of every part -------------------------------------------------------------------------


_ABSENT: Any = object()


class DpspecError(Exception):
    """Base of every error that dpspec raises on purpose.

    Args:
        subject: what the fault is about, as the user wrote it (``budget.rho``, ``hamming``).
        rule: the rule that was broken.
        advice: what to do about it.
        value: the offending value, shown as ``subject=value``; leave it out when there is none.

    A fault found in a file carries the file's name and its line (1-based) in ``file`` and ``line``.

    >>> str(DpspecError("swap_rate", "must lie in [0, 1]", "write a rate such as 1/20", value=7))
    'swap_rate=7: must lie in [0, 1]: write a rate such as 1/20'
    """

    code: ClassVar[str] = "dpspec-error"
    exit_code: ClassVar[int] = 2
    file: str | None = None
    line: int | None = None

    def __init__(self, subject: str, rule: str, advice: str = "", *, value: object = _ABSENT) -> None:
        self.subject = subject
        self.rule = rule
        self.advice = advice
        self.value = None if value is _ABSENT else value
        named = harmless(subject, keep="")
        shown = named if value is _ABSENT else f"{named}={_short(value)}"
        super().__init__(": ".join(part for part in (shown, rule, advice) if part))

    def __reduce__(self) -> tuple[Any, ...]:
        """An error is copied to another process without a constructor call, because its class does not accept the finished
        message."""
        return _bare, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        """The message, behind ``file:line:`` where those are known."""
        places = [str(place) for place in (self.file, self.line) if place is not None]
        message = harmless(super().__str__())
        return f"{harmless(':'.join(places), keep='')}: {message}" if places else message

    def _render_traceback_(self, *_: object, **__: object) -> list[str]:
        r"""The display in a notebook in place of a traceback: the message in one box, and where to read more.

        >>> print("\n".join(DpspecError("swap_rate", "must lie in [0, 1]", value=7)._render_traceback_()))
        +-- dpspec-error ---------------------------
        | swap_rate=7: must lie in [0, 1]
        +-- dpspec explain dpspec-error says more --
        """
        lines = [part for line in str(self).splitlines() for part in textwrap.wrap(line, 100) or [""]]
        foot = f" dpspec explain {getattr(self, 'faults', (self,))[0].code} says more "
        wide = max(len(foot) + 4, *(len(line) + 2 for line in lines))
        head = f"+-- {self.code} "
        return [head + "-" * (wide + 1 - len(head)), *(f"| {line}" for line in lines), f"+--{foot}".ljust(wide + 1, "-")]


def _bare(cls: type[DpspecError], args: tuple[Any, ...]) -> DpspecError:
    return cls.__new__(cls, *args)


def _short(value: object, limit: int = 80) -> str:
    """A value as a file has it, cut to a length that a terminal line can hold."""
    text = harmless(as_written(value), keep="")
    text = text if len(text) <= limit else text[: limit - 3] + "..."
    return f"'{text}'" if isinstance(value, str) and (not text or text != text.strip()) else text


def as_written(value: object) -> str:
    """A value in the notation of TOML, texts without quotes; of numbers `repr` is Python's, such as Fraction(3, 1).

    >>> print(as_written({"answer": (True, ["no", 2])}))
    {answer = [true, [no, 2]]}
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(as_written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {as_written(entry)}' for key, entry in value.items())}}}"
    return str(value)


class ParameterError(DpspecError, ValueError):
    """A value lies outside the domain of its parameter."""

    code = "parameter"


class IncompatibleBlocksError(DpspecError, ValueError):
    """Two blocks of one specification do not fit together."""

    code = "incompatible-blocks"


class AttackerMisfitError(IncompatibleBlocksError):
    """An attacker model does not fit the space, the distance, the output divergence or the budget of a specification."""

    code = "attacker-misfit"


class NotInSpaceError(DpspecError, ValueError):
    """A dataset is not an element of the dataset space."""

    code = "not-in-space"


class AdapterError(DpspecError, ValueError):
    """A dataset cannot be passed to a function in the requested form: a library is missing, or the form cannot represent it."""

    code = "adapter"


class WantedShapeError(DpspecError, ValueError):
    """A function takes something else than datasets of the space as they are, and nothing says how to make it of them."""

    code = "wanted-shape"


class NotInUniverseError(DpspecError, ValueError):
    """Two datasets were compared that share no universe, or a dataset lies in none."""

    code = "not-in-universe"


class NotEnumerableError(DpspecError):
    """The elements of a space cannot be listed (infinitely many, or too many)."""

    code = "not-enumerable"


class NotReachedError(DpspecError):
    """A search met no two datasets of one universe, so that it shows nothing about the claim."""

    code = "not-reached"
    exit_code = 3


class NoFormulaError(DpspecError, LookupError):
    """No formula is known: to evaluate a divergence on two laws, exactly or in a bracket, or from one budget to another."""

    code = "no-formula"
    exit_code = 3


class WorkLimitError(DpspecError):
    """A search spent its limit of work, in units that do not depend on the machine; what it asks is undecided."""

    code = "work-limit"
    exit_code = 3


class NumericalError(DpspecError, ArithmeticError):
    """An enclosure stayed too wide to decide, at the largest precision that is tried."""

    code = "numerical"
    exit_code = 3


class NoCompositionError(DpspecError, ValueError):
    """Specifications of one data collection have no common blocks in which their budgets add up; says what is missing."""

    code = "no-composition"


class BudgetNotStatedError(DpspecError, ValueError):
    """No number of the budget is published, and the computation needs one."""

    code = "budget-not-stated"
    exit_code = 3


class BudgetNotKnownError(DpspecError, ValueError):
    """The budget of a universe depends on all its datasets, which are too many to list."""

    code = "budget-not-known"
    exit_code = 3


class NoYardstickError(DpspecError, ValueError):
    """Two specifications have no common space or universes in which a third could be implied by both; says what is missing."""

    code = "no-yardstick"


class MixedLedgerError(DpspecError, ValueError):
    """Bounded and unbounded neighbours in one ledger: for some parts datasets of different size are compared, for others not."""

    code = "mixed-ledger"


class PriorError(DpspecError, ValueError):
    """A prior is no probability distribution over the datasets: it does not sum to one, is negative, or leaves the space."""

    code = "prior"


class ImproperPosteriorError(DpspecError, ValueError):
    """The posterior of a model has no finite integral under the prior: nothing can be inferred with it; names the theorem."""

    code = "improper-posterior"


class UndeterminedModelError(DpspecError, ValueError):
    """A release does not determine what a model estimates: two different truths have the same law of the release."""

    code = "undetermined-model"


class CertainTargetError(DpspecError, ValueError):
    """The prior is 0 or 1 on what the attacker wants to know: there is nothing to learn, and no odds to compare."""

    code = "certain-target"


class CounterfactualError(DpspecError, ValueError):
    """The world without the target's record is not defined: leaving a record out changes a size that must stay."""

    code = "counterfactual"


class TableError(DpspecError, ValueError):
    """A table of data does not fit the dataset space of the specification."""

    code = "table"


class ReleaseError(DpspecError):
    """A release was refused or could not be written."""

    code = "release"


class NotAFileError(DpspecError):
    """The path is a pipe, a socket or a device, not a regular file: it may never end, and it cannot be read twice."""

    code = "not-a-file"


class UnreadableFileError(DpspecError):
    """A file is missing, may not be read, or has a name that no file can have."""

    code = "unreadable-file"


class CheckpointError(DpspecError):
    """The files of an unfinished run are damaged: it cannot be resumed."""

    code = "checkpoint"


class RefutedReleaseError(DpspecError):
    """The claim of the specification is refuted, so nothing is released under it."""

    code = "refuted-release"
    exit_code = 1


class UnverifiedReleaseError(DpspecError):
    """The claim of the specification is not verified, and the option `--unverified`, which permits such a release, was not given.

    The exit code is that of the claim: 3 for an undecided one, 5 for one that was never checked, 7 for one that holds on
    miniatures only, 4 where a plugin failed.
    """

    code = "unverified-release"
    exit_code = 3


class CertificateError(DpspecError, ValueError):
    """A certificate or a release cannot be read, or is not of the shape of one."""

    code = "certificate"


class CertificateVersionError(DpspecError, ValueError):
    """A certificate is of another version of the format, or was written by another version of dpspec or of a plugin."""

    code = "certificate-version"


class NotCertifiableError(DpspecError):
    """A premise of a certificate does not hold: a claim that is refuted, not verified, or verified on miniatures only.

    The exit code is that of the claim: 1 for a refuted one, 3 for an undecided one, 5 for one that was never checked, 6 for one
    that is known to be false, 7 for one that holds on miniatures only.
    """

    code = "not-certifiable"
    exit_code = 1


class LibraryError(DpspecError):
    """A library failed in a way that it does not foresee: it panicked, or ended a process."""

    code = "library"
    exit_code = 4


class MissingLibraryError(DpspecError):
    """The operation needs an optional library that is not installed; nothing was read or written.

    Args:
        subject: what needs it.
        library: its name.
        brings: the distribution, with its extra, that brings it.
        instead: what works without it.
        value: as in `DpspecError`.

    >>> print(MissingLibraryError("picture", "matplotlib", "dpspec[pdf]", "choose the ending .svg", value="a.pdf"))
    picture=a.pdf: needs the library matplotlib, which is not installed: pip install "dpspec[pdf]", or choose the ending .svg
    """

    code = "missing-library"

    def __init__(self, subject: str, library: str, brings: str, instead: str = "", *, value: object = _ABSENT) -> None:
        advice = f'pip install "{brings}"' + (f", or {instead}" if instead else "")
        super().__init__(subject, f"needs the library {library}, which is not installed", advice, value=value)


class MissingPackageError(DpspecError):
    """The name belongs to a package that is not installed; nothing was read or written.

    Args:
        subject: the requested name.
        package: the package that provides it.

    >>> print(MissingPackageError("command label", "dpspec-example"))
    command label: is in the package dpspec-example, which is not installed: pip install dpspec-example
    """

    code = "missing-package"

    def __init__(self, subject: str, package: str) -> None:
        super().__init__(subject, f"is in the package {package}, which is not installed", f"pip install {package}")


class OwnFaultError(DpspecError):
    """A fault of dpspec itself, not of the input."""

    code = "own-fault"
    exit_code = 4


class WorkersError(DpspecError):
    """The requested workers are not reachable, or lost what they need to continue."""

    code = "workers"
    exit_code = 4


class PictureError(DpspecError):
    """A figure cannot be drawn as requested."""

    code = "picture"


# --- risk ----------------------------------------------------------------------------------------


class InfeasibleConstraintsError(DpspecError, ValueError):
    """No table keeps all stated constraints; the message names a smallest set of them that contradict each other."""

    code = "infeasible-constraints"


class ProfileBelowOneError(DpspecError, ValueError):
    """A risk profile tolerates less than what the attacker knows without any release: no budget keeps it."""

    code = "profile-below-one"


class ProfileNotMonotoneError(DpspecError, ValueError):
    """A risk profile tolerates a larger relative risk for a larger prior, so that it cannot be bounded between two priors."""

    code = "profile-not-monotone"


class FailureProbabilityError(DpspecError, ValueError):
    """A statement is to fail less often than the delta of the guarantee that it rests on."""

    code = "failure-probability"


# --- specification files -------------------------------------------------------------------------


class SpecError(DpspecError):
    """A fault in a specification file."""

    code = "spec"


class SpecFileError(SpecError):
    """The file cannot be opened: missing, a directory, not readable."""

    code = "spec-file"


class SpecSyntaxError(SpecError):
    """The file is not TOML, or not text."""

    code = "syntax"


class SpecTooLargeError(SpecError):
    """The file is larger, or nested deeper, than any specification needs to be."""

    code = "too-large"


class SchemaVersionError(SpecError):
    """The file is written in a schema version that this reader does not know."""

    code = "schema-version"


class UnknownKeyError(SpecError, LookupError):
    """A key has no meaning at this position of the file."""

    code = "unknown-key"


class MissingKeyError(SpecError, LookupError):
    """A required key is absent."""

    code = "missing-key"


class WrongShapeError(SpecError, ValueError):
    """A value has the wrong TOML type: a text where a table is required, a table where a list is required, and similar."""

    code = "wrong-shape"


class DuplicateIdError(SpecError, ValueError):
    """Two items that are distinguished by their id have the same id."""

    code = "duplicate-id"


class LedgerError(SpecError, ValueError):
    """The parts of a ledger do not add up to the budget."""

    code = "ledger"


class EmptyLedgerError(LedgerError):
    """A ledger without parts: there is nothing to add up."""

    code = "empty-ledger"


class RefutedPartError(LedgerError):
    """The claim of a part is refuted: its release spends more than it says, and the total would be false."""

    code = "refuted-part"
    exit_code = 1


class NegativePartError(LedgerError):
    """A part of a ledger is below 0: no release gives protection back."""

    code = "negative-part"


class NotWritableError(SpecError):
    """An object has no form in a specification file (a function given in Python, an unregistered class)."""

    code = "not-writable"


class BudgetParameterError(SpecError, ValueError):
    """The budget is given in a number that the output divergence does not take (epsilon for rho, ...)."""

    code = "budget-parameter"


# --- records of the deployments registry --------------------------------------------------------


class YamlError(DpspecError, ValueError):
    """A file is no YAML, or holds what no record needs: an alias, an anchor, a tag, a second document, a key twice."""

    code = "yaml"


class RecordVersionError(DpspecError, ValueError):
    """A record is written under another version of the registry's schema, which has no version number of its own."""

    code = "record-version"


class RegistryCheckError(DpspecError, ValueError):
    """The registry's check script would refuse a record: its file name, a folded block, two backslashes, the shape of a URL."""

    code = "registry-check"


# --- rules of disclosure control ------------------------------------------------------------------


class DisclosureRuleError(DpspecError, ValueError):
    """A file of disclosure rules, or its perturbation table, is invalid, or does not fit the request."""

    code = "disclosure-rule"


# --- derivations ---------------------------------------------------------------------------------


class DerivationFileError(DpspecError, ValueError):
    """A derivation file is missing, no JSON, or not of the shape of a derivation."""

    code = "derivation-file"


class DerivationVersionError(DpspecError, ValueError):
    """A derivation file is written in a version that this checker does not know."""

    code = "derivation-version"


class DerivationTooLongError(DpspecError, ValueError):
    """A derivation has more steps, or a larger file, than the checker reads."""

    code = "derivation-too-long"


class DerivationChainError(DpspecError, ValueError):
    """A step of a derivation does not start where the one before it ends."""

    code = "derivation-chain"


# --- plugins --------------------------------------------------------------------------------------


def raised_at(problem: BaseException) -> str:
    """The file and line of a plugin's code that an exception came through: the last frame outside of dpspec itself.

    >>> def law():
    ...     return 1 / 0
    >>> try:
    ...     law()
    ... except ZeroDivisionError as problem:
    ...     raised_at(problem).partition(":")[2]
    '2'
    """
    if isinstance(problem, SyntaxError) and problem.filename:
        return f"{Path(problem.filename).name}:{problem.lineno}"
    frames = traceback.extract_tb(problem.__traceback__)
    named = [frame for frame in frames if not frame.filename.startswith("<frozen ")]
    outside = [frame for frame in named if not Path(frame.filename).is_relative_to(_KERNEL)]
    last = next(reversed(outside or named or frames), None)
    return "no place is known" if last is None else f"{Path(last.filename).name}:{last.lineno}"


_KERNEL = Path(__file__).parents[1]
TO_ITS_AUTHOR = "report it to the author of the code at that line"
"""Advice next to `raised_at`: what raised need not be the plugin that was called, but one that it called."""


class PluginError(DpspecError):
    """A plugin is at fault."""

    code = "plugin"
    exit_code = 4


class PluginLoadError(PluginError):
    """A plugin raised while it was imported or while it registered."""

    code = "plugin-load"


class DuplicatePluginError(PluginError):
    """Two distributions claim one plugin name."""

    code = "duplicate-plugin"


class DuplicateNameError(PluginError):
    """Two plugins, or one plugin twice, register one name of one kind."""

    code = "duplicate-name"


class UnknownHookError(PluginError):
    """A plugin implements a hook that does not exist, most often a misspelt one."""

    code = "unknown-hook"


class ApiVersionError(PluginError):
    """A plugin was written for another version of the plugin interface."""

    code = "api-version"


class PluginContractError(PluginError):
    """A plugin broke its contract while it ran: raised, or returned something it must not."""

    code = "plugin-contract"


class ContradictedError(PluginContractError):
    """A mechanism states a structure or a theorem that its own law contradicts; its author has to correct one of them."""

    code = "contradicted"


class UnknownNameError(DpspecError, LookupError):
    """A name is not registered; when a failed plugin may be the reason, ``exit_code`` is 4."""

    code = "unknown-name"


class Faults(DpspecError):
    """Several independent faults, reported together.

    >>> str(Faults([ParameterError("p", "must be positive"), ParameterError("q", "must be positive")]))
    'p: must be positive\\nq: must be positive'
    """

    code = "faults"

    def __init__(self, faults: Sequence[DpspecError]) -> None:
        self.faults = tuple(faults)
        DpspecError.__init__(self, "\n".join(str(fault) for fault in self.faults), "")
        self.exit_code = max((fault.exit_code for fault in self.faults), default=2)  # type: ignore[misc]

    def __str__(self) -> str:
        """A line for each fault."""
        return "\n".join(str(fault) for fault in self.faults)


def error_classes(base: type[DpspecError] = DpspecError) -> list[type[DpspecError]]:
    """Every error class that is loaded, with its base first."""
    found = [base]
    for cls in base.__subclasses__():
        found += [deeper for deeper in error_classes(cls) if deeper not in found]
    return found


@contextmanager
def reported_as_own() -> Iterator[None]:
    """Raise an error of a package that imports nothing of dpspec as the error of dpspec with the same code.

    Such an error has the attributes `code`, `exit_code`, `subject`, `rule`, `advice`, and `given`, the arguments by name.
    """
    try:
        yield
    except Exception as problem:
        if isinstance(problem, DpspecError) or not all(hasattr(problem, name) for name in _OF_AN_ERROR):
            raise
        foreign: Any = problem
        same = (cls for cls in error_classes() if cls.code == foreign.code and cls.__init__ is DpspecError.__init__)
        own = next(same, DpspecError)(foreign.subject, foreign.rule, foreign.advice, **foreign.given)
        own.code, own.exit_code = foreign.code, foreign.exit_code  # type: ignore[misc]
        raise own from problem


_OF_AN_ERROR = ("code", "exit_code", "subject", "rule", "advice", "given")
