"""A lake in an object store, listed through a real server on loopback."""

from pathlib import Path

import pytest
from obstore import put

from rocky.errors import SourceUnreadable
from rocky.pipelines.replication import lakes
from rocky.pipelines.replication.lakes import ObjectLake
from rocky.store.location import locate
from rocky.store.objects import open_objects
from tests.servers.s3 import BUCKET, SECRET, s3_environment, s3_server

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture(scope="module")
def settings():
    with s3_server() as endpoint:
        yield s3_environment(endpoint)


def write(settings, prefix, *keys):
    objects = open_objects(locate(f"s3://{BUCKET}/{prefix}", Path(), settings))
    for key in keys:
        put(objects.store, key, b"id\n1\n")


def test_tables_are_grouped_from_one_listing(settings, monkeypatch):
    monkeypatch.setattr(lakes, "_OBJECT_GRAIN_NS", -(10**12))
    write(
        settings,
        "lake",
        "five/s1/a/part.csv",
        "five/s1/a/_SUCCESS",
        "five/s1/b/_delta_log/00000000000000000000.json",
        "five/s1/b/_delta_log/00000000000000000001.json",
        "five/s1/b/part.parquet",
        "five/s2/c.json",
        "five/s2/d/part-0",
        "five/README.md",
        "other/s/t/part.csv",
    )
    found = ObjectLake(f"s3://{BUCKET}/lake", "auto", {}, settings).discover("five")

    assert [
        ("s1", "a", "csv", f"s3a://{BUCKET}/lake/five/s1/a"),
        ("s1", "b", "delta", f"s3a://{BUCKET}/lake/five/s1/b"),
        ("s2", "c", "json", f"s3a://{BUCKET}/lake/five/s2/c.json"),
    ] == [(each.schema, each.table, each.place.format, each.place.path) for each in found.tables]
    assert ["s2.d"] == [each.name for each in found.failed]
    assert None not in [each.marker for each in found.tables]
    before = [each.marker for each in found.tables]
    write(settings, "lake", "five/s1/b/_delta_log/00000000000000000002.json")
    again = ObjectLake(f"s3://{BUCKET}/lake", "auto", {}, settings).discover("five")
    changed = [mine != theirs.marker for mine, theirs in zip(before, again.tables, strict=True)]
    assert [False, True, False] == changed


def test_a_table_that_has_just_changed_has_no_marker(settings):
    write(settings, "fresh", "s/t/part.csv")
    found = ObjectLake(f"s3://{BUCKET}/fresh", "auto", {}, settings).discover(None)

    assert [None] == [each.marker for each in found.tables]


def test_a_bucket_that_is_not_there_is_unreadable_and_no_key_is_shown(settings):
    with pytest.raises(SourceUnreadable) as error:
        ObjectLake("s3://nowhere/lake", "auto", {}, settings).discover(None)

    assert "cannot be listed" in str(error.value)
    assert SECRET not in str(error.value)


def test_an_empty_place_is_unreadable_and_not_a_source_without_tables(settings):
    with pytest.raises(SourceUnreadable, match="holds no tables of catalog `five`"):
        ObjectLake(f"s3://{BUCKET}/empty", "auto", {}, settings).discover("five")
