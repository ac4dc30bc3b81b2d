"""`rocky plan` says what a run would do, and leaves no trace."""

import pytest

from rocky.cli.live import LineListener
from rocky.cli.render.run import render_run
from rocky.operations.execution.run_report import report_models
from rocky.operations.report import encode_report
from tests.cli.test_schemas import check
from tests.run.runs import Shop

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Shop:
    """A shop that can be run without Spark."""
    found = Shop(tmp_path)
    monkeypatch.setattr(
        "rocky.operations.plan.preview.predict_environment", lambda *_: found.environment
    )
    return found


def decisions(document) -> dict[str, str]:
    return {each["model"]: each["decision"] for each in document["model_decisions"]}


def why(document) -> dict[str, str]:
    return {each["model"]: each["reason"] for each in document["model_decisions"]}


def test_without_a_ledger_everything_would_be_built(rocky, shop):
    answer = rocky("plan", "-o", "json")

    assert 0 == answer.code
    assert {
        "alone": "build",
        "countries": "build",
        "stg_orders": "build",
        "large": "bind",
        "by_country": "build",
        "report": "build",
    } == decisions(answer.json)
    assert {"first build"} == {why(answer.json)[each] for each in ("alone", "by_country", "report")}
    assert not (shop.root / ".rocky-state.db").exists()
    assert not (shop.root / "warehouse").exists()


def test_what_is_unchanged_would_be_reused_and_needs_no_spark(rocky, shop):
    first = shop.run().run_id

    answer = rocky("plan", "-o", "json")
    shown = rocky("plan", "-o", "table")

    assert {"alone", "stg_orders", "by_country", "report"} == {
        model for model, decision in decisions(answer.json).items() if decision == "reuse"
    }
    assert {"reused_from": first, "basis": "content"}.items() <= (
        answer.json["model_decisions"][0].items()
    )
    assert "4 to reuse, 1 unchanged: no Spark needed" == shown.out.splitlines()[-1]


def test_readers_of_what_would_be_built_are_to_be_seen(rocky, shop):
    shop.run()
    shop.write("models/stg_orders.sql", "SELECT id, country FROM raw.orders WHERE id > 0")

    answer = rocky("plan", "-o", "json")

    assert {
        "alone": "reuse",
        "stg_orders": "build",
        "large": "bind",
        "by_country": "depends",
        "report": "depends",
    } == decisions(answer.json)
    assert "its logic or settings changed" == why(answer.json)["stg_orders"]
    assert (
        "built unless `stg_orders` comes out with the same rows" == (why(answer.json)["by_country"])
    )
    (found,) = [each for each in answer.json["model_decisions"] if each["model"] == "report"]
    assert ["by_country"] == found["waits_for"]


def test_a_selection_is_planned_alone(rocky, shop):
    shop.run()
    shop.write("models/alone.sql", "SELECT 2 AS one")

    answer = rocky("plan", "alone", "-o", "json")

    assert {"alone": "build"} == decisions(answer.json)


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--full-refresh", "a full refresh was asked for"),
        ("--force-rebuild", "a rebuild was asked for"),
        ("--no-reuse", "reuse is switched off"),
    ],
)
def test_what_is_asked_for_is_said(rocky, shop, option, reason):
    shop.run()

    answer = rocky("plan", option, "-o", "json")

    built = ("alone", "stg_orders", "by_country", "report")
    assert {("build", reason)} == {
        (decisions(answer.json)[each], why(answer.json)[each]) for each in built
    }


def test_a_plan_leaves_no_trace(rocky, shop):
    shop.run()
    before = {
        path: path.read_bytes()
        for path in shop.root.rglob("*")
        if path.is_file() and ".rocky/" not in path.as_posix()
    }

    rocky("plan", "-o", "json")

    after = {
        path: path.read_bytes()
        for path in shop.root.rglob("*")
        if path.is_file() and ".rocky/" not in path.as_posix() and "-shm" not in path.name
    }
    assert {path.name for path in after.keys() ^ before.keys()} <= {".rocky-state.db-wal"}
    assert {path: before[path] for path in before if path in after} == {
        path: after[path] for path in after if path in before
    }
    assert 1 == len(shop.records())


def test_a_spark_that_only_runs_elsewhere_makes_a_plan_uncertain(rocky, shop):
    shop.run()
    shop.environment = None

    answer = rocky("plan", "-o", "json")
    shown = rocky("plan", "-o", "table")

    assert answer.json["certain"] is False
    assert "depends" == decisions(answer.json)["alone"]
    assert "are compared once Spark runs" in shown.err


def test_an_unfinished_run_would_be_gone_on_with(rocky, shop):
    def fail(name: str) -> None:
        if name.endswith("by_country"):
            raise OSError("no space left on device")

    first = shop.run(before_write=fail).run_id

    answer = rocky("plan", "-o", "json")

    assert first == answer.json["resumes"]
    assert ("resume", f"built by {first}") == (
        decisions(answer.json)["alone"],
        why(answer.json)["alone"],
    )


def test_errors_are_shown_as_a_run_shows_them(rocky, shop):
    shop.write("models/alone.sql", "SELECT nothing FROM nowhere")

    answer = rocky("plan", "-o", "table")

    assert 1 == answer.code
    assert "E002" in answer.err


@pytest.mark.parametrize("runs", [0, 1])
def test_a_plan_fits_its_schema(rocky, shop, runs):
    for _ in range(runs):
        shop.run()
        shop.write("models/stg_orders.sql", "SELECT id, country FROM raw.orders WHERE id > 0")

    answer = rocky("plan", "-o", "json")

    assert [] == check(answer.json, "plan")


def many(count: int) -> dict[str, str]:
    return {f"models/m{number}.sql": f"SELECT {number} AS n" for number in range(count)}


def test_a_large_plan_lists_only_what_would_be_done(rocky, shop):
    for name, text in many(25).items():
        shop.write(name, text)
    shop.run()
    shop.write("models/m7.sql", "SELECT 70 AS n")

    lines = rocky("plan", "-o", "table").out.splitlines()

    assert ["MODEL", "m7"] == [line.split()[0] for line in lines[:2]]
    assert "29 more would be left alone: `rocky plan -o json` lists them" == lines[2]
    assert "1 to build, 28 to reuse, 1 unchanged" == lines[3]


def test_a_large_run_that_builds_nothing_is_one_line(shop):
    for name, text in many(25).items():
        shop.write(name, text)
    shop.run()
    report = shop.run()
    said: list[str] = []
    listener = LineListener(said.append)

    listener.queued(report.run_id, [each.step for each in report.outcomes])
    for each in report.outcomes:
        listener.finished(each)

    assert [f"{report.run_id}: 30 models"] == said
    (line,) = render_run(report_models(report)).splitlines()
    assert f"{report.run_id} done: 29 reused, 1 unchanged, in " in line
    assert line.endswith("nothing had to be built")


def test_what_was_reused_is_one_line_before_what_is_built(shop):
    for name, text in many(25).items():
        shop.write(name, text)
    shop.run()
    shop.write("models/m7.sql", "SELECT 70 AS n")
    report = shop.run()
    said: list[str] = []
    listener = LineListener(said.append)

    listener.queued(report.run_id, [each.step for each in report.outcomes])
    last = next(each for each in report.outcomes if each.step.name == "m7")
    for each in report.outcomes:
        if each is not last:
            listener.finished(each)
    listener.started(last.step)
    listener.finished(last)

    assert "29/30  29 left alone, as earlier runs left them" == said[1]
    assert said[2].startswith("30/30  built  m7  ")
    assert ["MODEL", "m7"] == [
        line.split()[0] for line in render_run(report_models(report)).splitlines()[:2]
    ]


def test_a_small_run_names_each_model_and_the_run_that_built_it(shop):
    first = shop.run().run_id
    report = shop.run()
    said: list[str] = []
    listener = LineListener(said.append)

    listener.queued(report.run_id, [each.step for each in report.outcomes])
    for each in report.outcomes:
        listener.finished(each)

    assert f"1/5  reused  alone  from {first}" == said[1]
    assert "unchanged  large  nothing to store, no reader to be built" in said[3]
    assert f"reused from {first}" in render_run(report_models(report)).splitlines()[1]


def test_a_run_of_reused_models_fits_its_schema(shop):
    first = shop.run().run_id

    document = encode_report(report_models(shop.run()))

    assert [] == check({"version": "0", "command": "run", **document}, "run")
    assert (0, 4) == (document["tables_copied"], document["tables_reused"])
    (found,) = [each for each in document["model_decisions"] if each["model"] == "alone"]
    assert {
        "model": "alone",
        "status": "reused",
        "outcome": "reused",
        "decision": "reuse",
        "reason": f"reused from {first}",
        "reused_from": first,
        "basis": "content",
    } == found
    assert {"reused": 4, "unchanged": 1} == document["outcomes"]
