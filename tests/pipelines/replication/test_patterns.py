"""Names of schemas taken apart, and templates filled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.pipelines.replication.discovery import (
    fill_column,
    fill_template,
    flatten_components,
    match_schema,
    name_problem,
)
from rocky.project.configuration.pipelines import MetadataColumn, SchemaPattern

REGIONS = SchemaPattern("src__", "__", ("tenant", "regions...", "connector"))
PLAIN = SchemaPattern("src__", "__", ("tenant", "connector"))
FIRST = SchemaPattern("", "_", ("regions...", "tenant"))


@pytest.mark.parametrize(
    ("pattern", "schema", "components"),
    [
        (PLAIN, "src__acme__shopify", {"tenant": "acme", "connector": "shopify"}),
        (
            REGIONS,
            "src__acme__us_west__shopify",
            {"tenant": "acme", "regions": ("us_west",), "connector": "shopify"},
        ),
        (
            REGIONS,
            "src__acme__eu__north__shopify",
            {"tenant": "acme", "regions": ("eu", "north"), "connector": "shopify"},
        ),
        (FIRST, "eu_north_acme", {"regions": ("eu", "north"), "tenant": "acme"}),
        (SchemaPattern("src", "__", ("tenant",)), "src__acme", {"tenant": "acme"}),
        (SchemaPattern("raw_", "__", ("tenant",)), "raw_acme", {"tenant": "acme"}),
        (None, "anything", {}),
    ],
)
def test_a_matching_name_is_taken_apart(pattern, schema, components):
    assert components == match_schema(schema, pattern)


@pytest.mark.parametrize(
    ("pattern", "schema"),
    [
        (PLAIN, "other__acme__shopify"),
        (PLAIN, "src__acme"),
        # To ignore the rest would send two schemas to one target.
        (PLAIN, "src__acme__shopify__old"),
        (PLAIN, "src__acme__"),
        (PLAIN, "src____shopify"),
        (PLAIN, "src__"),
        (REGIONS, "src__acme__shopify"),
        (REGIONS, "src__acme____shopify"),
    ],
)
def test_a_name_that_does_not_fit_does_not_match(pattern, schema):
    assert match_schema(schema, pattern) is None


PARTS = st.lists(st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True), min_size=3, max_size=6)


@pytest.mark.slow
@given(PARTS)
def test_parts_that_were_joined_come_back_in_order(parts):
    components = match_schema("src__" + "__".join(parts), REGIONS)

    assert components is not None
    assert tuple(parts) == flatten_components(components)


COMPONENTS = {"tenant": "acme", "regions": ("us", "west")}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{tenant}_warehouse", "acme_warehouse"),
        ("staging__{regions}", "staging__us__west"),
        ("{regions:-}", "us-west"),
        ("{regions:}", "uswest"),
        ("{regions: and }", "us and west"),
        ("{tenant:-}", "acme"),
        ("plain", "plain"),
    ],
)
def test_a_template_is_filled(template, text):
    assert text == fill_template(template, COMPONENTS, "__")


@pytest.mark.parametrize(
    ("kind", "value", "sql"),
    [
        ("STRING", "NULL", "CAST(NULL AS string)"),
        ("STRING", "{tenant}", "CAST('acme' AS string)"),
        ("STRING", "{regions}", "CAST('us__west' AS string)"),
        ("STRING", "it's", r"CAST('it\'s' AS string)"),
        ("STRING", "'quoted'", "CAST('quoted' AS string)"),
        ("BIGINT", "7", "CAST('7' AS bigint)"),
    ],
)
def test_a_metadata_column_is_one_literal(kind, value, sql):
    column = fill_column(MetadataColumn("c", kind, value), COMPONENTS, "__")

    assert ("c", sql) == (column.name, column.sql)


@pytest.mark.parametrize("name", ["", " ", "a/b", "a.b", "..", "a|b", "a`b", "a:b", "a\nb", "a\\b"])
def test_a_name_that_is_no_folder_is_refused(name):
    assert name_problem(name) is not None


@pytest.mark.parametrize("name", ["orders", "_airbyte_raw", "Grün", "two words", "a-b", "a$b"])
def test_other_names_are_names_of_folders(name):
    assert name_problem(name) is None
