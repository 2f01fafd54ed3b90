"""Which claims of these specification files are slow.

A file has no place for a mark of pytest, and a comment would be in the copy of everyone who starts from it.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent

SLOW_FOLDERS = ("mechanisms",)
"""Folders whose files are slow as a whole: hundreds of proofs and of pairs that refute. tests/consistency verifies some by
default."""

SLOW_CLAIMS = {
    "census-2020/pl-together-per-household", "disclosure/cell-suppression-one-universe", "safetab/adaptive-2020",
    "samples/topdown-by-levels-town",
}  # fmt: skip
"""Files whose claims take more than about one second of processor time. That they can be read is checked by default."""


def pytest_itemcollected(item: pytest.Item) -> None:
    file, kind = item.path.relative_to(HERE), item.get_closest_marker("dpspec")
    name = file.as_posix().removesuffix(".dpspec.toml")
    slow_claim = name in SLOW_CLAIMS and kind is not None and kind.kwargs["kind"] == "claim"
    if slow_claim or file.parts[0] in SLOW_FOLDERS:
        item.add_marker(pytest.mark.slow)
