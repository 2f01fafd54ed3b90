"""The memory limit of a process, and sizes in human-readable form."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from dpspec.base.errors import ParameterError

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_SIZE = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE | re.ASCII)
_CGROUPS = Path("/sys/fs/cgroup")


def read_size(text: str) -> int:
    """Bytes, as people write them.

    Raises:
        ParameterError: it is no size, or 0.

    >>> read_size("4GB"), read_size("1.5 GiB"), read_size("200000")
    (4000000000, 1610612736, 200000)
    """
    found = _SIZE.fullmatch(text)
    size = 0 if found is None else int(Fraction(found[1]) * _UNITS[(found[2] or "").lower()])
    if not size:
        raise ParameterError("memory", "is no size", "write 4GB or 2GiB", value=text)
    return size


def size_text(size: int) -> str:
    """Bytes in a few digits, rounded up.

    >>> size_text(1), size_text(2_400_000_000), size_text(999_999)
    ('1 B', '2.4 GB', '1 MB')
    """
    power = next((power for power in range(3) if size <= 999 * 1000**power), 3)
    tenths = -(-size * 10 // 1000**power)
    shown = f"{tenths // 10}.{tenths % 10}".removesuffix(".0") if tenths < 1000 else str(-(-size // 1000**power))
    return f"{shown} {('B', 'kB', 'MB', 'GB')[power]}"


def default_memory() -> int | None:
    """Half of the memory of this machine, of the container that this process runs in, or of its address space (`ulimit -v`).

    None where none of them is known.
    """
    limits = [address_space() or 0]
    with suppress(AttributeError, ValueError, OSError):  # Windows has no such names
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _limit_files():
        try:
            limits.append(int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):  # there is none, or it is unlimited: "max"
            continue
    positive = [limit for limit in limits if limit > 0]
    return min(positive) // 2 if positive else None


def address_space() -> int | None:
    """The limit of the address space of this process, as `ulimit -v` sets it; None where there is none."""
    try:
        import resource
    except ImportError:  # Windows has none
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else int(limit)


_M_ARENA_MAX, _ARENAS = -8, 2
"""The parameter of `mallopt` in glibc, and its value."""


def spare_address_space() -> None:
    """Where the address space is limited, let threads share what the C library reserves of it; call before threads begin.

    glibc reserves 64 MiB for each of up to eight arenas for each core. With two cores and the threads of Polars these are 1 GB,
    of which some megabytes are used.
    """
    if address_space() is None:
        return
    with suppress(OSError, AttributeError, TypeError):  # another C library
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def _limit_files() -> Iterator[Path]:
    """The files in which Linux says the limits of this process, by its control group and those above it, of both versions."""
    yield _CGROUPS / "memory" / "memory.limit_in_bytes"
    try:
        groups = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in groups:
        number, _, rest = line.partition("::")
        if number == "0":
            own = _CGROUPS / rest.lstrip("/")
            yield from (folder / "memory.max" for folder in (own, *own.parents) if folder.is_relative_to(_CGROUPS))
