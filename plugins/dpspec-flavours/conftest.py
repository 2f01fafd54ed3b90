"""Which examples in docstrings are slow: nothing in a docstring could carry a mark without being read by users."""

import pytest

SLOW_EXAMPLES = {
    "BootstrapDP", "Blowfish", "EdgeDP", "ElementLevelDP", "EventLevelDP", "NetworkDP", "StratifiedDP", "UserLevelDP",
}  # fmt: skip
"""Flavours whose examples take more than about one second of processor time: each is a verification and a refutation."""


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.DoctestItem) and item.name.rpartition(".")[2] in SLOW_EXAMPLES:
        item.add_marker(pytest.mark.slow)
