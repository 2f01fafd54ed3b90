"""No engine asks what kind of block it holds: what it needs to know is a method of the block, with a default on the base class.

A space, invariant, divergence, multiverse, budget, mechanism, rule ... that comes from another distribution is then treated like
those of the core. So outside the module that defines a concrete class of a registered kind (and outside plugins, which may know
themselves) nobody asks `isinstance(x, ThatClass)`, `issubclass`, `type(x) is ThatClass`, or matches it in a `case`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated

import pytest

from dpspec.base.errors import NotWritableError
from dpspec.base.lazy import at
from dpspec.base.params import Text, define
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Invariant, LinearMap, Marginal
from dpspec.blocks.moves import exchanges_connect
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import UnorderedRecords
from dpspec.extension.hooks import BASES
from dpspec.extension.loader import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile import read_text, to_toml
from tests.meta.trees import tree

ROOT = Path(__file__).parents[2]
CORE = ROOT / "dpspec"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(CORE.rglob("*.py"))
    if path.name not in ("pytest_plugin.py", "__main__.py")
}


@pytest.mark.slow
def test_no_module_asks_for_a_kind_of_block():
    """If one does: make it a method of the block with a default on its base class."""
    assert len(MODULES) > 50
    assert [
        f"{path.relative_to(ROOT)}:{line} asks for {cls.__name__}"
        for module, path in MODULES.items()
        for line, cls in asked_for(tree(path), importlib.import_module(module))
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(x, Marginal)", "isinstance(x, (int, invariant.Marginal))", "isinstance(x, int | Marginal)",
        "issubclass(x, Marginal)", "type(x) is Marginal", "type(x) in (int, Marginal)", "{Marginal: 1}[type(x)]",
        "match x:\n    case Marginal(): pass",
    ],
)  # fmt: skip
def test_a_ladder_would_be_seen(line):
    module = ModuleType("elsewhere")
    exec("from dpspec.blocks import invariant\nfrom dpspec.blocks.invariant import Invariant, Marginal", vars(module))  # noqa: S102
    assert [cls.__name__ for _, cls in asked_for(ast.parse(line), module)] == ["Marginal"]
    assert not list(asked_for(ast.parse(line.replace("Marginal", "Invariant")), module))


def asked_for(code: ast.Module, module: ModuleType) -> Iterator[tuple[int, type]]:
    """The concrete classes of blocks, defined in another module, that a module asks for, with the lines."""
    names = {**vars(module), **_imported_late(code)}
    for node in ast.walk(code):
        for classes in _candidates(node):
            for part in ast.walk(classes):
                cls = _meant(part, names)
                if isinstance(cls, type) and cls in concrete_blocks() and cls.__module__ != module.__name__:
                    yield classes.lineno, cls


def _candidates(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in a node that say which classes are asked for."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
            yield classes
        case ast.Compare(left=left, comparators=[classes]) if _is_type(left):
            yield classes
        case ast.MatchClass(cls=cls):
            yield cls
        case ast.Subscript(value=ast.Dict(keys=keys), slice=index) if _is_type(index):
            yield from (key for key in keys if key is not None)


def _is_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def _imported_late(code: ast.Module) -> dict[str, object]:
    """What `from dpspec... import` brings in anywhere, inside functions too."""
    return {
        alias.asname or alias.name: getattr(importlib.import_module(node.module), alias.name, None)
        for node in ast.walk(code)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpspec")
        for alias in node.names
    }


def _meant(node: ast.AST, names: dict[str, object]) -> object:
    """The object that a name, or a name of an imported module, means."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=ast.Name(id=package), attr=name):
            return getattr(names.get(package), name, None)
    return None


@functools.cache
def concrete_blocks() -> frozenset[object]:
    """The classes that are or can be registered: all subclasses of the kinds that are not abstract themselves."""
    installed()
    for module in MODULES:
        importlib.import_module(module)
    found: set[type] = set()
    pending = [at(place) for place in BASES.values()]
    while pending:
        for cls in pending.pop().__subclasses__():
            pending.append(cls)
            if not inspect.isabstract(cls):
                found.add(cls)
    return frozenset(found)


def test_a_block_that_the_core_does_not_know_takes_part_by_its_methods():
    """An invariant that is a table under another name connects by exchanges; a budget that is one number has no short form."""
    attributes = [{"name": name, "count": 2} for name in "jlk"]
    space = UnorderedRecords(attributes=attributes)

    @define
    class ByFirst(Invariant):
        other: Annotated[str, Text()]

        def value(self, dataset, space):
            return self.as_marginal().value(dataset, space)

        def as_marginal(self):
            return Marginal(attributes=("j", self.other))

    assert exchanges_connect((ByFirst(other="l"), ByFirst(other="k")), space) is not None
    assert exchanges_connect((ByFirst(other="l"), LinearMap(rows=((1,),))), space) is None

    def made(kind, name):
        return installed().registry.get(kind, name)()

    @define
    class Doubled(UniformBudget):
        pass

    empty = {"multiverse": LevelSets(invariants=()), "budget": Doubled(parameter="epsilon", value=1)}
    spec = PrivacySpec(
        space=space,
        input_divergence=made("input_divergences", "symmetric-difference"),
        output_divergence=made("output_divergences", "mult"),
        **empty,
    )
    with pytest.raises(NotWritableError, match="epsilon = 1"):
        to_toml(spec, installed().registry)
    written = to_toml(spec.replace(budget=UniformBudget(parameter="epsilon", value=1)), installed().registry)
    assert 'type = "invariants"' in written  # without it, it would read back as the trivial multiverse
    assert read_text(written, installed().registry).spec.multiverse == empty["multiverse"]
