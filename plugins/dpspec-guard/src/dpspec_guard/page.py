"""A diff as a page and as data; a lock as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from dpspec.plugin.applications import (
    Bullets,
    Grid,
    Heading,
    JsonData,
    Page,
    Piece,
    Sentence,
    Standing,
    Verbatim,
    Word,
    count,
    harmless,
    standing_data,
)
from dpspec_guard.difference import BlockChange, Difference, FileDifference, Finding, changed_files
from dpspec_guard.lock import Lock, LockCheck
from dpspec_guard.relation import Implied, Relation

LONGEST = 400
"""Characters of a line about a block; beyond it the file is the place to read on."""

_RULES = {
    "weaker": "The new promise is weaker than the old one: a mechanism may keep it and break the old one.",
    "incomparable": "Neither promise implies the other: a mechanism may keep the new one and break the old one.",
    "undecided": "It is unknown whether the new promise implies the old one.",
    "terms": "The period, the number of releases, the trust model, a unit or what the promise does not cover is another.",
    "verdict": "Less is known in favour of the claim than before.",
    "removed": "A promise was removed.",
    "history": "A recorded change of the promise was removed or edited.",
    "unreadable": "A specification cannot be read, or a plugin that it needs failed.",
}
"""What each finding means."""


def summary(found: Difference) -> list[str]:
    """The answer in one or two lines."""
    changed = changed_files(found.files)
    if not changed:
        return [f"no specification changed between {found.old} and {found.new}"]
    counted = Counter(file.effect for file in changed)
    effects = ", ".join(f"{number} {effect}" for effect, number in counted.items())
    lines = [f"{count(len(changed), 'specification')} changed between {found.old} and {found.new}: {effects}"]
    open_ones = [finding for finding in found.findings if finding.explained is None]
    if open_ones:
        codes = Counter(finding.code for finding in open_ones)
        lines.append(f"fails: {', '.join(f'{number} x {code}' for code, number in codes.items())}")
    elif found.findings:
        lines.append("passes: the files record why their promises changed")
    else:
        lines.append("passes: every old promise follows from a new one")
    return lines


def _cut(text: str) -> str:
    clean = harmless(text, keep="")
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 3]}..."


def in_short(relation: Relation | None, reason: str) -> str:
    """What a change of one block does by itself."""
    if relation is not None:
        return relation.effect.word
    return f"cannot stand alone ({reason})" if reason else "not compared"


# --- the page -------------------------------------------------------------------------------------


def page(found: Difference) -> Page:
    """What the terminal shows, and a comment for a pull request."""
    head, *rest = summary(found)
    pieces: list[Piece] = [Sentence(words=line) for line in rest]
    files = changed_files(found.files)
    if files:
        pieces.append(Grid(
            caption="Changed specifications", heads=("specification", "promise", "verdict before", "verdict after"),
            rows=tuple((_cut(file.title), file.effect, *map(_word, file.standings)) for file in files),
        ))  # fmt: skip
    for file in files:
        pieces += [Heading(words=f"{_cut(file.title)}: {file.effect}"), *_file_pieces(file)]
    return Page(title=head, pieces=tuple(pieces))


def _word(found: Standing | None) -> str:
    return "none" if found is None else found.label


def _file_pieces(file: FileDifference) -> Iterator[Piece]:
    for finding in file.findings:
        yield Sentence(mark=f"{finding.code}:", words=_cut(finding.message), mood="" if finding.explained else "bad")
        if finding.explained is not None:
            yield Sentence(mark="recorded:", words=_cut(finding.explained))
    if file.relation is not None:
        yield from _relation_pieces(file.relation)
    for block in file.blocks:
        yield Sentence(mark=f"{block.block}, alone:", words=_cut(in_short(block.alone, block.reason)))
        lines = [f"{sign} {_cut(line)}" for sign, side in (("-", block.before), ("+", block.after)) for line in side]
        yield Verbatim(text="\n".join(lines), language="diff")
        yield from _bullets(f"{name}: {before} -> {after}" for name, before, after in block.numbers)
    yield from _bullets(f"{term.name}: {_cut(term.before)} -> {_cut(term.after)}" for term in file.terms)
    if file.others:
        yield Sentence(mark="also changed:", words=", ".join(map(_cut, file.others)))
    if file.consequences:
        yield Grid(
            caption="What an attacker may find out",
            heads=("question", "promised before", "promised after", "this mechanism before", "this mechanism after"),
            rows=tuple((row.what, *row.promised, *row.own) for row in file.consequences),
        )
    for when, found in zip(("before", "after"), file.standings, strict=True):
        if found is not None:
            yield Sentence(mark=f"verdict {when}:", words=_cut(found.sentence))
    for advice in dict.fromkeys(finding.advice for finding in file.findings if finding.explained is None):  # each once
        said, *code = advice.splitlines()
        yield Sentence(words=_cut(said))
        if code:
            yield Verbatim(text="\n".join(code), language="toml")


def _bullets(lines: Iterable[str]) -> Iterator[Piece]:
    items = tuple(lines)
    if items:
        yield Bullets(items=items)


def _relation_pieces(relation: Relation) -> Iterator[Piece]:
    kept, gained = relation.kept, relation.gained
    yield Sentence(words=f"NEW implies OLD: {kept.answer.value}; OLD implies NEW: {gained.answer.value}")
    if kept.pair is None:
        yield from _bullets(map(_cut, kept.reasons))
    else:
        pair = kept.pair
        lines = {"x  =": pair.left, "x' =": pair.right, "mechanism:": pair.mechanism, "keeps NEW:": pair.argument,
                 "breaks OLD:": pair.check}  # fmt: skip
        yield Verbatim(text="\n".join(f"{label} {_cut(said)}" for label, said in lines.items()))
    yield from _bullets(f"note: {_cut(note)}" for note in relation.notes)


# --- data -----------------------------------------------------------------------------------------


def data(found: Difference) -> JsonData:
    """The fields that ``--format json`` prints in addition to the command and the exit code."""
    return {
        "old": found.old,
        "new": found.new,
        "unchanged": sum(file.kind == "same" for file in found.files),
        "changes": [_file_data(file) for file in changed_files(found.files)],
        "findings": [finding_data(finding) for finding in found.findings],
        "rules": {f"diff/{code}": _RULES[code] for code in sorted({finding.code for finding in found.findings})},
    }


def _file_data(file: FileDifference) -> JsonData:
    return {
        "title": file.title,
        "kind": file.kind,
        "effect": file.effect,
        "ids": [None if one is None else one.id for one in (file.old, file.new)],
        "hashes": list(file.hashes),
        "relation": None if file.relation is None else _relation_data(file.relation),
        "blocks": [_block_data(block) for block in file.blocks],
        "terms": [{"name": t.name, "before": t.before, "after": t.after, "keeps": t.keeps} for t in file.terms],
        "others": list(file.others),
        "consequences": [{"what": r.what, "promised": [*r.promised], "own": [*r.own]} for r in file.consequences],
        "standings": [None if one is None else standing_data(one) for one in file.standings],
    }


def _relation_data(relation: Relation) -> JsonData:
    return {
        "effect": relation.effect.word,
        "kept": _implied_data(relation.kept),
        "gained": _implied_data(relation.gained),
        "notes": list(relation.notes),
    }


def _implied_data(found: Implied) -> JsonData:
    pair = None
    if found.pair is not None:
        names = ("left", "right", "mechanism", "argument", "check", "is_outside")
        pair = {name: getattr(found.pair, name) for name in names}
    return {"answer": found.answer.value, "reasons": list(found.reasons), "pair": pair}


def _block_data(block: BlockChange) -> JsonData:
    return {
        "block": block.block,
        "before": list(block.before),
        "after": list(block.after),
        "numbers": [{"name": name, "before": before, "after": after} for name, before, after in block.numbers],
        "alone": None if block.alone is None else _relation_data(block.alone),
        "reason": block.reason,
    }


def finding_data(finding: Finding) -> JsonData:
    """A finding, in the form of those of `dpspec lint`."""
    return {
        "code": finding.code,
        "severity": "error" if finding.code != "undecided" else "warning",
        "message": f"{finding.message}; {finding.detail}" if finding.detail else finding.message,
        "advice": finding.advice,
        "file": finding.file,
        "line": finding.line,
        "explained": finding.explained,
    }


# --- the lock -------------------------------------------------------------------------------------


_LOCK_RULES = {
    "new": "A specification is not in the lock.",
    "missing": "A specification of the lock is gone.",
    "worse": "Less is known in favour of a specification than the lock records.",
    "changed": "A specification has another promise, verdict, constant or proof than the lock records.",
    "unreadable": "A specification cannot be read, or a plugin that it needs failed.",
}


def lock_text(found: Lock, path: str) -> str:
    """What a terminal shows of a lock that was written."""
    words = Counter(file.word for file in found.files)
    outcomes = ", ".join(f"{number} {word}" for word, number in words.items())
    return (
        f"wrote {path}: {count(len(found.files), 'file')} ({outcomes})\nThe lock is a record of what was found, and no signature."
    )


def lock_data(found: Lock, path: str) -> JsonData:
    """The same as data."""
    return {"written": path, "files": _rows(found.files), "engine": _rows(found.parts)}


def _rows(found: Sequence[attrs.AttrsInstance]) -> list[JsonData]:
    return [attrs.asdict(one) for one in found]


def check_text(found: LockCheck) -> str:
    """What a terminal shows of files that were compared with a lock."""
    codes = Counter(finding.code for finding in found.findings)
    state = ", ".join(f"{number} {code}" for code, number in codes.items()) or "as locked"
    lines = [f"{count(len(found.files), 'file')}: {state}; {len(found.verified)} verified in this run"]
    words = Counter(_LABELS[file.word] for file in found.files)
    lines.append(", ".join(f"{number} {word}" for word, number in words.items()))
    if found.parts:
        names = ", ".join(name for name, _, _ in found.parts)
        lines.append(f"the engine is another one than in the lock, so that every file was verified: {names}")
    lines += [f"{_cut(finding.file)}: {finding.code}: {_cut(finding.message)}" for finding in found.findings]
    lines += [f"{_cut(file)}: edited, with the same result" for file in found.edited]
    if found.edited and not found.findings:
        lines.append("run dpspec lock to record the new text, so that it is not verified each time")
    lines += dict.fromkeys(finding.advice for finding in found.findings)
    return "\n".join(lines)


_LABELS = {word.word: word.label for word in Word}


def check_data(found: LockCheck) -> JsonData:
    """The same as data."""
    codes = sorted({finding.code for finding in found.findings})
    return {
        "files": _rows(found.files),
        "verified": list(found.verified),
        "edited": list(found.edited),
        "engine": [{"name": name, "before": before, "after": after} for name, before, after in found.parts],
        "findings": [finding_data(finding) for finding in found.findings],
        "rules": {f"verify-locked/{code}": _LOCK_RULES[code] for code in codes},
    }


__all__ = ["check_data", "check_text", "data", "lock_data", "lock_text", "page", "summary"]
