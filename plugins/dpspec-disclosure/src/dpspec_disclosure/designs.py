"""Designs of one release whose parameters vary: a specification file, a path to a number in it, and the values of that number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, cast

import attrs

from dpspec import SpecDocument
from dpspec.plugin import Mechanism, ParameterError, number
from dpspec.plugin.applications import did_you_mean

POINTS = 7
"""So many values of a range, its ends among them."""
MOST_VALUES = 1_000
NOISE = "variance"
"""The variance of the first noisy table of a mechanism; the others change in proportion."""
BUDGET = "budget"
"""The budget of the file; the noise of its mechanism is scaled with it."""


@attrs.frozen(kw_only=True)
class Variation:
    """A number of the files, and its values.

    Args:
        path: ``mechanism.NAME``, ``variance`` or ``budget``.
        values: the values, in increasing order.
    """

    path: str
    values: tuple[Fraction, ...]

    @classmethod
    def of(cls, text: str) -> Variation:
        """``PATH=VALUE,VALUE,...`` or ``PATH=FIRST..LAST[:POINTS]``.

        Raises:
            ParameterError: the text has another form, or a value is no number.

        >>> Variation.of("mechanism.swap_rate=1/5,0.5").values
        (Fraction(1, 5), Fraction(1, 2))
        >>> [str(value) for value in Variation.of("variance=1..3:3").values]
        ['1', '2', '3']
        """
        path, equals, given = text.partition("=")
        path = path.strip()
        if not equals or not given.strip() or not (path in {NOISE, BUDGET} or path.startswith("mechanism.")):
            advice = "write mechanism.swap_rate=1/100,1/10,1/2 or variance=1..100 or budget=1/2..8:5"
            raise ParameterError("vary", "must be PATH=VALUES", advice, value=text)
        first, dots, last = given.partition("..")
        if not dots:
            values = {_read(value, path) for value in given.split(",")}
            return cls(path=path, values=tuple(sorted(values)))
        last, _, points = last.partition(":")
        low, high = _read(first, path), _read(last, path)
        count = _whole(points, path) if points else POINTS
        if not low < high:
            raise ParameterError("vary", "must have a range whose first value is the smaller one", value=text)
        return cls(path=path, values=tuple(low + (high - low) * step / (count - 1) for step in range(count)))

    @property
    def name(self) -> str:
        """The parameter without the table of the file that holds it."""
        return self.path.removeprefix("mechanism.")


def _read(text: str, path: str) -> Fraction:
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise ParameterError("vary", f"has a value of {path} that is no number", "write 1/2 or 0.5", value=text.strip()) from None


def _whole(text: str, path: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= MOST_VALUES:
        raise ParameterError("vary", f"must have from 2 to {MOST_VALUES:,} values of {path}", value=text)
    return int(text)


@attrs.frozen(kw_only=True)
class Design:
    """A specification, with the number that varies in it.

    Args:
        document: the file.
        variation: what varies; None where nothing does.
    """

    document: SpecDocument
    variation: Variation | None = None

    @property
    def name(self) -> str:
        return self.document.id

    @property
    def values(self) -> tuple[Fraction | None, ...]:
        """The values; None alone where nothing varies."""
        return (None,) if self.variation is None else self.variation.values

    def at(self, value: Fraction | None) -> SpecDocument:
        """The file with this value.

        Raises:
            ParameterError: the mechanism does not take it.
        """
        if value is None or self.variation is None:
            return self.document
        mechanism = self.document.mechanism
        assert mechanism is not None  # noqa: S101 - a design without one has no variation
        if self.variation.path == NOISE:
            made = _with_noise(mechanism, value / _variance(mechanism))
        elif self.variation.path == BUDGET:
            made = _for_budget(self.document, value)
        else:
            changed = {self.variation.name: _fitting(getattr(mechanism, self.variation.name), value)}
            made = attrs.evolve(cast("Any", mechanism), **changed)
        return attrs.evolve(self.document, mechanism=made)


def designs(documents: Sequence[SpecDocument], vary: Iterable[str]) -> tuple[Design, ...]:
    """Each file with the first variation that speaks about a number of it.

    Raises:
        ParameterError: a variation has another form, or speaks about no file.
    """
    variations = [Variation.of(text) for text in vary]
    found = []
    used: set[str] = set()
    for document in documents:
        chosen = next((one for one in variations if _speaks_of(one, document)), None)
        used |= {chosen.path} if chosen is not None else set()
        found.append(Design(document=document, variation=chosen))
    for one in variations:
        if one.path not in used:
            known = sorted({f"mechanism.{name}" for document in documents for name in _numbers(document.mechanism)})
            raise ParameterError("vary", "names no number of these files", did_you_mean(one.path, known), value=one.path)
    return tuple(found)


def _speaks_of(variation: Variation, document: SpecDocument) -> bool:
    mechanism = document.mechanism
    if mechanism is None:
        return False
    if variation.path == NOISE:
        return _variance(mechanism) > 0
    if variation.path == BUDGET:
        return document.spec.budget.uniform() is not None and _scaling(document) is not None
    return variation.name in _numbers(mechanism)


def _numbers(mechanism: Mechanism | None) -> tuple[str, ...]:
    """The parameters of a mechanism that are one number."""
    if mechanism is None:
        return ()
    names = (field.name for field in attrs.fields(cast("Any", type(mechanism))))
    return tuple(name for name in names if _is_number(getattr(mechanism, name)))


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and hasattr(value, "__float__")


def _fitting(old: object, value: Fraction) -> Any:
    """A whole number where the parameter is one."""
    if isinstance(old, int):
        if value.denominator != 1:
            raise ParameterError("vary", "must have whole values of this parameter", value=str(value))
        return int(value)
    return value


# --- noise ----------------------------------------------------------------------------------------


def _variance(mechanism: Mechanism) -> Fraction:
    """The variance of the first noisy table; 0 where there is none."""
    own = getattr(mechanism, "variance", None)
    listed = [m.variance for m in getattr(mechanism, "measurements", ()) if hasattr(m, "variance")]
    return Fraction(own) if isinstance(own, Fraction | int) else listed[0] if listed else Fraction(0)


def _with_noise(mechanism: Mechanism, factor: Fraction) -> Mechanism:
    """All variances times a factor."""
    changed: dict[str, Any] = {}
    if isinstance(getattr(mechanism, "variance", None), Fraction | int):
        changed["variance"] = cast("Any", mechanism).variance * factor
    elif hasattr(mechanism, "measurements"):
        changed["measurements"] = tuple(attrs.evolve(m, variance=m.variance * factor) for m in mechanism.measurements)
    return cast("Mechanism", attrs.evolve(cast("Any", mechanism), **changed))


def _scaling(document: SpecDocument) -> str | None:
    """The parameter that scales the noise with a budget; None where the two are not known to be proportional."""
    mechanism, standard = document.mechanism, document.spec.output_divergence.name
    if mechanism is not None and standard == "d-nor" and _variance(mechanism) > 0:
        return NOISE
    return "epsilon" if standard == "mult" and "epsilon" in _numbers(mechanism) else None


def _for_budget(document: SpecDocument, value: Fraction) -> Mechanism:
    """The mechanism with its noise scaled from the budget of the file to another one.

    In concentrated privacy the Lipschitz constant of Gaussian noise is proportional to 1/sigma, in pure privacy that of Laplace
    and geometric noise to their epsilon.
    """
    mechanism, budget = document.mechanism, document.spec.budget
    divergence = document.spec.output_divergence
    before = budget.uniform()
    if mechanism is None or before is None:
        raise ParameterError("budget", "is not one number for all universes, or belongs to no mechanism")
    old, new = (divergence.lipschitz(budget.parameter, one) for one in (before, number(value)))
    ratio = (new * new / (old * old)) if _scaling(document) == NOISE else new / old
    if not ratio.is_rational or ratio == 0:
        rule = "must be a positive rational multiple of the budget of the file"
        raise ParameterError("budget", rule, value=str(value))
    factor = ratio.as_fraction()
    if _scaling(document) == NOISE:
        return _with_noise(mechanism, 1 / factor)
    given = cast("Any", mechanism)
    return cast("Mechanism", attrs.evolve(given, epsilon=given.epsilon * factor))
