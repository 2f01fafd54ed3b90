"""One run of a sampler along a prescribed path of choices.

A run is a sequence of choices, each between finitely many options of known probability. The first ones are prescribed,
the others take the first option and leave the rest for later runs: depth-first search by running again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar, cast

import attrs

from dpspec.errors import DpspecError, NotEnumerableError
from dpspec.laws.enclosed import Chance

Choices = tuple[tuple[int, int], ...]
"""For every choice the option taken and the number of options."""


Method = TypeVar("Method", bound=Callable[..., Any])


class Stop(BaseException):
    """Ends a run from inside the sampler; no `except Exception` of the sampler sees it.

    Args:
        fault: the error that the caller shall get.
        state: the state that was reached, when the run ends because its future is that of a state.
        beyond: whether the run ends in the cut-off tail of an endless draw.
    """

    def __init__(self, *, fault: DpspecError | None = None, state: Hashable = None, beyond: bool = False) -> None:
        super().__init__()
        self.fault, self.state, self.beyond = fault, state, beyond


def quiet(method: Method) -> Method:
    """The method with tracing switched off, which follows the sampler's code and need not follow ours."""

    @wraps(method)
    def untraced(*args: Any, **options: Any) -> Any:
        before = sys.gettrace()
        sys.settrace(None)
        try:
            return method(*args, **options)
        finally:
            sys.settrace(before)

    return cast("Method", untraced)


@attrs.define
class Path:
    """The choices of one run.

    Args:
        forced: the prescribed choices.
        start: how many of them lead to the state from which probabilities are counted.
        most_choices: a run with more choices is given up.
    """

    forced: Choices
    start: int = 0
    most_choices: int = 10_000
    taken: list[tuple[int, int]] = attrs.field(factory=list)
    mass: Chance = Fraction(1)
    siblings: list[Choices] = attrs.field(factory=list)
    draws: int = 0

    def choose(self, chances: Sequence[Chance], *, beyond: Chance | None = None) -> int:
        """The number of the option taken; `beyond` is the probability of a last option that ends the run."""
        options = [(i, chance) for i, chance in enumerate(chances) if chance != 0]
        if beyond is not None:
            options.append((len(chances), beyond))
        option = self._option([i for i, _ in options], len(chances))
        if len(self.taken) > self.start and len(options) > 1:
            self.mass = dict(options)[option] * self.mass
        if option == len(chances):
            raise Stop(beyond=True)
        return option

    def uniform(self, count: int) -> int:
        """One of `count` equally likely options."""
        option = self._option(range(count), count)
        if len(self.taken) > self.start:
            self.mass = self.mass * Fraction(1, count)
        return option

    def _option(self, options: Sequence[int], width: int) -> int:
        place = len(self.taken)
        if place >= self.most_choices:
            raise Stop(
                fault=NotEnumerableError(
                    "sampler", f"made {place} random choices without an end", "bound its loops, or give its law by hand"
                )
            )
        if place < len(self.forced):
            option, before = self.forced[place]
            if before != width or (option not in options and option != width):
                raise Stop(
                    fault=NotEnumerableError(
                        "sampler",
                        "behaves differently when it is run again with the same choices",
                        "remove what it keeps between calls, and every other source of randomness",
                    )
                )
        else:
            option = options[0]
            self.siblings += [(*self.taken, (other, width)) for other in options[1:]]
        self.taken.append((option, width))
        return option

    def fresh(self) -> int:
        """The number of the next symbolic draw."""
        self.draws += 1
        return self.draws
