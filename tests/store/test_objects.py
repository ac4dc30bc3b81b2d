import pickle
from pathlib import Path

import pytest

from rocky.errors import ChangeRefused, StoreUnreadable, StoreUnwritable
from rocky.store.location import locate
from rocky.store.objects import Objects, open_objects
from rocky.store.warehouse import open_warehouse
from tests.store.tables import Name, ids, replace_with, run_script

ODD_NAMES = ["plain", "with space", "ä 日本", "50% off", "a%20b", "h#1", "q?x", "[ab]", "a:b", "t~"]


def objects_in(folder: Path) -> Objects:
    return open_objects(locate("root", folder, {}))


def test_an_object_is_created_once_and_the_second_creation_changes_nothing(tmp_path):
    objects = objects_in(tmp_path)

    assert objects.create("a/b", b"first")
    assert not objects.create("a/b", b"second")
    assert b"first" == objects.read("a/b")


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_path_is_the_name_of_the_file_whatever_letters_it_has(tmp_path, name):
    objects = open_objects(locate(f"root {name}", tmp_path, {}))
    objects.put(f"{name}/{name}.bin", b"x")

    assert b"x" == (tmp_path / f"root {name}" / name / f"{name}.bin").read_bytes()
    assert [f"{name}/{name}.bin"] == [info.path for info in objects.list(name)]
    assert [name] == objects.folders("")


def test_only_what_is_not_there_is_absent(tmp_path):
    objects = objects_in(tmp_path)
    objects.put("file", b"x")

    assert objects.read("nothing") is None
    assert objects.info("nothing") is None
    assert [] == list(objects.list("nothing"))
    with pytest.raises(StoreUnreadable, match="file/below`: a file lies where a folder should"):
        objects.read("file/below")


def test_reading_a_warehouse_that_nobody_made_makes_nothing(tmp_path):
    warehouse = open_warehouse("none/yet", base=tmp_path)

    assert warehouse.table(Name("c", "s", "t")).snapshot() is None
    assert [] == list(warehouse.tables())
    assert [] == list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "root").write_text("a file where a folder should be")

    with pytest.raises(StoreUnwritable, match=r"could not write `.*root/a/b`: a file lies where"):
        objects_in(tmp_path).put("a/b", b"x")


DENIED = """
import os, tempfile
from pathlib import Path
from rocky.errors import StoreUnreadable
from tests.store.tables import append, ids, reopened, table_in

if os.getuid() == 0:
    os.setuid(65534)  # Root may read everything.
with tempfile.TemporaryDirectory() as folder:
    table = table_in(Path(folder))
    append(table, ids(table, 1))
    closed = table.objects.local_path(table.prefix)
    for mode in ("_delta_log", "."):
        (closed / mode).chmod(0)
        try:
            print("answer", reopened(table).snapshot())
        except StoreUnreadable as error:
            print(str(error).replace(folder, ""))
        (closed / mode).chmod(0o700)
"""


@pytest.mark.slow
def test_a_table_that_may_not_be_read_is_not_absent():
    place = "/warehouse/shop/core/orders/_delta_log/_last_checkpoint"
    assert [f"could not read `{place}`: permission denied"] * 2 == run_script(DENIED).splitlines()


def test_deleting_what_is_gone_is_no_failure(tmp_path):
    objects = objects_in(tmp_path)
    objects.put("a", b"x")
    objects.delete(["a", "a", "never"])

    assert objects.read("a") is None


def test_a_listing_can_start_after_a_path(tmp_path):
    objects = objects_in(tmp_path)
    for name in "abc":
        objects.put(f"log/{name}", b"x")

    assert ["log/b", "log/c"] == sorted(i.path for i in objects.list("log", after="log/a"))


@pytest.mark.slow
def test_a_refused_connection_is_told_and_no_secret_with_it():
    options = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "the-key-id",
        "AWS_SECRET_ACCESS_KEY": "the-secret",
    }
    warehouse = open_warehouse("s3://bucket/wh", base=Path(), options=options)

    with pytest.raises(StoreUnreadable, match=r"`s3://bucket/wh/.*connection refused") as caught:
        warehouse.table(Name("c", "s", "t")).snapshot()
    shown = f"{caught.value!r} {warehouse!r} {warehouse.objects.location}"
    assert "the-secret" not in shown
    assert "the-key-id" not in shown


def test_settings_of_spark_and_of_the_environment_mean_the_same():
    environment = {
        "AWS_ENDPOINT_URL": "http://host:9000",
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_DEFAULT_REGION": "eu-west-1",
    }
    spark = {
        "spark.hadoop.fs.s3a.endpoint": "http://host:9000",
        "spark.hadoop.fs.s3a.access.key": "k",
        "spark.hadoop.fs.s3a.secret.key": "s",
        "spark.hadoop.fs.s3a.endpoint.region": "eu-west-1",
    }
    by_environment = locate("s3://b/p", Path(), environment)

    assert by_environment.settings == locate("s3a://b/p/", Path(), spark).settings
    assert ("s3://b/p", "s3a://b/p") == (by_environment.uri, by_environment.spark_uri)


@pytest.mark.parametrize("root", ["ftp://host/x", "s3://", "gs://bucket/x"])
def test_a_root_of_another_kind_is_refused(root):
    with pytest.raises(StoreUnreadable, match="is not a warehouse: name a folder or"):
        open_warehouse(root, base=Path())


def test_spark_gets_a_uri_that_is_not_percent_encoded(tmp_path):
    table = open_warehouse("a b/50%", base=tmp_path).table(Name("c", "s", "ä"))

    assert f"file://{tmp_path}/a b/50%/c/s/ä" == table.uri


@pytest.mark.parametrize("part", ["", "..", "a/b"])
def test_a_table_name_that_names_no_folder_is_refused(tmp_path, part):
    with pytest.raises(ChangeRefused, match="does not name a folder"):
        open_warehouse("w", base=tmp_path).table(Name("c", part, "t"))


def test_the_tables_of_a_warehouse_are_those_with_a_log(tmp_path):
    warehouse = open_warehouse("w", base=tmp_path)
    for name in (Name("b", "s", "t"), Name("a", "s", "t 2")):
        table = warehouse.table(name)
        replace_with(table, ids(table, 1))
    ids(warehouse.table(Name("a", "s", "never_committed")), 1)

    assert ["a.s.t 2", "b.s.t"] == [table.name for table in warehouse.tables()]


def test_failures_survive_pickling():
    error = StoreUnreadable("could not read `x`: why")

    assert str(error) == str(pickle.loads(pickle.dumps(error)))
