"""One privacy loss on a grid: moved to its points such that the masses of both laws stay, or where it is on its own lattice."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpspec.laws.pieces import EXP_ERROR, UNIT, Floats, Lattice, LossPieces, total


@attrs.frozen(eq=False)
class Spread:
    """One loss on the grid: masses at consecutive points from `first` on, of a factor that is repeated."""

    first: int
    masses: Floats
    relative: float
    times: int

    @classmethod
    def on(cls, lattice: Lattice, pieces: LossPieces, times: int) -> Spread:
        """The losses of a pair where they are, but for the offset of their lattice."""
        places = np.rint((pieces.losses - float(lattice.offset)) / float(lattice.spacing)).astype(np.int64)
        return cls._gather(places, pieces.masses, pieces.relative, times)

    @classmethod
    def of(cls, pieces: LossPieces, step: float, times: int) -> tuple[Spread, float]:
        """The losses of a pair on the multiples of the step, a power of two, and the widest move."""
        low = np.floor(pieces.low / step).astype(np.int64)
        high = np.maximum(np.ceil(pieces.high / step).astype(np.int64), low)
        width = (high - low) * step
        share = np.ones(len(low))
        np.divide(np.expm1(low * step - pieces.losses), np.expm1(-width), out=share, where=high > low)
        kept = np.zeros(len(low))
        np.divide(np.expm1(pieces.losses - high * step), np.expm1(-width), out=kept, where=high > low)
        kept *= np.exp(low * step - pieces.losses)
        places = np.concatenate((low, high))
        masses = np.concatenate((pieces.masses * kept, pieces.masses * share))
        return cls._gather(places, masses, pieces.relative + 6 * EXP_ERROR, times), float(np.max(width, initial=0.0))

    @classmethod
    def _gather(cls, places: npt.NDArray[np.int64], masses: Floats, relative: float, times: int) -> Spread:
        first = int(places.min())
        return cls(first, summed(places - first, masses), relative + len(masses) * UNIT, times)

    def tilted(self, tilt: float, step: float) -> tuple[Spread, arb]:
        """The masses times e^(tilt loss), normalised, and what that adds to the logarithm of the norm."""
        powers = tilt * self.losses(step)
        top = float(np.max(powers))
        masses = self.masses * np.exp(powers - top)
        norm = total(masses) * (1 + len(masses) * UNIT)
        relative = self.relative + EXP_ERROR + 8 * UNIT * float(np.max(np.abs(powers)))
        with ctx.workprec(128):
            return attrs.evolve(self, masses=masses / norm, relative=relative), self.times * (arb(norm).log() + arb(top))

    def losses(self, step: float) -> Floats:
        return step * np.arange(self.first, self.first + len(self.masses), dtype=np.float64)


def summed(places: npt.NDArray[np.int64], masses: Floats, size: int = 0) -> Floats:
    """The masses at every place together."""
    return np.bincount(places, weights=masses, minlength=size).astype(np.float64, copy=False)
