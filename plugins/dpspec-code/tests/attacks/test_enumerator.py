"""Code that tries to get past the questions of the enumeration is refused, whatever it catches, or its law is the true one."""

from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
import time
import types
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from dpspec_code.automatic import enumerate_law

from dpspec.base.errors import NotEnumerableError
from dpspec.laws import FiniteLaw
from dpspec.verifier.observation import observed, observed_raise

LOG: list[int] = []
PUSH = LOG.append
TABLE = {"a": 1}


class Counter:
    calls = 0
    _kept_: ClassVar[list[int]] = []

    def hit(self) -> int:
        type(self).calls += 1
        return self.calls


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < other.value)


BOX = Box(0)


class Colour(enum.Enum):
    RED: ClassVar[list[int]] = [1]
    BLUE = 2


class Listed(list):  # type: ignore[type-arg]
    pass


class Letters(set):  # type: ignore[type-arg]
    pass


@dataclasses.dataclass
class Stamped:
    when: float = dataclasses.field(default_factory=time.time)


@dataclasses.dataclass(frozen=True, order=True)
class Pair:
    left: int
    right: int = 3


Named = collections.namedtuple("Named", "u v")


class Swallows:
    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> bool:
        return True


@functools.lru_cache
def cached(number: int) -> int:
    return number


def in_a_default(x: Any, rng: Any, seen: list[int] = []) -> int:  # noqa: B006
    seen.append(1)
    return int(rng.integers(2)) + (len(seen) > 50)


def in_an_attribute(x: Any, rng: Any) -> int:
    in_an_attribute.calls = getattr(in_an_attribute, "calls", 0) + 1  # type: ignore[attr-defined]
    return int(rng.integers(2))


def by_exit(x: Any, rng: Any) -> int:
    with Swallows():
        return int(rng.standard_t(3))
    return int(x[0])


def by_finally(x: Any, rng: Any) -> int:
    try:
        rng.standard_t(3)
    finally:
        return int(x[0])  # noqa: B012


def by_generator(x: Any, rng: Any) -> int:
    def steps() -> Any:
        try:
            yield rng.standard_t(3)
        except BaseException:
            yield x[0]

    return int(next(steps()))


def by_recursion(x: Any, rng: Any) -> int:
    def deeper(n: int) -> int:
        return deeper(n + 1)

    try:
        return deeper(0)
    except RecursionError:
        return int(x[0])


def by_no_type(x: Any, rng: Any) -> int:
    try:
        np.isnan(rng.random())
    except TypeError:
        return 0
    return int(x[0])


def by_message(x: Any, rng: Any) -> str:
    try:
        return str(rng < 1)
    except TypeError as problem:
        return str(problem)


def unpacked(x: Any, rng: Any) -> Any:
    first, _ = {"a", "b"}
    return first


def spliced(x: Any, rng: Any) -> Any:
    listed: list[str] = []
    listed[:] = {"a", "b"}
    return listed[0]


def added(x: Any, rng: Any) -> Any:
    listed: list[str] = []
    listed += {"a", "b"}
    return listed[0]


def assigned(x: Any, rng: Any) -> Any:
    draws = rng.random(2)
    draws[0] = 5
    return draws[0]


def told(x: Any, rng: Any) -> Any:
    try:
        raise ValueError(Box(1))
    except ValueError as problem:
        return str(problem)


def interrupts(x: Any, rng: Any) -> Any:
    raise KeyboardInterrupt


def with_a_class(x: Any, rng: Any) -> Any:
    class Here:
        pass

    return 1


ATTACKS = [
    # state
    lambda x, rng: PUSH(1),
    lambda x, rng: Counter().hit(),
    lambda x, rng: setattr(BOX, "value", 1),
    lambda x, rng: TABLE.update(n=TABLE.get("n", 0) + 1),
    lambda x, rng: Counter._kept_.append(1),
    lambda x, rng: Colour.RED.value.append(1),
    lambda x, rng: cached(x[0]),
    in_a_default,
    in_an_attribute,
    # refusals are not caught
    by_exit,
    by_finally,
    by_generator,
    by_recursion,
    by_no_type,
    by_message,
    interrupts,
    # chance and time from elsewhere
    lambda x, rng: time.perf_counter(),
    lambda x, rng: functools.partial(time.time)(),
    lambda x, rng: Stamped(),
    lambda x, rng: collections.defaultdict(time.time)[1],
    lambda x, rng: list(map(open, ["/dev/urandom"])),
    lambda x, rng: np.random.random(),
    lambda x, rng: np.random.default_rng(0).random() < 0.5,
    lambda x, rng: hash("a"),
    lambda x, rng: float(np.empty(3)[0]),
    lambda x, rng: float(np.add([1.0], [2.0], where=[False])[0]),
    lambda x, rng: np.vectorize(id)(np.array([1])),
    lambda x, rng: sorted(x, key=id),
    lambda x, rng: x.__sizeof__(),
    # addresses in texts
    lambda x, rng: f"{Box(1)}",
    lambda x, rng: "%s" % Box(1),  # noqa: UP031
    lambda x, rng: str([Box(1)]),
    lambda x, rng: str(Listed([Box(1)])),
    lambda x, rng: str(len),
    lambda x, rng: str(with_a_class),
    lambda x, rng: str(Box(1).__init__),
    lambda x, rng: repr(len.__call__),
    lambda x, rng: list(map(str, [Box(1)])),
    lambda x, rng: sorted([Box(1), Box(2)], key=str),
    told,
    lambda x, rng: print(Box(1)),
    lambda x, rng: [str][0](Box(1)),
    lambda x, rng: str(i for i in x),
    lambda x, rng: str(slice(Box(1))),
    lambda x, rng: list(map("{}".format, [Box(1)])),
    lambda x, rng: list(itertools.accumulate([Box(1), 2], lambda a, b: str(a))),
    # the order of sets
    lambda x, rng: [*{"a", "b"}],
    lambda x, rng: max({"a", "b"}, key=len),
    lambda x, rng: {"a", "b"}.pop(),
    lambda x, rng: "".join({"a", "b"}),
    lambda x, rng: f"{ {'a', 'b'} }",
    lambda x, rng: list({None, 1}),
    lambda x, rng: sorted({"aa", "bb"}, key=len),
    lambda x, rng: next(iter({"a", "b"})),
    lambda x, rng: list({"a": 1, "b": 2}.keys() | {"c"}),
    lambda x, rng: list(Letters("ab")),
    lambda x, rng: Letters("ab").pop(),
    lambda x, rng: [b.value for b in {Box(1), Box(2)}],
    unpacked,
    spliced,
    added,
    # what stands in for doubles and for the generator
    lambda x, rng: isinstance(rng.random(), float),
    lambda x, rng: type(rng.random()) is float,
    lambda x, rng: rng.random(2).dtype,
    lambda x, rng: rng.random() + 1e30 == 1e30,
    lambda x, rng: rng.random() == 0,
    lambda x, rng: rng.random() <= 0,
    lambda x, rng: rng.random() < 1e-15,
    lambda x, rng: rng.random(2).astype(object),
    lambda x, rng: np.array([rng.random(), 1]),
    assigned,
    lambda x, rng: rng.bit_generator,
    lambda x, rng: getattr(rng, "bit" + "_generator"),
    lambda x, rng: f"{rng.bit_generator}",
    lambda x, rng: type(rng).__name__,
    lambda x, rng: rng.__class__,
    lambda x, rng: rng == 1,
    lambda x, rng: rng(),
    lambda x, rng: type(rng.random).__name__,
    lambda x, rng: hasattr(rng, "standard_t"),
    lambda x, rng: rng.choice(3, replace=False, shuffle=False),
    lambda x, rng: rng.integers(3, dtype=np.int8),
    lambda x, rng: rng.integers([2, 3]),
    lambda x, rng: rng.multinomial(2, [0.2, 0.2]),
    lambda x, rng: rng.spawn(1),
    # the interpreter
    lambda x, rng: eval("x[0]"),  # noqa: S307
    lambda x, rng: locals(),
    lambda x, rng: __builtins__,
    lambda x, rng: type("D", (), {}),
    lambda x, rng: (i for i in x).gi_frame,
    lambda x, rng: with_a_class.__globals__,
    lambda x, rng: Box.__dict__,
    with_a_class,
    lambda x, rng: _dpspec_call,  # type: ignore[name-defined]  # noqa: F821
    # what cannot be compared
    lambda x, rng: iter(x),
    lambda x, rng: [LOG, LOG],
    lambda x, rng: Box(1),
    lambda x, rng: len,
    lambda x, rng: {"a", "b"},
    lambda x, rng: np.ma.masked_array([1], [True]),
    lambda x, rng: np.zeros(1, dtype=[("a", int)]),
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused(attack: Any) -> None:
    with pytest.raises(NotEnumerableError):
        enumerate_law(attack, [1], most_paths=500)


# --- what outlives a run where no value shows it -----------------------------------------------------------------------------


BAGS: dict[str, Any] = {
    "counter": collections.Counter(), "ordered": collections.OrderedDict(), "made": collections.defaultdict(int), "set": {1},
}  # fmt: skip


class NamedTwice(Named):
    """A named tuple with attributes, whose operators are code."""

    def __getitem__(self, place: Any) -> Any:
        LOG.append(1)
        return len(LOG) > 50


NAMED = NamedTwice(1, 2)
PLAIN = type("Plain", (Named,), {"__module__": __name__})(1, 2)
FIRST, SECOND = Box(0), Box(0)
HELD = [FIRST]
ROW = [0]
ROWS = [ROW]


def in_an_attribute_of_a_counter(x: Any, rng: Any) -> Any:
    if rng.integers(2):
        BAGS["counter"].kept = x[0]
    return getattr(BAGS["counter"], "kept", 0)


def in_an_attribute_of_a_dict(x: Any, rng: Any) -> Any:
    if rng.integers(2):
        BAGS["ordered"].kept = x[0]
    return getattr(BAGS["ordered"], "kept", 0)


def in_what_a_dict_makes(x: Any, rng: Any) -> Any:
    if rng.integers(2):
        BAGS["made"].default_factory = float
    return BAGS["made"].default_factory is float


def in_the_table_of_a_set(x: Any, rng: Any) -> Any:
    if rng.integers(2):
        for number in range(100, 1100):
            BAGS["set"].add(number)
        for number in range(100, 1100):
            BAGS["set"].discard(number)
    return [*(BAGS["set"] | {8})]


def in_an_attribute_of_a_tuple(x: Any, rng: Any) -> Any:
    if rng.integers(2):
        PLAIN.kept = x[0]
    return getattr(PLAIN, "kept", 0)


def in_which_object_it_is(x: Any, rng: Any) -> Any:
    if rng.integers(2):
        HELD[0] = SECOND
    return HELD[0] is FIRST


def in_which_list_it_is(x: Any, rng: Any) -> Any:
    if rng.integers(2):
        ROWS[0] = [0]
    return ROWS[0] is ROW


@pytest.mark.parametrize("function", [
    in_an_attribute_of_a_counter, in_an_attribute_of_a_dict, in_what_a_dict_makes, in_the_table_of_a_set,
    in_an_attribute_of_a_tuple, in_which_object_it_is, in_which_list_it_is,
])  # fmt: skip
def test_what_no_entry_of_a_container_shows_is_kept_as_well(function: Any) -> None:
    with pytest.raises(NotEnumerableError, match="run again"):
        enumerate_law(function, [1])


def see(value: Any) -> bool:
    LOG.append(1)
    return len(LOG) > 50


class OfTyping:
    __module__ = "typing"

    def __getitem__(self, place: Any) -> bool:
        return see(place)


class OfNumpy:
    __module__ = "numpy"

    def __class_getitem__(cls, place: Any) -> bool:
        return see(place)


class Asks(abc.ABC):  # noqa: B024
    __module__ = "numpy"

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return see(other)


def of_numpy(self: Any, value: Any) -> bool:
    return see(value)


of_numpy.__module__ = "numpy"
OF_TYPING, METHOD, OF_TWO = OfTyping(), types.MethodType(of_numpy, Box(0)), np.frompyfunc(lambda one, other: see(one), 2, 1)
MODULE = types.ModuleType("test_module_that_makes_its_attributes")
MODULE.__getattr__ = see  # type: ignore[method-assign]


@pytest.mark.parametrize("function", [
    lambda x, rng: OF_TYPING[0],
    lambda x, rng: OfNumpy[0],
    lambda x, rng: isinstance(x, Asks),
    lambda x, rng: METHOD(0),
    lambda x, rng: NAMED[0],
    lambda x, rng: bool(OF_TWO.outer([0], [1])[0, 0]),
    lambda x, rng: bool(OF_TWO.reduce([0, 1])),
    lambda x, rng: MODULE.leak,
])  # fmt: skip
def test_code_that_names_a_library_as_its_module_is_read(function: Any) -> None:
    """It is code of the user's all the same, and so is what `np.frompyfunc` makes of it: here it counts its calls."""
    LOG.clear()
    with pytest.raises(NotEnumerableError):
        enumerate_law(lambda x, rng: (int(rng.integers(2)), function(x, rng)), [1])


class Calls:
    """A function that is an object, and counts."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, x: Any, rng: Any) -> int:
        self.seen += 1
        return int(rng.integers(2)) + (self.seen > 50)

    def method(self, x: Any, rng: Any) -> int:
        return self(x, rng)


def kept(seen: list[int], x: Any, rng: Any) -> int:
    seen.append(1)
    return int(rng.integers(2)) + (len(seen) > 50)


@pytest.mark.parametrize("make", [Calls, lambda: Calls().method, lambda: functools.partial(kept, [])])
def test_what_the_function_itself_keeps_is_seen(make: Any) -> None:
    with pytest.raises(NotEnumerableError, match="run again"):
        enumerate_law(make(), [1])


def test_the_code_is_as_before_when_the_enumeration_is_over() -> None:
    before = in_a_default.__code__
    with pytest.raises(NotEnumerableError):
        enumerate_law(in_a_default, [1])
    assert in_a_default.__code__ is before
    in_a_default.__defaults__[0].clear()  # type: ignore[index]
    LOG.clear()


# --- loops whose state is seen elsewhere --------------------------------------------------------------------------------------


def with_a_copy(x: Any, rng: Any) -> int:
    def toss(listed: list[int]) -> None:
        while rng.integers(2):
            listed = list(listed)
        listed.append(1)

    kept: list[int] = []
    toss(kept)
    return len(kept)


def with_a_bound_method(x: Any, rng: Any) -> int:
    def toss(push: Any, length: Any) -> None:
        while rng.integers(2) and length() < 3:
            push(1)

    kept: list[int] = []
    toss(kept.append, kept.__len__)
    return len(kept)


def with_a_shared_variable(x: Any, rng: Any) -> int:
    kept = 0

    def toss() -> None:
        nonlocal kept
        while rng.integers(2):
            kept = 5

    toss()
    return kept


def with_a_handler(x: Any, rng: Any) -> int:
    n = 0
    while True:
        try:
            if rng.integers(2):
                break
            n = 1
            if rng.integers(2):
                raise ValueError
        except ValueError:
            pass
        finally:
            last = n
    return last


HALVES = {0: "1/2", 1: "1/2"}


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (with_a_copy, HALVES),
        (with_a_bound_method, {0: "1/2", 1: "1/4", 2: "1/8", 3: "1/8"}),
        (with_a_shared_variable, {0: "1/2", 5: "1/2"}),
        (with_a_handler, HALVES),
    ],
)
def test_a_loop_is_solved_by_all_of_its_state(sampler: Any, expected: dict[int, str]) -> None:
    assert enumerate_law(sampler, [1]) == FiniteLaw.of(expected)


def cleared_again(x: Any, rng: Any) -> int:
    LOG.clear()
    while rng.random() < 0.5 and len(LOG) < 3:
        LOG.append(1)
    found = len(LOG)
    LOG.clear()
    return found


def test_a_list_of_the_module_that_is_cleared_first_is_state_of_the_loop() -> None:
    """What lay in it before changes nothing; the enumeration may refuse that, and may not read another law."""
    expected = FiniteLaw.of({0: "1/2", 1: "1/4", 2: "1/8", 3: "1/8"})
    LOG.append(3)
    with contextlib.suppress(NotEnumerableError):
        assert enumerate_law(cleared_again, [1]) == expected
    LOG.clear()
    assert enumerate_law(cleared_again, [1]) == expected


# --- what is right stays --------------------------------------------------------------------------------------------------------


class Noise(abc.ABC):
    def __init__(self, bit: int) -> None:
        self.__bit = bit

    @property
    def bit(self) -> int:
        return self.__bit

    @abc.abstractmethod
    def draw(self, rng: Any) -> int: ...


class Coin(Noise):
    def __init__(self, bit: int, chance: float) -> None:
        super().__init__(bit)
        self.chance = chance

    def draw(self, rng: Any) -> int:
        return self.bit ^ int(np.random.default_rng(rng).random() < self.chance)


def test_classes_are_read() -> None:
    def sampler(x: Any, rng: Any) -> int:
        return Coin(x[0], chance=0.25).draw(rng) if isinstance(rng, np.random.Generator) else 7

    assert enumerate_law(sampler, [1]) == FiniteLaw.of({0: "1/4", 1: "3/4"})


def with_records(x: Any, rng: Any) -> Any:
    pair = dataclasses.replace(Pair(int(rng.integers(2))), right=1)
    return pair, Pair(1) < Pair(2), f"{pair}", Named(1, 2)._replace(u=pair.left), Colour(2).value


def test_dataclasses_named_tuples_and_enumerations_are_read() -> None:
    law = enumerate_law(with_records, [1])
    expected = [observed((Pair(b, 1), True, f"Pair(left={b}, right=1)", Named(b, 2), 2)) for b in (0, 1)]
    assert law == FiniteLaw.uniform(expected)


def test_what_is_printed_is_seen() -> None:
    def prints(x: Any, rng: Any) -> int:
        print(x)
        return int(rng.integers(2))

    assert enumerate_law(prints, [1]) == FiniteLaw.uniform([observed(b, "[1]\n") for b in (0, 1)])


CALLS = [
    lambda rng: rng.integers(3),
    lambda rng: rng.integers(np.int64(2), 5),
    lambda rng: rng.integers(0, 2, size=2),
    lambda rng: rng.integers(2, dtype=int),
    lambda rng: rng.integers(1, 2, endpoint=True),
    lambda rng: rng.integers(0),
    lambda rng: rng.binomial(2, 0.5),
    lambda rng: rng.binomial(1, 0.5, size=(1, 2)),
    lambda rng: rng.hypergeometric(1, 2, 1),
    lambda rng: rng.multinomial(2, [0.5, 0.5]),
    lambda rng: rng.choice(3),
    lambda rng: rng.choice(["a", "b"]),
    lambda rng: rng.choice([True, False]),
    lambda rng: rng.choice([(1, 2), (3, 4)]),
    lambda rng: rng.choice(3, size=2, replace=False),
    lambda rng: rng.choice([1.5, 2], p=[0.25, 0.75]),
    lambda rng: rng.choice(2, size=3, replace=False),
    lambda rng: rng.choice([]),
    lambda rng: rng.permutation(3),
    lambda rng: rng.permutation(["a", "b"]),
    lambda rng: rng.permutation([[1, 2], [3, 4]]),
    lambda rng: rng.permutation(np.arange(4).reshape(2, 2), axis=1),
    lambda rng: rng.permuted([1, 2]),
    lambda rng: rng.permuted(np.arange(4).reshape(2, 2), axis=0),
    lambda rng: rng.random() < 0.5,
    lambda rng: rng.random(2) < 0.5,
    lambda rng: rng.random(2)[0] < 0.5,
    lambda rng: rng.random() < np.float64(0.5),
    lambda rng: int(rng.random() * 3),
    lambda rng: (rng.random(2) * 3).astype(int),
    lambda rng: math.floor(rng.uniform(-1, 1)),
    lambda rng: rng.uniform(0, 2) >= 1,
    lambda rng: rng.choice([None, "a"]),
    lambda rng: rng.random() < np.array([0.25, 0.5]),
    lambda rng: 1 - rng.random() > 0.5,
]


@pytest.mark.parametrize("draw", CALLS)
def test_real_draws_are_outcomes_of_the_enumerated_law(draw: Any) -> None:
    """In type, dtype, shape and layout; 60 draws, of which each outcome has a probability of at least 1/12."""

    def function(x: Any, rng: Any) -> Any:
        return draw(rng)

    law: Any = enumerate_law(function, [1])
    seen = set()
    for seed in range(60):
        try:
            seen.add(observed(function([1], np.random.default_rng(seed))))
        except ValueError as problem:
            seen.add(observed_raise(problem))
    if all(str(outcome).startswith("raises") for outcome in law.support):
        assert {str(one) for one in seen} == {str(one) for one in law.support}
    else:
        assert seen <= set(law.support)
        assert all(p >= Fraction(1, 12) for _, p in law.probabilities())
        assert seen == set(law.support)
