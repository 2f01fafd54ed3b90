"""The event of a refutation of plain code is data about what is observed, in whatever form the code answers."""

from __future__ import annotations

import numpy as np
import pytest
from dpspec_code.automatic import enumerate_law

from dpspec.verifier.entry import verify_claim
from dpspec.verifier.event import probability
from dpspec.verifier.expression import Expression
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import bits_spec


def noisy(x, rng):
    return x[0] ^ int(rng.random() < 0.125)


def raising(x, rng):
    if noisy(x, rng):
        raise ValueError("yes", 1)
    return []


STYLES = {
    "int": noisy,
    "list": lambda x, rng: [noisy(x, rng), 1.5],
    "tuple": lambda x, rng: (noisy(x, rng), None),
    "bool": lambda x, rng: bool(noisy(x, rng)),
    "mixed tuple": lambda x, rng: (noisy(x, rng), [noisy(x, rng)], True),
    "dict": lambda x, rng: {"yes": noisy(x, rng)},
    "float": lambda x, rng: noisy(x, rng) / 4,
    "negative zero": lambda x, rng: -0.0 if noisy(x, rng) else 0.0,
    "text": lambda x, rng: "yes" if noisy(x, rng) else "no",
    "numpy integer": lambda x, rng: np.int64(noisy(x, rng)),
    "numpy double": lambda x, rng: np.float64(noisy(x, rng) + 0.5),
    "numpy bool": lambda x, rng: np.bool_(noisy(x, rng)),
    "array": lambda x, rng: np.array([noisy(x, rng), 3]),
    "exception": raising,
}


@pytest.mark.spread(6, slow=6)
@pytest.mark.parametrize("style", STYLES)
def test_the_recorded_event_has_the_recorded_probabilities(style):
    spec = bits_spec(1)
    verdict = verify_claim(STYLES[style], spec, seconds=600)
    assert verdict.outcome is Outcome.REFUTED, verdict
    witness = verdict.witness
    event = Expression.read(witness.event.expression.json)
    for dataset, recorded in ((witness.left, witness.event.left), (witness.right, witness.event.right)):
        assert probability(enumerate_law(STYLES[style], dataset), event) == recorded
    assert witness.event.proves
    assert witness.event.left != witness.event.right
