"""Common yardsticks: what two incomparable specifications both imply, in blocks that they share."""

from dpspec.yardstick.blocks import Blocks, common_multiverse, common_space
from dpspec.yardstick.yardstick import Side, Yardstick, yardsticks

__all__ = ["Blocks", "Side", "Yardstick", "common_multiverse", "common_space", "yardsticks"]
