"""The plan of a check of a function: its call, the datasets, and the specification.

A plan is made of facts. Each says whether the code states it or it is a guess; what neither code nor answers say is a guess
that has to be accepted, and so is what they say doubtfully. A function that cannot be called has a reason instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
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
    Statement,
    Term,
    claims_something,
    has_multiple,
    multiple,
    named_standard,
    number,
    other_definition,
    stated_neighbours,
    stated_values,
    statements,
)
from dpspec_hunt.draws import AnyFunction, Drawing, dotted, is_generator, parameters_of
from dpspec_hunt.shapes import SHAPES, Uses, evaluated, shape_of, uses_of, values_of

NEIGHBOURS = ("add-remove", "replace-one", "one-entry")
KEYS = ("skip", "standard", *USUAL, "neighbours", "shape", "values", "length", "distance", "arguments", "data")
"""What the answers for a function may hold."""
SEVERAL, RECORDS = 3, 10
"""Entries of a dataset whose positions count, and records of one whose number is public: nothing says how many."""
_DATA = (
    "x", "data", "dataset", "values", "counts", "records", "rows", "xs", "samples", "bits", "answers", "histogram", "db",
    "database", "arr",
)  # fmt: skip
_NUMPY = frozenset({
    "laplace", "normal", "standard_normal", "integers", "gumbel", "geometric", "binomial", "exponential", "logistic",
    "standard_cauchy",
})  # fmt: skip
_OF_RANDOM = frozenset({
    "gauss", "normalvariate", "expovariate", "choices", "getrandbits", "betavariate", "randrange", "sample", "randint",
})  # fmt: skip
_GAUSSIAN = frozenset({
    "normal", "gauss", "normalvariate", "standard_normal", "discrete_gaussian", "multivariate_normal", "randn",
})  # fmt: skip
_EUCLIDEAN = frozenset({"l2_sensitivity", "sensitivity_l2"})
_SENSITIVITY = _EUCLIDEAN | {
    "sensitivity", "sens", "l1_sensitivity", "sensitivity_l1", "global_sensitivity", "delta_f", "df", "gs",
}  # fmt: skip
_LOW = frozenset({"lower", "low", "lo", "min_value", "lower_bound", "min_val", "minimum", "clip_min", "clip_low", "a_min", "lb"})
_HIGH = frozenset({
    "upper", "high", "hi", "max_value", "upper_bound", "max_val", "maximum", "clip_max", "clip_high", "a_max", "ub", "clip",
    "clip_bound",
    "bound",
})  # fmt: skip
_SIZES = frozenset({
    "k", "num_bins", "n_bins", "bins", "num_categories", "n_categories", "domain_size", "num_classes", "d", "n_classes",
})  # fmt: skip
_GUESSED: tuple[tuple[frozenset[str], object], ...] = ((_SENSITIVITY, 1), (_LOW, 0), (_HIGH, 1), (_SIZES, 3))
"""Parameters without a default, by name, and what they are given."""
_NO_DATA = frozenset({name for names in NAMES.values() for name in names} | _SENSITIVITY | _LOW | _HIGH | {
    "scale", "sigma", "seed", "loc", "size", "shape",
})  # fmt: skip
_ONE_BIT = frozenset({"bit", "truth", "response", "vote", "secret_bit", "true_bit", "true_response"})


@attrs.frozen(kw_only=True)
class Plan:
    """The plan of the check of one function.

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


@attrs.frozen(kw_only=True)
class _Signature:
    """The parameters of a function, and of what makes its object.

    Args:
        kind: `staticmethod`, `classmethod`, or empty.
        own: those of the function, without its object.
        init: what makes the object; None where nothing does.
        data, generator: the dataset and the generator among them.
    """

    kind: str
    own: tuple[ast.arg, ...]
    init: ast.FunctionDef | None
    data: ast.arg
    generator: ast.arg | None

    @property
    def of_class(self) -> tuple[ast.arg, ...]:
        """The parameters of what makes the object."""
        return tuple(parameters_of(self.init)[1:]) if self.init is not None else ()

    @property
    def all(self) -> tuple[ast.arg, ...]:
        """All parameters."""
        return (*self.of_class, *self.own)


@attrs.frozen(kw_only=True)
class _Reading:
    """What the text of a function says.

    Args:
        source: the text of the function and of the docstring of its class.
        said: its docstrings and comments.
        statements: the guarantees that they state.
        values: numbers that are given by name, there or by an assignment.
        budgets: number of a standard to the parameter that holds it.
        defaults: parameters with a default, and its value; None for one that is no constant.
        is_gaussian: whether it draws Gaussian noise.
    """

    source: str
    said: str
    statements: tuple[Statement, ...]
    values: Mapping[str, tuple[Fact, ...]]
    budgets: Mapping[str, str]
    defaults: Mapping[str, object]
    is_gaussian: bool


def _planned(drawing: Drawing, answers: Mapping[str, Any]) -> Plan:
    signature = _signature(drawing, answers)
    reading = _reading(drawing, signature)
    if not reading.budgets and not claims_something(reading.source) and not set(answers) & {"standard", *USUAL}:
        raise _NoPlanError("draws, and claims nothing", is_mechanism=False)
    claim = _claim(reading, answers)
    facts = list(claim.facts)
    known: dict[str, object] = {name: value for name, value in reading.defaults.items() if value is not None}
    arguments, more = _arguments(signature, reading, claim, answers)
    facts += more
    known |= arguments
    data = signature.data
    uses = uses_of(drawing.node, data.arg)
    if uses.frame or "DataFrame" in (ast.unparse(data.annotation) if data.annotation is not None else ""):
        raise _NoPlanError("reads a data frame: write a function of a list of entries that calls it", facts)
    shape = _answered(answers, "shape", SHAPES) or shape_of(data, uses, reading.said)
    facts.append(shape)
    spec, more = _Space(
        shape=str(shape.value), uses=uses, reading=reading, known=known, claim=claim, facts=tuple(facts), answers=answers
    ).specification()  # fmt: skip
    facts += more
    return Plan(
        drawing=drawing, facts=tuple(facts), call=_call(drawing, signature, arguments, str(shape.value)), spec=spec,
        uses_generator=signature.generator is not None, generator=_generator(drawing, signature.generator),
        dataset=_adapter(data, uses, str(shape.value)),
    )  # fmt: skip


def _signature(drawing: Drawing, answers: Mapping[str, Any]) -> _Signature:
    """The parameters of a function that is called as it is."""
    node, owner = drawing.node, drawing.owner
    parts = list(_own_parts(node))
    if isinstance(node, ast.AsyncFunctionDef):
        raise _NoPlanError("is asynchronous: wrap it in a function", is_mechanism=False)
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in parts):
        raise _NoPlanError("is a generator: wrap it in a function that returns a list", is_mechanism=False)
    kind = _kind(node)
    if kind == "property":
        raise _NoPlanError("is a property, and takes no dataset", is_mechanism=False)
    is_method = owner is not None and kind == ""
    if is_method and node.name == "__init__":
        raise _NoPlanError("makes an object, and takes no dataset", is_mechanism=False)
    init = None
    if is_method and owner is not None:
        init = _init(owner, drawing.module.tree)
    own = tuple(parameters_of(node)[1 if owner is not None and kind != "staticmethod" else 0 :])
    data = _dataset(own, node, answers)
    if data is None:
        raise _NoPlanError("takes no dataset", is_mechanism=False)
    if not any(isinstance(part, ast.Return) and part.value is not None for part in parts):
        raise _NoPlanError("returns nothing", is_mechanism=False)
    of_class = parameters_of(init)[1:] if init is not None else []
    read = {part.id for node in (drawing.node, init) if node is not None for part in ast.walk(node) if isinstance(part, ast.Name)}
    generator = next((p for p in [*own, *of_class] if is_generator(p) and p.arg in read), None)
    return _Signature(kind=kind, own=own, init=init, data=data, generator=generator)


def _init(owner: ast.ClassDef, tree: ast.Module) -> ast.FunctionDef | None:
    """What makes the objects of a class: its own `__init__`, or that of a class of its module from which it inherits."""
    known = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    waiting, seen = [owner], set[str]()
    while waiting:
        here = waiting.pop(0)
        found = next((part for part in here.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
        if found is not None:
            return found
        seen.add(here.name)
        waiting += [known[name] for base in here.bases if (name := dotted(base)) in known and name not in seen]
    return None


def _own_parts(node: AnyFunction) -> Iterator[ast.AST]:
    """The parts of a body without those of functions inside it."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(part)


def _reading(drawing: Drawing, signature: _Signature) -> _Reading:
    """What the text of a function says."""
    node, owner, module = drawing.node, drawing.owner, drawing.module
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = module.lines[first - 1 : node.end_lineno]
    before = [line for line in module.lines[max(0, first - 4) : first - 1] if line.lstrip().startswith("#")]
    of_class = (ast.get_docstring(owner) or "") if owner is not None else ""
    comments = [line.partition("#")[2] for line in (*before, *lines) if "#" in line]
    said = "\n\n".join([ast.get_docstring(node) or "", of_class, "\n".join(comments)])
    names = {p.arg for p in signature.all}
    budgets = {about: name for about, usual in NAMES.items() for name in usual[::-1] if name in names}
    values = dict(stated_values(said))
    for about, fact in _assigned(node):
        if all(number(other.value) != number(fact.value) for other in values.get(about, ())):
            values[about] = (*values.get(about, ()), fact)
    return _Reading(
        source="\n".join([*before, *lines, of_class]), said=said, statements=statements(said), values=values, budgets=budgets,
        defaults={**_defaults(signature.init, module.constants), **_defaults(node, module.constants)},
        is_gaussian=any(draw.what.rpartition(".")[2] in _GAUSSIAN for draw in drawing.draws),
    )  # fmt: skip


def _assigned(node: AnyFunction) -> Iterator[tuple[str, Fact]]:
    """Numbers of a claim to which a function gives a constant."""
    for part in _own_parts(node):
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
            name, value = part.targets[0].id, evaluated(part.value, {})
            about = next((about for about, names in NAMES.items() if name.lower() in names), None)
            if about is not None and number(value) is not None:
                yield about, Fact(about=about, value=value, why=f"line {part.lineno}: {name} = {value}")


def _kind(node: AnyFunction) -> str:
    names = {dotted(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2] for one in node.decorator_list}
    return next((kind for kind in ("staticmethod", "classmethod", "property") if kind in names or f"cached_{kind}" in names), "")


def _dataset(own: Sequence[ast.arg], node: AnyFunction, answers: Mapping[str, Any]) -> ast.arg | None:
    """The parameter that is the dataset: one of a usual name, or the first without a default that is nothing else."""
    if named := answers.get("data"):
        found = next((p for p in own if p.arg == named), None)
        if found is None:
            known = ", ".join(p.arg for p in own)
            raise ParameterError("answers", "data names no parameter", f"known: {known}", value=str(named))
        return found
    free = [p for p in own if not is_generator(p) and p.arg not in _NO_DATA and (p.arg not in _SIZES or p.arg == "d")]
    usual = [p for p in free if p.arg in _DATA]
    required = [p for p in free if p.arg not in _defaults(node, {})]
    return next(iter(usual or required), None)


def _defaults(node: AnyFunction | None, constants: Mapping[str, object]) -> dict[str, object]:
    """Parameters with a default, and its value; None for one that is no constant."""
    if node is None:
        return {}
    positional = [*node.args.posonlyargs, *node.args.args]
    found: dict[str, object] = {}
    for parameter, value in zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True):
        found[parameter.arg] = evaluated(value, constants)
    for parameter, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if given is not None:
            found[parameter.arg] = evaluated(given, constants)
    return found


def _answered(answers: Mapping[str, Any], key: str, known: Sequence[str]) -> Fact | None:
    """A fact that was said."""
    if key not in answers:
        return None
    if answers[key] not in known:
        raise ParameterError("answers", f"{key} is none of {', '.join(known)}", "choose one", value=str(answers[key]))
    return Fact(about=key, value=answers[key], why="said")


@attrs.frozen(kw_only=True)
class _Claim:
    """What is claimed.

    Args:
        standard, numbers: the guarantee.
        handed: what parameters that hold its numbers are given.
        facts: what says so.
    """

    standard: str
    numbers: Mapping[str, Any]
    handed: Mapping[str, Fraction | str]
    facts: tuple[Fact, ...]


def _claim(reading: _Reading, answers: Mapping[str, Any]) -> _Claim:
    """The standard with its numbers, and what says so."""
    standard_fact = _standard(reading, answers)
    stated = [one for one in reading.statements if one.standard == standard_fact.value]
    facts, numbers, handed = [standard_fact], dict[str, Any](), dict[str, Fraction | str]()
    for about in STANDARDS[str(standard_fact.value)]:
        given = _handed(about, reading, answers)
        fact = _claimed(about, given, stated, reading)
        numbers[about], handed[about] = _number_of(fact), _number_of(given)
        facts.append(fact)
        if about in reading.budgets and numbers[about] != handed[about]:
            name, value = reading.budgets[about], float(exact.number(handed[about]))
            facts.append(Fact(about=name, value=value, why=given.why, is_guess=fact.is_guess, is_argument=True))
    standard = str(standard_fact.value)
    if standard == "approximate" and numbers["delta"] == 0:
        pure = Fact(about="standard", value="pure", why="its delta is 0", is_guess=standard_fact.is_guess)
        facts = [pure, *(fact for fact in facts[1:] if fact.about in {"epsilon", reading.budgets.get("epsilon")})]
        standard, numbers = "pure", {"epsilon": numbers["epsilon"]}
    return _Claim(standard=standard, numbers=numbers, handed=handed, facts=tuple(facts))


def _standard(reading: _Reading, answers: Mapping[str, Any]) -> Fact:
    """The standard: said, stated, of its parameters, named, or a guess."""
    result = _answered(answers, "standard", tuple(STANDARDS))
    if result is not None:
        return result
    if said := set(answers) & set(USUAL):
        fitting = next((name for name, names in STANDARDS.items() if said <= set(names)), "approximate")
        return Fact(about="standard", value=fitting, why="said")
    found = list(dict.fromkeys(one.standard for one in reading.statements))
    budgets, by_parameters = reading.budgets, f"its parameters {', '.join(reading.budgets.values())}"
    order = {"delta": "approximate", "rho": "zCDP", "mu": "gaussian"}
    of_budgets = next((standard for about, standard in order.items() if about in budgets), "pure")
    if found:
        doubtful = len(found) > 1 or any(one.doubt for one in reading.statements)
        result = Fact(about="standard", value=found[0], why=f'"{reading.statements[0].words}"', is_guess=doubtful)
    elif budgets:
        result = Fact(about="standard", value=of_budgets, why=by_parameters)
    elif (named := named_standard(reading.said)) is not None:
        result = Fact(about="standard", value=named, why="its text names it")
    elif reading.values:
        value = "approximate" if "delta" in reading.values else "zCDP" if "rho" in reading.values else "pure"
        result = Fact(
            about="standard", value=value, why=", ".join(fact.why for facts in reading.values.values() for fact in facts)
        )
    else:
        result = Fact(about="standard", value="pure", why="nothing says which", is_guess=True)
    if (other := other_definition(reading.said)) is not None:
        result = attrs.evolve(result, is_guess=True, why=f'{result.why}; its text names "{other}"')
    if result.value == "pure" and "delta" in budgets:
        return Fact(about="standard", value="approximate", why=by_parameters, is_guess=bool(found) or other is not None)
    if result.value == "pure" and reading.is_gaussian:
        return Fact(about="standard", value="approximate", why="it draws Gaussian noise, which is not pure", is_guess=True)
    return result


def _handed(about: str, reading: _Reading, answers: Mapping[str, Any]) -> Fact:
    """What the parameter of a number is given, or what the number is where there is no parameter."""
    if about in answers:
        if number(answers[about]) is None:
            raise ParameterError("answers", f"{about} is no number", 'write it as 1, "1/2" or "ln(3)"', value=str(answers[about]))
        return Fact(about=about, value=answers[about], why="said")
    values = sorted(reading.values.get(about, ()), key=lambda fact: exact.number(_number_of(fact)))
    if about in reading.budgets:
        name = reading.budgets[about]
        value = reading.defaults.get(name)
        if number(value) is not None:
            return Fact(about=about, value=value, why=f"the default of {name}")
        for one in reading.statements:
            if (term := (one.terms or {}).get(about)) is not None and term.number is not None:
                return Fact(about=about, value=str(term.number), why=f'"{one.words}"')
        return Fact(about=about, value=USUAL[about], why=f"{name} has no default: checked at this value")
    if values:
        return attrs.evolve(values[0], is_guess=values[0].is_guess or len(values) > 1)
    return Fact(about=about, value=USUAL[about], why="nothing says it", is_guess=True)


def _claimed(about: str, given: Fact, stated: Sequence[Statement], reading: _Reading) -> Fact:
    """One number of a claim: the smallest that is stated, as a multiple of what its parameter is given."""
    if given.why == "said":
        return given
    if any(one.terms is None for one in stated):
        words = next(one.words for one in stated if one.terms is None)
        return attrs.evolve(given, why=f'the expression in "{words}" is not read', is_guess=True)
    found: dict[Fraction | str, tuple[Term, Statement]] = {}
    for one in stated:
        term = (one.terms or {})[about]
        value = term.number if term.number is not None else multiple(term.times, _number_of(given))
        found.setdefault(value, (term, one))
    if not found:
        if about == "epsilon" and has_multiple(reading.said):
            return attrs.evolve(given, why="its text speaks of a multiple of it", is_guess=True)
        return given
    least = min(found, key=exact.number)
    term, one = found[least]
    differs = term.number is not None and about in reading.budgets and least != _number_of(given)
    doubtful = bool(one.doubt) or len(found) > 1 or differs or (about == "epsilon" and has_multiple(reading.said))
    guessed = given.is_guess and term.number is None
    why = " and ".join(f'"{statement.words}"' for _, statement in found.values())
    if one.doubt and one.doubt != f'"{one.words}"':
        why += f", together with {one.doubt}"
    if term.number is None:
        why = f"{why}; {given.why}"
    return Fact(about=about, value=str(least), why=why, is_guess=doubtful or guessed)


def _number_of(fact: Fact) -> Fraction | str:
    found = number(fact.value)
    if found is None:
        raise ParameterError("answers", f"{fact.about} is no number", 'write it as 1, "1/2" or "ln(3)"', value=str(fact.value))
    return found


def _arguments(
    signature: _Signature, reading: _Reading, claim: _Claim, answers: Mapping[str, Any]
) -> tuple[dict[str, object], list[Fact]]:
    """What parameters other than dataset and generator are given."""
    given = answers.get("arguments", {})
    if not isinstance(given, Mapping):
        raise ParameterError("answers", "arguments is no table", "write arguments = { scale = 2 }", value=str(given))
    if unknown := [name for name in given if name not in {p.arg for p in signature.all}]:
        known = ", ".join(p.arg for p in signature.all)
        raise ParameterError("answers", "arguments names no parameter", f"known: {known}", value=str(unknown[0]))
    of_budget = {name: about for about, name in reading.budgets.items()}
    found: dict[str, object] = {}
    facts: list[Fact] = []
    for parameter in signature.all:
        name = parameter.arg
        if parameter is signature.data or is_generator(parameter):
            continue
        if name in given:
            found[name] = given[name]
            facts.append(Fact(about=name, value=given[name], why="said", is_argument=True))
        elif name in of_budget and of_budget[name] in claim.handed:
            found[name] = float(exact.number(claim.handed[of_budget[name]]))
        elif name not in reading.defaults:
            usual = {name: float(exact.number(USUAL[about])) for name, about in of_budget.items()}
            value = usual.get(name, next((value for names, value in _GUESSED if name in names), None))
            if value is None:
                raise _NoPlanError(f"needs a value for {name}: say it as arguments", [*claim.facts, *facts])
            found[name] = value
            facts.append(Fact(about=name, value=value, why="it has no default", is_guess=True, is_argument=True))
    return found, facts


@attrs.frozen(kw_only=True)
class _Space:
    """What a function is held against.

    Args:
        shape, uses, reading: of its dataset and its text.
        known: what its parameters are given.
        claim: the guarantee.
        facts: what is taken to be so already.
        answers: what was said.
    """

    shape: str
    uses: Uses
    reading: _Reading
    known: Mapping[str, object]
    claim: _Claim
    facts: tuple[Fact, ...]
    answers: Mapping[str, Any]

    def specification(self) -> tuple[PrivacySpec, list[Fact]]:
        """The specification, and what says so."""
        neighbours = _answered(self.answers, "neighbours", NEIGHBOURS) or stated_neighbours(self.reading.said) or self._usual()
        if self.shape in {"counts", "number"}:
            space, distance, more = self._of_answers(neighbours)
        elif self.shape == "bits":
            length, fact = self._length(SEVERAL)
            space, distance, more = dp.bit_vectors(length=length), self._one_entry(), [fact]
        else:
            space, distance, more = self._of_entries(neighbours)
        try:
            spec = dp.spec(space=space, distance=distance, standard=self.claim.standard, **self.claim.numbers)
        except DpspecError as problem:
            raise _NoPlanError(f"has no specification: {problem}", [*self.facts, neighbours, *more]) from None
        return spec, [neighbours, *more]

    def _usual(self) -> Fact:
        """The neighbours where nothing says which."""
        if self.shape in {"counts", "number"}:
            return Fact(about="neighbours", value="add-remove", why="nothing says which", is_guess=True)
        if self.shape == "bits" or self.uses.listed:
            return Fact(about="neighbours", value="one-entry", why="it answers for each entry", is_guess=not self.uses.listed)
        if self.uses.averaged:
            return Fact(about="neighbours", value="replace-one", why="it divides by the number of records", is_guess=True)
        return Fact(about="neighbours", value="add-remove", why="nothing says which", is_guess=True)

    def _whole(self, key: str) -> int | None:
        """A whole number from 1 on that was said."""
        value = self.answers.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ParameterError("answers", f"{key} is no whole number from 1 on", f"write {key} = 3", value=str(value))
        return value

    def _length(self, usual: int) -> tuple[int, Fact]:
        length = self._whole("length")
        if length is None:
            return usual, Fact(about="length", value=usual, why="nothing says how many", is_guess=True)
        return length, Fact(about="length", value=length, why="said")

    def _of_answers(self, neighbours: Fact) -> tuple[Any, Any, list[Fact]]:
        """Whole numbers that are answers of queries: the distance of neighbours is the sensitivity of the queries."""
        facts: list[Fact] = []
        size = 1
        if self.shape == "counts":
            size, fact = self._length(SEVERAL)
            facts.append(fact)
        stated = self._whole("distance")
        named = next((name for name in self.known if name in _SENSITIVITY), None)
        most = self.known[named] if named is not None else 1
        if isinstance(most, bool) or not isinstance(most, int | float) or most != int(most) or most < 1:
            raise _NoPlanError(
                f"its answers are whole numbers, and its sensitivity is {most}: say arguments", [*self.facts, neighbours, *facts]
            )
        if named is None and size != 1 and neighbours.value == "replace-one":
            most = 2
        euclidean = size != 1 and (named in _EUCLIDEAN or (named is not None and self.reading.is_gaussian))
        sure = named is not None and (most == 1 or size == 1 or named in _EUCLIDEAN or not euclidean)
        why = f"{named} = {most:g}" if named is not None else "nothing says how much one record changes"
        if stated is not None:
            most, why, sure = stated, "said", True
        facts.append(Fact(about="distance", value=int(most), why=why, is_guess=not sure))
        of = dp.l2() if euclidean and most > 1 else dp.l1()
        distance: Any = dp.l1() if most == 1 and self.claim.standard == "pure" else dp.within_distance(of=of, most=int(most))
        return dp.integer_counts(length=size), distance, facts

    def _of_entries(self, neighbours: Fact) -> tuple[Any, Any, list[Fact]]:
        """Lists of records, of any length where neighbours differ in it."""
        if "values" in self.answers:
            values = Fact(about="values", value=self.answers["values"], why="said")
        else:
            values = values_of(self.uses, self.known, self.reading.said)
        if not isinstance(values.value, list) or not values.value:
            raise ParameterError("answers", "values is no list", "write values = [0, 1]", value=str(values.value))
        facts = [values]
        sizes: dict[str, Any] = {}
        if neighbours.value != "add-remove":
            length, fact = self._length(RECORDS)
            sizes = {"least": length, "most": length}
            facts.append(fact)
        try:
            space = dp.value_lists(values=values.value, **sizes)
        except DpspecError as problem:
            raise _NoPlanError(f"has no dataset space: {problem}", [*self.facts, neighbours, *facts]) from None
        return space, self._one_entry() if neighbours.value == "one-entry" else str(neighbours.value), facts

    def _one_entry(self) -> Any:
        """Datasets that differ in one entry; pure guarantees hold for several entries then, too."""
        return "hamming-ordered" if self.claim.standard == "pure" else dp.within_distance(of=dp.hamming_ordered(), most=1)


def _call(drawing: Drawing, signature: _Signature, arguments: Mapping[str, object], shape: str) -> str:
    """The call, with `x` and `rng`."""
    single = shape == "number" or (shape == "bits" and signature.data.arg in _ONE_BIT)

    def listed(parameters: Sequence[ast.arg], node: AnyFunction) -> str:
        positional = {p.arg for p in node.args.posonlyargs}
        parts = []
        for parameter in parameters:
            if parameter is signature.data:
                value = "x[0]" if single else "x"
            elif parameter is signature.generator:
                value = "rng"
            elif parameter.arg in arguments:
                value = repr(arguments[parameter.arg])
            else:
                continue
            parts.append(value if parameter.arg in positional else f"{parameter.arg}={value}")
        return ", ".join(parts)

    inside = listed(signature.own, drawing.node)
    if drawing.owner is None:
        return f"{drawing.node.name}({inside})"
    if signature.kind:
        return f"{drawing.name}({inside})"
    made = listed(signature.of_class, signature.init) if signature.init is not None else ""
    return f"{drawing.name.rpartition('.')[0]}({made}).{drawing.node.name}({inside})"


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
    is_array = any(kind in annotation for kind in ("ndarray", "ArrayLike", "NDArray"))
    if is_array or uses.array or (uses.arithmetic and shape == "counts"):
        return "numpy"
    return "pandas-series" if "Series" in annotation else ""
