"""The first-party plugin of divergences: relations, input and output divergences, and conversion routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_divergences.counting import (
        AddRemove as AddRemove,
        DifferInOnePosition as DifferInOnePosition,
        Hamming as Hamming,
        HammingOrdered as HammingOrdered,
        ReplaceOne as ReplaceOne,
        SymmetricDifference as SymmetricDifference,
        UserRelation as UserRelation,
    )
    from dpspec_divergences.f_divergence import FDivergence as FDivergence
    from dpspec_divergences.losses import Pbdp as Pbdp
    from dpspec_divergences.output import (
        DNor as DNor,
        Mult as Mult,
        MultDelta as MultDelta,
        Renyi as Renyi,
        TotalVariation as TotalVariation,
    )
    from dpspec_divergences.paths import (
        EditDistance as EditDistance,
        L1Distance as L1Distance,
        L2Distance as L2Distance,
        LInfinityDistance as LInfinityDistance,
        Neighbour as Neighbour,
        Path as Path,
        UserMetric as UserMetric,
        edits as edits,
        metric as metric,
    )
    from dpspec_divergences.trade_off import (
        GaussianTradeOff as GaussianTradeOff,
        HockeyStick as HockeyStick,
        TradeOffSteps as TradeOffSteps,
    )

DPSPEC_API = 1

NAMES: Names = {
    "relations": {
        "replace-one": "dpspec_divergences.counting:ReplaceOne",
        "add-remove": "dpspec_divergences.counting:AddRemove",
        "differ-in-one-position": "dpspec_divergences.counting:DifferInOnePosition",
    },
    "input_divergences": {
        "hamming": "dpspec_divergences.counting:Hamming",
        "hamming-ordered": "dpspec_divergences.counting:HammingOrdered",
        "symmetric-difference": "dpspec_divergences.counting:SymmetricDifference",
        "neighbour": "dpspec_divergences.paths:Neighbour",
        "path": "dpspec_divergences.paths:Path",
        "l1": "dpspec_divergences.paths:L1Distance",
        "l2": "dpspec_divergences.paths:L2Distance",
        "l-infinity": "dpspec_divergences.paths:LInfinityDistance",
        "edit-distance": "dpspec_divergences.paths:EditDistance",
    },
    "output_divergences": {
        "mult": "dpspec_divergences.output:Mult",
        "mult-delta": "dpspec_divergences.output:MultDelta",
        "d-nor": "dpspec_divergences.output:DNor",
        "renyi": "dpspec_divergences.output:Renyi",
        "total-variation": "dpspec_divergences.output:TotalVariation",
        "f-divergence": "dpspec_divergences.f_divergence:FDivergence",
        "gaussian-trade-off": "dpspec_divergences.trade_off:GaussianTradeOff",
        "trade-off": "dpspec_divergences.trade_off:TradeOffSteps",
        "hockey-stick": "dpspec_divergences.trade_off:HockeyStick",
        "pbdp": "dpspec_divergences.losses:Pbdp",
    },
    "routes": {
        "d-nor-budget": "dpspec_divergences.routes:DNorBudget",
        "sum": "dpspec_divergences.routes:Sum",
        "ratio": "dpspec_divergences.routes:Ratio",
        "amplification": "dpspec_divergences.routes:Amplification",
        "shuffle-amplification": "dpspec_divergences.routes:ShuffleAmplification",
        "laplace-union-bound": "dpspec_divergences.routes:LaplaceUnionBound",
        "zcdp-to-approximate": "dpspec_divergences.routes:ZcdpToApproximateRoute",
        "zcdp-to-approximate-cks": "dpspec_divergences.routes:ZcdpToApproximateCksRoute",
        "zcdp-to-approximate-bun-steinke": "dpspec_divergences.routes:ZcdpToApproximateBunSteinkeRoute",
        "approximate-to-zcdp": "dpspec_divergences.routes:ApproximateToZcdp",
        "pure-to-zcdp": "dpspec_divergences.routes:PureToZcdpRoute",
        "approximate-for-probabilistic": "dpspec_divergences.routes:ApproximateForProbabilistic",
    },
    "rules": {
        "approximate-groups": "dpspec_divergences.worst_pairs:ApproximateGroups",
        "zcdp-to-approximate": "dpspec_divergences.from_renyi:ZcdpToApproximate",
        "zcdp-to-approximate-bun-steinke": "dpspec_divergences.from_renyi:ZcdpToApproximateBunSteinke",
        "zcdp-to-approximate-cks": "dpspec_divergences.from_renyi:ZcdpToApproximateCks",
        "zcdp-to-pbdp": "dpspec_divergences.from_renyi:ZcdpToPbdp",
        "zcdp-to-probabilistic": "dpspec_divergences.from_renyi:ZcdpToProbabilistic",
        "zcdp-to-renyi": "dpspec_divergences.from_renyi:ZcdpToRenyi",
        "renyi-to-approximate": "dpspec_divergences.from_renyi:RenyiToApproximate",
        "renyi-to-approximate-cks": "dpspec_divergences.from_renyi:RenyiToApproximateCks",
        "renyi-to-pbdp": "dpspec_divergences.from_renyi:RenyiToPbdp",
        "renyi-to-probabilistic": "dpspec_divergences.from_renyi:RenyiToProbabilistic",
        "renyi-to-hockey-stick": "dpspec_divergences.from_renyi:RenyiToHockeyStick",
        "renyi-to-renyi": "dpspec_divergences.from_renyi:RenyiToRenyi",
        "zcdp-to-kl": "dpspec_divergences.from_entropy:ZcdpToKl",
        "zcdp-to-chi-squared": "dpspec_divergences.from_entropy:ZcdpToChiSquared",
        "zcdp-to-hellinger": "dpspec_divergences.from_entropy:ZcdpToHellinger",
        "zcdp-to-total-variation": "dpspec_divergences.from_entropy:ZcdpToTotalVariation",
        "renyi-to-kl": "dpspec_divergences.from_entropy:RenyiToKl",
        "renyi-to-chi-squared": "dpspec_divergences.from_entropy:RenyiToChiSquared",
        "renyi-to-hellinger": "dpspec_divergences.from_entropy:RenyiToHellinger",
        "renyi-to-total-variation": "dpspec_divergences.from_entropy:RenyiToTotalVariation",
        "pure-to-zcdp-simple": "dpspec_divergences.from_entropy:PureToZcdpSimple",
        "pbdp-to-approximate": "dpspec_divergences.from_entropy:PbdpToApproximate",
        "pbdp-to-probabilistic": "dpspec_divergences.from_entropy:PbdpToProbabilistic",
        "probabilistic-to-approximate": "dpspec_divergences.from_entropy:ProbabilisticToApproximate",
        "approximate-to-probabilistic": "dpspec_divergences.from_entropy:ApproximateToProbabilistic",
        "chi-squared-to-renyi": "dpspec_divergences.from_entropy:ChiSquaredToRenyi",
        "f-divergence-to-total-variation": "dpspec_divergences.from_entropy:FToTotalVariation",
        "zcdp-to-gaussian": "dpspec_divergences.worst_pairs:ZcdpToGaussian",
        "zcdp-to-approximate-discrete-gaussian": "dpspec_divergences.worst_pairs:DiscreteGaussianProfile",
        "pure-to-approximate": "dpspec_divergences.worst_pairs:PureToApproximate",
        "pure-to-hockey-stick": "dpspec_divergences.worst_pairs:PureToHockeyStick",
        "pure-to-renyi": "dpspec_divergences.worst_pairs:PureToRenyi",
        "pure-to-zcdp": "dpspec_divergences.worst_pairs:PureToZcdp",
        "pure-to-total-variation": "dpspec_divergences.worst_pairs:PureToTotalVariation",
        "pure-to-f-divergence": "dpspec_divergences.worst_pairs:PureToFDivergence",
        "pure-to-gaussian": "dpspec_divergences.worst_pairs:PureToGaussian",
        "pure-to-curve": "dpspec_divergences.worst_pairs:PureToCurve",
        "pure-to-pbdp": "dpspec_divergences.worst_pairs:PureToPbdp",
        "approximate-to-approximate": "dpspec_divergences.worst_pairs:ApproximateToApproximate",
        "approximate-to-hockey-stick": "dpspec_divergences.worst_pairs:ApproximateToHockeyStick",
        "approximate-to-total-variation": "dpspec_divergences.worst_pairs:ApproximateToTotalVariation",
        "approximate-to-f-divergence": "dpspec_divergences.worst_pairs:ApproximateToFDivergence",
        "approximate-to-pbdp": "dpspec_divergences.worst_pairs:ApproximateToPbdp",
        "approximate-to-curve": "dpspec_divergences.worst_pairs:ApproximateToCurve",
        "hockey-stick-to-approximate": "dpspec_divergences.worst_pairs:HockeyStickToApproximate",
        "hockey-stick-to-hockey-stick": "dpspec_divergences.worst_pairs:HockeyStickToHockeyStick",
        "hockey-stick-to-total-variation": "dpspec_divergences.worst_pairs:HockeyStickToTotalVariation",
        "hockey-stick-to-f-divergence": "dpspec_divergences.worst_pairs:HockeyStickToFDivergence",
        "hockey-stick-to-pbdp": "dpspec_divergences.worst_pairs:HockeyStickToPbdp",
        "hockey-stick-to-curve": "dpspec_divergences.worst_pairs:HockeyStickToCurve",
        "total-variation-to-approximate": "dpspec_divergences.worst_pairs:TotalVariationToApproximate",
        "total-variation-to-hockey-stick": "dpspec_divergences.worst_pairs:TotalVariationToHockeyStick",
        "total-variation-to-f-divergence": "dpspec_divergences.worst_pairs:TotalVariationToFDivergence",
        "total-variation-to-pbdp": "dpspec_divergences.worst_pairs:TotalVariationToPbdp",
        "total-variation-to-curve": "dpspec_divergences.worst_pairs:TotalVariationToCurve",
        "curve-to-pure": "dpspec_divergences.worst_pairs:CurveToPure",
        "curve-to-approximate": "dpspec_divergences.worst_pairs:CurveToApproximate",
        "curve-to-hockey-stick": "dpspec_divergences.worst_pairs:CurveToHockeyStick",
        "curve-to-renyi": "dpspec_divergences.worst_pairs:CurveToRenyi",
        "curve-to-zcdp": "dpspec_divergences.worst_pairs:CurveToZcdp",
        "curve-to-total-variation": "dpspec_divergences.worst_pairs:CurveToTotalVariation",
        "curve-to-f-divergence": "dpspec_divergences.worst_pairs:CurveToFDivergence",
        "curve-to-gaussian": "dpspec_divergences.worst_pairs:CurveToGaussian",
        "curve-to-curve": "dpspec_divergences.worst_pairs:CurveToCurve",
        "curve-to-pbdp": "dpspec_divergences.worst_pairs:CurveToPbdp",
        "gaussian-to-approximate": "dpspec_divergences.worst_pairs:GaussianToApproximate",
        "gaussian-to-hockey-stick": "dpspec_divergences.worst_pairs:GaussianToHockeyStick",
        "gaussian-to-total-variation": "dpspec_divergences.worst_pairs:GaussianToTotalVariation",
        "gaussian-to-pbdp": "dpspec_divergences.worst_pairs:GaussianToPbdp",
        "gaussian-to-renyi": "dpspec_divergences.worst_pairs:GaussianToRenyi",
        "gaussian-to-zcdp": "dpspec_divergences.worst_pairs:GaussianToZcdp",
        "gaussian-to-f-divergence": "dpspec_divergences.worst_pairs:GaussianToFDivergence",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_divergences.counting": (
        "AddRemove",
        "DifferInOnePosition",
        "Hamming",
        "HammingOrdered",
        "ReplaceOne",
        "SymmetricDifference",
        "UserRelation",
    ),
    "dpspec_divergences.f_divergence": ("FDivergence",),
    "dpspec_divergences.losses": ("Pbdp",),
    "dpspec_divergences.output": ("DNor", "Mult", "MultDelta", "Renyi", "TotalVariation"),
    "dpspec_divergences.paths": (
        "EditDistance",
        "L1Distance",
        "L2Distance",
        "LInfinityDistance",
        "Neighbour",
        "Path",
        "UserMetric",
        "edits",
        "metric",
    ),
    "dpspec_divergences.trade_off": ("GaussianTradeOff", "HockeyStick", "TradeOffSteps"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
