"""Finds the functions that draw noise, from calls of generators, and calls of functions that make such calls.

A call is a draw when its function is one of a library of randomness (`numpy.random.laplace`, `random.gauss`,
`scipy.stats.laplace.rvs`, a constructor of OpenDP), or a method of a generator (`rng.laplace`). A generator is a parameter or an
attribute of that name or annotation, or what `default_rng()` and its like return. A method with the name of a distribution of
noise is a draw whatever it belongs to.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs

from dpspec_hunt.modules import Module

GENERATOR_NAMES = frozenset({
    "rng", "gen", "generator", "random_state", "rand", "randomness", "prng", "rs", "random_generator", "rnd", "np_rng",
    "numpy_rng", "_rng", "_generator", "_random", "_random_state", "_prng", "_gen",
})  # fmt: skip
GENERATOR_TYPES = ("Generator", "RandomState", "random.Random", "SystemRandom", "BitGenerator")
MAKERS = ("default_rng", "RandomState", "Random", "SystemRandom", "Generator", "check_random_state")
"""What returns a generator, by the last part of its name."""

OF_LIBRARIES = (
    "numpy.random.", "random.", "secrets.", "torch.distributions.", "jax.random.", "cupy.random.", "tensorflow.random.",
    "diffprivlib.mechanisms.", "diffprivlib.tools.", "diffprivlib.models.", "tmlt.core.measurements.", "pydp.algorithms.",
)  # fmt: skip
NO_DRAWS = frozenset({
    *MAKERS,
    "seed", "getstate", "setstate", "get_state", "set_state", "PCG64", "Philox", "MT19937", "SFC64", "SeedSequence", "spawn",
    "compare_digest", "token_hex", "token_urlsafe", "token_bytes", "PRNGKey", "key", "enable_features", "split", "fold_in",
})  # fmt: skip
"""Functions of these libraries that are no draws of noise."""
OF_METHODS = frozenset({
    "laplace", "normal", "standard_normal", "gumbel", "geometric", "exponential", "standard_exponential", "uniform", "random",
    "integers", "randint", "binomial", "poisson", "choice", "choices", "gauss", "normalvariate", "expovariate", "logistic",
    "standard_cauchy", "rand", "randn", "permutation", "shuffle", "multinomial", "gamma", "standard_gamma", "standard_t",
    "multivariate_normal", "sample", "betavariate", "random_sample", "randrange", "getrandbits", "bytes", "negative_binomial",
    "lognormal", "permuted", "triangular", "vonmises", "weibull",
})  # fmt: skip
"""Methods of generators that draw."""
OF_NOISE = frozenset({
    "laplace", "gumbel", "standard_normal", "standard_cauchy", "normalvariate", "expovariate", "gauss", "discrete_laplace",
    "discrete_gaussian", "randomise", "randomize", "rvs",
})  # fmt: skip
"""Names of methods that draw noise, on any object."""

AnyFunction: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@attrs.frozen(kw_only=True)
class Draw:
    """One draw in the source.

    Args:
        line: its line in the file.
        what: the function that is called, as it is written.
        through: whether it is a function of the same code that draws.
    """

    line: int
    what: str
    through: bool = False


@attrs.frozen(kw_only=True)
class Drawing:
    """A function or method that draws.

    Args:
        module: where it is.
        classes: the classes around it, the outermost first.
        node: its definition; a lambda that is given a name is one as well.
        draws: its draws, by line.
    """

    module: Module
    classes: tuple[ast.ClassDef, ...]
    node: AnyFunction
    draws: tuple[Draw, ...]

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method it is; None for a function."""
        return self.classes[-1] if self.classes else None

    @property
    def name(self) -> str:
        """As it is named inside its module."""
        return _name(self.classes, self.node)

    @property
    def place(self) -> str:
        """As `module:name`."""
        return f"{self.module.label or self.module.name}:{self.name}"


_Classes: TypeAlias = tuple[ast.ClassDef, ...]
_Key: TypeAlias = tuple[Path, str]
"""The file of a function, and its name inside its module."""


def drawings(modules: Sequence[Module]) -> tuple[Drawing, ...]:
    """All functions and methods that draw, themselves or through others of these modules."""
    index = _Index.of(modules)
    direct: dict[_Key, tuple[Draw, ...]] = {}
    calls: dict[_Key, tuple[tuple[_Key, Draw], ...]] = {}
    callers: dict[_Key, list[_Key]] = {}
    for key, (module, classes, nodes) in index.functions.items():
        names = index.names[module.path]
        direct[key] = tuple(draw for node in nodes for draw in _direct(node, names))
        calls[key] = tuple(call for node in nodes for call in _calls(node, module, classes, index))
        for called, _ in calls[key]:
            callers.setdefault(called, []).append(key)
    drawing = {key for key, draws in direct.items() if draws}
    waiting = list(drawing)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in drawing:
                drawing.add(caller)
                waiting.append(caller)
    found = []
    for key, (module, classes, nodes) in index.functions.items():
        if key in drawing:
            through = {draw for called, draw in calls[key] if called in drawing and called != key}
            draws = tuple(sorted({*direct[key], *through}, key=lambda draw: (draw.line, draw.what)))
            found.append(Drawing(module=module, classes=classes, node=nodes[-1], draws=draws))
    return tuple(found)


def functions_of(tree: ast.Module) -> Iterator[tuple[_Classes, AnyFunction]]:
    """The functions of a module and the methods of its classes; what is defined inside of them belongs to them."""
    waiting: list[tuple[_Classes, ast.AST]] = [((), node) for node in reversed(tree.body)]
    while waiting:
        classes, node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield classes, node
        elif isinstance(node, ast.ClassDef):
            waiting += [((*classes, node), inner) for inner in reversed(node.body)]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
            yield classes, _named(node.targets[0].id, node.value)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            waiting += [(classes, inner) for inner in reversed(list(ast.iter_child_nodes(node)))]


def _named(name: str, node: ast.Lambda) -> ast.FunctionDef:
    """A lambda as the function that it is."""
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef(name=name, args=node.args, body=[body], decorator_list=[], returns=None, type_comment=None)
    return ast.copy_location(made, node)


def _name(classes: _Classes, node: AnyFunction) -> str:
    return ".".join([*(one.name for one in classes), node.name])


@attrs.frozen(kw_only=True)
class _Index:
    """All functions of some modules, and the definitions of the names in these modules.

    Args:
        functions: file and name to its module, classes and definitions: under conditions there may be several.
        files: name of a module to the modules of that name.
        names: file to the definitions of the names in it.
        bases: file and name of a class to what it inherits from.
        methods: file to the methods of classes that are made or imported in it, by their names.
    """

    functions: Mapping[_Key, tuple[Module, _Classes, list[AnyFunction]]]
    files: Mapping[str, Sequence[Module]]
    names: Mapping[Path, _Names]
    bases: Mapping[_Key, Sequence[str]]
    methods: Mapping[Path, Mapping[str, Sequence[_Key]]]

    @classmethod
    def of(cls, modules: Sequence[Module]) -> _Index:
        functions: dict[_Key, tuple[Module, _Classes, list[AnyFunction]]] = {}
        files: dict[str, list[Module]] = {}
        bases: dict[_Key, tuple[list[str], list[str]]] = {}
        for module in modules:
            files.setdefault(module.name, []).append(module)
            for classes, node in functions_of(module.tree):
                functions.setdefault((module.path, _name(classes, node)), (module, classes, []))[2].append(node)
                if classes:
                    key = module.path, ".".join(one.name for one in classes)
                    bases.setdefault(key, ([dotted(base) for base in classes[-1].bases], []))[1].append(node.name)
        own = frozenset(module.name.partition(".")[0] for module in modules)
        names = {module.path: _Names.of(module, own) for module in modules}
        methods: dict[Path, dict[str, list[_Key]]] = {}
        for path, of_module in names.items():
            methods[path] = {}
            for key in _classes_in(path, of_module, files, bases):
                for method in bases[key][1]:
                    methods[path].setdefault(method, []).append((key[0], f"{key[1]}.{method}"))
        of_class = {key: found for key, (found, _) in bases.items()}
        return cls(functions=functions, files=files, names=names, bases=of_class, methods=methods)

    def named(self, module: Module, name: str) -> Iterator[_Key]:
        """The functions that a dotted name in a module may denote."""
        if (module.path, name) in self.functions:
            yield module.path, name
        pieces = self.names[module.path].resolved(name).split(".")
        for cut in range(1, len(pieces)):
            some = self.files.get(".".join(pieces[:cut]), ())
            for other in [one for one in some if one.root == module.root] or some:
                key = other.path, ".".join(pieces[cut:])
                yield from (one for one in (key, (key[0], f"{key[1]}.__call__")) if one in self.functions)

    def inherited(self, module: Module, owner: str, method: str) -> Iterator[_Key]:
        """A method of a class, or of what it inherits from."""
        waiting, seen = [(module, owner)], set[_Key]()
        while waiting:
            where, name = waiting.pop()
            if (where.path, name) in seen:
                continue
            seen.add((where.path, name))
            if (where.path, f"{name}.{method}") in self.functions:
                yield where.path, f"{name}.{method}"
            for base in self.bases.get((where.path, name), ()):
                waiting.append((where, base))
                pieces = self.names[where.path].resolved(base).split(".")
                for cut in range(1, len(pieces)):
                    waiting += [(other, ".".join(pieces[cut:])) for other in self.files.get(".".join(pieces[:cut]), ())]


def dotted(node: ast.expr) -> str:
    """`a.b.c` for names and attributes; empty for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


@attrs.frozen(kw_only=True)
class _Names:
    """The definitions of the names of a module.

    Args:
        module: its name.
        imported: name to what was imported under it.
        generators: names of generators that it makes.
        classes: names of its classes.
        own: the top packages of all that is read.
    """

    module: str
    imported: Mapping[str, str]
    generators: frozenset[str]
    classes: tuple[str, ...]
    own: frozenset[str]

    @classmethod
    def of(cls, module: Module, own: frozenset[str]) -> _Names:
        imported: dict[str, str] = {}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    imported[one.asname or one.name.partition(".")[0]] = one.name if one.asname else one.name.partition(".")[0]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    up = module.package.split(".") if module.package else []
                    up = up[: len(up) - node.level + 1]
                    base = ".".join([*up, base] if base else up)
                for one in node.names:
                    imported[one.asname or one.name] = f"{base}.{one.name}" if base else one.name
        classes = {".".join(one.name for one in classes): None for classes, _ in functions_of(module.tree) if classes}
        generators = frozenset(_made(module.tree))
        return cls(module=module.name, imported=imported, generators=generators, classes=tuple(classes), own=own)

    def resolved(self, name: str) -> str:
        """A dotted name with what was imported in place of its first part."""
        first, dot, rest = name.partition(".")
        return f"{self.imported.get(first, first)}{dot}{rest}"


def _made(tree: ast.AST) -> Iterator[str]:
    """Names and attributes to which something that makes a generator is assigned."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) else None
        if value is None:
            continue
        if any(_makes(part) for part in ast.walk(value)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
            yield from (name for target in targets if (name := dotted(target)))


def is_generator(parameter: ast.arg) -> bool:
    """Whether a parameter is a generator, by its name or annotation."""
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    return parameter.arg in GENERATOR_NAMES or any(kind in annotation for kind in GENERATOR_TYPES)


def parameters_of(node: AnyFunction) -> list[ast.arg]:
    """The parameters that can be given by name or place."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _parts(node: AnyFunction) -> Iterator[ast.AST]:
    """The parts of what a function does when it is called: neither decorators nor annotations."""
    for statement in node.body:
        yield from ast.walk(statement)


def _direct(node: AnyFunction, names: _Names) -> Iterator[Draw]:
    inner = [one for one in _parts(node) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    of_arguments = {
        a.arg for one in inner for a in [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs] if is_generator(a)
    }
    for call in _parts(node):
        if isinstance(call, ast.Call):
            written = dotted(call.func)
            last = call.func.attr if isinstance(call.func, ast.Attribute) else written
            if _is_draw(call.func, written, last, names, of_arguments):
                yield Draw(line=call.lineno, what=written or f"(...).{last}")


def _is_draw(function: ast.expr, written: str, last: str, names: _Names, generators: set[str]) -> bool:
    """Whether a call of a function, as it is written, is a draw."""
    resolved = names.resolved(written) if written else ""
    if resolved.partition(".")[0] in names.own:
        resolved = ""  # what its functions do is read
    if last in NO_DRAWS or resolved.rpartition(".")[2] in NO_DRAWS:
        return False
    if resolved.startswith(OF_LIBRARIES) or (resolved.startswith("scipy.stats.") and last == "rvs"):
        return True
    if resolved.startswith("opendp.") and last.startswith(("make_", "then_")):
        return True
    if not isinstance(function, ast.Attribute):
        return False
    if last not in OF_METHODS:
        return last in OF_NOISE
    owner = written.rpartition(".")[0]
    of_generator = owner in generators | names.generators or owner.rpartition(".")[2] in GENERATOR_NAMES
    return of_generator or last in OF_NOISE or any(_makes(part) for part in ast.walk(function.value))


def _makes(part: ast.AST) -> bool:
    """Whether a part of an expression is a call that returns a generator."""
    return isinstance(part, ast.Call) and dotted(part.func).rpartition(".")[2] in MAKERS


def _calls(node: AnyFunction, module: Module, classes: _Classes, index: _Index) -> Iterator[tuple[_Key, Draw]]:
    """The functions of these modules that a function calls, or passes on by name."""
    owner = ".".join(one.name for one in classes)
    for part in _parts(node):
        if not isinstance(part, ast.Name | ast.Attribute):
            continue
        written = dotted(part)
        if isinstance(part, ast.Attribute):
            draw = Draw(line=part.lineno, what=written or f"(...).{part.attr}", through=True)
            of_super = index.inherited(module, owner, part.attr) if classes and _is_super(part.value) else ()
            if not written or written.partition(".")[0] not in {"self", "cls"}:  # of an object of a class that is known here
                yield from ((key, draw) for key in index.methods[module.path].get(part.attr, ()))
            yield from ((key, draw) for key in of_super)
        first, _, rest = written.partition(".")
        if not written or (not rest and hasattr(builtins, written) and (module.path, written) not in index.functions):
            continue
        found = list(index.named(module, written))
        if classes and rest and first in {"self", "cls", classes[-1].name}:
            found += index.inherited(module, owner, rest)
        yield from ((key, Draw(line=part.lineno, what=written, through=True)) for key in found)


def _classes_in(
    path: Path, names: _Names, files: Mapping[str, Sequence[Module]], classes: Mapping[_Key, object]
) -> Iterator[_Key]:
    """The classes that a module imports by name, and its own."""
    for full in names.imported.values():
        module, _, name = full.rpartition(".")
        yield from ((other.path, name) for other in files.get(module, ()) if (other.path, name) in classes)
    yield from ((path, name) for name in names.classes if (path, name) in classes)


def _is_super(part: ast.expr) -> bool:
    return isinstance(part, ast.Call) and dotted(part.func) == "super"
