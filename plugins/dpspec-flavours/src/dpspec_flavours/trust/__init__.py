"""Flavours about who is trusted with what:

nobody (local), a shuffler, everybody with the features, and the attacker with nothing.
"""

from __future__ import annotations

from dpspec_flavours.trust.models import FreeLunchPrivacy, LabelDP, LocalDP, ShuffleDP
from dpspec_flavours.trust.shuffled import Shuffled

BLOCKS: dict[str, tuple[type, ...]] = {"mechanisms": (Shuffled,), "flavours": (FreeLunchPrivacy, LabelDP, LocalDP, ShuffleDP)}
"""What this part registers: classes by kind."""
