"""One answer to one question of the engine, while all commands are asked about one file.

Each command reads a file, decides what to ask, and reports the answer in its own way: that is what is compared. Most of them put
the same questions to the engine, which takes most of the time and gives the same answer each time.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import dpspec_deployments.catalogue
import dpspec_deployments.evidence  # noqa: F401

import dpspec.verifier.document  # noqa: F401
from dpspec.base.memo import key_of
from dpspec.extension.loader import installed
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.mechanisms import judged_unlisted
from dpspec.verifier.proof import derive

ENGINES = (judged_unlisted, derive, verify)


@contextlib.contextmanager
def shared_answers() -> Iterator[None]:
    """Keep what the engines answer to equal questions."""
    replaced = [patch for engine in ENGINES for patch in _replace(engine, _kept(engine))]
    try:
        yield
    finally:
        for module, name, engine in replaced:
            setattr(module, name, engine)


def _kept(engine: Callable[..., Any]) -> Callable[..., Any]:
    answers: dict[object, Any] = {}

    @functools.wraps(engine)
    def asked(mechanism: Any, spec: Any, *, registry: Any = None, **settings: Any) -> Any:
        if settings.keys() & {"datasets", "laws"}:  # a question about a part of the space
            return engine(mechanism, spec, registry=registry, **settings)
        known = installed().registry if registry is None else registry
        limits = tuple(sorted((name, value) for name, value in settings.items() if name != "progress"))
        key = key_of(mechanism), key_of(spec), id(known), limits
        if key not in answers:
            answers[key] = engine(mechanism, spec, registry=registry, **settings)
        return answers[key]

    return asked


def _replace(engine: Callable[..., Any], instead: Callable[..., Any]) -> Iterator[tuple[ModuleType, str, Callable[..., Any]]]:
    for module in [module for name, module in sys.modules.items() if name.startswith("dpspec")]:
        for name in [name for name, value in vars(module).items() if value is engine]:
            setattr(module, name, instead)
            yield module, name, engine
