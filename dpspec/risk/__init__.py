"""What a specification means to an attacker.

from dpspec.risk import risk

report = risk(spec, attacker, mechanism)
"""

from dpspec.risk.engine import RiskReport, RiskRow, risk

__all__ = ["RiskReport", "RiskRow", "risk"]
