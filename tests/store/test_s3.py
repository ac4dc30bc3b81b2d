"""The store in an S3-compatible server on loopback, spoken to over HTTP like any other."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from rocky.errors import ChangeRefused, ConcurrentChange, StoreUnreadable
from rocky.store.anchor import anchored_ledgers, read_anchor, write_anchor
from rocky.store.file_usage import sweep_table
from rocky.store.warehouse import Table, open_warehouse
from tests.servers.faults import http_faults
from tests.servers.s3 import s3_environment, s3_server
from tests.store.tables import (
    Name,
    append,
    commit,
    delta,
    ids,
    latest,
    read_ids,
    reopened,
    replace_with,
)
from tests.store.test_anchors import ANCHOR, LATER, LEDGER
from tests.store.test_concurrency import run_together
from tests.store.writers import COUNTER_START, count_own

pytestmark = [pytest.mark.slow, pytest.mark.server]

ROUNDS = 10
FAR_FUTURE_MS = 2**52


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, str]]:
    """A server with a bucket: the settings that reach it."""
    with s3_server("lake") as endpoint:
        yield s3_environment(endpoint)


def table_at(options: dict[str, str], path: str) -> Table:
    warehouse = open_warehouse(f"s3://lake/{path}", base=Path(), options=options)
    return warehouse.table(Name("shop", "core", "orders"))


@pytest.fixture
def table(options, request) -> Table:
    return table_at(options, f"wh/{request.node.name[:40]} ä/50%")


def test_an_object_is_created_once(table):
    objects = table.objects

    assert objects.create("a b/é", b"first")
    assert not objects.create("a b/é", b"second")
    assert b"first" == objects.read("a b/é")
    assert ["a b/é"] == [info.path for info in objects.list("")]


def test_every_operation_is_read_right_by_others(table):
    assert table.snapshot() is None
    file = ids(table, 1)
    replace_with(table, file)
    append(table, file)
    base = append(table, ids(table, 3)).snapshot
    commit(table, "MERGE", ids(table, 5), removes=frozenset({file.path}), base=base)

    assert [1, 3, 5] == read_ids(table)
    assert [1, 1, 3] == read_ids(table, 2)
    with pytest.raises(ConcurrentChange):
        commit(table, "MERGE", ids(table, 6), removes=frozenset({file.path}), base=base)


def test_polars_reads_the_table(options):
    table = table_at(options, "plain")  # It cannot read from keys with spaces.
    append(table, ids(table, 1))
    append(table, ids(table, 1))
    location = table.objects.location
    frame = pl.read_delta(location.place(table.prefix), storage_options=location.delta_options)

    assert [1, 1] == frame["id"].to_list()


def test_a_table_is_read_from_its_checkpoint(table):
    for number in range(12):
        committed = append(table, ids(table, number), transaction=("run", number))
        assert () == committed.warnings
    before = latest(table)
    table.objects.delete([table.log.commit_path(version) for version in range(10)])
    after = latest(reopened(table))

    assert (before.files, before.transactions) == (after.files, after.transactions)
    assert list(range(12)) == read_ids(table)
    assert 11 == delta(table).version()


def test_leftovers_are_swept(table):
    append(table, ids(table, 1))
    ids(table, 2)
    table.objects.put(f"{table.prefix}/{table.new_staging()}/part-0.parquet", b"half")

    assert 2 == len(sweep_table(table, FAR_FUTURE_MS))
    assert [1] == read_ids(table)


def test_the_tables_of_a_bucket_are_listed(options):
    append(table_at(options, "listed"), base=None)
    warehouse = open_warehouse("s3://lake/listed", base=Path(), options=options)

    assert ["shop.core.orders"] == [found.name for found in warehouse.tables()]


def test_a_bucket_that_is_not_there_is_not_an_empty_warehouse(options):
    warehouse = open_warehouse("s3://no-such-lake/wh", base=Path(), options=options)

    with pytest.raises(StoreUnreadable, match="there is no such bucket"):
        warehouse.table(Name("a", "b", "c")).snapshot()


def test_a_file_that_is_not_there_is_refused(table):
    file = ids(table, 1)
    table.objects.delete([f"{table.prefix}/{file.path}"])

    with pytest.raises(ChangeRefused, match="it is missing"):
        append(table, file)


def test_an_anchor_is_written_over_and_read(options):
    warehouse = open_warehouse("s3://lake/anchored/50% ä", base=Path(), options=options)
    assert read_anchor(warehouse, LEDGER) is None
    assert write_anchor(warehouse, LEDGER, ANCHOR, lambda _: False)
    assert write_anchor(warehouse, LEDGER, LATER, lambda found: found == ANCHOR)

    assert LATER == read_anchor(warehouse, LEDGER)
    assert [LEDGER] == anchored_ledgers(warehouse)
    assert [] == list(warehouse.tables())


def test_an_anchor_in_a_bucket_that_is_not_there_is_not_an_absent_one(options):
    warehouse = open_warehouse("s3://no-such-lake/wh", base=Path(), options=options)

    with pytest.raises(StoreUnreadable, match="there is no such bucket"):
        read_anchor(warehouse, LEDGER)


def test_commits_have_the_hashes_of_their_files(table):
    made = [append(table, ids(table, number)) for number in range(11)]

    assert [table.log.commit_hash(version) for version in range(11)] == [
        each.commit_hash for each in made
    ]
    assert table.log.checkpoint_hash(10) == made[-1].checkpoint_hash
    assert made[-1].checkpoint_hash is not None
    assert 13 == len(table.log.files())


def append_many(options: dict[str, str], path: str, first: int) -> None:
    table = table_at(options, path)
    for number in range(ROUNDS):
        append(table, ids(table, first + 2 * number))


def test_two_writers_lose_and_double_nothing(options):
    run_together((append_many, (options, "two", 0)), (append_many, (options, "two", 1)))

    assert list(range(2 * ROUNDS)) == read_ids(table_at(options, "two"))


def own_counters(options: dict[str, str], path: str, start: int) -> None:
    count_own(table_at(options, path), start, ROUNDS)


@pytest.mark.exhaustive
def test_four_processes_that_append_and_merge_lose_nothing_and_are_not_in_each_others_way(options):
    table = table_at(options, "four")
    starts = [number * COUNTER_START for number in (1, 2)]
    replace_with(table, *(ids(table, start) for start in starts))
    run_together(
        *((append_many, (options, "four", first)) for first in (0, 1)),
        *((own_counters, (options, "four", start)) for start in starts),
    )
    table = table_at(options, "four")

    assert [*range(2 * ROUNDS), *(start + ROUNDS for start in starts)] == read_ids(table)
    assert 4 * ROUNDS == latest(table).version


@pytest.mark.parametrize(
    "fault", ["cut", *(pytest.param(each, marks=pytest.mark.exhaustive) for each in ("503", "drop", "lost"))]
)  # fmt: skip
def test_a_request_that_went_wrong_once_is_repeated_and_nothing_is_lost(options, fault):
    with http_faults(options["AWS_ENDPOINT_URL"]) as s3:
        table = table_at(options | {"AWS_ENDPOINT_URL": s3.url}, f"faulty/{fault}")
        replace_with(table, ids(table, 1, 2))
        asked = len(s3.seen)
        append(table, ids(table, 3))
        # Each of the requests that an append makes goes wrong once, on a table of its own making.
        for number in range(len(s3.seen) - asked):
            again, left = table_at(options, f"faulty/{fault}-{number}"), [number]
            replace_with(again, ids(again, 1, 2))
            again = table_at(options | {"AWS_ENDPOINT_URL": s3.url}, f"faulty/{fault}-{number}")

            def judge(_: str, __: str, left: list[int] = left) -> str | None:
                left[0] -= 1
                return fault if left[0] == -1 else None

            s3.judge = judge
            append(again, ids(again, 3))
            s3.heal()

            assert [1, 2, 3] == read_ids(again)
            assert 1 == latest(again).version
