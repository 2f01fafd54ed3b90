"""What code in the jail may do: each act is tried in a process that locks itself, and looked for outside."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from dpspec_hunt import jail

needs_jail = pytest.mark.skipif(bool(jail.reason_for_none()), reason=f"no jail here: {jail.reason_for_none()}")

BEGIN = """\
import ctypes, json, os, shutil, signal, socket, subprocess, sys
from pathlib import Path
from dpspec_hunt.jail import lock
scratch, outside = Path(sys.argv[1]), Path(sys.argv[2])
library = ctypes.CDLL(None, use_errno=True)
opened = os.open(outside / "kept", os.O_RDONLY)
lock(scratch)

def by_library(name, *arguments):
    if getattr(library, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

def tried(act):
    try:
        act()
    except OSError as problem:
        return problem.errno
    return "done"

victim, name = str(outside / "kept"), str(outside / "kept").encode()
"""

SHARED, TEMPORARY = "/dev/shm/dpspec-hunt-test", str(Path(tempfile.gettempdir()) / "dpspec-hunt-test")  # noqa: S108
REFUSED = {
    "removing a file": "os.remove(victim)",
    "removing a file in C": "by_library('unlink', name)",
    "writing a file": "open(victim, 'w')",
    "appending to a file": "open(victim, 'a')",
    "truncating a file": "os.truncate(victim, 0)",
    "making a file": "open(outside / 'new', 'x')",
    "changing a mode": "os.chmod(victim, 0o777)",
    "changing a mode by a descriptor": "os.fchmod(opened, 0o777)",
    "changing times": "os.utime(victim, (1, 1))",
    "changing an owner": "os.chown(victim, os.getuid(), os.getgid())",
    "setting an attribute": "os.setxattr(victim, 'user.seen', b'1')",
    "making a link": "os.link(victim, outside / 'link')",
    "making a link from the scratch folder": "os.link(victim, scratch / 'link')",
    "making a symbolic link": "os.symlink(victim, outside / 'link')",
    "renaming": "os.rename(victim, outside / 'other')",
    "moving into the scratch folder": "os.rename(victim, scratch / 'other')",
    "making a folder": "os.mkdir(outside / 'folder')",
    "removing a folder": "os.rmdir(outside / 'empty')",
    "making a pipe": "os.mkfifo(outside / 'pipe')",
    "writing through a link": "os.symlink(victim, scratch / 'way') or open(scratch / 'way', 'w')",
    "writing through /proc": "open(f'/proc/self/fd/{opened}', 'w')",
    "writing in shared memory": f"open({SHARED!r}, 'w')",
    "writing in the folder of temporary files": f"open({TEMPORARY!r}, 'w')",
    "a socket of TCP": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "a socket of UDP": "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
    "a socket of this machine": "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "a pair of datagram sockets, which reach others by name": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "limits of the parent": "__import__('resource').prlimit(os.getppid(), 0, (1, 1))",
    "slowing the parent": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "tracing the parent": "by_library('ptrace', 16, os.getppid(), 0, 0)",
    "memory of the parent": "open(f'/proc/{os.getppid()}/mem', 'r+b')",
    "environment of the parent": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "a new user": "by_library('unshare', 0x10000000)",
    "a new network": "by_library('unshare', 0x40000000)",
    "mounting": "by_library('mount', b'none', str(scratch).encode(), b'tmpfs', 0, None)",
    "shared memory of System V": "by_library('shmget', 0x1234, 4096, 0o1600)",
    "another root": "os.chroot(scratch)",
}
ALLOWED = {
    "writing in the scratch folder": "(scratch / 'file').write_text('1')",
    "making and removing folders there": "os.mkdir(scratch / 'inner') or os.rmdir(scratch / 'inner')",
    "renaming there": "(scratch / 'a').write_text('1') and os.rename(scratch / 'a', scratch / 'b')",
    "writing to /dev/null": "open(os.devnull, 'w').write('1')",
    "reading": "open(victim).read()",
    "a pipe": "os.pipe()",
    "a pair of connected sockets": "socket.socketpair()",
    "starting a process": "subprocess.run([sys.executable, '-c', 'pass'], check=True)",
    "a session that is none": "os.setsid()",
}


@pytest.fixture
def outside(tmp_path):
    """A folder that nothing may change, what is in it, and the scratch folder beside it."""
    folder, scratch = tmp_path / "outside", tmp_path / "scratch"
    for made in (folder, scratch, folder / "empty"):
        made.mkdir()
    (folder / "kept").write_text("as it was")
    os.utime(folder / "kept", (10**9, 10**9))
    return folder


def state(folder):
    """Everything about a folder that an act could change."""
    return sorted(
        (path.name, info.st_mode, info.st_uid, info.st_mtime_ns, info.st_nlink, info.st_size, os.listxattr(path))
        for path in folder.rglob("*")
        for info in [path.lstat()]
    )


def run(outside, code, begin=BEGIN):
    return subprocess.run(
        [sys.executable, "-c", begin + code, str(outside.parent / "scratch"), str(outside)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def script(acts):
    lines = [f"found[{what!r}] = tried(lambda: {act})" for what, act in acts.items()]
    return "\n".join(["found = {}", *lines, "print(json.dumps(found))"])


def outcomes(outside, acts):
    done = run(outside, script(acts))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_jail
def test_what_changes_anything_outside_is_refused(outside):
    before = state(outside)
    found = outcomes(outside, REFUSED)
    assert {what: result for what, result in found.items() if result == "done"} == {}
    assert state(outside) == before
    assert not Path(SHARED).exists()
    assert not Path(TEMPORARY).exists()


@needs_jail
@pytest.mark.skipif(not jail.reason_for_none() and jail._interface() < 6, reason="Landlock keeps signals since Linux 6.12")
def test_no_signal_reaches_a_process_outside(outside):
    """Signal 0 asks whether one may be sent, and does nothing; the other is sent to a process of this test."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as victim:
        found = outcomes(outside, {
            "asking": "os.kill(os.getppid(), 0)", "ending": f"os.kill({victim.pid}, signal.SIGTERM)",
            "ending in C": f"by_library('kill', {victim.pid}, 9)", "own": "os.kill(os.getpid(), 0)",
        })  # fmt: skip
        victim.stdin.write(b"\n")
    assert found == {"asking": 1, "ending": 1, "ending in C": 1, "own": "done"}
    assert victim.returncode == 0


@needs_jail
def test_what_changes_nothing_outside_works(outside):
    assert outcomes(outside, ALLOWED) == dict.fromkeys(ALLOWED, "done")


@needs_jail
def test_the_acts_succeed_without_a_jail(outside):
    """The acts are real ones: without the lock those that need no privilege are done."""
    real = {what: act for what, act in REFUSED.items() if "outside" in act or "victim, 'a'" in act or "0o777" in act}
    done = run(outside, script(real), BEGIN.replace("lock(scratch)", ""))
    assert list(json.loads(done.stdout).values()).count("done") >= len(real) - 2  # after a renaming there is nothing to rename


@needs_jail
def test_what_it_starts_is_locked_as_well_and_has_no_privilege(outside):
    inner = "import os,sys; print([line for line in open('/proc/self/status') if line.startswith('CapEff')][0].split()[1]); "
    inner += "open(sys.argv[1], 'w')"
    done = run(outside, f"sys.exit(subprocess.run([sys.executable, '-c', {inner!r}, victim]).returncode)")
    assert int(done.stdout, 16) == 0
    assert done.returncode == 1
    assert "PermissionError" in done.stderr


@needs_jail
def test_a_process_that_wants_to_stay_is_ended_with_its_group(outside):
    """A child that makes a session of its own is in the group of the jail nevertheless."""
    code = """
if os.fork() == 0:
    os.setsid()
    os.setpgid(0, 0)
    if os.fork() == 0:
        sys.stdout.write(f"{os.getpid()} {os.getpgrp()}\\n")
        sys.stdout.flush()
        signal.pause()
    os._exit(0)
os.wait()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + code, str(outside.parent / "scratch"), str(outside)],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    child, group = map(int, process.stdout.readline().split())
    assert group == process.pid
    process.wait()
    os.killpg(process.pid, 9)
    with process.stdout:
        process.stdout.read()  # ends when the last holder of the pipe has ended
    while _is_there(child):  # it has closed the pipe, and is on its way out
        time.sleep(0.01)
    assert not _is_there(child)


def _is_there(process) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_filter_refuses_each_call_of_its_list_and_no_other():
    """A reading of the filter as the kernel reads it, for every number of a call."""
    for machine, word in (("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)):
        lines = jail._filter(machine)
        never = set(jail._NEVER[machine].values())
        calls = jail._CALLS[machine]
        assert len(lines) < 4096
        assert len(never) == len(jail._NEVER[machine])
        for number in range(600):
            answer = interpreted(lines, number, word, (0, 0))
            if number in never:
                assert answer == 0x00050001, (machine, number)
            elif number == calls["clone3"]:
                assert answer == 0x00050000 | 38
            elif number in (calls["setsid"], calls["setpgid"]):
                assert answer == 0x00050000
            elif number == calls["socketpair"]:
                assert answer == 0x00050001  # a type of 0 is none
            else:
                assert answer == 0x7FFF0000, (machine, number)
        assert interpreted(lines, calls["clone"], word, (0x11, 0)) == 0x7FFF0000
        assert interpreted(lines, calls["clone"], word, (0x11 | 0x10000000, 0)) == 0x00050001
        assert interpreted(lines, calls["prlimit64"], word, (1, 0)) == 0x00050001
        assert interpreted(lines, calls["socketpair"], word, (1, 1 | 0o2000000)) == 0x7FFF0000
        assert interpreted(lines, calls["ioctl"], word, (0, 0x40086602)) == 0x00050001
        assert interpreted(lines, 1, word ^ 1, (0, 0)) == 0x80000000


def interpreted(lines, number, machine, arguments):
    data = {0: number, 4: machine, 16: arguments[0], 24: arguments[1]}
    place, value = 0, 0
    while True:
        code, yes, no, about = lines[place]
        place += 1
        if code == 0x20:
            value = data[about]
        elif code == 0x54:
            value &= about
        elif code == 0x06:
            return about
        else:
            holds = {0x15: value == about, 0x35: value >= about, 0x45: bool(value & about)}[code]
            place += yes if holds else no


def test_without_a_jail_there_is_a_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(jail.sys, "platform", "darwin")
    assert jail.reason_for_none().startswith("it needs Linux")
    with pytest.raises(jail.JailError, match="it needs Linux"):
        jail.lock(tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr(jail.platform, "machine", lambda: "riscv64")
    if sys.platform == "linux":
        assert jail.reason_for_none() == "it is written for x86_64 and aarch64, and this is riscv64"
