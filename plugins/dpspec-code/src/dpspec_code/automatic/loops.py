"""Redraw loops of code, which come back to a state they were in: which variables count there, and a copy of what they hold.

When a `while` loop starts a round, what happens next depends on the values of the local variables that are still read,
on what was pinned when the loop was entered (everything outside it), and on fresh randomness. Two rounds of one
execution of the loop with equal live variables have therefore the same law: the loop is a Markov chain, which is solved exactly.

Live variables are read from the syntax tree, backwards through each function:

    live before a statement = what it reads + (live after it - what it surely writes)

with every way out of a statement (break, continue, return, an exception to each handler) taken for possible. Variables that an
inner function shares are always live. The state counts only when every live variable is a plain value (numbers, texts,
containers and arrays of them, functions); with any other object the loop is followed round by round.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Hashable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from dpspec.plugin.judges import Exponential
from dpspec_code.automatic.path import Uniform

LoopNames = frozenset[str]
_NONE: LoopNames = frozenset()
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_ATOMS = (int, bool, str, bytes, complex, Fraction, Decimal, Exponential, np.generic, type(None), type(Ellipsis), type, range)
_STATELESS = (types.ModuleType, np.ufunc)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CONTAINERS = (list, tuple, frozenset)  # the order of a changing set depends on its past


class NotPlain(Exception):
    """A value of which no snapshot can be taken."""


# --- live variables ----------------------------------------------------------------------------------


@attrs.frozen
class _Exits:
    """The variables that are live at the possible targets of a statement, other than the next one."""

    left: LoopNames = _NONE
    again: LoopNames = _NONE
    raised: LoopNames = _NONE


def live_at_heads(function: ast.FunctionDef) -> dict[ast.While | ast.For, LoopNames]:
    """For each loop of a function, not of those inside it, the variables that are live when a round starts or the loop ends.

    None for generators, whose callers run between two rounds.

    >>> tree = ast.parse("def f(n, m):\\n while n:\\n  k = n - 1\\n  n = k\\n return 0")
    >>> [sorted(names) for names in live_at_heads(tree.body[0]).values()]
    [['n']]
    """
    own = list(own_nodes(function))
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in own):
        return {}
    always: set[str] = set()
    for node in own:
        if isinstance(node, SCOPES):
            always |= _mentioned(node) - ({one.arg for one in node.args.args} if isinstance(node, ast.Lambda) else set())
        if isinstance(node, (ast.Nonlocal, ast.Global)):
            always |= set(node.names)
    flow = _Flow(frozenset(always))
    flow.block(function.body, _NONE, _Exits())
    return {loop: names | flow.always | _free(function) for loop, names in flow.heads.items()}


def live_before(body: Iterable[ast.stmt]) -> LoopNames:
    """The variables that some statements may read before they write them.

    >>> sorted(live_before(ast.parse("b = a\\nif b:\\n  c = 1\\nd = c").body))
    ['a', 'c']
    """
    return _Flow(_NONE).block(body, _NONE, _Exits())


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function; those of functions inside it only from outside."""
    waiting = [*ast.iter_child_nodes(function)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting += ast.iter_child_nodes(node)


def _mentioned(node: ast.AST) -> set[str]:
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names | {name for inner in ast.walk(node) if isinstance(inner, ast.Nonlocal) for name in inner.names}


def _free(function: ast.FunctionDef) -> LoopNames:
    """Names that the function reads and never assigns: those of functions around it, which others may look at too."""
    assigned = {node.id for node in own_nodes(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    assigned |= {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    return frozenset(_mentioned(function) - assigned)


def _read(*nodes: ast.AST | None) -> LoopNames:
    """The names that some nodes may read; a comprehension has variables of its own."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, _COMPREHENSIONS):
            own = _written(*(part.target for part in node.generators))
            found |= (_read(*ast.iter_child_nodes(node)) - own) | _read(node.generators[0].iter)
        elif isinstance(node, ast.Name):
            found |= set() if isinstance(node.ctx, ast.Store) else {node.id}
        elif node is not None:
            found |= _read(*ast.iter_child_nodes(node))
    return frozenset(found)


def _written(*targets: ast.expr | None) -> LoopNames:
    """The names that an assignment to these targets surely writes."""
    found: set[str] = set()
    for target in targets:
        if isinstance(target, ast.Name):
            found.add(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            found |= _written(*target.elts)
        elif isinstance(target, ast.Starred):
            found |= _written(target.value)
    return frozenset(found)


def _is_endless(node: ast.While | ast.For) -> bool:
    """Whether a loop ends in the middle of a round only: what is read after it was then written in that round, or before it."""
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)


class _Flow:
    """The backward walk through one function."""

    def __init__(self, always: LoopNames) -> None:
        self.always, self.heads = always, dict[ast.While | ast.For, LoopNames]()

    def block(self, body: Iterable[ast.stmt], after: LoopNames, exits: _Exits) -> LoopNames:
        for statement in reversed(list(body)):
            after = self.statement(statement, after, exits) | exits.raised
        return after

    def statement(self, node: ast.stmt, after: LoopNames, exits: _Exits) -> LoopNames:  # noqa: PLR0911 (one line per kind)
        match node:
            case ast.Assign():
                return _read(node) | (after - _written(*node.targets))
            case ast.AnnAssign(value=value, target=target):
                return _read(value, target) | (after - _written(target) if value is not None else after)
            case ast.AugAssign():
                return _read(node) | _written(node.target) | after
            case ast.If():
                return _read(node.test) | self.block(node.body, after, exits) | self.block(node.orelse, after, exits)
            case ast.While() | ast.For():
                return self.loop(node, after, exits)
            case ast.Try():
                return self.attempt(node, after, exits)
            case ast.With():
                inside = attrs.evolve(exits, raised=exits.raised | after)
                return _read(*(item.context_expr for item in node.items)) | self.block(node.body, after, inside) | after
            case ast.Return() | ast.Raise():
                return _read(node)
            case ast.Break():
                return exits.left
            case ast.Continue():
                return exits.again
            case ast.Match():
                arms = [_read(case.pattern, case.guard) | self.block(case.body, after, exits) for case in node.cases]
                return _read(node.subject) | after.union(*arms)
            case _:
                return _read(node) | after

    def loop(self, node: ast.While | ast.For, after: LoopNames, exits: _Exits) -> LoopNames:
        """The least fixed point: what is live when a round starts."""
        done = _NONE if _is_endless(node) else self.block(node.orelse, after, exits)
        start = node.test if isinstance(node, ast.While) else node.target
        written = _NONE if isinstance(node, ast.While) else _written(node.target)
        live = _read(start) | done
        while True:
            body = self.block(node.body, live, _Exits(left=after, again=live, raised=exits.raised))
            more = live | (body - written) | exits.raised
            if more == live:
                break
            live = more
        self.heads[node] = live
        return live if isinstance(node, ast.While) else live | _read(node.iter)

    def attempt(self, node: ast.Try, after: LoopNames, exits: _Exits) -> LoopNames:
        """Every statement of the body may lead to every handler, and each way out passes through `finally`."""
        ways = after | exits.raised | exits.left | exits.again
        last = self.block(node.finalbody, ways, exits) if node.finalbody else after
        beyond = last if node.finalbody else exits.raised
        after_all = _Exits(left=exits.left | beyond, again=exits.again | beyond, raised=exits.raised | beyond)
        handlers: LoopNames = _NONE
        for handler in node.handlers:
            handlers |= _read(handler.type) | self.block(handler.body, last, after_all)
        inside = attrs.evolve(after_all, raised=after_all.raised | handlers)
        return self.block(node.body, self.block(node.orelse, last, inside), inside)


# --- states ------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class LoopEntry:
    """One execution of a loop.

    Args:
        loop: which loop it is.
        live: the variables that count.
        pinned: the choices that had been made when it was entered.
        held: the objects that were there then, each with its number; they are kept so that no other takes their place.
    """

    loop: int
    live: tuple[str, ...]
    pinned: tuple[Any, ...]
    held: dict[int, tuple[int, Any]]

    @classmethod
    def at(cls, loop: int, live: tuple[str, ...], pinned: tuple[Any, ...], names: dict[str, Any]) -> LoopEntry:
        held: dict[int, tuple[int, Any]] = {}
        for name in sorted(names):
            _hold(names[name], held)
        return cls(loop, live, pinned, held)

    def state(self, names: dict[str, Any]) -> Hashable:
        """The state at the head of the loop; None when a variable is no plain value."""
        seen: dict[int, int] = {}
        try:
            values = tuple((name, snapshot(names[name], seen, self.held)) for name in self.live if name in names)
        except NotPlain:
            return None
        return self.loop, self.pinned, values


def _hold(value: Any, held: dict[int, tuple[int, Any]]) -> None:
    """Number the objects in a value that can change, or whose identity may come to matter."""
    if isinstance(value, (list, tuple, dict, set, np.ndarray)) and id(value) not in held:
        held[id(value)] = len(held), value
        parts: Iterable[Any] = value
        if isinstance(value, dict):
            parts = [*value, *value.values()]
        elif isinstance(value, np.ndarray):
            parts = value.flat if value.dtype.hasobject else ()
        for part in parts:
            _hold(part, held)
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            _hold(_content(cell), held)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def snapshot(value: Any, seen: dict[int, int], held: dict[int, tuple[int, Any]]) -> Hashable:
    """A hashable copy of a plain value that also encodes which of its containers are one object, or an object that existed
    before.

    Raises:
        NotPlain: for values with parts that cannot be inspected.
    """
    from dpspec_code.automatic.generator import EnumeratingGenerator

    kind = type(value)
    found: Hashable = None
    if kind is Uniform:
        found = value.known()
    elif issubclass(kind, float):
        found = repr(value) if kind is float else (kind, value.tobytes()) if issubclass(kind, np.generic) else _no_state()
    elif kind in _ATOMS or issubclass(kind, (np.generic, type)):
        found = value
    elif issubclass(kind, _STATELESS) or (kind is types.BuiltinFunctionType and isinstance(value.__self__, types.ModuleType)):
        found = id(value)
    elif id(value) in seen:
        return "again", seen[id(value)]
    elif kind is not EnumeratingGenerator:
        seen[id(value)] = len(seen)
        before = None if kind in (tuple, frozenset) else held.get(id(value), (None,))[0]
        found = before, _parts(value, kind, seen, held)
    return kind, found


def state_of(value: Any) -> Hashable:
    """A hashable copy of a plain value without objects that existed before; None when it has parts that cannot be inspected."""
    try:
        return snapshot(value, {}, {})
    except NotPlain:
        return None


def _no_state() -> Hashable:
    raise NotPlain


def _parts(value: Any, kind: type, seen: dict[int, int], held: dict[int, tuple[int, Any]]) -> Hashable:
    if kind in _CONTAINERS:
        return tuple(snapshot(part, seen, held) for part in value)
    if kind is dict:
        return tuple((snapshot(key, seen, held), snapshot(part, seen, held)) for key, part in value.items())
    if kind is np.ndarray and value.base is None:
        content = tuple(snapshot(part, seen, held) for part in value.flat) if value.dtype.hasobject else value.tobytes()
        return value.dtype.str, value.shape, value.strides, content
    if kind is types.FunctionType:
        cells = tuple(snapshot(_content(cell), seen, held) for cell in value.__closure__ or ())
        return id(value.__code__), snapshot(value.__defaults__, seen, held), snapshot(value.__kwdefaults__, seen, held), cells
    raise NotPlain
