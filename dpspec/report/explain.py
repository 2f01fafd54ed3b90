"""Explanations of names: registered names, error codes, terms of the field, files."""

from __future__ import annotations

import inspect
import itertools
import re
import sys
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from dpspec.base.errors import UnknownNameError, error_classes, harmless
from dpspec.base.exact import Bracket, number
from dpspec.base.params import did_you_mean, parameters
from dpspec.base.types import JsonData
from dpspec.blocks.units import longer_units, most_within, read_unit, unit_names
from dpspec.extension import KINDS, Entry, Registry
from dpspec.extension.hooks import singular
from dpspec.grammar.plugin_calls import guarded
from dpspec.reason.conversions import paths, registered
from dpspec.reason.rules import promise_for
from dpspec.reason.search import ARGUMENTS
from dpspec.report import sources, terminal
from dpspec.report.examples import Examples
from dpspec.report.json import bracket, facts, plain
from dpspec.report.page import PageParts, Verbatim
from dpspec.report.risk import numbers_data, numbers_parts
from dpspec.report.terminal import (
    FAINT,
    at_least_in_words,
    at_most_in_words,
    blocks_in_words,
    budget_in_words,
    number_in_words,
    pair_in_words,
    thing_in_words,
    value_in_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from dpspec.comparison.converse import TwoReleases, WithoutInvariant
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.risks import RiskNumbers
    from dpspec.specfile.document import Expectation, PromisedBeside, SpecDocument
    from dpspec.verifier.standing import Standing

_ARGUMENT = re.compile(r"^\s*([a-z_]+(?:, [a-z_]+)*):\s*(.*)$")
_SECTIONS = ("Args:", "Raises:", "Returns:")


def explain(name: str, registry: Registry) -> list[JsonData]:
    """Everything that goes by a name, whatever its kind; error codes and words of the field too.

    Words, and names where nothing has exactly that name, are found without regard to case, hyphens and accents.

    Raises:
        UnknownNameError: nothing does, with what is spelt alike; exit code 4 when a failed plugin may be the reason.
    """
    found = words_of(name)
    found += [_entry(entry, registry) for entry in registry if name in (entry.name, entry.qualified_name)]
    for cls in error_classes():
        if cls.code == name:
            meaning = f"{prose(cls)}\n\nExit code {cls.exit_code}."
            where = f"{cls.__module__}.{cls.__qualname__}"
            found.append({**NOTHING_ELSE, "name": name, "kind": "error code", "definition": meaning, "class": where})
    if name in ARGUMENTS:  # an argument of comparisons is no registered rule
        where = "dpspec.reason.small_spaces"
        found.append({**NOTHING_ELSE, "name": name, "kind": "rule", "definition": ARGUMENTS[name], "class": where})
    found = found or list(_unit(name))  # last, since a unit is made of common words
    if found:
        return found
    known = {entry.name for entry in registry} | {cls.code for cls in error_classes()} | set(ARGUMENTS)
    alike = next((one for one in sorted(known) if folded(one) == folded(name)), None)
    if alike is not None:
        return explain(alike, registry)
    further = {word["name"] for word in glossary()} | {source.key for source in sources.sources()}
    kinds = f"kinds are {', '.join(kind.replace('_', ' ') for kind in KINDS)}; see `dpspec plugins`"
    advice = did_you_mean(name, known | further) or kinds
    rule = "is nothing registered, no error code, no word of the field and no source"
    error = UnknownNameError("name", rule, advice, value=name)
    if registry.failed:  # the name may be one of a plugin that could not be loaded
        error.exit_code = 4  # type: ignore[misc]
    raise error


def meaning(name: str, registry: Registry) -> JsonData:
    """The meanings of a name: `meanings`, all objects of this name, or else the `source` that is cited so.

    Raises:
        UnknownNameError: as `explain`; and where several sources are meant.
    """
    try:
        return {"meanings": explain(name, registry)}
    except UnknownNameError:
        source = sources.named(name)
        if source is None:
            raise
    return {"source": sources.source_data(source, registry)}


def meaning_parts(data: JsonData) -> PageParts:
    """The same as text."""
    return sources.source_parts(data["source"]) if "source" in data else named_parts(data["meanings"])


# --- words of the field ---------------------------------------------------------------------------


GLOSSARY = "glossary.toml"

NOTHING_ELSE: JsonData = {
    "parameters": [], "also": [], "in_dpspec": None, "example": None, "command": None,
    "plugin": None, "distribution": None, "version": None, "class": None,
}  # fmt: skip
"""The fields of an explanation other than name, kind and definition, all empty."""


@cache
def glossary() -> tuple[JsonData, ...]:
    """The words of the field, as the package's glossary has them."""
    text = resources.files("dpspec.report").joinpath(GLOSSARY).read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["word"])


@lru_cache(maxsize=1 << 12)
def folded(name: str) -> str:
    """A name without what one may leave out or write otherwise: case, hyphens, blanks, brackets, accents.

    >>> folded("R\u00e9nyi-DP") == folded("renyi dp")
    True
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def words_of(name: str) -> list[JsonData]:
    """The glossary entry of a term or of another way to write it."""
    wanted = folded(name)
    words = [word for word in glossary() if wanted and wanted in map(folded, (word["name"], *word.get("also", ())))]
    return [{**NOTHING_ELSE, "kind": "word", **word} for word in words]


# --- registered names -----------------------------------------------------------------------------


AS_IN = re.compile(r"(?P<before>.*?)[,:;]?\s*\bas in `(?P<name>[\w-]+)`(?P<after>.*)", re.DOTALL)
"""A parameter that is described elsewhere, such as ``the policy, as in `Policy`.``"""


def described_parameters(cls: type, registry: Registry) -> dict[str, str]:
    """The meaning of each parameter of a class, by the docstrings of the class and of its bases.

    Where it is said to be *as in* another class, the words of that class take the place of the reference.
    """
    described: dict[str, str] = {}
    for base in cls.__mro__:
        described = {**_docstring(base)[1], **described}
    return {name: _resolved(name, text, cls, registry) for name, text in described.items()}


def _resolved(name: str, text: str, cls: type, registry: Registry, seen: tuple[type, ...] = ()) -> str:
    match = AS_IN.fullmatch(text)
    other = None if match is None else _referred(match["name"], cls, registry)
    if match is None or other is None or other in seen:
        return text
    there = _docstring(other)[1].get(name)
    if there is None:
        return text
    words = _resolved(name, there, other, registry, (*seen, cls))
    before, after = match["before"].strip(), match["after"].strip()
    if after.strip("."):  # the reference is followed by further text
        words = words.removesuffix(".") + (after if after[0] in ",;:." else f" {after}")
    return f"{before}: {words}" if before else words


def _referred(name: str, cls: type, registry: Registry) -> type | None:
    """The class that a docstring refers to by its own name or by its registered one."""
    beside = vars(sys.modules[cls.__module__]).get(name)
    known = (*(base for base in cls.__mro__ if base.__name__ == name), beside)
    registered = (entry.cls for entry in registry if entry.fault is None and name in (entry.name, entry.cls.__name__))
    return next((found for found in itertools.chain(known, registered) if isinstance(found, type)), None)


def _entry(entry: Entry, registry: Registry) -> JsonData:
    text = prose(entry.cls)
    described = described_parameters(entry.cls, registry)
    examples = Examples(registry=registry)
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
            for p in parameters(entry.cls)
        ],
        "also": [],
        "in_dpspec": None,
        "example": examples.toml(entry),
        "command": examples.command(entry),
        "plugin": entry.provenance.plugin,
        "distribution": entry.provenance.distribution,
        "version": entry.provenance.version,
        "class": f"{entry.cls.__module__}.{entry.cls.__qualname__}",
    }


def _unit(name: str) -> Iterator[JsonData]:
    """The components of a unit of the vocabulary, and how many of it longer periods contain."""
    words = read_unit(name)
    if words.unknown:
        return
    alike = sorted(word for word, first in unit_names().items() if words.parts == (first,) and word != name)
    period = "" if words.time is None else f", in {'one' if words.times == 1 else words.times} {words.time}"
    longer = [f"one {unit} holds at most {most_within(name, unit)}" for unit in longer_units(name)]
    text = f"A unit that promises are made for: what belongs to one {' and one '.join(words.parts)}{period}."
    text += f" Of it, {'; '.join(longer)}." if longer else ""
    yield {**NOTHING_ELSE, "name": str(words), "kind": "unit", "definition": text, "also": alike, "class": "dpspec.blocks.units"}


def _docstring(cls: type | Callable[..., Any]) -> tuple[str, dict[str, str]]:
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
    text = ""  # paragraphs on one line each; indented lines and lists stay as they are
    for line in prose:
        starts = not line or line.startswith((" ", "*", "-")) or text.endswith("\n")
        text += ("\n" if starts and text else "" if not text else " ") + line + ("" if line else "\n")
    return re.sub(r"\n{3,}", "\n\n", text).strip(), described


def prose(cls: type) -> str:
    """The docstring of a class without its `Args:` and examples."""
    return _docstring(cls)[0]


def named_parts(found: list[JsonData]) -> PageParts:
    """The definitions as text."""
    parts: list[RenderableType] = []
    for data in found:
        origin = f", from {data['distribution']} {data['version']}" if data["distribution"] else ", from dpspec"
        kind = "word of the field" if data["kind"] == "word" else f"{data['kind']}{origin}"
        parts += [Text.assemble((data["name"], "bold"), f"  {kind}"), "", data["definition"], ""]
        if data["in_dpspec"]:
            parts += [Text.assemble(("In dpspec: ", "bold"), data["in_dpspec"]), ""]
        if data["parameters"]:
            table = Table.grid(padding=(0, 2, 0, 0))
            table.add_column(no_wrap=True)
            table.add_column(overflow="fold")
            table.add_column(overflow="fold", style=FAINT)
            for row in data["parameters"]:
                default = "required" if row["required"] else f"default {row['default'] or 'none'}"
                table.add_row(row["name"], row["meaning"], f"{row['domain']}; {default}")
            parts += [table, ""]
        if data["example"]:
            parts += [Text("In a file:", "bold"), "", Verbatim(text=data["example"], language="toml", indent=0), ""]
        if data["command"]:
            parts += [Text.assemble(("Try: ", "bold"), data["command"]), ""]
        if data["also"]:
            parts += [Text(f"also: {', '.join(data['also'])}", FAINT), ""]
        parts += [Text(f"class {data['class']}", FAINT), ""] if data["class"] else []
    return parts


# --- a file --------------------------------------------------------------------------------------


def file_data(found: SpecDocument, registry: Registry, standing: Standing, risk: RiskNumbers | None = None) -> JsonData:
    """A specification file in words; printed numbers with every registered formula that gives them.

    Args:
        found: the file.
        registry: where formulas are looked up.
        standing: the claim status.
        risk: what the promise and the mechanism mean to an attacker; None where that is not computed.
    """
    claim, own = found.claim, found.spec.input_divergence.counted_unit()
    over_longer_times = [(unit, promise_for(found.spec, unit)) for unit in (() if own is None else longer_units(own))]
    return {
        "id": found.id,
        "title": found.title,
        "path": found.path,
        "blocks": blocks_in_words(found.spec),
        "promise": promise(found),
        "other_units": [
            {
                "unit": unit,
                "most": implied.most,
                "budget": None if implied.budget is None else budget_in_words(implied.budget),
                "reason": implied.reason,
            }
            for unit, implied in over_longer_times
        ],
        "parts": [{"title": str(part), "blocks": blocks_in_words(part.spec), "promise": promise(part)} for part in found.parts],
        "mechanism": None if (run := found.mechanism or found.secret) is None else thing_in_words(run),
        "claim": None if claim is None else {"verdict": claim.verdict, "because": claim.because, "source": claim.source},
        "standing": terminal.standing_data(standing),
        "counterexamples": [
            {"title": fails.title, "because": fails.because, "mechanism": thing_in_words(fails.mechanism)}
            for fails in found.counterexamples
        ],
        "miniatures": [miniature.title for miniature in found.miniatures],
        "numbers": list(_numbers(found, registry)),
        "risk": None if risk is None else numbers_data(risk),
        "source": dict(found.source),
        **facts(found),
    }


def promise(found: SpecDocument | PromisedBeside) -> str:
    """The sentence that the five blocks make."""
    return promise_of(found.spec)


def promise_of(spec: PrivacySpec) -> str:
    """The sentence that five blocks make: what is promised, which may be false."""
    agree = "" if spec.multiverse.induced_by() == () else " of one universe"
    things = "distributions of the data" if spec.space.holds_laws else "datasets"
    per, standard = thing_in_words(spec.input_divergence), thing_in_words(spec.output_divergence)
    value = spec.budget.uniform()
    if spec.budget.unpublished() is not None:
        limit = "a number that is not published"
    elif value is None:
        limit = f"the budget of their universe ({thing_in_words(spec.budget)})"
    else:
        limit = at_most_in_words(spec.output_divergence.lipschitz(spec.budget.parameter, value)).removeprefix("at most ")
    return (
        f"The promise is that for any two {things}{agree} the laws of the release are no further apart than {limit} times the "
        f"distance of the {things}. One change, at distance 1: {per}. The standard is {standard}. "
        f"The budget is written as {budget_in_words(spec.budget)}."
    )


def _numbers(found: SpecDocument, registry: Registry) -> Iterator[JsonData]:
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


def _formulas(expectation: Expectation, spec: PrivacySpec, registry: Registry) -> Iterator[JsonData]:
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


def file_parts(data: JsonData, found: SpecDocument, risk: RiskNumbers) -> PageParts:
    """A specification file in words, as text."""
    title = harmless(f"  {data['title']}", keep="")
    parts: list[RenderableType] = [Text.assemble((data["id"], "bold"), title), ""]
    if data["deployment"]:
        given = data["deployment"]
        rows = terminal.grid(style=FAINT)
        first = {"publisher": ", ".join(given["publisher"]), "published": given["published"] or given["year"]}
        unit_words = {f"a {unit} here is": words for unit, words in given["units"].items()}
        for key, value in {**given, **first, "year": None, "units": None, **unit_words, "prose": None, **given["prose"]}.items():
            if value is not None:
                rows.add_row(key, str(value))
        parts += [rows, ""]
    parts += [_blocks_table(data), "", data["promise"]]
    for one in data["other_units"]:
        parts.append(f"For {one['unit']}: {one['budget'] or 'no promise'} ({one['reason']}).")
    for one in data["parts"]:
        parts += ["", Text.assemble(("and ", "bold"), one["title"]), "", one["promise"]]
    if data["numbers"]:
        parts += ["", Text("Printed numbers, and the routes that recompute them", "bold"), _number_table(data["numbers"])]
    numbers = numbers_parts(risk, found.spec, with_own=found.mechanism is not None)
    parts += ["", *numbers] if numbers else []
    parts += ["These numbers are about the first promise alone."] if numbers and data["parts"] else []
    where = Table.grid(padding=(0, 2, 0, 0))
    for key, text in data["source"].items():
        where.add_row(Text(key, FAINT), text)
    for one in data["sources"]:
        where.add_row(Text(one["id"] or "source", FAINT), one["text"] + (f" ({one['licence']})" if one["licence"] else ""))
    return [*parts, "", where] if where.row_count else parts


def without_data(found: WithoutInvariant, document: SpecDocument) -> JsonData:
    """The remaining promise without one of its invariants."""
    return {
        "id": document.id,
        "invariant": str(found.dropped),
        "answer": found.answer.value,
        "reason": found.reason,
        "published": None if found.published is None else _two_releases(found.published),
        "own": None if found.own is None else _two_releases(found.own),
    }


def _two_releases(found: TwoReleases) -> JsonData:
    return {
        "release": found.of,
        "left": plain(found.left),
        "right": plain(found.right),
        "distance": str(found.distance),
        "budget": str(found.budget),
    }


def without_parts(found: WithoutInvariant, document: SpecDocument) -> PageParts:
    """The same as text: the answer first, then the two datasets."""
    answer = found.answer.words
    if found.published is not None and found.is_bounded:
        answer += f" {at_least_in_words(found.published.budget)} (Lipschitz constant)"
    parts: list[RenderableType] = [
        Text.assemble((f"Without {found.dropped}: {answer}", "bold")),
        f"{document.id}: {found.reason}.",
    ]
    for one in (found.published, found.own):
        if one is None:
            continue
        rows = Table.grid(padding=(0, 2, 0, 0))
        left, right = pair_in_words(one.left, one.right, one.spec.space)
        rows.add_row(Text("release", FAINT), one.of)
        rows.add_row(Text("on the pair", FAINT), f"x  = {left}")
        rows.add_row("", f"x' = {right}")
        least = f"a Lipschitz constant of at least {at_least_in_words(one.budget)}"
        needs = "no finite budget" if one.budget.is_infinite else least
        rows.add_row(Text("needs", FAINT), f"{needs}; d_X = {number_in_words(one.distance)}, and all other invariants agree")
        parts += ["", rows]
    if found.published is not None and found.own is None and document.mechanism is not None:
        note = "On such a pair the laws of the file's mechanism are not computed; that it publishes the invariant is as stated."
        parts += ["", note]
    parts += ["", Text("Bailie, Gong and Meng 2023, theorem on the universes of invariants", FAINT)]
    return parts


def _blocks_table(data: JsonData) -> Table:
    """The blocks, the mechanism, the recorded claim and its status, and the provenance of each block."""
    blocks = terminal.grid(style=FAINT)
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
    for one in data["provenance"]:
        blocks.add_row("provenance", one["text"])
    for one in data["unaccounted"]:
        blocks.add_row("not covered", f"{one['step']}: {one['effect']}")
    return blocks


def _digits(exact: str) -> str:
    return number(exact).decimal(6)


def _number_table(numbers: list[JsonData]) -> Table:
    """Each printed number with the formulas that give it, or that none does; and the best one, where that gives another."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for style in ("", "", "", FAINT, FAINT):
        table.add_column(style=style, overflow="fold")
    table.add_row(*(Text(word, FAINT) for word in ("what", "printed", "recomputed", "within", "given by")))
    for row in numbers:
        simple = [formula for formula in row["formulas"] if not formula["needs"] and len(formula["rules"]) == 1]
        given = [formula["rules"][0] for formula in simple if formula["reproduced"]] if simple else []
        if not simple and row["reproduced"]:
            given = [row["route"]]
        by = " and ".join(given) or f"no known formula, not even {row['route']}"
        if simple and not simple[0]["reproduced"]:  # the best one is first
            by += f"; the best, {simple[0]['rules'][0]}, gives {_digits(simple[0]['value']['upper'])}"
        printed = f"{row['parameter']} {number_in_words(number(row['printed']))}"
        table.add_row(row["what"], printed, _digits(row["recomputed"]["lower"]), _digits(row["tolerance"]), by)
    return table
