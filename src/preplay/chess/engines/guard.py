"""Engines must not outlive us: guards end them when we are killed, and what holds our pipes is found.

Most engines end when their input does. One that does not read it would run on after `kill -9` of its
master, and a child of an engine in a session of its own may hold the pipes open after the engine's death.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

_SCRIPT = (
    """trap '' INT TERM HUP; read -r word; [ "$word" = done ] || kill -s KILL -- "-$1" 2>/dev/null"""
)
"""Waits for a word; the end of its input without one means that the master is dead."""
_SHELL = "/bin/sh"
_SETTLING = 0.05
"""Seconds in which a process that is just being started closes the pipes it got from us."""


class Guard:
    """Kills the process group `group` when this process ends without a call of `release`."""

    def __init__(self, group: int) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # a system without a shell has no guards
            self._process = subprocess.Popen(
                [_SHELL, "-c", _SCRIPT, _SHELL, str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )

    def release(self) -> None:
        """The group is dealt with: nothing is to be killed any more."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._process.stdin.close()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group of its own, and the whole group, at once."""
    if process.returncode is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):  # no groups on this system, or just dead
        process.kill()


def free_pipe(descriptor: int) -> None:
    """Kill whoever still holds the other end of a pipe that a dead process should have closed."""
    if _closed(descriptor):
        return
    time.sleep(_SETTLING)
    if _closed(descriptor):
        return
    for process in _holders(f"pipe:[{os.fstat(descriptor).st_ino}]"):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)


def _closed(descriptor: int) -> bool:
    """Whether nobody can write to this pipe any more."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))


def _holders(pipe: str) -> list[int]:
    """The other processes that have a pipe open, where the system tells."""
    found = []
    for folder in Path("/proc").glob("[0-9]*/fd"):
        process = int(folder.parent.name)
        with suppress(OSError):
            if process != os.getpid() and pipe in (str(each.readlink()) for each in folder.iterdir()):
                found.append(process)
    return found
