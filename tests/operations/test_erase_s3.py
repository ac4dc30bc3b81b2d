"""Erasing from tables in a bucket, where branches name the files of production."""

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rocky.errors import RunRefused
from rocky.operations.branch.lifecycle import CreateRequest, create
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.store.warehouse import open_warehouse
from tests.maintenance.erasures import FIRST, LAST, SUBJECT, MaskedShop, PeopleShop
from tests.store.test_s3 import options

__all__ = ["options"]
pytestmark = [pytest.mark.slow, pytest.mark.server]

ROOT, MASKED = "s3://lake/people", "s3://lake/masked"


class BucketShop(PeopleShop):
    names = ("people", "contacts")


class MaskedBucketShop(MaskedShop):
    names = ("people", "contacts")

    def __init__(self, root, monkeypatch) -> None:
        super().__init__(root, monkeypatch)
        self.masked += f'[adapter]\nwarehouse = "{MASKED}"\n'
        self.unmasked += f'[adapter]\nwarehouse = "{MASKED}"\n'
        self.write("rocky.toml", self.unmasked)


def held(options: dict[str, str], root: str = ROOT) -> list[str]:
    """The objects of production with a value of the subject."""
    objects = open_warehouse(root, base=Path(), options=options).objects
    found = []
    for info in objects.list(""):
        data = objects.read(info.path) or b""
        if data[-4:] == b"PAR1":
            data += str(pq.read_table(io.BytesIO(data)).to_pylist()).encode()
        texts = (FIRST, LAST, str(SUBJECT)) if root == ROOT else (FIRST, LAST)
        if any(each.encode() in data for each in texts):
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

    assert ("try",) == shop.apply(with_branches=True).branches_deleted

    assert [] == held(options)
    assert () == verify(shop.workspace, VerifyRequest()).findings
    shop.write_people(3, subject=False)
    assert 0 == shop.build().exit_code
    assert () == verify(shop.workspace, VerifyRequest()).findings


def test_no_object_has_a_clear_value_from_before_a_mask(options, tmp_path, monkeypatch):
    shop = MaskedBucketShop(tmp_path, monkeypatch)
    shop.workspace = shop.on(environment=options)
    shop.make_runs()
    assert held(options, MASKED)

    shop.clear()

    assert [] == held(options, MASKED)
    assert () == verify(shop.workspace, VerifyRequest()).findings
