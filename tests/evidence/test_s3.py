"""Verifying tables in an S3-compatible server on loopback, also after they were moved there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocky.evidence.verification import Verification, verify_evidence
from rocky.ledger import open_evidence_reader
from rocky.store.warehouse import Warehouse, open_warehouse
from tests.evidence.shops import Recorded, codes
from tests.servers.s3 import s3_environment, s3_server

pytestmark = [pytest.mark.slow, pytest.mark.server]


@pytest.fixture
def lake() -> Iterator[Warehouse]:
    with s3_server("lake") as endpoint:
        yield open_warehouse("s3://lake/wh", base=Path(), options=s3_environment(endpoint))


def verify(project: Recorded, lake: Warehouse) -> Verification:
    reader = open_evidence_reader(project.state)
    assert reader is not None
    with reader:
        return verify_evidence(reader, lambda _: lake)


def test_tables_in_a_bucket_are_verified_and_a_changed_object_is_named(tmp_path, lake):
    project = Recorded.make(tmp_path)
    for path in (each for each in project.warehouse.rglob("*") if each.is_file()):
        lake.objects.put(path.relative_to(project.warehouse).as_posix(), path.read_bytes())

    untouched = verify(project, lake)
    name = project.data_files()[0].relative_to(project.warehouse).as_posix()
    lake.objects.put(name, b"something else")
    changed = verify(project, lake)

    assert ((), ()) == (untouched.findings, untouched.notes)
    assert ["file_changed"] == codes(changed.findings)
    assert [f"s3://lake/wh/{name}"] == [each.where for each in changed.findings]
