"""Checks of a plugin as a whole, of registered classes and their values, of what moves tables, and of what functions are handed.

Of the whole: what importing it does, and what it registers. Of classes: parameters declared once, values frozen and hashable.
What moves tables are builders, file formats and workers.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import json
import math
import os
import random
import re
import secrets
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dpspec.base.errors import AdapterError, DpspecError, DuplicateNameError, UnknownHookError
from dpspec.base.exact import number
from dpspec.base.params import Domain, Items, Parameter, Truth, parameters
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.extension.hooks import KINDS, PREFIX, TABLE
from dpspec.grammar.tables import Table, joined
from dpspec.grammar.workers import Columns
from dpspec.testing.check import ClassSubject, Context, NotApplicable, PluginSubject, ValueSubject, check, require

KIND, CLASS = "plugins", "classes"
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PATIENCE = 120

_WATCH = """
import json, os, random, sys
import numpy
import dpspec.testing.check
seen = {"files": [], "network": [], "random": []}
watching = False
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
def hook(event, args):
    if not watching:
        return
    if event == "open" and args[0] != os.devnull and args[2] and args[2] & WRITING:
        seen["files"].append(f"opens {args[0]} for writing")
    elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod"):
        seen["files"].append(f"{event} {args[0]}")
    elif event.startswith("socket.") or event == "urllib.Request":
        seen["network"].append(event)
sys.dont_write_bytecode = True
sys.addaudithook(hook)
before = repr(random.getstate()), repr(numpy.random.get_state())
watching = True
__import__(sys.argv[1])
watching = False
if before != (repr(random.getstate()), repr(numpy.random.get_state())):
    seen["random"].append("moves a global random generator")
print(json.dumps(seen))
"""


@cache
def _traces(module: str) -> dict[str, list[str]]:
    """The side effects of importing a module in a fresh interpreter."""
    # In this interpreter the module was imported before, and importing it again does nothing.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(  # noqa: S603 - this interpreter, with a module that is installed anyway
        [sys.executable, "-c", _WATCH, module], env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE
    )
    if done.returncode != 0:
        raise NotApplicable(f"it cannot be imported in a fresh interpreter: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _trace(subject: PluginSubject, what: str) -> list[str]:
    if subject.importable is None:
        raise NotApplicable("it is an object made in a program, not a module")
    return _traces(subject.importable)[what]


@check(KIND)
def check_import_leaves_files_alone(subject: PluginSubject, context: Context) -> None:
    """Importing the plugin writes, moves or removes no file. Every command that loads plugins would do it."""
    found = _trace(subject, "files")
    require(not found, f"importing {subject.importable} {'; '.join(found)}")


@check(KIND)
def check_import_leaves_the_network_alone(subject: PluginSubject, context: Context) -> None:
    """Importing the plugin opens no connection. A verdict must not depend on who answers."""
    found = _trace(subject, "network")
    require(not found, f"importing {subject.importable} uses the network: {', '.join(sorted(set(found)))}")


@check(KIND)
def check_import_leaves_random_state_alone(subject: PluginSubject, context: Context) -> None:
    """Importing the plugin neither seeds nor draws from a global generator. Other people's experiments depend on it."""
    found = _trace(subject, "random")
    require(not found, f"importing {subject.importable} {'; '.join(found)}")


@check(KIND)
def check_plugin_loads(subject: PluginSubject, context: Context) -> None:
    """The plugin imports without a fault, and so do the names of its table. What failed is fatal to every file that needs it."""
    fault = subject.info.error
    checked_elsewhere = (UnknownHookError, DuplicateNameError)  # by checks of their own
    require(fault is None or isinstance(fault, checked_elsewhere), str(fault))
    for entry in subject.info.entries:
        require(entry.fault is None, str(entry.fault))


@check(KIND)
def check_hooks_are_known(subject: PluginSubject, context: Context) -> None:
    """Every function dpspec_... of the module is a hook, under its decorator. A misspelt one would silently never be called."""
    known = {TABLE, *(PREFIX + kind for kind in KINDS)}
    for name in dir(subject.module):
        hook = getattr(subject.module, name)
        if name.startswith("dpspec_") and callable(hook):
            require(name in known, f"{name} is no hook")
            require(hasattr(hook, "dpspec_impl"), f"{name} lacks @hookimpl")


@check(KIND)
def check_interface_version_is_stated(subject: PluginSubject, context: Context) -> None:
    """`DPSPEC_API` is the version of the plugin interface that the module was written for, so that a later core can check it."""
    stated = getattr(subject.module, "DPSPEC_API", None)
    require(type(stated) is int, f"DPSPEC_API = {stated!r}; write the number of the interface, such as DPSPEC_API = 1")


@check(KIND)
def check_names_are_unique(subject: PluginSubject, context: Context) -> None:
    """No other installed plugin and no first-party package has a name of the same kind: files would mean something else."""
    fault = subject.info.error
    require(not isinstance(fault, DuplicateNameError), str(fault))
    taken = Counter((entry.kind, entry.name) for entry in context.registry)
    for entry in subject.info.entries:
        require(taken[entry.kind, entry.name] == 1, f"{entry.name} is registered by another plugin too")


@check(CLASS)
def check_name_is_kebab(subject: ClassSubject, context: Context) -> None:
    """The registered name is lower-kebab in plain letters and is the `name` of the class, which verdicts and errors quote."""
    name = subject.entry.name
    require(_KEBAB.fullmatch(name) is not None, f"{name!r} is not lower-kebab, such as my-mechanism")
    own = getattr(subject.thing, "name", None)
    require(own == name, f"registered as {name!r}, but name = {own!r}")


@check(CLASS)
def check_class_is_documented(subject: ClassSubject, context: Context) -> None:
    """The class has a docstring of its own that names every declared parameter. `dpspec explain` prints it."""
    text = inspect.cleandoc(subject.thing.__dict__.get("__doc__") or "")
    require(bool(text), f"{subject.thing.__name__} has no docstring")
    inherited = "\n".join(inspect.cleandoc(cls.__doc__ or "") for cls in subject.thing.__mro__)
    missing = [p.name for p in parameters(subject.thing) if not re.search(rf"\b{p.name}\b", inherited)]
    require(not missing, f"the docstring does not name {', '.join(missing)}")


# --- classes and values ---------------------------------------------------------------------------


PARAMS_CLASS, VALUE = "classes", "values"


def _declared(cls: type) -> tuple[Parameter, ...]:
    if not attrs.has(cls):
        raise NotApplicable("it declares no parameters with dpspec.define")
    return parameters(cls)


def _read(cls: type, parameter: Parameter, value: Any) -> Any:
    """The value as the class itself takes it."""
    converter = getattr(attrs.fields_dict(cls)[parameter.name], "converter", None)
    return parameter.domain.read(value, parameter.name) if converter is None else converter(value)


def _refused(cls: type, parameter: Parameter, value: Any) -> bool:
    try:
        _read(cls, parameter, value)
    except DpspecError as fault:
        require(parameter.name in str(fault), f"{parameter.name} refuses {value!r} without its name: {fault}")
        return True
    return False


def _edges(domain: Domain) -> Iterator[Any]:
    """The closed ends of a range."""
    for end, is_open in (("low", "open_low"), ("high", "open_high")):
        value = getattr(domain, end, None)
        if value is not None and not getattr(domain, is_open):
            yield value


def _outside(domain: Domain) -> Iterator[Any]:
    """Values beyond the ends of a range, and the ends that are open."""
    low, high = getattr(domain, "low", None), getattr(domain, "high", None)
    if low is not None:
        yield from (str(number(low) - 1), *([low] if domain.open_low else []))  # type: ignore[attr-defined]
    if high is not None and not number(high).is_infinite:
        yield from (str(number(high) + 1), *([high] if domain.open_high else []))  # type: ignore[attr-defined]


@check(PARAMS_CLASS)
def check_parameters_take_what_their_domain_says(subject: ClassSubject, context: Context) -> None:
    """Every value of a declared domain is taken, its closed ends too, and is then stored as a fixed point of reading."""
    for parameter in _declared(subject.thing):
        for value in (*context.members(parameter.domain), *_edges(parameter.domain)):
            try:
                stored = _read(subject.thing, parameter, value)
                again = _read(subject.thing, parameter, stored)
            except DpspecError as fault:
                domain = parameter.domain.describe()
                require(False, f"{parameter.name} is declared as {domain} and refuses {value!r}: {fault}")
            require(stored == again, f"{parameter.name} reads {value!r} as {stored!r}, and that as {again!r}")


@check(PARAMS_CLASS)
def check_parameters_refuse_what_lies_outside(subject: ClassSubject, context: Context) -> None:
    """A value outside the declared range is refused by an error that names the parameter, when the object is made."""
    for parameter in _declared(subject.thing):
        for value in _outside(parameter.domain):
            require(_refused(subject.thing, parameter, value), f"{parameter.name} takes {value!r}, outside its domain")


@check(PARAMS_CLASS)
def check_parameters_refuse_nan(subject: ClassSubject, context: Context) -> None:
    """NaN compares with nothing, so a budget or a scale of NaN would pass every bound. It is refused by name."""
    for parameter in _declared(subject.thing):
        value = (math.nan,) if isinstance(parameter.domain, Items) else math.nan
        require(_refused(subject.thing, parameter, value), f"{parameter.name} takes NaN")


@check(PARAMS_CLASS)
def check_parameters_refuse_truth_values(subject: ClassSubject, context: Context) -> None:
    """True is no number and no text: epsilon = true is a slip, not epsilon = 1. It is refused by name."""
    for parameter in _declared(subject.thing):
        if not isinstance(parameter.domain, Truth):
            require(_refused(subject.thing, parameter, True), f"{parameter.name} takes True")


@check(VALUE)
def check_values_are_frozen(subject: ValueSubject, context: Context) -> None:
    """A block cannot be changed once it is created: a verdict is about the object that was verified."""
    for field in attrs.fields(type(subject.thing)) if attrs.has(type(subject.thing)) else ():
        try:
            setattr(subject.thing, field.name, getattr(subject.thing, field.name))
        except AttributeError:
            continue
        require(False, f"{field.name} can be set after the object was made")


@check(VALUE)
def check_values_are_hashable_and_equal_by_value(subject: ValueSubject, context: Context) -> None:
    """Two objects with equal parameters are equal and have one hash. Laws and distances are remembered by it."""
    twin = attrs.evolve(subject.thing) if attrs.has(type(subject.thing)) else copy.copy(subject.thing)
    require(subject.thing == twin, "an object made from the same parameters is not equal")
    require(hash(subject.thing) == hash(twin), "equal objects have different hashes")


# --- builders -------------------------------------------------------------------------------------


TABLES, FORMAT, WORKERS = "tables", "formats", "workers"
ROWS = 50


@check(TABLES)
def check_a_sized_table_has_the_rows_that_are_asked_for(subject: ValueSubject, context: Context) -> None:
    """`batches(rows, seed)` gives so many records of the stated `attributes`.

    Invented attributes are distinguished from published ones by them.
    """
    builder = subject.thing.sized()
    if builder is None:
        raise NotApplicable("its table has one size")
    made = list(builder.batches(ROWS, 1))
    require(sum(map(len, made)) == ROWS, f"{sum(map(len, made))} records where {ROWS} were asked for")
    columns = {table.attributes for table in made}
    require(columns == {builder.attributes}, "a batch has other columns than it states")


@check(TABLES, level="full")
def check_a_sized_table_is_the_same_again(subject: ValueSubject, context: Context) -> None:
    """Equal rows and seeds give equal records, so that a table with a name is one table, everywhere."""
    builder = subject.thing.sized()
    if builder is None:
        raise NotApplicable("its table has one size")
    first, second = (list(joined(builder.attributes, builder.batches(ROWS, 1)).records()) for _ in range(2))
    require(first == second, "the same seed gave other records")


# --- formats -------------------------------------------------------------------------------------

_PLACE = Attribute(name="place", categories=("north", "south, or nearly", "none"))
_SIZE = Attribute(name="size", categories=("1", "2"))


def _table() -> Table:
    rows = [("north", "2"), ("none", "1"), ("south, or nearly", "2"), ("north", "2")]
    return Table.from_records(rows, (_PLACE, _SIZE))


def _asked_to_write(subject: ValueSubject) -> None:
    if subject.thing.is_read_only:
        raise NotApplicable("it says that it writes nothing")


def _rows_written(subject: ValueSubject, path: Path) -> list[tuple[str, ...]]:
    attributes = (_PLACE, _SIZE)
    rows: list[tuple[str, ...]] = []
    for batch in subject.thing.batches(path, attributes):
        columns = ([list(attribute.values())[code] for code in batch[attribute.name].codes] for attribute in attributes)
        rows += zip(*columns, strict=True)
    return rows


@check(FORMAT)
def check_a_table_reads_back_as_it_was_written(subject: ValueSubject, context: Context) -> None:
    """`header` and `batches` give back what `write` wrote:

    columns, categories and the order of the rows. Releases are re-read.
    """
    _asked_to_write(subject)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{subject.thing.suffixes[0]}"
        subject.thing.write(_table(), path, {})
        header = subject.thing.header(path)
        require(tuple(header) == ("place", "size"), f"the header is {header}")
        found, expected = _rows_written(subject, path), [tuple(map(str, row)) for row in _table().records()]
        require(found == expected, f"{found} is read where {expected} was written")


@check(FORMAT)
def check_batches_are_written_as_one_table(subject: ValueSubject, context: Context) -> None:
    """`write_batches` leaves the table that `write` would: large releases are written in batches, and small ones are not."""
    _asked_to_write(subject)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{subject.thing.suffixes[0]}"
        subject.thing.write_batches((_PLACE, _SIZE), iter([_table(), _table()]), path, {})
        expected = [tuple(map(str, row)) for row in _table().records()] * 2
        found = _rows_written(subject, path)
        require(found == expected, f"{found} is read where {expected} was written in two batches")


@check(FORMAT)
def check_file_endings_are_its_own(subject: ValueSubject, context: Context) -> None:
    """`suffixes` begin with a dot, and no other format has them: a file is read in the format that its ending names."""
    require(bool(subject.thing.suffixes), "it has no ending")
    others = set(context.registry.classes(FORMAT)) - {type(subject.thing)}
    taken = {suffix: cls for cls in others for suffix in cls.suffixes}
    for suffix in subject.thing.suffixes:
        require(suffix.startswith("."), f"{suffix!r} does not begin with a dot")
        require(suffix not in taken, f"{suffix} is an ending of another format")


# --- workers -------------------------------------------------------------------------------------


def _doubled(part: Columns) -> Columns:
    return {"value": 2 * part["value"]}


def _parts() -> Iterator[Columns]:
    return ({"value": np.arange(size) + size} for size in (3, 0, 1, 5, 2))


@check(WORKERS, level="full")
def check_parts_come_back_in_order(subject: ValueSubject, context: Context) -> None:
    """`map` gives the kernel's result for each part, in the order of the parts. A release is put together by that order."""
    try:
        require(subject.thing.parts >= 1, f"parts = {subject.thing.parts}")
        found = [part["value"].tolist() for part in subject.thing.map(_doubled, _parts())]
    finally:
        subject.thing.close()
    expected = [_doubled(part)["value"].tolist() for part in _parts()]
    require(found == expected, f"the results are {found}, where {expected} belong")


# --- adapters and generators ----------------------------------------------------------------------


ADAPTERS, GENERATORS = "adapters", "generators"


def _written(adapter: Any, context: Context) -> Iterator[tuple[Any, DatasetSpace, tuple[Dataset, ...]]]:
    """The small spaces that the adapter can write, with some of their datasets, among them one that is not empty."""
    fits = False
    for space in context.values("spaces"):
        datasets = tuple(x for x in itertools.islice(space.datasets(), 12) if len(repr(x)) < 60)  # longer ones are shown in part
        try:
            for dataset in datasets:
                adapter.written(dataset, space)
        except AdapterError as problem:
            reason = str(problem)
            continue
        fits = True
        yield adapter, space, datasets
    if not fits:
        raise NotApplicable(f"it writes no dataset here: {reason}")


@check(ADAPTERS)
def check_every_call_has_a_dataset_of_its_own(subject: ValueSubject, context: Context) -> None:
    """`copied(written(x))` is written as `written(x)` is, and is another object where it could be changed.

    What a function does to its dataset must not reach its next call.
    """
    for adapter, space, datasets in _written(subject.thing, context):
        for dataset in datasets:
            written = adapter.written(dataset, space)
            again, copied = adapter.written(dataset, space), adapter.copied(written)
            subject_text = f"{dataset} of {space.name}"
            require(repr(again) == repr(written), f"{subject_text} is written as {written!r}, then as {again!r}")
            require(repr(copied) == repr(written), f"{subject_text} is written as {written!r}, and copied as {copied!r}")
            require(copied is not written or isinstance(copied, (str, bytes, tuple)), f"{subject_text} is not copied")


@check(ADAPTERS)
def check_datasets_are_told_apart_in_written_form(subject: ValueSubject, context: Context) -> None:
    """Different datasets have different written forms, where their records differ: a function must be able to distinguish
    them."""
    for adapter, space, datasets in _written(subject.thing, context):
        if space.units and not space.is_told_by(space.units[0]):
            continue
        seen: dict[str, Dataset] = {}
        for dataset in datasets:
            other = seen.setdefault(repr(adapter.written(dataset, space)), dataset)
            require(other == dataset, f"{other} and {dataset} of {space.name} are written the same")


@check(GENERATORS)
def check_the_same_bits_give_the_same_draws(subject: ValueSubject, context: Context) -> None:
    """Where it `replays`: draws from what is `made` of equal bits, or under `drawing`, are equal, and of other bits they are not.

    A verdict is replayed from its seed. What is put in the place of the operating system's generator is taken away again.
    """
    source = subject.thing
    if not source.replays:
        raise NotApplicable("it says that nothing replays")
    before = os.urandom
    drawn = [_drawn(source, seed) for seed in (1, 1, 2)]
    require(drawn[0] == drawn[1], "equal bits gave different draws")
    require(drawn[0] != drawn[2], "different bits gave the same draws")
    require(os.urandom is before, "os.urandom is not what it was before")


def _drawn(source: Any, seed: int) -> object:
    """Some draws, by whatever method there is."""
    bits = np.random.Generator(np.random.PCG64(seed))
    try:
        with source.drawing(bits):
            made = source.made(bits)
            if not source.is_handed:
                return secrets.randbits(64), random.getrandbits(64), os.urandom(8)
            draw = next((getattr(made, name) for name in ("random", "random_sample") if hasattr(made, name)), None)
    except AdapterError as problem:
        raise NotApplicable(str(problem)) from None
    if draw is None:
        raise NotApplicable("there is no sampler for it here")
    return [draw() for _ in range(4)]
