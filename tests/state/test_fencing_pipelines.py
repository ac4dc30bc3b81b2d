"""Every other way to write a table, by a process that was stopped past its claim: it commits nothing."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.cli.app import main
from rocky.ledger import open_history_reader
from rocky.project.configuration.blocks import State
from rocky.run.engine import spark
from rocky.state import session
from rocky.store.warehouse import Table
from tests.branches.shops import BranchShop, enter_shop
from tests.processes import Running, is_stopped
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import write
from tests.servers.s3 import s3_environment
from tests.state.machines import s3_state, valkey_state

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.sampled]

CLAIM_SECONDS = 1.0
TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
LOAD = (
    '[pipeline.bronze]\ntype = "load"\nsource_dir = "in"\n[pipeline.bronze.target]\ncatalog = "raw"\n'
    'schema = "files"\ntable = "orders"\n'
)
COPY = (
    '[pipeline.bronze]\ntype = "replication"\n{}\n[pipeline.bronze.source]\npath = "lake"\n'
    'catalog = "five"\n[pipeline.bronze.source.schema_pattern]\nprefix = "src__"\nseparator = "__"\n'
    'components = ["tenant", "connector"]\n[pipeline.bronze.target]\n'
    'catalog_template = "{{tenant}}"\nschema_template = "{{connector}}"\n'
)
MODELS = '[pipeline.shop]\nmodels = "models/**"\n'
INTERVAL = "seen >= @start_date AND seen < @end_date"
MODEL_KINDS = {
    "microbatch": 'type = "microbatch"\ntimestamp_column = "seen"\ngranularity = "day"\n',
    "time_interval": 'type = "time_interval"\ntime_column = "seen"\ngranularity = "day"\n',
    "snapshot": 'type = "snapshot"\nunique_key = ["id"]\nupdated_at = "seen"\n',
    "materialized_view": 'type = "materialized_view"\n',
    "content_addressed": 'type = "content_addressed"\n',
}
PIPELINE_KINDS = {
    "append": LOAD,
    "copy_incremental": COPY.format('timestamp_column = "seen"'),
    "copy_full_refresh": COPY.format('strategy = "full_refresh"'),
}


def files_of(kind: str, settings: str) -> dict[str, str]:
    if kind in PIPELINE_KINDS:
        return {"rocky.toml": settings + PIPELINE_KINDS[kind]}
    where = f" WHERE {INTERVAL}" if kind in ("time_interval", "microbatch") else ""
    return {
        "rocky.toml": settings + MODELS,
        "sources/raw.toml": (
            '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\n'
            'columns = [ { name = "id", type = "bigint" }, { name = "seen", type = "timestamp", nullable = false } ]\n'
        ),
        "models/grown.sql": f"SELECT id, seen FROM raw.orders{where}",
        "models/grown.toml": f"[strategy]\n{MODEL_KINDS[kind]}",
    }


def put_rows(root: Path, last: int) -> None:
    """All sources hold so many rows, of today and tomorrow: midnight may pass while a test runs."""
    rows = [
        {"id": each, "seen": TODAY + timedelta(days=each % 2, seconds=each)}
        for each in range(1, last + 1)
    ]
    lines = "".join(f"{row['id']},{row['seen']:%Y-%m-%dT%H:%M:%S}\n" for row in rows)
    write(root, {"data/orders.csv": "id,seen\n" + lines})
    write(root, {f"in/orders-{last}.csv": "id,seen\n" + lines})
    folder = root / "lake/five/src__acme__shopify/orders"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "part-0.parquet")


def machine(root: Path, kind: str, state: State) -> BranchShop:
    root.mkdir()
    if state.backend == "s3":
        kept = f's3_bucket = "{state.s3_bucket}"\ns3_prefix = "{state.s3_prefix}"\n'
    else:
        kept = f'valkey_url = "{state.valkey_url}"\nvalkey_prefix = "{state.valkey_prefix}"\n'
    settings = f'[adapter]\nwarehouse = "{root.parent / "warehouse"}"\n'
    settings += f'[state]\nbackend = "{state.backend}"\n{kept}'
    write(root, files_of(kind, settings))
    return BranchShop(root)


def stop_before_commit(root: Path) -> None:
    """A run that stops before its first commit, and goes on when it is told to."""
    commit: Callable[..., object] = Table.commit
    left = [True]

    @contextmanager
    def engine(*_: object) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    def stop(table: Table, *given: object) -> object:
        if left:
            left.clear()
            os.kill(os.getpid(), signal.SIGSTOP)
        return commit(table, *given)

    spark.open_project_engine = engine  # type: ignore[assignment]
    Table.commit = stop  # type: ignore[assignment,method-assign]
    assert session.open_session.__kwdefaults__ is not None
    session.open_session.__kwdefaults__["claim_seconds"] = CLAIM_SECONDS
    main(("run",))


def logs(warehouse: Path) -> dict[str, bytes]:
    found = warehouse.glob("**/_delta_log/*.json")
    return {str(path): path.read_bytes() for path in found}


@pytest.mark.parametrize("backend", ["s3", pytest.param("valkey", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("kind", [*MODEL_KINDS, *PIPELINE_KINDS])
def test_whatever_writes_a_table_commits_nothing_once_others_did(
    tmp_path, s3_address, valkey_port, prefix, monkeypatch, backend, kind
):
    state = s3_state(prefix) if backend == "s3" else valkey_state(valkey_port, prefix)
    for name, value in s3_environment(s3_address).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(session.open_session.__kwdefaults__, "claim_seconds", CLAIM_SECONDS)
    one, other = (machine(tmp_path / each, kind, state) for each in ("one", "other"))
    for shop, rows in ((one, 2), (other, 2)):
        put_rows(shop.root, rows)
    enter_shop(one.root, monkeypatch)
    one.do("run")
    put_rows(one.root, 60)
    put_rows(other.root, 70)
    with Running(stop_before_commit, one.root, cwd=one.root) as stopped:
        while not is_stopped(stopped.pid):
            if stopped.poll() is not None:
                pytest.fail("".join(stopped.communicate()))
            time.sleep(0.02)
        time.sleep(CLAIM_SECONDS + 1)
        enter_shop(other.root, monkeypatch)
        other.do("run")
        after = logs(tmp_path / "warehouse")
        stopped.send_signal(signal.SIGCONT)
        stopped.communicate()

    assert stopped.wait() not in (0, -signal.SIGKILL)
    assert after == logs(tmp_path / "warehouse")
    with open_history_reader(one.state()) as reader:
        # The other's run is there too, if it was fetched before this one gave up.
        runs = [reader.run(each.run_id) for each in reader.runs()]
    kinds = {step.failure_kind for run in runs for step in run.models_executed}
    assert "claim_lost" in kinds
    assert other.do("verify").startswith("verified:")
