"""Which functions draw noise: by reading calls of generators, and calls of functions that do.

A call is a draw when its function is one of a library of chances (`numpy.random.laplace`, `random.gauss`,
`scipy.stats.laplace.rvs`, a constructor of OpenDP), or a method of a generator (`rng.laplace`), where a generator is a parameter or an
attribute of that name or annotation, or what `default_rng()` and its like return. A method whose name is that of a distribution
of noise counts whoever it belongs to.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence

import attrs

from dpspec_hunt.modules import Module

GENERATOR_NAMES = frozenset({
    "rng", "gen", "generator", "random_state", "rand", "randomness", "prng", "rs", "random_generator", "rnd", "np_rng", "numpy_rng",
    "_rng", "_generator", "_random", "_random_state", "_prng", "_gen",
})  # fmt: skip
GENERATOR_TYPES = ("Generator", "RandomState", "random.Random", "SystemRandom", "BitGenerator")
MAKERS = ("default_rng", "RandomState", "Random", "SystemRandom", "Generator", "check_random_state")
"""What returns a generator, by the last part of its name."""

OF_LIBRARIES = (
    "numpy.random.", "random.", "secrets.", "torch.distributions.", "jax.random.", "diffprivlib.", "opendp.", "tmlt.core.", "pydp.",
    "dp_accounting.", "cupy.random.", "tensorflow.random.",
)  # fmt: skip
NO_DRAWS = frozenset({
    *MAKERS, "seed", "getstate", "setstate", "get_state", "set_state", "PCG64", "Philox", "MT19937", "SFC64", "SeedSequence", "spawn",
    "compare_digest", "token_hex", "token_urlsafe", "token_bytes", "PRNGKey", "key", "enable_features", "split", "fold_in",
})  # fmt: skip
"""Functions of these libraries that are no draws of noise."""
OF_METHODS = frozenset({
    "laplace", "normal", "standard_normal", "gumbel", "geometric", "exponential", "standard_exponential", "uniform", "random", "integers",
    "randint", "binomial", "poisson", "choice", "choices", "gauss", "normalvariate", "expovariate", "logistic", "standard_cauchy", "rand",
    "randn", "permutation", "shuffle", "multinomial", "gamma", "standard_gamma", "standard_t", "multivariate_normal", "sample", "betavariate",
    "random_sample", "randrange", "getrandbits", "bytes", "negative_binomial", "lognormal", "permuted", "triangular", "vonmises", "weibull",
})  # fmt: skip
"""Methods of generators that draw."""
OF_NOISE = frozenset({
    "laplace", "gumbel", "standard_normal", "standard_cauchy", "normalvariate", "expovariate", "gauss", "discrete_laplace",
    "discrete_gaussian", "randomise", "randomize", "rvs",
})  # fmt: skip
"""Methods that draw noise, whoever they belong to."""

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


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
        owner: the class whose method it is; None for a function.
        node: its definition.
        draws: its draws, by line.
    """

    module: Module
    owner: ast.ClassDef | None
    node: AnyFunction
    draws: tuple[Draw, ...]

    @property
    def name(self) -> str:
        """As it is named inside its module."""
        return self.node.name if self.owner is None else f"{self.owner.name}.{self.node.name}"

    @property
    def place(self) -> str:
        """As `module:name`."""
        return f"{self.module.name}:{self.name}"


def drawings(modules: Sequence[Module]) -> tuple[Drawing, ...]:
    """All functions and methods that draw, themselves or through others of these modules."""
    known = {(m.name, _name(owner, node)): (m, owner, node) for m in modules for owner, node in functions_of(m.tree)}
    scopes = {module.name: _Names.of(module) for module in modules}
    direct = {key: tuple(_direct(node, scopes[m.name])) for key, (m, _, node) in known.items()}
    drawing = {key for key, draws in direct.items() if draws}
    calls = {key: tuple(_calls(node, scopes[m.name], owner, known)) for key, (m, owner, node) in known.items()}
    callers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key, found in calls.items():
        for called, _ in found:
            callers.setdefault(called, []).append(key)
    waiting = list(drawing)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in drawing:
                drawing.add(caller)
                waiting.append(caller)
    found = []
    for key, (module, owner, node) in known.items():
        if key in drawing:
            through = [draw for called, draw in calls[key] if called in drawing and called != key]
            found.append(
                Drawing(
                    module=module, owner=owner, node=node, draws=tuple(sorted([*direct[key], *through], key=lambda d: d.line))
                )
            )
    return tuple(found)


def functions_of(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, AnyFunction]]:
    """The functions of a module and the methods of its classes; what is defined inside of them belongs to them."""

    def of(body: Sequence[ast.stmt], owner: ast.ClassDef | None) -> Iterator[tuple[ast.ClassDef | None, AnyFunction]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield owner, node
            elif isinstance(node, ast.ClassDef) and owner is None:
                yield from of(node.body, node)
            elif isinstance(node, ast.If | ast.Try | ast.With):
                yield from of([*node.body, *getattr(node, "orelse", [])], owner)

    return of(tree.body, None)


def _name(owner: ast.ClassDef | None, node: AnyFunction) -> str:
    return node.name if owner is None else f"{owner.name}.{node.name}"


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
    """What the names of a module stand for.

    Args:
        module: its name.
        imported: name to what was imported under it.
        generators: names of generators that it makes.
    """

    module: str
    imported: Mapping[str, str]
    generators: frozenset[str]

    @classmethod
    def of(cls, module: Module) -> _Names:
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
        return cls(module=module.name, imported=imported, generators=frozenset(_made(module.tree)))

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
        makes = any(isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] in MAKERS for n in ast.walk(value))
        if makes:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
            yield from (name for target in targets if (name := dotted(target)))


def is_generator(parameter: ast.arg) -> bool:
    """Whether a parameter is a generator, by its name or annotation."""
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    return parameter.arg in GENERATOR_NAMES or any(kind in annotation for kind in GENERATOR_TYPES)


def parameters_of(node: AnyFunction) -> list[ast.arg]:
    """The parameters that can be given by name or place."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _direct(node: AnyFunction, names: _Names) -> Iterator[Draw]:
    inner = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    of_arguments = {
        a.arg for one in inner for a in [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs] if is_generator(a)
    }
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        written = dotted(call.func)
        last = call.func.attr if isinstance(call.func, ast.Attribute) else written
        resolved = names.resolved(written) if written else ""
        owner = written.rpartition(".")[0]
        shown = written or f"(...).{last}"
        if last in NO_DRAWS:
            continue
        if resolved.startswith(OF_LIBRARIES) or (resolved.startswith("scipy.stats.") and last == "rvs"):
            yield Draw(line=call.lineno, what=shown)
        elif not isinstance(call.func, ast.Attribute):
            continue
        elif last in OF_METHODS and (owner in of_arguments | names.generators or owner.rpartition(".")[2] in GENERATOR_NAMES):
            yield Draw(line=call.lineno, what=shown)
        elif last in OF_METHODS and any(
            isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] in MAKERS for n in ast.walk(call.func.value)
        ):
            yield Draw(line=call.lineno, what=shown)
        elif last in OF_NOISE:
            yield Draw(line=call.lineno, what=shown)


def _calls(
    node: AnyFunction, names: _Names, owner: ast.ClassDef | None, known: Mapping[tuple[str, str], object]
) -> Iterator[tuple[tuple[str, str], Draw]]:  # fmt: skip
    """The functions of these modules that a function calls, or hands on by name."""
    for part in ast.walk(node):
        if not isinstance(part, ast.Name | ast.Attribute):
            continue
        written = dotted(part)
        first, _, rest = written.partition(".")
        if not written or (not rest and hasattr(builtins, written)):
            continue
        candidates = [(names.module, written)]
        if owner is not None and first in {"self", "cls"} and rest:
            candidates.append((names.module, f"{owner.name}.{rest}"))
        pieces = names.resolved(written).split(".")
        candidates += [(".".join(pieces[:cut]), ".".join(pieces[cut:])) for cut in range(1, len(pieces))]
        for candidate in candidates:
            for key in (candidate, (candidate[0], f"{candidate[1]}.__call__")):
                if key in known:
                    yield key, Draw(line=part.lineno, what=written, through=True)
