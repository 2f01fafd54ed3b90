"""What a function reads: lists of entries, counts, one number, or one answer of each person; by how it uses its dataset.

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
    "counts", "histogram", "hist", "true_counts", "freqs", "frequencies", "cells", "tally", "bins", "marginals", "query_answers", "answers",
    "scores", "utilities", "true_answers", "count_vector", "hist_counts", "contingency_table", "qualities", "gradients", "workload_answers",
})  # fmt: skip
ONE_NUMBER = frozenset({
    "value", "true_value", "true_answer", "answer", "query_result", "result", "count", "true_count", "total", "true_sum", "statistic",
    "query_answer", "val", "number", "true_result", "exact", "query_value", "raw_value", "true_mean", "measurement", "score",
})  # fmt: skip
BITS = frozenset(
    {
        "bits",
        "responses",
        "votes",
        "truths",
        "bit",
        "response",
        "truth",
        "true_bit",
        "true_response",
        "yes_no",
        "vote",
        "secret_bit",
    }
)
_BIT_WORDS = re.compile(r"\bbits?\b|\bbinary\b|\b0/1\b|\byes/no\b|\b0 or 1\b|\bboolean", re.IGNORECASE)
_RANGE = re.compile(
    r"(?:in|between|from|range)\s*[\[(]?\s*(-?\d+(?:\.\d+)?)\s*(?:,|and|to)\s*(-?\d+(?:\.\d+)?)\s*[\])]?", re.IGNORECASE
)
_ARRAY_METHODS = frozenset({
    "sum", "mean", "shape", "size", "clip", "astype", "min", "max", "std", "var", "flatten", "ravel", "reshape", "T", "dot", "cumsum", "ndim",
})  # fmt: skip


@attrs.frozen(kw_only=True)
class Uses:
    """How a function uses its dataset.

    Args:
        whole: whether it is asked for its length, iterated, summed, or indexed.
        arithmetic: whether it is added to or multiplied as it is.
        array: whether it is used as an array.
        frame: whether it is used as a data frame.
        averaged: whether something is divided by its length, or its mean is taken.
        listed: whether the function returns one value for each entry.
        sized: whether draws have its length or shape.
        clipped: the bounds between which values are clipped, as expressions.
        categories: the number of categories, as an expression.
    """

    whole: bool = False
    arithmetic: bool = False
    array: bool = False
    frame: bool = False
    averaged: bool = False
    listed: bool = False
    sized: bool = False
    clipped: tuple[ast.expr, ast.expr] | None = None
    categories: ast.expr | None = None


def uses_of(node: AnyFunction, data: str) -> Uses:
    """How the body of a function uses one of its parameters."""
    names = {data, *_renamed(node, data)}
    found: dict[str, object] = {}

    def is_data(part: ast.AST) -> bool:
        return isinstance(part, ast.Name) and part.id in names

    def holds(part: ast.AST) -> bool:
        return any(is_data(one) for one in ast.walk(part))

    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            last = part.func.attr if isinstance(part.func, ast.Attribute) else dotted(part.func)
            if any(is_data(argument) for argument in part.args) and last in {
                "len",
                "sum",
                "mean",
                "bincount",
                "histogram",
                "sorted",
                "Counter",
                "median",
            }:
                found["whole"] = True
            if last == "mean" and holds(part):
                found["averaged"] = True
            if (clipped := _clipped(part)) is not None:
                found["clipped"] = clipped
            if last == "bincount":
                found["categories"] = next((k.value for k in part.keywords if k.arg == "minlength"), found.get("categories"))
            if any(keyword.arg == "size" and holds(keyword.value) for keyword in part.keywords) or (
                last in {"laplace", "normal", "gumbel", "exponential"} and len(part.args) == 3 and holds(part.args[2])
            ):
                found["sized"] = True
        elif isinstance(part, ast.Attribute) and is_data(part.value):
            if part.attr in _ARRAY_METHODS:
                found["array"] = True
            if part.attr in {"columns", "iloc", "loc", "groupby", "value_counts", "iterrows", "query"}:
                found["frame"] = True
            if part.attr == "mean":
                found["averaged"] = True
            found["whole"] = True
        elif isinstance(part, ast.Subscript) and is_data(part.value):
            found["whole"] = True
            if isinstance(part.slice, ast.Constant) and isinstance(part.slice.value, str):
                found["frame"] = True
        elif isinstance(part, ast.comprehension | ast.For) and holds(part.iter):
            found["whole"] = True
        elif isinstance(part, ast.BinOp):
            if is_data(part.left) or is_data(part.right):
                found["arithmetic"] = True
            if isinstance(part.op, ast.Div) and _is_length(part.right, is_data):
                found["averaged"] = True
        elif isinstance(part, ast.Return) and isinstance(part.value, ast.ListComp) and holds(part.value.generators[0].iter):
            found["listed"] = True
    return Uses(**found)  # type: ignore[arg-type]


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


def _is_length(part: ast.expr, is_data: object) -> bool:
    """Whether an expression is the length of the dataset, or a name for it."""
    written = ast.unparse(part)
    return any(
        isinstance(one, ast.Call) and dotted(one.func) == "len" and one.args and is_data(one.args[0])  # type: ignore[operator]
        for one in ast.walk(part)
    ) or written in {"n", "size", "N", "num_records", "n_records"} or written.endswith((".size", ".shape[0]"))  # fmt: skip


def _clipped(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The bounds of `np.clip(v, a, b)`, `v.clip(a, b)`, `min(max(v, a), b)` and `max(a, min(v, b))`."""
    last = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if last == "clip":
        low = keywords.get("a_min", keywords.get("min"))
        high = keywords.get("a_max", keywords.get("max"))
        of_module = isinstance(call.func, ast.Attribute) and dotted(call.func.value) in {"np", "numpy", "jnp", "torch"}
        rest = call.args[1:] if of_module or dotted(call.func) == "clip" else call.args
        low = low or (rest[0] if rest else None)
        high = high or (rest[1] if len(rest) > 1 else None)
        return None if low is None or high is None else (low, high)
    if last in {"min", "max"} and len(call.args) == 2:
        for inner, outer in (call.args, call.args[::-1]):
            if (
                isinstance(inner, ast.Call)
                and dotted(inner.func) in {"min", "max"}
                and dotted(inner.func) != last
                and len(inner.args) == 2
            ):
                bound = next((one for one in inner.args if _is_bound(one)), None)
                if bound is not None and _is_bound(outer):
                    return (bound, outer) if last == "min" else (outer, bound)
    return None


def _is_bound(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant | ast.UnaryOp | ast.Attribute) or (
        isinstance(part, ast.Name)
        and part.id.lower().strip("_").startswith(("lo", "up", "hi", "min", "max", "clip", "a", "b", "c"))
    )


def shape_of(data: ast.arg, uses: Uses, text: str) -> Fact:
    """Which shape the dataset has."""
    annotation = ast.unparse(data.annotation) if data.annotation is not None else ""
    if annotation in {"int", "float", "np.float64", "Real", "numbers.Real", "int | float", "float | int", "Union[int, float]"}:
        return _shape("number", f"{data.arg}: {annotation}")
    if data.arg in BITS or ("bool" in annotation):
        return _shape("bits", f"its parameter is {data.arg}")
    if data.arg in COUNTS:
        return _shape("counts", f"its parameter is {data.arg}")
    if data.arg in ONE_NUMBER and not uses.whole:
        return _shape("number", f"its parameter is {data.arg}")
    if uses.sized and not uses.averaged and uses.clipped is None:
        return _shape("counts", "as much noise is drawn as it has entries", guess=True)
    if uses.arithmetic and not uses.whole and not uses.array:
        return _shape("number", "it is added to as it is", guess=True)
    if _BIT_WORDS.search(text):
        return _shape("bits", "the text speaks of bits")
    return _shape("entries", "it is used as a list", guess=not uses.whole and uses.clipped is None)


def _shape(value: str, why: str, *, guess: bool = False) -> Fact:
    return Fact(about="shape", value=value, why=why, is_guess=guess)


def values_of(uses: Uses, known: Mapping[str, object], text: str) -> Fact:
    """The values that an entry may take."""
    stated = _RANGE.search(text)
    if uses.categories is not None and isinstance(size := evaluated(uses.categories, known), int) and 1 < size <= 100:
        return Fact(about="values", value=list(range(size)), why=f"it counts {size} categories")
    if uses.clipped is not None:
        low, high = (_rational(evaluated(bound, known)) for bound in uses.clipped)
        if low is not None and high is not None and low < high:
            inside = [low, (low + high) / 2, high]
            outside = [] if stated else [low - 1, high + 1]
            why = f"it clips to [{low}, {high}]" + ("" if stated else ", and should then hold for values beyond")
            return Fact(about="values", value=[_plain(v) for v in sorted({*inside, *outside})], why=why)
    if stated and Fraction(stated.group(1)) < Fraction(stated.group(2)):
        low, high = Fraction(stated.group(1)), Fraction(stated.group(2))
        return Fact(
            about="values", value=[_plain(v) for v in (low, (low + high) / 2, high)], why=f'"{" ".join(stated.group().split())}"'
        )
    return Fact(about="values", value=[0, 1], why="nothing bounds an entry", is_guess=True)


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
