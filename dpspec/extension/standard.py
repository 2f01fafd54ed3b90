"""The plugin that ships with the core: the structural spaces, multiverses, invariants, neighbours and budgets, and
the mechanism that publishes invariants.

They come in by the same door as a stranger's, and each is imported when something names it.
"""

from __future__ import annotations

from dpspec.extension.hooks import Names, hookimpl

DPSPEC_API = 1

NAMES: Names = {
    "spaces": {
        "bit-vectors": "dpspec.blocks.vectors:BitVectors",
        "integer-counts": "dpspec.blocks.vectors:IntegerCounts",
        "ordered-records": "dpspec.blocks.records:OrderedRecords",
        "records": "dpspec.blocks.records:UnorderedRecords",
        "contingency-tables": "dpspec.blocks.records:ContingencyTables",
        "households": "dpspec.blocks.records:Households",
        "value-lists": "dpspec.blocks.lists:ValueLists",
        "bounded-reals": "dpspec.blocks.bounded:BoundedReals",
        "bounded-integers": "dpspec.blocks.bounded:BoundedIntegers",
        "clipped-vectors": "dpspec.blocks.bounded:ClippedVectors",
        "time-series": "dpspec.blocks.bounded:TimeSeries",
        "texts": "dpspec.blocks.lists:Texts",
    },
    "multiverses": {
        "trivial": "dpspec.blocks.multiverse:Trivial",
        "invariants": "dpspec.blocks.multiverse:LevelSets",
        "explicit": "dpspec.blocks.multiverse:ExplicitUniverses",
    },
    "invariants": {
        "marginal": "dpspec.blocks.invariant:Marginal",
        "linear-map": "dpspec.blocks.invariant:LinearMap",
    },
    "input_divergences": {
        "within-distance": "dpspec.blocks.input_divergence:WithinDistance",
    },
    "budgets": {
        "uniform": "dpspec.blocks.budget:UniformBudget",
    },
    "mechanisms": {
        "release-invariants": "dpspec.grammar.mechanism:ReleaseInvariants",
    },
    "workers": {
        "embedded": "dpspec.grammar.workers:Embedded",
    },
    "adapters": {
        "list": "dpspec.grammar.functions:ListAdapter",
    },
    "generators": {
        "numpy": "dpspec.grammar.functions:NumpyGenerator",
    },
    "rules": {
        "smaller-space": "dpspec.reason.rules:SmallerSpace",
        "finer-universes": "dpspec.reason.rules:FinerUniverses",
        "listed-universes": "dpspec.reason.rules:ListedUniverses",
        "input-domination": "dpspec.reason.rules:InputDomination",
        "domination-inside-universes": "dpspec.reason.rules:DominationInside",
        "neighbours-to-paths": "dpspec.reason.rules:NeighboursToPaths",
        "output-domination": "dpspec.reason.rules:OutputDomination",
        "equal-laws": "dpspec.reason.rules:EqualLaws",
        "larger-budget": "dpspec.reason.rules:LargerBudget",
        "larger-budgets": "dpspec.reason.rules:LargerBudgets",
    },
}
"""The registered names of the core, by kind."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES
