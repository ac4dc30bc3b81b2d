"""One query against the schemas it reads, without a project.

Run it: `python examples/check_query.py`
"""

# ruff: noqa: INP001, T201 - a script that prints

import rocky

TABLES = {
    "orders": "order_id BIGINT NOT NULL, amount DECIMAL(12,2), ordered_at TIMESTAMP NOT NULL",
}
QUERIES = (
    "SELECT date(ordered_at) AS day, sum(amount) AS revenue FROM orders GROUP BY date(ordered_at)",
    "SELECT order_idd FROM orders",
)


def main() -> None:
    for query in QUERIES:
        checked = rocky.check_sql(query, tables=TABLES)
        print(query)
        for column in checked.columns:
            print(f"  {column.name}: {column.type}{'' if column.nullable else ' NOT NULL'}")
        for found in checked.diagnostics:
            place = query[found.span.start : found.span.end] if found.span else ""
            print(f"  {found.severity} {found.code} at `{place}`: {found.message}")


if __name__ == "__main__":
    main()
