"""What a miniature says about the claim: which block it exchanges, and whether the constant grows with a size that it lowers.

A claim on a large space is looked at on a small one. That says something about the claim only if all but the sizes of the space
is the claimed thing itself, and if the sizes do not matter: the engine raises each lowered size on its own, one step after the
other, as far as a bound of work allows, and last all of them together by one step. Where the budget is
one number for all universes, a constant (sup d_Pr / d_X) that grows with a size means that the miniature hides what the claim is
about. A budget that differs by universe is meant to follow the size; there the share of the budget that is used is told.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from dpspec.blocks.space import DatasetSpace
from dpspec.errors import DpspecError
from dpspec.exact import Bracket, largest
from dpspec.extension.registry import Registry
from dpspec.mechanism import Mechanism
from dpspec.plural import count
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import Miniature, SpecDocument
from dpspec.verify.exhaustive import per_unit, verify
from dpspec.verify.sizes import Size, lowered
from dpspec.verify.verdict import Outcome, UniverseResult, Verdict

DATASETS, STEPS = 500, 3
"""A size is raised by at most so many steps, while the space has at most so many datasets."""
EFFORT, REFINED = 2_000, 5
"""... and while the growth of one miniature looks at no more than so many datasets and pairs of them, together; where a
constant is a bracket, whose laws take longer, each counts so many times."""

TOGETHER = "all sizes together"


@attrs.frozen(kw_only=True)
class Grown:
    """What became of the constant while one size was raised.

    Args:
        size: the name of the size.
        values: the size in the miniature and at each step, in words.
        constants: the constant in the miniature and at each step, in words.
        grows: whether the claim was refuted, or the constant seen to grow towards a size that was not reached.
        refuted: the specification and the verdict of the step at which the claim was refuted.
        stopped: why it was raised no further; nothing when the claimed size was reached.
    """

    size: str
    values: tuple[str, ...]
    constants: tuple[str, ...]
    grows: bool
    refuted: tuple[PrivacySpec, Verdict] | None = None
    stopped: str = ""

    def __str__(self) -> str:
        """In one line."""
        if len(self.values) == 1:
            return f"{self.size} = {self.values[0]} could not be raised: {self.stopped}"
        raised = f"{self.size} = {', '.join(self.values)}"
        if self.refuted is not None:
            return f"{raised}: refuted at the last of these"
        steady = len(set(self.constants)) == 1
        told = f"the constant stays {self.constants[0]}" if steady else f"the constant is {', '.join(self.constants)}"
        return f"{raised}: {told}{f'; no further: {self.stopped}' if self.stopped else ''}"


def exchanged(document: SpecDocument, miniature: Miniature) -> tuple[str, ...]:
    """The blocks of a miniature that are other ones than those claimed, apart from the sizes of the space."""
    found = [] if lowered(miniature.spec.space, document.spec.space) is not None else ["space"]
    blocks = [field.name for field in attrs.fields(PrivacySpec) if field.name != "space"]
    found += [name for name in blocks if getattr(miniature.spec, name) != getattr(document.spec, name)]
    if document.mechanism is not None and miniature.mechanism != document.mechanism:
        found.append("mechanism")
    return tuple(found)


def grown(
    verdict: Verdict,
    spec: PrivacySpec,
    mechanism: Mechanism,
    claimed: DatasetSpace,
    *,
    registry: Registry | None = None,
    effort: int = EFFORT,
) -> Iterator[Grown]:
    """What becomes of a verified miniature when each size that it lowers is raised.

    Args:
        verdict: of the miniature.
        spec, mechanism: the miniature.
        claimed: the space of the claim.
        registry: where the provenance of the blocks is looked up.
        effort: how many datasets and pairs of them are looked at while all sizes are raised.
    """
    constants = [result.constant for result in verdict.universes]
    effort //= 1 if all(constant.is_exact for constant in constants) else REFINED
    walk = _Raised(
        mechanism=mechanism, claimed=claimed, registry=registry, uniform=spec.budget.uniform() is not None, left=effort
    )  # fmt: skip
    sizes = lowered(spec.space, claimed) or {}
    for name in sorted(sizes, key=lambda name: not hasattr(claimed, name)):  # the plain numbers before the attributes
        yield walk.one(name, verdict, spec)
    if len(sizes) > 1:
        yield walk.together(verdict, spec)


@attrs.define(kw_only=True)
class _Raised:
    """Raises sizes of one miniature; `left` is how many datasets and pairs may still be looked at."""

    mechanism: Mechanism
    claimed: DatasetSpace
    registry: Registry | None
    uniform: bool
    left: int

    def one(self, name: str, verdict: Verdict, spec: PrivacySpec) -> Grown:
        """One size, step by step."""
        size = self.sizes(spec)[name]
        values, found, stopped, is_whole = [str(size.here)], [verdict], f"{STEPS} steps were taken", False
        for _ in range(STEPS):
            larger = spec.replace(space=size.larger)
            judged = self.judged(larger)
            if isinstance(judged, str):
                stopped = judged
                break
            spec, left = larger, self.sizes(larger)
            is_whole, size = name not in left, left.get(name, size)
            found.append(judged)
            values.append(str(size.claimed) if is_whole else str(size.here))
            if judged.outcome is Outcome.REFUTED or is_whole:
                stopped = ""
                break
        return self.of(name, values, found, spec, stopped, is_whole=is_whole)

    def together(self, verdict: Verdict, spec: PrivacySpec) -> Grown:
        """All sizes by one step."""
        for name in self.sizes(spec):
            size = self.sizes(spec).get(name)
            spec = spec if size is None else spec.replace(space=size.larger)
        judged = self.judged(spec)
        if isinstance(judged, str):
            return self.of(TOGETHER, ["as they are"], [verdict], spec, judged, is_whole=False)
        return self.of(TOGETHER, ["as they are", "one step more"], [verdict, judged], spec, "", is_whole=not self.sizes(spec))

    def of(self, name: str, values: list[str], found: list[Verdict], spec: PrivacySpec, stopped: str, *, is_whole: bool) -> Grown:
        """The line about one size; `spec` is that of the last verdict."""
        loads = [self.load(verdict) for verdict in found]
        refuted = (spec, found[-1]) if found[-1].outcome is Outcome.REFUTED else None
        larger = any(load.lower > loads[0].upper for load in loads[1:])
        grows = refuted is not None or (larger and self.uniform and not is_whole)
        told = tuple(map(self.told, found))
        return Grown(size=name, values=tuple(values), constants=told, grows=grows, refuted=refuted, stopped=stopped)

    def sizes(self, spec: PrivacySpec) -> dict[str, Size]:
        return dict(lowered(spec.space, self.claimed) or {})

    def judged(self, spec: PrivacySpec) -> Verdict | str:
        """The verdict on a larger space, or why there is none."""
        size, most = spec.space.cardinality(), min(DATASETS, self.left)
        if size is None or size > most:  # before anything is asked of a space that may be huge
            held = "infinitely many datasets" if size is None else count(size, "dataset")
            return f"the space has {held}, above the {most:,} that are left to be looked at"
        try:
            found = verify(self.mechanism, spec, most_datasets=most, most_pairs=self.left - size, registry=self.registry)
        except DpspecError as fault:
            return str(fault)
        if found.outcome is Outcome.UNDECIDED:
            return found.reason
        self.left -= size + sum(result.datasets * (result.datasets - 1) // 2 for result in found.universes)
        return found

    def load(self, verdict: Verdict) -> Bracket:
        """The constant; in shares of the budget of each universe where that differs by universe."""
        return verdict.constant if self.uniform else largest(map(_share, verdict.universes))

    def told(self, verdict: Verdict) -> str:
        load = self.load(verdict)
        return str(load) if self.uniform else f"{load.scaled(100).upper.decimal(4)} % of the budget"


def _share(result: UniverseResult) -> Bracket:
    return Bracket.exactly(0) if result.bound.is_infinite else per_unit(result.constant, result.bound)
