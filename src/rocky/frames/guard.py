"""The guard around an author's code while it only builds plans.

From the moment it is set, the process starts no other, opens no connection and no file for writing:
Python's audit events are refused, and the operating system is told as far as it can be. That stops
code that reaches out by ordinary means. It is no jail for code that wants to break out.
"""

import ctypes
import os
import resource
import sys
from contextlib import suppress
from typing import Any, Final

_REFUSED: Final = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.sendmsg",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.getnameinfo",
    "socket.sethostname",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
    "os.kill",
    "os.killpg",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.chflags",
    "os.link",
    "os.symlink",
    "os.utime",
    "os.setxattr",
    "os.removexattr",
    "shutil.rmtree",
    "pty.spawn",
    "sqlite3.connect",
    "ctypes.dlopen",
    "ctypes.dlsym",
    "ctypes.call_function",
    "signal.pthread_kill",
    "resource.setrlimit",
    "resource.prlimit",
)
_PREFIXES: Final = tuple({f"{each.partition('.')[0]}." for each in _REFUSED} | {"open"})
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOST_MEMORY: Final = 4 << 30
_OWN_USERS: Final = 0x1000_0000
_OWN_NETWORK: Final = 0x4000_0000


class Refused(PermissionError):
    """What a model may not do while it is only looked at."""


class Guard:
    """Refuses what reaches out, for as long as the process lives.

    `opened` are the files that were opened for reading while it held.
    """

    def __init__(self) -> None:
        self.opened: set[str] = set()

    def hold(self) -> None:
        """Hold from now on."""
        sys.addaudithook(self._judge)

    def _judge(self, event: str, given: tuple[Any, ...]) -> None:
        if not event.startswith(_PREFIXES):
            return
        writes = False
        if event == "open":
            writes = any(each in (given[1] or "") for each in "wax+")
            writes = writes or bool((given[2] or 0) & _WRITING)
            if not writes and isinstance(given[0], str | bytes | os.PathLike):
                self.opened.add(os.fsdecode(given[0]))
        if writes or event in _REFUSED:
            what = f"opening `{given[0]}` for writing" if writes else f"`{event}`"
            raise Refused(f"{what} is refused while a model is only looked at")


def leave_network() -> None:
    """Have the process, and what is forked from it, see no network, where the system lets it."""
    try:
        unshare = ctypes.CDLL(None).unshare
    except (AttributeError, OSError):
        # Another system: the guard alone holds.
        return
    unshare(_OWN_USERS | _OWN_NETWORK)


def limit_process(seconds: float) -> None:
    """Have the operating system hold the process to no files, no core and some memory and time."""
    limits = {
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: _MOST_MEMORY,
        resource.RLIMIT_CPU: int(seconds) + 1,
    }
    for which, most in limits.items():
        # What the system does not let us lower is lower already.
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))
