"""A source is known by what it holds, and where it lies is shown only as it was written."""

import shutil
import sqlite3
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from rocky.errors import SourceUnreadable
from rocky.project import load_project
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import Substituted
from rocky.run.checksums import Checksums
from rocky.run.engine.sources import Sources, declaration_hash
from rocky.run.prepare.pins import Identity, identify_source
from rocky.run.prepare.resources import RunParameters
from rocky.spark.source_files import pin_local_files
from tests.run.runs import Shop, write

SECRET = "hunter2"


def declared(root: Path, path: str, kind: str = "csv", **env: str) -> SourceTable:
    columns = 'columns = [{ name = "id", type = "bigint" }]'
    text = f'[[source]]\nname = "raw.t"\nformat = "{kind}"\npath = "{path}"\n{columns}\n'
    write(root, {"rocky.toml": "", "sources/raw.toml": text})
    return load_project(root, env=env).sources["raw.t"]


def sources_of(root: Path) -> Sources:
    return Sources(root, {}, Checksums(root))


def identity_of(source: SourceTable, root: Path) -> Identity | None:
    sources = sources_of(root)
    pin = sources.look(source)
    assert pin is not None
    files = sources.files_of(source, pin)
    return identify_source(source.name, pin, files, declaration_hash(source))


def test_a_delta_table_that_was_put_back_and_written_on_is_another(tmp_path):
    source = declared(tmp_path, "lake", "delta")
    lake = tmp_path / "lake"
    deltalake.write_deltalake(lake, pa.table({"id": [1]}))
    shutil.copytree(lake, tmp_path / "copy")
    deltalake.write_deltalake(lake, pa.table({"id": [2]}), mode="append")
    before = identity_of(source, tmp_path)
    shutil.rmtree(lake)
    shutil.copytree(tmp_path / "copy", lake)
    deltalake.write_deltalake(lake, pa.table({"id": [3]}), mode="append")

    after = identity_of(source, tmp_path)

    assert before.value.split()[:3] == after.value.split()[:3]
    assert before != after


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("${DIR}/a.csv", ["${DIR}/a.csv"]),
        ("${DIR}", ["${DIR}/a.csv", "${DIR}/b.csv"]),
        ("data/a.csv", ["data/a.csv"]),
    ],
)
def test_files_are_recorded_as_their_place_was_written(tmp_path, path, shown):
    write(tmp_path, {f"{SECRET}/a.csv": "1", f"{SECRET}/b.csv": "2", "data/a.csv": "1"})
    source = declared(tmp_path, path, DIR=SECRET)
    sources = sources_of(tmp_path)

    found = sources.files_of(source, sources.look(source))

    assert shown == [each.path for each in found]


@pytest.mark.parametrize("path", ["${DIR}/*.csv", "hun${END}*/a.csv"])
def test_files_that_a_secret_pattern_finds_are_told_apart_without_their_names(tmp_path, path):
    write(tmp_path, {f"{SECRET}/a.csv": "1", f"{SECRET}-2/a.csv": "2"})
    source = declared(tmp_path, path, DIR=f"{SECRET}*", END="ter2")
    sources = sources_of(tmp_path)

    found = [each.path for each in sources.files_of(source, sources.look(source))]

    assert 2 == len(set(found))
    assert SECRET not in str(found)


def test_a_source_whose_place_is_a_secret_leaves_it_in_no_record(tmp_path):
    orders = (
        '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "${DIR}/orders.csv"\n'
        'columns = [ { name = "id", type = "bigint" }, { name = "country", type = "string" } ]\n'
    )
    shop = Shop(tmp_path, {"sources/raw.toml": orders})
    shop.env = {"DIR": SECRET}
    shutil.copytree(tmp_path / "data", tmp_path / SECRET)
    shop.run("stg_orders")

    def damaged(_: str) -> None:
        raise PySparkException(f"cannot read `file:{tmp_path}/{SECRET}/orders.csv`")

    rebuild = RunParameters(parallel=1, rebuild=True)
    shop.run("stg_orders", before_write=damaged, options=rebuild)
    shutil.rmtree(tmp_path / SECRET)
    shop.run("stg_orders", options=rebuild)

    said = []
    with sqlite3.connect(tmp_path / ".rocky-state.db") as state:
        tables = [name for (name,) in state.execute("SELECT name FROM sqlite_master")]
        for table in ("model_executions", "input_provenance", "input_index", "run_history"):
            assert table in tables
            said += state.execute(f"SELECT key, value FROM {table}").fetchall()
    state.close()
    assert "${DIR}/orders.csv" in str(said)
    assert SECRET not in str(said)


@pytest.mark.parametrize("kind", ["csv", "delta"])
def test_an_error_names_a_place_as_it_was_written(tmp_path, kind):
    source = declared(tmp_path, "${DIR}/t", kind, DIR=SECRET)

    with pytest.raises(SourceUnreadable, match=r"\$\{DIR\}/t") as failure:
        sources_of(tmp_path).look(source)
    assert isinstance(source.path, Substituted)
    assert SECRET not in str(failure.value)


def test_a_source_that_changed_in_the_moment_it_was_pinned_is_noticed(tmp_path, monkeypatch):
    write(tmp_path, {"data/a.csv": "1"})
    source, sources = declared(tmp_path, "data/a.csv"), sources_of(tmp_path)
    file = tmp_path / "data/a.csv"
    # A file system with coarse times: both writes have the same.
    monkeypatch.setattr("rocky.run.engine.sources.state_of", lambda _: (1, stamp, stamp, 1))
    stamp = file.stat().st_mtime_ns
    sources.look(source)
    assert sources.is_unchanged(source)

    file.write_text("2")

    assert not sources.is_unchanged(source)


def test_files_behind_a_link_to_a_folder_are_of_the_source(tmp_path):
    write(tmp_path, {"data/a.csv": "1", "elsewhere/b.csv": "2", "elsewhere/_hidden.csv": "3"})
    (tmp_path / "data/linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/back").symlink_to(tmp_path / "data")

    found = pin_local_files(declared(tmp_path, "data"), tmp_path)

    names = [Path(file.path).relative_to(tmp_path).as_posix() for file in found.files]
    assert ["data/a.csv", "data/linked/b.csv"] == names
