"""Machines that share a remote state: each has a folder, a ledger and sessions of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from rocky.evidence.verification import verify_evidence
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.run_records import (
    ModelExecution,
    ModelStatus,
    RunRecord,
    RunStatus,
    WatermarkState,
)
from rocky.ledger.writer import ModelRecords
from rocky.project.configuration.blocks import Retry, State
from rocky.state.events import SyncEvent
from rocky.state.session import RemoteSession, open_session
from rocky.state.transfer import Clock
from rocky.store.warehouse import open_warehouse
from tests.ledger.chains import faults
from tests.servers.s3 import BUCKET, s3_environment
from tests.servers.valkey import PASSWORD

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUICK = Retry(max_retries=3, initial_backoff_ms=1, max_backoff_ms=2, circuit_breaker_threshold=0)


def s3_state(prefix: str, retry: Retry = QUICK, **settings: object) -> State:
    return State(backend="s3", s3_bucket=BUCKET, s3_prefix=f"{prefix}/", retry=retry)._replace(
        **{"transfer_timeout_seconds": 20, "on_upload_failure": "fail", **settings}
    )


def valkey_state(port: int, prefix: str, retry: Retry = QUICK, **settings: object) -> State:
    url = f"redis://:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/0"
    return State(
        backend="valkey", valkey_url=url, valkey_prefix=f"{prefix}:", retry=retry
    )._replace(**{"transfer_timeout_seconds": 20, "on_upload_failure": "fail", **settings})


def tiered_state(port: int, prefix: str, retry: Retry = QUICK, **settings: object) -> State:
    return valkey_state(port, prefix, retry, **settings)._replace(
        backend="tiered", s3_bucket=BUCKET, s3_prefix=f"{prefix}/"
    )


@dataclass
class Machine:
    """A machine: `runs` counts what it has recorded, so that no two runs begin at one moment."""

    root: Path
    state: State
    address: str = ""
    number: int = 0
    events: list[SyncEvent] = field(default_factory=list)
    runs: int = 0
    claim_seconds: float = 60.0
    clock: Clock = field(default_factory=Clock)

    @property
    def ledger(self) -> Path:
        return self.root / "state.db"

    @property
    def name(self) -> str:
        return f"host-{self.number}"

    @property
    def outcomes(self) -> list[str]:
        return [f"{event.operation} {event.outcome.value}" for event in self.events]

    @contextmanager
    def session(self) -> Iterator[RemoteSession]:
        self.root.mkdir(parents=True, exist_ok=True)
        session = open_session(
            self.state,
            self.ledger,
            s3_environment(self.address),
            listener=self.events.append,
            claim_seconds=self.claim_seconds,
            clock=self.clock,
        )
        assert isinstance(session, RemoteSession)
        with session:
            yield session

    def run(self, *tables: str) -> str:
        """A whole run: fetched, recorded, sent."""
        with self.session() as session:
            session.acquire()
            run_id = self.record(*tables, session=session)
            session.finalize(run_id)
        return run_id

    def record(self, *tables: str, session: RemoteSession | None = None) -> str:
        """A run as it is recorded in the local file alone."""
        ask = session.is_alive if session is not None else lambda _: True
        with open_ledger(self.ledger, is_alive_elsewhere=ask) as ledger:
            run_id = ledger.begin_run(self.begun())
            for table in tables:
                ledger.record_models(run_id, [ModelRecords(*self.records(run_id, table))])
            ledger.finish_run(run_id, RunStatus.SUCCESS, self.now())
        return run_id

    def begun(self) -> RunRecord:
        self.runs += 1
        return RunRecord(
            self.now(), "Manual", "c0ffee", self.name, "1.0", warehouse=str(self.root.parent / "wh")
        )

    def records(
        self, run_id: str, table: str
    ) -> tuple[ModelExecution, tuple, tuple, WatermarkState]:
        """What is said of a model that failed, and a mark: evidence without any table."""
        execution = ModelExecution(table, ModelStatus.FAILED, self.now(), self.now(), 1)
        return execution, (), (), WatermarkState(table, run_id, self.now(), table)

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.runs, milliseconds=self.number)


def rows(path: Path, table: str) -> list[str]:
    with open_evidence_reader(path) as evidence:
        return [key for key, _ in evidence.rows(table)]


def value(path: Path, table: str, key: str) -> str | None:
    with open_evidence_reader(path) as evidence:
        return dict(evidence.rows(table)).get(key)


def findings(path: Path) -> list[str]:
    """All that is wrong with a ledger: by its chain, and by all that verifying checks."""
    with open_evidence_reader(path) as evidence:
        found = verify_evidence(evidence, lambda place: open_warehouse(place, base=path.parent))
    return [*faults(path), *(f"{each.code.value} {each.where}" for each in found.findings)]
