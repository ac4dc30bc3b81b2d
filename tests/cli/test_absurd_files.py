"""Files and folders that nobody means to have: a finding or an answer, below a gibibyte, in time."""

import json
import os
import resource
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rocky.cli.app import main
from tests.cli.test_limits import GIBIBYTE, MOST_SECONDS
from tests.processes import Running
from tests.run.runs import Shop, write

pytestmark = pytest.mark.slow

SMALL = {"rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n', "models/ok.sql": "SELECT 1 AS a"}
MANY = 100_000
DEEP = 500
TOO_LONG = 60


def limited(seconds: int, line: tuple[str, ...]) -> None:
    """A task: a command that may have a gibibyte more than it begins with, and so long."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + GIBIBYTE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    sys.argv = ["rocky", "-o", "json", *line]
    main()


def ask(root: Path, *line: str, cpu: int = MOST_SECONDS, patience: float = TOO_LONG) -> tuple:
    """The exit code of a command and its report; it must end by itself."""
    with Running(limited, cpu, line, cwd=root) as process:
        out, err = process.communicate(patience)
        assert "Traceback" not in err
        return process.wait(), json.loads(out)


def messages(report: dict) -> list[str]:
    return [f"{each['code']} {each['message']}" for each in report["diagnostics"]]


@pytest.mark.parametrize(
    "name",
    [
        "models/model.sql", "models/ok.toml", "models/_defaults.toml", "sources/s.toml",
        "seeds/s.csv", "seeds/s.toml", "contracts/ok.contract.toml",
    ],
)  # fmt: skip
def test_a_pipe_in_the_place_of_a_file_is_no_file_and_is_not_waited_for(tmp_path, name):
    write(tmp_path, SMALL)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    code, report = ask(tmp_path, "compile")

    assert 1 == code
    assert any(f"`{name}`" in each for each in messages(report))


def test_a_pipe_is_not_waited_for_when_it_is_shown_either(tmp_path):
    write(tmp_path, SMALL)
    os.mkfifo(tmp_path / "models/model.sql")
    with Running(limited, MOST_SECONDS, ("-o", "table", "compile"), cwd=tmp_path) as process:
        out, _ = process.communicate(TOO_LONG)
        assert 1 == process.wait()

    assert "models/model.sql" in out


def test_a_device_without_end_is_not_read(tmp_path):
    write(tmp_path, SMALL)
    (tmp_path / "models/zero.sql").symlink_to("/dev/zero")
    code, report = ask(tmp_path, "compile")

    assert 1 == code
    assert ["E017"] == [each["code"] for each in report["diagnostics"]]


def test_a_folder_with_the_name_of_a_model_is_a_finding(tmp_path):
    write(tmp_path, SMALL)
    (tmp_path / "models/x.sql").mkdir()
    _, report = ask(tmp_path, "compile")

    assert ["E017"] == [each["code"] for each in report["diagnostics"]]


def test_folders_that_lead_back_into_themselves_are_walked_once(tmp_path):
    write(tmp_path, SMALL)
    (tmp_path / "models/again").symlink_to("../models")
    (tmp_path / "models/self").symlink_to(".")
    code, report = ask(tmp_path, "compile")

    assert 1 == code
    assert ["E017", "E017"] == [each["code"] for each in report["diagnostics"]]
    assert 1 == report["summary"]["models"]


def test_a_seed_of_a_gibibyte_is_refused_unread(tmp_path):
    write(tmp_path, SMALL)
    (tmp_path / "seeds").mkdir()
    with (tmp_path / "seeds/big.csv").open("wb") as file:
        file.write(b"id,name\n1,a\n")
        # Without blocks on the disk: whoever reads it would read a gibibyte all the same.
        file.truncate(GIBIBYTE)
    _, report = ask(tmp_path, "compile")

    assert ["E017 `seeds/big.csv` is larger than 64 MB"] == messages(report)


@pytest.mark.parametrize(
    "size", [5_000_000, pytest.param(50_000_000, marks=pytest.mark.exhaustive)]
)
def test_records_of_many_megabytes_are_read_or_found(tmp_path, size):
    Shop(tmp_path).run()
    for table in ("run_history", "model_executions", "input_provenance"):
        swell(tmp_path / ".rocky-state.db", table, size)

    for line in (("history",), ("state",), ("plan",), ("gc", "--dry-run")):
        assert 0 == ask(tmp_path, *line)[0]
    code, report = ask(tmp_path, "verify")
    assert 1 == code
    assert {"record_changed", "record_inconsistent"} == {
        each["code"] for each in report["findings"]
    }


def swell(path: Path, table: str, size: int) -> None:
    """Give the first record of a table a text that no record has."""
    with closing(sqlite3.connect(path)) as connection, connection:
        key, value = connection.execute(f"SELECT key, value FROM {table}").fetchone()
        large = json.dumps({**json.loads(value), "error": "x" * size})
        connection.execute(f"UPDATE {table} SET value = ? WHERE key = ?", (large, key))


@pytest.mark.exhaustive
def test_a_hundred_thousand_models_are_compiled(tmp_path):
    write(tmp_path, {"rocky.toml": SMALL["rocky.toml"]})
    for number in range(MANY):
        group, at = divmod(number, DEEP)
        folder = tmp_path / f"models/g{group:03d}"
        if at == 0:
            folder.mkdir(parents=True)
        above = f"SELECT id, v + 1 AS v FROM m{number - 1}" if at else "SELECT 1 AS id, 2 AS v"
        (folder / f"m{number}.sql").write_text(above)
    code, report = ask(tmp_path, "compile", cpu=600, patience=900)

    assert (0, MANY) == (code, report["summary"]["models"])
