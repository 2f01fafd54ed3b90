"""Ledgers from files to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpspec.compare.search import rules_of
from dpspec.errors import DpspecError, ParameterError, RefutedPartError
from dpspec.extension import Registry
from dpspec.ledger.composition import Composition, compose
from dpspec.ledger.parts import Part
from dpspec.params import collect, raise_all
from dpspec.plural import count
from dpspec.specfile.document import Ledger, LedgerPart, SpecDocument
from dpspec.specfile.reader import check_ids, is_id, spec_files
from dpspec.specfile.reader import read as read_file
from dpspec.specfile.text import SUFFIX
from dpspec.specfile.writer import to_toml
from dpspec.verify.standing import standing


def documents_of(paths: Sequence[str], registry: Registry) -> tuple[SpecDocument, ...]:
    """The specification files that paths mean, each once, with ids that differ.

    Raises:
        SpecFileError, SpecError and its kin: a path or file that cannot be read; faults of several files come as `Faults`.
    """
    files = dict.fromkeys(file for path in paths for file in spec_files(path))
    found: tuple[SpecDocument, ...] = collect([lambda file=file: read_file(file, registry) for file in files])  # type: ignore
    check_ids(found)
    return found


def compose_files(paths: Sequence[str], registry: Registry, like: str | None = None, *, as_promised: bool = False) -> Composition:
    """The composition of all specifications that paths mean; each part says how its claim stands.

    Args:
        paths: files, or directories that stand for their specification files.
        registry: what the names in the files mean.
        like: a file whose space and input divergence the total is stated in.
        as_promised: add the promises whose claims are refuted too.

    Raises:
        RefutedPartError: for each part whose claim is refuted, unless they are added as promised.
        what reading a file and `compose` raise.
    """
    frame = None if like is None else read_file(like, registry).spec
    parts = parts_of(documents_of(paths, registry), registry)
    if not as_promised:
        raise_all([_refused(part) for part in parts if part.standing is not None and part.standing.is_false])
    return compose(parts, like=frame, rules=rules_of(registry))


def _refused(part: Part) -> DpspecError:
    advice = "leave it out, mend the claim, or add what was promised with --as-promised"
    return RefutedPartError(f"part {part.id}", f"does not keep what it promises: {part.standing}", advice)


def composed_text(found: Composition, path: Path, registry: Registry) -> str:
    """The composition as the text of the file at `path`, whose name gives the id."""
    name = path.name.removesuffix(SUFFIX)
    title = f"{count(len(found.lines), 'release')} together: {', '.join(line.part.id for line in found.lines)}"
    if not is_id(name):
        raise ParameterError("out", f"must be named lower-kebab{SUFFIX}", f"such as total-2020{SUFFIX}", value=path.name)
    return to_toml(composed_document(found, id=name, title=title), registry)


def parts_of(documents: Sequence[SpecDocument], registry: Registry | None = None) -> tuple[Part, ...]:
    """One part for each file, with how its claim stands."""
    stand = (standing(document, registry) for document in documents)
    return tuple(Part(id=document.id, spec=document.spec, standing=one) for document, one in zip(documents, stand, strict=True))


def composed_document(found: Composition, *, id: str, title: str) -> SpecDocument:
    """The composition as a specification file; with a ledger when the parts add up to the total in its own number."""
    amounts = tuple(LedgerPart(id=line.part.id, amount=line.amount) for line in found.lines)
    value = found.spec.budget.uniform()
    try:
        adds_up = sum((part.amount for part in amounts[1:]), start=amounts[0].amount) == value
    except DpspecError:  # a sum without an exact form
        adds_up = False
    steps = {
        f"{line.part.id}-{place}": f"{step.rule}: {step.reason} ({step.citation})"
        for line in found.lines
        for place, step in enumerate(line.steps, 1)
    }
    stand = {f"{line.part.id}-standing": line.part.standing.sentence for line in found.lines if line.part.standing is not None}
    told = f"composed from {', '.join(part.id for part in amounts)}: {found.rule} ({found.citation})"
    return SpecDocument(
        id=id,
        title=title,
        spec=found.spec,
        ledger=Ledger(parameter=found.spec.budget.parameter, parts=amounts) if adds_up else None,
        source=(("document", told), *stand.items(), *steps.items()),
    )
