"""A run in which nothing has changed is recorded in a row, and looks again where in doubt."""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from rocky.cli.render.run import render_run
from rocky.errors import InputNotBuilt, LedgerLocked, RunRefused, StateLost
from rocky.evidence.retention.decisions import Retention
from rocky.evidence.retention.ledger_facts import load_ledger_facts
from rocky.evidence.scope import VerificationScope
from rocky.ledger import open_ledger
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.run_records import RunStatus
from rocky.operations.execution.run_report import report_models
from rocky.run import project_run
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import RunParameters
from rocky.run.reuse.project_memory import LOOK_AGAIN_AFTER
from tests.evidence.mutations import compact, opened
from tests.evidence.retention.histories import a_run
from tests.evidence.shops import Recorded, audit, codes, script_codes, verify
from tests.run.runs import Shop, reasons, statuses
from tests.table_files import data_files
from tools.verify_run import Audit, load

pytestmark = pytest.mark.slow

STATE = ".rocky-state.db"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A project that was built, and whose last run found everything as it was."""
    made = Shop(tmp_path)
    assert 0 == made.run().exit_code
    assert not looked_at_nothing(made)
    return made


def looked_at_nothing(shop: Shop, *selectors: str, options: RunParameters | None = None) -> bool:
    """Whether the next run goes by what the last one found."""
    report = shop.run(*selectors, options=options)
    return stored(shop)[report.run_id].get("unchanged_since") is not None


def stored(shop: Shop) -> dict[str, dict]:
    """The rows of runs as they are in the file."""
    with closing(sqlite3.connect(shop.root / STATE)) as connection:
        rows = connection.execute("SELECT key, value FROM run_history")
        return {key: json.loads(value) for key, value in rows}


def executions(shop: Shop) -> int:
    with closing(sqlite3.connect(shop.root / STATE)) as connection:
        return connection.execute("SELECT count(*) FROM model_executions").fetchone()[0]


class TestItsRecord:
    def test_it_is_one_row_that_names_the_run_that_looked(self, shop):
        looked, before = shop.records()[0], executions(shop)
        report = shop.run()
        row = stored(shop)[report.run_id]

        assert looked.run_id == row["unchanged_since"]
        assert ([], "Success") == (row["models_executed"], row["status"])
        assert before == executions(shop)
        assert row["fence"] > looked.fence

    def test_readers_and_the_report_say_of_each_model_what_the_other_run_found(self, shop):
        looked = shop.records()[0]
        before = shop.heard.said
        report = shop.run()
        run = shop.records()[0]

        assert [each.model_name for each in looked.models_executed] == [
            each.model_name for each in run.models_executed
        ]
        assert {run.finished_at} == {each.finished_at for each in run.models_executed}
        assert {0} == {each.duration_ms for each in run.models_executed}
        assert ({"reused", "success"}, 0) == (set(statuses(report).values()), shop.opened - 1)
        # Nothing is recorded of a seed that nobody selected.
        recorded = [each for each in before if "countries" not in each[1]]
        assert [("queued", "alone stg_orders large by_country report"), *recorded] == (
            shop.heard.said
        )
        assert reasons(report)["report"].startswith("reused from run-")

    def test_its_last_line_says_since_when(self, shop):
        looked = shop.records()[0].run_id
        report = report_models(shop.run())

        assert looked == report.unchanged_since
        assert render_run(report).endswith(f", nothing had changed since {looked}")

    def test_many_in_a_row_name_the_same_run(self, shop):
        looked = shop.records()[0].run_id
        for _ in range(5):
            shop.run()
        since = [each.get("unchanged_since") for each in stored(shop).values()]

        assert [None, None, *([looked] * 5)] == since
        assert ((), ()) == (verify(shop.root).findings, verify(shop.root).notes)
        assert ({}, {}) == (audit(shop.root).findings, audit(shop.root).notes)

    def test_to_verify_it_is_to_verify_what_the_other_run_recorded(self, shop):
        looked, run = shop.records()[0].run_id, shop.run().run_id
        scope, alone = VerificationScope(run), VerificationScope(looked)

        assert (
            verify(shop.root, alone).checked["files"] == verify(shop.root, scope).checked["files"]
        )
        data_files(shop.folder("report"))[0].write_bytes(b"")
        assert codes(verify(shop.root, alone).findings) == codes(verify(shop.root, scope).findings)
        assert ["file_changed"] == codes(verify(shop.root, scope).findings)
        by_script = Audit(load(shop.root / STATE), run_id=run)
        by_script.check()
        assert ["file_changed"] == script_codes(by_script)

    @pytest.mark.parametrize(
        ("says", "why"),
        [
            ({"unchanged_since": "run-20200101-000000-000"}, "not there"),
            ({"unchanged_since": "{unchanged}"}, "did not look at everything itself"),
            ({"unchanged_since": "{built}"}, "built or moved"),
            ({"started_at": "2026-02-09T12:00:00.000000Z"}, "within the day before"),
            ({"started_at": "2026-01-01T12:00:00.000000Z"}, "within the day before"),
            ({"config_hash": "00" * 32}, "other settings"),
            ({"pipeline": "other"}, "other settings"),
            ({"full_refresh": True}, "more was asked"),
            ({"fence": 1}, "later fencing token"),
        ],
    )
    def test_one_that_goes_by_what_it_cannot_is_found(self, shop, says, why):
        looked, built = (each.run_id for each in shop.records())
        unchanged = shop.run().run_id
        run = shop.run().run_id
        names = {"{unchanged}": unchanged, "{built}": built}
        with opened(Recorded(shop.root)) as connection:
            (value,) = connection.execute(
                "SELECT value FROM run_history WHERE key = ?", (run,)
            ).fetchone()
            changed = {key: names.get(str(each), each) for key, each in says.items()}
            said = compact({**json.loads(value), **changed})
            connection.execute("UPDATE run_history SET value = ? WHERE key = ?", (said, run))
        assert looked != run

        assert [why] == [
            why
            for each in verify(shop.root).findings
            if "nothing had changed" in each.message and why in each.message
        ]
        assert "nothing had changed" in " ".join(audit(shop.root).findings)

    def test_one_that_passes_over_a_table_that_was_written_is_found(self, shop):
        looked = shop.records()[0].run_id
        built = shop.run("alone", options=RunParameters(parallel=1, rebuild=True)).run_id
        shop.run()
        run = shop.run().run_id
        with opened(Recorded(shop.root)) as connection:
            (value,) = connection.execute(
                "SELECT value FROM run_history WHERE key = ?", (run,)
            ).fetchone()
            said = compact({**json.loads(value), "unchanged_since": looked})
            connection.execute("UPDATE run_history SET value = ? WHERE key = ?", (said, run))

        message = f"and `{built}` wrote `spark_catalog.default.alone` in between"
        assert any(message in each.message for each in verify(shop.root).findings)
        assert "nothing had changed" in " ".join(audit(shop.root).findings)

    def test_one_that_was_given_up_because_a_table_was_written_is_no_finding(
        self, shop, monkeypatch
    ):
        run_unchanged = project_run.run_unchanged

        def late(*given, **more):
            monkeypatch.undo()
            shop.run("alone", options=RunParameters(parallel=1, rebuild=True))
            return run_unchanged(*given, **more)

        monkeypatch.setattr(project_run, "run_unchanged", late)
        shop.run()
        given_up = [each for each in shop.records() if each.status is RunStatus.INTERRUPTED]

        assert 1 == len(given_up)
        assert ((), ()) == (verify(shop.root).findings, verify(shop.root).notes)
        assert ({}, {}) == (audit(shop.root).findings, audit(shop.root).notes)

    def test_what_it_stands_on_is_kept_as_long_as_it_is(self, shop):
        _built, looked = reversed([each.run_id for each in shop.records()])
        for _ in range(3):
            shop.run()
        only_newest = Retention(0, 1, 0)
        facts = load_ledger_facts(shop.root / STATE, only_newest, shop.now + timedelta(days=9))

        assert facts is not None
        assert {looked, shop.records()[0].run_id} == facts.retained
        needed = facts.needs.of("spark_catalog.default.report", "").addresses
        assert {
            file.name.removesuffix(".parquet") for file in data_files(shop.folder("report"))
        } == (set(needed))


CHANGES = {
    "code": ("models/alone.sql", "SELECT 2 AS one"),
    "a comment in code": ("models/alone.sql", "SELECT 1 AS one -- as ever"),
    "a description": ("models/alone.toml", 'description = "one"\n'),
    "a new model": ("models/more.sql", "SELECT 1 AS more"),
    "a source": ("data/orders.csv", "id,country\n1,DE\n2,DE\n3,FR\n4,FR\n"),
    "a seed": ("seeds/countries.csv", "code,label\nDE,Germania\nFR,France\n"),
    "how a source is read": (
        "sources/raw.toml",
        '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\n'
        'columns = [ { name = "id", type = "int" }, { name = "country", type = "string" } ]\n',
    ),
    "whether it may be skipped": ("models/alone.toml", "[skip]\neligible = false\n"),
    "whether a query that it reads is deterministic": (
        "models/large.toml",
        '[strategy]\ntype = "ephemeral"\n[skip]\ndeterministic = false\n',
    ),
    "a tag": ("models/alone.toml", '[tags]\nteam = "b"\n'),
    "a tag of a seed": ("seeds/countries.toml", '[tags]\nteam = "b"\n'),
    "where a seed lies": ("seeds/countries.toml", '[target]\nschema = "other"\n'),
    "where a table lies": ("models/alone.toml", '[target]\nschema = "other"\n'),
    "settings": (
        "rocky.toml",
        '[pipeline.shop]\nmodels = "models/**"\n[store]\ncanonical = false\n',
    ),
}


class TestLookingAgain:
    @pytest.mark.parametrize("what", CHANGES)
    def test_whatever_is_edited(self, shop, what):
        assert looked_at_nothing(shop)
        shop.write(*CHANGES[what])

        assert not looked_at_nothing(shop)

    def test_where_a_table_lies_that_is_only_read(self, shop):
        before = (shop.root / "models/by_country.sql").read_text()
        shop.write("models/by_country.sql", "SELECT 'x' AS label, CAST(99 AS BIGINT) AS n")
        shop.write("models/by_country.toml", '[target]\nschema = "other"\n')
        shop.run("by_country")
        (shop.root / "models/by_country.toml").unlink()
        shop.write("models/by_country.sql", before)
        for _ in range(3):
            shop.run("report")
        assert looked_at_nothing(shop, "report")
        shop.write("models/by_country.toml", '[target]\nschema = "other"\n')

        assert not looked_at_nothing(shop, "report")
        assert [(99,)] == shop.rows("report")

    def test_a_variable_of_the_settings(self, shop):
        shop.write("models/alone.toml", '[skip]\neligible = "${E}"\n')
        shop.env = {"E": "true"}
        for _ in range(2):
            shop.run()
        assert looked_at_nothing(shop)
        shop.env = {"E": "false"}

        assert not looked_at_nothing(shop)

    def test_a_file_of_a_table_that_is_gone_or_shorter_or_another(self, shop):
        for damage in (
            lambda file: file.unlink(),
            lambda file: file.write_bytes(file.read_bytes()[:-1]),
            lambda file: file.write_bytes(file.read_bytes()),
        ):
            shop.run()
            assert looked_at_nothing(shop)
            damage(data_files(shop.folder("report"))[0])
            assert not looked_at_nothing(shop)

        assert [(1,)] == shop.rows("report")

    def test_a_commit_of_somebody_else(self, shop):
        log = shop.folder("report") / "_delta_log"
        newest = max(log.glob("*.json"))
        (log / f"{int(newest.stem) + 1:020d}.json").write_text(
            json.dumps({"commitInfo": {"timestamp": 1, "operation": "OPTIMIZE"}}) + "\n"
        )

        assert not looked_at_nothing(shop)

    def test_a_log_that_was_written_over(self, shop):
        commit = max((shop.folder("report") / "_delta_log").glob("*.json"))
        commit.write_bytes(commit.read_bytes())

        assert not looked_at_nothing(shop)

    def test_another_spark(self, shop):
        shop.environment = Environment("4.1.5", "memory", {})

        assert not looked_at_nothing(shop)

    def test_a_selection(self, shop):
        assert not looked_at_nothing(shop, "+report")
        assert looked_at_nothing(shop, "+report")
        assert not looked_at_nothing(shop)

    @pytest.mark.parametrize(
        "options",
        [
            RunParameters(parallel=1, full_refresh=True),
            RunParameters(parallel=1, rebuild=True),
            RunParameters(parallel=1, reuse=False),
            RunParameters(parallel=1, force=True),
            RunParameters(parallel=1, start_anew=True),
        ],
    )
    def test_whatever_is_asked_for_but_bringing_tables_up_to_date(self, shop, options):
        assert not looked_at_nothing(shop, options=options)

    def test_after_a_day(self, shop):
        looked = shop.records()[0].started_at
        shop.wait(looked + LOOK_AGAIN_AFTER - timedelta(seconds=2))
        assert looked_at_nothing(shop)
        shop.wait(looked + LOOK_AGAIN_AFTER - timedelta(seconds=1))
        assert not looked_at_nothing(shop)

    def test_after_any_other_record(self, shop):
        shop.run("alone", options=RunParameters(parallel=1, rebuild=True))

        assert not looked_at_nothing(shop)

    def test_with_a_record_of_that_run_that_was_altered(self, shop):
        looked = shop.records()[0].run_id
        with opened(Recorded(shop.root)) as connection:
            (value,) = connection.execute(
                "SELECT value FROM run_history WHERE key = ?", (looked,)
            ).fetchone()
            said = compact({**json.loads(value), "hostname": "elsewhere"})
            connection.execute("UPDATE run_history SET value = ? WHERE key = ?", (said, looked))

        assert not looked_at_nothing(shop)

    def test_an_older_copy_of_the_state_is_refused(self, shop):
        older = (shop.root / STATE).read_bytes()
        shop.run()
        for file in shop.root.glob(f"{STATE}*"):
            if file.is_file():
                file.unlink()
        (shop.root / STATE).write_bytes(older)

        with pytest.raises(StateLost):
            shop.run()

    def test_where_files_had_just_changed(self, tmp_path):
        shop = Shop(tmp_path)
        shop.settled_ns = None
        for _ in range(3):
            assert not looked_at_nothing(shop)

    def test_where_sources_are_to_be_read(self, shop):
        config = (shop.root / "rocky.toml").read_text()
        shop.write("rocky.toml", f'{config}[reuse]\nsources = "bytes"\n')
        for _ in range(2):
            assert not looked_at_nothing(shop)

    def test_a_source_that_changed_after_it_was_looked_at(self, shop):
        shop.write(*CHANGES["a seed"])
        shop.run()
        # The end of a run is too late to ask: it decided by what was there before.
        shop.on_finished = lambda: shop.write(*CHANGES["a source"])
        assert not looked_at_nothing(shop)
        shop.on_finished = lambda: None

        report = shop.run()
        assert (
            "build"
            == {each.step.name: each.execution.decision for each in report.outcomes}["stg_orders"]
        )

    def test_what_others_recorded_while_it_looked(self, shop):
        shop.write(*CHANGES["a seed"])
        shop.run()

        def forget() -> None:
            gone = CollectedFile("0" * 64, "gone.parquet", "other", 1, shop.now, "nothing needs it")
            with open_ledger(shop.root / STATE) as ledger:
                ledger.record_collected([gone])

        shop.on_finished = forget
        assert not looked_at_nothing(shop)
        shop.on_finished = lambda: None
        assert not looked_at_nothing(shop)
        assert looked_at_nothing(shop)

    def test_where_a_table_is_held(self, shop, monkeypatch):
        held = {"model:alone": "held: reverted by somebody"}
        monkeypatch.setattr("rocky.run.execute.runner.find_holds", lambda *_, **__: held)
        shop.write(*CHANGES["code"])
        for _ in range(2):
            assert not looked_at_nothing(shop)


class TestGates:
    def test_errors_refuse_it(self, shop):
        assert looked_at_nothing(shop)
        shop.write(
            "contracts/report.toml",
            '[[columns]]\nname = "most"\ntype = "string"\nnullable = false\n',
        )
        shop.write("models/alone.sql", "SELECT 1 AS one FROM nowhere")

        with pytest.raises(RunRefused):
            shop.run()

    def test_tables_that_somebody_writes_are_not_claimed(self, shop):
        with (
            open_ledger(shop.root / STATE) as ledger,
            ledger.claim(["spark_catalog.default.report"], "rocky compact"),
            pytest.raises(LedgerLocked),
        ):
            shop.run()

    def test_runs_of_other_tables_that_begin_or_die_meanwhile_change_nothing(self, shop):
        with open_ledger(shop.root / STATE) as ledger:
            ledger.begin_run(a_run(shop.now), ["spark_catalog.default.other"])
            assert looked_at_nothing(shop)
        # It is over, and never said so.
        assert looked_at_nothing(shop)
        assert [] == codes(verify(shop.root).findings)

    def test_what_is_read_and_was_never_built_refuses_it(self, shop):
        shop.run("report")
        assert looked_at_nothing(shop, "report")
        for file in sorted(shop.folder("by_country").rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()

        with pytest.raises(InputNotBuilt):
            shop.run("report")

    def test_a_change_after_it_was_looked_at_is_looked_at(self, shop):
        began = []

        def damage(run_id: str) -> None:
            if not began:
                data_files(shop.folder("report"))[0].unlink()
            began.append(run_id)

        shop.on_begin = damage
        report = shop.run()
        looked, given_up = sorted(shop.records()[:2], key=lambda each: each.run_id, reverse=True)

        assert began == [given_up.run_id, looked.run_id]
        assert (report.run_id, 0) == (looked.run_id, report.exit_code)
        assert "missing or damaged" in reasons(report)["report"]
        assert RunStatus.INTERRUPTED == given_up.status
        assert "something changed while it began" in given_up.reason
        assert [] == codes(verify(shop.root).findings)
