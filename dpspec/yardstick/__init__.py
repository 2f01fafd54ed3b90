"""Common yardsticks: what two incomparable specifications both imply, in blocks that they share."""

from dpspec.yardstick.attack import Attack, attacks
from dpspec.yardstick.blocks import Blocks, common_multiverse, common_space, found_blocks
from dpspec.yardstick.yardstick import Side, Yardstick, yardsticks

__all__ = [
    "Attack", "Blocks", "Side", "Yardstick", "attacks", "common_multiverse", "common_space", "found_blocks", "yardsticks",
]  # fmt: skip
