"""Random plain programs: draws, arithmetic, branches, loops, redraws, early returns and errors, as the text of a module."""

from __future__ import annotations

import random

NAMES = ("a", "b", "c")
CHANCES = ("0.5", "0.25", "0.125", "0.75", "0.1", "0.3", "1 / 4")


class Writer:
    """Writes one program at a time.

    Args:
        lot: the source of all choices.
    """

    def __init__(self, lot: random.Random) -> None:
        self.lot = lot

    def program(self, name: str) -> str:
        """A function of a dataset (a list with one bit) and a generator."""
        lines = [f"def {name}(x, rng):", "    a, b, c = x[0], 1, 2"]
        lines += self.block(1, self.lot.randint(1, 4), loops=0)
        return "\n".join([*lines, f"    return {self.result()}"])

    def block(self, depth: int, count: int, *, loops: int) -> list[str]:
        """Some statements, indented."""
        return [line for _ in range(count) for line in self.statement(depth, loops)]

    def statement(self, depth: int, loops: int) -> list[str]:
        pad = "    " * depth
        kinds = ["draw", "draw", "draw", "set", "shuffle"]
        if depth < 3:
            kinds += ["if", "if", "for", "redraw", "try"]
        kind = self.lot.choice(kinds)
        if loops and kind in ("for", "redraw"):
            kind = "draw"
        name = self.lot.choice(NAMES)
        if kind == "draw":
            return [f"{pad}{name} = {self.draw()}"]
        if kind == "set":
            return [f"{pad}{name} = {self.number()}"]
        if kind == "shuffle":
            return [f"{pad}held = [{self.number()}, {self.number()}, 0]", f"{pad}rng.shuffle(held)", f"{pad}{name} = held[0]"]
        if kind == "if":
            lines = [f"{pad}if {self.question()}:", *self.block(depth + 1, self.lot.randint(1, 2), loops=loops)]
            if self.lot.random() < 0.3:
                lines += [f"{pad}    return {self.result()}"]
            elif self.lot.random() < 0.15:
                lines += [f'{pad}    raise ValueError("stop", {name})']
            if self.lot.random() < 0.5:
                lines += [f"{pad}else:", *self.block(depth + 1, 1, loops=loops)]
            return lines
        if kind == "for":
            return [
                f"{pad}for step in range({self.lot.randint(1, 3)}):",
                *self.block(depth + 1, 1, loops=1),
                f"{pad}    {name} = ({name} + step) % 4",
            ]
        if kind == "redraw":
            draw = self.lot.choice(["int(rng.integers(3))", "int(rng.integers(1, 5))", "int(rng.random() < 0.25)"])
            return [
                f"{pad}while True:",
                f"{pad}    {name} = {draw}",
                f"{pad}    if {name} != {self.lot.randint(2, 4)} and {name} != 0:",
                f"{pad}        break",
            ]
        return [
            f"{pad}try:",
            f"{pad}    {name} = {self.draw()} // ({self.atom()} % 3)",
            f"{pad}except ZeroDivisionError:",
            f"{pad}    {name} = 3",
        ]

    def draw(self) -> str:
        """A draw that ends in a plain integer."""
        n = self.lot.randint(2, 5)
        p = self.lot.choice(CHANCES)
        return self.lot.choice([
            f"int(rng.integers({n}))",
            f"int(rng.integers(-1, {n}))",
            f"int(rng.integers(0, {n}, endpoint=True))",
            f"int(rng.random() < {p})",
            f"int({p} <= rng.random())",
            f"(1 if rng.random() < {p} else {n})",
            f"int(rng.choice([0, 1, 1, {n}]))",
            f"int(rng.choice({n}))",
            "int(rng.choice(3, p=[0.5, 0.25, 0.25]))",
            "int(rng.permutation(3)[0])",
            f"int(rng.binomial(2, {p}))",
            "int(rng.multinomial(2, [0.25, 0.75])[0])",
            "int(rng.hypergeometric(2, 2, 2))",
            "int(rng.choice(3, size=2, replace=False)[1])",
            f"int(rng.integers(0, {n}, size=2).sum())",
            f"sum(int(v) for v in rng.integers(0, 2, size={self.lot.randint(1, 3)}))",
        ])  # fmt: skip

    def atom(self) -> str:
        return self.lot.choice([*NAMES, "x[0]", str(self.lot.randint(0, 4))])

    def number(self) -> str:
        """An integer from the variables."""
        one, two = self.atom(), self.atom()
        return self.lot.choice(
            [f"({one} + {two}) % 5", f"abs({one} - {two})", f"max({one}, {two})", f"{one} * 2 - {two}", f"[{one}, {two}][x[0]]"]
        )

    def question(self) -> str:
        one, two = self.atom(), self.atom()
        return self.lot.choice(
            [
                f"{one} < {two}",
                f"{one} == {two}",
                f"rng.random() < {self.lot.choice(CHANCES)}",
                f"{one} % 2 and {two}",
                f"not {one}",
            ]
        )

    def result(self) -> str:
        one, two = self.atom(), self.atom()
        return self.lot.choice(
            [
                one,
                f"({one}, {two})",
                f"[{one}, {two} % 2]",
                f'{{"n": {one}}}',
                f"str({one})",
                f"{one} / 2",
                f"{one} > {two}",
                f"None if {one} else {two}",
            ]
        )


def programs(count: int, seed: int) -> str:
    """The text of a module with functions p0, p1, ..."""
    writer = Writer(random.Random(seed))
    return "\n\n\n".join(writer.program(f"p{place}") for place in range(count)) + "\n"
