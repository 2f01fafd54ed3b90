"""Verdicts: what was shown about a claim, how, on what scope, and the smallest pair that shows the contrary."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable
from typing import NoReturn

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import DpspecError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, largest
from dpspec.base.types import JsonData
from dpspec.blocks.parts import wording_of
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.extension.hooks import Provenance
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.expression import Expression


class Outcome(enum.Enum):
    """The result of the verification of a claim."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an outcome is not a truth value: compare it, as in `outcome is Outcome.{self.name}`")


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Refuted before undecided before verified."""
    found = set(outcomes)
    for outcome in (Outcome.REFUTED, Outcome.UNDECIDED):
        if outcome in found:
            return outcome
    return Outcome.VERIFIED


class ClaimRefutedError(DpspecError):
    """A claim that had to hold was refuted; carries the verdict."""

    code = "claim-refuted"
    exit_code = 1

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("claim", "is refuted", witness_in_words(verdict.witness, verdict.spec))
        self.verdict = verdict


class ClaimUndecidedError(DpspecError):
    """A claim that had to hold was not decided; carries the verdict."""

    code = "claim-undecided"
    exit_code = 3

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("claim", "is undecided", verdict.reason)
        self.verdict = verdict


LONGEST = 1_000
"""Characters of a dataset in a sentence about a witness; beyond it the text is cut, and the witness itself has all of it."""


@attrs.frozen(kw_only=True)
class Event:
    """A set of outcomes of the release.

    Args:
        text: the event, for people.
        left, right: its probability under the one and the other dataset.
        expression: the event as data, which anyone can evaluate.
        proves: whether these two probabilities alone prove the refutation; if not, the event illustrates it.
    """

    text: str
    left: Bracket
    right: Bracket
    expression: Expression | None = None
    proves: bool = False

    @property
    def role(self) -> str:
        """The role of the event in the refutation, in words."""
        if self.proves:
            return "which alone is beyond what is allowed"
        return "an illustration: it is d_Pr that is beyond what is allowed"


@attrs.frozen(kw_only=True)
class Witness:
    """Two datasets of one universe whose laws exceed the allowed divergence.

    Args:
        universe: the label of the universe.
        left, right: the datasets x and x'.
        distance: d_X(x, x').
        divergence: d_Pr(P_x, P_x'), which exceeds bound x distance.
        bound: eps_D as a Lipschitz constant.
        event: an event that distinguishes the two, when the laws are finite or were sampled.
        note: the confidence, for a witness found by sampling.
    """

    universe: Hashable
    left: Dataset
    right: Dataset
    distance: Number
    divergence: Bracket
    bound: Number
    event: Event | None = None
    note: str = ""

    @property
    def allowed(self) -> str:
        """bound x distance, written out."""
        return "0" if self.distance == 0 else f"{self.bound} x {self.distance}"

    def __str__(self) -> str:
        return self._in_words(str(self.left), str(self.right))

    def in_words(self, space: DatasetSpace) -> str:
        """The witness in one sentence, with its datasets as their space describes them."""
        return self._in_words(*wording_of(space).in_words(self.left, self.right))

    def _in_words(self, *datasets: str) -> str:
        left, right = (text if len(text) <= LONGEST else f"{text[:LONGEST]}..." for text in datasets)
        text = f"x = {left}, x' = {right}: d_Pr = {self.divergence} > {self.allowed} at d_X = {self.distance}"
        if self.event is not None:
            text += f"; {self.event.text} has probability {self.event.left} against {self.event.right}"
        return f"{text} ({self.note})" if self.note else text


def witness_in_words(witness: Witness | None, spec: PrivacySpec | None) -> str:
    """A witness in one sentence; its datasets are written as Python literals where the claim is not given."""
    return str(witness) if witness is None or spec is None else witness.in_words(spec.space)


@attrs.frozen(kw_only=True)
class Notice:
    """An observation about a mechanism that is independent of whether the claim holds.

    Args:
        code: ``deterministic``, ``mutates-dataset``, ``hidden-state``, ``does-not-end``, ``raises``, ``prints``,
            ``prints-on-import``, ``reaches-outside``, ``ends-process``, ``second-opinion``, ``breaks``, ``unseen``,
            ``not-replayable``, ``out-of-time``.
        text: what was seen.
    """

    code: str
    text: str


@attrs.frozen(kw_only=True)
class UniverseResult:
    """The result for one universe.

    Args:
        label: the universe.
        datasets: how many datasets it has; None where they were not listed.
        pairs: how many (unordered, or ordered for asymmetric divergences) pairs at finite distance were compared; None where a
            proof speaks about all of them.
        constant: sup d_Pr / d_X over those pairs.
        bound: the Lipschitz constant that the budget allows.
        outcome: whether the one stays below the other.
        attained: the pair at which the supremum was found.
    """

    label: Hashable
    datasets: int | None
    pairs: int | None
    constant: Bracket
    bound: Number
    outcome: Outcome
    attained: tuple[Dataset, Dataset] | None = None

    @property
    def is_vacuous(self) -> bool:
        """No pair at finite distance: every mechanism passes here."""
        return self.pairs == 0

    @property
    def is_tight(self) -> bool:
        """The constant equals the bound exactly, and no other pair (at distance 0) refutes the claim."""
        return self.outcome is not Outcome.REFUTED and self.constant.is_exact and self.constant.lower == self.bound

    def at_most(self) -> UniverseResult:
        """The same of a mechanism that follows: no more is lost, and nothing is said of how much."""
        return attrs.evolve(self, constant=Bracket(lower=ZERO, upper=self.constant.upper), attained=None)

    def slack(self) -> str:
        """bound - constant: exact where that has an exact form, else its decimal value."""
        if self.bound.is_infinite:
            return "0" if self.constant.lower.is_infinite else "inf"
        if self.constant.upper.is_infinite:
            return "-inf"
        if self.is_tight:
            return "0"
        if self.constant.is_exact and self.bound.root == self.constant.lower.root == 1:
            return str(self.bound - self.constant.lower)
        return f"{float(self.bound) - float(self.constant.upper):.6g}"


@attrs.frozen(kw_only=True)
class ProofStep:
    """One step of a proof.

    Args:
        step: sensitivity, noise, sample, path, post-process, or theorem.
        says: what it shows here.
        citation: the theorem (author, year), where one is needed.
        data: the same for a machine, which can compute it anew (`dpspec check-proof`).
    """

    step: str
    says: str
    citation: str
    data: JsonData = attrs.field(factory=dict, eq=False)

    def __str__(self) -> str:
        return f"{self.step}: {self.says}" + (f" ({self.citation})" if self.citation else "")


@attrs.frozen(kw_only=True)
class Verdict(Showable):
    """The judgement of a claim.

    Args:
        outcome: verified, refuted or undecided.
        method: exhaustive (every pair of every universe), derived (a proof from the structure of the mechanism, and a pair),
            sampled (refutation from draws), or none when nothing could be tried.
        scope: the datasets that were checked, in words.
        reason: for undecided, why.
        universes: the result of each universe.
        witness: for refuted, the smallest witness in the order of (magnitude of the two datasets, distance, text).
        provenance: the distribution behind every block and the mechanism: (role, registered name, provenance).
        findings: what else was noticed about the mechanism.
        assumptions: what the judgement takes for granted, one short line each.
        proof: for a derived verdict, the steps of the proof.
        spec: the claim, for display; None where it was not given.
    """

    outcome: Outcome
    method: str
    scope: str
    reason: str = ""
    universes: tuple[UniverseResult, ...] = ()
    witness: Witness | None = None
    provenance: tuple[tuple[str, str, Provenance], ...] = ()
    findings: tuple[Notice, ...] = ()
    assumptions: tuple[str, ...] = ()
    proof: tuple[ProofStep, ...] = ()
    spec: PrivacySpec | None = attrs.field(default=None, eq=False, repr=False)

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is not a truth value: use verdict.outcome or verdict.require()")

    @property
    def constant(self) -> Bracket:
        """The largest Lipschitz constant over the checked universes; unbounded where nothing was decided on any."""
        if self.outcome is Outcome.UNDECIDED and not self.universes:
            return Bracket(lower=ZERO, upper=INFINITY)
        return largest(result.constant for result in self.universes)

    @property
    def vacuous(self) -> tuple[UniverseResult, ...]:
        """The universes in which there was nothing to compare."""
        return tuple(result for result in self.universes if result.is_vacuous)

    @property
    def tightest(self) -> UniverseResult | None:
        """The universe whose constant is largest."""
        best: UniverseResult | None = None
        for result in self.universes:
            if best is None or result.constant.upper > best.constant.upper:
                best = result
        return best

    @property
    def differs_by_universe(self) -> bool:
        """Whether a proof holds the mechanism against a budget of each universe, which no single number bounds."""
        best = self.tightest
        by_theorem = any(step.step == "theorem" for step in self.proof)
        return best is not None and by_theorem and best.bound.is_infinite and best.constant.upper.is_infinite

    @property
    def constant_in_words(self) -> str:
        """The constant in a few words: one number or a bracket, or that it differs by universe."""
        return "the constant differs by universe" if self.differs_by_universe else f"constant {self.constant}"

    def require(self) -> Verdict:
        """Return the verdict when the claim is verified; raise otherwise."""
        if self.outcome is Outcome.REFUTED:
            raise ClaimRefutedError(self)
        if self.outcome is Outcome.UNDECIDED:
            raise ClaimUndecidedError(self)
        return self
