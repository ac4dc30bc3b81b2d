"""`rocky state delete` and `rocky state retention sweep`: what is forgotten, and what refuses it."""

from datetime import timedelta

import pytest

from rocky.cli.console import ExitCode
from rocky.ledger import STATE_FILE, open_ledger
from rocky.ledger.idempotency import claim_key
from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.run_records import RunStatus
from rocky.ledger.writer import ModelRecords, PipelineRecords
from rocky.project.configuration.blocks import Idempotency
from tests.cli.recorded import FIRST, SECOND, START, a_model, a_run, record_past, running
from tests.cli.test_schemas import check
from tests.evidence.shops import verify
from tests.run.runs import Shop

TABLE = "shop.marts.fct_revenue"


def lines_of(answer):
    return [" ".join(line.split()) for line in answer.out.splitlines()]


def keep_one(root):
    config = root / "rocky.toml"
    config.write_text(f"{config.read_text()}\n[state.retention]\nmin_runs_kept = 1\n")


class TestDelete:
    def test_a_watermark_is_deleted_by_its_full_name_in_any_case(self, rocky, shop):
        record_past(shop)
        answer = rocky("state", "delete", "--table", "Shop.Marts.FCT_revenue")

        assert (ExitCode.OK, []) == (answer.code, check(answer.json, "state"))
        assert ("state delete", TABLE, "2026-05-29", []) == (
            answer.json["command"],
            answer.json["deleted"]["table"],
            answer.json["deleted"]["last_value"],
            answer.json["warnings"],
        )
        assert [] == rocky("state").json["watermarks"]

    def test_the_text_says_what_the_next_run_does(self, rocky, shop):
        record_past(shop)

        assert [
            f"deleted the watermark of `{TABLE}`, which was 2026-05-29",
            "its next run copies everything, and replaces the table when that is done",
        ] == lines_of(rocky("state", "-o", "table", "delete", "--table", TABLE))

    def test_a_table_without_one_is_an_error_with_the_nearest_name(self, rocky, shop):
        record_past(shop)
        answer = rocky("state", "delete", "--table", "shop.marts.fct_revenu", "-o", "json")

        assert (ExitCode.FAILED, []) == (answer.code, check(answer.json, "error"))
        assert "state delete" == answer.json["command"]
        assert (
            "error: no watermark of a table `shop.marts.fct_revenu`; did you mean"
            f" `{TABLE}`?\n" == answer.err
        )

    def test_a_table_that_a_run_writes_is_refused_naming_the_run(self, rocky, shop):
        record_past(shop)
        with running(shop) as (_, run_id):
            answer = rocky("state", "delete", "--table", TABLE, "-o", "table")

        assert ExitCode.FAILED == answer.code
        assert answer.err.startswith(f"error: run `{run_id}` is writing `{TABLE}` (process ")
        assert 1 == len(rocky("state").json["watermarks"])

    def test_without_a_state_file_it_fails_and_makes_none(self, rocky, shop):
        answer = rocky("state", "delete", "--table", TABLE)

        assert ExitCode.FAILED == answer.code
        assert "no state yet" in answer.err
        assert not (shop / STATE_FILE).exists()

    def test_a_state_file_alone_is_enough(self, rocky, shop, tmp_path, monkeypatch):
        record_past(shop)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        path = str(shop / STATE_FILE)
        (mark,) = rocky("state", "--state-path", path).json["watermarks"]
        assert mark["last_value"].startswith("(hidden: there is no project")

        assert ExitCode.OK == rocky("--state-path", path, "state", "delete", "--table", TABLE).code
        assert [] == rocky("state", "--state-path", path).json["watermarks"]

    def test_the_table_must_be_named(self, rocky, shop):
        answer = rocky("state", "delete", "-o", "table")

        assert ExitCode.FAILED == answer.code
        assert answer.err.startswith("error: Missing option '--table'")


class TestSweep:
    def test_a_dry_run_says_what_would_go_and_changes_nothing(self, rocky, shop):
        record_past(shop)
        keep_one(shop)
        before = (shop / STATE_FILE).read_bytes()
        answer = rocky("state", "retention", "sweep", "--dry-run")

        assert (ExitCode.OK, []) == (answer.code, check(answer.json, "state"))
        assert (True, []) == (answer.json["dry_run"], answer.json["runs"])
        assert before == (shop / STATE_FILE).read_bytes()

    def test_old_runs_that_left_nothing_are_forgotten_and_the_evidence_is_whole(
        self, rocky, tmp_path, monkeypatch
    ):
        monkeypatch.chdir(tmp_path)
        shop = Shop(tmp_path)
        for _ in range(4):
            shop.run()
        settings = "max_age_days = 0\nmin_runs_kept = 1\n"
        config = tmp_path / "rocky.toml"
        config.write_text(f"{config.read_text()}\n[state.retention]\n{settings}")
        runs = [each["run_id"] for each in rocky("history").json["runs"]]
        answer = rocky("state", "retention", "sweep")

        assert (ExitCode.OK, []) == (answer.code, check(answer.json, "state"))
        # The first one built, and the second looked at what the last says it found unchanged.
        assert ([runs[1]], []) == (answer.json["runs"], answer.json["warnings"])
        assert {"committed": 1, "leaned_on": 1} == answer.json["kept"]
        assert ((), ()) == (verify(tmp_path).findings, verify(tmp_path).notes)
        assert 3 == len(rocky("history").json["runs"])
        assert [
            "kept 1 older run: it made a commit that a table's log has",
            "kept 1 older run: records that are kept refer to it",
        ] == lines_of(rocky("state", "retention", "sweep", "-o", "table"))[1:]

    def test_settings_with_errors_forget_nothing(self, rocky, shop):
        record_past(shop)
        config = shop / "rocky.toml"
        config.write_text(f"{config.read_text()}\n[state.retention]\nmax_age_dayz = 1\n")
        answer = rocky("state", "retention", "sweep", "-o", "table")

        assert ExitCode.FAILED == answer.code
        assert "has errors, so what to keep is not known" in answer.err
        assert {FIRST, SECOND} == {each["run_id"] for each in rocky("history").json["runs"]}

    def test_the_inner_command_must_be_named(self, rocky, shop):
        assert ExitCode.FAILED == rocky("state", "retention").code
        answer = rocky("state", "retention", "swep", "-o", "table")
        assert (
            "error: no command `rocky state retention swep`; did you mean `sweep`?"
            == answer.err.splitlines()[0]
        )


def record_pipeline(root):
    table = "lake.raw.orders"
    with open_ledger(root / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run(), [table])
        records = PipelineRecords(
            grace=[GracePeriod(table, "note", "dropped", START, START + timedelta(days=7))],
            loaded=[LoadedFile(table, each, each, 1, START, run_id) for each in ("ab", "cd")],
        )
        ledger.record_models(run_id, [ModelRecords(a_model(table, 0, 1, 0.0), pipeline=records)])
        with ledger.transaction() as rows:
            counts = (
                '[{"count":3,"timestamp":"2026-05-29T11:04:22.000000Z"},'
                '{"count":1200,"timestamp":"2026-05-30T11:04:22.000000Z"}]'
            )
            rows.put("check_history", table, counts)
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)


def test_the_state_shows_what_pipelines_remember(rocky, shop):
    record_pipeline(shop)
    with open_ledger(shop / STATE_FILE) as ledger, claim_key(ledger, "daily", Idempotency()):
        document = rocky("state").json
        lines = lines_of(rocky("state", "-o", "table"))

    assert [] == check(document, "state")
    assert [("note", "dropped")] == [
        (each["column"], each["change"]) for each in document["grace_periods"]
    ]
    assert [{"table": "lake.raw.orders", "files": 2}] == document["loaded_files"]
    assert [("lake.raw.orders", 2, 1200)] == [
        (each["table"], each["counts"], each["last"]["count"]) for each in document["check_history"]
    ]
    assert ["daily"] == [each["key"] for each in document["keys_in_flight"]]
    assert "lake.raw.orders note dropped 2026-05-30 11:04:22 2026-06-06 11:04:22" in lines
    assert "lake.raw.orders 1,200 2026-05-30 11:04:22 2 2" in lines
    assert [] == rocky("state").json["keys_in_flight"]


@pytest.mark.parametrize("value", ["{}", "[1]", '[{"count":"x"}]'])
def test_a_history_that_cannot_be_read_is_an_error_and_not_left_out(rocky, shop, value):
    record_pipeline(shop)
    with open_ledger(shop / STATE_FILE) as ledger, ledger.transaction() as rows:
        rows.put("check_history", "lake.raw.orders", value)
    answer = rocky("state", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert "unusable row: `lake.raw.orders` in `check_history`" in answer.err


def test_the_help_makes_no_file(rocky, shop):
    assert ExitCode.OK == rocky("state", "delete", "--help").code
    assert not (shop / STATE_FILE).exists()
