"""`rocky discover` where files tell their columns, and what `rocky compile` says of what was kept."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_schemas import check
from tests.run.runs import write

CONFIG = '[compile]\nundeclared = "unknown"\n\n[adapter]\n\n[pipeline.p]\nmodels = "models/**"\n'
SOURCES = "".join(
    f'[[source]]\nname = "{schema}.sizes"\nformat = "parquet"\npath = "{schema}"\n\n'
    for schema in ("raw", "crm")
)


@pytest.fixture
def shop(tmp_path, rocky):
    write(
        tmp_path,
        {
            "rocky.toml": CONFIG,
            "sources/raw.toml": SOURCES,
            "models/m.sql": "SELECT id FROM raw.sizes",
        },
    )
    for name in ("raw", "crm"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"id": [1]}), tmp_path / name / "a.parquet")
    return tmp_path


def test_each_source_is_named_as_it_is_done(rocky, shop):
    answer = rocky("discover", "-o", "table")

    assert 0 == answer.code
    assert "1/2  raw.sizes  untyped (files)\n2/2  crm.sizes  untyped (files)\n" == answer.err
    assert "2 sources looked at, 2 to declare: `rocky discover --write` does it\n" in answer.out


def test_what_is_kept_is_said_by_a_compile_with_its_age(rocky, shop):
    kept = rocky("discover", "--schema", "r*", "--cache", "-o", "table")
    fresh = rocky("compile", "-o", "table")
    path = shop / ".rocky/schemas/raw.sizes.json"
    document = json.loads(path.read_text())
    then = datetime.now(UTC) - timedelta(days=8)
    path.write_text(json.dumps({**document, "discovered_at": then.isoformat()}))
    old = rocky("compile", "-o", "table")

    assert "1 source looked at, 1 schema kept in `.rocky/schemas`" in kept.out
    assert "1 table with columns as they were discovered just now: `raw.sizes`\n" in fresh.out
    assert (
        "1 table with columns as they were discovered 8 days ago: `raw.sizes`;"
        " `rocky discover --cache` looks again\n"
    ) in old.out


def test_a_kept_file_that_is_not_believed_is_said(rocky, shop):
    rocky("discover", "--pipeline", "p", "--cache")
    (shop / ".rocky/schemas/raw.sizes.json").write_text("{}")

    assert (
        "`.rocky/schemas/raw.sizes.json` is not used: it is not a schema that this version wrote\n"
    ) in rocky("compile", "-o", "table").out


def test_json_says_who_told(rocky, shop):
    answer = rocky("discover", "-o", "json", "--cache")

    assert [] == check(answer.json, "discover")
    assert ["files", "files"] == [each["asked"] for each in answer.json["sources"]]
    assert 2 == len(answer.json["cached"])
