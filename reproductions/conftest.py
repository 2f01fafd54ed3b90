"""Every test and example here is slow, or long: it computes tables or figures of a paper anew."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    if not item.get_closest_marker("spread"):  # which says how many are
        item.add_marker(pytest.mark.slow)
