"""Every test and example here is slow: it computes tables or figures of a paper anew."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.slow)
