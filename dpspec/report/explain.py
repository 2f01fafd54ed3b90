"""What a name means: anything registered, an error code, a word of the field, a file; and what a file promises to two audiences.

The audiences are the people in the data, and those who must judge it (Kazan 2025).
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any

import attrs
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import DpspecError, NotReachedError, UnknownNameError, harmless
from dpspec.base.exact import Bracket, Number, number
from dpspec.base.params import did_you_mean, parameters
from dpspec.base.types import JsonData
from dpspec.extension import KINDS, Entry, Registry
from dpspec.extension.hooks import singular
from dpspec.reason.conversions import paths, registered
from dpspec.reason.small_spaces import ARGUMENTS
from dpspec.report import sources, terminal
from dpspec.report.examples import Examples
from dpspec.report.json import bracket
from dpspec.report.terminal import FAINT, blocks_in_words, budget_in_words, drawn, number_in_words, thing_in_words, value_in_words
from dpspec.risks.allowed import allowed_excess, allowed_power
from dpspec.risks.candidates import Candidates, candidates_within
from dpspec.verifier.exhaustive import guarded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import Expectation, SpecDocument
    from dpspec.verifier.document import Standing

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
    found += [_error(cls) for cls in error_classes() if cls.code == name]
    found += [_argument(name)] if name in ARGUMENTS else []
    if found:
        return found
    known = {entry.name for entry in registry} | {cls.code for cls in error_classes()} | set(ARGUMENTS)
    alike = next((one for one in sorted(known) if folded(one) == folded(name)), None)
    if alike is not None:
        return explain(alike, registry)
    further = {word["name"] for word in glossary()} | {source.key for source in sources.sources()}
    advice = did_you_mean(name, known | further) or _kinds()
    rule = "is nothing registered, no error code, no word of the field and no source"
    error = UnknownNameError("name", rule, advice, value=name)
    if registry.failed:
        error.exit_code = 4  # type: ignore[misc]
    raise error


def meaning(name: str, registry: Registry) -> JsonData:
    """What a name means: `meanings`, everything that goes by it, or else the `source` that is cited so.

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


def meaning_text(data: JsonData) -> str:
    """The same as text."""
    return sources.source_text(data["source"]) if "source" in data else named_text(data["meanings"])


def _kinds() -> str:
    return f"kinds are {', '.join(kind.replace('_', ' ') for kind in KINDS)}; see `dpspec plugins`"


def error_classes(base: type[DpspecError] = DpspecError) -> list[type[DpspecError]]:
    """Every error class that is loaded, with its base first."""
    found = [base]
    for cls in base.__subclasses__():
        found += [deeper for deeper in error_classes(cls) if deeper not in found]
    return found


# --- words of the field ---------------------------------------------------------------------------


GLOSSARY = "glossary.toml"

NOTHING_ELSE: JsonData = {
    "parameters": [], "also": [], "in_dpspec": None, "example": None, "command": None,
    "plugin": None, "distribution": None, "version": None, "class": None,
}  # fmt: skip
"""A meaning without anything besides its name, kind and definition."""


@cache
def glossary() -> tuple[JsonData, ...]:
    """The words of the field, as the package's glossary has them."""
    text = resources.files("dpspec.report").joinpath(GLOSSARY).read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["word"])


def folded(name: str) -> str:
    """A name without what one may leave out or write otherwise: case, hyphens, blanks, brackets, accents.

    >>> folded("R\u00e9nyi-DP") == folded("renyi dp")
    True
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def words_of(name: str) -> list[JsonData]:
    """What the glossary says of a word or of another way to write it."""
    wanted = folded(name)
    return [_word(word) for word in glossary() if wanted and wanted in map(folded, (word["name"], *word.get("also", ())))]


def _word(word: JsonData) -> JsonData:
    return {**NOTHING_ELSE, "kind": "word", **word}


# --- registered names -----------------------------------------------------------------------------


AS_IN = re.compile(r"(?P<before>.*?)[,:;]?\s*\bas in `(?P<name>[\w-]+)`(?P<after>.*)", re.DOTALL)
"""A parameter that is described elsewhere, such as ``the policy, as in `Policy`.``"""


def described_parameters(cls: type, registry: Registry) -> dict[str, str]:
    """What each parameter of a class means, by the docstrings of the class and of its bases.

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
    if after.strip("."):  # something is said besides
        words = words.removesuffix(".") + (after if after[0] in ",;:." else f" {after}")
    return f"{before}: {words}" if before else words


def _referred(name: str, cls: type, registry: Registry) -> type | None:
    """The class that a docstring refers to by its own name or by its registered one."""
    beside = vars(sys.modules[cls.__module__]).get(name)
    known = (*(base for base in cls.__mro__ if base.__name__ == name), beside)
    registered = (entry.cls for entry in registry if entry.fault is None and name in (entry.name, entry.cls.__name__))
    return next((found for found in itertools.chain(known, registered) if isinstance(found, type)), None)


def _entry(entry: Entry, registry: Registry) -> JsonData:
    text, _ = _docstring(entry.cls)
    described = described_parameters(entry.cls, registry)
    declared = parameters(entry.cls)
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
            for p in declared
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


def _error(cls: type[DpspecError]) -> JsonData:
    text, _ = _docstring(cls)
    where = f"{cls.__module__}.{cls.__qualname__}"
    meaning = f"{text}\n\nExit code {cls.exit_code}."
    return {**NOTHING_ELSE, "name": cls.code, "kind": "error code", "definition": meaning, "class": where}


def _argument(name: str) -> JsonData:
    """An argument of comparisons that is no registered rule."""
    where = "dpspec.reason.small_spaces"
    return {**NOTHING_ELSE, "name": name, "kind": "rule", "definition": ARGUMENTS[name], "class": where}


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
    return _reflowed(prose), described


def _reflowed(lines: list[str]) -> str:
    """Paragraphs on one line each; indented lines and lists stay as they are."""
    text = ""
    for line in lines:
        starts = not line or line.startswith((" ", "*", "-")) or text.endswith("\n")
        text += ("\n" if starts and text else "" if not text else " ") + line + ("" if line else "\n")
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def named_text(found: list[JsonData]) -> str:
    """The definitions as text."""
    parts: list[RenderableType] = []
    for data in found:
        origin = f", from {data['distribution']} {data['version']}" if data["distribution"] else ", from dpspec"
        kind = "word of the field" if data["kind"] == "word" else f"{data['kind']}{origin}"
        parts += [Text.assemble((data["name"], "bold"), f"  {kind}"), "", data["definition"], ""]
        if data["in_dpspec"]:
            parts += [Text.assemble(("In dpspec: ", "bold"), data["in_dpspec"]), ""]
        if data["parameters"]:
            parts += [_parameters(data["parameters"]), ""]
        if data["example"]:
            parts += [Text("In a file:", "bold"), "", Text(data["example"]), ""]
        if data["command"]:
            parts += [Text.assemble(("Try: ", "bold"), data["command"]), ""]
        if data["also"]:
            parts += [Text(f"also: {', '.join(data['also'])}", FAINT), ""]
        parts += [Text(f"class {data['class']}", FAINT), ""] if data["class"] else []
    return drawn(*parts).rstrip()


def _parameters(rows: list[JsonData]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", style=FAINT)
    for row in rows:
        default = "required" if row["required"] else f"default {row['default'] or 'none'}"
        table.add_row(row["name"], row["meaning"], f"{row['domain']}; {default}")
    return table


# --- a file --------------------------------------------------------------------------------------


def file_data(found: SpecDocument, registry: Registry, standing: Standing) -> JsonData:
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
        "standing": terminal.standing_data(standing),
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


def file_text(data: JsonData) -> str:
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


def _number_table(numbers: list[JsonData]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for style in ("", "", "", FAINT, FAINT):
        table.add_column(style=style, overflow="fold")
    table.add_row(*(Text(word, FAINT) for word in ("what", "printed", "recomputed", "within", "given by")))
    for row in numbers:
        printed = f"{row['parameter']} {number_in_words(number(row['printed']))}"
        table.add_row(row["what"], printed, _digits(row["recomputed"]["lower"]), _digits(row["tolerance"]), _given_by(row))
    return table


def _given_by(row: JsonData) -> str:
    """The formulas that give the printed number, or that none does; and the best one, where that gives another."""
    simple = [formula for formula in row["formulas"] if not formula["needs"] and len(formula["rules"]) == 1]
    given = [formula["rules"][0] for formula in simple if formula["reproduced"]] if simple else []
    if not simple and row["reproduced"]:
        given = [row["route"]]
    text = " and ".join(given) or f"no known formula, not even {row['route']}"
    if simple and not simple[0]["reproduced"]:
        text += f"; the best, {simple[0]['rules'][0]}, gives {_digits(simple[0]['value']['upper'])}"
    return text


# --- a promise for two audiences ------------------------------------------------------------------


AUDIENCES = ("public", "technical")
LEVELS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))
FACTORS = (2, 10)
FURTHEST = 3
"""How far one looks for two datasets that the budget speaks about."""
POWER, GROWTH = "power of the best test at level {}", "chance that the release speaks {}-fold for the truth"


@attrs.frozen(kw_only=True)
class SmallestStep:
    """The smallest distance at which the budget speaks about two datasets.

    Args:
        distance: that distance.
        candidates: what the specification says about two datasets within it.
        alone_is_settled: whether what is published leaves no two datasets within distance 1 open, or why.
    """

    distance: int
    candidates: Candidates
    alone_is_settled: bool | str = False


def nearest(spec: PrivacySpec) -> SmallestStep:
    """The first of the distances 1, 2, 3 within which some universe has two datasets; distance 1 where none is seen.

    Raises:
        NotReachedError: when no two datasets at all are so near.
    """
    first: Candidates | None = None
    for distance in range(1, FURTHEST + 1):
        try:
            found = candidates_within(spec, distance)
        except NotReachedError:
            if distance == FURTHEST and first is None:
                raise
            continue
        if distance == 1:
            first = found
        if found.bound is not None:
            settled = first is not None and first.bound is None and (first.reason or True)
            return SmallestStep(distance=distance, candidates=found, alone_is_settled=settled)
        first = first or found
    if first is None:
        raise AssertionError("the last distance raises")
    return SmallestStep(distance=1, candidates=first, alone_is_settled=first.reason or True)


def audience_data(found: SpecDocument, audience: str, standing: Standing) -> JsonData:
    """The paragraphs for an audience, and the numbers in them.

    The numbers hold for every mechanism that satisfies the specification: the largest power of a test (Kifer et
    al. 2022, Theorems 6.1 to 6.3 and Section 6.3), and the largest chance that the likelihood ratio of the truth is at least
    a factor (Kifer et al. 2022, Definition 5.4 and Theorem 3 of Section 7.4.1).
    """
    spec = found.spec
    step = nearest(spec)
    bound = step.candidates.bound
    numbers: dict[str, Bracket] = {}
    if bound is not None:
        numbers = {POWER.format(level): allowed_power(spec.output_divergence, bound, level) for level in LEVELS}
        numbers |= {GROWTH.format(factor): _growth(spec, bound, factor) for factor in FACTORS}
    paragraphs = _public(spec, step, numbers) if audience == "public" else _technical(found, step)
    return {
        "id": found.id,
        "title": found.title,
        "audience": audience,
        "standing": terminal.standing_data(standing),
        "paragraphs": [
            terminal.PUBLIC[standing.word] if audience == "public" else f"How it stands: {standing.sentence}.",
            *paragraphs,
        ],
        "numbers": [{"what": what, "value": bracket(value)} for what, value in numbers.items()],
    }


def _growth(spec: PrivacySpec, bound: Number, factor: int) -> Bracket:
    return Bracket.exactly(1) if bound.is_infinite else allowed_excess(spec.output_divergence, bound, Bracket.exactly(factor))


def _public(spec: PrivacySpec, step: SmallestStep, numbers: dict[str, Bracket]) -> Iterator[str]:
    unit = spec.input_divergence.counted_unit() or getattr(spec.input_divergence, "unit", None) or "record"
    several = f"what {step.distance} changes of one {unit} each can touch, yours among them"
    yield (
        "Imagine somebody who knows how the release is made and has all of the data before them, except for "
        f"{f'yours (one {unit})' if step.distance == 1 else several}. "
        "They have two ideas of what your data could be, and look at the release to find out which of them is right."
    )
    known = step.candidates.publications
    if known:
        yield (
            f"Some facts are published exactly as they are, without blurring: {known}. Where the two ideas differ in one of "
            "these facts, this somebody knows for certain which one is right, in 100 of 100 cases, and no promise changes that."
        )
    if step.alone_is_settled:
        yield (
            f"If everything but the data of one {unit} is known, the published facts settle the rest: nothing about it is left "
            "to the blurring."
        )
    if numbers:
        yield from _odds(numbers, known)
        yield (
            f"All this holds for two ideas at distance {step.distance} or less. Distance here means: "
            f"{thing_in_words(spec.input_divergence)}. For two ideas further apart the limits are weaker, or there are none."
        )
    else:
        yield "No two ideas are left open by what is published, so that there is nothing for the promise to protect."
    yield (
        "What is not promised: that nothing can be learned about you. A pattern that shows in everybody's data shows without "
        "yours too, and may be applied to you. The promise is about what the use of your own data adds."
    )
    if step.candidates.unpromised:
        yield "The promise speaks about some pairs of ideas only. About all others it says nothing, and sets no limit."


def _odds(numbers: dict[str, Bracket], known: str) -> Iterator[str]:
    caught = numbers[POWER.format(Fraction(1, 20))]
    about = ", choosing between two ideas that agree in all published facts," if known else ""
    yield (
        f"The release is blurred by chance on purpose. If this somebody{about} "
        f"takes care to name the wrong idea in no more than 5 of 100 cases, they find the right one {limit(caught)}. Without "
        "looking at the release at all it would be 5."
    )
    twice, tenfold = (limit(numbers[GROWTH.format(factor)]).strip("()") for factor in FACTORS)
    yield (
        f"How often can the release make them twice as sure of the truth? {twice[0].upper()}{twice[1:]}. "
        f"And ten times as sure? {tenfold[0].upper()}{tenfold[1:]}. "
        "These are limits for the worst design that keeps the promise; a good one is often far below them."
    )


def _technical(found: SpecDocument, step: SmallestStep) -> Iterator[str]:
    spec, bound = found.spec, step.candidates.bound
    yield promise(found)
    if step.candidates.distinguishing:
        yield (
            f"Published exactly, and known for certain: {step.candidates.publications}. Candidates that differ in it are told "
            "apart with power 1, whatever the budget; the numbers below are about candidates of one universe."
        )
    if step.alone_is_settled:
        reason = f": {step.alone_is_settled}" if step.alone_is_settled is not True else ""
        yield f"No universe holds two datasets at distance 1{reason}. What the budget says about distance 1 belongs to no pair."
    if bound is None:
        yield "No two candidates of one universe are near each other, so that the budget speaks about none."
        return
    yield (
        f"For two datasets at distance {step.distance} the bound is {bound} in {thing_in_words(spec.output_divergence)} "
        f"({budget_in_words(spec.budget)}). The adversary knows both datasets and the mechanism, all but its random bits, and "
        "may process the release in any way; the numbers below are suprema over all pairs of laws within the bound."
    )
    yield (
        "Frequentist: a test of one dataset against the other at level a has at most the power below; by mixing, that holds for "
        "unknown other records too wherever the divergence is quasi-convex. Bayesian: with the other records known and any prior "
        "on one, the posterior of the true record exceeds F times its prior with at most the chance below, over the release of "
        "the true data; over the prior predictive law it is that chance divided by F."
    )
    yield (
        "None of this bounds the change from prior to posterior for an adversary who does not know the other records: dependence "
        "between records carries over. A chance below is not the delta of approximate privacy, and not a raw tail of the privacy "
        "loss, but the least number above that tail which post-processing keeps."
    )
    if spec.multiverse.invariants != ():
        yield "Only datasets of one universe are compared: the invariants themselves are outside of the guarantee."


def cases(chance: Bracket) -> str:
    """A probability as cases of a hundred, rounded up; rare ones as one in a power of ten. To be read, not to be computed with.

    >>> [cases(Bracket.exactly(value)) for value in ("0.7417", "0.0035", "1/2", "1e-12")]
    ['75 of 100 cases', '1 of 100 cases', '50 of 100 cases', '1 of a billion cases']
    """
    for size, name in ((10**9, "a billion"), (10**6, "a million"), (1000, "1,000")):
        if chance.upper <= Fraction(1, size):
            return f"1 of {name} cases"
    hundredths = next(n for n in range(1, 101) if chance.lower <= Fraction(n, 100) or n == 100)
    return f"{hundredths} of 100 cases"


def limit(chance: Bracket) -> str:
    """A largest probability as the end of a sentence; what cannot happen as never, and what says nothing as that.

    >>> [limit(Bracket.exactly(value)) for value in ("1/2", "0", "0.9999")]
    ['in at most 50 of 100 cases', 'never', '(this promise sets practically no limit here)']
    >>> limit(Bracket.exactly(1))
    '(this promise sets no limit here)'
    """
    if chance.upper == 0:
        return "never"
    if chance.lower >= 1:
        return "(this promise sets no limit here)"
    if chance.lower > Fraction(99, 100):
        return "(this promise sets practically no limit here)"
    return f"in at most {cases(chance)}"


def audience_text(data: JsonData, found: SpecDocument) -> str:
    """The paragraphs as text; for the technical audience with a table of the numbers."""
    parts: list[RenderableType] = [Text.assemble((found.id, "bold"), f"  {found.title}"), ""]
    for paragraph in data["paragraphs"]:
        parts += [paragraph, ""]
    if data["audience"] == "technical":
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(overflow="fold", style=FAINT)
        table.add_column(no_wrap=True)
        for row in data["numbers"]:
            most = Bracket.exactly(row["value"]["upper"]).upper
            said = "never" if most == 0 else "this promise sets no limit here" if most >= 1 else f"at most {most.decimal()}"
            table.add_row(row["what"], said)
        parts.append(table)
    return drawn(*parts).rstrip()
