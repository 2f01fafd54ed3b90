"""Processes that charge one account, and that end at a given statement of the database; run as a script.

python crashing.py URL SPEC each         one process after another, each killed at the next statement of a charge
python crashing.py URL SPEC together N KILLS MOST
                                         N processes at once until the cap is spent; KILLS of them are killed, each at a random
                                         statement up to MOST, and followed by another one
python crashing.py URL SPEC release TABLE FOLDER STEP
                                         releases of a table into folders 1, 2, ..., each killed STEP statements later

Each process acknowledges what it was told is done, by one line in a file. The answer is a JSON list of these lines, in the order
in which processes ended. Nothing depends on the time of day or on how long anything takes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable

from dpspec_accounts.account import Account, OverCapError
from dpspec_accounts.errors import AccountUnavailableError
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


def begun(work: Callable[[Callable[[str], None]], None]) -> tuple[int, str]:
    """A process that does some work, and the file with what it acknowledges."""
    opened, path = tempfile.mkstemp()
    child = os.fork()
    if child:
        os.close(opened)
        return child, path
    code = 1
    try:
        work(lambda line: os.write(opened, f"{line}\n".encode()) and None)
        code = 0
    finally:
        os._exit(code)


def acknowledged(path: str, status: int) -> tuple[list[str], bool]:
    """What a process acknowledged that has ended, and whether it was killed."""
    with open(path, encoding="ascii") as file:
        lines = file.read().split()
    os.unlink(path)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a process failed"
    return lines, os.WIFSIGNALED(status)


def ended(child: int, path: str) -> tuple[list[str], bool]:
    """The same of a process that is waited for."""
    return acknowledged(path, os.waitpid(child, 0)[1])


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
    """Charges, reservations, draws, commits and voids until something does not fit. After a connection that was cut it is not
    known whether the last step was done: the next one is another charge."""
    while True:
        try:
            one_of_many(account, spec, source, say)
        except OverCapError:
            say("over")
            return
        except AccountUnavailableError:
            say("cut")


def one_of_many(account: Account, spec: str, source: random.Random, say: Callable[[str], None]) -> None:
    if source.random() < 0.3:
        charge_one(account, spec, say)
        return
    number = account.reserve(spec).number
    say(f"reserved:{number}")
    if source.random() < 0.5:
        account.void(number, "not needed")
        say(f"void:{number}")
        return
    account.draw(number)
    say(f"drawn:{number}")
    account.commit(number)
    say(f"committed:{number}")


def together(account: Account, spec: str, processes: int, kills: int, most: int) -> list[list[str]]:
    """Processes at once; one that ends is followed by another, the last ones are not killed."""
    source, found, left = random.Random(31), [], kills + processes
    running: dict[int, str] = {}
    while left or running:
        while left and len(running) < processes:
            left -= 1
            seed, end = source.randrange(1 << 30), (source.randrange(10, most), source.choice(WHEN))
            end = None if left < processes else end

            def work(say: Callable[[str], None], seed: int = seed, end: tuple[int, str] | None = end) -> None:
                if end is not None:
                    killed_at(*end)
                many_steps(account, spec, random.Random(seed), say)

            running |= [begun(work)]
        child, status = os.wait()
        lines, _ = acknowledged(running.pop(child), status)
        found.append(lines)
    return found


def releases(url: str, spec: str, table: str, folder: str, step: str) -> list[list[str]]:
    """One release after another, killed at one statement of the database in `step`, until one ends by itself."""
    import dpspec as dp

    found: list[list[str]] = []
    for when in WHEN:
        statement, was_killed = 1 - int(step), True
        while was_killed:
            statement += int(step)
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
        print(json.dumps(each(opened, spec) if how == "each" else together(opened, spec, *map(int, rest))))
