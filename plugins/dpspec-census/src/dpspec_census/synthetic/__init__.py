"""Census-like tables of any size whose records are nobody's."""

from dpspec_census.synthetic.dwellings import SyntheticDwellings
from dpspec_census.synthetic.state import SyntheticHousingUnits, SyntheticPersons

__all__ = ["SyntheticDwellings", "SyntheticHousingUnits", "SyntheticPersons"]
