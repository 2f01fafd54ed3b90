"""Datasets that carry a secret and the law of the data, so that the mechanism is averaged over data."""

from __future__ import annotations

from dpspec_flavours.secrets.attackers import BayesianDP, CloseAdversaries, NoiselessPrivacy, PartialKnowledge, Pufferfish
from dpspec_flavours.secrets.distances import DataVariation, DataWasserstein, DiscriminativePairs
from dpspec_flavours.secrets.mechanisms import Averaged, Subsampled
from dpspec_flavours.secrets.populations import (
    AmplificationBySampling,
    CoupledWorlds,
    DistributionalPrivacy,
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
