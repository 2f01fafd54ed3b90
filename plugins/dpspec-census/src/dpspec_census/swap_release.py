"""Swapping on real tables: vectorised over strata, with exact coins and exactly uniform permutations.

Every random choice is made by comparing integers (`Randomness`): selection is an exact coin with the rational
swap rate, a permutation is the order of random 64-bit keys (a stratum with two equal keys is drawn afresh), and a
derangement is a permutation that is drawn afresh, stratum by stratum, until no record keeps its place. Drawing afresh is
rejection, so the derangement is exactly uniform.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpspec.errors import TableError
from dpspec.randomness import Randomness
from dpspec.table import Table
from dpspec_census.swap_scheme import SwapScheme

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def swapped(table: Table, scheme: SwapScheme, swap_rate: Fraction, source: Randomness, *, derange: bool) -> Table:
    """One draw of the swap on a table with one row for each record of the unit.

    Args:
        table: needs the columns `match` and `swap`; all its other columns stay as they are.
        swap_rate: p.
        derange: B-A3 with its redraw rule; False for the permutation of B-A4.
    """
    for name in (*scheme.match, *scheme.swap):
        table.attribute(name)
    if not len(table):
        raise TableError("table", "has no records", "give a table with at least one row")
    _, stratum, sizes = np.unique(table.key(scheme.match), return_inverse=True, return_counts=True)
    chosen = source.bernoulli(swap_rate, len(table))
    if derange:
        chosen = _redraw_singles(chosen, stratum, sizes, swap_rate, source)
    places = np.flatnonzero(chosen)
    places = places[np.argsort(stratum[places], kind="stable")]
    givers = _permuted(places, stratum[places], source, derange=derange)
    columns = {}
    for name in scheme.swap:
        column = table.codes[name].copy()
        column[places] = table.codes[name][givers]
        columns[name] = column
    return table.replace(columns)


def _redraw_singles(chosen: Mask, stratum: Indices, sizes: Indices, rate: Fraction, source: Randomness) -> Mask:
    """Draw the selection of a stratum afresh while exactly one of its records is selected; strata of size 1 are skipped."""
    chosen = chosen & (sizes[stratum] > 1)
    while True:
        single = np.bincount(stratum[chosen], minlength=len(sizes)) == 1
        if not single.any():
            return chosen
        again = np.flatnonzero(single[stratum])
        chosen[again] = source.bernoulli(rate, len(again))


def _permuted(places: Indices, strata: Indices, source: Randomness, *, derange: bool) -> Indices:
    """The places in the order of a uniform permutation (or derangement) inside each stratum.

    Args:
        places: the selected records, sorted by stratum.
        strata: the stratum of each.
    """
    givers = places.copy()
    pending = np.arange(len(places))
    while pending.size:
        held = strata[pending]
        keys = source.words(len(pending))
        order = np.lexsort((keys, held))
        givers[pending] = places[pending[order]]
        refused = _tied(keys[order], held)
        if derange:
            refused |= givers[pending] == places[pending]
        again = np.zeros(int(strata[-1]) + 1, dtype=np.bool_)
        again[held[refused]] = True
        pending = pending[again[held]]
    return givers


def _tied(keys: npt.NDArray[np.uint64], strata: Indices) -> Mask:
    """Which entries, sorted by stratum and key, equal the entry before them."""
    tied = np.zeros(len(keys), dtype=np.bool_)
    tied[1:] = (keys[1:] == keys[:-1]) & (strata[1:] == strata[:-1])
    return tied
