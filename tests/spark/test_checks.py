"""Seeds, assertions, unit tests and Python models on a real Spark, over a real warehouse."""

import json
from datetime import UTC, datetime

import pytest

from rocky.compiler.passes import compile_project
from rocky.errors import RowsRefused
from rocky.language.datatypes.types import StructField
from rocky.plan.steps import plan_steps
from rocky.project import load_project
from rocky.run.checks.outcomes import CheckSelection, CheckSubjects, models_with_tests
from rocky.run.checks.unit_tests import run_checks
from rocky.run.engine.spark import SparkEngine
from rocky.run.materialize.seeds import load_seed, seed_target
from rocky.spark.connection import adopt_session
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change
from rocky.store.warehouse import open_warehouse

pytestmark = pytest.mark.spark

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
CONFIG = '[pipeline.shop]\nmodels = "models/**"\n'
SOURCE = """
[[source]]
name = "raw.orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "customer", type = "string" },
  { name = "amount", type = "decimal(12,2)" },
  { name = "at", type = "timestamp", nullable = false },
  { name = "tags", type = "map<string,int>" },
  { name = "odd", type = "map<int,date>" },
  { name = "place", type = "struct<city:string,zip:array<int>>" },
]
"""
REVENUE = """
SELECT o.customer, c.label, sum(o.amount) AS revenue, count(*) AS orders, avg(o.amount) AS mean,
  min(date(o.at)) AS first_day
FROM raw.orders AS o LEFT JOIN codes AS c ON c.code = o.customer
GROUP BY o.customer, c.label
"""
KEPT = "SELECT id, at, tags, place FROM raw.orders WHERE place.city = 'Bern' ORDER BY id DESC"


class Shop:
    """A project and an engine over one session."""

    def __init__(self, spark, root, files, codes=()):
        for name, text in {"rocky.toml": CONFIG, "sources/raw.toml": SOURCE, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        self.compilation = compile_project(load_project(root, env={}), cache=False)
        assert codes == tuple(each.code for each in self.compilation.diagnostics)
        self.project = self.compilation.project
        self.connection = adopt_session(spark)
        self.engine = SparkEngine(self.connection, root)
        self.warehouse = open_warehouse("warehouse", base=root)

    def build(self, name, sql):
        """A model's table with rows of our choice."""
        model = self.project.models[name]
        columns = tuple(
            StructField(each.name, each.type, nullable=True)
            for each in self.compilation.models[name].columns
        )
        table = self.warehouse.table(model.target)
        written = self.engine.write(self.engine.frame(sql), table, Layout(), columns, frozenset())
        table.commit(Change("REPLACE", None, columns, (), written.files))

    def load(self, name, **options):
        seed = self.project.seeds[name]
        table = self.warehouse.table(seed_target(seed, self.project.config))
        return load_seed(seed, table, self.engine, {"runId": "run-1"}, **options), table

    def test(self, **wanted):
        plan = plan_steps(self.compilation, list(self.project.models))
        chosen = CheckSelection(**wanted)
        tested = CheckSubjects(models_with_tests(plan, chosen), NOW)
        report = run_checks(plan, tested, chosen, self.engine, self.warehouse)
        left = [each.name for each in self.connection.session.catalog.listTables()]
        assert [] == [name for name in left if name.startswith("rocky_")]
        return report


UNIT_TESTS = """
[[test]]
name = "sums by customer"
[[test.given]]
ref = "raw.orders"
rows = [
  { id = 1, customer = "a", amount = 10.10, at = 2026-01-31T23:59:59Z },
  { id = 2, customer = "A", amount = 1, at = 2026-02-01T00:00:00+02:00 },
  { id = 3, customer = "a", amount = "-2.55", at = 2026-02-01T00:00:00 },
  { id = 4, at = "2026-02-01T00:00:00Z" },
]
[[test.given]]
ref = "codes"
rows = [ { code = "a", label = "first" } ]
[test.expect]
rows = [
  { customer = "a", label = "first", revenue = 7.55, orders = 2, first_day = 2026-01-31 },
  { orders = 1, first_day = 2026-02-01 },
  { customer = "A", revenue = 1, orders = 1, first_day = 2026-01-31 },
]

[[test]]
name = "no rows, no customers"
[test.expect]
rows = []

[[test]]
name = "wrong on purpose"
[[test.given]]
ref = "raw.orders"
rows = [ { id = 1, customer = "a", amount = 1, at = 2026-01-01 }, { id = 2, customer = "b", amount = 2, at = 2026-01-01 } ]
[test.expect]
rows = [ { customer = "a", revenue = 1 }, { customer = "b", revenue = 3 }, { customer = "c" } ]

[[test]]
name = "misspelt"
[[test.given]]
ref = "raw.orders"
rows = [ { id = 1, amuont = 2 } ]

[[test]]
name = "not read"
[[test.given]]
ref = "labels"
rows = []
"""
NESTED_TEST = """
[[test]]
name = "nested values, in order"
[[test.given]]
ref = "raw.orders"
rows = [
  { id = 1, at = 2026-07-01T12:00:00Z, tags = { b = 2, a = 1 }, place = { city = "Bern", zip = [3000, 3001] } },
  { id = 2, at = 2026-07-01T12:00:00Z, place = { city = "Bern" } },
  { id = 3, at = 2026-07-01T12:00:00Z, place = { city = "Basel" } },
]
[test.expect]
ordered = true
rows = [
  { id = 2, at = 2026-07-01T14:00:00+02:00, place = { city = "Bern" } },
  { id = 1, at = 2026-07-01T12:00:00Z, tags = { a = 1, b = 2 }, place = { city = "Bern", zip = [3000, 3001] } },
]
"""


def test_unit_tests_run_the_authors_query_over_typed_rows(spark, tmp_path):
    files = {
        "models/revenue.sql": REVENUE,
        "models/revenue.toml": UNIT_TESTS,
        "models/kept.sql": KEPT,
        "models/kept.toml": NESTED_TEST,
        "seeds/codes.csv": "code,label\nx,y\n",
        "seeds/labels.csv": "label\ny\n",
    }
    report = Shop(spark, tmp_path, files).test(data=False)
    by_name = {each.name: each for each in report.units}

    assert {
        "sums by customer": (True, None),
        "no rows, no customers": (True, None),
        "nested values, in order": (True, None),
        "wrong on purpose": (False, None),
        "misspelt": (False, "the rows of `raw.orders`: there is no column `amuont`; did you mean `amount`?"),
        "not read": (False, "it gives rows of `labels`, which the model does not read; it reads `codes`, `raw.orders`"),
    } == {name: (each.passed, each.error) for name, each in by_name.items()}  # fmt: skip
    wrong = by_name["wrong on purpose"]
    assert ("customer", "revenue") == wrong.columns
    assert [
        (("b", "3.00"), ("b", "2.00"), (1,)),
        (("c", None), None, ()),
    ] == [tuple(each) for each in wrong.differences]


BUILT = """
SELECT * FROM VALUES (1L, 'a', 1.5, DATE'2026-01-01'), (2L, 'it\\'s', -1.0, current_date() + 2),
  (2L, NULL, NULL, NULL) AS t(id, customer, amount, day)
"""


def shop_with(spark, root, kinds, customer="customer"):
    """A shop whose model `m` has these assertions and the rows of BUILT."""
    sidecar = "".join(
        "[[tests]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in each.items())
        for each in kinds
    )
    files = {
        "models/m.sql": "SELECT id, customer, amount, date(at) AS day FROM raw.orders",
        "models/m.toml": sidecar,
        "seeds/codes.csv": "code\na\n",
    }
    shop = Shop(spark, root, files)
    columns = f"id, {customer} AS customer, CAST(amount AS DECIMAL(12,2)) AS amount, day"
    shop.build("m", f"SELECT {columns} FROM ({BUILT})")
    return shop


def test_assertions_of_every_kind_are_answered_by_spark(spark, tmp_path):
    kinds = [
        {"type": "not_null", "column": "customer"},
        {"type": "unique", "column": "id"},
        {"type": "accepted_values", "column": "customer", "values": ["a", "it's"]},
        {"type": "accepted_values", "column": "day", "values": ["2026-01-01"]},
        {"type": "relationships", "column": "customer", "to_table": "codes", "to_column": "code"},
        {"type": "expression", "expression": "amount >= 0 -- not less"},
        {"type": "row_count_range", "min": 3, "max": 3},
        {"type": "in_range", "column": "amount", "min": 0, "max": 10},
        {"type": "regex_match", "column": "customer", "pattern": "^\\w$"},
        {"type": "aggregate", "column": "amount", "op": "sum", "cmp": "<=", "value": 0.5},
        {"type": "composite", "columns": ["id", "customer"]},
        {"type": "unique_expr", "key_expr": "id % 2"},
        {"type": "not_in_future", "column": "day"},
        {"type": "older_than_n_days", "column": "day", "days": 1},
    ]
    shop = shop_with(spark, tmp_path, kinds)
    report = shop.test(unit=False)

    assert [1, 2, 0, 1, 1, 1, None, 1, 1, None, 0, 2, 1, 1] == [
        each.failing_rows for each in report.assertions
    ]
    assert ["3", "0.50"] == [each.observed for each in report.assertions if each.observed]
    assert 10 == report.failed


def test_numbers_in_a_text_lie_in_a_range_of_numbers(spark, tmp_path):
    # As texts, 100 would lie between 1 and 5.
    kinds = [
        {"type": "in_range", "column": "customer", "min": 1, "max": 5},
        {"type": "in_range", "column": "customer", "min": "1", "max": "5"},
        {"type": "aggregate", "column": "customer", "op": "max", "cmp": "<=", "value": 5},
    ]
    values = "explode(array('3', '100', 'x', NULL))"
    shop = shop_with(spark, tmp_path, kinds, values)
    ranged, as_texts, greatest = shop.test(unit=False).assertions

    # The rows of 100 and of x, three of each; as texts only x lies beyond.
    assert (6, 3) == (ranged.failing_rows, as_texts.failing_rows)
    assert "is a text" in greatest.error


def test_a_question_that_stops_spark_fails_and_hides_no_other(spark, tmp_path):
    kinds = [
        {"type": "expression", "expression": "amount / 0 > 1"},
        {"type": "not_null", "column": "id"},
    ]
    broken, fine = shop_with(spark, tmp_path, kinds).test(unit=False).assertions

    assert (False, True) == (broken.passed, fine.passed)
    assert "DIVIDE_BY_ZERO" in broken.error


def test_a_seed_is_a_table_that_models_of_any_type_can_read(spark, tmp_path):
    files = {
        "seeds/codes.csv": 'code,day,ratio\na,2026-01-31,0.5\n"b,c",,\n',
        "models/m.sql": "SELECT code FROM codes",
    }
    shop = Shop(spark, tmp_path, files)
    built, table = shop.load("codes")
    again, _ = shop.load("codes")
    shop.engine.views.bind_table("rocky_read_back", table, table.snapshot())
    rows = shop.engine.rows(shop.engine.frame("SELECT * FROM rocky_read_back ORDER BY 1"), 10)
    shop.engine.views.unbind(["rocky_read_back"])

    assert [("a", "2026-01-31", 0.5), ("b,c", "None", None)] == [
        (code, str(day), ratio) for code, day, ratio in rows
    ]
    assert (("load", 2), ("unchanged", 0)) == (
        (built.action, built.rows),
        (again.action, len(again.commits)),
    )


def test_an_empty_cell_where_none_may_be_leaves_the_table_as_it_was(spark, tmp_path):
    files = {
        "seeds/codes.csv": "code,label\na,x\n",
        "seeds/codes.toml": "columns = [ { name = 'label', type = 'string', nullable = false } ]\n",
        "models/m.sql": "SELECT code FROM codes",
    }
    _, table = Shop(spark, tmp_path, files).load("codes")
    emptied = {**files, "seeds/codes.csv": "code,label\na,\n"}
    # Commands refuse it at compile; the table is safe from what would load it all the same.
    broken = Shop(spark, tmp_path, emptied, codes=("E048",))

    with pytest.raises(RowsRefused, match="label"):
        broken.load("codes")
    assert 0 == table.snapshot().version


PYTHON_MODEL = """
from pyspark.sql import functions as F


def model(orders, codes):
    joined = orders.join(codes, orders.customer == codes.code)
    return joined.select("id", F.upper("label").alias("label"))
"""
PYTHON_SIDECAR = """
inputs = { orders = "raw.orders" }
output = [ { name = "id", type = "bigint" }, { name = "label", type = "string" } ]

[[test]]
name = "labels are upper case"
[[test.given]]
ref = "raw.orders"
rows = [ { id = 1, customer = "a" }, { id = 2, customer = "zzz" } ]
[[test.given]]
ref = "codes"
rows = [ { code = "a", label = "first" } ]
[test.expect]
rows = [ { id = 1, label = "FIRST" } ]
"""


def test_a_python_model_is_unit_tested_like_any_other(spark, tmp_path):
    files = {
        "models/labelled.py": PYTHON_MODEL,
        "models/labelled.toml": PYTHON_SIDECAR,
        "seeds/codes.csv": "code,label\nx,y\n",
    }
    report = Shop(spark, tmp_path, files).test()

    assert [(True, None)] == [(each.passed, each.error) for each in report.units]
