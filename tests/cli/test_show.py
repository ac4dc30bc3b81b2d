import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from rocky.cli.commands.show import render_rows
from rocky.cli.console import ExitCode
from rocky.language.datatypes.types import BIGINT, INT, STRING, StructField, decimal, interval
from rocky.operations.report import encode_report
from rocky.operations.rows.show import report_rows
from rocky.operations.rows.values import json_value, spoken_value, text_value
from rocky.project import load_project
from rocky.project.models import Target
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Change
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import open_warehouse
from tests.cli.test_schemas import check

COLUMNS = (StructField("id", INT, False), StructField("name", STRING, True))


def a_view(rows, count=None):
    file = DataFile("ab.parquet", 806, len(rows) if count is None else count, "{}", {}, 0)
    snapshot = Snapshot(7, COLUMNS, (), (file,), {}, {}, "id", 0)
    shown = ((),) * len(snapshot.schema)
    return report_rows(
        "customers", "shop.marts.customers", snapshot, tuple(rows), "run-1", None, shown
    )


def test_rows_stand_under_their_columns_numbers_to_the_right():
    shown = render_rows(a_view([(1, "Ada"), (12, None)]))

    assert [
        "shop.marts.customers: version 7, 2 rows, 1 file, 806 B, run-1",
        "",
        "id  name",
        " 1  Ada",
        "12  NULL",
    ] == shown.splitlines()


def test_wide_letters_take_two_cells_and_marks_none():
    shown = render_rows(a_view([(1, "東京"), (2, "e\u0301")])).splitlines()

    assert ["id  name", " 1  東京", " 2  e\u0301"] == shown[2:]


def test_a_value_cannot_speak_to_the_terminal():
    shown = render_rows(a_view([(1, "\x1b[31mred\nline")]))

    assert "\x1b" not in shown
    assert "␛[31mred␊line" in shown


def test_a_long_value_is_cut():
    line = render_rows(a_view([(1, "x" * 1000)])).splitlines()[3]

    assert " 1  " + "x" * 59 + "…" == line


def test_it_says_how_many_rows_are_not_shown():
    assert render_rows(a_view([(1, "a")], count=1200)).endswith("\n1 row of 1,200")
    assert render_rows(a_view([])).endswith("(no rows)")


def test_the_document_maps_columns_to_values():
    document = encode_report(a_view([(1, None)]))

    assert [{"id": 1, "name": None}] == document["rows"]
    assert (7, 1, 1, 806, "run-1") == tuple(
        document[key] for key in ("table_version", "row_count", "file_count", "bytes", "run_id")
    )


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(14, "month", "1-2"), (-14, "month", "-1-2"), (3_661_000_000, "second", "0 01:01:01")],
)
def test_a_number_in_a_file_is_shown_as_the_interval_it_is(value, unit, text):
    first = "year" if unit == "month" else "day"

    assert text == text_value(spoken_value(value, interval(first, unit)))


@pytest.mark.parametrize(
    ("value", "text", "json"),
    [
        (None, "NULL", None),
        (True, "true", True),
        (2**63 - 1, "9223372036854775807", 2**63 - 1),
        (Decimal("1E+3"), "1000", "1000"),
        (Decimal("12.50"), "12.50", "12.50"),
        (math.nan, "nan", "nan"),
        (-math.inf, "-inf", "-inf"),
        (date(2026, 5, 30), "2026-05-30", "2026-05-30"),
        (time(11, 4), "11:04:00", "11:04:00"),
        (datetime(2026, 5, 30, 11, tzinfo=UTC), "2026-05-30 11:00:00Z", "2026-05-30 11:00:00Z"),
        (datetime(2026, 5, 30, 11), "2026-05-30 11:00:00", "2026-05-30 11:00:00"),  # noqa: DTZ001
        (timedelta(days=1, seconds=3661), "1 01:01:01", "1 01:01:01"),
        (timedelta(microseconds=-1), "-0 00:00:00.000001", "-0 00:00:00.000001"),
        (b"\x00\xff", "0x00ff", "AP8="),
        ([1, None], "[1, NULL]", [1, None]),
        ({"a": [Decimal(1)]}, "{a: [1]}", {"a": ["1"]}),
        ([(1, "x"), (2, None)], "{1: x, 2: NULL}", {"1": "x", "2": None}),
        ([{"k": 1}], "[{k: 1}]", [{"k": 1}]),
        ([], "[]", []),
    ],
)
def test_every_kind_of_value_has_a_text_and_a_json_form(value, text, json):
    assert (text, json) == (text_value(value), json_value(value))


FILES = {
    "models/orders.sql": "SELECT order_id, amount FROM raw.orders\n",
    "models/as_view.sql": "SELECT order_id FROM orders\n",
    "models/as_view.toml": '[strategy]\ntype = "view"\n',
    "models/inlined.sql": "SELECT order_id FROM orders\n",
    "models/inlined.toml": '[strategy]\ntype = "ephemeral"\n',
    "seeds/codes.csv": "code,label\n1,one\n",
}
SCHEMA = (StructField("order_id", BIGINT, False), StructField("amount", decimal(12, 2), True))


@pytest.fixture
def table(write):
    """The table of model `orders`, not built yet."""
    root = write(FILES)
    target = load_project(root, env={}).models["orders"].target
    return open_warehouse("warehouse", base=root).table(target)


def commit(table, rows, run_id):
    """One version more, whose only file has these rows."""
    columns = {
        "order_id": pa.array([row[0] for row in rows], pa.int64()),
        "amount": pa.array([row[1] for row in rows], pa.decimal128(12, 2)),
    }
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    data = sink.getvalue().to_pybytes()
    path = f"{blake3(data).hexdigest()}.parquet"
    place = Path(table.objects.place(f"{table.prefix}/{path}"))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    file = DataFile(path, len(data), len(rows), f'{{"numRecords":{len(rows)}}}', {}, 0)
    change = Change("REPLACE", table.snapshot(), SCHEMA, (), (file,), info={"runId": run_id})
    return table.commit(change)


def test_the_rows_of_a_built_model_are_shown(rocky, table):
    commit(table, [(1, Decimal("9.50")), (2, None)], "run-20260530-110422-643")
    answer = rocky("show", "orders")
    lines = rocky("show", "orders", "-o", "table").out.splitlines()

    assert [] == check(answer.json, "show")
    assert [{"order_id": 1, "amount": "9.50"}, {"order_id": 2, "amount": None}] == answer.json[
        "rows"
    ]
    assert {
        "target": table.name,
        "table_version": 0,
        "row_count": 2,
        "file_count": 1,
        "run_id": "run-20260530-110422-643",
    }.items() <= answer.json.items()
    assert lines[0].startswith(f"{table.name}: version 0, 2 rows, 1 file, ")
    assert ["order_id  amount", "       1    9.50", "       2    NULL"] == lines[2:]


def test_a_limit_shows_fewer_rows_and_the_number_of_all(rocky, table):
    commit(table, [(number, None) for number in range(50)], "run-a")

    assert 10 == len(rocky("show", "orders").json["rows"])
    assert 50 == len(rocky("show", table.name, "--limit", "99").json["rows"])
    assert ([], 50) == tuple(
        rocky("show", "orders", "--limit", "0").json[key] for key in ("rows", "row_count")
    )


def test_an_older_version_can_be_shown(rocky, table):
    commit(table, [(1, None)], "run-a")
    commit(table, [(2, None)], "run-b")
    old = rocky("show", "orders", "--version", "0").json

    assert ([{"order_id": 1, "amount": None}], "run-a") == (old["rows"], old["run_id"])
    assert "run-b" == rocky("show", "orders", "--version", "1").json["run_id"]
    missing = rocky("show", "orders", "--version", "2")
    assert ExitCode.FAILED == missing.code
    assert f"`{table.name}` has no version 2; the newest is 1" in missing.err


def test_some_columns_of_rows_for_which_a_condition_holds(rocky, table):
    commit(table, [(number, Decimal(number)) for number in range(50)], "run-a")
    asked = ("show", "orders", "--columns", "amount, order_id", "--where", "amount >= 10.5")
    answer = rocky(*asked, "--limit", "2")
    shown = rocky(*asked, "--limit", "2", "-o", "table").out.splitlines()

    assert [] == check(answer.json, "show")
    assert [{"amount": "11.00", "order_id": 11}, {"amount": "12.00", "order_id": 12}] == (
        answer.json["rows"]
    )
    assert ("files", "amount >= 10.5") == (answer.json["read_by"], answer.json["where"])
    assert ["amount  order_id", " 11.00        11", " 12.00        12", "", "the first 2 rows"] == (
        shown[2:]
    )


def test_a_wrong_condition_is_shown_with_its_place(rocky, table):
    commit(table, [(1, None)], "run-a")
    answer = rocky("show", "orders", "--where", "amout > 1", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert "--> --where:1:1" in answer.err
    assert "there is a column `amount`" in answer.err
    assert "error: `--where` does not compile: no row was read" in answer.err


def test_a_missing_file_is_named_and_is_no_empty_table(rocky, table):
    committed = commit(table, [(1, None)], "run-a")
    (path,) = (file.path for file in committed.snapshot.files)
    Path(table.objects.place(f"{table.prefix}/{path}")).unlink()
    answer = rocky("show", "orders")

    assert ExitCode.FAILED == answer.code
    assert "StoreUnreadable" == answer.json["error"]["kind"]
    assert path in answer.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("orders", "`orders` has not been built: it has no versions"),
        ("codes", "`codes` has not been loaded: it has no versions"),
        ("as_view", "`as_view` is a view: it has no versions"),
        ("inlined", "`inlined` is ephemeral: it has no versions"),
        ("raw.orders", "`raw.orders` is a source: it has no versions"),
        ("order", "no model `order`; did you mean `orders`?"),
    ],
)
def test_what_has_no_table_has_no_versions(rocky, table, name, message):
    answer = rocky("show", name, "--version", "0")

    assert ExitCode.FAILED == answer.code
    assert message in answer.err


def test_it_has_no_use_for_a_state_file(rocky, table):
    assert ExitCode.FAILED == rocky("show", "orders", "--state-path", "x.db").code


def test_an_adapter_that_is_not_there_is_an_error(rocky, table):
    answer = rocky("show", "orders", "--target", "prod")

    assert ExitCode.FAILED == answer.code
    assert "no adapter `prod`; adapters: `default`" in answer.err


class TestTablesOfNoModel:
    @pytest.fixture
    def copy(self, table):
        """A table in the warehouse that no model makes."""
        root = Path(table.objects.place("")).parent
        copied = open_warehouse("warehouse", base=root).table(Target("Acme", "raw", "orders"))
        commit(copied, [(7, None)], "run-copy")
        return copied

    @pytest.mark.parametrize("name", ["Acme.raw.orders", "acme.RAW.orders", "`acme`.raw.`orders`"])
    def test_a_table_that_no_model_makes_is_shown_by_its_full_name(self, rocky, copy, name):
        answer = rocky("show", name)

        assert ExitCode.OK == answer.code
        assert [] == check(answer.json, "show")
        assert ("Acme.raw.orders", [{"order_id": 7, "amount": None}], "run-copy") == tuple(
            answer.json[key] for key in ("target", "rows", "run_id")
        )

    def test_a_source_that_lies_in_the_warehouse_is_shown_from_its_files(self, rocky, write, copy):
        source = '[[source]]\nname = "acme.raw.orders"\ncolumns = [{ name = "order_id", type = "bigint" }]\n'
        write({"sources/copies.toml": source})

        assert ("files", 1) == tuple(
            rocky("show", "acme.raw.orders").json[key] for key in ("read_by", "row_count")
        )

    def test_a_version_and_an_adapter_can_be_chosen_of_it(self, rocky, copy):
        commit(copy, [(8, None)], "run-next")

        old = rocky("show", copy.name, "--version", "0", "--target", "default")
        assert "run-copy" == old.json["run_id"]
        assert "no adapter `prod`" in rocky("show", copy.name, "--target", "prod").err

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            (
                "acme.raw.ordrs",
                "no model or table `acme.raw.ordrs`; did you mean `Acme.raw.orders`?",
            ),
            ("ordrs", "no model `ordrs`; did you mean `orders`?"),
            ("x.y.z", "no model or table `x.y.z`; `rocky list` shows what there is"),
            ("_rocky.a.b", "no model or table `_rocky.a.b`; "),
        ],
    )
    def test_a_name_that_nothing_has_is_an_error_with_the_nearest(self, rocky, copy, name, said):
        answer = rocky("show", name)

        assert ExitCode.FAILED == answer.code
        assert said in answer.err

    def test_a_project_without_models_names_the_table_that_is_meant(self, rocky, write):
        root = write({"rocky.toml": "[adapter.a]\n"})
        copied = open_warehouse("warehouse", base=root).table(Target("acme", "raw", "orders"))
        commit(copied, [(7, None)], "run-copy")

        assert "did you mean `acme.raw.orders`?" in rocky("show", "orders").err
        unlike = rocky("show", "x.y.z").err
        assert "no model or table `x.y.z`; there are `acme.raw.orders`\n" in unlike

    def test_a_table_in_two_warehouses_must_be_chosen(self, rocky, write):
        adapters = '[adapter.a]\nwarehouse = "one"\n[adapter.b]\nwarehouse = "two"\n'
        root = write({"rocky.toml": adapters})
        for number, place in enumerate(("one", "two")):
            copied = open_warehouse(place, base=root).table(Target("acme", "raw", "orders"))
            commit(copied, [(number, None)], place)

        assert (
            "warehouses of the adapters `a`, `b`: choose one"
            in rocky("show", "acme.raw.orders").err
        )
        assert "two" == rocky("show", "acme.raw.orders", "--target", "b").json["run_id"]
