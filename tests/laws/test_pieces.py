"""Pieces of losses: what is too vague for doubles joins the rest, and no NaN gets into a bound."""

import numpy as np
import pytest
from flint import arb

from dpspec.laws import FiniteLaw, LaplaceLaw
from dpspec.laws.dichotomy import BallDichotomy, Cell
from dpspec.laws.pieces import LossPieces
from dpspec.laws.products import product_of

TRUTH = FiniteLaw.of({"a": "9/10", "b": "1/10"}), FiniteLaw.of({"a": "8/9", "b": "1/9"})


def vague(share: str) -> tuple[Cell, ...]:
    """The two outcomes; the balls of the probabilities of the second have a share of their middle as their radius."""
    p, q, radius = arb("0.1"), arb(1) / 9, arb(0, share)
    return (
        Cell(arb("0.9", "0.0001"), arb(8) / 9 + arb(0, "0.0001"), arb("0.01"), arb("0.02")),
        Cell(p * (1 + radius), q * (1 + radius), arb("-0.2"), arb(0)),
    )


@pytest.mark.parametrize("share", ["0.1", "0.6", "0.999999", "2"])
def test_cells_whose_ratio_is_not_known_to_be_positive_join_the_rest(share: str) -> None:
    pieces = LossPieces.of_cells(vague(share))
    assert all(np.isfinite(values).all() for values in (pieces.masses, pieces.losses, pieces.low, pieces.high))
    assert np.isfinite(pieces.absolute)


def test_products_with_vague_cells_enclose_the_product() -> None:
    noisy = LaplaceLaw(0, 2).against(LaplaceLaw(1, 2))
    found = product_of([noisy] * 40 + [BallDichotomy(lambda _: vague("0.999999"))]).hockey_stick("1/2")
    known = product_of([noisy] * 40 + [TRUTH[0].against(TRUTH[1])]).hockey_stick("1/2")
    assert found.lower <= known.upper
    assert known.lower <= found.upper
