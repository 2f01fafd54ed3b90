"""pytest collects specification files: one item for each thing that a file obliges itself to.

    spec.dpspec.toml::reads                        the file has no fault
    spec.dpspec.toml::claim                        the mechanism satisfies the specification
    spec.dpspec.toml::claim on miniature: TITLE    the same on a small instance; `claim` is skipped where no proof covers the rest
    spec.dpspec.toml::number: WHAT                 a printed number is what its route gives

Only what was checked and is true passes. A refuted claim fails with its witness and without a traceback. What is neither is
skipped with its reason: undecided, nothing was checked, recorded as refuted and is, holds on miniatures only. Every item has the
marker `dpspec`, and user properties (word, outcome, method, scope, constant, bound, plugins) that `--junitxml` writes down.

Options of the ini-file:
    dpspec_specs      true (default): every *.dpspec.toml that pytest meets in the paths given, or in testpaths;
                      false: only files that are named on the command line
    dpspec_accept     words that count as success, of recorded, miniature, unchecked and undecided; such an item is counted under
                      its word and not among those that passed
    dpspec_undecided  skip (default) or fail: what becomes of those that are not accepted
    dpspec_witnesses  a directory, from the root of pytest, that gets a witness file for every refuted claim
    dpspec_locked     true: a dpspec.lock that pytest meets is an item, `dpspec.lock::locked`, which compares its files with it as
                      `dpspec verify --locked` does; false (default)

``-p no:dpspec`` switches the plugin off. Importing it needs pytest alone: dpspec itself is loaded when a file is collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dpspec.base.errors import DpspecError
    from dpspec.grammar.functions import PlainFunction
    from dpspec.grammar.mechanism import Mechanism
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.obligations import Judgement, Obligation
    from dpspec.verifier.verdict import Verdict

SUFFIX = ".dpspec.toml"
LOCK = "dpspec.lock"
_UNDECIDED_CODE = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "dpspec_specs", f"collect every *{SUFFIX} that is met (true), or only those named on the command line (false)",
        type="bool", default=True,
    )  # fmt: skip
    parser.addini("dpspec_accept", "words that count as success, as in dpspec verify --accept", type="args", default=[])
    parser.addini("dpspec_undecided", "what is neither true nor false nor accepted: skip or fail", default="skip")
    parser.addini("dpspec_witnesses", "a directory that gets a witness file for every refuted claim", default="")
    parser.addini("dpspec_locked", f"compare the files of each {LOCK} that is met with it", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "dpspec(kind): an item of a specification file; kind is reads, claim, number or locked")
    chosen = config.getini("dpspec_undecided")
    if chosen not in ("skip", "fail"):
        raise pytest.UsageError(f"dpspec_undecided={chosen}: must be skip or fail")
    known = _acceptable()
    for word in config.getini("dpspec_accept"):
        if word not in known:
            raise pytest.UsageError(f"dpspec_accept={word}: must be one of {', '.join(known)}")


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """An accepted item is shown and counted under its status word; only what was checked and is true is reported as passed."""
    word = dict(getattr(report, "user_properties", ())).get("word")
    if report.when == "call" and report.passed and word in _acceptable():
        return str(word), str(word)[0], str(word).upper()
    return None


def _acceptable() -> tuple[str, ...]:
    from dpspec.base.words import ACCEPTABLE

    return tuple(word.word for word in ACCEPTABLE)


def pytest_report_header() -> str:
    """The versions that verdicts depend on."""
    return f"dpspec: {_versions()}"


@cache
def _versions() -> str:
    points = {(point.dist.name, point.dist.version) for point in entry_points(group="dpspec") if point.dist is not None}
    return ", ".join([version("dpspec"), *(f"{name} {stated}" for name, stated in sorted(points))])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Every specification file, or with dpspec_specs = false the named ones; with dpspec_locked, a lock of some."""
    if file_path.name == LOCK and parent.config.getini("dpspec_locked"):
        lock: pytest.Collector = LockFile.from_parent(parent, path=file_path)
        return lock
    if not file_path.name.endswith(SUFFIX):
        return None
    if not parent.config.getini("dpspec_specs") and not parent.session.isinitpath(file_path):
        return None
    found: pytest.Collector = SpecFile.from_parent(parent, path=file_path)
    return found


class SpecFile(pytest.File):
    """One specification file; it is read when it is collected."""

    @cached_property
    def read(self) -> SpecDocument | DpspecError:
        """The document, or why there is none."""
        from dpspec.api import read
        from dpspec.base.errors import DpspecError

        try:
            return read(self.path)
        except DpspecError as fault:
            return fault

    def collect(self) -> Iterator[pytest.Item]:
        from dpspec.base.errors import harmless
        from dpspec.specfile.document import SpecDocument
        from dpspec.verifier.obligations import judgements

        yield Reads.from_parent(self, name="reads")
        if isinstance(self.read, SpecDocument):
            for judgement in judgements(self.read):
                # A name that can be written behind ``file::`` on the command line.
                name = harmless(" ".join(judgement.name.replace("::", ":").split()), keep="")
                yield JudgedItem.from_parent(self, name=name, judgement=judgement)


class LockFile(pytest.File):
    """The lock of specification files."""

    def collect(self) -> Iterator[pytest.Item]:
        yield LockedItem.from_parent(self, name="locked")


class NotHeldError(Exception):
    """What an item fails with: its text is the whole report."""


class SpecItem(pytest.Item):
    """One obligation of a specification file."""

    kind: str

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.add_marker(pytest.mark.dpspec(kind=self.kind))

    @property
    def file(self) -> SpecFile:
        """The file it belongs to."""
        assert isinstance(self.parent, SpecFile)  # noqa: S101 - pytest builds the tree
        return self.parent

    def runtest(self) -> None:
        from dpspec.base.errors import DpspecError

        try:
            self.judge()
        except DpspecError as fault:
            if fault.exit_code == _UNDECIDED_CODE:
                self.leave_open("undecided", f"undecided: {fault}")
                return
            raise NotHeldError(str(fault)) from fault

    def judge(self) -> None:
        """Return when the obligation holds, skip or raise otherwise."""
        raise NotImplementedError

    def leave_open(self, word: str, words: str) -> None:
        """Accept, skip or fail, as configured: nothing shows that it is true, or that it is false."""
        if word in self.config.getini("dpspec_accept"):
            return
        if self.config.getini("dpspec_undecided") == "fail":
            raise NotHeldError(f"{words}\n(a failure because dpspec_undecided = fail; dpspec_accept = {word} would accept it)")
        from dpspec.base.errors import harmless_page

        raise pytest.skip.Exception(harmless_page(words), _use_item_location=True)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, NotHeldError):
            from dpspec.base.errors import harmless_page

            return harmless_page(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        from dpspec.base.errors import harmless

        return self.path, 0, harmless(f"{self.path.name}: {self.name}", keep="")


class LockedItem(SpecItem):
    """No file is new, missing, worse or another result than its lock records."""

    kind = "locked"

    def judge(self) -> None:
        from dpspec.extension.packages import function

        accepted = self.config.getini("dpspec_accept")
        found = function("verify_locked", "ini option dpspec_locked")(lock=self.path, accept=accepted)
        if found.exit_code:
            raise NotHeldError(str(found))


class Reads(SpecItem):
    """The file can be read: syntax, schema, names, fit of the blocks."""

    kind = "reads"

    def judge(self) -> None:
        from dpspec.base.errors import DpspecError
        from dpspec.report.text import error_lines

        found = self.file.read
        if isinstance(found, DpspecError):
            raise NotHeldError(error_lines(found, str(self.path)))
        self.user_properties.append(("plugins", _versions()))


class JudgedItem(SpecItem):
    """A claim, or a printed number."""

    def __init__(self, *, judgement: Judgement, **given: Any) -> None:
        self.kind = "number" if judgement.name.startswith("number: ") else "claim"
        super().__init__(**given)
        self.judgement = judgement

    def judge(self) -> None:
        from dpspec.base.errors import harmless_page
        from dpspec.base.words import ACCEPTABLE
        from dpspec.extension import installed

        missing = self.judgement.missing()
        if missing:
            words = harmless_page(f"no verdict on the whole space, only on miniatures: {missing}")
            raise pytest.skip.Exception(words, _use_item_location=True)
        found = self.kept(self.judgement.judge(installed().registry, None))
        self.user_properties.extend(_properties(found))
        if found.word in ACCEPTABLE:
            self.leave_open(found.word.word, f"{found.word.label}: {found.detail.removeprefix('undecided: ')}")
        elif not found.word.is_good:
            raise NotHeldError(_verdict_in_words(found))

    def kept(self, found: Obligation) -> Obligation:
        """With a witness file, where the option dpspec_witnesses is set."""
        from dpspec.extension import installed
        from dpspec.specfile.document import SpecDocument
        from dpspec.verifier.replay import keep_witness

        directory, document = self.config.getini("dpspec_witnesses"), self.file.read
        if not directory or not isinstance(document, SpecDocument):
            return found
        return keep_witness(found, document, self.config.rootpath / directory, installed().registry)


def _verdict_in_words(found: Obligation) -> str:
    """Why an obligation does not hold, for people."""
    from dpspec.testing.assertions import verdict_text

    if found.verdict is None or found.spec is None:
        return f"{found.name} is not met: {found.detail}"
    words = verdict_text(found.verdict, found.spec, note=found.detail.partition(":")[0])
    return words if found.replay is None else f"{words}\n  replay: {found.replay}"


def _properties(found: Obligation) -> Iterator[tuple[str, str]]:
    from dpspec.base.errors import harmless
    from dpspec.testing.assertions import verdict_properties

    yield "word", found.word.word
    if found.verdict is not None:
        yield from ((name, harmless(words)) for name, words in verdict_properties(found.verdict))
        return
    if found.value is not None:
        yield "method", "recomputed by its route"
        yield "constant", str(found.value)
    yield "plugins", _versions()


# --- fixtures ------------------------------------------------------------------------------------


@pytest.fixture
def dpspec_spec(request: pytest.FixtureRequest) -> Callable[[str | Path], SpecDocument]:
    """Reads a specification file by its path from the folder of the test."""

    def beside(path: str | Path) -> SpecDocument:
        from dpspec.api import read

        return read(request.path.parent / path)

    return beside


@pytest.fixture
def assert_satisfies(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """`dpspec.testing.assert_satisfies`, which also records method, scope, constant, bound and versions for JUnit.

    The path of a specification starts at the folder of the test. Undecided is a skip or a failure, as dpspec_undecided says.
    """

    def judge(mechanism: Mechanism | PlainFunction, spec: PrivacySpec | SpecDocument | str | Path, **options: Any) -> Verdict:
        from dpspec.testing import assertions

        __tracebackhide__ = True
        may_skip = "undecided" not in options and request.config.getini("dpspec_undecided") == "skip"
        return _asserted(request, assertions.assert_satisfies, (mechanism, spec), options, may_skip=may_skip)

    return judge


@pytest.fixture
def assert_not_refuted(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """`dpspec.testing.assert_not_refuted`, which also records for JUnit what was found.

    It never skips: a function that was not checked closely enough for the fault that is named fails the test.
    """

    def judge(function: PlainFunction, spec: PrivacySpec | SpecDocument | str | Path, **options: Any) -> Verdict:
        from dpspec.testing import assertions

        __tracebackhide__ = True
        return _asserted(request, assertions.assert_not_refuted, (function, spec), options, may_skip=False)

    return judge


def _asserted(
    request: pytest.FixtureRequest,
    judge: Callable[..., Verdict],
    about: tuple[Any, Any],
    options: dict[str, Any],
    *,
    may_skip: bool,
) -> Verdict:
    """The verdict, recorded; the path of a specification starts at the folder of the test."""
    from dpspec.testing import assertions
    from dpspec.verifier.verdict import Outcome

    __tracebackhide__ = True
    subject, spec = about
    if isinstance(spec, (str, Path)):
        spec = request.path.parent / spec
    properties = request.node.user_properties
    try:
        verdict = judge(subject, spec, **options)
    except assertions.ClaimNotHeld as failure:
        properties.extend(assertions.verdict_properties(failure.verdict))
        if failure.verdict.outcome is Outcome.UNDECIDED and may_skip:
            pytest.skip(f"undecided: {failure.verdict.reason}")
        raise
    properties.extend(assertions.verdict_properties(verdict))
    return verdict
