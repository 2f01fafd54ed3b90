"""Published violations of differential privacy, rewritten in a few lines each: wrong and mended.

    python -m benchmarks.faults [--seconds 30] [--only NAME] [--write benchmarks/faults.json]
    python -m benchmarks.faults.check

The first judges every function by `verify_claim`, which gets the function and the claim alone. The second asks without any
engine of this package whether the corpus says the truth: the stated event is drawn many times on the stated pair, and for the
mended functions cells of outputs on small pairs.

Claims are exact numbers, and the code computes in doubles: what a mended one exceeds its claim by is below 2^-40 of it. With
`bits` the claim speaks about the doubles themselves, otherwise noise is real-valued. Exceptions, types and lengths are outcomes.
"""

from __future__ import annotations

from benchmarks.faults import generators, noise, preprocessing, sampling, selection, sensitivity
from benchmarks.faults.entry import Fault

THEMES = {
    "noise": noise.FAULTS,
    "sensitivity": sensitivity.FAULTS,
    "selection": selection.FAULTS,
    "sampling": sampling.FAULTS,
    "preprocessing": preprocessing.FAULTS,
    "generators": generators.FAULTS,
}
FAULTS: tuple[Fault, ...] = tuple(fault for faults in THEMES.values() for fault in faults)
