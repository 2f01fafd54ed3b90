"""Places of the entries of a dataset of which only the kinds are known, and uniform numbers that have one for each entry.

    for i in range(len(x)):  total += f(x[i])        is        for v in x:  total += f(v)
    for i, v in enumerate(x):  total += f(v)                   for v in x:  total += f(v)
    x[rng.random(len(x)) < q]                                  [v for v in x if rng.random() < q]

A place is a symbol: it identifies the current entry, in this list and in those that are aligned with it, and nothing else. An
operation that needs more, such as its number, ends the run.
"""

from __future__ import annotations

from typing import Any

import attrs


def _refused(one: Any, *_: Any) -> Any:
    """End the run at any other operation."""
    return one.listed.refuse(one.asked)


_refuse: Any = _refused  # of any signature, so that a class may answer


class _Opaque:
    """A value with no operations but those that a class adds."""

    __slots__ = ()
    __bool__ = __float__ = __int__ = __index__ = __eq__ = __ne__ = __hash__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __abs__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __divmod__ = __rdivmod__ = __round__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = __pos__ = __matmul__ = __rmatmul__ = _refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __trunc__ = __floor__ = __ceil__ = __complex__ = __dir__ = _refuse
    __str__ = __repr__ = __format__ = __reduce_ex__ = __len__ = __contains__ = __getitem__ = __reversed__ = __array__ = _refuse


@attrs.frozen(eq=False, repr=False)
class Place(_Opaque):
    """The place of an entry in its list: one that `listed[place]` answers, for a list that is aligned with it.

    Args:
        listed: the list.
        number: the number of the kind of the entry.
    """

    listed: Any
    number: int

    @property
    def asked(self) -> str:
        """What the code did that ends the run."""
        return "has an entry whose place was used as a number"


@attrs.frozen(eq=False, repr=False)
class Places(_Opaque):
    """range(len(x)), or enumerate(x).

    Args:
        listed: x.
        with_entries: whether it is the second.
    """

    listed: Any
    with_entries: bool

    @property
    def asked(self) -> str:
        """What the code did that ends the run."""
        return "has places that were used for more than to walk through its entries"

    def __iter__(self) -> Any:
        return self.listed.walk(self)

    def shown(self, number: int, entry: Any) -> Any:
        """What a walk gives for an entry."""
        place = Place(self.listed, number)
        return (place, entry) if self.with_entries else place


@attrs.frozen(eq=False, repr=False)
class EntryUniforms(_Opaque):
    """rng.random(len(x)): a uniform number for each entry of the dataset x."""

    listed: Any

    @property
    def asked(self) -> str:
        """What the code did that ends the run."""
        return "has uniform numbers for its entries that were used for more than to take a sample"

    def __lt__(self, threshold: Any) -> SampleMask:
        return self.listed.sample_mask(threshold)  # type: ignore[no-any-return]  # it is one

    __le__ = __lt__


@attrs.frozen(eq=False, repr=False)
class SampleMask(_Opaque):
    """rng.random(len(x)) < q: who is in a sample.

    Args:
        listed: the dataset x.
        counts: how many entries of each kind are in the sample.
    """

    listed: Any
    counts: tuple[Any, ...]

    @property
    def asked(self) -> str:
        """What the code did that ends the run."""
        return "has a sample that was used for more than to choose entries"


SYMBOLS = (Place, Places, EntryUniforms, SampleMask)
"""What no known function may be given."""
