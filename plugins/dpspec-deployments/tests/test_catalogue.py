"""The catalogue: how its numbers are printed."""

from __future__ import annotations

from dpspec_deployments.catalogue import short_budget

import dpspec as dp


def test_no_number_of_a_catalogue_is_below_the_budget():
    """2 ln 2 is 1.386294361...: rounded to the nearest it would be a smaller budget."""
    promise = dp.spec(space=dp.bit_vectors(length=2), distance="hamming-ordered", standard="pure", epsilon="2*ln(2)")
    assert short_budget(promise) == "epsilon at most 1.3863"
