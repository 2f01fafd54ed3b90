"""One run of a sampler along a prescribed path of choices.

A run is a sequence of choices, each between finitely many options of known probability. The first ones are prescribed,
the others take the first option and leave the rest for later runs: depth-first search by running again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NoReturn

import attrs

from dpspec.errors import DpspecError, NotEnumerableError
from dpspec.laws.enclosed import Chance

Choices = tuple[tuple[int, int], ...]
"""For every choice the option taken and the number of options."""


class Stop(BaseException):
    """Ends a run from inside the sampler.

    That it was raised is written down in the path (`Path.ended`), and whatever the sampler returns or raises afterwards is not
    looked at: `except BaseException`, `finally: return` and `__exit__` make no outcome of it.

    Args:
        fault: the error that the caller shall get.
        state: the state that was reached, when the run ends because its future is that of a state.
        beyond: whether the run ends in the cut-off tail of an endless draw.
    """

    def __init__(self, *, fault: DpspecError | None = None, state: Hashable = None, beyond: bool = False) -> None:
        super().__init__()
        self.fault, self.state, self.beyond = fault, state, beyond


@attrs.define
class Path:
    """The choices of one run.

    Args:
        forced: the prescribed choices.
        start: how many of them lead to the state from which probabilities are counted.
        most_choices: a run with more choices is given up.
        ended: what ended the run before its time. What comes after it is worthless, also when the sampler, or a library that
            it calls, has caught it and gone on.
    """

    forced: Choices
    start: int = 0
    most_choices: int = 10_000
    taken: list[tuple[int, int]] = attrs.field(factory=list)
    mass: Chance = Fraction(1)
    siblings: list[Choices] = attrs.field(factory=list)
    draws: int = 0
    ended: Stop | None = None

    def end(self, stop: Stop) -> NoReturn:
        """End the run; the first end counts."""
        self.ended = self.ended or stop
        raise self.ended

    def refuse(self, fault: DpspecError) -> NoReturn:
        """End the run because of something that cannot be enumerated."""
        self.end(Stop(fault=fault))

    def going(self) -> None:
        """Raise again what ended the run, if it has ended."""
        if self.ended is not None:
            raise self.ended

    def choose(self, chances: Sequence[Chance], *, beyond: Chance | None = None) -> int:
        """The number of the option taken; `beyond` is the probability of a last option that ends the run."""
        last = len(chances)
        option = self._forced(last)
        if option is None:
            options = [number for number, chance in enumerate(chances) if chance != 0]
            option = self._first(options if beyond is None else [*options, last], last)
        if len(self.taken) > self.start:
            chance = chances[option] if option < last else beyond
            self.mass = self.mass if chance is None or chance == 1 else chance * self.mass
        if option == last:
            self.end(Stop(beyond=True))
        return option

    def uniform(self, count: int) -> int:
        """One of `count` equally likely options."""
        option = self._forced(count)
        if option is None:
            option = self._first(range(count), count)
        if len(self.taken) > self.start:
            self.mass = self.mass * Fraction(1, count)
        return option

    def _forced(self, width: int) -> int | None:
        """The prescribed option at this place, if there is one."""
        self.going()
        place = len(self.taken)
        if place >= len(self.forced):
            return None
        self.taken.append(self.forced[place])
        option, before = self.forced[place]
        if before != width:
            self.refuse(changed())
        return option

    def _first(self, options: Sequence[int], width: int) -> int:
        """The first of several options; the others are left for later runs."""
        if len(self.taken) >= self.most_choices:
            rule = f"made {len(self.taken)} random choices without an end"
            self.refuse(NotEnumerableError("sampler", rule, "bound its loops, or give its law by hand"))
        before = tuple(self.taken)
        self.siblings += [(*before, (other, width)) for other in options[1:]]
        self.taken.append((options[0], width))
        return options[0]

    def fresh(self) -> int:
        """The number of the next symbolic draw."""
        self.draws += 1
        return self.draws


def changed() -> NotEnumerableError:
    """The fault of code that is not a function of its dataset and its choices."""
    return NotEnumerableError(
        "sampler",
        "behaves differently when it is run again with the same choices",
        "remove what it keeps between calls, and every other source of randomness",
    )
