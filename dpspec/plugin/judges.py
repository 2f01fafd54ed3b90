"""For packages that judge claims about subjects that are no mechanisms: what they take from the kernel, and what they provide.

    from dpspec.plugin.judges import FunctionJudge, Sampling, Verdict

A judge of plain functions is a class with the methods of `FunctionJudge`, named in the entry-point group ``dpspec.judges`` as
`function`. It gets a function, a specification and a `Sampling`, and returns a `Verdict`. Here are, in this order: errors; exact
numbers; what spaces know of their datasets; distributions and comparisons of two of them; the exact engine; events as
expressions; what an observer of an output sees; verdicts and witnesses, and their form as data.
"""

from __future__ import annotations

from dpspec.base.errors import (
    LibraryError,
    NoFormulaError,
    NotEnumerableError,
    NotInSpaceError,
    OwnFaultError,
    PluginContractError,
    WantedShapeError,
    count,
    harmless,
    text_of,
)
from dpspec.base.exact import INFINITY, ZERO, rational
from dpspec.base.log_linear import ball, ceiling_of, floor_of
from dpspec.base.params import did_you_mean
from dpspec.base.randomness import KeyedRandomness, PlacedRandomness, Words
from dpspec.base.time_limits import NOTE, WALL, Cut, Note, Stopwatch, account_of, allow_own_acts, cutting, own_acts_allowed
from dpspec.base.types import Progress
from dpspec.blocks.input_divergence import RecordSteps
from dpspec.blocks.multiverse import Universe, seen_to_fix
from dpspec.blocks.parts import Entries, NumberLists, Trials, order_tried
from dpspec.blocks.space import MEMBERS, presented
from dpspec.blocks.trial_lists import Ray
from dpspec.extension.loader import origins
from dpspec.grammar.functions import PlainFunction, annotated, parameters_of
from dpspec.grammar.plugin_calls import computed_law
from dpspec.grammar.spec import blocks_of
from dpspec.grammar.trial_datasets import MOST, pattern_datasets
from dpspec.laws.atoms import IDENTICAL, Between, FiniteDichotomy
from dpspec.laws.combine import mixture
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.enclosures import Enclosed, EnclosedLaw, Probability, integral
from dpspec.laws.exponential import Exponential, exact_exponential, finite_law
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.numeric import hull
from dpspec.laws.products import UnionDichotomy, product_of
from dpspec.verifier.codec import error_from_data, error_to_data, from_data, to_data
from dpspec.verifier.entry import judge_claim, verify_claim
from dpspec.verifier.event import Asked, telling_event, with_probabilities
from dpspec.verifier.exhaustive import NOTHING, as_guarantee, asked_of, verify as verify_exhaustively
from dpspec.verifier.expression import Expression, filled, numbers
from dpspec.verifier.functions import ERROR, SECONDS, FunctionError, FunctionJudge, NamedFunction, PowerError, Sampling, parts_of
from dpspec.verifier.observation import (
    Observed,
    Placeholder,
    UnobservableError,
    compared_by_value,
    observed,
    observed_raise,
    steady,
)
from dpspec.verifier.outputs import MOST_NUMBERS, Atom, Outcomes, Raised, Shape, atom, outcome_atom, shape_text, written
from dpspec.verifier.proof import EVERY, METHOD, ONE_PAIR, WHOLE
from dpspec.verifier.verdict import Event, Notice, ProofStep, UniverseResult, Witness

__all__ = [
    "ERROR",
    "EVERY",
    "IDENTICAL",
    "INFINITY",
    "MEMBERS",
    "METHOD",
    "MOST",
    "MOST_NUMBERS",
    "NOTE",
    "NOTHING",
    "ONE_PAIR",
    "SECONDS",
    "WALL",
    "WHOLE",
    "ZERO",
    "Asked",
    "Atom",
    "Between",
    "Cut",
    "Dichotomy",
    "Enclosed",
    "EnclosedLaw",
    "Entries",
    "Event",
    "Exponential",
    "Expression",
    "FiniteDichotomy",
    "FunctionError",
    "FunctionJudge",
    "GaussianLaw",
    "KeyedRandomness",
    "LaplaceLaw",
    "LibraryError",
    "NamedFunction",
    "NoFormulaError",
    "NotEnumerableError",
    "NotInSpaceError",
    "Note",
    "Notice",
    "NumberLists",
    "Observed",
    "Outcomes",
    "OwnFaultError",
    "PlacedRandomness",
    "Placeholder",
    "PlainFunction",
    "PluginContractError",
    "PowerError",
    "Probability",
    "Progress",
    "ProofStep",
    "Raised",
    "Ray",
    "RecordSteps",
    "Sampling",
    "Shape",
    "Stopwatch",
    "Trials",
    "TwoSidedGeometricLaw",
    "UnionDichotomy",
    "Universe",
    "UniverseResult",
    "UnobservableError",
    "WantedShapeError",
    "Witness",
    "Words",
    "account_of",
    "allow_own_acts",
    "annotated",
    "as_guarantee",
    "asked_of",
    "atom",
    "ball",
    "blocks_of",
    "ceiling_of",
    "compared_by_value",
    "computed_law",
    "count",
    "cutting",
    "did_you_mean",
    "error_from_data",
    "error_to_data",
    "exact_exponential",
    "filled",
    "finite_law",
    "floor_of",
    "from_data",
    "harmless",
    "hull",
    "integral",
    "judge_claim",
    "mixture",
    "numbers",
    "observed",
    "observed_raise",
    "order_tried",
    "origins",
    "outcome_atom",
    "own_acts_allowed",
    "parameters_of",
    "parts_of",
    "pattern_datasets",
    "presented",
    "product_of",
    "rational",
    "seen_to_fix",
    "shape_text",
    "steady",
    "telling_event",
    "text_of",
    "to_data",
    "verify_claim",
    "verify_exhaustively",
    "with_probabilities",
    "written",
]
