"""The playground that copies, on Spark: growth, accidents and drift as its README tells them."""

import json
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from rocky.operations.migration.template import PlaygroundRequest, playground

pytestmark = pytest.mark.spark

# The tables to which something happens: all 36 would take minutes.
KEPT = {
    "src__acme__eu__shopify/orders",
    "src__acme__us__west__shopify/orders",
    "src__globex__eu__shopify/products",
    "src__initech__us__west__stripe/charges",
    "src__initech__us__west__stripe/customers",
}


class Walk:
    """The playground; commands run inside it."""

    def __init__(self, root):
        self.root = root
        playground(PlaygroundRequest(root, "replication"))

    def feed(self, day):
        line = [sys.executable, "feed.py", day]
        subprocess.run(line, cwd=self.root, capture_output=True, check=True)
        for folder in (self.root / "landing/feeds").glob("*/*"):
            if f"{folder.parent.name}/{folder.name}" not in KEPT:
                shutil.rmtree(folder)

    def rocky(self, *arguments):
        done = CliRunner().invoke(main, [*arguments, "-o", "json"], catch_exceptions=False)
        return done.exit_code, json.loads(done.stdout)

    def run(self, day, *arguments):
        self.feed(day)
        code, document = self.rocky("run", "--quiet", *arguments)
        return code, *document.get("pipelines", [document])


def test_the_days_of_the_replication_playground_come_out_as_its_readme_says(
    spark, tmp_path, monkeypatch
):
    walk = Walk(tmp_path / "copies")
    monkeypatch.chdir(walk.root)

    code, bronze, silver = walk.run("day1")
    assert (0, 5, 3) == (code, bronze["tables_copied"], silver["tables_copied"])

    code, bronze = walk.run("day3", "--pipeline", "bronze")
    assert 0 == code
    assert {
        "globex.eu__shopify.products": "drop",
        "initech.us_west__stripe.charges": "spike",
    } == {each["table"]: each["kind"] for each in bronze["anomalies"]}

    walk.rocky("state", "delete", "--table", "initech.us_west__stripe.charges")
    code, bronze, silver = walk.run("day4")
    drifted = {
        (each["table"], each["column"]): (each["grade"], each.get("days_left"), each["reaches"])
        for each in bronze["drift"]["actions_taken"]
    }
    assert 2 == code
    assert "Success" == bronze["status"]
    assert {
        ("acme.eu__shopify.orders", "amount_cents"): (
            "widen", None, ["orders.amount_cents", "revenue.revenue"],
        ),
        ("acme.us_west__shopify.orders", "coupon"): (
            "grace", 7, ["coupons.*", "coupons.coupon", "orders.coupon"],
        ),
    } == drifted  # fmt: skip
    # An amount that the declared type does not hold is refused, not cut off.
    assert "CAST_OVERFLOW" in silver["errors"][0]["error"]

    declared = walk.root / "sources/bronze.toml"
    declared.write_text(
        declared.read_text().replace(
            '"amount_cents", type = "int"', '"amount_cents", type = "bigint"', 1
        )
    )
    assert 0 == walk.rocky("run", "--pipeline", "silver", "--quiet")[0]
    charges = {each["model"]: each["rows_copied"] for each in bronze["materializations"]}[
        "initech.us_west__stripe.charges"
    ]
    assert 64 == charges

    code, verified = walk.rocky("verify")
    assert (0, []) == (code, verified["findings"])
