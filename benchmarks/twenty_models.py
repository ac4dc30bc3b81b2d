"""A project of twenty models over generated data: the graph that benchmarks and tests run.

It has every kind of column Parquet knows, joins, windows, aggregates, a partitioned table and
deterministic results only: no clock, no randomness, no sum of floats.
"""

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

CONFIG: Final = """\
[adapter]
type = "spark"
master = "local[2]"
warehouse = "warehouse"

[pipeline.twenty]
type = "transformation"
models = "models/**"

[cost]
compute_cost_per_core_hour = 0.05
"""

SOURCES: Final = """\
[[source]]
name = "raw.orders"
format = "parquet"
path = "data/orders.parquet"
columns = [
  { name = "order_id", type = "bigint", nullable = false },
  { name = "customer_id", type = "bigint", nullable = false },
  { name = "ordered_at", type = "timestamp" },
  { name = "ordered_on", type = "date" },
  { name = "status", type = "string" },
  { name = "amount", type = "decimal(12,2)" },
  { name = "weight", type = "double" },
  { name = "express", type = "boolean" },
]

[[source]]
name = "raw.customers"
format = "parquet"
path = "data/customers.parquet"
columns = [
  { name = "customer_id", type = "bigint", nullable = false },
  { name = "name", type = "string" },
  { name = "country", type = "string" },
  { name = "score", type = "float" },
  { name = "born_on", type = "date" },
]

[[source]]
name = "raw.items"
format = "parquet"
path = "data/items.parquet"
columns = [
  { name = "order_id", type = "bigint", nullable = false },
  { name = "line", type = "int", nullable = false },
  { name = "product", type = "string" },
  { name = "quantity", type = "smallint" },
  { name = "price", type = "decimal(10,2)" },
]
"""

MODELS: Final = {
    "stg_orders": """
        SELECT order_id, customer_id, ordered_at, ordered_on, lower(status) AS status, amount,
          weight, express
        FROM raw.orders""",
    "stg_customers": """
        SELECT customer_id, trim(name) AS name, coalesce(country, 'unknown') AS country, score,
          born_on
        FROM raw.customers""",
    "stg_items": """
        SELECT order_id, line, product, quantity, price,
          CAST(quantity AS decimal(5,0)) * price AS line_total
        FROM raw.items""",
    "int_order_totals": """
        SELECT order_id, count(*) AS line_count, sum(line_total) AS items_total,
          max(product) AS last_product
        FROM stg_items GROUP BY order_id""",
    "int_orders": """
        SELECT o.order_id, o.customer_id, o.ordered_at, o.ordered_on, o.status, o.amount,
          t.line_count, t.items_total, coalesce(t.line_count, 0) > 0 AS has_items
        FROM stg_orders AS o LEFT JOIN int_order_totals AS t ON t.order_id = o.order_id""",
    "int_customer_orders": """
        SELECT customer_id, count(*) AS order_count, sum(amount) AS amount,
          min(ordered_on) AS first_on, max(ordered_on) AS last_on
        FROM int_orders GROUP BY customer_id""",
    "int_order_ranks": """
        SELECT order_id, customer_id, ordered_at, amount,
          row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at, order_id) AS rank
        FROM int_orders""",
    "int_first_orders": """
        SELECT customer_id, order_id, ordered_at, amount FROM int_order_ranks WHERE rank = 1""",
    "int_products": """
        SELECT product, count(*) AS line_count, sum(quantity) AS quantity, sum(line_total) AS total
        FROM stg_items GROUP BY product""",
    "dim_customers": """
        SELECT c.customer_id, c.name, c.country, c.score, c.born_on, coalesce(o.order_count, 0) AS
          order_count, o.amount, o.first_on, f.amount AS first_amount
        FROM stg_customers AS c
        LEFT JOIN int_customer_orders AS o ON o.customer_id = c.customer_id
        LEFT JOIN int_first_orders AS f ON f.customer_id = c.customer_id""",
    "fct_orders": """
        SELECT o.order_id, o.customer_id, c.country, o.ordered_at, o.ordered_on, o.status, o.amount,
          o.items_total, o.line_count
        FROM int_orders AS o JOIN stg_customers AS c ON c.customer_id = o.customer_id""",
    "fct_items": """
        SELECT i.order_id, i.line, i.product, i.quantity, i.line_total, o.ordered_on, o.status
        FROM stg_items AS i JOIN stg_orders AS o ON o.order_id = i.order_id""",
    "fct_revenue": """
        SELECT trunc(ordered_on, 'MM') AS month, country, count(*) AS orders, sum(amount) AS revenue
        FROM fct_orders WHERE status <> 'cancelled' GROUP BY trunc(ordered_on, 'MM'), country""",
    "fct_daily": """
        SELECT ordered_on, status, count(*) AS orders, sum(amount) AS amount
        FROM fct_orders GROUP BY ordered_on, status""",
    "rpt_countries": """
        SELECT country, count(*) AS customers, sum(order_count) AS orders, sum(amount) AS amount
        FROM dim_customers GROUP BY country""",
    "rpt_products": """
        SELECT product, line_count, quantity, total,
          rank() OVER (ORDER BY total DESC, product) AS place
        FROM int_products""",
    "rpt_baskets": """
        SELECT order_id, sort_array(collect_set(product)) AS products,
          map('lines', count(*), 'pieces', sum(CAST(quantity AS bigint))) AS counts,
          named_struct('total', sum(line_total), 'most', max(price)) AS money
        FROM stg_items GROUP BY order_id""",
    "rpt_cohorts": """
        SELECT year(first_on) AS cohort, country, count(*) AS customers, sum(amount) AS amount
        FROM dim_customers WHERE first_on IS NOT NULL GROUP BY year(first_on), country""",
    "rpt_stale": """
        SELECT customer_id, name, country FROM dim_customers WHERE order_count = 0""",
    "rpt_times": """
        SELECT order_id, ordered_at, CAST(ordered_at AS timestamp_ntz) AS ordered_local,
          date_add(ordered_on, 30) AS due_on, CAST(amount AS string) AS amount_text,
          CAST(status AS binary) AS status_bytes, weight, express
        FROM stg_orders""",
}

SIDECARS: Final = {
    "fct_daily": '[format_options]\npartition_by = ["status"]\n',
    "rpt_countries": '[tags]\nteam = "finance"\n',
}

_STATUSES: Final = ("open", "Paid", "shipped", "cancelled", None)
_COUNTRIES: Final = ("DE", "FR", "AT", "CH", None)


def write_project(root: Path, *, orders: int = 2_000, seed: int = 7) -> Path:
    """The project with its data; `orders` decides the size."""
    (root / "models").mkdir(parents=True)
    (root / "sources").mkdir()
    (root / "data").mkdir()
    (root / "rocky.toml").write_text(CONFIG)
    (root / "sources" / "raw.toml").write_text(SOURCES)
    for name, sql in MODELS.items():
        (root / "models" / f"{name}.sql").write_text(sql.strip() + "\n")
    for name, toml in SIDECARS.items():
        (root / "models" / f"{name}.toml").write_text(toml)
    write_data(root / "data", orders=orders, seed=seed)
    return root


def write_data(folder: Path, *, orders: int, seed: int) -> None:
    dice = random.Random(seed)
    customers = max(10, orders // 10)
    start = datetime(2024, 1, 1, tzinfo=UTC)
    times = [start + timedelta(seconds=dice.randrange(40_000_000)) for _ in range(orders)]
    _write(
        folder / "orders.parquet",
        order_id=pa.array(range(orders), pa.int64()),
        customer_id=pa.array([dice.randrange(customers) for _ in range(orders)], pa.int64()),
        ordered_at=pa.array(times, pa.timestamp("us", "UTC")),
        ordered_on=pa.array([time.date() for time in times], pa.date32()),
        status=pa.array([dice.choice(_STATUSES) for _ in range(orders)]),
        amount=pa.array(_money(dice, orders, 1_000_000), pa.decimal128(12, 2)),
        weight=pa.array([dice.uniform(0, 50) for _ in range(orders)], pa.float64()),
        express=pa.array([dice.random() < 0.1 for _ in range(orders)]),
    )
    _write(
        folder / "customers.parquet",
        customer_id=pa.array(range(customers), pa.int64()),
        name=pa.array([f"Ålice {number} Müller" for number in range(customers)]),
        country=pa.array([dice.choice(_COUNTRIES) for _ in range(customers)]),
        score=pa.array([dice.uniform(0, 1) for _ in range(customers)], pa.float32()),
        born_on=pa.array(
            [date(1950, 1, 1) + timedelta(days=dice.randrange(20_000)) for _ in range(customers)],
            pa.date32(),
        ),
    )
    lines = orders * 3
    _write(
        folder / "items.parquet",
        order_id=pa.array([number // 3 for number in range(lines)], pa.int64()),
        line=pa.array([number % 3 for number in range(lines)], pa.int32()),
        product=pa.array([f"product {dice.randrange(200):03}" for _ in range(lines)]),
        quantity=pa.array([dice.randrange(1, 20) for _ in range(lines)], pa.int16()),
        price=pa.array(_money(dice, lines, 100_000), pa.decimal128(10, 2)),
    )


def _money(dice: random.Random, count: int, cents: int) -> list[Decimal]:
    return [Decimal(dice.randrange(cents)).scaleb(-2) for _ in range(count)]


def _write(path: Path, **columns: pa.Array) -> None:
    pq.write_table(pa.table(columns), path)
