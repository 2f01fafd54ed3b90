"""Processes that charge one account, and that end at a given statement of the database; run as a script.

python crashing.py URL SPEC each         one process after another, each killed at the next statement of a charge
python crashing.py URL SPEC together N   N processes at once, each killed at a random statement, until the cap is spent
python crashing.py URL SPEC release TABLE FOLDER
                                         releases of a table into folders 1, 2, ..., each killed at the next statement

Each process acknowledges what it was told is done, by one line in a pipe. The answer is a JSON list of these lines, in the order
in which processes ended. Nothing depends on the time of day or on how long anything takes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable

from dpspec_accounts.account import Account, OverCapError
from sqlalchemy import event
from sqlalchemy.engine import Engine

WHEN = ("before", "after")


def killed_at(statement: int, when: str) -> None:
    """End this process at a statement that it sends, before the database sees it or after."""
    seen = [0]

    def counted(*_: object) -> None:
        seen[0] += 1
        if seen[0] == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, f"{when}_cursor_execute", counted)


def begun(work: Callable[[Callable[[str], None]], None]) -> tuple[int, int]:
    """A process that does some work, and the end of a pipe with what it acknowledges."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    code = 1
    try:
        work(lambda line: os.write(writing, f"{line}\n".encode()) and None)
        code = 0
    finally:
        os._exit(code)


def ended(child: int, reading: int) -> tuple[list[str], bool]:
    """What a process acknowledged, and whether it was killed."""
    with os.fdopen(reading) as pipe:
        lines = pipe.read().split()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a process failed"
    return lines, os.WIFSIGNALED(status)


def charge_one(account: Account, spec: str, say: Callable[[str], None]) -> None:
    say(f"committed:{account.charge(spec).number}")


def each(account: Account, spec: str) -> list[list[str]]:
    """One charge after another, killed at its first, second, ... statement, until one ends by itself."""
    found = []
    for when in WHEN:
        statement, was_killed = 0, True
        while was_killed:
            statement += 1

            def work(say: Callable[[str], None], statement: int = statement, when: str = when) -> None:
                killed_at(statement, when)
                charge_one(account, spec, say)

            lines, was_killed = ended(*begun(work))
            found.append(lines)
    return found


def many_steps(account: Account, spec: str, source: random.Random, say: Callable[[str], None]) -> None:
    """Charges, reservations, draws, commits and voids until something does not fit."""
    while True:
        try:
            if source.random() < 0.3:
                charge_one(account, spec, say)
                continue
            number = account.reserve(spec).number
        except OverCapError:
            say("over")
            return
        say(f"reserved:{number}")
        if source.random() < 0.5:
            account.void(number, "not needed")
            say(f"void:{number}")
            continue
        account.draw(number)
        say(f"drawn:{number}")
        account.commit(number)
        say(f"committed:{number}")


def together(account: Account, spec: str, processes: int) -> list[list[str]]:
    """Processes at once; a killed one is followed by another, the last ones are not killed."""
    source, found, left = random.Random(31), [], 6 * processes
    running: list[tuple[int, int]] = []
    while left or running:
        while left and len(running) < processes:
            left -= 1
            seed, end = source.randrange(1 << 30), (source.randrange(10, 300), source.choice(WHEN))
            end = None if left < processes else end

            def work(say: Callable[[str], None], seed: int = seed, end: tuple[int, str] | None = end) -> None:
                if end is not None:
                    killed_at(*end)
                many_steps(account, spec, random.Random(seed), say)

            running.append(begun(work))
        lines, _ = ended(*running.pop(0))
        found.append(lines)
    return found


def releases(url: str, spec: str, table: str, folder: str) -> list[list[str]]:
    """One release after another, killed at its first, second, ... statement of the database, until one ends by itself."""
    import dpspec as dp

    found: list[list[str]] = []
    for when in WHEN:
        statement, was_killed = 0, True
        while was_killed:
            statement += 1
            out = f"{folder}/{len(found) + 1}"

            def work(say: Callable[[str], None], statement: int = statement, when: str = when, out: str = out) -> None:
                killed_at(statement, when)
                dp.release(spec, table, out, account=url)
                say("released")

            lines, was_killed = ended(*begun(work))
            found.append(lines)
    return found


if __name__ == "__main__":
    url, spec, how, *rest = sys.argv[1:]
    opened = Account(url, wait=300)
    opened.quote(spec)  # what is read and verified once, for all processes
    if how == "release":
        print(json.dumps(releases(url, spec, *rest)))
    else:
        print(json.dumps(each(opened, spec) if how == "each" else together(opened, spec, int(rest[0]))))
