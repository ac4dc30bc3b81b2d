"""Whole runs on machines that share tables and a ledger: rows exactly once, evidence without gaps."""

from pathlib import Path

import pytest

from rocky.evidence.verification import verify_evidence
from rocky.ledger import open_evidence_reader
from rocky.ledger.run_records import RunStatus
from rocky.project.configuration.blocks import Retry
from rocky.store.warehouse import open_warehouse
from tests.processes import run_process
from tests.state.machines import rows, s3_state
from tests.state.shops import POINTS, RemoteShop, run_and_die
from tools.verify_run import Audit, load

pytestmark = pytest.mark.server


def shops(tmp_path: Path, s3, prefix: str, **settings: object) -> tuple[RemoteShop, RemoteShop]:
    state = s3_state(prefix, **settings)
    found = [RemoteShop(tmp_path / name, state, s3.url) for name in ("one", "other")]
    for shop in found:
        shop.orders(3)
    return found[0], found[1]


def wrong_with(shop: RemoteShop) -> list[str]:
    with open_evidence_reader(shop.ledger) as evidence:
        found = verify_evidence(evidence, lambda place: open_warehouse(place, base=shop.root))
    script = Audit(load(shop.ledger), None)
    script.check()
    said = [f"{each.code.value} {each.where}: {each.message}" for each in found.findings]
    return [*said, *script.findings]


def test_machines_take_turns_on_one_table(tmp_path, s3, prefix):
    one, other = shops(tmp_path, s3, prefix)
    for last, shop in enumerate((one, other, one, other), 4):
        shop.orders(last)
        report = shop.run()
        assert (RunStatus.SUCCESS, ()) == (report.status, report.warnings)

    assert [(each, each) for each in range(1, 8)] == one.rows("grown")
    assert [] == wrong_with(other)


def test_runs_at_the_same_time_on_other_tables_share_one_chain(tmp_path, s3, prefix):
    one, other = shops(tmp_path, s3, prefix)
    one.run()
    other.orders(5)
    one.orders(5)
    beside = []

    def meanwhile(_: str) -> None:
        if not beside:
            beside.append(other.run("alone"))

    one.before_write = meanwhile
    report = one.run("grown")

    assert (RunStatus.SUCCESS, ()) == (report.status, report.warnings)
    assert [(5,)] == other.rows("alone")
    other.run()
    assert 4 == len(rows(other.ledger, "run_history"))
    assert [] == wrong_with(other)


def test_a_run_without_the_remote_state_copies_nothing_twice_and_joins_later(tmp_path, s3, prefix):
    once = Retry(max_retries=0, circuit_breaker_threshold=0)
    one, other = shops(tmp_path, s3, prefix, on_upload_failure="skip", retry=once)
    one.run()
    for shop in (one, other):
        shop.orders(5)
    s3.fail("500")
    apart = other.run()
    s3.heal()
    # Until the records of the run apart are sent, its commits are anybody's.
    refused = one.run("grown")
    for last, shop in enumerate((other, one, other), 6):
        one.orders(last)
        other.orders(last)
        assert RunStatus.SUCCESS == shop.run().status

    assert ["foreign_commit"] == [each.execution.failure_kind for each in refused.outcomes]
    assert RunStatus.SUCCESS == apart.status
    assert [(each, each) for each in range(1, 9)] == other.rows("grown")
    assert [] == wrong_with(other)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("point", POINTS)
def test_a_run_killed_on_one_machine_goes_on_on_another(tmp_path, s3, prefix, point):
    one, other = shops(tmp_path, s3, prefix)
    one.run()
    one.orders(6)
    other.orders(6)
    code, _, said = run_process(run_and_die, one.root, one.state, one.address, point)
    report = other.run()

    assert -9 == code, said
    assert RunStatus.SUCCESS == report.status
    assert [(each, each) for each in range(1, 7)] == other.rows("grown")
    assert [] == wrong_with(other)
    # The machine comes back with what it had not sent.
    one.orders(7)
    other.orders(7)
    assert RunStatus.SUCCESS == one.run().status
    assert [(each, each) for each in range(1, 8)] == one.rows("grown")
    assert [] == wrong_with(one)
