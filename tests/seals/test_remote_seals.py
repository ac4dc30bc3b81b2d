"""Seals of a ledger that is kept in a bucket, by two machines that share a warehouse."""

import shutil
import uuid
from pathlib import Path

import pytest

from rocky.store.location import locate
from rocky.store.objects import open_objects
from tests.branches.shops import enter_shop
from tests.run.runs import write
from tests.seals.conftest import SealedShop
from tests.servers.faults import HttpFaults, http_faults
from tests.servers.s3 import BUCKET, s3_environment, s3_server

pytestmark = [pytest.mark.slow, pytest.mark.server]

SETTINGS = """
[adapter]
warehouse = "{warehouse}"
[state]
backend = "s3"
s3_bucket = "{bucket}"
s3_prefix = "{prefix}/state/"
on_upload_failure = "skip"
[state.retry]
max_retries = 0
initial_backoff_ms = 1
[evidence]
seal = "every_run"
seal_key = "{key}"
"""


@pytest.fixture(scope="module")
def endpoint():
    with s3_server() as found:
        yield found


@pytest.fixture
def s3(endpoint):
    with http_faults(endpoint) as faults:
        yield faults


@pytest.fixture
def machines(s3, keys, tmp_path, monkeypatch) -> tuple[SealedShop, SealedShop]:
    """Two machines that share a state and a bucket; the first has run, and sealed its run."""
    for name, value in s3_environment(s3.url).items():
        monkeypatch.setenv(name, value)
    first = SealedShop(tmp_path / "first")
    first.root.mkdir()
    first.create()
    settings = SETTINGS.format(
        bucket=BUCKET,
        prefix=uuid.uuid4().hex,
        key=keys.path("ada"),
        warehouse=tmp_path / "warehouse",
    )
    config = (first.root / "rocky.toml").read_text()
    listed = keys.listed(ada="ada@x")
    write(first.root, {"rocky.toml": config + settings, "allowed_signers": listed})
    first.commit("in a bucket")
    shutil.copytree(first.root, tmp_path / "second")
    enter_shop(first.root, monkeypatch)
    first.do("run")
    second = SealedShop(tmp_path / "second")
    first.keys = second.keys = keys
    return first, second


def copy_seals(one: SealedShop, other: SealedShop) -> None:
    for path in one.seals:
        (other.root / "seals").mkdir(exist_ok=True)
        shutil.copy2(path, other.root / "seals")


def cut_off(s3: HttpFaults) -> None:
    """The state can be fetched from now on, and not be sent."""
    s3.fail("503", method="PUT", path="state.db")


def test_seals_of_two_machines_are_of_one_chain(machines, monkeypatch):
    first, second = machines
    enter_shop(second.root, monkeypatch)
    second.run(rows=6)
    enter_shop(first.root, monkeypatch)
    first.run(rows=7)
    copy_seals(second, first)

    assert 3 == len(first.seals)
    assert [] == first.codes("--sealed", "seals")


def test_a_run_whose_records_were_not_sent_is_not_sealed_until_they_are(machines, s3, monkeypatch):
    """Others may send theirs first, and then these get other numbers and hashes."""
    first, second = machines
    cut_off(s3)
    write(first.root, {"data/orders.csv": "id,country\n1,DE\n"})
    answer = first.rocky("run")

    assert 1 == answer.code
    assert "it is not sealed: records of this machine are not in the remote state yet" in answer.out
    assert 1 == len(first.seals)

    # What everybody has can be sealed, and it says what it leaves out.
    mailed = first.root.parent / "mailed.seal"
    answer = first.rocky("seal", "--out", str(mailed), "--key", str(first.keys.path("ada")))
    assert (0, True) == (answer.code, "are not sealed, because the remote state" in answer.err)

    s3.heal()
    enter_shop(second.root, monkeypatch)
    answer = second.rocky("run")
    assert (1, True) == (answer.code, "that run was not sent yet" in answer.err)
    enter_shop(first.root, monkeypatch)
    first.run(rows=7)
    enter_shop(second.root, monkeypatch)
    second.run(rows=6)
    enter_shop(first.root, monkeypatch)
    copy_seals(second, first)
    assert 3 == len(first.seals)
    assert [] == first.codes("--sealed", "seals")
    assert [] == first.codes("--sealed", str(mailed))


@pytest.mark.exhaustive
def test_a_state_and_tables_that_were_put_back_are_found(machines, endpoint):
    first, _ = machines
    bucket = open_objects(locate(f"s3://{BUCKET}", Path(), s3_environment(endpoint)))
    kept = {info.path: bucket.read(info.path) for info in bucket.list("")}
    warehouse = first.root.parent / "warehouse"
    shutil.copytree(warehouse, first.root.parent / "aside")
    first.run(rows=6)
    for path, data in kept.items():
        bucket.put(path, data)
    shutil.rmtree(warehouse)
    (first.root.parent / "aside").rename(warehouse)
    for path in first.root.glob(".rocky*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    assert [] == first.codes()
    assert ["seal_head_missing", "seal_table_behind"] == first.codes("--sealed", "seals")
