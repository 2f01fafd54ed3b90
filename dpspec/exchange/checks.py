"""What the registry's check script asks of a record's file, stated again: its name, how it is quoted, its LaTeX, its addresses.

The script asks every address whether it answers; here only the shape of an address is looked at, and nothing is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpspec.base.errors import RegistryCheckError
from dpspec.exchange.record import RegistryRecord

FILE_NAME = re.compile(r"[a-z0-9_]+\.yaml")
URLS = re.compile(r'https?://[^ \t\n,;)"]+')
"""What the script takes for an address, wherever it stands in a text."""
_DOUBLED = re.compile(r"\\\\[^()]")
_ADDRESS = re.compile(r"https?://[\w-]+(?:\.[\w-]+)+(?::[0-9]{1,5})?(?:[/?#]\S*)?")


def registry_checks(
    name: str, record: RegistryRecord, folded: Sequence[int] = ()
) -> Iterator[tuple[RegistryCheckError, str, int | None]]:
    """What the script would refuse: the fault, the path that it is about, and the line where that is known.

    Args:
        name: the name of the file, without its folder.
        record: the record in it.
        folded: the lines on which its folded blocks begin.
    """
    if FILE_NAME.fullmatch(name) is None:
        rule = "is no name of a record"
        yield RegistryCheckError("file", rule, "lower-case letters, digits and _ before .yaml", value=name), "", 1
    for line in folded:
        yield RegistryCheckError("block", "is folded (>), which loses its line ends", "write | in its place"), "", line
    for path, text in record.texts():
        doubled = _DOUBLED.search(text)
        if doubled is not None:
            rule = f"holds {doubled[0]!a}"
            yield (
                RegistryCheckError(path, rule, "two backslashes stand before ( or ) alone; LaTeX between them has one"),
                path,
                None,
            )
        for url in URLS.findall(text):
            if not url_has_shape(url):
                yield RegistryCheckError(path, "holds an address without the shape of one", "correct it", value=url), path, None


def url_has_shape(url: str) -> bool:
    """Whether an address has a host with a dot in it, and no blanks.

    >>> url_has_shape("https://example.org/a"), url_has_shape("https://localhost"), url_has_shape("http://")
    (True, False, False)
    """
    return _ADDRESS.fullmatch(url) is not None
