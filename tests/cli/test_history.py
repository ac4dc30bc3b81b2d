import json
from datetime import UTC, datetime, timedelta

import pytest

from rocky.cli.exit_codes import ExitCode
from rocky.ledger import STATE_FILE, open_ledger
from tests.cli.recorded import FIRST, SECOND, a_run, record_past, running
from tests.cli.test_schemas import check


@pytest.fixture
def past(shop):
    record_past(shop)
    return shop


def ids(answer):
    return [each["run_id"] for each in answer.json["runs"]]


def test_runs_are_listed_newest_first(rocky, past):
    answer = rocky("history")

    assert ExitCode.OK == answer.code
    assert [SECOND, FIRST] == ids(answer)
    assert [] == check(answer.json, "history")


def test_a_run_says_how_it_went_with_each_model(rocky, past):
    run = rocky("history", "--limit", "1").json["runs"][0]

    assert ("PartialFailure", False, 180_000, 2) == (
        run["status"],
        run["died"],
        run["duration_ms"],
        run["models_executed"],
    )
    assert {"stg_orders": "failed", "fct_revenue": "skipped"} == {
        each["model_name"]: each["status"] for each in run["models"]
    }


def test_the_table_has_a_line_for_each_run(rocky, past):
    lines = rocky("history", "-o", "table").out.splitlines()

    assert "RUN STARTED (UTC) TOOK STATUS MODELS ROWS USD" == " ".join(lines[0].split())
    assert (
        f"{SECOND} 2026-05-31 11:04:22 3 min 00 s partial 0, 1 failed, 1 skipped - 0.00"
        == " ".join(lines[1].split())
    )
    assert f"{FIRST} 2026-05-30 11:04:22 2.6 s success 2 16,020 0.10" == " ".join(lines[2].split())


def test_audit_adds_who_where_and_what(rocky, past):
    answer = rocky("history", "--audit")
    run = answer.json["runs"][1]
    line = rocky("history", "--audit", "-o", "table").out.splitlines()[2]

    assert [] == check(answer.json, "history")
    assert ("data-eng@example.com", "ci", ["+fct_revenue"]) == (
        run["triggering_identity"],
        run["session_source"],
        run["selection"],
    )
    assert {"config_hash", "git_commit", "hostname", "engine"} <= set(run)
    assert line.endswith(
        "Ci       data-eng@example.com  runner-01  a1b2c3d4e5f6*  main    a54e8a0fa524  0.3.0"
    )


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("2026-05-31", [SECOND]),
        ("2026-05-30", [SECOND, FIRST]),
        ("2026-05-30T11:04:23Z", [SECOND]),
        ("2026-05-30T13:04:23+02:00", [SECOND]),
        ("2026-06-01", []),
    ],
)
def test_since_a_date_or_a_time(rocky, past, since, expected):
    assert expected == ids(rocky("history", "--since", since))


def test_since_a_while_ago(rocky, past):
    recent = datetime.now(UTC) - timedelta(hours=3)
    with open_ledger(past / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run(recent))

    assert run_id in ids(rocky("history", "--since", "4h"))
    assert run_id not in ids(rocky("history", "--since", "2h"))


@pytest.mark.parametrize("since", ["yesterday", "7", "0d", "2026-13-01"])
def test_a_when_that_is_none_is_refused_with_the_forms_there_are(rocky, past, since):
    answer = rocky("history", "--since", since)

    assert ExitCode.FAILED == answer.code
    assert "nor a while ago (30m, 12h, 7d, 2w)" in answer.err


def test_a_models_executions_over_all_runs(rocky, past):
    answer = rocky("history", "--model", "FCT_revenue")

    assert [] == check(answer.json, "history")
    assert ("fct_revenue", 2) == (answer.json["model"], answer.json["count"])
    assert [(SECOND, "skipped"), (FIRST, "success")] == [
        (each["run_id"], each["status"]) for each in answer.json["executions"]
    ]
    assert 7 == answer.json["executions"][1]["commit_version"]


def test_a_models_executions_as_a_table(rocky, past):
    lines = rocky("history", "--model", "fct_revenue", "-o", "table").out.splitlines()

    assert (
        f"{FIRST} 2026-05-30 11:04:23 812 ms success build 14,820 7 0.10 9b74c9897bac"
        == " ".join(lines[2].split())
    )


def test_a_model_goes_by_its_tables_name_too(rocky, past):
    rocky("history", "--model", "fct_revenue")
    target = rocky("list").json["models"]
    full = next(each["target"] for each in target if each["name"] == "fct_revenue")

    assert 2 == rocky("history", "--model", full).json["count"]


def test_a_model_that_never_ran_has_an_empty_history(rocky, past):
    answer = rocky("history", "--model", "dim_customers", "-o", "table")

    assert (ExitCode.OK, "") == (answer.code, answer.out)
    assert "no executions of `dim_customers`; `rocky run --model dim_customers`" in answer.err


def test_a_model_nobody_knows_is_an_error(rocky, past):
    answer = rocky("history", "--model", "fct_revenu")

    assert ExitCode.FAILED == answer.code
    assert "no model `fct_revenu`; did you mean `fct_revenue`?" in answer.err


def test_audit_and_model_exclude_each_other(rocky, past):
    assert ExitCode.FAILED == rocky("history", "--audit", "--model", "fct_revenue").code


def test_a_history_of_nothing_is_no_error_and_makes_no_file(rocky, shop):
    text = rocky("history", "-o", "table")

    assert {"count": 0, "runs": []}.items() <= rocky("history").json.items()
    assert (ExitCode.OK, "") == (text.code, text.out)
    assert "no runs" in text.err
    assert not (shop / STATE_FILE).exists()


def test_a_run_that_goes_on_and_one_that_died_are_told_apart(rocky, past):
    with running(past):
        alive = rocky("history", "--limit", "1")
        shown = rocky("history", "-o", "table").out
    dead = rocky("history", "--limit", "1")

    assert [] == check(alive.json, "history") + check(dead.json, "history")
    assert ("Running", False) == tuple(alive.json["runs"][0][key] for key in ("status", "died"))
    assert ("Failure", True) == tuple(dead.json["runs"][0][key] for key in ("status", "died"))
    assert "duration_ms" not in dead.json["runs"][0]
    assert " running " in shown
    assert " died " in rocky("history", "-o", "table").out
    assert ["stg_orders"] == [each["model_name"] for each in dead.json["runs"][0]["models"]]


def test_an_auditor_needs_the_state_file_and_no_project(rocky, past, tmp_path, monkeypatch):
    (past / STATE_FILE).rename(tmp_path / "evidence.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    answer = rocky("--state-path", "../evidence.db", "history", "--output", "json")

    assert [SECOND, FIRST] == ids(answer)
    assert (
        2
        == rocky("history", "--model", "fct_revenue", "--state-path", "../evidence.db").json[
            "count"
        ]
    )
    unknown = rocky("history", "--model", "nope", "--state-path", "../evidence.db")
    assert "no model `nope` has ever run" in unknown.err


def test_without_a_project_or_a_state_file_it_says_what_to_do(rocky):
    answer = rocky("history")

    assert ExitCode.FAILED == answer.code
    assert "or name a state file with `--state-path`" in answer.err


@pytest.mark.parametrize("line", ["history", "state", "cost"])
def test_a_file_that_is_no_ledger_is_one_clear_line(rocky, shop, line):
    (shop / STATE_FILE).write_text("not a database" * 100)
    answer = rocky(line)

    assert ExitCode.FAILED == answer.code
    assert "LedgerUnreadable" == json.loads(answer.out)["error"]["kind"]
    assert "`.rocky-state.db` is not a state file; move it away" in answer.err


def test_variables_mean_nothing_to_the_past(rocky, past):
    answer = rocky("history", "--var", "a=b")

    assert ExitCode.FAILED == answer.code
    assert "no such option" in answer.err.lower()
