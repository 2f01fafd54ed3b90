"""An independent checker of derivations and proofs: JSON files in, a verdict on each step out.

It imports nothing of dpspec, so it shares no code with what finds derivations and proofs. It needs attrs and python-flint; the
command line needs click.

    from dpspec_checker import check_derivation, check_proof

    print(check_proof("v.json"))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpspec_checker.answers import (
        CheckerAnswer as CheckerAnswer,
        check_bounds as check_bounds,
        check_derivation as check_derivation,
        check_proof as check_proof,
    )
    from dpspec_checker.errors import CheckerError as CheckerError

__all__ = ["CheckerAnswer", "CheckerError", "check_bounds", "check_derivation", "check_proof"]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used, so that the help of a command line does not import python-flint."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'errors' if name == 'CheckerError' else 'answers'}"), name)
