"""Inputs of recorded builds, looked for again: what has changed or is gone is named."""

import json
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from blake3 import blake3

from rocky.canonical import canonical_json, text_hash
from rocky.language.datatypes.text import field_to_json
from rocky.language.datatypes.types import BIGINT, StructField
from rocky.ledger.provenance import ReadRecord, SourceFile
from rocky.replay.candidates import InputFinder
from rocky.replay.record import NotReplayable
from rocky.store.warehouse import open_warehouse


@pytest.fixture
def finder(tmp_path):
    return InputFinder(open_warehouse("warehouse", base=tmp_path), tmp_path, {}, tuple)


def declared(path: str, kind: str = "csv") -> str:
    column = field_to_json(StructField("id", BIGINT, True))
    document = {
        "columns": [column],
        "format": kind,
        "name": "raw.t",
        "options": {"sep": ";"} if kind == "csv" else {},
        "path": path,
    }
    return json.dumps(document)


def file_at(root: Path, name: str, text: str) -> SourceFile:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return SourceFile(name, len(text), blake3(text.encode()).hexdigest())


def source(declaration: str | None, *files: SourceFile, **facts: str) -> ReadRecord:
    return ReadRecord("v", "source", "raw.t", declaration=declaration, files=files, **facts)


def test_a_source_is_read_as_it_was_declared_then(finder, tmp_path):
    found = finder.find(source(declared("data"), file_at(tmp_path, "data/day=1/a.csv", "1\n")))

    assert found.source is not None
    assert found.pin is not None
    assert (("id", "bigint"),) == tuple((f.name, str(f.type)) for f in found.source.columns)
    assert {"sep": ";"} == found.source.options
    assert [str(tmp_path / "data/day=1/a.csv")] == [path for path, _, _ in found.pin.files]
    assert str(tmp_path / "data") == found.pin.base


def test_files_that_came_later_are_not_read(finder, tmp_path):
    first = file_at(tmp_path, "data/a.csv", "1\n")
    file_at(tmp_path, "data/b.csv", "2\n")

    found = finder.find(source(declared("data"), first))

    assert found.pin is not None
    assert 1 == len(found.pin.files)


def test_a_file_without_a_hash_is_known_by_its_size(finder, tmp_path):
    file_at(tmp_path, "data/a.csv", "1\n")

    finder.find(source(declared("data"), SourceFile("data/a.csv", 2)))
    with pytest.raises(NotReplayable, match=r"`data/a.csv` was 3 bytes then and 2 bytes now"):
        finder.find(source(declared("data"), SourceFile("data/a.csv", 3)))


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (source(None), "external source `raw.t` was not pinned"),
        (
            source(None, SourceFile("${DIR}/a.csv", 1)),
            "source `raw.t` came from a variable, which may be a secret",
        ),
        (source(declared("data")), "files of source `raw.t` are not recorded"),
        (source("{}", SourceFile("a", 1)), "declaration of source `raw.t` is damaged"),
        (ReadRecord("v", "table", "t"), "which version of `t` was read is not recorded"),
        (ReadRecord("v", "table", "t", "c.s.t", 0, "0"), "there is no table `c.s.t`"),
        (ReadRecord("v", "table", "t", "t", 0, "0"), "`t` is not the name of a table"),
        (ReadRecord("v", "inline", "q"), "the query of `q` was not recorded"),
    ],
)
def test_what_is_not_recorded_or_not_there_is_named(finder, read, said):
    with pytest.raises(NotReplayable, match=said):
        finder.find(read)


@pytest.fixture
def lake(tmp_path):
    """A Delta table of somebody else, at two versions."""
    place = tmp_path / "lake"
    for value in (1, 2):
        deltalake.write_deltalake(place, pa.table({"id": [value]}), mode="overwrite")
    table = deltalake.DeltaTable(place, version=0)
    (uri,) = table.file_uris()
    file = Path(uri)
    files = canonical_json([[file.name, file.stat().st_size]])
    version = f"0 of {table.metadata().id} {text_hash(files)[:16]}"
    return place, source(declared("lake", "delta"), source_version=version), table


def test_a_delta_source_is_read_at_its_version(finder, lake):
    _, read, _ = lake

    found = finder.find(read)

    assert found.pin is not None
    assert read.source_version == found.pin.version


def test_a_delta_source_whose_files_are_gone_is_named(finder, lake):
    place, read, table = lake
    (path,) = table.file_uris()
    (place / Path(path).name).unlink()

    with pytest.raises(NotReplayable, match=r"source `raw.t` has lost the file"):
        finder.find(read)


def test_another_table_in_the_place_of_a_delta_source_is_told(finder, lake):
    _, read, _ = lake
    other = source(read.declaration, source_version="0 of somebody-else")

    with pytest.raises(NotReplayable, match=r"another table took the place"):
        finder.find(other)


def test_a_delta_source_whose_version_names_other_files_is_told(finder, lake):
    _, read, _ = lake
    put_back = source(read.declaration, source_version=f"{read.source_version[:-16]}{'0' * 16}")

    with pytest.raises(NotReplayable, match=r"another table took the place"):
        finder.find(put_back)
