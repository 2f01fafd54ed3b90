"""Records in words, by their attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpspec.blocks.space import Attribute, Record
from dpspec.plural import count, value_text


def pair_of_records(
    left: Sequence[Record], right: Sequence[Record], attributes: Sequence[Attribute], noun: str, *, ordered: bool = False
) -> tuple[str, str]:
    """The records of two datasets, each with all its values: also those that all of them share."""
    first, second = (records_in_words(records, attributes, noun, ordered=ordered) for records in (left, right))
    return first, second


def record_in_words(record: Record, attributes: Sequence[Attribute], noun: str) -> str:
    """One record by its attributes; by its bare values where the space describes none.

    >>> record_in_words(("f",), [Attribute(name="sex", categories=("f", "m"))], "person")
    '(sex f)'
    """
    if len(attributes) != len(record):  # a space may describe no attributes, and records may differ in length
        return value_text(record)
    inner = ", ".join(f"{attribute.name} {value_text(value)}" for attribute, value in zip(attributes, record, strict=True))
    return f"({inner})" if inner else noun


def records_in_words(records: Sequence[Record], attributes: Sequence[Attribute], noun: str, *, ordered: bool = False) -> str:
    """Records with their multiplicity, or one after the other where their order counts."""
    if not records:
        return f"no {noun}"
    if not any(records):  # records without values
        return count(len(records), noun)
    texts = [record_in_words(record, attributes, noun) for record in records]
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
