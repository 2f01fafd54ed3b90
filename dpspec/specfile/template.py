"""A new specification to start from: a commented file that reads without a fault."""

from __future__ import annotations

from importlib.resources import files

from dpspec.errors import ParameterError
from dpspec.specfile.reader import is_id


def new_spec(name: str) -> str:
    """The text of a commented specification with the given id.

    Raises:
        ParameterError: the name is not lower-kebab.

    >>> 'id = "my-release"' in new_spec("my-release")
    True
    """
    if not is_id(name):
        raise ParameterError("name", "must be lower-kebab", "such as my-release-2020", value=name)
    return files("dpspec.specfile").joinpath("new.dpspec.toml").read_text(encoding="utf-8").replace("@ID@", name)
