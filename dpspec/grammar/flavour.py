"""Flavours of differential privacy: definitions, each with a mechanism that satisfies it and one that does not.

A flavour is a specification on a small instance together with the two mechanisms. It says which blocks it changes relative to
pure differential privacy, and who defined it where.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import attrs

from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec


@attrs.frozen(kw_only=True)
class Example:
    """A mechanism, and why it satisfies a flavour or fails it.

    Args:
        title: what the mechanism does, in a few words.
        mechanism: the mechanism.
        because: the argument in one sentence.
    """

    title: str
    mechanism: Mechanism
    because: str


class Flavour(ABC):
    """A published definition of differential privacy as a specification.

    A subclass registers under its `name`; nothing that it says is believed: the engine judges both examples.
    """

    name: ClassVar[str]

    title: ClassVar[str]
    """The definition in one line."""
    citation: ClassVar[str]
    """The source of the definition: author, publication and year."""
    reference: ClassVar[str] = ""
    """The ID of the definition in the notes of this project, if it has one."""
    changes: ClassVar[tuple[str, ...]]
    """The blocks that differ from pure differential privacy: names of fields of `PrivacySpec`; () for pure privacy itself."""

    explained: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Findings of the linter that its file is meant to have, as pairs (code, reason)."""

    @abstractmethod
    def spec(self) -> PrivacySpec:
        """The five blocks on a space small enough to look at every pair."""

    def compared(self) -> PrivacySpec:
        """The same definition where the family is compared: on an instance that others share, if it can be stated there."""
        return self.spec()

    @abstractmethod
    def satisfied_by(self) -> Example:
        """A mechanism that satisfies the specification."""

    @abstractmethod
    def broken_by(self) -> Example:
        """A mechanism that does not, although it may look as if it did."""
