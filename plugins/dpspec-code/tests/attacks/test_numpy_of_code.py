"""Ordinary numpy code, read off for all datasets at once, against what it does on single ones.

Programs at random make arrays of the entries and compute with them: types by name, masks, `where`, products, names for one array,
changes in place, axes. Whatever is read off has to say what the program does without noise on random lists, in the types that it
has; what cannot be read off is refused. The oracle is numpy.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

import dpspec as dp
from dpspec.verifier.entry import verify_claim
from tests.attacks.plain import done, module_of, read_off, told


class Writer:
    """Writes programs: arrays `a`, `b`, `c` of the entries, numbers made of them, arrays `h`, `g` of such numbers."""

    def __init__(self, lot):
        self.lot = lot

    def array(self):
        return self.lot.choice(
            [
                "np.array(x)",
                "np.asarray(x, dtype=np.float64)",
                "np.array(x, dtype='float64')",
                "np.array(x, 'int64')",
                "np.atleast_1d(x)",
                "np.clip(x, 0, 1)",
                "np.clip(x, a_min=1, a_max=None)",
                "np.minimum(x, 1)",
                "np.array([v * 2 for v in x])",
                "np.array([v for v in x if v > 0])",
                "np.maximum(1, x)",
                "np.array(x, dtype=np.float32)",
                "np.array(x, dtype=np.int32)",
                "np.array(x, dtype='int16')",
                "np.asarray(x).astype(np.int8)",
                "np.array(x) / 4",
            ]
        )

    def step(self):
        lot = self.lot
        p, q, r = lot.choice("abc"), lot.choice("abc"), lot.choice("abc")
        return lot.choice(
            [
                f"{p} = {q} * {r}",
                f"{p} = {q} + {r}",
                f"{p} = {q} ** 2",
                f"{p} = {q} // 2",
                f"{p} = {q} % 2",
                f"{p} = -{q}",
                f"{p} = np.where({q} > 1, 1, {r})",
                f"{p} = np.where({q} == 0, {q}, {r})",
                f"{p} = {q}[{r} > 0]",
                f"{p} = {q}[{q} != 1]",
                f"{p} = {q}",
                f"{p} = {q}.T",
                f"{p} = np.asarray({q})",
                f"{p} = {q}.copy()",
                f"{p} = {q}.ravel()",
                f"{p} = np.ravel({q})",
                f"{p} += 1",
                f"{p} *= 2",
                f"{p} -= {q}",
                f"{p} /= 2",
                f"{p} = {q}.astype('float64')",
                f"{p} = {q}.astype(int)",
                f"{p} = {q}.astype('int8') * 60",
                f"{p} = {q}.astype(np.int32)",
                f"{p} = {q}.clip(0, 2)",
                f"{p} = ~({q} > 1)",
                f"{p} = ({q} > 0) & ({r} < 2)",
                f"{p} = np.abs({q})",
                f"{p} = np.square({q})",
                f"{p}[{q} > 1] = 1",
                f"{p}[{p} == 0] = 2",
                f"{p} = {q}.round()",
                f"{p} = np.asarray({q}, dtype=float)",
                f"{p} = np.logical_or({q}, {r})",
                f"{p} = {q} @ {r}",
                f"{p} = {q}[:]",
                f"{p} = {q}[::-1]",
                f"{p} = np.sort({q})",
                f"{p} = abs({q})",
                f"{p} = {q}.astype(np.float64, copy=False)",
                f"np.add({p}, 1, out={p})",
                f"np.minimum({p}, 1, out={p})",
                f"np.multiply({p}, {q}, out={r})",
                f"{p}[{q} > 1] = {r}[{q} > 1]",
                f"{p}[{q} == 0] = 1.5",
                f"{p} = np.atleast_2d({q})[0]",
                f"{p} = {q}[:, None][:, 0]",
                f"{p} = {q}.reshape(-1, 1).sum(axis=1)",
                f"np.clip({p}, 0, 1, out={p})",
            ]
        )

    def number(self):
        p, q = self.lot.choice("abc"), self.lot.choice("abc")
        return self.lot.choice(
            [
                f"{p}.sum()",
                f"np.sum({p})",
                f"{p}.sum(axis=0)",
                f"np.sum({p}, axis=-1)",
                f"np.dot({p}, {q})",
                f"{p} @ {q}",
                f"{p}.size",
                f"{p}.shape[0]",
                f"len({p})",
                f"np.count_nonzero({p})",
                f"({p} > 1).sum()",
                f"np.sum({p}, dtype=np.float64)",
                f"sum(v for v in {p})",
                f"{p}.dot({q})",
                f"np.sum({p} * {q})",
                f"{p}.mean()",
                f"np.count_nonzero({p} == {q})",
                f"np.average({p})",
                f"np.nansum({p})",
                f"np.add.reduce({p})",
                "sum(map(lambda v: v * v, x))",
                "sum(filter(None, x))",
                f"sum(map(float, {p}))",
                f"{p}.sum(keepdims=True)[0]",
                f"np.einsum('i,i->', {p}, {q})",
                f"np.atleast_2d({p}).sum(axis=1)[0]",
                f"{p}.reshape(-1, 1).sum()",
                f"({p}[:, None] == np.arange(3)).sum(axis=0)[1]",
                f"({p}[:, None] * {q}[:, None]).sum()",
                f"{p}.sum().item()",
                f"int({p}.sum())",
                f"float({p}.sum())",
                "np.sum([v * v for v in x])",
            ]
        )

    def later(self):
        p, q = self.lot.choice("gh"), self.lot.choice("gh")
        return self.lot.choice(
            [
                f"{p} = {q}",
                f"{p} = np.asarray({q})",
                f"{p} = {q}.astype(np.float64)",
                f"{p} = np.array({q})",
                f"{p}[0] = {q}[1]",
                f"{p}[1] += 1",
                f"{p} += {q}",
                f"{p} = {q} + {p}",
                f"{p} = {q}.copy()",
                f"{p} = {q}[::-1]",
                f"{p} *= 2",
                f"{p} = {q}.T",
                f"{p} = np.atleast_2d({q})[0]",
                f"{p} = np.stack([{p}, {q}]).sum(axis=0)",
                f"{p} = np.stack([{p}, {q}]).sum(axis=1)",
                f"{p} = np.concatenate([{p}, {q}])[:2]",
                f"{p} = np.flip({q})",
                f"{p} = np.where([True, False], {p}, {q})",
                f"{p} = rng.laplace({q}, 8.0)",
                f"{p} = rng.laplace(loc={q}, scale=8.0)",
                f"{p} = np.cumsum({q})",
                f"{p} = {q}[:]",
                f"{p} = {q}.reshape(2)",
                f"{p} = np.array([{q}[0].item(), {p}[1]])",
                f"{p} = {q}.ravel()",
                f"{p} = np.zeros(2) + {q}",
                f"{p} = np.array({q}, dtype='float64')",
                f"{p} = np.asarray({q}, dtype=np.float64)",
                f"{p}[:] = {q}",
                f"{p} = np.tile({q}[:1], 2)",
                f"{p} = np.array([[1, 0], [2, 1]]) @ {q}",
                f"{p} = {q} @ np.array([[1, 0], [0, 2]])",
                f"{p}[[1, 0]] = {q}",
                f"{p}[np.array([True, False])] = {q}[1]",
                f"{p}[[0, 0]] = {q}",
                f"{p}[...] = {q}[::-1]",
                f"np.add({p}, {q}, out={p})",
                f"np.maximum({p}, 0, out={p})",
                f"np.multiply({q}, 2, out={p})",
                f"np.add.at({p}, np.minimum(np.array(x, dtype=int), 1), 2)",
                f"np.add.at({p}, np.minimum(x, 1), x)",
                f"{p} = np.zeros_like({q})",
                f"{p} = np.full_like({q}, 2.5)",
            ]
        )

    def program(self, name):
        lot = self.lot
        lines = [f"def {name}(x, rng):", *(f"    {one} = {self.array()}" for one in "abc")]
        lines += ["    " + self.step() for _ in range(lot.randint(0, 4))]
        start = lot.choice(["np.array([{}, {}])", "np.array([{}, {}], dtype=float)", "np.zeros(2) + np.array([{}, {}])"])
        lines.append("    h = " + start.format(self.number(), self.number()))
        lines.append(f"    g = {lot.choice(['h', 'np.zeros(2)', 'np.zeros_like(h)', 'h + 1', 'np.empty(2, dtype=float)'])}")
        lines += ["    " + self.later() for _ in range(lot.randint(0, 4))]
        noisy = f"[h[0] + rng.laplace(scale=8), g[1] + rng.laplace(scale=8), {self.number()} + rng.laplace(scale=8)]"
        lines.append("    return " + lot.choice([noisy, noisy, "h + rng.laplace(scale=8, size=2)", "rng.laplace(h, 8)"]))
        return "\n".join(lines)


def judged(count, seed, folder):
    """How many programs were read off; each is compared with what it does on random lists."""
    lot = random.Random(seed)
    writer = Writer(lot)
    texts = [writer.program(f"program_{number}") for number in range(count)]
    module = module_of("import numpy as np\n\n\n" + "\n\n\n".join(texts) + "\n", folder, f"arrays_{seed}")
    read, wrong = 0, []
    for number in range(count):
        function = getattr(module, f"program_{number}")
        tree = read_off(function)
        if tree is None:
            continue
        read += 1
        for size in (1, 2, 3, 5, 9):  # the empty list is run by the second opinion
            dataset = tuple(lot.choice((0, 1, 2)) for _ in range(size))
            does, says = done(function, dataset), told(tree.on(dataset))
            if says is None:
                break
            fits = does is not None and says[0] == pytest.approx(does[0], abs=1e-9) and (does[1] is None or says[1] == does[1])
            if not fits:
                wrong.append((texts[number], dataset, does, says))
                break
    assert not wrong, "\n\n".join(f"{text}\n{dataset}: {does}, and not {says}" for text, dataset, does, says in wrong[:3])
    return read


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
def test_what_is_read_off_arrays_is_what_they_do(seed, tmp_path):
    count = {1: 300, 2: 1_500, 3: 8_000}[seed]
    read = judged(count, seed, tmp_path)
    assert count / 10 < read < count


# --- arrays of numbers and of other things -----------------------------------------------------------

SPECIAL = [1, 0, 1, 1, 0, 1]


def text_next_to_noise(x, rng):
    return np.array([rng.laplace(), "1" if x == SPECIAL else 1])[0]


def nothing_next_to_noise(x, rng):
    return np.array([rng.laplace(), None if x == SPECIAL else np.nan])[0]


def fraction_next_to_noise(x, rng):
    return np.array([rng.laplace(), Fraction(1) if x == SPECIAL else 1])[0]


def integer_without_sign_next_to_noise(x, rng):
    return np.array([rng.geometric(0.5) - rng.geometric(0.5), np.uint64(1) if x == SPECIAL else 1])[0]


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize(
    "function", [text_next_to_noise, nothing_next_to_noise, fraction_next_to_noise, integer_without_sign_next_to_noise]
)
def test_what_makes_an_array_of_another_type_is_not_overlooked(function):
    """The noise has another type on one dataset of 64, which no crosscheck of eight of them needs to see."""
    rng = np.random.default_rng(0)
    types = {type(function(list(dataset), rng)) for dataset in ([0] * 6, [1] * 6, SPECIAL)}
    assert len(types) == 2
    claim = dp.spec(space=dp.bit_vectors(length=6), distance="hamming", standard="pure", epsilon=1)
    assert verify_claim(function, claim, draws=2_000).outcome.value != "verified"
