"""Code that answers for each entry of a list by itself, as where every person randomises their own answer.

    def f(x, rng): return [E(v, rng) for v in x]

**Theorem.** Let E name nothing of f but the entry v and the generator, and compute with constants, operators and draws alone.
Then the law of f(x) is that of the answers to f([v_1]), f([v_2]), ..., drawn independently. If d_X counts the positions in which
two lists differ, and either only lists that differ in one position are compared or d_Pr is a metric, then the constant of f on
all lists is at most that on the lists of one entry.

*Proof.* A draw of the generator is independent of those before it, and E keeps nothing from one entry to the next. So f(x) and
f(x') of two lists that differ in one position are made of the same independent answers but one: d_Pr of the two is that of
f([v]) and f([v']), or less where an answer is an exception, which hides the others (data processing; Kairouz, Oh and Viswanath
2015). More positions are changed one after the other, and a metric adds up.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from dpspec import DpspecError, PrivacySpec
from dpspec.plugin import BitVectors, Dataset, DatasetSpace, Trivial, blocks, number
from dpspec.plugin.judges import Entries, UnobservableError, observed, presented
from dpspec_code.automatic.postprocessing import definition_of

_DRAWS = frozenset({
    "random", "integers", "uniform", "binomial", "laplace", "normal", "standard_normal", "exponential", "geometric",
    "gumbel", "logistic", "standard_cauchy",
})  # fmt: skip
"""Methods of a generator that return a number, whatever came before."""
_CALLED = {name: getattr(builtins, name) for name in ("abs", "bool", "float", "int", "max", "min", "round", "str")}
"""Builtins of plain values that return a plain value."""
_OF_MATH = frozenset({"exp", "expm1", "log", "log2", "sqrt"})
MOST_ENTRIES = 50
"""Lists of one entry are compared two by two."""
_PLAIN = (bool, int, float, str, type(None))
_OPERATORS = (ast.operator, ast.unaryop, ast.boolop, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.expr_context)
_EXPRESSIONS = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.keyword)


def answers_by_entry(function: object) -> bool:
    """Whether code is of the form of the theorem: it returns a list, or a tuple, of what it computes of each entry.

    The list may be named first, and returned alone. What an entry's answer is computed with are plain constants, operators,
    numbers drawn from the generator, and functions that return plain values of plain values.
    """
    definition = definition_of(function)
    if definition is None or not isinstance(function, FunctionType):
        return False
    handed = [argument.arg for argument in definition.args.args]
    if getattr(function, "__builtins__", None) is not vars(builtins) or len(handed) != 2 or definition.decorator_list:
        return False
    dataset, generator = handed
    made = _made_of(_without_text(definition.body))
    if made is None or len(made.generators) != 1 or dataset == generator:
        return False
    walk = made.generators[0]
    is_walk = isinstance(walk.iter, ast.Name) and walk.iter.id == dataset and not walk.ifs and not walk.is_async
    if not is_walk or not isinstance(walk.target, ast.Name) or walk.target.id in (dataset, generator):
        return False
    return _Answer(entry=walk.target.id, generator=generator, dataset=dataset, names=function.__globals__).is_plain(made.elt)


def _without_text(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


def _made_of(body: Sequence[ast.stmt]) -> ast.ListComp | None:
    """The comprehension that some statements return, and nothing else."""
    match body:
        case [ast.Return(value=ast.ListComp() as made)]:
            return made
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as made), ast.Return(value=ast.Name(id=shown))]:
            return made if name == shown else None
        case [
            ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as made),
            ast.Return(value=ast.Tuple(elts=[ast.Name(id=shown)])),
        ]:
            return made if name == shown else None
    return None


class _Answer:
    """What may be computed of an entry."""

    def __init__(self, *, entry: str, generator: str, dataset: str, names: dict[str, Any]) -> None:
        self.entry, self.generator, self.dataset, self.names = entry, generator, dataset, names

    def is_plain(self, node: ast.AST) -> bool:
        """Whether an expression names the entry, constants and draws alone, and is a plain value where the entry is one."""
        match node:
            case ast.Name(id=name):
                return name == self.entry or self._is_constant(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=args, keywords=keywords):
                return self._is_drawn_or_known(owner, name) and self._are_plain(args, keywords) and _of_one_number(keywords)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._is_builtin(name) and self._are_plain(args, ())
            case ast.Constant(value=value):
                return type(value) in _PLAIN
        if not isinstance(node, (*_EXPRESSIONS, *_OPERATORS)):
            return False
        return all(map(self.is_plain, ast.iter_child_nodes(node)))

    def _are_plain(self, args: Sequence[ast.AST], keywords: Sequence[ast.AST]) -> bool:
        return all(map(self.is_plain, (*args, *keywords)))

    def _is_drawn_or_known(self, owner: str, name: str) -> bool:
        """A draw without an argument for the number of draws; or a function of a number."""
        if owner == self.generator:
            return name in _DRAWS
        return owner not in (self.entry, self.dataset) and self.names.get(owner) is math and name in _OF_MATH

    def _is_builtin(self, name: str) -> bool:
        local = name in (self.entry, self.generator, self.dataset)
        return not local and name in _CALLED and self.names.get(name, _CALLED[name]) is _CALLED[name]

    def _is_constant(self, name: str) -> bool:
        local = name in (self.generator, self.dataset)
        return not local and type(self.names.get(name, self)) in (*_PLAIN, Fraction)


def _of_one_number(keywords: Sequence[ast.keyword]) -> bool:
    return all(one.arg in ("scale", "loc", "low", "high", "p", "n") for one in keywords)


def claim_of_one_entry(spec: PrivacySpec) -> PrivacySpec | None:
    """The claim about the lists of one entry, from which that about all lists follows; None where it does not."""
    space = spec.space
    sizes, steps = blocks.Sizes.found_in(space), spec.input_divergence.record_steps(space)
    lists = type(space) is BitVectors or (space.is_ordered and Entries.found_in(space) is not None)
    if sizes is None or steps is None or not lists or type(spec.multiverse) is not Trivial or spec.budget.uniform() is None:
        return None
    if not steps.in_place or steps.added is not None or (steps.unit,) != space.units:
        return None
    is_one_change = steps.within is not None and steps.replaced <= steps.within < 2 * steps.replaced
    if not is_one_change and (steps.within is not None or not spec.output_divergence.is_metric):
        return None
    alone = sizes.of_sizes(1, 1)
    if alone is None or type(alone) is not type(space) or not _has_all_entries(alone, space):
        return None
    price = number(1 if steps.within is not None else steps.replaced)
    pairs = itertools.permutations(alone.datasets(), 2)
    if any(spec.input_divergence.distance(left, right, alone) != price for left, right in pairs):
        return None
    return spec.replace(space=alone)


def _has_all_entries(alone: DatasetSpace, space: DatasetSpace) -> bool:
    """Whether the lists of one entry have every entry that any list of the space may have, and each of them is a plain value."""
    listed = Entries.found_in(space)
    entries = (0, 1) if listed is None else listed.entries()
    given = None if entries is None or len(entries) > MOST_ENTRIES else [presented(dataset) for dataset in alone.datasets()]
    return given is not None and all(map(_is_plain_list, given)) and given == [[entry] for entry in entries or ()]


def _is_plain_list(given: Any) -> bool:
    """Whether it is a list of one number, truth value, text or None, that is equal to itself."""
    return type(given) is list and len(given) == 1 and type(given[0]) in _PLAIN and given[0] == given[0]


def padded(dataset: Dataset, space: DatasetSpace) -> Dataset | None:
    """A list of the space that begins with the one entry of another, filled up with its first value; None for none."""
    sizes = blocks.Sizes.needed_in(space)
    length = max(1, sizes.sizes()[0])
    alone = sizes.of_sizes(1, 1)
    if alone is None:
        return None
    (entry,), (filler,) = presented(dataset), presented(next(iter(alone.datasets())))
    try:
        return space.dataset((entry, *[filler] * (length - 1)))
    except DpspecError:
        return None


def answers_one_by_one(function: Callable[..., Any], given: Sequence[Callable[[], Any]], seed: int) -> bool:
    """Whether real runs of a function on lists show what it shows on each entry alone, with the same draws one after the other.

    Args:
        function: the function.
        given: makes the lists to run on, each anew.
        seed: of numpy's generators.
    """
    for place, dataset in enumerate(given):
        ways = (function, lambda x, rng: [_first(function([entry], rng)) for entry in x])
        seen: list[Any] = []
        for way in ways:
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, place])))
            try:
                seen.append(observed(_listed(way(dataset(), rng))))
            except UnobservableError:
                return False
            except Exception as problem:  # whatever it raises is what is seen
                seen.append((type(problem), str(problem)))
        if seen[0] != seen[1]:
            return False
    return True


def _listed(answer: Any) -> Any:
    return answer[0] if type(answer) is tuple else answer


def _first(answer: Any) -> Any:
    (found,) = _listed(answer)
    return found
