"""Runs built again from their records: what stays provable after code and tables have changed."""

import json
import shutil
import sqlite3
from datetime import UTC, datetime
from threading import Event

import pytest

from rocky.canonical import text_hash
from rocky.ledger import open_ledger
from rocky.ledger.chain import Head, entry_key, format_entry, make_entry, parse_entry
from rocky.ledger.provenance import CollectedFile
from rocky.run.engine.protocol import EngineFacts
from tests.replay.replays import STATE, Replays, reason_of, verdict_on, verdicts
from tests.run.runs import Shop, write
from tests.table_files import data_files

pytestmark = pytest.mark.slow

EXACT = {
    "alone": "bit_exact",
    "by_country": "bit_exact",
    "report": "bit_exact",
    "stg_orders": "bit_exact",
}
EDITED = {
    "models/stg_orders.sql": "SELECT id * 10 AS id, country FROM raw.orders",
    "models/alone.sql": "SELECT 2 AS one",
}


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


@pytest.fixture
def replay(shop):
    return Replays(shop)


def table_files(shop, table):
    return data_files(shop.root / "warehouse/spark_catalog/default" / table)


def test_a_run_is_replayed_after_its_models_were_edited_and_later_runs_replaced_its_tables(
    shop, replay
):
    first = shop.run()
    write(shop.root, EDITED)
    shop.run()
    (shop.root / "models/report.sql").unlink()
    write(shop.root, {"models/alone.sql": "SELECT 3 AS one"})
    shop.run()

    report = replay(first.run_id)

    assert EXACT == verdicts(report)
    assert 0 == report.exit_code
    assert {"countries", "large"} == {each.name for each in report.left_out}


def test_a_replay_leaves_the_tables_the_ledger_and_the_folder_as_they_were(shop, replay):
    run = shop.run()
    before = {path: path.stat().st_mtime_ns for path in shop.root.rglob("*") if path.is_file()}

    replay(run.run_id)

    after = {path: path.stat().st_mtime_ns for path in shop.root.rglob("*") if path.is_file()}
    assert before == after
    assert sorted(path.name for path in shop.root.iterdir() if "replay" in path.name) == []
    assert [] == replay.engines[0].views.bound


def test_what_was_built_is_kept_where_somebody_asked_for_it(shop, replay, tmp_path_factory):
    run = shop.run()
    kept = tmp_path_factory.mktemp("kept") / "scratch"

    report = replay(run.run_id, "report", keep=kept)

    assert str(kept) == report.kept
    (file,) = data_files(kept)
    assert [file.name] == [each.name for each in table_files(shop, "report")]


def test_only_the_named_models_are_built(shop, replay):
    run = shop.run()

    assert {"report": "bit_exact"} == verdicts(replay(run.run_id, "REPORT"))


def test_a_source_that_changed_since_is_named_with_both_hashes(shop, replay):
    run = shop.run()
    was = text_hash((shop.root / "data/orders.csv").read_text())[:12]
    write(shop.root, {"data/orders.csv": "id,country\n9,DE\n"})
    now = text_hash((shop.root / "data/orders.csv").read_text())[:12]

    report = replay(run.run_id)

    assert EXACT | {"stg_orders": "non_replayable"} == verdicts(report)
    assert (
        f"source `raw.orders` has changed since: `data/orders.csv` was `{was}` then and `{now}` now"
    ) == reason_of(report, "stg_orders")
    assert 2 == report.exit_code


def test_a_source_that_is_gone_is_named(shop, replay):
    run = shop.run()
    (shop.root / "data/orders.csv").unlink()

    said = reason_of(replay(run.run_id), "stg_orders")

    assert "source `raw.orders` has lost the file `data/orders.csv`: No such file" in said


def test_an_input_file_that_is_missing_is_named(shop, replay):
    run = shop.run()
    (file,) = table_files(shop, "by_country")
    file.unlink()

    report = replay(run.run_id)

    assert EXACT | {"report": "non_replayable"} == verdicts(report)
    assert (
        f"the input `by_country` at version 0 is not what it was: file `{file}` is missing"
    ) == reason_of(report, "report")


def test_an_input_file_that_was_collected_says_so(shop, replay):
    run = shop.run()
    (file,) = table_files(shop, "by_country")
    file.unlink()
    gone = CollectedFile(
        file.stem,
        str(file),
        "spark_catalog.default.by_country",
        1,
        datetime(2026, 3, 1, tzinfo=UTC),
        "older than 30 days",
    )
    with open_ledger(shop.root / STATE) as ledger:
        ledger.record_collected([gone])

    said = reason_of(replay(run.run_id), "report")

    assert said is not None
    assert said.endswith("was collected on 2026-03-01 (older than 30 days)")


def test_an_input_file_that_holds_other_bytes_is_not_read(shop, replay):
    run = shop.run()
    (file,) = table_files(shop, "by_country")
    shutil.copy(table_files(shop, "alone")[0], file)

    said = reason_of(replay(run.run_id), "report")

    assert said is not None
    assert said.endswith(f"file `{file}` holds other bytes")


def test_a_volatile_model_is_flagged_and_no_engine_is_opened(tmp_path):
    shop = Shop(tmp_path, {"models/dice.sql": "SELECT random() AS face"})
    run = shop.run("dice")
    replay = Replays(shop)

    report = replay(run.run_id)

    assert {"dice": "non_replayable"} == verdicts(report)
    assert "it does not give the same rows twice: volatile: " in reason_of(report, "dice")
    assert [] == replay.engines
    assert 2 == report.exit_code


def test_a_model_that_reads_a_volatile_query_is_flagged(tmp_path):
    shop = Shop(
        tmp_path,
        {
            "models/dice.sql": "SELECT random() AS face",
            "models/dice.toml": '[strategy]\ntype = "ephemeral"\n',
            "models/thrown.sql": "SELECT face FROM dice",
        },
    )
    run = shop.run("thrown")

    said = reason_of(Replays(shop)(run.run_id), "thrown")

    assert "it reads `dice`, which does not give the same rows twice: volatile: " in said


def test_a_model_that_failed_and_those_that_waited_for_it_cannot_be_replayed(tmp_path):
    shop = Shop(tmp_path)

    def fail(table):
        if table.endswith("by_country"):
            raise OSError("no")

    run = shop.run(before_write=fail)

    report = Replays(shop)(run.run_id)

    assert EXACT | {"by_country": "non_replayable", "report": "non_replayable"} == verdicts(report)
    assert "nothing to replay: it failed (no)" == reason_of(report, "by_country")
    assert "it was not built (waits for `by_country`, which failed)" in reason_of(report, "report")


def test_other_rows_are_shown_with_what_may_have_made_them(shop, replay):
    run = shop.run()

    def change(engine):
        engine.facts = EngineFacts("4.1.9", "memory", engine.facts.settings)
        ask = engine.frame
        engine.frame = lambda sql: ask(sql.replace("SELECT 1 AS one", "SELECT 7 AS one"))

    replay.change = change

    report = replay(run.run_id)

    assert EXACT | {"alone": "diverged"} == verdicts(report)
    found = verdict_on(report, "alone")
    assert ("Spark 4.1.4 then, 4.1.9 now",) == found.causes
    assert ({"one": 1},) == found.differences.recorded
    assert ({"one": 7},) == found.differences.replayed
    assert 1 == report.exit_code


def test_other_rows_are_told_also_when_the_recorded_files_are_gone(shop, replay):
    run = shop.run()
    for file in table_files(shop, "alone"):
        file.unlink()

    def change(engine):
        ask = engine.frame
        engine.frame = lambda sql: ask(sql.replace("SELECT 1 AS one", "SELECT 7 AS one"))

    replay.change = change

    found = verdict_on(replay(run.run_id, "alone"), "alone")

    assert "diverged" == found.verdict
    assert "other rows; which ones is not known: the files of the run are gone" == found.reason
    assert found.differences is None


def test_a_model_that_depends_on_the_order_of_rows_is_tried_and_its_order_blamed(tmp_path):
    shop = Shop(tmp_path, {"models/any.sql": "SELECT first(id) AS id FROM stg_orders"})
    run = shop.run("+any")
    replay = Replays(shop)
    assert "bit_exact" == verdicts(replay(run.run_id))["any"]

    def change(engine):
        ask = engine.frame
        engine.frame = lambda sql: ask(sql.replace("first(id)", "last(id)"))

    replay.change = change

    found = verdict_on(replay(run.run_id), "any")

    assert "diverged" == found.verdict
    assert ("in `any`, `first` depends on the order of rows",) == found.causes


def test_files_that_are_gone_are_made_again_byte_for_byte(shop, replay):
    run = shop.run()
    shutil.rmtree(shop.root / "warehouse/spark_catalog/default/alone")

    assert {"alone": "bit_exact"} == verdicts(replay(run.run_id, "alone"))


def test_the_same_rows_in_other_files_are_row_exact(tmp_path):
    files = {"rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n[store]\ncanonical = false\n'}
    shop = Shop(tmp_path, files)
    run = shop.run()
    replay = Replays(shop)
    replay.change = lambda engine: setattr(engine, "compression", "gzip")

    report = replay(run.run_id)

    assert dict.fromkeys(EXACT, "row_exact") == verdicts(report)
    assert ("the record was not canonical: the same rows, in files of other bytes") == reason_of(
        report, "alone"
    )
    assert 0 == report.exit_code


def test_a_build_that_fails_now_has_diverged(shop, replay):
    run = shop.run()

    def change(engine):
        ask = engine.frame
        engine.frame = lambda sql: ask(sql.replace("1 AS one", "1 AS one, 2 AS two"))

    replay.change = change

    report = replay(run.run_id)

    assert "diverged" == verdicts(report)["alone"]
    assert reason_of(report, "alone").startswith("it was built then and fails now: ")
    assert 1 == report.exit_code


def test_a_build_that_the_machine_stops_is_a_failure_and_no_divergence(shop, replay):
    run = shop.run()

    def full(_):
        raise OSError(28, "No space left on device")

    replay.change = lambda engine: setattr(engine, "before_write", full)

    report = replay(run.run_id, "alone")

    assert {"alone": "non_replayable"} == verdicts(report)
    assert "it could not be built: [Errno 28] No space left on device" == reason_of(report, "alone")
    assert 1 == report.exit_code


def edit_record(shop, run_id, model, change):
    """Change a record as somebody would who knows of the chain."""
    with sqlite3.connect(shop.root / STATE) as database:
        key = f"{run_id}|{model}"
        ask = "SELECT value FROM input_provenance WHERE key = ?"
        record = json.loads(database.execute(ask, (key,)).fetchone()[0])
        change(record)
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        database.execute("UPDATE input_provenance SET value = ? WHERE key = ?", (text, key))
        return key, text


def chain_again(shop, key, text):
    with sqlite3.connect(shop.root / STATE) as database:
        last = "SELECT value FROM evidence_chain ORDER BY key DESC LIMIT 1"
        entry = parse_entry(database.execute(last).fetchone()[0])
        new = make_entry(Head(entry.seq, entry.entry_hash), "input_provenance", key, text)
        database.execute(
            "INSERT INTO evidence_chain (key, value) VALUES (?, ?)",
            (entry_key(new.seq), format_entry(new)),
        )


CHANGES = {
    "executed_sql": (
        lambda record: record.update(executed_sql="SELECT 2 AS one"),
        "its SQL is not the one that was run (`sql_hash`)",
    ),
    "ir": (
        lambda record: record.update(
            model_ir_canonical_json=record["model_ir_canonical_json"].replace("one", "two")
        ),
        "its IR is not the one that was hashed (`recipe_hash`)",
    ),
    "upstreams": (
        lambda record: record.update(
            upstreams=[{"kind": "content", "upstream_key": "a.b.c", "blake3_hash": "0" * 64}]
        ),
        "its inputs are not those that were hashed (`input_hash`)",
    ),
    "settings": (
        lambda record: record.update(env_canonical_json='{"settings":{}}'),
        "its settings are not those that were hashed (`env_hash`)",
    ),
    "target": (
        lambda record: record.update(target="spark_catalog.default.report"),
        "its IR is of `spark_catalog.default.alone`",
    ),
}


def test_a_record_that_the_chain_does_not_know_is_not_replayed(shop, replay):
    run = shop.run()
    edit_record(shop, run.run_id, "alone", lambda record: record.update(now="2020-01-01T00:00:00Z"))

    report = replay(run.run_id)

    assert EXACT | {"alone": "non_replayable"} == verdicts(report)
    assert "the record was changed after it was written" in reason_of(report, "alone")


@pytest.mark.parametrize("what", CHANGES)
def test_a_record_that_does_not_match_its_hashes_is_not_replayed(shop, replay, what):
    run = shop.run()
    change, said = CHANGES[what]
    chain_again(shop, *edit_record(shop, run.run_id, "alone", change))

    report = replay(run.run_id)

    assert EXACT | {"alone": "non_replayable"} == verdicts(report)
    assert f"the record does not match its hashes: {said}" in reason_of(report, "alone")


def test_a_reused_model_is_replayed_from_the_run_that_built_it(shop, replay):
    first = shop.run()
    write(shop.root, {"models/alone.sql": "SELECT 2 AS one"})
    second = shop.run()

    report = replay(second.run_id)

    assert EXACT == verdicts(report)
    assert second.run_id == verdict_on(report, "alone").built_by
    assert first.run_id == verdict_on(report, "report").built_by
    assert (f"reused: the record of {first.run_id} was replayed",) == verdict_on(
        report, "report"
    ).notes


def test_a_view_that_means_two_things_in_two_runs_is_bound_to_both(shop, replay):
    write(shop.root, {"models/other.sql": "SELECT count(*) AS n FROM stg_orders"})
    shop.run("+other")
    write(shop.root, {"data/orders.csv": "id,country\n7,DE\n8,FR\n9,FR\n"})
    second = shop.run()

    report = replay(second.run_id)

    assert EXACT | {"other": "bit_exact"} == verdicts(report)


def test_an_interrupted_replay_leaves_nothing_behind(shop, replay):
    run = shop.run()
    stop = Event()
    replay.change = lambda engine: setattr(engine, "before_write", lambda _: stop.set())

    with pytest.raises(KeyboardInterrupt):
        replay(run.run_id, stop=stop)

    assert [] == [path.name for path in shop.root.iterdir() if "replay" in path.name]
    assert [] == replay.engines[0].views.bound


def test_verdicts_are_told_as_they_come(shop, replay):
    run = shop.run()
    write(shop.root, {"data/orders.csv": "id,country\n9,DE\n"})
    heard = []

    report = replay(run.run_id, told=heard.append)

    assert "stg_orders" == heard[0].model
    assert sorted(map(repr, report.models)) == sorted(map(repr, heard))


def test_a_hard_link_to_the_scratch_area_is_gone_with_it(shop, replay):
    run = shop.run()

    replay(run.run_id)

    assert {1} == {path.stat().st_nlink for path in table_files(shop, "alone")}
