"""The columns of tables on disk: read from the newest commit, and only when a commit is new."""

import json
from pathlib import Path

import pytest

from rocky.errors import StoreUnreadable
from rocky.pipelines.table_schemas import open_schemas
from rocky.store.delta.recorded_schema import read_recorded_schema


def commit(folder: Path, version: int, columns: str = "", **info: object) -> None:
    """A commit as ours are: what it is, then the columns, then files."""
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    actions: list[object] = [{"commitInfo": {"timestamp": 1000 + version, **info}}]
    if columns:
        fields = [
            {"name": name, "type": "long", "nullable": True, "metadata": {}} for name in columns
        ]
        actions.append(
            {
                "metaData": {
                    "id": "t",
                    "schemaString": json.dumps({"type": "struct", "fields": fields}),
                }
            }
        )
    actions.append({"add": {"path": "a.parquet"}})
    text = "".join(f"{json.dumps(each)}\n" for each in actions)
    (log / f"{version:020}.json").write_text(text)


def look(root: Path, folder: Path) -> tuple[str, str | None, int] | None:
    with open_schemas(root, remember=True) as schemas:
        found = schemas.of(folder)
    if found is None:
        return None
    return "".join(each.name for each in found.columns), found.pipeline, found.at_ms


def test_the_columns_are_those_of_the_newest_commit_that_names_any(tmp_path):
    commit(tmp_path / "t", 0, "ab", pipeline="bronze")
    commit(tmp_path / "t", 1, "abc", pipeline="silver")
    commit(tmp_path / "t", 2)

    assert ("abc", "silver", 1002) == look(tmp_path, tmp_path / "t")


def test_a_new_commit_is_seen_at_once(tmp_path):
    commit(tmp_path / "t", 0, "a")
    first = look(tmp_path, tmp_path / "t")
    commit(tmp_path / "t", 1, "ab")

    assert (("a", None, 1000), ("ab", None, 1001)) == (first, look(tmp_path, tmp_path / "t"))


def test_no_table_no_log_and_an_empty_log_have_no_columns(tmp_path):
    (tmp_path / "empty/_delta_log").mkdir(parents=True)

    assert [None, None] == [look(tmp_path, tmp_path / name) for name in ("none", "empty")]


def test_a_log_that_is_none_is_unreadable_and_its_columns_are_unknown(tmp_path):
    commit(tmp_path / "t", 0, "a")
    (tmp_path / "t/_delta_log" / f"{1:020}.json").write_text('{"commitInfo": {')

    with pytest.raises(StoreUnreadable, match="is not a commit of a Delta table"):
        read_recorded_schema(tmp_path / "t")
    assert look(tmp_path, tmp_path / "t") is None


def test_a_log_that_no_commit_has_changed_is_not_opened_again(tmp_path, monkeypatch):
    commit(tmp_path / "t", 0, "a")
    with monkeypatch.context() as clock:
        # What was saved says when, by the clock of the file system.
        clock.setattr("rocky.project.cache._GRAIN_ELSEWHERE", -(10**12))
        first = look(tmp_path, tmp_path / "t")
        (tmp_path / "t/_delta_log" / f"{0:020}.json").write_text("no commit any more")

        assert first == look(tmp_path, tmp_path / "t") == ("a", None, 1000)
    assert look(tmp_path, tmp_path / "t") is None
