"""Plain functions as the subject of a claim: how they are named and sampled, and who judges them.

A plain function is no `Mechanism`: nothing is declared about it, so that judging it means to run and to read code. This is the
work of an installed package, which names a class with the methods of `FunctionJudge` in the entry-point group ``dpspec.judges``
as `function`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Annotated, Any, Protocol

import attrs

from dpspec.base.errors import DpspecError, MissingPackageError, PluginContractError
from dpspec.base.params import Integer, Rational, Text, Truth, define, parameters
from dpspec.base.types import Progress
from dpspec.blocks.space import Dataset
from dpspec.extension.hooks import Registry
from dpspec.extension.packages import JUDGES, contributed, is_first_party, missing_package
from dpspec.grammar.functions import PlainFunction
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.verdict import Event, Verdict, Witness

SECONDS = 30
"""Processor time for everything that is done about a function, where nothing else is said."""
ERROR = "1e-9"
"""The probability of refuting a true claim, where nothing else is said."""


class FunctionError(DpspecError):
    """A plain function given as module:name cannot be had: no such module or name, or it takes other arguments."""

    code = "function"


class PowerError(DpspecError):
    """A plain function was not refuted, but the search was not close enough: a fault of the stated size could be missed."""

    code = "power"
    exit_code = 3


@define
class Sampling:
    """Options of the sampling of a plain function that cannot be enumerated.

    Args:
        seed: the seed of all draws; the same seed, the same verdict.
        error: the probability of refuting a true claim, at most.
        draws: how many times the function may be called; without it, as often as there is time.
        seconds: processor time for everything together, of this process and its children.
        bits: also look at which doubles can be reached.
        by_value: compare outcomes by value: numbers that are equal are one outcome, whatever their types, and so are exceptions
            of one type and message.
        loss, mass, power: where nothing is refuted, look so closely that a loss per unit distance of at least `loss`, at
            events of probability at least `mass`, is found with probability `power`; an error where there is no time for that.
        dataset, generator: the adapters for the dataset and the random number generator of the function; by default chosen by
            its annotations.

    >>> Sampling(error="1e-6").options
    ['--seed', '0', '--error', '1/1000000']
    """

    seed: Annotated[int, Integer(low=0)] = 0
    error: Annotated[Fraction, Rational(low=0, high=1, open_low=True, open_high=True)] = Fraction(ERROR)
    draws: Annotated[int, Integer(low=1)] | None = None
    seconds: Annotated[Fraction, Rational(low=0, open_low=True)] = Fraction(SECONDS)
    bits: Annotated[bool, Truth()] = False
    by_value: Annotated[bool, Truth()] = False
    loss: Annotated[Fraction, Rational(low=0, open_low=True)] | None = None
    mass: Annotated[Fraction, Rational(low=0, high=Fraction(1, 2), open_low=True)] = Fraction(1, 20)
    power: Annotated[Fraction, Rational(low=0, high=1, open_low=True, open_high=True)] = Fraction(99, 100)
    dataset: Annotated[str, Text()] | None = None
    generator: Annotated[str, Text()] | None = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of `verify_claim`."""
        return {p.name: getattr(self, p.name) for p in parameters(Sampling)}

    @property
    def options(self) -> list[str]:
        """The same on the command line; without what is so anyway, but always with the seed."""
        words: list[str] = []
        for p in parameters(Sampling):
            value = getattr(self, p.name)
            option = f"--{p.name.replace('_', '-')}"
            if value is True:
                words += [option]
            elif p.name == "seed" or value != p.default:
                words += [option, str(value)]
        return words


@attrs.frozen(kw_only=True)
class NamedFunction:
    """A plain function with its name.

    Args:
        path: where it is, as `module:name`.
        call: the function of a dataset, and of a generator where it takes one; None for one that is imported in a sandbox
            when it is verified.
        sampling: how it is sampled.

    Raises:
        FunctionError: the path is not written as `module:name`.
    """

    path: str
    call: PlainFunction | None = None
    sampling: Sampling = attrs.field(factory=Sampling)

    def __attrs_post_init__(self) -> None:
        parts_of(self.path)


def parts_of(path: str) -> tuple[str, str]:
    """The module and the name of a path."""
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise FunctionError("function", "must be written module:name", "such as survey:survey for survey.py", value=path)
    return module, name


class FunctionJudge(Protocol):
    """A verifier of plain functions.

    A verdict of it is as binding as one of the exact engine: `verified` only for what is shown of every dataset that the claim is
    about, `refuted` for a pair of datasets whose outputs differ too much, up to the stated error; else `undecided`.
    """

    def verify(
        self,
        function: PlainFunction,
        spec: PrivacySpec,
        sampling: Sampling,
        *,
        datasets: tuple[Dataset, ...] | None,
        registry: Registry | None,
        progress: Progress | None,
    ) -> Verdict:
        """Whether a function satisfies a specification; with `datasets`, on these alone."""

    def verify_named(
        self, function: NamedFunction, spec: PrivacySpec, *, registry: Registry | None, progress: Progress | None
    ) -> Verdict:
        """The verdict for a function given by its name; a module that is not imported yet is imported in a sandbox."""

    def replay(
        self,
        function: PlainFunction | NamedFunction,
        spec: PrivacySpec,
        witness: Witness,
        sampling: Sampling,
        *,
        registry: Registry | None,
        progress: Progress | None,
    ) -> tuple[Verdict, Event | None]:
        """The verdict on the two datasets of a witness, on fresh draws, and its event with the probabilities of today.

        Args:
            function: the function, or its name.
            spec: the claim.
            witness: what was found before.
            sampling: how it was found; the seed was used already.
            registry: where adapters are looked up.
            progress: called with (done, in all).
        """

    def release_code(self, mechanism: Mechanism) -> Mechanism:
        """A mechanism whose laws are read off the code of another one's `release`."""


@cache
def function_judge() -> FunctionJudge:
    """The installed judge of plain functions.

    Raises:
        MissingPackageError: none is installed.
    """
    place = contributed(JUDGES).get("function")
    if place is None:
        raise MissingPackageError("a claim about plain code", missing_package("function", "judges") or "that checks functions")
    found: FunctionJudge = place.load()()
    brought = place.dist
    if brought is not None and is_first_party(brought.name):
        return found
    return OthersJudge(found, "local code" if brought is None else f"{brought.name} {brought.version}")


@attrs.frozen
class OthersJudge:
    """A judge that another package brings: every verdict of it says whose word it rests on.

    Args:
        judge: the judge.
        package: the package with its version.
    """

    judge: FunctionJudge
    package: str

    def verify(
        self,
        function: PlainFunction,
        spec: PrivacySpec,
        sampling: Sampling,
        *,
        datasets: tuple[Dataset, ...] | None,
        registry: Registry | None,
        progress: Progress | None,
    ) -> Verdict:
        return self._said(
            self.judge.verify(function, spec, sampling, datasets=datasets, registry=registry, progress=progress)
        )

    def verify_named(
        self, function: NamedFunction, spec: PrivacySpec, *, registry: Registry | None, progress: Progress | None
    ) -> Verdict:
        return self._said(self.judge.verify_named(function, spec, registry=registry, progress=progress))

    def replay(
        self,
        function: PlainFunction | NamedFunction,
        spec: PrivacySpec,
        witness: Witness,
        sampling: Sampling,
        *,
        registry: Registry | None,
        progress: Progress | None,
    ) -> tuple[Verdict, Event | None]:
        verdict, event = self.judge.replay(function, spec, witness, sampling, registry=registry, progress=progress)
        return self._said(verdict), event

    def release_code(self, mechanism: Mechanism) -> Mechanism:
        return self.judge.release_code(mechanism)

    def _said(self, verdict: Verdict) -> Verdict:
        if type(verdict) is not Verdict:
            raise PluginContractError(f"judge of {self.package}", "must return a Verdict", value=type(verdict).__name__)
        return attrs.evolve(verdict, assumptions=(*verdict.assumptions, f"{self.package} checks plain functions correctly"))


def verify_named(
    function: NamedFunction, spec: PrivacySpec, *, registry: Registry | None = None, progress: Progress | None = None
) -> Verdict:
    """Verify whether a plain function that is named satisfies a specification.

    Args:
        function: where it is, how it is sampled, and the function itself where it was imported already.
        spec: the claim.
        registry: where the provenance of the blocks is looked up.
        progress: called with (done, in all).

    Raises:
        MissingPackageError: no judge of functions is installed. FunctionError: the function cannot be imported.
    """
    return function_judge().verify_named(function, spec, registry=registry, progress=progress)
