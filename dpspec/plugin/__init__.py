"""For authors of plugins: everything that a plugin imports, in one line.

    from dpspec.plugin import Mechanism, define, hookimpl

The base class of each kind of plugin, the parameters that `define` declares, exact numbers and laws, the blocks that examples are
made of, and the hooks. What is needed less often is one step further, by topic: ``laws.GaussianLaw``, ``errors.TableError``,
``exact.sqrt``, ``tables.TableFormat``, ``specfile.read_text``. Names are loaded when they are first used. Everything else of
dpspec may move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names as late_names

if TYPE_CHECKING:
    from dpspec import (
        blocks as blocks,
        grammar as grammar,
        laws as laws,
        linter as linter,
        risks as risks,
        specfile as specfile,
    )
    from dpspec.base import errors as errors, exact as exact, params as params, randomness as randomness
    from dpspec.base.errors import IncompatibleBlocksError as IncompatibleBlocksError, ParameterError as ParameterError
    from dpspec.base.exact import Bracket as Bracket, Number as Number, ln as ln, number as number
    from dpspec.base.lazy import late_module as late_module
    from dpspec.base.memo import memoize as memoize
    from dpspec.base.params import (
        Exact as Exact,
        Integer as Integer,
        Items as Items,
        Nested as Nested,
        Rational as Rational,
        Registered as Registered,
        Text as Text,
        define as define,
    )
    from dpspec.base.promises import is_a as is_a
    from dpspec.base.randomness import Randomness as Randomness
    from dpspec.base.types import AnyIntegers as AnyIntegers, Floats as Floats, Integers as Integers, Mask as Mask
    from dpspec.base.work import limited as limited, spend as spend
    from dpspec.blocks.budget import Budget as Budget, UniformBudget as UniformBudget
    from dpspec.blocks.input_divergence import Bound as Bound, InputDivergence as InputDivergence, Relation as Relation
    from dpspec.blocks.invariant import Invariant as Invariant, LinearMap as LinearMap, Marginal as Marginal
    from dpspec.blocks.multiverse import LevelSets as LevelSets, Multiverse as Multiverse, Trivial as Trivial
    from dpspec.blocks.output_divergence import OutputDivergence as OutputDivergence
    from dpspec.blocks.records import OrderedRecords as OrderedRecords, UnorderedRecords as UnorderedRecords
    from dpspec.blocks.space import Attribute as Attribute, Dataset as Dataset, DatasetSpace as DatasetSpace, Record as Record
    from dpspec.blocks.vectors import BitVectors as BitVectors
    from dpspec.extension.hooks import (
        Names as Names,
        Register as Register,
        Registry as Registry,
        hookimpl as hookimpl,
        singular as singular,
    )
    from dpspec.grammar import (
        answers as answers,
        cell_stream as cell_stream,
        sorting as sorting,
        table_files as table_files,
        tables as tables,
        workers as workers,
    )
    from dpspec.grammar.attacker import (
        AttackerModel as AttackerModel,
        AttackGuess as AttackGuess,
        AttackScene as AttackScene,
        RiskStatement as RiskStatement,
        Sense as Sense,
        TableAttacker as TableAttacker,
        Tolerance as Tolerance,
    )
    from dpspec.grammar.flavour import Example as Example, Flavour as Flavour
    from dpspec.grammar.functions import (
        AdaptedFunction as AdaptedFunction,
        DatasetAdapter as DatasetAdapter,
        GeneratorAdapter as GeneratorAdapter,
        LibraryModels as LibraryModels,
        ModelledCall as ModelledCall,
    )
    from dpspec.grammar.mechanism import Claim as Claim, Mechanism as Mechanism
    from dpspec.grammar.rule import Conversion as Conversion, Route as Route, Rule as Rule
    from dpspec.grammar.spec import PrivacySpec as PrivacySpec
    from dpspec.grammar.tables import Table as Table
    from dpspec.laws.law import FiniteLaw as FiniteLaw, Law as Law
    from dpspec.report.explain import described_parameters as described_parameters, explain as explain

_HOMES = {
    "dpspec.base.errors": (
        "IncompatibleBlocksError",
        "ParameterError",
    ),
    "dpspec.base.exact": (
        "Bracket",
        "Number",
        "ln",
        "number",
    ),
    "dpspec.base.lazy": (
        "late_module",
        "late_names",
    ),
    "dpspec.base.memo": ("memoize",),
    "dpspec.base.params": (
        "Exact",
        "Integer",
        "Items",
        "Nested",
        "Rational",
        "Registered",
        "Text",
        "define",
    ),
    "dpspec.base.promises": ("is_a",),
    "dpspec.base.randomness": ("Randomness",),
    "dpspec.base.types": (
        "AnyIntegers",
        "Floats",
        "Integers",
        "Mask",
    ),
    "dpspec.base.work": (
        "limited",
        "spend",
    ),
    "dpspec.blocks.budget": (
        "Budget",
        "UniformBudget",
    ),
    "dpspec.blocks.input_divergence": (
        "Bound",
        "InputDivergence",
        "Relation",
    ),
    "dpspec.blocks.invariant": (
        "Invariant",
        "LinearMap",
        "Marginal",
    ),
    "dpspec.blocks.multiverse": (
        "LevelSets",
        "Multiverse",
        "Trivial",
    ),
    "dpspec.blocks.output_divergence": ("OutputDivergence",),
    "dpspec.blocks.records": (
        "OrderedRecords",
        "UnorderedRecords",
    ),
    "dpspec.blocks.space": (
        "Attribute",
        "Dataset",
        "DatasetSpace",
        "Record",
    ),
    "dpspec.blocks.vectors": ("BitVectors",),
    "dpspec.extension.hooks": (
        "Names",
        "Register",
        "Registry",
        "hookimpl",
        "singular",
    ),
    "dpspec.grammar.attacker": (
        "AttackGuess",
        "AttackScene",
        "AttackerModel",
        "RiskStatement",
        "Sense",
        "TableAttacker",
        "Tolerance",
    ),
    "dpspec.grammar.mechanism": ("Claim", "Mechanism"),
    "dpspec.grammar.functions": (
        "AdaptedFunction",
        "DatasetAdapter",
        "GeneratorAdapter",
        "LibraryModels",
        "ModelledCall",
    ),
    "dpspec.grammar.flavour": ("Example", "Flavour"),
    "dpspec.grammar.rule": (
        "Conversion",
        "Route",
        "Rule",
    ),
    "dpspec.grammar.spec": ("PrivacySpec",),
    "dpspec.grammar.tables": ("Table",),
    "dpspec.laws.law": (
        "FiniteLaw",
        "Law",
    ),
    "dpspec.report.explain": (
        "described_parameters",
        "explain",
    ),
}
"""The names that most plugins need."""
_TOPICS = {
    "answers": "dpspec.grammar.answers",
    "blocks": "dpspec.blocks",
    "cell_stream": "dpspec.grammar.cell_stream",
    "errors": "dpspec.base.errors",
    "exact": "dpspec.base.exact",
    "grammar": "dpspec.grammar",
    "laws": "dpspec.laws",
    "linter": "dpspec.linter",
    "params": "dpspec.base.params",
    "randomness": "dpspec.base.randomness",
    "risks": "dpspec.risks",
    "sorting": "dpspec.grammar.sorting",
    "specfile": "dpspec.specfile",
    "table_files": "dpspec.grammar.table_files",
    "tables": "dpspec.grammar.tables",
    "workers": "dpspec.grammar.workers",
}
"""Names for some plugins, by topic: modules whose public names are stable."""

__all__ = [*_TOPICS, *(name for names in _HOMES.values() for name in names)]  # noqa: PLE0604
__getattr__, __dir__ = late_names(__name__, _HOMES, _TOPICS)
