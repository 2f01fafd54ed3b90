"""Loops that add up the entries of a dataset, read off for all datasets at once, against what the code does on single ones.

Programs at random read what they add up, too early, too late, under other names and in conditions. Whatever is read off has to
say what the program does without noise on random lists; what cannot be read off is refused.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from dpspec_code.automatic.coupling import NoisyLaw
from dpspec_code.automatic.formulas import Affine
from dpspec_code.automatic.sampler import enumerate_law
from dpspec_code.case import readable
from dpspec_code.functions import adapted

import dpspec as dp
from dpspec.blocks.space import presented
from dpspec.verifier.entry import verify_claim
from tests.attacks.plain import ENTRIES, holes, module_of, read_off

pytestmark = pytest.mark.usefixtures("in_this_process")


class WithoutNoise:
    """A generator whose noise is 0."""

    def laplace(self, loc=0.0, scale=1.0, size=None):
        return loc + (0.0 if size is None else np.zeros(size))


def constants(law):
    """The numbers of an output without its noise, by the tree."""
    assert isinstance(law, NoisyLaw)
    ((end, _),) = law.leaves
    parts = list(holes(end.seen))
    assert all(isinstance(part.expression, Affine) for part in parts)
    return [float(part.expression.constant) for part in parts]


# --- programs at random ----------------------------------------------------------------------------


class Writer:
    """Writes programs with a loop over the dataset: sums, counts, temporary values, other names, questions."""

    def __init__(self, lot):
        self.lot = lot

    def number(self):
        """Something that may be added: mostly of the entry, sometimes of what was added up before."""
        plain = ["1", "2", "v", "v * v", "w", "0.5", "v / 4", "min(v, 1)", "int(v > 0)", "(v == 1)", "-v"]
        told = ["a", "b", "h[0]", "g[v]", "len(h)", "a - b", "a * 0", "h.index(h[0])", "max(a, v)", "len(l)",
                "l[-1]", "sum(m)", "len(m)"]  # fmt: skip
        return self.lot.choice(plain * 3 + told)

    def statement(self, depth):
        pad, lot = "    " * depth, self.lot
        kinds = "add add add put put temp if again name inner dict alias list list array"
        kind = lot.choice(kinds.split())
        if kind == "if" and depth < 4:
            test = lot.choice(["v", "v > 1", "w == 2", "v == 0", "a < 3", "h[0] > 1", "not a", "v in (0, 2)"])
            other = [f"{pad}else:", *self.statement(depth + 1)] if lot.random() < 0.4 else []
            return [f"{pad}if {test}:", *self.statement(depth + 1), *other]
        if kind == "inner" and depth < 4:
            return [f"{pad}for k in range({lot.randint(1, 3)}):", *self.statement(depth + 1)]
        if kind == "alias":
            return [f"{pad}y = {lot.choice(['h', 'g', 'a', 'v'])}", f"{pad}y {lot.choice(['+=', '*=', '-='])} {lot.choice('12')}"]
        return [pad + {
            "add": f"{lot.choice('aab')} {lot.choice(['+=', '+=', '-='])} {self.number()}",
            "put": f"{lot.choice(['h', 'h', 'g'])}[{lot.choice(['v', '0', '2 - v', 'w % 3'])}] += {self.number()}",
            "temp": f"w {lot.choice(['=', '=', '+='])} {lot.choice(['v', 'v + 1', '2 * v', 'a', 'w'])}",
            "again": f"a = a {lot.choice('+-')} {self.number()}",
            "name": lot.choice(["g = h", "w = h[0]", "h = h", "a = b", "continue", "b = 0", "m = l", "l = []", "l = l"]),
            "list": f"{lot.choice('llm')}.append({self.number()})",
            "array": lot.choice(["h +=", "h = h +", "g +=", "h -=", "y = h; h +="])
            + f" np.array([1, {lot.choice(['v', '2 * w', 'a'])}, 0])",
            "dict": lot.choice(["d[v] = d.get(v, 0) + 1", "d[0] += 1", "c[v] += 1"]),
        }.get(kind, "a += v")]  # fmt: skip

    def program(self, name):
        lot = self.lot
        start = lot.choice(["[0, 0, 0]", "np.zeros(3)", "[0.0] * 3", "np.zeros(3, dtype=int)", "[0, 1, 2]"])
        lines = [f"def {name}(x, rng):", f"    a, b, w = {lot.choice(['0', '0.0', '1'])}, 0, 0", f"    h = {start}"]
        lines += ["    g = " + lot.choice(["h", "[0, 0, 0]", "np.zeros(3)"]), "    d, c = {0: 0}, Counter()"]
        lines += ["    l = []", "    m = " + lot.choice(["l", "[]", "[]", "[1]", "[0.5]"])]
        lines += ["    for v in x:", "        w = v" if lot.random() < 0.8 else "        pass"]
        lines += [line for _ in range(lot.randint(1, 4)) for line in self.statement(2)]
        shown = ["a", "b", "h[0]", "h[1]", "g[2]", "d[0]", "c[1]", "sum(l)", "len(l)", "sum(m)", "np.sum(l)"]
        shown += ["len([1 for k in m if k])", "w"]
        chosen = lot.sample(shown[:-1], 3) + (["w"] if lot.random() < 0.1 else [])
        outputs = ", ".join(f"{one} + rng.laplace(scale=8)" for one in chosen)
        return "\n".join([*lines, f"    return [{outputs}]"])


def judged(count, seed, folder):
    """How many programs were read off; each is compared with what it does on random lists."""
    lot = random.Random(seed)
    writer = Writer(lot)
    text = "\n\n\n".join(writer.program(f"program_{number}") for number in range(count))
    module = module_of(f"from collections import Counter\n\nimport numpy as np\n\n\n{text}\n", folder, f"loops_{seed}")
    read = 0
    for number in range(count):
        function = getattr(module, f"program_{number}")
        tree = read_off(function)
        if tree is None:
            continue
        read += 1
        for size in (0, 1, 2, 3, 5, 9):
            dataset = tuple(lot.choice((0, 1, 2)) for _ in range(size))
            does = [float(one) for one in function(presented(dataset), WithoutNoise())]
            assert constants(tree.on(dataset)) == pytest.approx(does, abs=1e-9), (number, dataset)
    return read


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.long)])
def test_what_is_read_off_loops_is_what_they_do(seed, tmp_path):
    count = 300 if seed < 3 else 5_000
    read = judged(count, seed, tmp_path)
    assert count / 10 < read < count


# --- programs by hand ------------------------------------------------------------------------------


def histogram(x, rng):
    counts = [0, 0, 0]
    for v in x:
        counts[v] += 1
    return [c + rng.laplace(scale=1.0) for c in counts]


def array_histogram(x, rng):
    counts = np.zeros(3)
    for v in x:
        counts[v] += 1
    counts += rng.laplace(0, 1, size=3)
    return counts


def half_of_a_histogram(x, rng):
    counts = np.zeros(3)
    for v in x:
        counts[v] += 1
    counts /= 2
    return counts + rng.laplace(0, 1, size=3)


def of_a_counter(x, rng):
    counts = Counter(x)
    return {k: counts[k] + rng.laplace(0, 1) for k in (0, 1, 2)}


def of_a_counter_that_grows(x, rng):
    counts = defaultdict(int)
    for v in x:
        counts[v] += 1
    return [counts[k] + rng.laplace(0, 1) for k in (0, 1, 2)]


def of_a_dict_that_grows(x, rng):
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return [counts.get(k, 0) + rng.laplace(0, 1) for k in (0, 1, 2)]


def by_entries_of_an_array(x, rng):
    out = np.zeros(2)
    for place in range(2):
        out[place] = x.count(place) + rng.laplace(0, 1)
    return out


def weighted(x, rng):
    total = 0.0
    for v in x:
        doubled = v
        doubled *= 2
        total += doubled + 1
    total += rng.laplace(0, 5)
    return total


def added_and_taken_away(x, rng):
    total = 0
    for sign in (1, -1):
        for v in x:
            total += sign * v
    return total + rng.laplace(0, 1)


def of_a_sample(x, rng):
    sample, total = [v for v in x if rng.random() < 0.5], 0
    for v in sample:
        total += min(v, 1)
    return total + rng.laplace(0, 1)


def first_place_of_the_largest(x, rng):
    noisy = [x.count(k) + rng.laplace(0, 2) for k in (0, 1, 2)]
    return noisy.index(max(noisy))


def rounded_before_it_is_added(x, rng):
    return [x.count(kind) + int(np.round(rng.laplace(0, 1))) for kind in (0, 1, 2)]


def in_sevens(x, rng):
    return 7 * ((sum(x) + round(rng.laplace(0, 2))) // 7)


RIGHT = [
    (rounded_before_it_is_added, 1), (in_sevens, 1),
    (histogram, 1), (array_histogram, 1), (half_of_a_histogram, 0.5), (of_a_counter, 1), (of_a_counter_that_grows, 1),
    (of_a_dict_that_grows, 1), (by_entries_of_an_array, 1), (weighted, 1), (added_and_taken_away, 0),
    (of_a_sample, 0.6201145),
]  # fmt: skip


@pytest.mark.parametrize(("function", "constant"), RIGHT, ids=[function.__name__ for function, _ in RIGHT])
@pytest.mark.spread(6)
def test_natural_loops_are_verified_with_their_constant(function, constant):
    verdict = verify_claim(function, ENTRIES, seconds=600)
    assert verdict.outcome.value == "verified", verdict.reason
    assert float(verdict.constant.upper) == pytest.approx(constant, abs=1e-6)


def test_the_first_place_of_the_largest_is_verified():
    """Two proofs hold: one about a noisy maximum (1), and one that reads what follows the noise (1/2). The first is given."""
    verdict = verify_claim(first_place_of_the_largest, ENTRIES, seconds=600)
    assert verdict.outcome.value == "verified", verdict.reason
    assert verdict.constant.upper == 1


def keys_of_a_dict(x, rng):
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return {k: n + rng.laplace(0, 1) for k, n in counts.items()}


def keys_of_a_counter(x, rng):
    return [n + rng.laplace(0, 1) for n in Counter(x).values()]


def grows_by_what_it_is(x, rng):
    total = 1
    for v in x:
        total += total * v
    return total + rng.laplace(0, 1)


def places(x, rng):
    number, total = 0, 0
    for _ in x:
        number += 1  # noqa: SIM113 (as people write it)
        total += number
    return total + rng.laplace(0, 1)


def by_another_name(x, rng):
    counts = [0, 0, 0]
    same, total = counts, 0
    for v in x:
        counts[v] += 1
        total += same[v]
    return total + rng.laplace(0, 1)


def array_by_another_name(x, rng):
    counts = np.zeros(3)
    same = counts
    for v in x:
        counts[v] += 1
    return same + rng.laplace(0, 1, 3)


def bytes_that_wrap(x, rng):
    counts = np.zeros(3, dtype=np.int8)
    for v in x:
        counts[v] += 1
    return counts + rng.laplace(0, 1, 3)


def cut_to_whole_numbers(x, rng):
    out = np.zeros(1, dtype=int)
    out[0] = len(x) + rng.laplace(0, 1)
    return out


def stops_early(x, rng):
    total = 0
    for v in x:
        if v == 2:
            break
        total += 1
    return total + rng.laplace(0, 1)


def raises_for_some(x, rng):
    total = 0
    for v in x:
        total += 10 // v
    return total + rng.laplace(0, 10)


def prints_on_the_way(x, rng):
    total = 0
    for v in x:
        total += v
        print(v)
    return total + rng.laplace(0, 2)


def last_entry(x, rng):
    last = 0
    for v in x:
        last = v
    return last + rng.laplace(0, 2)


def keys_that_zeros_make(x, rng):
    counts = defaultdict(int)
    for v in x:
        counts[v] += 0
    return len(counts) + rng.laplace(0, 1)


def halves_beside_whole_noise(x, rng):
    return len(x) / 2 + round(rng.laplace(0, 1))


def cut_towards_zero(x, rng):
    return len(x) + int(rng.laplace(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("function", [halves_beside_whole_noise, cut_towards_zero])
def test_other_roundings_of_noise_are_refuted(function):
    assert verify_claim(function, ENTRIES, seconds=600).outcome.value == "refuted"


def array_in_place_by_another_name(x, rng):
    counts = np.zeros(2)
    for _ in x:
        same = counts
        same += 1
    return counts[0] + rng.laplace()


def list_in_place_by_another_name(x, rng):
    seen = []
    for v in x:
        same = seen
        same += [v]
    return len(seen) + rng.laplace()


def set_in_place_by_another_name(x, rng):
    seen = set()
    for v in x:
        same = seen
        same |= {v}
    return len(seen) + rng.laplace()


def doubled_in_place_by_another_name(x, rng):
    counts = np.ones(2)
    for _ in x:
        same = counts
        same *= 2
    return counts[0] + rng.laplace()


def in_place_in_a_loop_inside(x, rng):
    seen = []
    for v in x:
        same = seen
        for k in range(2):
            same += [v + k]
    return len(seen) + rng.laplace()


def grows_its_argument(held):
    held += [1]
    return 1


def in_place_in_a_function(x, rng):
    seen, total = [], 0
    for _ in x:
        total += grows_its_argument(seen)
    return len(seen) + total + rng.laplace()


REFUSED = [
    array_in_place_by_another_name, list_in_place_by_another_name, set_in_place_by_another_name,
    doubled_in_place_by_another_name, in_place_in_a_loop_inside, in_place_in_a_function,
    keys_that_zeros_make,
    keys_of_a_dict, keys_of_a_counter, grows_by_what_it_is, places, by_another_name, array_by_another_name, bytes_that_wrap,
    cut_to_whole_numbers, stops_early, raises_for_some, prints_on_the_way, last_entry,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED, ids=[function.__name__ for function in REFUSED])
def test_what_depends_on_more_than_counts_is_refused(function):
    assert read_off(function) is None


# --- redraws by recursion ----------------------------------------------------------------------------


def answers(bits, rng):
    return [bit if rng.random() < 0.75 else 1 - bit for bit in bits]


def redrawn_by_a_loop(bits, rng):
    found = answers(bits, rng)
    while sum(found) > 1:
        found = answers(bits, rng)
    return found


def redrawn_by_recursion(bits, rng):
    found = answers(bits, rng)
    return found if sum(found) <= 1 else redrawn_by_recursion(bits, rng)


def in_turns(bits, rng):
    found = answers(bits, rng)
    return found if sum(found) <= 1 else in_turns_too(bits, rng)


def in_turns_too(bits, rng):
    found = answers(bits, rng)
    return found if sum(found) >= 1 else in_turns(bits, rng)


def changes_its_dataset(bits, rng):
    found = answers(bits, rng)
    if sum(found) <= 1:
        return found
    bits[0] = 1 - bits[0]
    return changes_its_dataset(bits, rng)


def counts_its_calls(bits, rng, calls=[0]):  # noqa: B006 (what is looked for)
    found = answers(bits, rng)
    calls[0] += 1
    return (found, calls[0] > 3) if sum(found) <= 1 else counts_its_calls(bits, rng, calls)


PEOPLE = dp.spec(space=dp.bit_vectors(length=2), distance="hamming-ordered", standard="pure", epsilon=2)


def test_recursion_has_the_law_of_the_loop():
    one, other = (verify_claim(function, PEOPLE, seconds=600) for function in (redrawn_by_a_loop, redrawn_by_recursion))
    assert str(one.constant) == str(other.constant) == "ln(39/7)"


@pytest.mark.parametrize(("function", "constant"), [(in_turns, "ln(9)"), (changes_its_dataset, "ln(32637/5725)")])
def test_what_comes_next_depends_on_function_and_arguments(function, constant):
    assert str(verify_claim(function, PEOPLE, seconds=600).constant) == constant


def test_calls_that_are_counted_are_no_state():
    assert verify_claim(counts_its_calls, PEOPLE, draws=2_000, seconds=600).outcome.value != "verified"


def one_of_two_functions(bits, rng):
    def heads(n):
        return heads(n) if rng.integers(2) else 1

    def tails(n):
        return tails(n) if rng.integers(2) else 0

    return heads(0) if rng.integers(4) == 3 else tails(0)


def one_of_four_variables(bits, rng):
    drawn = int(rng.integers(4))

    def again(n):
        return again(n) if rng.integers(2) else drawn == 3

    return again(0)


def to_an_end(bits, rng):
    def again(n):
        return n == 2 if n == 2 or rng.integers(2) else again(n + 1)

    return again(0)


@pytest.mark.parametrize("function", [one_of_two_functions, one_of_four_variables, to_an_end])
def test_functions_made_in_each_run_are_distinguished_by_what_they_hold_and_not_by_their_address(function):
    """Each is 1 with probability 1/4, whatever the dataset is."""
    laws = [enumerate_law(readable(adapted(function, PEOPLE.space)), bits) for bits in ([0, 0], [1, 0], [0, 1], [1, 1])]
    assert all(sorted(law.probability(outcome) for outcome in law.support) == [Fraction(1, 4), Fraction(3, 4)] for law in laws)
    assert all(law == laws[0] for law in laws)
