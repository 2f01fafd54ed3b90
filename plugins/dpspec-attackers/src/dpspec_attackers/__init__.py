"""The first-party plugin of attacker models, and of the disclosure risks that follow from a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_attackers.chamber import InformationChamber as InformationChamber
    from dpspec_attackers.counts import BlockKnowledge as BlockKnowledge, Hierarchical as Hierarchical, Uniqueness as Uniqueness
    from dpspec_attackers.experiment import attack as attack
    from dpspec_attackers.independent import IndependentRecord as IndependentRecord
    from dpspec_attackers.membership.strong import StrongMembership as StrongMembership
    from dpspec_attackers.membership.targets import (
        MembershipDifference as MembershipDifference,
        MembershipPosterior as MembershipPosterior,
        MembershipRatio as MembershipRatio,
    )
    from dpspec_attackers.on_tables import (
        IntegerProgram as IntegerProgram,
        MostLikelyRecord as MostLikelyRecord,
        NearestDonor as NearestDonor,
    )
    from dpspec_attackers.profiles.named import (
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
    from dpspec_attackers.strongest import ArbitraryPrior as ArbitraryPrior, StrongestAttacker as StrongestAttacker
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
        "strongest": "dpspec_attackers.strongest:StrongestAttacker",
        "arbitrary-prior": "dpspec_attackers.strongest:ArbitraryPrior",
        "information-chamber": "dpspec_attackers.chamber:InformationChamber",
        "sampling-outsider": "dpspec_attackers.sampling:Outsider",
        "nosy-neighbour": "dpspec_attackers.sampling:NosyNeighbour",
        "journalist": "dpspec_attackers.sampling:Journalist",
        "attribute-restricted": "dpspec_attackers.tester:AttributeRestricted",
        "independent-record": "dpspec_attackers.independent:IndependentRecord",
        "strong-membership": "dpspec_attackers.membership.strong:StrongMembership",
        "block-knowledge": "dpspec_attackers.counts:BlockKnowledge",
        "hierarchical": "dpspec_attackers.counts:Hierarchical",
        "uniqueness": "dpspec_attackers.counts:Uniqueness",
        "nearest-donor": "dpspec_attackers.on_tables:NearestDonor",
        "most-likely-record": "dpspec_attackers.on_tables:MostLikelyRecord",
        "integer-program": "dpspec_attackers.on_tables:IntegerProgram",
    },
    "tolerances": {
        "constant": "dpspec_attackers.profiles.named:Constant",
        "fixed-q": "dpspec_attackers.profiles.named:FixedQ",
        "fixed-p": "dpspec_attackers.profiles.named:FixedP",
        "two-dimensional": "dpspec_attackers.profiles.named:TwoDimensional",
        "box": "dpspec_attackers.profiles.named:Box",
        "difference": "dpspec_attackers.profiles.named:Difference",
        "point": "dpspec_attackers.profiles.named:Point",
        "one-missing": "dpspec_attackers.profiles.named:OneMissing",
        "function": "dpspec_attackers.profiles.named:FromFunction",
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
    "dpspec_attackers.strongest": ("ArbitraryPrior", "StrongestAttacker"),
    "dpspec_attackers.chamber": ("InformationChamber",),
    "dpspec_attackers.sampling": ("Journalist", "NosyNeighbour", "Outsider"),
    "dpspec_attackers.experiment": ("attack",),
    "dpspec_attackers.independent": ("IndependentRecord",),
    "dpspec_attackers.on_tables": ("IntegerProgram", "MostLikelyRecord", "NearestDonor"),
    "dpspec_attackers.membership.strong": ("StrongMembership",),
    "dpspec_attackers.counts": ("BlockKnowledge", "Hierarchical", "Uniqueness"),
    "dpspec_attackers.profiles.named": (
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
