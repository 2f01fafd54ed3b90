"""A jail for code that nobody has read: it changes no file, opens no socket, and has no rights but those of a guest.

    python -I -m dpspec_hunt.jail locked SCRATCH ROOT MODULE verify ...

runs a command of dpspec in it. The process locks itself before anything of ROOT is imported, and all that it starts is locked too:

* files are written below SCRATCH alone (Landlock, Linux 5.13), and neither modes nor owners nor times are changed elsewhere;
* no socket is opened, no other process is traced (seccomp); no signal leaves the jail (Landlock, Linux 6.12);
* privileges are given up; the environment has no variable of the user.

What can be read may be read: nothing of it can leave but by what is printed.

Without these (another system, an older kernel) `reason_for_none` says so, and nothing is run.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

NOT_PERMITTED = 1  # EPERM
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
_BIND, _CONNECT = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_OF_FILES = _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE
"""Rights that a rule about a file, and not a folder, may have."""

# --- calls of the system: seccomp ---------------------------------------------------------------------

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Machine to the word by which the kernel names its table of calls."""
_NEVER = {
    "x86_64": {
        "socket": 41, "ptrace": 101, "process_vm_writev": 311, "pidfd_getfd": 438, "io_uring_setup": 425, "bpf": 321, "keyctl": 250,
        "add_key": 248, "userfaultfd": 323, "perf_event_open": 298, "personality": 135, "mount": 165, "unshare": 272, "setns": 308,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "setxattrat": 463, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "removexattrat": 466,
        "msgget": 68, "semget": 64, "shmget": 29, "mq_open": 240, "mq_unlink": 241,
    },
    "aarch64": {
        "socket": 198, "ptrace": 117, "process_vm_writev": 271, "pidfd_getfd": 438, "io_uring_setup": 425, "bpf": 280, "keyctl": 219,
        "add_key": 217, "userfaultfd": 282, "perf_event_open": 241, "personality": 92, "mount": 40, "unshare": 97, "setns": 268,
        "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchown": 55, "fchownat": 54, "utimensat": 88,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "setxattrat": 463, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        "removexattrat": 466, "msgget": 186, "semget": 190, "shmget": 194, "mq_open": 180, "mq_unlink": 181,
    },
}  # fmt: skip
"""What is never let: Landlock does not see it, or it undoes the rest."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | NOT_PERMITTED, 0x80000000
_X32 = 0x40000000
"""Calls of x86_64 from here on are of a second table."""


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
    library = _library()
    _drop_privileges(library)
    _checked(library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
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
    attributes = struct.pack(
        "=QQQ", files, _BIND | _CONNECT if version >= 4 else 0, _ABSTRACT_SOCKETS | _SIGNALS if version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
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
    machine = platform.machine()
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _MACHINES[machine]), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if machine == "x86_64":
        lines += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE)]
    for number in _NEVER[machine].values():
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = struct.pack("@HxxxxxxP", len(lines), ctypes.addressof(code))
    _checked(library.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0), "seccomp")


def main(arguments: Sequence[str]) -> int:
    """Lock this process where it is asked to, put a root before what is installed, and run a command of dpspec."""
    from dpspec.cli import main as command

    how, scratch, root, module, *rest = arguments
    if how == "locked":
        lock(Path(scratch))
    sys.dont_write_bytecode = True
    top = module.partition(".")[0]
    if top in sys.modules:
        print(f"a module of dpspec or of Python is called {top} as well")
        return 4
    sys.path.insert(0, root)
    os.chdir(scratch)
    return int(command(rest) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
