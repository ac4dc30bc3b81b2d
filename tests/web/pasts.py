"""A shop with a past: copies whose source changed, checks that failed, a promotion that was taken back.

Everything is real but Spark: an engine without a JVM builds the tables.
"""

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.branches.shops import Answer, BranchShop
from tests.run.runs import write

ORDERS = "acme.bronze_shopify.orders"
SHOP = {
    "rocky.toml": """[pipeline.shop]
models = "models/**"
[pipeline.bronze]
type = "replication"
timestamp_column = "synced"
[pipeline.bronze.source]
path = "lake"
catalog = "five"
[pipeline.bronze.source.schema_pattern]
prefix = "src__"
separator = "__"
components = ["tenant", "connector"]
[pipeline.bronze.target]
catalog_template = "{tenant}"
schema_template = "bronze_{connector}"
[pipeline.bronze.checks]
enabled = true
row_count = true
column_match = { severity = "warning" }
freshness = { threshold_seconds = 86400 }
null_rate = { columns = ["note"], threshold = 0.2 }
[cost]
compute_cost_per_core_hour = 0.09
[resilience]
initial_backoff_ms = 1
[branch.approval]
required = true
min_approvers = 2
""",
    "sources/raw.toml": """[[source]]
name = "raw.orders"
format = "csv"
path = "data/orders.csv"
description = "Orders as the till wrote them"
columns = [ { name = "id", type = "bigint", nullable = false }, { name = "customer_id", type = "bigint" }, { name = "amount", type = "double" }, { name = "country", type = "string" } ]
[[source]]
name = "raw.customers"
format = "csv"
path = "data/customers.csv"
columns = [ { name = "id", type = "bigint", nullable = false }, { name = "email", type = "string", classification = "pii" }, { name = "city", type = "string" } ]
""",
    "data/orders.csv": "id,customer_id,amount,country\n1,1,10.00,DE\n2,1,5.50,DE\n3,2,7.25,FR\n4,9,1.00,\n",
    "data/customers.csv": "id,email,city\n1,ann@example.com,Bonn\n2,bob@example.com,Lyon\n",
    "seeds/countries.csv": "code,label\nDE,Germany\nFR,France\n",
    "models/staging/stg_orders.sql": "SELECT id, customer_id, amount, country FROM raw.orders",
    "models/staging/stg_orders.toml": '[[tests]]\ntype = "not_null"\ncolumn = "country"\nseverity = "warning"\n[[tests]]\ntype = "unique"\ncolumn = "id"\n',
    "models/staging/stg_customers.sql": "SELECT id, email, upper(city) AS city FROM raw.customers",
    "models/marts/revenue.sql": "SELECT o.country, c.city, sum(o.amount) AS revenue FROM stg_orders o LEFT JOIN stg_customers c ON o.customer_id = c.id GROUP BY o.country, c.city",
    "models/marts/revenue.toml": '[tags]\nteam = "finance"\n',
    "models/marts/by_country.sql": "SELECT n.label, sum(r.revenue) AS revenue FROM revenue r JOIN countries n ON r.country = n.code GROUP BY n.label",
    "models/marts/contacts.sql": "SELECT id AS customer_id, email FROM stg_customers",
    "models/marts/contacts.toml": '[tags]\nteam = "sales"\n',
    "models/marts/notes.sql": f"SELECT id, note FROM {ORDERS}",
    ".gitignore": "warehouse/\nlake/\n.rocky*\nkeys/\n",
}
READERS = """[governance.catalog]
kind = "unity"
url = "https://unity.shop.invalid"
token = "${UNITY_TOKEN}"
[role.analysts]
members = ["ann@example.com", "bob@example.com"]
[[grant]]
on = "spark_catalog.default"
to = ["analysts"]
privileges = ["SELECT"]
"""
REVENUE, BY_COUNTRY = "models/marts/revenue.sql", "models/marts/by_country.sql"
CONTACTS = "models/marts/contacts.sql"
WITHOUT_CITY = SHOP[REVENUE].replace("c.city, sum", "sum").replace(", c.city", "")


class Past:
    """A shop while its past is made. `keys` has the private keys of ann and bob."""

    def __init__(self, shop: BranchShop) -> None:
        self.shop = shop
        self.keys = shop.root / "keys"

    def begin(self) -> None:
        """The project, committed, with the keys that may sign."""
        shop = self.shop
        write(shop.root, SHOP)
        shop.git("init", "-q", "-b", "main")
        shop.git("config", "user.email", "eve@example.com")
        shop.git("config", "user.name", "Eve")
        self.keys.mkdir()
        signers = ""
        for name in ("ann", "bob"):
            key = str(self.keys / name)
            line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key]
            subprocess.run(line, check=True)
            signers += f"{name}@example.com {Path(f'{key}.pub').read_text()}"
        self.change({"allowed_signers": signers}, "the shop")

    def change(self, files: Mapping[str, str], message: str) -> None:
        write(self.shop.root, files)
        self.shop.commit(message)

    def rocky(self, *arguments: str, ends: int = 0) -> Answer:
        """A command that ends as it should."""
        said = self.shop.rocky(*arguments)
        if said.code != ends:
            raise AssertionError(f"rocky {' '.join(arguments)}: {said.code}\n{said.err}{said.out}")
        return said

    def copy(self, *rows: int, ends: int = 0, part: int, nulls: bool = False, **more: Any) -> None:
        """A file of orders arrives with the numbers of `rows`, and the lake is copied."""
        now = datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=1)
        found = [
            {
                "id": number,
                "synced": now + timedelta(seconds=number),
                "note": None if nulls else f"note {number}",
                **more,
            }
            for number in range(*rows)
        ]
        columns = [*found[0]]
        types = {"id": pa.int64(), "synced": pa.timestamp("us")}
        schema = pa.schema([(name, types.get(name, pa.string())) for name in columns])
        folder = self.shop.root / "lake/five/src__acme__shopify/orders"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(found, schema=schema), folder / f"part-{part}.parquet")
        self.rocky("run", "--pipeline", "bronze", ends=ends)

    def approve(self, branch: str, *names: str) -> None:
        for name in names:
            key = str(self.keys / name)
            self.rocky("branch", "approve", branch, "--key", key, "-m", "checked")


def make_past(shop: BranchShop, *, erasure: bool = True) -> None:
    """Copies with drift, failed checks and unusual sizes; models; branches; an erasure; a seal.

    Verifying names the folder that was erased from, which pictures should not. `labels` was promoted and taken back. `totals` is open, breaks a reader, and somebody has
    altered what bob signed.
    """
    past = Past(shop)
    past.begin()
    past.copy(1, 101, part=0)
    past.copy(101, 121, part=1)
    past.rocky("build", "--pipeline", "shop")
    past.copy(121, 141, part=2, channel="web")
    past.copy(141, 541, part=3, nulls=True, channel="web", device="phone", ends=2)
    write(shop.root, {CONTACTS: SHOP[CONTACTS].replace("email", "CAST(email AS INT) AS email")})
    past.rocky("run", "--pipeline", "shop", ends=2)
    write(shop.root, {CONTACTS: SHOP[CONTACTS]})
    past.rocky("build", "--pipeline", "shop")
    if erasure:
        whose = ("--where", "customer_id = 9", "--from", "raw.orders")
        past.rocky("erase", *whose, "--apply", "--reason", "request 2026-17")
    past.rocky("branch", "create", "labels")
    in_capitals = SHOP[BY_COUNTRY].replace("n.label,", "upper(n.label) AS label,", 1)
    past.change({BY_COUNTRY: in_capitals}, "labels in capitals")
    past.rocky("run", "--branch", "labels", "--pipeline", "shop")
    past.approve("labels", "ann", "bob")
    past.rocky("branch", "promote", "labels", "-m", "labels for the report")
    past.rocky("branch", "revert", "labels", "-m", "the report wants them as they were")
    past.change({BY_COUNTRY: SHOP[BY_COUNTRY]}, "labels as they were")
    past.rocky("run", "--pipeline", "shop")
    past.rocky("seal", "--key", str(past.keys / "ann"))
    past.change({"rocky.toml": SHOP["rocky.toml"] + READERS}, "who may read")
    past.rocky("branch", "create", "totals")
    counted = SHOP[BY_COUNTRY].replace("SELECT", "SELECT count(*) AS cities,")
    past.change({BY_COUNTRY: counted, REVENUE: WITHOUT_CITY}, "count the cities")
    past.rocky("run", "--branch", "totals", "--pipeline", "shop")
    past.approve("totals", "ann", "bob")
    signed = max((shop.root / ".rocky/approvals/totals").glob("*.json"))
    signed.write_text(signed.read_text().replace("checked", "not checked"))
