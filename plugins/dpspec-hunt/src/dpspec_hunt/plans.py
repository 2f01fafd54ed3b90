"""How a function that draws is checked: how it is called, on which datasets, and what it is held against.

A plan is made of facts. Each says whether the code states it or it is a guess; what neither code nor answers say is a guess that has
to be accepted. A function that cannot be called has a reason instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs

import dpspec as dp
from dpspec import DpspecError, PrivacySpec
from dpspec.plugin import ParameterError, exact
from dpspec_hunt.claims import (
    NAMES,
    STANDARDS,
    USUAL,
    Fact,
    claims_something,
    number,
    stated_neighbours,
    stated_numbers,
    stated_times,
)
from dpspec_hunt.draws import AnyFunction, Drawing, dotted, is_generator, parameters_of
from dpspec_hunt.shapes import SHAPES, Uses, evaluated, shape_of, uses_of, values_of

NEIGHBOURS = ("add-remove", "replace-one", "one-entry")
KEYS = ("skip", "standard", *USUAL, "neighbours", "shape", "values", "length", "arguments", "data")
"""What the answers for a function may hold."""
SEVERAL, RECORDS = 3, 10
"""Entries of a dataset whose positions count, and records of one whose number is public: nothing says how many."""
_DATA = (
    "x",
    "data",
    "dataset",
    "values",
    "counts",
    "records",
    "rows",
    "xs",
    "samples",
    "bits",
    "answers",
    "histogram",
    "db",
    "database",
    "arr",
)
_NUMPY = frozenset(
    {
        "laplace",
        "normal",
        "standard_normal",
        "integers",
        "gumbel",
        "geometric",
        "binomial",
        "exponential",
        "logistic",
        "standard_cauchy",
    }
)
_OF_RANDOM = frozenset(
    {"gauss", "normalvariate", "expovariate", "choices", "getrandbits", "betavariate", "randrange", "sample", "randint"}
)
_SENSITIVITY = frozenset({"sensitivity", "sens", "l1_sensitivity", "l2_sensitivity", "global_sensitivity", "delta_f", "df", "gs"})
_LOW = frozenset({"lower", "low", "lo", "min_value", "lower_bound", "min_val", "minimum", "clip_min", "clip_low", "a_min", "lb"})
_HIGH = frozenset(
    {
        "upper",
        "high",
        "hi",
        "max_value",
        "upper_bound",
        "max_val",
        "maximum",
        "clip_max",
        "clip_high",
        "a_max",
        "ub",
        "clip",
        "clip_bound",
        "bound",
    }
)
_SIZES = frozenset(
    {"k", "num_bins", "n_bins", "bins", "num_categories", "n_categories", "domain_size", "num_classes", "d", "n_classes"}
)
_GUESSED: tuple[tuple[frozenset[str], object], ...] = ((_SENSITIVITY, 1), (_LOW, 0), (_HIGH, 1), (_SIZES, 3))
"""Parameters without a default, by name, and what they are given."""


@attrs.frozen(kw_only=True)
class Plan:
    """How a function is checked.

    Args:
        drawing: the function.
        facts: what is taken to be so.
        call: the call of it, in which `x` is the dataset and `rng` the generator.
        uses_generator: whether it is handed a generator.
        generator, dataset: adapters, by their names; empty for those of dpspec.
        spec: what it is held against; None where it cannot be.
        reason: why it is not checked; empty where it is.
        is_mechanism: whether it takes a dataset and claims something.
    """

    drawing: Drawing
    facts: tuple[Fact, ...] = ()
    call: str = ""
    uses_generator: bool = True
    generator: str = ""
    dataset: str = ""
    spec: PrivacySpec | None = None
    reason: str = ""
    is_mechanism: bool = True

    @property
    def guesses(self) -> tuple[Fact, ...]:
        """What nothing says."""
        return tuple(fact for fact in self.facts if fact.is_guess)


class _NoPlanError(Exception):
    """Why a function is not checked."""

    def __init__(self, reason: str, facts: Sequence[Fact] = (), *, is_mechanism: bool = True) -> None:
        super().__init__(reason)
        self.facts, self.is_mechanism = tuple(facts), is_mechanism


def plan(drawing: Drawing, answers: Mapping[str, Any] | None = None) -> Plan:
    """The plan for a function.

    Args:
        drawing: the function.
        answers: what was said of it: keys of KEYS.

    Raises:
        ParameterError: an answer makes no sense.
    """
    answers = dict(answers or {})
    if unknown := [key for key in answers if key not in KEYS]:
        raise ParameterError("answers", f"{unknown[0]} is no answer", f"known: {', '.join(KEYS)}", value=drawing.place)
    if answers.get("skip"):
        return Plan(drawing=drawing, reason="skipped, as the answers say")
    try:
        return _planned(drawing, answers)
    except _NoPlanError as problem:
        return Plan(drawing=drawing, facts=problem.facts, reason=str(problem), is_mechanism=problem.is_mechanism)


def _planned(drawing: Drawing, answers: Mapping[str, Any]) -> Plan:
    node, owner = drawing.node, drawing.owner
    if isinstance(node, ast.AsyncFunctionDef):
        raise _NoPlanError("is asynchronous: wrap it in a function", is_mechanism=False)
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node)):
        raise _NoPlanError("is a generator: wrap it in a function that returns a list", is_mechanism=False)
    text = _text(drawing)
    kind = _kind(node)
    if kind == "property":
        raise _NoPlanError("is a property, and takes no dataset", is_mechanism=False)
    own = parameters_of(node)[1 if owner is not None and kind != "staticmethod" else 0 :]
    init = (
        None
        if owner is None or kind != ""
        else next((n for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    )
    of_class = parameters_of(init)[1:] if init is not None else []
    if owner is not None and kind == "" and node.name == "__init__":
        raise _NoPlanError("makes an object, and takes no dataset", is_mechanism=False)
    data = _dataset(own, node, answers)
    if data is None:
        raise _NoPlanError("takes no dataset", is_mechanism=False)
    if not any(isinstance(part, ast.Return) and part.value is not None for part in ast.walk(node)):
        raise _NoPlanError("returns nothing", is_mechanism=False)
    budgets = _budget_parameters([*of_class, *own])
    if not budgets and not claims_something(text) and not set(answers) & {"standard", *USUAL}:
        raise _NoPlanError("draws, and claims nothing", is_mechanism=False)
    defaults = {**_defaults(init), **_defaults(node)}
    standard, given, facts = _claim(text, budgets, defaults, drawing, answers)
    numbers = dict(given)
    if (times := stated_times(text)) != 1 and "epsilon" not in answers and isinstance(epsilon := given.get("epsilon"), Fraction):
        numbers["epsilon"] = times * epsilon
        facts.append(Fact(about="claimed epsilon", value=str(times * epsilon), why=f"its text claims {times} times its epsilon"))
    known: dict[str, object] = {name: value for name, value in defaults.items() if value is not None}
    arguments, more = _arguments([*of_class, *own], data, budgets, given, defaults, answers)
    facts += more
    known |= arguments
    uses = uses_of(node, data.arg)
    if uses.frame or "DataFrame" in (ast.unparse(data.annotation) if data.annotation is not None else ""):
        raise _NoPlanError("reads a data frame: write a function of a list of entries that calls it", facts)
    shape = _answered(answers, "shape", SHAPES) or shape_of(data, uses, text)
    facts.append(shape)
    spec, more = _spec(str(shape.value), uses, text, known, standard, numbers, answers)
    facts += more
    generator = next((p for p in [*own, *of_class] if is_generator(p)), None)
    call = _call(drawing, kind, own, of_class, data, generator, arguments, str(shape.value), spec)
    return Plan(
        drawing=drawing, facts=tuple(facts), call=call, uses_generator=generator is not None, spec=spec,
        generator=_generator(drawing, generator), dataset=_adapter(data, uses, str(shape.value)),
    )  # fmt: skip


def _text(drawing: Drawing) -> str:
    """The text of a function and of the docstring of its class."""
    lines = drawing.module.text.splitlines()
    first = min([drawing.node.lineno, *(d.lineno for d in drawing.node.decorator_list)])
    own = "\n".join(lines[first - 1 : drawing.node.end_lineno])
    before = [line for line in lines[max(0, first - 4) : first - 1] if line.lstrip().startswith("#")]
    return "\n".join([*before, own, (ast.get_docstring(drawing.owner) or "") if drawing.owner is not None else ""])


def _kind(node: AnyFunction) -> str:
    names = {dotted(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2] for one in node.decorator_list}
    return next((kind for kind in ("staticmethod", "classmethod", "property") if kind in names or f"cached_{kind}" in names), "")


def _dataset(own: Sequence[ast.arg], node: AnyFunction, answers: Mapping[str, Any]) -> ast.arg | None:
    """The parameter that is the dataset: one of a usual name, or the first without a default that is nothing else."""
    if named := answers.get("data"):
        found = next((p for p in own if p.arg == named), None)
        if found is None:
            raise ParameterError(
                "answers", "data names no parameter", f"known: {', '.join(p.arg for p in own)}", value=str(named)
            )
        return found
    others = (
        {name for names in NAMES.values() for name in names}
        | _SENSITIVITY
        | _LOW
        | _HIGH
        | {"scale", "sigma", "seed", "loc", "size", "shape"}
    )
    free = [p for p in own if not is_generator(p) and p.arg not in others and (p.arg not in _SIZES or p.arg == "d")]
    usual = [p for p in free if p.arg in _DATA]
    required = [p for p in free if p.arg not in _defaults(node)]
    return next(iter(usual or required), None)


def _budget_parameters(parameters: Sequence[ast.arg]) -> dict[str, str]:
    """Number of a standard to the parameter that holds it."""
    names = {p.arg for p in parameters}
    return {about: name for about, usual in NAMES.items() for name in usual[::-1] if name in names}


def _defaults(node: AnyFunction | None) -> dict[str, object]:
    """Parameters with a default, and its value; None for one that is no constant."""
    if node is None:
        return {}
    positional = [*node.args.posonlyargs, *node.args.args]
    found: dict[str, object] = {}
    for parameter, value in zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True):
        found[parameter.arg] = evaluated(value, {})
    for parameter, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if given is not None:
            found[parameter.arg] = evaluated(given, {})
    return found


def _answered(answers: Mapping[str, Any], key: str, known: Sequence[str]) -> Fact | None:
    """A fact that was said."""
    if key not in answers:
        return None
    if answers[key] not in known:
        raise ParameterError("answers", f"{key} is none of {', '.join(known)}", "choose one", value=str(answers[key]))
    return Fact(about=key, value=answers[key], why="said")


def _claim(
    text: str, budgets: Mapping[str, str], defaults: Mapping[str, object], drawing: Drawing, answers: Mapping[str, Any]
) -> tuple[str, dict[str, object], list[Fact]]:  # fmt: skip
    """The standard with its numbers, and what says so."""
    named, stated = stated_numbers(text)
    told = _answered(answers, "standard", tuple(STANDARDS))
    if told is None and set(answers) & set(USUAL):
        fitting = next((name for name, names in STANDARDS.items() if set(answers) & set(USUAL) <= set(names)), "approximate")
        told = Fact(about="standard", value=fitting, why="said")
    if told is None and named is not None:
        told = Fact(about="standard", value=named, why="its text")
    if told is None and budgets:
        by_parameters = (
            "approximate" if "delta" in budgets else "zCDP" if "rho" in budgets else "gaussian" if "mu" in budgets else "pure"
        )
        told = Fact(about="standard", value=by_parameters, why=f"its parameters {', '.join(budgets.values())}")
    if told is None:
        told = Fact(about="standard", value="pure", why="nothing says which", is_guess=True)
    standard = str(told.value)
    if standard == "pure" and told.why != "said" and "delta" in budgets and not re.search(r"\bpure\b", text, re.IGNORECASE):
        standard = "approximate"
        told = Fact(about="standard", value=standard, why=f"its parameters {', '.join(budgets.values())}")
    gaussian = any(
        draw.what.rpartition(".")[2] in {"normal", "gauss", "normalvariate", "standard_normal"} for draw in drawing.draws
    )
    if standard == "pure" and gaussian and told.why != "said" and "delta" not in stated and "laplace" not in text.lower():
        standard = "approximate"
        told = Fact(about="standard", value=standard, why="it draws Gaussian noise, which is not pure", is_guess=True)
    facts, numbers = [told], dict[str, object]()
    for about in STANDARDS[standard]:
        fact = _number(about, budgets, defaults, stated, answers)
        numbers[about] = number(fact.value)
        facts.append(fact)
    if standard == "approximate" and numbers["delta"] == 0:
        return "pure", {"epsilon": numbers["epsilon"]}, [*facts, Fact(about="standard", value="pure", why="its delta is 0")]
    return standard, numbers, facts


def _number(
    about: str, budgets: Mapping[str, str], defaults: Mapping[str, object], stated: Mapping[str, Fact], answers: Mapping[str, Any]
) -> Fact:  # fmt: skip
    """One number of a claim: said, the default of its parameter, stated in the text, or a guess."""
    if about in answers:
        if number(answers[about]) is None:
            raise ParameterError("answers", f"{about} is no number", 'write it as 1, "1/2" or "ln(3)"', value=str(answers[about]))
        return Fact(about=about, value=answers[about], why="said")
    if about in budgets:
        value = defaults.get(budgets[about])
        if number(value) is not None:
            return Fact(about=about, value=value, why=f"the default of {budgets[about]}")
        return Fact(about=about, value=USUAL[about], why=f"{budgets[about]} has no default: checked at this value")
    if about in stated:
        return stated[about]
    return Fact(about=about, value=USUAL[about], why="nothing says it", is_guess=True)


def _arguments(
    parameters: Sequence[ast.arg],
    data: ast.arg,
    budgets: Mapping[str, str],
    numbers: Mapping[str, object],
    defaults: Mapping[str, object],
    answers: Mapping[str, Any],
) -> tuple[dict[str, object], list[Fact]]:
    """What parameters other than dataset and generator are given."""
    given = dict(answers.get("arguments", {}))
    if unknown := [name for name in given if name not in {p.arg for p in parameters}]:
        raise ParameterError("answers", f"{unknown[0]} is no parameter", f"known: {', '.join(p.arg for p in parameters)}")
    of_budget = {name: about for about, name in budgets.items()}
    found: dict[str, object] = {}
    facts: list[Fact] = []
    for parameter in parameters:
        name = parameter.arg
        if parameter is data or is_generator(parameter):
            continue
        if name in given:
            found[name] = given[name]
            facts.append(Fact(about=name, value=given[name], why="said"))
        elif name in of_budget:
            about = of_budget[name]
            if about in numbers:
                found[name] = _double(numbers[about])
            elif name not in defaults:
                found[name] = _double(number(USUAL[about]))
                facts.append(Fact(about=name, value=found[name], why="it has no default", is_guess=True))
        elif name not in defaults:
            value = next((value for names, value in _GUESSED if name in names), None)
            if value is None:
                raise _NoPlanError(f"needs a value for {name}: say it as arguments", facts)
            found[name] = value
            facts.append(Fact(about=name, value=value, why="it has no default", is_guess=True))
    return found, facts


def _double(value: object) -> float:
    """The double that a function is given for a number of a claim."""
    return float(exact.number(value))  # type: ignore[arg-type]


def _spec(
    shape: str,
    uses: Uses,
    text: str,
    known: Mapping[str, object],
    standard: str,
    numbers: Mapping[str, object],
    answers: Mapping[str, Any],
) -> tuple[PrivacySpec, list[Fact]]:
    """What the function is held against, and what says so."""
    neighbours = _answered(answers, "neighbours", NEIGHBOURS) or stated_neighbours(text) or _usual_neighbours(shape, uses)
    facts = [neighbours]
    length = answers.get("length")
    if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
        raise ParameterError("answers", "length is no whole number from 1 on", "write length = 3", value=str(length))
    if shape in {"counts", "number"}:
        size = 1 if shape == "number" else length or SEVERAL
        space: Any = dp.integer_counts(length=size)
        if shape == "counts":
            facts.append(Fact(about="length", value=size, why="said" if length else "nothing says how many", is_guess=not length))
        sensitivity = next((known[name] for name in known if name in _SENSITIVITY), 1)
        if (
            isinstance(sensitivity, bool)
            or not isinstance(sensitivity, int | float)
            or sensitivity != int(sensitivity)
            or sensitivity < 1
        ):
            raise _NoPlanError(f"its answers are whole numbers, and its sensitivity is {sensitivity}: say arguments", facts)
        most = int(sensitivity) * (2 if neighbours.value == "replace-one" and size > 1 else 1)
        if most > 1:
            facts.append(Fact(about="distance of neighbours", value=most, why="its sensitivity, in the sum of all answers"))
        distance: Any = dp.l1() if most == 1 and standard == "pure" else dp.within_distance(of=dp.l1(), most=most)
    elif shape == "bits":
        size = length or SEVERAL
        facts.append(Fact(about="length", value=size, why="said" if length else "nothing says how many", is_guess=not length))
        space, distance = dp.bit_vectors(length=size), "hamming-ordered"
    else:
        values = (
            Fact(about="values", value=answers["values"], why="said") if "values" in answers else values_of(uses, known, text)
        )
        if not isinstance(values.value, list) or not values.value:
            raise ParameterError("answers", "values is no list", "write values = [0, 1]", value=str(values.value))
        facts.append(values)
        sizes: dict[str, Any] = {}
        if neighbours.value != "add-remove":
            sizes = {"least": length or RECORDS, "most": length or RECORDS}
            facts.append(
                Fact(
                    about="length",
                    value=length or RECORDS,
                    why="said" if length else "nothing says how many",
                    is_guess=not length,
                )
            )
        space = dp.value_lists(values=values.value, **sizes)
        distance = "hamming-ordered" if neighbours.value == "one-entry" else str(neighbours.value)
    try:
        return dp.spec(space=space, distance=distance, standard=standard, **numbers), facts
    except DpspecError as problem:
        raise _NoPlanError(f"has no specification: {problem}", facts) from None


def _usual_neighbours(shape: str, uses: Uses) -> Fact:
    if shape in {"counts", "number"}:
        return Fact(
            about="neighbours", value="add-remove", why="nothing says which; one record changes one answer by 1", is_guess=True
        )
    if shape == "bits" or uses.listed:
        return Fact(about="neighbours", value="one-entry", why="it answers for each entry", is_guess=not uses.listed)
    if uses.averaged:
        return Fact(about="neighbours", value="replace-one", why="it divides by the number of records", is_guess=True)
    return Fact(about="neighbours", value="add-remove", why="nothing says which", is_guess=True)


def _call(
    drawing: Drawing,
    kind: str,
    own: Sequence[ast.arg],
    of_class: Sequence[ast.arg],
    data: ast.arg,
    generator: ast.arg | None,
    arguments: Mapping[str, object],
    shape: str,
    spec: PrivacySpec,
) -> str:
    """The call, with `x` and `rng`."""
    single = shape == "number" or (
        shape == "bits" and data.arg in {"bit", "truth", "response", "vote", "secret_bit", "true_bit", "true_response"}
    )
    handed = "x[0]" if single else "x"

    def listed(parameters: Sequence[ast.arg], node: AnyFunction) -> str:
        positional = {p.arg for p in node.args.posonlyargs}
        parts = []
        for parameter in parameters:
            if parameter is data:
                value = handed
            elif parameter is generator:
                value = "rng"
            elif parameter.arg in arguments:
                value = repr(arguments[parameter.arg])
            else:
                continue
            parts.append(value if parameter.arg in positional else f"{parameter.arg}={value}")
        return ", ".join(parts)

    inside = listed(own, drawing.node)
    if drawing.owner is None:
        return f"{drawing.node.name}({inside})"
    if kind:
        return f"{drawing.owner.name}.{drawing.node.name}({inside})"
    init = next((n for n in drawing.owner.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    made = listed(of_class, init) if init is not None else ""
    return f"{drawing.owner.name}({made}).{drawing.node.name}({inside})"


def _generator(drawing: Drawing, parameter: ast.arg | None) -> str:
    """The adapter of the generator."""
    if parameter is None:
        return ""
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    if "RandomState" in annotation:
        return "random-state"
    if annotation.endswith(("random.Random", "Random")):
        return "random"
    if "torch" in annotation:
        return "torch"
    methods = {
        draw.what.rpartition(".")[2]
        for draw in drawing.draws
        if draw.what.startswith((f"{parameter.arg}.", f"self.{parameter.arg}."))
    }
    return "random" if methods & _OF_RANDOM and not methods & _NUMPY and "Generator" not in annotation else ""


def _adapter(data: ast.arg, uses: Uses, shape: str) -> str:
    """The adapter of the dataset."""
    annotation = ast.unparse(data.annotation) if data.annotation is not None else ""
    if shape == "number":
        return ""
    if (
        "ndarray" in annotation
        or "ArrayLike" in annotation
        or "NDArray" in annotation
        or uses.array
        or (uses.arithmetic and shape == "counts")
    ):
        return "numpy"
    return "pandas-series" if "Series" in annotation else ""
