"""Erasing from tables in a bucket, where branches name the files of production."""

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rocky.errors import RunRefused
from rocky.operations.branch.lifecycle import CreateRequest, DeleteRequest, create, delete
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.store.warehouse import open_warehouse
from tests.maintenance.erasures import FIRST, LAST, SUBJECT, PeopleShop
from tests.store.test_s3 import options

__all__ = ["options"]
pytestmark = [pytest.mark.slow, pytest.mark.server]

ROOT = "s3://lake/people"


class BucketShop(PeopleShop):
    names = ("people", "contacts")


def held(options: dict[str, str]) -> list[str]:
    """The objects of production with a value of the subject."""
    objects = open_warehouse(ROOT, base=Path(), options=options).objects
    found = []
    for info in objects.list(""):
        data = objects.read(info.path) or b""
        if data[-4:] == b"PAR1":
            data += str(pq.read_table(io.BytesIO(data)).to_pylist()).encode()
        if any(each.encode() in data for each in (FIRST, LAST, str(SUBJECT))):
            found.append(info.path)
    return found


def test_no_object_has_a_value_of_the_subject(options, tmp_path, monkeypatch):
    shop = BucketShop(tmp_path, monkeypatch)
    shop.workspace = shop.on(environment=options)
    shop.append("rocky.toml", f'\n[adapter]\nwarehouse = "{ROOT}"\n')
    shop.make_runs()
    assert held(options)
    create(shop.workspace, CreateRequest("try"))
    with pytest.raises(RunRefused, match="rocky branch delete try"):
        shop.apply()
    delete(shop.workspace, DeleteRequest("try"))

    assert shop.apply().applied

    assert [] == held(options)
    assert () == verify(shop.workspace, VerifyRequest()).findings
    shop.write_people(3, subject=False)
    assert 0 == shop.build().exit_code
    assert () == verify(shop.workspace, VerifyRequest()).findings
