"""dpspec: differential privacy specifications as objects that are written, verified, compared and explained.

    import dpspec as dp

    people = dp.records(colour=10)
    spec = dp.spec(space=people, distance="add-remove", standard="pure", epsilon=1)
    print(dp.verify(dp.laplace(queries=dp.marginal(attributes="colour"), epsilon=1), spec))

Everything that a file can name is made by a function of the same name (`laplace`, `records`, `marginal`, ...; hyphens are
underscores), and `spec` puts five blocks together. The groups `dp.mechanisms`, `dp.spaces`, ... list the functions of one kind.
There is one function for each command. It returns an object: `str` of it is what the command prints, a notebook shows it as a
page, and `to_dict` and `to_markdown` export it. The classes are here too, with those of plugins. Names are loaded when they are
first used, so that ``import dpspec`` is fast. Authors of plugins import from `dpspec.plugin`.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.api import (
        build as build,
        compare as compare,
        compose as compose,
        convert as convert,
        ledger as ledger,
        lint as lint,
        order as order,
        read as read,
        read_table as read_table,
        replay as replay,
        risk as risk,
        verify as verify,
    )
    from dpspec.base.errors import DpspecError as DpspecError
    from dpspec.base.exact import Bracket as Bracket, Number as Number, ln as ln, number as number, sqrt as sqrt
    from dpspec.blocks.bounded import (
        BoundedIntegers as BoundedIntegers,
        BoundedReals as BoundedReals,
        ClippedVectors as ClippedVectors,
        TimeSeries as TimeSeries,
    )
    from dpspec.blocks.budget import Budget as Budget, BudgetTable as BudgetTable, UniformBudget as UniformBudget
    from dpspec.blocks.input_divergence import InputDivergence as InputDivergence, Relation as Relation
    from dpspec.blocks.invariant import (
        FunctionInvariant as FunctionInvariant,
        Invariant as Invariant,
        LinearMap as LinearMap,
        Marginal as Marginal,
    )
    from dpspec.blocks.lists import Texts as Texts, ValueLists as ValueLists
    from dpspec.blocks.multiverse import (
        ExplicitUniverses as ExplicitUniverses,
        LevelSets as LevelSets,
        Multiverse as Multiverse,
        Trivial as Trivial,
    )
    from dpspec.blocks.output_divergence import OutputDivergence as OutputDivergence
    from dpspec.blocks.records import (
        ContingencyTables as ContingencyTables,
        Households as Households,
        OrderedRecords as OrderedRecords,
        UnorderedRecords as UnorderedRecords,
    )
    from dpspec.blocks.space import Attribute as Attribute, DatasetSpace as DatasetSpace
    from dpspec.blocks.vectors import BitVectors as BitVectors, IntegerCounts as IntegerCounts
    from dpspec.commands import (
        ablate as ablate,
        check as check,
        check_plugin as check_plugin,
        examples as examples,
        explain as explain,
        measure as measure,
        new_plugin as new_plugin,
        new_spec as new_spec,
        plugins as plugins,
        recommend as recommend,
        schema as schema,
        yardsticks as yardsticks,
    )
    from dpspec.comparison.compare import Comparison as Comparison
    from dpspec.constructors import spec as spec
    from dpspec.extension.loader import installed as installed, load_plugins as load_plugins
    from dpspec.grammar.mechanism import Claim as Claim, Mechanism as Mechanism
    from dpspec.grammar.spec import PrivacySpec as PrivacySpec
    from dpspec.laws.law import FiniteLaw as FiniteLaw, Law as Law
    from dpspec.report.figures import Figure as Figure
    from dpspec.report.pages import CommandAnswer as CommandAnswer
    from dpspec.specfile.document import SpecDocument as SpecDocument
    from dpspec.verifier.verdict import Outcome as Outcome, Verdict as Verdict

_HOMES = {
    "dpspec.api": (
        "build",
        "compare",
        "compose",
        "convert",
        "ledger",
        "lint",
        "order",
        "read",
        "read_table",
        "replay",
        "risk",
        "verify",
    ),
    "dpspec.base.errors": ("DpspecError",),
    "dpspec.base.exact": (
        "Bracket",
        "Number",
        "ln",
        "number",
        "sqrt",
    ),
    "dpspec.blocks.bounded": (
        "BoundedIntegers",
        "BoundedReals",
        "ClippedVectors",
        "TimeSeries",
    ),
    "dpspec.blocks.budget": (
        "Budget",
        "BudgetTable",
        "UniformBudget",
    ),
    "dpspec.blocks.input_divergence": (
        "InputDivergence",
        "Relation",
    ),
    "dpspec.blocks.invariant": (
        "FunctionInvariant",
        "Invariant",
        "LinearMap",
        "Marginal",
    ),
    "dpspec.blocks.lists": (
        "Texts",
        "ValueLists",
    ),
    "dpspec.blocks.multiverse": (
        "ExplicitUniverses",
        "LevelSets",
        "Multiverse",
        "Trivial",
    ),
    "dpspec.blocks.output_divergence": ("OutputDivergence",),
    "dpspec.blocks.records": (
        "ContingencyTables",
        "Households",
        "OrderedRecords",
        "UnorderedRecords",
    ),
    "dpspec.blocks.space": (
        "Attribute",
        "DatasetSpace",
    ),
    "dpspec.blocks.vectors": (
        "BitVectors",
        "IntegerCounts",
    ),
    "dpspec.commands": (
        "ablate",
        "check",
        "check_plugin",
        "examples",
        "explain",
        "measure",
        "new_plugin",
        "new_spec",
        "plugins",
        "recommend",
        "schema",
        "yardsticks",
    ),
    "dpspec.comparison.compare": ("Comparison",),
    "dpspec.constructors": ("spec",),
    "dpspec.extension.loader": (
        "installed",
        "load_plugins",
    ),
    "dpspec.grammar.mechanism": (
        "Claim",
        "Mechanism",
    ),
    "dpspec.grammar.spec": ("PrivacySpec",),
    "dpspec.laws.law": (
        "FiniteLaw",
        "Law",
    ),
    "dpspec.report.figures": ("Figure",),
    "dpspec.report.pages": ("CommandAnswer",),
    "dpspec.specfile.document": ("SpecDocument",),
    "dpspec.verifier.verdict": (
        "Outcome",
        "Verdict",
    ),
}
__all__ = sorted(["__version__", *(name for names in _HOMES.values() for name in names)])  # noqa: PLE0605
_late, _listed = late_names(__name__, _HOMES)


def __dir__() -> list[str]:
    from dpspec.constructors import names
    from dpspec.extension.packages import FUNCTIONS, contributed

    return sorted({"__version__", *_listed(), *names(), *contributed(FUNCTIONS)})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dpspec")
    try:
        return _late(name)
    except AttributeError:
        if name.startswith("_") or find_spec(f"dpspec.{name}") is not None:  # a module that was not imported yet
            raise
    if (contributed := _contributed(name)) is not None:
        return contributed
    try:
        return _class(name) if name[0].isupper() else _constructor(name)
    except AttributeError as fault:
        from dpspec.extension.packages import missing_package

        package = missing_package(name.replace("_", "-")) or missing_package(name, "functions", "classes")
        if package is None:
            raise
        raise AttributeError(f"{str(fault).partition(':')[0]}: pip install {package}") from None


def _contributed(name: str) -> Any:
    """A function that an installed package contributes under this name; None where none does."""
    from dpspec.extension.packages import FUNCTIONS, contributed

    place = contributed(FUNCTIONS).get(name)
    if place is None:
        return None
    from dpspec.report.pages import answering

    return answering(place.load())


def _class(name: str) -> Any:
    """A registered class by its own name."""
    from dpspec.extension.loader import installed

    found = {entry.cls for entry in installed().registry if entry.place.endswith(f":{name}")}
    if len(found) != 1:
        raise AttributeError(f"module 'dpspec' has no attribute {name!r}")
    return found.pop()


def _constructor(name: str) -> Any:
    """The constructor of a registered class, by its registered name."""
    from dpspec.base.params import did_you_mean
    from dpspec.constructors import constructor, names
    from dpspec.extension.loader import installed

    if name in names():
        return constructor(name)
    advice = installed().registry.lacking or did_you_mean(name, {*__all__, *names()}) or "see dir(dpspec), or dpspec plugins"
    raise AttributeError(f"module 'dpspec' has no attribute {name!r}: {advice}")
