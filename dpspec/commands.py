"""The commands as functions, where the answer is a page: what each one prints, as data, and the values behind it.

`dpspec.api` has the functions whose answer is an object of its own (a verdict, a comparison, a ledger, ...).
"""

from __future__ import annotations

import json as stdlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpspec.api import as_document, document_at, find_yardsticks, quick_standing
from dpspec.base.errors import DpspecError, ParameterError, SpecFileError, UnknownNameError
from dpspec.base.params import did_you_mean
from dpspec.base.words import Word, worst_code
from dpspec.extension.packages import renderer
from dpspec.report.pages import CommandAnswer

if TYPE_CHECKING:
    from fractions import Fraction

    from dpspec.api import GivenTable, Specification
    from dpspec.base.exact import NumberLike
    from dpspec.base.types import JsonData, Progress
    from dpspec.grammar.attacker import Tolerance
    from dpspec.grammar.mechanism import Mechanism
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.verdict import Verdict

AnyPath = str | Path


# --- files and plugins ----------------------------------------------------------------------------


def check(*paths: AnyPath) -> CommandAnswer:
    """Read specification files: syntax, schema, names, fit of the blocks, and no id twice. Nothing is computed.

    Args:
        paths: files, or directories, which mean their specification files.

    Returns:
        for each file whether it can be read, and every fault with its line; `value` has the read files.
    """
    from dpspec.extension.loader import installed
    from dpspec.report import json, text
    from dpspec.specfile.reader import spec_files

    if not paths:
        raise ParameterError("files", "are none", "give specification files, or a folder with some")
    registry, seen, done = installed().registry, dict[str, "SpecDocument"](), set[Path]()
    words, results, pages = list[Word](), list["JsonData"](), list[str]()
    for given in paths:
        files: Iterable[AnyPath] = [given]
        with suppress(SpecFileError):  # the reader reports the same fault
            files = spec_files(given)
        for file in files:
            if Path(file) in done:
                continue
            done.add(Path(file))
            try:
                found = checked(Path(file), registry, seen)
            except DpspecError as fault:
                code = worst_code(single["exit_code"] for single in json.errors(fault))
                word = word_of(code)
                page = f"{text.failed(str(file), word, fault)}\n{text.error_lines(fault, str(file))}"
                found = word, json.failed(str(file), word, fault), page
            words.append(found[0])
            results.append(found[1])
            pages.append(found[2])
    code = worst_code(word.exit_code for word in words)
    return CommandAnswer("check", code, {"files": results}, partial("\n".join, pages), value=tuple(seen.values()))


def word_of(code: int) -> Word:
    """The result for a file that could not be verified."""
    return {4: Word.PLUGIN, 3: Word.UNDECIDED}.get(code, Word.INVALID)


def checked(path: Path, registry: Any, seen: dict[str, SpecDocument]) -> tuple[Word, JsonData, str]:
    """One file of `check`; `seen` has those before it by their ids."""
    from dpspec.report import json, text
    from dpspec.specfile.reader import check_ids, read

    found = read(path, registry)
    check_ids((seen.setdefault(found.id, found), found))
    return Word.VALID, json.checked(str(path), found), text.checked(str(path), found)


def explain(
    name: AnyPath | Specification,
    audience: str | None = None,
    language: str | None = None,
    *,
    without: str | int | None = None,
    universe_of: GivenTable | None = None,
) -> CommandAnswer:
    """Explain a name of any kind: a block, a mechanism, a rule, an error code, a term, a source, a file, flavours.

    Args:
        name: the name, a specification file, or a specification.
        audience: of a file, explain its promise to the "public" or to "technical" readers.
        language: of the public text, such as de; English, where it is left out.
        without: of a file, what is left of its promise where this invariant is not held fixed: its number, from 1, or its text.
        universe_of: with an audience, a table or a release's report: the numbers are those of its universe, as in `risk`.

    Raises:
        UnknownNameError: nothing goes by it; with what is spelt alike.
        TableError: the table does not fit the space.
    """
    from dpspec.extension.loader import installed
    from dpspec.report import audience as audiences, explain as words, flavours
    from dpspec.report.risk import file_numbers
    from dpspec.specfile.reader import names_specification
    from dpspec.verifier.standing import failure_code

    registry = installed().registry
    if language is not None and (audience != "public" or language not in audiences.catalogue()):
        rule = f"goes with the public, and is one of {', '.join(audiences.catalogue())}"
        raise ParameterError("language", rule, value=language)
    if universe_of is not None and audience is None:
        raise ParameterError("universe_of", "goes with an audience", 'give audience="public", or use risk')
    if name == "flavours":
        family = flavours.family(registry)
        return CommandAnswer(
            "explain", 0, {"family": family}, partial(flavours.family_parts, family), partial(flavours.family_figure, family)
        )
    if isinstance(name, (str, Path)) and not names_specification(str(name)):
        if without is not None:
            rule = "drops an invariant of a specification, and this is no file"
            raise ParameterError("without", rule, "give the FILE", value=name)
        if audience is not None:
            rule = "explains a specification, and this is neither a file nor the folder of a release"
            raise ParameterError("audience", rule, "give the FILE", value=name)
        found = words.meaning(str(name), registry)
        return CommandAnswer("explain", 0, found, partial(words.meaning_parts, found))
    document = as_document(name)
    if without is not None:
        return _without(document, str(without), audience, registry)
    status = quick_standing(document, registry)
    code = failure_code([status])
    if audience is not None:
        at = document if universe_of is None else document_at(document, universe_of, registry)
        data = audiences.audience_data(
            at, audience, status, language or audiences.ENGLISH, of_table=at.spec is not document.spec
        )  # fmt: skip
        notes = audiences.table_notes(document) if universe_of is None else ()
        parts = partial(audiences.audience_parts, data, document)
        return CommandAnswer("explain", code, {"audience": data}, parts, value=document, notes=notes)
    numbers = file_numbers(document, status, registry)
    data = words.file_data(document, registry, status, numbers)
    return CommandAnswer("explain", code, {"file": data}, partial(words.file_parts, data, document, numbers), value=document)


def _without(document: SpecDocument, named: str, audience: str | None, registry: Any) -> CommandAnswer:
    from dpspec.comparison.converse import Remaining, without_invariant
    from dpspec.report import explain as words

    if audience is not None:
        raise ParameterError("without", "does not go with an audience", "ask for one of the two", value=named)
    found = without_invariant(document, named, registry)
    data = words.without_data(found, document)
    code = 3 if found.answer is Remaining.UNKNOWN else 0
    return CommandAnswer("explain", code, {"without": data}, partial(words.without_parts, found, document), value=found)


def schema(of: str = "spec") -> dict[str, Any]:
    """A JSON schema.

    Args:
        of: "spec", of specification files with the installed plugins; or "output", of what ``--format json`` prints.
    """
    from dpspec.extension.loader import installed
    from dpspec.report import json
    from dpspec.specfile.schema import language_schema

    if of not in {"spec", "output"}:
        raise UnknownNameError("schema", "is neither spec nor output", "write one of these", value=of)
    return language_schema(installed().registry) if of == "spec" else json.output_schema()


def plugins() -> CommandAnswer:
    """The installed plugins, with distribution, state, and registered names. `value` is `dpspec.installed()`."""
    from dpspec.extension.loader import installed
    from dpspec.report import json, text

    found = installed()
    return CommandAnswer("plugins", 4 if found.faults() else 0, json.plugins(found), partial(text.plugins, found), value=found)


def check_plugin(
    name: str, level: str = "fast", expected: Mapping[str, str] | None = None, progress: Progress | None = None
) -> CommandAnswer:
    """Run the conformance checks on a plugin, or on what is registered under a name.

    Args:
        name: the plugin, or a registered name.
        level: "fast", or "full" with the checks that draw samples.
        expected: checks that are expected to fail, each with the reason.
        progress: called with (done, in all).
    """
    from dpspec.testing import conformance

    found = conformance.run_checks(name, level=level, expected_failures=dict(expected or {}), progress=progress)
    data = conformance.data(name, found)
    return CommandAnswer("check-plugin", 0 if data["conforms"] else 1, data, partial(conformance.text, name, found), value=found)


# --- yardsticks, derivations, proofs, tolerated risk ----------------------------------------------------------


def yardsticks(
    left: Specification,
    right: Specification,
    *,
    largest_household: int | None = None,
    delta: NumberLike | None = None,
    within: int | None = None,
) -> CommandAnswer:
    """The common consequences of two specifications, with both budgets: ``dpspec compare A B --yardstick``. `value` has them.

    Args:
        left, right: five blocks, specifications, or files.
        largest_household: assume that no household has more persons than this number.
        delta: a probability, at which approximate privacy is tried, too.
        within: the largest distance of the neighbours that conversions need, in units of the input divergence.
    """
    from dpspec.extension.loader import installed
    from dpspec.report import yardsticks

    registry, documents = installed().registry, [as_document(one) for one in (left, right)]
    at = {} if delta is None else {"delta": str(delta)}
    found = find_yardsticks(
        documents[0].spec, documents[1].spec, registry, at=at, largest_household=largest_household, within=within
    )
    statuses = [quick_standing(document, registry) for document in documents]
    code, names = 0 if any(one.is_common for one in found) else 3, (documents[0].id, documents[1].id)
    data = yardsticks.yardstick_data(found, names, registry, statuses)
    return CommandAnswer("compare", code, data, partial(yardsticks.yardstick_parts, found, names, statuses), value=found)


def ablate(
    left: Specification,
    right: Specification,
    *,
    mechanism: Mechanism | Specification | None = None,
    largest_household: int | None = None,
) -> CommandAnswer:
    """The contribution of each block to the budget that a mechanism needs: ``dpspec ablate A B``. `value` has the steps.

    The blocks of A (space, multiverse, input divergence, output divergence) are exchanged for those of B in every order;
    after each step the least Lipschitz constant of the mechanism is proved, and with it the least budget.

    Args:
        left, right: A and B: five blocks, specifications, or files.
        mechanism: the mechanism, or a specification that names it; without it, that of A, else that of B.
        largest_household: assume that no household has more persons than this number.

    Raises:
        ParameterError: there is no mechanism.
        IncompatibleBlocksError: the blocks cannot be exchanged one at a time in any order.

    >>> import dpspec as dp
    >>> people = dp.records(colour=2)
    >>> bounded, free = ({"distance": name} for name in ("hamming", "symmetric-difference"))
    >>> a, b = (dp.spec(space=people, standard="pure", epsilon=1, **distance) for distance in (free, bounded))
    >>> found = dp.ablate(a, b, mechanism=dp.geometric(queries=dp.marginal(attributes="colour"), ratio="1/2"))
    >>> [step["budget"]["upper"] for step in found["steps"]]
    ['ln(2)', 'ln(4)']
    """
    from dpspec.comparison.ablation import ablate as engine
    from dpspec.grammar.mechanism import Mechanism as MechanismKind
    from dpspec.report.ablation import ablation_data, ablation_parts

    documents = [as_document(one) for one in (left, right)]
    if isinstance(mechanism, MechanismKind):
        run: Mechanism | None = mechanism
    else:
        named = documents if mechanism is None else [as_document(mechanism)]
        run = next((document.mechanism for document in named if document.mechanism is not None), None)
    if run is None:
        raise ParameterError("mechanism", "is named by neither specification", "give a file that names one")
    specs = [_with_largest_household(document.spec, largest_household) for document in documents]
    found = engine(specs[0], specs[1], run, (documents[0].id, documents[1].id))
    return CommandAnswer("ablate", found.exit_code, ablation_data(found), partial(ablation_parts, found), value=found)


def measure(
    subject: Mechanism | Callable[..., Any] | str | None = None,
    against: Specification | None = None,
    *,
    seconds: NumberLike = 30,
    progress: Progress | None = None,
    **given: Any,
) -> CommandAnswer:
    """The least budget that a mechanism or a function needs, as a bracket: ``dpspec measure``. `value` has the measurement.

    The upper end is proved, the lower end is shown by a pair of datasets and an event. No budget has to be claimed first.

    Args:
        subject: a mechanism; a function `(dataset, numpy Generator) -> output`; `module:name` of one, which runs in a sandbox.
            Without it, the mechanism of the specification.
        against: five blocks, a specification, or its file, whose budget is ignored; or instead of it
        given: the blocks by name, as `spec` takes them: `space`, `distance`, `standard`, `invariants`, ...; and for a function
            how it is sampled, as `verify` takes it: `seed`, `error`, `draws`, `bits`, `by_value`.
        seconds: of processor time for a function.
        progress: called with (done, in all).

    Raises:
        ParameterError: there are neither blocks nor a specification.

    >>> import dpspec as dp
    >>> noise = dp.geometric(queries=dp.marginal(attributes="colour"), ratio="1/2")
    >>> found = dp.measure(noise, space=dp.records(colour=2), distance="hamming", standard="pure")
    >>> found["budget"]
    {'lower': 'ln(4)', 'upper': 'ln(4)'}
    """
    from dpspec.base.exact import rational
    from dpspec.base.params import parameters
    from dpspec.constructors import blocks_alone
    from dpspec.grammar.mechanism import Mechanism as MechanismKind
    from dpspec.report.measurement import measured_data, measured_text
    from dpspec.verifier.entry import judge_claim
    from dpspec.verifier.functions import NamedFunction, Sampling, verify_named
    from dpspec.verifier.measure import measure as engine

    sampled = {p.name for p in parameters(Sampling)}
    blocks = {name: value for name, value in given.items() if name not in sampled}
    sampling = {name: value for name, value in given.items() if name in sampled}
    if (against is None) == (not blocks):
        advice = "such as space=..., distance=..., standard=..."
        raise ParameterError("measure", "needs a specification, or the blocks by name", advice)
    document = None if against is None else as_document(against)
    spec = blocks_alone(**blocks) if document is None else document.spec
    run = subject if subject is not None else None if document is None else document.mechanism
    if run is None:
        raise ParameterError("measure", "needs a mechanism or a function", "name one in the file, or give it")
    total = rational(seconds, "seconds")

    def judge(claim: PrivacySpec, share: Fraction) -> Verdict:
        if isinstance(run, MechanismKind):
            return judge_claim(run, claim)
        if isinstance(run, str):
            named = NamedFunction(path=run, sampling=Sampling(**sampling, seconds=total * share))
            return verify_named(named, claim, progress=progress)
        return judge_claim(run, claim, seconds=total * share, progress=progress, **sampling)

    if isinstance(run, MechanismKind):
        run.check(spec.space)
    found = engine(judge, spec)
    others = () if document is None else document.stand_ins
    return CommandAnswer(
        "measure", found.exit_code, measured_data(found, others), partial(measured_text, found, others), value=found
    )


def _with_largest_household(spec: PrivacySpec, most: int | None) -> PrivacySpec:
    """The specification on the datasets whose households have at most so many persons; as it is where there are no households."""
    from dpspec.blocks.parts import Membership

    membership = Membership.found_in(spec.space)
    bounded = None if most is None or membership is None else membership.with_most("person", "household", most)
    return spec if bounded is None else spec.replace(space=bounded)


def recommend(tolerance: Tolerance | str, **settings: Any) -> CommandAnswer:
    """The budget that keeps a risk within a tolerance; it uses no data. `value` is the recommendation.

    Args:
        tolerance: a tolerated risk or its name, such as fixed-q.
        settings: its parameters, where it is given by its name.
    """
    from dpspec.extension.loader import installed
    from dpspec.report import risk as words
    from dpspec.risks.engine import tolerance_of

    asked = tolerance
    if isinstance(tolerance, str):
        texts = [
            f"{name}={stdlib.dumps(value) if isinstance(value, (list, tuple)) else value}" for name, value in settings.items()
        ]
        asked = tolerance_of(installed().registry, tolerance, texts)
    assert not isinstance(asked, str)  # noqa: S101 - made one line above
    found = asked.recommend()
    data = words.recommendation_data(asked, found)
    return CommandAnswer("recommend", 0, data, partial(words.recommendation_parts, asked, found), value=found)


# --- beginnings -----------------------------------------------------------------------------------


def examples(*names: str, directory: AnyPath | None = None) -> CommandAnswer:
    """The specifications that ship with dpspec, listed, or written into a folder. `value` has their texts by name.

    Args:
        names: some of them; without any, all.
        directory: the folder.
    """
    from dpspec.scaffold import examples as shipped, write_spec

    texts = shipped()
    for name in names:
        if name not in texts:
            advice = did_you_mean(name, texts) or f"write one of {', '.join(texts)}"
            raise UnknownNameError("example", "does not ship", advice, value=name)
    chosen = {name: texts[name] for name in names or texts}
    written = [] if directory is None else [Path(directory) / f"{name}.dpspec.toml" for name in chosen]
    for path, text in zip(written, chosen.values(), strict=False):
        write_spec(text, path)
    rows = [{"name": name, "title": tomllib.loads(text)["title"]} for name, text in chosen.items()]
    width = max(len(row["name"]) for row in rows)
    listed = [f"{row['name']:<{width}}  {row['title']}" for row in rows]
    words = "\n".join([f"wrote {path}" for path in written] or listed)
    return CommandAnswer("examples", 0, {"examples": rows, "written": list(map(str, written))}, partial(str, words), value=chosen)


def _begun(written: list[Path], then: str, warnings: Iterable[str] = (), said: Iterable[str] = ()) -> CommandAnswer:
    warned = list(warnings)
    words = "\n".join([*(f"wrote {path}" for path in written), *(f"warning: {warning}" for warning in warned)])
    data = {"written": list(map(str, written)), "next": then, **({"warnings": warned} if warned else {})}
    return CommandAnswer("new", 0, data, partial(str, words), value={"written": tuple(written), "said": tuple(said)})


def new_spec(
    name: str | None = None,
    directory: AnyPath = ".",
    *,
    table: AnyPath | Any | None = None,
    columns: Iterable[str] = (),
    codebook: AnyPath | None = None,
    within: Iterable[str] = (),
    unit: str = "person",
    ask: Callable[[str], bool | None] | None = None,
) -> CommandAnswer:
    """Write NAME.dpspec.toml: a commented specification that can be read, from nothing or from the columns of a table.

    Args:
        name: its id, lower-kebab; without it, after the table.
        directory: where it is written.
        table: the table whose columns the space is drafted from: a file, or a data frame (pandas, polars, pyarrow).
        columns: of the table, these alone.
        codebook: a CSV with column, value, label, where categories are taken from.
        within: nestings of one attribute in another, as texts FINER=COARSER.
        unit: what one record of the table is.
        ask: called with each pair of attributes that may be nested; by default, attributes are nested only as `within` states.
    """
    from dpspec.scaffold import write_schema, write_spec
    from dpspec.specfile.reader import new_spec as template
    from dpspec.specfile.table_input import table_file

    if table is not None:
        draft = renderer("draft", "a specification from a table")
        with table_file(table) as file:
            name, made, warnings, said = draft(name, Path(file), columns, codebook, within, unit=unit, ask=ask)
    elif name is None:
        raise ParameterError("name", "is missing", "give the id of the specification, or a table")
    else:
        made, warnings, said = template(name), tuple[str, ...](), tuple[str, ...]()
    path = Path(directory) / f"{name}.dpspec.toml"
    write_spec(made, path)
    said = (*said, *(f"for editors: {file}" for file in write_schema(path.parent)))
    return _begun([path], f"dpspec check {path}", warnings, said)


def new_plugin(name: str, directory: AnyPath = ".", kind: str | None = None) -> CommandAnswer:
    """Write dpspec-NAME: a distribution with one class of a kind, a specification and tests.

    Args:
        name: the name of the plugin.
        directory: where the distribution is written.
        kind: the kind of plugin, such as "space" or "attacker"; without it, a mechanism and an output divergence are written.
    """
    from dpspec.scaffold import write_plugin

    folder = write_plugin(name, Path(directory), kind)
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    return _begun(written, f"pip install -e {folder}, then dpspec verify {folder}")
