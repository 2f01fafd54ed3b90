"""What the GitHub Action runs: check, lint, verify and diff, told as annotations, as a summary in Markdown, and as SARIF.

It runs anywhere, with an installed dpspec:

    python packaging/action.py specs --accept recorded,miniature --summary summary.md --sarif dpspec.sarif

Exit code: the worst of all, as of `dpspec verify`; findings of the linter fail with --lint fail alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dpspec_report.sarif import sarif

from dpspec.base.words import worst_code

MARKS = {"error": "error", "warning": "warning", "note": "notice"}
WORST = {"error": "❌", "warning": "⚠️", "notice": "ℹ️"}


def main(arguments: Sequence[str]) -> int:
    """Run all, write what was asked for, and return the exit code."""
    options = _options(arguments)
    done = {"check": _run("check", options.paths), "lint": _run("lint", options.paths)}
    accept = ["--accept", options.accept] if options.accept else []
    if options.verify and not options.locked:
        done["verify"] = _run("verify", options.paths, *accept)
    if options.locked:
        done["verify-locked"] = _run("verify", options.paths, "--locked", *accept) | {"command": "verify-locked"}
    if options.diff:
        done["diff"] = _run("diff", [options.diff, *options.paths])
    log = once(sarif(list(done.values())))
    told = list(_annotations(log))
    print("\n".join(f"::{kind} {place}::{message}" for kind, place, message in told))  # noqa: T201 - what GitHub reads
    _append(options.summary, summary(done, log))
    if options.sarif:
        Path(options.sarif).write_text(json.dumps(log, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        _append(os.environ.get("GITHUB_OUTPUT"), f"sarif={options.sarif}\n")
    codes = {name: document["exit_code"] for name, document in done.items()}
    if options.lint != "fail" and codes["lint"] == 1:
        codes["lint"] = 0
    return worst_code(codes.values())


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    known = argparse.ArgumentParser(prog="action.py", description=__doc__.partition("\n")[0] if __doc__ else "")
    known.add_argument("paths", nargs="+", help="specification files, or folders of them")
    known.add_argument("--accept", default="", help="words that count as success: recorded, miniature, unchecked, undecided")
    known.add_argument("--lint", choices=["tell", "fail"], default="tell", help="whether a finding fails the job")
    known.add_argument("--no-verify", dest="verify", action="store_false", help="read the files alone, compute nothing")
    known.add_argument("--locked", action="store_true", help="compare with dpspec.lock in place of verifying every file")
    known.add_argument("--diff", default="", help="also compare the revisions of this range, such as origin/main...HEAD")
    known.add_argument("--summary", default=os.environ.get("GITHUB_STEP_SUMMARY"), help="append a summary to this file")
    known.add_argument("--sarif", help="write all results to this file")
    return known.parse_args(arguments)


def _run(command: str, paths: Sequence[str], *options: str) -> dict[str, Any]:
    """The JSON that a command prints."""
    called = [sys.executable, "-m", "dpspec", command, *options, "--format", "json", "--", *paths]
    done = subprocess.run(called, capture_output=True, encoding="utf-8", check=False)  # noqa: S603 - our own command
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        message = done.stderr.strip() or "printed nothing"
        document = {"errors": [{"code": "own-fault", "message": message}], "exit_code": done.returncode or 4}
    return {**document, "command": command}


def once(log: dict[str, Any]) -> dict[str, Any]:
    """The log with each result in one run only: a file that cannot be read is a fault to all three commands."""
    seen = set()
    for run in log["runs"]:
        kept = []
        for result in run["results"]:
            key = (result["ruleId"].partition("/")[2], json.dumps(result["locations"]))
            if key not in seen:
                kept.append(result)
            seen.add(key)
        run["results"] = kept
    return log


def _annotations(log: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The kind, the place and the text of each result, as workflow commands take them."""
    for run in log["runs"]:
        failed = run["invocations"][0].get("toolExecutionNotifications", ())
        for result in (*run["results"], *failed):
            place = ""
            for location in result.get("locations", ()):
                physical = location["physicalLocation"]
                place = f"file={_property(_path(physical['artifactLocation']))},line={physical['region']['startLine']}"
            title = result.get("ruleId") or result["descriptor"]["id"]
            yield MARKS[result["level"]], f"{place},title={_property(title)}".lstrip(","), _data(result["message"]["text"])


def _path(artifact: dict[str, str]) -> str:
    return unquote(urlsplit(artifact["uri"]).path)


def _data(text: str) -> str:
    """A text as the value of a workflow command: nothing in it begins another one."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(done: dict[str, dict[str, Any]], log: dict[str, Any]) -> str:
    """The summary of a job: a table of files, and what was found."""
    judged = done.get("verify", done["check"])
    lines = ["## Privacy specifications", ""]
    files = [file for file in judged.get("files", ()) if isinstance(file, dict)]
    if files:
        lines += ["| file | outcome | what was checked |", "|---|---|---|"]
        rows = ((_cell(file["path"]), file["outcome"], _cell(file.get("scope") or file.get("title") or "")) for file in files)
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
    told = list(_annotations(log))
    lines += [f"- {WORST[kind]} {_cell(_place(place))} {_cell(unquote(message))}" for kind, place, message in told[:100]]
    if len(told) > 100:
        lines.append(f"- {len(told) - 100:,} more, in the log of the job")
    if not told:
        lines.append("Nothing was found that is not well.")
    return "\n".join([*lines, "", ""])


def _place(text: str) -> str:
    """The file and the line of an annotation; its title where it has none."""
    named = dict(part.partition("=")[::2] for part in text.split(","))
    return f"{unquote(named['file'])}:{named['line']}:" if "file" in named else unquote(text)


def _cell(text: str) -> str:
    """A text inside Markdown: shown as it is, whatever stands in it."""
    return " ".join(text.split()).translate({ord(sign): f"&#{ord(sign)};" for sign in "\\`*_{}[]<>#|~&$"})


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
