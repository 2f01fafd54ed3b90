"""The first-party plugin of attacker models, and of the disclosure risks that follow from a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_attackers.chamber import InformationChamber as InformationChamber
    from dpspec_attackers.counts import BlockKnowledge as BlockKnowledge, Hierarchical as Hierarchical, Uniqueness as Uniqueness
    from dpspec_attackers.experiment import attack as attack
    from dpspec_attackers.full_knowledge import ArbitraryPrior as ArbitraryPrior, StrongestAttacker as StrongestAttacker
    from dpspec_attackers.independent_records import IndependentRecord as IndependentRecord
    from dpspec_attackers.membership.strong import StrongMembership as StrongMembership
    from dpspec_attackers.membership.targets import (
        MembershipDifference as MembershipDifference,
        MembershipPosterior as MembershipPosterior,
        MembershipRatio as MembershipRatio,
    )
    from dpspec_attackers.profiles.standard_profiles import (
        Box as Box,
        Constant as Constant,
        Difference as Difference,
        FixedP as FixedP,
        FixedQ as FixedQ,
        FromFunction as FromFunction,
        OneMissing as OneMissing,
        Point as Point,
        TwoDimensional as TwoDimensional,
    )
    from dpspec_attackers.sampling import Journalist as Journalist, NosyNeighbour as NosyNeighbour, Outsider as Outsider
    from dpspec_attackers.table_attacks import (
        IntegerProgram as IntegerProgram,
        MostLikelyRecord as MostLikelyRecord,
        NearestDonor as NearestDonor,
    )
    from dpspec_attackers.tester import (
        AttributeRestricted as AttributeRestricted,
        CompoundTester as CompoundTester,
        FrequentistTester as FrequentistTester,
    )

DPSPEC_API = 1

NAMES: Names = {
    "attackers": {
        "tester": "dpspec_attackers.tester:FrequentistTester",
        "compound-tester": "dpspec_attackers.tester:CompoundTester",
        "strongest": "dpspec_attackers.full_knowledge:StrongestAttacker",
        "arbitrary-prior": "dpspec_attackers.full_knowledge:ArbitraryPrior",
        "information-chamber": "dpspec_attackers.chamber:InformationChamber",
        "sampling-outsider": "dpspec_attackers.sampling:Outsider",
        "nosy-neighbour": "dpspec_attackers.sampling:NosyNeighbour",
        "journalist": "dpspec_attackers.sampling:Journalist",
        "attribute-restricted": "dpspec_attackers.tester:AttributeRestricted",
        "independent-record": "dpspec_attackers.independent_records:IndependentRecord",
        "strong-membership": "dpspec_attackers.membership.strong:StrongMembership",
        "block-knowledge": "dpspec_attackers.counts:BlockKnowledge",
        "hierarchical": "dpspec_attackers.counts:Hierarchical",
        "uniqueness": "dpspec_attackers.counts:Uniqueness",
        "nearest-donor": "dpspec_attackers.table_attacks:NearestDonor",
        "most-likely-record": "dpspec_attackers.table_attacks:MostLikelyRecord",
        "integer-program": "dpspec_attackers.table_attacks:IntegerProgram",
    },
    "tolerances": {
        "constant": "dpspec_attackers.profiles.standard_profiles:Constant",
        "fixed-q": "dpspec_attackers.profiles.standard_profiles:FixedQ",
        "fixed-p": "dpspec_attackers.profiles.standard_profiles:FixedP",
        "two-dimensional": "dpspec_attackers.profiles.standard_profiles:TwoDimensional",
        "box": "dpspec_attackers.profiles.standard_profiles:Box",
        "difference": "dpspec_attackers.profiles.standard_profiles:Difference",
        "point": "dpspec_attackers.profiles.standard_profiles:Point",
        "one-missing": "dpspec_attackers.profiles.standard_profiles:OneMissing",
        "function": "dpspec_attackers.profiles.standard_profiles:FromFunction",
        "membership-difference": "dpspec_attackers.membership.targets:MembershipDifference",
        "membership-posterior": "dpspec_attackers.membership.targets:MembershipPosterior",
        "membership-ratio": "dpspec_attackers.membership.targets:MembershipRatio",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_attackers.tester": ("AttributeRestricted", "CompoundTester", "FrequentistTester"),
    "dpspec_attackers.full_knowledge": ("ArbitraryPrior", "StrongestAttacker"),
    "dpspec_attackers.chamber": ("InformationChamber",),
    "dpspec_attackers.sampling": ("Journalist", "NosyNeighbour", "Outsider"),
    "dpspec_attackers.experiment": ("attack",),
    "dpspec_attackers.independent_records": ("IndependentRecord",),
    "dpspec_attackers.table_attacks": ("IntegerProgram", "MostLikelyRecord", "NearestDonor"),
    "dpspec_attackers.membership.strong": ("StrongMembership",),
    "dpspec_attackers.counts": ("BlockKnowledge", "Hierarchical", "Uniqueness"),
    "dpspec_attackers.profiles.standard_profiles": (
        "Box",
        "Constant",
        "Difference",
        "FixedP",
        "FixedQ",
        "FromFunction",
        "OneMissing",
        "Point",
        "TwoDimensional",
    ),
    "dpspec_attackers.membership.targets": ("MembershipDifference", "MembershipPosterior", "MembershipRatio"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
