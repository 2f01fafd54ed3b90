"""Random programs with numbers of a fixed width, as texts of functions, with the spaces of their datasets.

Each adds up, counts or multiplies entries, scales the result up and down again, and adds noise. In exact arithmetic one record
changes the result by one step, and the noise hides the step. In the arithmetic of numpy, integers wrap around and doubles round.
"""

from __future__ import annotations

import random

VALUES = (
    (0, 1),
    (0, 1),
    (0, 1, 2),
    (-1, 1),
    (0, 100),
    (1, 3),
    (0, 0.5),
    (0.5, 1.0),
    (False, True),
    (0, 1 << 40),
    (0, 255),
    (0, 1, 0.25),
)
"""What the entries of a dataset may be."""
SIZES = (None, None, None, 50, 1_000, 100_000)
"""How many entries a dataset may have at most."""
TYPES = (
    "int",
    "float",
    "np.int64",
    "np.float64",
    "np.int32",
    "np.int16",
    "np.int8",
    "np.uint8",
    "np.uint64",
    "np.float32",
    "np.float16",
    "bool",
)


class Writer:
    """Writes one program at a time.

    Args:
        lot: the source of all choices.
    """

    def __init__(self, lot: random.Random) -> None:
        self.lot = lot

    def factor(self) -> int:
        """A number to multiply by, and to divide by again."""
        lot = self.lot
        return lot.choice(
            [1, 3, 10 ** lot.randint(0, 18), 10 ** lot.randint(13, 18), 2 ** lot.randint(0, 62), 2 ** lot.randint(46, 62)]
        )

    def written(self, factor: int) -> str:
        """The factor, as an integer of Python's, or as a number of numpy's."""
        return self.lot.choice([f"{factor}"] * 4 + [f"{factor}.0", f"np.int64({factor})", f"np.float64({factor})"])

    def array(self) -> str:
        """The entries as an array."""
        kind = self.lot.choice([""] * 6 + [f", dtype={self.lot.choice(TYPES)}"] * 3)
        return self.lot.choice(
            [f"np.array(x{kind})", f"np.array(x{kind})", f"np.asarray(x{kind})", f"np.array(x).astype({self.lot.choice(TYPES)})"]
        )

    def scaled(self, factor: str) -> str:
        """The entries times a factor, as an array."""
        return self.lot.choice(
            [
                f"({self.array()} * {factor})",
                f"({factor} * {self.array()})",
                f"np.array([v * {factor} for v in x])",
                f"np.clip({self.array()} * {factor}, -{factor}, {factor})",
                f"np.array([v * {factor} for v in x], dtype=int)",
            ]
        )

    def number(self, factor: str) -> list[str]:
        """Lines that make `t` a number of the data times a factor."""
        lot = self.lot
        kind = lot.choice(
            ["sum", "sum", "sum", "after", "after", "loop", "loop", "bins", "count", "list", "cell", "place", "odd"]
        )
        if kind == "sum":
            summed = lot.choice(
                [
                    "{}.sum()",
                    "np.sum({})",
                    "sum({})",
                    "np.add.reduce({})",
                    "np.cumsum({})[-1]",
                    "{}.prod()",
                    "({} @ np.ones(len(x), dtype=int))",
                ]
                if lot.random() < 0.3
                else ["{}.sum()", "np.sum({})"]
            )
            return [f"t = {summed.format(self.scaled(factor))}"]
        if kind == "after":
            summed = lot.choice(
                [
                    f"{self.array()}.sum()",
                    "np.sum(x)",
                    "sum(x)",
                    "len(x)",
                    "x.count(1)",
                    "np.count_nonzero(np.array(x))",
                    "Counter(x)[1]",
                ]
            )
            return [f"t = {summed}", lot.choice([f"t = t * {factor}", f"t *= {factor}", f"t = {factor} * t"])]
        if kind == "loop":
            start = lot.choice(["0", "0.0", "np.int64(0)", "np.float64(0)", "float(2**53)", "1e15"])
            step = lot.choice([f"v * {factor}", f"np.int64(v * {factor})", f"{factor}", f"np.float64(v) * {factor}"])
            lines = [f"s = {start}", "t = s", "for v in x:", f"    t += {step}"]
            return lines if start in ("0", "0.0") else [*lines, "t = t - s"]
        if kind == "bins":
            return [
                f"c = np.bincount(x, minlength={lot.choice([2, 3, 256])})",
                lot.choice(
                    [
                        f"t = c[1] * {factor}",
                        f"c = c * {factor}\nt = c.sum()",
                        f"c *= {factor}\nt = c[1]",
                        f"t = np.cumsum(c * {factor})[-1]",
                        f"t = c[0] * {factor} - c[1] * {factor}",
                    ]
                ),
            ]
        if kind == "count":
            return [
                f"c = np.array([len(x), x.count(0), x.count(1)]) * {factor}",
                lot.choice(["t = c[0]", "t = c.sum()", "t = c[0] - c[1]", "t = np.maximum(c[0], 0)"]),
            ]
        if kind == "cell":
            start = lot.choice(
                [
                    "np.zeros(2)",
                    "np.zeros(2, dtype=int)",
                    "np.zeros(2, dtype=np.int32)",
                    "[0, 0]",
                    "np.zeros(2, dtype=np.float32)",
                ]
            )
            return [
                f"h = {start}",
                "for v in x:",
                lot.choice([f"    h[int(v > 0)] += {factor}", f"    h[0] += v * {factor}"]),
                "t = h[0] + h[1]",
            ]
        if kind == "place":
            return ["h, _ = np.histogram(x, bins=2, range=(0, 2))", f"t = (h * {factor})[{lot.choice('01')}]"]
        if kind == "odd":
            return [
                lot.choice(
                    [
                        f"t = len(x) << {lot.randint(0, 70)}",
                        f"t = np.int64(len(x)) << {lot.randint(0, 62)}",
                        f"t = np.float32(len(x)) * {factor}",
                        f"t = np.int8(len(x) % 100) * {factor}",
                        f"t = np.array([len(x)]).astype(np.int16)[0] * {factor}",
                        f"t = np.int64(len(x) * {factor})",
                        f"t = np.dot({self.array()}, {self.array()}) * {factor}",
                        f"t = np.float64(len(x) * {factor})",
                    ]
                )
            ]
        return [f"t = sum([v * {factor} for v in x])"] if lot.random() < 0.5 else [f"t = sum(v * {factor} for v in x)"]

    def program(self, name: str, scale: str) -> str:
        """A function of a list and a generator; its noise has a scale."""
        lot, factor = self.lot, self.factor()
        lines = self.number(self.written(factor))
        if lot.random() < 0.2:
            far = lot.choice([2**53, 2**60, 10**15, 1])
            lines += [f"t = t + {far}", f"t = t - {far}"] if lot.random() < 0.5 else [f"t = t + {far}.0", f"t = t - {far}.0"]
        if factor > 1:
            lines += [
                lot.choice(
                    [
                        f"t = t / {factor}",
                        f"t = t / {factor}",
                        f"t = t / {factor}.0",
                        f"t = float(t) / {factor}",
                        f"t = t * {1 / factor!r}",
                        "t = t",
                    ]
                )
            ]
        if lot.random() < 0.2:
            other = self.factor()
            lines += [f"t = t * {other}", f"t = t / {other}"]
        lines = [part for line in lines for part in line.split("\n")]
        drawn = lot.choice([f"rng.laplace(scale={scale})", f"rng.laplace(0, {scale})", f"rng.laplace(0.0, {scale}, size=1)[0]"])
        return "\n".join([f"def {name}(x, rng):", *(f"    {line}" for line in lines), f"    return t + {drawn}"])
