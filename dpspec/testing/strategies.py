"""Hypothesis strategies drawn from the typed blocks, and the search for a minimal witness that they allow.

    datasets(space)         elements of X, shrinking towards the smallest
    universes(spec)         universes of the multiverse
    pairs(spec)             two datasets of one universe at finite distance
    from_params(cls)        objects of a declared class, parameters inside their domains

The last step to a smallest pair drops records while the pair stays in one universe and still refutes.

Hypothesis shrinks what was drawn, not the pair; this pass works on the pair itself, in the documented order of witnesses: the two
magnitudes together, then the distance, then the text. When it ends, no pair that is left after dropping at most one
cell from each side (one step of a coordinate towards 0), after giving the categories that occur the first names there are, or
after merging those of one attribute, refutes and comes earlier.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import attrs
from hypothesis import HealthCheck, find, reject, settings, strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable

from dpspec.base.errors import DpspecError, NotInSpaceError, NotReachedError, ParameterError
from dpspec.base.params import Domain, Items, Nested, Registered, parameters
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.parts import SimplerNames, counting_cells
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Pair
from dpspec.extension.loader import installed
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.testing.check import example_objects
from dpspec.testing.walks import LISTED, drawn_datasets, first_datasets, grouped, pairs_in_universe
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome, Witness


def reduced(pair: Pair, refutes: Callable[[Pair], bool], spec: PrivacySpec) -> Pair:
    """The pair, or a smaller one of one universe that also refutes."""
    while True:
        smaller = next(_smaller(pair, refutes, spec), None)
        if smaller is None:
            return pair
        pair = smaller


def _smaller(pair: Pair, refutes: Callable[[Pair], bool], spec: PrivacySpec) -> Iterator[Pair]:
    size = order(pair, spec)
    left, right = (list(_less(dataset, spec.space)) for dataset in pair)
    renaming = SimplerNames.found_in(spec.space)
    renamed = () if renaming is None else renaming.renamed(*pair)
    for one, two in itertools.chain(renamed, itertools.product(left, right)):
        if one == two or not spec.multiverse.share_universe(one, two, spec.space):
            continue
        if not spec.distance(one, two).is_infinite and order((one, two), spec) < size and refutes((one, two)):
            yield one, two


def order(pair: Pair, spec: PrivacySpec) -> tuple[Any, ...]:
    """The documented order of witnesses."""
    (left, left_text), (right, right_text) = (spec.space.order(dataset) for dataset in pair)
    return left + right, spec.distance(*pair), left_text, right_text


def _less(dataset: Dataset, space: DatasetSpace) -> Iterator[Dataset]:
    """The dataset, and what is left after one cell is dropped."""
    yield dataset
    cells = counting_cells(space)
    if cells is None:
        return
    fewer: Iterator[Callable[[], Dataset]]
    if cells.is_sequence:
        held = cells.cells_of(dataset)
        fewer = (partial(space.dataset, (*held[:place], *held[place + 1 :])) for place in range(len(held)))
    else:
        counts = cells.counts(dataset)
        less = ({**counts, cell: count - (1 if count > 0 else -1)} for cell, count in counts.items())
        fewer = (partial(cells.from_counts, left) for left in less)
    for smaller in fewer:
        try:
            yield smaller()
        except NotInSpaceError:
            continue


# --- strategies -----------------------------------------------------------------------------------


DRAWN = LISTED
"""A space that is larger is not listed; datasets and pairs are drawn cell by cell."""

_DRAWN_AGAIN = 3
"""The number of draws of parameters that may be incompatible, before the whole example is given up."""


def datasets(space: DatasetSpace) -> st.SearchStrategy[Dataset]:
    """Datasets of the space; of a large one, small datasets with any categories."""
    size = space.cardinality()
    listed = size is not None and size <= DRAWN
    return st.sampled_from(first_datasets(space)) if listed else drawn_datasets(space)


def universes(spec: PrivacySpec) -> st.SearchStrategy[Universe]:
    """Universes of a space that can be listed; of a larger one, what they hold of a miniature."""
    return st.sampled_from(grouped(spec, first_datasets(spec.space)))


def pairs(spec: PrivacySpec) -> st.SearchStrategy[tuple[Dataset, Dataset]]:
    """Two different datasets of one universe at finite distance: what a claim is about."""
    return pairs_in_universe(spec)


def from_params(cls: type) -> st.SearchStrategy[Any]:
    """Objects of a class made by `dpspec.define`, each declared parameter drawn inside its domain.

    An object that is a parameter itself is drawn the same way: an attribute with distinct categories, a registered object of a
    class that is installed. Parameters that do not go together are drawn again. A class where they hardly ever do, such as two
    lists of one length, gives objects of its own with a class method ``examples()``; then these are drawn, and these changed.

    >>> from dpspec.blocks.space import Attribute
    >>> from hypothesis import given
    >>> given(from_params(Attribute))(lambda attribute: None)()
    """
    return _objects(cls, ())


def _objects(cls: type, within: tuple[type, ...]) -> st.SearchStrategy[Any]:
    """Objects of a class that is a parameter of other classes; none of them is drawn inside itself."""
    if cls is Attribute:
        name, texts = st.sampled_from(("sex", "age", "place", "race")), st.sampled_from("abcdef")
        listed = st.lists(texts, min_size=1, max_size=4, unique=True).map(tuple)
        counted = st.builds(Attribute, name=name, count=st.integers(1, 5))
        return st.one_of(st.builds(Attribute, name=name, categories=listed), counted)
    own = example_objects(cls)
    return _variations(cls, own) if own else _combinations(cls, within)


def _variations(cls: type, own: list[Any]) -> st.SearchStrategy[Any]:
    """The objects that a class gives of itself, and these with one plain parameter drawn, where it goes with the others."""
    columns = {p.name: p.domain.strategy() for p in parameters(cls)}
    plain = [name for name, column in columns.items() if not column.is_empty]

    def variation(draw: st.DrawFn) -> Any:
        thing = draw(st.sampled_from(own))
        name = draw(st.sampled_from([None, *plain]))
        if name is None:
            return thing
        try:
            return attrs.evolve(thing, **{name: draw(columns[name])})
        except DpspecError:
            return thing

    variation.__name__ = cls.__name__
    return st.composite(variation)()


def _combinations(cls: type, within: tuple[type, ...]) -> st.SearchStrategy[Any]:
    """Objects made of values of their parameters, of the required ones and one more."""
    declared = parameters(cls)
    columns = {p.name: _values(p.domain, (*within, cls)) for p in declared}
    required = {p.name: columns[p.name] for p in declared if p.required}
    one_more = [{p.name: columns[p.name]} for p in declared if not p.required and not columns[p.name].is_empty]
    if any(column.is_empty for column in required.values()):
        return st.nothing()
    given = st.one_of([st.fixed_dictionaries({**required, **optional}) for optional in ({}, *one_more)])

    def combination(draw: st.DrawFn) -> Any:
        for _ in range(_DRAWN_AGAIN):
            try:
                return cls(**draw(given))
            except DpspecError:  # the parameters do not go together
                continue
        return reject()

    combination.__name__ = cls.__name__  # Hypothesis prints it in place of all that it is made of
    return st.composite(combination)()


def _values(domain: Domain, within: tuple[type, ...]) -> st.SearchStrategy[Any]:
    """Values of a domain, the objects among them made by `_objects`."""
    if isinstance(domain, Nested):
        return _objects(domain.cls, within)
    if isinstance(domain, Registered):
        known = set(installed().registry.classes(domain.kind)) - set(within)
        drawn = [_objects(cls, within) for cls in sorted(known, key=lambda cls: cls.__qualname__) if attrs.has(cls)]
        return st.one_of([strategy for strategy in drawn if not strategy.is_empty])
    if isinstance(domain, Items):
        item, least = _values(domain.item, within), domain.least
        if item.is_empty:
            return st.nothing() if least else st.just(())
        named = isinstance(domain.item, Nested) and domain.item.cls is Attribute
        unique = (lambda attribute: attribute.name) if named else None
        return st.lists(item, min_size=least, max_size=least + 2, unique_by=unique).map(tuple)
    return domain.strategy()


def find_witness(mechanism: Mechanism, spec: PrivacySpec, *, examples: int = 500) -> Witness | None:
    """Search for two datasets that refute the claim and shrink them to a minimal pair.

    It looks at drawn pairs only, so None is no proof; `dpspec.verifier.exhaustive.verify` gives one on a space that can
    be listed. The search is a function of its arguments: no seed, no database, no deadline. The pair stays inside one
    universe while it shrinks, and no record can be dropped from it (`dpspec.testing.strategies`).

    Raises:
        NotReachedError: when no two datasets of one universe were met.
        ParameterError: for a function, which has no law of its own: `assert_satisfies` finds its witness.
    """
    if not isinstance(mechanism, Mechanism):
        advice = "give assert_satisfies the function: its message has the witness"
        raise ParameterError("mechanism", "must be a mechanism with laws", advice, value=type(mechanism).__name__)
    if not isinstance(spec, PrivacySpec):
        advice = "give what dpspec.spec() returns, or read(FILE).spec"
        raise ParameterError("specification", "must be five blocks", advice, value=type(spec).__name__)
    met: set[bool] = set()

    def refutes(pair: tuple[Dataset, Dataset]) -> bool:
        met.add(True)
        return verify(mechanism, spec, datasets=pair).outcome is Outcome.REFUTED

    quiet = settings(
        derandomize=True, database=None, deadline=None, max_examples=examples, suppress_health_check=list(HealthCheck)
    )
    drawn = pairs(spec)
    try:
        pair = find(drawn, refutes, settings=quiet)
    except (NoSuchExample, Unsatisfiable):
        if met or drawn.is_empty:
            return None
        raise NotReachedError(
            "multiverse", "no two datasets of one universe at finite distance were drawn", "list the datasets instead"
        ) from None
    return verify(mechanism, spec, datasets=reduced(pair, refutes, spec)).witness
