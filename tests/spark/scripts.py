"""Python scripts in a process of their own: one JVM a process, and the shared one is not disturbed."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The family of tests that start a Spark beside the shared one: of these, `make test` takes a third.
OWN_SPARK = "a Spark of its own"

SOURCES = Path(__file__).parents[2] / "src"


@dataclass(frozen=True)
class Said:
    """What a script printed: `answer` is the last line of its output, read as JSON."""

    out: str
    err: str

    @property
    def answer(self) -> Any:
        return json.loads(self.out.splitlines()[-1])


def run_script(code: str, *arguments: str, env: Mapping[str, str | None] | None = None) -> Said:
    """Run a script; None in `env` removes a variable."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), **(env or {})}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={name: value for name, value in environment.items() if value is not None},
    )
    assert 0 == done.returncode, done.stderr
    return Said(done.stdout, done.stderr)
