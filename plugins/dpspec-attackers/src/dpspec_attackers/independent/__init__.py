"""The attacker whose other records are independent of the target (thesis, chapter 3)."""

from dpspec_attackers.independent.attacker import IndependentRecord
from dpspec_attackers.independent.belief import Belief

__all__ = ["Belief", "IndependentRecord"]
