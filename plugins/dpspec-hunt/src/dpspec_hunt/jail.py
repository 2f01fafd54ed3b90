"""A jail for untrusted code: it changes no file, opens no socket, and has no rights but those of a guest.

    python -I -m dpspec_hunt.jail locked SCRATCH verify ...

runs a command of dpspec in it. The process locks itself before it imports anything else, and all that it starts is locked too:

* files are written below SCRATCH alone (Landlock, Linux 5.13; shortening them in place Linux 6.2), and neither modes nor
owners nor
  times are changed anywhere;
* no socket is opened, no other process is traced or slowed, no new user or network is made (seccomp);
* no signal leaves the jail (Landlock, Linux 6.12); what is started cannot leave its process group, so that it can be ended;
* privileges are given up; the environment has no variable of the user.

Files can be read. Nothing of them leaves except by what is printed.

Without these (another system, an older kernel) `reason_for_none` says so, and nothing is run.
"""

from __future__ import annotations

import ctypes
import os
import platform
import runpy
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

NOT_PERMITTED, NO_SUCH_CALL = 1, 38  # EPERM, ENOSYS
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2

# --- files: Landlock, see landlock(7) -----------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_CHANGES = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
"""Writing, removing and making files and folders of every kind."""
_REFER, _IOCTL_DEVICE = 1 << 13, 1 << 15
_SINCE = {2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEVICE}
"""Version of the interface to the right that it added."""
_PORTS_SINCE, _SCOPES_SINCE = 4, 6
_BIND, _CONNECT = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_OF_FILES = _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE
"""Rights that a rule about a file, and not a folder, may have."""

# --- calls of the system: seccomp ---------------------------------------------------------------------

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Machine to the word by which the kernel names its table of calls."""
_NEVER = {
    "x86_64": {
        "socket": 41, "connect": 42, "bind": 49, "ptrace": 101, "process_vm_writev": 311, "pidfd_getfd": 438, "kcmp": 312,
        "io_uring_setup": 425, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "personality": 135,
        "keyctl": 250, "add_key": 248, "request_key": 249,
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "open_tree": 428, "move_mount": 429, "fsopen": 430,
        "mount_setattr": 442, "unshare": 272, "setns": 308, "open_by_handle_at": 304,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "file_setattr": 469,
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "setxattrat": 463,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "removexattrat": 466,
        "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "semget": 64, "semop": 65, "semctl": 66, "semtimedop": 220,
        "shmget": 29, "shmat": 30, "shmctl": 31, "mq_open": 240, "mq_unlink": 241,
        "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
        "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279, "process_madvise": 440, "process_mrelease": 448,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "bind": 200, "ptrace": 117, "process_vm_writev": 271, "pidfd_getfd": 438, "kcmp": 272,
        "io_uring_setup": 425, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "personality": 92,
        "keyctl": 219, "add_key": 217, "request_key": 218,
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "open_tree": 428, "move_mount": 429, "fsopen": 430,
        "mount_setattr": 442, "unshare": 97, "setns": 268, "open_by_handle_at": 265,
        "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchown": 55, "fchownat": 54, "utimensat": 88, "file_setattr": 469,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "setxattrat": 463,
        "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "removexattrat": 466,
        "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "semget": 190, "semctl": 191, "semtimedop": 192, "semop": 193,
        "shmget": 194, "shmctl": 195, "shmat": 196, "mq_open": 180, "mq_unlink": 181,
        "setpriority": 140, "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "sched_setattr": 274,
        "ioprio_set": 30, "migrate_pages": 238, "move_pages": 239, "process_madvise": 440, "process_mrelease": 448,
    },
}  # fmt: skip
"""What is never let: Landlock does not see it, it reaches other processes of the same user, or it undoes the rest."""
_CALLS = {
    "x86_64": {"clone": 56, "clone3": 435, "setsid": 112, "setpgid": 109, "prlimit64": 302, "socketpair": 53, "ioctl": 16},
    "aarch64": {"clone": 220, "clone3": 435, "setsid": 157, "setpgid": 154, "prlimit64": 261, "socketpair": 199, "ioctl": 29},
}
"""What depends on its arguments."""
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ANSWER, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_REFUSE, _ABSENT, _NOTHING = _ANSWER | NOT_PERMITTED, _ANSWER | NO_SUCH_CALL, _ANSWER
_CALL, _MACHINE, _FIRST, _SECOND = 0, 4, 16, 24
"""Where the number of a call, the machine, and the low words of two arguments lie."""
_X32 = 0x40000000
"""Calls of x86_64 from here on are of a second table."""
_NEW_SPACES = 0x7E020000
"""The flags of `clone` that make a user, a network or another space of the kernel: a new user has all privileges there."""
_STREAM, _KINDS = 1, 0xF
_ATTRIBUTES = {"FS_IOC_SETFLAGS": 0x40086602, "FS_IOC_FSSETXATTR": 0x401C5820, "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
"""Requests of `ioctl` that change a file opened for reading, or type into a terminal."""
MOST_FILE = 1 << 28
"""Bytes of a file in the scratch folder."""


def reason_for_none() -> str:
    """Why there is no jail on this machine; empty where there is one."""
    if sys.platform != "linux":
        return f"it needs Linux, and this is {platform.system()}"
    if platform.machine() not in _MACHINES:
        return f"it is written for {' and '.join(_MACHINES)}, and this is {platform.machine()}"
    if _interface() < 1:
        return "it needs Landlock, which this kernel does not have or does not let (Linux 5.13)"
    return ""


def _interface() -> int:
    """The version of Landlock; below 1 where there is none."""
    return int(_library().syscall(_CREATE_RULESET, None, 0, _VERSION))


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


class JailError(RuntimeError):
    """The jail cannot be closed; nothing was run."""


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise JailError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return int(result)


def lock(scratch: Path) -> None:
    """Lock this process, and all that it will start, for ever.

    Args:
        scratch: the one folder below which files may be changed.

    Raises:
        JailError: a part of the jail is missing.
    """
    if reason := reason_for_none():
        raise JailError(reason)
    import resource  # of POSIX alone

    library = _library()
    _drop_privileges(library)
    _checked(library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    for kind, most in ((resource.RLIMIT_FSIZE, MOST_FILE), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))
    _restrict_files(library, scratch)
    _restrict_calls(library)


def _drop_privileges(library: ctypes.CDLL) -> None:
    """Give up every capability, those of a superuser too."""
    header = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process
    _checked(library.capset(header, struct.pack("=6I", *[0] * 6)), "capset")


def _restrict_files(library: ctypes.CDLL, scratch: Path) -> None:
    version = _interface()
    files = _CHANGES
    for since, right in _SINCE.items():
        files |= right if version >= since else 0
    ports = _BIND | _CONNECT if version >= _PORTS_SINCE else 0
    scopes = _ABSTRACT_SOCKETS | _SIGNALS if version >= _SCOPES_SINCE else 0
    attributes = struct.pack("=QQQ", files, ports, scopes)
    size = 24 if scopes else 16 if ports else 8
    ruleset = _checked(library.syscall(_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    try:
        for place, rights in ((scratch, files & ~_IOCTL_DEVICE), (Path(os.devnull), files & _OF_FILES)):
            descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = struct.pack("=Qi", rights, descriptor)
                _checked(library.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), "landlock_add_rule")
            finally:
                os.close(descriptor)
        _checked(library.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _restrict_calls(library: ctypes.CDLL) -> None:
    lines = _filter(platform.machine())
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = struct.pack("@HxxxxxxP", len(lines), ctypes.addressof(code))
    _checked(library.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0), "seccomp")


_Line: TypeAlias = tuple[int, int, int, int]
"""An instruction of a filter: what it does, how many lines are skipped where it holds and where it does not, a number."""


def _filter(machine: str) -> list[_Line]:
    """The filter of the calls of a machine.

    A session or a process group of its own is not made, and this is not reported as a failure: the process that started the jail
    ends its group, and then nothing of it is left.
    """
    calls = _CALLS[machine]
    lines: list[_Line] = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, _MACHINES[machine]), (_RETURN, 0, 0, _KILL)]
    lines.append((_LOAD, 0, 0, _CALL))
    if machine == "x86_64":
        lines += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE)]
    for number in _NEVER[machine].values():
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    for name, answer in (("clone3", _ABSENT), ("setsid", _NOTHING), ("setpgid", _NOTHING)):
        lines += [(_EQUAL, 0, 1, calls[name]), (_RETURN, 0, 0, answer)]
    allow, refuse = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)
    lines += _where(calls["clone"], [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_SPACES), refuse, allow])
    lines += _where(calls["prlimit64"], [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, 0), refuse, allow])
    lines += _where(calls["socketpair"], [(_LOAD, 0, 0, _SECOND), (_AND, 0, 0, _KINDS), (_EQUAL, 1, 0, _STREAM), refuse, allow])
    requests = [line for request in _ATTRIBUTES.values() for line in ((_EQUAL, 0, 1, request), refuse)]
    lines += _where(calls["ioctl"], [(_LOAD, 0, 0, _SECOND), *requests, allow])
    return [*lines, allow]


def _where(number: int, lines: Sequence[_Line]) -> list[_Line]:
    """Lines for one call; they answer it, and others pass them by."""
    return [(_EQUAL, 0, len(lines), number), *lines]


def main(arguments: Sequence[str]) -> None:
    """Lock this process on request, and run a command of dpspec in the scratch folder."""
    how, scratch, *rest = arguments
    os.chdir(scratch)
    if how == "locked":
        lock(Path(scratch))
    sys.dont_write_bytecode = True
    sys.argv = ["dpspec", *rest]
    runpy.run_module("dpspec", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
