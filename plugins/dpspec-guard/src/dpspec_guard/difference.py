"""The difference of two versions of specification files, and its effect on the promises."""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import attrs

from dpspec import DpspecError, SpecDocument
from dpspec.plugin import Number, PrivacySpec, errors, specfile
from dpspec.plugin.applications import (
    FilePositions,
    Progress,
    Registry,
    Standing,
    Word,
    blocks_in_words,
    blocks_of,
    claim_of,
    decoded,
    file_numbers,
    number_in_words,
    numbers_cells,
    parameters,
    parse,
    read_text,
    standing,
    to_toml,
    worst_code,
)
from dpspec_guard.promise import paired_parts, promise_hash
from dpspec_guard.relation import Effect, Relation, alone, relation, spec_relation
from dpspec_guard.sources import Side, SourceFile
from dpspec_guard.standings import RANKS
from dpspec_guard.terms import TermChange, term_changes

Titles = {
    "space": "dataset space",
    "multiverse": "multiverse",
    "input_divergence": "input divergence",
    "output_divergence": "output divergence",
    "budget": "budget",
}


@attrs.frozen(kw_only=True)
class BlockChange:
    """One block that changed.

    Args:
        block: its title: a block, or a part of the product.
        before, after: what was and what is, in words.
        numbers: parameters that changed, as (name, before, after), and factors.
        alone: what this change does by itself; None where no specification results.
        reason: why none results.
    """

    block: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    numbers: tuple[tuple[str, str, str], ...] = ()
    alone: Relation | None = None
    reason: str = ""


@attrs.frozen(kw_only=True)
class Consequence:
    """The inferences of an attacker, before and after.

    Args:
        what: the quantity.
        promised: what any mechanism may disclose that keeps the promise: before, after.
        own: what the mechanism of the file discloses.
    """

    what: str
    promised: tuple[str, str]
    own: tuple[str, str]


@attrs.frozen(kw_only=True)
class Finding:
    """A reason why the diff fails.

    Args:
        code: weaker, incomparable, undecided, terms, verdict, removed, history or unreadable.
        message: what is wrong.
        advice: what to do about it.
        exit_code: the exit code that it leads to.
        detail: the datasets that show it.
        file, line: where in NEW, or in OLD for a file that was removed.
        explained: the recorded reason, where a new ``[[change]]`` names this very change.
    """

    code: str
    message: str
    advice: str
    exit_code: int
    file: str
    detail: str = ""
    line: int = 1
    explained: str | None = None


@attrs.frozen(kw_only=True)
class FileDifference:
    """One specification before and after.

    Args:
        title: what it is called in a report.
        kind: changed, added, removed, same (the same bytes) or unreadable.
        old, new: what was read of both.
        relation: how the promises relate; None where there are not two.
        blocks: the blocks that changed.
        terms: the terms of the deployment that changed.
        others: further keys of the file that changed.
        consequences: the inferences of an attacker, before and after.
        standings: the status of the claims.
        hashes: those of both promises.
        findings: what makes the diff fail.
    """

    title: str
    kind: str
    old: SpecDocument | None = None
    new: SpecDocument | None = None
    relation: Relation | None = None
    blocks: tuple[BlockChange, ...] = ()
    terms: tuple[TermChange, ...] = ()
    others: tuple[str, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    standings: tuple[Standing | None, Standing | None] = (None, None)
    hashes: tuple[str | None, str | None] = (None, None)
    findings: tuple[Finding, ...] = ()

    @property
    def effect(self) -> str:
        """What became of the promise, in one word or two."""
        return self.relation.effect.word if self.relation is not None else self.kind


@attrs.frozen(kw_only=True)
class Difference:
    """All specifications of two sides.

    Args:
        old, new: what the sides are called.
        files: the specifications, in the order of their names.
    """

    old: str
    new: str
    files: tuple[FileDifference, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for file in self.files for finding in file.findings)

    @property
    def exit_code(self) -> int:
        """The worst exit code of what no record explains; 0 where every old promise follows from a new one."""
        return worst_code(finding.exit_code for finding in self.findings if finding.explained is None)


def difference(old: Side, new: Side, registry: Registry, progress: Progress | None = None) -> Difference:
    """Compare all specifications of two sides.

    Args:
        old, new: the sides.
        registry: what the names in the files mean, and the rules of inference.
        progress: called with (done, in all).
    """
    same = {path for path, file in new.files.items() if file.content is not None and file == _at(old, path, file)}
    before, after = (
        {path: _read(file, registry) for path, file in side.files.items() if path not in same} for side in (old, new)
    )
    pairs = _paired(before, after, registry)
    found = [FileDifference(title=path or new.files[path].shown, kind="same") for path in same]
    for done, pair in enumerate(pairs):
        if progress is not None:
            progress(done, len(pairs))
        found.append(_file_difference(pair, registry))
    return Difference(old=old.name, new=new.name, files=tuple(sorted(found, key=lambda file: file.title)))


def _at(side: Side, path: str, file: SourceFile) -> SourceFile | None:
    """The file at a path of a side, called as another one, so that both are equal where their bytes are."""
    other = side.files.get(path)
    return None if other is None else attrs.evolve(other, shown=file.shown, path=file.path)


# --- reading and pairing --------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Version:
    """A file of one side that was read, or why it could not be."""

    source: SourceFile
    document: SpecDocument | None = None
    fault: DpspecError | None = None


def _read(source: SourceFile, registry: Registry) -> _Version:
    if source.fault is not None or source.content is None:
        return _Version(source=source, fault=source.fault)
    try:
        return _Version(source=source, document=read_text(decoded(source.content), registry, source.shown))
    except DpspecError as fault:
        return _Version(source=source, fault=fault)


@attrs.frozen(kw_only=True)
class _Pair:
    """Two versions of one file; None for one that is missing.

    Args:
        title: what the file is called in a report.
        old, new: the versions.
        is_replaced: whether NEW is another file, which records that its promise replaces that of OLD.
    """

    title: str
    old: _Version | None = None
    new: _Version | None = None
    is_replaced: bool = False


def _paired(before: Mapping[str, _Version], after: Mapping[str, _Version], registry: Registry) -> list[_Pair]:
    """Which file of NEW is a version of which file of OLD.

    By the path where it has one id on both sides or one of both cannot be read, then by an id that is unique on each side, by
    the remaining paths, by an equal promise, and last by a record that says that a promise was replaced by that of another file.
    """
    left, right = dict(before), dict(after)
    pairs: list[_Pair] = []

    def take(one: str, other: str) -> None:
        title = other or right[other].source.shown
        pairs.append(_Pair(title=title, old=left.pop(one), new=right.pop(other)))

    for path in [path for path in left if path in right]:
        ids = {version.document.id for version in (left[path], right[path]) if version.document is not None}
        if len(ids) < 2:
            take(path, path)
    for identity, one in _unique(left).items():
        other = _unique(right).get(identity)
        if other is not None:
            take(one, other)
    for path in [path for path in left if path in right]:
        take(path, path)
    for one in list(left):
        wanted = _hash(left[one], registry)
        other = next((key for key in right if wanted is not None and _hash(right[key], registry) == wanted), None)
        if other is not None:
            take(one, other)
    for one, version in left.items():
        found = _replacement(version, before, after, registry)
        pairs.append(_Pair(title=one or version.source.shown, old=version, new=found, is_replaced=found is not None))
    return pairs + [_Pair(title=key or version.source.shown, new=version) for key, version in right.items()]


def _unique(versions: Mapping[str, _Version]) -> dict[str, str]:
    """The keys of the files by their ids, of those that no other file has."""
    counted = Counter(version.document.id for version in versions.values() if version.document is not None)
    return {v.document.id: key for key, v in versions.items() if v.document is not None and counted[v.document.id] == 1}


def _hash(version: _Version, registry: Registry) -> str | None:
    return None if version.document is None else promise_hash(version.document, registry)


def _replacement(
    version: _Version, before: Mapping[str, _Version], after: Mapping[str, _Version], registry: Registry
) -> _Version | None:
    """The file of NEW with a new record which says that its promise replaces another one."""
    gone = _hash(version, registry)
    for key, other in after.items() if gone is not None else ():
        earlier = before[key].document if key in before else None
        for change in _fresh(earlier, other.document):
            if change.before == gone and change.after == _hash(other, registry):
                return other
    return None


# --- one file -------------------------------------------------------------------------------------


def _file_difference(pair: _Pair, registry: Registry) -> FileDifference:
    title, old, new = pair.title, pair.old, pair.new
    if new is None:
        assert old is not None  # noqa: S101 - a pair has one of both
        return _removed(title, old, registry)
    if new.fault is not None or new.document is None:
        return FileDifference(title=title, kind="unreadable", findings=tuple(_faults(new, "NEW")))
    if old is None:
        after = standing(new.document, registry)
        return FileDifference(title=title, kind="added", new=new.document, standings=(None, after))
    if old.fault is not None or old.document is None:
        return FileDifference(title=title, kind="unreadable", new=new.document, findings=tuple(_faults(old, "OLD")))
    found = _changed(title, old.document, new.document, new.source.path, registry)
    return found if pair.is_replaced else attrs.evolve(found, findings=(*found.findings, *_cut_history(found, new.source.path)))


def _faults(version: _Version, side: str) -> Iterator[Finding]:
    """Why a file cannot be read. With an old promise that cannot be read, nothing can be decided."""
    fault = version.fault
    for single in fault.faults if isinstance(fault, errors.Faults) else [fault]:
        is_new = side == "NEW"
        advice = "correct the file" if is_new else "compare with a version that this dpspec reads"
        if single is not None and single.exit_code == Word.PLUGIN.exit_code:
            advice = "correct the plugin or library that failed"
        code = (single.exit_code if single is not None else 2) if is_new else Word.UNDECIDED.exit_code
        yield Finding(
            code="unreadable", message=f"{side} cannot be read: {single}", advice=advice, exit_code=code,
            file=version.source.path, line=getattr(single, "line", None) or 1,
        )  # fmt: skip


def _removed(title: str, old: _Version, registry: Registry) -> FileDifference:
    gone = _hash(old, registry)
    finding = Finding(
        code="removed", message="the file was removed, and no new file makes its promise", exit_code=Word.REFUTED.exit_code,
        advice=f"keep it, or record in the file that replaces it: [[change]] with from = \"{gone}\"", file=old.source.path,
    )  # fmt: skip
    before = None if old.document is None else standing(old.document, registry)
    hashes = (gone, None)
    return FileDifference(
        title=title, kind="removed", old=old.document, standings=(before, None), hashes=hashes, findings=(finding,)
    )


def _changed(title: str, old: SpecDocument, new: SpecDocument, path: str, registry: Registry) -> FileDifference:
    hashes = (promise_hash(old, registry), promise_hash(new, registry))
    related = relation(old, new, registry)
    blocks = tuple(_blocks(old, new, related, registry))
    before = standing(old, registry)
    after = before if claim_of(old) == claim_of(new) else standing(new, registry)
    same = hashes[0] == hashes[1] is not None
    found = FileDifference(
        title=title, kind="changed", old=old, new=new, relation=related, blocks=blocks,
        terms=tuple(term_changes(old, new)), others=tuple(_others(old, new)),
        consequences=() if same else tuple(_consequences((old, before), (new, after), registry)),
        standings=(before, after), hashes=hashes,
    )  # fmt: skip
    return attrs.evolve(found, findings=tuple(_findings(found, old, new, path)))


def _blocks(old: SpecDocument, new: SpecDocument, whole: Relation, registry: Registry) -> Iterator[BlockChange]:
    """The five blocks that changed, then the parts of the product."""
    before, after = blocks_of(old.spec), blocks_of(new.spec)
    changed = [block for block in before if before[block] != after[block]]
    blocks = blocks_in_words(old.spec), blocks_in_words(new.spec)
    single = len(changed) == 1 and not old.parts and not new.parts
    for block in changed:
        lines = [said[Titles[block]] for said in blocks]
        if lines[0] == lines[1]:  # the words leave out in what they differ, such as the numbers of a table
            lines = [[*_written(document.spec, block, registry)] or lines[0] for document in (old, new)]
        effect = whole if single else alone(old.spec, new.spec, block, registry)
        yield BlockChange(
            block=Titles[block],
            before=tuple(line for line in lines[0] if line not in lines[1]) or tuple(lines[0]),
            after=tuple(line for line in lines[1] if line not in lines[0]) or tuple(lines[1]),
            numbers=tuple(_numbers(before[block], after[block])),
            alone=effect if isinstance(effect, Relation) else None,
            reason=effect if isinstance(effect, str) else "",
        )
    yield from _parts(old, new, registry)


def _written(spec: PrivacySpec, block: str, registry: Registry) -> Iterator[str]:
    """The parameters of a block as a file has them; nothing for one that has no text form."""
    with contextlib.suppress(errors.NotWritableError):
        table = tomllib.loads(to_toml(spec, registry)).get(block, {})
        yield from (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items())


def _parts(old: SpecDocument, new: SpecDocument, registry: Registry) -> Iterator[BlockChange]:
    """The parts of a product that changed."""
    for one, other in paired_parts(old.parts, new.parts):
        name = str(other if one is None else one)
        if one is not None and other is not None and one.spec == other.spec:
            continue
        related = None if one is None or other is None else spec_relation(one.spec, other.spec, registry)
        reason = "" if related is not None else "it is new" if one is None else "it is no longer promised"
        parts = [() if part is None else tuple(_flat(part.spec)) for part in (one, other)]
        lines = [tuple(line for line in parts[i] if line not in parts[1 - i]) for i in (0, 1)]
        yield BlockChange(block=f"part: {name}", before=lines[0], after=lines[1], alone=related, reason=reason)


def _flat(spec: PrivacySpec) -> Iterator[str]:
    for block, lines in blocks_in_words(spec).items():
        yield from (f"{block}: {line}" for line in lines)


def _numbers(before: object, after: object) -> Iterator[tuple[str, str, str]]:
    """The numbers and words among the parameters of a block that changed."""
    if type(before) is not type(after):
        return
    for parameter in parameters(type(before)):
        one, other = (getattr(block, parameter.name) for block in (before, after))
        if one != other and all(value is None or isinstance(value, (int, str, Fraction, Number)) for value in (one, other)):
            yield parameter.name, _value(one), _value(other)


def _value(value: object) -> str:
    return "none" if value is None else number_in_words(value) if isinstance(value, Number) else str(value)


_NAMES = {
    "miniatures": "miniature", "counterexamples": "counterexample", "expectations": "expect", "changes": "change",
    "layout": "table", "sources": "source",
}  # fmt: skip


def _others(old: SpecDocument, new: SpecDocument) -> Iterator[str]:
    """The changed keys of the file other than the blocks."""
    left_out = ("path", "text", "sha256", "spec", "parts")
    fields = [field.name for field in attrs.fields(SpecDocument) if field.name not in left_out]
    found = (_NAMES.get(name, name) for name in fields if getattr(old, name) != getattr(new, name))
    yield from dict.fromkeys("mechanism" if name == "secret" else name for name in found)


def _consequences(
    old: tuple[SpecDocument, Standing], new: tuple[SpecDocument, Standing], registry: Registry
) -> Iterator[Consequence]:
    """The numbers that `risk` and `explain` give, before and after."""
    sides: list[dict[str, tuple[str, ...]]] = []
    for document, status in (old, new):
        try:
            rows = numbers_cells(file_numbers(document, status, registry), document.spec, with_own=True)
        except DpspecError as fault:
            rows = [("power", f"unknown ({fault})", "unknown")]
        sides.append({what: tuple(cells) for what, *cells in rows})
    unknown = ("unknown", "unknown")
    for what in dict.fromkeys([*sides[0], *sides[1]]):
        before, after = (side.get(what, unknown) for side in sides)
        yield Consequence(what=what, promised=(before[0], after[0]), own=(before[1], after[1]))


# --- what makes it fail ---------------------------------------------------------------------------


def _findings(found: FileDifference, old: SpecDocument, new: SpecDocument, path: str) -> Iterator[Finding]:
    reason = recorded_reason(found.hashes, old, new)
    advice = record(*found.hashes)
    effect = None if found.relation is None else found.relation.effect
    if effect is not None and effect.keeps is not True:
        lost = effect.keeps is False
        code = "undecided" if not lost else "incomparable" if effect is Effect.INCOMPARABLE else "weaker"
        message, detail = _LOST[code], ""
        if found.relation is not None and found.relation.kept.pair is not None:
            detail = f"two datasets show it: x = {found.relation.kept.pair.left}, x' = {found.relation.kept.pair.right}"
        exit_code = Word.REFUTED.exit_code if lost else Word.UNDECIDED.exit_code
        line = _line(new, found)
        yield Finding(
            code=code, message=message, detail=detail, advice=advice, exit_code=exit_code, file=path, line=line, explained=reason
        )
    for term in found.terms:
        if term.keeps is not True:
            lost = term.keeps is False
            change = "is weaker" if lost else "is another one, and whether it is weaker is unknown"
            message = f"{term.name} {change}: {term.before} -> {term.after}{term.reason}"
            yield Finding(
                code="terms", message=message, advice=advice, file=path,
                exit_code=(Word.REFUTED if lost else Word.UNDECIDED).exit_code,
                line=_line_of(new, term.key), explained=reason,
            )  # fmt: skip
    before, after = found.standings
    if before is not None and after is not None and _is_worse((old, before), (new, after)):
        message = f"before, {before.sentence}; now, {after.sentence}"
        line = _line_of(new, "mechanism")
        yield Finding(
            code="verdict", message=message, advice=advice, exit_code=Word.REFUTED.exit_code, file=path, line=line,
            explained=reason,
        )  # fmt: skip


def _cut_history(found: FileDifference, path: str) -> Iterator[Finding]:
    """Whether a record of OLD is no longer in NEW."""
    if found.new is not None and _fresh(found.new, found.old):
        message, advice = "a recorded change was removed or edited", "restore it: the records are the history of the promise"
        yield Finding(
            code="history", message=message, advice=advice, exit_code=Word.REFUTED.exit_code, file=path,
            line=_line_of(found.new, "change[0]"),
        )  # fmt: skip


_LOST = {
    "weaker": "the promise is weaker: a mechanism may keep NEW and break OLD",
    "incomparable": "the promises are incomparable: a mechanism may keep NEW and break OLD",
    "undecided": "it is unknown whether NEW implies OLD",
}


def _is_worse(old: tuple[SpecDocument, Standing], new: tuple[SpecDocument, Standing]) -> bool:
    """Whether less is known in favour of the claim than before, or of less than before."""
    (before, one), (after, other) = old, new
    return RANKS[other.word] < RANKS[one.word] or not {*after.stand_ins} <= {*before.stand_ins}


def recorded_reason(hashes: tuple[str | None, str | None], old: SpecDocument, new: SpecDocument) -> str | None:
    """Why the change of a promise was approved: by records that NEW has and OLD has not, and that lead from one to the other.

    A record that OLD has already excuses nothing: the promise may have been restored since.
    """
    before, after = hashes
    if before is None or after is None:
        return None
    fresh = _fresh(old, new)
    reached: dict[str, tuple[str, ...]] = {}
    for _ in fresh:  # as many rounds as there are records reach whatever can be reached
        for change in fresh:
            trail = () if change.before == before else reached.get(change.before)
            if trail is not None and change.after not in reached:
                reached[change.after] = (*trail, f"{change.because} (approved by {change.approved_by})")
    return "; ".join(reached[after]) if after in reached else None


def _fresh(old: SpecDocument | None, new: SpecDocument | None) -> list[specfile.RecordedChange]:
    """The records that a file has and its earlier version has not."""
    before, after = (Counter(() if document is None else document.changes) for document in (old, new))
    return list((after - before).elements())


def record(before: str | None, after: str | None) -> str:
    """What to write into NEW, for a change that is meant."""
    if before is None or after is None:
        return "a block has no text form, so that the change cannot be recorded: undo it"
    fields = [f'from = "{before}"', f'to = "{after}"', 'because = "..."', 'approved_by = "..."']
    return "if it is meant, append to the file:\n[[change]]\n" + "\n".join(fields)


def _line(new: SpecDocument, found: FileDifference) -> int:
    """The line of the first block that changed."""
    changed = [key for key, title in Titles.items() if any(one.block == title for one in found.blocks)]
    return _line_of(new, changed[0] if changed else "part")


def _line_of(document: SpecDocument, key: str) -> int:
    text = document.text or ""
    return FilePositions.of(text, parse(text)).nearest(key) or 1


def changed_files(found: Sequence[FileDifference]) -> tuple[FileDifference, ...]:
    """Those of which there is something to report."""
    return tuple(file for file in found if file.kind != "same")


__all__ = [
    "BlockChange", "Consequence", "Difference", "FileDifference", "Finding", "changed_files", "difference", "record",
    "recorded_reason",
]  # fmt: skip
