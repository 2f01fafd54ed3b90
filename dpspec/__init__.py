"""dpspec: differential privacy specifications as objects that are written, verified, compared and explained.

    from dpspec import read_spec, verify_file, compare_specs

    report = verify_file("specs/randomised-response.dpspec.toml")

Names are loaded when they are first used, so that ``import dpspec`` stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpspec.api import compare_specs, read_spec, verify_file
    from dpspec.base.errors import DpspecError
    from dpspec.base.exact import Bracket, Number, ln, number, sqrt
    from dpspec.base.params import define
    from dpspec.blocks.budget import Budget, UniformBudget
    from dpspec.blocks.input_divergence import InputDivergence, Relation
    from dpspec.blocks.invariant import FunctionInvariant, Invariant, LinearMap, Marginal
    from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Multiverse, Trivial
    from dpspec.blocks.output_divergence import OutputDivergence
    from dpspec.blocks.space import Attribute, DatasetSpace
    from dpspec.comparison.compare import Comparison
    from dpspec.extension.loader import installed, load_plugins
    from dpspec.grammar.mechanism import Claim, Mechanism
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.laws.law import FiniteLaw, Law
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.entry import verify_claim
    from dpspec.verifier.verdict import Outcome, Verdict

__all__ = [
    "Attribute", "Bracket", "Budget", "Claim", "Comparison", "DatasetSpace", "DpspecError", "ExplicitUniverses",
    "FiniteLaw", "FunctionInvariant", "InputDivergence", "Invariant", "Law", "LevelSets", "LinearMap", "Marginal",
    "Mechanism", "Multiverse", "Number", "Outcome", "OutputDivergence", "PrivacySpec", "Relation", "SpecDocument",
    "Trivial", "UniformBudget", "Verdict", "compare_specs", "define", "installed", "ln", "load_plugins", "number",
    "read_spec", "sqrt", "verify_claim", "verify_file",
]  # fmt: skip

_HOME = {
    "dpspec.api": ("compare_specs", "read_spec", "verify_file"),
    "dpspec.blocks.budget": ("Budget", "UniformBudget"),
    "dpspec.blocks.input_divergence": ("InputDivergence", "Relation"),
    "dpspec.blocks.invariant": ("FunctionInvariant", "Invariant", "LinearMap", "Marginal"),
    "dpspec.blocks.multiverse": ("ExplicitUniverses", "LevelSets", "Multiverse", "Trivial"),
    "dpspec.blocks.output_divergence": ("OutputDivergence",),
    "dpspec.blocks.space": ("Attribute", "DatasetSpace"),
    "dpspec.comparison.compare": ("Comparison",),
    "dpspec.base.errors": ("DpspecError",),
    "dpspec.base.exact": ("Bracket", "Number", "ln", "number", "sqrt"),
    "dpspec.extension.loader": ("installed", "load_plugins"),
    "dpspec.laws.law": ("FiniteLaw", "Law"),
    "dpspec.grammar.mechanism": ("Claim", "Mechanism"),
    "dpspec.base.params": ("define",),
    "dpspec.grammar.spec": ("PrivacySpec",),
    "dpspec.specfile.document": ("SpecDocument",),
    "dpspec.verifier.entry": ("verify_claim",),
    "dpspec.verifier.verdict": ("Outcome", "Verdict"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            value = getattr(importlib.import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
