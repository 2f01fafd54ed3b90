"""Example usage of a registered name, in a specification file or on the command line.

A *fragment* is the part of a file that contains an object of a kind: the table of a block, the list of invariants, an
`[[expect]]` row. It shows an object that the class gives as an example of itself and that has a form in a file, else the first
object that can be made of ordinary values of its parameters. The writer of files writes it, so it reads back to an equal object.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs

from dpspec.base.errors import NotWritableError
from dpspec.base.params import Data, Domain, Items, Nested, Pairs, Registered, Text, Truth, parameters
from dpspec.extension import Entry, Registry
from dpspec.grammar.attacker import TableAttacker
from dpspec.grammar.flavour import Flavour
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.writer import fragment, setting, to_toml

TABLES = {
    "spaces": "space",
    "multiverses": "multiverse",
    "input_divergences": "input_divergence",
    "output_divergences": "output_divergence",
    "budgets": "budget",
    "mechanisms": "mechanism",
}
"""The kinds that are tables of their own in a file, with the names of these tables."""

IN_FILES = (*TABLES, "invariants", "relations", "routes")
"""The kinds whose objects occur in specification files."""

ATTACK = "dpspec attack SPEC TABLE --secret ATTR --attacker {name}"
COMMANDS = {
    "attackers": "dpspec risk SPEC --attacker {name}{options}",
    "tolerances": "dpspec recommend {name}{pairs}",
    "tables": "dpspec synth {name} --out {name}.csv",
    "formats": "dpspec release SPEC TABLE --out DIR --as {name}",
    "workers": "dpspec release SPEC TABLE --out DIR --workers {name}",
    "adapters": "dpspec verify SPEC --function MODULE:NAME --dataset {name}",
    "generators": "dpspec verify SPEC --function MODULE:NAME --generator {name}",
}
"""The command in which a name of any other kind is used."""

_TRIED = 2_000
"""Combinations of parameters that are tried until one can be made."""
_DEEPEST = 3
"""Objects inside objects that are made."""

_NUMBERS = ("1/2", 1, "1/4", 2, 0, 3, 4, 10, "1/100", -1)
_USUAL = {
    "epsilon": 1, "delta": "1/1000000", "posterior": "3/4", "keep_probability": "3/4", "swap_rate": "1/10", "fraction": "1/10",
    "variance": 4, "order": 8, "length": 3, "base": 5, "denominator": 2,
}  # fmt: skip
"""Numbers that parameters of these names usually have."""
_TEXTS = {
    "name": ("region", "kind"), "attribute": ("region",), "attributes": ("region",), "unit": ("person",),
    "parameter": ("epsilon",),
}  # fmt: skip
"""Texts for parameters of these names; any other text is one of the letters a, b, ..."""
_LETTERS = ("a", "b", "c")


@attrs.frozen(kw_only=True)
class Examples:
    """Makes examples of registered classes.

    Args:
        registry: the classes, of which some are parameters of others.
    """

    registry: Registry

    def toml(self, entry: Entry) -> str | None:
        """The fragment of a file with an object of the class; None where its kind does not occur in files."""
        if entry.kind == "flavours":
            return self._flavour(entry.cls())
        written = (self._written(entry.kind, thing) for thing in self.objects(entry.cls)) if entry.kind in IN_FILES else ()
        text = next((text for text in written if text is not None), None)
        if text is None or entry.kind != "output_divergences":
            return text
        first, *others = entry.cls.budget_parameters  # a reader has to know the key under which the number is written
        alternatives = f"  # or {' or '.join(others)}" if others else ""
        return f'{text.strip()}\n\n[budget]\n{first} = "1"{alternatives}'

    def _flavour(self, flavour: Flavour) -> str | None:
        """A flavour is a whole specification."""
        mechanism = flavour.satisfied_by().mechanism
        document = SpecDocument(id=flavour.name, title=flavour.title, spec=flavour.spec(), mechanism=mechanism)
        try:
            return to_toml(document, self.registry).strip()
        except NotWritableError:
            return None

    def command(self, entry: Entry) -> str | None:
        """A command that uses a name that does not occur in files; further arguments in capital letters."""
        pattern = ATTACK if issubclass(entry.cls, TableAttacker) else COMMANDS.get(entry.kind)
        if pattern is None:
            return None
        thing = next(self.objects(entry.cls), None) if parameters(entry.cls) else None
        given = () if thing is None else _required(entry.cls)
        pairs = [f"{p.name}={setting(getattr(thing, p.name), self.registry)}" for p in given]
        options = "".join(f" --set {pair}" for pair in pairs)
        return pattern.format(name=entry.name, options=options, pairs="".join(f" {pair}" for pair in pairs))

    def objects(self, cls: type, depth: int = 0) -> Iterator[Any]:
        """Objects of a class: its own examples, then what can be made of ordinary values of its parameters.

        All required ones are given, and, for classes that ask for one of several, one of the others.
        """
        given = getattr(cls, "examples", None)
        for example in given() if given is not None else ():
            yield example[0] if isinstance(example, tuple) else example
        required = _required(cls)
        for further in (None, *(p for p in parameters(cls) if not p.required)):
            chosen = required if further is None else (*required, further)
            choices = [list(itertools.islice(self._values(p.domain, p.name, depth), len(_NUMBERS))) for p in chosen]
            for values in itertools.islice(itertools.product(*choices), _TRIED):
                try:
                    yield cls(**{p.name: value for p, value in zip(chosen, values, strict=True)})
                except Exception:  # noqa: S112 - a plugin's class may raise anything at what it does not take
                    continue

    def _values(self, domain: Domain, name: str, depth: int) -> Iterator[Any]:
        """Ordinary values of a domain, as a file would give them; objects as objects."""
        if isinstance(domain, Truth):
            yield from (True, False)
        elif isinstance(domain, Text):
            yield from domain.choices or _TEXTS.get(name, _LETTERS)
        elif isinstance(domain, Registered):
            classes = self.registry.classes(domain.kind) if depth < _DEEPEST else ()
            for cls in sorted(classes, key=lambda cls: len(_required(cls))):  # those that ask for least first
                yield from itertools.islice(self.objects(cls, depth + 1), 1)
        elif isinstance(domain, Nested):
            yield from self.objects(domain.cls, depth)
        elif isinstance(domain, Items):
            entries = list(itertools.islice(self._values(domain.item, name, depth), len(_NUMBERS)))
            lengths = (1, 2) if isinstance(domain.item, (Registered, Nested)) else (2, 1)
            wanted = dict.fromkeys(max(length, domain.least) for length in lengths)
            yield from (list(some) for length in wanted for some in itertools.combinations(entries, length))
        elif isinstance(domain, Pairs):
            yield from ({"a": value} for value in self._values(domain.item, name, depth))
        elif isinstance(domain, Data):
            yield from ([], [0, 1], [["f"]], 1)
        else:
            usual = (_USUAL[name],) if name in _USUAL else ()
            yield from (value for value in (*usual, *_NUMBERS) if _takes(domain, value))

    def _written(self, kind: str, thing: Any) -> str | None:
        try:
            if kind == "invariants":
                return fragment("multiverse", {"invariants": (thing,)}, self.registry)
            if kind == "routes":
                row = {"what": "the number as it is printed", "epsilon": 1, "tolerance": "0.01"}
                row |= {"because": "printed with two decimals", "route": thing}
                return fragment("expect", row, self.registry, array=True)
            if kind in TABLES:
                return fragment(TABLES[kind], thing, self.registry)
            hosts = (fragment(TABLES[host], whole, self.registry) for host, whole in self._hosts(kind, thing))
            return next(hosts, None)
        except NotWritableError:
            return None

    def _hosts(self, kind: str, thing: Any) -> Iterator[tuple[str, Any]]:
        """Objects of other kinds with the thing as a parameter, and nothing else that has to be given."""
        for host in TABLES:
            for cls in self.registry.classes(host):
                required = _required(cls)
                if len(required) == 1 and required[0].domain == Registered(kind):
                    yield host, cls(**{required[0].name: thing})


def _required(cls: type) -> tuple[Any, ...]:
    return tuple(p for p in parameters(cls) if p.required)


def _takes(domain: Domain, value: Any) -> bool:
    try:
        domain.read(value, "value")
    except Exception:  # a plugin's own domain may raise anything
        return False
    return True
