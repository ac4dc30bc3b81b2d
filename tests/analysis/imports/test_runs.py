"""A consumer that runs over its producer's tables, with no JVM."""

import pytest

from rocky.plan.refusals import refusing_findings
from rocky.plan.selectors import select_models
from rocky.plan.steps import plan_steps
from tests.analysis.imports.projects import compiled, published, write
from tests.run.runs import Shop, statuses

CONFIG = (
    '[pipeline.finance]\nmodels = "models/**"\n\n[imports.shop]\nwarehouse = "../shop/warehouse"\n'
)


@pytest.mark.slow
def test_a_consumer_reads_the_tables_of_its_producer_and_follows_them(tmp_path):
    shop = Shop(tmp_path / "shop", {"models/_defaults.toml": '[target]\nschema = "shop"\n'})
    shop.run("stg_orders")
    text = published(shop.root)
    files = {
        "rocky.toml": CONFIG,
        "imports/shop.json": text,
        "imports/shop.baseline.json": text,
        "models/totals.sql": "SELECT count(*) AS n FROM spark_catalog.shop.stg_orders",
        "models/again.sql": "SELECT max(o.id) AS most FROM shop.stg_orders AS o",
    }
    finance = Shop(tmp_path / "finance", files)
    selected = ("totals", "again")

    assert {"totals": "success", "again": "success"} == statuses(finance.run(*selected))
    assert ([(3,)], [(3,)]) == (finance.rows("totals"), finance.rows("again"))
    assert {"totals": "reused", "again": "reused"} == statuses(finance.run(*selected))

    shop.write("data/orders.csv", "id,country\n1,DE\n7,DE\n")
    shop.run("stg_orders")
    finance.run(*selected)
    assert ([(2,)], [(7,)]) == (finance.rows("totals"), finance.rows("again"))


def test_a_run_of_a_model_that_reads_what_was_dropped_is_refused(tmp_path):
    shop = write(
        tmp_path / "shop",
        {
            "rocky.toml": "[pipeline.shop]\n",
            "models/t.sql": "SELECT 1 AS a, 2 AS b",
        },
    )
    before = published(shop)
    write(shop, {"models/t.sql": "SELECT 1 AS a"})
    finance = write(
        tmp_path / "finance",
        {
            "rocky.toml": "[pipeline.finance]\n[imports.shop]\n",
            "imports/shop.json": published(shop),
            "imports/shop.baseline.json": before,
            "models/one.sql": "SELECT a FROM shop.t",
            "models/two.sql": "SELECT b FROM shop.t",
            "models/three.sql": "SELECT 1 AS x FROM two",
        },
    )
    compilation = compiled(finance)

    def refused(name: str) -> list[str]:
        plan = plan_steps(compilation, select_models(compilation, [name]))
        return [each.code.value for each in refusing_findings(plan)]

    assert ([], ["E030"], ["E030"]) == (refused("one"), refused("two"), refused("three"))
