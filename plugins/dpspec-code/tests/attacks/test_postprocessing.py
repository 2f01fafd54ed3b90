"""Post-processing that is read and not run: what computes with noisy values alone is, and nothing that may look past them."""

from __future__ import annotations

import functools
import json
import math
import operator
import sys
import time

import numpy as np
import pytest
from dpspec_code.case import _Case

import dpspec as dp
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.functions import Sampling
from dpspec.verifier.verdict import Outcome

pytestmark = pytest.mark.usefixtures("in_this_process")

KINDS = (0, 1, 2)
STASH: list[object] = []
HELD = ([],)
BITS = {"a": 1}
NAMES = ("none", "one", "two")
LABELS = [*NAMES]
x = 5


def claim(epsilon="1"):
    return dp.spec(space=dp.value_lists(values=[*KINDS]), distance="symmetric-difference", standard="pure", epsilon=epsilon)


def by_post_processing(function, spec=None):
    about = {"progress": None, "datasets": None, "registry": None, "sampling": Sampling(seconds=600)}
    return _Case(function=function, spec=spec or claim(), **about)._by_post_processing(500)


def fixed(counts, total):
    counts = [max(0, count) for count in counts]
    while sum(counts) > total:
        counts[counts.index(max(counts))] -= 1
    while sum(counts) < total:
        counts[counts.index(min(counts))] += 1
    return tuple(counts)


def deep(value, depth=3):
    return value if depth == 0 else deep(round(value, depth), depth - 1)


def kept(values):
    return [*values, len(STASH)]


def kept_deep(values):
    return [*values, len(HELD[0])]


def kept_once(values, seen=[]):  # noqa: B006
    return [*values, len(seen)]


def nested(values):
    def inner():
        return values

    return inner()


short = lambda values: values  # noqa: E731


# --- what is post-processing ----------------------------------------------------------------------


def in_a_text(x, rng):
    return f"about {len(x) + rng.laplace():.1f} people"


def as_json(x, rng):
    return json.dumps({"n": round(len(x) + rng.laplace(), 1)})


def to_a_total(x, rng):
    p = 1 - math.exp(-1)
    return fixed([x.count(kind) + int(rng.geometric(p)) - int(rng.geometric(p)) for kind in KINDS], 4)


def registered(function):
    return function


@registered
def in_words(x, rng):
    n = len(x) + rng.laplace(scale=1)
    if n < 0:
        n = 0.0
    label = "few" if n < 10 else "many"
    return label + ": " + str(round(n))


def walked(x, rng):
    n, steps = len(x) + rng.laplace(), 0
    while n > 1 and steps < 50:
        n /= 2
        steps += 1
    return steps


def with_helpers(x, rng, digits=3):
    noisy = [x.count(kind) + rng.laplace() for kind in KINDS]
    ranked = sorted(enumerate(noisy), key=lambda one: -one[1])
    shown = {f"{place}": deep(value, digits) for place, value in ranked}
    return ", ".join(f"{key}={value:.2f}" for key, value in shown.items())


def with_a_draw_beside(x, rng):
    draw, n = rng.integers, len(x) + rng.laplace()
    return f"{n:.1f} {draw(5)}"


def same_names_in_comprehensions(x, rng):
    noisy = [sum(v == k for v in x) + rng.laplace() for k in KINDS]
    total = 0.0
    for v in noisy:
        total += v
    return [f"{v:.1f}" for v in noisy if v > 0], total


def with_a_parameter(x, rng, places=2):
    noisy = [sum(v == k for v in x) + rng.laplace() for k in KINDS]
    return [f"{v:.{places}f}" for v in noisy]


def printed(x, rng):
    n = len(x) + rng.laplace()
    print("noisy", n, sep=": ")
    return round(n)


def by_the_names_of_a_list(x, rng):
    noisy = [x.count(kind) + rng.laplace() for kind in KINDS]
    lines = [f"{name} ({LABELS.index(name)} of {len(LABELS)}): {value:.1f}" for name, value in zip(LABELS, noisy, strict=True)]
    return "\n".join([LABELS[0], *lines, *BITS, str(BITS.get("a"))])


def as_a_word(x, rng):
    return str(len(x) + rng.laplace())


def by_a_helper_that_draws(x, rng):
    return show(blurred(len(x), rng))


def blurred(value, generator):
    return value + generator.laplace()


def show(value):
    return f"{value:.3f}"


RIGHT = [
    printed,
    by_the_names_of_a_list,
    as_a_word,
    by_a_helper_that_draws,
    same_names_in_comprehensions,
    to_a_total,
    walked,
    with_helpers,
    with_a_parameter,
    in_a_text,
    as_json,
    in_words,
    with_a_draw_beside,
]
"""The first eight compute in ways of their own; the others in the slow profile only."""


@pytest.mark.parametrize("function", [*RIGHT[:8], *(pytest.param(function, marks=pytest.mark.slow) for function in RIGHT[8:])])
def test_what_computes_with_noisy_values_alone_is_verified(function):
    found = by_post_processing(function)
    assert found.outcome is Outcome.VERIFIED
    assert found.proof[-1].step == "post-process"
    assert found.universes[0].constant.lower == 0
    assert 0.999999 < float(found.universes[0].constant.upper) <= 1


def test_a_smaller_budget_is_not_verified():
    assert by_post_processing(as_a_word, claim("0.99")) is None


@pytest.mark.parametrize("function", [as_a_word, pytest.param(printed, marks=pytest.mark.slow)])
def test_the_whole_way_verifies_it_too(function):
    assert verify_claim(function, claim(), seconds=600).outcome is Outcome.VERIFIED


# --- what is not ------------------------------------------------------------------------------------


def raw(x, rng):
    n, total = len(x) + rng.laplace(), len(x)
    return f"{n:.1f} {total}"


def raw_in_the_last(x, rng):
    return f"{len(x) + rng.laplace():.1f} {len(x)}"


def noise_beside(x, rng):
    noise = rng.laplace()
    noisy = len(x) + noise
    return f"{noisy:.1f} {noise:.1f}"


def another_name(x, rng):
    y, n = x, len(x) + rng.laplace()
    return f"{n:.1f} {y[0]}"


def in_a_function(x, rng):
    look = lambda: x  # noqa: E731
    n = len(x) + rng.laplace()
    return f"{n:.1f} {look()}"


def in_an_inner_function(x, rng):
    def look():
        return x

    n = len(x) + rng.laplace()
    return f"{n:.1f} {look()}"


def in_the_frame(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {locals()}"


def in_the_frame_by_another_name(x, rng):
    n = len(x) + rng.laplace()
    unused = [locals for locals in ()]  # noqa: C416
    return f"{n:.1f} {locals()} {unused}"


def by_eval(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {eval('x')}"  # noqa: S307


def by_vars(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {vars()}"


def stashed(x, rng):
    STASH.append(len(x))
    noisy = [len(x) + rng.laplace()]
    return kept(noisy)


def stashed_deep(x, rng):
    HELD[0].append(len(x))
    noisy = [len(x) + rng.laplace()]
    return kept_deep(noisy)


def stashed_in_a_default(x, rng):
    kept_once.__defaults__[0].append(len(x))
    noisy = [len(x) + rng.laplace()]
    return kept_once(noisy)


def stashed_on_a_function(x, rng):
    fixed.total = len(x)
    noisy = [len(x) + rng.laplace()]
    return f"{noisy} {fixed.total}"


def reads_what_others_keep(x, rng):
    noisy = [len(x) + rng.laplace()]
    return f"{noisy} {BITS}"


def the_generator(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {rng.bit_generator.state}"


def the_generator_by_another_name(x, rng):
    other, n = rng, len(x) + rng.laplace()
    return f"{n:.1f} {other.integers(5)}"


def perhaps_unset(x, rng):
    if len(x) > 3:
        more = 1
    n = len(x) + rng.laplace()
    try:
        return f"{n:.1f} {more}"
    except NameError:
        return f"{n:.1f}"


def perhaps_unset_plainly(x, rng):
    if len(x) > 3:
        more = 1
    n = len(x) + rng.laplace()
    return f"{n:.1f} {more}"


def unset_and_a_global_name(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {STASH}"


def bound_by_a_pattern(x, rng):
    match x:
        case [*more]:
            pass
    n = len(x) + rng.laplace()
    if n > 1e9:
        more = 0
    return f"{n:.1f} {more}"


def bound_by_a_pattern_alone(x, rng):
    match x:
        case [*more]:
            pass
    n = len(x) + rng.laplace()
    return f"{n:.1f} {more}"


def bound_by_a_loop(x, rng):
    n = len(x) + rng.laplace()
    for v in x:  # noqa: B007
        pass
    n += 0
    if n > 1e9:
        v = 0
    return f"{n:.1f} {v}"


def ends_before(x, rng):
    if len(x) == 2:
        return "two"
    n = len(x) + rng.laplace()
    return f"{n:.1f}"


def raises_before(x, rng):
    if len(x) == 2:
        raise ValueError
    n = len(x) + rng.laplace()
    return f"{n:.1f}"


def in_a_walrus(x, rng):
    return f"{(n := len(x)) + rng.laplace():.1f} {n}"


def named_by_a_text(x, rng):
    noisy = np.array([len(x) + rng.laplace()])
    return "{0.base}".format(noisy)  # noqa: UP030, UP032


def by_identity(x, rng):
    n = len(x) + rng.laplace()
    m = n
    return f"{n:.1f} {n is m}"


def by_identity_of_operator(x, rng):
    n = len(x) + rng.laplace()
    m = n
    return f"{n:.1f} {operator.is_(n, m)}"


def an_address(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {zip([n], [n], strict=True)}"


def an_address_of_a_method(x, rng):
    noisy = [len(x) + rng.laplace()]
    return f"{noisy} {noisy.append}"


def an_address_of_a_function(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {(lambda: n)}"


def an_address_in_parts(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {functools.partial(round, n)}"


def the_time(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {time.time()}"


def chance_from_elsewhere(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {np.random.random()}"


def memory(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {np.empty(4)}"


def memory_left(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {np.add([n], [n], where=[False])}"


def a_helper_with_a_scope(x, rng):
    n = len(x) + rng.laplace()
    return nested([n])


def a_helper_of_one_line(x, rng):
    n = len(x) + rng.laplace()
    return short([n])


def a_set(x, rng):
    noisy = {len(x) + rng.laplace()}
    return f"{noisy}"


def a_walk(x, rng):
    noisy = iter([len(x) + rng.laplace()])
    return f"{next(noisy):.1f}"


def too_little_noise(x, rng):
    return f"{len(x) + rng.laplace(scale=0.9):.1f}"


def text_of_the_data(x, rng):
    return f"{len(x) + rng.laplace():.1f}" + str(len(x))


def of_the_data_by_a_method(x, rng):
    return " ".join([f"{len(x) + rng.laplace():.1f}", *map(str, x)])


def a_global_of_the_same_name(data, rng):
    n = len(data) + rng.laplace()
    global x  # noqa: PLW0603
    x = len(data)
    return f"{n:.1f} {x}"


def padded(x, rng):
    n = len(x) + rng.laplace()
    return f"{n:.1f} {np.pad([n], 2, mode='empty')}"


def by_operator(x, rng):
    n = len(x) + rng.laplace()
    return operator.methodcaller("hex")(n)


def its_noise_in_the_text(x, rng):
    return f"{len(x) + rng.laplace():.1f} {rng.laplace() + len(x):.1f}"


def grows_a_list(x, rng):
    n = len(x) + rng.laplace()
    LABELS.append(n)
    return f"{n:.1f}"


def hands_a_list_over(x, rng):
    n = len(x) + rng.laplace()
    return appended(LABELS, n)


def appended(values, n):
    values.append(n)
    return len(values)


def keeps_a_list_by_another_name(x, rng):
    n = len(x) + rng.laplace()
    mine = LABELS
    mine += [n]
    return len(mine)


def changes_an_entry(x, rng):
    n = len(x) + rng.laplace()
    LABELS[0] = n
    return len(LABELS)


def prints_into_a_file(x, rng):
    n = len(x) + rng.laplace()
    print(n, file=sys.stderr)
    return n


def prints_the_data(x, rng):
    n = len(x) + rng.laplace()
    print(len(x))
    return n


def prints_noise_twice(x, rng):
    n = len(x) + rng.laplace()
    more = len(x) + rng.laplace()
    print(n)
    return more


def a_word_of_the_data(x, rng):
    return str(len(x)) + str(len(x) + rng.laplace())


WRONG = [
    value for name, value in list(globals().items())
    if getattr(value, "__code__", None) is not None and value.__code__.co_varnames[1:2] == ("rng",) and value not in RIGHT
]  # fmt: skip


def test_all_of_them_are_tried():
    assert len(WRONG) >= 55


@pytest.mark.spread(28, slow=28)
@pytest.mark.parametrize("function", WRONG)
def test_what_may_look_past_its_variables_is_not(function):
    try:
        assert by_post_processing(function) is None
    finally:
        STASH.clear()
        LABELS[:] = NAMES
        HELD[0].clear()
        kept_once.__defaults__[0].clear()
        vars(fixed).clear()
