"""YAML as the registry's records use it, read and written: mappings, lists, texts and numbers, each with its line.

A record comes from strangers. What a record has no use for is refused while the file is still a stream of events, before anything
is built of it: anchors and aliases (a few lines of which make gigabytes), tags (which name classes), directives, a second
document, a key twice in one mapping (the last would win without a word), nesting beyond the schema's, and files larger than any
record.

YAML 1.1, which the registry's own scripts read, decides by its look what an unquoted scalar is: ``2020-04-01`` is a date, ``no``
a truth value, ``5.8e-6`` a number and ``1e-5`` a text. So an unquoted scalar that is no plain word stays `UnquotedScalar`, with
what it looks like and exactly as it is written; a number never passes through a float.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpspec import DpspecError
from dpspec.plugin.applications import MissingLibraryError, SpecTooLargeError, YamlError, read_bytes
from dpspec_deployments.record import NUMERAL, RegistryRecord, UnquotedScalar, nested

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_BYTES = 200_000
"""The largest record that is read; the longest of the registry has less than a tenth of it."""
DEEPEST = 8
"""The deepest nesting that is read; the schema's is 4."""

_LOOKS = {
    "bool": "truth value", "int": "number", "float": "number", "null": "nothing", "timestamp": "date", "merge": "merge key",
    "value": "default key",
}  # fmt: skip
_UNSEEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML 1.1 does not allow in a file."""


@attrs.frozen(kw_only=True)
class YamlFile:
    """One file as it was read.

    Args:
        path: its name.
        data: the mapping that it holds: nested mappings, lists, texts, and values of `UnquotedScalar`.
        lines: the line of every key and list entry, by its dotted path.
        folded: the lines on which a folded block begins, which loses the line ends of its Markdown.
    """

    path: str
    data: dict[str, Any]
    lines: dict[str, int]
    folded: tuple[int, ...] = ()

    def line(self, path: str) -> int:
        """The line of a path, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path, 1)


def read_yaml(path: Path) -> YamlFile:
    """Read one file.

    Raises:
        YamlError: it is no UTF-8, no YAML, or holds what no record needs; each with its line.
        SpecTooLargeError: above 200,000 bytes, or nested deeper than 8.
        NotAFileError, UnreadableFileError: there is nothing to read.
        MissingLibraryError: PyYAML is not installed.
    """
    try:
        content = read_bytes(path, MOST_BYTES)
        if len(content) > MOST_BYTES:
            raise SpecTooLargeError("size", f"is larger than {MOST_BYTES:,} bytes", "a record holds prose, not data")
        return _Composer(str(path), _decoded(content)).file()
    except DpspecError as fault:
        fault.file = str(path)
        raise


def read_yaml_text(text: str, name: str = "<text>") -> YamlFile:
    """The same from a text.

    Raises:
        as `read_yaml`.
    """
    try:
        return _Composer(name, _decoded(text.encode("utf-8"))).file()
    except DpspecError as fault:
        fault.file = name
        raise


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise _at(line, YamlError("text", f"is not UTF-8 (byte {problem.start})", "save the file as UTF-8")) from None
    found = _UNSEEN.search(text)
    if found is not None:
        rule = f"holds the control character U+{ord(found[0]):04X}"
        raise _at(text.count("\n", 0, found.start()) + 1, YamlError("text", rule, "take it out"))
    return text


def _at(line: int, fault: DpspecError) -> DpspecError:
    fault.line = line
    return fault


class _Composer:
    """The data of one text, event by event, with one level of our own stack a level of nesting."""

    def __init__(self, path: str, text: str) -> None:
        try:
            import yaml
        except ImportError:
            raise MissingLibraryError("records", "PyYAML", "dpspec-deployments[registry]") from None
        self.yaml, self.path, self.text = yaml, path, text
        self.resolver = yaml.resolver.Resolver()
        self.lines: dict[str, int] = {}
        self.folded: list[int] = []

    def file(self) -> YamlFile:
        try:
            events = self._events()
            data = self._document(events)
            for event in events:  # to the end: a second document, or what cannot be read behind the first
                del event
        except self.yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
            rule = " ".join(str(getattr(problem, "problem", None) or problem).split())[:160]
            line = mark.line + 1 if mark is not None else self.text.count("\n") + 1
            raise _at(line, YamlError("YAML", rule, "indent with blanks, quote what holds a colon")) from None
        except RecursionError:
            raise SpecTooLargeError("nesting", f"is deeper than {DEEPEST}", "a record has four levels") from None
        return YamlFile(path=self.path, data=data, lines=self.lines, folded=tuple(self.folded))

    def _events(self) -> Iterator[Any]:
        """The events, without those that only begin and end; what no record needs ends the reading."""
        yaml, depth, documents = self.yaml, 0, 0
        for event in yaml.parse(self.text, Loader=yaml.SafeLoader):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _refused(line, "a second document", "a file is one record")
                if event.version is not None or event.tags:
                    raise _refused(line, "a directive", "take the line with % out")
            if isinstance(event, yaml.AliasEvent):
                raise _refused(line, f"an alias (*{event.anchor[:60]})", "write out what it means")
            if getattr(event, "anchor", None) is not None:
                raise _refused(line, f"an anchor (&{event.anchor[:60]})", "take it out")
            if getattr(event, "tag", None) is not None:
                raise _refused(line, f"a tag ({event.tag[:60]})", "a value is a text, a number or a list")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEEPEST:
                    raise _at(line, SpecTooLargeError("nesting", f"is deeper than {DEEPEST}", "a record has four levels"))
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                yield event

    def _document(self, events: Iterator[Any]) -> dict[str, Any]:
        first = next(events, None)
        if first is None:
            raise _at(1, YamlError("file", "is empty", "a record begins with url_slug, status, tier"))
        if not isinstance(first, self.yaml.MappingStartEvent):
            line = first.start_mark.line + 1
            raise _at(line, YamlError("file", "is no mapping", "a record begins with url_slug, status, tier, deployment"))
        return self._mapping(events, "")

    def _mapping(self, events: Iterator[Any], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for event in events:
            if isinstance(event, self.yaml.MappingEndEvent):
                break
            line = event.start_mark.line + 1
            if not isinstance(event, self.yaml.ScalarEvent):
                raise _refused(line, "a key that is no text", "a key is one word")
            key = event.value
            if key in found:
                raise _at(line, YamlError(key, "occurs twice in one mapping", "keep one of them"))
            place = f"{path}.{key}" if path else key
            self.lines[place] = line
            found[key] = None  # a key that is met again inside its own value is another level's
            found[key] = self._value(next(events), events, place)
        return found

    def _value(self, event: Any, events: Iterator[Any], path: str) -> Any:
        if isinstance(event, self.yaml.MappingStartEvent):
            return self._mapping(events, path)
        if isinstance(event, self.yaml.SequenceStartEvent):
            found: list[Any] = []
            for entry in events:
                if isinstance(entry, self.yaml.SequenceEndEvent):
                    break
                place = f"{path}[{len(found)}]"
                self.lines[place] = entry.start_mark.line + 1
                found.append(self._value(entry, events, place))
            return found
        return self._scalar(event)

    def _scalar(self, event: Any) -> Any:
        if event.style == ">":
            self.folded.append(event.start_mark.line + 1)
        if event.style is not None:  # quoted, or a block
            return event.value
        tag = self.resolver.resolve(self.yaml.ScalarNode, event.value, (True, False))
        looks = _LOOKS.get(tag.rpartition(":")[2])
        if NUMERAL.fullmatch(event.value) and (looks == "number" or looks is None):
            return UnquotedScalar(written=event.value, looks="number" if looks else "text")
        return event.value if looks is None else UnquotedScalar(written=event.value, looks=looks)


def _refused(line: int, what: str, advice: str) -> DpspecError:
    return _at(line, YamlError("file", f"holds {what}, which no record needs", advice))


# --- writing --------------------------------------------------------------------------------------


def to_yaml(record: RegistryRecord) -> str:
    """A record as the registry keeps it: fields in the order of its schema, prose as literal blocks, everything else quoted.

    Whatever the record holds is read back as it is, by `read_yaml` and by any reader of YAML 1.1.
    """
    return "".join(f"{line}\n" for line in _mapping_lines(nested(record), ""))


def _mapping_lines(data: dict[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield f"{indent}{key}:"
            yield from _mapping_lines(value, indent + "  ")
        elif isinstance(value, tuple):
            yield f"{indent}{key}:"
            for entry in value:
                yield from _scalar_lines(f"{indent}  -", entry, indent + "    ")
        else:
            yield from _scalar_lines(f"{indent}{key}:", value, indent + "  ")


def _scalar_lines(begun: str, value: Any, indent: str) -> Iterator[str]:
    write = next((write for kind, write in _SCALARS.items() if isinstance(value, kind)), None)
    if write is not None:
        yield f"{begun} {write(value)}"
    elif "\n" not in value:
        yield f"{begun} '{value.replace(chr(39), chr(39) * 2)}'"
    elif not value.strip("\n"):
        yield f'{begun} "{value.replace(chr(10), chr(92) + "n")}"'
    else:
        body, ends = value.rstrip("\n"), len(value) - len(value.rstrip("\n"))
        leads = "2" if value[0] in " \n\t" else ""
        yield f"{begun} |{leads}{'-' if ends == 0 else '' if ends == 1 else '+'}"
        yield from (indent + line if line else "" for line in body.split("\n"))
        yield from [""] * (ends - 1)


def decimal_text(value: Decimal) -> str:
    """A number so that YAML 1.1 reads a number, and TOML as well: with a point, and a sign in its exponent.

    >>> [decimal_text(Decimal(written)) for written in ("2.640", "1e-5", "12", "5.8e-6", "1E3")]
    ['2.64', '1.0e-5', '12.0', '5.8e-6', '1000.0']
    """
    sign, mantissa, exponent = value.as_tuple()  # by hand: the operations of Decimal round to 28 digits
    figures = "".join(map(str, mantissa)).lstrip("0")
    kept = figures.rstrip("0") or "0"
    power = int(exponent) + len(figures) - len(kept) if figures else 0
    order = len(kept) + power - 1
    minus = "-" if sign and figures else ""
    if not -4 <= order <= 15:
        return f"{minus}{kept[0]}.{kept[1:] or '0'}e{order:+d}"
    if power >= 0:
        return f"{minus}{kept}{'0' * power}.0"
    whole = kept.rjust(1 - power, "0")
    return f"{minus}{whole[:power]}.{whole[power:]}"


_SCALARS: dict[type, Callable[[Any], str]] = {int: str, Decimal: decimal_text}
