"""Events for `logging`, under the loggers ``dpspec.files``, ``dpspec.verify``, ``dpspec.plugins`` and ``dpspec.release``.

A program that listens has imported `logging`; where none has, nothing is imported and nothing is logged, which keeps the start
of the command line short. An event has names of files and plugins, ids, verdicts and numbers of records, and no cell of a table.
"""

from __future__ import annotations

import sys
from typing import Literal

Level = Literal["DEBUG", "INFO"]


def log(area: str, level: Level, message: str, *given: object) -> None:
    """Log an event.

    Args:
        area: the logger, after ``dpspec.``.
        level: how much it matters.
        message, given: the text with its ``%s``, and what is put in.
    """
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger(f"dpspec.{area}").log(getattr(logging, level), message, *given)
