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
    "census-2020/pl-together-per-household",
    "disclosure/cell-key-one-universe", "disclosure/cell-suppression", "disclosure/cell-suppression-one-universe",
    "flavours/blowfish", "flavours/bootstrap-dp", "flavours/edge-dp", "flavours/element-level-dp", "flavours/event-level-dp",
    "flavours/network-dp", "flavours/stratified-dp", "flavours/user-level-dp",
    "safetab/adaptive-2020", "safetab/overcounted",
    "samples/swapping-california-pums", "samples/swapping-uk-2011-teaching", "samples/topdown-by-levels-town",
    "swapping-2020/swapping-2020-blockgroup-size-block-by-universe", "swapping-2020/swapping-2020-county-size-tract-by-universe",
    "swapping-2020/swapping-2020-county-tract-by-universe", "swapping-2020/swapping-2020-state-county-by-universe",
    "swapping-2020/swapping-2020-state-size-county-by-universe",
    "topdown-2020-dhc-housing-units", "topdown-2020-dhc-persons",
}  # fmt: skip
"""Files whose claims, miniatures and counterexamples take more than about one second of processor time. That they can be read,
and the numbers that they state, are checked by default."""

SLOW_MINIATURES = {"swapping-2020/swapping-2020-blockgroup-block-by-universe"}
"""Files whose claims are slow on a miniature only."""


def pytest_itemcollected(item: pytest.Item) -> None:
    file, kind = item.path.relative_to(HERE), item.get_closest_marker("dpspec")
    name = file.as_posix().removesuffix(".dpspec.toml")
    slow = file.parts[0] in SLOW_FOLDERS or (name in SLOW_MINIATURES and item.name.startswith("claim on miniature"))
    if slow or (name in SLOW_CLAIMS and kind is not None and kind.kwargs["kind"] == "claim"):
        item.add_marker(pytest.mark.slow)
