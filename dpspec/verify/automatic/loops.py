"""Redraw loops: a run that comes back to a state it may be in earlier needs not be followed any further.

When a `while` loop starts a round, what happens next depends on the values of the local variables that are still read,
on what was pinned when the loop was entered (everything outside it), and on fresh randomness. Two rounds of one
execution of the loop with equal live variables have therefore the same law: the loop is a Markov chain, which is solved exactly.

Heads of `while` loops are found in the bytecode as targets of backward jumps that are not `for` loops. The state counts only
when every live variable is a plain value (numbers, texts, containers and arrays of them, functions); with any other
object the loop is followed round by round. Global variables that a sampler changes are not seen.
"""

from __future__ import annotations

import dis
import inspect
import re
import types
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path as File
from typing import Any

import attrs
import numpy as np

from dpspec.errors import NotEnumerableError
from dpspec.laws.exponential import Exponential
from dpspec.verify.automatic.path import Path, Stop
from dpspec.verify.automatic.uniform import Uniform

_MOST_STEPS = 20_000_000
_ATOMS = (int, str, bytes, complex, Fraction, Decimal, Exponential, np.generic, type(None), type(Ellipsis), type, range)
_STATELESS = (types.ModuleType, types.BuiltinFunctionType, np.ufunc)
_CONTAINERS = (list, tuple, frozenset)  # the order of a changing set depends on its past
_OURS = (str(File(dis.__file__).parent / "fractions"), str(File(__file__).parents[2]), str(File(np.__file__).parent))
"""Files whose loops are no part of a sampler."""
_EXPRESSIONS = {"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"}
_READS_ALL = {"locals", "vars", "eval", "exec", "dir"}


class NotPlain(Exception):
    """A value of which no snapshot can be taken."""


@attrs.frozen
class Loop:
    """A `while` loop: the offsets of its first and last instruction and the variables that are live at its start."""

    head: int
    end: int
    live: frozenset[str]


_KNOWN: dict[int, tuple[types.CodeType, tuple[Loop, ...]]] = {}


def loops_of(code: types.CodeType) -> tuple[Loop, ...]:
    """The `while` loops of a function, remembered by identity: equality of code objects is slow to tell."""
    known = _KNOWN.get(id(code))
    if known is None or known[0] is not code:
        known = _KNOWN[id(code)] = (code, _loops(code))
    return known[1]


def _loops(code: types.CodeType) -> tuple[Loop, ...]:
    """None for generators and coroutines, whose callers run between two rounds."""
    suspends = code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    if suspends or code.co_filename.startswith(_OURS):
        return ()
    instructions = list(dis.get_instructions(code))
    names = {i.offset: i.opname for i in instructions}
    ends: dict[int, int] = {}
    for i in instructions:
        if "JUMP_BACKWARD" in i.opname:
            ends[i.argval] = max(i.offset, ends.get(i.argval, 0))
    heads = {head: end for head, end in ends.items() if _operation(head, names) != "FOR_ITER"}
    if not heads:
        return ()
    live = _live(code, instructions, names)
    return tuple(Loop(head, end, live[head]) for head, end in heads.items())


def _operation(offset: int, names: dict[int, str]) -> str:
    while names[offset] == "EXTENDED_ARG":
        offset += 2
    return names[offset]


def _live(code: types.CodeType, instructions: list[dis.Instruction], names: dict[int, str]) -> dict[int, frozenset[str]]:
    """For every instruction, the local variables that may be read before they are written; cells of functions are always live."""
    always = frozenset((*code.co_cellvars, *code.co_freevars)) - _in_expressions_only(code)
    if _READS_ALL.intersection(code.co_names):
        return dict.fromkeys(names, always | frozenset(code.co_varnames))
    handlers = [(e.start, e.end, e.target) for e in dis.Bytecode(code).exception_entries]  # type: ignore[attr-defined]
    live: dict[int, frozenset[str]] = dict.fromkeys(names, always)
    changed = True
    while changed:
        changed = False
        following: int | None = None
        for i in reversed(instructions):
            before = always.union(*(live[target] for start, end, target in handlers if start <= i.offset < end))
            targets = []
            if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs:
                targets.append(i.argval)
            if following is not None and not _leaves(i.opname):
                targets.append(following)
            after = always.union(*(live[target] for target in targets))
            before |= _before(i, after)
            changed, live[i.offset], following = changed or before != live[i.offset], before, i.offset
    return live


def _in_expressions_only(code: types.CodeType) -> frozenset[str]:
    """Variables that inner comprehensions and generator expressions share, but no inner function: used up where they stand."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    kept = {name for one in inner if one.co_name not in _EXPRESSIONS for name in one.co_freevars}
    return frozenset(code.co_cellvars) - kept


def _leaves(name: str) -> bool:
    """Whether control never passes to the next instruction."""
    return (
        name.startswith(("RETURN_", "RAISE_VARARGS", "RERAISE"))
        or re.fullmatch(r"JUMP_(FORWARD|BACKWARD\w*|ABSOLUTE)", name) is not None
    )


def _before(instruction: dis.Instruction, after: frozenset[str]) -> frozenset[str]:
    steps = re.findall(r"(LOAD|STORE|DELETE)_(?:FAST|DEREF|CLOSURE)", instruction.opname)
    used = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
    for step, variable in reversed(list(zip(steps, used, strict=False))):
        after = after - {variable} if step == "STORE" else after | {variable}
    return after


@attrs.define
class Watch:
    """Follows a run with a trace function and reports the states at the heads of its loops.

    Args:
        path: the run.
        reached: called with each state beyond the start of the run.
    """

    path: Path
    reached: Callable[[Hashable], None]
    steps: int = 0

    def __call__(self, frame: types.FrameType, event: str, _: Any) -> Any:
        """The trace function: frames without loops are left alone."""
        loops = loops_of(frame.f_code) if event == "call" else ()
        if not loops:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        entered: dict[Loop, tuple[Any, ...]] = {}

        def local(frame: types.FrameType, event: str, _: Any) -> Any:
            if event == "opcode":
                self._step(frame, loops, entered)
            return local

        return local

    def _step(self, frame: types.FrameType, loops: tuple[Loop, ...], entered: dict[Loop, tuple[Any, ...]]) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise Stop(fault=NotEnumerableError("sampler", "did not end", "check its loops"))
        offset = frame.f_lasti
        for loop in loops:
            if offset == loop.head:
                pinned = entered.setdefault(loop, tuple(self.path.taken))
                if len(self.path.taken) > max(self.path.start, len(pinned)):
                    self._report(frame, loop, pinned)
            elif not loop.head <= offset <= loop.end:
                entered.pop(loop, None)

    def _report(self, frame: types.FrameType, loop: Loop, pinned: tuple[Any, ...]) -> None:
        held = frame.f_locals
        try:
            values = tuple((name, snapshot(held[name], {})) for name in sorted(loop.live) if name in held)
        except NotPlain:
            return
        self.reached((frame.f_code, loop.head, pinned, values))


def snapshot(value: Any, seen: dict[int, int]) -> Hashable:
    """A hashable copy of a plain value that also tells which of its containers are one object.

    Raises:
        NotPlain: for values with parts that cannot be looked at.
    """
    from dpspec.verify.automatic.generator import EnumeratingGenerator

    kind = type(value)
    found: Hashable = None
    if kind is Uniform:
        found = value.known()
    elif issubclass(kind, float):
        found = repr(value)
    elif issubclass(kind, _ATOMS):
        found = value
    elif issubclass(kind, _STATELESS):
        found = id(value)
    elif id(value) in seen:
        return "again", seen[id(value)]
    elif kind is not EnumeratingGenerator:
        seen[id(value)] = len(seen)
        found = _parts(value, kind, seen)
    return kind, found


def _parts(value: Any, kind: type, seen: dict[int, int]) -> Hashable:
    if kind in _CONTAINERS:
        return tuple(snapshot(part, seen) for part in value)
    if kind is dict:
        return tuple((snapshot(key, seen), snapshot(part, seen)) for key, part in value.items())
    if kind is np.ndarray and value.base is None:
        content = tuple(snapshot(part, seen) for part in value.flat) if value.dtype.hasobject else value.tobytes()
        return value.dtype.str, value.shape, content
    if kind is types.FunctionType:
        cells = tuple(snapshot(cell.cell_contents, seen) for cell in value.__closure__ or ())
        return id(value.__code__), snapshot(value.__defaults__, seen), snapshot(value.__kwdefaults__, seen), cells
    raise NotPlain
