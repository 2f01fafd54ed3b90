"""Mechanisms and their claims, rules by which one claim implies another, attackers, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.grammar.attacker import (
        AttackerModel as AttackerModel,
        Recommendation as Recommendation,
        RiskStatement as RiskStatement,
        Sense as Sense,
        Tolerance as Tolerance,
    )
    from dpspec.grammar.declarations import distance_bound as distance_bound, divergence_bound as divergence_bound
    from dpspec.grammar.flavour import Example as Example, Flavour as Flavour
    from dpspec.grammar.mechanism import (
        Claim as Claim,
        CountErrors as CountErrors,
        CountLaws as CountLaws,
        ExchangesValues as ExchangesValues,
        Kept as Kept,
        KnownPower as KnownPower,
        LawsOnTables as LawsOnTables,
        Mechanism as Mechanism,
        PublishesOthers as PublishesOthers,
        ReadsCounts as ReadsCounts,
        ReleaseInvariants as ReleaseInvariants,
        ReleasesCells as ReleasesCells,
        ReleasesHouseholdsSorted as ReleasesHouseholdsSorted,
        ReleasesRecords as ReleasesRecords,
        ReleasesSorted as ReleasesSorted,
        ScalesNoise as ScalesNoise,
        SimulatedOnTables as SimulatedOnTables,
        SimulatedPower as SimulatedPower,
        StatesMemory as StatesMemory,
        Symmetry as Symmetry,
        cells_read as cells_read,
        counts_read as counts_read,
        first_datasets as first_datasets,
        memory_of_run as memory_of_run,
        releases_households_sorted as releases_households_sorted,
        releases_records as releases_records,
        releases_sorted as releases_sorted,
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
    from dpspec.grammar.sizes import (
        NoStructure as NoStructure,
        SizedLaw as SizedLaw,
    )
    from dpspec.grammar.spec import PrivacySpec as PrivacySpec
    from dpspec.grammar.structure import (
        NearestLaws as NearestLaws,
        ProvedBound as ProvedBound,
        SizeHypothesis as SizeHypothesis,
        Structure as Structure,
    )
    from dpspec.grammar.views import (
        Bounded as Bounded,
        Case as Case,
        Contribution as Contribution,
        CountChanges as CountChanges,
        DrawnView as DrawnView,
        LawPair as LawPair,
        NoisyCount as NoisyCount,
        RepeatedView as RepeatedView,
        Report as Report,
        SampledView as SampledView,
        View as View,
        is_log_concave as is_log_concave,
        law_data as law_data,
        narrowed as narrowed,
        other_numbers as other_numbers,
        records_read as records_read,
    )

_HOMES = {
    "dpspec.grammar.declarations": ("distance_bound", "divergence_bound"),
    "dpspec.grammar.attacker": (
        "AttackerModel",
        "Recommendation",
        "RiskStatement",
        "Sense",
        "Tolerance",
    ),
    "dpspec.grammar.mechanism": (
        "Claim",
        "CountErrors",
        "CountLaws",
        "Kept",
        "KnownPower",
        "ExchangesValues",
        "PublishesOthers",
        "ReadsCounts",
        "LawsOnTables",
        "Mechanism",
        "ReleaseInvariants",
        "ReleasesCells",
        "ReleasesHouseholdsSorted",
        "ReleasesRecords",
        "ReleasesSorted",
        "ScalesNoise",
        "SimulatedOnTables",
        "SimulatedPower",
        "StatesMemory",
        "Symmetry",
        "cells_read",
        "counts_read",
        "first_datasets",
        "memory_of_run",
        "releases_households_sorted",
        "releases_records",
        "releases_sorted",
        "stated_structure",
        "states_itself",
    ),
    "dpspec.grammar.flavour": ("Example", "Flavour"),
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
    "dpspec.grammar.structure": ("NearestLaws", "ProvedBound", "SizeHypothesis", "Structure"),
    "dpspec.grammar.sizes": ("NoStructure", "SizedLaw"),
    "dpspec.grammar.views": (
        "records_read",
        "Bounded",
        "Case",
        "Contribution",
        "CountChanges",
        "DrawnView",
        "LawPair",
        "NoisyCount",
        "RepeatedView",
        "Report",
        "SampledView",
        "View",
        "is_log_concave",
        "law_data",
        "narrowed",
        "other_numbers",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
