"""Datasets that carry a secret and the law of the data, so that the mechanism is averaged over data."""

from __future__ import annotations

from dpspec_flavours.secrets.averages import Averaged, Subsampled
from dpspec_flavours.secrets.distances import DataVariation, DataWasserstein, DiscriminativePairs
from dpspec_flavours.secrets.pufferfish import (
    AmplificationBySampling,
    BayesianDP,
    CloseAdversaries,
    CoupledWorlds,
    DistributionalPrivacy,
    NoiselessPrivacy,
    PartialKnowledge,
    Pufferfish,
    RestrictedSensitivity,
)
from dpspec_flavours.secrets.spaces import DataLaws, Secrets

BLOCKS: dict[str, tuple[type, ...]] = {
    "spaces": (DataLaws, Secrets),
    "relations": (DiscriminativePairs,),
    "input_divergences": (DataVariation, DataWasserstein),
    "mechanisms": (Averaged, Subsampled),
    "flavours": (
        Pufferfish,
        NoiselessPrivacy,
        DistributionalPrivacy,
        PartialKnowledge,
        AmplificationBySampling,
        BayesianDP,
        CoupledWorlds,
        CloseAdversaries,
        RestrictedSensitivity,
    ),
}
"""What this part registers: classes by kind."""
