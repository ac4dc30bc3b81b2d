"""A remote state that was put back or lost, met by a runner without a disk: the run is refused."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import valkey as valkey_client

from rocky.errors import NothingSelected, StateConflict, StateLost
from rocky.ledger import STATE_FILE
from rocky.operations.execution.run import run
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.operations.state.kept_state import SweepRequest, sweep_state
from rocky.operations.state.state_restoration import RestorationRequest, restore_state
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from rocky.state.session import RemoteSession
from rocky.store.objects import Objects
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import open_warehouse
from tests.branches.shops import INCREMENTAL
from tests.operations.shops import OpenShop
from tests.run.runs import PROJECT, write
from tests.servers.s3 import BUCKET, s3_environment
from tests.servers.valkey import PASSWORD

pytestmark = [pytest.mark.server, pytest.mark.sampled]

WHY = "somebody emptied the bucket"
Copies = dict[str, bytes]


@dataclass
class Fleet:
    """Runners that have no disk of their own: each is a new folder on the same tables."""

    root: Path
    settings: str
    environment: dict[str, str]
    take: Callable[[], Copies]
    put: Callable[[Copies], None]
    warnings: list[str] = field(default_factory=list)
    count: int = 0

    def runner(self, *days: int) -> Workspace:
        """A new one, whose source has an event for each of some days."""
        self.count += 1
        root = self.root / f"runner-{self.count}"
        lines = "".join(f"{each},2026-01-{each:02}T00:00:00\n" for each in days)
        write(
            root,
            {
                **PROJECT,
                **INCREMENTAL,
                "rocky.toml": (
                    f'[adapter]\nwarehouse = "{self.root / "warehouse"}"\n'
                    f'[pipeline.shop]\nmodels = "models/**"\n{self.settings}'
                ),
                "data/events.csv": f"id,seen\n{lines}",
            },
        )
        return Workspace(
            root, spark="a session", environment=self.environment, warn=self.warnings.append
        )

    def events(self) -> list[int]:
        (table,) = (each for each in self.tables() if each.name.endswith(".events"))
        return sorted(row[0] for row in load_rows(table, table.snapshot(), 100))

    def tables(self) -> list[Any]:
        return list(open_warehouse("warehouse", base=self.root).tables())

    def versions(self) -> dict[str, int]:
        return {each.name: each.snapshot().version for each in self.tables()}

    def anchors(self) -> dict[Path, bytes]:
        return {each: each.read_bytes() for each in (self.root / "warehouse/_rocky").glob("*.json")}


@pytest.fixture(params=["s3", "valkey"])
def fleet(request, tmp_path, monkeypatch, prefix) -> Fleet:
    OpenShop(tmp_path / "nobody", monkeypatch)
    policy = 'on_upload_failure = "skip"\n'
    if request.param == "s3":
        bucket: Objects = request.getfixturevalue("bucket")
        address = request.getfixturevalue("s3_address")

        def take() -> Copies:
            names = [each.path for each in bucket.list("") if "state.db" in each.path]
            return {name: bucket.read(name) or b"" for name in names}

        def put(copies: Copies) -> None:
            bucket.delete(take())
            for name, data in copies.items():
                bucket.put(name, data)

        settings = f'[state]\nbackend = "s3"\ns3_bucket = "{BUCKET}"\ns3_prefix = "{prefix}/"\n'
        return Fleet(tmp_path, settings + policy, s3_environment(address), take, put)
    port = request.getfixturevalue("valkey_port")
    url = f"redis://:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/0"
    server = valkey_client.Valkey.from_url(url)

    def take_keys() -> Copies:
        found = [each.decode() for each in server.scan_iter(f"{prefix}:*state.db*")]
        return {name: server.get(name) for name in found}

    def put_keys(copies: Copies) -> None:
        for name in take_keys():
            server.delete(name)
        for name, data in copies.items():
            server.set(name, data)

    settings = f'[state]\nbackend = "valkey"\nvalkey_url = "{url}"\nvalkey_prefix = "{prefix}:"\n'
    return Fleet(tmp_path, settings + policy, {}, take_keys, put_keys)


@pytest.fixture
def older(fleet) -> Copies:
    """The copy before the last of two runs."""
    assert run(fleet.runner(1, 2), RunRequest()).succeeded
    copies = fleet.take()
    assert run(fleet.runner(1, 2, 3), RunRequest()).succeeded
    assert copies
    return copies


def test_a_runner_that_has_no_state_takes_the_remote_one_without_a_word(fleet, older):
    assert run(fleet.runner(3, 4), RunRequest()).succeeded

    assert [1, 2, 3, 4] == fleet.events()
    assert [] == fleet.warnings


def test_a_table_that_is_built_elsewhere_meanwhile_is_not_taken_for_lost(fleet, older, monkeypatch):
    acquire, others = RemoteSession.acquire, [fleet.runner(4)]

    def acquire_and_wait(self: RemoteSession, confirm: Callable[[], None]) -> None:
        acquire(self, confirm)
        if others:
            assert run(others.pop(), RunRequest(("events",))).succeeded

    monkeypatch.setattr(RemoteSession, "acquire", acquire_and_wait)
    runner = fleet.runner(4)
    write(runner.config, {"models/reader.sql": "SELECT count(*) AS n FROM events"})

    run(runner, RunRequest(("reader",)))

    assert [] == others
    assert run(runner, RunRequest(("reader",))).succeeded


@pytest.mark.parametrize("anchor", ["as it was", "put back", "deleted"])
def test_a_copy_that_was_put_back_refuses_a_new_runner(fleet, anchor):
    assert run(fleet.runner(1, 2), RunRequest()).succeeded
    copies, anchors = fleet.take(), fleet.anchors()
    assert run(fleet.runner(1, 2, 3), RunRequest()).succeeded
    fleet.put(copies)
    for path, data in anchors.items():
        if anchor == "deleted":
            path.unlink()
        elif anchor == "put back":
            path.write_bytes(data)
    versions = fleet.versions()

    with pytest.raises(StateLost, match="replaced by an older copy"):
        run(fleet.runner(9), RunRequest())

    assert copies == fleet.take()
    assert versions == fleet.versions()
    assert [1, 2, 3] == fleet.events()


def test_a_copy_that_is_gone_refuses_a_new_runner_and_no_other_is_put_there(fleet, older):
    fleet.put({})
    versions, runner = fleet.versions(), fleet.runner(9)

    with pytest.raises(StateLost, match="it was lost"):
        run(runner, RunRequest())

    assert {} == fleet.take()
    assert not (runner.config / STATE_FILE).exists()
    assert versions == fleet.versions()


def test_a_sweep_puts_no_empty_state_in_the_place_of_one_that_is_gone(fleet, older):
    fleet.put({})

    with pytest.raises(NothingSelected, match="no state yet"):
        sweep_state(fleet.runner(), SweepRequest())

    assert {} == fleet.take()


def test_a_machine_that_still_has_the_state_puts_it_back_there(fleet):
    kept = fleet.runner(1, 2)
    assert run(kept, RunRequest()).succeeded
    fleet.put({})
    with pytest.raises(StateLost):
        run(fleet.runner(9), RunRequest())

    assert run(kept, RunRequest()).succeeded
    assert run(fleet.runner(2, 3), RunRequest()).succeeded
    assert [1, 2, 3] == fleet.events()


@pytest.mark.parametrize("how", ["put back", "gone"])
def test_a_state_restored_from_the_tables_loads_nothing_again(fleet, older, how):
    fleet.put(older if how == "put back" else {})
    report = restore_state(fleet.runner(), RestorationRequest(WHY))
    runner = fleet.runner(4)

    assert run(runner, RunRequest()).succeeded
    assert (0, []) == (report.exit_code, fleet.warnings)
    assert [1, 2, 3, 4] == fleet.events()
    assert () == verify(runner, VerifyRequest()).findings


def test_a_start_anew_loads_what_the_source_has_and_later_runs_go_on(fleet, older):
    fleet.put({})

    assert run(fleet.runner(3), RunRequest(start_anew=True)).succeeded
    assert run(fleet.runner(4), RunRequest()).succeeded
    assert [3, 4] == fleet.events()
    assert [] == fleet.warnings


def test_a_machine_with_the_state_of_before_is_refused_after_a_start_anew(fleet):
    kept = fleet.runner(1, 2)
    assert run(kept, RunRequest()).succeeded
    fleet.put({})
    assert run(fleet.runner(3), RunRequest(start_anew=True)).succeeded

    with pytest.raises(StateConflict):
        run(kept, RunRequest())
