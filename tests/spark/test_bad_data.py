"""Data and disks that go wrong: a clear error that names the model, and the old version intact."""

import subprocess

import deltalake
import pyarrow as pa
import pytest

from rocky.errors import StoreUnreadable
from tests.spark.projects import build, errors_of, table_folder, write_files, write_rows
from tests.table_files import data_files

pytestmark = pytest.mark.spark

SOURCE = """\
[[source]]
name = "raw.people"
format = "parquet"
path = "data/people.parquet"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "age", type = "int" },
]
"""
SCHEMA = pa.schema([("id", pa.int64()), ("age", pa.int32())])


@pytest.fixture
def people(tmp_path, spark):
    """A project that was built once, with good data."""
    root = write_files(
        tmp_path,
        {
            "sources/raw.toml": SOURCE,
            "models/stg_people.sql": "SELECT id, age FROM raw.people\n",
            "models/ages.sql": "SELECT id, CAST(age + 2147483000 AS int) AS far FROM stg_people\n",
        },
    )
    write_rows(root / "data/people.parquet", SCHEMA, [{"id": 1, "age": 30}, {"id": 2, "age": None}])
    assert 0 == build(root, spark).exit_code
    return root


def ids(root):
    table = deltalake.DeltaTable(str(table_folder(root, "stg_people")))
    return sorted(table.to_pyarrow_table()["id"].to_pylist())


def test_a_null_where_none_may_be_is_refused_and_named(people, spark):
    rows = [{"id": None, "age": 1}, {"id": 3, "age": 2}]
    write_rows(people / "data/people.parquet", SCHEMA, rows)

    report = build(people, spark)

    error = errors_of(report)["stg_people"]
    assert error.startswith("models/stg_people.sql:1:8: `id` of ")
    (finding,) = (each.finding for each in report.outcomes if each.finding is not None)
    declared = "`raw.people.id` is declared `nullable = false` at sources/raw.toml:6:12"
    assert (declared,) == finding.notes
    assert [1, 2] == ids(people)
    assert not list(table_folder(people, "stg_people").glob("_staging/*"))


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT\n  p.*, 1 AS one\nFROM raw.people AS p\n", "models/star.sql:2:3: "),
        ("WITH p AS (SELECT * FROM raw.people)\nSELECT * FROM p\n", "models/star.sql: "),
        ("SELECT * FROM raw.people UNION ALL SELECT * FROM raw.people\n", "models/star.sql: "),
    ],
)
def test_a_null_that_comes_through_the_only_star_is_told_at_it(people, spark, sql, place):
    (people / "models/star.sql").write_text(sql)
    write_rows(people / "data/people.parquet", SCHEMA, [{"id": None, "age": 1}])

    assert errors_of(build(people, spark))["star"].startswith(f"{place}`id` of ")


def test_an_overflow_under_ansi_fails_the_model_with_its_condition(people, spark):
    write_rows(people / "data/people.parquet", SCHEMA, [{"id": 9, "age": 2_000_000}])

    report = build(people, spark)

    assert {"ages"} == set(errors_of(report))
    assert "OVERFLOW" in errors_of(report)["ages"]
    assert [9] == ids(people)


def test_a_corrupt_upstream_file_is_named(people, spark):
    (file,) = data_files(table_folder(people, "stg_people"))
    file.write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")

    report = build(people, spark, "ages", rebuild=True)

    assert file.name in errors_of(report)["ages"]


def test_a_missing_upstream_file_is_named(people, spark):
    (file,) = data_files(table_folder(people, "stg_people"))
    file.unlink()

    report = build(people, spark, "ages", rebuild=True)

    assert file.name in errors_of(report)["ages"]


def test_a_missing_source_file_names_the_source(people, spark):
    (people / "data/people.parquet").unlink()

    report = build(people, spark)

    assert "raw.people" in errors_of(report)["stg_people"]
    assert [1, 2] == ids(people)


def test_a_warehouse_that_cannot_be_written_is_named(tmp_path, spark):
    root = write_files(tmp_path, {"models/numbers.sql": "SELECT 1 AS n\n"})
    (root / "warehouse").write_text("a file where the folder should be")

    with pytest.raises(StoreUnreadable, match=r"warehouse.*a file lies where a folder should be"):
        build(root, spark)


def test_spaces_and_letters_of_all_kinds_are_fine_in_paths(tmp_path, spark):
    root = write_files(
        tmp_path / "ein Ordner mit ÄÖÜ [&] {100%} #1",
        {
            "sources/raw.toml": SOURCE.replace("people.parquet", "Leute [neu].parquet"),
            "models/leute.sql": "SELECT id FROM raw.people\n",
            "seeds/namen.csv": "id,name\n1,Åsa\n",
            "models/namen_leser.sql": "SELECT id, name FROM namen\n",
            "models/zahlen.sql": "SELECT 1 AS `größe`, 'a=b' AS art\n",
            "models/zahlen.toml": '[format_options]\npartition_by = ["art"]\n',
            "models/leser.sql": "SELECT `größe` FROM zahlen\n",
        },
    )

    write_rows(root / "data/Leute [neu].parquet", SCHEMA, [{"id": 1, "age": 30}])

    report = build(root, spark)

    assert {} == errors_of(report)
    table = deltalake.DeltaTable(str(table_folder(root, "zahlen")))
    assert [{"größe": 1, "art": "a=b"}] == table.to_pyarrow_table().to_pylist()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a megabyte, where the machine lets us make one."""
    folder = tmp_path / "warehouse"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("only root may mount a small disk")
    yield tmp_path
    # Lazily: Spark may still hold a file open there.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_fails_the_model_and_leaves_the_old_version(small_disk, spark):
    root = write_files(small_disk, {"models/noise.sql": "SELECT id, 'a' AS noise FROM range(10)\n"})
    assert 0 == build(root, spark).exit_code
    noise = "SELECT id, sha2(cast(id AS string), 512) AS noise FROM range(200000)\n"
    (root / "models/noise.sql").write_text(noise)

    report = build(root, spark)

    assert 1 == report.exit_code
    assert "No space left" in errors_of(report)["noise"]
    table = deltalake.DeltaTable(str(table_folder(root, "noise")))
    assert 10 == table.to_pyarrow_table().num_rows


CSV = """\
[[source]]
name = "raw.visits"
format = "csv"
path = "data/visits.csv"
columns = [
  { name = "id", type = "bigint" },
  { name = "who", type = "string" },
  { name = "age", type = "int" },
]
"""


def test_two_rows_of_one_key_and_a_cell_that_is_no_value_are_told_at_their_lines(tmp_path, spark):
    root = write_files(
        tmp_path,
        {
            "sources/raw.toml": CSV,
            "data/visits.csv": 'id,who,age\n1,"a, b",30\n1,c,31\n',
            "models/visits.sql": "SELECT id, who, age FROM raw.visits\n",
            "models/visits.toml": '[strategy]\ntype = "merge"\nunique_key = ["id"]\n',
        },
    )

    twice = errors_of(build(root, spark))["visits"]
    assert twice.startswith("models/visits.toml:3:14: model `visits` gives 2 rows for one unique")
    assert "(id = 1)" in twice

    secret = CSV.replace('"bigint" }', '"bigint", classification = "pii" }')
    (root / "sources/raw.toml").write_text(secret)
    hidden = build(root, spark)
    (finding,) = (each.finding for each in hidden.outcomes if each.finding is not None)
    assert ("the value is not shown: `raw.visits.id` is classified",) == finding.notes
    assert "id = 1" not in errors_of(hidden)["visits"]

    (root / "sources/raw.toml").write_text(CSV)
    (root / "data/visits.csv").write_text('id,who,age\n1,"a, b",30\n2,c,3x\n')
    unfit = errors_of(build(root, spark))["visits"]
    assert unfit.startswith("sources/raw.toml:4:8: source `raw.visits` cannot be read")
    assert "data/visits.csv:3:5 is not a value of column `age`, which is declared `int`" in unfit
