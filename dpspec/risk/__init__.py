"""What a specification means to an attacker.

from dpspec.risk import risk

report = risk(spec, attacker, mechanism)
"""

from dpspec.risk.engine import Panel, RiskReport, RiskRow, panel, risk

__all__ = ["Panel", "RiskReport", "RiskRow", "panel", "risk"]
