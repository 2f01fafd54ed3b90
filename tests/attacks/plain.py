"""Claims about plain code, and code for them: what several attacks on the judge of plain functions use."""

from __future__ import annotations

import importlib.util
import linecache
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from dpspec_code.automatic.coupling import NoisyLaw
from dpspec_code.automatic.formulas import Affine, Hole
from dpspec_code.automatic.symbolic import NoConstant, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.space import presented
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.observation import Observed

ENTRIES = dp.spec(space=dp.value_lists(values=[0, 1, 2]), distance="add-remove", standard="pure", epsilon=1)


def spec_of(space: Any, budget: Any, *, distance: str = "hamming-ordered", standard: str = "mult", **options: Any) -> PrivacySpec:
    registry = installed().registry
    divergence = registry.get("output_divergences", standard)(**options)
    return PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=registry.get("input_divergences", distance)(),
        output_divergence=divergence,
        budget=UniformBudget(parameter=divergence.budget_parameters[0], value=budget),
    )


def module_of(text: str, folder: Path, name: str) -> Any:
    """A module from its text, in a file so that its source can be read."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def random_program(generator: random.Random) -> tuple[str, Callable[..., Any]]:
    """A function of two bits that adds, scales, compares and returns noise; its text and itself."""
    lines, names = ["def program(x, rng):"], []
    for place in range(generator.randint(1, 3)):
        data = generator.choice(["x[0]", "x[1]", "x[0] + x[1]", "2 * x[0]", "0", "x[0] - x[1]"])
        noise = generator.choice(["rng.laplace(scale=1.0)", "rng.laplace(0, 2.0)", "rng.exponential(1.0) - rng.exponential(1.0)"])
        names.append(f"v{place}")
        lines.append(f"    v{place} = {data} + {noise}")
    for _ in range(generator.randint(0, 2)):
        left, right = generator.choice(names), generator.choice([*names, "0.5", "1"])
        names.append(f"w{len(names)}")
        made = generator.choice(
            [f"{left} + {right}", f"{left} - {right}", f"max({left}, {right})", f"round({left})", f"abs({left})"]
        )
        lines.append(f"    {names[-1]} = {made}")
    ended = generator.choice(["tuple", "if", "one"])
    if ended == "tuple":
        lines.append(f"    return {', '.join(generator.sample(names, min(2, len(names))))}, 0")
    elif ended == "if":
        asked = f"{generator.choice(names)} > {generator.choice(['0', '1', names[0]])}"
        lines.append(f"    return {generator.choice(names)} if {asked} else 'no'")
    else:
        lines.append(f"    return {generator.choice(names)}")
    text = "\n".join(lines) + "\n"
    name = f"<random program {generator.random()}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {}
    exec(compile(text, name, "exec"), scope)  # noqa: S102
    return text, scope["program"]


def read_off(function):
    """The tree of code for all lists; None where it is refused."""
    try:
        return whole_tree(function, ENTRIES, most_paths=50)
    except (NoConstant, DpspecError):
        return None


def holes(seen):
    """The drawn numbers of what is seen, in order."""
    if isinstance(seen, Hole):
        yield seen
    elif isinstance(seen, Observed):
        yield from holes(seen.parts if seen.parts is not None else seen.content)
    elif isinstance(seen, tuple):
        for part in seen:
            yield from holes(part)


class WithoutNoise:
    """A generator whose noise is 0."""

    def laplace(self, loc=0.0, scale=1.0, size=None):
        if size is None and not np.ndim(loc):
            return float(loc)
        return np.zeros(np.shape(loc) if size is None else size) + np.asarray(loc, dtype=float)

    normal = laplace


def told(law):
    """The numbers of an output without its noise, with their types, by the tree; None for other functions of the noise."""
    assert isinstance(law, NoisyLaw)
    if len(law.leaves) > 1:
        return None
    ((end, _),) = law.leaves
    parts = list(holes(end.seen))
    if not all(isinstance(part.expression, Affine) for part in parts):
        return None
    return [float(part.expression.constant) for part in parts], [part.kind for part in parts]


def done(function, dataset):
    """The numbers of an output without noise, and the types of a list of them; None for an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            found = function(presented(dataset), WithoutNoise())
        except Exception:  # whatever it raises, it is no number
            return None
    kinds = [f"np.{type(one).__name__}" if isinstance(one, np.generic) else type(one).__name__ for one in found]
    return [float(one) for one in np.ravel(np.array(found))], kinds if type(found) is list else None
