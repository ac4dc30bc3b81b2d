"""Erasing where the state is in a bucket: runs on other machines count, the ledger goes first."""

import shutil
import uuid
from pathlib import Path

import pytest

from rocky.errors import ErasureUnfinished, LedgerLocked, RockyError
from rocky.ledger.erasure_records import load_erasures
from rocky.maintenance.erasure import completion
from rocky.operations.governance.erase import EraseRequest, erase
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.project.configuration.blocks import State
from rocky.state.session import open_session
from tests.maintenance.erasures import FIRST, LAST, PeopleShop
from tests.servers.faults import HttpFaults, http_faults
from tests.servers.s3 import BUCKET, s3_environment, s3_server

pytestmark = [pytest.mark.slow, pytest.mark.server]

STATE = """
[adapter]
warehouse = "{warehouse}"
[state]
backend = "s3"
s3_bucket = "{bucket}"
s3_prefix = "{prefix}/"
on_upload_failure = "{policy}"
[state.retry]
max_retries = 0
initial_backoff_ms = 1
"""


class SharedShop(PeopleShop):
    names = ("people", "contacts")


@pytest.fixture(scope="module")
def endpoint():
    with s3_server() as found:
        yield found


@pytest.fixture
def s3(endpoint):
    with http_faults(endpoint) as faults:
        yield faults


class Machines:
    """Two machines with one warehouse and one state."""

    def __init__(self, root: Path, s3: HttpFaults, monkeypatch, policy: str = "fail") -> None:
        self.environment = s3_environment(s3.url)
        self.prefix = f"state-{uuid.uuid4().hex}"
        said = STATE.format(
            warehouse=root / "warehouse", bucket=BUCKET, prefix=self.prefix, policy=policy
        )
        self.shops = []
        for name in ("one", "other"):
            shop = SharedShop(root / name, monkeypatch)
            shop.append("rocky.toml", said)
            shop.workspace = shop.on(environment=self.environment)
            self.shops.append(shop)

    def session(self):
        state = State(backend="s3", s3_bucket=BUCKET, s3_prefix=f"{self.prefix}/")
        return open_session(state, self.shops[1].root / "spare.db", self.environment)


def test_an_erasure_of_one_machine_is_known_to_the_other(tmp_path, s3, monkeypatch):
    machines = Machines(tmp_path, s3, monkeypatch)
    one, other = machines.shops
    one.make_runs()
    one.write_people(3, subject=False)

    report = one.apply()

    assert report.applied
    assert () == verify(one.workspace, VerifyRequest()).findings
    other.write_people(3, subject=False)
    assert not other.apply().applied
    assert [report.run_id] == [
        each.run_id for each in load_erasures(other.root / ".rocky-state.db")
    ]
    assert () == verify(other.workspace, VerifyRequest()).findings
    assert 0 == other.build().exit_code
    files = [path for path in (tmp_path / "warehouse").rglob("*") if path.is_file()]
    assert not any(each.encode() in path.read_bytes() for each in (FIRST, LAST) for path in files)


def test_a_run_on_another_machine_is_in_the_way(tmp_path, s3, monkeypatch):
    machines = Machines(tmp_path, s3, monkeypatch)
    one, _ = machines.shops
    one.make_runs()
    with machines.session() as session:
        session.acquire()
        with session.claim(["a.b.c"]) as claim:
            claim.name("run-20300101-000000-000")
            with pytest.raises(LedgerLocked, match="run-20300101-000000-000"):
                one.apply()

    assert () == load_erasures(one.root / ".rocky-state.db")
    assert one.apply().applied


@pytest.mark.parametrize("policy", ["fail", "skip"])
def test_nothing_is_removed_before_the_certificate_was_sent(tmp_path, s3, monkeypatch, policy):
    machines = Machines(tmp_path, s3, monkeypatch, policy)
    one, other = machines.shops
    one.make_runs()
    folder = tmp_path / "warehouse/spark_catalog/default"
    before = {path for path in folder.rglob("*.parquet") if len(path.stem) == 64}
    record = completion.record_erasure

    def record_and_cut(*arguments):
        record(*arguments)
        s3.judge = lambda verb, path: "503" if verb == "PUT" and "claims" not in path else None

    monkeypatch.setattr(completion, "record_erasure", record_and_cut)
    with pytest.raises(RockyError):
        one.apply()
    s3.heal()
    assert before <= {*folder.rglob("*.parquet")}
    monkeypatch.setattr(completion, "record_erasure", record)

    # On the other machine: this one is gone with all that it had not sent.
    shutil.rmtree(one.root)
    with pytest.raises(ErasureUnfinished):
        other.build()
    report = erase(other.workspace, EraseRequest(resume=True))
    assert report.applied
    assert () == verify(other.workspace, VerifyRequest()).findings
