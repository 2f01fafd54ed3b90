"""Records in words: by the attributes in which they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpspec.blocks.space import Attribute, Record
from dpspec.plural import count


def pair_of_records(
    left: Sequence[Record], right: Sequence[Record], attributes: Sequence[Attribute], noun: str, *, ordered: bool = False
) -> tuple[str, str]:
    """The records of two datasets, by the attributes in which they are not all alike."""
    shown = varying(attributes, [*left, *right])
    first, second = (records_in_words(records, attributes, shown, noun, ordered=ordered) for records in (left, right))
    return first, second


def varying(attributes: Sequence[Attribute], records: Sequence[Record]) -> list[int]:
    """The places of the attributes in which some records are not all alike."""
    return [place for place in range(len(attributes)) if len({record[place] for record in records}) > 1]


def record_in_words(record: Record, attributes: Sequence[Attribute], shown: Sequence[int], noun: str) -> str:
    """One record by some of its attributes."""
    inner = ", ".join(f"{attributes[place].name} {record[place]}" for place in shown)
    return f"({inner})" if inner else noun


def records_in_words(
    records: Sequence[Record], attributes: Sequence[Attribute], shown: Sequence[int], noun: str, *, ordered: bool = False
) -> str:
    """Records with their multiplicity, or one after the other where their order counts."""
    if not records:
        return f"no {noun}"
    if not shown:
        return count(len(records), noun)
    texts = [record_in_words(record, attributes, shown, noun) for record in records]
    if ordered:
        return "[" + ", ".join(texts) + "]"
    return ", ".join(text if times == 1 else f"{times} x {text}" for text, times in Counter(texts).items())


def range_in_words(least: int, most: int | None) -> str:
    """The sizes that datasets may have, behind the name of their space.

    >>> range_in_words(0, None), range_in_words(2, 2), range_in_words(0, 3)
    (', any number', ', exactly 2', ', 0 to 3')
    """
    if most is None:
        return f", at least {least:,}" if least else ", any number"
    return f", exactly {most:,}" if least == most else f", {least:,} to {most:,}"
