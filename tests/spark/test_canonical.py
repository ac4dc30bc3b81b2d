"""Canonical order: the bytes do not depend on cores, adaptive execution or shuffle settings."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from blake3 import blake3

import rocky
from rocky.spark.frame import fields_of
from rocky.spark.interface import Layout
from rocky.spark.writer import write_staged
from tests.spark.projects import (
    build,
    data_files,
    errors_of,
    table_folder,
    write_files,
    write_rows,
)

pytestmark = pytest.mark.spark

# Input splits stand for cores: they decide which rows meet in a task, and in which order.
VARIATIONS = (
    {"aqe": "true", "shuffles": "3", "splits": 1},
    {"aqe": "false", "shuffles": "3", "splits": 4},
    {"aqe": "true", "shuffles": "7", "splits": 5},
    {"aqe": "true", "shuffles": "7", "splits": 5},
)
QUERIES = {
    # The trap: Spark drops a repartition by the columns that were grouped by.
    "grouped": "SELECT k, count(*) AS n, max(s) AS s FROM rows GROUP BY k",
    "joined": "SELECT a.id, b.s, a.k FROM rows a JOIN rows b ON a.k = b.id",
    # Ties that Spark's own order does not break.
    "ties": (
        "SELECT k, IF(id % 2 = 0, double('-0.0'), double(k - k)) AS z,"
        " map(id % 2, 1, 7 + id % 3, 2) AS m, IF(id % 2 = 0, 'a', 'A') COLLATE UTF8_LCASE AS c,"
        " array(IF(id % 3 = 0, -0.0F, 0.0F)) AS f, parse_json(CAST(id % 5 AS STRING)) AS v,"
        " TIMESTAMP'2020-01-01 00:00:00' + make_dt_interval(0, 0, 0, (id % 3) / 1e6) AS t FROM rows"
    ),
}


def bytes_of(spark, folder: Path, query: str, layout: Layout, *, aqe, shuffles, splits) -> list:
    session = spark.newSession()
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    session.conf.set("spark.sql.adaptive.enabled", aqe)
    session.conf.set("spark.sql.shuffle.partitions", shuffles)
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    session.range(0, 600, 1, splits).selectExpr(
        "id", "id % 37 AS k", "CAST(hash(id) AS STRING) AS s"
    ).createOrReplaceTempView("rows")
    frame = session.sql(query)
    staged = write_staged(frame, f"file://{folder}", layout, fields_of(frame))
    found = sorted(folder.rglob("*.parquet"))
    return [staged.rows_hash, *sorted(blake3(path.read_bytes()).hexdigest() for path in found)]


@pytest.mark.sampled
@pytest.mark.parametrize("query", QUERIES)
def test_bytes_are_equal_whatever_spark_is_set_to(spark, tmp_path, query):
    layout = Layout(canonical=True, pieces=3)
    found = [
        bytes_of(spark, tmp_path / str(number), QUERIES[query], layout, **variation)
        for number, variation in enumerate(VARIATIONS)
    ]

    assert 4 == len(found[0])
    assert [found[0]] * len(VARIATIONS) == found


def test_bytes_of_partitioned_tables_are_equal_too(spark, tmp_path):
    query = "SELECT id, CAST(id % 3 AS STRING) AS p, s FROM rows"
    layout = Layout(("p",), canonical=True, pieces=2)
    found = [
        bytes_of(spark, tmp_path / str(number), query, layout, **variation)
        for number, variation in enumerate(VARIATIONS)
    ]

    assert 4 == len(found[0])
    assert [found[0]] * len(VARIATIONS) == found


def test_the_rows_hash_is_equal_without_canonical_order(spark, tmp_path):
    query = "SELECT id, k, s FROM rows ORDER BY s"
    found = [
        bytes_of(spark, tmp_path / str(number), query, Layout(), **variation)[0]
        for number, variation in enumerate(VARIATIONS)
    ]

    assert [found[0]] * len(VARIATIONS) == found


ROWS = pa.schema([("id", pa.int64()), ("k", pa.int64()), ("s", pa.string())])
RAW = """\
[[source]]
name = "raw.rows"
format = "parquet"
path = "data"
columns = [
  { name = "id", type = "bigint" },
  { name = "k", type = "bigint" },
  { name = "s", type = "string" },
]
"""
STAYING = {
    "sources/raw.toml": RAW,
    "models/kept.sql": "SELECT id, k, upper(s) AS s FROM raw.rows WHERE k <> 5",
    "models/kept.toml": "[store]\ncanonical = true\n",
    "models/again.sql": "WITH w AS (SELECT * FROM kept) SELECT id * 2 AS id, s FROM w",
    "models/again.toml": "[store]\ncanonical = true\n",
    "seeds/names.csv": "k,name\n" + "".join(f"{k % 30},name {k}\n" for k in range(45)),
    "models/named.sql": (
        "SELECT r.id, n.name, m.name AS other FROM raw.rows r LEFT JOIN names n ON r.k = n.k"
        " JOIN (SELECT k, name FROM names WHERE k > 3) m ON r.k + 1 = m.k"
    ),
    "models/named.toml": "[store]\ncanonical = true\n",
    # Spark forgets a hint below a name of `WITH`.
    "models/imported.sql": (
        "WITH `ro ws` AS (SELECT * FROM raw.rows), names AS (SELECT * FROM names),"
        " high AS (SELECT k, name AS other FROM names WHERE k > 3), joined AS ("
        " SELECT r.id, r.k, names.name FROM `ro ws` AS r LEFT JOIN Names ON r.k = names.k),"
        " final AS (SELECT j.id, j.name, m.other FROM joined j"
        " JOIN (SELECT * FROM high) m ON j.k + 1 = m.k) SELECT * FROM final"
    ),
    "models/imported.toml": "[store]\ncanonical = true\n",
    "models/kinds.sql": (
        "WITH d AS (SELECT * FROM names) SELECT r.id FROM raw.rows r LEFT SEMI JOIN d ON r.k = d.k"
        " LEFT ANTI JOIN (SELECT k FROM d WHERE k < 7) AS e USING (k)"
    ),
    "models/kinds.toml": "[store]\ncanonical = true\n",
    # Rows that windows hand over are handed over once.
    "models/ranked.sql": (
        "WITH r AS (SELECT * FROM raw.rows), n AS (SELECT id, k, s,"
        " row_number() OVER (PARTITION BY s, k ORDER BY id) AS place,"
        " sum(id) OVER (PARTITION BY s, k) AS total FROM r WHERE id > 7) SELECT * FROM n"
    ),
    "models/ranked.toml": "[store]\ncanonical = true\n",
    "models/ranked_again.sql": (
        "SELECT s, id, max(id) OVER (PARTITION BY kept.k) AS last FROM kept WHERE k <> 3"
    ),
    "models/ranked_again.toml": "[store]\ncanonical = true\n",
    # So are those of large tables that are joined by one column.
    "models/met.sql": (
        "SELECT r.id, r.k, a.s AS double_s, n.name FROM raw.rows r LEFT JOIN again a"
        " ON a.id = r.id LEFT JOIN names n ON r.k = n.k AND n.k > 2 WHERE r.k <> 4"
    ),
    "models/met.toml": "[store]\ncanonical = true\n",
    "models/met_under_names.sql": (
        "WITH r AS (SELECT id AS number, s AS t FROM raw.rows WHERE id % 3 = 0),"
        " kept AS (SELECT * FROM kept), f AS (SELECT kept.id AS i, kept.s, r.number FROM kept"
        " JOIN r ON r.number = kept.id JOIN again a ON kept.id = a.id) SELECT * FROM f"
    ),
    "models/met_under_names.toml": "[store]\ncanonical = true\n",
    "models/met_or_not.sql": (
        "SELECT * FROM raw.rows LEFT SEMI JOIN kept ON rows.s = lower(kept.s) AND rows.k = kept.k"
    ),
    "models/met_or_not.toml": "[store]\ncanonical = true\n",
    "models/kept_or_not.sql": (
        "SELECT * FROM raw.rows LEFT ANTI JOIN kept USING (id) LEFT SEMI JOIN names USING (k)"
    ),
    "models/kept_or_not.toml": "[store]\ncanonical = true\n",
    # Spark makes these joins below what is handed over, and sends what is little by then.
    "models/not_gone.sql": (
        "WITH gone AS (SELECT id FROM kept WHERE s = 'TEXT 3') SELECT rows.id, rows.s"
        " FROM raw.rows LEFT ANTI JOIN gone ON rows.id = gone.id"
    ),
    "models/not_gone.toml": "[store]\ncanonical = true\n",
    "models/chosen.sql": "SELECT rows.id FROM raw.rows LEFT SEMI JOIN again ON rows.id = again.id",
    "models/chosen.toml": "[store]\ncanonical = true\n",
    # What the result calls as the key cannot be sorted.
    "models/mapped.sql": (
        "SELECT map(1, z.s) AS id, z.k FROM (SELECT r.id, r.k, a.s FROM raw.rows AS r"
        " JOIN again AS a ON r.id = a.id) AS z"
    ),
    "models/mapped.toml": "[store]\ncanonical = true\n",
    "models/one_met.sql": (
        "SELECT r.id, kept.id AS other FROM raw.rows r JOIN kept ON r.k = kept.k WHERE r.k = 7"
    ),
    "models/one_met.toml": "[store]\ncanonical = true\n",
    # What a name groups is not looked up: Spark may spread it once more.
    "models/grouped.sql": (
        "WITH n AS (SELECT k, max(name) AS name FROM names GROUP BY k)"
        " SELECT r.id, n.name FROM raw.rows r JOIN n ON r.k = n.k"
    ),
    "models/grouped.toml": "[store]\ncanonical = true\n",
}


BY_KEY = {"ranked", "ranked_again", "met", "met_under_names", "mapped"}
SETTINGS = (
    {
        "files.maxPartitionBytes": "4k",
        "adaptive.enabled": "true",
        "adaptive.advisoryPartitionSizeInBytes": "1k",
        "autoBroadcastJoinThreshold": "10m",
        "adaptive.forceOptimizeSkewedJoin": "true",
        "adaptive.skewJoin.skewedPartitionFactor": "1",
        "adaptive.skewJoin.skewedPartitionThresholdInBytes": "1k",
        "shuffle.partitions": "3",
    },
    {
        "files.maxPartitionBytes": "128m",
        "adaptive.enabled": "false",
        "autoBroadcastJoinThreshold": "-1",
        "shuffle.partitions": "7",
        "optimizer.disableHints": "true",
        "requireAllClusterKeysForDistribution": "true",
    },
    {
        "adaptive.enabled": "true",
        "adaptive.maxShuffledHashJoinLocalMapThreshold": "1g",
        "autoBroadcastJoinThreshold": "-1",
        "adaptive.autoBroadcastJoinThreshold": "1g",
        "join.preferSortMergeJoin": "false",
        "requireAllClusterKeysForCoPartition": "false",
        "shuffle.partitions": "200",
    },
)


def session_with(spark, settings: dict[str, str]):
    session = spark.newSession()
    for name, value in settings.items():
        session.conf.set(f"spark.sql.{name}", value)
    return session


def recorded_layouts(root: Path) -> dict[str, dict]:
    with closing(sqlite3.connect(root / ".rocky-state.db")) as ledger:
        records = [
            json.loads(row[0]) for row in ledger.execute("SELECT value FROM input_provenance")
        ]
    return {each["model_name"]: each["layout"] for each in records}


def test_rows_that_stay_with_their_files_give_equal_bytes_whatever_spark_is_set_to(
    spark, tmp_path, monkeypatch
):
    monkeypatch.setattr("rocky.run.materialize.build.ONE_TASK_BYTES", 1)
    monkeypatch.setattr("rocky.run.materialize.build.TARGET_FILE_BYTES", 9_000)
    monkeypatch.setattr("rocky.run.prepare.driving_input.MOST_LOOKED_UP_BYTES", 4_000)
    found, pieces = [], []
    for number in range(len(SETTINGS)):
        root = write_files(tmp_path / str(number), STAYING)
        for file in range(7):
            rows = [{"id": i, "k": i % 37, "s": f"text {i % 11}"} for i in range(file, 9000, 7)]
            write_rows(root / "data" / f"{file}.parquet", ROWS, rows)
        session = session_with(spark, SETTINGS[number])

        monkeypatch.setattr("rocky.run.engine.input_pieces.PIECE_BYTES", 20_000)
        report = build(root, session)
        # A replay cuts as the run did, whatever a piece is to have by then.
        monkeypatch.setattr("rocky.run.engine.input_pieces.PIECE_BYTES", 1 << 30)

        assert {} == errors_of(report)
        layouts = recorded_layouts(root)
        staying = {name for name, layout in layouts.items() if layout.get("by_files")}
        assert {"kept", "again", "named", "imported", "kinds"} == staying
        by_key = {name for name, layout in layouts.items() if layout.get("by_key")}
        assert {*BY_KEY, "one_met"} == by_key
        pieces.append({name: layout["pieces"] for name, layout in layouts.items()})
        found.append({name: data_files(table_folder(root, name)) for name in layouts})
        verdicts = rocky.open(root, spark=spark).replay(report.run_id, execute=True).models
        assert set() == {each.model for each in verdicts if each.verdict.value != "bit_exact"}

    assert [found[0]] * len(SETTINGS) == found
    # One file a piece: Spark neither joins pieces nor cuts them.
    assert 1 == len(found[0].pop("one_met")) < pieces[0].pop("one_met")
    assert pieces[0] == {name: len(files) for name, files in found[0].items()}
    assert min(pieces[0].values()) > 1
    ids = [row["id"] for row in rocky.open(tmp_path / "0").show("again", limit=20_000).rows]
    assert sorted(2 * i for i in range(9000) if i % 37 != 5) == sorted(ids)
    shown = rocky.open(tmp_path / "0")
    ranked = shown.show("ranked", limit=20_000).rows
    groups = Counter((i % 11, i % 37) for i in range(8, 9000))
    assert sorted(groups.values()) == sorted(
        row["place"] for row in ranked if row["place"] == groups[row["id"] % 11, row["k"]]
    )
    named, imported = (
        sorted(
            (row["id"], row["name"] or "", row["other"])
            for row in shown.show(name, limit=40_000).rows
        )
        for name in ("named", "imported")
    )
    assert named == imported
    assert [i for i in range(9000) if 7 <= i % 37 < 30] == sorted(
        row["id"] for row in shown.show("kinds", limit=40_000).rows
    )
    names = Counter(k % 30 for k in range(45))
    expected = Counter(
        {
            i: (names[i % 37] or 1) * names[i % 37 + 1]
            for i in range(9000)
            if i % 37 + 1 > 3 and names[i % 37 + 1]
        }
    )
    assert expected == Counter(each for each, *_ in named)
    check_what_met(shown)


def check_what_met(shown: rocky.Workspace) -> None:
    """Models of `STAYING` that join large tables have the rows that a join gives."""
    texts = {2 * i: f"TEXT {i % 11}" for i in range(9000) if i % 37 != 5}
    names = {k: [f"name {n}" for n in range(45) if n % 30 == k] for k in range(3, 30)}
    assert sorted(
        (i, texts.get(i) or "", name)
        for i in range(9000)
        if i % 37 != 4
        for name in names.get(i % 37, [""])
    ) == sorted(
        (row["id"], row["double_s"] or "", row["name"] or "")
        for row in shown.show("met", limit=40_000).rows
    )
    assert [
        (i, i, f"TEXT {i % 11}") for i in range(9000) if i % 3 == 0 and i % 37 != 5 and i in texts
    ] == sorted(
        (row["i"], row["number"], row["s"])
        for row in shown.show("met_under_names", limit=40_000).rows
    )
    assert [i for i in range(9000) if i % 37 == 5] == sorted(
        row["id"] for row in shown.show("kept_or_not", limit=40_000).rows
    )
    sevens = [i for i in range(9000) if i % 37 == 7]
    assert [(i, j) for i in sevens for j in sevens] == sorted(
        (row["id"], row["other"]) for row in shown.show("one_met", limit=90_000).rows
    )
