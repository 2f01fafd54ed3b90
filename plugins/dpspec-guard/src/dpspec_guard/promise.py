"""The promise of a file, without its texts for readers: its canonical form, its hash, and its promises by view."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from dpspec import SpecDocument
from dpspec.plugin import errors, specfile
from dpspec.plugin.applications import Registry, to_toml
from dpspec_guard.terms import terms_of


def promise_text(document: SpecDocument, registry: Registry) -> str:
    """The promise of a file in one canonical text: the five blocks, the parts, the mechanism, which are assumed, and the terms.

    Equal promises that are written differently (order of keys, comments, titles, ``0.5`` and ``"1/2"``) have one text.

    Raises:
        NotWritableError: a block has no text form.

    >>> import dpspec as dp
    >>> space = {"type": "records", "attributes": [{"name": "sex", "categories": ["f", "m"]}]}
    >>> blocks = {"input_divergence": {"type": "symmetric-difference"}, "output_divergence": {"type": "mult"}}
    >>> one, other = (dp.build(space=space, **blocks, budget={"epsilon": epsilon}) for epsilon in ("1/2", "2/4"))
    >>> promise_text(one, dp.installed().registry) == promise_text(other, dp.installed().registry)
    True
    """
    parts = tuple(attrs.evolve(part, title="part", verdict=None, because=None) for part in document.parts)
    plain = SpecDocument(
        id="promise", title="promise", spec=document.spec, mechanism=document.mechanism, secret=document.secret, parts=parts,
        unaccounted=document.unaccounted,
    )  # fmt: skip
    assumed = "".join(f"# assumed: {block}\n" for block in document.stand_ins)
    terms = "".join(f"# {name}: {value}\n" for name, value in terms_of(document).items())
    return to_toml(plain, registry) + assumed + terms


def promise_hash(document: SpecDocument, registry: Registry) -> str | None:
    """The SHA-256 of `promise_text`, as a ``[[change]]`` names it; None where a block has no text form."""
    try:
        return hashlib.sha256(promise_text(document, registry).encode()).hexdigest()
    except errors.NotWritableError:
        return None


def grouped(document: SpecDocument) -> Mapping[specfile.Coverage, SpecDocument]:
    """The promises of a file by what they cover, each group as a file of its own.

    `compare` holds promises to every unit against each other and does not read views, so that it is given promises of one view.
    A release without a promise in NEW is a promise that was lost, so that each group is about one release, too.
    """
    found = {specfile.Coverage(): attrs.evolve(document, parts=())}
    for part in document.parts:
        alone = attrs.evolve(part, view=None, share=None)
        group = document.coverage_of(part)
        if group in found:
            found[group] = attrs.evolve(found[group], parts=(*found[group].parts, alone))
        else:
            found[group] = SpecDocument(id=document.id, title=part.title, spec=part.spec, mechanism=part.mechanism)
    return found


PairedParts = tuple[specfile.PromisedBeside | None, specfile.PromisedBeside | None]


def paired_parts(
    old: Sequence[specfile.PromisedBeside], new: Sequence[specfile.PromisedBeside]
) -> Iterator[PairedParts]:  # fmt: skip
    """Which part is a version of which: by title, view and share, and the others by view and share, in their order."""
    left, right = list(old), list(new)
    keys: tuple[Callable[[specfile.PromisedBeside], object], ...] = (str, lambda part: (part.view, part.share))
    for key in keys:
        for one in list(left):
            other = next((part for part in right if key(part) == key(one)), None)
            if other is not None:
                left.remove(one)
                right.remove(other)
                yield one, other
    yield from ((one, None) for one in left)
    yield from ((None, other) for other in right)


__all__ = ["PairedParts", "grouped", "paired_parts", "promise_hash", "promise_text"]
