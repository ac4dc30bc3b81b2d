"""Owner and tags reach the tables of runs; a tag that changed is a commit without rows."""

from pathlib import Path

import pytest

from rocky.store.delta.comments import comments_of
from rocky.store.delta.labels import CLASSIFICATION, DECLASSIFIED, OWNER
from tests.evidence.shops import verify
from tests.run.runs import PROJECT, Shop, reasons

SOURCE = PROJECT["sources/raw.toml"]
TAGGED = SOURCE.replace('type = "string" }', 'type = "string", classification = "pii" }')
LARGE = {
    "models/large.sql": "SELECT id, upper(country) AS c FROM stg_orders",
    "models/large.toml": "",
}
LABELS = {
    "models/by_country.sql": "SELECT max(c) AS top, count(*) AS n FROM large",
    **LARGE,
}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path, LABELS)


def labels(shop: Shop, name: str):
    return comments_of(shop.snapshot(name)).labels


def built(report) -> list[str]:
    return [each.step.name for each in report.outcomes if each.execution.decision == "build"]


@pytest.mark.slow
def test_a_tag_of_a_source_reaches_the_log_of_every_table_that_has_its_values(tmp_path):
    shop = Shop(
        tmp_path,
        {**LABELS, "sources/raw.toml": TAGGED, "models/stg_orders.toml": 'owner = "crm"\n'},
    )
    shop.run()

    assert {OWNER: "crm", CLASSIFICATION: "pii"} == labels(shop, "stg_orders").table
    assert {"country": {CLASSIFICATION: "pii"}} == labels(shop, "stg_orders").columns
    assert {"c": {CLASSIFICATION: "pii"}} == labels(shop, "large").columns
    assert {"top": {CLASSIFICATION: "pii"}} == labels(shop, "by_country").columns


@pytest.mark.slow
def test_a_tag_that_arrives_is_a_commit_without_rows_and_without_spark(shop):
    shop.run()
    before = {name: shop.snapshot(name) for name in ("stg_orders", "large", "by_country")}
    shop.write("sources/raw.toml", TAGGED)
    shop.opened = 0

    report = shop.run()

    assert ([], 0) == (built(report), shop.opened)
    for name, was in before.items():
        now = shop.snapshot(name)
        assert (was.version + 1, was.files) == (now.version, now.files)
        assert "pii" == comments_of(now).labels.table[CLASSIFICATION]
    assert reasons(report)["stg_orders"].endswith(", described anew as version 1")
    assert [] == built(shop.run())
    assert 1 == shop.snapshot("stg_orders").version
    assert () == verify(shop.root).findings

    shop.write("sources/raw.toml", SOURCE)
    shop.run()
    assert not labels(shop, "by_country").columns


@pytest.mark.slow
def test_a_declassification_is_on_record_in_the_log(shop):
    shop.write("sources/raw.toml", TAGGED)
    shop.run()
    shop.write(
        "models/large.toml",
        '[[declassify]]\ncolumn = "c"\ntag = "pii"\nreason = "public"\napproved_by = "dpo"\n',
    )
    report = shop.run()

    assert [] == built(report)
    assert {DECLASSIFIED: "c: pii (dpo)"} == labels(shop, "large").table
    assert not labels(shop, "by_country").columns
    assert {"country": {CLASSIFICATION: "pii"}} == labels(shop, "stg_orders").columns


@pytest.mark.slow
def test_a_seed_has_its_owner_and_tags_when_it_is_loaded(tmp_path):
    sidecar = 'owner = "geo"\n[classification]\nlabel = ["internal"]\n'
    shop = Shop(tmp_path, {"seeds/countries.toml": sidecar})
    shop.run()

    assert {OWNER: "geo", CLASSIFICATION: "internal"} == labels(shop, "countries").table
    assert {"label": {CLASSIFICATION: "internal"}} == labels(shop, "countries").columns
