"""Frames without Spark: what is refused before a session is touched, and what a query has."""

import pytest

from rocky.errors import InvalidRequest
from rocky.operations.findings import ErrorsFound
from rocky.operations.rows.frame import (
    QueryRequest,
    TableRequest,
    describe_query,
    query_frame,
    table_frame,
)
from tests.operations.shops import OpenShop


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    return OpenShop(tmp_path, monkeypatch)


def test_without_a_session_it_is_said_how_to_give_one(shop):
    with pytest.raises(InvalidRequest, match=r"`rocky\.open\(path, spark=spark\)`"):
        table_frame(shop.on(spark=None), TableRequest("stg_orders"))
    with pytest.raises(InvalidRequest, match=r"`rocky\.open\(path, spark=spark\)`"):
        query_frame(shop.on(spark=None), QueryRequest("SELECT 1"))


def test_a_wrong_query_never_reaches_the_session(shop):
    # The session of this workspace is a text, which knows no query.
    with pytest.raises(ErrorsFound, match="`sql` does not compile: no row was read") as caught:
        query_frame(shop.workspace, QueryRequest("SELECT contry FROM stg_orders"))

    assert ["E003"] == [each.code.value for each in caught.value.diagnostics]


def test_a_query_is_described_without_a_session(shop):
    found = describe_query(
        shop.on(spark=None), QueryRequest("SELECT count(*) AS n, max(country) FROM stg_orders")
    )

    assert [("n", "bigint", False), ("max(country)", "string", True)] == [
        (each.name, each.type, each.nullable) for each in found.columns
    ]
    assert ("stg_orders",) == found.reads
