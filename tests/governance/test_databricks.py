"""Databricks, against a stand-in that keeps what it is told and knows only the SQL it must."""

import pytest

from rocky.errors import GovernanceRefused
from rocky.governance.databricks import DatabricksCatalogue, filter_fact, mask_fact
from rocky.governance.facts import Fact, Securable
from rocky.language.names import quote_text
from rocky.project.configuration.governed_catalog import GovernedCatalog
from tests.servers.catalogues import TOKEN

ORDERS = Securable("table", "shop.marts.orders")
TAG = Fact("tag", "table", "shop.marts.orders", name="team", value="it's")
MASK = mask_fact("shop.marts.orders.email", "v STRING", "sha2(v, 256)")
FILTER = filter_fact("shop.marts.orders", "r STRING", "r = 'eu'", ["region"])


def opened(server, warehouse="wh1"):
    return DatabricksCatalogue(
        GovernedCatalog("databricks", server.url, TOKEN, warehouse_id=warehouse)
    )


@pytest.mark.parametrize("fact", [TAG, MASK, FILTER], ids=["tag", "mask", "row_filter"])
def test_a_fact_is_said_read_back_and_taken_away(databricks, fact):
    catalogue = opened(databricks)
    catalogue.put(fact, None)
    assert (fact,) == catalogue.held([ORDERS]).facts
    catalogue.remove(fact)
    assert () == catalogue.held([ORDERS]).facts


def test_a_mask_is_a_function_that_is_named_by_what_it_does(databricks):
    opened(databricks).put(MASK, None)
    other = mask_fact("shop.marts.orders.email", "v STRING", "'***'")
    assert MASK.value != other.value
    assert MASK.key == other.key
    statements = [each["body"]["statement"] for each in databricks.said]
    name = MASK.value.rpartition(".")[2]
    function = f"`shop`.`marts`.`{name}`"
    assert [
        f"CREATE OR REPLACE FUNCTION {function}(v STRING) RETURN sha2(v, 256)",
        f"ALTER TABLE `shop`.`marts`.`orders` ALTER COLUMN `email` SET MASK {function}",
    ] == statements
    assert {"email": MASK.value} == databricks.state["masks"]["shop.marts.orders"]


def test_a_statement_that_fails_is_told(databricks):
    gone = Fact("tag", "table", "shop.marts.gone", name="team", value="a")
    with pytest.raises(GovernanceRefused, match="TABLE_OR_VIEW_NOT_FOUND"):
        opened(databricks).put(gone, None)


def test_sql_needs_a_warehouse(databricks):
    with pytest.raises(GovernanceRefused, match="write `warehouse_id`"):
        opened(databricks, None).put(TAG, None)


def test_grants_go_to_groups_by_their_name(databricks):
    catalogue = opened(databricks)
    grant = Fact("grant", "schema", "shop.marts", "analysts", "USE SCHEMA")
    catalogue.put(grant, None)
    assert {"analysts": ["USE_SCHEMA"]} == databricks.grants("schema|shop.marts")
    assert (grant,) == catalogue.held([Securable("schema", "shop.marts")]).facts


def test_a_text_cannot_leave_its_quotes():
    assert r"'a\'); DROP TABLE x; --\\'" == quote_text("a'); DROP TABLE x; --\\")
