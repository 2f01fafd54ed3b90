"""The risk of a specification: attackers, tolerances, and limits on what attackers achieve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.risks.attack_bounds import (
        allowed_advantage as allowed_advantage,
        allowed_excess as allowed_excess,
        allowed_power as allowed_power,
    )
    from dpspec.risks.candidates import (
        MOST_LISTED as MOST_LISTED,
        MOST_WORK as MOST_WORK,
        Allowed as Allowed,
        CandidatePairs as CandidatePairs,
        Candidates as Candidates,
        ComparedPairs as ComparedPairs,
        SharedLaws as SharedLaws,
        candidates_among as candidates_among,
        candidates_within as candidates_within,
        differing_invariants as differing_invariants,
        is_small as is_small,
        laws_of as laws_of,
        pairs_tried as pairs_tried,
        pairs_within as pairs_within,
        size_with_entries as size_with_entries,
        work_of_law as work_of_law,
    )
    from dpspec.risks.engine import (
        OUTSIDE as OUTSIDE,
        Panel as Panel,
        RiskReport as RiskReport,
        RiskRow as RiskRow,
        check_dataset as check_dataset,
        lies_outside as lies_outside,
        panel as panel,
        risk as risk,
    )
    from dpspec.risks.mechanism_pairs import (
        evidence as evidence,
        nearest_pairs as nearest_pairs,
        own_pairs as own_pairs,
        pair_of_views as pair_of_views,
        published_within as published_within,
    )
    from dpspec.risks.numbers import RiskNumbers as RiskNumbers, risk_numbers as risk_numbers

_HOMES = {
    "dpspec.risks.attack_bounds": (
        "allowed_advantage",
        "allowed_excess",
        "allowed_power",
    ),
    "dpspec.risks.candidates": (
        "Allowed",
        "CandidatePairs",
        "Candidates",
        "ComparedPairs",
        "SharedLaws",
        "MOST_LISTED",
        "MOST_WORK",
        "candidates_among",
        "candidates_within",
        "differing_invariants",
        "is_small",
        "laws_of",
        "pairs_tried",
        "pairs_within",
        "size_with_entries",
        "work_of_law",
    ),
    "dpspec.risks.numbers": ("RiskNumbers", "risk_numbers"),
    "dpspec.risks.mechanism_pairs": (
        "evidence",
        "nearest_pairs",
        "own_pairs",
        "pair_of_views",
        "published_within",
    ),
    "dpspec.risks.engine": (
        "OUTSIDE",
        "Panel",
        "RiskReport",
        "RiskRow",
        "check_dataset",
        "lies_outside",
        "panel",
        "risk",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
