"""The checks of a run, as the run asks for them."""

from dataclasses import replace

from rocky.ledger.record import RunId
from rocky.pipelines.checks.evaluation import PipelineChecks
from rocky.pipelines.report import UnreadableTable
from rocky.project.configuration.pipelines import Checks
from rocky.run.outcomes import EndedSteps
from tests.pipelines.checks.bench import NOW, Bench, history


def conclude(bench, checks, *tables):
    so_far = EndedSteps(RunId("run-1"), (), bench.open_engine, NOW)
    return PipelineChecks(checks, lambda _: tables, bench.warehouse)(so_far)


def test_what_was_found_is_for_the_run_to_record(tmp_path):
    bench = Bench(tmp_path)
    orders = bench.table("lake.acme.orders", "id bigint", "(1)", history=history(50))
    concluded = conclude(bench, Checks(enabled=True, row_count=True), orders)

    assert [("lake.acme.orders", True)] == [
        (each.table, each.passed) for each in concluded.check_outcomes
    ]
    assert ["drop"] == [each.kind for each in concluded.anomalies]
    assert {"lake.acme.orders": 1} == {key: each.count for key, each in concluded.counts.items()}
    assert not concluded.failed


def test_a_table_that_cannot_be_read_has_failed_and_hides_no_other(tmp_path):
    bench = Bench(tmp_path)
    orders = bench.table("lake.acme.orders", "id bigint", "(1)")
    broken = UnreadableTable("lake.acme.items", "a commit is damaged")
    concluded = conclude(bench, Checks(enabled=True, row_count=True), broken, orders)

    assert [
        ("lake.acme.orders", "row_count", None),
        ("lake.acme.items", "readable", "a commit is damaged"),
    ] == [(each.table, each.name, each.error) for each in concluded.check_outcomes]
    assert concluded.failed


def test_a_count_that_cannot_be_read_is_no_count(tmp_path):
    broken = UnreadableTable("lake.acme.items", "a commit is damaged")
    concluded = conclude(Bench(tmp_path), Checks(enabled=True), broken)

    assert {} == concluded.counts


def test_without_checks_nothing_is_said(tmp_path):
    bench = Bench(tmp_path)
    orders = replace(bench.table("lake.acme.orders", "id bigint", "(1)"), history=history(50))
    concluded = conclude(bench, Checks(row_count=True), orders)

    assert ((), (), {}, False) == (
        concluded.check_outcomes,
        concluded.anomalies,
        concluded.counts,
        concluded.failed,
    )
