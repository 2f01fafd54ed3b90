"""One specification for several releases of one data collection: their composition, and the ledger of what each part spends."""

from dpspec.ledger.composition import Composition, Line, compose
from dpspec.ledger.files import compose_files, composed_document, composed_text, parts_of
from dpspec.ledger.parts import Part

__all__ = ["Composition", "Line", "Part", "compose", "compose_files", "composed_document", "composed_text", "parts_of"]
