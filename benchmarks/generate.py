"""A generated project of any size, shaped like real ones: layers, CTEs, joins, CASE, windows.

Used by the benchmarks and by nothing else. The same arguments always give the same files.
"""

import argparse
import random
from pathlib import Path

SOURCES = 20

STAGING = """\
-- Staging of {source}: one row a record, cleaned and typed.
WITH raw AS (
    SELECT
        o.id, o.customer_id, o.product_id, o.status, o.quantity, o.price, o.discount,
        o.created_at, o.updated_at, o.country, o.note
    FROM {source} AS o
    WHERE o.id IS NOT NULL AND o.status <> 'test{n}'
),
ranked AS (
    SELECT
        r.*,
        row_number() OVER (PARTITION BY r.id ORDER BY r.updated_at DESC) AS version
    FROM raw AS r
)
SELECT
    k.id AS record_id,
    k.customer_id,
    k.product_id,
    upper(trim(k.status)) AS status,
    coalesce(k.quantity, 0) AS quantity,
    k.price,
    CAST(k.quantity * k.price AS DECIMAL(18, 2)) AS gross_amount,
    CASE WHEN k.discount > 0 THEN k.price * (1 - k.discount / 100) ELSE k.price END AS net_price,
    CAST(k.created_at AS DATE) AS created_on,
    date_trunc('month', k.created_at) AS created_month,
    coalesce(k.country, 'unknown') AS country,
    length(k.note) > {n} AS has_note
FROM ranked AS k
WHERE k.version = 1
"""

INTERMEDIATE = """\
-- Orders of {left} with the history of {right}.
WITH base AS (
    SELECT a.record_id, a.customer_id, a.product_id, a.status, a.quantity, a.gross_amount,
           a.net_price, a.created_on, a.country
    FROM {left} AS a
    WHERE a.quantity > {n}
),
history AS (
    SELECT
        b.customer_id,
        count(*) AS order_count,
        sum(b.gross_amount) AS lifetime_amount,
        min(b.created_on) AS first_order_on,
        max(b.created_on) AS last_order_on
    FROM {right} AS b
    GROUP BY b.customer_id
),
joined AS (
    SELECT
        base.*,
        h.order_count,
        h.lifetime_amount,
        h.first_order_on,
        datediff(base.created_on, h.first_order_on) AS days_since_first
    FROM base
    LEFT JOIN history AS h ON base.customer_id = h.customer_id
)
SELECT
    j.record_id,
    j.customer_id,
    j.product_id,
    j.status,
    j.quantity,
    j.gross_amount,
    j.net_price,
    j.created_on,
    CASE
        WHEN j.order_count IS NULL THEN 'new'
        WHEN j.lifetime_amount > {n}000 THEN 'loyal'
        ELSE 'known'
    END AS customer_segment,
    coalesce(j.lifetime_amount, 0) AS gross_lifetime,
    sum(j.gross_amount) OVER (PARTITION BY j.customer_id ORDER BY j.created_on) AS running_amount,
    concat(j.country, '-', CAST(j.days_since_first AS STRING)) AS country
FROM joined AS j
"""

MART = """\
-- Monthly figures by country and segment, from {left}.
WITH lines AS (
    SELECT m.customer_id, m.product_id, m.country, m.quantity, m.gross_amount, m.net_price,
           trunc(m.created_on, 'MM') AS month, m.record_id, m.created_on, m.status
    FROM {left} AS m
    WHERE m.status IN ('PAID', 'SENT', 'DONE{n}')
),
monthly AS (
    SELECT
        l.month,
        l.country,
        l.customer_id,
        max(l.record_id) AS record_id,
        max(l.product_id) AS product_id,
        max(l.status) AS status,
        count(DISTINCT l.record_id) AS quantity,
        sum(l.gross_amount) AS gross_amount,
        avg(l.net_price) AS net_price
    FROM lines AS l
    GROUP BY l.month, l.country, l.customer_id
    HAVING sum(l.quantity) > 0
)
SELECT
    y.record_id,
    y.customer_id,
    y.product_id,
    y.status,
    y.quantity,
    y.gross_amount,
    y.net_price,
    y.month AS created_on,
    y.gross_amount - lag(y.gross_amount, 1, 0)
        OVER (PARTITION BY y.customer_id ORDER BY y.month) AS change,
    round(y.gross_amount / nullif(y.quantity, 0), 2) AS amount_per_order,
    rank() OVER (PARTITION BY y.month ORDER BY y.gross_amount DESC) AS place,
    y.country
FROM monthly AS y
"""

SOURCE = """\
[[source]]
name = "raw.table_{n}"
format = "parquet"
path = "data/table_{n}"
columns = [
  {{ name = "id", type = "bigint", nullable = false }},
  {{ name = "customer_id", type = "bigint", nullable = false }},
  {{ name = "product_id", type = "bigint" }},
  {{ name = "status", type = "string" }},
  {{ name = "quantity", type = "int" }},
  {{ name = "price", type = "decimal(12,2)" }},
  {{ name = "discount", type = "decimal(5,2)" }},
  {{ name = "created_at", type = "timestamp" }},
  {{ name = "updated_at", type = "timestamp" }},
  {{ name = "country", type = "string" }},
  {{ name = "note", type = "string" }},
]
"""

CONFIG = """\
[adapter]
type = "spark"

[pipeline.shop]
type = "transformation"
models = "models/**"
"""


def generate(root: Path, count: int) -> None:
    """Write a project of `count` models: 30 % staging, 50 % intermediate, 20 % marts."""
    choose = random.Random(count)
    (root / "sources").mkdir(parents=True, exist_ok=True)
    (root / "rocky.toml").write_text(CONFIG)
    for n in range(SOURCES):
        (root / "sources" / f"table_{n}.toml").write_text(SOURCE.format(n=n))
    staging = max(1, count * 3 // 10)
    middle = count * 5 // 10
    known: list[str] = []
    for n in range(count):
        if n < staging:
            name, layer = f"stg_{n}", "staging"
            text = STAGING.format(source=f"raw.table_{n % SOURCES}", n=n)
        elif n < staging + middle:
            name, layer = f"int_{n}", "intermediate"
            # Mostly recent models, so that the graph is deep as well as wide.
            left = known[max(0, len(known) - 1 - choose.randrange(min(len(known), 400)))]
            text = INTERMEDIATE.format(left=left, right=choose.choice(known), n=n)
        else:
            name, layer = f"mart_{n}", "marts"
            text = MART.format(left=choose.choice(known), n=n)
        folder = root / "models" / layer / f"part_{n // 200:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.sql").write_text(text)
        if n % 5 == 0:
            (folder / f"{name}.toml").write_text('intent = "generated"\n\n[tags]\nteam = "bench"\n')
        if layer != "marts":
            known.append(name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--models", type=int, default=1000)
    arguments = parser.parse_args()
    generate(arguments.root, arguments.models)
