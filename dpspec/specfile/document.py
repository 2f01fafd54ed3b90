"""A specification file as an object: the five blocks, the mechanism, and what is recorded about them.

All recorded information (budget, claim, published numbers) is a statement to be verified; reading it trusts nothing.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import attrs

from dpspec.base.display import Showable
from dpspec.base.exact import number

if TYPE_CHECKING:
    from dpspec.base.exact import Bracket, Number
    from dpspec.grammar.flavour import Flavour
    from dpspec.grammar.mechanism import Mechanism
    from dpspec.grammar.rule import Route
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.grammar.tables import TableLayout
    from dpspec.specfile.deployment import BlockProvenance, Deployment, PublishedSource, UnaccountedStep

SCHEMA = 1
"""The version of the language that this reader knows."""

QUANTITIES = ("epsilon", "rho", "delta", "mu", "sigma", "scale")
"""The names under which a privacy number may be printed; a number always says which one it is."""

VERDICTS = ("verified", "refuted", "undecided")

MOST_VALUES = 64
"""The largest number of values of secret parameters that are tried."""
STEPS = 8
"""A range that cannot be listed is tried at its ends and between them, in so many steps."""

VIEWS = ("server", "shuffler", "analyst", "public")
"""The parties that a part of a product may be protected from."""


@attrs.frozen(kw_only=True)
class RecordedClaim:
    """The recorded claim of a file about its mechanism and its specification, for the engine to confirm or contradict.

    Args:
        verdict: "verified" when the mechanism is said to satisfy the specification, "refuted" when a published claim
            is filed as wrong, "undecided" when no engine is expected to settle it.
        because: the reason in words.
        source: where the statement is printed.
    """

    verdict: str
    because: str
    source: str | None = None


@attrs.frozen(kw_only=True)
class SecretParameter:
    """A parameter of a mechanism whose value is not published.

    Args:
        name: the parameter.
        at_least, at_most: what is published of it, where it is a range.
        one_of: the values that it may have, where they are listed.
    """

    name: str
    at_least: Any = None
    at_most: Any = None
    one_of: tuple[Any, ...] = ()

    @property
    def is_listed(self) -> bool:
        """Whether `values` are all that it may have."""
        whole = type(self.at_least) is int and type(self.at_most) is int
        return bool(self.one_of) or (whole and self.at_most - self.at_least < MOST_VALUES)

    def values(self) -> tuple[Any, ...]:
        """All of its values, where they are few whole numbers or listed; else both ends and some between."""
        if self.one_of:
            return self.one_of
        if self.is_listed:
            return tuple(range(self.at_least, self.at_most + 1))
        return tuple(dict.fromkeys(self.between(Fraction(place, STEPS)) for place in range(STEPS + 1)))

    def between(self, share: Fraction) -> Any:
        """The value at a share of the way from the least to the greatest; a whole number stays one."""
        value = self.at_least + (self.at_most - self.at_least) * share
        return int(value) if type(self.at_least) is int else value

    def __str__(self) -> str:
        known = f"one of {', '.join(map(str, self.one_of))}" if self.one_of else f"from {self.at_least} to {self.at_most}"
        return f"{self.name} secret, {known}"


@attrs.frozen(kw_only=True)
class SecretMechanism:
    """A mechanism some of whose parameters are not published: it is an unknown one of many.

    Args:
        mechanism: one of them.
        parameters: what is secret.
    """

    mechanism: Mechanism
    parameters: tuple[SecretParameter, ...]

    def candidates(self) -> tuple[tuple[str, Mechanism], ...]:
        """Some of the mechanisms, each with the values of its secrets; all of them where `is_listed`."""
        names = [parameter.name for parameter in self.parameters]
        chosen = itertools.product(*(parameter.values() for parameter in self.parameters))
        every = (dict(zip(names, values, strict=True)) for values in itertools.islice(chosen, MOST_VALUES))
        mechanism = cast("Any", self.mechanism)
        return tuple(
            (", ".join(f"{name} = {value}" for name, value in values.items()), attrs.evolve(mechanism, **values))
            for values in every
        )

    @property
    def is_listed(self) -> bool:
        """Whether the candidates are all mechanisms that it may be."""
        known = math.prod(len(parameter.values()) for parameter in self.parameters) <= MOST_VALUES
        return known and all(parameter.is_listed for parameter in self.parameters)

    def ends(self) -> tuple[Mechanism, Mechanism] | None:
        """The most and the least revealing of all that it may be, where one parameter is secret and the mechanism knows."""
        if len(self.parameters) > 1 or self.parameters[0].one_of:
            return None
        (secret,) = self.parameters
        low, high = (attrs.evolve(cast("Any", self.mechanism), **{secret.name: end}) for end in (secret.at_least, secret.at_most))
        if low.degrades(secret.name, secret.at_most) is not None:
            return low, high
        return (high, low) if high.degrades(secret.name, secret.at_least) is not None else None

    def __str__(self) -> str:
        return f"{self.mechanism.name} ({'; '.join(map(str, self.parameters))})"


@attrs.frozen(kw_only=True)
class Miniature:
    """A small instance of the same claim, on which it can be checked exhaustively.

    Args:
        title: what it is.
        spec: the specification on the small space; blocks that the file does not give are the document's own.
        mechanism: the mechanism on it.
    """

    title: str
    spec: PrivacySpec
    mechanism: Mechanism | None


@attrs.frozen(kw_only=True)
class PromisedBeside:
    """A further promise of the same product: it holds *and* those of the other parts do.

    Args:
        title: what it is about, such as the other unit.
        spec: its specification; blocks that the file does not give are the document's own.
        mechanism: what is said to satisfy it; without one of its own, that of the document.
        view: whose view of the system it is about: the server's, that of an analyst, or that of everybody.
        share: which share of the units it is promised to; None for all.
        verdict: what the file records of it; None for what it records of its claim.
        because: why.
    """

    title: str
    spec: PrivacySpec
    mechanism: Mechanism | None
    view: str | None = None
    share: Fraction | None = None
    verdict: str | None = None
    because: str | None = None

    def __str__(self) -> str:
        return self.title + _whom(self.view, self.share)


def _whom(view: str | None, share: Fraction | None) -> str:
    """Whose view a promise is about, and to which share of the units it is made, as the end of a name."""
    who = "" if view is None else f", as the {view} sees it"
    return who if share is None else f"{who}, for {number(100 * share).plain()} % of the units"


@attrs.frozen(kw_only=True)
class Coverage:
    """What a promise covers.

    Args:
        release: None for the release of the document, otherwise the title of the part whose mechanism makes it.
        view: whose view of the system; None for what is released.
        share: which share of the units; None for all.
    """

    release: str | None = None
    view: str | None = None
    share: Fraction | None = None

    def includes(self, other: Coverage) -> bool:
        """Whether a promise that covers this may imply one that covers the other, which may be of a smaller share."""
        ours, theirs = (1 if one.share is None else one.share for one in (self, other))
        return (self.release, self.view) == (other.release, other.view) and theirs <= ours

    def may_constrain(self, other: Coverage) -> bool:
        """Whether a promise that covers this may constrain the outputs that a promise that covers the other is about.

        A party of the system sees the release, and may see what another party sees; the public sees the release alone.
        """
        return self.release == other.release and (self.view == other.view or self.view is not None)

    def __str__(self) -> str:
        release = "the release" if self.release is None else f"the release {self.release!r}"
        return release + _whom(self.view, self.share)


@attrs.frozen(kw_only=True)
class Counterexample:
    """A mechanism that must not satisfy the specification, for the engine to refute.

    It is verified on the first miniature, or on the whole space when there is none.

    Args:
        title: what the mechanism does.
        because: why it fails, in words.
        mechanism: the mechanism.
    """

    title: str
    because: str
    mechanism: Mechanism


@attrs.frozen(kw_only=True)
class Expectation:
    """A printed number that a named route must reproduce.

    Args:
        what: what the number says, in words.
        parameter: which number it is: epsilon, rho, delta, ...
        printed: the number as printed.
        tolerance: how far the recomputed number may lie from it.
        because: why that far.
        route: the formula that recomputes it.
        corrected: for an erratum on record, what the number should have been: the route has to give this and not the printed one.
    """

    what: str
    parameter: str
    printed: Number
    tolerance: Fraction
    because: str
    route: Route
    corrected: Number | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        """The recomputed number."""
        return self.route.value(spec)

    def is_met_by(self, value: Bracket) -> bool | None:
        """Whether |value - printed| <= tolerance; None when the bracket is too wide to decide. For an erratum the opposite,
        too."""
        if self.corrected is None:
            return self.is_near(self.printed, value)
        printed, corrected = self.is_near(self.printed, value), self.is_near(self.corrected, value)
        if printed is True or corrected is False:
            return False
        return None if printed is None else corrected

    def is_near(self, wanted: Number, value: Bracket) -> bool | None:
        """Whether |value - wanted| <= tolerance; None when the bracket is too wide to decide."""
        if wanted.is_infinite:
            return True if value.lower.is_infinite else None if value.upper.is_infinite else False
        low, high = wanted + -self.tolerance, wanted + self.tolerance
        if low <= value.lower and value.upper <= high:
            return True
        return False if value.upper < low or high < value.lower else None


@attrs.frozen(kw_only=True)
class Explanation:
    """The reason why a finding of the linter is accepted.

    Args:
        finding: the code of the finding.
        because: the reason in words.
    """

    finding: str
    because: str


@attrs.frozen(kw_only=True)
class RecordedChange:
    """A change of the promise that the file records, approved by a person.

    Args:
        before, after: the hashes of the promise before and after it, as `dpspec diff` prints them.
        because: the reason in words.
        approved_by: who takes responsibility for it.
    """

    before: str
    after: str
    because: str
    approved_by: str


@attrs.frozen(kw_only=True)
class LedgerPart:
    """One part of a budget.

    Args:
        id: its name.
        amount: its share, in the number of the budget.
    """

    id: str
    amount: Number


@attrs.frozen(kw_only=True)
class Ledger:
    """The parts of a budget, which add up to it exactly.

    Args:
        parameter: which number the parts are.
        parts: the parts.
    """

    parameter: str
    parts: tuple[LedgerPart, ...]


@attrs.frozen(kw_only=True)
class SpecDocument(Showable):
    """One specification file.

    Args:
        id: its name, lower-kebab.
        title: one line for people.
        path: the file it was read from.
        text: the text it was read from.
        sha256: the SHA-256 of the bytes that were read.
        spec: the five blocks.
        mechanism: what is said to satisfy them.
        claim: what is recorded about that.
        miniatures: small instances of the claim.
        counterexamples: mechanisms that must fail.
        expectations: printed numbers with the routes that recompute them.
        ledger: the parts of the budget.
        explained: the accepted findings of the linter.
        changes: the recorded changes of the promise, the oldest first.
        source: where the statements are published: pairs (key, text).
        sources: where they are published, when several sources are distinguished.
        deployment: what was published, by whom and when.
        provenance: where each block is from.
        unaccounted: what was done outside of the guarantee.
        parts: further promises for the same product.
        secret: the mechanism, where some of its parameters are not published; `mechanism` is then None.
        layout: how tables that are released lie on disk; it says nothing of the promise.
    """

    id: str
    title: str
    spec: PrivacySpec
    path: str | None = attrs.field(default=None, eq=False)
    text: str | None = attrs.field(default=None, eq=False, repr=False)
    sha256: str | None = attrs.field(default=None, eq=False, repr=False)
    mechanism: Mechanism | None = None
    claim: RecordedClaim | None = None
    miniatures: tuple[Miniature, ...] = ()
    counterexamples: tuple[Counterexample, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    ledger: Ledger | None = None
    explained: tuple[Explanation, ...] = ()
    changes: tuple[RecordedChange, ...] = ()
    source: tuple[tuple[str, str], ...] = ()
    sources: tuple[PublishedSource, ...] = ()
    deployment: Deployment | None = None
    provenance: tuple[BlockProvenance, ...] = ()
    unaccounted: tuple[UnaccountedStep, ...] = ()
    parts: tuple[PromisedBeside, ...] = ()
    secret: SecretMechanism | None = None
    layout: TableLayout | None = None

    @property
    def promises(self) -> tuple[tuple[Coverage, PrivacySpec], ...]:
        """All that is promised, each with what it covers, the document's own promise first."""
        return ((Coverage(), self.spec), *((self.coverage_of(part), part.spec) for part in self.parts))

    def coverage_of(self, part: PromisedBeside) -> Coverage:
        """What the promise of a part covers."""
        return Coverage(release=self.release_of(part), view=part.view, share=part.share)

    def release_of(self, part: PromisedBeside) -> str | None:
        """The release that a part is about: None for that of the document, the title of a part with a mechanism of its own.

        Promises about different releases constrain different mechanisms, so that none of the one follows from the other.
        """
        return None if part.mechanism in (None, self.mechanism) else part.title

    @property
    def releases(self) -> int:
        """How many releases the promises are about: that of the document, and those of parts with a mechanism of their own."""
        return len({None, *map(self.release_of, self.parts)})

    @property
    def assumed(self) -> tuple[BlockProvenance, ...]:
        """The blocks that no source states and that were assumed."""
        return tuple(one for one in self.provenance if one.is_ours)

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The space and the mechanism, as far as they are made up: a verdict is then one on them only."""
        return tuple(one.block for one in self.assumed if one.block in ("space", "mechanism"))


# --- a flavour as a document ----------------------------------------------------------------------


BASIS = "pure differential privacy"


def flavour_document(flavour: Flavour) -> SpecDocument:
    """The document of a flavour; its claim and its counterexample are for the engine to judge."""
    good, bad = flavour.satisfied_by(), flavour.broken_by()
    changed = ", ".join(block.replace("_", " ") for block in flavour.changes) or "none: it is " + BASIS
    source = (("citation", flavour.citation), ("reference", flavour.reference), ("blocks changed", changed))
    return SpecDocument(
        id=flavour.name,
        title=flavour.title,
        spec=flavour.spec(),
        mechanism=good.mechanism,
        claim=RecordedClaim(verdict="verified", because=f"{good.title}: {good.because}", source=flavour.citation),
        counterexamples=(Counterexample(title=bad.title, because=bad.because, mechanism=bad.mechanism),),
        explained=tuple(Explanation(finding=code, because=reason) for code, reason in flavour.explained),
        source=tuple((key, text) for key, text in source if text),
    )
