"""Certificates of releases: what was checked of a release, as a file that anyone can check again without a network.

A certificate holds the specification whole, the SHA-256 of every released file, each claim with verdict, scope and proof, the
values of the invariants recounted from the released files, the numbers of the universe of the release, and the versions that were
used. Nothing in it is believed when it is checked: every section is computed again, from the text of the specification in it and
from the released files, and compared. So a certificate cannot be altered into another one that is accepted, unless that is a true
one. It is no signature: it does not say who made it.

The invariants are the same in all tables of a universe, so what is counted from the released files is what was counted from the
confidential ones, and may be published. The same holds of the number of the universe, which is read from the released table.

In JSON:

    {"format": "dpspec-certificate", "version": 1, "versions": {...}, "specification": {...}, "claims": {...}, "release": {...},
     "invariants": [...], "universe": {...}, "digest": SHA-256 of the rest in canonical form}
"""

from __future__ import annotations

import hashlib
import json as _json
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from dpspec_checker.proofs import check_proof
from rich.table import Table
from rich.text import Text

from dpspec import Bracket, DpspecError, SpecDocument, number
from dpspec.plugin import Dataset
from dpspec.plugin.applications import (
    BAD,
    FAINT,
    GOOD,
    REPORT,
    WARNING,
    CertificateError,
    CertificateVersionError,
    FileReport,
    JsonData,
    NotCertifiableError,
    PageParts,
    Word,
    at_most_in_words,
    at_universe_of,
    bracket_data,
    bracket_in_words,
    contributed,
    count,
    dataset_of,
    file_report_data,
    json_written,
    read_text,
    verify_document,
)
from dpspec_deployments.evidence import versions_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec.plugin import Registry

FORMAT, VERSION = "dpspec-certificate", 2
SECTIONS = ("versions", "specification", "claims", "release", "invariants", "universe")
OF_RELEASE = ("release", "invariants", "universe")
"""What is computed from the released files; the other sections are computed from the specification alone."""
MOST_BYTES = 100_000_000
"""Larger certificates are refused unread."""

RANDOM = "operating system"
"""What the report of a release says of the only randomness that is fit for publication."""
EXPOSURE = ("dpspec.functions", "exposure")
"""The entry point of what the package of disclosure control computes for it, where it is installed."""
MAY_BE_PUBLISHED = "may be published: a function of the invariants, which are published exactly"
HOLDS, FAILS, SKIPPED = "holds", "fails", "not checked"


# --- writing one ----------------------------------------------------------------------------------


def certificate_of(document: SpecDocument, folder: Path, registry: Registry) -> JsonData:
    """The certificate of a release.

    Args:
        document: the specification, read from a file.
        folder: the released files, with their report.
        registry: what the names in the specification mean.

    Raises:
        NotCertifiableError: a claim is not verified on all datasets, or the files do not show what they have to.
        CertificateError: the folder is no release of this specification.
    """
    if document.text is None:
        raise CertificateError("specification", "has no text of its own", "give its file", value=document.id)
    made = _Sections(document=document, registry=registry, folder=folder)
    content: JsonData = {"format": FORMAT, "version": VERSION}
    content |= {section: made.section(section) for section in SECTIONS}
    # As the file will be read, where tuples are lists: the digest is computed of that again.
    plain: JsonData = _json.loads(json_written(content))
    return {**plain, "digest": digest_of(plain)}


def digest_of(content: JsonData) -> str:
    """The SHA-256 of the canonical form of everything but the digest itself.

    >>> digest_of({"b": 1, "a": 2}) == digest_of({"a": 2, "b": 1, "digest": "x"})
    True
    """
    rest = {key: value for key, value in content.items() if key != "digest"}
    text = _json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(content: JsonData) -> str:
    """The text of the file."""
    return json_written(content) + "\n"


@attrs.define(slots=False)
class _Sections:
    """The sections of a certificate, each computed on demand.

    Args:
        document: the specification.
        registry: what its names mean.
        folder: the released files; None where only the other sections are requested.
    """

    document: SpecDocument
    registry: Registry
    folder: Path | None
    dataset: Dataset | None = attrs.field(default=None, init=False)

    def section(self, name: str) -> Any:
        made: dict[str, Callable[[], Any]] = {
            "versions": self.versions,
            "specification": self.specification,
            "claims": self.claims,
            "release": self.release,
            "invariants": self.invariants,
            "universe": self.universe,
        }
        return made[name]()

    # -- of the specification ----------------------------------------------------------------------

    def versions(self) -> JsonData:
        """dpspec, the plugins whose names the specification uses, and the packages that compute what it says."""
        brought = {name: version(name) for name in ("dpspec-checker", "dpspec-deployments")}
        exposure = contributed(EXPOSURE[0]).get(EXPOSURE[1])
        if exposure is not None and exposure.dist is not None:
            brought[exposure.dist.name] = exposure.dist.version
        return dict(sorted({**dict(versions_of(self.document, self.registry)), **brought}.items()))

    def specification(self) -> JsonData:
        document = self.document
        text = document.text or ""
        digest = hashlib.sha256(text.encode()).hexdigest()
        return {"id": document.id, "title": document.title, "sha256": digest, "text": text}

    def claims(self) -> JsonData:
        """Every claim with verdict, scope and proof, and what an independent checker says of each proof."""
        report = verify_document(self.document, registry=self.registry)
        self._need_verified(report)
        found = file_report_data(f"{self.document.id}.dpspec.toml", report)
        return {**_plainly(found), "rechecked": list(_rechecked(found))}

    def _need_verified(self, report: FileReport) -> None:
        status = report.standing
        if status.word not in (Word.VERIFIED, Word.DERIVED):
            fault = NotCertifiableError(self.document.id, status.sentence, "a certificate needs a claim verified on all datasets")
            fault.exit_code = status.word.exit_code or 1  # type: ignore[misc]  # that of the claim
            raise fault
        if self.document.parts:
            rule = "promises parts, of which a release draws one"
            raise NotCertifiableError(self.document.id, rule, "give each a file of its own")
        wrong = next((one for one in report.obligations if not one.word.is_good and one.word is not Word.UNCHECKED), None)
        if wrong is not None:
            fault = NotCertifiableError(f"{self.document.id}: {wrong.name}", f"is {wrong.word.word}", "correct the file first")
            fault.exit_code = wrong.word.exit_code or 1  # type: ignore[misc]  # that of the obligation
            raise fault

    # -- of the release ----------------------------------------------------------------------------

    def release(self) -> JsonData:
        """The released files with their SHA-256, and what their report says of the draw, as far as it fits them and SPEC."""
        folder = self._folder()
        report = report_of(folder)
        _need_of(report, self.document)
        files = [_file(path) for path in sorted(folder.iterdir())]
        listed = {row["file"]: row["sha256"] for row in report["released"]}
        there = {row["file"]: row["sha256"] for row in files}
        for name, digest in listed.items():
            if there.get(name) != digest:
                raise CertificateError(f"released file {name}", "is not the one of its report", "restore it from the release")
        space = self.document.spec.space
        if space.units and self.document.spec.multiverse.induced_by():  # the released files are datasets of the space
            records = len(space.records(self._dataset(), space.units[0]))
            if report["records"] != records:
                rule = f"are {records:,} in the released files, and not as many in the report"
                raise CertificateError("records", rule, "restore the report from the release")
        return {
            "files": files,
            "randomness": report["randomness"],
            "fit_for_publication": report["fit_for_publication"],
            "mechanism": report["mechanism"]["name"],
            "records": report["records"],
        }

    def _folder(self) -> Path:
        if self.folder is None:
            raise CertificateError("RELEASE", "is missing", "give the folder of the release")
        return self.folder

    def _dataset(self) -> Dataset:
        if self.dataset is None:
            self.dataset = dataset_of(str(self._folder() / REPORT), self.document.spec.space, self.registry)
        return self.dataset

    def invariants(self) -> list[JsonData]:
        """What was recounted from the released files: each invariant by the SHA-256 of its value."""
        spec = self.document.spec
        held = spec.multiverse.induced_by()
        if held is None:
            raise NotCertifiableError(self.document.id, "has universes that no invariants induce", "state them by invariants")
        found = []
        for one in held:
            value = one.value(self._dataset(), spec.space)
            entries = len(value) if isinstance(value, (tuple, list, frozenset)) else 1
            digest = hashlib.sha256(_canonical(value).encode()).hexdigest()
            found.append({"invariant": str(one), "entries": entries, "sha256": digest})
        return found

    def universe(self) -> JsonData:
        """The numbers of the universe of the release: its budget, and what the exact tables disclose in it."""
        spec = self.document.spec
        uniform = spec.budget.uniform()
        if uniform is None and spec.budget.least_between(spec.multiverse, spec.space) is None:
            budget, why = None, "not stated: the budget of this universe is not known to follow from one of its tables"
        else:
            value = uniform if uniform is not None else at_universe_of(spec, self._dataset()).budget.uniform()
            budget, why = None if value is None else str(value), MAY_BE_PUBLISHED
        exposed, reason = self._exposure()
        constant = self._constant()
        return {
            "constant": {
                "value": None if constant is None else bracket_data(constant),
                "note": "not stated: no theorem of the mechanism gives it" if constant is None else MAY_BE_PUBLISHED,
            },
            "budget": {"parameter": spec.budget.parameter, "value": budget, "note": why},
            "exposure": {**exposed, "note": reason},
        }

    def _constant(self) -> Bracket | None:
        """The Lipschitz constant of the mechanism inside this universe, where a theorem gives it.

        Of a class that is derived from the mechanism nothing is known but what that class says again.
        """
        mechanism = self.document.mechanism
        if mechanism is None or "constant_at" not in vars(type(mechanism)):
            return None
        return mechanism.constant_at(self.document.spec, self._dataset())

    def _exposure(self) -> tuple[JsonData, str]:
        """The records that the published tables alone determine, where a package that counts them is installed."""
        nothing: JsonData = {"determined": None, "cells": None}
        function = contributed(EXPOSURE[0]).get(EXPOSURE[1])
        if not self.document.spec.multiverse.induced_by():
            return nothing, "nothing is published exactly"
        if function is None:
            return nothing, "not stated: no installed package computes it"
        try:
            names = [row["file"] for row in report_of(self._folder())["released"]]
            table = self._folder() / names[0] if len(names) == 1 else self._folder()
            found = function.load()(self.document, table)
        except DpspecError as fault:
            return nothing, f"not stated: {fault}"
        if found.exit_code != 0:
            return nothing, "not stated: for some records it stays undecided"
        return {name: _plainly(found[name]) for name in nothing}, MAY_BE_PUBLISHED


def _plainly(content: Any) -> Any:
    return _json.loads(json_written({"content": content}))["content"]


def _rechecked(file: JsonData) -> Iterator[JsonData]:
    """What the checker, which shares no code with the verifier, says of each step of each proof."""
    for one in file["obligations"]:
        if not (one["verdict"] or {}).get("proof"):
            continue
        steps = [{"step": step.rule, "status": step.status} for step in check_proof(_plainly(one))]
        if any(step["status"] == "wrong" for step in steps):
            raise NotCertifiableError(one["name"], "has a proof that the independent checker finds wrong", "report it")
        yield {"name": one["name"], "steps": steps, "note": ""}


def _canonical(value: Any) -> str:
    """A text that equal values share and others do not."""
    if isinstance(value, frozenset):
        return "{" + ",".join(sorted(map(_canonical, value))) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(map(_canonical, value)) + ")"
    return f"{type(value).__name__}:{value!r}"


def report_of(folder: Path) -> JsonData:
    """The report of a release.

    Raises:
        CertificateError: there is none that can be read.
    """
    if not folder.is_dir():
        raise CertificateError("RELEASE", "is no folder", "give the folder that dpspec release wrote", value=str(folder))
    try:
        report = _json.loads((folder / REPORT).read_text(encoding="utf-8"))
        listed = [(row["file"], row["sha256"]) for row in report["released"]]
        needed = report["specification"]["sha256"], report["claim"]["released_unverified"], report["mechanism"]["name"]
        asked = report["randomness"], report["fit_for_publication"], report["records"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
        rule = f"has no {REPORT} that can be read ({type(problem).__name__})"
        raise CertificateError("RELEASE", rule, "give the folder that dpspec release wrote", value=folder.name) from None
    # A name with a folder in it would lead to a file outside of the release.
    if not listed or any(Path(str(name)).name != name for name, _ in listed) or None in (*needed, *asked):
        rule = f"has a {REPORT} that names no released files"
        raise CertificateError("RELEASE", rule, "give the whole release", value=folder.name)
    found: JsonData = report
    return found


def _need_of(report: JsonData, document: SpecDocument) -> None:
    if report["specification"]["sha256"] != document.sha256:
        rule = "is of another specification: the SHA-256 in its report is not that of this file"
        raise CertificateError("RELEASE", rule, "give the file that was released under")
    name = "" if document.mechanism is None else document.mechanism.name
    if report["mechanism"]["name"] != name:
        rule = "was made by another mechanism: the one in its report is not that of this file"
        raise CertificateError("RELEASE", rule, "give the file that was released under")
    if report["fit_for_publication"] and report["randomness"] != RANDOM:
        raise CertificateError("RELEASE", "is called fit for publication, and was not drawn at random", "release it again")
    if report["claim"]["released_unverified"] is not False:
        raise NotCertifiableError("RELEASE", "was made although its claim was not verified (--unverified)", "release it again")


def _file(path: Path) -> JsonData:
    if not path.is_file() or path.is_symlink():  # what a link leads to is not in the folder
        rule = "holds something that is no file"
        raise CertificateError("RELEASE", rule, "give a folder of released files alone", value=path.name)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}


# --- checking one ---------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class CertificateLine:
    """One thing that was checked of a certificate.

    Args:
        what: the section.
        status: holds, fails, or not checked.
        says: what was found.
    """

    what: str
    status: str
    says: str

    @property
    def data(self) -> JsonData:
        return attrs.asdict(self)


_WRITE_IT = "write it with: dpspec certify SPEC RELEASE --out FILE"


def read_certificate(path: Path) -> tuple[JsonData, str]:
    """A certificate and the text of its file.

    Raises:
        CertificateError: no file, no JSON, or not of the shape of a certificate.
        CertificateVersionError: another version of the format.
    """
    try:
        content = path.read_bytes()
        if len(content) > MOST_BYTES:
            raise CertificateError("certificate", f"is larger than {MOST_BYTES:,} bytes", value=path.name)
        text = content.decode("utf-8")
        data = _json.loads(text)
    except (OSError, ValueError, RecursionError) as problem:
        if isinstance(problem, DpspecError):
            raise
        rule = f"cannot be read ({type(problem).__name__})"
        raise CertificateError("certificate", rule, _WRITE_IT, value=path.name) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        rule = f"must be a table with format = {FORMAT}"
        raise CertificateError("certificate", rule, _WRITE_IT, value=path.name)
    if data.get("version") != VERSION or isinstance(data["version"], bool):
        rule = f"this dpspec reads certificates of version {VERSION}"
        raise CertificateVersionError("version", rule, "check it with the dpspec that wrote it", value=data.get("version"))
    missing = [name for name in (*SECTIONS, "digest") if name not in data]
    if missing:
        raise CertificateError("certificate", f"lacks {', '.join(missing)}", "write it again", value=path.name)
    return data, text


def check(path: Path, folder: Path | None, registry: Registry) -> tuple[CertificateLine, ...]:
    """Compute every section of a certificate again, and compare.

    What costs most comes last, and is left out where a cheaper line has failed.

    Args:
        path: the certificate.
        folder: the released files; without them, what was computed from them is not checked.
        registry: what the names in the specification mean.

    Raises:
        as `read_certificate`; CertificateVersionError: another version of dpspec or of a plugin wrote it.
    """
    data, text = read_certificate(path)
    lines = [_line("certificate", partial(_check_whole, data, text))]
    made: list[_Sections] = []
    if lines[-1].status == HOLDS:
        lines.append(_line("specification", partial(_check_specification, data, folder, registry, made)))
    if not made:
        return (*lines, *(CertificateLine(what=name, status=SKIPPED, says="a line above fails") for name in SECTIONS[2:]))
    here, stated = _plainly(made[0].versions()), data["versions"]
    if stated != here:
        stated = stated if isinstance(stated, dict) else {}
        names = [name for name in {**stated, **here} if stated.get(name) != here.get(name)]
        said = ", ".join(f"{name} {stated.get(name, 'absent')} (here {here.get(name, 'absent')})" for name in names)
        raise CertificateVersionError("versions", f"it was written with {said}", "check it with the same versions")
    for name in ("release", "invariants", "universe", "claims"):
        if name in OF_RELEASE and folder is None:
            says = "give RELEASE to compare it with the released files"
            lines.append(CertificateLine(what=name, status=SKIPPED, says=says))
        elif any(line.status == FAILS for line in lines):
            lines.append(CertificateLine(what=name, status=SKIPPED, says="a line above fails"))
        else:
            lines.append(_line(name, partial(_compare, data, name, made[0])))
    return tuple(lines)


def _line(what: str, check: Callable[[], str]) -> CertificateLine:
    try:
        return CertificateLine(what=what, status=HOLDS, says=check())
    except _Difference as problem:
        return CertificateLine(what=what, status=FAILS, says=str(problem))
    except DpspecError as fault:
        return CertificateLine(what=what, status=FAILS, says=str(fault))


class _Difference(Exception):
    """What is in the certificate is not what was computed."""


def _check_whole(data: JsonData, text: str) -> str:
    strange = set(data) - {*SECTIONS, "format", "version", "digest"}
    if strange:
        raise _Difference(f"it has sections that are none: {', '.join(sorted(strange))}")
    if data["digest"] != digest_of(data):
        raise _Difference("the digest is not that of the rest: something in it was changed")
    if text != text_of(data):
        raise _Difference("the file is not written as dpspec writes it: some bytes of it were changed")
    return f"digest {data['digest'][:12]}..."


def _check_specification(data: JsonData, folder: Path | None, registry: Registry, made: list[_Sections]) -> str:
    """The text in it, read again: everything else is computed from it."""
    stated = data["specification"]
    text = stated.get("text") if isinstance(stated, dict) else None
    if not isinstance(text, str):
        raise _Difference("it has no text")
    found = _Sections(document=read_text(text, registry), registry=registry, folder=folder)
    _need_equal(stated, _plainly(found.specification()), "specification")
    made.append(found)
    return f"{found.document.id}: SHA-256 {stated['sha256'][:12]}..."


def _compare(data: JsonData, name: str, made: _Sections) -> str:
    found = _plainly(made.section(name))
    _need_equal(data[name], found, name)
    if name == "release":
        unfit = "" if found["fit_for_publication"] else "; NOT FIT FOR PUBLICATION"
        return f"{count(len(found['files']), 'file')}, drawn with {found['randomness']}{unfit}"
    if name == "invariants":
        return f"{count(len(found), 'invariant')} recounted from the released files"
    if name == "universe":
        return "; ".join(f"{what}: {says}" for what, says in _universe_in_words(found))
    proofs = sum(len(row["steps"]) for row in found["rechecked"])
    again = sum(step["status"] == "rechecked" for row in found["rechecked"] for step in row["steps"])
    checker = f"; {again} of {proofs} steps of proofs rechecked by an independent checker" if proofs else ""
    judged = count(len(found["obligations"]), "claim or number", "claims and numbers")
    return f"{found['outcome']}, {found['scope']}: {judged}{checker}"


def _universe_in_words(found: JsonData) -> Iterator[tuple[str, str]]:
    """The numbers of the universe of the release, each with what it is."""
    constant, budget, exposed = found["constant"], found["budget"], found["exposure"]
    if constant["value"] is None:
        yield "constant", constant["note"]
    else:
        yield "constant", bracket_in_words(Bracket(**{end: number(constant["value"][end]) for end in ("lower", "upper")}))
    value = budget["value"]
    yield "budget", budget["note"] if value is None else f"{budget['parameter']} {at_most_in_words(number(value), '= ')}"
    share, says = exposed["determined"], exposed["note"]
    if share is not None:
        of = count(share["of"], "record")
        says = f"{share['records']:,} of {of} are determined in all attributes by the exact tables alone"
    yield "exposure", says


def _need_equal(stated: Any, found: Any, where: str) -> None:
    """Raise at the first difference of two trees of JSON; the message contains no values of tables."""
    if type(stated) is not type(found):
        raise _Difference(f"{where} is not what was computed")
    if isinstance(found, dict):
        for key in {**stated, **found}:
            if key not in stated or key not in found:
                raise _Difference(f"{where}.{key} is {'missing' if key in found else 'of no certificate'}")
            _need_equal(stated[key], found[key], f"{where}.{key}")
    elif isinstance(found, list):
        if len(stated) != len(found):
            raise _Difference(f"{where} has {len(stated)} entries, and {len(found)} were found")
        for place, (one, other) in enumerate(zip(stated, found, strict=True)):
            named = other.get("file") or other.get("invariant") or other.get("name") if isinstance(other, dict) else None
            _need_equal(one, other, f"{where}[{place}]" if named is None else f"{where} {named}")
    elif stated != found:
        raise _Difference(f"{where} is not what was computed")


def certificate_parts(content: JsonData, out: str | None) -> PageParts:
    """What a new certificate says, in a few lines."""
    release, universe = content["release"], content["universe"]
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_row(Text("claim", FAINT), f"{content['claims']['outcome']}, {content['claims']['scope']}")
    rows.add_row(Text("files", FAINT), ", ".join(row["file"] for row in release["files"]))
    rows.add_row(Text("drawn with", FAINT), release["randomness"])
    for one in content["invariants"]:
        rows.add_row(Text("recounted", FAINT), one["invariant"])
    for what, says in _universe_in_words(universe):
        rows.add_row(Text(f"{what} here", FAINT), says)
    unfit = [] if release["fit_for_publication"] else [Text(f"The release is not fit for publication: see {WARNING}", BAD)]
    where = "" if out is None else f": wrote {out}"
    head = Text(f"Certificate of {content['specification']['id']}{where}", "bold")
    parts: list[RenderableType] = [head, *unfit, rows]
    return parts


def lines_parts(lines: tuple[CertificateLine, ...], name: str) -> PageParts:
    """The lines, the answer first."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    styles = {HOLDS: GOOD, FAILS: BAD, SKIPPED: FAINT}
    for line in lines:
        rows.add_row(Text(line.status, styles[line.status]), line.what, line.says)
    failed = [line for line in lines if line.status == FAILS]
    skipped = [line.what for line in lines if line.status == SKIPPED]
    if failed:
        answer = Text(f"{name}: not accepted: {failed[0].what}: {failed[0].says}", "bold")
    else:
        left = f" but for {', '.join(skipped)}, which need RELEASE" if skipped else ""
        answer = Text(f"{name}: every line holds{left}", "bold")
    return [answer, rows]
