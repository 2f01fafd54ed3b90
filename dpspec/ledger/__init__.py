"""One specification for several releases of one data collection: their composition, and the ledger of what each part spends."""

from dpspec.ledger.composition import Composition, Line, compose
from dpspec.ledger.files import composed_document, parts_of
from dpspec.ledger.parts import Part

__all__ = ["Composition", "Line", "Part", "compose", "composed_document", "parts_of"]
