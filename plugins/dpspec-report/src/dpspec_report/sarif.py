"""Results of `check`, `lint`, `verify` and `diff` as SARIF 2.1.0 (OASIS 2020): what code review shows at the line of a file.

    results      one for everything that is not well: a fault, a finding, a claim or number that does not hold, or is not known to
    level        error: invalid, refuted, missed, broken; warning: undecided, unchecked; note: known, and for what it is
    region       the line of the TOML file

It is derived from the JSON of a command, so that nothing is verified a second time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpspec import DpspecError
from dpspec.plugin import errors, linter
from dpspec.plugin.applications import FilePositions, JsonData, Word, harmless, load_text, parse

SARIF = "2.1.0"
SCHEMA_OF_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {Word.MINIATURE: "note", Word.RECORDED: "note", Word.UNCHECKED: "warning", Word.UNDECIDED: "warning"}
_WORDS = {word.word: word for word in Word}
_ROWS = {
    "claim on miniature": ("miniature", "title"), "counterexample": ("counterexample", "title"), "number": ("expect", "what"),
    "part": ("part", "title"), "unaccounted": ("unaccounted", "step"),
}  # fmt: skip
"""The location of an obligation in its file, by the beginning of its name: an array of tables, and the key of its name."""


def sarif(documents: Sequence[JsonData]) -> JsonData:
    """One SARIF log with a run for each document.

    Args:
        documents: what `check`, `lint` or `verify` print with ``--format json``, or the document of an error. Another command
            gives its findings in the form of those of `lint`, and in ``rules`` what each of its codes means.

    >>> log = sarif([{"command": "check", "exit_code": 0, "files": [{"path": "a.dpspec.toml", "outcome": "valid"}]}])
    >>> log["version"], log["runs"][0]["results"]
    ('2.1.0', [])
    """
    runs = []
    for document in documents:
        results = list(_results(document))
        ids = sorted({result["ruleId"] for result in results})
        for result in results:
            result["ruleIndex"] = ids.index(result["ruleId"])
        rules = [_rule(name, document.get("rules", {})) for name in ids]
        failed = [_notification(error) for error in document.get("errors", ())]
        invocation = {"executionSuccessful": not failed, "exitCode": document["exit_code"]}
        runs.append({
            "tool": {"driver": {"name": "dpspec", "semanticVersion": version("dpspec"), "rules": rules}},
            "automationDetails": {"id": f"dpspec/{document['command']}/"},
            "columnKind": "unicodeCodePoints",
            "invocations": [{**invocation, "toolExecutionNotifications": failed} if failed else invocation],
            "results": results,
        })
    return {"$schema": SCHEMA_OF_SARIF, "version": SARIF, "runs": runs}


def _results(document: JsonData) -> Iterator[JsonData]:
    for finding in document.get("findings", ()):
        if finding["explained"] is None:
            message = f"{finding['message']}; {finding['advice']}" if finding["advice"] else finding["message"]
            level = "error" if finding["severity"] == "error" else "warning"
            yield _result(f"{document['command']}/{finding['code']}", level, message, finding["file"], finding["line"])
    found = {finding["file"] for finding in document.get("findings", ())}
    for file in document.get("files", ()):
        if not isinstance(file, Mapping):  # `lint` lists paths alone
            continue
        if "file" not in file:
            yield from _of_file(file)
            continue
        word = _WORDS[file["word"]]  # compared with a lock, and as it was locked: it may be false all the same
        if not word.is_good and file["file"] not in found:
            message = f"{word.sentence}; scope: {file['scope']}"
            yield _result(f"verify/{word.word}", _LEVELS.get(word, "error"), message, file["file"], 1)


def _of_file(file: Mapping[str, Any]) -> Iterator[JsonData]:
    for error in file.get("errors", ()):
        level = _LEVELS.get(_WORDS[file["outcome"]], "error")
        yield _result(f"file/{error['code']}", level, error["message"], error["file"] or file["path"], error["line"] or 1)
    faulty = [one for one in file.get("obligations", ()) if not _WORDS[one["outcome"]].is_good]
    lines = _lines(file["path"], [one["name"] for one in faulty]) if faulty else []
    for obligation, line in zip(faulty, lines, strict=True):
        word = _WORDS[obligation["outcome"]]
        message = f"{obligation['name']}: {obligation['detail']}"
        yield _result(f"verify/{word.word}", _LEVELS.get(word, "error"), message, file["path"], line)


def _lines(path: str, names: Sequence[str]) -> list[int]:
    """The line of each obligation in its file; 1 where the file is no longer what it was."""
    try:
        text = load_text(Path(path))
        data = parse(text)
    except DpspecError:
        return [1] * len(names)
    positions = FilePositions.of(text, data)
    met: Counter[str] = Counter()
    found = []
    for name in names:
        plain = re.sub(r" \([0-9]+\)$", "", name)  # of two with one title the second has a number, or the same name
        found.append(positions.nearest(_path(name, data, met[plain]) or _path(plain, data, met[plain])))
        met[plain] += 1
    return found


def _path(name: str, data: Mapping[str, Any], nth: int) -> str:
    """The location of an obligation: the n-th of its name; "" where none has it."""
    kind, _, called = name.partition(": ")
    if kind in _ROWS:
        array, key = _ROWS[kind]
        same = [place for place, row in enumerate(data.get(array, ())) if row.get(key) == called]
        return f"{array}[{same[min(nth, len(same) - 1)]}]" if same else ""
    return next((table for table in ("claim", "mechanism", "budget") if table in data), "")


def _result(rule: str, level: str, message: str, file: str, line: int) -> JsonData:
    place = {"artifactLocation": _artifact(file), "region": {"startLine": max(int(line), 1)}}  # SARIF counts from 1
    return {"ruleId": rule, "level": level, "message": {"text": harmless(message)}, "locations": [{"physicalLocation": place}]}


def _artifact(file: str) -> JsonData:
    """A file as a URI: relative to the root of the sources, unless its path is absolute."""
    path = Path(file)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix()), "uriBaseId": "%SRCROOT%"}


def _notification(error: Mapping[str, Any]) -> JsonData:
    result: JsonData = {"level": "error", "message": {"text": harmless(error["message"])}, "descriptor": {"id": error["code"]}}
    if error.get("file"):
        place = {"artifactLocation": _artifact(error["file"]), "region": {"startLine": error["line"] or 1}}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _rule(name: str, texts: Mapping[str, str]) -> JsonData:
    kind, _, code = name.partition("/")
    if name in texts:
        text = texts[name]
    elif kind == "verify":
        text = f"{_WORDS[code].label}: {_WORDS[code].sentence}"
    else:
        look = next((one.look for one in linter.declared_findings() if kind == "lint" and one.code == code), None)
        text = _error_text(code) if look is None else _first_line(look.__doc__)
    more = f"\nMore: dpspec explain {code}" if kind == "file" else ""
    return {"id": name, "shortDescription": {"text": text}, "help": {"text": text + more}}


def _error_text(code: str) -> str:
    found = next((cls for cls in errors.error_classes() if vars(cls).get("code") == code), None)
    return _first_line(found.__doc__) if found is not None else code


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


__all__ = ["SARIF", "sarif"]
