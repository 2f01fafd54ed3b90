"""The calls that join the engines: what `dpspec` exports and what the command line runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dpspec.base.errors import NoYardstickError
from dpspec.base.files import write_whole
from dpspec.base.types import Progress
from dpspec.blocks.space import Dataset
from dpspec.compare.compare import Comparison, Order, compare, order
from dpspec.compare.yardstick import Yardstick, common_space, found_blocks, yardsticks
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import installed
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.search import Derivation, rules_of, search
from dpspec.risk import Panel, RiskReport, panel, risk
from dpspec.risk.engine import at_universe_of, attacker_of, dataset_of, panel_of
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.reader import read
from dpspec.verify.document import QUICK, FileReport, Standing, standing, verify_document, verify_function, verify_release
from dpspec.verify.entry import NamedFunction
from dpspec.verify.exhaustive import verify
from dpspec.verify.replay import keep_witnesses


def read_spec(path: str | Path, registry: Registry | None = None) -> SpecDocument:
    """Read a specification file.

    Args:
        path: the file.
        registry: where its names are looked up; without it, among all installed plugins.

    Raises:
        SpecError and its kin; several faults of one file come together as `Faults`.
    """
    return read(Path(path), registry or installed().registry)


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
        function: judge this plain function against the five blocks instead; nothing else that the file states is judged.
        release: judge the claim on the mechanism's release code instead of its stated law.
        witnesses: a directory that gets a witness file for every refuted claim.
    """
    registry = registry or installed().registry
    document = read_spec(path, registry)
    if release:
        report = verify_release(document, registry=registry, progress=progress)
    elif function is None:
        report = verify_document(document, registry=registry, progress=progress)
    else:
        report = verify_function(function, document, registry=registry, progress=progress)
    return report if witnesses is None else keep_witnesses(report, witnesses, registry)


def quick_standing(document: SpecDocument, registry: Registry | None = None, most: int = QUICK) -> Standing:
    """How the claim of a file stands, as far as a little work can tell: no space of more than `most` datasets is
    walked, and no size of a miniature is raised."""
    return standing(document, registry or installed().registry, most=most, effort=0)


def assess(
    document: SpecDocument,
    attacker: str,
    settings: Iterable[str] = (),
    registry: Registry | None = None,
    universe_of: str | None = None,
) -> RiskReport:
    """What a specification file means to a registered attacker: the worst case beside the law of the file's mechanism.

    Args:
        document: the specification file.
        attacker: the name of the attacker model.
        settings: its parameters as texts KEY=VALUE.
        registry: where the name is looked up; without it, among all installed plugins.
        universe_of: a table, or a release's report: the budget is that of its universe, where budgets differ by universe. The
            mechanism's own law, which is one for each universe, is then left out.

    Raises:
        UnknownNameError, ParameterError and its kin: for a wrong name or parameter.
        AttackerMisfitError: when the attacker does not fit the specification.
        TableError: when the table does not fit the space.
    """
    known = registry or installed().registry
    spec, mechanism = _asked_about(document, known, universe_of)
    return risk(spec, attacker_of(known, attacker, settings), mechanism)


def assess_panel(document: SpecDocument, registry: Registry | None = None, universe_of: str | None = None) -> Panel:
    """The same for all attackers that are shown where none is named, each with its defaults.

    Raises:
        AttackerMisfitError: when none fits the specification.
    """
    known = registry or installed().registry
    spec, mechanism = _asked_about(document, known, universe_of)
    return panel(spec, panel_of(known), mechanism)


def _asked_about(document: SpecDocument, registry: Registry, universe_of: str | None) -> tuple[PrivacySpec, Mechanism | None]:
    if universe_of is None:
        return document.spec, document.mechanism
    spec = at_universe_of(document.spec, dataset_of(universe_of, document.spec.space, registry))
    return spec, document.mechanism if spec == document.spec else None


def compare_specs(left: PrivacySpec, right: PrivacySpec, registry: Registry | None = None) -> Comparison:
    """Compare two specifications: derived by the registered rules, separated, or unknown, in each direction.

    The exact engine checks every mechanism that is said to separate them.
    """

    def judge(mechanism: Mechanism, spec: PrivacySpec, datasets: tuple[Dataset, ...]) -> tuple[str, str]:
        verdict = verify(mechanism, spec, datasets=datasets, registry=registry)
        if verdict.witness is not None:
            seen = verdict.witness
            found = f"refuted: d_Pr = {seen.divergence} > {seen.allowed} at d_X = {seen.distance}"
        elif verdict.vacuous and len(verdict.vacuous) == len(verdict.universes):
            found = f"{verdict.outcome.value}: no two of the datasets share a universe, so nothing is asked of them"
        else:
            found = f"{verdict.outcome.value}: constant {verdict.constant} on {verdict.scope}"
        return verdict.outcome.value, found

    return compare(left, right, rules=rules_of(registry or installed().registry), judge=judge)


def order_specs(documents: Sequence[SpecDocument], registry: Registry | None = None, progress: Progress | None = None) -> Order:
    """Compare every two of many specifications: who implies whom, by their ids.

    Raises:
        ParameterError: for no specification, and for two with one id.
    """
    registry = registry or installed().registry
    named = [(document.id, document.spec) for document in documents]
    return order(named, lambda left, right: compare_specs(left, right, registry), progress)


def find_yardsticks(
    left: PrivacySpec,
    right: PrivacySpec,
    registry: Registry | None = None,
    *,
    largest_household: int | None = None,
    at: Mapping[str, str] | None = None,
    within: int | None = None,
) -> tuple[Yardstick, ...]:
    """What two specifications both imply, in blocks that are found from their own.

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
    registry = registry or installed().registry
    space = None
    if largest_household is not None:
        start = common_space(left, right)
        space = start.with_most("person", "household", largest_household)
        if space is None:
            rule = "asks for persons in households, which this dataset space does not have"
            raise NoYardstickError("largest household", rule, "leave it out", value=start.name)
    blocks = found_blocks(left, right, registry=registry, space=space, at=at, within=within)
    return yardsticks(left, right, blocks, rules_of(registry))


def derive(premise: PrivacySpec, conclusion: PrivacySpec, registry: Registry | None = None) -> Derivation | None:
    """The shortest derivation of one specification from another by the registered rules; None when none is found."""
    found = search(premise, conclusion, rules_of(registry or installed().registry))
    return found.derivation if found.arrived else None


def write_derivation(found: Comparison, path: str | Path, registry: Registry) -> str:
    """Write the derivation of a comparison to a file: left => right, or right => left where only that is derived.

    Returns:
        a line that says what was written, or that there is nothing to write.
    """
    for direction, said in ((found.forward, "the first implies the second"), (found.backward, "the second implies the first")):
        if direction.derivation is not None:
            write_whole(Path(path), direction.derivation.text(registry))
            return f"wrote {path}: {said}"
    return f"nothing written to {path}: neither direction is derived"
