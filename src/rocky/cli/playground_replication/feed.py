"""The connectors of this playground: writes what they have delivered up to a day.

    python feed.py day1      the first delivery of all 36 tables
    python feed.py day2      a day like any other
    python feed.py day3      two accidents: a truncated table and a doubled sync
    python feed.py day4      two changes: a wider column and a dropped one
    python feed.py day5      the column is back; a connector has been silent for three days

Everything is made up, and the same each time. A file that would not change is not touched, so
`rocky run` can tell what is new. Needs pyarrow, which comes with Rocky.
"""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

LANDING = Path(__file__).resolve().parent / "landing" / "feeds"
TENANTS = ("acme", "globex", "initech")
REGIONS = ("eu", "us__west")
DAYS = 5
FIRST, EACH_DAY = 40, 8
COUPONS = ("SPRING", None, "FRIENDS", None)
STATUSES = ("open", "solved", "waiting")
PRODUCTS = ("Assam", "Darjeeling", "Earl Grey", "Sencha", "Rooibos", "Mint", "Ginger", "Mate")
AGENTS = ("Ines", "Omar", "Ruth", "Sven")

Row = dict[str, Any]
Tables = dict[str, dict[str, list[Row]]]
"""Table, then file, then rows."""


def synced(day: int, number: int = 0) -> datetime:
    """When a row was delivered: on its day, a minute after the row before it."""
    return datetime(2026, 5, day, 6, tzinfo=UTC) + timedelta(minutes=number)


def ids_of(day: int) -> range:
    """The numbers of the rows that a day brings to a table that grows."""
    start = 1 if day == 1 else 1 + FIRST + (day - 2) * EACH_DAY
    return range(start, start + (FIRST if day == 1 else EACH_DAY))


def grown(day: int, make: Callable[[int], Row]) -> dict[str, list[Row]]:
    """A file a day, with rows that are only added."""
    return {
        f"day{each}": [
            {**make(number), "_synced_at": synced(each, place)}
            for place, number in enumerate(ids_of(each))
        ]
        for each in range(1, day + 1)
    }


# ------------------------------------------------------------------------ what connectors deliver


def shopify(day: int) -> Tables:
    """Parquet files: orders, which are added, and products, which are all there are."""

    def order(number: int) -> Row:
        return {
            "order_id": number,
            "customer_id": number % 15 + 1,
            "amount_cents": 500 + number * 137 % 9000,
            "coupon": COUPONS[number % 4],
        }

    products = [
        {"product_id": number, "name": name, "price_cents": 300 + 50 * number}
        for number, name in enumerate(PRODUCTS, 1)
    ]
    stamped = [{**row, "_synced_at": synced(1, at)} for at, row in enumerate(products)]
    return {"orders": grown(day, order), "products": {"all": stamped}}


def stripe(day: int) -> Tables:
    """JSON lines: charges, which are added, and customers, which change."""

    def charge(number: int) -> Row:
        return {"charge_id": number, "order_id": number, "amount_cents": 500 + number * 137 % 9000}

    customers = [
        {
            "customer_id": number,
            "plan": "pro" if number <= 3 * day else "free",
            # A third of them pays for a plan as of some day.
            "_synced_at": synced(min(day, (number - 1) // 3 + 1), number),
        }
        for number in range(1, 16)
    ]
    return {"charges": grown(day, charge), "customers": {"all": customers}}


def zendesk(day: int) -> Tables:
    """CSV files: tickets, which are added, and agents, which are all there are."""

    def ticket(number: int) -> Row:
        return {
            "ticket_id": number,
            "customer_id": number % 15 + 1,
            "status": STATUSES[number % 3],
        }

    agents = [
        {"agent_id": number, "name": name, "_synced_at": synced(1, number)}
        for number, name in enumerate(AGENTS, 1)
    ]
    return {"tickets": grown(day, ticket), "agents": {"all": agents}}


# ------------------------------------------------------------------------ what goes wrong, and when


def truncate_products(day: int, tables: Tables) -> None:
    """Day 3: somebody emptied globex's products. The next day they are back."""
    if day == 3:
        tables["products"]["all"] = []


def double_charges(day: int, tables: Tables) -> None:
    """Day 3: initech's charges are delivered again as if they were new. Then it is put right."""
    if day == 3:
        again = [row for file in tables["charges"].values() for row in file]
        for place, row in enumerate(again):
            tables["charges"]["day3"].append({**row, "_synced_at": synced(3, 60 + place)})


def widen_amount(day: int, tables: Tables) -> None:
    """From day 4: acme's orders in the EU can be above 21 million euros; see `type_of`."""
    if day >= 4:
        tables["orders"]["day4"][0]["amount_cents"] = 2_500_000_000


def drop_coupon(day: int, tables: Tables) -> None:
    """Day 4: acme's orders in the US have no coupon any more. The next day it is back."""
    if day == 4:
        for rows in tables["orders"].values():
            for row in rows:
                del row["coupon"]


def stop_tickets(day: int, tables: Tables) -> None:
    """After day 2 nothing comes from initech's desk in the EU."""
    for late in range(3, day + 1):
        del tables["tickets"][f"day{late}"]


CONNECTORS = {"shopify": shopify, "stripe": stripe, "zendesk": zendesk}
ACCIDENTS = {
    "src__globex__eu__shopify": truncate_products,
    "src__initech__us__west__stripe": double_charges,
    "src__acme__eu__shopify": widen_amount,
    "src__acme__us__west__shopify": drop_coupon,
    "src__initech__eu__zendesk": stop_tickets,
}


# ------------------------------------------------------------------------ files


def as_parquet(rows: list[Row], columns: dict[str, pa.DataType]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(columns.items())), out)
    return out.getvalue()


def as_json(rows: list[Row]) -> bytes:
    return "".join(json.dumps(text_of(row)) + "\n" for row in rows).encode()


def as_csv(rows: list[Row]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(text_of(row) for row in rows)
    return out.getvalue().encode()


def text_of(row: Row) -> Row:
    return {**row, "_synced_at": row["_synced_at"].strftime("%Y-%m-%dT%H:%M:%S.000Z")}


def type_of(schema: str, column: str, day: int) -> pa.DataType:
    """The type of a Parquet column. A synced table has one type in all of its files."""
    if column == "_synced_at":
        return pa.timestamp("us", tz="UTC")
    if column in ("name", "coupon"):
        return pa.string()
    is_wide = schema == "src__acme__eu__shopify" and column == "amount_cents" and day >= 4
    return pa.int64() if is_wide else pa.int32()


def files_of(schema: str, connector: str, day: int) -> Iterator[tuple[Path, bytes]]:
    """Everything that a connector has in the landing zone on a day."""
    tables = CONNECTORS[connector](day)
    names = {table: list(next(iter(files.values()))[0]) for table, files in tables.items()}
    ACCIDENTS.get(schema, lambda *_: None)(day, tables)
    for table, files in tables.items():
        for name, rows in files.items():
            place = LANDING / schema / table / name
            if connector == "shopify":
                columns = list(rows[0]) if rows else names[table]
                types = {column: type_of(schema, column, day) for column in columns}
                yield place.with_suffix(".parquet"), as_parquet(rows, types)
            elif connector == "stripe":
                yield place.with_suffix(".json"), as_json(rows)
            else:
                yield place.with_suffix(".csv"), as_csv(rows)


def main() -> None:
    days = {f"day{number}": number for number in range(1, DAYS + 1)}
    day = days.get(sys.argv[1]) if len(sys.argv) == 2 else None
    if day is None:
        sys.exit(__doc__)
    wanted: dict[Path, bytes] = {}
    for tenant in TENANTS:
        for region in REGIONS:
            for connector in CONNECTORS:
                schema = f"src__{tenant}__{region}__{connector}"
                wanted.update(files_of(schema, connector, day))
    present = {path for path in LANDING.rglob("*") if path.is_file()}
    written = [
        path for path, data in wanted.items() if path not in present or path.read_bytes() != data
    ]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wanted[path])
    for path in present - wanted.keys():
        path.unlink()
    tables = {path.parent for path in written}
    print(f"day {day}: {len(written)} files written, to {len(tables)} tables")


if __name__ == "__main__":
    main()
