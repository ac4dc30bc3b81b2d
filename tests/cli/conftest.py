"""Running `rocky` in this process, over projects written for one test."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rocky.cli.app import main

CONFIG = (
    '[adapter]\ntype = "spark"\n\n[pipeline.main]\ntype = "transformation"\nmodels = "models/**"\n'
)
ORDERS = """
[[source]]
name = "raw.orders"
columns = [
  { name = "order_id", type = "bigint", nullable = false },
  { name = "amount", type = "decimal(12,2)" },
  { name = "status", type = "string" },
]
"""


@dataclass(frozen=True)
class Answer:
    """What a command line left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]


@pytest.fixture
def rocky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    # Workers of a parallel test run have one; what is piped has no width.
    monkeypatch.delenv("COLUMNS", raising=False)
    # Most tests read the answers as values.
    monkeypatch.setenv("ROCKY_OUTPUT", "json")

    def run(*arguments: str) -> Answer:
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        return Answer(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Writes the files of a project; `rocky.toml` and a source come by themselves."""

    def write_files(files: Mapping[str, str]) -> Path:
        for path, text in {"rocky.toml": CONFIG, "sources/raw.toml": ORDERS, **files}.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return tmp_path

    return write_files


@pytest.fixture
def shop(rocky: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The playground; commands run inside it."""
    rocky("playground", "shop")
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"
