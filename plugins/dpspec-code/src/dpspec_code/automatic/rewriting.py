"""The user's code as it is enumerated: compiled from its syntax tree, with a question before every step that could leave it.

    f(x)         ->  _dpspec_call(f, x)              a.b            ->  _dpspec_get(a, "b")
    for x in s   ->  for x in _dpspec_each(s)        f"{x}"         ->  f"{_dpspec_shown(x)}"
    except: ...  ->  except: _dpspec_enter(); ...    while t: ...   ->  while _dpspec_round(...) and t: ...
    a[i] += e    ->  a = _dpspec_grown_in(...)       return f(x)    ->  return _dpspec_tail(f, x)

The questions (`dpspec_code.automatic.questions`) answer as the code itself would, or refuse. A function's code is replaced
by its rewritten form only when the file contains the function's code: the unchanged tree is compiled as well, and one of
its code objects has to equal that of the function. No bytecode is interpreted, so nothing depends on the version of Python.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from dpspec_code.automatic.loops import SCOPES, live_at_heads, own_nodes
from dpspec_code.automatic.path import PREFIX
from dpspec_code.automatic.tallies import SIGNS, added_to, counted_up, sign_of, stepped_entry, tallied_names

_DEFERRED = __future__.annotations.compiler_flag  # a prompt that imported it compiles what is typed later with it
_COMPREHENSIONS = ("<listcomp>", "<genexpr>")
_DISPLAYS = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict)
"""Expressions whose value is made where they are, or never changes."""


def rewritten(code: types.CodeType, names: dict[str, object]) -> types.CodeType | None:
    """The code object with its questions, or None where the source is not to be had or does not say the same.

    Args:
        code: the code of a function.
        names: its global names, by which the source of what was typed at a prompt is found.
    """
    source = "".join(linecache.getlines(code.co_filename, names))
    return _both(source, code.co_filename, code.co_flags & _DEFERRED).get(code) if source else None


def prepare(function: Any) -> None:
    """Rewrite the file of a function: before the time of its calls is measured, and once for all processes that will call it."""
    while not isinstance(function, types.FunctionType):
        inner = getattr(function, "func", None) or getattr(function, "__func__", None) or vars(type(function)).get("__call__")
        if inner is None or not isinstance(inner, (types.FunctionType, types.MethodType, functools.partial)):
            return
        function = inner
    linecache.checkcache(function.__code__.co_filename)
    rewritten(function.__code__, function.__globals__)


@functools.lru_cache(maxsize=64)
def _both(source: str, filename: str, flags: int = 0) -> dict[types.CodeType, types.CodeType]:
    """Every code object of a source with its rewritten form."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source, filename)
            plain = _without_comprehensions(compile(source, filename, "exec", flags, dont_inherit=True))
            asking = ast.fix_missing_locations(_Rewriter().visit(tree))
            asked = _without_comprehensions(compile(asking, filename, "exec", flags, dont_inherit=True))
        except (SyntaxError, ValueError, RecursionError):
            return {}
    if list(map(_place, plain)) != list(map(_place, asked)):
        return {}
    return {
        one: other for one, other in zip(plain, asked, strict=True)
        if one.co_freevars == other.co_freevars and not _names_questions(one)
        and (one.co_varnames[: one.co_argcount], one.co_flags) == (other.co_varnames[: other.co_argcount], other.co_flags)
    }  # fmt: skip


def _without_comprehensions(code: types.CodeType) -> list[types.CodeType]:
    """Code and all code inside it, without comprehensions: a list comprehension is rewritten as a generator expression."""
    return [one for one in _codes(code) if one.co_name not in _COMPREHENSIONS]


def _place(code: types.CodeType) -> str:
    """The qualified name of code, including code inside comprehensions."""
    parts = code.co_qualname.split(".")
    inside = [place for place, part in enumerate(parts) if part in _COMPREHENSIONS]
    dropped = {*inside, *(place - 1 for place in inside)}
    return ".".join(part for place, part in enumerate(parts) if place not in dropped)


def _names_questions(code: types.CodeType) -> bool:
    """Whether code has names of its own that begin like the questions, and could take their place."""
    names = (name for one in _codes(code) for name in (*one.co_names, *one.co_varnames, *one.co_cellvars, *one.co_freevars))
    return any(name.startswith(PREFIX) for name in names)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those of the functions inside it."""
    return _codes(code)


def global_names(code: types.CodeType) -> frozenset[str]:
    """The names that a function and the functions inside it may look up among the global ones."""
    return frozenset(name for one in _codes(code) for name in one.co_names)


def _ask(question: str, at: ast.AST, *arguments: ast.expr) -> ast.Call:
    name = ast.Name(id=PREFIX + question, ctx=ast.Load())
    return ast.copy_location(ast.Call(func=name, args=list(arguments), keywords=[]), at)


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _known_as(at: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value), at)


def _numbered(numbers: Iterable[int]) -> ast.expr:
    return ast.Tuple(elts=[ast.Constant(number) for number in numbers], ctx=ast.Load())


def _local_names(function: ast.FunctionDef) -> frozenset[str]:
    """The variables of a function: its arguments and what it assigns, without those of others."""
    found = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    others: set[str] = set()
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Nonlocal, ast.Global)):
            others |= {*node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            pending += ast.iter_child_nodes(node)
    return frozenset(found - others)


def _say(question: str, at: ast.AST, *arguments: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(value=_ask(question, at, *arguments)), at)


def _unpacks(target: ast.expr) -> bool:
    """Whether an assignment walks through what it assigns."""
    in_parts = isinstance(target, (ast.Tuple, ast.List, ast.Starred))
    return in_parts or (isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice))


class _Rewriter(ast.NodeTransformer):
    """Puts the questions in; what has no question of its own, such as `global`, becomes a refusal when it is reached."""

    def __init__(self) -> None:
        self.depth, self.loops = 0, 0
        self.classes: list[str] = []
        self.live: dict[ast.While | ast.For, frozenset[str]] = {}
        self.own: list[frozenset[str]] = []
        self.tallies: list[tuple[int, frozenset[str]]] = []
        self.guarded = False
        self.places = 0

    def _refusing(self, node: ast.stmt, what: str) -> list[ast.stmt]:
        return [node, _say("refuse", node, ast.Constant(what))] if self.depth else [node]

    # -- functions and classes ----------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.live.update(live_at_heads(node))
        node.decorator_list = [_ask("callable", one, self.visit(one)) for one in node.decorator_list]
        self.visit(node.args)
        if node.returns is not None:
            node.returns = self.visit(node.returns)
        self.depth += 1
        self.own.append(_local_names(node))
        around = self.tallies, self.guarded
        shares = any(isinstance(one, ast.Nonlocal) for one in own_nodes(node))
        self.tallies, self.guarded = [], any(isinstance(one, (ast.Yield, ast.YieldFrom, ast.Await)) for one in own_nodes(node))
        entered = [_say("enter", node.body[0]), *([_say("shares", node.body[0])] if shares else [])]
        node.body = [*entered, *self._block(node.body)]
        self.tallies, self.guarded = around
        self.own.pop()
        self.depth -= 1
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body.insert(0, _say("refuse", node, ast.Constant("is asynchronous")))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | list[ast.stmt]:
        self.classes.append(node.name)
        if not self.depth:
            node.body = self._block(node.body)
        self.classes.pop()
        return [_say("refuse", node, ast.Constant("defines a class while it runs")), node] if self.depth else node

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        return found

    # -- expressions ----------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return node
        self.generic_visit(node)
        match node:  # the inner call is rewritten by now
            case ast.Call(
                func=ast.Name(id="range"),
                args=[ast.Call(func=ast.Name(id=call), args=[ast.Name(id="len") as sizes, listed], keywords=[])],
                keywords=[],
            ) if call == PREFIX + "call" and not isinstance(listed, ast.Starred):
                return _ask("places", node, node.func, sizes, listed)
        node.args = [node.func, *node.args]
        node.func = ast.copy_location(ast.Name(id=PREFIX + "call", ctx=ast.Load()), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return _ask("get", node, value, ast.Constant(self._mangled(node.attr)))
        node.value = _ask("owner", node, value)
        return node

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and bool(self.classes)
        return f"_{self.classes[-1].lstrip('_')}{name}" if private else name

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        node.value = _ask("read" if isinstance(node.ctx, ast.Load) else "item", node.value, node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        hidden = node.id.startswith(PREFIX) or (node.id.startswith("__") and node.id.endswith("__") and node.id != "__name__")
        if hidden and isinstance(node.ctx, ast.Load):
            return _ask("refuse", node, ast.Constant(f"looks at {node.id}"))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`in` of something that may go on from where it is, and `is` of something that is no plain constant."""
        self.generic_visit(node)
        for place, (one, held) in enumerate(zip(node.ops, node.comparators, strict=True)):
            if isinstance(one, (ast.In, ast.NotIn)) and not isinstance(held, _DISPLAYS):
                node.comparators[place] = _ask("among", held, held)
        if not any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops):
            return node
        if all(isinstance(one, ast.Constant) and one.value in (None, True, False) for one in node.comparators):
            return node
        if len(node.ops) > 1:
            return _ask("refuse", node, ast.Constant("asks by `is` in a chain of comparisons"))
        asked = _ask("same", node, node.left, node.comparators[0])
        return asked if isinstance(node.ops[0], ast.Is) else ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=asked), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        asked = {ast.Mod: "modulo", ast.MatMult: "product"}.get(type(node.op))
        return node if asked is None else _ask(asked, node, node.left, node.right)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        node.value = _ask("shown", node, node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _ask("each", node, node.value)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        self.generic_visit(node)
        node.value = _ask("each", node, node.value)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        if len(node.generators) > 1:
            return node
        made = ast.GeneratorExp(elt=node.elt, generators=node.generators)
        return _ask("listed", node, ast.copy_location(made, node))

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = _ask("pairs" if _unpacks(node.target) else "each", node.iter, node.iter)
        return node

    # -- statements -----------------------------------------------------------------------------------

    def visit_For(self, node: ast.For) -> ast.AST:
        live = self.live.get(node) if self.depth else None
        names = None if live is None else tallied_names(node, live)
        if names is None:
            self.generic_visit(node)
            node.iter = _ask("pairs" if _unpacks(node.target) else "each", node.iter, node.iter)
            return node
        self.loops += 1
        number = self.loops
        self.tallies.append((number, names))
        self.generic_visit(node)
        self.tallies.pop()
        walked = _ask("pairs" if _unpacks(node.target) else "each", node.iter, node.iter)
        node.iter = _ask("tally", node.iter, walked, ast.Constant(number))
        return node

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        live = self.live.get(node)
        self.generic_visit(node)
        if live is None or not self.depth:
            return node
        self.loops += 1
        token = f"{PREFIX}loop_{self.loops}"
        names = ast.Tuple(elts=[ast.Constant(name) for name in sorted(live)], ctx=ast.Load())
        entry = _ask("loop", node.test, ast.Constant(self.loops), names, _ask("locals", node.test))
        start = ast.copy_location(ast.Assign(targets=[ast.Name(id=token, ctx=ast.Store())], value=entry), node)
        here = _ask("round", node.test, ast.Name(id=token, ctx=ast.Load()), _ask("locals", node.test))
        node.test = ast.copy_location(ast.BoolOp(op=ast.And(), values=[here, node.test]), node.test)
        return [start, node]

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        step = added_to(node)
        if step is not None and self._numbers(step[0]):
            return self._grown(node, step, in_place=False)
        held = self._held(node.targets[0]) if len(node.targets) == 1 else None
        counted = counted_up(node)
        if held is not None and counted is not None and self.tallies:
            name, place, before, by, sign = counted
            named, again = self._evaluated_once(self.visit(place))
            value = _ask("call", node, self.visit(before.func), again, ast.Constant(0))
            return self._grown_in(node, name, named, value, by, sign)
        stepped = stepped_entry(node) if held is not None and self.tallies else None
        if stepped is not None:
            name, place, by, sign = stepped
            named, again = self._evaluated_once(self.visit(place))
            known = ast.copy_location(ast.Subscript(value=_name(name), slice=again, ctx=ast.Load()), node)
            return self._grown_in(node, name, named, known, by, sign)
        if held is not None:
            name, place = held
            return _known_as(node, name, _ask("put", node, self.visit(node.value), _name(name), self.visit(place)))
        walks = any(map(_unpacks, node.targets))
        self.generic_visit(node)
        if walks:
            node.value = _ask("each", node.value, node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Calls that change what a variable holds: what they leave there is assigned to it."""
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[by], keywords=[]) if (
                self.tallies and self._is_own(name) and not isinstance(by, ast.Starred)
            ):
                numbers = _numbered(number for number, _ in self.tallies)
                return _known_as(node, name, _ask("appended", node, _name(name), self.visit(by), numbers))
            case ast.Call(func=ast.Attribute(value=function, attr="at"), args=[ast.Name(id=name), place, by], keywords=[]) if (
                self._is_own(name) and not isinstance(by, ast.Starred) and not isinstance(place, ast.Starred)
            ):
                asked = [self.visit(one) for one in (function, place, by)]
                return _known_as(node, name, _ask("added_at", node, _name(name), *asked))
            case ast.Call(func=function, args=args, keywords=options) if options:
                into = [
                    one for one in options if one.arg == "out" and isinstance(one.value, ast.Name) and self._is_own(one.value.id)
                ]
                if len(into) == 1 and all(one.arg for one in options) and not any(isinstance(one, ast.Starred) for one in args):
                    name = into[0].value.id  # type: ignore[attr-defined]  # it is a name
                    asked = [self.visit(one) for one in (function, *args)]
                    written = _ask("into", node, _name(name), *asked)
                    written.keywords = [self.visit(one) for one in options if one is not into[0]]
                    return _known_as(node, name, written)
        self.generic_visit(node)
        return node

    def _is_own(self, name: str) -> bool:
        """Whether it is a variable of the function."""
        return bool(self.own) and name in self.own[-1]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        step, held = added_to(node), self._held(node.target)
        if step is not None and self._numbers(step[0]):
            return self._grown(node, step, in_place=True)
        if held is not None and sign_of(node.op):
            name, (named, again) = held[0], self._evaluated_once(self.visit(held[1]))
            before = ast.copy_location(ast.Subscript(value=_name(name), slice=again, ctx=ast.Load()), node)
            return self._grown_in(node, name, named, before, node.value, sign_of(node.op) + "=")
        return self._changed(node, ast.Constant(SIGNS[type(node.op)])) if self.own else self.generic_visit(node)

    def _changed(self, node: ast.AugAssign, sign: ast.expr) -> ast.AST | list[ast.stmt]:
        """A step in place, as an assignment of what it leaves there."""
        match node.target:
            case ast.Name(id=name):
                return _known_as(node, name, _ask("changed", node, _name(name), self.visit(node.value), sign))
            case ast.Attribute(value=owner, attr=attribute):
                held, again = self._kept(_ask("owner", owner, self.visit(owner)))
                before: ast.expr = _ask("get", node.target, again, ast.Constant(self._mangled(attribute)))
                target: ast.expr = ast.Attribute(value=again, attr=attribute, ctx=ast.Store())
            case ast.Subscript(value=owner, slice=place) if not any(isinstance(one, ast.Slice) for one in ast.walk(place)):
                held, again = self._kept(_ask("item", owner, self.visit(owner)))
                named, place_again = self._evaluated_once(self.visit(place))
                read = ast.Subscript(value=_ask("read", owner, again), slice=named, ctx=ast.Load())
                before = ast.copy_location(read, node.target)
                target = ast.Subscript(value=again, slice=place_again, ctx=ast.Store())
            case _:
                self.generic_visit(node)
                node.value = _ask("shown" if isinstance(node.op, ast.Mod) else "operand", node.value, node.value)
                return node
        made = _ask("changed", node, before, self.visit(node.value), sign)
        return [held, ast.copy_location(ast.Assign(targets=[ast.copy_location(target, node.target)], value=made), node)]

    def _kept(self, value: ast.expr) -> tuple[ast.stmt, ast.expr]:
        """The assignment of a value to a variable of its own, and this variable."""
        named, again = self._evaluated_once(value)
        return ast.copy_location(ast.Expr(value=named), value), again

    def _evaluated_once(self, place: ast.expr) -> tuple[ast.expr, ast.expr]:
        """An index where it is evaluated, and where it is used again; it is kept in a variable of its own."""
        self.places += 1
        name = f"{PREFIX}place_{self.places}"
        return ast.NamedExpr(target=ast.Name(id=name, ctx=ast.Store()), value=place), _name(name)

    def _grown_in(  # noqa: PLR0917 (the parts of one statement)
        self, node: ast.stmt, name: str, place: ast.expr, before: ast.expr, by: ast.expr, step: str
    ) -> ast.stmt:
        numbers = _numbered(number for number, _ in self.tallies)
        asked = _ask("grown_in", node, _name(name), place, before, self.visit(by), ast.Constant(step), numbers)
        return _known_as(node, name, asked)

    def _numbers(self, name: str) -> list[int]:
        """The loops around that add up in a variable."""
        return [number for number, names in self.tallies if name in names]

    def _held(self, target: ast.expr) -> tuple[str, ast.expr] | None:
        """The variable of the function and the place, where a target is one entry of what it holds."""
        match target:
            case ast.Subscript(value=ast.Name(id=name), slice=place):
                if self.own and name in self.own[-1] and not isinstance(place, ast.Slice):
                    return name, place
        return None

    def _grown(self, node: ast.stmt, step: tuple[str, ast.expr, str], *, in_place: bool) -> ast.AST:
        name, by, sign = step
        written = ast.Constant(sign + "=" * in_place)
        return _known_as(node, name, _ask("grown", node, _name(name), self.visit(by), written, _numbered(self._numbers(name))))

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        last: list[ast.expr | None] = [] if self.guarded else [node.value]
        while last:
            match last.pop():
                case ast.IfExp(body=one, orelse=other):
                    last += [one, other]
                case ast.Call(func=ast.Name(id=asked) as name) if asked == PREFIX + "call":
                    name.id = PREFIX + "tail"
        return node

    def _inside(self, node: ast.Try | ast.With) -> None:
        """The parts of a statement after which something is left to be done."""
        around, self.guarded = self.guarded, True
        self.generic_visit(node)
        self.guarded = around

    def visit_Try(self, node: ast.Try) -> ast.AST:
        self._inside(node)
        for handler in node.handlers:
            handler.body.insert(0, _say("enter", handler))
        if node.finalbody:
            node.finalbody.insert(0, _say("enter", node.finalbody[0]))
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = _ask("raised", node.exc, node.exc)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        self._inside(node)
        for item in node.items:
            item.context_expr = _ask("context", item.context_expr, item.context_expr)
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        wanted = [_say("import", node, ast.Constant(alias.name)) for alias in node.names] if self.depth else []
        return [*wanted, node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        wanted = [_say("import", node, ast.Constant("" if node.level else node.module))] if self.depth else []
        return [*wanted, node]

    def visit_Global(self, node: ast.Global) -> list[ast.stmt]:
        return self._refusing(node, f"assigns the global name {node.names[0]}, which it keeps between calls")

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        """Patterns ask of objects what no question can be put before."""
        looks = any(isinstance(part, (ast.MatchClass, ast.Attribute)) for case in node.cases for part in ast.walk(case.pattern))
        self.generic_visit(node)
        node.subject = _ask("matched", node.subject, node.subject)
        return [_say("refuse", node, ast.Constant("matches a class or an attribute")), node] if looks else node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = self._block(node.body)
        return node

    def _unknown(self, node: ast.AST) -> ast.AST:
        return _ask("refuse", node, ast.Constant(f"holds {type(node).__name__}"))

    visit_Await = _unknown  # noqa: N815

    def _unknown_statement(self, node: ast.stmt) -> list[ast.stmt]:
        return [_say("refuse", node, ast.Constant(f"holds {type(node).__name__}")), node]

    visit_TryStar = visit_AsyncFor = visit_AsyncWith = _unknown_statement  # noqa: N815
