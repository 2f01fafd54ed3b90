"""The promise of a file, without its texts for readers: its canonical form, its hash, and its promises by view."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

import attrs

from dpspec import SpecDocument
from dpspec.plugin import errors
from dpspec.plugin.applications import Registry, to_toml
from dpspec_guard.terms import terms_of

Group = tuple[str | None, Fraction | None]
"""Whose view of the system a promise is about, and to which share of the units it is made; None for all."""


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


def grouped(document: SpecDocument) -> Mapping[Group, SpecDocument]:
    """The promises of a file by whose view they are about and whom they are made to, each group as a file of its own.

    `compare` holds promises to every unit against each other and does not read views, so that it is given promises of one view.
    """
    found: dict[Group, SpecDocument] = {(None, None): attrs.evolve(document, parts=())}
    for part in document.parts:
        alone = attrs.evolve(part, view=None, share=None)
        group = (part.view, part.share)
        if group in found:
            found[group] = attrs.evolve(found[group], parts=(*found[group].parts, alone))
        else:
            found[group] = SpecDocument(id=document.id, title=part.title, spec=part.spec, mechanism=part.mechanism)
    return MappingProxyType(found)


__all__ = ["Group", "grouped", "promise_hash", "promise_text"]
