"""Pipelines at the level `write`: what they copy, load, follow and put aside is masked in files."""

import hmac
import json
import os

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocky

pytestmark = pytest.mark.spark

KEY = "key-of-hashes-9c41d2aa07"
EMAILS = ("anna.smith@example.com", "bert.jones@example.com", "cara.brown@example.com")
CONFIG = """
[pipeline.bronze]
type = "replication"
timestamp_column = "synced"
[pipeline.bronze.source]
path = "lake"
[pipeline.bronze.target]
schema_template = "bronze"
[pipeline.bronze.classification]
"*.*email" = "pii"

[pipeline.files]
type = "load"
source_dir = "in"
[pipeline.files.target]
catalog = "spark_catalog"
schema = "files"
[pipeline.files.classification]
"contacts.email" = "pii"

[pipeline.kept]
type = "snapshot"
unique_key = ["email"]
updated_at = "synced"
source = { catalog = "spark_catalog", schema = "bronze", table = "people" }
target = { catalog = "spark_catalog", schema = "bronze", table = "people_history" }

[pipeline.checked]
type = "quality"
tables = [ { catalog = "spark_catalog", schema = "bronze", table = "people" } ]
[pipeline.checked.checks]
enabled = true
fail_on_error = false
assertions = [ { type = "expression", expression = "id < 2" } ]
quarantine = { enabled = true }

[mask]
pii = "hash"

[governance]
hash_key = "${MASK_KEY}"
"""
MODEL = "SELECT p.id, p.email FROM bronze.people p JOIN files.contacts c ON c.email = p.email"


def hashed(text):
    return hmac.new(KEY.encode(), text.encode(), "sha256").hexdigest()


def put_people(root, name, rows):
    folder = root / "lake" / "crm" / "people"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / name)


def person(number, **more):
    moment = pa.scalar(1_760_000_000_000_000 + number, pa.timestamp("us", "UTC")).as_py()
    return {"id": number, "email": EMAILS[number], "synced": moment, **more}


def rows_now(root, schema, table):
    folder = root / "warehouse" / "spark_catalog" / schema / table
    return deltalake.DeltaTable(folder).to_pyarrow_table().to_pylist()


def find_clear(root):
    """The files of a project that hold a clear value or the key, but for what it reads."""
    found = []
    for each in sorted(root.rglob("*")):
        if not each.is_file() or each.relative_to(root).parts[0] in ("lake", "in"):
            continue
        data = each.read_bytes()
        if each.suffix == ".parquet" and data[:4] == b"PAR1":
            file = pq.ParquetFile(each)
            data += str(file.read().to_pylist()).encode() + str(file.metadata.to_dict()).encode()
        shown = [text for text in (*EMAILS, "anna.smith", KEY) if text.encode() in data]
        found += [f"{each.relative_to(root)}: {shown}"] if shown else []
    return found


def test_no_file_of_what_pipelines_write_holds_a_clear_value_or_the_key(tmp_path, spark):
    (tmp_path / "models").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "rocky.toml").write_text(CONFIG)
    (tmp_path / "models" / "known.sql").write_text(MODEL)
    (tmp_path / "in" / "contacts.csv").write_text(f"email\n{EMAILS[0]}\n{EMAILS[2]}\n")
    put_people(tmp_path, "a.parquet", [person(0), person(1)])
    env = {**os.environ, "MASK_KEY": KEY}
    work = rocky.open(tmp_path, env=env, spark=spark, progress=False)

    first = work.run()
    put_people(tmp_path, "b.parquet", [person(2, work_email=EMAILS[2])])
    second = rocky.open(tmp_path, env=env, spark=spark, progress=False).run()

    assert (first.succeeded, second.succeeded) == (True, True), (first, second)
    assert [] == find_clear(tmp_path)
    copied = {each["id"]: each for each in rows_now(tmp_path, "bronze", "people")}
    assert [hashed(each) for each in EMAILS] == [copied[at]["email"] for at in range(3)]
    assert [None, None, hashed(EMAILS[2])] == [copied[at]["work_email"] for at in range(3)]
    # A hash of a hash would meet nothing.
    assert {hashed(EMAILS[0]), hashed(EMAILS[2])} == {
        each["email"] for each in rows_now(tmp_path, "default", "known")
    }
    for table in ("people_history", "people__valid", "people__quarantine"):
        found = {each["email"] for each in rows_now(tmp_path, "bronze", table)}
        assert found, table
        assert found <= {hashed(each) for each in EMAILS}, table
    log = tmp_path / "warehouse/spark_catalog/bronze/people/_delta_log"
    said = [
        json.loads(x) for each in sorted(log.glob("*.json")) for x in each.read_text().splitlines()
    ]
    fields = json.loads([x["metaData"] for x in said if "metaData" in x][-1]["schemaString"])[
        "fields"
    ]
    tags = {each["name"]: each["metadata"].get("rocky.classification") for each in fields}
    assert {"id": None, "email": "pii", "synced": None, "work_email": "pii"} == tags
    replayed = work.replay(execute=True)
    assert "diverged" not in {str(each.verdict) for each in replayed.models}, replayed
