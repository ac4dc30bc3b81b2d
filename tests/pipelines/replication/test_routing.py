"""Routes, filters, overrides and collisions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.errors import NothingSelected, RunRefused
from rocky.pipelines.owners import find_declared_owners
from rocky.pipelines.replication.discovery import (
    DiscoveredTable,
    FailedSource,
    SourceListing,
    SourcePlace,
    parse_filters,
)
from rocky.pipelines.replication.routes import route_tables
from rocky.project.configuration.pipelines import (
    MetadataColumn,
    OverrideMatch,
    ReplicationPipeline,
    ReplicationSource,
    ReplicationTarget,
    SchemaPattern,
    TableOverride,
)
from tests.project.projects import load

PIPELINE = ReplicationPipeline(
    metadata_columns=(MetadataColumn("_from", "STRING", "{id}.{table}"),),
    source=ReplicationSource(
        path="lake",
        catalog="five",
        schema_pattern=SchemaPattern("src__", "__", ("tenant", "regions...", "connector")),
    ),
    target=ReplicationTarget(
        catalog_template="{tenant}_warehouse", schema_template="staging__{regions}__{connector}"
    ),
)
ACME, GLOBEX = "src__acme__us__west__shopify", "src__globex__eu__stripe"


def found(schema: str, table: str) -> DiscoveredTable:
    return DiscoveredTable(
        "five", schema, table, SourcePlace("parquet", f"lake/five/{schema}/{table}")
    )


TABLES = (found(ACME, "orders"), found(ACME, "customers"), found(GLOBEX, "charges"))
DISCOVERED = SourceListing("lake", TABLES, (), (ACME, GLOBEX, "information", "tmp"))


def route(*filters: str, pipeline=PIPELINE, discovered=DISCOVERED):
    return route_tables(pipeline, discovered, parse_filters(filters))


def names(routing) -> list[str]:
    return [each.target.full_name for each in routing.tables]


def override(connector=None, table=None, **settings) -> TableOverride:
    return TableOverride(OverrideMatch(connector, table), **settings)


def test_every_table_of_a_matching_schema_gets_its_target():
    routing = route()

    assert [
        "acme_warehouse.staging__us__west__shopify.orders",
        "acme_warehouse.staging__us__west__shopify.customers",
        "globex_warehouse.staging__eu__stripe.charges",
    ] == names(routing)
    first = routing.tables[0]
    assert "acme" == first.tenant
    assert ("lake", "acme", "us", "west", "shopify", "orders") == first.asset_key
    assert [f"CAST('{ACME}.orders' AS string)"] == [each.sql for each in first.metadata]


def test_schemas_that_do_not_match_are_told():
    assert ("information", "tmp") == route().unmatched


def test_the_targets_separator_joins_everywhere():
    target = PIPELINE.target._replace(separator="-")
    columns = (MetadataColumn("r", "STRING", "{regions}"),)
    routing = route(pipeline=PIPELINE._replace(target=target, metadata_columns=columns))

    assert "acme_warehouse.staging__us-west__shopify.orders" == names(routing)[0]
    assert "CAST('us-west' AS string)" == routing.tables[0].metadata[0].sql


def test_without_templates_a_copy_keeps_the_names_of_its_source():
    pipeline = PIPELINE._replace(
        source=PIPELINE.source._replace(schema_pattern=None), target=ReplicationTarget()
    )

    assert (
        f"spark_catalog.{ACME}.orders"
        == names(route(pipeline=pipeline._replace(metadata_columns=())))[0]
    )


@pytest.mark.parametrize(
    ("filters", "tables"),
    [
        (["tenant=acme"], ["orders", "customers"]),
        (["tenant=ACME"], ["orders", "customers"]),
        (["regions=west"], ["orders", "customers"]),
        (["regions=eu"], ["charges"]),
        (["connector=stripe"], ["charges"]),
        (["id=" + GLOBEX], ["charges"]),
        (["schema=" + ACME, "table=c*"], ["customers"]),
        (["table=orders"], ["orders"]),
        (["table=?rders"], ["orders"]),
        (["catalog=five", "tenant=globex"], ["charges"]),
    ],
)
def test_filters_narrow_the_tables(filters, tables):
    assert tables == [each.target.table for each in route(*filters).tables]


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (["tenant"], "`tenant` is not a filter; write `key=value`: `tenant=acme`"),
        (["tenant="], "`tenant=` is not a filter; write `key=value`: `tenant=acme`"),
        (["tennant=acme"], "no filter key `tennant`; did you mean `tenant`?"),
        (["tenant=acm"], "no source table matches `tenant=acm`; did you mean `acme`?"),
        (
            ["tenant=zzzzzz"],
            "no source table matches `tenant=zzzzzz`; there are `acme`, `globex`",
        ),
        (
            ["tenant=acme", "table=charges"],
            "no source table matches all of `tenant=acme`, `table=charges`",
        ),
    ],
)
def test_a_filter_that_matches_nothing_is_an_error(filters, message):
    with pytest.raises(NothingSelected) as error:
        route(*filters)

    assert message == str(error.value)


def test_a_pattern_that_matches_nothing_is_an_error():
    with pytest.raises(NothingSelected, match="none of 1 schemas of the source matches"):
        route(discovered=SourceListing("lake", (found("other", "t"),), (), ("other",)))


def test_a_source_without_schemas_is_an_error():
    with pytest.raises(NothingSelected, match="the source has no schemas"):
        route(discovered=SourceListing("lake", ()))


def test_overrides_go_field_by_field_the_most_specific_first():
    pipeline = PIPELINE._replace(
        merge_keys_fallback=("id",),
        table_overrides=(
            override(table="orders", timestamp_column="t4", strategy="full_refresh"),
            override(connector=ACME, timestamp_column="t3", strategy="full_refresh"),
            override(connector=ACME, table="ord*", timestamp_column="t2"),
            override(connector=ACME, table="orders", strategy="merge"),
        ),
    )
    orders, customers, charges = route(pipeline=pipeline).tables

    assert ("merge", "t2", ("id",)) == (orders.strategy, orders.timestamp_column, orders.merge_keys)
    assert ("full_refresh", "t3", ()) == (
        customers.strategy,
        customers.timestamp_column,
        customers.merge_keys,
    )
    assert ("incremental", "_fivetran_synced") == (charges.strategy, charges.timestamp_column)


@pytest.mark.parametrize(
    ("own", "pipeline", "expected"),
    [
        ({"merge_keys": ("a",), "merge_keys_fallback": ("b",)}, {}, ("a",)),
        ({"merge_keys_fallback": ("b",)}, {"merge_keys": ("c",)}, ("c",)),
        ({"merge_keys_fallback": ("b",)}, {"merge_keys_fallback": ("d",)}, ("b",)),
        ({}, {"merge_keys_fallback": ("d",)}, ("d",)),
    ],
)
def test_merge_keys_go_before_fallbacks(own, pipeline, expected):
    rule = override(table="orders", strategy="merge", **own)
    routing = route("table=orders", pipeline=PIPELINE._replace(table_overrides=(rule,), **pipeline))

    assert expected == routing.tables[0].merge_keys


def test_a_disabled_table_is_excluded_with_its_reason():
    rules = (override(table="orders", enabled=False),)
    routing = route(pipeline=PIPELINE._replace(table_overrides=rules))

    assert [("five." + ACME + ".orders", "table_override_disabled")] == [
        (each.name, each.reason) for each in routing.excluded
    ]
    assert 2 == len(routing.tables)


def test_a_rule_that_matches_nothing_is_told_and_one_that_was_filtered_out_is_not():
    rules = (
        override(table="charges", strategy="full_refresh"),
        override(connector=ACME, table="refunds", strategy="full_refresh"),
    )
    routing = route("tenant=acme", pipeline=PIPELINE._replace(table_overrides=rules))

    assert (f"override 2 (connector `{ACME}`, table `refunds`) matches no table",) == (
        routing.warnings
    )


def test_merge_without_keys_fails_that_table_only():
    rules = (override(table="orders", strategy="merge"),)
    routing = route(pipeline=PIPELINE._replace(table_overrides=rules))

    assert [f"{ACME}.orders"] == [each.name for each in routing.failed]
    assert 2 == len(routing.tables)


def test_a_name_that_is_no_folder_fails_that_table_only():
    tables = (*TABLES, found(ACME, "a|b"))
    routing = route(discovered=SourceListing("lake", tables))

    assert [f"{ACME}.a|b"] == [each.name for each in routing.failed]
    assert 3 == len(routing.tables)


def test_what_could_not_be_listed_fails_if_the_filters_may_mean_it():
    failed = (FailedSource(GLOBEX, None, "no"), FailedSource("other", None, "no"))
    discovered = SourceListing("lake", TABLES[:2], failed)

    assert [GLOBEX] == [each.schema for each in route(discovered=discovered).failed]
    assert [] == list(route("tenant=acme", discovered=discovered).failed)
    # Its tables are not known, so this may be one of them.
    assert [GLOBEX] == [
        each.schema for each in route("table=charges", discovered=discovered).failed
    ]


def test_two_sources_with_one_target_refuse_the_run_and_both_are_named():
    target = PIPELINE.target._replace(schema_template="staging")
    other = found("src__acme__eu__stripe", "ORDERS")
    with pytest.raises(RunRefused) as error:
        route(
            pipeline=PIPELINE._replace(target=target),
            discovered=SourceListing("lake", (*TABLES, other)),
        )

    assert str(error.value).startswith(
        f"`five.{ACME}.orders` and `five.src__acme__eu__stripe.ORDERS` would both be copied to"
        " `acme_warehouse.staging.ORDERS`"
    )


def test_a_target_of_a_model_is_taken(tmp_path):
    project = load(
        tmp_path,
        {
            "models/orders.sql": "SELECT 1 AS one",
            "models/orders.toml": '[target]\ncatalog = "Acme_Warehouse"\n'
            'schema = "staging__us__west__shopify"\n',
        },
    )

    assert "model `orders`" == find_declared_owners(project, "bronze")[route().tables[0].key]


def test_a_table_is_not_copied_onto_itself():
    pipeline = PIPELINE._replace(
        source=ReplicationSource(), target=ReplicationTarget(), metadata_columns=()
    )
    table = DiscoveredTable(
        "spark_catalog", "raw", "orders", SourcePlace("table", "spark_catalog.raw.orders")
    )
    with pytest.raises(RunRefused, match="would be copied onto itself"):
        route(pipeline=pipeline, discovered=SourceListing("catalog", (table,)))


PART = st.sampled_from(["a", "b", "A", "a_", "_b", "a__b", "x", ""])
SCHEMAS = st.lists(PART, min_size=1, max_size=4).map(lambda parts: "src__" + "__".join(parts))
TEMPLATE = st.sampled_from(["{tenant}", "{tenant}__{regions}", "{regions:}_{connector}", "all"])


@pytest.mark.slow
@given(
    st.lists(st.tuples(SCHEMAS, st.sampled_from(["t", "T", "u"])), min_size=1, unique=True),
    TEMPLATE,
    TEMPLATE,
)
def test_either_every_table_has_a_target_of_its_own_or_nothing_is_routed(tables, catalog, schema):
    target = ReplicationTarget(catalog_template=catalog, schema_template=schema)
    discovered = SourceListing("lake", tuple(found(*each) for each in tables))
    try:
        routing = route(pipeline=PIPELINE._replace(target=target), discovered=discovered)
    except (RunRefused, NothingSelected):
        return

    keys = [each.key for each in routing.tables]
    assert len(keys) == len(set(keys))
    # Every table is copied, failed, or in a schema that is told as not matching.
    told = len(routing.failed) + sum(schema in routing.unmatched for schema, _ in tables)
    assert len(tables) == len(keys) + told
