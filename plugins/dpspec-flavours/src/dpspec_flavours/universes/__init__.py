"""Universes that depend on the data, on strata or on records, and budgets that vary with them."""
