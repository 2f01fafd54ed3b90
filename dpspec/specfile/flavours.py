"""A flavour as a specification file: its blocks, the mechanism that satisfies it, and the one that does not."""

from __future__ import annotations

from dpspec.flavour import Flavour
from dpspec.specfile.document import Counterexample, Explanation, RecordedClaim, SpecDocument

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
