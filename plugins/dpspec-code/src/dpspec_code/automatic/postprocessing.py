"""Post-processing: code that from some statement on depends on its dataset only through values computed before it.

    def f(x, rng):            def first(x, rng):             def then(v_1, ..., v_k):
        S_1; ...; S_n             S_1; ...; S_j                  S_{j+1}; ...; S_n
                                  return (v_1, ..., v_k)

Where v_1, ..., v_k are all the variables that S_{j+1}, ..., S_n may read and S_1, ..., S_j may write, f is `then` after
`first`, and d_Pr of two laws of f is at most that of the laws of `first` (data processing: Dwork and Roth 2014, Proposition 2.1).
So what is read off `first` for all datasets at once holds of f, and `then` need not be run on symbols: it may sort, write texts,
walk until a total fits. A last `return g(e)` is cut inside, too: `first` returns what e reads of the dataset.

What `then` may not do is to look past its variables. It is read, not run: it has no dataset, no generator, no closure; it names
variables of its own, plain constants, lists and dicts of them that it only reads, functions that depend on their arguments alone
(`dpspec_code.automatic.generator`), and functions of the user's of which the same is true; it reads no attribute but those of
plain values that show what an observer sees of them, never by `is`, nor by a text that names attributes; and nothing whose text
is an address, such as an iterator, is a value of it. What it prints is part of its output. Sets are not handed over: how one is
walked depends on its past.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import dis
import functools
import hashlib
import io
import itertools
import linecache
import operator
import string
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from dpspec.plugin.judges import UnobservableError, observed
from dpspec_code.automatic import generator as known
from dpspec_code.automatic.loops import live_before
from dpspec_code.automatic.path import PREFIX
from dpspec_code.automatic.rewriting import all_codes, rewritten

MOST_CUTS = 4
"""So many places are tried, the first ones first."""


class Peeks(Exception):
    """The reason why code may access more than its variables."""


@attrs.frozen
class CutFunction:
    """A function in two.

    Args:
        first: (dataset, generator), or the dataset alone -> the values of the variables, in order.
        then: the values of the variables -> the output.
    """

    first: Callable[..., Any]
    then: types.FunctionType

    @property
    def lines(self) -> int:
        """How many lines the second has, written plainly."""
        return len(linecache.getlines(self.then.__code__.co_filename)) - 1


def cuts(function: Any, takes: int = 2) -> Iterator[CutFunction]:
    """The ways to cut a function so that its rest is post-processing, those with the longest rest first.

    Args:
        function: the function.
        takes: how many arguments it is called with: 1 for the dataset alone, 2 for a generator, too.
    """
    definition = definition_of(function)
    if definition is None or not _is_called_with(takes, function, definition):
        return
    handed, body = _handed(definition, takes), definition.body
    reading = max((place for place, one in enumerate(body) if _names(one) & {*handed}), default=0)
    places = [*range(reading + 1, len(body)), len(body)]
    for place in places[: MOST_CUTS - 1] + places[MOST_CUTS - 1 :][-1:]:
        parts = (body[:place], body[place:]) if place < len(body) else _inside_the_last(body, handed, function.__globals__)
        if parts is not None:
            try:
                yield _cut(function, definition, takes, *parts)
            except (Peeks, SyntaxError, ValueError, RecursionError):
                continue


def follows(function: Callable[..., Any], cut: CutFunction, given: Sequence[Callable[[], Any]], seed: int) -> bool:
    """Whether real runs of a function show what its two parts show one after the other, with the same draws.

    Args:
        function, cut: the function, and its parts.
        given: makes the datasets to run on, each anew.
        seed: of numpy's generators.
    """

    def in_two(dataset: Any, rng: Any) -> Any:
        kept = cut.first(dataset, rng)
        if not all(map(_is_handed_over, kept)):
            raise UnobservableError("value", "is none that may be handed over")
        return cut.then(*kept)

    for place, dataset in enumerate(given):
        runs: list[Any] = []
        for way in (function, in_two):
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, place])))
            text = io.StringIO()
            try:
                with contextlib.redirect_stdout(text):
                    shown: Any = observed(way(dataset(), rng))
            except UnobservableError:
                return False
            except Exception as problem:  # whatever it raises is what is seen
                shown = type(problem), str(problem)
            runs.append((shown, text.getvalue()))
        if runs[0] != runs[1]:
            return False
    return True


def _is_handed_over(value: Any) -> bool:
    """Whether a value is plain, or a list, tuple, dict or array of such."""
    if type(value) in (list, tuple):
        return all(map(_is_handed_over, value))
    if type(value) is dict:
        return all(map(_is_handed_over, (*value.keys(), *value.values())))
    return _is_plain(value) or (type(value) is np.ndarray and not value.dtype.hasobject and value.dtype.fields is None)


# --- where a function is cut ------------------------------------------------------------------------


def definition_of(function: Any) -> ast.FunctionDef | None:
    """The syntax tree of a plain function whose source says what its code does; else None."""
    if type(function) is not types.FunctionType or function.__code__.co_freevars or hasattr(function, "__wrapped__"):
        return None
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines or rewritten(code, function.__globals__) is None:
        return None
    found = _definitions("".join(lines)).get((code.co_name, code.co_firstlineno), [])
    if len(found) != 1 or getattr(found[0], "type_params", None):
        return None
    given = found[0].args
    named = given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg
    return None if named or not all(map(_is_plain, function.__defaults__ or ())) else copy.deepcopy(found[0])


@functools.lru_cache(maxsize=16)
def _definitions(source: str) -> dict[tuple[str, int], list[ast.FunctionDef]]:
    """The functions of a source, by name and first line; a file of 900 lines takes 20 ms, and a verdict needs it three times."""
    found: dict[tuple[str, int], list[ast.FunctionDef]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            found.setdefault((node.name, _first_line(node)), []).append(node)
    return found


def _first_line(definition: ast.FunctionDef) -> int:
    return min([one.lineno for one in definition.decorator_list], default=definition.lineno)


def _is_called_with(takes: int, function: types.FunctionType, definition: ast.FunctionDef) -> bool:
    settled = len(function.__defaults__ or ())
    return len(definition.args.args) >= takes and len(definition.args.args) - settled <= takes


def _names(node: ast.AST) -> set[str]:
    """All names that are written in some code, as variables or as arguments."""
    found = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return found | {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}


def _written(body: Sequence[ast.stmt]) -> set[str]:
    """All names that some statements may set, in whatever scope."""
    nodes = [node for one in body for node in ast.walk(one)]
    found = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return found | {node.name for node in nodes if isinstance(node, (ast.ExceptHandler, ast.FunctionDef)) and node.name}


def _surely_written(body: Sequence[ast.stmt]) -> set[str]:
    """The names that plain assignments on the way through some statements set."""
    found: set[str] = set()
    for one in body:
        match one:
            case ast.Assign(targets=targets):
                found |= {name for target in targets for name in _names(target) & _written([one])}
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                found.add(name)
    return found


def _inside_the_last(
    body: list[ast.stmt], handed: Sequence[str], names: Mapping[str, Any]
) -> tuple[list[ast.stmt], list[ast.stmt]] | None:
    """The statements and what the last one, a return, computes of the dataset; and the return of the rest."""
    match body[-1]:
        case ast.Return(value=ast.expr() as value):
            lift = _Lift(frozenset({*handed, *_written(body[:-1])}), frozenset(handed), names, _names(ast.Module(body, [])))
            rest = lift.of(value)
            if isinstance(rest, ast.Name):
                return None
            return [*body[:-1], *lift.taken], [ast.Return(value=rest)]
    return None


@attrs.define
class _Lift:
    """Takes out of an expression what reads the dataset, the generator, or a variable; the rest computes with what was taken.

    Args:
        read: the names of all these.
        handed: those of dataset and generator.
        names: the global names of the function.
        known: names that are in use.
    """

    read: frozenset[str]
    handed: frozenset[str]
    names: Mapping[str, Any]
    known: set[str]
    taken: list[ast.stmt] = attrs.field(factory=list)

    def of(self, node: ast.expr) -> ast.expr:  # noqa: PLR0911 (one line per kind of expression)
        """The rest of an expression; only through parts that are evaluated whatever the others are, from left to right."""
        if self._is_free(node):
            return node
        match node:
            case ast.JoinedStr(values=values):
                return ast.JoinedStr(values=[self.of(one) for one in values])
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec) if spec is None or self._is_free(spec):
                return ast.FormattedValue(value=self.of(value), conversion=conversion, format_spec=spec)
            case ast.Call(func=func, args=args, keywords=keywords) if self._is_free(func) and not self._draws(node):
                named = [ast.keyword(arg=one.arg, value=self.of(one.value)) for one in keywords]
                return ast.Call(func=func, args=[self.of(one) for one in args], keywords=named)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=keywords) if self._may_be_kept(owner):
                if all(map(self._is_free, (*args, *keywords))):
                    func = ast.Attribute(value=self.of(owner), attr=name, ctx=ast.Load())
                    return ast.Call(func=func, args=args, keywords=keywords)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return type(node)(elts=[self.of(one) for one in parts], ctx=ast.Load())
            case ast.Dict(keys=keys, values=values) if all(key is not None and self._is_free(key) for key in keys):
                return ast.Dict(keys=keys, values=[self.of(one) for one in values])
            case ast.Subscript(value=value, slice=place) if self._is_free(place):
                return ast.Subscript(value=self.of(value), slice=place, ctx=ast.Load())
            case ast.UnaryOp(op=op, operand=operand):
                return ast.UnaryOp(op=op, operand=self.of(operand))
            case ast.BinOp(left=left, op=op, right=right) if self._is_free(left) or self._is_free(right):
                return ast.BinOp(left=self.of(left), op=op, right=self.of(right))
        return self._take(node)

    def _is_free(self, node: ast.AST) -> bool:
        """Whether it reads none of these, nor draws from a generator of a module."""
        return not _names(node) & self.read and not any(map(self._draws, ast.walk(node)))

    def _draws(self, node: ast.AST) -> bool:
        """Whether it is a call of something global that is not known to depend on its arguments alone, such as a generator."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                found = self.names.get(name, getattr(builtins, name, None))
                if type(found) is types.FunctionType and id(found) not in known.CALLABLES:
                    return not _is_post_processing(found)
                return id(found) not in known.CALLABLES
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if name in self.names:
                owner = self.names[name]
                if isinstance(owner, types.ModuleType):
                    return id(getattr(owner, attribute, None)) not in known.CALLABLES
                return not _is_plain(owner)
            case ast.Call(func=ast.Attribute(value=ast.Attribute())):
                return True
        return False

    def _may_be_kept(self, owner: ast.expr) -> bool:
        """Whether a method may be called on the value: not on a generator or a dataset."""
        return not (isinstance(owner, ast.Name) and owner.id in self.handed)

    def _take(self, node: ast.expr) -> ast.expr:
        name = next(one for number in range(1, len(self.known) + 2) if (one := f"taken_{number}") not in self.known)
        self.known.add(name)
        self.taken.append(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=node))
        return ast.Name(id=name, ctx=ast.Load())


def _cut(
    function: types.FunctionType,
    definition: ast.FunctionDef,
    takes: int,
    before: Sequence[ast.stmt],
    after: Sequence[ast.stmt],
) -> CutFunction:
    """The two functions; raises Peeks where the second may look past its variables, or the first may not come to its end."""
    leaves = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete, ast.Import, ast.ImportFrom)
    for node in (node for one in before for node in ast.walk(one)):
        if isinstance(node, leaves):
            raise Peeks("it may end before, or set names of others")
    settled = [argument.arg for argument in definition.args.args[takes:]]
    defaults = (function.__defaults__ or ())[-len(settled) :] if settled else ()
    kept = sorted(_handed_on(function, before, after) - ({*settled} - _written(before)))
    if not {*kept} <= _surely_written(before):
        raise Peeks("a variable may not be set")
    shown = ast.Return(value=ast.Tuple(elts=[ast.Name(id=name, ctx=ast.Load()) for name in kept], ctx=ast.Load()))
    first = _made(function, "first", [*_handed(definition, takes), *settled], defaults, [*before, shown])
    given = {name: value for name, value in zip(settled, defaults, strict=True) if name not in kept}
    then = _made(function, "then", [*kept, *given], tuple(given.values()), after)
    _RestReader(then.__code__, then.__globals__, {then.__code__}).read(after)
    return CutFunction(first, then)


def _handed(definition: ast.FunctionDef, takes: int) -> list[str]:
    """The names of dataset and generator, where it takes one."""
    return [argument.arg for argument in definition.args.args[:takes]]


def _handed_on(function: types.FunctionType, before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> set[str]:
    """The variables of a function that some of its statements may read and others before them may have set.

    A variable that the later ones never set looks like a global name to them; one that they set, too, may be read before.
    """
    alone = _made(function, "then", [], (), after).__code__
    earlier = _made(function, "first", [], (), before).__code__
    set_before = {*earlier.co_varnames, *earlier.co_cellvars}
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars, *set_before}
    return (_looked_up(alone) & own) | (live_before(after) & set_before & {*alone.co_varnames, *alone.co_cellvars})


def _made(
    function: types.FunctionType, part: str, names: Sequence[str], defaults: tuple[Any, ...], body: Sequence[ast.stmt]
) -> types.FunctionType:
    """A function of such a body, with the global names of another; its source is where sources are looked for."""
    given = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=name) for name in names], kwonlyargs=[], kw_defaults=[],
        defaults=[ast.Constant(value=None) for _ in defaults],
    )  # fmt: skip
    made = ast.FunctionDef(name=function.__name__, args=given, body=[*body], decorator_list=[])
    source = ast.unparse(ast.fix_missing_locations(ast.Module(body=[made], type_ignores=[]))) + "\n"
    filename = f"<{part} of {function.__module__}.{function.__qualname__}: {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    code = next(one for one in compile(source, filename, "exec", dont_inherit=True).co_consts if isinstance(one, types.CodeType))
    return types.FunctionType(code, function.__globals__, function.__name__, defaults or None)


# --- what post-processing may do --------------------------------------------------------------------


_PLAIN = (int, float, complex, bool, str, bytes, type(None), Fraction, Decimal, range)
_ALLOWED = (
    ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.For, ast.While, ast.Return, ast.Pass, ast.Break, ast.Continue,
    ast.Assert, ast.Raise, ast.Name, ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.List, ast.Tuple,
    ast.Dict, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Lambda, ast.arguments, ast.arg, ast.NamedExpr,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_BANNED = frozenset(map(id, (
    getattr, hasattr, callable, type, property, staticmethod, classmethod, super, set, frozenset, bytes, bytearray, iter,
    next, slice, functools.partial, operator.is_, operator.is_not, np.broadcast_to, np.pad, np.ndindex, np.ndenumerate,
    np.errstate,
    *(value for name, value in vars(itertools).items() if not name.startswith("_")),
)))  # fmt: skip
"""Callables that show more than the values of what they are given, or return what has an address for a text."""
_WALKED = frozenset(map(id, (map, filter, zip, enumerate, reversed)))
_WALKING = frozenset(map(id, (list, tuple, dict, sum, any, all, min, max, sorted, map, filter, zip, enumerate, functools.reduce)))
"""What returns an iterator, and what walks through one."""
_SHOWN = frozenset({"shape", "size", "ndim", "T", "real", "imag"})
"""Attributes that are values."""
_OF_PLAIN = {name for kind in (str, list, dict, tuple, int, float) for name in dir(kind) if not name.startswith("_")}
_ASKED = (_OF_PLAIN | known.ARRAY) - {"format", "format_map", "flat", "dtype"}
"""Methods of plain values; `format` has a text name others."""
_READING = frozenset({"get", "items", "keys", "values", "index", "count"})
"""Methods of lists and dicts that only read them."""
_UNSET = frozenset({"where", "file", "out", "dtype", "cls"})
"""Arguments by which a function writes elsewhere, leaves memory as it was, or uses a class."""


def _fills_in_values(node: ast.Attribute) -> bool:
    """Whether it is the method `format` of a text that is written there, and whose fields name no attributes."""
    if node.attr != "format" or not isinstance(node.value, ast.Constant) or type(node.value.value) is not str:
        return False
    try:
        fields = [*string.Formatter().parse(node.value.value)]
    except ValueError:
        return False
    return all((name or "0").isalnum() and "{" not in (spec or "") for _, name, spec, _ in fields)


def _is_strict(keyword: ast.keyword) -> bool:
    """Whether it is `strict=True` or `strict=False`, as `zip` takes it."""
    return keyword.arg == "strict" and isinstance(keyword.value, ast.Constant)


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN or isinstance(value, np.generic)


def _looked_up(code: types.CodeType) -> set[str]:
    """The names that code, and code inside it, looks up among the global ones."""
    return {
        str(step.argval)
        for one in all_codes(code)
        for step in dis.get_instructions(one)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }


def _is_post_processing(function: types.FunctionType) -> bool:
    """Whether a function of the user's looks at nothing but its arguments."""
    try:
        _RestReader(function.__code__, function.__globals__, set()).read_function(function)
    except Peeks:
        return False
    return True


class _RestReader(ast.NodeVisitor):
    """Reads post-processing, and raises Peeks where it may look past its variables.

    Args:
        code: the same, compiled.
        names: its global names.
        known_codes: code that was read, or is being read.
    """

    def __init__(self, code: types.CodeType, names: Mapping[str, Any], known_codes: set[types.CodeType]) -> None:
        self.looked_up, self.names, self.known_codes = _looked_up(code), names, known_codes

    def read(self, body: Sequence[ast.stmt]) -> None:
        for one in body:
            self.visit(one)

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, _ALLOWED):
            raise Peeks(f"it holds {type(node).__name__}")
        super().visit(node)

    def visit_For(self, node: ast.For) -> None:
        self._walked(node.iter)
        self.visit(node.target)
        self.read([*node.body, *node.orelse])

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._walked(node.iter)
        for part in (node.target, *node.ifs):
            self.visit(part)

    def visit_Starred(self, node: ast.Starred) -> None:
        self._walked(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        func = node.func
        walks = isinstance(func, ast.Attribute) and func.attr in ("join", "extend", "update", "sort")
        if isinstance(func, ast.Name) and func.id in self.looked_up:
            value = self._global(func.id)
            self._value(func.id, value)
            if id(value) in _WALKED:
                raise Peeks("an iterator is a value of it")
            walks = id(value) in _WALKING or value is len
        elif isinstance(func, ast.Attribute):
            self._attribute(func)
        elif isinstance(func, ast.Name):
            raise Peeks(f"it calls {func.id}, which is a value of its own")
        else:
            raise Peeks("it calls what it computes")
        for one in (*node.args, *(keyword.value for keyword in node.keywords if self._is_given(keyword))):
            if walks:
                self._walked(one)
            else:
                self.visit(one)

    @staticmethod
    def _is_given(keyword: ast.keyword) -> bool:
        if keyword.arg is None or keyword.arg in _UNSET:
            raise Peeks(f"it gives {keyword.arg or 'arguments by a dict'}")
        return True

    def _walked(self, node: ast.expr) -> None:
        """An expression that is iterated or called directly: an iterator, or a function without a name."""
        if self._is_constant(node):
            return
        match node:
            case ast.GeneratorExp():
                self.generic_visit(node)
            case ast.Lambda(body=body):
                self.visit(body)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if (
                name in self.looked_up and id(self._global(name)) in _WALKED and all(map(_is_strict, keywords))
            ):
                for one in args:
                    self._walked(one)
            case _:
                self.visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.ctx, ast.Load) and self._is_constant(node.value)):
            self.visit(node.value)
        self.visit(node.slice)

    def _is_constant(self, node: ast.AST) -> bool:
        """Whether it names a global list or dict of plain values, which is only read at this place."""
        if not (isinstance(node, ast.Name) and node.id in self.looked_up) or node.id.startswith(("__", PREFIX)):
            return False
        value = self._global(node.id)
        parts = value if type(value) is list else [*value.keys(), *value.values()] if type(value) is dict else [value, None]
        return type(value) in (list, dict) and all(map(_is_plain, parts))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        raise Peeks("an iterator is a value of it")

    def visit_Lambda(self, node: ast.Lambda) -> None:
        raise Peeks("a function is a value of it")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id.startswith(("__", PREFIX)):
            raise Peeks(f"it names {node.id}")
        if node.id in self.looked_up:
            self._value(node.id, self._global(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            raise Peeks("it sets an attribute")
        if not self._of_module(node):
            if node.attr not in _SHOWN:
                raise Peeks(f"it asks for {node.attr}")
            self.visit(node.value)

    def _attribute(self, node: ast.Attribute) -> None:
        """A method that is called."""
        if node.attr in _READING and self._is_constant(node.value):
            return
        if not self._of_module(node):
            if node.attr not in _ASKED and not _fills_in_values(node):
                raise Peeks(f"it calls {node.attr}")
            self.visit(node.value)

    def _of_module(self, node: ast.Attribute) -> bool:
        """Whether it is a name of a module, whose attributes are checked."""
        if not (isinstance(node.value, ast.Name) and node.value.id in self.looked_up):
            return False
        module = self._global(node.value.id)
        if not isinstance(module, types.ModuleType):
            return False
        if module not in known.READABLE:
            raise Peeks(f"it uses {node.value.id}")
        self._value(node.attr, getattr(module, node.attr, None))
        return True

    def visit_Compare(self, node: ast.Compare) -> None:
        settled = all(isinstance(one, ast.Constant) and isinstance(one.value, (bool, type(None))) for one in node.comparators)
        if any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops) and not settled:
            raise Peeks("it asks by `is`")
        self.generic_visit(node)

    def _global(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        usual = any(self.names.get("__builtins__", builtins) is one for one in (builtins, vars(builtins)))
        if not usual or not hasattr(builtins, name):
            raise Peeks(f"it names {name}")
        return getattr(builtins, name)

    def _value(self, name: str, value: Any) -> None:
        """A global name, or what a module has by a name."""
        if _is_plain(value):
            return
        if type(value) is types.FunctionType and id(value) not in known.CALLABLES:
            self.read_function(value)
        elif id(value) not in known.CALLABLES or id(value) in _BANNED:
            raise Peeks(f"it uses {name}")

    def read_function(self, function: types.FunctionType) -> None:
        """Read a function of the user's."""
        if function.__code__ in self.known_codes:
            return
        definition = definition_of(function)
        if definition is None:
            raise Peeks(f"it calls {function.__name__}, whose source says not all")
        self.known_codes.add(function.__code__)
        _RestReader(function.__code__, function.__globals__, self.known_codes).read(definition.body)
