"""What is decided from facts alone: no disk, no ledger."""

from datetime import UTC, datetime

import pytest

from rocky.evidence.retention.decisions import (
    OBSOLETE,
    UNFINISHED,
    Horizons,
    KeepReason,
    Ownership,
    Retention,
    TableFacts,
    TableNeeds,
    decide_files,
    find_needs,
    retained_runs,
    retainers_of,
)
from rocky.evidence.retention.ledger_facts import WarehouseAnchors, find_doubt
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ArtifactRecord, ModelExecution, ModelStatus
from rocky.store.anchor import Anchor
from rocky.store.file_usage import CommitInfo, Lifetime, Lifetimes
from rocky.store.objects import ObjectInfo

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
RUN = RunId("run-20260101-000000-000")
LATER = RunId("run-20260201-000000-000")
OURS = Ownership({RUN, LATER}, "ledger")
OLD = Horizons(young_ms=1000, foreign_ms=0)
A, B = "a" * 64, "b" * 64


def stored(address: str, modified_ms: int = 0) -> ObjectInfo:
    return ObjectInfo(f"shop/core/orders/{address}.parquet", 7, modified_ms)


def a_commit(version: int, time_ms: int = 10, **said) -> CommitInfo:
    given = {"engine": "rocky/1", "run_id": RUN, "ledger_id": "ledger"} | said
    return CommitInfo(version, time_ms, **given)


def replaced(ended_ms: int = 20) -> Lifetimes:
    """A table whose version 1 replaced the file A by B."""
    return Lifetimes(
        (a_commit(0), a_commit(1, ended_ms)),
        {f"{A}.parquet": (Lifetime(0, 1, ended_ms),), f"{B}.parquet": (Lifetime(1),)},
    )


def facts(lifetimes: Lifetimes, *files: ObjectInfo, staged=()) -> TableFacts:
    return TableFacts("shop.core.orders", lifetimes, files, staged)


def gone(verdict) -> list[tuple[str, str]]:
    return [(each.file.path[17:18], each.reason) for each in verdict.removals]


def kept(verdict) -> dict[str, KeepReason]:
    return {each.file.path[17:18]: each.why for each in verdict.kept}


def test_what_was_replaced_goes_and_what_is_live_stays():
    verdict = decide_files(facts(replaced(), stored(A), stored(B)), TableNeeds(), OURS, OLD)

    assert [("a", OBSOLETE)] == gone(verdict)
    assert {"b": KeepReason.LIVE} == kept(verdict)


def test_a_live_file_is_live_whatever_else_is_said_of_it():
    twice = Lifetimes(
        (a_commit(0), a_commit(1), a_commit(2)), {f"{A}.parquet": (Lifetime(0, 1, 5), Lifetime(2))}
    )

    assert {"a": KeepReason.LIVE} == kept(
        decide_files(facts(twice, stored(A)), TableNeeds(), OURS, OLD)
    )


@pytest.mark.parametrize(
    ("needs", "why"),
    [
        (TableNeeds({A: frozenset({RUN})}), KeepReason.NEEDED),
        (TableNeeds(versions={0: frozenset({RUN, LATER})}), KeepReason.NEEDED),
        (TableNeeds(versions={1: frozenset({RUN})}), None),
        (TableNeeds({B: frozenset({RUN})}), None),
    ],
)
def test_a_need_keeps_the_file_it_names_and_the_files_of_its_version(needs, why):
    verdict = decide_files(facts(replaced(), stored(A)), needs, OURS, OLD)

    assert ({"a": why} if why else {}) == kept(verdict)


@pytest.mark.parametrize(
    ("ended_ms", "horizons", "why"),
    [
        (20, Horizons(1000, 0, held_ms=21), None),
        (21, Horizons(1000, 0, held_ms=21), KeepReason.HELD),
        (999, OLD, None),
        (1000, OLD, KeepReason.YOUNG),
    ],
)
def test_a_version_that_was_the_newest_at_a_horizon_stays(ended_ms, horizons, why):
    verdict = decide_files(facts(replaced(ended_ms), stored(A)), TableNeeds(), OURS, horizons)

    assert ({"a": why} if why else {}) == kept(verdict)


def test_a_file_that_was_just_written_stays_whatever_the_log_says():
    verdict = decide_files(facts(replaced(), stored(A, 1000)), TableNeeds(), OURS, OLD)

    assert {"a": KeepReason.YOUNG} == kept(verdict)


def test_a_file_that_no_version_has_goes_as_one_that_was_not_finished():
    staged = (ObjectInfo("s/1", 1, 999), ObjectInfo("s/2", 1, 1000))
    verdict = decide_files(
        facts(replaced(), stored("c" * 64), staged=staged), TableNeeds(), OURS, OLD
    )

    assert [("c", UNFINISHED)] == gone(verdict)
    assert staged[:1] == verdict.staged


@pytest.mark.parametrize(
    "commit",
    [
        a_commit(1, engine="Apache-Spark/4.1"),
        a_commit(1, engine=None, run_id=None, ledger_id=None),
        a_commit(1, run_id="run-20300101-000000-000"),
        a_commit(1, run_id=None),
        a_commit(1, ledger_id="another"),
    ],
)
def test_a_commit_of_somebody_else_keeps_the_whole_table(commit):
    lifetimes = Lifetimes((a_commit(0), commit), replaced().of_file)
    verdict = decide_files(facts(lifetimes, stored(A), stored(B)), TableNeeds(), OURS, OLD)

    assert "version 1 was committed by" in str(verdict.doubt)
    assert ((), ()) == (verdict.removals, verdict.kept)


def test_a_commit_of_a_rocky_that_named_no_ledger_is_ours_when_its_run_is():
    lifetimes = Lifetimes((a_commit(0, ledger_id=None), a_commit(1)), replaced().of_file)

    assert decide_files(facts(lifetimes), TableNeeds(), OURS, OLD).doubt is None


@pytest.mark.parametrize("version", [-1, 2])
def test_a_needed_version_that_the_log_has_not_keeps_the_whole_table(version):
    needs = TableNeeds(versions={version: frozenset({RUN})})
    verdict = decide_files(facts(replaced(), stored(A)), needs, OURS, OLD)

    assert f"needs version {version}, which its log lacks" in str(verdict.doubt)
    elsewhere = TableNeeds(versions=needs.versions, elsewhere=frozenset({RUN}))
    assert decide_files(facts(replaced(), stored(A)), elsewhere, OURS, OLD).doubt is None


def an_execution(model: str, **fields) -> ModelExecution:
    return ModelExecution(model, ModelStatus.SUCCESS, NOW, NOW, 1, **fields)


def a_provenance(run_id: RunId, **fields) -> ProvenanceRecord:
    return ProvenanceRecord(
        run_id, "Orders", "shop.core.Orders", "r", "s", "{}", "SELECT 1", NOW, NOW, **fields
    )


def test_needs_are_outputs_inputs_bases_and_files_by_table():
    deep = ReadRecord("v", "table", "raw", "shop.raw.Events", 4)
    reads = (ReadRecord("i", "inline", "i", reads=(deep,)),)
    provenance = a_provenance(
        RUN, output_blake3=(A,), output_path=(f"/w/{A}.parquet",), base_version=2, reads=reads
    )
    executions = [(RUN, an_execution("orders", target="shop.core.orders", commit_version=3))]
    artifact = ArtifactRecord(B, RUN, "orders", f"s3://b/w/shop/core/orders/{B}.parquet", 3, 1, NOW)
    needs = find_needs(retainers_of(executions), executions, [provenance], [artifact])
    orders = needs.of("SHOP.core.orders", "anywhere")

    assert {A, B} == set(orders.addresses)
    assert {2, 3} == set(orders.versions)
    assert {4: {RUN}} == needs.of("shop.raw.events", "anywhere").versions
    assert TableNeeds() == needs.of("shop.core.totals", "anywhere")


def test_records_of_other_runs_are_needed_only_when_they_were_reused():
    reused = [(LATER, an_execution("orders", reused_from=RUN))]
    provenance = a_provenance(RUN, output_blake3=(A,))

    assert {A: {LATER}} == find_needs(retainers_of(reused), reused, [provenance], []).of(
        "shop.core.orders", ""
    ).addresses
    built = [(LATER, an_execution("orders"))]
    assert {} == find_needs(retainers_of(built), built, [provenance], []).tables


@pytest.mark.parametrize(
    ("days", "count", "expected"),
    [
        (0, 0, set()),
        (0, 1, {LATER}),
        (365, 0, {RUN, LATER}),
        (121, 0, {LATER}),
        (0, 9, {RUN, LATER}),
    ],
)
def test_runs_are_retained_by_age_and_by_number(days, count, expected):
    assert expected == retained_runs([RUN, LATER], Retention(days, count, 0), NOW)


def test_more_days_than_there_ever_were_keep_everything():
    assert {RUN} == retained_runs([RUN], Retention(10**9, 0, 0), NOW)


def test_an_anchor_that_the_chain_does_not_know_is_a_doubt():
    anchors = WarehouseAnchors({"mine": Anchor("h" * 64, 7, RUN, NOW)})

    assert find_doubt(anchors, "mine", {7: "h" * 64}) is None
    assert find_doubt(anchors, "another", {}) is None
    assert "older copy" in str(find_doubt(anchors, "mine", {7: "x" * 64}))
    assert "older copy" in str(find_doubt(anchors, "mine", {}))
