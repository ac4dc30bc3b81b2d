"""`rocky doctor`: what is not well is said before anything runs, with the exit code 3."""

import subprocess
import sys

import pytest

from rocky.cli.console import ExitCode
from rocky.ledger import STATE_FILE
from tests.cli.recorded import record_past
from tests.cli.test_schemas import check

NAMES = [
    "config",
    "state",
    "state_schema",
    "state_sync",
    "state_rw",
    "adapters",
    "pipelines",
    "sources",
    "governance",
    "cache",
    "java",
    "spark",
]


def health_of(answer):
    return {each["name"]: each["health"] for each in answer.json["checks"]}


def test_a_healthy_project_has_every_check_and_leaves_nothing_behind(rocky, shop):
    before = sorted(shop.rglob("*"))
    answer = rocky("doctor")

    assert (ExitCode.OK, []) == (answer.code, check(answer.json, "doctor"))
    assert NAMES == [each["name"] for each in answer.json["checks"]]
    assert ("healthy", 12) == (answer.json["health"], answer.json["summary"]["healthy"])
    assert before == sorted(shop.rglob("*"))


def test_the_text_has_a_row_a_check_and_what_to_do(rocky, shop):
    (shop / "rocky.toml").write_text("[adapter\n")
    answer = rocky("doctor", "--check", "config", "-o", "table")
    lines = [" ".join(line.split()) for line in answer.out.splitlines()]

    assert ExitCode.CRITICAL == answer.code == 3
    assert "CHECK HEALTH TIME FOUND" == lines[0]
    assert lines[1].startswith("config critical ")
    assert ["what to do:", "config: `rocky validate` shows them", "", "1 critical"] == lines[-4:]


def test_only_the_checks_that_are_named_are_made(rocky, shop):
    answer = rocky("doctor", "--check", "state_rw", "--check", "config")

    assert ["config", "state_rw"] == [each["name"] for each in answer.json["checks"]]


def test_an_unknown_check_is_an_error_with_the_nearest_name(rocky, shop):
    answer = rocky("doctor", "--check", "state_rv", "-o", "json")

    assert (ExitCode.FAILED, []) == (answer.code, check(answer.json, "error"))
    assert "error: no check `state_rv`; did you mean `state_rw`?\n" == answer.err


def test_without_a_project_that_is_said_once(rocky):
    answer = rocky("doctor")
    found = health_of(answer)

    assert ExitCode.CRITICAL == answer.code
    assert [] == check(answer.json, "doctor")
    # Said once: no other check that needs a project can say more.
    assert {"config": "critical", "java": "healthy", "spark": "healthy"} == found


def test_a_state_file_that_cannot_be_read_is_critical(rocky, shop):
    (shop / STATE_FILE).write_text("not a database at all, and long enough to be looked at" * 9)
    answer = rocky("doctor", "--check", "state", "--check", "state_schema")

    assert ExitCode.CRITICAL == answer.code
    assert {"state": "critical", "state_schema": "critical"} == health_of(answer)
    assert all(each["message"].startswith("could not check: ") for each in answer.json["checks"])


@pytest.mark.slow
def test_no_pyspark_is_loaded_to_look(shop):
    record_past(shop)
    code = (
        "import sys\nfrom rocky.cli.app import main\n"
        "try:\n    main(['doctor', '-o', 'json'])\n"
        "except SystemExit as end:\n    print(end.code, 'pyspark' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=shop
    )

    assert "0 False" == done.stdout.splitlines()[-1]


@pytest.mark.parametrize("quiet", [True, False])
def test_a_quiet_doctor_speaks_only_when_something_is_critical(rocky, shop, quiet):
    if not quiet:
        (shop / "rocky.toml").write_text("[adapter\n")
    answer = rocky("doctor", "-q", "-o", "table", "--check", "config")

    assert quiet == (answer.out == "")
