"""Verdicts and witnesses as JSON and back, and a witness replayed: does it still refute?

A witness file is self-contained: it holds the specification with its mechanism as the text of a specification file, and the
witness. Replaying reads the text, computes the two laws anew, and judges the pair; nothing recorded is believed.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec.errors import MissingKeyError, NotWritableError, SpecFileError, SpecSyntaxError
from dpspec.exact import Bracket, Number, number
from dpspec.extension.registry import Provenance, Registry
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.reader import read_text
from dpspec.specfile.writer import to_toml
from dpspec.verify import verdict as verdicts
from dpspec.verify.exhaustive import verify
from dpspec.verify.verdict import Outcome, Verdict, Witness

FORMAT = 1
"""The version of the witness file."""

_CLASSES = {
    cls.__name__: cls for cls in (Bracket, Provenance, *vars(verdicts).values()) if isinstance(cls, type) and attrs.has(cls)
}
del _CLASSES["Number"]


def to_data(value: Any) -> Any:
    """A verdict, a witness, or any part of one as JSON data; `from_data` gives an equal value back.

    >>> to_data((1, ("a", Fraction(1, 3)))), from_data(to_data((1, ("a", Fraction(1, 3)))))
    ([1, ['a', {'fraction': '1/3'}]], (1, ('a', Fraction(1, 3))))
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, tuple):
        return [to_data(part) for part in value]
    for tag, kind, text in (("fraction", Fraction, str), ("number", Number, str), ("float", float, repr)):
        if isinstance(value, kind):
            return {tag: text(value)}
    if isinstance(value, Outcome):
        return {"outcome": value.value}
    if type(value) in _CLASSES.values():
        fields = {field.name: to_data(getattr(value, field.name)) for field in attrs.fields(type(value))}
        return {"class": type(value).__name__, **fields}
    raise NotWritableError(type(value).__name__, "has no form in JSON", "use tuples of texts and numbers", value=value)


def from_data(data: Any) -> Any:
    """What `to_data` wrote."""
    if isinstance(data, list):
        return tuple(from_data(part) for part in data)
    if not isinstance(data, dict):
        return data
    readers = {"fraction": Fraction, "number": number, "float": float, "outcome": Outcome}
    if "class" in data:
        known = {field.name for field in attrs.fields(_CLASSES[data["class"]])}
        return _CLASSES[data["class"]](**{key: from_data(part) for key, part in data.items() if key in known})
    (tag, text), *_ = data.items()
    return readers[tag](text)  # type: ignore[operator]


def witness_file(witness: Witness, document: SpecDocument, registry: Registry) -> str:
    """The text of a witness file.

    Args:
        witness: what was found.
        document: the specification and the mechanism about which it was found.
        registry: the names of their classes.

    Raises:
        NotWritableError: when the mechanism or a block has no form in a specification file.
    """
    text = to_toml(attrs.evolve(document, miniatures=(), expectations=(), claim=None, ledger=None), registry)
    content = {"format": FORMAT, "kind": "dpspec-witness", "specification": text, "witness": to_data(witness)}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


@attrs.frozen(kw_only=True)
class Replay:
    """What became of a witness.

    Args:
        recorded: the witness in the file.
        verdict: the judgement of its two datasets today.
    """

    recorded: Witness
    verdict: Verdict

    @property
    def outcome(self) -> Outcome:
        """Refuted when the pair still refutes the claim, verified when it is within the budget now."""
        return self.verdict.outcome

    @property
    def is_unchanged(self) -> bool:
        """Whether the same distance, divergence, bound and event were found again."""
        return self.verdict.witness == self.recorded

    def __str__(self) -> str:
        found = self.verdict.witness
        if found is None:
            pairs = sum(result.pairs for result in self.verdict.universes)
            shared = f"it is within the budget: constant {self.verdict.constant}" if pairs else "the two share no universe now"
            return f"{self.outcome.value}: the witness no longer refutes the claim; {shared}"
        return f"refuted, {'as recorded' if self.is_unchanged else 'with other numbers than recorded'}: {found}"


def replay(
    path: str | Path, *, registry: Registry | None = None, mechanism: Mechanism | None = None, spec: PrivacySpec | None = None
) -> Replay:
    """Judge the two datasets of a witness file anew.

    Args:
        path: the file.
        registry: where the names in its specification are looked up; without it, among all installed plugins.
        mechanism, spec: judge these instead of those in the file, such as the mended mechanism.

    Raises:
        SpecFileError, SpecSyntaxError: the file cannot be read or is no witness file.
    """
    from dpspec.extension.loader import installed

    content = _content(Path(path))
    try:
        recorded, text = from_data(content["witness"]), str(content["specification"])
        left, right = recorded.left, recorded.right
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise SpecSyntaxError(str(path), f"is no witness file: {problem!r}", "write one with witness_file") from None
    if mechanism is None or spec is None:
        document = read_text(text, registry or installed().registry, str(path))
        mechanism, spec = mechanism or document.mechanism, spec or document.spec
    if mechanism is None:
        raise MissingKeyError(f"{path}: mechanism", "is missing", "give the mechanism that is judged")
    verdict = verify(mechanism, spec, datasets=(left, right), registry=registry)
    return Replay(recorded=recorded, verdict=verdict)


def _content(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SpecFileError(str(path), f"cannot be read: {problem}") from None
    try:
        content = json.loads(text)
    except json.JSONDecodeError as problem:
        raise SpecSyntaxError(str(path), f"is not JSON: {problem}") from None
    if not isinstance(content, dict) or content.get("kind") != "dpspec-witness" or content.get("format") != FORMAT:
        raise SpecSyntaxError(str(path), "is no witness file of format 1", "write one with witness_file")
    return content
