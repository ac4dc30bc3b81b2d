"""Lakes of folders and of objects: what is found, by what it is known, what is not."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocky.errors import SourceUnreadable
from rocky.pipelines.replication.lakes import FolderLake
from rocky.project.toml.variables import Substituted

OLD = time.time() - 3600


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path)


class Lake:
    """Files below `lake/five`, an hour old."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, name: str, text: str = "id\n1\n") -> Path:
        path = self.root / "lake/five" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (OLD, OLD))
        return path

    def discover(self, **settings):
        return FolderLake("lake", self.root, **settings).discover("five")

    def marker(self, **settings):
        (table,) = self.discover(**settings).tables
        return table.marker


def test_tables_are_folders_or_files_of_schemas_and_their_format_is_told(lake):
    for name in (
        "s1/a/part.csv",
        "s1/b/x=1/part.snappy.parquet",
        "s1/c/_delta_log/00000000000000000000.json",
        "s1/c/part.parquet",
        "s2/d.json",
        "s2/e.csv.gz",
        "s2/f.csv/part-0.csv",
        "s2/README.md",
        ".hidden/g/part.csv",
    ):
        lake.put(name)
    found = lake.discover()

    assert [
        ("s1", "a", "csv", "lake/five/s1/a"),
        ("s1", "b", "parquet", "lake/five/s1/b"),
        ("s1", "c", "delta", "lake/five/s1/c"),
        ("s2", "d", "json", "lake/five/s2/d.json"),
        ("s2", "e", "csv", "lake/five/s2/e.csv.gz"),
        ("s2", "f", "csv", "lake/five/s2/f.csv"),
    ] == [(each.schema, each.table, each.place.format, each.place.path) for each in found.tables]
    assert () == found.failed
    assert ("s1", "s2") == found.schemas


def test_without_a_catalog_schemas_lie_at_the_top(lake):
    lake.put("a/part.csv")
    (table,) = FolderLake("lake", lake.root).discover(None).tables

    assert ("five", "a", "lake/five/a") == (table.schema, table.table, table.place.path)


def test_a_marker_changes_with_every_change_of_a_file(lake):
    path = lake.put("s/a/part.csv")
    markers = [lake.marker()]
    lake.put("s/a/more.csv")
    markers.append(lake.marker())
    path.write_text("id\n12\n")
    os.utime(path, (OLD, OLD))
    markers.append(lake.marker())
    os.utime(path, (OLD, OLD + 1))
    markers.append(lake.marker())
    path.rename(path.with_name("other.csv"))
    markers.append(lake.marker())

    assert len(markers) == len(set(markers))
    assert None not in markers


def test_a_marker_stays_while_nothing_changes_or_only_hidden_files_do(lake):
    lake.put("s/a/part.csv")
    before = lake.marker()
    lake.put("s/a/_SUCCESS")
    lake.put("s/a/.part.csv.crc")

    assert before == lake.marker()


def test_the_marker_of_a_delta_table_is_its_last_commit(lake):
    lake.put("s/a/_delta_log/00000000000000000009.json", "x")
    before = lake.marker()
    lake.put("s/a/stray.parquet")
    lake.put("s/a/_delta_log/00000000000000000009.checkpoint.parquet")
    lake.put("s/a/_delta_log/_last_checkpoint")
    same = lake.marker()
    lake.put("s/a/_delta_log/00000000000000000010.json", "x")

    assert before == same
    assert before != lake.marker()


def test_a_delta_table_that_was_put_back_has_another_marker(lake):
    lake.put("s/a/_delta_log/00000000000000000000.json", "x")
    before = lake.marker()
    lake.put("s/a/_delta_log/00000000000000000000.json", "other")

    assert before != lake.marker()


def test_a_file_that_was_just_written_has_a_marker_too(lake):
    path = lake.put("s/a/part.csv")
    path.write_text("id\n2\n")

    assert lake.marker() is not None


def test_a_file_from_the_future_has_no_marker(lake):
    path = lake.put("s/a/part.csv")
    os.utime(path, (time.time() + 3600, time.time() + 3600))

    assert lake.marker() is None


@pytest.mark.parametrize(
    ("files", "settings", "message"),
    [
        (["s/a/x/"], {}, "`s.a` cannot be read: it holds no data"),
        (["s/a/_SUCCESS"], {}, "`s.a` cannot be read: it holds no data"),
        (
            ["s/a/x.csv", "s/a/x.json"],
            {},
            "`s.a` cannot be read: its format cannot be told from its files (`x.csv`, `x.json`);"
            " set `format` of"
            " the source",
        ),
        (
            ["s/a/part-0"],
            {},
            "`s.a` cannot be read: its format cannot be told from its files (`part-0`); set"
            " `format` of the source",
        ),
        (["s/a/_delta_log/"], {}, "`s.a` cannot be read: its `_delta_log` holds no commit"),
        (["s/a/x.csv"], {"format": "delta"}, "`s.a` cannot be read: it has no `_delta_log`"),
    ],
)
def test_what_cannot_be_read_as_a_table_fails_and_is_not_gone(lake, files, settings, message):
    lake.put("s/good/_delta_log/00000000000000000000.json")
    for name in files:
        if name.endswith("/"):
            (lake.root / "lake/five" / name).mkdir(parents=True)
        else:
            lake.put(name)
    found = lake.discover(**settings)

    assert ["good"] == [each.table for each in found.tables]
    assert [message] == [each.message for each in found.failed]


def test_a_format_that_is_set_needs_no_suffix(lake):
    lake.put("s/a/part-0")

    assert ["csv"] == [each.place.format for each in lake.discover(format="csv").tables]


def test_a_schema_that_cannot_be_listed_fails_and_the_others_do_not(lake, monkeypatch):
    lake.put("bad/a/part.csv")
    lake.put("good/a/part.csv")
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("bad"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    # As root nothing is forbidden, so the refusal has to be made.
    monkeypatch.setattr(os, "scandir", refuse)
    found = lake.discover()

    assert ["good"] == [each.schema for each in found.tables]
    assert [("bad", None, "schema `bad` cannot be listed: permission denied")] == [
        (each.schema, each.table, each.message) for each in found.failed
    ]


def test_a_lake_that_is_not_there_is_unreadable_and_not_empty(lake):
    with pytest.raises(
        SourceUnreadable, match=r"the lake at `lake/five` cannot be listed: no such"
    ):
        lake.discover()


def test_a_place_from_a_variable_is_shown_as_it_was_written(lake):
    lake.put("s/a/part.csv")
    path = Substituted(str(lake.root / "lake"), "${LAKE}")
    (table,) = FolderLake(path, lake.root).discover("five").tables

    assert "'${LAKE}/five/s/a'" == repr(table.place.path)
    assert (lake.root / "lake/five/s/a") == Path(str(table.place.path))


def test_a_link_that_leads_in_a_circle_is_followed_once(lake):
    lake.put("s/a/part.csv")
    (lake.root / "lake/five/s/a/loop").symlink_to(lake.root / "lake/five/s/a")

    assert ["a"] == [each.table for each in lake.discover().tables]


@pytest.mark.slow
def test_a_lake_is_listed_and_routed_without_loading_pyspark(lake):
    lake.put("src__acme/orders/part.csv")
    (lake.root / "rocky.toml").write_text(
        '[pipeline.b]\ntype = "replication"\nsource = { path = "lake", catalog = "five" }\n'
    )
    code = (
        "import sys\nfrom pathlib import Path\nfrom rocky.project import load_project\n"
        "from rocky.pipelines.replication.source import open_discovery\n"
        "from rocky.pipelines.replication.routes import route_tables\n"
        "root = Path(sys.argv[1])\npipeline = load_project(root, env={}).config.pipeline['b']\n"
        "found = open_discovery(pipeline, root, {}, lambda: 1 / 0).discover('five')\n"
        "print(len(route_tables(pipeline, found).tables), 'pyspark' in sys.modules)\n"
    )
    command = [sys.executable, "-c", code, str(lake.root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert "1 False\n" == done.stdout
