"""Ranger's policies, against a stand-in that keeps them and refuses what Ranger refuses."""

import pytest

from rocky.errors import GovernanceRefused
from rocky.governance.facts import Fact, Securable
from rocky.governance.ranger import RangerCatalogue, filter_fact, mask_fact
from rocky.project.configuration.governed_catalog import GovernedCatalog
from tests.servers.catalogues import TOKEN

ORDERS = Securable("table", "shop.marts.orders")
ANA = Fact("grant", "table", "shop.marts.orders", "ana", "SELECT")
GROUP = Fact("grant", "table", "shop.marts.orders", "group:analysts", "SELECT")
MASK = mask_fact("shop.marts.orders.email", "group:analysts", "sha2({col}, 256)")
FILTER = filter_fact("shop.marts.orders", "bob", "region = 'eu'")


def opened(server, service="spark"):
    return RangerCatalogue(
        GovernedCatalog("ranger", server.url, TOKEN, user="admin", service=service)
    )


def policies(server):
    return list(server.state["policies"].values())


@pytest.mark.parametrize("fact", [ANA, GROUP, MASK, FILTER], ids=str)
def test_a_fact_is_put_into_a_policy_read_back_and_taken_out(ranger, fact):
    catalogue = opened(ranger)
    catalogue.put(fact, None)
    assert (fact,) == catalogue.held([ORDERS]).facts
    catalogue.remove(fact)
    assert [] == policies(ranger)


def test_only_ranger_itself_can_say_that_a_policy_is_gone(ranger):
    catalogue = opened(ranger)
    catalogue.put(ANA, None)
    ranger.tell(faults=[{"method": "DELETE", "status": 404, "count": 1}])
    with pytest.raises(GovernanceRefused, match="HTTP 404"):
        catalogue.remove(ANA)
    own = {"statusCode": 1, "msgDesc": "no policy found with id: 1"}
    ranger.tell(faults=[{"method": "DELETE", "status": 404, "count": 1, "body": own}])
    catalogue.remove(ANA)


def test_a_policy_is_a_document_of_rangers_own_form(ranger):
    opened(ranger).put(MASK, None)
    (policy,) = policies(ranger)
    assert 1 == policy["policyType"]
    assert {"database": ["marts"], "table": ["orders"], "column": ["email"]} == {
        key: each["values"] for key, each in policy["resources"].items()
    }
    assert [
        {
            "users": [],
            "groups": ["analysts"],
            "roles": [],
            "accesses": [{"type": "select", "isAllowed": True}],
            "delegateAdmin": False,
            "dataMaskInfo": {"dataMaskType": "CUSTOM", "valueExpr": "sha2({col}, 256)"},
        }
    ] == policy["dataMaskPolicyItems"]


def test_grants_of_one_table_share_the_one_policy_that_ranger_allows(ranger):
    catalogue = opened(ranger)
    for fact in (ANA, GROUP):
        catalogue.put(fact, None)
    assert 1 == len(policies(ranger))
    assert {ANA, GROUP} == set(catalogue.held([ORDERS]).facts)
    catalogue.remove(ANA)
    assert (GROUP,) == catalogue.held([ORDERS]).facts


def test_somebody_elses_policy_of_the_same_table_is_used_and_outlives_us(ranger):
    item = {
        "users": ["bob", "ana"],
        "groups": [],
        "accesses": [{"type": "select", "isAllowed": True}, {"type": "update", "isAllowed": True}],
    }
    names = {"database": "marts", "table": "orders", "column": "*"}
    flags = {"isExcludes": False, "isRecursive": False}
    theirs = {
        "id": 7,
        "version": 1,
        "service": "spark",
        "name": "by hand",
        "policyType": 0,
        "resources": {key: {"values": [name], **flags} for key, name in names.items()},
        "policyItems": [item],
    }
    ranger.tell(policies={"7": theirs})
    catalogue = opened(ranger)
    catalogue.put(GROUP, None)
    assert 5 == len(catalogue.held([ORDERS]).facts)
    catalogue.remove(ANA)
    catalogue.remove(GROUP)
    rights = {(each.subject, each.name) for each in catalogue.held([ORDERS]).facts}
    assert {("bob", "SELECT"), ("bob", "MODIFY"), ("ana", "MODIFY")} == rights
    assert ["by hand"] == [each["name"] for each in policies(ranger)]


def test_policies_that_rocky_cannot_express_are_shown_by_name(ranger):
    resources = {"database": {"values": ["*"]}, "table": {"values": ["*"]}}
    ranger.tell(
        policies={
            "1": {
                "id": 1,
                "version": 1,
                "service": "spark",
                "name": "all - database, table",
                "resources": {**resources, "column": {"values": ["*"]}},
                "policyItems": [],
            }
        }
    )
    (found,) = opened(ranger).held([ORDERS]).facts
    assert ("policy", "all - database, table") == (found.kind, found.name)


def test_an_unknown_user_is_told(ranger):
    with pytest.raises(GovernanceRefused, match="User name: eve specified in policy"):
        opened(ranger).put(Fact("grant", "table", "shop.marts.orders", "eve", "SELECT"), None)


def test_a_disabled_policy_is_not_taken_for_one_that_holds(ranger):
    catalogue = opened(ranger)
    catalogue.put(ANA, None)
    (policy,) = policies(ranger)
    ranger.tell(policies={str(policy["id"]): {**policy, "isEnabled": False}})
    assert () == catalogue.held([ORDERS]).facts
    with pytest.raises(GovernanceRefused, match="is disabled"):
        catalogue.put(GROUP, None)


def test_more_policies_than_a_page_has_are_all_read(ranger):
    many = {
        str(number): {
            "id": number,
            "version": 1,
            "service": "spark",
            "name": f"p{number}",
            "resources": {
                "database": {"values": ["other"]},
                "table": {"values": [f"t{number}"]},
                "column": {"values": ["*"]},
            },
            "policyItems": [],
        }
        for number in range(1, 451)
    }
    ranger.tell(policies=many, next_id=1000)
    catalogue = opened(ranger)
    catalogue.put(ANA, None)
    assert (ANA,) == catalogue.held([ORDERS]).facts


def test_a_password_is_in_no_message(ranger):
    wrong = GovernedCatalog("ranger", ranger.url, "wr0ng-pass", user="admin", service="spark")
    with pytest.raises(GovernanceRefused) as refused:
        RangerCatalogue(wrong).held([ORDERS])
    said = str(refused.value)
    assert "wr0ng-pass" not in said
    assert "Basic" not in said


def test_tables_that_differ_only_in_their_catalog_are_refused(ranger):
    with pytest.raises(GovernanceRefused, match="Ranger knows no catalogs"):
        opened(ranger).held([ORDERS, Securable("table", "dev.marts.orders")])


@pytest.mark.parametrize(
    "limit",
    [
        {"zoneName": "finance"},
        {"validitySchedules": [{"endTime": "2026/01/01 00:00:00"}]},
        {"conditions": [{"type": "ip-range", "values": ["10.0.0.0/8"]}]},
    ],
    ids=lambda limit: next(iter(limit)),
)
def test_a_policy_that_holds_in_some_cases_only_is_no_grant_and_is_not_written_into(ranger, limit):
    catalogue = opened(ranger)
    catalogue.put(ANA, None)
    (policy,) = policies(ranger)
    ranger.tell(policies={str(policy["id"]): {**policy, "name": "limited", **limit}})
    (found,) = catalogue.held([ORDERS]).facts
    assert ("policy", "limited") == (found.kind, found.name)
    assert catalogue._policy_of(ANA) is None


def test_what_a_role_of_ranger_has_can_be_taken_away(ranger):
    catalogue = opened(ranger)
    catalogue.put(ANA, None)
    (policy,) = policies(ranger)
    item = {**policy["policyItems"][0], "users": [], "roles": ["managers"]}
    ranger.tell(policies={str(policy["id"]): {**policy, "policyItems": [item]}})
    (found,) = catalogue.held([ORDERS]).facts
    assert "role:managers" == found.subject
    catalogue.remove(found)
    assert () == catalogue.held([ORDERS]).facts
