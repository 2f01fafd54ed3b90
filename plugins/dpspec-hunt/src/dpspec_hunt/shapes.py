"""The type of dataset that a function expects: lists of entries, counts, one number, or one answer of each person; by its use.

    counts     a list of whole numbers, each an answer of a query; one record changes one of them by 1
    number     one such answer
    bits       an answer yes or no of each person
    entries    a list of values, one of each record

Bounds come from how the code clips. A function that clips is handed values beyond its bounds as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

import attrs

from dpspec_hunt.claims import Fact
from dpspec_hunt.draws import AnyFunction, dotted

SHAPES = ("entries", "counts", "number", "bits")
COUNTS = frozenset({
    "counts", "histogram", "hist", "true_counts", "freqs", "frequencies", "cells", "tally", "bins", "marginals",
    "query_answers", "answers", "scores", "utilities", "true_answers", "count_vector", "hist_counts", "contingency_table",
    "qualities", "gradients", "workload_answers",
})  # fmt: skip
ONE_NUMBER = frozenset({
    "value", "true_value", "true_answer", "answer", "query_result", "result", "count", "true_count", "total", "true_sum",
    "statistic", "query_answer", "val", "number", "true_result", "exact", "query_value", "raw_value", "true_mean",
    "measurement", "score",
})  # fmt: skip
OF_COUNTS = frozenset({
    "count", "true_count", "counts", "histogram", "hist", "true_counts", "freqs", "frequencies", "cells", "tally", "bins",
    "marginals", "count_vector", "hist_counts", "contingency_table",
})  # fmt: skip
"""Those of both that are whole numbers from 0 on, as `integer-counts` holds them; others may be negative, or have decimals."""
BITS = frozenset({
    "bits", "responses", "votes", "truths", "bit", "response", "truth", "true_bit", "true_response", "yes_no", "vote",
    "secret_bit",
})  # fmt: skip
RATINGS = frozenset({"responses", "response", "votes", "vote", "true_response"})
"""Those of them that may hold ratings or choices among several, too."""
_BIT_WORDS = re.compile(r"\bbits?\b|\bbinary\b|\b0/1\b|\byes/no\b|\b0 or 1\b|\bboolean", re.IGNORECASE)
_RANGE = re.compile(
    r"(?:in|between|from|range)\s*[\[(]?\s*(-?\d+(?:\.\d+)?)\s*(?:,|and|to)\s*(-?\d+(?:\.\d+)?)\s*[\])]?", re.IGNORECASE
)
MOST_CATEGORIES, MOST_COMPARED = 100, 3
_ARRAY_METHODS = frozenset({
    "sum", "mean", "shape", "size", "clip", "astype", "min", "max", "std", "var", "flatten", "ravel", "reshape", "T", "dot",
    "cumsum", "ndim",
})  # fmt: skip
WHOLE_NUMBERS = "checked on whole numbers from 0 on"
_NUMBERS = frozenset({
    "int", "float", "np.float64", "Real", "numbers.Real", "int | float", "float | int", "Union[int, float]",
})  # fmt: skip


@attrs.frozen(kw_only=True)
class Uses:
    """The uses of its dataset in a function.

    Args:
        whole: whether its length is read, or it is iterated, summed, or indexed.
        arithmetic: whether it is added to or multiplied as it is.
        array: whether it is used as an array.
        frame: whether it is used as a data frame.
        averaged: whether something is divided by its length, or its mean is taken.
        listed: whether the function returns one value for each entry.
        sized: whether draws have its length or shape.
        clipped: the bounds between which values are clipped, as expressions.
        bounded: whether nothing but the clipped entries, and how many there are, is used of the dataset.
        categories: the number of categories, as an expression.
        compared: what entries are compared with, as expressions.
    """

    whole: bool = False
    arithmetic: bool = False
    array: bool = False
    frame: bool = False
    averaged: bool = False
    listed: bool = False
    sized: bool = False
    clipped: tuple[ast.expr, ast.expr] | None = None
    bounded: bool = False
    categories: ast.expr | None = None
    compared: tuple[ast.expr, ...] = ()


_WHOLE = frozenset({"len", "sum", "mean", "bincount", "histogram", "sorted", "Counter", "median"})
_FRAME = frozenset({"columns", "iloc", "loc", "groupby", "value_counts", "iterrows", "query"})
_SIZED = frozenset({"laplace", "normal", "gumbel", "exponential"})
"""Draws whose third argument is a size."""


def uses_of(node: AnyFunction, data: str) -> Uses:
    """How the body of a function uses one of its parameters."""
    names = frozenset({data, *_renamed(node, data)})
    entries = _names_of_entries(node, names)
    found: dict[str, object] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            found |= _of_call(part, names, entries, found)
        elif isinstance(part, ast.Attribute) and _is_data(part.value, names):
            found["whole"] = True
            found |= {key: True for key, some in (("array", _ARRAY_METHODS), ("frame", _FRAME)) if part.attr in some}
            found |= {"averaged": True} if part.attr == "mean" else {}
        elif isinstance(part, ast.Subscript) and _is_data(part.value, names):
            found["whole"] = True
            found |= {"frame": True} if isinstance(part.slice, ast.Constant) and isinstance(part.slice.value, str) else {}
        elif isinstance(part, ast.comprehension | ast.For) and _holds(part.iter, names):
            found["whole"] = True
        elif isinstance(part, ast.BinOp):
            found |= {"arithmetic": True} if _is_data(part.left, names) or _is_data(part.right, names) else {}
            found |= {"averaged": True} if isinstance(part.op, ast.Div) and _is_length(part.right, names) else {}
        elif isinstance(part, ast.Return) and isinstance(part.value, ast.ListComp):
            found |= {"listed": True} if _are_entries(part.value.generators[0].iter, names) else {}
    found["compared"] = tuple(_compared(node, entries))
    found["bounded"] = not found["compared"] and _Clipping.bounds(node, data)
    return Uses(**found)  # type: ignore[arg-type]


def _compared(node: AnyFunction, entries: frozenset[str]) -> Iterator[ast.expr]:
    """The other side of each comparison of an entry, or of the entries of an array."""
    for part in ast.walk(node):
        if isinstance(part, ast.Compare) and not all(isinstance(one, ast.Is | ast.IsNot) for one in part.ops):
            sides = [part.left, *part.comparators]
            if any(_are_entries(side, entries) and not _is_size(side) for side in sides):
                yield from (side for side in sides if not _holds(side, entries))


def _is_size(part: ast.AST) -> bool:
    """Whether an expression is how many entries there are, or of which type."""
    return any(isinstance(one, ast.Attribute) and one.attr in _SIZES_OF for one in ast.walk(part))


_SIZES_OF = frozenset({"size", "shape", "ndim", "dtype"})
"""Attributes of an array that are the same whatever its entries are."""
_COPIES = frozenset({"array", "asarray", "list", "tuple", "atleast_1d", "float", "float64", "enumerate", "reversed", "sorted"})
"""Calls that pass entries on unchanged."""
MOST_NESTED = 6
"""Loops inside each other that are followed; the work doubles with each."""
_METHODS_THAT_COPY = frozenset({"astype", "copy", "flatten", "ravel", "tolist"})


@attrs.define
class _Clipping:
    """Follows the entries of a dataset through a function, statement by statement, up to where they are clipped.

    Args:
        entries: the names that hold the dataset, or entries that are not clipped.
        bounds_of: how the bounds of each clip are written.
        is_bounded: whether no entry was used before it was clipped.
    """

    entries: set[str]
    bounds_of: set[str] = attrs.field(factory=set)
    is_bounded: bool = True
    depth: int = 0

    @classmethod
    def bounds(cls, node: AnyFunction, data: str) -> bool:
        """Whether all entries are clipped to the same bounds before anything else is made of them."""
        found = cls({data})
        found._block(node.body)
        return found.is_bounded and len(found.bounds_of) == 1

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, part: ast.stmt) -> None:
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._named(name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._named(name, value)
            case ast.For(target=target, iter=walked, body=body, orelse=rest):
                self.is_bounded &= self.depth < MOST_NESTED
                self.depth += 1
                for _ in range(2 if self.is_bounded else 0):  # a name may hold an entry of the round before
                    before = set(self.entries)
                    self._walked(target, walked)
                    self._block(body)
                    self.entries |= before
                self.depth -= 1
                self._block(rest)
            case ast.If(test=test, body=body, orelse=rest):
                self._used(test)
                before = set(self.entries)
                self._block(body)
                after, self.entries = self.entries, before
                self._block(rest)
                self.entries |= after
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.While() | ast.Try() | ast.With() | ast.Match():
                self.is_bounded &= not _holds(part, frozenset(self.entries))
            case _:
                for inner in ast.iter_child_nodes(part):
                    self._used(inner)

    def _named(self, name: str, value: ast.expr) -> None:
        """A name is given what entries are, or something that was made of them."""
        if self._is_entry(value):
            self.entries.add(name)
        else:
            self._used(value)
            self.entries.discard(name)

    def _walked(self, target: ast.expr, walked: ast.expr) -> None:
        names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
        if self._is_entry(walked):
            self.entries |= names
        else:
            self._used(walked)
            self.entries -= names

    def _is_entry(self, part: ast.AST) -> bool:
        """Whether an expression is the dataset or an entry as it is."""
        match part:
            case ast.Name(id=name):
                return name in self.entries
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _METHODS_THAT_COPY:
                return self._is_entry(inner)
            case ast.Call(func=function, args=[inner, *_]) if dotted(function).rpartition(".")[2] in _COPIES:
                return self._is_entry(inner)
            case ast.Subscript(value=inner, slice=ast.Slice() | ast.Constant()):
                return self._is_entry(inner)
        return False

    def _used(self, part: ast.AST) -> None:
        """An expression whose value is used."""
        match part:
            case ast.Call() as call if (clipped := _clipped(call)) is not None and self._is_entry(clipped[0]):
                self.bounds_of.add(" ".join(map(ast.unparse, clipped[1:])))
            case ast.Call(func=ast.Name(id="len" | "isinstance"), args=[inner, *rest]) if self._is_entry(inner):
                for one in rest:
                    self._used(one)
            case ast.Call(func=ast.Name(id="map"), args=[ast.Lambda(args=ast.arguments(args=[argument]), body=body), walked]):
                self._inside(ast.Name(id=argument.arg), walked, [body])
            case ast.Attribute(value=inner, attr=name) if name in _SIZES_OF and self._is_entry(inner):
                return
            case ast.Compare(left=inner, ops=[ast.Is() | ast.IsNot()]) if self._is_entry(inner):
                return
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name()):
                return
            case (
                ast.ListComp(elt=made, generators=[one])
                | ast.SetComp(elt=made, generators=[one])
                | ast.GeneratorExp(elt=made, generators=[one])
            ):
                self._inside(one.target, one.iter, [*one.ifs, made])
            case ast.Name(id=name):
                self.is_bounded &= name not in self.entries
            case ast.Lambda() | ast.DictComp() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                self.is_bounded &= not _holds(part, frozenset(self.entries))
            case _:
                for child in ast.iter_child_nodes(part):
                    self._used(child)

    def _inside(self, target: ast.expr, walked: ast.expr, parts: list[ast.expr]) -> None:
        """Expressions in which a name is each entry of what is walked."""
        around = set(self.entries)
        self._walked(target, walked)
        for one in parts:
            self._used(one)
        self.entries = around


_NO_ENTRIES = _WHOLE | _SIZED | {"max", "min", "std", "var", "dot", "count_nonzero", "uniform", "random", "choice", "randint"}
"""Calls whose value is no entry, and no list of entries: of the whole list, or of a generator."""


def _names_of_entries(node: AnyFunction, names: frozenset[str]) -> frozenset[str]:
    """The names of the dataset, of its entries, and of what is computed from each of them."""
    found: frozenset[str] = names
    while True:
        more = {one for part in ast.walk(node) for one in _named_by(part, found)}
        if more <= found:
            return found
        found |= more


def _named_by(part: ast.AST, known: frozenset[str]) -> Iterator[str]:
    """The names that a part gives to entries, where some are known."""
    if isinstance(part, ast.comprehension | ast.For) and _are_entries(part.iter, known):
        yield from (one.id for one in ast.walk(part.target) if isinstance(one, ast.Name))
    elif isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None and _are_entries(part.value, known):
        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
        yield from (one.id for one in targets if isinstance(one, ast.Name))
    elif isinstance(part, ast.Call) and any(_holds(argument, known) for argument in part.args):
        lambdas = (one for one in (*part.args, part.func) if isinstance(one, ast.Lambda))
        yield from (argument.arg for one in lambdas for argument in one.args.args)


def _are_entries(part: ast.AST, known: frozenset[str]) -> bool:
    """Whether an expression is one entry, or a list of them."""
    calls = (one.func for one in ast.walk(part) if isinstance(one, ast.Call))
    last = {one.attr if isinstance(one, ast.Attribute) else dotted(one) for one in calls}
    return _holds(part, known) and not last & _NO_ENTRIES


def _of_call(call: ast.Call, names: frozenset[str], entries: frozenset[str], before: Mapping[str, object]) -> dict[str, object]:
    """What a call says of how a dataset is used."""
    found: dict[str, object] = {}
    last = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    if last in _WHOLE and any(_is_data(argument, names) for argument in call.args):
        found["whole"] = True
    if last == "mean" and _holds(call, names):
        found["averaged"] = True
    clipped = _clipped(call)
    if clipped is not None and _are_entries(clipped[0], entries):
        found["clipped"] = clipped[1:]
    if last == "bincount":
        found["categories"] = next((k.value for k in call.keywords if k.arg == "minlength"), before.get("categories"))
    sizes = [keyword.value for keyword in call.keywords if keyword.arg == "size"]
    if last in _SIZED and len(call.args) == 3:
        sizes.append(call.args[2])
    if any(_holds(size, names) for size in sizes):
        found["sized"] = True
    return found


def _is_data(part: ast.AST, names: frozenset[str]) -> bool:
    return isinstance(part, ast.Name) and part.id in names


def _holds(part: ast.AST, names: frozenset[str]) -> bool:
    return any(_is_data(inner, names) for inner in ast.walk(part))


def _renamed(node: AnyFunction, data: str) -> Iterator[str]:
    """Names that are given the dataset as it is, or as an array of it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
            value = part.value
            if (
                isinstance(value, ast.Call)
                and dotted(value.func).rpartition(".")[2] in {"array", "asarray", "list", "tuple", "atleast_1d"}
                and value.args
            ):
                value = value.args[0]
            if isinstance(value, ast.Name) and value.id == data:
                yield part.targets[0].id


def _is_length(part: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is the length of the dataset, or a name for it."""
    written = ast.unparse(part)
    return any(
        isinstance(one, ast.Call) and dotted(one.func) == "len" and one.args and _is_data(one.args[0], names)
        for one in ast.walk(part)
    ) or written in {"n", "size", "N", "num_records", "n_records"} or written.endswith((".size", ".shape[0]"))  # fmt: skip


def _clipped(call: ast.Call) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """v, a and b of `np.clip(v, a, b)`, `v.clip(a, b)`, `min(max(v, a), b)` and `max(a, min(v, b))`."""
    last = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if last == "clip":
        low = keywords.get("a_min", keywords.get("min"))
        high = keywords.get("a_max", keywords.get("max"))
        given, rest = call.args[:1], call.args[1:]
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) not in {"np", "numpy", "jnp", "torch"}:
            given, rest = [call.func.value], call.args
        low = low or (rest[0] if rest else None)
        high = high or (rest[1] if len(rest) > 1 else None)
        return None if low is None or high is None or not given else (given[0], low, high)
    if last in {"min", "max"} and len(call.args) == 2:
        for inner, outer in (call.args, call.args[::-1]):
            if (
                isinstance(inner, ast.Call)
                and dotted(inner.func) in {"min", "max"}
                and dotted(inner.func) != last
                and len(inner.args) == 2
            ):
                for bound, value in (inner.args, inner.args[::-1]):
                    if _is_bound(bound) and _is_bound(outer):
                        return (value, bound, outer) if last == "min" else (value, outer, bound)
    return None


def _is_bound(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant | ast.UnaryOp | ast.Attribute) or (
        isinstance(part, ast.Name)
        and part.id.lower().strip("_").startswith(("lo", "up", "hi", "min", "max", "clip", "a", "b", "c"))
    )


def shape_of(data: ast.arg, uses: Uses, text: str) -> Fact:
    """Which shape the dataset has."""
    annotation = ast.unparse(data.annotation) if data.annotation is not None else ""
    of_counts = data.arg in OF_COUNTS
    by_name = f"its parameter is {data.arg}" if of_counts or data.arg in BITS else f"its parameter is {data.arg}, {WHOLE_NUMBERS}"
    by_use = "as much noise is drawn as it has entries"
    rules = (
        (annotation in _NUMBERS, "number", f"{data.arg}: {annotation}, {WHOLE_NUMBERS}", not of_counts),
        ("bool" in annotation, "bits", f"{data.arg}: {annotation}", False),
        (data.arg in BITS, "bits", by_name, data.arg in RATINGS and _BIT_WORDS.search(text) is None),
        (data.arg in COUNTS, "counts", by_name, not of_counts),
        (data.arg in ONE_NUMBER and not uses.whole, "number", by_name, not of_counts),
        (uses.sized and not uses.averaged and uses.clipped is None, "counts", by_use, True),
        (uses.arithmetic and not uses.whole and not uses.array, "number", f"it is added to as it is, {WHOLE_NUMBERS}", True),
        ((uses.listed or not uses.whole) and _BIT_WORDS.search(text) is not None, "bits", "the text speaks of bits", True),
        (True, "entries", "it is used as a list", not uses.whole and uses.clipped is None),
    )
    return next(_shape(shape, why, guess=guess) for holds, shape, why, guess in rules if holds)


def _shape(value: str, why: str, *, guess: bool = False) -> Fact:
    return Fact(about="shape", value=value, why=why, is_guess=guess)


def values_of(uses: Uses, known: Mapping[str, object], text: str) -> Fact:
    """The values that an entry may take."""
    if uses.categories is not None and isinstance(size := evaluated(uses.categories, known), int) and 1 < size <= MOST_CATEGORIES:
        why = f"it counts {size} categories or more: a larger value makes what it counts longer"
        return Fact(about="values", value=list(range(size)), why=why, is_guess=True)
    compared = [value for part in uses.compared if (value := _rational(evaluated(part, known))) is not None][:MOST_COMPARED]
    near = sorted({value + step for value in compared for step in (-1, 0, 1)})
    if uses.clipped is not None:
        low, high = (_rational(evaluated(bound, known)) for bound in uses.clipped)
        if low is not None and high is not None and low < high:
            values = {low - 1, *_inside(low, high), high + 1, *near}
            why = f"it clips to [{low}, {high}], and should then hold for values beyond"
            if not uses.bounded:
                why = f"it clips to [{low}, {high}], and does more with values than to clip them"
            return Fact(about="values", value=[_plain(value) for value in sorted(values)], why=why, is_guess=not uses.bounded)
    stated = _RANGE.search(text)
    if stated and Fraction(stated.group(1)) < Fraction(stated.group(2)):
        inside = [_plain(value) for value in _inside(Fraction(stated.group(1)), Fraction(stated.group(2)))]
        return Fact(about="values", value=inside, why=f'"{" ".join(stated.group().split())}"', is_guess=True)
    if compared:
        shown = ", ".join(map(str, compared))
        return Fact(about="values", value=[_plain(value) for value in near], why=f"it compares with {shown}", is_guess=True)
    return Fact(about="values", value=[0, 1], why="nothing bounds an entry", is_guess=True)


def _inside(low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
    return low, (low + high) / 2, high


def evaluated(part: ast.expr, known: Mapping[str, object]) -> object:
    """The value of a constant, a parameter that is given, or a sign before one; None for anything else."""
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
        value = evaluated(part.operand, known)
        return -value if isinstance(value, int | float) else None
    if isinstance(part, ast.Constant):
        return part.value
    return known.get(dotted(part))


def _rational(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return Fraction(str(value))
    except ValueError:
        return None


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
