"""What a name means: the definition, parameters and origin of anything registered, of an error code, of a file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec.compare import events, pairwise
from dpspec.compare.conversions import paths
from dpspec.compare.quantities import registered
from dpspec.errors import DpspecError, UnknownNameError
from dpspec.exact import Bracket, number
from dpspec.extension import KINDS, Entry, Registry
from dpspec.extension.registry import singular
from dpspec.harmless import harmless
from dpspec.params import did_you_mean, parameters
from dpspec.report import standing
from dpspec.report.json import bracket
from dpspec.report.terminal import FAINT, drawn
from dpspec.report.words import blocks_in_words, budget_in_words, number_in_words, thing_in_words, value_in_words
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import Expectation, SpecDocument
from dpspec.verify.exhaustive import guarded
from dpspec.verify.standing import Standing

Data = dict[str, Any]

_ARGUMENT = re.compile(r"^\s*([a-z_]+(?:, [a-z_]+)*):\s*(.*)$")
_SECTIONS = ("Args:", "Raises:", "Returns:")


def explain(name: str, registry: Registry) -> list[Data]:
    """Everything that goes by a name, whatever its kind; error codes too.

    Raises:
        UnknownNameError: nothing does, with what is spelt alike; exit code 4 when a failed plugin may be the reason.
    """
    found = [_entry(entry) for entry in registry if name in (entry.name, entry.qualified_name)]
    found += [_error(cls) for cls in error_classes() if cls.code == name]
    found += [_argument(module) for module in LAST_ARGUMENTS if name == module.RULE]
    if found:
        return found
    known = {entry.name for entry in registry} | {cls.code for cls in error_classes()} | {one.RULE for one in LAST_ARGUMENTS}
    error = UnknownNameError("name", "is nothing registered and no error code", did_you_mean(name, known) or _kinds(), value=name)
    if registry.failed:
        error.exit_code = 4  # type: ignore[misc]
    raise error


def _kinds() -> str:
    return f"kinds are {', '.join(kind.replace('_', ' ') for kind in KINDS)}; see `dpspec plugins`"


def error_classes(base: type[DpspecError] = DpspecError) -> list[type[DpspecError]]:
    """Every error class that is loaded, with its base first."""
    found = [base]
    for cls in base.__subclasses__():
        found += [deeper for deeper in error_classes(cls) if deeper not in found]
    return found


def _entry(entry: Entry) -> Data:
    text, described = _docstring(entry.cls)
    for base in entry.cls.__mro__[1:]:
        described = {**_docstring(base)[1], **described}
    declared = parameters(entry.cls)
    hypotheses = getattr(entry.cls, "hypotheses", {})
    if hypotheses:
        rows = "\n".join(f"- {name}: {statement}" for name, statement in hypotheses.items())
        text = f"{text}\n\nIt rests on:\n{rows}"
    return {
        "name": entry.name,
        "kind": singular(entry.kind),
        "definition": text,
        "parameters": [
            {
                "name": p.name,
                "domain": p.domain.describe(),
                "required": p.required,
                "default": None if p.required or p.default is None else value_in_words(p.default),
                "meaning": described.get(p.name, ""),
            }
            for p in declared
        ],
        "plugin": entry.provenance.plugin,
        "distribution": entry.provenance.distribution,
        "version": entry.provenance.version,
        "class": f"{entry.cls.__module__}.{entry.cls.__qualname__}",
    }


def _error(cls: type[DpspecError]) -> Data:
    text, _ = _docstring(cls)
    return {
        "name": cls.code, "kind": "error code", "definition": f"{text}\n\nExit code {cls.exit_code}.", "parameters": [],
        "plugin": None, "distribution": None, "version": None, "class": f"{cls.__module__}.{cls.__qualname__}",
    }  # fmt: skip


LAST_ARGUMENTS = pairwise, events
"""Arguments of a comparison that are no registered rules: they see the whole of two small specifications at once."""


def _argument(module: ModuleType) -> Data:
    return {
        "name": module.RULE, "kind": "rule", "definition": inspect.cleandoc(module.__doc__ or ""), "parameters": [],
        "plugin": None, "distribution": None, "version": None, "class": module.__name__,
    }  # fmt: skip


def _docstring(cls: type) -> tuple[str, dict[str, str]]:
    """The prose of a docstring, and its `Args:` by name; examples are left out."""
    prose: list[str] = []
    described: dict[str, str] = {}
    section, names = "", tuple[str, ...]()
    for line in inspect.cleandoc(cls.__doc__ or "").splitlines():
        if line.strip() in _SECTIONS:
            section = line.strip()
        elif line.startswith(">>>"):
            break
        elif section == "Args:" and (match := _ARGUMENT.match(line)):
            names = tuple(match[1].split(", "))
            described.update(dict.fromkeys(names, match[2]))
        elif section == "Args:" and line.startswith(" " * 8):
            described.update({name: f"{described[name]} {line.strip()}" for name in names})
        elif line and not line.startswith(" "):
            section = ""
        if not section:
            prose.append(line)
    return _reflowed(prose), described


def _reflowed(lines: list[str]) -> str:
    """Paragraphs on one line each; indented lines and lists stay as they are."""
    text = ""
    for line in lines:
        starts = not line or line.startswith((" ", "*", "-")) or text.endswith("\n")
        text += ("\n" if starts and text else "" if not text else " ") + line + ("" if line else "\n")
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def named_text(found: list[Data]) -> str:
    """The definitions as text."""
    parts: list[RenderableType] = []
    for data in found:
        origin = f"{data['distribution']} {data['version']}" if data["distribution"] else "dpspec"
        parts += [Text.assemble((data["name"], "bold"), f"  {data['kind']}, from {origin}"), "", data["definition"], ""]
        if data["parameters"]:
            parts += [_parameters(data["parameters"]), ""]
        parts += [Text(f"class {data['class']}", FAINT), ""]
    return drawn(*parts).rstrip()


def _parameters(rows: list[Data]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", style=FAINT)
    for row in rows:
        default = "required" if row["required"] else f"default {row['default'] or 'none'}"
        table.add_row(row["name"], row["meaning"], f"{row['domain']}; {default}")
    return table


# --- a file --------------------------------------------------------------------------------------


def document(found: SpecDocument, registry: Registry, stands: Standing) -> Data:
    """A specification file in words; printed numbers with every registered formula that gives them."""
    claim = found.claim
    return {
        "id": found.id,
        "title": found.title,
        "path": found.path,
        "blocks": blocks_in_words(found.spec),
        "promise": promise(found),
        "mechanism": None if found.mechanism is None else thing_in_words(found.mechanism),
        "claim": None if claim is None else {"verdict": claim.verdict, "because": claim.because, "source": claim.source},
        "standing": standing.data(stands),
        "counterexamples": [
            {"title": fails.title, "because": fails.because, "mechanism": thing_in_words(fails.mechanism)}
            for fails in found.counterexamples
        ],
        "miniatures": [miniature.title for miniature in found.miniatures],
        "numbers": list(_numbers(found, registry)),
        "source": dict(found.source),
    }


def promise(found: SpecDocument) -> str:
    """The sentence that the five blocks make."""
    spec = found.spec
    agree = "" if spec.multiverse.invariants == () else " of one universe"
    per, standard = thing_in_words(spec.input_divergence), thing_in_words(spec.output_divergence)
    value = spec.budget.uniform()
    if value is None:
        limit = f"the budget of their universe ({thing_in_words(spec.budget)})"
    else:
        limit = number_in_words(spec.output_divergence.lipschitz(spec.budget.parameter, value))
    return (
        f"For any two datasets{agree}, the laws of the release are no further apart than {limit} times the distance of the "
        f"datasets; distance is {per}, and laws are measured by {standard}. "
        f"The budget is written as {budget_in_words(spec.budget)}."
    )


def _numbers(found: SpecDocument, registry: Registry) -> Iterator[Data]:
    for expectation in found.expectations:
        value: Bracket = guarded(expectation.route.name, partial(expectation.value, found.spec))
        yield {
            "what": expectation.what,
            "parameter": expectation.parameter,
            "printed": str(expectation.printed),
            "recomputed": bracket(value),
            "tolerance": str(expectation.tolerance),
            "because": expectation.because,
            "route": expectation.route.name,
            "reproduced": expectation.is_near(expectation.printed, value),
            "formulas": list(_formulas(expectation, found.spec, registry)),
        }


def _formulas(expectation: Expectation, spec: PrivacySpec, registry: Registry) -> Iterator[Data]:
    """Every formula that answers the same question as the route, with its number, and whether that is the printed one."""
    question = expectation.route.question(spec)
    if question is None:
        return
    for path in paths(registered(registry), question.source, question.value, question.goal):
        yield {
            "rules": list(path.names),
            "value": bracket(path.value),
            "tight": path.tight,
            "needs": [known.needs for known in path.known],
            "reproduced": expectation.is_near(expectation.printed, path.value),
        }


def document_text(data: Data) -> str:
    """A specification file in words, as text."""
    blocks = Table.grid(padding=(0, 2, 0, 0))
    blocks.add_column(no_wrap=True, style=FAINT)
    blocks.add_column(overflow="fold")
    for block, lines in data["blocks"].items():
        blocks.add_row(block, "\n".join(lines))
    if data["mechanism"]:
        blocks.add_row("mechanism", data["mechanism"])
    if data["claim"]:
        source = f" ({data['claim']['source']})" if data["claim"]["source"] else ""
        blocks.add_row("claim", f"filed as {data['claim']['verdict']}: {data['claim']['because']}{source}")
    blocks.add_row("standing", data["standing"]["sentence"])
    for fails in data["counterexamples"]:
        blocks.add_row("fails", f"{fails['title']}, {fails['mechanism']}: {fails['because']}")
    for title in data["miniatures"]:
        blocks.add_row("miniature", title)
    title = harmless(f"  {data['title']}", keep="")
    parts: list[RenderableType] = [Text.assemble((data["id"], "bold"), title), "", blocks, "", data["promise"]]
    if data["numbers"]:
        parts += ["", Text("Printed numbers, and the routes that recompute them", "bold"), _number_table(data["numbers"])]
    if data["source"]:
        where = Table.grid(padding=(0, 2, 0, 0))
        for key, text in data["source"].items():
            where.add_row(Text(key, FAINT), text)
        parts += ["", where]
    return drawn(*parts)


def _digits(exact: str) -> str:
    return number(exact).decimal(6)


def _number_table(numbers: list[Data]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for style in ("", "", "", FAINT, FAINT):
        table.add_column(style=style, overflow="fold")
    table.add_row(*(Text(word, FAINT) for word in ("what", "printed", "recomputed", "within", "given by")))
    for row in numbers:
        printed = f"{row['parameter']} {number_in_words(number(row['printed']))}"
        table.add_row(row["what"], printed, _digits(row["recomputed"]["lower"]), _digits(row["tolerance"]), _given_by(row))
    return table


def _given_by(row: Data) -> str:
    """The formulas that give the printed number, or that none does; and the best one, where that gives another."""
    simple = [formula for formula in row["formulas"] if not formula["needs"] and len(formula["rules"]) == 1]
    given = [formula["rules"][0] for formula in simple if formula["reproduced"]] if simple else []
    if not simple and row["reproduced"]:
        given = [row["route"]]
    text = " and ".join(given) or f"no known formula, not even {row['route']}"
    if simple and not simple[0]["reproduced"]:
        text += f"; the best, {simple[0]['rules'][0]}, gives {_digits(simple[0]['value']['upper'])}"
    return text
