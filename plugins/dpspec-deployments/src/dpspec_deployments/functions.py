"""The functions of dpspec on real deployments: what each command prints, as data, and the values behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpspec import CommandAnswer, SpecDocument, installed
from dpspec.plugin import ParameterError, specfile
from dpspec.plugin.applications import (
    SCHEMA_LINE,
    CertificateError,
    JsonData,
    Progress,
    add_up,
    as_document,
    compared,
    document_at,
    documents_of,
    failure_code,
    file_numbers,
    ledger_data,
    order_specs,
    printed,
    read_text,
    standards,
    standing,
    table_notes,
    write_schema,
    write_spec,
    write_whole,
)

if TYPE_CHECKING:
    from dpspec_deployments.new_deployment import DeploymentQuestion

AnyPath = str | Path
CATALOGUE = "specs/deployments"
"""Where the files of the catalogue are looked for, when none is named."""


def catalogue(
    *paths: AnyPath,
    publisher: str | None = None,
    year: str | None = None,
    unit: str | None = None,
    standard: str | None = None,
    invariants: str | None = None,
    trust: str | None = None,
    verdict: Iterable[str] = (),
    at_least: str | None = None,
    order: bool = False,
    yardstick: bool = False,
    delta: str | None = None,
    ledger: bool = False,
    jobs: int | None = 1,
    progress: Progress | None = None,
) -> CommandAnswer:
    """The promises of real deployments, as a list or as the answer to one question. `value` has the chosen entries.

    Args:
        paths: files or directories; without any, specs/deployments.
        publisher, year, unit, standard, invariants, trust, verdict: list those of which this is true.
        at_least: which of them promise at least what the one with this id does.
        order: the order of all that are about one dataset space.
        yardstick: the power of one test that each allows, unit by unit.
        delta: with `yardstick`, the probability at which the epsilon of each is computed, too.
        ledger: the total of those listed, where they are about the same data.
        jobs: so many processes for the verdicts; None for one for each processor where there are many files.
        progress: called with (done, in all).

    Raises:
        ParameterError: several questions at once.
    """
    from dpspec_deployments import catalogue as engine

    asked = [name for name, on in (("at_least", at_least), ("order", order), ("yardstick", yardstick), ("ledger", ledger)) if on]
    if len(asked) > 1:
        raise ParameterError(" and ".join(asked), "are questions of their own", "ask one")
    if delta is not None and not yardstick:
        raise ParameterError("delta", "belongs to `yardstick`", "ask for it, or leave this out")
    engine.check_delta(delta)
    registry = installed().registry
    wanted = engine.CatalogueFilter(
        publisher=publisher, years=None if year is None else engine.years(year), unit=unit,
        standard=None if standard is None else standards(standard, registry), invariants=invariants, trust=trust,
        verdict=tuple(verdict),
    )  # fmt: skip
    documents = documents_of(list(map(str, paths or (CATALOGUE,))), registry)
    every = engine.catalogue_of(documents, registry)
    aim = None if at_least is None else engine.entry_of(every, at_least)
    entries = engine.chosen(every, wanted, progress=progress, jobs=jobs)
    answered = partial(CommandAnswer, "catalogue", value=entries)
    if aim is not None:
        found = engine.at_least(entries, aim, compared, progress=progress)
        data: JsonData = {"target": aim.id, "answers": [one.data for one in found]}
        code = 3 if any(one.is_open for one in found) else 0
        return answered(code, data, partial(engine.at_least_parts, found, aim))
    if order:
        groups = engine.by_space(entries)
        orders = [
            order_specs([entry.document for entry in group], progress=progress, standings=[entry.standing for entry in group])
            for group in groups
            if len(group) > 1
        ]
        code = 3 if any(one.unknown for one in orders) else 0
        return answered(code, engine.orders_data(orders, groups), partial(engine.orders_text, orders, groups))
    if ledger:
        listed = list(entries)
        total, notes = add_up([entry.document for entry in listed], registry), engine.ledger_notes(listed)
        data = {"ledger": ledger_data(total), "notes": notes}
        return answered(0, data, lambda: "\n".join([printed(total), "", *notes]))
    if yardstick:
        for done, entry in enumerate(entries, 1):
            entry.standing  # noqa: B018 - what takes long is done here, where it is reported
            if progress is not None:
                progress(done, len(entries))
        units = engine.by_unit(entries)
        data = {"delta": delta, "units": engine.yardstick_data(units, delta)}
        return answered(0, data, partial(engine.yardstick_parts, units, delta))
    left_out = len(documents) - len(every)
    data = {"left_out": left_out, "tally": engine.tally(entries), "deployments": [entry.data for entry in entries]}
    return answered(0, data, partial(engine.list_parts, entries, left_out))


def label(
    specification: AnyPath | SpecDocument, universe_of: Any = None, progress: Progress | None = None
) -> CommandAnswer:  # fmt: skip
    """One page for the people in the data: what is promised, whether it was checked, and what is not said.

    Args:
        specification: a specification or its file.
        universe_of: a table or a release's report; where budgets differ by universe, the number is that of its universe.
        progress: called with (done, in all).

    Raises:
        TableError: the table does not fit the space.
    """
    from dpspec_deployments import label as pages

    document = as_document(specification)
    registry = installed().registry
    at = None if universe_of is None else document_at(document, universe_of, registry)
    status = standing(document, registry, progress=progress)
    spec = None if at is None or at.spec is document.spec else at.spec
    data = pages.label_data(document, status, file_numbers(document, status, registry, spec), at)
    notes = table_notes(document) if at is None else ()
    return CommandAnswer("label", failure_code([status]), data, partial(pages.label_page, data), value=document, notes=notes)


def evidence(specification: AnyPath | SpecDocument, out: AnyPath, progress: Progress | None = None) -> CommandAnswer:
    """Write the evidence that a reviewer requires of a file, with its proofs and witnesses, into a new folder.

    Args:
        specification: a specification or its file.
        out: the folder.
        progress: called with (done, in all).
    """
    from dpspec_deployments import evidence as engine

    found = engine.gather(as_document(specification), installed().registry, progress=progress)
    data = engine.write_evidence(found, Path(out))
    marks = ", ".join(f"{n} {mark}" for mark, n in data["marks"].items())
    said = f"wrote {out}: {len(data['lines'])} lines: {marks}\n{found.standing.sentence}"
    return CommandAnswer("evidence", found.standing.exit_code, {"evidence": data}, partial(str, said), value=found)


def new_deployment(name: str, answer: Callable[[DeploymentQuestion], str], directory: AnyPath = ".") -> CommandAnswer:
    """Ask for a release that was really made, and write its file.

    Args:
        name: its id, lower-kebab.
        answer: is called with each question; an empty text says that it is not known.
        directory: where it is written.
    """
    from dpspec_deployments.new_deployment import deployment_text

    path = Path(directory) / f"{name}.dpspec.toml"
    if path.exists():
        write_spec("", path)  # says that it exists
    text = f"{SCHEMA_LINE}\n{deployment_text(name, answer, installed().registry)}"
    read_text(text, installed().registry, str(path))
    write_spec(text, path)
    data = {"written": [str(path)], "next": f"dpspec lint {path}"}
    said = tuple(f"for editors: {file}" for file in write_schema(path.parent))
    return CommandAnswer("new", 0, data, partial(str, f"wrote {path}"), value={"written": (path,), "said": said})


def registry_import(*paths: AnyPath, out: AnyPath) -> CommandAnswer:
    """Make a specification file of each record of the deployments registry. `value` has the records.

    Args:
        paths: records, or directories, which mean every \\*.yaml directly in them.
        out: the folder for the files.
    """
    from dpspec_deployments import record_import

    found = record_import.import_records(record_import.record_files(map(str, paths)), installed().registry)
    pairs = list(zip(found, record_import.write_records(found, Path(out)), strict=True))
    data = {"records": [record_import.import_data(*pair) for pair in pairs], "missing": record_import.missing_by_field(found)}
    words = "\n".join([*(record_import.import_text(*pair) for pair in pairs), record_import.missing_text(found)])
    return CommandAnswer("registry-import", 0, data, partial(str, words), value=found)


def registry_export(specification: AnyPath | SpecDocument, out: AnyPath, authors: Iterable[str] = ()) -> CommandAnswer:
    """Write a specification as a record of the deployments registry. `value` is the record.

    Args:
        specification: a specification or its file.
        out: the record: lower-case letters, digits, _ and .yaml.
        authors: who writes the record, where the file does not say it.
    """
    from dpspec_deployments.record_export import export_data, export_record, export_text, write_record

    document, target = as_document(specification), Path(out)
    found = export_record(document, target.name, tuple(authors))
    write_record(found, target)
    data = export_data(found, str(specification) if isinstance(specification, (str, Path)) else document.id, target)
    return CommandAnswer("registry-export", 0, data, partial(export_text, found, target), value=found)


def certify(specification: AnyPath, release: AnyPath, out: AnyPath | None = None) -> CommandAnswer:
    """The certificate of a release: what was checked of it, in a form that anyone can check again. `value` is the certificate.

    Args:
        specification: the file under which it was released; its claim has to be verified on all datasets.
        release: the folder that ``dpspec release`` wrote.
        out: a file that the certificate is written into, outside of that folder.

    Raises:
        NotCertifiableError: the claim is refuted, not verified, or verified on miniatures only.
        CertificateError: the folder is no release of the specification.
    """
    from dpspec_deployments import certificate as engine

    folder = Path(str(release))
    if out is not None and Path(str(out)).resolve().parent == folder.resolve():
        rule = "lies in the folder of the release, whose files it lists"
        raise CertificateError("--out", rule, "write it next to that folder", value=Path(str(out)).name)
    registry = installed().registry
    found = engine.certificate_of(specfile.read(Path(str(specification)), registry), folder, registry)
    if out is not None:
        write_whole(Path(str(out)), engine.text_of(found))
    written = None if out is None else str(out)
    text = partial(engine.certificate_parts, found, written)
    return CommandAnswer("certify", 0, {"out": written, "certificate": found}, text, value=found)


def check_certificate(path: AnyPath, release: AnyPath | None = None) -> CommandAnswer:
    """Check a certificate without a network: every section is computed again, and compared. `value` has the lines.

    Args:
        path: the certificate.
        release: the folder of the released files; without it, what was computed from them is not checked.

    Raises:
        CertificateError: the file is no certificate.
        CertificateVersionError: it is of another version of the format, of dpspec, or of a plugin.
    """
    from dpspec_deployments import certificate as engine

    lines = engine.check(Path(str(path)), None if release is None else Path(str(release)), installed().registry)
    code = 1 if any(line.status == engine.FAILS for line in lines) else 0
    text = partial(engine.lines_parts, lines, Path(str(path)).name)
    return CommandAnswer("check-certificate", code, {"lines": [line.data for line in lines]}, text, value=lines)
