"""Plain code in which one entry of the dataset changes what is done with the next one, and code that changes arrays in place.

For all datasets at once, the entries are summed kind by kind. So what one entry leaves behind may not be used by another: a place
in an iterator, a key of a `defaultdict`, a variable of another function, an element of a list or a set. The oracle runs each
function without noise on two lists that differ by one entry, and finds them farther apart than the claim of one allows.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.entry import verify_claim
from tests.attacks.plain import ENTRIES, WithoutNoise, read_off

pytestmark = pytest.mark.usefixtures("in_this_process")


def is_verified(function: Any) -> bool:
    """Whether the proof for all datasets verifies the claim, without real runs, which may show more."""
    try:
        return WholeProof.of(whole_tree(function, ENTRIES, most_paths=50), ENTRIES).verdict().outcome.value == "verified"
    except (NoConstant, DpspecError):
        return False


# --- what one entry leaves to the next ---------------------------------------------------------------


def goes_on_in_a_generator_of_the_dataset(x, rng):
    entries = (v for v in x)
    return sum(1 for v in x if (v + 1) % 3 in entries) + rng.laplace()


def goes_on_in_an_iterator(x, rng):
    places = iter(range(10))
    return sum(v * 5 in places for v in x) + rng.laplace()


def uses_an_iterator_up(x, rng):
    ones, total = iter([1] * 100), 0
    for v in x:
        if v == 1:
            for _ in ones:
                pass
        if v == 2:
            for one in ones:
                total += one
    return total + rng.laplace()


def gives_an_iterator_to_a_function(x, rng):
    bits = iter([0] * 99 + [1])
    asked = [any(bits) for v in x if v]
    return 100 * len(list(bits)) + 0 * len(asked) + rng.laplace()


def gives_an_iterator_to_a_text(x, rng):
    bits = iter("0" * 99)
    asked = ["".join(bits) for v in x if v]
    return 100 * len(list(bits)) + 0 * len(asked) + rng.laplace()


def makes_keys(x, rng):
    found = defaultdict(int)
    total = sum(found[v] for v in x)
    return total + 100 * len(found) + rng.laplace()


def makes_keys_in_a_loop(x, rng):
    found, total = defaultdict(int), 0
    for v in x:
        total += found[v]
    return total + 100 * len(found) + rng.laplace()


def makes_keys_by_a_text(x, rng):
    found = defaultdict(int)
    total = sum(len("%(one)s" % found if v == 2 else "") for v in x)  # noqa: UP031
    return total + 100 * len(found) + rng.laplace()


def makes_keys_by_a_format(x, rng):
    found = defaultdict(int)
    total = sum(len("{0[one]}".format(found) if v == 2 else "") for v in x)  # noqa: UP030, UP032
    return total + 100 * len(found) + rng.laplace()


def names_what_is_looked_at(x, rng):
    last = 0
    total = sum(1 for v in x if any((last := one) for one in (v,)))
    return total + 100 * last + rng.laplace()


class Grows:
    """Changes a set by |= whenever it is compared."""

    def __init__(self) -> None:
        self.held = {0}

    def __eq__(self, other: object) -> bool:
        held = self.held
        held |= {other}
        return True

    __hash__ = None  # type: ignore[assignment]


def grows_when_it_is_compared(x, rng):
    one = Grows()
    total = sum(1 for v in x if one == v)
    return total + 100 * len(one.held) + rng.laplace(scale=2)


class Shrinks:
    """Deletes an element of a dict whenever it is compared."""

    def __init__(self) -> None:
        self.held = {0: 1}

    def __eq__(self, other: object) -> bool:
        del self.held[0]
        return True

    __hash__ = None  # type: ignore[assignment]


def shrinks_when_it_is_compared(x, rng):
    one = Shrinks()
    total = sum(1 for v in x if v == 2 and 0 in one.held and one == v)
    return total + 100 * len(one.held) + rng.laplace()


class Keeps:
    """Compares by a function of its own."""

    def __init__(self, compare: Any) -> None:
        self.compare = compare

    def __eq__(self, other: object) -> bool:
        return bool(self.compare(other))

    __hash__ = None  # type: ignore[assignment]


def assigns_a_variable_of_another(x, rng):
    last = 0

    def compare(other):
        nonlocal last
        last = other
        return True

    one = Keeps(compare)
    total = sum(1 for v in x if one == v)
    return total + 100 * last + rng.laplace()


STATE = [
    (goes_on_in_a_generator_of_the_dataset, [1, 1, 1, 2, 2], [2, 1, 1, 1, 2, 2]),
    (goes_on_in_an_iterator, [0, 1], [2, 0, 1]), (uses_an_iterator_up, [], [2]), (gives_an_iterator_to_a_function, [], [1]),
    (gives_an_iterator_to_a_text, [], [1]), (makes_keys, [], [1]), (makes_keys_in_a_loop, [], [1]),
    (makes_keys_by_a_text, [], [2]), (makes_keys_by_a_format, [], [2]), (names_what_is_looked_at, [], [2]),
    (grows_when_it_is_compared, [], [2]),
    (shrinks_when_it_is_compared, [], [2]), (assigns_a_variable_of_another, [], [2]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "one", "other"), STATE, ids=[function.__name__ for function, _, _ in STATE])
def test_what_an_entry_leaves_behind_is_not_overlooked(function: Any, one: list[int], other: list[int]) -> None:
    apart = abs(function(list(one), WithoutNoise()) - function(list(other), WithoutNoise()))
    assert apart > 1
    assert read_off(function) is None


def test_a_used_up_iterator_is_not_verified_by_the_whole_judge() -> None:
    claim = dp.spec(space=dp.value_lists(values=list(range(20))), distance="add-remove", standard="pure", epsilon=1)

    def late(x, rng):
        ones, total = iter([1] * 100), 0
        for v in x:
            if v == 8:
                for _ in ones:
                    pass
            if v == 9:
                for one in ones:
                    total += one
        return total + rng.laplace()

    assert verify_claim(late, claim, draws=2_000).outcome.value != "verified"


# --- what is made for one entry ----------------------------------------------------------------------


def pairs_up(x, rng):
    total = 0
    for v in x:
        for weight, one in zip((0.5, 0.25), (v, v)):  # noqa: B905
            total += weight * (one > 0)
    return total + rng.laplace()


def looks_among_others(x, rng):
    return sum(1 for v in x if v in (k for k in range(3)) and v in {1: "one", 2: "two"}) + rng.laplace()


def reads_weights(x, rng):
    weights = defaultdict(int, {0: 0, 1: 1, 2: 1})
    return sum(weights[v] for v in x) + rng.laplace()


def multiplies_temporarily(x, rng):
    total = 0
    for v in x:
        square = v
        square **= 2
        square //= 4
        square |= 0
        total += square
    return total + rng.laplace()


@pytest.mark.parametrize("function", [pairs_up, looks_among_others, reads_weights, multiplies_temporarily])
def test_what_is_made_for_one_entry_is_read_off(function: Any) -> None:
    assert is_verified(function)


# --- arrays that are changed in place ----------------------------------------------------------------


class Holder:
    """Holds an array."""

    held: Any


def another_name(x, rng):
    a = np.array(x, dtype=int)
    b = a
    a **= 2
    return b.sum() + rng.laplace(scale=2)


def bits_by_another_name(x, rng):
    a = np.array(x, dtype=int)
    b = a
    a |= 4
    return b.sum() + rng.laplace(scale=2)


def of_an_object(x, rng):
    one = Holder()
    one.held = np.array(x, dtype=int)
    b = one.held
    one.held *= 2
    return b.sum() + rng.laplace(scale=2)


def of_a_dict(x, rng):
    held = {"a": np.array(x, dtype=int)}
    b = held["a"]
    held["a"] *= 2
    return b.sum() + rng.laplace(scale=2)


def of_another_function(x, rng):
    a = np.array(x, dtype=int)
    b = a

    def double():
        nonlocal a
        a *= 2

    double()
    return b.sum() + rng.laplace(scale=2)


@pytest.mark.parametrize("function", [another_name, bits_by_another_name, of_an_object, of_a_dict, of_another_function])
def test_an_array_with_two_names_is_not_changed_under_one(function: Any) -> None:
    assert abs(function([2], WithoutNoise()) - function([], WithoutNoise())) > 2
    with pytest.raises(DpspecError, match="a change in place"):
        whole_tree(function, ENTRIES, most_paths=50)


def into_another_type(x, rng):
    counts = [np.array([len(x), 0])]
    if len(x) > 3:
        counts[0] *= 1.0
    return counts[0][0] + rng.laplace()


def of_an_object_into_another_type(x, rng):
    one = Holder()
    one.held = np.array([len(x), 0])
    if len(x) > 3:
        one.held += 0.5
    return one.held[0] + rng.laplace()


def in_a_loop_into_another_type(x, rng):
    counts, total = np.array([len(x), 0]), 0
    for k in range(2):
        total += k
        if len(x) > 3:
            counts += 0.5
    return counts[0] + rng.laplace()


@pytest.mark.parametrize(
    "function", [into_another_type, of_an_object_into_another_type, in_a_loop_into_another_type], ids=lambda one: one.__name__
)
def test_an_array_of_integers_does_not_become_one_of_doubles_in_place(function: Any) -> None:
    with pytest.raises(TypeError, match="Cannot cast"):
        function([0] * 4, WithoutNoise())
    with pytest.raises(DpspecError, match="is added in place to an array"):
        whole_tree(function, ENTRIES, most_paths=50)


def squared(x, rng):
    a = np.array(x, dtype=float)
    a **= 2
    a //= 4
    return a.sum() + rng.laplace()


def of_its_object(x, rng):
    one = Holder()
    one.held = np.array([len(x), 0.5])
    one.held = one.held + rng.laplace(size=2)
    one.held *= 2
    return one.held


@pytest.mark.parametrize("function", [squared, of_its_object])
def test_an_array_with_one_name_may_be_changed_in_place(function: Any) -> None:
    assert is_verified(function)
