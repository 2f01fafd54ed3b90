"""Sources whose words are written down beforehand, in a row or by place."""

from __future__ import annotations

import numpy as np

from dpspec.base.randomness import PlacedRandomness


class Words:
    """Gives its words one after the other, as a source of releases would, and refuses to give more."""

    fit_for_publication = True

    def __init__(self, *values):
        self.values = list(values)

    def words(self, count):
        drawn, self.values = self.values[:count], self.values[count:]
        assert len(drawn) == count
        return np.array(drawn, dtype=np.uint64)


class Scripted(PlacedRandomness):
    """Gives the word of (stream, place) that a mapping holds, and refuses every other question."""

    fit_for_publication = False

    def __init__(self, words):
        self._words = words

    def words_at(self, stream, places):
        return np.asarray([self._words[stream, int(place)] for place in places], dtype=np.uint64)

    def spawn(self, *path):
        raise NotImplementedError
