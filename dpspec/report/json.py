"""Results as JSON: exact constants as exact strings, brackets by their ends (schema: ``output.schema.json``)."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from dpspec.base.errors import DpspecError, NotWritableError, harmless_json
from dpspec.base.params import each, parameters
from dpspec.base.types import JsonData
from dpspec.report import terminal
from dpspec.report.terminal import blocks_in_words, budget_in_words, thing_by_name

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from dpspec.base.exact import Bracket
    from dpspec.base.words import Word
    from dpspec.blocks.space import Dataset
    from dpspec.comparison.compare import Comparison, Direction
    from dpspec.extension.hooks import Entry, Provenance
    from dpspec.extension.loader import Plugins
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.document import FileReport
    from dpspec.verifier.obligations import Obligation
    from dpspec.verifier.replay import Replay
    from dpspec.verifier.standing import Standing
    from dpspec.verifier.verdict import Event, Verdict, Witness

FORMAT = 1
"""The version of the JSON output; it grows when the meaning of a key changes."""


def output_schema() -> JsonData:
    """The JSON schema of every command's output."""
    text = files("dpspec.report").joinpath("output.schema.json").read_text(encoding="utf-8")
    schema: JsonData = json.loads(text)
    return schema


def document(command: str, exit_code: int, content: Mapping[str, Any]) -> str:
    """One JSON text with its version, command and exit code in front."""
    return written({"format": FORMAT, "command": command, "exit_code": exit_code, **content})


def written(data: Mapping[str, Any]) -> str:
    """Data as the text that ``--format json`` prints, in which nothing is a command to a terminal."""
    return harmless_json(json.dumps(data, indent=2, ensure_ascii=False))


def answer(command: str, exit_code: int, content: Mapping[str, Any]) -> JsonData:
    """The same as data: texts, numbers, lists and tables, nothing else."""
    data: JsonData = json.loads(document(command, exit_code, content))
    return data


def errors(fault: DpspecError) -> list[JsonData]:
    """Every single fault of an error; file and line have keys of their own."""
    return [
        {
            "code": single.code,
            "message": str(single.args[0]),
            "subject": single.subject,
            "file": single.file,
            "line": single.line,
            "exit_code": single.exit_code,
        }
        for single in each(fault)
    ]


# --- files ---------------------------------------------------------------------------------------


def checked(path: str, found: SpecDocument) -> JsonData:
    """A file that was read without fault."""
    return {"path": path, "outcome": "valid", "id": found.id, "title": found.title}


def failed(path: str, word: Word, fault: DpspecError) -> JsonData:
    """A file that could not be verified: invalid itself, or in need of a plugin that failed."""
    return {"path": path, "outcome": word.word, "errors": errors(fault)}


def file_report(path: str, report: FileReport) -> JsonData:
    """A verified file, with the results."""
    return {
        "path": path,
        "outcome": report.word.word,
        "id": report.document.id,
        "title": report.document.title,
        "sha256": report.document.sha256,
        "scope": report.scope,
        "obligations": [_obligation(obligation) for obligation in report.obligations],
    }


def _obligation(obligation: Obligation) -> JsonData:
    return {
        "name": obligation.name,
        "outcome": obligation.word.word,
        "detail": obligation.detail,
        "exchanged": list(obligation.exchanged),
        "grown": [
            {
                "size": line.size,
                "values": list(line.values),
                "constants": list(line.constants),
                "grows": line.grows,
                "refuted": line.refuted is not None,
                "stopped": line.stopped,
            }
            for line in obligation.grown
        ],
        "unproved": obligation.unproved,
        "claim": _claim(obligation),
        "verdict": None if obligation.verdict is None else verdict(obligation.verdict),
        "value": None if obligation.value is None else bracket(obligation.value),
        "replay": obligation.replay,
    }


def _claim(obligation: Obligation) -> str | None:
    """The proved claim, as the text of a specification, for `dpspec check-proof`."""
    if obligation.spec is None or obligation.verdict is None or not obligation.verdict.proof:
        return None
    from dpspec.extension import installed
    from dpspec.specfile.writer import to_toml

    try:
        return to_toml(obligation.spec, installed().registry)
    except NotWritableError:
        return None


def replayed(found: Replay) -> JsonData:
    """The result of replaying a witness file."""
    return {
        "witness_file": found.path,
        "outcome": found.outcome.value,
        "unchanged": found.is_unchanged,
        "recorded": _witness(found.recorded),
        "event": None if found.event is None else _event(found.event),
        "verdict": verdict(found.verdict),
    }


def verdict(given: Verdict) -> JsonData:
    """A verdict with its universes, its witness and the distributions behind it."""
    from dpspec.verifier.verdict import Outcome

    return {
        "outcome": given.outcome.value,
        "method": given.method,
        "scope": given.scope,
        "reason": given.reason,
        "constant": bracket(given.constant) if given.outcome is not Outcome.UNDECIDED or given.universes else None,
        "vacuous_universes": len(given.vacuous),
        "universes": [
            {
                "label": plain(result.label),
                "datasets": result.datasets,
                "pairs": result.pairs,
                "constant": bracket(result.constant),
                "bound": str(result.bound),
                "outcome": result.outcome.value,
                "vacuous": result.is_vacuous,
                "tight": result.is_tight,
                "slack": result.slack(),
                "attained": None if result.attained is None else [plain(dataset) for dataset in result.attained],
            }
            for result in given.universes
        ],
        "witness": None if given.witness is None else _witness(given.witness),
        "findings": [{"code": finding.code, "text": finding.text} for finding in given.findings],
        "assumptions": [*given.assumptions],
        "proof": [{"step": step.step, "says": step.says, "citation": step.citation, "data": step.data} for step in given.proof],
        "provenance": [{"role": role, "name": name, **_provenance(origin)} for role, name, origin in given.provenance],
    }


def _witness(witness: Witness) -> JsonData:
    event = witness.event
    return {
        "universe": plain(witness.universe),
        "left": plain(witness.left),
        "right": plain(witness.right),
        "distance": str(witness.distance),
        "divergence": bracket(witness.divergence),
        "allowed": witness.allowed,
        "event": None if event is None else _event(event),
        "note": witness.note,
    }


def _event(event: Event) -> JsonData:
    return {
        "text": event.text,
        "left": bracket(event.left),
        "right": bracket(event.right),
        "expression": None if event.expression is None else event.expression.json,
        "proves": event.proves,
    }


def bracket(value: Bracket) -> dict[str, str]:
    """The two ends: equal and exact for an exact value, decimals on the safe side for an enclosure."""
    lower, upper = value.ends()
    return {"lower": lower, "upper": upper}


def plain(value: Hashable | Dataset) -> Any:
    """A dataset or label as nested lists of texts and integers."""
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    return value if isinstance(value, (str, int)) or value is None else str(value)


# --- statements of a file other than its claim ---------------------------------------------------


def facts(found: SpecDocument) -> JsonData:
    """The statements of a file other than its claim: deployment, sources, provenance of the blocks, and what is not covered."""
    given = found.deployment
    return {
        "deployment": None
        if given is None
        else {
            **{p.name: getattr(given, p.name) for p in parameters(type(given))},
            "publisher": list(given.publisher),
            "units": dict(given.units),
            "prose": dict(given.prose),
        },
        "sources": [{"id": source.id, "text": str(source), "licence": source.licence} for source in found.sources],
        "provenance": [
            {"block": one.block, "how": one.how, "source": list(one.source), "because": one.because, "text": str(one)}
            for one in found.provenance
        ],
        "unaccounted": [
            {"step": one.step, "effect": one.effect, "touches": list(one.touches), "source": list(one.source)}
            for one in found.unaccounted
        ],
    }


# --- comparison ----------------------------------------------------------------------------------


def comparison(given: Comparison, left: SpecDocument, right: SpecDocument, standings: tuple[Standing, Standing]) -> JsonData:
    """Both directions of a comparison, the claim status of each file, and the other statements of the files."""
    return {
        "left": left.id,
        "right": right.id,
        "facts": {side: facts(document) for side, document in (("left", left), ("right", right))},
        "standing": {side: terminal.standing_data(one) for side, one in zip(("left", "right"), standings, strict=True)},
        "relation": given.relation.value,
        "blocks": {"left": _blocks(given.left), "right": _blocks(given.right)},
        "forward": _direction(given.forward),
        "backward": _direction(given.backward),
        "notes": list(given.notes),
        "restated": list(given.restated),
    }


def comparison_exit_code(given: Comparison) -> int:
    """0 when both directions were answered, 3 otherwise; 4 where a claim could not be checked, as a plugin failed."""
    from dpspec.base.words import worst_code
    from dpspec.comparison.compare import Answer, Implication
    from dpspec.verifier.standing import failure_code

    unknown = Answer.UNKNOWN in (given.forward.answer, given.backward.answer) or given.relation is Implication.UNKNOWN
    return worst_code([3 if unknown else 0, failure_code(standing for _, standing in given.about)])


def _blocks(spec: PrivacySpec) -> JsonData:
    lines = {block.replace(" ", "_"): text for block, text in blocks_in_words(spec, thing_by_name).items()}
    value = spec.budget.uniform()
    exact = None if value is None else str(value)
    return {**lines, "budget": {"parameter": spec.budget.parameter, "value": exact, "text": budget_in_words(spec.budget)}}


def _direction(direction: Direction) -> JsonData:
    found = direction.separation
    return {
        "answer": direction.answer.value,
        "steps": [
            {"block": step.block, "holds": step.holds, "reason": step.reason, "factor": step.factor, "rule": step.rule}
            for step in direction.steps
        ],
        "separation": None
        if found is None
        else {
            "kind": found.kind,
            "mechanism": found.mechanism,
            "argument": found.argument,
            "left": plain(found.left),
            "right": plain(found.right),
            "instance": [plain(dataset) for dataset in found.instance],
            "checks": list(found.checks),
        },
        "tried": list(direction.tried),
    }


# --- plugins -------------------------------------------------------------------------------------


def plugins(found: Plugins) -> JsonData:
    """The installed plugins, and all their faults."""
    return {
        "plugins": [
            {
                **_provenance(info.provenance),
                "status": info.status,
                "errors": [fault for failed in info.faults() for fault in errors(failed)],
                "registers": registered(info.entries),
            }
            for info in found.infos
        ],
        "ambiguous": [fault for duplicate in found.registry.duplicates() for fault in errors(duplicate)],
    }


def registered(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """Names by kind."""
    names: dict[str, list[str]] = {}
    for entry in entries:
        names.setdefault(entry.kind, []).append(entry.name)
    return names


def _provenance(origin: Provenance) -> dict[str, str]:
    return {"plugin": origin.plugin, "distribution": origin.distribution, "version": origin.version}
