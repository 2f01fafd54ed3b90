"""The two rules that look at every pair of datasets of a small space, and how a step is rejected."""

from __future__ import annotations

from typing import Any

from dpspec.checker.conversions import ON_PAIRS
from dpspec.checker.events import follows
from dpspec.checker.numbers import at_most, read
from dpspec.checker.pairs import asked_and_granted, separates_laws

Table = dict[str, Any]

BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget")


class Rejected(Exception):
    """A step whose side condition does not hold, or cannot be seen to hold."""


class Unknown(Exception):
    """A step by a formula that is not known here."""


def need(holds: bool, otherwise: str) -> None:
    """Reject the step unless something holds."""
    if not holds:
        raise Rejected(otherwise)


def pair_by_pair(before: Table, after: Table, parameters: Table, block: str) -> str:
    """What the first specification grants on each pair, along paths under a metric, gives at most what the second one allows."""
    need({"pairs"} <= set(parameters) <= {"pairs", "conversion"}, "the rule has the parameters pairs and conversion")
    changed = [name for name in BLOCKS if before[name] != after[name]]
    need("space" not in changed, "the space must stay the same")
    need(changed[:1] == [block.replace(" ", "_")], f"the first block that changes is not the {block}")
    old, new = before["output_divergence"], after["output_divergence"]
    unchanged = (old["type"], new["type"], None)
    named = parameters.get("conversion")
    if named is not None and (not isinstance(named, str) or named not in ON_PAIRS):
        raise Unknown(f"the checker does not know the conversion {named}")
    source, target, holds = unchanged if named is None else ON_PAIRS[named]
    need((old["type"], new["type"]) == (source, target), f"the conversion leads from {source} to {target}")
    need(holds is not None or old == new, "the output divergence must stay the same")
    rows = list(asked_and_granted(before, after))
    need(parameters["pairs"] == len(rows), f"there are {len(rows)} pairs to compare")
    for granted, allowed in rows:
        if holds is None:
            enough = at_most(granted, allowed)
        elif granted == read(0) and separates_laws(old):
            enough = True  # equal laws
        else:
            given, asked = (x.under() if d["type"] == "d-nor" else x for x, d in ((granted, old), (allowed, new)))
            enough = not granted.infinite and getattr(holds, "enough", holds)(given, old, asked, new)
        need(enough, f"{granted} is granted on a pair, from which {allowed} is not seen to follow")
    return f"{len(rows)} pairs of datasets"


def event_by_event(before: Table, after: Table, parameters: Table, block: str) -> str:
    """No event is likelier anywhere than the second specification allows, by the inequalities of the first one."""
    need(set(parameters) == {"pairs"}, "the rule has the one parameter pairs")
    changed = [name for name in BLOCKS if before[name] != after[name]]
    need("space" not in changed, "the space must stay the same")
    need(changed[:1] == [block.replace(" ", "_")], f"the first block that changes is not the {block}")
    count, open_ = follows(before, after)
    need(type(parameters["pairs"]) is int and parameters["pairs"] == count, f"there are {count} ordered pairs to compare")
    need(open_ is None, f"on {open_} an event that is forbidden is not seen to be")
    return f"every event on {count} ordered pairs of datasets"
