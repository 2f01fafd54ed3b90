"""What is claimed of a mechanism, by what rules a claim follows from others, and who attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.late import late_names

if TYPE_CHECKING:
    from dpspec.grammar.attacker import (
        AttackerModel as AttackerModel,
        Recommendation as Recommendation,
        RiskStatement as RiskStatement,
        Sense as Sense,
        Tolerance as Tolerance,
    )
    from dpspec.grammar.mechanism import (
        Claim as Claim,
        CountLaws as CountLaws,
        Example as Example,
        ExchangesValues as ExchangesValues,
        Flavour as Flavour,
        Kept as Kept,
        KnownPower as KnownPower,
        LawsOnTables as LawsOnTables,
        Mechanism as Mechanism,
        PublishesOthers as PublishesOthers,
        ReleaseInvariants as ReleaseInvariants,
        SimulatedOnTables as SimulatedOnTables,
        SimulatedPower as SimulatedPower,
        Symmetry as Symmetry,
        first_datasets as first_datasets,
        stated_structure as stated_structure,
        states_itself as states_itself,
    )
    from dpspec.grammar.rule import (
        BudgetFormula as BudgetFormula,
        BudgetTheorem as BudgetTheorem,
        Conversion as Conversion,
        Question as Question,
        Route as Route,
        Rule as Rule,
        Step as Step,
        TheoremNumber as TheoremNumber,
        conversion as conversion,
    )
    from dpspec.grammar.spec import PrivacySpec as PrivacySpec
    from dpspec.grammar.structure import (
        Bounded as Bounded,
        Case as Case,
        Contribution as Contribution,
        CountChanges as CountChanges,
        DrawnView as DrawnView,
        LawPair as LawPair,
        NearestLaws as NearestLaws,
        NoisyCount as NoisyCount,
        NoStructure as NoStructure,
        ProvedBound as ProvedBound,
        RepeatedView as RepeatedView,
        Report as Report,
        SampledView as SampledView,
        SizedLaw as SizedLaw,
        SizeHypothesis as SizeHypothesis,
        Structure as Structure,
        View as View,
        is_log_concave as is_log_concave,
        law_data as law_data,
        narrowed as narrowed,
        other_numbers as other_numbers,
        records_read as records_read,
    )

_HOMES = {
    "dpspec.grammar.attacker": (
        "AttackerModel",
        "Recommendation",
        "RiskStatement",
        "Sense",
        "Tolerance",
    ),
    "dpspec.grammar.mechanism": (
        "Claim",
        "CountLaws",
        "Example",
        "Flavour",
        "Kept",
        "KnownPower",
        "ExchangesValues",
        "PublishesOthers",
    "PublishesOthers",
        "LawsOnTables",
        "Mechanism",
        "ReleaseInvariants",
        "SimulatedOnTables",
        "SimulatedPower",
        "Symmetry",
        "first_datasets",
        "stated_structure",
        "states_itself",
    ),
    "dpspec.grammar.rule": (
        "Conversion",
        "BudgetFormula",
        "BudgetTheorem",
        "Question",
        "Route",
        "Rule",
        "Step",
        "TheoremNumber",
        "conversion",
    ),
    "dpspec.grammar.spec": ("PrivacySpec",),
    "dpspec.grammar.structure": (
        "Bounded",
        "Case",
        "Contribution",
        "CountChanges",
        "DrawnView",
        "LawPair",
        "NearestLaws",
        "NoisyCount",
        "NoStructure",
        "ProvedBound",
        "RepeatedView",
        "Report",
        "SampledView",
        "SizedLaw",
        "SizeHypothesis",
        "Structure",
        "View",
        "is_log_concave",
        "law_data",
        "narrowed",
        "other_numbers",
        "records_read",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
