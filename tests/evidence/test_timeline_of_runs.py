"""Timelines of runs that took place, of everything real but Spark."""

from datetime import UTC, datetime

import pytest
from pyspark.errors import PySparkException

from rocky.evidence.timeline import timeline_of
from rocky.ledger.run_records import ModelStatus
from rocky.run.prepare.resources import RunParameters
from tests.run.runs import TABLE, Shop


class TickingShop(Shop):
    """A shop whose clock goes on while a run does."""

    @property
    def _now(self):
        return datetime.now(UTC)

    @_now.setter
    def _now(self, moment):
        pass


def inputs_of(line):
    return {bar.name: {line.bars[each].name for each in bar.inputs} for bar in line.bars}


READS = {
    "alone": set(),
    "countries": set(),
    "stg_orders": set(),
    "large": {"stg_orders"},
    "by_country": {"large", "countries"},
    "report": {"by_country"},
}


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 4])
def test_the_timeline_of_a_run_knows_who_read_whom(tmp_path, parallel):
    shop = TickingShop(tmp_path)
    shop.run(options=RunParameters(parallel=parallel))
    line = timeline_of(shop.records()[0])

    # Whether the seed is recorded is not for a timeline to say.
    recorded = {bar.name for bar in line.bars}
    assert {name: reads & recorded for name, reads in READS.items() if name in recorded} == (
        inputs_of(line)
    )
    assert {"stg_orders", "by_country", "report"} <= recorded
    assert line.lanes <= parallel
    assert line.path_is_whole


@pytest.mark.slow
def test_a_model_never_starts_before_its_inputs_are_done(tmp_path):
    shop = TickingShop(tmp_path)
    shop.run(options=RunParameters(parallel=4))
    line = timeline_of(shop.records()[0])

    assert [] == [
        (bar.name, line.bars[each].name)
        for bar in line.bars
        for each in bar.inputs
        # Starts are read from a clock and lengths are measured: they may differ by a hair.
        if line.bars[each].end_ms > bar.start_ms + 2
    ]


@pytest.mark.slow
def test_what_was_read_through_a_query_that_was_not_selected_is_not_known(tmp_path):
    shop = TickingShop(tmp_path)
    shop.run("stg_orders", "by_country")
    line = timeline_of(shop.records()[0])

    assert {"stg_orders": True, "by_country": False} == {
        bar.name: bar.wait_ms is not None
        for bar in line.bars
        if bar.name in ("stg_orders", "by_country")
    }


@pytest.mark.slow
def test_a_run_with_a_failure_lists_what_it_withheld(tmp_path):
    def fail(table):
        if table == TABLE + "by_country":
            raise PySparkException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")

    shop = TickingShop(tmp_path)
    shop.run(before_write=fail)
    line = timeline_of(shop.records()[0])

    assert ["report"] == [each.model_name for each in line.never_started]
    assert [ModelStatus.FAILED] == [
        bar.execution.status for bar in line.bars if bar.name == "by_country"
    ]
