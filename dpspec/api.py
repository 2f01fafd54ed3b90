"""The functions of `dpspec` that verify, compare and convert specifications, used by Python code and by the command line.

Each function imports what it needs when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from dpspec.base.errors import NoFormulaError, NoYardstickError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dpspec.base.exact import NumberLike
    from dpspec.base.types import Progress
    from dpspec.blocks.invariant import Invariant
    from dpspec.blocks.space import Dataset
    from dpspec.comparison.compare import Comparison
    from dpspec.comparison.composition import Composition, PrivacyAccount
    from dpspec.comparison.order import Order
    from dpspec.comparison.yardstick import Yardstick
    from dpspec.extension.hooks import Registry
    from dpspec.grammar.attacker import AttackerModel
    from dpspec.grammar.mechanism import Mechanism
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.grammar.tables import Table
    from dpspec.linter.finding import Finding
    from dpspec.reason.conversions import Conversions, TheoremNumbers
    from dpspec.risks.engine import Panel, RiskReport, RiskRow
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.document import FileReport
    from dpspec.verifier.functions import NamedFunction
    from dpspec.verifier.replay import Replay
    from dpspec.verifier.secrets import SecretChange
    from dpspec.verifier.standing import Standing
    from dpspec.verifier.verdict import Verdict

    Specification: TypeAlias = PrivacySpec | SpecDocument | str | Path
    """Five blocks, what was read of a file, or the file."""

    GivenTable: TypeAlias = str | Path | Any
    """A table file, a folder of households and persons, the name of a registered table, or a data frame."""


# --- the questions --------------------------------------------------------------------------------


def read(path: str | Path, registry: Registry | None = None) -> SpecDocument:
    """Read a specification file.

    Args:
        path: the file, ``*.dpspec.toml``.
        registry: where its names are looked up; without it, among all installed plugins.

    Raises:
        SpecError and its kin; several faults of one file come together as `Faults`.
    """
    from dpspec.extension.loader import installed
    from dpspec.specfile.reader import read as read_file

    return read_file(Path(path), registry or installed().registry)


def read_table(specification: Specification, table: GivenTable) -> Table:
    """Read a table of the records that a specification is about.

    Args:
        specification: five blocks, a specification, or its file; it says which attributes there are and how the table is stored.
        table: a table file, a directory with households and persons, a registered table, or a data frame of pandas, polars
            or pyarrow.

    Returns:
        the records of the largest unit, one column of category numbers for each attribute.

    Raises:
        TableError and its kin: the table cannot be read, or does not fit the space.
        NotInSpaceError: it has fewer or more records than the space allows.
    """
    from dpspec.extension.loader import installed
    from dpspec.risks.engine import check_dataset
    from dpspec.specfile.table_input import given_table, table_file

    document = as_document(specification)
    space = document.spec.space
    with table_file(table) as name:
        found = given_table(name, document, space.units[0], installed().registry, _unseen)
    check_dataset(found, space, space.units[0])
    return found


def _unseen(done: int, total: int) -> None:
    """Ignore progress."""


def build(**tables: Any) -> SpecDocument:
    """A specification from Python data: the same tables and keys as in a file.

    Args:
        tables: ``space``, ``input_divergence``, ``output_divergence``, ``budget``, and where they are needed ``multiverse``,
            ``mechanism``, ``id``, ``title`` and the others: a table is a mapping, a block that has parameters names its ``type``.

    Raises:
        SpecError and its kin; several faults come together as `Faults`.

    >>> blocks = {"input_divergence": {"type": "hamming-ordered", "unit": "person"}, "output_divergence": {"type": "mult"}}
    >>> found = build(space={"type": "bit-vectors", "length": 2}, **blocks, budget={"epsilon": "ln(3)"})
    >>> print(found.spec.budget)
    epsilon = ln(3)
    """
    from dpspec.extension.loader import installed
    from dpspec.specfile.document import SCHEMA
    from dpspec.specfile.reader import read_data

    return read_data({"schema": SCHEMA, "id": "specification", "title": "built in Python", **tables}, installed().registry)


@overload
def verify(subject: SpecDocument | str | Path) -> FileReport: ...


@overload
def verify(subject: Mechanism | Callable[..., Any], against: Specification, **sampling: Any) -> Verdict: ...


def verify(subject: Any, against: Any = None, **sampling: Any) -> FileReport | Verdict:
    """Judge everything that a specification states; or whether a mechanism or a plain function satisfies one.

    Args:
        subject: a specification or its file; or a mechanism, or a function `(dataset, numpy Generator) -> output`.
        against: what the mechanism or function is held against: five blocks, a specification, or its file.
        sampling: how a function is tried that cannot be read off: `seed` (a whole number), `error` (the probability of refuting
            a true claim, 1e-9), `draws` (calls at most), `seconds` (of processor time, 30), `bits` (also look at doubles),
            `by_value` (compare outcomes by value: `0` and `numpy.int64(0)` are one), `datasets` (compare these alone;
            undecided where no two of them are in one universe at a finite distance).

    Returns:
        a report on all that the specification states; or the verdict, with its method, scope, assumptions and witness.

    Raises:
        ParameterError: five blocks alone, of which nothing is claimed; or a file with an argument about one mechanism.

    >>> import dpspec as dp
    >>> answers = dp.bit_vectors(length=3)
    >>> promise = dp.spec(space=answers, distance="hamming-ordered", standard="pure", epsilon=1)
    >>> verdict = dp.verify(dp.randomised_response(keep_probability="3/4"), promise)
    >>> print(verdict.outcome.value, verdict.constant, verdict.witness.right)
    refuted ln(3) (0, 0, 1)
    """
    import attrs

    from dpspec.verifier.document import verify_document
    from dpspec.verifier.entry import verify_claim

    if against is None:
        document = as_document(subject)
        if document is not subject and not isinstance(subject, (str, Path)):
            advice = "give what is claimed to satisfy them first: verify(mechanism, specification)"
            raise ParameterError("verify", "has five blocks, and nothing that is claimed to satisfy them", advice)
        if sampling:
            rule = "belongs to one mechanism or function, and a file may state several claims"
            raise ParameterError(next(iter(sampling)), rule, "write verify(mechanism, specification, ...)")
        return verify_document(document)
    spec = as_document(against).spec
    return attrs.evolve(verify_claim(subject, spec, **sampling), spec=spec)


def replay(
    witness: str | Path,
    mechanism: Mechanism | Callable[..., Any] | NamedFunction | None = None,
    against: Specification | None = None,
    *,
    progress: Progress | None = None,
) -> Replay:
    """Judge the two datasets of a witness file again: is the claim still refuted? ``dpspec verify --replay``.

    Nothing that the file records is believed: both laws are computed anew.

    Args:
        witness: the file, as ``dpspec verify --witnesses`` wrote it.
        mechanism: verify this one, such as a corrected one; needed where the witness is about a plain function.
        against: test it against these five blocks instead of those in the file: blocks, a specification, or its file.
        progress: called with (done, in all).

    Returns:
        what became of it: `outcome`, `verdict`, `is_unchanged`, and the recorded event with its probabilities of today.

    Raises:
        SpecFileError, SpecSyntaxError: the file cannot be read, or is no witness file.
        MissingKeyError: it is about a plain function, and none is given.
    """
    from dpspec.verifier.replay import replay as judged_again

    spec = None if against is None else as_document(against).spec
    return judged_again(witness, mechanism=mechanism, spec=spec, progress=progress)


def compare(left: Specification, right: Specification, registry: Registry | None = None) -> Comparison:
    """Hold two specifications against each other: derived by the registered rules, separated, or unknown, in each direction.

    The exact engine checks every mechanism that is said to separate them. The status of both claims is checked as well. Where
    one lacks attributes that the other has, it is restated with them; its invariants and its distance do not change.

    Args:
        left, right: five blocks, specifications, or files.
        registry: the rules of inference; without it, those of all installed plugins.

    Returns:
        both directions, each with its answer and the derivation or the separation; and the claim status of both.

    >>> import dpspec as dp
    >>> people = dp.records(region=["north", "south"])
    >>> strict, loose = (dp.spec(space=people, distance="add-remove", standard="pure", epsilon=e) for e in (1, 2))
    >>> compared = dp.compare(strict, loose)
    >>> compared.forward.answer.value, compared.backward.answer.value
    ('implies', 'does not imply')
    """
    import attrs

    first, second = as_document(left), as_document(right)
    about = tuple((one, quick_standing(one, registry)) for one in (first, second))
    return attrs.evolve(compared(first, second, registry, on_one_schema=True), about=about)


def compared(
    left: SpecDocument, right: SpecDocument, registry: Registry | None = None, *, on_one_schema: bool = False
) -> Comparison:
    """The comparison alone, without the claim status.

    Args:
        left, right: the two files.
        registry: the rules of inference.
        on_one_schema: first give each the attributes that it lacks and the other one has. An order of many leaves specifications
            as they are, since implication is transitive between specifications that stay the same.
    """
    import attrs

    from dpspec.comparison.compare import compare as plainly, compare_products
    from dpspec.comparison.one_schema import restated
    from dpspec.comparison.separations import exact_judge
    from dpspec.extension.loader import installed
    from dpspec.reason.search import rules_of

    rules, judge = rules_of(registry or installed().registry), exact_judge(registry)

    def held(one: PrivacySpec, other: PrivacySpec) -> Comparison:
        first, second, added = restated(one, other) if on_one_schema else (one, other, ())
        return attrs.evolve(plainly(first, second, rules=rules, judge=judge), restated=added)

    return compare_products(left.promises, right.promises, held)


def order(*specifications: Specification, registry: Registry | None = None, progress: Progress | None = None) -> Order:
    """Compare every two of many specifications: which implies which.

    Args:
        specifications: five blocks, specifications, files, or directories, which mean their files; ids must differ.
        registry: the rules of inference; without it, those of all installed plugins.
        progress: called with (done, in all).
    """
    from dpspec.extension.loader import installed

    return order_specs(as_documents(specifications), registry or installed().registry, progress)


def convert(given: Mapping[str, Any], to: str, *, mechanism: str | None = None, **at: Any) -> Conversions | TheoremNumbers:
    """Convert a budget to another standard, by every formula that is known, the best first.

    Args:
        given: the budget by its name, then the parameters of its divergence, as numbers or texts; or the parameters of a
            mechanism about which a theorem is known, such as swap_rate and stratum.
        to: the name of a budget or of an output divergence.
        mechanism: a kind of mechanism that is known, such as gaussian.
        at: parameters of the divergence to convert to, such as delta.

    Raises:
        NoFormulaError: no formula is known.

    >>> convert({"rho": "0.1"}, "epsilon", delta="1e-6").paths[0].names
    ('zcdp-to-approximate-cks',)
    """
    from dpspec.extension.loader import installed
    from dpspec.reason.conversions import convert as converted

    if not isinstance(given, Mapping):
        raise ParameterError("given", "must be a budget by its name", 'write convert({"rho": "2.63"}, ...)', value=given)
    texts = [{name: str(value) for name, value in numbers.items()} for numbers in (given, at)]
    return converted(installed().registry, texts[0], to, texts[1], mechanism=mechanism)


@overload
def risk(
    specification: Specification, attacker: None = None, *, mechanism: Mechanism | None = None, registry: Registry | None = None,
    universe_of: GivenTable | None = None,
) -> Panel: ...  # fmt: skip


@overload
def risk(
    specification: Specification, attacker: None = None, *, mechanism: Mechanism | None = None, registry: Registry | None = None,
    universe_of: GivenTable | None = None, secret: Sequence[str] = (), move: Sequence[str] = (), exchange: Sequence[str] = (),
    within: str | None = None, change: Sequence[str] = (), members: int = 1, **settings: Any,
) -> RiskReport: ...  # fmt: skip


@overload
def risk(
    specification: Specification, attacker: AttackerModel | str, *, mechanism: Mechanism | None = None,
    registry: Registry | None = None, universe_of: GivenTable | None = None, **settings: Any,
) -> RiskReport: ...  # fmt: skip


def risk(
    specification: Specification,
    attacker: AttackerModel | str | None = None,
    *,
    mechanism: Mechanism | None = None,
    registry: Registry | None = None,
    universe_of: GivenTable | None = None,
    secret: Sequence[str] = (),
    move: Sequence[str] = (),
    exchange: Sequence[str] = (),
    within: str | None = None,
    change: Sequence[str] = (),
    members: int = 1,
    **settings: Any,
) -> RiskReport | Panel:
    """The risk under a specification for an attacker: for the worst mechanism that it allows, and for the mechanism that it
    names.

    Args:
        specification: five blocks, a specification, or its file.
        attacker: an attacker model or its name; without it, a panel of some, each with its defaults.
        mechanism: whose own law is shown; without it, that of the file.
        registry: where the name is looked up; without it, among all installed plugins.
        universe_of: a table (a file, a registered name or a data frame), or a release's report: the budget is that of its
            universe, where budgets differ by universe, and the mechanism's own numbers are those of its universe, where they
            are known: by a theorem, or, where budgets differ, from the pairs of datasets in it.
        secret: attributes of one record, in place of an attacker: only datasets that differ there are compared. Which answers of
            the mechanism react follows from how it is made.
        move: attributes of the largest unit, such as the block of a household: only datasets are compared in which one unit has
            other values there, with all that it holds.
        exchange: the same, where two units exchange their values, so that tables of these attributes alone stay as they are.
        within: a coarser attribute, such as tract where the block is secret; the record stays inside its category.
        change: two categories of such an attribute; the record changes from the first to the second.
        members: with `move` or `exchange`, how many records each unit holds, such as persons of a household.
        settings: parameters of the attacker, as values or texts.

    Returns:
        the rows, each with the number for any mechanism, that of the file's own, and what is assumed; a panel has several such.

    Raises:
        UnknownNameError, ParameterError and its kin: for a wrong name or parameter.
        AttackerMisfitError: the attacker, or each of the panel, does not fit the specification.
        TableError: the table does not fit the space.

    >>> import dpspec as dp
    >>> promise = dp.spec(space=dp.bit_vectors(length=2), distance="hamming-ordered", standard="pure", epsilon=1)
    >>> power = dp.risk(promise, "tester", levels=["1/20"]).rows[0].worst[0]
    >>> print(power.relation.value, power.value.upper.decimal())
    at most 0.135914
    """
    import attrs

    if universe_of is not None and not isinstance(universe_of, str):
        from dpspec.specfile.table_input import table_file

        with table_file(universe_of) as named_table:
            return risk(
                specification, attacker, mechanism=mechanism, registry=registry, universe_of=named_table, secret=secret,
                move=move, exchange=exchange, within=within, change=change, members=members, **settings,
            )  # fmt: skip
    from dpspec.extension.loader import installed
    from dpspec.risks import engine
    from dpspec.risks.mechanism_pairs import evidence, nearest_pairs
    from dpspec.verifier.secrets import farthest_pairs

    known = registry or installed().registry
    document = as_document(specification, mechanism=mechanism)
    spec, run = document.spec, document.mechanism
    meant = None
    if universe_of is not None:
        meant = engine.dataset_of(universe_of, spec.space, known, document.layout)
        spec = engine.at_universe_of(spec, meant)
    differing = {name: tuple(names) for name, names in (("secret", secret), ("move", move), ("exchange", exchange)) if names}
    if len(differing) > 1:
        raise ParameterError(next(iter(differing)), f"does not go with {[*differing][1]}", "ask for one of them")
    for kind, chosen in differing.items():
        if attacker is not None or run is None:
            rule = "applies to a mechanism, for the attacker who knows everything else"
            raise ParameterError(kind, rule, "leave out the attacker, and name a mechanism", value=", ".join(chosen))
        if kind == "secret" and members != 1:
            raise ParameterError("members", "belongs to move or exchange", 'give move=["block"]', value=members)
        return _about_change(
            document, spec, run, known, meant, universe_of=universe_of, kind=kind, names=chosen, within=within, change=change,
            members=members, settings=settings,
        )  # fmt: skip
    if within is not None or change or members != 1:
        part = "within" if within is not None else "change" if change else "members"
        raise ParameterError(part, "belongs to secret, move or exchange", 'give secret=["block"]')
    if settings and not isinstance(attacker, str):
        advice = "name it: attacker=..." if attacker is None else "give them to the attacker, or give its name"
        raise ParameterError("settings", "belong to one attacker that is given by its name", advice, value=", ".join(settings))
    model = engine.attacker_of(known, attacker, settings) if isinstance(attacker, str) else attacker
    named = () if model is None else model.named_datasets()
    about = quick_standing(document, registry, also=[document.spec.space.dataset(dataset) for dataset in named])
    pairs, scope = farthest_pairs(run, document.spec, about)

    def apart(report: RiskReport) -> RiskReport:
        """Where budgets differ by universe, with what is known of the mechanism in all of them in rows of their own."""
        if spec is document.spec or run is None:
            return report
        with evidence(pairs, scope=scope):
            return engine.apart_from_all(report, engine.risk(spec, report.attacker, run))

    with evidence(pairs, meant, scope, is_inside=spec is not document.spec):
        if model is not None:
            report = apart(engine.risk(spec, model, run))
            if meant is not None and run is not None and nearest_pairs(run, spec) is not None:
                with evidence(pairs, scope=scope):
                    report = engine.beside_worst(report, engine.risk(spec, model, run))
                report = _beside_table(report, document, universe_of)
            return attrs.evolve(report, about=(document, about))
        found = engine.panel(spec, engine.panel_of(known), run)
    return attrs.evolve(found, reports=tuple(attrs.evolve(apart(report), about=(document, about)) for report in found.reports))


def document_at(document: SpecDocument, universe_of: GivenTable, registry: Registry | None = None) -> SpecDocument:
    """The file with the budget of the universe that holds a table, as `risk` has it with ``universe_of``.

    Args:
        document: the file.
        universe_of: a table (a file, a registered name or a data frame), or a release's report.
        registry: where formats and tables are looked up; without it, among all installed plugins.

    Raises:
        TableError: the table does not fit the space.
        AttackerMisfitError: no universe holds it.
    """
    import attrs

    from dpspec.extension.loader import installed
    from dpspec.risks import engine
    from dpspec.specfile.table_input import table_file

    with table_file(universe_of) as named_table:
        meant = engine.dataset_of(named_table, document.spec.space, registry or installed().registry, document.layout)
    return attrs.evolve(document, spec=engine.at_universe_of(document.spec, meant))


SECRET_LEVELS = ("1/100", "1/20", "1/10")


def _about_change(
    document: SpecDocument,
    spec: PrivacySpec,
    mechanism: Mechanism,
    registry: Registry,
    dataset: Dataset | None,
    *,
    universe_of: str | None,
    kind: str,
    names: tuple[str, ...],
    within: str | None,
    change: Sequence[str],
    members: int,
    settings: Mapping[str, Any],
) -> RiskReport:
    """Attacks by an attacker who knows all but some attributes of one record, or of two that may have exchanged them."""
    import attrs

    from dpspec.risks import engine
    from dpspec.risks.candidates import asked_about
    from dpspec.risks.mechanism_pairs import evidence
    from dpspec.verifier.moves import asked_change, farthest_asked, in_words, unit_change
    from dpspec.verifier.secrets import worst_change

    if change and len(change) != 2:
        raise ParameterError("change", "must be two categories", "write --change A,B", value=", ".join(change))
    two, exchange = (change[0], change[1]) if change else None, kind == "exchange"
    if exchange and (found := _by_theorem(spec, mechanism, registry, dataset, names=names, settings=settings)) is not None:
        if within is not None or two is not None or members != 1:
            named = "within" if within is not None else "change" if two is not None else "members"
            rule = "does not restrict an exchange whose law is that of a theorem"
            raise ParameterError(named, rule, "leave it out")
        found = _beside_table(found, document, universe_of)
        return attrs.evolve(found, about=(document, quick_standing(document, registry)))
    if kind == "secret":
        pair = worst_change(mechanism, spec, names, within, two)
        inside = "" if within is None else f" within {within}"
        which = "the worst change" if pair.is_worst else "the costliest change found"
        scope = f"{which} of {', '.join(names)}{inside}: {len(pair.reacting)} of {pair.measured} measurements react"
    else:
        pair = unit_change(mechanism, spec, names, within, two, members=members, exchange=exchange)
        scope = in_words(pair, spec, members=members, exchange=exchange)
    asked = asked_change(spec, kind, pair.attributes, named=names, change=two, members=members)
    distance = farthest_asked(spec, asked, pair.distance)
    given = {"levels": list(SECRET_LEVELS), "distance": str(distance), **settings, "attributes": list(pair.attributes)}
    model = engine.attacker_of(registry, "attribute-restricted", given)
    complete, differs = pair.is_worst and not change, spec is not document.spec
    with evidence([pair.pair], dataset, scope, complete=complete, is_inside=differs), asked_about(asked):
        report = engine.risk(spec, model, mechanism)
        if differs:
            with evidence([pair.pair], scope=scope, complete=complete):
                report = engine.apart_from_all(report, engine.risk(spec, model, mechanism))
    if exchange:
        report = attrs.evolve(report, rows=_of_exchanged(report.rows, spec, pair))
    return attrs.evolve(report, about=(document, quick_standing(document, registry)))


def _beside_table(report: RiskReport, document: SpecDocument, universe_of: str | None) -> RiskReport:
    """The report with what is known of the table itself, where one is named; a release's report names the released one."""
    from dpspec.risks import engine

    if universe_of is None or document.mechanism is None or Path(universe_of).suffix == ".json":
        return report
    return engine.beside_table(report, document.mechanism, document.spec, read_table(document, universe_of))


def _of_exchanged(rows: Iterable[RiskRow], spec: PrivacySpec, pair: SecretChange) -> tuple[RiskRow, ...]:
    """The rows without those about candidates that invariants distinguish, where no invariant can distinguish the two of an
    exchange.

    A table of the exchanged attributes alone stays as it is; one that ties them to others need not, nor one of smaller records.
    """
    from dpspec.risks.candidates import DISTINGUISHED

    free, unit, held = set(pair.attributes), spec.space.units[0], spec.multiverse.induced_by()

    def may_distinguish(invariant: Invariant) -> bool:
        names, table = set(invariant.mentions()), invariant.as_marginal()
        return bool(names & free) and (table is None or table.unit != unit or bool(names - free))

    if pair.distinguishing or held is None or any(map(may_distinguish, held)):
        return tuple(rows)
    return tuple(row for row in rows if dict(row.at).get("candidates") != DISTINGUISHED)


def _by_theorem(
    spec: PrivacySpec,
    mechanism: Mechanism,
    registry: Registry,
    dataset: Dataset | None,
    *,
    names: tuple[str, ...],
    settings: Mapping[str, Any],
) -> RiskReport | None:
    """A theorem on two datasets that differ by one exchange of these attributes; None where there is none."""
    import attrs

    from dpspec.risks import engine
    from dpspec.risks.candidates import DISTINGUISHED, UNPROMISED
    from dpspec.risks.mechanism_pairs import evidence, nearest_pairs

    with evidence(dataset=dataset):
        nearest = nearest_pairs(mechanism, spec)
        if nearest is None or not nearest.exchanged:
            return None
        if set(nearest.exchanged) != set(names):
            rule = f"is known for an exchange of {', '.join(nearest.exchanged)}, not of {', '.join(names)}"
            raise NoFormulaError(f"the law of {mechanism.name}", rule, f"write --exchange {','.join(nearest.exchanged)}")
        given = {"levels": list(SECRET_LEVELS), **settings, "distance": str(nearest.distance)}
        model = engine.attacker_of(registry, "tester", given)
        report = engine.risk(spec, model, mechanism)
    if dataset is not None:
        report = engine.beside_worst(report, engine.risk(spec, model, mechanism))
    rows = (row for row in report.rows if dict(row.at).get("candidates") not in (DISTINGUISHED, UNPROMISED))
    return attrs.evolve(report, rows=tuple(rows))


def ledger(
    *specifications: Specification,
    times: Sequence[int] | None = None,
    like: Specification | None = None,
    as_promised: bool = False,
) -> Composition:
    """The total budget of several releases of one data collection: their promises as one specification.

    Args:
        specifications: the parts: five blocks, specifications or files.
        times: how often each is released; once, when it is left out.
        like: a specification whose space and input divergence the total is stated in.
        as_promised: add refuted promises too; the total is then one of promises.

    Returns:
        the total as five blocks (`spec`), each part in the common blocks, what was lost in the conversion, and the claim status
        of each.

    Raises:
        NoCompositionError: there are no common blocks. RefutedPartError: a part whose claim is refuted.

    >>> import dpspec as dp
    >>> people = dp.records(region=["north", "south"])
    >>> year = dp.spec(space=people, distance="add-remove", standard="pure", epsilon="1/10")
    >>> print(dp.ledger(year, year).spec.budget, dp.ledger(year, times=[12]).spec.budget)
    epsilon = 1/5 epsilon = 6/5
    """
    from dpspec.comparison.composition import add_up
    from dpspec.extension.loader import installed

    documents = as_documents(specifications)
    frame = None if like is None else as_document(like).spec
    return add_up(documents, installed().registry, frame, times=times, as_promised=as_promised)


def compose(
    *specifications: Specification,
    times: Sequence[int] | None = None,
    delta: NumberLike | None = None,
    epsilon: NumberLike | None = None,
    like: Specification | None = None,
) -> PrivacyAccount:
    """The total privacy loss of releases, from their loss distributions: an epsilon at a delta, or a delta at an epsilon.

    Args:
        specifications: the releases: five blocks, specifications or files.
        times: how often each is released; once, when it is left out.
        delta: the probability delta at which epsilon is computed.
        epsilon: the privacy loss (in nats) at which delta is computed, instead.
        like: a specification whose space and input divergence the result is stated in.

    Raises:
        NoCompositionError: there are no common blocks, or a promise that has no worst pair. RefutedPartError: a part whose
        claim is refuted.
    """
    from dpspec.comparison.composition import account_of
    from dpspec.extension.loader import installed

    documents = as_documents(specifications)
    often = [1] * len(documents) if times is None else times
    if len(often) != len(documents):
        raise ParameterError("times", f"must be {len(documents)} numbers, one for each release", value=tuple(often))
    frame = None if like is None else as_document(like).spec
    return account_of(documents, often, installed().registry, frame, delta=delta, epsilon=epsilon)


def lint(*paths: str | Path, table: GivenTable | None = None) -> tuple[Finding, ...]:
    """Find misleading statements in well-formed specification files, file by file and line by line.

    Args:
        paths: files, or directories, which mean their specification files.
        table: the confidential table that they are about: the records that its exact tables determine are checked, too.
    """
    from dpspec.extension.loader import installed
    from dpspec.linter.look import lint as look
    from dpspec.specfile.table_input import table_file

    if table is None:
        return look(paths, installed().registry, None)
    with table_file(table) as name:
        return look(paths, installed().registry, name)


def as_document(given: Specification, name: str = "specification", *, mechanism: Mechanism | None = None) -> SpecDocument:
    """A specification that is given as a file, as what was read of it, or as five blocks, as one that was read.

    Raises:
        ParameterError: it is none of these.
    """
    import attrs

    from dpspec.extension.loader import installed
    from dpspec.specfile.reader import as_document as read_document

    found = read_document(given, installed().registry, name)
    return found if mechanism is None else attrs.evolve(found, mechanism=mechanism, claim=None, miniatures=(), secret=None)


def as_documents(given: Sequence[Specification]) -> list[SpecDocument]:
    """Several specifications: a directory means its files, and five blocks are identified by their position."""
    from dpspec.specfile.reader import check_ids, spec_files

    listed: list[Specification] = []
    for one in given:
        listed += spec_files(one) if isinstance(one, (str, Path)) else [one]
    found = [as_document(one, f"part-{place}") for place, one in enumerate(listed, 1)]
    check_ids(tuple(found))
    return found


# --- the same functions for documents and registries ------------------------------------------------


def verify_file(
    path: str | Path,
    registry: Registry | None = None,
    progress: Progress | None = None,
    *,
    function: NamedFunction | None = None,
    release: bool = False,
    witnesses: str | Path | None = None,
) -> FileReport:
    """Read a specification file and judge everything that it states.

    Args:
        path: the file.
        registry: where its names are looked up; without it, among all installed plugins.
        progress: called with (done, in all).
        function: verify this plain function against the five blocks instead; other statements of the file are not verified.
        release: verify the claim on the mechanism's release code instead of its stated law.
        witnesses: a directory that gets a witness file for every refuted claim.
    """
    from dpspec.extension.loader import installed
    from dpspec.verifier.document import verify_document, verify_function, verify_release

    registry = registry or installed().registry
    document = read(path, registry)
    if release:
        report = verify_release(document, registry=registry, progress=progress)
    elif function is None:
        report = verify_document(document, registry=registry, progress=progress)
    else:
        report = verify_function(function, document, registry=registry, progress=progress)
    if witnesses is None:
        return report
    from dpspec.verifier.replay import keep_witnesses

    return keep_witnesses(report, witnesses, registry)


def quick_standing(
    document: SpecDocument, registry: Registry | None = None, most: int | None = None, also: Sequence[Dataset] = ()
) -> Standing:  # fmt: skip
    """The status of the claim of a file, with little work: no space of more than `most` datasets is
    enumerated, and no size of a miniature is raised. The laws on the datasets of `also` are compared as well."""
    from dpspec.extension.loader import installed
    from dpspec.verifier.standing import QUICK, standing

    return standing(document, registry or installed().registry, most=QUICK if most is None else most, effort=0, also=also)


def order_specs(
    documents: Sequence[SpecDocument],
    registry: Registry | None = None,
    progress: Progress | None = None,
    *,
    standings: Sequence[Standing] | None = None,
    jobs: int | None = 1,
) -> Order:
    """Compare every two of many specifications: who implies whom, by their ids, with the claim status of each.

    Args:
        documents: the specifications.
        registry: the rules of inference; without it, those of all installed plugins.
        progress: called with (done, in all).
        standings: the claim status of each, where it is known; otherwise a little work is spent on it, as `compare` does.
        jobs: so many processes for the claim status, of which each has a registry of its own, of all that is installed; None for
            one for each processor where there are many files. What ends such a process is the claim status of its file.

    Raises:
        ParameterError: for no specification, and for two with one id.
    """
    from contextlib import closing
    from functools import partial

    import attrs

    from dpspec.base.jobs import in_order, jobs_for
    from dpspec.comparison.order import SharedAnswers, order_of_many
    from dpspec.comparison.separations import exact_judge
    from dpspec.extension.loader import installed
    from dpspec.reason.search import rules_of

    registry = registry or installed().registry
    named = [(document.id, document) for document in documents]
    answers = SharedAnswers(rules=rules_of(registry), judge=exact_judge(registry))
    asked = documents if standings is None else ()
    at_once = jobs_for(jobs, len(asked))
    checked = partial(quick_standing, registry=registry if at_once == 1 else None)
    with closing(in_order(checked, asked, at_once, ended_standing)) as checked_standings:
        # other processes are at work then, and this one compares meanwhile
        first = [next(checked_standings)] if at_once > 1 else []
        found = order_of_many(named, answers, partial(compared, registry=registry), progress)
        known = [*first, *checked_standings] if standings is None else standings
    return attrs.evolve(found, about=tuple(documents), standings=tuple(known))


def ended_standing(document: SpecDocument) -> Standing:  # noqa: ARG001 - which file it was does not matter
    """The claim status of a file that ended the process which checked it."""
    from dpspec.base.words import Word
    from dpspec.verifier.standing import Standing

    return Standing(word=Word.PLUGIN, reason="a library, or the system, ended the process that checked the claim")


def find_yardsticks(
    left: PrivacySpec,
    right: PrivacySpec,
    registry: Registry | None = None,
    *,
    largest_household: int | None = None,
    at: Mapping[str, str] | None = None,
    within: int | None = None,
) -> tuple[Yardstick, ...]:
    """The common consequences of two specifications, in blocks that are derived from their own.

    Args:
        left, right: the two specifications.
        registry: where rules and output divergences are looked up.
        largest_household: hold them against each other on the datasets without a larger household only: an assumption about
            the data, not a fact that a specification states.
        at: parameters of a further output divergence to try, such as {"delta": "1e-10"}.
        within: the largest distance of the neighbours that conversions need.

    Raises:
        NoYardstickError: no common space or universes; ParameterError: a number outside its domain.
    """
    from dpspec.blocks.parts import Membership
    from dpspec.comparison.one_schema import restated
    from dpspec.comparison.yardstick import common_space, found_blocks, yardsticks
    from dpspec.extension.loader import installed
    from dpspec.reason.search import rules_of

    registry = registry or installed().registry
    left, right, _ = restated(left, right)
    space = None
    if largest_household is not None:
        start = common_space(left, right)
        members = Membership.found_in(start)
        space = None if members is None else members.with_most("person", "household", largest_household)
        if space is None:
            rule = "asks for persons in households, which this dataset space does not have"
            raise NoYardstickError("largest household", rule, "leave it out", value=start.name)
    blocks = found_blocks(left, right, registry=registry, space=space, at=at, within=within)
    return yardsticks(left, right, blocks, rules_of(registry))


def write_derivation(found: Comparison, path: str | Path, registry: Registry) -> str:
    """Write the derivation of a comparison to a file: left => right, or right => left where only that is derived.

    Returns:
        a line that says what was written, or that there is nothing to write.
    """
    from dpspec.base.files import write_whole

    for direction, said in ((found.forward, "the first implies the second"), (found.backward, "the second implies the first")):
        if direction.derivation is not None:
            write_whole(Path(path), direction.derivation.text(registry))
            return f"wrote {path}: {said}"
    return f"nothing written to {path}: neither direction is derived"
