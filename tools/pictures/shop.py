"""The playground's shop, made anew and asked as somebody at a terminal asks."""

import errno
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocky.api import Workspace
from rocky.api import open as open_workspace

COLUMNS = 100


@dataclass(frozen=True)
class Shop:
    """A folder with the playground in it."""

    folder: Path

    def workspace(self) -> Workspace:
        return open_workspace(self.folder)

    @contextmanager
    def edited(self, path: str, old: str, new: str) -> Iterator[None]:
        """The shop with another text at the first place of a file that reads like this."""
        file = self.folder / path
        before = file.read_text()
        if old not in before:
            raise ValueError(f"{path} has no `{old}`")
        file.write_text(before.replace(old, new, 1))
        yield
        file.write_text(before)

    def ask(self, line: str) -> str:
        """What a shell line shows on a terminal of this width, colours included."""
        ours, theirs = pty.openpty()
        places = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "ROCKY_OUTPUT"}}
        shown: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs}
        settings = {"COLUMNS": str(COLUMNS), "LINES": "50", "TERM": "xterm-256color"}
        with subprocess.Popen(
            ["sh", "-c", line], cwd=self.folder, env=kept | places | settings, **shown
        ):
            os.close(theirs)
            text = _drain(ours)
        os.close(ours)
        return text.replace("\r\n", "\n")


def _drain(descriptor: int) -> str:
    """Everything that is written to a terminal until its last writer is gone."""
    read = b""
    while True:
        try:
            more = os.read(descriptor, 65536)
        except OSError as failure:
            if failure.errno != errno.EIO:
                raise
            break
        if not more:
            break
        read += more
    return read.decode()


def make_shop(parent: Path) -> Shop:
    shop = Shop(parent)
    shop.ask("rocky playground shop --quiet")
    return Shop(parent / "shop")
