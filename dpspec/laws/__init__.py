"""Laws of outputs, P_x, and the dichotomies that output divergences compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.laws.adaptive import Adaptive as Adaptive
    from dpspec.laws.atoms import (
        IDENTICAL as IDENTICAL,
        FiniteDichotomy as FiniteDichotomy,
        Sandwich as Sandwich,
        merge as merge,
        spread as spread,
    )
    from dpspec.laws.combine import (
        Mixture as Mixture,
        OnDrawn as OnDrawn,
        OnSample as OnSample,
        Product as Product,
        PushForward as PushForward,
        Repeated as Repeated,
        mixture as mixture,
        product as product,
        push_forward as push_forward,
        repeated as repeated,
    )
    from dpspec.laws.continuous import (
        GaussianLaw as GaussianLaw,
        GaussianShift as GaussianShift,
        LaplaceLaw as LaplaceLaw,
        LineLaw as LineLaw,
    )
    from dpspec.laws.dichotomy import (
        INFINITE as INFINITE,
        NOTHING as NOTHING,
        Cell as Cell,
        Composite as Composite,
        Dichotomy as Dichotomy,
        Finite as Finite,
        Growth as Growth,
        Joinable as Joinable,
        exact_atoms_of as exact_atoms_of,
        growth_of as growth_of,
        is_convolved as is_convolved,
        releases_of as releases_of,
    )
    from dpspec.laws.enclosures import EnclosedLaw as EnclosedLaw, first_above as first_above
    from dpspec.laws.exponential import (
        Exponential as Exponential,
        Weight as Weight,
        exact_exponential as exact_exponential,
        finite_law as finite_law,
        total as total,
    )
    from dpspec.laws.integers import (
        DiscreteGaussianLaw as DiscreteGaussianLaw,
        DiscreteGaussianShift as DiscreteGaussianShift,
        IntegerLaw as IntegerLaw,
        StaircaseLaw as StaircaseLaw,
        TwoSidedGeometricLaw as TwoSidedGeometricLaw,
    )
    from dpspec.laws.law import (
        Answers as Answers,
        AtomicLaw as AtomicLaw,
        FiniteLaw as FiniteLaw,
        Kind as Kind,
        Law as Law,
        NotALaw as NotALaw,
        OutputValue as OutputValue,
    )
    from dpspec.laws.location import Location as Location
    from dpspec.laws.loss import PrivacyLoss as PrivacyLoss, compose as compose
    from dpspec.laws.margins import Margin as Margin, deviation as deviation, margin as margin, read_level as read_level
    from dpspec.laws.numeric import (
        ball_exponential as ball_exponential,
        normal_cdf as normal_cdf,
        positive as positive,
        rational_exponential as rational_exponential,
        rational_root as rational_root,
    )
    from dpspec.laws.one_of import InBatches as InBatches, InOneOf as InOneOf
    from dpspec.laws.pieces import EXP_ERROR as EXP_ERROR, UNIT as UNIT
    from dpspec.laws.products import power as power, product_of as product_of
    from dpspec.laws.samples import drawn as drawn, sampled as sampled
    from dpspec.laws.trade_off import (
        PERFECT as PERFECT,
        TradeOff as TradeOff,
        largest_power as largest_power,
        least_mu as least_mu,
    )

_HOMES = {
    "dpspec.laws.atoms": (
        "FiniteDichotomy",
        "IDENTICAL",
        "Sandwich",
        "merge",
        "spread",
    ),
    "dpspec.laws.combine": (
        "Mixture",
        "OnDrawn",
        "OnSample",
        "Product",
        "PushForward",
        "Repeated",
        "mixture",
        "product",
        "push_forward",
        "repeated",
    ),
    "dpspec.laws.adaptive": ("Adaptive",),
    "dpspec.laws.continuous": (
        "GaussianLaw",
        "GaussianShift",
        "LaplaceLaw",
        "LineLaw",
    ),
    "dpspec.laws.dichotomy": (
        "Cell",
        "Composite",
        "Dichotomy",
        "Finite",
        "Growth",
        "INFINITE",
        "Joinable",
        "NOTHING",
        "exact_atoms_of",
        "growth_of",
        "is_convolved",
        "releases_of",
    ),
    "dpspec.laws.enclosures": ("EnclosedLaw", "first_above"),
    "dpspec.laws.exponential": (
        "Exponential",
        "Weight",
        "exact_exponential",
        "finite_law",
        "total",
    ),
    "dpspec.laws.integers": (
        "DiscreteGaussianLaw",
        "DiscreteGaussianShift",
        "IntegerLaw",
        "StaircaseLaw",
        "TwoSidedGeometricLaw",
    ),
    "dpspec.laws.law": (
        "Answers",
        "AtomicLaw",
        "FiniteLaw",
        "Kind",
        "Law",
        "NotALaw",
        "OutputValue",
    ),
    "dpspec.laws.location": ("Location",),
    "dpspec.laws.loss": (
        "PrivacyLoss",
        "compose",
    ),
    "dpspec.laws.margins": (
        "Margin",
        "deviation",
        "margin",
        "read_level",
    ),
    "dpspec.laws.numeric": (
        "ball_exponential",
        "normal_cdf",
        "positive",
        "rational_exponential",
        "rational_root",
    ),
    "dpspec.laws.one_of": ("InBatches", "InOneOf"),
    "dpspec.laws.pieces": (
        "EXP_ERROR",
        "UNIT",
    ),
    "dpspec.laws.products": (
        "power",
        "product_of",
    ),
    "dpspec.laws.samples": ("drawn", "sampled"),
    "dpspec.laws.trade_off": (
        "PERFECT",
        "TradeOff",
        "largest_power",
        "least_mu",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
