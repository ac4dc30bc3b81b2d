import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest

from rocky.cli.console import ExitCode
from rocky.ledger import STATE_FILE, open_ledger
from rocky.ledger.run_records import (
    CommitRecord,
    InputRecord,
    MetricsRecord,
    ModelExecution,
    RunRecord,
    RunStatus,
)
from tests.cli.recorded import (
    FIRST,
    SECOND,
    START,
    THIRD,
    a_run,
    record_past,
    record_reuse,
    running,
)
from tests.cli.test_schemas import SCHEMAS, check
from tests.run.runs import Shop


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
        f"{SECOND} 2026-05-31 11:04:22 3 min 00 s partial 1 failed, 1 held back - 0.00"
        == " ".join(lines[1].split())
    )
    assert f"{FIRST} 2026-05-30 11:04:22 2.6 s success 2 built 16,020 0.10" == " ".join(
        lines[2].split()
    )


def test_audit_adds_who_where_and_what(rocky, past):
    answer = rocky("history", "--audit")
    run = answer.json["runs"][1]

    assert [] == check(answer.json, "history")
    assert ("data-eng@example.com", "ci", ["+fct_revenue"]) == (
        run["triggering_identity"],
        run["session_source"],
        run["selection"],
    )
    assert {"config_hash", "git_commit", "hostname", "engine"} <= set(run)


def test_an_audit_for_people_has_whole_hashes_and_fits_a_narrow_terminal(rocky, past):
    block = rocky("history", "--audit", "-o", "table").out.split("\n\n")[1].splitlines()

    assert [
        f"{FIRST}: success",
        "  when      started 2026-05-30 11:04:22 UTC, took 2.6 s",
        "  models    2 built",
        "  who       data-eng@example.com",
        "  trigger   Ci (session source: ci)",
        "  commit    a1b2c3d4e5f60718293a4b5c6d7e8f9012345678",
        "  branch    main",
        "  tree      dirty: what ran is not what the commit has",
        "  host      runner-01",
        "  rocky     0.3.0",
        "  config    a54e8a0fa524b6a2aa",
        "  selected  +fct_revenue",
    ] == block


def test_an_audit_says_what_is_not_known_and_how_a_run_ended(rocky, shop):
    with open_ledger(shop / STATE_FILE) as ledger:
        ledger.begin_run(RunRecord(START, "Manual", "c0", "laptop", "0.3.0"))
    lines = rocky("history", "--audit", "-o", "table").out.splitlines()

    assert f"{FIRST}: died" == lines[0]
    assert {
        "  models    no models",
        "  who       nobody is recorded",
        "  trigger   Manual (session source: cli)",
        "  commit    none is recorded",
        "  branch    none is recorded",
        "  tree      not known",
        "  ended     the process ended without finishing",
    } <= set(lines)


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


@pytest.mark.parametrize("since", ["yesterday", "7", "0d", "-1d", "2026-13-01"])
def test_a_when_that_is_none_is_refused_with_the_forms_there_are(rocky, past, since):
    answer = rocky("history", "--since", since)

    assert ExitCode.FAILED == answer.code
    assert "is not a date (2026-05-30), a time (2026-05-30T11:04:22Z) or an age (30m" in answer.err


@pytest.mark.parametrize("since", ["999999w", "0001-01-01T00:00:00+05:00", "0300-01-01"])
def test_since_before_there_were_runs_leaves_none_out(rocky, past, since):
    assert [SECOND, FIRST] == ids(rocky("history", "--since", since))


def test_when_since_leaves_nothing_it_is_named(rocky, past):
    answer = rocky("history", "--since", "2026-06-01", "-o", "table")
    of_model = rocky("history", "--since", "2026-06-01", "--model", "fct_revenue", "-o", "table")

    assert "no run since 2026-06-01 00:00:00 UTC; without `--since`" in answer.err
    assert "no execution of `fct_revenue` since 2026-06-01 00:00:00 UTC" in of_model.err


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

    assert f"{FIRST} 2026-05-30 11:04:23 812 ms built 14,820 7 0.10 9b74c9897bac -" == " ".join(
        lines[2].split()
    )


def test_a_model_goes_by_its_tables_name_too(rocky, past):
    rocky("history", "--model", "fct_revenue")
    target = rocky("list").json["models"]
    full = next(each["target"] for each in target if each["name"] == "fct_revenue")

    assert 2 == rocky("history", "--model", full).json["count"]


def test_a_model_that_never_ran_has_an_empty_history(rocky, past):
    answer = rocky("history", "--model", "dim_customers", "-o", "table")

    assert (ExitCode.OK, "") == (answer.code, answer.out)
    assert "no execution of `dim_customers` is recorded; `rocky run --model dim_" in answer.err


def test_a_model_nobody_knows_is_an_error(rocky, past):
    answer = rocky("history", "--model", "fct_revenu")

    assert ExitCode.FAILED == answer.code
    assert "no model `fct_revenu`; did you mean `fct_revenue`?" in answer.err


def test_the_audit_of_a_model_says_who_ran_each_execution(rocky, past):
    record_reuse(past)
    answer = rocky("history", "--audit", "--model", "fct_revenue")
    lines = rocky("history", "--audit", "--model", "fct_revenue", "-o", "table").out.splitlines()

    assert [] == check(answer.json, "history")
    assert {"data-eng@example.com"} == {
        each["run"]["triggering_identity"] for each in answer.json["executions"]
    }
    assert [
        f"{THIRD}: reused from {FIRST}",
        "  when      started 2026-06-02 11:04:22 UTC, took 2 ms",
        "  who       data-eng@example.com",
    ] == lines[:3]
    assert "run" not in rocky("history", "--model", "fct_revenue").json["executions"][0]


def test_what_was_decided_is_visible_for_each_execution(rocky, past):
    record_reuse(past)
    decisions = {
        model: rocky("history", "--model", model, "-o", "table").out.splitlines()[1]
        for model in ("stg_orders", "fct_revenue", "stg_payments", "large")
    }

    assert " built " in decisions["stg_orders"]
    assert f" reused from {FIRST} " in decisions["fct_revenue"]
    assert decisions["fct_revenue"].endswith("the same code and inputs")
    assert " resumed " in decisions["stg_payments"]
    assert decisions["stg_payments"].endswith(f"built by {FIRST}")
    assert " unchanged " in decisions["large"]
    held = rocky("history", "--model", "fct_revenue", "-o", "table").out.splitlines()[2]
    assert " held back " in held


def test_a_list_that_ends_at_its_limit_says_so(rocky, past):
    said = "at most {} are shown, the newest first; `--limit` changes that"

    assert said.format(1) in rocky("history", "--limit", "1", "-o", "table").err
    assert "are shown" not in rocky("history", "--limit", "99", "-o", "table").err


def test_the_document_of_a_reused_model_says_from_where_and_why(rocky, past):
    record_reuse(past)
    answer = rocky("history", "--model", "fct_revenue")
    runs = rocky("history", "--limit", "1")
    (mine,) = [
        each for each in runs.json["runs"][0]["models"] if each["model_name"] == "fct_revenue"
    ]

    assert [] == check(answer.json, "history") + check(runs.json, "history")
    assert (FIRST, "content", "e5") == tuple(
        answer.json["executions"][0][key] for key in ("reused_from", "reuse_basis", "env_hash")
    )
    assert (FIRST, "content") == (mine["reused_from"], mine["reuse_basis"])


@pytest.mark.parametrize(
    ("name", "record", "added"),
    [
        ("ExecutionSummary", ModelExecution, {"run_id", "run", "outcome"}),
        ("InputRecord", InputRecord, set()),
        ("CommitRecord", CommitRecord, set()),
        ("MetricsRecord", MetricsRecord, set()),
    ],
)
def test_the_schema_knows_every_field_of_a_record(name, record, added):
    schema = json.loads(SCHEMAS["history"].read_text())["$defs"][name]["properties"]
    known = {each.name for each in fields(record)}

    assert known | added == set(schema) | ({"model_name"} if record is ModelExecution else set())


def test_the_commits_of_an_execution_are_in_its_document(rocky, past):
    record_reuse(past)
    answer = rocky("history", "--model", "stg_orders")

    assert [] == check(answer.json, "history")
    assert [
        {"version": 8, "blake3_hash": "c0"},
        {"version": 9, "blake3_hash": "c1", "checkpoint_blake3": "c2"},
    ] == answer.json["executions"][0]["commits"]


def test_a_runs_models_are_counted_by_what_became_of_them(rocky, past):
    record_reuse(past)

    assert (
        " 1 built, 2 reused, 1 resumed, 1 unchanged "
        in rocky("history", "-o", "table").out.splitlines()[1]
    )


def test_a_narrow_terminal_loses_columns_but_no_decision(rocky, past, monkeypatch):
    record_reuse(past)
    monkeypatch.setenv("COLUMNS", "80")
    answer = rocky("history", "--model", "fct_revenue", "-o", "table")

    assert 80 >= max(len(line) for line in answer.out.splitlines())
    assert f"reused from {FIRST}" in answer.out
    assert "too narrow for STARTED (UTC), SQL, VERSION" in answer.err


def test_a_history_of_nothing_is_no_error_and_makes_no_file(rocky, shop):
    text = rocky("history", "-o", "table")

    assert {"count": 0, "runs": []}.items() <= rocky("history").json.items()
    assert (ExitCode.OK, "") == (text.code, text.out)
    assert "no run is recorded; `rocky run` makes the first" in text.err
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


@pytest.mark.parametrize("line", ["history", "state", "cost", "trace"])
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


def test_a_run_that_came_to_no_model_says_why(rocky, shop):
    reason = "Spark would not start: no heap\n  --> rocky.toml:4: `spark.driver.memory = 9t`"
    with open_ledger(shop / STATE_FILE) as ledger:
        run_id = ledger.begin_run(RunRecord(START, "Manual", "c0", "laptop", "0.3.0"))
        ledger.finish_run(run_id, RunStatus.FAILURE, START, reason=reason)

    assert "Spark would not start: no heap" in rocky("history", "-o", "table").out
    assert (
        f"  ended     {' '.join(reason.split())}" in rocky("history", "--audit", "-o", "table").out
    )


def test_runs_in_which_nothing_had_changed_say_so_and_are_counted(rocky, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shop = Shop(tmp_path)
    for _ in range(4):
        shop.run()
    newest, _, looked, _ = (each["run_id"] for each in rocky("history").json["runs"])
    listed = rocky("history", "-o", "table").out.splitlines()[1:]
    said = {each: rocky(each, newest, "-o", "table").out for each in ("history", "trace", "replay")}
    answer, by_model = (
        rocky("history", "--model", "report", *more) for more in ((), ("-o", "table"))
    )

    assert [True, True, False, False] == ["nothing changed" in each for each in listed]
    for text in said.values():
        assert f"nothing had changed since {looked}, which looked at each of them" in text
    assert (2, looked) == (answer.json["unchanged_runs"], answer.json["executions"][0]["run_id"])
    assert by_model.err.endswith("2 runs since found that nothing had changed\n")
