"""A page's console blocks, typed in the playground: everything is real but Spark.

`rocky` runs in this process, with an engine without a JVM; every other line in one shell, so that
variables and `cd` last from line to line. What is printed is compared with what the page shows.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import rocky
from rocky.cli.app import main
from rocky.language.datatypes.types import StructField
from rocky.run.engine import spark
from rocky.spark.interface import Metrics
from tests.run.memory_engine import MemoryEngine

BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
# What differs from run to run: ids, hashes, keys, times, sizes, prices, and the widths they give.
VARIES = re.compile(
    r"run-\d{8}-\d{6}-\d{3}|\d{8}T\d{12}-[0-9a-f]{8}|SHA256:[A-Za-z0-9+/]{43}|[0-9a-f]{12,}"
    r"|\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?|[\d.,]+ (?:ms|s|kB|B)\b|\b\d+\.(?:\d|\d{6})\b"
    r"|-{3,}|  +"
)
_MARK = "---- end of a command ----"
_PLACE = "/srv"
"""Where pages say that the shop lies."""
_MACROS = (
    "CREATE TEMP MACRO datediff(a, b) AS date_diff('day', CAST(b AS DATE), CAST(a AS DATE))",
    "CREATE TEMP MACRO collect_set(x) AS list(DISTINCT x)",
    "CREATE TEMP MACRO to_date(x) AS CAST(x AS DATE)",
)
_B3SUM = """\
#!{python}
import sys
from blake3 import blake3
for name in [each for each in sys.argv[1:] if not each.startswith("-")] or [0]:
    print(blake3(open(name, "rb").read()).hexdigest())
"""


class PlaygroundEngine(MemoryEngine):
    """Runs the playground's SQL. Types are the compiler's: DuckDB counts decimals otherwise."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.jobs.used = Metrics(executor_run_ms=400, bytes_read=10_400)
        for macro in _MACROS:
            self._connection.execute(macro)
        compiled = rocky.compile_project(rocky.load_project(root))
        self._known = {
            tuple(each.name for each in model.columns): tuple(
                StructField(each.name, each.type, each.nullable) for each in model.columns
            )
            for model in compiled.models.values()
        }

    def columns(self, frame: str) -> tuple[StructField, ...]:
        names = self._ask(f"SELECT * FROM ({frame}) LIMIT 0").schema.names
        return self._known.get(tuple(names)) or super().columns(frame)


class Walk:
    """Somebody who types what a page shows. `said` is what each line has printed, in order."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._patch = folder, patch
        self.said: list[tuple[str, str]] = []
        tools = folder / "bin"
        tools.mkdir()
        if shutil.which("b3sum") is None:
            (tools / "b3sum").write_text(_B3SUM.format(python=sys.executable))
            (tools / "b3sum").chmod(0o755)
        path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        start = {"HOME": str(folder), "PATH": path}
        for name, value in {
            **start,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "TZ": "UTC",
            "COLUMNS": "160",
        }.items():
            patch.setenv(name, value)
        for name in ("SSH_AUTH_SOCK", "ROCKY_SIGNING_KEY", "ROCKY_IDENTITY"):
            patch.delenv(name, raising=False)
        self._shell = subprocess.Popen(
            ["sh"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def close(self) -> None:
        """Leave the shell."""
        self._shell.communicate("exit\n", timeout=30)

    def page(self, text: str) -> str:
        """A page with what its lines print in the place of what it shows."""
        return BLOCK.sub(lambda block: self._block(block.group()), text)

    def printed(self, part: str) -> str:
        """What the command has printed of which this is a part."""
        (found,) = [printed for command, printed in self.said if part in command]
        return found

    def _block(self, block: str) -> str:
        lines = []
        for command, shown in _commands(block):
            printed = self.type(command)
            self.said.append((command, printed))
            first, *rest = command.splitlines()
            lines += [f"$ {first}", *(f"> {line}" for line in rest)]
            lines += _shortened(printed.splitlines(), shown)
        return "".join(f"{line}\n" for line in lines)

    def type(self, command: str) -> str:
        """What a line prints."""
        printed = self._rocky(command) if command.startswith("rocky ") else self._sh(command)
        lines = [line.rstrip() for line in printed.splitlines()]
        return "".join(f"{line}\n" for line in lines).replace(str(self._folder), _PLACE)

    def _sh(self, command: str) -> str:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{command}\necho '{_MARK}'\n")
        self._shell.stdin.flush()
        lines: list[str] = []
        for line in self._shell.stdout:
            if line == f"{_MARK}\n":
                return "".join(lines)
            lines.append(line)
        pytest.fail(f"the shell ended at: {command}")

    def _rocky(self, command: str) -> str:
        # The shell reads the line, so that quotes and variables are what they are to it.
        words = self._sh(f"for each in {command[6:]}; do printf '%s\\n' \"$each\"; done")
        root = Path(self._sh("pwd").strip())
        self._patch.chdir(root)
        self._patch.setattr(spark, "open_project_engine", _opener(root))
        line = ["-o", "table", *words.splitlines()]
        done = CliRunner().invoke(main, line, catch_exceptions=False)
        # The progress of a run is shown while it lasts, in the order in which models end.
        is_run = line[2] == "run" and not done.exit_code
        return done.stdout if is_run else done.stdout + done.stderr


def _opener(root: Path) -> Any:
    @contextmanager
    def engine(*_: object) -> Iterator[PlaygroundEngine]:
        yield PlaygroundEngine(root)

    return engine


def _commands(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with what is shown of it.

    A command goes on in the lines that begin with `> `.
    """
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> "):
            command, shown = found.pop()
            found.append((f"{command}\n{line[2:]}", shown))
        else:
            found[-1][1].append(line)
    return found


def _shortened(printed: list[str], shown: list[str]) -> list[str]:
    """What is printed, without what a page leaves out by a line of three dots."""
    if "..." not in shown:
        return printed
    before = shown.index("...")
    after = len(shown) - before - 1
    return [*printed[:before], "...", *printed[len(printed) - after :]]


def masked(text: str) -> list[str]:
    """A page without what varies, line by line."""
    return [re.sub(r"[~ ]+", "~", VARIES.sub("~", line)) for line in text.splitlines()]
