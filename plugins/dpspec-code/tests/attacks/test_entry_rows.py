"""Ordinary numpy code on rows, read off for all datasets at once, against what it does on single ones.

Programs at random make matrices of the rows of a dataset and compute with them: axes, norms, broadcasting, masks, views, changes
in place, products. Whatever is read off has to say what the program does without noise on random lists; what cannot be read off
is refused. The oracle is numpy.
"""

from __future__ import annotations

import random

import pytest
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import done, module_of, told

ROWS = {
    2: ((0.0, 0.0), (3.0, 4.0), (-0.5, 0.25), (1.0, -2.0)),
    3: ((0, 1, 2), (2, 0, 1), (-1, 3, 0)),
    9: (tuple(0.1 * k for k in range(9)), tuple(1.5 - k for k in range(9)), (0.3,) * 9),
}


def claim(width, **options):
    space = dp.value_lists(values=list(ROWS[width]), **options)
    return dp.spec(space=space, distance="add-remove", standard="gaussian", mu=1)


class Writer:
    """Writes programs: matrices `a`, `b` with a line for each entry, lists `n`, `m` of a number for each."""

    def __init__(self, lot, width):
        self.lot, self.width = lot, width

    def start(self):
        return self.lot.choice(
            [
                "np.array(x)",
                "np.array(x, dtype=float)",
                "np.asarray(x, dtype='float64')",
                f"np.array(x, dtype=float).reshape(-1, {self.width})",
                f"np.array(x).reshape(len(x), {self.width})",
                "np.array([list(r) for r in x])",
                "np.array([np.array(r) * 2 for r in x])",
                "np.clip(x, -1, 1)",
                "np.array(x).T.T",
            ]
        )

    def step(self):
        lot = self.lot
        a, b, n, m = lot.choice("ab"), lot.choice("ab"), lot.choice("nm"), lot.choice("nm")
        place = lot.randrange(self.width)
        return lot.choice(
            [
                f"{a} = {b} * 2",
                f"{a} = {b} + {a}",
                f"{a} = {b} - 1",
                f"{a} = {b} ** 2",
                f"{a} = np.abs({b})",
                f"{a} = {b}",
                f"{a} = {b}[:]",
                f"{a} = {b}.copy()",
                f"{a} = np.asarray({b})",
                f"{a} += 1",
                f"{a} *= {b}",
                f"{a} = {b} * {n}[:, None]",
                f"{a} = {b} / np.maximum(1, np.abs({n}))[:, np.newaxis]",
                f"{a} = ({b}.T * {n}).T",
                f"{a} = np.minimum({b}, 1.5)",
                f"{a} = np.clip({b}, -1, 2)",
                f"{a} = np.where({b} > 0, {b}, {a})",
                f"{a} = {b} - {b}.mean(axis=1, keepdims=True)",
                f"{a} = {b} - {b}.max(axis=1, keepdims=True)",
                f"{a} = {b} * np.arange({self.width})",
                f"{a} = {b} + np.arange({self.width})[None, :]",
                f"{a} = np.floor({b})",
                f"{a} = {b}[:, ::-1]",
                f"{a} = {b}.astype(float)",
                f"{a} = {b}[{n} > 1]; {b} = {b}[{n} > 1]",
                f"{n} = {a}[:, {place}]",
                f"{n} = {a}[..., {place}]",
                f"{n} = {a}.sum(axis=1)",
                f"{n} = {a}.max(axis=-1)",
                f"{n} = np.linalg.norm({a}, axis=1)",
                f"{n} = np.linalg.norm({a}, axis=1, ord=1)",
                f"{n} = np.sqrt(np.sum({a} ** 2, axis=1))",
                f"{n} = ({a} > 0).sum(axis=1)",
                f"{n} = {a}.argmax(axis=1)",
                f"{n} = np.einsum('ij,ij->i', {a}, {b})",
                f"{n} = {a} @ np.arange({self.width})",
                f"{n} = {m} * 2",
                f"{n} = {m} + {n}",
                f"{n} = 1 / np.maximum(np.abs({m}), 1)",
                f"{n} = np.minimum(1, {m})",
                f"{n} = {m}",
                f"{n} *= 2",
                f"{n} = {a}[:, {place}:].sum(axis=1)",
            ]
        )

    def number(self):
        lot = self.lot
        a, b, n, m = lot.choice("ab"), lot.choice("ab"), lot.choice("nm"), lot.choice("nm")
        place = lot.randrange(self.width)
        return lot.choice(
            [
                f"{a}.sum(axis=0)[{place}]",
                f"{a}[:, {place}].sum()",
                f"np.sum({a})",
                f"{n}.sum()",
                f"np.sum({n} * {m})",
                f"({n} @ {a})[{place}]",
                f"({a}.T @ {n})[{place}]",
                f"({a}.T @ {b})[{place}, 0]",
                f"np.einsum('ij,i->j', {a}, {n})[{place}]",
                f"np.einsum('ij->', {a})",
                f"({n} > 1).sum()",
                f"np.count_nonzero({a} > 0)",
                f"{a}.sum(axis=0, keepdims=True)[0, {place}]",
                f"{a}.T.sum(axis=1)[{place}]",
                f"len({a})",
                f"{a}.shape[0]",
                f"sum(r[{place}] * 1.0 for r in {a})",
                f"np.sum([r / 2 for r in {a}], axis=0)[{place}]",
            ]
        )

    def program(self, name):
        lines = [f"def {name}(x, rng):", f"    a = {self.start()}", f"    b = {self.start()}"]
        lines += ["    n = a[:, 0]", "    m = b.sum(axis=1)"]
        lines += ["    " + self.step() for _ in range(self.lot.randint(0, 5))]
        parts = [f"float({self.number()}) + rng.normal(scale=64.0)" for _ in range(3)]
        lines.append(f"    return [{', '.join(parts)}]")
        return "\n".join(lines)


def judged(count, seed, width, folder):
    """How many programs were read off; each is compared with what it does on random lists."""
    lot = random.Random(seed * 100 + width)
    writer = Writer(lot, width)
    texts = [writer.program(f"program_{number}") for number in range(count)]
    module = module_of("import numpy as np\n\n\n" + "\n\n\n".join(texts) + "\n", folder, f"rows_{seed}_{width}")
    read, spec = 0, claim(width, least=1)
    for number, text in enumerate(texts):
        function = getattr(module, f"program_{number}")
        try:
            tree = whole_tree(function, spec, most_paths=50)
        except (NoConstant, DpspecError):
            continue
        read += 1
        for size in (1, 2, 3, 9, 40):
            dataset = tuple(lot.choice(ROWS[width]) for _ in range(size))
            does, says = done(function, dataset), told(tree.on(dataset))
            assert does is not None, text
            assert says is not None, text
            assert says[0] == pytest.approx(does[0], rel=1e-9, abs=1e-9), (text, dataset)
    return read


@pytest.mark.parametrize("width", sorted(ROWS))
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
def test_what_is_read_off_rows_is_what_they_do(seed, width, tmp_path):
    count = {1: 60, 2: 600, 3: 4_000}[seed]
    read = judged(count, seed, width, tmp_path)
    assert count / 10 < read < count


def verdict(text, spec, folder, name):
    function = getattr(module_of(f"import numpy as np\n\n\ndef {name}(x, rng):\n{text}", folder, name), name)
    try:
        return WholeProof.of(whole_tree(function, spec, most_paths=50), spec).verdict().outcome
    except (NoConstant, DpspecError):
        return None


NOT_READ = [
    # the empty list has another shape, and raises
    (2, {}, "    g = np.array(x)\n    return np.linalg.norm(g, axis=1).sum() + rng.normal(scale=99.0)\n"),
    # the last digits of sums of nine numbers depend on how they lie in memory
    (9, {"least": 1}, "    g = np.array(x).T\n    return (g.sum(axis=0) > 0.9 * 3).sum() + rng.normal(scale=99.0)\n"),
    (9, {"least": 1}, "    g = np.array(x)\n    return np.floor(g.mean(axis=1)).sum() + rng.normal(scale=99.0)\n"),
    (9, {"least": 1}, "    n = np.array(x).sum(axis=1)\n    return ((n - 2.7) * 1e15).sum() + rng.normal(scale=99.0)\n"),
    # a view changes what it is a view of
    (2, {"least": 1}, "    g = np.array(x)\n    h = g[:, :]\n    h *= 9\n    return g.sum() + rng.normal(scale=7.0)\n"),
    (2, {"least": 1}, "    g = np.array(x)\n    h = g.T\n    g *= 9\n    return h.sum() + rng.normal(scale=7.0)\n"),
    # places of entries
    (2, {"least": 1}, "    g = np.array(x)\n    return g[0].sum() + rng.normal(scale=7.0)\n"),
    (2, {"least": 1}, "    g = np.array(x)\n    return g[:1].sum() + rng.normal(scale=7.0)\n"),
    # another number for each entry
    (2, {"least": 2, "most": 2}, "    g = np.array(x)\n    return (g * [[1], [9]]).sum() + rng.normal(scale=7.0)\n"),
    # entries along one axis with entries along the other
    (2, {"least": 2, "most": 2}, "    g = np.array(x)\n    return (g * g.T).sum() + rng.normal(scale=7.0)\n"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(NOT_READ)))
def test_what_the_parts_do_not_decide_is_not_read(number, tmp_path):
    width, sizes, text = NOT_READ[number]
    assert verdict(text, claim(width, **sizes), tmp_path, f"not_read_{number}") is None


def test_a_vector_that_was_scaled_to_a_length_has_that_length(tmp_path):
    text = (
        "    g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "    g /= np.maximum(1, np.linalg.norm(g, axis=1, keepdims=True))\n"
        "    return g.sum(axis=0) + rng.normal(scale=2.0, size=2)\n"
    )
    rows = [(0.0, 0.0), (2.0, 3.0), (2.7, 3.1)]
    for mu, outcome in (("1/2", Outcome.VERIFIED), ("0.4999", Outcome.REFUTED)):
        spec = dp.spec(space=dp.value_lists(values=rows), distance="add-remove", standard="gaussian", mu=mu)
        assert verdict(text, spec, tmp_path, f"scaled_{mu[-1]}") is outcome
