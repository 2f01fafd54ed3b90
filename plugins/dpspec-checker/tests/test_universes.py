"""The checker of proofs accepts what is derived, says what it does not know, and accepts no corruption of what it knows."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from dpspec_checker.universes import _parts, determined


def test_the_partitions_are_all_of_them() -> None:
    for number_of, into, largest in itertools.product(range(8), range(5), range(1, 6)):
        every = {
            tuple(sorted((part for part in parts if part), reverse=True))
            for parts in itertools.product(range(largest + 1), repeat=into) if sum(parts) == number_of
        }  # fmt: skip
        assert sorted(_parts(number_of, into, largest)) == sorted(every)


def _marginals() -> list[dict[str, Any]]:
    """Tables over an attribute of one category, one of two and one of three, with every condition on two of them."""
    kinds = [named for size in range(1, 4) for named in itertools.combinations(["x", "y", "z"], size)]
    wheres = [
        {**({"state": list(one)} if one else {}), **({"kind": list(other)} if other else {})}
        for one in ((), ("only",))
        for other in ((), *kinds)
    ]
    looked = [list(names) for size in range(3) for names in itertools.combinations(["state", "block", "kind"], size)]
    return [{"type": "marginal", "unit": "person", "attributes": names, "where": where} for names in looked for where in wheres]


def test_what_is_said_to_be_determined_is_the_same_in_each_universe() -> None:
    names, categories = ["state", "block", "kind"], [["only"], ["a", "b"], ["x", "y", "z"]]
    space = {
        "type": "records",
        "attributes": [{"name": n, "categories": c} for n, c in zip(names, categories, strict=True)],
    }
    kinds = list(itertools.product(*categories))
    datasets = [x for size in range(3) for x in itertools.combinations_with_replacement(kinds, size)]

    def value(table: dict[str, Any], dataset: Any) -> Any:
        told = [dict(zip(names, one, strict=True)) for one in dataset]
        counted = [one for one in told if all(one[name] in named for name, named in table["where"].items())]
        return tuple(sorted(tuple(one[name] for name in table["attributes"]) for one in counted))

    tables = _marginals()
    values = [[value(table, dataset) for dataset in datasets] for table in tables]
    found = Counter[tuple[bool, bool]]()
    for (wanted, theirs), (held, ours) in itertools.product(zip(tables, values, strict=True), repeat=2):
        said = determined(wanted, [held], space)
        true = len(set(zip(ours, theirs, strict=True))) == len(set(ours))
        assert true or not said, f"{wanted} is said to follow from {held}"
        found[said, true] += 1
    whole = {"type": "marginal", "unit": "person", "attributes": [], "where": {"kind": ["z", "x", "y"], "state": ["only"]}}
    bare = {"type": "marginal", "unit": "person", "attributes": ["state"], "where": {}}
    assert determined(whole, [bare], space)
    assert determined(bare, [whole], space)
    assert found[True, True] > 10 * found[False, True], found
