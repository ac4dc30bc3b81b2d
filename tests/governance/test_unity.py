"""Unity Catalog, against a stand-in that keeps what it is told."""

import pytest

from rocky.errors import CatalogueUnreachable, GovernanceRefused
from rocky.governance.catalogue import refuse_unable
from rocky.governance.facts import Fact, Securable
from rocky.governance.unity import UNITY, UnityCatalogue
from rocky.project.configuration.governed_catalog import GovernedCatalog
from tests.servers.catalogues import TOKEN

ORDERS = Securable("table", "shop.marts.orders")
SELECT = Fact("grant", "table", "shop.marts.orders", "ana@shop", "SELECT")


def opened(server, token=TOKEN, **more):
    settings = GovernedCatalog("unity", server.url, token, timeout_seconds=2, **more)
    return UnityCatalogue(settings)


def test_a_grant_is_given_read_back_and_taken_away(unity):
    catalogue = opened(unity)
    catalogue.put(SELECT, None)
    assert {"ana@shop": ["SELECT"]} == unity.grants("table|shop.marts.orders")
    assert (SELECT,) == catalogue.held([ORDERS]).facts
    catalogue.remove(SELECT)
    assert () == catalogue.held([ORDERS]).facts
    assert [
        {
            "method": "PATCH",
            "path": "/api/2.1/unity-catalog/permissions/table/shop.marts.orders",
            "body": {"changes": [{"principal": "ana@shop", "add": add, "remove": remove}]},
        }
        for add, remove in ((["SELECT"], []), ([], ["SELECT"]))
    ] == unity.said


def test_what_the_catalogue_has_not_got_is_absent_and_not_without_grants(unity):
    gone = Securable("table", "shop.marts.gone")
    held = opened(unity).held([gone, ORDERS])
    assert ((), (gone,)) == (held.facts, held.absent)


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_what_is_no_answer_of_a_catalogue_does_not_say_that_something_is_gone(unity, method):
    unity.tell(faults=[{"method": method, "status": 404, "count": 1}])
    with pytest.raises(GovernanceRefused, match="HTTP 404"):
        opened(unity).held([ORDERS]) if method == "GET" else opened(unity).remove(SELECT)


def test_an_unknown_principal_is_told_with_what_the_server_said(unity):
    with pytest.raises(GovernanceRefused, match="HTTP 404: User not found: eve@shop"):
        opened(unity).put(Fact("grant", "table", "shop.marts.orders", "eve@shop", "SELECT"), None)


def test_an_unknown_privilege_is_told_with_what_the_server_said(unity):
    with pytest.raises(GovernanceRefused, match="HTTP 400: Unexpected value 'FLY'"):
        opened(unity).put(Fact("grant", "table", "shop.marts.orders", "ana@shop", "FLY"), None)


def test_who_is_gone_has_nothing_to_be_taken_away(unity):
    opened(unity).remove(Fact("grant", "table", "shop.marts.orders", "eve@shop", "SELECT"))


def test_tags_masks_groups_and_privileges_that_it_lacks_are_refused_before_anything_is_asked(unity):
    facts = [
        Fact("tag", "table", "shop.marts.orders", name="team", value="a"),
        Fact("mask", "column", "shop.marts.orders.email", value="f"),
        Fact("grant", "table", "shop.marts.orders", "group:analysts", "SELECT"),
        Fact("grant", "table", "shop.marts.orders", "ana@shop", "MANAGE"),
    ]
    with pytest.raises(GovernanceRefused) as refused:
        refuse_unable("unity", UNITY, [*facts, SELECT])
    said = str(refused.value)
    words = ("no tags", "no masks", "no groups", "no privilege `MANAGE`")
    assert all(each in said for each in words)
    assert [] == unity.log


def test_a_server_that_is_busy_is_asked_again(unity):
    unity.tell(faults=[{"method": "PATCH", "status": 503, "count": 2}])
    opened(unity).put(SELECT, None)
    assert 3 == len(unity.said)
    assert {"ana@shop": ["SELECT"]} == unity.grants("table|shop.marts.orders")


def test_one_that_stays_busy_is_given_up(unity):
    unity.tell(faults=[{"method": "PATCH", "status": 503, "count": 9}])
    with pytest.raises(GovernanceRefused, match="HTTP 503"):
        opened(unity, retries=1).put(SELECT, None)
    assert 2 == len(unity.said)


def test_a_wrong_token_says_what_to_do_and_is_not_shown(unity):
    with pytest.raises(GovernanceRefused, match="set the variable that `token` names") as refused:
        opened(unity, token="wr0ng-token").held([ORDERS])
    assert "wr0ng-token" not in str(refused.value)
    assert "wr0ng-token" not in repr(refused.value)


def test_a_token_follows_no_redirect(unity):
    elsewhere = f"{unity.url}/elsewhere"
    unity.tell(faults=[{"method": "GET", "status": 307, "count": 1, "location": elsewhere}])
    with pytest.raises(GovernanceRefused, match="no token follows"):
        opened(unity).held([ORDERS])
    assert ["/api/2.1/unity-catalog/permissions/table/shop.marts.orders"] == [
        each["path"] for each in unity.log
    ]


def test_a_server_that_is_not_there_is_named_and_the_token_is_not():
    settings = GovernedCatalog("unity", "http://127.0.0.1:9", TOKEN, retries=0)
    with pytest.raises(
        CatalogueUnreachable, match=r"`127[.]0[.]0[.]1:9` cannot be reached"
    ) as failure:
        UnityCatalogue(settings).held([ORDERS])
    assert TOKEN not in str(failure.value)
    assert TOKEN not in repr(settings)


def test_a_token_that_no_header_can_have_is_not_shown(unity):
    for token in ("abc-secret\n", "abc-s\u00e9cret\u20ac"):
        with pytest.raises(CatalogueUnreachable) as failure:
            opened(unity, token=token, retries=0).held([ORDERS])
        assert "abc-s" not in str(failure.value)
